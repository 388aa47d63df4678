//! Floor 1.

pub mod documents;
pub mod errors;
pub mod table;
pub mod terminal;
pub mod test_runners;
pub mod tools;
