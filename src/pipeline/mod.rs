//! Floor 4: where it all meets. A run and its steps, and what else needs several rooms at once.
//!
//! [`run`] has the steps. The first of them, `ingest`, is: walk the sources,
//! [`discover`](crate::stages::discover) what is new, gather the files that share records into
//! [families](steps::ingest::family), fold each file through parse, filter and chunk in a worker, and
//! commit what comes out in a fixed order from one writer.

pub mod active_run;
pub mod admission;
pub mod alarms;
pub mod check;
pub mod context;
pub mod cost;
pub mod disk_logs;
pub mod doctor;
pub mod drift_sample;
pub mod engine;
pub mod eval;
pub mod explain;
pub mod graph_counts;
pub mod graph_gate;
pub mod import;
pub mod ingest_options;
pub mod keys;
pub mod last_run;
pub mod leftovers;
pub mod lock;
pub mod meaning;
pub mod memory_status;
pub mod metrics;
pub mod notify;
pub mod options;
pub mod parsed_log;
pub mod peek;
pub mod plan;
pub mod preconditions;
pub mod progress;
pub mod recall;
pub mod resume;
pub mod run;
pub mod run_log;
pub mod schedule;
pub mod setup;
pub mod sink_setup;
pub mod sink_status;
pub mod spec;
pub mod status;
pub mod steps;
pub mod sweep;
pub mod tables;
pub mod watch;
