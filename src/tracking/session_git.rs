//! A session's summary as git has it: the commits that it made, which of them were given up since, and the
//! decisions that went with these. Works on what is stored: no repository is opened. Pages are made again when an
//! operation changes what they tell (`store::tracking`), so that they say the same whenever they were made.

use super::commit_links::commits_of;
use crate::insight::facts::{says_unpushed, unpushed};
use crate::model::error::Error;
use crate::model::finding::Finding;
use crate::model::git::GitOperation;
use crate::model::summary::{Decision, SessionCommit, Sourced, Summary, UndoneBy};
use crate::rules::words::{content_words, is_same, tokens};
use crate::store::{Found, Store};
use std::collections::BTreeMap;
use uuid::Uuid;

/// What git tells of a session's commits.
#[derive(Clone, Debug, Default)]
pub struct SessionGit {
    /// As [`commits_of`] gives them.
    commits: Vec<Sourced<SessionCommit>>,
    /// What became of them, by their hashes as they are told.
    given_up: BTreeMap<String, UndoneBy>,
    /// Episodes in the order of time.
    order: Vec<Uuid>,
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
        let mut order: Vec<_> = episodes.iter().map(|found| &found.episode).collect();
        order.sort_by_key(|episode| (episode.valid_at, episode.part));
        Ok(SessionGit {
            commits,
            given_up,
            order: order.into_iter().map(|episode| episode.id).collect(),
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

    /// Puts it into the session's summary.
    pub fn tell(&self, summary: &mut Summary) {
        add_commits(summary, &self.commits);
        for commit in &mut summary.commits {
            commit.what.given_up = self.given_up.get(&commit.what.hash).cloned();
        }
        let step = summary
            .next_steps
            .iter()
            .position(|step| says_unpushed(&step.what).is_some());
        if let Some(at) = step {
            let old = summary.next_steps.remove(at);
            let has_remote = says_unpushed(&old.what) == Some(true);
            if let Some(step) = unpushed(&summary.commits, has_remote) {
                summary.next_steps.insert(at, step);
            }
        }
        for decision in &mut summary.decisions {
            decision.what.undone = self.undone(decision, &summary.commits).cloned();
        }
    }

    /// The commits that did what was decided were given up, and none that is still there does it: those that
    /// the session made after it and that speak of it.
    fn undone<'c>(
        &self,
        decision: &Sourced<Decision>,
        commits: &'c [Sourced<SessionCommit>],
    ) -> Option<&'c UndoneBy> {
        let about = DecidedWords::of(&decision.what);
        let place = |episode: Uuid, line: u64| {
            let nth = self.order.iter().position(|known| *known == episode);
            nth.map(|nth| (nth, line))
        };
        let decided = place(decision.episode, decision.line)?;
        let did = commits.iter().filter(|commit| {
            place(commit.episode, commit.line) > Some(decided) && about.are_in(&commit.what.subject)
        });
        let mut last = None;
        for commit in did {
            last = Some(commit.what.given_up.as_ref()?);
        }
        last
    }
}

/// The operation that gave a commit up and stands; `None`: it is there, or nothing is known of it.
fn undone_by(store: &Store, hash: &str) -> Result<Option<UndoneBy>, Error> {
    let rows = store.operations_naming(hash, None, None)?;
    let row = rows.into_iter().find(|row| loses(&row.git, hash));
    Ok(row.map(|row| UndoneBy {
        operation: row.git.operation.name(),
        at: row.git.operation.at,
        git_batch_id: row.id,
    }))
}

/// The commit's work is nowhere any more, and this operation did it.
fn loses(git: &GitOperation, hash: &str) -> bool {
    let is_it = |known: &str| known.starts_with(hash);
    git.gives_up() && git.effect.left.iter().any(|commit| is_it(&commit.hash))
        || git.effect.undone.as_deref().is_some_and(is_it)
}

/// The words that say what was decided.
struct DecidedWords(Vec<String>);

impl DecidedWords {
    /// What it was chosen instead of is not it.
    fn of(decision: &Decision) -> DecidedWords {
        let mut words = content_words(&decision.decision);
        let others = decision.instead_of.as_deref().map(content_words);
        let others = others.unwrap_or_default();
        words.retain(|word| !others.contains(word));
        DecidedWords(words)
    }

    /// A commit's subject speaks of it: it has two of the words, or the only one.
    fn are_in(&self, subject: &str) -> bool {
        let said: Vec<String> = tokens(subject).collect();
        let has = |word: &&String| said.iter().any(|said| is_same(said, word));
        let shared = self.0.iter().filter(has).count();
        shared > 0 && shared >= self.0.len().min(2) && shared * 3 >= self.0.len()
    }
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
    use crate::model::time::Time;

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
                pushed: false,
                by_git: false,
                given_up: None,
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
            next_steps: unpushed(&commits, true).into_iter().collect(),
            commits,
            ..Summary::default()
        };
        let git = SessionGit {
            given_up: BTreeMap::from([("aaaaaaa".to_owned(), undone())]),
            order: vec![Uuid::nil()],
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
        assert_eq!(summary.next_steps[0].what, "Committed, not pushed: Docs");
    }

    #[test]
    fn a_decision_is_undone_where_all_that_did_it_is_gone() {
        let is_undone = |decision: &str, commits: &[(u64, &str, &str)]| {
            told(decision, commits).decisions[0].what.undone.is_some()
        };
        let gone = (7, "aaaaaaa", "Cache pages in Redis");
        assert!(is_undone(
            "Let's use Redis for the cache instead of Memcached",
            &[gone]
        ));
        assert!(!is_undone("Let's use Postgres for the orders", &[gone]));
        assert!(
            !is_undone("Redis for the cache", &[(3, gone.1, gone.2)]),
            "decided later"
        );
        let stays = (9, "bbbbbbb", "Redis cache for carts");
        assert!(!is_undone("Redis for the cache", &[gone, stays]));
        assert!(
            !is_undone("Memcached", &[(7, "aaaaaaa", "Memcached")]),
            "it was chosen against"
        );
    }
}
