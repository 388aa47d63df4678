//! Lines of reflogs become operations, by git's messages alone: no repository is opened.

use crate::model::git::{LogLine, OperationKind, RefOperation};

/// What is known beside the lines.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// The branch that HEAD was on before the first line, where an earlier run noted it.
    pub branch: Option<String>,
    /// The branch that HEAD is on now; `None`: detached.
    pub branch_now: Option<String>,
    /// A rebase or a bisection is under way: its last lines are still to come.
    pub is_busy: bool,
}

/// What lines amount to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogOperations {
    /// In order.
    pub operations: Vec<RefOperation>,
    /// Lines that were used; the others are of something that is under way, or too many at once.
    pub lines: usize,
    /// The others were too many.
    pub has_more: bool,
    /// The branch after these lines.
    pub branch: Option<String>,
}

/// Lines that are sorted at once. More: one transaction for a history of years.
const LINES_MAX: usize = 2_000;

/// Sorts the lines of HEAD's log into operations. `stash`: the lines of the stash's log of the same
/// time, whose own reset in HEAD's log is no operation.
pub fn operations(lines: &[LogLine], stash: &[LogLine], start: &Start) -> LogOperations {
    let mut sorted = LogOperations {
        branch: start.branch.clone().or_else(|| first_branch(lines, start)),
        ..LogOperations::default()
    };
    while sorted.lines < lines.len().min(LINES_MAX) {
        let rest = &lines[sorted.lines..];
        let Some(count) = lines_of_one(rest, start.is_busy) else {
            return sorted;
        };
        let (group, rest) = rest.split_at(count);
        sorted.lines += count;
        let before = sorted.operations.last();
        if !is_of_a_stash(&group[0], stash) && !is_of_a_new_tree(&group[0], before) {
            let mut operation = operation(group, sorted.branch.clone());
            let is_first = sorted.operations.is_empty() && start.branch.is_none();
            if is_rootless(&group[0]) && !is_first {
                operation.mode = Some("orphan".to_owned());
                operation.branch = first_branch(rest, start);
            }
            sorted.branch = branch_after(&operation, sorted.branch, rest);
            sorted.operations.push(operation);
        }
    }
    sorted.has_more = sorted.lines < lines.len();
    if !sorted.has_more {
        sorted.branch.clone_from(&start.branch_now);
    }
    sorted
}

/// How many lines belong to the operation that begins here; `None`: it is under way.
fn lines_of_one(lines: &[LogLine], is_busy: bool) -> Option<usize> {
    let looks = bisect_steps(lines);
    if Action::of(&lines[0].message).step == Some("start") {
        rebase(lines, is_busy)
    } else if looks >= BISECT_STEPS_MIN {
        bisect(lines, looks, is_busy)
    } else {
        Some(1)
    }
}

/// The stash's log as operations; the commit that it was made on is for the repository to say.
pub fn stashes(lines: &[LogLine]) -> Vec<RefOperation> {
    let stashed = lines.iter().filter(|line| !line.new.is_empty());
    stashed
        .map(|line| {
            let branch = line.message.split_once(':').map_or("", |(head, _)| head);
            let branch = branch.rsplit(' ').next().filter(|name| !name.is_empty());
            RefOperation {
                kind: OperationKind::Stash,
                branch: branch.map(str::to_owned),
                old: String::new(),
                ..plain(line)
            }
        })
        .collect()
}

/// The head of a message and its detail.
struct Action<'m> {
    word: &'m str,
    /// In parentheses at the head's end.
    step: Option<&'m str>,
    detail: &'m str,
}

impl<'m> Action<'m> {
    fn of(message: &'m str) -> Action<'m> {
        let (head, detail) = message.split_once(": ").unwrap_or((message, ""));
        let step = head
            .strip_suffix(')')
            .and_then(|head| head.rsplit_once(" ("));
        let word = head.split([' ', ':']).next().unwrap_or_default();
        Action {
            word,
            step: step.map(|(_, step)| step),
            detail,
        }
    }

    fn kind(&self) -> OperationKind {
        match (self.word, self.step) {
            ("commit", Some("amend")) => OperationKind::Amend,
            ("commit", Some("merge")) | ("merge", _) => OperationKind::Merge,
            ("commit", Some("cherry-pick")) | ("cherry-pick", _) => OperationKind::CherryPick,
            ("commit", _) => OperationKind::Commit,
            ("reset", _) => OperationKind::Reset,
            ("checkout", _) => OperationKind::Checkout,
            ("rebase", _) => OperationKind::Rebase,
            ("revert", _) => OperationKind::Revert,
            ("pull", _) => OperationKind::Pull,
            ("am", _) => OperationKind::Apply,
            _ => OperationKind::Other,
        }
    }
}

fn plain(line: &LogLine) -> RefOperation {
    RefOperation {
        kind: OperationKind::Other,
        mode: None,
        is_mode_named: false,
        old: line.old.clone(),
        new: line.new.clone(),
        tree: None,
        branch: None,
        to: None,
        at: line.at,
        at_is_guessed: false,
        message: line.message.clone(),
        steps: 1,
    }
}

/// One operation out of all its lines.
fn operation(group: &[LogLine], branch: Option<String>) -> RefOperation {
    let (first, last) = (&group[0], &group[group.len() - 1]);
    let action = Action::of(&first.message);
    let is_bisect = group.len() > 1 && action.step.is_none();
    let kind = match (is_bisect, first.old.is_empty(), &*first.message) {
        (true, ..) => OperationKind::Bisect,
        // git writes no word when it adds a work tree, nor when a reference is set by hand
        (_, true, "") => OperationKind::WorktreeAdded,
        (_, false, "") if !first.new.is_empty() => OperationKind::Moved,
        _ => action.kind(),
    };
    let end = Action::of(&last.message);
    let mode = match (kind, end.step) {
        (_, Some("abort")) => Some("aborted"),
        (OperationKind::Rebase, Some("finish")) | (OperationKind::Bisect, _) => None,
        (OperationKind::Rebase, _) if action.step.is_some() => Some("unfinished"),
        _ if end.detail.starts_with("Fast-forward") => Some("fast-forward"),
        _ => None,
    };
    RefOperation {
        kind,
        mode: mode.map(str::to_owned),
        old: first.old.clone(),
        to: match kind {
            OperationKind::Checkout => checkout(&first.message).map(|(_, to)| to.to_owned()),
            _ => None,
        },
        branch,
        steps: u32::try_from(group.len()).unwrap_or(u32::MAX),
        ..plain(last)
    }
}

/// Lines of the rebase that begins here; `None`: it is under way.
fn rebase(lines: &[LogLine], is_busy: bool) -> Option<usize> {
    let is_end =
        |line: &LogLine| matches!(Action::of(&line.message).step, Some("finish" | "abort"));
    match lines.iter().position(is_end) {
        Some(end) => Some(end + 1),
        None if is_busy => None,
        // nobody will finish it: what belongs to it is what its own words say
        None => {
            let own = |line: &&LogLine| Action::of(&line.message).step.is_some();
            Some(lines.iter().take_while(own).count().max(1))
        }
    }
}

/// Two steps alone may be somebody who looks at two commits.
const BISECT_STEPS_MIN: usize = 3;

/// How many commits are looked at one after the other from here.
fn bisect_steps(lines: &[LogLine]) -> usize {
    let looks = |line: &&LogLine| checkout(&line.message).is_some_and(|(_, to)| is_hash(to));
    let starts_on_a_name = lines
        .first()
        .and_then(|line| checkout(&line.message))
        .is_some_and(|(from, _)| !is_hash(from));
    match starts_on_a_name {
        true => lines.iter().take_while(looks).count(),
        false => 0,
    }
}

/// Lines of the bisection that begins here with so many steps; of what only looks like one, the first.
/// `None`: it is under way.
fn bisect(lines: &[LogLine], steps: usize, is_busy: bool) -> Option<usize> {
    match lines.get(steps) {
        Some(line) if leaves_detached(line) == Some(true) => Some(steps + 1),
        None if is_busy => None,
        // somebody looks at old commits, and may go on from there
        _ => Some(1),
    }
}

/// `Branch: renamed refs/heads/A to refs/heads/B`: HEAD's log says it of the branch that HEAD is on.
pub fn renamed(message: &str) -> Option<(&str, &str)> {
    let names = message.strip_prefix("Branch: renamed refs/heads/")?;
    names.split_once(" to refs/heads/")
}

/// `checkout: moving from A to B`.
fn checkout(message: &str) -> Option<(&str, &str)> {
    let moves = message.strip_prefix("checkout: moving from ")?;
    moves.split_once(" to ")
}

/// A whole hash, not the beginning of one, which may be a branch's name.
fn is_hash(name: &str) -> bool {
    matches!(name.len(), 40 | 64) && name.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Of a checkout: whether HEAD was detached before it.
fn leaves_detached(line: &LogLine) -> Option<bool> {
    checkout(&line.message).map(|(from, _)| is_hash(from))
}

fn first_branch(lines: &[LogLine], start: &Start) -> Option<String> {
    let mut messages = lines.iter().map(|line| line.message.as_str());
    match messages.find_map(|message| checkout(message).or_else(|| renamed(message))) {
        Some((from, _)) => (!is_hash(from)).then(|| from.to_owned()),
        None => start.branch_now.clone(),
    }
}

/// The branch after an operation; `rest`: what follows it. The next checkout knows whether the last one
/// went to a branch, or to a commit by another name.
fn branch_after(
    operation: &RefOperation,
    before: Option<String>,
    rest: &[LogLine],
) -> Option<String> {
    if let Some((_, to)) = renamed(&operation.message) {
        return Some(to.to_owned());
    }
    if operation.mode.as_deref() == Some("orphan") {
        return operation.branch.clone();
    }
    let Some(to) = &operation.to else {
        return before;
    };
    let is_branch = !is_hash(to) && rest.iter().find_map(leaves_detached) != Some(true);
    is_branch.then(|| to.clone())
}

fn is_of_a_stash(line: &LogLine, stash: &[LogLine]) -> bool {
    line.old == line.new
        && line.message == "reset: moving to HEAD"
        && stash
            .iter()
            .any(|stashed| (stashed.at.0 - line.at.0).abs() <= STASH_MS)
}

/// A commit that begins a history of its own.
fn is_rootless(line: &LogLine) -> bool {
    line.old.is_empty() && line.message.starts_with("commit (initial)")
}

/// Git fills a new work tree by a reset that nobody asked for.
fn is_of_a_new_tree(line: &LogLine, before: Option<&RefOperation>) -> bool {
    let is_new = before.is_some_and(|before| {
        before.kind == OperationKind::WorktreeAdded && line.at.0 - before.at.0 <= STASH_MS
    });
    is_new && line.old == line.new && line.message == "reset: moving to HEAD"
}

/// Between the two lines that a stash writes.
const STASH_MS: i64 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::time::Time;

    /// `old new message`, a second apart.
    fn log(lines: &[&str]) -> Vec<LogLine> {
        let line = |(n, line): (usize, &&str)| {
            let mut parts = line.splitn(3, ' ');
            let mut next = || parts.next().unwrap_or_default().to_owned();
            LogLine {
                old: next(),
                new: next(),
                message: next(),
                at: Time(n as i64 * 10_000),
                to: n as u64 + 1,
            }
        };
        lines.iter().enumerate().map(line).collect()
    }

    fn shown(found: &LogOperations) -> Vec<String> {
        let one = |o: &RefOperation| {
            let branch = o.branch.as_deref().unwrap_or("-");
            format!("{} {}..{} on {branch}", o.name(), o.old, o.new)
        };
        found.operations.iter().map(one).collect()
    }

    fn read(lines: &[&str], branch_now: &str) -> Vec<String> {
        let start = Start {
            branch_now: Some(branch_now.into()),
            ..Start::default()
        };
        shown(&operations(&log(lines), &[], &start))
    }

    #[test]
    fn each_message_is_an_operation() {
        for (message, wants) in [
            ("commit: add x", "commit"),
            ("commit (initial): add x", "commit"),
            ("commit (amend): add x", "amend"),
            ("commit (merge): Merge branch 'x'", "merge"),
            ("reset: moving to HEAD~2", "reset"),
            ("merge x: Fast-forward", "merge (fast-forward)"),
            ("merge x: Merge made by the 'ort' strategy.", "merge"),
            ("pull: Fast-forward", "pull (fast-forward)"),
            (
                "pull origin main: Merge made by the 'ort' strategy.",
                "pull",
            ),
            ("cherry-pick: add x", "cherry-pick"),
            ("revert: Revert \"add x\"", "revert"),
            ("am: add x", "am"),
            ("clone: from https://example.org/r", "other"),
            ("", "moved"),
        ] {
            let found = read(&[&format!("a b {message}")], "main");
            assert_eq!(found, [format!("{wants} a..b on main")], "{message}");
        }
    }

    #[test]
    fn branches_follow_checkouts() {
        let detached = "c".repeat(40);
        let found = read(
            &[
                "a a checkout: moving from main to feature",
                "a b commit: x",
                &format!("b c checkout: moving from feature to {detached}"),
                "c d commit: y",
                &format!("d a checkout: moving from {detached} to main"),
                "a e commit: z",
            ],
            "main",
        );
        assert_eq!(
            found,
            [
                "checkout a..a on main",
                "commit a..b on feature",
                "checkout b..c on feature",
                "commit c..d on -",
                "checkout d..a on -",
                "commit a..e on main",
            ]
        );
    }

    #[test]
    fn a_branch_that_is_renamed_goes_on_under_its_new_name() {
        let found = read(
            &[
                " a commit (initial): x",
                "a a Branch: renamed refs/heads/master to refs/heads/main",
                "a b commit: y",
                "b b checkout: moving from main to feature",
            ],
            "feature",
        );
        let wants = [
            "commit ..a on master",
            "other a..a on master",
            "commit a..b on main",
            "checkout b..b on main",
        ];
        assert_eq!(found, wants);
    }

    #[test]
    fn a_rebase_is_one_operation_with_all_that_happened_in_it() {
        let lines = [
            "a b rebase (start): checkout main",
            "b c rebase (pick): one",
            "c d commit (amend): two, by hand",
            "d d rebase (finish): returning to refs/heads/feature",
            "d e commit: after",
        ];
        let wants = ["rebase a..d on feature", "commit d..e on feature"];
        assert_eq!(read(&lines, "feature"), wants);
        let aborted = [
            lines[0],
            "c a rebase (abort): returning to refs/heads/feature",
        ];
        assert_eq!(
            read(&aborted, "feature"),
            ["rebase (aborted) a..a on feature"]
        );
        let pulled = [
            "a b pull --rebase origin main (start): checkout b",
            "b c pull --rebase origin main (pick): one",
            "c c pull --rebase origin main (finish): returning to refs/heads/main",
        ];
        assert_eq!(read(&pulled, "main"), ["pull a..c on main"]);
    }

    #[test]
    fn what_is_under_way_waits_for_its_end() {
        let lines = log(&[
            "z a commit: x",
            "a b rebase (start): checkout main",
            "b c rebase (pick): one",
        ]);
        let mut start = Start {
            branch: Some("feature".into()),
            is_busy: true,
            ..Start::default()
        };
        let found = operations(&lines, &[], &start);
        assert_eq!((found.lines, found.operations.len()), (1, 1));
        start.is_busy = false;
        let found = operations(&lines, &[], &start);
        assert_eq!(shown(&found)[1], "rebase (unfinished) a..c on feature");
    }

    /// What is read in parts is sorted as what is read at once.
    #[test]
    fn a_long_log_is_told_in_parts() {
        let commits = LINES_MAX + 3;
        let mut lines = vec!["a b commit: x"; commits];
        lines.push("b b checkout: moving from feature to main");
        let lines = log(&lines);
        let mut start = Start {
            branch_now: Some("main".into()),
            ..Start::default()
        };
        let first = operations(&lines, &[], &start);
        assert_eq!((first.lines, first.has_more), (LINES_MAX, true));
        start.branch.clone_from(&first.branch);
        let second = operations(&lines[first.lines..], &[], &start);
        assert_eq!((second.lines, second.has_more), (4, false));
        assert_eq!(second.branch.as_deref(), Some("main"));
        let all = first.operations.iter().chain(&second.operations);
        let is_on_feature =
            |operation: &RefOperation| operation.branch.as_deref() == Some("feature");
        assert_eq!(all.filter(|one| is_on_feature(one)).count(), commits + 1);
    }

    #[test]
    fn a_bisection_is_one_operation() {
        let hash = |c: &str| c.repeat(40);
        let (one, two, three) = (hash("1"), hash("2"), hash("3"));
        let found = read(
            &[
                &format!("a 1 checkout: moving from main to {one}"),
                &format!("1 2 checkout: moving from {one} to {two}"),
                &format!("2 3 checkout: moving from {two} to {three}"),
                &format!("3 a checkout: moving from {three} to main"),
            ],
            "main",
        );
        assert_eq!(found, ["bisect a..a on main"]);
    }

    #[test]
    fn who_looks_at_commits_and_goes_on_there_bisects_nothing() {
        let hash = |c: &str| c.repeat(40);
        let (one, two, three) = (hash("1"), hash("2"), hash("3"));
        let found = read(
            &[
                &format!("a 1 checkout: moving from main to {one}"),
                &format!("1 2 checkout: moving from {one} to {two}"),
                &format!("2 3 checkout: moving from {two} to {three}"),
                "3 4 commit: x",
                &format!("4 a checkout: moving from {} to main", hash("4")),
            ],
            "main",
        );
        let wants = [
            "checkout a..1 on main",
            "checkout 1..2 on -",
            "checkout 2..3 on -",
            "commit 3..4 on -",
            "checkout 4..a on -",
        ];
        assert_eq!(found, wants);
    }

    #[test]
    fn the_reset_of_a_stash_is_no_operation() {
        let lines = log(&["a a reset: moving to HEAD"]);
        let stash = log(&[" s WIP on main: a1 x"]);
        let start = Start::default();
        assert!(operations(&lines, &stash, &start).operations.is_empty());
        assert_eq!(operations(&lines, &[], &start).operations.len(), 1);
        let stashed = stashes(&stash);
        assert_eq!(stashed[0].branch.as_deref(), Some("main"));
        assert_eq!(stashed[0].kind, OperationKind::Stash);
    }
}
