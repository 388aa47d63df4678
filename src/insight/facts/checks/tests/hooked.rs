//! Tests of checks that hooks of commits ran.

use super::*;

fn checked(check: &str, passed: bool) -> Finding {
    Finding::HookChecked {
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

/// Command, whether it ended well, `before` where it didn't earlier, `hook` where a commit's hook ran it.
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
        let hook = if run.what.by_hook { " hook" } else { "" };
        format!("{} {}{before}{hook}", run.what.command, run.what.passed)
    })
    .collect()
}

#[test]
fn what_a_commits_hook_checked_is_told() {
    let red = || (COMMIT, vec![checked("eslint --fix", false)]);
    let green = || (COMMIT, vec![made(), checked("eslint --fix", true)]);
    assert_eq!(told_of(&[green()]), ["eslint --fix true hook"]);
    assert_eq!(told_of(&[red()]), ["eslint --fix false hook"]);
    let both = told_of(&[red(), green()]);
    assert_eq!(both, ["eslint --fix true before hook"]);
}

#[test]
fn what_is_told_already_or_may_be_over_is_not() {
    let green = || (COMMIT, vec![made(), checked("eslint --fix", true)]);
    let lint = "Action: Bash(npx eslint .) → ok, no output";
    let lint = || (lint, vec![Finding::Worked { key: 1 }]);
    assert_eq!(told_of(&[lint(), green()]), ["npx eslint . true"]);
    let red = || (COMMIT, vec![checked("eslint --fix", false)]);
    let quiet = (
        "Action: Bash(git commit -q -m x) → ok, no output",
        vec![made()],
    );
    assert_eq!(told_of(&[red(), quiet]), Vec::<String>::new());
    assert_eq!(told_of(&[red(), lint()]), ["npx eslint . true"]);
    let both = ["npx eslint . true", "eslint --fix false hook"];
    assert_eq!(told_of(&[lint(), red()]), both);
}

#[test]
fn what_a_hook_finds_well_later_is_no_step() {
    let red = "Action: Bash(npx eslint .) → exit 1: one problem";
    let red = LocatedItem::sample(ItemKind::Digest, 1, red, &[Finding::Failed { key: 1 }]);
    let green = [made(), checked("eslint --fix", true)];
    let green = LocatedItem::sample(ItemKind::Digest, 2, COMMIT, &green);
    let step = |lines: &[LocatedItem<'_>]| failing(&checks(lines).runs, lines).is_some();
    assert!(step(&[red]));
    assert!(!step(&[red, green]));
}
