//! Tests of checks that hooks of commits ran.

use super::*;

fn staged(check: &str, passed: bool) -> Finding {
    Finding::Staged {
        check: check.into(),
        passed,
    }
}

const COMMIT: &str = "Action: Bash(git commit -m 'Add carts') → 1 file changed";

fn made() -> Finding {
    Finding::Commit {
        hash: "1a2b3c4".into(),
        subject: "Add carts".into(),
        size: None,
        again: false,
    }
}

/// Command, whether it ended well, ` before` where it didn't earlier.
fn told_of(calls: &[(&str, Vec<Finding>)]) -> Vec<String> {
    let lines = calls
        .iter()
        .zip(1..)
        .map(|((text, found), n)| LocatedItem::sample(ItemKind::Digest, n, text, found));
    let runs = checks(&lines.collect::<Vec<_>>()).runs.into_iter();
    runs.map(|run| {
        let before = if run.what.failed_before {
            " before"
        } else {
            ""
        };
        let staged = if run.what.staged { " staged" } else { "" };
        format!("{} {}{before}{staged}", run.what.command, run.what.passed)
    })
    .collect()
}

#[test]
fn what_a_commits_hook_checked_is_told() {
    let red = || (COMMIT, vec![staged("eslint --fix", false)]);
    let green = || (COMMIT, vec![made(), staged("eslint --fix", true)]);
    assert_eq!(told_of(&[green()]), ["eslint --fix true staged"]);
    assert_eq!(told_of(&[red()]), ["eslint --fix false staged"]);
    let both = told_of(&[red(), green()]);
    assert_eq!(both, ["eslint --fix true before staged"]);
}

#[test]
fn what_is_told_already_or_may_be_over_is_not() {
    let green = || (COMMIT, vec![made(), staged("eslint --fix", true)]);
    let lint = "Action: Bash(npx eslint .) → ok, no output";
    let lint = || (lint, vec![Finding::Worked { key: 1 }]);
    assert_eq!(told_of(&[lint(), green()]), ["npx eslint . true"]);
    let red = || (COMMIT, vec![staged("eslint --fix", false)]);
    let quiet = (
        "Action: Bash(git commit -q -m x) → ok, no output",
        vec![made()],
    );
    assert_eq!(told_of(&[red(), quiet]), Vec::<String>::new());
    assert_eq!(told_of(&[red(), lint()]), ["npx eslint . true"]);
    // what passed before says nothing of what the hook found then
    let both = ["npx eslint . true", "eslint --fix false staged"];
    assert_eq!(told_of(&[lint(), red()]), both);
}
