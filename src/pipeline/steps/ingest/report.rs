//! What a run, or a plan of one, amounts to. Numbers and names; never content.

use super::file::FileTally;
use crate::agents::versions;
use crate::model::checkpoint::FileCommit;
use crate::model::human::{bytes, count, duration_ms, plural, roughly};
use crate::model::ledger::{Fate, Ledger};
use crate::model::tally::Tally;
use crate::model::time::Time;
use crate::pipeline::last_run::Left;
use crate::pipeline::sweep::UnreadLog;
use crate::store::Stored;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The outcome of a run. `--json` prints it as it is.
#[derive(Clone, Debug, Default, Serialize)]
pub struct IngestReport {
    /// Log files that exist below the configured roots.
    pub files_found: u64,
    /// Of these, as they were at the last run: not opened, or compared where they were touched.
    pub files_unchanged: u64,
    /// Of these, read (from the start or from where the last run stopped).
    pub files_read: u64,
    /// Older than the window and unknown to the store.
    pub files_outside: u64,
    /// Bytes on disk of those.
    pub bytes_outside: u64,
    /// Those, as far as their agents' cleaning goes.
    #[serde(skip)]
    pub unread: Vec<UnreadLog>,
    /// Known files that are gone; their episodes stay.
    pub files_vanished: u64,
    /// Known files that moved.
    pub files_moved: u64,
    /// Files left out on purpose, by reason (`excluded`, `switched off`, `untrusted`,
    /// `symbolic link`).
    pub left_out: BTreeMap<String, u64>,
    /// Roots that don't exist.
    pub roots_missing: Vec<PathBuf>,
    /// What could not be read or listed.
    pub problems: Vec<Problem>,
    /// Content bytes read, checks and looks at heads included.
    pub bytes_read: u64,
    /// The account of the lines that were read.
    pub ledger: Ledger,
    /// What was counted while reading.
    pub tally: Tally,
    /// Files with a name, or of a version, that this program doesn't know; see `ledger.drift` and
    /// `newer`.
    pub files_drifting: u64,
    /// Files by agent and version, where that is newer than any that this program was tested with.
    pub newer: BTreeMap<String, u64>,
    /// Episodes cut from what was read: closed for ever.
    pub episodes_sealed: u64,
    /// Episodes cut from what was read: may still grow.
    pub episodes_open: u64,
    /// UTF-8 bytes of their texts.
    pub text_bytes: u64,
    /// Episodes that the store didn't have.
    pub episodes_new: u64,
    /// Episodes that it had otherwise.
    pub episodes_changed: u64,
    /// Stored episodes that new rules masked something in.
    pub episodes_redacted: u64,
    /// New episodes go on to this group, although the machine is called otherwise now.
    pub group_kept: Option<String>,
    /// The settings name another group now: what was stored before stays in this one, so many episodes.
    pub group_left: Option<(String, u64)>,
    /// Logs, and folders of logs, that could not be read or were refused, by path: a later run may read
    /// them.
    #[serde(skip)]
    pub due: BTreeSet<String>,
    /// Logs that may not be read, and why.
    #[serde(skip)]
    pub refused: Vec<(String, String)>,
    /// The last file that was counted as drifting.
    #[serde(skip)]
    drifting: String,
    /// The sessions that episodes were cut of, and when they ended.
    #[serde(skip)]
    ended: FxHashMap<String, Option<Time>>,
}

/// A path and why it could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// A file or a directory.
    pub path: String,
    /// From the system; never content.
    pub reason: String,
}

/// What one commit adds to a report; counted in the worker, before the commit is prepared.
#[derive(Clone, Debug, Default)]
pub struct CommitTally {
    ledger: Ledger,
    tally: Tally,
    sealed: u64,
    open: u64,
    text_bytes: u64,
    key: String,
    newer: Option<String>,
    session: String,
    ended: Option<Time>,
}

impl CommitTally {
    /// Counts.
    pub fn of(commit: &FileCommit) -> CommitTally {
        let mut counted = CommitTally {
            ledger: commit.ledger.clone(),
            sealed: commit.sealed.len() as u64,
            open: commit.open.len() as u64,
            session: commit.session.id.clone(),
            ..CommitTally::default()
        };
        counted.ledger.merge(&commit.tail_ledger);
        let version = commit.tail_facts.version.as_ref();
        counted.newer = version
            .or(commit.facts.version.as_ref())
            .and_then(|version| versions::newer(commit.checkpoint.agent, version));
        if counted.newer.is_some() || !counted.ledger.drift.is_empty() {
            counted.key.clone_from(&commit.checkpoint.key);
        }
        for episode in commit.sealed.iter().chain(&commit.open) {
            counted.text_bytes += episode.text.len() as u64;
            counted.ended = counted.ended.max(episode.ended_at);
            counted.tally.merge(&episode.tally);
        }
        counted
    }
}

impl IngestReport {
    /// What a group that the settings no longer name means, and the commands for it.
    pub fn group_words(&self, group: Option<&str>) -> Option<[String; 2]> {
        let ((left, count), group) = (self.group_left.as_ref()?, group?);
        let episodes = plural(*count, "episode");
        Some([
            format!(
                "`session_tracking.group_id` is {group} now: new episodes go there; {episodes} stay in {left}, which graph searches no longer query"
            ),
            format!("to move them: sessionmill deliver regroup {left}"),
        ])
    }

    /// A commit came of a file.
    pub fn add_commit(&mut self, counted: &CommitTally) {
        self.ledger.merge(&counted.ledger);
        self.tally.merge(&counted.tally);
        self.episodes_sealed += counted.sealed;
        self.episodes_open += counted.open;
        self.text_bytes += counted.text_bytes;
        if counted.sealed + counted.open > 0 {
            let ended = self.ended.entry(counted.session.clone()).or_default();
            *ended = (*ended).max(counted.ended);
        }
        if !counted.key.is_empty() && self.drifting != counted.key {
            // A file's commits follow one another.
            self.drifting.clone_from(&counted.key);
            self.files_drifting += 1;
            if let Some(newer) = &counted.newer {
                *self.newer.entry(newer.clone()).or_default() += 1;
            }
        }
    }

    /// A file was read, or could not be.
    pub fn add_file(&mut self, key: String, outcome: anyhow::Result<FileTally>) {
        match outcome {
            Ok(file) => {
                self.files_read += 1;
                self.bytes_read += file.read_bytes;
                self.tally.read_bytes += file.tally.read_bytes;
                self.tally.records += file.tally.records;
            }
            Err(error) => self.problem(key, format!("{:#}", error.root_cause())),
        }
    }

    /// Something could not be read.
    pub fn problem(&mut self, path: impl Into<String>, reason: impl Into<String>) {
        let (path, reason) = (path.into(), reason.into());
        self.due.insert(path.clone());
        self.problems.push(Problem { path, reason });
    }

    /// A file is left out on purpose.
    pub fn leave_out(&mut self, reason: String) {
        *self.left_out.entry(reason).or_default() += 1;
    }

    /// A log may not be read. Whoever trusts its project, or mends what stands in the way, wants it
    /// then; what somebody excluded or switched off, nobody does.
    pub fn refuse(&mut self, key: &str, reason: String) {
        const MENDS: [&str; 3] = ["untrusted", "trust unknown", "settings unclear"];
        if MENDS.iter().any(|start| reason.starts_with(start)) {
            self.due.insert(key.to_owned());
        }
        self.refused.push((key.to_owned(), reason.clone()));
        self.leave_out(reason);
    }

    /// What stands in the way of reading, as `file: why`.
    pub fn unclear(&mut self, what: Vec<String>) {
        for what in what {
            let (path, reason) = what.split_once(": ").unwrap_or(("", &what));
            let (path, reason) = (path.to_owned(), reason.to_owned());
            self.problems.push(Problem { path, reason });
        }
    }

    /// What this run left could not be written down.
    pub fn note_unkept(&mut self, error: &anyhow::Error) {
        self.problems.push(Problem {
            path: "what this run left".into(),
            reason: format!("{error:#}"),
        });
    }

    /// What a later run has to look at.
    pub fn left(&self) -> Left {
        Left {
            due: self.due.clone(),
            outside: self.files_outside,
        }
    }

    /// The store took a transaction.
    pub fn add_stored(&mut self, stored: Stored) {
        self.episodes_new += stored.new;
        self.episodes_changed += stored.changed;
    }

    /// The sessions of which something was read that end before, by id.
    pub fn ended_before(&self, time: Time) -> impl Iterator<Item = &str> {
        let ended = self.ended.iter();
        ended
            .filter(move |(_, ended)| ended.is_none_or(|ended| ended <= time))
            .map(|(session, _)| session.as_str())
    }

    /// Something was read, moved, masked, or could not be read.
    pub fn has_news(&self) -> bool {
        self.files_read + self.files_moved + self.episodes_redacted > 0 || !self.problems.is_empty()
    }

    /// Names that this program doesn't know.
    pub fn drift(&self) -> u64 {
        self.ledger.drift.len() as u64
    }

    /// Records that aren't understood hold words; `None`: none does, and then nothing is lost.
    pub fn drift_alarm(&self) -> Option<String> {
        let (kinds, words) = self.ledger.unread()?;
        Some(format!(
            "{} of records that this version doesn't know hold {}: none of them is stored",
            plural(kinds, "kind"),
            plural(words, "word"),
        ))
    }

    /// What was left out on purpose, and why.
    pub fn left_out_lines(&self) -> impl Iterator<Item = String> {
        let each = self.left_out.iter();
        each.map(|(reason, files)| format!("left out: {} ({reason})", plural(*files, "file")))
    }

    /// What was read and what came of it, a line each; `read_ms`: how long that took.
    pub fn news(&self, read_ms: u64) -> Vec<String> {
        if !self.has_news() {
            return vec![format!(
                "nothing new in {}",
                plural(self.files_unchanged, "log")
            )];
        }
        let read = format!(
            "read {} of {} ({}) in {}",
            count(self.files_read),
            plural(self.files_found, "log"),
            bytes(self.tally.read_bytes),
            duration_ms(read_ms),
        );
        let fates = Fate::ALL.map(|fate| (self.ledger.of(fate), fate.as_str()));
        let fates = fates.into_iter().chain([(self.ledger.pending, "pending")]);
        let fates: Vec<String> = fates
            .filter(|(lines, _)| *lines > 0)
            .map(|(lines, fate)| format!("{} {fate}", count(lines)))
            .collect();
        let ledger = format!(
            "{}: {}",
            plural(self.ledger.total(), "line"),
            fates.join(", ")
        );
        let stored = format!(
            "{}, {} changed; {} of text, ≈ {} tokens",
            plural(self.episodes_new, "new episode"),
            count(self.episodes_changed),
            bytes(self.text_bytes),
            roughly(self.text_tokens()),
        );
        let redacted = (self.episodes_redacted > 0).then(|| {
            let episodes = plural(self.episodes_redacted, "stored episode");
            format!("{episodes} masked by new rules")
        });
        [read, ledger, stored].into_iter().chain(redacted).collect()
    }

    /// Tokens of the texts, by the rule of thumb that the budget uses.
    pub fn text_tokens(&self) -> u64 {
        self.text_bytes.div_ceil(4)
    }
}
