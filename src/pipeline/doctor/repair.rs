//! Mends the store: the full-text index from the texts, or the whole file from what can be read of
//! it and from the logs. Knows the order that loses nothing; refuses to delete the damaged file.

use super::set_aside::MARK;
use crate::model::human::plural;
use crate::model::namespace::global_group;
use crate::model::time::Time;
use crate::pipeline::ingest_options::IngestOptions;
use crate::pipeline::progress::Progress;
use crate::pipeline::steps::ingest::index;
use crate::pipeline::steps::ingest::report::IngestReport;
use crate::store::{Access, DatabaseState, Salvage, Salvaged, Store};
use anyhow::Result;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What was mended.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "mended", rename_all = "lowercase")]
pub enum Repaired {
    /// Nothing was wrong.
    Nothing,
    /// The full-text index was made again.
    Index {
        /// Episodes in it.
        episodes: u64,
    },
    /// The store was made again.
    Store(Box<Rebuilt>),
}

/// A store that was made again.
#[derive(Clone, Debug, Serialize)]
pub struct Rebuilt {
    /// Where the damaged file is now.
    pub aside: PathBuf,
    /// Episodes that the damaged file gave.
    pub episodes_kept: u64,
    /// Of these, ones whose text could not be read; the logs may have told them again.
    pub episodes_without_text: u64,
    /// Texts whose episode could not be read; the logs may have told them again.
    pub texts_without_episode: u64,
    /// Episodes that are gone: their text could not be read and no log tells it.
    pub episodes_lost: u64,
    /// The same by session.
    pub lost: BTreeMap<String, u64>,
    /// Summaries that are gone and that the next run writes again.
    pub summaries_to_write: u64,
    /// Consents that it gave.
    pub consents: u64,
    /// Switches of tracking that it gave.
    pub switches: u64,
    /// Names of forgotten sessions that it gave.
    pub forgotten: u64,
    /// Tables of which a part could not be read.
    pub holes: Vec<String>,
    /// Rows that held something else than was written, by table: they were left out.
    pub damaged_rows: BTreeMap<String, u64>,
    /// What people decided and what was sent is all that could be made use of.
    pub is_of_choices: bool,
    /// What the logs told again; `None`: tracking is off, and none was read.
    pub report: Option<IngestReport>,
}

/// Names in a list; of more, the number says enough.
const NAMED: usize = 6;

/// `a, b`, or how many.
fn named(names: Vec<String>, noun: &str) -> String {
    match names.len() {
        0..=NAMED => names.join(", "),
        n => plural(n as u64, noun),
    }
}

impl Rebuilt {
    /// What people are told of it.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![
            format!(
                "rebuilt the store; the damaged file is {}",
                self.aside.display()
            ),
            format!(
                "kept: {}, {}, {}, {} forgotten",
                plural(self.episodes_kept, "episode"),
                plural(self.consents, "consent"),
                plural(self.switches, "tracking choice"),
                plural(self.forgotten, "session"),
            ),
        ];
        lines.push(match &self.report {
            Some(report) => format!(
                "read again: {}, {}, {} changed",
                plural(report.files_read, "log"),
                plural(report.episodes_new, "new episode"),
                report.episodes_changed,
            ),
            None => "read again: no log, because tracking is off".to_owned(),
        });
        if self.is_of_choices {
            let made = "only consents, switches and receipts could be saved from the damaged file";
            lines.push(made.to_owned());
        }
        if !self.holes.is_empty() {
            let tables = named(self.holes.clone(), "table");
            lines.push(format!("could not be read in whole or in part: {tables}"));
        }
        if !self.damaged_rows.is_empty() {
            let rows = self.damaged_rows.iter();
            let rows: Vec<String> = rows.map(|(table, n)| format!("{n} in {table}")).collect();
            lines.push(format!("damaged rows, left out: {}", named(rows, "table")));
        }
        lines.push(self.lost_line());
        if self.summaries_to_write > 0 {
            let summaries = plural(self.summaries_to_write, "session summary");
            lines.push(format!("to write {summaries} again: sessionmill run"));
        }
        if self.is_damaged("forgotten") || self.is_damaged("forgotten_before") {
            let back = "forgotten sessions may be back: the list of them is damaged";
            lines.push(format!(
                "{back}; to see what is there: sessionmill sessions"
            ));
        }
        lines
    }

    fn is_damaged(&self, table: &str) -> bool {
        self.damaged_rows.contains_key(table) || self.holes.iter().any(|hole| hole == table)
    }

    /// The loss is known from the old table of episodes: where that is damaged no number holds.
    fn lost_line(&self) -> String {
        if self.is_of_choices || self.is_damaged("episode") {
            return "lost: unknown how many episodes the damaged part had".to_owned();
        }
        let lost = plural(self.episodes_lost, "episode");
        let sessions: Vec<String> = self.lost.keys().cloned().collect();
        match sessions.is_empty() {
            true => format!("lost: {lost}"),
            false => format!("lost: {lost} of {}", named(sessions, "session")),
        }
    }
}

/// Mends the store at `path`; the caller holds the lock. `setup` is how logs are read, where they may be
/// (`reads_logs`). `differs` says of a sound store whether the logs tell something else.
///
/// # Errors
/// Where nothing may be done (a newer version's file, a network file system, no file) or the disk
/// refuses; then everything is as before.
pub fn repair(
    path: &Path,
    setup: IngestOptions<'_>,
    reads_logs: bool,
    differs: &dyn Fn() -> Result<bool>,
    now: Time,
    progress: &dyn Progress,
) -> Result<Repaired> {
    let database_state = DatabaseState::of(path)?;
    if let (false, Some(fault)) = (database_state.may_be_replaced(), database_state.fault(path)) {
        return Err(fault.into());
    }
    let opened = match database_state {
        // an older one is brought up to date, unless it only says that it is older
        DatabaseState::Current | DatabaseState::Older(_) => {
            Store::open(path, Access::ReadWrite).ok()
        }
        _ => None,
    };
    if let Some(mut store) = opened
        && let Ok(health) = store.health()
        && !health.rows_are_damaged()
    {
        let mended = match health.index_is_out_of_step() {
            false => Some(Repaired::Nothing),
            true => store
                .rebuild_index()
                .ok()
                .map(|episodes| Repaired::Index { episodes }),
        };
        if let Some(mended) = mended {
            store.finish()?;
            drop(store);
            if !reads_logs || !differs()? {
                return Ok(mended);
            }
        }
    }
    rebuild(path, setup, reads_logs, now, progress)
        .map(|rebuilt| Repaired::Store(Box::new(rebuilt)))
}

fn rebuild(
    path: &Path,
    mut setup: IngestOptions<'_>,
    reads_logs: bool,
    now: Time,
    progress: &dyn Progress,
) -> Result<Rebuilt> {
    let own = || global_group(&setup.rules.host);
    let group = setup.group.clone().unwrap_or_else(own);
    progress.total(fs::metadata(path).map_or(0, |file| file.len()), 1);
    let salvage = Salvage::of(path, &group, &|bytes| progress.advance(bytes));
    progress.finish();
    let first = salvage
        .map_err(anyhow::Error::from)
        .and_then(|salvage| told_again(salvage, &mut setup, reads_logs, progress));
    let is_of_choices = first.is_err();
    let (salvage, report) = match first {
        Ok(first) => first,
        Err(_) => told_again(Salvage::of_choices(path)?, &mut setup, reads_logs, progress)?,
    };
    let Salvaged {
        rows,
        holes,
        unfit,
        without_text,
        without_row,
        ..
    } = salvage.salvaged.clone();
    let rows = |table: &str| rows.get(table).copied().unwrap_or(0);
    let mark = now.utc().format(MARK).to_string();
    let (aside, lost) = salvage.finish(&mark)?;
    Ok(Rebuilt {
        aside,
        episodes_kept: rows("episode"),
        episodes_without_text: without_text,
        texts_without_episode: without_row,
        episodes_lost: lost.episodes.values().sum(),
        lost: lost.episodes,
        summaries_to_write: lost.summaries,
        consents: rows("consent"),
        switches: rows("switch"),
        forgotten: rows("forgotten"),
        holes: holes.into_keys().collect(),
        damaged_rows: unfit,
        is_of_choices,
        report,
    })
}

/// Reads the logs into what was salvaged; where that fails nothing of it is left.
fn told_again(
    mut salvage: Salvage,
    setup: &mut IngestOptions<'_>,
    reads_logs: bool,
    progress: &dyn Progress,
) -> Result<(Salvage, Option<IngestReport>)> {
    if !reads_logs {
        return Ok((salvage, None));
    }
    if !salvage.salvaged.is_whole("file") {
        // nobody knows any more which logs it had
        setup.discover.since = None;
    }
    match index(&mut salvage.store, setup, progress) {
        Ok(report) => Ok((salvage, Some(report))),
        Err(error) => {
            salvage.discard()?;
            Err(error)
        }
    }
}
