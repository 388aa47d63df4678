//! How test runners report, as a table (`test_runners.yaml`): output in, numbers out.

mod causes;
mod durations;

use super::literals::LiteralFinder;
use super::table::{self, TextPattern};
use super::terminal::plain;
use durations::seconds;
use regex::{Captures, Regex};
use rustc_hash::FxHashSet;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What a test runner printed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestOutput {
    /// Its numbers, summed over its summaries; absent where no runner is recognised.
    pub run: Option<TestRun>,
    /// How much of the code tests reached, in hundredths of a per cent; absent where nothing says it.
    pub coverage: Option<u32>,
}

/// What an output says of tests, of a text that is already cut: its start and its end (empty when nothing
/// is missing).
///
/// Costs one scan for literals where nothing is recognised (about 1 µs per 4 KB), tens of
/// microseconds where something is. Where the middle of a long output is missing, the totals of
/// runners that print one summary per package are lower bounds, and `whole` is false.
pub fn test_output(parts: [&str; 2], whole: bool) -> TestOutput {
    // colours stand between words
    let parts = parts.map(plain);
    let (mut runners, mut coverage) = (0u64, 0u64);
    for part in &parts {
        TABLE.finder.any(part, |hit| {
            let (of_runners, of_coverage) = TABLE.rows_of[hit.literal];
            runners |= of_runners;
            coverage |= of_coverage;
            false
        });
    }
    if runners | coverage == 0 {
        return TestOutput::default();
    }
    let parts = parts.map(unprefixed);
    let rows = TABLE.runners.iter().enumerate();
    let run = rows
        .filter(|(i, row)| runners & (1 << i) != 0 && (whole || !row.needs_whole))
        .find_map(|(_, row)| row.read(&parts, whole));
    let run = run.and_then(|run| run.explained(&parts));
    let rows = TABLE.coverage.iter().enumerate();
    let coverage = rows
        .filter(|(i, _)| coverage & (1 << i) != 0)
        .find_map(|(_, row)| row.read(&parts));
    TestOutput { run, coverage }
}

/// Without the names that runners of many packages put before each line.
fn unprefixed(text: Cow<'_, str>) -> Cow<'_, str> {
    static PREFIX: LazyLock<TextPattern> = LazyLock::new(|| {
        r"^(?:@?[\w./-]+(?::[\w-]*test[\w:-]*| test): ?|[\w.-]+[-_]\d+ +\| |\[[a-z0-9][\w:./-]*\] )"
            .to_owned()
            .into()
    });
    let has_names = ["test: ", "test:  ", "-1  | ", "_1  | "];
    // `[INFO] Tests run: 3` is Maven's own line
    let is_task = |line: &str| {
        let mut bytes = line.bytes();
        let begins = bytes.next() == Some(b'[');
        begins
            && bytes
                .next()
                .is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    if !has_names.iter().any(|mark| text.contains(mark)) && !text.lines().any(is_task) {
        return text;
    }
    Cow::Owned(PREFIX.regex().replace_all(&text, "").into_owned())
}

/// Whether a command line holds nothing that could run tests: it only shows or moves what is there.
/// Judged by the first words of its parts; in doubt `false`. About 100 ns.
pub fn is_idle(command: &str) -> bool {
    let plain = match command.contains("go test") {
        true => Cow::Owned(command.replace("2>&1", "").replace(['\'', '"'], "")),
        false => Cow::Borrowed(command),
    };
    let parts = plain.split(['\n', ';', '&']).map(str::trim);
    let mut parts = parts.filter(|part| !part.is_empty());
    // the first part says no of most, before the whole is searched
    parts.all(idle_part) && !command.contains("xargs") && !command.contains("$(")
}

fn idle_part(part: &str) -> bool {
    let part = part.strip_prefix("do ").unwrap_or(part);
    if part.contains("go test") {
        return TABLE.probes.iter().any(|probe| part.contains(probe));
    }
    let mut words = part.split_ascii_whitespace();
    let first = words.next().unwrap_or("");
    if first != "git" {
        return TABLE.idle.contains(first);
    }
    let second = words.next().unwrap_or("");
    TABLE
        .idle
        .iter()
        .any(|known| known.strip_prefix("git ") == Some(second))
}

/// The numbers of one or more runs of one test runner.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestRun {
    /// The runner's name in the table: `pytest`, `cargo test`, …
    pub runner: &'static str,
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed, errored or timed out.
    pub failed: u64,
    /// Tests that were skipped, ignored, pending or expected to fail.
    pub skipped: u64,
    /// Tests that ran: `passed + failed`.
    pub total: u64,
    /// As the runner states it, summed over runs; absent where it doesn't.
    pub seconds: Option<f64>,
    /// Names of failed tests in order of appearance, without repetitions, at most 50.
    pub failures: Vec<String>,
    /// What the output says of each failure, where that is no word on the code.
    pub cause: Option<&'static str>,
    /// The counts are packages, not tests (`go test` without `-v`).
    pub packages: bool,
    /// Nothing that the runner printed is missing from the numbers.
    pub whole: bool,
}

/// Two runners may be of the same tests.
pub fn is_kin(one: &str, other: &str) -> bool {
    let mut kin = TABLE.kin.iter();
    let has = |kin: &[String], name: &str| kin.iter().any(|known| known == name);
    one == other || kin.any(|kin| has(kin, one) && has(kin, other))
}

/// More: longer lists in reports; fewer: the rest of a broken suite is only a number.
const NAMES_MAX: usize = 50;

static TABLE: LazyLock<Table> =
    LazyLock::new(|| Table::load(table::rows(table::embedded!("test_runners"))));

struct Table {
    idle: FxHashSet<String>,
    probes: Vec<String>,
    kin: Vec<Vec<String>>,
    unrun: Vec<TextPattern>,
    causes: Vec<String>,
    runners: Vec<Row>,
    coverage: Vec<CoverageRow>,
    finder: LiteralFinder,
    /// By literal, a bit for each row of runners and of coverage that it makes a candidate.
    rows_of: Vec<(u64, u64)>,
}

#[derive(Deserialize)]
struct Written {
    idle: Vec<Vec<String>>,
    probes: Vec<String>,
    kin: Vec<Vec<String>>,
    unrun: Vec<TextPattern>,
    causes: Vec<String>,
    runners: Vec<Row>,
    coverage: Vec<CoverageRow>,
}

#[derive(Deserialize)]
struct CoverageRow {
    #[cfg(test)]
    what: String,
    find: Vec<String>,
    pattern: TextPattern,
    #[serde(default)]
    last: bool,
    #[serde(default)]
    alone: bool,
    #[cfg(test)]
    samples: Vec<tests::CoverageSample>,
}

impl CoverageRow {
    fn read(&self, parts: &[Cow<'_, str>; 2]) -> Option<u32> {
        let found = parts.iter().flat_map(|part| {
            let found = self.pattern.regex().captures_iter(part);
            found.filter_map(|found| found["percent"].parse::<f64>().ok())
        });
        let found: Vec<f64> = found.filter(|percent| *percent <= 100.0).collect();
        let percent = match (self.alone, self.last) {
            (true, _) if found.len() > 1 => return None,
            (_, true) => found.last(),
            (_, false) => found.first(),
        }?;
        Some((percent * 100.0).round() as u32)
    }
}

#[derive(Deserialize)]
struct Row {
    runner: String,
    /// Any of these in the output makes the row a candidate.
    find: Vec<String>,
    /// Must match; each match adds its named groups.
    key: Vec<TextPattern>,
    /// Read where the key matched.
    #[serde(default)]
    more: Vec<TextPattern>,
    /// Names of failed tests: group `name`; read when something failed.
    #[serde(default)]
    names: Vec<TextPattern>,
    #[serde(default)]
    packages: bool,
    #[serde(default)]
    needs_whole: bool,
    #[serde(default)]
    last: bool,
    /// Its numbers are the sum of several lines.
    #[serde(default)]
    sums: bool,
    #[cfg(test)]
    samples: Vec<tests::Sample>,
}

impl Table {
    fn load(written: Written) -> Table {
        let mut rows: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for (i, row) in written.runners.iter().enumerate() {
            for literal in &row.find {
                rows.entry(literal).or_default().0 |= 1 << i;
            }
        }
        for (i, row) in written.coverage.iter().enumerate() {
            for literal in &row.find {
                rows.entry(literal).or_default().1 |= 1 << i;
            }
        }
        Table {
            finder: LiteralFinder::of(rows.keys().map(|literal| (*literal).to_owned()).collect()),
            rows_of: rows.into_values().collect(),
            idle: written.idle.into_iter().flatten().collect(),
            probes: written.probes,
            kin: written.kin,
            unrun: written.unrun,
            causes: written.causes,
            runners: written.runners,
            coverage: written.coverage,
        }
    }
}

impl Row {
    fn read(&'static self, parts: &[Cow<'_, str>; 2], whole: bool) -> Option<TestRun> {
        let mut sum = Sum::default();
        let mut hits = 0;
        // of several runs, each package counts once
        let mut packages: BTreeMap<&str, bool> = BTreeMap::new();
        for (pattern, part) in each(&self.key, parts) {
            for found in pattern.regex().captures_iter(part) {
                if self.last {
                    sum = Sum::default();
                }
                sum.add(&found);
                hits += 1;
                if let Some(package) = found.name("package") {
                    let failed = packages.entry(package.as_str()).or_default();
                    *failed |= found.name("one_failed").is_some();
                }
            }
        }
        if hits == 0 {
            return None;
        }
        for (pattern, part) in each(&self.more, parts) {
            for found in pattern.regex().captures_iter(part) {
                sum.add(&found);
            }
        }
        if !packages.is_empty() {
            let failed = packages.values().filter(|failed| **failed).count();
            sum.counts[PASSED] = Some((packages.len() - failed) as u64);
            sum.counts[FAILED] = Some(failed as u64);
        }
        let mut run = sum.into_run();
        run.runner = &self.runner;
        run.packages = self.packages;
        run.whole = whole || !self.sums;
        if run.failed > 0 {
            run.failures = self.failures(parts);
        }
        Some(run)
    }

    fn failures(&self, parts: &[Cow<'_, str>; 2]) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (pattern, part) in each(&self.names, parts) {
            for found in pattern.regex().captures_iter(part) {
                let name = found.name("name").map_or("", |m| m.as_str().trim());
                if names.len() == NAMES_MAX {
                    return names;
                }
                if !name.is_empty() && names.iter().all(|n| n != name) {
                    names.push(name.to_owned());
                }
            }
        }
        names
    }
}

fn each<'a>(
    patterns: &'a [TextPattern],
    parts: &'a [Cow<'_, str>; 2],
) -> impl Iterator<Item = (&'a TextPattern, &'a str)> {
    patterns
        .iter()
        .flat_map(|p| parts.iter().map(move |part| (p, part.as_ref())))
        .filter(|(_, part)| !part.is_empty())
}

/// Counts as they are found; which of them a runner states differs.
#[derive(Default)]
struct Sum {
    counts: [Option<u64>; 5],
    seconds: Option<f64>,
}

const PASSED: usize = 0;
const FAILED: usize = 1;
const SKIPPED: usize = 2;
const TOTAL: usize = 3;
const BROKEN: usize = 4;

/// Named groups that hold a number, and those whose presence counts one.
const NUMBERS: [(&str, usize); 6] = [
    ("passed", PASSED),
    ("failed", FAILED),
    ("errors", FAILED),
    ("skipped", SKIPPED),
    ("total", TOTAL),
    ("broken", BROKEN),
];
const ONES: [(&str, usize); 3] = [
    ("one_passed", PASSED),
    ("one_failed", FAILED),
    ("one_skipped", SKIPPED),
];

/// Words after a number in a `counts` group; others (`3 warnings`) count nothing.
const WORDS: [(&str, usize); 20] = [
    ("passed", PASSED),
    ("pass", PASSED),
    ("passing", PASSED),
    ("xpassed", PASSED),
    ("flaky", PASSED),
    ("failed", FAILED),
    ("fail", FAILED),
    ("failing", FAILED),
    ("failure", FAILED),
    ("failures", FAILED),
    ("error", FAILED),
    ("errors", FAILED),
    ("timed", FAILED),
    ("skipped", SKIPPED),
    ("ignored", SKIPPED),
    ("pending", SKIPPED),
    ("todo", SKIPPED),
    ("xfailed", SKIPPED),
    ("disabled", SKIPPED),
    ("total", TOTAL),
];

impl Sum {
    fn add(&mut self, found: &Captures<'_>) {
        for (group, slot) in NUMBERS {
            if let Some(n) = found.name(group).and_then(|m| m.as_str().parse().ok()) {
                self.raise(slot, n);
            }
        }
        for (group, slot) in ONES {
            if found.name(group).is_some() {
                self.raise(slot, 1);
            }
        }
        if let Some(counts) = found.name("counts") {
            self.add_counts(counts.as_str());
        }
        if let Some(time) = found.name("time").and_then(|m| seconds(m.as_str())) {
            *self.seconds.get_or_insert(0.0) += time;
        }
        if let Some(ms) = found
            .name("ms")
            .and_then(|m| m.as_str().parse::<f64>().ok())
        {
            *self.seconds.get_or_insert(0.0) += ms / 1000.0;
        }
    }

    fn add_counts(&mut self, counts: &str) {
        static COUNT: LazyLock<Regex> = LazyLock::new(|| table::regex(r"(\d+) ([a-z]+)"));
        for found in COUNT.captures_iter(counts) {
            let slot = WORDS.iter().find(|(word, _)| *word == &found[2]);
            if let (Some((_, slot)), Ok(n)) = (slot, found[1].parse()) {
                self.raise(*slot, n);
            }
        }
    }

    fn raise(&mut self, slot: usize, by: u64) {
        let slot = &mut self.counts[slot];
        *slot = Some(slot.unwrap_or(0).saturating_add(by));
    }

    fn into_run(self) -> TestRun {
        let [passed, failed, skipped, total, broken] = self.counts.map(|n| n.unwrap_or(0));
        let rest = total.saturating_sub(failed);
        let passed = match self.counts[PASSED] {
            Some(_) => passed,
            None => rest.saturating_sub(skipped),
        };
        let failed = if failed > 0 { failed } else { broken };
        TestRun {
            passed,
            failed,
            skipped,
            total: passed.saturating_add(failed),
            seconds: self.seconds,
            ..TestRun::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::entry::Excerpt;

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    pub(super) struct Sample {
        pub given: String,
        /// `passed/failed/skipped` and, where stated, ` in SECONDS`, then `: name, name`.
        pub wants: String,
    }

    fn told(run: Option<TestRun>) -> String {
        let Some(run) = run else {
            return "none".into();
        };
        let mut text = format!(
            "{}: {}/{}/{}",
            run.runner, run.passed, run.failed, run.skipped
        );
        if let Some(seconds) = run.seconds {
            text += &format!(" in {:.3}", seconds);
        }
        if !run.failures.is_empty() {
            text += &format!(": {}", run.failures.join(", "));
        }
        if let Some(cause) = run.cause {
            text += &format!("; {cause}");
        }
        text
    }

    #[test]
    fn each_runner_reads_its_own_samples_and_no_other_does() {
        assert!(TABLE.runners.len() <= 64, "candidates are bits of a u64");
        for row in &TABLE.runners {
            assert!(!row.samples.is_empty(), "{} has no sample", row.runner);
            for sample in &row.samples {
                let got = told(test_run(&Excerpt::of(&sample.given)));
                let wants = match sample.wants.as_str() {
                    "none" => "none".to_owned(),
                    wants => format!("{}: {wants}", row.runner),
                };
                assert_eq!(got, wants, "{}\n{}", row.runner, sample.given);
            }
        }
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    pub(super) struct CoverageSample {
        pub given: String,
        /// Hundredths of a per cent.
        pub wants: Option<u32>,
    }

    #[test]
    fn coverage_is_read_where_the_whole_is_printed() {
        for row in &TABLE.coverage {
            assert!(!row.samples.is_empty(), "{} has no sample", row.what);
            for sample in &row.samples {
                let got = test_output([&sample.given, ""], true).coverage;
                assert_eq!(got, sample.wants, "{}\n{}", row.what, sample.given);
            }
        }
    }

    /// Of the whole output.
    fn test_run(output: &Excerpt) -> Option<TestRun> {
        test_output([&output.head, &output.tail], output.is_whole()).run
    }

    #[test]
    fn idle_lines_hold_no_tests_and_in_doubt_they_are_not_idle() {
        for idle in [
            "git diff --stat",
            "cd a && ls -la | head",
            "sed -n 1,9p x; rg 'a|b' src",
            "cd a && GOOS=js go test -run '^$' ./... 2>&1 | tail",
            "for os in js plan9; do echo $os; GOOS=$os go test -run '^$' ./cart; done",
        ] {
            assert!(is_idle(idle), "{idle}");
        }
        for other in [
            "git commit -m x",
            "cd a && pytest",
            "for dir in a b; do cd $dir; npm test; done",
            "go test -run '^$' ./... && go test ./...",
            "go test -run TestCart ./...",
            "ls | xargs pytest",
            "echo $(make test)",
            "tail run.log",
            "git",
        ] {
            assert!(!is_idle(other), "{other}");
        }
    }

    #[test]
    fn a_cut_output_says_that_its_sums_are_lower_bounds() {
        let line = "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s\n";
        let run = test_run(&Excerpt::of(line.repeat(400))).expect("a run");
        assert!(!run.whole && run.passed >= 3);
        let run = test_run(&Excerpt::of(line)).expect("a run");
        assert!(run.whole);
    }
}
