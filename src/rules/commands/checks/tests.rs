//! Tests of the table of checks.

use super::*;

#[test]
fn samples_are_what_the_table_says() {
    let written: Written = table::rows(table::embedded!("commands/checks"));
    for (line, wants) in written.samples {
        let found = checks(&line).into_iter().map(|check| {
            let end = match check.end {
                CheckEnd::Own => "own",
                CheckEnd::First => "first",
                CheckEnd::Printed => "printed",
                CheckEnd::Output => "output",
            };
            (check.words.join(" "), end.to_owned())
        });
        assert_eq!(found.collect::<BTreeMap<_, _>>(), wants, "{line}");
    }
    let piped = |line: &str| printed_failure("npm run lint 2>&1 | tail -5", [line, ""]);
    written.ended.samples.hold(piped);
    let passed = |said: &str| printed_success("npm run build 2>&1 | tail -5", [said, ""]).is_some();
    written.well.samples.hold(passed);
    assert!(printed_success("npm run build", ["✓ built in 2s", ""]).is_none());
    let both = "npm run lint | tail -2; npm run build | tail -2";
    assert!(
        printed_success(both, ["✓ built in 2s", ""]).is_none(),
        "of the other one"
    );
    for cut in ["| head -8", "| tail -9 | head -3", "| tail -9 | grep built"] {
        let line = format!("npm run build 2>&1 {cut}");
        assert!(
            printed_success(&line, ["✓ built in 2s", ""]).is_none(),
            "{cut}"
        );
    }
    let built = ["Finished `dev` profile [unoptimized] target(s) in 1s\n", ""];
    assert!(printed_success("cargo check 2>&1 | tail -5", built).is_some());
    assert!(printed_success("cargo clippy 2>&1 | tail -5", built).is_none());
    for line in [
        "bun run lint 2>&1 | tail -10",
        "swift build --package-path shop 2>&1 | tail -10",
    ] {
        let output = "src/a.ts\n  1:1  error  no total\n\n✖ 5 problems (5 errors, 0 warnings)\n  4 errors and 0 warnings \
            potentially fixable with the `--fix` option.\n\nerror: script \"lint\" exited with code 1";
        assert!(
            printed_failure(line, [output, ""]),
            "{line}: {:?}",
            checks(line)
        );
    }
    let broken = ["", "2 problems\n✖ 2 problems (2 errors, 0 warnings)\n"];
    assert!(
        !printed_failure("npm run lint", broken),
        "the exit code tells"
    );
    assert!(
        !printed_failure("cat lint.log | tail -5", broken),
        "no check"
    );
}

#[test]
fn runs_of_all_tests_are_found_with_how_their_end_is_told() {
    let found = |line: &str| {
        let runs = whole_test_runs(line).into_iter();
        let told = runs.map(|run| (run.words.join(" "), run.end, names_tests(&run.words)));
        told.collect::<Vec<_>>()
    };
    let run = |line: &str, end, named| (line.to_owned(), end, named);
    use CheckEnd::{First, Own, Printed};
    assert_eq!(found("cd x && npm test"), [run("npm test", Own, true)]);
    assert_eq!(
        found("mise run check 2>&1 | tail -15"),
        [run("mise run check", Printed, false)]
    );
    assert_eq!(
        found("just test && git commit -m x"),
        [run("just test", First, true)]
    );
    assert_eq!(found("go test ./a; npm run lint; cat test.log"), []);
    assert_eq!(found("git stash && npm test"), []);
}

#[test]
fn an_output_says_whether_something_is_wrong() {
    assert_eq!(is_clean("0 issues."), Some(true));
    assert_eq!(is_clean("Found 2 errors in 1 file"), Some(false));
    assert_eq!(is_clean("14 lines, 1 KB"), None);
    assert!(only_lists(&[
        "gofmt".to_owned(),
        "-l".to_owned(),
        ".".to_owned()
    ]));
}
