//! Reads every log again: compares its content with what was read of it, and what the store has of each
//! session with what the logs tell. Finds what sizes, times and fingerprints can't: a change in the middle of a log
//! that grew as well (architecture § 6), a flipped bit in a number of the store.

use super::diagnosis::{Diagnosis, Severity, counted, first_of};
use crate::host::read::content;
use crate::model::checkpoint::Checkpoint;
use crate::model::namespace::global_group;
use crate::model::source::SourceFile;
use crate::model::time::Time;
use crate::pipeline::ingest_options::IngestOptions;
use crate::pipeline::progress::Progress;
use crate::pipeline::steps::ingest::index;
use crate::pipeline::steps::ingest::workers::each;
use crate::store::{Access, Differences, Resting, Salvage, Store};
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Sessions that a finding names; of more, the number says enough.
const SESSIONS_MAX: usize = 6;

/// Columns of a session that a finding names.
const COLUMNS_MAX: usize = 5;

/// Logs that aren't what was read of them, by key: those that changed in a part that was read. Reads all of
/// them once, `jobs` at a time.
///
/// # Errors
/// When the workers can't be started. A log that can't be read is another check's diagnosis.
pub fn changed_logs<'f>(
    files: &'f [SourceFile],
    known: &BTreeMap<String, Checkpoint>,
    jobs: usize,
) -> Result<Vec<&'f SourceFile>> {
    let read: Vec<(&SourceFile, &Checkpoint)> = files
        .iter()
        .filter_map(|file| Some((file, known.get(&*file.key)?)))
        .collect();
    let differing = each(read, jobs, |(file, checkpoint)| {
        let known = checkpoint.fingerprints;
        let (now, _) = content(file, known.content_to).ok()?;
        let same = (now.crc, now.to) == (known.content, known.content_to);
        (!same).then_some(file)
    })?;
    Ok(differing.into_iter().flatten().collect())
}

/// What is said of changed logs.
pub fn log_changed(changed: &[&SourceFile]) -> Option<Diagnosis> {
    if changed.is_empty() {
        return None;
    }
    let path = |file: &&SourceFile| file.path().to_string_lossy().into_owned();
    let paths: Vec<String> = changed.iter().map(path).collect();
    let reason = format!(
        "{} changed in a part that was already read: {}",
        counted(paths.len() as u64, "log"),
        first_of(&paths)
    );
    let command = "sessionmill run --rebuild";
    Some(Diagnosis::new(
        Severity::Warning,
        "log-changed",
        reason,
        command,
    ))
}

/// How the store differs from its logs.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    found: Differences,
    /// Sessions with a log that changed since it was read last, or whose summary the next run writes.
    changed: BTreeSet<String>,
    /// The store's texts are masked by other rules than a run's would be.
    is_masked_otherwise: bool,
}

impl Comparison {
    /// A repair has something to mend.
    pub fn differs(&self) -> bool {
        !self.found.differing.is_empty()
    }

    /// What is said of it.
    pub fn diagnoses(&self) -> Vec<Diagnosis> {
        let differs = self.differs().then(|| {
            let command = "sessionmill doctor --deep --repair";
            Diagnosis::new(Severity::Warning, "store-differs", self.reason(), command)
        });
        let left = |count: usize, why: &str, command: &str| {
            (count > 0).then(|| {
                let sessions = counted(count as u64, "session");
                let reason = format!("not compared with the logs: {sessions} {why}");
                Diagnosis::new(Severity::Note, "not-compared", reason, command)
            })
        };
        let changed = "that changed since the last run";
        let otherwise = "stored by another version or with other settings";
        let masked = self.is_masked_otherwise.then(|| {
            let reason = "not compared with the logs: the rules that mask secrets have changed";
            Diagnosis::new(Severity::Note, "not-compared", reason, "sessionmill run")
        });
        [
            differs,
            masked,
            left(self.changed.len(), changed, "sessionmill run"),
            left(
                self.found.made_otherwise.len(),
                otherwise,
                "sessionmill run --rebuild",
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Each session with the columns that differ.
    fn reason(&self) -> String {
        let differing = &self.found.differing;
        let named = differing.iter().take(SESSIONS_MAX).map(|(id, columns)| {
            let more = columns.len().saturating_sub(COLUMNS_MAX);
            let named: Vec<&str> = columns.iter().take(COLUMNS_MAX).copied().collect();
            match more {
                0 => format!("{id} ({})", named.join(", ")),
                _ => format!("{id} ({} and {more} more)", named.join(", ")),
            }
        });
        let named: Vec<String> = named.collect();
        let more = match differing.len().saturating_sub(SESSIONS_MAX) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let sessions = counted(differing.len() as u64, "session");
        let are = if differing.len() == 1 { "is" } else { "are" };
        format!(
            "{sessions} {are} stored otherwise than the logs say: {}{more}",
            named.join("; ")
        )
    }
}

/// Makes a copy of the store at `place` as a repair would, with the logs read again, compares the two, and removes
/// the copy. `summarize` writes the summaries that are due. Texts that were left to sinks are left in both. The
/// caller holds the lock. Takes as long as a rebuild, and as much room as the store.
///
/// # Errors
/// When the copy can't be made: no room, no permission, a store that can't be read.
pub fn compare(
    place: &Path,
    mut setup: IngestOptions<'_>,
    files: &[SourceFile],
    changed_logs: &[&SourceFile],
    summarize: &mut dyn FnMut(&mut Store) -> Result<()>,
    progress: &dyn Progress,
) -> Result<Comparison> {
    let store = Store::open(place, Access::ReadOnly)?;
    let is_masked_otherwise =
        store.redacted_by()?.as_deref() != Some(&setup.rules.redactor.version());
    if is_masked_otherwise {
        return Ok(Comparison {
            is_masked_otherwise,
            ..Comparison::default()
        });
    }
    let (changed, gone) = not_as_read(&store, files, changed_logs)?;
    let stored = store.contents()?;
    let left_to_sinks = store.left_to_sinks()?;
    drop(store);
    // logs that no run has read yet tell nothing of what is stored
    setup.discover.since = Some(Time(i64::MAX));
    setup.discover.due.clear();
    let own = || global_group(&setup.rules.host);
    let group = setup.group.clone().unwrap_or_else(own);
    let mut copy = Salvage::of(place, &group, &|_| ())?;
    let derived = index(&mut copy.store, &setup, progress).and_then(|_| {
        copy.complete()?;
        summarize(&mut copy.store)?;
        copy.store.leave_texts(&left_to_sinks)?;
        Ok(copy.store.contents()?)
    });
    copy.discard()?;
    let wanted = |session: &str| !changed.contains(session) && !gone.contains(session);
    Ok(Comparison {
        found: stored.differences(&derived?, wanted),
        changed,
        is_masked_otherwise,
    })
}

/// Sessions that a run would change, and those of which one is gone from its place: what is
/// left there is no measure.
fn not_as_read(
    store: &Store,
    files: &[SourceFile],
    changed_logs: &[&SourceFile],
) -> Result<(BTreeSet<String>, BTreeSet<String>)> {
    let now: BTreeMap<&str, &SourceFile> = files.iter().map(|file| (&*file.key, file)).collect();
    let anybody = Resting {
        now: Time(i64::MAX),
        settled_ms: 0,
        pending_ms: 0,
    };
    let mut changed = BTreeSet::from_iter(store.unsummarised(anybody)?);
    let mut gone = BTreeSet::new();
    for known in store.checkpoints()? {
        match now.get(known.key.as_str()) {
            None => gone.insert(known.session),
            Some(file) if file.stat != known.stat => changed.insert(known.session),
            // another finding names it
            Some(_) if changed_logs.iter().any(|log| *log.key == *known.key) => {
                gone.insert(known.session)
            }
            Some(_) => false,
        };
    }
    Ok((changed, gone))
}
