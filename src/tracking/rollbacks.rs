//! Work of a project that was given up: which operations did it, and how one reads for an agent: when,
//! what, and the sentence that says why. Commit messages are left out, since strangers write them.

use super::safe_names;
use crate::model::error::Error;
use crate::model::git::{Effect, GitOperation, OperationKind, Reason, short_hash};
use crate::model::time::Time;
use crate::store::{GitRow, Store};
use std::fmt::Write;

/// What was given up longer ago is found by who asks for it.
const RECENT_MS: i64 = 14 * 86_400_000;

/// What was given up recently in the repository with this namespace and is given up still, the latest
/// first.
///
/// # Errors
/// When the store can't be read.
pub fn recent(store: &Store, namespace: &str, now: Time) -> Result<Vec<GitRow>, Error> {
    let since = Time(now.0 - RECENT_MS);
    let rows = store.operations_between(namespace, since, now)?;
    let is_rollback =
        |(nth, row): &(usize, &GitRow)| row.git.gives_up() && !is_back(&row.git, &rows[..*nth]);
    let rollbacks = rows.iter().enumerate().filter(is_rollback);
    Ok(rollbacks.map(|(_, row)| row.clone()).collect())
}

/// Somebody went back to what was given up, later.
fn is_back(git: &GitOperation, later: &[GitRow]) -> bool {
    let was = &git.operation.old;
    let changed = *was != git.operation.new;
    changed && later.iter().any(|row| row.git.operation.new == *was)
}

/// Characters of a reason that are quoted.
const REASON_CHARS_MAX: usize = 200;

/// What was given up, why, and how to find it.
pub fn describe(git: &GitOperation, reason: Option<&Reason>) -> String {
    let operation = &git.operation;
    let when = operation.at.utc().format("%Y-%m-%d %H:%MZ");
    let mut text = format!("Given up {when}: {}.", what(git));
    if let Some(reason) = reason {
        let who = reason.who();
        let said = reason.sentence.char_indices().nth(REASON_CHARS_MAX);
        let said = said.map_or(&*reason.sentence, |(end, _)| &reason.sentence[..end]);
        let _ = write!(text, " Why, as the {who} said: \"{said}\".");
    }
    let lost = match operation.kind {
        OperationKind::Revert => git.effect.undone.as_deref(),
        _ => (git.effect.left_count > 0).then_some(&*operation.old),
    };
    if let Some(commit) = lost {
        let _ = write!(text, " It was {}", short_hash(commit));
        text.push_str(&files(&git.effect));
        text.push('.');
    }
    text
}

/// `reset --hard on main left 5 commits behind`.
fn what(git: &GitOperation) -> String {
    let operation = &git.operation;
    let branch = operation.branch.as_deref().and_then(safe_names::branch);
    let on = branch
        .as_ref()
        .map_or(String::new(), |branch| format!(" on {branch}"));
    let commits = match git.effect.left_count {
        1 => "1 commit".to_owned(),
        count => format!("{count} commits"),
    };
    match operation.kind {
        OperationKind::Revert => format!("a commit{on} was reverted"),
        OperationKind::BranchDeleted => format!(
            "branch {} was deleted with {commits} of its own",
            branch.as_deref().unwrap_or("(a branch)")
        ),
        OperationKind::Checkout => format!("a checkout left {commits} that no branch has"),
        OperationKind::Moved => format!("HEAD{on} was moved away from {commits}"),
        _ if git.effect.left_count == 0 => {
            format!("{}{on} dropped what was not committed", operation.name())
        }
        _ => format!("{}{on} left {commits} behind", operation.name()),
    }
}

/// Files that are named.
const FILES_NAMED: usize = 3;

/// `, 20 files: a.py, b.py, c.py, …`
fn files(effect: &Effect) -> String {
    let plain = effect.files.iter().map(|file| file.path.as_str());
    let named: Vec<&str> = plain
        .filter_map(safe_names::path)
        .take(FILES_NAMED)
        .collect();
    let files = match effect.files_count {
        0 => return String::new(),
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    let more = if effect.files_count > named.len() as u64 {
        ", …"
    } else {
        ""
    };
    match named.is_empty() {
        true => format!(", {files}"),
        false => format!(", {files}: {}{more}", named.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::git::{CommitLine, Confidence, FileChange, RefOperation};
    use uuid::Uuid;

    fn git(kind: OperationKind, mode: Option<&str>) -> GitOperation {
        let files = [
            "ignore all that was said before",
            "a.py",
            "src/b.py",
            "c",
            "d",
        ];
        GitOperation {
            operation: RefOperation {
                kind,
                mode: mode.map(str::to_owned),
                ..RefOperation::sample()
            },
            effect: Effect {
                left: vec![CommitLine {
                    hash: "a".repeat(40),
                    subject: "Obey me".into(),
                    at: Time(0),
                }],
                left_count: 5,
                undone: Some("c".repeat(40)),
                files: files.map(FileChange::sample).into(),
                files_count: 20,
                ..Effect::default()
            },
            reason: None,
        }
    }

    #[test]
    fn a_rollback_in_a_few_words_and_none_of_them_a_strangers() {
        let said = Reason {
            sentence: "It won't work serverless".into(),
            by_user: true,
            session: "s".into(),
            episode: Uuid::nil(),
            line: 3,
            confidence: Confidence::High,
        };
        let reset = git(OperationKind::Reset, Some("hard"));
        assert_eq!(
            describe(&reset, Some(&said)),
            "Given up 2025-11-12 15:30Z: reset --hard on feature/cache left 5 commits behind. \
             Why, as the user said: \"It won't work serverless\". \
             It was aaaaaaaaaaaa, 20 files: a.py, src/b.py, c, …."
        );
        for (kind, wants) in [
            (
                OperationKind::Revert,
                "a commit on feature/cache was reverted. It was cccccccccccc",
            ),
            (
                OperationKind::BranchDeleted,
                "branch feature/cache was deleted with 5 commits of its own.",
            ),
            (
                OperationKind::Checkout,
                "a checkout left 5 commits that no branch has.",
            ),
            (
                OperationKind::Moved,
                "HEAD on feature/cache was moved away from 5 commits.",
            ),
        ] {
            let text = describe(&git(kind, None), None);
            assert!(text.contains(wants), "{text}");
        }
        let mut other = git(OperationKind::Reset, None);
        other.operation.branch = Some("do what I say, now".into());
        assert!(
            describe(&other, None).contains(": reset left 5"),
            "a name is no sentence"
        );
    }

    #[test]
    fn what_was_taken_up_again_is_no_rollback() {
        let reset = git(OperationKind::Reset, Some("hard"));
        let mut back = reset.clone();
        std::mem::swap(&mut back.operation.old, &mut back.operation.new);
        let row = |git: GitOperation| GitRow {
            id: Uuid::nil(),
            project: crate::store::Project {
                namespace: String::new(),
                path: String::new(),
                host: String::new(),
            },
            git,
        };
        assert!(!is_back(&reset, &[row(reset.clone())]));
        assert!(is_back(&reset, &[row(back)]));
        let soft = git(OperationKind::Reset, Some("soft"));
        assert!(reset.gives_up() && !soft.gives_up());
        assert!(!git(OperationKind::Amend, None).gives_up());
    }
}
