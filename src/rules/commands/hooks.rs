//! Which checks a commit's hook ran, as what ran them prints that, as a table (`hooks.yaml`).

use super::checks::{CheckEnd, all_checks};
use super::said::echoed;
use super::standing::bare;
use crate::rules::check_words::is_checker;
use crate::rules::literals::LiteralFinder;
use crate::rules::table::{self, TextPattern};
use crate::rules::terminal::plain;
use serde::Deserialize;
use std::sync::LazyLock;

/// A check that a commit's hook ran, maybe on what was staged only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCheck {
    /// Its command or its name, as it is printed.
    pub command: String,
    /// It ended well, as often as it ran.
    pub passed: bool,
}

/// Those that the output of a commit tells. `parts`: its start and its end. `made`: the commit was made, and nothing else of
/// its line checks.
pub fn hook_checks(parts: [&str; 2], made: bool) -> Vec<HookCheck> {
    let mut found: Vec<HookCheck> = Vec::new();
    if !parts.iter().any(|part| HINTS.is_match(part)) {
        return found;
    }
    // what a runner of tasks ran went well, or there would be no commit; unless the hook doesn't care
    let passed = made && !parts.iter().any(|part| FAULTS.is_match(part));
    for line in parts.map(plain).iter().flat_map(|part| part.lines()) {
        let named = ended(line).map(|(check, passed)| (check.to_owned(), passed));
        let ran = passed.then(|| echoed(line)).flatten().map(commands_of);
        let ran = ran.into_iter().flatten().map(|command| (command, true));
        for (command, passed) in named.into_iter().chain(ran) {
            match found.iter_mut().find(|known| known.command == command) {
                // it runs once for each kind of file
                Some(known) => known.passed &= passed,
                None => found.push(HookCheck { command, passed }),
            }
        }
    }
    found
}

/// The checks of a line whose ends are that of the line.
fn commands_of(line: &str) -> Vec<String> {
    let counts = |end| matches!(end, CheckEnd::Own | CheckEnd::First);
    let checks = all_checks(line).into_iter();
    let checks = checks.filter(|check| counts(check.end));
    checks.map(|check| bare(&check.words).join(" ")).collect()
}

fn ended(line: &str) -> Option<(&str, bool)> {
    let ends = [(&TABLE.ill, false), (&TABLE.well, true)];
    let (check, passed) = ends.into_iter().find_map(|(patterns, passed)| {
        let mut found = patterns.iter().filter_map(|one| one.regex().captures(line));
        Some((found.next()?.name("check")?.as_str(), passed))
    })?;
    // the runner names its own steps as well, and tests
    let program = check.split(' ').next()?.to_lowercase();
    let tool = program.split('-').next()?;
    (is_checker(&program) || is_checker(tool)).then_some((check, passed))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    hints: Vec<String>,
    faults: Vec<String>,
    well: Vec<TextPattern>,
    ill: Vec<TextPattern>,
    #[cfg(test)]
    samples: Vec<Sample>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| table::rows(table::embedded!("commands/hooks")));
static HINTS: LazyLock<LiteralFinder> = LazyLock::new(|| LiteralFinder::of(TABLE.hints.clone()));
static FAULTS: LazyLock<LiteralFinder> = LazyLock::new(|| LiteralFinder::of(TABLE.faults.clone()));

#[cfg(test)]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    #[serde(default)]
    made: bool,
    output: String,
    wants: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_what_the_table_says() {
        for Sample {
            made,
            output,
            wants,
        } in &TABLE.samples
        {
            let told = hook_checks([output, ""], *made).into_iter().map(|check| {
                let end = if check.passed { "ok" } else { "failed" };
                format!("{} {end}", check.command)
            });
            assert_eq!(told.collect::<Vec<_>>(), *wants, "{output}");
        }
    }
}
