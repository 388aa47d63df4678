//! What `init` finds on a machine, and what `uninstall` takes away of ours beside what other commands
//! installed. Asks nobody; `cli` does.

mod found_logs;
mod purge;

pub use found_logs::{FoundLogs, found_logs, reading_line};
pub use purge::{PurgeReport, completions, purge, size};
