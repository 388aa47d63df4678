//! What is still open: not what a later session did, and not what nobody has to do.

use super::work::RecapSession;
use crate::insight::facts::{
    OFFERED, UNANSWERED, is_older_task, says_open, says_uncommitted, says_unpushed,
};
use crate::model::summary::Sourced;
use crate::model::time::Time;
use crate::rules::commit_words::telling_words;
use crate::rules::left::is_settled;
use crate::rules::words::{is_same, tokens};

/// Something that a session did, which may be what another one left open.
#[derive(Clone, Debug, PartialEq)]
pub struct DoneLater {
    /// Its project.
    pub namespace: String,
    /// Its session.
    pub session: String,
    /// When; `None`: nobody knows.
    pub at: Option<Time>,
    /// What.
    pub work: DoneWork,
}

/// What was done.
#[derive(Clone, Debug, PartialEq)]
pub enum DoneWork {
    /// Commits were sent to others.
    Pushed,
    /// A pull request was opened.
    PullRequest,
    /// One was merged.
    Merged,
    /// A commit was made: its subject.
    Commit(String),
    /// A task was finished, or a request done.
    Task(String),
}

/// A step that a session left is open: it leaves something to do, and no other session did it since.
pub(super) fn is_open(step: &Sourced<String>, session: &RecapSession, done: &[DoneLater]) -> bool {
    let text = step.what.as_str();
    // it may have been done without a word
    if says_unpushed(text) == Some(false) || says_uncommitted(text) || is_older_task(text) {
        return false;
    }
    if is_settled(text) {
        return false;
    }
    let since = session.began.get(&step.episode).copied().or(session.ended);
    let mut later = done.iter().filter(|done| {
        let is_later = done.at.zip(since).is_none_or(|(at, since)| at >= since);
        done.namespace == session.namespace && done.session != session.id && is_later
    });
    if says_unpushed(text) == Some(true) {
        return !later.any(|done| done.work.sends());
    }
    if says_open(text) {
        return !later.any(|done| done.work == DoneWork::Merged);
    }
    let asked = text.strip_prefix(UNANSWERED);
    match asked.or(text.strip_prefix(OFFERED)) {
        Some(question) => {
            let offered: Vec<Offer> = offers(question).collect();
            offered.is_empty() || !later.any(|done| offered.iter().all(|o| done.work.does(*o)))
        }
        None => !later.any(|done| done.work.is_about(text)),
    }
}

/// What an agent offers to do, by the word that it asks with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Offer {
    Commit,
    Push,
    PullRequest,
    Merge,
}

const OFFERS: [(&str, Offer); 5] = [
    ("commit", Offer::Commit),
    ("push", Offer::Push),
    ("pr", Offer::PullRequest),
    ("pull", Offer::PullRequest),
    ("merge", Offer::Merge),
];

fn offers(question: &str) -> impl Iterator<Item = Offer> {
    let words = tokens(question);
    words.filter_map(|word| Some(OFFERS.iter().find(|(cue, _)| is_same(cue, &word))?.1))
}

impl DoneWork {
    fn sends(&self) -> bool {
        matches!(
            self,
            DoneWork::Pushed | DoneWork::PullRequest | DoneWork::Merged
        )
    }

    /// What is pushed was committed, what is a pull request was pushed.
    fn does(&self, offer: Offer) -> bool {
        match offer {
            Offer::Commit => matches!(self, DoneWork::Commit(_)) || self.sends(),
            Offer::Push => self.sends(),
            Offer::PullRequest => matches!(self, DoneWork::PullRequest | DoneWork::Merged),
            Offer::Merge => *self == DoneWork::Merged,
        }
    }

    /// It has most of the words that say what a step is about, two of them at least; or it is the same.
    fn is_about(&self, step: &str) -> bool {
        let (DoneWork::Commit(text) | DoneWork::Task(text)) = self else {
            return false;
        };
        let wanted = telling_words(step);
        let has = telling_words(text);
        let shared = wanted
            .iter()
            .filter(|word| has.iter().any(|had| is_same(&had.word, &word.word)));
        let shared = shared.count();
        let is_most = shared >= 2 && shared * 3 >= wanted.len() * 2;
        is_most || step.trim().eq_ignore_ascii_case(text.trim())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::recap::tests::session;
    use crate::model::summary::{SessionOutcome, sourced};

    /// The step of a session that ended at second 1 is open, when another one did this at that second.
    fn left(step: &str, work: &[DoneWork], second: i64) -> bool {
        let mut first = session("aaaa", "shop", "Fix it", SessionOutcome::Completed);
        first.ended = Some(Time(1_000));
        let done = work.iter().map(|work| DoneLater {
            namespace: "shop".into(),
            session: "bbbb".into(),
            at: Some(Time(second * 1_000)),
            work: work.clone(),
        });
        let done: Vec<DoneLater> = done.collect();
        is_open(&sourced(7, step.to_owned()), &first, &done)
    }

    #[test]
    fn what_a_later_session_did_is_not_open() {
        use DoneWork::{Merged, PullRequest, Pushed};
        let commit = |subject: &str| DoneWork::Commit(subject.into());
        let task = |text: &str| DoneWork::Task(text.into());
        for (step, work, wants) in [
            (
                "2 commits not pushed, as git status counted",
                commit("x"),
                true,
            ),
            ("2 commits not pushed, as git status counted", Pushed, false),
            (
                "1 commit not pushed, as git status counted",
                PullRequest,
                false,
            ),
            ("Pull request open: #7", PullRequest, true),
            ("Pull request open: #7", Merged, false),
            ("Unanswered: Shall I push and open a PR?", Pushed, true),
            (
                "Unanswered: Shall I push and open a PR?",
                PullRequest,
                false,
            ),
            (
                "Unanswered: Shall I commit it?",
                commit("Fix the cart"),
                false,
            ),
            ("Unanswered: Shall I merge it?", Merged, false),
            ("Unanswered: Which of the two do you prefer?", Pushed, true),
            (
                "Add tests for the discount of empty carts",
                commit("Test discounts of an empty cart"),
                false,
            ),
            (
                "Add tests for the discount of empty carts",
                commit("Test the login page"),
                true,
            ),
            ("Update the changelog", task("update the changelog"), false),
        ] {
            let work = [work];
            assert_eq!(left(step, &work, 2), wants, "{step} {work:?}");
            assert!(left(step, &work, 0), "done before: {step} {work:?}");
        }
    }

    #[test]
    fn what_nobody_has_to_do_is_not_open() {
        let unseen = "No push seen of 1a2b3c4";
        assert!(!left(unseen, &[], 2), "it may have been pushed");
        let wanted = "Not pushed, per your instruction: only the commit is here.";
        assert!(!left(wanted, &[], 2), "it was wanted so");
        let older = format!("Ship it{}", crate::insight::facts::OLDER_TASK);
        assert!(!left(&older, &[], 2), "nobody ticked it off");
    }
}
