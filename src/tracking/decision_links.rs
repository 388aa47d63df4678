//! Decisions that led to work that was given up later. Where it is not certain that a commit followed on a
//! decision, nothing is said: a decision that stands and is called undone costs more than one that is
//! missed.

use super::commit_links::{LinkStrength, SessionsAtWork, commits_of};
use super::rollbacks::without_quote;
use super::safe_names;
use crate::host::read;
use crate::insight::facts::{LocatedItem, decided};
use crate::insight::items::SessionItems;
use crate::model::error::Error;
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::model::git::{AFTER_MS, CommitLine, Confidence, GitOperation, Reason};
use crate::model::summary::{Decision, Sourced};
use crate::model::time::Time;
use crate::rules::commit_words::{TellingWord, telling_words};
use crate::rules::words::{content_words, is_same, tokens};
use crate::store::{Found, GitRow, Store};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use uuid::Uuid;

/// A decision whose work was given up.
#[derive(Clone, Debug, PartialEq)]
pub struct UndoneDecision {
    /// What was decided, and where it stands.
    pub decision: Sourced<Decision>,
    /// The operation that gave most of its commits up; of equals the latest.
    pub by: GitRow,
    /// Commits that it led to and that are given up.
    pub given_up: usize,
    /// Commits that it led to.
    pub led_to: usize,
}

impl UndoneDecision {
    /// `undone 2026-06-01 09:22Z (reset --hard on main): 2 of the 3 commits that followed it were given up;
    /// why, as the user said: "…"`. `reason`: the operation's, where it may be quoted.
    pub fn note(&self, reason: Option<&Reason>) -> String {
        let operation = &self.by.git.operation;
        let branch = operation.branch.as_deref().and_then(safe_names::branch);
        let on = branch.map_or(String::new(), |branch| format!(" on {branch}"));
        let commits = match (self.given_up, self.led_to) {
            (1, 1) => "the commit that followed it was given up".to_owned(),
            (2, 2) => "both commits that followed it were given up".to_owned(),
            (all, led_to) if all == led_to => {
                format!("all {all} commits that followed it were given up")
            }
            (1, led_to) => format!("1 of the {led_to} commits that followed it was given up"),
            (some, led_to) => {
                format!("{some} of the {led_to} commits that followed it were given up")
            }
        };
        let how_much = match self.given_up == self.led_to {
            true => "undone",
            false => "undone in part",
        };
        let why = match reason {
            Some(reason) => {
                let perhaps = match reason.confidence {
                    Confidence::High => "",
                    Confidence::Medium => "perhaps ",
                };
                let (who, said) = (reason.who(), quoted(&reason.sentence));
                format!("; {perhaps}why, as the {who} said: {said}")
            }
            None => without_quote(&self.by.git).map_or(String::new(), |none| format!("; {none}")),
        };
        format!(
            "{how_much} {} ({}{on}): {commits}{why}",
            operation.at.utc().format("%Y-%m-%d %H:%MZ"),
            self.by.git.name()
        )
    }
}

/// Characters of a sentence that are quoted.
const QUOTED_CHARS_MAX: usize = 200;

/// A sentence in quotes, its beginning where it is long.
pub fn quoted(sentence: &str) -> String {
    match sentence.char_indices().nth(QUOTED_CHARS_MAX) {
        None => format!("\"{sentence}\""),
        Some((end, _)) => format!("\"{}…\"", &sentence[..end]),
    }
}

/// Commits of one session that are looked at, the latest ones.
const COMMITS_MAX: usize = 256;
/// Reflogs count whole seconds.
const SECOND_MS: i64 = 999;
/// A prompt with fewer words that say something is no request of its own: `yes, go on`.
const REQUEST_WORDS_MIN: usize = 2;
/// Words that a decision has to share with commits, where none of them is a name.
const SHARED_WORDS_MIN: usize = 2;

/// Decisions of a session that were undone, in order. Where nothing of its time was given up it costs a few
/// look-ups.
///
/// # Errors
/// When the store can't be read.
pub fn undone_of(store: &Store, session: &str) -> Result<Vec<UndoneDecision>, Error> {
    let row = store.session(session)?;
    let Some(row) = row.filter(|row| row.session.id == session) else {
        return Ok(Vec::new());
    };
    let facts = &row.session.facts;
    let (Some(began), Some(ended)) = (facts.started, facts.ended) else {
        return Ok(Vec::new());
    };
    let commits = Commit::around(store, &row.session.namespace, (began, ended))?;
    if commits.iter().all(|commit| commit.given_up_by.is_none()) {
        return Ok(Vec::new());
    }
    of_commits(store, &store.episodes(session)?, commits)
}

/// As [`undone_of`], of a session whose episodes were read, all of them.
///
/// # Errors
/// When the store can't be read.
pub fn undone_among(store: &Store, episodes: &[Found]) -> Result<Vec<UndoneDecision>, Error> {
    let all = || episodes.iter().map(|found| &found.episode);
    let began = all().filter_map(|episode| episode.valid_at).min();
    let ended = all().filter_map(|episode| episode.ended_at).max();
    let (Some(first), Some(began)) = (episodes.first(), began) else {
        return Ok(Vec::new());
    };
    let window = (began, ended.unwrap_or(began));
    let commits = Commit::around(store, &first.namespace, window)?;
    match commits.iter().all(|commit| commit.given_up_by.is_none()) {
        true => Ok(Vec::new()),
        false => of_commits(store, episodes, commits),
    }
}

/// Sessions that made the commits that a rollback gave up, as far as their logs or the files say so.
///
/// # Errors
/// When the store can't be read.
pub fn sessions_behind(store: &Store, rollback: &GitRow) -> Result<BTreeSet<String>, Error> {
    let project = &rollback.project;
    let whose = [project.namespace.clone()];
    let mut sessions = BTreeSet::new();
    for commit in lost(&rollback.git).take(BEHIND_MAX) {
        let naming = store.operations_naming(commit, Some(&whose))?;
        let mut naming = naming.into_iter();
        let made = naming.find(|row| row.git.commit().is_some_and(|made| made.hash == commit));
        let Some(made) = made else { continue };
        let at = made.git.operation.at;
        let (since, until) = (Time(at.0 - AFTER_MS), Time(at.0 + AFTER_MS));
        let chunks = store.chunks_at_work(&project.namespace, until, since, CHUNKS_MAX)?;
        let author = SessionsAtWork::of(chunks).author(&made.git, Path::new(&project.path));
        let author = author.filter(|by| by.link >= LinkStrength::Files);
        sessions.extend(author.map(|by| by.session));
    }
    Ok(sessions)
}

/// Commits of a rollback whose sessions are looked for. Most of a rollback's are one session's.
const BEHIND_MAX: usize = 5;
/// Episodes that are looked through for who made a commit.
const CHUNKS_MAX: u32 = 16;

fn of_commits(
    store: &Store,
    episodes: &[Found],
    mut commits: Vec<Commit>,
) -> Result<Vec<UndoneDecision>, Error> {
    let with_items = episodes.iter().map(|found| {
        let items = store.outline(found.episode.id)?;
        Ok((&found.episode, items))
    });
    let items = SessionItems::with_outlines(with_items.collect::<Result<_, Error>>()?);
    let lines = items.lines();
    let made = commits_of(store, episodes)?;
    commits.retain(|commit| {
        let hash = &commit.line.hash;
        made.iter().any(|made| hash.starts_with(&made.what.hash))
    });
    for commit in &mut commits {
        commit.place = place_of(&commit.line, &lines);
    }
    let talk = Talk::of(&lines, episodes);
    Ok(talk.undone(&commits))
}

/// The commits that were given up, as far as they are named.
pub fn lost(git: &GitOperation) -> impl Iterator<Item = &str> {
    git.effect.lost.iter().map(|commit| commit.hash.as_str())
}

/// A commit of the time of a session.
struct Commit {
    line: CommitLine,
    row: GitRow,
    /// The latest operation that gave it up, where it is given up still.
    given_up_by: Option<GitRow>,
    /// The item that tells it, in the session.
    place: Option<usize>,
}

impl Commit {
    /// Those of a repository from a time to another one, in order.
    fn around(
        store: &Store,
        namespace: &str,
        (began, ended): (Time, Time),
    ) -> Result<Vec<Commit>, Error> {
        if !store.has_operations(namespace)? {
            return Ok(Vec::new());
        }
        let (since, until) = (Time(began.0 - AFTER_MS), Time(ended.0 + AFTER_MS));
        let rows = store.operations_between(namespace, since, until)?;
        let whose = [namespace.to_owned()];
        let made = rows.into_iter().filter_map(|row| {
            let line = row.git.commit()?.clone();
            Some((line, row))
        });
        let mut commits = Vec::new();
        for (line, row) in made.take(COMMITS_MAX) {
            let naming = store.operations_naming(&line.hash, Some(&whose))?;
            let mut naming = naming.into_iter();
            let given_up_by = naming
                .find(|row| row.git.gives_up() && lost(&row.git).any(|hash| hash == line.hash));
            commits.push(Commit {
                line,
                row,
                given_up_by,
                place: None,
            });
        }
        commits.reverse();
        Ok(commits)
    }

    /// Words of its subject and of the names of its files.
    fn words(&self) -> BTreeSet<String> {
        let files = self.row.git.effect.files.iter().map(|file| {
            let name = file.path.rsplit('/').next().unwrap_or_default();
            name.split_once('.').map_or(name, |(stem, _)| stem)
        });
        let parts = files.chain([self.line.subject.as_str()]);
        parts
            .flat_map(|part| part.split('_'))
            .flat_map(tokens)
            .collect()
    }
}

/// The item whose call made a commit.
fn place_of(commit: &CommitLine, lines: &[LocatedItem<'_>]) -> Option<usize> {
    let has = |names: &dyn Fn(&str, &str) -> bool| {
        lines.iter().position(|line| {
            let mut findings = line.item.findings.iter();
            findings.any(|finding| match finding {
                Finding::Commit { hash, subject, .. } => names(hash, subject),
                _ => false,
            })
        })
    };
    let by_hash = has(&|hash, _| !hash.is_empty() && commit.hash.starts_with(hash));
    by_hash.or_else(|| has(&|hash, subject| hash.is_empty() && subject == commit.subject))
}

/// A session's items, and its decisions among them.
struct Talk<'t> {
    lines: &'t [LocatedItem<'t>],
    episodes: &'t [Found],
    decisions: Vec<Spoken>,
}

/// A decision in its session.
struct Spoken {
    decision: Sourced<Decision>,
    place: usize,
    words: Vec<TellingWord>,
}

/// That a commit followed on a decision.
struct Link {
    commit: usize,
    /// Words that both have.
    shared: Vec<TellingWord>,
    /// Nothing else was asked for or decided in between.
    is_direct: bool,
}

impl<'t> Talk<'t> {
    fn of(lines: &'t [LocatedItem<'t>], episodes: &'t [Found]) -> Talk<'t> {
        let spoken = decided(lines).into_iter().filter_map(|decision| {
            let mut places = lines.iter();
            let place = places
                .position(|line| (line.episode, line.line) == (decision.episode, decision.line))?;
            Some(Spoken {
                words: chosen_words(&decision.what),
                decision,
                place,
            })
        });
        Talk {
            lines,
            episodes,
            decisions: spoken.collect(),
        }
    }

    fn undone(&self, commits: &[Commit]) -> Vec<UndoneDecision> {
        let mut links: BTreeMap<usize, Vec<Link>> = BTreeMap::new();
        for nth in 0..commits.len() {
            if let Some((decision, link)) = self.link(nth, commits) {
                links.entry(decision).or_default().push(link);
            }
        }
        let undone = links
            .into_iter()
            .filter_map(|(nth, links)| self.decisions[nth].undone(&links, commits));
        undone.collect()
    }

    /// The decision that a commit followed on: the one before it that shares most words with it, of equals
    /// the last; without a word, only the one that it follows at once.
    fn link(&self, nth: usize, commits: &[Commit]) -> Option<(usize, Link)> {
        let commit = &commits[nth];
        let words = commit.words();
        let mut before = Vec::new();
        for (decision, spoken) in self.decisions.iter().enumerate() {
            // where the order isn't known, nothing is
            if self.is_before(spoken, commit)? {
                before.push(decision);
            }
        }
        let shared = |decision: &usize| -> Vec<TellingWord> {
            let own = self.decisions[*decision].words.iter();
            let has = |word: &&TellingWord| words.iter().any(|had| is_same(had, &word.word));
            own.filter(has).cloned().collect()
        };
        let last = *before.last()?;
        let best = before
            .iter()
            .max_by_key(|nth| (shared(nth).len(), self.decisions[**nth].place));
        let decision = *best?;
        let shared = shared(&decision);
        let is_direct = decision == last && self.follows(&self.decisions[decision], commit);
        let is_first = || {
            let place = self.decisions[decision].place;
            let mut others = commits.iter().filter_map(|other| other.place);
            !others.any(|other| other > place && Some(other) < commit.place)
        };
        let has_topic = !self.decisions[decision].words.is_empty();
        let is_linked = has_topic && (!shared.is_empty() || is_direct && is_first());
        let link = Link {
            commit: nth,
            shared,
            is_direct,
        };
        is_linked.then_some((decision, link))
    }

    /// A decision came before a commit; `None`: nobody knows.
    fn is_before(&self, spoken: &Spoken, commit: &Commit) -> Option<bool> {
        match commit.place {
            Some(place) => Some(spoken.place < place),
            None => {
                let said = said_at(&spoken.decision, self.episodes)?;
                Some(said.0 <= commit.row.git.operation.at.0 + SECOND_MS)
            }
        }
    }

    /// Nobody asked for anything else between them.
    fn follows(&self, spoken: &Spoken, commit: &Commit) -> bool {
        let Some(place) = commit.place else {
            return false;
        };
        let between = self.lines.get(spoken.place + 1..place).unwrap_or_default();
        let asks = |line: &LocatedItem<'_>| {
            let by_people = matches!(line.item.kind, ItemKind::Prompt | ItemKind::Aside);
            by_people && line.main && content_words(line.words()).len() >= REQUEST_WORDS_MIN
        };
        !between.iter().any(asks)
    }
}

impl Spoken {
    /// `None`: none of its commits is given up, or it is not certain that they are its.
    fn undone(&self, links: &[Link], commits: &[Commit]) -> Option<UndoneDecision> {
        let is_lost = |link: &&Link| commits[link.commit].given_up_by.is_some();
        let lost: Vec<&Link> = links.iter().filter(is_lost).collect();
        let shared: BTreeSet<&TellingWord> = lost.iter().flat_map(|link| &link.shared).collect();
        let is_sure = lost.iter().any(|link| link.is_direct)
            || shared.iter().any(|word| word.is_name)
            || shared.len() >= SHARED_WORDS_MIN.min(self.words.len());
        let given_up = lost.len();
        let mut by: BTreeMap<Uuid, (usize, &GitRow)> = BTreeMap::new();
        for link in lost {
            let row = commits[link.commit].given_up_by.as_ref()?;
            by.entry(row.id).or_insert((0, row)).0 += 1;
        }
        let by = by.into_values();
        let (_, by) = by.max_by_key(|(count, row)| (*count, row.git.operation.at))?;
        is_sure.then(|| UndoneDecision {
            decision: self.decision.clone(),
            by: by.clone(),
            given_up,
            led_to: links.len(),
        })
    }
}

/// Words of what was chosen: those of what it was chosen instead of are another choice's. An answer that says
/// nothing by itself (`option 2`) says what it was asked.
fn chosen_words(decision: &Decision) -> Vec<TellingWord> {
    let other = decision.instead_of.as_deref().unwrap_or_default();
    let other = telling_words(other);
    let mut words = telling_words(&decision.decision);
    words.retain(|word| other.iter().all(|not| not.word != word.word));
    match &decision.about {
        Some(about) if words.is_empty() && other.is_empty() => telling_words(about),
        _ => words,
    }
}

/// When a decision was said, by the session's log; `None`: the log is gone, or has no time there.
fn said_at(decision: &Sourced<Decision>, episodes: &[Found]) -> Option<Time> {
    let mut all = episodes.iter();
    let found = all.find(|found| found.episode.id == decision.episode)?;
    let (bytes, first) = (found.episode.bytes, found.episode.lines.0);
    let nth = usize::try_from(decision.line.checked_sub(first)?).ok()?;
    if bytes.to.saturating_sub(bytes.from) > PART_BYTES_MAX {
        return None;
    }
    let part = read::part(Path::new(&found.path), bytes.from, bytes.to).ok()?;
    let line = part.split(|byte| *byte == b'\n').nth(nth)?;
    let stamped: Stamped = serde_json::from_slice(line).ok()?;
    Time::parse(&stamped.timestamp?)
}

/// A log's part that is read for the time of one line.
const PART_BYTES_MAX: u64 = 64 << 20;

#[derive(Deserialize)]
struct Stamped {
    timestamp: Option<String>,
}
