//! Which of a project's rollbacks matter most to a session that begins. Pure: what was given up, whether
//! somebody said why, and where, decide; how it reads is another file's.

use crate::model::git::{GitOperation, OperationKind};
use crate::model::time::Time;
use crate::store::GitRow;
use crate::tracking::decision_links::lost;
use crate::tracking::rollbacks::sure_reason;
use std::collections::{BTreeMap, BTreeSet};

/// One undoing, and the operations that repeat it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undoing<'r> {
    /// The operation that says most of it.
    pub row: &'r GitRow,
    /// How often it was done, this operation included.
    pub times: usize,
    /// When it was done first.
    pub since: Time,
    /// What the operations have in common, where there are several.
    pub repeats: Repeats,
}

/// Why several operations are one undoing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// They left the same commits.
    SameWork,
    /// They reset the same branch, for no known reason, or for the same one.
    SameBranch,
}

/// What a doubling of commits or files weighs.
const DOUBLING: u32 = 3;
/// What a known reason weighs.
const REASON: u32 = 8;
/// What the branch weighs that the session begins on.
const BRANCH: u32 = 4;
/// Weight that goes with age: all of it is left on the first day.
const RECENCY: u32 = 3;
/// Days after which one of it is gone.
const RECENCY_DAYS: i64 = 5;

/// The undoings among these operations, most important first; of equals the latest. `branch`: the one that
/// is checked out.
pub fn undoings<'r>(operations: &'r [GitRow], branch: Option<&str>, now: Time) -> Vec<Undoing<'r>> {
    let weigh = |row: &GitRow| (weight(&row.git, branch, now), row.git.operation.at);
    let mut undoings = Vec::new();
    for group in groups(operations) {
        let Some(row) = group.iter().copied().max_by_key(|row| weigh(row)) else {
            continue;
        };
        let (repeats, all) = match group.len() {
            1 => (Repeats::SameWork, repeated(row, operations)),
            _ => (Repeats::SameBranch, group),
        };
        let since = all.iter().map(|row| row.git.operation.at).min();
        undoings.push(Undoing {
            row,
            times: all.len(),
            since: since.unwrap_or(row.git.operation.at),
            repeats,
        });
    }
    undoings.sort_by_key(|undoing| std::cmp::Reverse(weigh(undoing.row)));
    undoings
}

/// A rollback, and the operations of its kind that left what it gave up, which somebody took up again then.
fn repeated<'r>(rollback: &'r GitRow, operations: &'r [GitRow]) -> Vec<&'r GitRow> {
    let lost: BTreeSet<&str> = lost(&rollback.git).collect();
    let is_repeat = |row: &&GitRow| {
        let (git, left) = (&row.git, &row.git.effect.left);
        row.id != rollback.id
            && git.operation.kind == rollback.git.operation.kind
            && git.undoes()
            && left.iter().any(|commit| lost.contains(&*commit.hash))
    };
    let repeats = operations.iter().filter(is_repeat);
    repeats.chain([rollback]).collect()
}

fn weight(git: &GitOperation, branch: Option<&str>, now: Time) -> u32 {
    let size = doublings(git.effect.lost_count) + doublings(git.effect.files_count);
    let has_reason = u32::from(sure_reason(git).is_some());
    let is_here = branch.is_some() && git.operation.branch.as_deref() == branch;
    let days = now.0.saturating_sub(git.operation.at.0) / DAY_MS;
    let gone = u32::try_from(days / RECENCY_DAYS).unwrap_or(u32::MAX);
    size * DOUBLING
        + has_reason * REASON
        + u32::from(is_here) * BRANCH
        + RECENCY.saturating_sub(gone)
}

const DAY_MS: i64 = 86_400_000;

/// 0 for none, 1 for one, 2 for two, 3 from four on.
fn doublings(count: u64) -> u32 {
    u64::BITS - count.leading_zeros()
}

/// Rollbacks that are one undoing.
fn groups(operations: &[GitRow]) -> Vec<Vec<&GitRow>> {
    let mut groups: Vec<Vec<&GitRow>> = Vec::new();
    let mut resets: BTreeMap<Reset<'_>, usize> = BTreeMap::new();
    for row in operations.iter().filter(|row| row.git.gives_up()) {
        let reset = Reset::of(&row.git);
        let place = reset.map(|reset| *resets.entry(reset).or_insert(groups.len()));
        match place.and_then(|place| groups.get_mut(place)) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups
}

/// The branch that an operation reset, and where the reason stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Reset<'r> {
    branch: &'r str,
    reason: Option<(&'r str, u64)>,
}

impl Reset<'_> {
    fn of(git: &GitOperation) -> Option<Reset<'_>> {
        let operation = &git.operation;
        let branch = operation.branch.as_deref();
        let branch = branch.filter(|_| operation.kind == OperationKind::Reset)?;
        let reason = sure_reason(git);
        Some(Reset {
            branch,
            reason: reason.map(|reason| (reason.session.as_str(), reason.line)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::git::{CommitLine, Effect, Reason, RefOperation};
    use crate::store::Project;
    use uuid::Uuid;

    const NOW: Time = Time(1_780_304_400_000);

    /// A reset of `feature/x` so many days ago that gave up these commits and so many files.
    fn reset(days: i64, commits: &[&str], files: u64) -> GitRow {
        let line = |hash: &&str| CommitLine {
            hash: (*hash).to_owned(),
            subject: String::new(),
            at: Time(0),
        };
        GitRow {
            id: Uuid::from_u128(days as u128),
            project: Project {
                namespace: String::new(),
                path: String::new(),
                host: String::new(),
            },
            git: GitOperation {
                operation: RefOperation {
                    branch: Some("feature/x".into()),
                    at: Time(NOW.0 - days * DAY_MS),
                    ..RefOperation::sample()
                },
                effect: Effect {
                    left: commits.iter().map(line).collect(),
                    left_count: commits.len() as u64,
                    lost: commits.iter().map(line).collect(),
                    lost_count: commits.len() as u64,
                    files_count: files,
                    ..Effect::default()
                },
                reason: None,
            },
        }
    }

    fn why(mut row: GitRow) -> GitRow {
        row.git.reason = Some(Reason {
            sentence: "It can't work".into(),
            by_user: true,
            session: "s".into(),
            episode: Uuid::nil(),
            line: 1,
            confidence: crate::model::git::Confidence::High,
        });
        row
    }

    fn on(branch: &str, mut row: GitRow) -> GitRow {
        row.git.operation.branch = Some(branch.into());
        row
    }

    /// Days ago of each undoing's operation, how often it was done, and why those are one.
    fn ranked(rows: &[GitRow], branch: &str) -> Vec<(u128, usize, Repeats)> {
        let all = undoings(rows, Some(branch), NOW).into_iter();
        all.map(|undoing| (undoing.row.id.as_u128(), undoing.times, undoing.repeats))
            .collect()
    }

    #[test]
    fn repeats_of_one_undoing_are_one() {
        let taken_up_again = |mut row: GitRow| {
            row.git.effect.lost.clear();
            row.git.effect.lost_count = 0;
            row
        };
        let rows = [
            why(reset(1, &["b", "c"], 1)),
            taken_up_again(reset(2, &["a", "b"], 1)),
            taken_up_again(on("main", reset(3, &["c"], 9))),
            on("main", reset(4, &["z"], 1)),
        ];
        assert_eq!(
            ranked(&rows, "other"),
            [(1, 3, Repeats::SameWork), (4, 1, Repeats::SameWork)]
        );
        let rows: Vec<GitRow> = (1..9)
            .map(|day| reset(day, &["abcdefghij".get(day as usize..).unwrap()], 1))
            .collect();
        assert_eq!(ranked(&rows, "other"), [(1, 8, Repeats::SameBranch)]);
        assert_eq!(
            undoings(&rows, None, NOW)[0].since,
            rows[7].git.operation.at
        );
    }

    #[test]
    fn each_reason_is_an_undoing_of_its_own() {
        let mut other = why(reset(2, &["b"], 1));
        other.git.reason.as_mut().unwrap().line = 7;
        let rows = [
            why(reset(1, &["a"], 1)),
            other,
            why(reset(3, &["c"], 1)),
            reset(4, &["d"], 1),
        ];
        assert_eq!(
            ranked(&rows, "other"),
            [
                (1, 2, Repeats::SameBranch),
                (2, 1, Repeats::SameWork),
                (4, 1, Repeats::SameWork),
            ]
        );
    }

    #[test]
    fn much_work_a_reason_and_the_branch_go_before_small_ones() {
        let small = |day, name: &str| on(name, reset(day, &[name], 1));
        let large = on("l", reset(12, &["p", "q", "r", "s"], 20));
        let said = on("w", why(reset(9, &["t"], 2)));
        let rows = [small(0, "a"), small(1, "b"), small(2, "here"), said, large];
        let order: Vec<u128> = ranked(&rows, "here").into_iter().map(|one| one.0).collect();
        assert_eq!(order, [12, 9, 2, 0, 1]);
    }
}
