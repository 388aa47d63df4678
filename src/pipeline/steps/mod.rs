//! The steps of a run, in its order.

pub mod enrich;
pub mod ingest;
pub mod promote;
pub mod upload;
