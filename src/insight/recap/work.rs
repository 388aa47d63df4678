//! A session of a recap, and the line that tells it: what was asked for, and what came of it.

use crate::insight::summary::short;
use crate::model::finding::{CommitSize, TestCounts};
use crate::model::summary::{ChangedFile, SessionOutcome, Sourced, Summary, is_quiet};
use crate::model::time::Time;
use crate::rules::paths::is_throwaway;
use crate::rules::words::{content_words, sentences};
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// A session of a recap.
#[derive(Clone, Debug)]
pub struct RecapSession {
    /// Its id.
    pub id: String,
    /// Its title, where it has one.
    pub title: Option<String>,
    /// The session whose agent started it, where one did.
    pub parent: Option<String>,
    /// Its namespace.
    pub namespace: String,
    /// Where its project lies; `None`: that may not be shown.
    pub project_path: Option<String>,
    /// Its last record's time.
    pub ended: Option<Time>,
    /// When its episodes began.
    pub began: BTreeMap<Uuid, Time>,
    /// Its facts.
    pub summary: Summary,
}

/// A session in a line, or several that were asked the same.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SessionWork {
    /// The id of the latest one.
    pub session: String,
    /// The others, the latest first: asked the same, or started by this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// What was asked for; where nobody said, its title.
    pub objective: String,
    /// What the agent said came of it: one sentence.
    pub result: Option<String>,
    /// How it ended.
    pub outcome: Option<SessionOutcome>,
    /// When.
    #[serde(serialize_with = "rfc3339_millis")]
    pub ended: Option<Time>,
    /// Files that it changed, scratch files left out.
    pub files: u64,
    /// Lines, over all edits: no more than a guess at what they came to.
    pub added: u64,
    /// As `added`.
    pub removed: u64,
    /// What its commits came to, where git printed that of all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub committed: Option<Committed>,
    /// The last test run.
    pub tests: Option<TestCounts>,
    /// How many ended so, of several.
    #[serde(skip)]
    pub(super) outcomes: BTreeMap<SessionOutcome, u64>,
    /// Of those that are in progress, the ones whose logs grow no more.
    #[serde(skip)]
    pub(super) cut_off: u64,
    #[serde(skip)]
    pub(super) paths: BTreeSet<String>,
}

/// What commits came to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Committed {
    /// How many they are.
    pub commits: u64,
    /// Lines.
    pub added: u64,
    /// Lines.
    pub removed: u64,
    /// Of a single one its files: several may have changed the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<u64>,
}

impl Committed {
    fn of(summary: &Summary) -> Option<Committed> {
        let one = |size: CommitSize| Committed {
            commits: 1,
            added: size.added,
            removed: size.removed,
            files: Some(size.files),
        };
        let sizes = summary
            .commits
            .iter()
            .map(|commit| commit.what.size.map(one));
        let all: Option<Vec<Committed>> = sizes.collect();
        all?.into_iter().reduce(Committed::and)
    }

    pub(super) fn and(self, other: Committed) -> Committed {
        Committed {
            commits: self.commits + other.commits,
            added: self.added + other.added,
            removed: self.removed + other.removed,
            files: None,
        }
    }
}

/// As machine output has times.
fn rfc3339_millis<S: Serializer>(time: &Option<Time>, to: S) -> Result<S::Ok, S::Error> {
    time.map(Time::rfc3339_millis).serialize(to)
}

/// A fact with the session that it comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SessionFact<T> {
    /// The session's id.
    pub session: String,
    /// What, and where it stands.
    #[serde(flatten)]
    pub fact: Sourced<T>,
}

impl SessionWork {
    /// Somebody may have to go on with it.
    pub(super) fn is_open(&self) -> bool {
        matches!(
            self.outcome,
            Some(
                SessionOutcome::InProgress | SessionOutcome::Blocked | SessionOutcome::Interrupted
            )
        )
    }
}

/// It seems to be in progress, and nobody wrote to its log any more.
pub(super) fn is_cut_off(outcome: SessionOutcome, ended: Option<Time>, now: Time) -> bool {
    outcome == SessionOutcome::InProgress && is_quiet(ended, now)
}

/// `None` where nobody asked for anything and nothing was changed.
pub(super) fn work(session: RecapSession, now: Time) -> Option<SessionWork> {
    let summary = session.summary;
    let committed = Committed::of(&summary);
    let asked = summary.objective.map(|objective| objective.what);
    let is_kept = |file: &&Sourced<ChangedFile>| !is_throwaway(&file.what.path);
    let files: Vec<_> = summary.files_modified.iter().filter(is_kept).collect();
    let paths: BTreeSet<String> = files.iter().map(|file| file.what.path.clone()).collect();
    let named = [asked, session.title].into_iter().flatten();
    let named = named.map(|text| one_line(&text));
    let objective = named.into_iter().find(|text| !is_idle(text));
    let objective = objective.or_else(|| changed(&paths))?;
    let outcome = summary.outcome;
    let result = summary.result.filter(|_| says_how(outcome));
    Some(SessionWork {
        session: session.id,
        also: Vec::new(),
        result: result.and_then(|result| result_of(&result.what, &objective)),
        objective: short(&objective, OBJECTIVE_CHARS_MAX),
        outcome,
        ended: session.ended,
        files: paths.len() as u64,
        added: files.iter().map(|file| file.what.added).sum(),
        removed: files.iter().map(|file| file.what.removed).sum(),
        committed,
        tests: summary.tests.and_then(|runs| runs.what.numbers().cloned()),
        outcomes: outcome.map(|outcome| (outcome, 1)).into_iter().collect(),
        cut_off: outcome.map_or(0, |outcome| is_cut_off(outcome, session.ended, now).into()),
        paths,
    })
}

/// What an agent says last is what came of it, or what stopped it; in between it is what it was about to do.
fn says_how(outcome: Option<SessionOutcome>) -> bool {
    matches!(
        outcome,
        Some(SessionOutcome::Completed | SessionOutcome::Blocked)
    )
}

/// `/clear`, `yes`, `go on`: says nothing of what a session was for.
fn is_idle(text: &str) -> bool {
    const DRIVES: [&str; 3] = ["/clear", "/exit", "/compact"];
    let mut words = content_words(text);
    words.retain(|word| !AGREES.contains(&word.as_str()));
    words.is_empty() || DRIVES.contains(&text)
}

/// Stopwords apart, these only agree.
const AGREES: [&str; 9] = [
    "go", "ahead", "continue", "sure", "proceed", "correct", "right", "agreed", "thanks",
];

/// The first sentence that says something, in a line; `None` where it asks, or says the objective again.
pub(super) fn result_of(text: &str, objective: &str) -> Option<String> {
    let says = |sentence: &&str| {
        let ends = sentence.trim_end_matches(['_', ')', '"']);
        !ends.ends_with([':', ',']) && content_words(sentence).len() >= RESULT_WORDS_MIN
    };
    let lines = text.lines().filter(|line| !line.starts_with('|'));
    let lines: Vec<String> = lines.map(one_line).collect();
    let mut all = lines.iter().flat_map(|line| sentences(line));
    let sentence = all.find(says)?;
    let is_same = sentence.eq_ignore_ascii_case(objective);
    (!sentence.ends_with('?') && !is_same).then(|| short(sentence, RESULT_CHARS_MAX))
}

/// Whitespace folded, emphasis and marks of lists taken off.
fn one_line(text: &str) -> String {
    let lines = text.lines().map(|line| line.trim_start_matches(LIST_MARKS));
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    without_addresses(&words.join(" ").replace("**", ""))
}

/// Of `[text](address)` the text.
fn without_addresses(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        out.push_str(before);
        let link = after.split_once("](");
        let link = link.and_then(|(name, address)| Some((name, address.split_once(')')?.1)));
        match link.filter(|(name, _)| !name.contains(['[', ']'])) {
            Some((name, after)) => {
                out.push_str(name);
                rest = after;
            }
            None => {
                out.push('[');
                rest = after;
            }
        }
    }
    out + rest
}

const LIST_MARKS: [char; 5] = [' ', '-', '*', '#', '>'];

/// Fewer say nothing: `All done!`
const RESULT_WORDS_MIN: usize = 2;
const RESULT_CHARS_MAX: usize = 160;
const OBJECTIVE_CHARS_MAX: usize = 200;

/// What a session without a request is known by.
fn changed(paths: &BTreeSet<String>) -> Option<String> {
    let named: Vec<&str> = paths.iter().take(PATHS_NAMED).map(String::as_str).collect();
    let more = match paths.len().saturating_sub(PATHS_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!named.is_empty()).then(|| format!("(changed {}{more})", named.join(", ")))
}

/// Files that stand for a request.
const PATHS_NAMED: usize = 3;
