//! Floor 4: the only place where it all meets, and the only one that knows of threads.
//!
//! A run is: walk the sources, [`discover`](crate::stages::discover) what is new, gather the
//! files that share records into [families](family), fold each file through parse, filter and
//! chunk in a worker, and commit what comes out in a fixed order from one writer.

pub mod account;
pub mod admission;
pub mod check;
pub mod deliver;
mod directives;
pub mod doctor;
pub mod embed;
pub mod enrich;
pub mod eval;
pub mod explain;
pub mod family;
pub mod file;
pub mod gather;
pub mod ids;
pub mod ingest;
pub mod lock;
pub mod parsed_log;
pub mod peek;
pub mod progress;
pub mod promote;
pub mod report;
pub mod run;
pub mod spec;
pub mod summarise;
pub mod tell;
pub mod track;
pub mod window;
