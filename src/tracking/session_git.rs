//! A session's summary as git has it: the commits that it made, which of them were given up since, and the
//! decisions that went with these. Works on what is stored: no repository is opened. Pages are made again when an
//! operation changes what they tell (`store::tracking`), so that they say the same whenever they were made.

use super::commit_links::commits_of;
use super::decision_links::{UndoneDecision, lost, undone_among};
use crate::insight::facts::{says_uncommitted, says_unpushed, unpushed};
use crate::model::error::Error;
use crate::model::finding::Finding;
use crate::model::git::{AFTER_MS, GitOperation, short_hash};
use crate::model::summary::{Decision, SessionCommit, Sourced, Summary, UndoneBy};
use crate::model::time::Time;
use crate::store::{Found, GitRow, Store};
use std::collections::{BTreeMap, BTreeSet};

/// What git tells of a session's commits.
#[derive(Clone, Debug, Default)]
pub struct SessionGit {
    /// As [`commits_of`] gives them.
    commits: Vec<Sourced<SessionCommit>>,
    /// What became of them, by their hashes as they are told.
    given_up: BTreeMap<String, UndoneBy>,
    /// Decisions of which all work was given up.
    undone: Vec<UndoneDecision>,
}

/// Digits of a hash that name a commit: git prints no fewer.
const DIGITS_MIN: usize = 7;

impl SessionGit {
    /// Of a session; `episodes`: all of it, `named`: the hashes that its log names.
    ///
    /// # Errors
    /// When the store can't be read.
    pub fn read(
        store: &Store,
        episodes: &[Found],
        named: impl IntoIterator<Item = String>,
    ) -> Result<SessionGit, Error> {
        let commits = commits_of(store, episodes)?;
        let mut given_up = BTreeMap::new();
        let made = commits.iter().map(|commit| commit.what.hash.clone());
        for hash in named.into_iter().chain(made) {
            if hash.len() >= DIGITS_MIN
                && !given_up.contains_key(&hash)
                && let Some(undone) = undone_by(store, &hash)?
            {
                given_up.insert(hash, undone);
            }
        }
        let mut undone = match given_up.is_empty() {
            true => Vec::new(),
            false => undone_among(store, episodes)?,
        };
        undone.retain(|undone| undone.given_up == undone.led_to);
        Ok(SessionGit {
            commits,
            given_up,
            undone,
        })
    }

    /// As [`SessionGit::read`], of episodes that have their items.
    ///
    /// # Errors
    /// When the store can't be read.
    pub fn of_items(store: &Store, episodes: &[Found]) -> Result<SessionGit, Error> {
        let marks = episodes.iter().flat_map(|found| &found.episode.outline);
        let findings = marks.flat_map(|mark| &mark.findings);
        let hashes = findings.filter_map(|finding| match finding {
            Finding::Commit { hash, .. } => Some(hash.clone()),
            _ => None,
        });
        SessionGit::read(store, episodes, hashes)
    }

    /// As [`SessionGit::read`], of a session whose facts are known.
    ///
    /// # Errors
    /// When the store can't be read.
    pub fn of_summary(
        store: &Store,
        episodes: &[Found],
        summary: &Summary,
    ) -> Result<SessionGit, Error> {
        let named = summary.commits.iter();
        let named = named.map(|commit| commit.what.hash.clone());
        SessionGit::read(store, episodes, named)
    }

    /// What became of the commits that a session's log tells, and of nothing else: quick enough for who
    /// waits. `episodes`: the first and the last of the session.
    ///
    /// # Errors
    /// When the store can't be read.
    pub fn of_log(
        store: &Store,
        episodes: &[Found],
        summary: &Summary,
    ) -> Result<SessionGit, Error> {
        let all = || episodes.iter().map(|found| &found.episode);
        let began = all().filter_map(|episode| episode.valid_at).min();
        let ended = all().filter_map(|episode| episode.ended_at).max();
        let (Some(first), Some(began)) = (episodes.first(), began) else {
            return Ok(SessionGit::default());
        };
        let mut commits: Vec<Sourced<SessionCommit>> = Vec::new();
        if summary.commits.iter().any(|told| told.what.hash.is_empty()) {
            let (since, until) = (began.0 - AFTER_MS, ended.unwrap_or(began).0 + AFTER_MS);
            let rows = store.operations_between(&first.namespace, Time(since), Time(until))?;
            let made: Vec<_> = rows.iter().filter_map(|row| row.git.commit()).collect();
            for told in summary
                .commits
                .iter()
                .filter(|told| told.what.hash.is_empty())
            {
                let same = made.iter().find(|made| made.subject == told.what.subject);
                commits.extend(same.map(|made| {
                    let mut told = told.clone();
                    told.what.hash = short_hash(&made.hash).to_owned();
                    told
                }));
            }
        }
        let named = summary.commits.iter().chain(&commits);
        let named: BTreeSet<&str> = named.map(|told| told.what.hash.as_str()).collect();
        let mut given_up = BTreeMap::new();
        for hash in named.into_iter().filter(|hash| hash.len() >= DIGITS_MIN) {
            let undone = undone_by(store, hash)?;
            given_up.extend(undone.map(|undone| (hash.to_owned(), undone)));
        }
        Ok(SessionGit {
            commits,
            given_up,
            undone: Vec::new(),
        })
    }

    /// Puts it into the session's summary.
    pub fn tell(&self, summary: &mut Summary) {
        add_commits(summary, &self.commits);
        if summary.commits.iter().any(|commit| commit.what.by_git) {
            let next = &mut summary.next_steps;
            next.retain(|step| !says_uncommitted(&step.what));
        }
        for commit in &mut summary.commits {
            commit.what.given_up = self.given_up.get(&commit.what.hash).cloned();
        }
        let next = &mut summary.next_steps;
        let is_one = |step: &Sourced<String>| says_unpushed(&step.what).is_some();
        if let Some(at) = next.iter().position(is_one) {
            let counted = next
                .iter()
                .find(|step| says_unpushed(&step.what) == Some(true));
            let steps = unpushed(&summary.commits, counted.cloned());
            next.retain(|step| !is_one(step));
            next.splice(at..at, steps);
        }
        for decision in &mut summary.decisions {
            let mut undone = self.undone.iter();
            let undone = undone.find(|undone| is_same(&undone.decision, decision));
            decision.what.undone = undone.map(|undone| by(&undone.by));
        }
    }
}

/// The operation that gave a commit up and stands; `None`: it is there, or nothing is known of it.
fn undone_by(store: &Store, hash: &str) -> Result<Option<UndoneBy>, Error> {
    let rows = store.operations_naming(hash, None)?;
    let row = rows.into_iter().find(|row| loses(&row.git, hash));
    Ok(row.as_ref().map(by))
}

fn by(row: &GitRow) -> UndoneBy {
    UndoneBy {
        operation: row.git.name(),
        at: row.git.operation.at,
        git_batch_id: row.id,
    }
}

/// The same decision at the same place, whatever a model says of it.
fn is_same(one: &Sourced<Decision>, other: &Sourced<Decision>) -> bool {
    (one.episode, one.line) == (other.episode, other.line)
        && one.what.decision == other.what.decision
}

/// The commit's work is nowhere any more, and this operation did it.
fn loses(git: &GitOperation, hash: &str) -> bool {
    lost(git).any(|known| known.starts_with(hash))
}

/// Adds hashes that the log doesn't have, and commits that it doesn't name.
fn add_commits(summary: &mut Summary, commits: &[Sourced<SessionCommit>]) {
    for commit in commits {
        let known = summary.commits.iter_mut().find(|known| {
            let (known, git) = (&known.what, &commit.what);
            match known.hash.is_empty() {
                true => known.subject == git.subject,
                false => known.hash.starts_with(&git.hash) || git.hash.starts_with(&known.hash),
            }
        });
        match known {
            Some(known) if known.what.hash.is_empty() => {
                known.what.hash.clone_from(&commit.what.hash);
            }
            Some(_) => {}
            None => summary.commits.push(commit.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::summary::sourced;
    use uuid::Uuid;

    fn undone() -> UndoneBy {
        UndoneBy {
            operation: "reset --hard".into(),
            at: Time(1_780_304_400_000),
            git_batch_id: Uuid::nil(),
        }
    }

    fn commit(line: u64, hash: &str, subject: &str) -> Sourced<SessionCommit> {
        sourced(
            line,
            SessionCommit {
                hash: hash.into(),
                subject: subject.into(),
                ..SessionCommit::default()
            },
        )
    }

    fn told(decision: &str, commits: &[(u64, &str, &str)]) -> Summary {
        let commits = commits.iter();
        let commits: Vec<_> = commits
            .map(|(line, hash, subject)| commit(*line, hash, subject))
            .collect();
        let mut summary = Summary {
            decisions: vec![sourced(
                5,
                Decision {
                    decision: decision.into(),
                    instead_of: Some("Memcached".into()),
                    ..Decision::default()
                },
            )],
            next_steps: unpushed(&commits, None),
            commits,
            ..Summary::default()
        };
        let git = SessionGit {
            given_up: BTreeMap::from([("aaaaaaa".to_owned(), undone())]),
            ..SessionGit::default()
        };
        git.tell(&mut summary);
        summary
    }

    #[test]
    fn a_commit_that_was_given_up_is_no_next_step() {
        let summary = told("x", &[(7, "aaaaaaa", "Redis cache")]);
        assert_eq!(summary.commits[0].what.given_up, Some(undone()));
        assert_eq!(summary.next_steps, []);
        let summary = told(
            "x",
            &[(7, "aaaaaaa", "Redis cache"), (9, "bbbbbbb", "Docs")],
        );
        assert_eq!(summary.next_steps[0].what, "No push seen of bbbbbbb");
    }
}
