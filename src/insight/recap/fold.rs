//! What repeats in a recap, told once: requests that are asked again, sessions that another one started,
//! commits that several sessions tell.

use super::work::{SessionFact, SessionWork};
use crate::model::summary::{Decision, PullRequest, Resolution, SessionCommit, SessionOutcome};
use std::collections::{BTreeMap, BTreeSet};

/// So many sessions with prompts that differ in numbers and names alone are one machine's.
const ALIKE_MIN: usize = 3;

/// Adds the sessions that a session started, and those that they started.
pub(super) fn add_started(
    work: &mut SessionWork,
    started: &mut BTreeMap<String, Vec<SessionWork>>,
) {
    let mut waiting = vec![work.session.clone()];
    while let Some(parent) = waiting.pop() {
        for child in started.remove(&parent).unwrap_or_default() {
            waiting.push(child.session.clone());
            work.also.push(child.session.clone());
            work.add_files(&child);
        }
    }
}

/// Sessions that were asked the same are one line, which tells what the latest came to; the latest first.
pub(super) fn works(all: &mut Vec<SessionWork>) {
    merge(all, |work| Some(same(&work.objective)));
    let mut alike: BTreeMap<String, usize> = BTreeMap::new();
    for work in all.iter() {
        *alike.entry(pattern(&work.objective)).or_default() += 1;
    }
    merge(all, |work| {
        let pattern = pattern(&work.objective);
        (alike.get(&pattern).copied() >= Some(ALIKE_MIN)).then_some(pattern)
    });
    // each of them came to something else
    let is_alike =
        |work: &&mut SessionWork| alike.get(&pattern(&work.objective)).copied() >= Some(ALIKE_MIN);
    for work in all.iter_mut().filter(is_alike) {
        work.result = None;
        if work.objective.starts_with('/') {
            work.objective = pattern(&work.objective);
        }
    }
}

/// Those without a key stay apart.
fn merge(all: &mut Vec<SessionWork>, key: impl Fn(&SessionWork) -> Option<String>) {
    let mut kept: Vec<SessionWork> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for work in all.drain(..) {
        let key = key(&work);
        let place = key.map(|key| *places.entry(key).or_insert(kept.len()));
        match place.and_then(|place| kept.get_mut(place)) {
            Some(first) => first.add_same(work),
            None => kept.push(work),
        }
    }
    *all = kept;
}

impl SessionWork {
    fn add_same(&mut self, mut other: SessionWork) {
        self.add_files(&other);
        for (outcome, many) in std::mem::take(&mut other.outcomes) {
            *self.outcomes.entry(outcome).or_default() += many;
        }
        self.cut_off += other.cut_off;
        self.also.push(other.session);
        self.also.append(&mut other.also);
    }

    fn add_files(&mut self, other: &SessionWork) {
        self.paths.extend(other.paths.iter().cloned());
        self.files = self.paths.len() as u64;
        self.committed = match (self.committed, other.committed) {
            (Some(own), Some(others)) => Some(own.and(others)),
            // what was only edited is not in it
            (own, None) if other.files == 0 => own,
            _ => None,
        };
        self.added += other.added;
        self.removed += other.removed;
    }

    /// `completed`; of several `11 completed, 1 in progress`.
    pub(super) fn ended_how(&self) -> Option<String> {
        match self.outcomes.values().sum::<u64>() {
            0 | 1 => self
                .outcome
                .map(|outcome| outcome.words(self.cut_off > 0).to_owned()),
            _ => {
                let many = |outcome| self.outcomes.get(&outcome).copied();
                Some(ended(many, self.cut_off))
            }
        }
    }
}

/// `11 completed, 1 in progress, 2 unfinished`: how many ended in which way; of those in progress so many are unfinished.
pub(super) fn ended(many: impl Fn(SessionOutcome) -> Option<u64>, cut_off: u64) -> String {
    let mut told = Vec::new();
    let mut add = |many: u64, words: &str| {
        if many > 0 {
            told.push(format!("{many} {words}"));
        }
    };
    for outcome in SessionOutcome::ALL {
        let many = many(outcome).unwrap_or(0);
        let quiet = match outcome {
            SessionOutcome::InProgress => cut_off.min(many),
            _ => 0,
        };
        add(many - quiet, outcome.words(false));
        add(quiet, outcome.words(true));
    }
    told.join(", ")
}

/// A request whatever its case, its blanks and the mark at its end.
fn same(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ").to_lowercase();
    text.trim_end_matches(['.', '!', '…', ' ']).to_owned()
}

/// The same without what differs from run to run: of a command its arguments, of words numbers, addresses,
/// paths and names with digits.
fn pattern(text: &str) -> String {
    let text = same(text);
    let mut words = text.split(' ');
    if text.starts_with('/') {
        return words.next().unwrap_or_default().to_owned();
    }
    let differs = |word: &str| word.contains(|c: char| c.is_ascii_digit() || c == '/');
    let words = words.map(|word| if differs(word) { "#" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// A step that several sessions left is told by the latest.
pub(super) fn steps(all: &mut Vec<SessionFact<String>>) {
    first_of(all, |step| same(step));
}

/// One that is stated again, or quoted by a later session, is one.
pub(super) fn decisions(all: &mut Vec<SessionFact<Decision>>) {
    first_of(all, |decision| {
        let about = decision.about.as_deref().unwrap_or_default();
        format!("{}\n{}", same(&decision.decision), same(about))
    });
}

/// The same command with the same error.
pub(super) fn errors(all: &mut Vec<SessionFact<Resolution>>) {
    first_of(all, |error| {
        format!("{}\n{}", pattern(&error.call), pattern(&error.error))
    });
}

/// One that several sessions tell: it is pushed where one of them says so, and has its hash from any.
pub(super) fn commits(all: &mut Vec<SessionFact<SessionCommit>>) {
    let mut kept: Vec<SessionFact<SessionCommit>> = Vec::new();
    for next in all.drain(..) {
        let known = kept.iter_mut().find(|known| {
            is_same_commit(
                &known.fact.what,
                &next.fact.what,
                known.session == next.session,
            )
        });
        let Some(known) = known else {
            kept.push(next);
            continue;
        };
        let (known, next) = (&mut known.fact.what, next.fact.what);
        known.pushed |= next.pushed;
        known.by_git &= next.by_git;
        known.given_up = known.given_up.take().or(next.given_up);
        if known.hash.is_empty() {
            known.hash = next.hash;
        }
    }
    *all = kept;
}

/// By the hash; where one of two sessions doesn't know it, by the subject.
fn is_same_commit(one: &SessionCommit, other: &SessionCommit, is_one_session: bool) -> bool {
    match (one.hash.as_str(), other.hash.as_str()) {
        ("", _) | (_, "") => !is_one_session && one.subject == other.subject,
        (a, b) => a.starts_with(b) || b.starts_with(a),
    }
}

/// One that several sessions tell is as the latest saw it.
pub(super) fn pull_requests(all: &mut Vec<SessionFact<PullRequest>>) {
    let mut kept: Vec<SessionFact<PullRequest>> = Vec::new();
    for next in all.drain(..) {
        let mut known = kept.iter_mut();
        match known.find(|known| known.fact.what.address == next.fact.what.address) {
            Some(known) => {
                known.fact.what.state = known.fact.what.state.or(next.fact.what.state);
            }
            None => kept.push(next),
        }
    }
    *all = kept;
}

fn first_of<T>(all: &mut Vec<SessionFact<T>>, key: impl Fn(&T) -> String) {
    let mut seen = BTreeSet::new();
    all.retain(|one| seen.insert(key(&one.fact.what)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::summary::sourced;

    fn made(session: &str, hash: &str, subject: &str, pushed: bool) -> SessionFact<SessionCommit> {
        SessionFact {
            session: session.into(),
            fact: sourced(
                1,
                SessionCommit {
                    hash: hash.into(),
                    subject: subject.into(),
                    pushed,
                    ..SessionCommit::default()
                },
            ),
        }
    }

    #[test]
    fn a_commit_that_several_sessions_tell_is_one() {
        let mut all = vec![
            made("b", "1a2b3c4", "Fix it", false),
            made("b", "", "Release", false),
            made("a", "1a2b3c4d5e", "Fix it", true),
            made("a", "9f8e7d6", "Fix it", false),
            made("a", "7777777", "Release", false),
        ];
        commits(&mut all);
        let told: Vec<(&str, bool)> = all
            .iter()
            .map(|one| (one.fact.what.hash.as_str(), one.fact.what.pushed))
            .collect();
        assert_eq!(
            told,
            [("1a2b3c4", true), ("7777777", false), ("9f8e7d6", false)]
        );
    }

    #[test]
    fn what_differs_from_run_to_run_is_left_out() {
        for (text, wants) in [
            ("/ship:check --pr 12", "/ship:check"),
            ("Review PR 12 of ada/shop.", "review pr # of #"),
            ("Fix the cart", "fix the cart"),
        ] {
            assert_eq!(pattern(text), wants);
        }
    }
}
