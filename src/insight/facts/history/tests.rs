//! Commits as logs of sessions tell them.

use super::*;
use crate::model::finding::CommitSize;

fn line<'t>(n: u64, text: &'t str, findings: &'t [Finding]) -> LocatedItem<'t> {
    LocatedItem::sample(ItemKind::Digest, n, text, findings)
}

fn commit(subject: &str) -> [Finding; 1] {
    [Finding::Commit {
        hash: format!("{:07x}", subject.bytes().map(u32::from).sum::<u32>()),
        subject: subject.into(),
        again: false,
        size: None,
    }]
}

#[test]
fn commits_that_nobody_saw_pushed_are_left() {
    let (first, second, third) = (commit("a"), commit("b"), commit("c"));
    let pushed = [Finding::Pushed];
    let lines = [
        line(1, "", &first),
        line(2, "", &pushed),
        line(3, "", &second),
    ];
    let made = commits(&lines);
    let found: Vec<bool> = made.iter().map(|commit| commit.what.pushed).collect();
    assert_eq!(found, [true, false]);
    assert_eq!(steps(&lines), ["No push seen of 0000062"]);
    let more = [lines[2], line(4, "", &third)];
    assert_eq!(steps(&more), ["No push seen of 0000062, 0000063"]);
    assert_eq!(unpushed(&made, None)[0].line, 3);
    assert_eq!(steps(&lines[..2]), [""; 0]);
    let all: Vec<[Finding; 1]> = "abcdefg".chars().map(|c| commit(&c.to_string())).collect();
    let all: Vec<_> = all.iter().map(|made| line(1, "", made)).collect();
    assert_eq!(steps(&all), ["No push seen of 7 commits"]);
}

fn steps(lines: &[LocatedItem<'_>]) -> Vec<String> {
    let steps = unpushed(&commits(lines), ahead(lines)).into_iter();
    steps.map(|step| step.what).collect()
}

#[test]
fn what_git_counts_last_is_what_is_left_to_be_pushed() {
    let (first, second) = (commit("a"), commit("b"));
    let told = [Finding::Ahead(21)];
    let told = line(3, "Action: Bash(git status) → ok", &told);
    let (first, second) = (line(1, "", &first), line(2, "", &second));
    let counted = "21 commits not pushed, as git status counted";
    assert_eq!(steps(&[first, second, told]), [counted]);
    assert_eq!(
        steps(&[first, told, second]),
        ["No push seen of 0000061, 0000062"]
    );
    assert_eq!(says_unpushed(counted), Some(true));
    assert_eq!(says_unpushed("No push seen of 0000061"), Some(false));
    assert_eq!(says_unpushed("No push seen"), None);
}

#[test]
fn commits_of_another_repository_are_counted_apart() {
    let elsewhere = Finding::Elsewhere("/w/lib".into());
    let (own, [theirs]) = (commit("a"), commit("b"));
    let theirs = [elsewhere.clone(), theirs];
    let pushed = [elsewhere.clone(), Finding::Pushed];
    let (own, theirs) = (line(1, "", &own), line(2, "", &theirs));
    let made = commits(&[own, theirs]);
    let places: Vec<_> = made
        .iter()
        .map(|made| made.what.repository.as_deref())
        .collect();
    assert_eq!(places, [None, Some("lib")]);
    let wants = ["No push seen of 0000061", "No push seen of 0000062 in lib"];
    assert_eq!(steps(&[own, theirs]), wants);
    assert_eq!(steps(&[own, theirs, line(3, "", &pushed)]), wants[..1]);
    let counted = [elsewhere, Finding::Ahead(4)];
    assert_eq!(steps(&[own, theirs, line(3, "", &counted)]), wants);
    let tree = [
        Finding::Elsewhere("/w/shop.worktrees/carts".into()),
        theirs.item.findings[1].clone(),
    ];
    assert_eq!(steps(&[line(1, "", &tree)]), ["No push seen of 0000062"]);
}

#[test]
fn a_commit_that_git_says_its_remote_has_was_pushed() {
    let (first, second) = (commit("a"), commit("b"));
    let pushed = |between: &str, told: &str, ahead: u64| -> Vec<bool> {
        let ahead = [Finding::Ahead(ahead)];
        let lines = [
            line(1, "Action: Bash(cd /shop && git commit -m a) → ok", &first),
            line(2, "Action: Bash(cd /shop && git commit -m b) → ok", &second),
            line(3, between, &[]),
            line(4, told, &ahead),
        ];
        let made = commits(&lines);
        made.iter().map(|commit| commit.what.pushed).collect()
    };
    let told = "Action: Bash(cd /shop && git status) → ok";
    assert_eq!(pushed("", told, 0), [true, true], "a person pushed them");
    assert_eq!(pushed("", told, 1), [true, false]);
    assert_eq!(pushed("", told, 7), [false, false]);
    let (made, other) = (
        commit("a"),
        [Finding::Elsewhere("/other".into()), Finding::Ahead(0)],
    );
    let lines = [line(1, "", &made), line(2, "Action: x", &other)];
    assert!(!commits(&lines)[0].what.pushed);
    let moved = "Action: Bash(git checkout main) → ok";
    assert_eq!(pushed(moved, told, 0), [false, false], "another branch");
}

#[test]
fn commits_of_equal_subject_stay_apart_unless_one_replaced_the_other() {
    let made = |hash: &str, again: bool| {
        [Finding::Commit {
            hash: hash.into(),
            subject: "Fix typo".into(),
            again,
            size: None,
        }]
    };
    let (first, second, quiet) = (
        made("1a2b3c4", false),
        made("5d6e7f8", false),
        made("", false),
    );
    let hashes = |lines: &[LocatedItem<'_>]| -> Vec<String> {
        let all = commits(lines).into_iter();
        all.map(|commit| commit.what.hash).collect()
    };
    let one = line(1, "Action: Bash(git commit -m 'Fix typo') → …", &first);
    let two = |text| line(3, text, &second);
    let both = ["1a2b3c4", "5d6e7f8"];
    assert_eq!(
        hashes(&[one, two("Action: Bash(git commit -am x) → …")]),
        both
    );
    let amended = "Action: Bash(git commit --amend --no-edit) → …";
    assert_eq!(hashes(&[one, two(amended)]), ["5d6e7f8"]);
    let reset = line(2, "Action: Bash(git reset --soft HEAD~1) → ok", &[]);
    assert_eq!(hashes(&[one, reset, two("Action: x")]), ["5d6e7f8"]);
    assert_eq!(hashes(&[reset, one, two("Action: x")]), both);
    assert_eq!(hashes(&[one, line(3, "Action: x", &quiet)]), [""]);
    assert_eq!(hashes(&[one, one]), ["1a2b3c4"]);
    let third = made("9abcdef", true);
    assert_eq!(hashes(&[one, line(3, "Action: x", &third)]), ["9abcdef"]);
}

fn made(hash: &str, subject: &str, again: bool) -> [Finding; 1] {
    [Finding::Commit {
        hash: hash.into(),
        subject: subject.into(),
        again,
        size: None,
    }]
}

fn listed(hash: &str, subject: &str, remote: bool) -> [Finding; 1] {
    [Finding::Listed {
        hash: hash.into(),
        subject: subject.into(),
        remote,
    }]
}

/// `1a2b3c4 One true`: hash, subject, whether it was pushed.
fn told(lines: &[LocatedItem<'_>]) -> Vec<String> {
    let all = commits(lines).into_iter().map(|commit| commit.what);
    let told = all.map(|c| format!("{} {} {}", c.hash, c.subject, c.pushed));
    told.collect()
}

#[test]
fn commits_have_the_hashes_that_they_have_at_the_end() {
    let (one, two) = (made("1a2b3c4", "One", false), made("5d6e7f8", "Two", false));
    let pushed = [Finding::Pushed];
    let (one, two) = (line(1, "", &one), line(2, "", &two));
    let push = line(3, "Action: Bash(git push) → ok", &pushed);
    // what was pushed before it was rewritten is not pushed, and nobody knows its hash
    let rebase = line(
        4,
        "Action: Bash(git rebase main) → Successfully rebased",
        &[],
    );
    assert_eq!(told(&[one, push, rebase]), [" One false"]);
    let up = line(
        4,
        "Action: Bash(git rebase main) → Current branch x is up to date.",
        &[],
    );
    assert_eq!(told(&[one, push, up]), ["1a2b3c4 One true"]);
    for words in ["rg 'git rebase' src", "git commit -m 'After git reset'"] {
        let text = format!("Action: Bash({words}) → ok");
        assert_eq!(
            told(&[one, push, line(4, &text, &[])]),
            ["1a2b3c4 One true"],
            "{text}"
        );
    }
    let now = listed("9abcdef", "One", false);
    let log = line(5, "Action: Bash(git log --oneline -1) → …", &now);
    assert_eq!(told(&[one, push, rebase, log]), ["9abcdef One false"]);
    let words = LocatedItem::sample(ItemKind::Agent, 6, "Agent: Now `9abcdef One`.", &[]);
    assert_eq!(told(&[one, rebase, words]), ["9abcdef One false"]);
    let part = "Action: Bash(git filter-branch --msg-filter 'x 5d6e7f8' 5d6e7f8^..HEAD) → ok";
    assert_eq!(
        told(&[one, two, line(4, part, &[])]),
        ["1a2b3c4 One false", " Two false"]
    );
    // an amended commit takes the place of the last one, whatever it is called
    let better = made("9abcdef", "Better", true);
    let better = line(5, "Action: Bash(git commit --amend -m Better) → …", &better);
    assert_eq!(
        told(&[one, two, push, better]),
        ["1a2b3c4 One true", "9abcdef Better false"]
    );
    // what was reset or left out is gone
    let reset = line(4, "Action: Bash(git reset --soft HEAD~2) → ok", &[]);
    assert_eq!(told(&[one, two, reset]), Vec::<String>::new());
    let onto = line(
        4,
        "Action: Bash(git rebase --onto origin/main 1a2b3c4 topic) → ok",
        &[],
    );
    assert_eq!(told(&[one, two, onto]), [" Two false"]);
    // nobody saw it made, but git lists it
    let begun = line(1, "Action: Bash(git commit -m \"One\") → running", &[]);
    let sent = listed("1a2b3c4", "One", true);
    let sent = line(2, "Action: Bash(git log --oneline) → …", &sent);
    assert_eq!(told(&[begun, sent]), ["1a2b3c4 One true"]);
    assert_eq!(told(&[sent]), Vec::<String>::new());
}

#[test]
fn what_a_branch_keeps_is_not_reset_away_and_a_list_of_branches_keeps_nothing() {
    let (one, two) = (made("1a2b3c4", "One", false), made("5d6e7f8", "Two", false));
    let (one, two) = (line(1, "Action: x", &one), line(2, "Action: x", &two));
    for (before, stay) in [
        ("git branch feat", 2),
        ("git branch -a", 0),
        ("git status", 0),
    ] {
        let reset = format!("Action: Bash({before} && git reset --hard HEAD~2) → ok");
        assert_eq!(
            told(&[one, two, line(3, &reset, &[])]).len(),
            stay,
            "{before}"
        );
    }
}

#[test]
fn the_log_tells_that_there_is_no_remote() {
    for (text, wants) in [
        ("Action: Bash(git init -q) → ok", true),
        (
            "Action: Bash(git push) → fatal: No configured push destination.",
            true,
        ),
        ("Action: Bash(git status) → On branch main", false),
    ] {
        assert_eq!(has_no_remote(&[line(3, text, &[])]), wants, "{text}");
    }
}

#[test]
fn a_task_that_is_older_than_the_last_commit_says_so() {
    let made = commit("a");
    let lines = [line(1, "", &[]), line(2, "", &made), line(3, "", &[])];
    let mut tasks = [
        lines[0].source("old".to_owned()),
        lines[2].source("new".to_owned()),
    ];
    note_older(&mut tasks, &commits(&lines), &lines);
    assert_eq!(tasks[0].what, "old (on the list before the last commit)");
    assert_eq!(tasks[1].what, "new");
}

#[test]
fn what_was_squashed_is_in_the_commit_that_it_was_made_for() {
    let (one, fix) = (
        made("1a2b3c4", "One", false),
        made("5d6e7f8", "fixup! One", false),
    );
    let one = line(1, "Action: Bash(git commit -m One) → …", &one);
    let squash = "Action: Bash(git commit --fixup=1a2b3c4 && git rebase -i --autosquash 0000000 && git log --oneline) → …";
    let [fix] = fix;
    let [now] = listed("9abcdef", "One", false);
    let both = [Finding::Worked { key: 1 }, fix.clone(), now.clone()];
    assert_eq!(told(&[one, line(2, squash, &both)]), ["9abcdef One false"]);
    let only = [fix.clone()];
    assert_eq!(told(&[one, line(2, squash, &only)]), [" One false"]);
    // in a call of its own; the commit that it was made for is older than the session
    let apart = line(2, "Action: Bash(git commit --fixup 0f0f0f0) → …", &only);
    let rebase = line(
        3,
        "Action: Bash(git rebase --autosquash -i HEAD~6) → ok",
        &[],
    );
    let pushed = [Finding::Pushed];
    let push = line(4, "Action: Bash(git push -f) → ok", &pushed);
    assert_eq!(told(&[apart]), ["5d6e7f8 fixup! One false"]);
    assert_eq!(told(&[apart, rebase, push]), [" One true"]);
    let now = [now];
    let log = line(5, "Action: Bash(git log --oneline -6) → …", &now);
    assert_eq!(told(&[apart, rebase, push, log]), ["9abcdef One true"]);
}

#[test]
fn a_commit_has_the_size_that_git_printed_until_it_is_rewritten() {
    let size = CommitSize {
        files: 2,
        added: 52,
        removed: 6,
    };
    let [mut one] = made("1a2b3c4", "One", false);
    if let Finding::Commit { size: printed, .. } = &mut one {
        *printed = Some(size);
    }
    let one = [one];
    let one = line(1, "Action: Bash(git commit -m One) → …", &one);
    let sizes = |lines: &[LocatedItem<'_>]| commits(lines)[0].what.size;
    assert_eq!(sizes(&[one]), Some(size));
    let rebase = line(2, "Action: Bash(git rebase main) → ok", &[]);
    assert_eq!(sizes(&[one, rebase]), None);
}

#[test]
fn what_a_sub_agent_committed_is_the_sessions_where_git_and_the_agent_say_so() {
    let older = listed("aaaaaaa1", "Add a shop", false);
    let theirs = [
        listed("ccccccc3", "Round totals", false),
        listed("bbbbbbb2", "Add carts", false),
        older.clone(),
    ]
    .concat();
    let own = made("ddddddd4", "Note it", false);
    let account = "Agent: Done.\n\n**Commits:** `bbbbbbb` → `ccccccc` → `ddddddd`, on `aaaaaaa`";
    let said = |text| LocatedItem::sample(ItemKind::Agent, 9, text, &[]);
    let before = line(1, "Action: Bash(git log) → 1 line", &older);
    let task = line(2, "Action: Task(carts) → done, 9 tool calls", &[]);
    let list = line(3, "Action: Bash(git log --oneline -3) → 3 lines", &theirs);
    let commit = line(4, "Action: Bash(git commit -m x) → ok", &own);
    let subjects = |lines: &[LocatedItem<'_>]| -> Vec<String> {
        let all = commits(lines).into_iter();
        all.map(|commit| commit.what.subject).collect()
    };
    let all = [before, task, list, commit, said(account)];
    assert_eq!(subjects(&all), ["Add carts", "Round totals", "Note it"]);
    assert_eq!(subjects(&all[..4]), ["Note it"], "nobody says so");
    let alone = [before, list, commit, said(account)];
    assert_eq!(subjects(&alone), ["Note it"], "no sub-agent worked");
}

#[test]
fn a_commit_that_a_rebase_made_is_told_as_one() {
    let continued = "Action: Bash(git add a.go && git rebase --continue) → ok";
    let one = made("1a2b3c4", "One", false);
    let told = |lines: &[LocatedItem<'_>]| {
        let all = commits(lines).into_iter();
        let all = all.map(|commit| (commit.what.hash, commit.what.rebased));
        all.collect::<Vec<_>>()
    };
    let theirs = line(2, continued, &one);
    assert_eq!(told(&[theirs]), [("1a2b3c4".to_owned(), true)]);
    let before = made("9abcdef", "One", false);
    let own = line(1, "Action: Bash(git commit -m x) → ok", &before);
    assert_eq!(told(&[own, theirs]), [("1a2b3c4".to_owned(), false)]);
}
