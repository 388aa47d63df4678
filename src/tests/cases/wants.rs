//! A case's `wants`: what has to come of it, and how a difference is told. Knows the shape of a
//! case.

use crate::model::episode::Episode;
use crate::model::ledger::{Fate, Ledger};
use crate::model::session::Session;
use crate::model::usage::Usage;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Debug, Display};

/// Everything that has to come of a case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wants {
    #[serde(default)]
    sessions: Vec<WantedSession>,
    episodes: Option<Vec<WantedEpisode>>,
    #[serde(default)]
    once_in_all: Vec<String>,
    ledger: WantedLedger,
}

/// What came of it.
#[derive(Debug)]
pub struct Came {
    /// By id, with the title to show.
    pub sessions: BTreeMap<String, (Session, Option<String>)>,
    /// With their sessions, in the order of session, stream and part.
    pub episodes: Vec<(String, Episode)>,
    /// Of all files together.
    pub ledger: Ledger,
    /// Lines on disk, counted by the test itself.
    pub lines: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WantedSession {
    id: Option<String>,
    title: Option<String>,
    project: Option<String>,
    cwd: Option<String>,
    branch: Option<String>,
    models: Option<BTreeSet<String>>,
    pull_requests: Option<BTreeSet<String>>,
    forked_from: Option<String>,
    compactions: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct WantedEpisode {
    session: Option<String>,
    stream: Option<String>,
    part: Option<u32>,
    title: Option<String>,
    title_max: Option<usize>,
    title_starts: Option<String>,
    sealed: Option<bool>,
    pending_calls: Option<u32>,
    text: Option<String>,
    contains: Vec<String>,
    lacks: Vec<String>,
    once: Vec<String>,
    message_count: Option<u64>,
    prompts: Option<u64>,
    calls: Option<u64>,
    failures: Option<u64>,
    refusals: Option<u64>,
    files: Option<BTreeSet<String>>,
    files_modified: Option<u64>,
    usage: Option<WantedUsage>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WantedUsage {
    input: Option<u64>,
    output: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct WantedLedger {
    lines: Option<u64>,
    kept: Option<Lines>,
    filtered: Option<Lines>,
    copied: Option<Lines>,
    rejected: Option<Lines>,
    unknown: Option<Lines>,
    pending: Option<u64>,
    glued: Option<u64>,
}

/// Lines of one fate: so many, or so many for each reason.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Lines {
    Number(u64),
    Reasons(BTreeMap<String, u64>),
}

impl Wants {
    /// Every way in which `came` is not what was wanted; empty is good.
    pub fn differences(&self, came: &Came) -> Vec<String> {
        let mut found = Differences::default();
        self.sessions(came, &mut found);
        self.episodes(came, &mut found);
        let all: String = came
            .episodes
            .iter()
            .map(|(_, episode)| format!("{}\n", episode.text))
            .collect();
        for words in &self.once_in_all {
            found.equal(
                "all episodes",
                &format!("times {words:?}"),
                &1,
                &all.matches(words.as_str()).count(),
            );
        }
        self.ledger.compare(came, &mut found);
        found.0
    }

    fn sessions(&self, came: &Came, found: &mut Differences) {
        for wanted in &self.sessions {
            let session = match &wanted.id {
                Some(id) => came.sessions.get(id),
                None => came.sessions.values().next(),
            };
            match session {
                Some((session, title)) => wanted.compare(session, title.clone(), found),
                None => found.0.push(format!(
                    "no session {:?} among {:?}",
                    wanted.id,
                    came.sessions.keys()
                )),
            }
        }
    }

    fn episodes(&self, came: &Came, found: &mut Differences) {
        let Some(wanted) = &self.episodes else {
            return;
        };
        found.equal(
            "case",
            "number of episodes",
            &wanted.len(),
            &came.episodes.len(),
        );
        for (nth, (wanted, (session, episode))) in wanted.iter().zip(&came.episodes).enumerate() {
            let mut mine = Differences::default();
            wanted.compare(session, episode, &mut mine);
            wanted.compare_text(episode, &mut mine);
            if !mine.0.is_empty() {
                mine.0.push(format!("of this text:\n{}", episode.text));
            }
            found.0.extend(
                mine.0
                    .into_iter()
                    .map(|d| format!("episode {}: {d}", nth + 1)),
            );
        }
    }
}

impl WantedSession {
    fn compare(&self, session: &Session, title: Option<String>, found: &mut Differences) {
        let place = format!("session {}", session.id);
        let facts = &session.facts;
        found.stated(&place, "title", &self.title, title);
        found.stated(
            &place,
            "project",
            &self.project,
            Some(session.project_path.clone()),
        );
        found.stated(&place, "cwd", &self.cwd, session.cwd.clone());
        found.stated(
            &place,
            "branch",
            &self.branch,
            facts.branch.clone().or(session.branch.clone()),
        );
        found.stated(&place, "models", &self.models, Some(facts.models.clone()));
        found.stated(
            &place,
            "pull requests",
            &self.pull_requests,
            Some(facts.pull_requests.clone()),
        );
        found.stated(
            &place,
            "forked from",
            &self.forked_from,
            facts.forked_from.clone(),
        );
        found.stated(
            &place,
            "compactions",
            &self.compactions,
            Some(facts.compactions),
        );
    }
}

impl WantedEpisode {
    fn compare(&self, session: &str, episode: &Episode, found: &mut Differences) {
        found.stated("", "session", &self.session, Some(session.to_owned()));
        match self.stream.as_deref() {
            Some("any") if episode.stream.is_some() => {}
            None if episode.stream.is_none() => {}
            None => found.0.push(format!(
                "is of stream {:?}, wanted the main one",
                episode.stream
            )),
            Some(_) => found.stated("", "stream", &self.stream, episode.stream.clone()),
        }
        let tally = &episode.tally;
        found.stated("", "part", &self.part, Some(episode.part));
        found.stated("", "title", &self.title, Some(episode.title.clone()));
        found.stated("", "sealed", &self.sealed, Some(episode.sealed));
        found.stated(
            "",
            "pending calls",
            &self.pending_calls,
            Some(episode.pending_calls),
        );
        found.stated(
            "",
            "message_count",
            &self.message_count,
            Some(episode.message_count),
        );
        found.stated("", "prompts", &self.prompts, Some(tally.prompts));
        found.stated("", "calls", &self.calls, Some(tally.calls));
        found.stated("", "failures", &self.failures, Some(tally.failures));
        found.stated("", "refusals", &self.refusals, Some(tally.refusals));
        found.stated("", "files", &self.files, Some(episode.files.clone()));
        found.stated(
            "",
            "files_modified",
            &self.files_modified,
            Some(episode.files_modified),
        );
        let Usage { input, output, .. } = tally.usage;
        if let Some(usage) = &self.usage {
            found.stated("", "input tokens", &usage.input, Some(input));
            found.stated("", "output tokens", &usage.output, Some(output));
        }
    }

    fn compare_text(&self, episode: &Episode, found: &mut Differences) {
        found.stated("", "text", &self.text, Some(episode.text.clone()));
        if let Some(max) = self
            .title_max
            .filter(|max| episode.title.chars().count() > *max)
        {
            found
                .0
                .push(format!("title is longer than {max} characters"));
        }
        if let Some(start) = self
            .title_starts
            .as_ref()
            .filter(|s| !episode.title.starts_with(s.as_str()))
        {
            found.0.push(format!("title doesn't start with {start:?}"));
        }
        let mut rest = episode.text.as_str();
        for words in &self.contains {
            match rest.split_once(words.as_str()) {
                Some((_, after)) => rest = after,
                None => found
                    .0
                    .push(format!("lacks {words:?}, or has it at another place")),
            }
        }
        for words in self
            .lacks
            .iter()
            .filter(|words| episode.text.contains(words.as_str()))
        {
            found.0.push(format!("must not contain {words:?}"));
        }
        for words in &self.once {
            found.equal(
                "",
                &format!("times {words:?}"),
                &1,
                &episode.text.matches(words.as_str()).count(),
            );
        }
    }
}

impl WantedLedger {
    fn compare(&self, came: &Came, found: &mut Differences) {
        let ledger = &came.ledger;
        found.equal("ledger", "sum of all fates", &came.lines, &ledger.total());
        found.stated("ledger", "lines", &self.lines, Some(ledger.total()));
        for (fate, wanted) in [
            (Fate::Kept, &self.kept),
            (Fate::Filtered, &self.filtered),
            (Fate::Copied, &self.copied),
            (Fate::Rejected, &self.rejected),
            (Fate::Unknown, &self.unknown),
        ] {
            match wanted {
                None if self.lines.is_some() => {}
                None => found.equal("ledger", fate.as_str(), &0, &ledger.of(fate)),
                Some(Lines::Number(lines)) => {
                    found.equal("ledger", fate.as_str(), lines, &ledger.of(fate))
                }
                Some(Lines::Reasons(reasons)) => {
                    let came = ledger.lines.get(&fate).into_iter().flatten();
                    let came: BTreeMap<_, _> =
                        came.map(|(reason, n)| (reason.to_string(), *n)).collect();
                    found.equal(
                        "ledger",
                        fate.as_str(),
                        &format!("{reasons:?}"),
                        &format!("{came:?}"),
                    );
                }
            }
        }
        found.equal(
            "ledger",
            "pending",
            &self.pending.unwrap_or(0),
            &ledger.pending,
        );
        found.equal("ledger", "glued", &self.glued.unwrap_or(0), &ledger.glued);
        if found.0.iter().any(|d| d.starts_with("ledger")) {
            found.0.push(format!("the ledger came out as {ledger:?}"));
        }
    }
}

#[derive(Default)]
struct Differences(Vec<String>);

impl Differences {
    fn equal<T: PartialEq + Display>(&mut self, place: &str, what: &str, wanted: &T, came: &T) {
        if wanted != came {
            self.0
                .push(format!("{place} {what}: wanted {wanted}, came {came}"));
        }
    }

    /// Compares only what the case states.
    fn stated<T: PartialEq + Debug>(
        &mut self,
        place: &str,
        what: &str,
        wanted: &Option<T>,
        came: Option<T>,
    ) {
        if wanted.is_some() && *wanted != came {
            self.0
                .push(format!("{place} {what}: wanted {wanted:?}, came {came:?}"));
        }
    }
}
