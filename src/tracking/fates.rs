//! What became of the work that an operation left or took back, in one plain sentence.

use super::rollbacks::is_taken_back;
use crate::model::git::{GitOperation, HASH_DIGITS, KEPT_ON_DISK, OperationKind, short_hash};
use crate::model::human::{count, plural};

/// `given up: 1 of 3 commits; the others are elsewhere`, `not given up: the work is on side`. `None`: the operation
/// only writes work anew, left none, or nobody judged it yet.
pub fn fate(git: &GitOperation) -> Option<String> {
    let effect = &git.effect;
    let rewrites = matches!(
        git.operation.kind,
        OperationKind::Amend | OperationKind::Stash
    );
    let has_work = effect.left_count + effect.reverts.len() as u64 > 0;
    let undid = git.undoes() && !rewrites && has_work;
    match (effect.lost_count, effect.kept_in.as_deref()) {
        _ if !effect.is_judged => None,
        (0, _) if effect.is_lost_later => Some("given up later, with another operation".to_owned()),
        (0, None) if !undid => None,
        (0, None) => Some("not given up: the work is still there, or came back".to_owned()),
        (0, Some(name)) => Some(format!("not given up: the work is {}", place(name))),
        (lost, _) if is_taken_back(effect) => {
            let commits = plural(lost, "commit");
            Some(format!("given up: {commits}, taken back by a later one"))
        }
        (lost, _) if lost >= effect.left_count => {
            let commits = plural(lost, "commit");
            Some(format!(
                "given up: {commits}, of which nothing is left anywhere"
            ))
        }
        (lost, _) => {
            let others = match effect.left_count - lost {
                1 => "the other is elsewhere",
                _ => "the others are elsewhere",
            };
            let (lost, left) = (count(lost), count(effect.left_count));
            Some(format!("given up: {lost} of {left} commits; {others}"))
        }
    }
}

/// `on side`, `in commit 1a2b3c4d5e6f`, `in tag v1`, `in a stash`.
fn place(name: &str) -> String {
    let is_hash = name.len() >= HASH_DIGITS && name.bytes().all(|b| b.is_ascii_hexdigit());
    match name {
        hash if is_hash => format!("in commit {}", short_hash(hash)),
        tag if tag.starts_with("tag ") => format!("in {tag}"),
        "a stash" | KEPT_ON_DISK => format!("in {name}"),
        branch => format!("on {branch}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::git::{CommitLine, Effect, RefOperation, RevertedCommit};
    use crate::model::time::Time;

    use OperationKind::{Amend, Checkout, Commit, Reset};

    fn git(kind: OperationKind, (left, lost): (u64, u64), kept_in: Option<&str>) -> GitOperation {
        GitOperation {
            operation: RefOperation {
                kind,
                ..RefOperation::sample()
            },
            effect: Effect {
                left_count: left,
                lost_count: lost,
                kept_in: kept_in.map(str::to_owned),
                is_judged: true,
                ..Effect::default()
            },
            reason: None,
        }
    }

    #[test]
    fn what_became_of_the_work_is_one_plain_sentence() {
        let hash = "1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d";
        for (done, wants) in [
            (
                git(Reset, (2, 2), None),
                "given up: 2 commits, of which nothing is left anywhere",
            ),
            (
                git(Reset, (3, 1), None),
                "given up: 1 of 3 commits; the others are elsewhere",
            ),
            (
                git(Reset, (2, 0), Some("side")),
                "not given up: the work is on side",
            ),
            (
                git(Reset, (2, 0), Some("tag v1")),
                "not given up: the work is in tag v1",
            ),
            (
                git(Reset, (2, 0), Some(hash)),
                "not given up: the work is in commit 1a2b3c4d5e6f",
            ),
            (
                git(Reset, (2, 0), None),
                "not given up: the work is still there, or came back",
            ),
        ] {
            assert_eq!(fate(&done).as_deref(), Some(wants));
        }
        for kind in [Amend, Checkout, Commit] {
            assert_eq!(fate(&git(kind, (1, 0), None)), None, "{kind:?}");
        }
    }

    #[test]
    fn what_nobody_judged_or_others_did_is_told_as_that() {
        let commit = CommitLine {
            hash: "a".repeat(40),
            subject: "Cache".into(),
            at: Time(0),
        };
        let mut revert = git(OperationKind::Revert, (0, 0), None);
        revert.effect.reverts = vec![RevertedCommit {
            commit: commit.clone(),
            by: "b".repeat(40),
        }];
        assert!(fate(&revert).unwrap().starts_with("not given up"));
        (revert.effect.lost, revert.effect.lost_count) = (vec![commit], 1);
        assert_eq!(
            fate(&revert).as_deref(),
            Some("given up: 1 commit, taken back by a later one")
        );
        let mut unjudged = git(Reset, (2, 0), None);
        unjudged.effect.is_judged = false;
        assert_eq!(fate(&unjudged), None, "nobody knows");
        let mut later = git(Reset, (2, 0), None);
        later.effect.is_lost_later = true;
        assert_eq!(
            fate(&later).as_deref(),
            Some("given up later, with another operation")
        );
        let on_disk = git(Reset, (2, 0), Some(KEPT_ON_DISK));
        assert_eq!(
            fate(&on_disk).as_deref(),
            Some("not given up: the work is in the files on the disk")
        );
    }
}
