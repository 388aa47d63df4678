//! The words before an operation: whose they are, and which of them say why. The session that did it, or that made
//! what was undone, comes before all others.

use super::objections::{Line, Talk, objection, request};
use crate::model::exchange::{ItemKind, words_of};
use crate::model::git::{
    AFTER_MS, CommitLine, Confidence, FileChange, OperationKind, Reason, RefOperation,
};
use crate::model::time::Time;
use std::collections::BTreeSet;
use uuid::Uuid;

/// Something that was said before an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Utterance {
    /// A prompt, an aside, the agent's words, or a call's digest.
    pub kind: ItemKind,
    /// As it stands in the episode: `User: …`.
    pub text: String,
    /// The session's id.
    pub session: String,
    /// The episode that has it.
    pub episode: Uuid,
    /// The line of its record.
    pub line: u64,
    /// When it was written down; `None`: nobody knows, or nobody asked.
    pub at: Option<Time>,
}

impl Utterance {
    fn is_by_user(&self) -> bool {
        matches!(self.kind, ItemKind::Prompt | ItemKind::Aside)
    }

    fn is_words(&self) -> bool {
        self.is_by_user() || self.kind == ItemKind::Agent
    }
}

/// What was said around an operation.
#[derive(Debug, Default)]
pub struct Conversation {
    /// Before it, in order.
    pub before: Vec<Utterance>,
    /// Also what came right after it: the digest of the call that did it stands at its result.
    pub near: Vec<Utterance>,
}

/// What an operation took back.
#[derive(Clone, Copy, Debug)]
pub struct UndoneWork<'w> {
    /// What was done.
    pub operation: &'w RefOperation,
    /// The commits that are undone, the latest first.
    pub commits: &'w [CommitLine],
    /// Files that they changed.
    pub files: &'w [FileChange],
}

/// A call's result is logged within so long, before or after what it did.
const CALL_MS: i64 = 15_000;
/// Times count whole seconds in repositories.
const SECOND_MS: i64 = 999;
/// Digits of a hash that name a commit.
const NAMING_DIGITS: usize = 7;

/// Work may have been given up with such an operation: it is worth while to ask why.
pub fn may_have_reason(operation: &RefOperation) -> bool {
    match operation.kind {
        OperationKind::Reset => operation.mode.as_deref() != Some("soft"),
        // a branch still has what was left
        OperationKind::Checkout => operation.branch.is_none(),
        kind => matches!(
            kind,
            OperationKind::Revert | OperationKind::BranchDeleted | OperationKind::Moved
        ),
    }
}

/// The words that say why, verbatim; `None`: nobody said why, or not clearly enough.
pub fn why(conversation: &Conversation, undone: &UndoneWork<'_>) -> Option<Reason> {
    if !may_have_reason(undone.operation) {
        return None;
    }
    let drops_changes = undone.operation.kind == OperationKind::Reset
        && undone.operation.old == undone.operation.new;
    if undone.commits.is_empty() && !drops_changes {
        return None;
    }
    let mut sessions = sessions(conversation, undone);
    let strongest = sessions.iter().map(|session| session.tie).max()?;
    sessions.retain(|session| session.tie > Tie::Near || strongest == Tie::Near);
    sessions.sort_by_key(|session| (session.tie, session.last));
    sessions.iter().rev().find_map(|session| {
        let about = about(&sessions, session, undone);
        session.reason(undone, &about)
    })
}

/// What ties a session to an undoing, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Tie {
    /// It was in the same repository.
    Near,
    /// It talked when the work was made.
    AtWork,
    /// Its log has the call that made it.
    Made,
    /// Its log has the call that undid it.
    Undid,
}

/// What one session said before an operation.
struct Session<'c> {
    tie: Tie,
    /// The place of its last words.
    last: usize,
    /// Words only, in order.
    said: Vec<&'c Utterance>,
    /// The first of them after the work was made.
    from: usize,
    /// That place is not known.
    is_vague: bool,
}

fn sessions<'c>(conversation: &'c Conversation, undone: &UndoneWork<'_>) -> Vec<Session<'c>> {
    let names: BTreeSet<&str> = conversation
        .before
        .iter()
        .map(|said| &*said.session)
        .collect();
    let of = |name: &str| {
        let own = conversation
            .before
            .iter()
            .enumerate()
            .filter(|(_, said)| said.session == name);
        let last = own.clone().map(|(nth, _)| nth).next_back()?;
        let all: Vec<&Utterance> = own.map(|(_, said)| said).collect();
        let near: Vec<&Utterance> = conversation
            .near
            .iter()
            .filter(|said| said.session == name)
            .collect();
        Some(session(last, &all, &near, undone))
    };
    names.into_iter().filter_map(of).collect()
}

fn session<'c>(
    last: usize,
    all: &[&'c Utterance],
    near: &[&Utterance],
    undone: &UndoneWork<'_>,
) -> Session<'c> {
    let said: Vec<&Utterance> = all.iter().copied().filter(|said| said.is_words()).collect();
    let call = |at: Time, names: &dyn Fn(&str) -> bool| {
        let mut calls = near
            .iter()
            .rev()
            .filter(|said| said.kind == ItemKind::Digest);
        calls
            .find(|said| {
                let is_then = said
                    .at
                    .is_none_or(|then| (then.0 - at.0).abs() <= CALL_MS + SECOND_MS);
                is_then && names(&said.text)
            })
            .copied()
    };
    let undid = call(undone.operation.at, &|text| {
        is_command(undone.operation.kind, text)
    })
    .is_some();
    let made = undone.commits.iter().max_by_key(|commit| commit.at);
    let hash = |commit: &CommitLine| commit.hash.get(..NAMING_DIGITS).unwrap_or("?").to_owned();
    let named = made.and_then(|commit| {
        let hash = hash(commit);
        let mut calls = near.iter().filter(|said| said.kind == ItemKind::Digest);
        calls
            .find(|said| said.text.contains(&hash))
            .copied()
            .or_else(|| {
                call(commit.at, &|text| {
                    text.contains("git commit") || text.contains("git add")
                })
            })
    });
    let (from, is_vague) = beginning(&said, made, named);
    let tie = match made {
        _ if undid => Tie::Undid,
        _ if named.is_some() => Tie::Made,
        Some(made) if is_at_work(all, made) => Tie::AtWork,
        _ => Tie::Near,
    };
    Session {
        tie,
        last,
        said,
        from,
        is_vague,
    }
}

/// The command of an operation stands in a call.
fn is_command(kind: OperationKind, text: &str) -> bool {
    let commands: &[&str] = match kind {
        OperationKind::Reset => &["reset"],
        OperationKind::Revert => &["revert"],
        OperationKind::BranchDeleted => {
            &["branch -D", "branch -d", "branch --delete", "update-ref -d"]
        }
        OperationKind::Rebase => &["rebase"],
        OperationKind::Checkout => &["checkout", "switch"],
        _ => &["update-ref", "branch -f", "symbolic-ref", "fetch", "pull"],
    };
    text.contains("git ") && commands.iter().any(|command| text.contains(command))
}

/// The session talked when the work was made.
fn is_at_work(all: &[&Utterance], made: &CommitLine) -> bool {
    let mut times = all.iter().filter_map(|said| said.at);
    let first = times.next();
    let last = times.next_back().or(first);
    let (Some(first), Some(last)) = (first, last) else {
        return false;
    };
    first.0 <= made.at.0 + SECOND_MS && made.at.0 <= last.0 + AFTER_MS
}

/// The first words after the work was made, and whether that is only guessed.
fn beginning(
    said: &[&Utterance],
    made: Option<&CommitLine>,
    call: Option<&Utterance>,
) -> (usize, bool) {
    if let Some(call) = call {
        return (said.partition_point(|said| said.line <= call.line), false);
    }
    let is_timed = said.iter().all(|said| said.at.is_some());
    let Some(made) = made.filter(|_| is_timed) else {
        let agents = said.iter().rposition(|said| !said.is_by_user());
        return (agents.map_or(0, |agents| agents + 1), true);
    };
    let is_before = |said: &&&Utterance| {
        let at = said.at.unwrap_or_default();
        match said.is_by_user() {
            // a commit's time is that of the second it was made in
            true => at < made.at,
            false => at.0 <= made.at.0 + SECOND_MS,
        }
    };
    let before = said.iter().rposition(|said| is_before(&said));
    (before.map_or(0, |before| before + 1), false)
}

/// What the work is about: its commits and files, and the talk that led to it in other sessions.
fn about(sessions: &[Session<'_>], own: &Session<'_>, undone: &UndoneWork<'_>) -> Vec<String> {
    let subjects = undone.commits.iter().map(|commit| commit.subject.clone());
    let apart = |file: &FileChange| file.path.replace(['/', '.', '-', '_'], " ");
    let mut about: Vec<String> = subjects.collect();
    about.extend(undone.files.iter().take(FILES_MAX).map(apart));
    for other in sessions
        .iter()
        .filter(|other| other.tie > Tie::Near && other.last != own.last)
    {
        about.extend(request(&other.lines()[..other.from]).map(str::to_owned));
    }
    about
}

/// Files that say what the work is about.
const FILES_MAX: usize = 50;

impl<'c> Session<'c> {
    fn lines(&self) -> Vec<Line<'c>> {
        let line = |said: &&'c Utterance| Line {
            by_user: said.is_by_user(),
            words: words_of(&said.text),
        };
        self.said.iter().map(line).collect()
    }

    fn reason(&self, undone: &UndoneWork<'_>, about: &[String]) -> Option<Reason> {
        let operation = undone.operation;
        let latest = undone.commits.first();
        let is_earlier = latest.is_some_and(|commit| commit.hash != operation.old);
        let lines = self.lines();
        let found = objection(&Talk {
            lines: &lines,
            from: self.from,
            is_vague: self.is_vague,
            must_name: is_earlier || self.tie == Tie::Near || operation.at_is_guessed,
            by_call: self.tie == Tie::Undid,
            is_own: (self.tie > Tie::Near || self.is_vague) && self.from > 0,
            about,
        })?;
        let said = self.said[found.nth];
        let is_sure = self.tie > Tie::Near && !operation.at_is_guessed;
        Some(Reason {
            sentence: found.quote,
            by_user: said.is_by_user(),
            session: said.session.clone(),
            episode: said.episode,
            line: said.line,
            confidence: if is_sure {
                found.confidence
            } else {
                Confidence::Medium
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(kind: ItemKind, text: &str, line: u64) -> Utterance {
        Utterance {
            kind,
            text: text.to_owned(),
            session: "s".into(),
            episode: Uuid::nil(),
            line,
            at: Some(Time(line as i64 * 1_000)),
        }
    }

    #[test]
    fn the_documents_conversation_says_why() {
        let spoken = [
            said(
                ItemKind::Agent,
                "Agent: I've implemented the new caching layer using Redis...",
                1,
            ),
            said(
                ItemKind::Prompt,
                "User: Actually this won't work with our serverless architecture",
                2,
            ),
            said(
                ItemKind::Agent,
                "Agent: You're right, I should rollback and use a different approach",
                3,
            ),
            said(ItemKind::Prompt, "User: git reset --hard HEAD~5", 4),
        ];
        let operation = RefOperation {
            at: Time(60_000),
            ..RefOperation::sample()
        };
        let commit = CommitLine {
            hash: operation.old.clone(),
            subject: "Redis cache, step 5".into(),
            at: Time(1_000),
        };
        let undone = UndoneWork {
            operation: &operation,
            commits: &[commit],
            files: &[],
        };
        let why = |before: &[Utterance]| {
            let conversation = Conversation {
                before: before.to_vec(),
                near: before.to_vec(),
            };
            super::why(&conversation, &undone)
        };
        let reason = why(&spoken).unwrap();
        assert_eq!(
            reason.sentence,
            "Actually this won't work with our serverless architecture"
        );
        assert_eq!((reason.by_user, reason.line), (true, 2));
        assert_eq!(why(&spoken[..1]), None);
    }
}
