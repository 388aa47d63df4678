//! What tools that check print of how they ended, as a table (`said.yaml`): their own word, where the exit code is that of
//! something else.

use super::checks::{CheckEnd, CommandCheck, all_checks};
use crate::rules::check_words::runs_tasks;
use crate::rules::literals::LiteralFinder;
use crate::rules::table::{self, TextPattern};
use crate::rules::terminal::plain;
use serde::{Deserialize, Serialize};
use std::sync::{LazyLock, OnceLock};

/// What a tool says of one of its runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckWord {
    /// The tool as its command names it (`cargo clippy`), or the runner of tasks that ran it (`npm`).
    pub tool: String,
    /// It found nothing wrong.
    pub passed: bool,
    /// Its line; empty where that says no more.
    pub said: String,
}

/// The checks of a line, where the exit code of one is not the line's: what is to be known of the line to read their own words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnChecks {
    checks: Vec<OwnCheck>,
    /// As many lines something passes on at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    passed_on: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct OwnCheck {
    /// As the table knows it, or a runner of tasks; empty: another one.
    tool: String,
    /// It fails where other tools warn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    strict: bool,
}

impl OwnChecks {
    /// Those of a line. Below a microsecond where nothing hints at a check.
    pub fn of(line: &str) -> OwnChecks {
        let checks = all_checks(line);
        let is_hidden =
            |check: &CommandCheck| !matches!(check.end, CheckEnd::Own | CheckEnd::First);
        if !checks.iter().any(is_hidden) {
            return OwnChecks::default();
        }
        OwnChecks {
            checks: checks.iter().map(own_check).collect(),
            passed_on: passed_on(line),
        }
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.checks.is_empty()
    }

    /// What they say of themselves, in their order. `parts`: start and end of the output.
    pub fn words(&self, parts: [&str; 2]) -> Vec<CheckWord> {
        if self.is_empty() {
            return Vec::new();
        }
        let parts = parts.map(plain);
        let all = parts.iter().flat_map(|part| part.lines());
        let shown = parts[0].lines().count();
        let output = Output {
            lines: all.map(unprefixed).collect(),
            is_cut: !parts[1].is_empty() || self.passed_on.is_some_and(|most| shown >= most),
            is_alone: self.checks.len() == 1,
        };
        let rows = TABLE.tools.iter().filter_map(|row| {
            let named = self.checks.iter().enumerate();
            let named = named.filter(|(_, check)| row.names.contains(&check.tool));
            let named: Vec<(usize, &OwnCheck)> = named.collect();
            let is_strict = || named.iter().any(|(_, check)| check.strict);
            let said = (!named.is_empty()).then(|| output.said_by(row, is_strict()))?;
            Some((row, named, said))
        });
        let rows: Vec<_> = rows.collect();
        let mut told: Vec<(usize, CheckWord)> = Vec::new();
        for (nth, (row, named, said)) in rows.iter().enumerate() {
            // nobody knows whose a word is that two tools say
            let is_of_other = |said: &(bool, &str)| {
                let mut others = rows.iter().enumerate().filter(|(other, _)| *other != nth);
                others.any(|(_, (.., other))| other.iter().any(|(_, line)| *line == said.1))
            };
            if said.iter().any(is_of_other) {
                continue;
            }
            let said = row.told(each(said, named.len()));
            told.extend(named.iter().zip(said).map(|((at, check), (passed, said))| {
                let tool = check.tool.clone();
                (*at, CheckWord { tool, passed, said })
            }));
        }
        if let [check] = &self.checks[..]
            && told.is_empty()
        {
            told.extend(output.of_runner(&check.tool).map(|word| (0, word)));
        }
        told.sort_by_key(|(at, _)| *at);
        told.into_iter().map(|(_, word)| word).collect()
    }
}

fn own_check(check: &CommandCheck) -> OwnCheck {
    let words: Vec<&str> = check.words.iter().map(|word| base(word)).collect();
    let named = TABLE
        .tools
        .iter()
        .find_map(|row| Some((row, row.name_in(&words)?)));
    let program = || match runs_tasks(&check.program) {
        true => check.program.clone(),
        false => String::new(),
    };
    OwnCheck {
        tool: named.map_or_else(program, |(_, name)| name.to_owned()),
        strict: named.is_some_and(|(row, _)| row.is_strict(check)),
    }
}

/// One word for each run: as many as there are runs, or of one run all together.
fn each(said: &[(bool, &str)], runs: usize) -> Vec<(bool, String)> {
    let owned = |(passed, said): &(bool, &str)| (*passed, said.trim().to_owned());
    match said.len() {
        0 => Vec::new(),
        words if words == runs => said.iter().map(owned).collect(),
        _ if runs == 1 => {
            let ill = said.iter().rfind(|(passed, _)| !passed);
            ill.or(said.last()).map(owned).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// A program without its folder.
fn base(word: &str) -> &str {
    word.rsplit(['/', '\\']).next().unwrap_or(word)
}

/// What stands behind the mark of a task: `[lint:go] 0 issues.`
fn unprefixed(line: &str) -> &str {
    let rest = line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("] "));
    match rest {
        Some((task, rest)) if !rest.starts_with('$') && is_task(task) => rest,
        _ => line,
    }
}

/// `lint:go`; `INFO` and `warn` are marks of other things.
fn is_task(mark: &str) -> bool {
    let is_other = matches!(mark, "warn" | "error" | "info");
    !is_other
        && mark
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b":.-_".contains(&b))
}

/// As many lines as the readers of a line pass on at most: all, where there is none.
fn passed_on(line: &str) -> Option<usize> {
    const DEFAULT: usize = 10;
    let line = line.replace("||", " ");
    let readers = line.split('|').skip(1).filter_map(|reader| {
        let mut words = reader.trim_start_matches(['&', ' ']).split_whitespace();
        match words.next() {
            Some("tail" | "head") => {
                let mut counts = words.filter_map(|word| {
                    let count = word.trim_start_matches(['-', 'n']);
                    count.trim_end_matches([';', ')']).parse().ok()
                });
                Some(counts.next().unwrap_or(DEFAULT))
            }
            Some("cat" | "tee") => None,
            _ => Some(0),
        }
    });
    readers.min()
}

/// What a line printed.
struct Output<'o> {
    lines: Vec<&'o str>,
    /// Some of it may be missing.
    is_cut: bool,
    /// It is of one check only, as far as checks print.
    is_alone: bool,
}

impl<'o> Output<'o> {
    /// What one tool says in it of each of its runs.
    fn said_by(&self, row: &Row, is_strict: bool) -> Vec<(bool, &'o str)> {
        let hints = row.hints();
        if !self.lines.iter().any(|line| hints.is_match(line)) {
            return Vec::new();
        }
        let fits = |patterns: &[TextPattern], line: &str| {
            hints.is_match(line) && patterns.iter().any(|one| one.regex().is_match(line))
        };
        let is_silent = row.whole && !is_strict && self.is_cut
            || self.lines.iter().any(|line| fits(&row.unless, line));
        let ends = self.lines.iter().filter_map(|line| match () {
            () if fits(&row.ill, line) => Some((false, *line)),
            () if fits(&row.well, line) => Some((true, *line)),
            () => None,
        });
        let mut said: Vec<(bool, &str)> = ends.collect();
        if said.is_empty() && self.is_alone {
            let mut faults = self.lines.iter().filter(|line| fits(&row.faults, line));
            said.extend(faults.next().map(|fault| (false, *fault)));
        }
        said.retain(|(passed, _)| !passed || !is_silent);
        said
    }

    /// What the tool says that a runner of tasks ran, as it prints: that all is well only where it ran nothing else.
    fn of_runner(&self, runner: &str) -> Option<CheckWord> {
        if !runs_tasks(runner) {
            return None;
        }
        let ran: Vec<&str> = self.lines.iter().filter_map(|line| echoed(line)).collect();
        let is_only = |command: &str| ran.len() == 1 && !command.contains(['&', ';', '|']);
        let said = ran.iter().filter_map(|command| {
            let words: Vec<&str> = command.split_whitespace().map(base).collect();
            let row = TABLE
                .tools
                .iter()
                .find(|row| row.name_in(&words).is_some())?;
            let said = row.told(each(&self.said_by(row, false), 1)).pop()?;
            (!said.0 || is_only(command)).then_some(said)
        });
        // what failed counts, whatever else went well
        let (passed, said) = said.min_by_key(|(passed, _)| *passed)?;
        Some(CheckWord {
            tool: runner.to_owned(),
            passed,
            said,
        })
    }
}

/// The command that a runner of tasks prints before it runs it; not the name of the task with that of the project.
pub(super) fn echoed(line: &str) -> Option<&str> {
    let is_heading = |command: &str| {
        let mut words = command.split(' ');
        words.next().is_some_and(|word| word.contains('@')) && words.next().is_some()
    };
    let found = TABLE
        .echo
        .iter()
        .find_map(|one| one.regex().captures(line))?;
    let command = found.name("command")?.as_str();
    (!is_heading(command)).then_some(command)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    echo: Vec<TextPattern>,
    tools: Vec<Row>,
    #[cfg(test)]
    samples: Vec<Sample>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Row {
    names: Vec<String>,
    hints: Vec<String>,
    well: Vec<TextPattern>,
    ill: Vec<TextPattern>,
    faults: Vec<TextPattern>,
    unless: Vec<TextPattern>,
    whole: bool,
    quiet: bool,
    strict: Vec<String>,
    #[serde(skip)]
    finder: OnceLock<LiteralFinder>,
}

impl Row {
    fn hints(&self) -> &LiteralFinder {
        self.finder
            .get_or_init(|| LiteralFinder::of(self.hints.clone()))
    }

    /// The name by which a command of these words, without folders, calls the tool.
    fn name_in<W: AsRef<str>>(&self, words: &[W]) -> Option<&str> {
        let begins = |at: usize, name: &str| {
            let mut words = words[at..].iter().map(AsRef::as_ref);
            name.split(' ').all(|part| words.next() == Some(part))
        };
        let is_in = |name: &&String| (0..words.len()).any(|at| begins(at, name));
        self.names.iter().find(is_in).map(String::as_str)
    }

    /// Without lines that say no more.
    fn told(&self, mut said: Vec<(bool, String)>) -> Vec<(bool, String)> {
        let quiet = said.iter_mut().filter(|_| self.quiet);
        quiet.for_each(|(_, line)| line.clear());
        said
    }

    fn is_strict(&self, check: &CommandCheck) -> bool {
        let line = check.words.join(" ");
        self.strict
            .iter()
            .any(|strict| line.contains(strict.as_str()))
    }
}

static TABLE: LazyLock<Table> = LazyLock::new(|| table::rows(table::embedded!("commands/said")));

#[cfg(test)]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    line: String,
    output: String,
    wants: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_what_the_table_says() {
        for Sample {
            line,
            output,
            wants,
        } in &TABLE.samples
        {
            let told = OwnChecks::of(line)
                .words([output, ""])
                .into_iter()
                .map(|word| {
                    let end = if word.passed { "ok" } else { "failed" };
                    format!("{} {end}: {}", word.tool, word.said)
                });
            assert_eq!(told.collect::<Vec<_>>(), *wants, "{line}\n{output}");
        }
    }

    #[test]
    fn each_pattern_compiles() {
        for row in &TABLE.tools {
            let all = [&row.well, &row.ill, &row.faults, &row.unless];
            for pattern in all.into_iter().flatten() {
                pattern.regex();
            }
            assert!(!row.hints.is_empty(), "{:?}", row.names);
        }
    }
}
