//! Floor 4: the only place where it all meets, and the only one that knows of threads.
//!
//! A run is: walk the sources, [`discover`](crate::stages::discover) what is new, gather the
//! files that share records into [families](steps::ingest::family), fold each file through parse, filter
//! and chunk in a worker, and commit what comes out in a fixed order from one writer.

pub mod admission;
pub mod check;
pub mod doctor;
pub mod eval;
pub mod explain;
pub mod lock;
pub mod peek;
pub mod progress;
pub mod spec;
pub mod steps;
pub mod track;
