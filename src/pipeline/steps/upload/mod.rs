//! The step `upload`: what waits in the store goes to the sinks.

mod cost_budget;
pub mod deliver;
mod enrichment;
mod options;
mod outbound;
pub mod scoped;
mod settling;

pub use cost_budget::TooDear;
pub use options::Orders;
