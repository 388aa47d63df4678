//! A run on one screen: gather what is new, fold it in workers, commit it, report.

use super::file::Rules;
use super::gather::gather;
use super::ingest::{Message, ingest};
use super::progress::Progress;
use super::report::{CommitTally, Report};
use crate::model::namespace::global_group;
use crate::model::policy::Narrowed;
use crate::model::source::Root;
use crate::model::time::Time;
use crate::rules::secrets::Redactor;
use crate::stages::discover::DiscoverOptions;
use crate::store::{Prepared, Store};
use anyhow::Result;
use std::sync::Arc;

/// Everything that a run is told. The library asks the world nothing.
pub struct Setup<'a> {
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

/// Text that one transaction takes. Larger: fewer segments of the index to merge; smaller: less
/// memory, less to do again after a crash.
const TRANSACTION_BYTES: usize = 2 << 20;

/// Brings the store up to the logs. A run without news writes nothing.
///
/// # Errors
/// When the store fails; what was committed before is good. Files that can't be read are problems
/// of the report.
pub fn run(store: &mut Store, setup: &Setup<'_>, progress: &dyn Progress) -> Result<Report> {
    let mut report = Report::default();
    let masked = redact_stored(store, &setup.rules.redactor)?;
    report.episodes_redacted = masked;
    let gathered = gather(Some(store), setup, &mut report)?;
    for (was, file) in &gathered.moved {
        store.relocate(was, &file.key, &file.path.to_string_lossy(), file.stat)?;
    }
    if gathered.files > 0 {
        progress.total(gathered.bytes, gathered.files);
        let group = group(store, setup)?;
        let own = global_group(&setup.rules.host);
        report.group_kept = (setup.group.is_none() && group != own).then(|| group.clone());
        let mut writer = Writer {
            store,
            setup,
            group,
            waiting: Vec::new(),
            bytes: 0,
        };
        let prepare = |commit| {
            let counted = CommitTally::of(&commit);
            let prepared = Prepared::new(commit);
            let bytes = prepared.bytes();
            ((counted, prepared), bytes)
        };
        ingest(
            gathered.families,
            &setup.rules,
            setup.jobs,
            progress,
            &prepare,
            &mut |message| match message {
                Message::Commit(commit, _) => {
                    let (counted, prepared) = *commit;
                    report.add_commit(&counted);
                    writer.take(prepared, &mut report)
                }
                Message::Done { key, outcome } => {
                    report.add_file(key, outcome);
                    Ok(())
                }
            },
        )?;
        writer.flush(&mut report)?;
        progress.finish();
    }
    store.finish()?;
    Ok(report)
}

fn group(store: &Store, setup: &Setup<'_>) -> Result<String> {
    if let Some(wanted) = &setup.group {
        return Ok(wanted.clone());
    }
    let own = || global_group(&setup.rules.host);
    Ok(store.last_group()?.unwrap_or_else(own))
}

/// Masks what is stored by rules that came since it was; gives how many episodes changed. Reads
/// nothing where the rules are the same.
fn redact_stored(store: &mut Store, redactor: &Redactor) -> Result<u64> {
    let version = redactor.version();
    if store.redacted_by()?.as_deref() == Some(&version) {
        return Ok(0);
    }
    let secrets = redactor.secrets_only();
    Ok(store.redact(&version, &|text| secrets.redact(text))?)
}

/// What a run would do: the same reading and cutting, nothing written. `None`: there is no store yet.
///
/// # Errors
/// When the store can't be read.
pub fn plan(store: Option<&Store>, setup: &Setup<'_>, progress: &dyn Progress) -> Result<Report> {
    let mut report = Report::default();
    let gathered = gather(store, setup, &mut report)?;
    progress.total(gathered.bytes, gathered.files);
    let count = |commit| (CommitTally::of(&commit), 0);
    ingest(
        gathered.families,
        &setup.rules,
        setup.jobs,
        progress,
        &count,
        &mut |message| {
            match message {
                Message::Commit(counted, _) => report.add_commit(&counted),
                Message::Done { key, outcome } => report.add_file(key, outcome),
            }
            Ok(())
        },
    )?;
    progress.finish();
    Ok(report)
}

/// Gathers commits into transactions.
struct Writer<'a> {
    store: &'a mut Store,
    setup: &'a Setup<'a>,
    group: String,
    waiting: Vec<Prepared>,
    bytes: usize,
}

impl Writer<'_> {
    fn take(&mut self, commit: Prepared, report: &mut Report) -> Result<()> {
        self.bytes += commit.bytes();
        self.waiting.push(commit);
        if self.bytes >= TRANSACTION_BYTES {
            self.flush(report)?;
        }
        Ok(())
    }

    fn flush(&mut self, report: &mut Report) -> Result<()> {
        if !self.waiting.is_empty() {
            let now = self.setup.now;
            let stored = self.store.commit(&self.waiting, now, &self.group)?;
            report.add_stored(stored);
            self.waiting.clear();
            self.bytes = 0;
        }
        Ok(())
    }
}
