//! How runners of a commit's hooks print which checks they ran, as a table (`hooks.yaml`).

use crate::rules::check_words::is_checker;
use crate::rules::literals::LiteralFinder;
use crate::rules::table::{self, TextPattern};
use crate::rules::terminal::plain;
use serde::Deserialize;
use std::sync::LazyLock;

/// A check that a commit's hook ran on what was staged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagedCheck {
    /// Its command or its name, as the hook's runner prints it.
    pub command: String,
    /// It ended well, as often as it ran.
    pub passed: bool,
}

/// Those that the output of a commit tells. `parts`: its start and its end.
pub fn staged_checks(parts: [&str; 2]) -> Vec<StagedCheck> {
    let mut found: Vec<StagedCheck> = Vec::new();
    for part in parts.into_iter().filter(|part| HINTS.is_match(part)) {
        for (command, passed) in plain(part).lines().filter_map(ended) {
            match found.iter_mut().find(|known| known.command == command) {
                // it runs once for each kind of file
                Some(known) => known.passed &= passed,
                None => found.push(StagedCheck {
                    command: command.to_owned(),
                    passed,
                }),
            }
        }
    }
    found
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
    well: Vec<TextPattern>,
    ill: Vec<TextPattern>,
    #[cfg(test)]
    samples: Vec<Sample>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| table::rows(table::embedded!("commands/hooks")));
static HINTS: LazyLock<LiteralFinder> = LazyLock::new(|| LiteralFinder::of(TABLE.hints.clone()));

#[cfg(test)]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    output: String,
    wants: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_what_the_table_says() {
        for Sample { output, wants } in &TABLE.samples {
            let told = staged_checks([output, ""]).into_iter().map(|check| {
                let end = if check.passed { "ok" } else { "failed" };
                format!("{} {end}", check.command)
            });
            assert_eq!(told.collect::<Vec<_>>(), *wants, "{output}");
        }
    }
}
