//! What git says of commits that others have or lack.

use super::findings::{COMMITTED, bash, failed};
use super::*;
use crate::model::finding::Finding;

#[test]
fn how_far_a_branch_is_ahead_is_told_as_it_is_behind_the_call() {
    let told = "Your branch is ahead of 'origin/main' by 3 commits.";
    let nothing = format!("{told}\n\nnothing to commit, working tree clean");
    let both = format!("{told}\n{COMMITTED}");
    for (command, result, wants) in [
        ("git status", ok(told), true),
        ("git commit -m x", failed(&nothing), true),
        ("git commit -m x && git status", ok(&both), true),
        ("git status && git commit -m x", ok(&both), false),
        ("git status && git push", ok(told), false),
    ] {
        let found = bash(command, &result);
        assert_eq!(found.contains(&Finding::Ahead(3)), wants, "{command}");
    }
}

#[test]
fn what_git_lists_is_told_with_what_others_have() {
    let listed = |hash: &str, subject: &str, remote| Finding::Listed {
        hash: hash.into(),
        subject: subject.into(),
        remote,
    };
    let output =
        "1a2b3c4 (HEAD -> main) Fix the login\n* 5d6e7f8 (origin/main) Begin (again)\nnot one";
    let found = bash("git log --oneline -2", &ok(output));
    let wants = [
        listed("1a2b3c4", "Fix the login", false),
        listed("5d6e7f8", "Begin (again)", true),
    ];
    assert_eq!(found[1..], wants, "{found:?}");
    // a repository that nobody keeps is none of the session's
    let away = "cd /tmp/x && git commit -m 'Fix the login' && git push";
    let found = bash(away, &ok(COMMITTED));
    assert!(
        !found
            .iter()
            .any(|f| matches!(f, Finding::Commit { .. } | Finding::Pushed)),
        "{found:?}"
    );
}
