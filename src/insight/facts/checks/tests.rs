//! Tests of what builds, linters and type checkers said.

use super::*;
use crate::insight::facts::ran::RUNNING;

mod failing;
mod hooked;
mod outputs;
mod own_words;

const OK: [Finding; 1] = [Finding::Worked { key: 1 }];
const FAILED: [Finding; 1] = [Finding::Failed { key: 1 }];

fn told(calls: &[(&str, &[Finding])]) -> Vec<String> {
    let lines = calls.iter().zip(1..).map(|((text, findings), line)| {
        LocatedItem::sample(ItemKind::Digest, line, text, findings)
    });
    let runs = checks(&lines.collect::<Vec<_>>()).runs.into_iter();
    let told = runs.map(|run| {
        let CheckRun {
            command,
            place: _,
            passed,
            said,
            fault: _,
            failed_before,
            changed_after,
            excuse: _,
            by_hook: _,
            by_agent,
            fixed_by,
        } = run.what;
        let marks = [
            (failed_before, " before"),
            (changed_after, " after"),
            (by_agent, " by agent"),
        ];
        let marks: String = marks
            .iter()
            .filter(|(is, _)| *is)
            .map(|(_, mark)| *mark)
            .collect();
        let fixer = fixed_by.map_or(String::new(), |fixer| format!(" after {fixer}"));
        format!(
            "{command} {passed}{marks} {}{fixer}",
            said.unwrap_or_default()
        )
    });
    told.collect()
}

#[test]
fn the_last_run_of_each_check_is_told() {
    let edit = [Finding::Changed {
        path: "/p/a.go".into(),
        added: 1,
        removed: 0,
    }];
    let lint = "Action: Bash(cd x && golangci-lint run 2>&1 | tail -3) → 0 issues.";
    let calls = [
        (
            "Action: Bash(tsc --noEmit) → exit 2: a.ts(3): error",
            &FAILED[..],
        ),
        ("Action: Edit(a.go) → +1 −0", &edit[..]),
        ("Action: Bash(tsc --noEmit) → ok, no output", &OK[..]),
        (
            "Action: Bash(go build ./... && go test ./... | tail -2) → passed 2/2 packages",
            &OK[..],
        ),
        (lint, &OK[..]),
    ];
    let wants = [
        "tsc --noEmit true before ",
        "go build ./... true ",
        "golangci-lint run true 0 issues",
    ];
    assert_eq!(told(&calls), wants);
    let later = [calls[3], calls[1]];
    assert_eq!(told(&later), ["go build ./... true after "]);
}

#[test]
fn a_paper_is_made_though_it_has_an_error() {
    let made = "Action: Bash(cd paper && pdflatex -interaction=nonstopmode shop.tex) → failed: Output written on shop.pdf (25 pages, 4275 bytes).";
    let wants = "pdflatex -interaction=nonstopmode shop.tex true Output written on shop.pdf (25 pages, 4275 bytes)";
    assert_eq!(told(&[(made, &FAILED)]), [wants]);
    let none = "Action: Bash(pdflatex shop.tex) → failed: Undefined control sequence.";
    assert_eq!(
        told(&[(made, &FAILED), (none, &FAILED)]),
        ["pdflatex shop.tex false "]
    );
}

#[test]
fn a_document_or_a_commit_whose_hook_ran_makes_no_check_old() {
    let edit = |path: &str| {
        [Finding::Changed {
            path: path.into(),
            added: 1,
            removed: 0,
        }]
    };
    let (code, text) = (edit("/p/a.ts"), edit("/p/CHANGES.md"));
    let lint = ("Action: Bash(npm run lint) → ok, no output", &OK[..]);
    let docs = ("Action: Bash(npm run lint:md) → ok, no output", &OK[..]);
    let later = ("Action: Edit(CHANGES.md) → +1 −0", &text[..]);
    assert_eq!(told(&[lint, later]), ["npm run lint true "]);
    assert_eq!(told(&[docs, later]), ["npm run lint:md true after "]);
    let committed = [
        Finding::Commit {
            hash: "1a2b3c4".into(),
            subject: "Add it".into(),
            again: false,
            size: None,
        },
        Finding::Tests(crate::model::finding::TestCounts {
            passed: 9,
            ..Default::default()
        }),
    ];
    let edited = ("Action: Edit(a.ts) → +1 −0", &code[..]);
    let hook = (
        "Action: Bash(git add -A && git commit -m x) → passed 9/9",
        &committed[..],
    );
    assert_eq!(told(&[lint, edited]), ["npm run lint true after "]);
    assert_eq!(told(&[lint, edited, hook]), ["npm run lint true "]);
    assert_eq!(
        told(&[lint, edited, hook, edited]),
        ["npm run lint true after "]
    );
}

#[test]
fn what_the_agent_says_of_a_check_counts_where_nobody_saw_its_end() {
    let ran = "Action: Bash(just check 2>&1 | tail -30) → 31 lines, 2 KB";
    let said = "Agent: All of it is in. `just check` (format, build) is green.";
    let of = |words: &str| {
        let ran = LocatedItem::sample(ItemKind::Digest, 1, ran, &OK);
        let said = LocatedItem::sample(ItemKind::Agent, 2, words, &[]);
        let runs = checks(&[ran, said]).runs.into_iter();
        let told = runs.map(|run| (run.what.command, run.what.passed, run.what.by_agent));
        told.collect::<Vec<_>>()
    };
    assert_eq!(of(said), [("just check".to_owned(), true, true)]);
    assert_eq!(of("Agent: `just check` should be green now."), []);
}

#[test]
fn a_check_of_another_place_is_another_check() {
    let run = |line, text| LocatedItem::sample(ItemKind::Digest, line, text, &OK);
    let web = run(
        1,
        "Action: Bash(cd /s/shop/apps/web && tsc --noEmit 2>&1 | head -50) → ok, no output",
    );
    let api = run(
        2,
        "Action: Bash(cd /s/shop/apps/api && tsc --noEmit 2>&1 | head -50) → 30 lines, 3.8 KB",
    );
    let told = |lines: &[LocatedItem<'_>]| {
        let runs = checks(lines).runs.into_iter().map(|run| run.what);
        let told = runs.map(|run| (run.place.unwrap_or_default(), run.passed));
        told.collect::<Vec<_>>()
    };
    let at = |place: &str, passed| (place.to_owned(), passed);
    assert_eq!(told(&[web, api, web]), [at("api", false), at("web", true)]);
    let failing = failing(&checks(&[web, api, web]).runs, &[web, api, web]);
    let failing = failing.map(|step| step.what);
    assert_eq!(
        failing.as_deref(),
        Some("Failed when it ran last: tsc --noEmit in api")
    );
    // the shell is still there, and one folder has several names
    let here = run(3, "Action: Bash(tsc --noEmit) → ok, no output");
    assert_eq!(told(&[api, here]), [at("", true)]);
    let named = run(3, "Action: Bash(cd apps/api; tsc --noEmit) → ok, no output");
    assert_eq!(told(&[api, named]), [at("", true)]);
    let part = run(
        1,
        "Action: Bash(pnpm --filter @shop/web lint) → ok, no output",
    );
    let other = run(
        2,
        "Action: Bash(pnpm --filter @shop/api lint) → failed: 2 problems",
    );
    assert_eq!(told(&[part, other]).len(), 2);
}

#[test]
fn what_was_tested_since_was_built() {
    let built = "Action: Bash(go build ./cart) → exit 1: undefined: total";
    let passed = |runner: &str| {
        [Finding::Tests(crate::model::finding::TestCounts {
            runner: runner.into(),
            passed: 3,
            ..Default::default()
        })]
    };
    let (go, other) = (passed("go test"), passed("jest"));
    let tests = |findings| ("Action: Bash(run the tests) → passed 3/3", findings);
    assert_eq!(
        told(&[(built, &OK[..]), tests(&go[..])]),
        Vec::<String>::new()
    );
    assert_eq!(
        told(&[(built, &OK[..]), tests(&other[..])]),
        ["go build ./cart false "]
    );
}

#[test]
fn what_sets_where_a_check_runs_makes_no_other_check() {
    let plain = ("Action: exec(mise run vet) → ok, no output", &OK[..]);
    let cached = "Action: exec(env CACHE=/t/c mise run vet; env CACHE=/t/c mise run build) → 7 lines, 338 bytes";
    assert_eq!(told(&[plain, (cached, &OK[..])]), ["mise run build true "]);
    let said = LocatedItem::sample(
        ItemKind::Agent,
        3,
        "Agent: Done.\n\nValidation passed:\n\n- `mise run vet`\n- `mise run build`",
        &[],
    );
    let ran = LocatedItem::sample(ItemKind::Digest, 2, cached, &OK);
    let all = checks(&[ran, said]).runs.into_iter();
    let all: Vec<String> = all.map(|run| run.what.command).collect();
    assert_eq!(all, ["mise run vet", "mise run build"]);
}

#[test]
fn what_another_agent_checked_is_told_in_the_agents_words() {
    let edit = [Finding::Changed {
        path: "/p/a.rs".into(),
        added: 1,
        removed: 0,
    }];
    let edited = LocatedItem::sample(ItemKind::Digest, 1, "Action: Edit(a.rs) → +1 −0", &edit);
    let ran = LocatedItem::sample(ItemKind::Digest, 2, "Action: Task(check it) → done", &[]);
    let words = "Agent: All CI checks pass (lint, types). Now I commit it.";
    let said = LocatedItem::sample(ItemKind::Agent, 3, words, &[]);
    let told = |lines: &[LocatedItem<'_>]| {
        let runs = checks(lines).runs.into_iter();
        let told = runs.map(|run| (run.what.said.unwrap_or_default(), run.what.changed_after));
        told.collect::<Vec<_>>()
    };
    let wants = "All CI checks pass (lint, types).".to_owned();
    assert_eq!(told(&[edited, ran, said]), [(wants.clone(), false)]);
    assert_eq!(told(&[edited, ran, said, edited]), [(wants, true)]);
    assert_eq!(told(&[ran, said]), [], "nothing was changed");
}

#[test]
fn what_nobody_saw_the_end_of_is_not_told() {
    for text in [
        "Action: Bash(npm run lint | tail -30) → 31 lines, 2 KB",
        "Action: Bash(npm run lint | grep -c error) → 0",
        "Action: Bash(gofmt -l . && go test ./...) → passed 2/2 packages",
    ] {
        assert_eq!(told(&[(text, &OK[..])]), Vec::<String>::new(), "{text}");
    }
    let absent = "Action: Bash(npm run lint) → exit 1: npm error Missing script: \"lint\"";
    assert_eq!(told(&[(absent, &FAILED[..])]), Vec::<String>::new());
    let listed = "Action: Bash(gofmt -l .) → a.go";
    assert_eq!(told(&[(listed, &OK[..])]), ["gofmt -l . false "]);
}

#[test]
fn checks_that_ran_elsewhere_are_told() {
    let watch = "Action: Bash(gh pr checks 7 --watch)";
    let ends = |end: &str, findings| told(&[(&format!("{watch} → {end}"), findings)]);
    assert_eq!(
        ends("9 lines, 900 bytes", &OK[..]),
        ["gh pr checks 7 --watch true "]
    );
    assert_eq!(
        ends("exit 1: lint fail 2s", &FAILED[..]),
        ["gh pr checks 7 --watch false "]
    );
    assert_eq!(
        ends("exit 1: no checks reported", &FAILED[..]),
        Vec::<String>::new()
    );
    let plain = "Action: Bash(gh run watch 7) → 40 lines, 2 KB";
    assert_eq!(
        told(&[(plain, &OK[..])]),
        Vec::<String>::new(),
        "it ends with 0 in any case"
    );
    let begun = format!("{watch} {RUNNING}");
    let begun = LocatedItem::sample(ItemKind::Digest, 1, &begun, &[]);
    let said = |words| LocatedItem::sample(ItemKind::Agent, 2, words, &[]);
    let passed = |words| checks(&[begun, said(words)]).runs.len();
    assert_eq!(passed("Agent: CI is green on the new run."), 1);
    assert_eq!(
        passed("Agent: The lint job is green; tests are still running."),
        0
    );
}

#[test]
fn a_check_of_a_program_that_nobody_knows_is_one() {
    let edit = [Finding::Changed {
        path: "/p/a.rs".into(),
        added: 1,
        removed: 0,
    }];
    let edited = LocatedItem::sample(ItemKind::Digest, 1, "Action: Edit(a.rs) → +1 −0", &edit);
    let said = LocatedItem::sample(ItemKind::Agent, 2, "Agent: All checks pass.", &[]);
    let failed = "Action: Bash(shop order check --stage=end) → exit 1: the cart is open";
    let failed = LocatedItem::sample(ItemKind::Digest, 3, failed, &FAILED);
    let lines = [edited, said, failed];
    let all = checks(&lines).runs;
    let told: Vec<_> = all
        .iter()
        .map(|run| (run.what.command.as_str(), run.what.passed))
        .collect();
    assert_eq!(told, [("shop order check --stage=end", false)]);
    let left = failing(&all, &lines).map(|step| step.what);
    let wants = "Failed when it ran last: shop order check --stage=end";
    assert_eq!(left.as_deref(), Some(wants));
}

#[test]
fn what_a_check_complained_of_is_told_with_it() {
    let edit = [Finding::Changed {
        path: "/p/a.rs".into(),
        added: 1,
        removed: 0,
    }];
    let calls = [
        (
            "Action: Bash(cargo check) → exit 101: error[E0599]: no method named `total` found",
            &FAILED[..],
        ),
        ("Action: Edit(a.rs) → +1 −0", &edit),
        ("Action: Bash(cargo check) → 2 lines, 90 bytes", &OK),
        (
            "Action: Bash(npm run lint | tail -3) → complained: a.ts:7 is unused",
            &FAILED,
        ),
    ];
    let lines = calls.iter().zip(1..).map(|((text, findings), line)| {
        LocatedItem::sample(ItemKind::Digest, line, text, findings)
    });
    let runs = checks(&lines.collect::<Vec<_>>()).runs.into_iter();
    let told: Vec<_> = runs
        .map(|run| (run.what.command, run.what.passed, run.what.fault))
        .collect();
    let fault = "error[E0599]: no method named `total` found".to_owned();
    let wants = [
        ("cargo check".to_owned(), true, Some(fault)),
        (
            "npm run lint".to_owned(),
            false,
            Some("a.ts:7 is unused".to_owned()),
        ),
    ];
    assert_eq!(told, wants);
}

#[test]
fn a_check_that_another_one_covers_is_not_stale() {
    let edit = [Finding::Changed {
        path: "/p/a.rs".into(),
        added: 1,
        removed: 0,
    }];
    let calls = [
        ("Action: Bash(cargo check) → ok, no output", &OK[..]),
        ("Action: Edit(a.rs) → +1 −0", &edit),
        (
            "Action: Bash(cargo clippy --all-targets) → ok, no output",
            &OK,
        ),
    ];
    assert_eq!(
        told(&calls),
        ["cargo check true ", "cargo clippy --all-targets true "]
    );
}

#[test]
fn a_check_of_less_is_no_better_run_of_the_same() {
    let calls = |second| {
        told(&[
            (
                "Action: Bash(dart analyze lib/shop/) → exit 1: 6 issues found",
                &FAILED[..],
            ),
            (second, &OK),
        ])
    };
    let part = "Action: Bash(dart analyze lib/shop/cart/) → No issues found!";
    assert_eq!(
        calls(part),
        ["dart analyze lib/shop/cart/ true No issues found!"]
    );
    let same = "Action: Bash(dart analyze lib/shop/) → No issues found!";
    assert_eq!(
        calls(same),
        ["dart analyze lib/shop/ true before No issues found!"]
    );
}

#[test]
fn what_mends_is_no_check_and_is_told_with_the_check_that_it_mended() {
    let lint = "Action: Bash(bun run lint) → exit 1: src/cart.ts format";
    let fix = ("Action: Bash(bun run lint:fix) → Fixed 1 file.", &OK[..]);
    let again = ("Action: Bash(bun run lint) → ok, no output", &OK[..]);
    let calls = [(lint, &FAILED[..]), fix, again];
    assert_eq!(
        told(&calls),
        ["bun run lint true before  after bun run lint:fix"]
    );
    assert_eq!(told(&[fix]), [""; 0]);
    // a formatter mends no types
    let types = (
        "Action: Bash(npx tsc --noEmit) → exit 2: no total",
        &FAILED[..],
    );
    let right = ("Action: Bash(npx tsc --noEmit) → ok, no output", &OK[..]);
    let format = (
        "Action: Bash(npx prettier --write src) → 3 lines, 99 bytes",
        &OK[..],
    );
    assert_eq!(
        told(&[types, format, right]),
        ["npx tsc --noEmit true before "]
    );
}

#[test]
fn the_line_behind_a_filter_that_says_that_a_check_passed_is_told() {
    let line = "Action: Bash(cargo check 2>&1 | tail -5) → 5 lines, 310 bytes: Finished `dev` profile [unoptimized] target(s) in 1s";
    let told = told(&[(line, &OK[..])]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("cargo check true"), "{told:?}");
}

#[test]
fn a_build_for_another_platform_is_another_one() {
    let here = (
        "Action: Bash(go build ./...) → exit 1: no total",
        &FAILED[..],
    );
    let there = (
        "Action: Bash(GOOS=windows GOARCH=amd64 go test -c ./a) → ok, no output",
        &OK[..],
    );
    let wants = ["GOOS=windows GOARCH=amd64 go test -c ./a true "];
    assert_eq!(told(&[there]), wants);
    let built = (
        "Action: Bash(GOOS=windows go build ./...) → ok, no output",
        &OK[..],
    );
    assert_eq!(told(&[there, built]).len(), 2);
    let both = (
        "Action: Bash(GOOS=linux go build ./...; GOOS=darwin go vet ./...) → ok, no output",
        &OK[..],
    );
    assert_eq!(
        told(&[both]),
        [
            "GOOS=linux go build ./... true ",
            "GOOS=darwin go vet ./... true "
        ]
    );
    let cached = (
        "Action: Bash(GOCACHE=$(pwd)/.c GOOS=linux go build ./...) → ok, no output",
        &OK[..],
    );
    assert_eq!(told(&[cached]), ["GOOS=linux go build ./... true "]);
    assert!(told(&[here]).len() == 1);
}

#[test]
fn a_check_whose_program_is_not_there_is_left() {
    let edit = [Finding::Changed {
        path: "/p/compose.yml".into(),
        added: 1,
        removed: 0,
    }];
    let call = |text, findings| LocatedItem::sample(ItemKind::Digest, 1, text, findings);
    let edit = call("Action: Edit(compose.yml) → +1 −0", &edit[..]);
    let absent = call(
        "Action: Bash(cd infra && docker compose config -q) → exit 1: The command 'docker' could not be found in this system",
        &FAILED[..],
    );
    let works = call(
        "Action: Bash(docker compose config -q) → ok, no output",
        &OK[..],
    );
    let told = |lines: &[LocatedItem<'_>]| checks(lines).not_there.map(|step| step.what);
    let wants = "Not checked, as the program isn't there: docker compose config -q";
    assert_eq!(told(&[edit, absent]).as_deref(), Some(wants));
    assert_eq!(told(&[absent]), None, "nothing was changed");
    assert_eq!(told(&[edit, absent, works]), None);
    // another linter looked at the same
    let lint = call("Action: Bash(shop-lint) → ok", &OK[..]);
    let none = call(
        "Action: Bash(golangci-lint run) → exit 127: golangci-lint: command not found",
        &FAILED[..],
    );
    let vet = call("Action: Bash(go vet ./...) → ok, no output", &OK[..]);
    assert!(told(&[edit, none, lint]).is_some());
    assert_eq!(told(&[edit, none, vet]), None);
    assert_eq!(told(&[edit, vet, none]), None);
    let fetched = call(
        "Action: Bash(go run shop.example/cmd/golangci-lint@latest run) → ok",
        &OK[..],
    );
    assert_eq!(told(&[edit, none, fetched]), None);
}

#[test]
fn a_build_says_nothing_of_a_linter_that_its_runner_ran() {
    let red = "Action: Bash(bun run lint) → exit 1: src/cart.ts format";
    let green = "Action: Bash(bun run build) → ok, no output";
    let calls = [(red, &FAILED[..]), (green, &OK[..])];
    let lines = calls.iter().zip(1..).map(|((text, findings), line)| {
        LocatedItem::sample(ItemKind::Digest, line, text, findings)
    });
    let lines: Vec<LocatedItem<'_>> = lines.collect();
    let step = failing(&checks(&lines).runs, &lines).map(|step| step.what);
    assert_eq!(
        step.as_deref(),
        Some("Failed when it ran last: bun run lint")
    );
}

#[test]
fn a_build_into_a_folder_that_nobody_keeps_is_a_check() {
    let built = "Action: Bash(GOOS=windows go test -c ./a -o /tmp/a.test) → ok, no output";
    assert_eq!(
        told(&[(built, &OK[..])]),
        ["GOOS=windows go test -c ./a true "]
    );
}
