//! What the step `ingest` is told: where logs lie, which of them are read, and how each is treated.

use super::file::Rules;
use crate::host::files::Root;
use crate::model::policy::Narrowed;
use crate::model::time::Time;
use crate::stages::discover::DiscoverOptions;
use std::sync::Arc;

/// Everything that the step is told.
pub struct IngestOptions<'a> {
    /// Where logs lie.
    pub roots: Vec<Root>,
    /// What every file is treated with.
    pub rules: Rules,
    /// Which files.
    pub discover: DiscoverOptions,
    /// Worker threads.
    pub jobs: usize,
    /// The run's one point in time.
    pub now: Time,
    /// The group that new episodes go to; `None`: the one of the episodes before them, in an empty
    /// store the machine's own. So a machine that gets another name goes on with its group (D62).
    pub group: Option<String>,
    /// Which logs are read.
    pub admit: &'a Admit<'a>,
}

/// What a project's own file leaves of the settings, `None` where it says nothing; or why the log
/// is not read. Asked with the log's project's root, its directory and its path.
pub type Admit<'a> =
    dyn Fn(Option<&str>, Option<&str>, &str) -> Result<Option<Arc<Narrowed>>, String> + Sync + 'a;
