//! What leaves the machine: sinks, what they have still to get, and what a person agreed to.

pub(super) mod consent;
pub(super) mod deliveries;
pub(super) mod enrichment;
pub(super) mod sink;
