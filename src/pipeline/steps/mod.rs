//! The steps of a run, in its order. Each has a `run` that takes the [`Run`](super::active_run::Run)
//! and gives what it did; `prepare`, where there is one, fails before the first log is opened if the
//! step is bound to.

pub mod enrich;
pub mod ingest;
pub mod promote;
pub mod report;
pub mod track;
pub mod track_report;
pub mod upload;
