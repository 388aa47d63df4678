//! What holds the contract.

mod schema;
