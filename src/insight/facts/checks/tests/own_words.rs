//! Tests of what checks say of themselves where the exit code is that of something else.

use super::*;

fn said(tool: &str, passed: bool, said: &str) -> Finding {
    Finding::Checked {
        tool: tool.into(),
        passed,
        said: said.into(),
    }
}

#[test]
fn the_tools_word_counts_where_its_exit_code_is_hidden() {
    let lint =
        "Action: Bash(gofmt -l .; golangci-lint run 2>&1 | tail -3; echo done) → 9 lines, 1 KB";
    let worked = Finding::Worked { key: 1 };
    let well = [worked.clone(), said("golangci-lint", true, "0 issues.")];
    let ill = [worked.clone(), said("golangci-lint", false, "5 issues:")];
    assert_eq!(told(&[(lint, &well)]), ["golangci-lint run true 0 issues"]);
    assert_eq!(told(&[(lint, &ill)]), ["golangci-lint run false "]);
    assert_eq!(
        told(&[(lint, &ill), (lint, &well)]),
        ["golangci-lint run true before 0 issues"]
    );
    assert_eq!(
        told(&[(lint, &OK)]),
        Vec::<String>::new(),
        "it said nothing"
    );
    let faults = |findings| {
        let line = LocatedItem::sample(ItemKind::Digest, 1, lint, findings);
        let runs = checks(&[line]).runs;
        runs.into_iter().find_map(|run| run.what.fault)
    };
    assert_eq!(faults(&ill[..]).as_deref(), Some("5 issues"));
}

#[test]
fn an_exit_code_of_its_own_says_more_than_its_word() {
    let lint = "Action: Bash(npx eslint . | cat; npx eslint shop) → 40 lines, 2 KB";
    let words = [
        Finding::Worked { key: 1 },
        said("eslint", false, "✖ 2 problems (2 errors, 0 warnings)"),
        said("eslint", true, "✖ 2 problems (0 errors, 2 warnings)"),
    ];
    let wants = ["npx eslint . false ", "npx eslint shop true "];
    let mut all = told(&[(lint, &words)]);
    all.sort();
    assert!(all.iter().any(|told| told == wants[1]), "{all:?}");
}

#[test]
fn words_of_more_runs_than_are_shown_say_nothing() {
    let cut = "Action: Bash(golangci-lint run ./a | tail -1; golangci-li…) → 2 lines, 90 bytes";
    let words = [
        Finding::Worked { key: 1 },
        said("golangci-lint", true, "0 issues."),
        said("golangci-lint", false, "3 issues:"),
    ];
    assert_eq!(told(&[(cut, &words)]), Vec::<String>::new());
    let task = "Action: Bash(mise run lint 2>&1 | head -50; git status) → 9 lines, 1 KB";
    let word = [Finding::Worked { key: 1 }, said("mise", true, "0 issues.")];
    assert_eq!(told(&[(task, &word)]), ["mise run lint true 0 issues"]);
}

#[test]
fn what_only_lists_is_judged_where_nothing_else_prints() {
    let list = "Action: Bash(go vet ./... && golangci-lint run | tail -2 && gofmt -l cart/)";
    let other = format!("{list} → 0 issues.");
    let all = told(&[(&other, &OK)]);
    assert!(!all.iter().any(|told| told.starts_with("gofmt")), "{all:?}");
    let silent = "Action: Bash(cd src && gofmt -l .) → ok, no output";
    assert_eq!(told(&[(silent, &OK)]), ["gofmt -l . true "]);
    let listed = "Action: Bash(cd src && gofmt -l .) → cart.go";
    assert_eq!(told(&[(listed, &OK)]), ["gofmt -l . false "]);
}
