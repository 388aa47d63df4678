//! Tests of which run says how the tests of a session ended.

use super::*;

fn run(passed: u64, failed: u64) -> Vec<Finding> {
    of("jest", passed, failed)
}

fn of(runner: &str, passed: u64, failed: u64) -> Vec<Finding> {
    vec![Finding::Tests(TestCounts {
        runner: runner.into(),
        passed,
        failed,
        ..TestCounts::default()
    })]
}

/// `Action: …` lines with what they came to, `Agent: …` lines and `User: …` lines.
fn runs(items: &[(&str, Vec<Finding>)]) -> Option<TestRuns> {
    let lines = items.iter().zip(1..).map(|((text, findings), n)| {
        let kind = match text.split_once(": ").expect("a label").0 {
            "Agent" => ItemKind::Agent,
            "User" => ItemKind::Prompt,
            _ => ItemKind::Digest,
        };
        LocatedItem::sample(kind, n, text, findings)
    });
    test_runs(&lines.collect::<Vec<_>>()).map(|runs| runs.what)
}

#[test]
fn a_run_of_a_few_is_never_told_as_one_of_all() {
    let go = |command: &str, passed, failed, runner: &str| {
        let text: &str = Box::leak(format!("Action: Bash({command}) → …").into_boxed_str());
        (text, of(runner, passed, failed))
    };
    let all = || go("go test ./...", 9, 0, "go test");
    let some = || go("go test ./a -run TestX -v", 3, 0, "go test -v");
    let found = runs(&[all(), some()]).expect("runs");
    assert_eq!((found.part, found.last.passed), (true, 3));
    assert_eq!(found.full.map(|full| full.passed), Some(9));
    let found = runs(&[some(), some()]).expect("runs");
    assert_eq!((found.part, found.full), (true, None));
    let found = runs(&[some(), all()]).expect("runs");
    assert_eq!((found.part, found.full), (false, None));
    // what a poll prints is of the command that runs
    let begun = ("Action: exec_command(go test ./a) → 6 lines", vec![]);
    let polled = ("Action: write_stdin(7) → …", of("go test", 1, 0));
    assert!(runs(&[begun.clone(), polled.clone()]).expect("a run").part);
    // that is the last one that goes on
    let other = (
        "Action: exec(just test) → running in the background",
        vec![],
    );
    let found = runs(&[all(), begun.clone(), other.clone(), polled]).expect("runs");
    assert!(!found.part);
    let script = "Action: exec(const r = await tools.write_stdin({session_id:7})) → …";
    let found = runs(&[begun, other, (script, of("go test", 1, 0))]).expect("a run");
    assert!(!found.part && !found.last.partial, "it counts tests");
}

#[test]
fn beside_a_run_of_a_few_stands_one_of_far_more() {
    let some = |path: &str, passed, failed| {
        let text: &str = Box::leak(format!("Action: Bash(bun test {path}) → …").into());
        (text, of("bun test", passed, failed))
    };
    let found = runs(&[some("src/", 90, 9), some("src/a.test.ts", 3, 0)]).expect("runs");
    let full = found.full.map(|full| (full.passed, full.failed));
    assert_eq!((full, found.full_is_part), (Some((90, 9)), true));
    let found = runs(&[some("src/b.test.ts", 4, 0), some("src/a.test.ts", 3, 0)]);
    assert_eq!(found.expect("runs").full, None);
    // a command that is cut says nothing of which tests it ran
    let cut = (
        "Action: Bash(bun x && bun run long…) → …",
        of("bun test", 3, 0),
    );
    let found = runs(&[some("src/", 90, 0), cut]).expect("runs");
    assert!(found.part && found.full_is_part);
}

#[test]
fn runs_of_some_tests_that_failed_are_known() {
    let some = || ("Action: Bash(npm test -- a.test.ts) → …", run(0, 1));
    let found = runs(&[some(), some(), (NPM, run(8, 1)), (NPM, run(9, 0))]).expect("runs");
    assert_eq!((found.failed, found.failed_in_part), (3, true));
    let found = runs(&[(NPM, run(8, 1)), (NPM, run(9, 0))]).expect("runs");
    assert_eq!((found.failed, found.failed_in_part), (1, false));
}

#[test]
fn words_at_the_end_that_say_that_tests_fail_stand_beside_a_run_that_passed() {
    let words = "Agent: Unit tests pass.\n3 integration tests are failing with `agent=0`.";
    let found = runs(&[(NPM, run(9, 0)), (words, vec![])]).expect("a run");
    assert_eq!(
        found.open.as_deref(),
        Some("3 integration tests are failing with `agent=0`.")
    );
    let later = ("Agent: All tests pass now.", vec![]);
    let found = runs(&[(NPM, run(9, 0)), (words, vec![]), later]).expect("a run");
    assert_eq!(found.open, None);
}

#[test]
fn a_packages_coverage_is_not_that_of_all() {
    let of_one = "Action: Bash(go test -cover ./internal/auth) → …";
    let of_all = "Action: Bash(go test -cover ./...) → …";
    let covered = |text| vec![(text, vec![Finding::Coverage(1300)]), (NPM, run(9, 0))];
    let coverage = |text| runs(&covered(text)).expect("a run").coverage;
    assert_eq!(coverage(of_one), None);
    assert_eq!(coverage(of_all), Some(1300));
}

/// Passed and failed of the run that counts as the last one.
fn last(items: &[(&str, Vec<Finding>)]) -> Option<(u64, u64)> {
    runs(items).map(|runs| (runs.last.passed, runs.last.failed))
}

const NPM: &str = "Action: Bash(npm test) → …";

#[test]
fn a_run_of_some_tests_stands_beside_the_last_run_of_all() {
    let full = |items: &[(&str, Vec<Finding>)]| runs(items)?.full.map(|full| full.passed);
    let all = [(NPM, run(90, 0)), (NPM, run(95, 0)), (NPM, run(3, 0))];
    assert_eq!(full(&all), Some(95));
    assert_eq!(full(&all[..2]), None, "the last one is of all");
    assert_eq!(full(&[(NPM, run(90, 0)), (NPM, of("pytest", 3, 0))]), None);
}

#[test]
fn a_run_on_code_that_was_put_aside_says_nothing() {
    let stash = ("Action: Bash(git stash -u) → saved", vec![]);
    let pop = ("Action: Bash(git stash pop) → ok", vec![]);
    let both = "Action: Bash(git stash -q && npm test; git stash pop) → …";
    let green = (NPM, run(9, 0));
    let items = [green.clone(), stash.clone(), (NPM, run(8, 1)), pop.clone()];
    assert_eq!(last(&items), Some((9, 0)));
    assert_eq!(last(&[green.clone(), (both, run(8, 1))]), Some((9, 0)));
    let back = "Action: Bash(git stash pop && npm test) → …";
    let items = [green.clone(), stash.clone(), (back, run(8, 1))];
    assert_eq!(last(&items), Some((8, 1)));
    assert_eq!(last(&[stash, (NPM, run(8, 1)), pop]), None);
    let list = ("Action: Bash(git stash list) → none", vec![]);
    assert_eq!(last(&[green, list, (NPM, run(8, 1))]), Some((8, 1)));
}

#[test]
fn what_is_meant_to_fail_or_only_shows_failures_says_nothing_beside_another_run() {
    let green = (NPM, run(9, 0));
    let red = ("Agent: The test is in. It should fail now:", vec![]);
    assert_eq!(last(&[green.clone(), red, (NPM, run(0, 1))]), Some((9, 0)));
    for filter in [
        "Action: Bash(go test ./... | grep -v ^ok) → …",
        "Action: Bash(npm test 2>&1 | grep -E 'FAIL|Error') → …",
        "Action: Bash(git add a && git commit -m x) → …",
    ] {
        assert_eq!(
            last(&[green.clone(), (filter, run(0, 1))]),
            Some((9, 0)),
            "{filter}"
        );
        assert_eq!(last(&[(filter, run(0, 1))]), Some((0, 1)), "{filter}");
    }
    for own in [
        "Action: Bash(go test ./... | grep -E '^(ok|FAIL)') → …",
        "Action: Bash(npm test && git commit -m x) → …",
        "Action: Bash(npm test 2>&1 | tail -5) → …",
    ] {
        assert_eq!(
            last(&[green.clone(), (own, run(0, 1))]),
            Some((0, 1)),
            "{own}"
        );
    }
    let others = ("Agent: That failure is pre-existing.", vec![]);
    assert_eq!(last(&[green, (NPM, run(8, 1)), others]), Some((9, 0)));
}

#[test]
fn words_that_say_that_all_pass_speak_against_an_older_failure() {
    let said = ("Agent: Fixed. All 9 tests pass.", vec![]);
    let found = runs(&[(NPM, run(8, 1)), said.clone()]).expect("words");
    assert_eq!((found.last.passed, found.last.failed), (0, 0));
    assert_eq!(found.said.as_deref(), Some("All 9 tests pass."));
    let found = runs(&[(NPM, run(9, 0)), (NPM, run(8, 1)), said.clone()]).expect("words");
    assert_eq!((found.last.passed, found.last.failed), (9, 0));
    let found = runs(&[said.clone(), (NPM, run(8, 1))]).expect("a run");
    assert_eq!((found.said, found.last.failed), (None, 1));
    assert_eq!(runs(&[said]).expect("words").runs, 0);
    assert_eq!(
        runs(&[("Agent: Let me make sure all tests pass.", vec![])]),
        None
    );
}

#[test]
fn what_is_polled_of_a_run_of_all_is_told_by_its_command() {
    let begun = (
        "Action: exec(env C=/t mise run test) → running in the background",
        vec![],
    );
    let polled = "Action: exec(const r = await tools.write_stdin({session_id: 1}); text(r)) → passed 1/1 packages";
    let mut counts = of("go test", 1, 0);
    if let Some(Finding::Tests(counts)) = counts.first_mut() {
        counts.packages = true;
    }
    let found = runs(&[begun, (polled, counts.clone())]).expect("a run");
    assert_eq!(found.command.as_deref(), Some("mise run test"));
    let some = (
        "Action: exec(go test ./a -run X) → running in the background",
        vec![],
    );
    let found = runs(&[some, (polled, counts)]).expect("a run");
    assert_eq!(found.command, None);
}

#[test]
fn what_the_agent_says_of_others_trouble_is_told() {
    let said = "Agent: All tests pass. The formatter's issues are in unrelated documents.";
    let found = runs(&[(NPM, run(9, 0)), (said, vec![])]).expect("a run");
    let wants = Some("The formatter's issues are in unrelated documents.");
    assert_eq!(found.excuse.as_deref(), wants);
    let found = runs(&[(said, vec![]), (NPM, run(9, 0))]).expect("a run");
    assert_eq!(found.excuse, None, "it ran since");
}

#[test]
fn the_last_coverage_counts_wherever_it_was_printed() {
    let report = (
        "Action: Bash(coverage report) → …",
        vec![Finding::Coverage(9125)],
    );
    let found = runs(&[(NPM, run(9, 0)), report]).expect("a run");
    assert_eq!(found.coverage, Some(9125));
}

#[test]
fn each_runner_is_told_with_its_own_last_run() {
    let vitest = "Action: Bash(pnpm --filter web test 2>&1 | tail -5) → …";
    let cargo = "Action: Bash(cargo test adds_up 2>&1 | tail -5) → …";
    let items = [
        (vitest, of("vitest", 230, 0)),
        (cargo, of("cargo test", 1, 0)),
        (cargo, of("cargo test", 1, 0)),
    ];
    let found = runs(&items).expect("runs");
    assert_eq!((found.last.runner.as_str(), found.runs), ("cargo test", 2));
    assert_eq!(found.part_command.as_deref(), Some("cargo test adds_up"));
    let others = |found: &TestRuns| {
        let told = found.others.iter();
        let told = told.map(|run| {
            (
                run.counts.runner.clone(),
                run.counts.passed,
                run.place.clone(),
            )
        });
        told.collect::<Vec<_>>()
    };
    assert_eq!(others(&found), [("vitest".to_owned(), 230, None)]);
    // go test counts tests or packages
    let go = |command, runner| (command, of(runner, 3, 0));
    let items = [
        go("Action: Bash(go test ./a -v) → …", "go test -v"),
        go("Action: Bash(go test ./...) → …", "go test"),
    ];
    assert_eq!(others(&runs(&items).expect("runs")), []);
    // parts of a project that commands name are not one
    let api = "Action: Bash(pnpm --filter api test) → …";
    let items = [(vitest, of("vitest", 30, 0)), (api, of("vitest", 7, 0))];
    let wants = [("vitest".to_owned(), 30, Some("web".to_owned()))];
    assert_eq!(others(&runs(&items).expect("runs")), wants);
    // one that failed may be mended
    let red = (vitest, of("vitest", 29, 1));
    let last = (cargo, of("cargo test", 1, 0));
    assert_eq!(
        others(&runs(&[red.clone(), last.clone()]).expect("runs")).len(),
        1
    );
    let said = ("Agent: All tests pass.", vec![]);
    let edit = vec![Finding::Changed {
        path: "/p/cart.ts".into(),
        added: 1,
        removed: 0,
    }];
    let edit = ("Action: Edit(cart.ts) → +1 −0", edit);
    for between in [said, edit] {
        let found = runs(&[red.clone(), between, last.clone()]).expect("runs");
        assert_eq!(others(&found), []);
    }
}

#[test]
fn a_runner_whose_last_run_failed_is_not_told_by_an_earlier_one_that_passed() {
    let green = || (NPM, run(9, 0));
    let cargo = ("Action: Bash(cargo test) → …", of("cargo test", 5, 0));
    let filtered = (
        "Action: Bash(npm test 2>&1 | grep -E 'FAIL|rror') → …",
        run(6, 3),
    );
    let others = |items: &[(&str, Vec<Finding>)]| runs(items).expect("runs").others.len();
    assert_eq!(others(&[green(), cargo.clone()]), 1);
    assert_eq!(others(&[green(), filtered.clone(), cargo.clone()]), 0);
    assert_eq!(others(&[green(), cargo.clone(), filtered.clone()]), 0);
    assert_eq!(others(&[filtered, green(), cargo.clone()]), 1);
    let excuse = ("Agent: That failure is pre-existing.", vec![]);
    assert_eq!(others(&[green(), (NPM, run(6, 3)), excuse, cargo]), 0);
}

#[test]
fn how_often_tests_ran_is_known_where_no_other_call_can_have() {
    let told = |more: &[(&str, Vec<Finding>)]| {
        let mut items = vec![(NPM, run(9, 0)), (NPM, run(9, 0))];
        items.extend(more.iter().cloned());
        let found = runs(&items).expect("runs");
        (found.runs, found.all_seen)
    };
    let worked = |text| (text, vec![Finding::Worked { key: 1 }]);
    for known in [
        "Action: Bash(npm run build) → 40 lines, 2 KB",
        "Action: Bash(cargo check) → ok, no output",
        "Action: Bash(git commit -m 'Test carts') → 3 lines, 90 bytes",
        "Action: Bash(npm test -- shop) → no tests ran",
    ] {
        assert_eq!(told(&[worked(known)]), (2, true), "{known}");
    }
    for unknown in [
        "Action: Bash(npm test | tail -1) → 1 line, 9 bytes",
        "Action: Bash(make check) → 40 lines, 2 KB",
        "Action: Bash(./ci.sh) → 40 lines, 2 KB",
        "Action: Bash(npm test) → running in the background",
        "Action: Task(Mend the cart) → done, 5 tool calls",
    ] {
        assert_eq!(told(&[worked(unknown)]), (2, false), "{unknown}");
    }
    let hooked = "Action: Bash(git commit -m x) → passed 9/9";
    let quiet = "Action: Bash(git commit -m y | tail -1) → 1 line, 9 bytes";
    assert_eq!(told(&[(hooked, run(9, 0))]), (3, true));
    assert_eq!(told(&[(hooked, run(9, 0)), worked(quiet)]), (3, false));
}

#[test]
fn what_a_command_prints_poll_by_poll_is_one_run() {
    let begun = (
        "Action: exec_command(go test ./...) → running in the background",
        vec![],
    );
    let packages = |passed, failed| {
        let mut found = of("go test", passed, failed);
        if let Finding::Tests(counts) = &mut found[0] {
            counts.packages = true;
        }
        ("Action: write_stdin(7) → …", found)
    };
    let found = runs(&[begun.clone(), packages(4, 0), packages(1, 1)]).expect("a run");
    assert_eq!((found.runs, found.all_seen), (1, false));
    assert_eq!(
        (found.last.passed, found.last.failed, found.last.partial),
        (5, 1, true)
    );
    let again = runs(&[begun.clone(), packages(4, 0), begun, packages(4, 0)]).expect("runs");
    assert_eq!((again.runs, again.last.passed), (2, 4));
}

#[test]
fn failures_that_were_there_before_say_so() {
    let red = || (NPM, run(70, 4));
    let aside = "Action: Bash(git stash && npm test -- shop; git stash pop) → failed 4/6";
    let said = "Agent: Confirmed, the test failures are pre-existing (a race on the shop's port).";
    let items = [red(), (aside, run(2, 4)), (said, vec![])];
    let found = runs(&items).expect("a run");
    assert_eq!((found.runs, found.last.passed), (1, 70));
    let before = found.aside.expect("a run of what was there before");
    assert_eq!((before.passed, before.failed), (2, 4));
    assert_eq!(found.excuse.as_deref(), Some(&said["Agent: ".len()..]));
    // an edit behind it takes nothing back
    let edit = vec![Finding::Changed {
        path: "/p/a.ts".into(),
        added: 1,
        removed: 0,
    }];
    let edited = [red(), (said, vec![]), ("Action: Edit(a.ts) → +1 −0", edit)];
    let found = runs(&edited).expect("a run");
    assert!(found.excuse.is_some() && found.changed_after);
    let other = "Agent: The 2 failing tests are unrelated, and so are the lint warnings.";
    let found = runs(&[red(), (other, vec![])]).expect("a run");
    assert_eq!(found.excuse, None);
    let some = ("Action: Bash(npm test -- a.test.ts) → …", run(3, 0));
    let found = runs(&[red(), (said, vec![]), some]).expect("runs");
    let full = found.full.map(|full| full.failed);
    assert_eq!((full, found.excuse.is_some()), (Some(4), true));
}

#[test]
fn a_larger_run_that_failed_is_not_told_where_a_later_one_passed() {
    let some = |path: &str, passed, failed| {
        let text: &str = Box::leak(format!("Action: Bash(bun test {path}) → …").into());
        (text, of("bun test", passed, failed))
    };
    let last = || some("src/a.test.ts", 3, 0);
    let red = || some("src/", 90, 9);
    let found = runs(&[red(), some("src/shop/", 60, 0), last()]).expect("runs");
    assert_eq!(found.full.map(|full| full.failed), Some(0));
    let two = || some("src/a.test.ts src/b.test.ts", 20, 0);
    let found = runs(&[red(), some("src/shop/", 50, 0), two()]).expect("runs");
    assert_eq!(found.full, None);
}
