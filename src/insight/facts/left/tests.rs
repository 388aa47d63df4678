//! What last words, refusals and the end of a log say is left.

use super::*;

#[test]
fn what_was_left_on_purpose_is_no_step() {
    assert_eq!(
        super::said("All adds up. Nothing was committed, as you asked.", true),
        Vec::<String>::new()
    );
    let left = super::said("All adds up. Nothing was committed.", true);
    assert_eq!(left, Vec::<String>::new(), "commits say so themselves");
    let left = super::said("All adds up. I didn't run the tests of carts.", true);
    assert_eq!(left, ["I didn't run the tests of carts."]);
    let noted = "✅ **1**: carts are out (Note: `old/` requires a manual `rm`, as root owns it)";
    let wants = ["`old/` requires a manual `rm`, as root owns it"];
    assert_eq!(super::said(noted, true), wants);
}

#[test]
fn last_words_say_what_is_left() {
    let words = "The cart adds up.\n\n- **Tests**: all pass\n- I didn't run the export.\n\n\
        You'll need to restart the server. Is the cache still broken?\n```\nstill open\n```";
    let wants = [
        "I didn't run the export.",
        "You'll need to restart the server.",
    ];
    assert_eq!(said(words, true), wants);
    assert_eq!(said(words, false), wants[..1]);
}

#[test]
fn a_change_that_nobody_permitted_is_left() {
    let failed = [Finding::Unchanged {
        key: file_key("/p/a.md"),
    }];
    let made = [Finding::Changed {
        path: "/p/a.md".into(),
        added: 1,
        removed: 0,
    }];
    let call = "Action: Write(a.md) → failed: permissions to write to a.md, but you haven't granted it yet.";
    let failed = LocatedItem::sample(ItemKind::Digest, 1, call, &failed);
    let made = LocatedItem::sample(ItemKind::Digest, 2, "Action: Write(a.md) → +1", &made);
    let left = |lines: &[LocatedItem<'_>]| -> Vec<String> {
        not_permitted(lines)
            .into_iter()
            .map(|step| step.what)
            .collect()
    };
    assert_eq!(left(&[failed]), ["Not permitted: Write(a.md)"]);
    assert!(left(&[failed, made]).is_empty());
    let refused = [Finding::Refused {
        key: file_key("/p/a.md"),
    }];
    let call = "Action: Edit(a.md) → refused by the user";
    let refused = LocatedItem::sample(ItemKind::Digest, 1, call, &refused);
    assert_eq!(left(&[refused]), ["Refused by the user: Edit(a.md)"]);
    assert!(left(&[refused, made]).is_empty(), "the next one was fine");
}

#[test]
fn what_a_rule_denied_to_remove_is_left_unless_it_was_removed_otherwise() {
    let line = |n, text, found| LocatedItem::sample(ItemKind::Digest, n, text, found);
    let ok = [Finding::Worked { key: 1 }];
    let by_rule = "Action: Bash(rm -rf /shop/old/) → denied by a permission rule";
    let again = "Action: Bash(sudo rm -rf /shop/old/) → denied by a permission rule";
    let done = "Action: Bash(rm -r /shop/old/) → ok, no output";
    let looks = "Action: Bash(ls /shop/old/) → denied by a permission rule";
    let left = |lines: &[LocatedItem<'_>]| -> Vec<String> {
        let all = not_permitted(lines).into_iter();
        all.map(|step| step.what).collect()
    };
    let (first, second) = (line(1, by_rule, &[]), line(2, again, &[]));
    let wants = ["Not permitted: Bash(sudo rm -rf /shop/old/)"];
    assert_eq!(left(&[first, second]), wants);
    assert!(left(&[first, line(3, done, &ok)]).is_empty());
    assert!(left(&[line(4, looks, &[])]).is_empty());
}

#[test]
fn changes_that_nobody_committed_are_left() {
    let edit = [Finding::Changed {
        path: "/p/a.rs".into(),
        added: 1,
        removed: 0,
    }];
    let commit = [Finding::Commit {
        hash: String::new(),
        subject: "a".into(),
        again: false,
        size: None,
    }];
    let line = |kind, text, findings| LocatedItem::sample(kind, 1, text, findings);
    let edited = line(ItemKind::Digest, "Action: Edit(a.rs) → +1 −0", &edit[..]);
    let mut made = line(
        ItemKind::Digest,
        "Action: Bash(git commit -m a) → ok",
        &commit[..],
    );
    made.line = 2;
    let told = line(ItemKind::Prompt, "User: I committed it", &[]);
    let files = crate::insight::facts::changed_files::files(&[edited]);
    let left = |lines: &[LocatedItem<'_>], branch| {
        uncommitted(lines, &files, lines[0].line == 2, branch).map(|step| step.what)
    };
    let wants = Some(NO_COMMIT.to_owned());
    assert_eq!(left(&[edited], Some("main")), wants);
    let later = "Changed after the last commit: 1 file";
    assert_eq!(left(&[made, edited], None).as_deref(), Some(later));
    for lines in [&[edited, made][..], &[edited, told]] {
        assert_eq!(left(lines, Some("main")), None);
    }
    let git = |text| line(ItemKind::Digest, text, &[]);
    let compared =
        git("Action: Bash(git stash && make lint | tail; git stash pop) → 9 lines, 400 bytes");
    let (aside, back) = (
        git("Action: Bash(git stash) → ok"),
        git("Action: Bash(git stash pop) → ok"),
    );
    assert_eq!(left(&[edited, compared], None), wants);
    assert_eq!(left(&[edited, aside, back], None), wants);
    assert_eq!(left(&[edited, aside], None), None);
    assert_eq!(left(&[edited], None), None, "nothing is known of git");
    let agent = |text| line(ItemKind::Agent, text, &[]);
    let pending = line(ItemKind::Digest, "", &[]);
    let commits = agent("Agent: Now I commit both files.");
    let tests = agent("Agent: Now I run the tests.");
    let at_end = Some(AT_END.to_owned());
    assert_eq!(left(&[edited, commits, pending], Some("main")), at_end);
    assert_eq!(left(&[edited, tests, pending], Some("main")), wants);
    assert_eq!(left(&[edited, commits], Some("main")), wants);
    let opened = agent("Agent: PR: https://github.com/us/shop/pull/7");
    assert_eq!(left(&[edited, opened], Some("main")), None);
    assert_eq!(
        left(&[opened, edited], Some("main")),
        wants,
        "it was changed later"
    );
    assert!(says_uncommitted(later) && says_uncommitted(NO_COMMIT));
    let begun = format!("{UNSEEN}commit “a”");
    assert!(says_uncommitted(&begun) && !says_uncommitted(UNSEEN));
    let branch = format!("{UNSEEN}branch `fix/commit-hook`, push");
    assert!(!says_uncommitted(&branch));
}

#[test]
fn what_git_was_told_to_commit_next_is_left() {
    let ok = [Finding::Worked { key: 1 }];
    let failed = [Finding::Failed { key: 1 }];
    let git = |text| LocatedItem::sample(ItemKind::Digest, 1, text, &ok);
    let out = git("Action: Bash(git rm -r --cached web/cache) → rm 'web/cache/a'");
    let left = |lines: &[LocatedItem<'_>], has_commits| {
        uncommitted(lines, &[], has_commits, Some("main")).map(|step| step.what)
    };
    assert_eq!(left(&[out], false), Some(NO_COMMIT.to_owned()));
    assert_eq!(left(&[out], true), None, "nobody knows of which commit");
    for later in [
        "Action: Bash(git commit -m a) → ok",
        "Action: Bash(git reset -q) → ok, no output",
        "Action: Bash(git restore --staged web) → ok, no output",
        "Action: Bash(git log -1 --oneline) → 0fd2317 a",
        "Action: Bash(git rm --cached web/b) → rm 'web/b'",
        "Action: Bash(git checkout HEAD -- web) → ok, no output",
        "Action: Bash(git status) → nothing to commit, working tree clean",
    ] {
        assert_eq!(left(&[out, git(later)], false), None, "{later}");
    }
    for other in [
        "Action: Bash(cd /tmp/shop && git init && git add .) → ok",
        "Action: Bash(git add -n web) → add 'web/a'",
        "Action: Bash(git worktree add ../b) → ok",
        "Action: Bash(grep -rn 'git add ' docs) → 4 lines",
        "Action: Bash(echo 'then run git add -A') → then run git add -A",
        "Action: Bash(git add --help) → 90 lines",
        "Action: Bash(cd /home/ada/lib && git add cart.py) → ok, no output",
        "Action: Bash(grep -q x a || git add a) → ok, no output",
    ] {
        assert_eq!(left(&[git(other)], false), None, "{other}");
    }
    let no = "Action: Bash(git mv a b) → exit 128: fatal: bad source";
    let no = LocatedItem::sample(ItemKind::Digest, 1, no, &failed);
    assert_eq!(left(&[no], false), None);
}

#[test]
fn what_was_made_a_task_of_its_own_is_left_where_it_was_said_last() {
    let said = "Agent: Carts add up. The old totals are wrong; I spun that off as a separate task.";
    let said = LocatedItem::sample(ItemKind::Agent, 1, said, &[]);
    let asked = LocatedItem::sample(ItemKind::Prompt, 2, "User: do it now", &[]);
    let done = LocatedItem::sample(ItemKind::Agent, 3, "Agent: Mended them too.", &[]);
    let left = spun_off(&[said]).expect("a step").what;
    assert_eq!(
        left,
        "The old totals are wrong; I spun that off as a separate task."
    );
    assert_eq!(spun_off(&[said, asked]), None);
    assert_eq!(spun_off(&[said, done]), None);
}
