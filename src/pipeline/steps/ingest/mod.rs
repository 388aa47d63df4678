//! The step `ingest`: gather what is new in the logs, fold it in workers, commit it.
//!
//! [`gather`] finds the files with news and groups those that share records into [families](family);
//! [`workers`] fold each file ([`file`]) through parse, filter and chunk; one writer commits what comes
//! out, in a fixed order.

pub mod account;
mod course;
mod directives;
pub mod family;
pub mod file;
pub mod gather;
pub mod ids;
pub mod log_memory;
pub mod report;
pub mod run_ahead;
pub mod ties;
pub mod workers;

use crate::model::namespace::global_group;
use crate::model::tombstone::Tombstones;
use crate::pipeline::active_run::Run;
use crate::pipeline::ingest_options::IngestOptions;
use crate::pipeline::options as settings;
use crate::pipeline::progress::Progress;
use crate::rules::secrets::Redactor;
use crate::store::{Prepared, Store};
use anyhow::Result;
use file::FoldContext;
use gather::gather;
use report::{CommitTally, IngestReport};
use workers::{WorkerMessage, ingest};

/// Text that one transaction takes. Larger: fewer segments of the index to merge; smaller: less
/// memory, less to do again after a crash.
const TRANSACTION_BYTES: usize = 2 << 20;

/// Does the step.
///
/// # Errors
/// As [`index`].
pub fn run(run: &mut Run<'_, '_>) -> Result<IngestReport> {
    let admission = &run.admission;
    let admit =
        |project: Option<&str>, cwd: Option<&str>, path: &str| admission.admit(project, cwd, path);
    let config = &run.cx.loaded.config;
    let setup = settings::ingest(config, run.options, run.rules.clone(), &admit);
    let indexed = index(&mut run.store, &setup, run.cx.progress);
    run.cx.progress.finish();
    let mut report = indexed?;
    report.unclear(run.admission.unclear());
    if let Err(error) = run.keep(&report.left()) {
        // what was read is stored; the next run only knows less of this one
        report.note_unkept(&error);
    }
    Ok(report)
}

/// Brings the store up to the logs. Without news it writes nothing.
///
/// # Errors
/// When the store fails; what was committed before is good. Files that can't be read are problems
/// of the report.
pub fn index(
    store: &mut Store,
    setup: &IngestOptions<'_>,
    progress: &dyn Progress,
) -> Result<IngestReport> {
    let mut report = IngestReport::default();
    // whether there is news or not: new rules hold for old texts
    let masked = redact_stored(store, &setup.rules.redactor)?;
    report.episodes_redacted = masked;
    report.group_left = group_left(store, setup)?;
    let gathered = gather(Some(store), setup, &mut report)?;
    // before any commit: it looks for its file under the new key
    for (was, file) in &gathered.moved {
        store.relocate(was, &file.key, &file.path().to_string_lossy(), file.stat)?;
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
        let context = fold_context(setup, &gathered.tombstones, progress);
        let prepare = |commit| {
            let counted = CommitTally::of(&commit);
            let prepared = Prepared::new(commit);
            let bytes = prepared.bytes();
            ((counted, prepared), bytes)
        };
        ingest(
            gathered.families,
            context,
            setup.jobs,
            &prepare,
            &mut |message| match message {
                WorkerMessage::Commit(commit, _) => {
                    let (counted, prepared) = *commit;
                    report.add_commit(&counted);
                    writer.take(prepared, &mut report)
                }
                WorkerMessage::Done { key, outcome } => {
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

fn fold_context<'a>(
    setup: &'a IngestOptions<'_>,
    tombstones: &'a Tombstones,
    progress: &'a dyn Progress,
) -> FoldContext<'a> {
    FoldContext {
        rules: &setup.rules,
        tombstones,
        progress,
    }
}

fn group(store: &Store, setup: &IngestOptions<'_>) -> Result<String> {
    if let Some(wanted) = &setup.group {
        return Ok(wanted.clone());
    }
    let own = || global_group(&setup.rules.host);
    Ok(store.last_group()?.unwrap_or_else(own))
}

/// The group that the last episodes have, where the settings name another one by now.
fn group_left(store: &Store, setup: &IngestOptions<'_>) -> Result<Option<(String, u64)>> {
    let Some(wanted) = &setup.group else {
        return Ok(None);
    };
    let left = store.last_group()?.filter(|last| last != wanted);
    let counted = left.map(|left| Ok((store.in_group(&left)?, left)));
    let counted: Result<Option<(u64, String)>> = counted.transpose();
    Ok(counted?.map(|(count, left)| (left, count)))
}

/// Masks what is stored by rules that came since it was; gives how many episodes changed. Reads
/// nothing where the rules are the same.
pub(crate) fn redact_stored(store: &mut Store, redactor: &Redactor) -> Result<u64> {
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
pub fn plan(
    store: Option<&Store>,
    setup: &IngestOptions<'_>,
    progress: &dyn Progress,
) -> Result<IngestReport> {
    let mut report = IngestReport::default();
    let gathered = gather(store, setup, &mut report)?;
    progress.total(gathered.bytes, gathered.files);
    let context = fold_context(setup, &gathered.tombstones, progress);
    let count = |commit| (CommitTally::of(&commit), 0);
    ingest(
        gathered.families,
        context,
        setup.jobs,
        &count,
        &mut |message| {
            match message {
                WorkerMessage::Commit(counted, _) => report.add_commit(&counted),
                WorkerMessage::Done { key, outcome } => report.add_file(key, outcome),
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
    setup: &'a IngestOptions<'a>,
    group: String,
    waiting: Vec<Prepared>,
    bytes: usize,
}

impl Writer<'_> {
    fn take(&mut self, commit: Prepared, report: &mut IngestReport) -> Result<()> {
        self.bytes += commit.bytes();
        self.waiting.push(commit);
        if self.bytes >= TRANSACTION_BYTES {
            self.flush(report)?;
        }
        Ok(())
    }

    fn flush(&mut self, report: &mut IngestReport) -> Result<()> {
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
