//! Which of a project's tests a command line runs, as a table (`test_scope.yaml`).
//!
//! Knows test runners' options that choose tests; says nothing where nobody knows.

use super::judge::{COMMANDS_MAX, DEPTH_MAX, Ran, base_of, ran};
use super::table::is_flag;
use crate::rules::shell;
use crate::rules::table;
use serde::Deserialize;
use std::borrow::Cow;
#[cfg(test)]
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Which tests a run is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestScope {
    /// All of the project's, as far as its runner knows them.
    Whole,
    /// Some, chosen by name, file or package.
    Part,
}

/// Which tests a line runs; `None` where it runs none that the table knows, or nobody knows which. Some
/// microseconds.
pub fn test_scope(line: &str) -> Option<TestScope> {
    let mut found = Vec::new();
    read(line, 0, &mut found);
    match found.contains(&Some(TestScope::Whole)) {
        true => Some(TestScope::Whole),
        false if found.contains(&None) => None,
        false => found.pop().flatten(),
    }
}

/// Of each command that runs tests.
fn read(line: &str, depth: u8, found: &mut Vec<Option<TestScope>>) {
    for simple in shell::read(line).iter().take(COMMANDS_MAX) {
        match ran(simple, depth) {
            Some(Ran::Script(script)) if depth < DEPTH_MAX => read(&script, depth + 1, found),
            Some(Ran::Words(words, _)) => {
                let mut rows = TABLE.iter();
                found.extend(rows.find_map(|row| Some(row.scope(row.arguments(words)?))));
            }
            _ => {}
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    commands: Vec<Row>,
    #[cfg(test)]
    samples: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    words: Vec<String>,
    #[serde(default)]
    needs: Vec<String>,
    #[serde(default)]
    whole: Vec<String>,
    #[serde(default)]
    part: Vec<String>,
    #[serde(default)]
    alone: Alone,
    plain: Plain,
}

/// What a command without arguments runs.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Alone {
    #[default]
    Whole,
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Plain {
    Some,
    Unknown,
}

impl Row {
    /// What stands behind the row's words.
    fn arguments<'w, 't>(&self, words: &'w [Cow<'t, str>]) -> Option<&'w [Cow<'t, str>]> {
        let (base, _) = base_of(words.first()?);
        let named = |row: &String| {
            let mut row = row.split(' ');
            let first = row.next()?;
            if first != base && first != words[0] {
                return None;
            }
            let rest: Vec<&str> = row.collect();
            let args = words.get(1..1 + rest.len())?;
            args.iter().eq(&rest).then_some(rest.len())
        };
        let taken = self.words.iter().filter_map(named).max()?;
        let args = &words[1 + taken..];
        let begins = |arg: &Cow<'_, str>, need: &str| arg.split(':').next() == Some(need);
        let mut needs = self.needs.iter();
        let has = needs.all(|need| args.iter().any(|arg| begins(arg, need)));
        has.then_some(args)
    }

    fn scope(&self, args: &[Cow<'_, str>]) -> Option<TestScope> {
        let name = |arg: &str| {
            arg.split_once('=')
                .map_or(arg.len(), |(name, _)| name.len())
        };
        let chooses = |arg: &Cow<'_, str>| self.part.iter().any(|p| *p == arg[..name(arg)]);
        if args.iter().any(chooses) {
            return Some(TestScope::Part);
        }
        if args.last().is_some_and(|arg| arg.ends_with('…')) {
            return None;
        }
        let is_whole = |arg: &Cow<'_, str>| self.whole.iter().any(|whole| **whole == **arg);
        if args.iter().any(is_whole) {
            return Some(TestScope::Whole);
        }
        let mut is_sure = true;
        for (nth, arg) in args.iter().enumerate() {
            let behind = nth.checked_sub(1).and_then(|before| args.get(before));
            let may_be_value = behind.is_some_and(|before| is_flag(before) && before != "--");
            match () {
                () if is_flag(arg) => {}
                () if arg.contains('=') => is_sure = false,
                () if is_path(arg) && !may_be_value => return Some(TestScope::Part),
                // `-v ./a`: few options take a relative path
                () if arg.starts_with("./") => return Some(TestScope::Part),
                () if may_be_value => is_sure = false,
                () if self.plain == Plain::Some => return Some(TestScope::Part),
                () => is_sure = false,
            }
        }
        let is_whole = matches!(self.alone, Alone::Whole);
        (is_sure && is_whole).then_some(TestScope::Whole)
    }
}

/// `web/a.test.ts`, `tests/test_a.py::test_b`.
fn is_path(arg: &str) -> bool {
    let file = arg.rsplit('/').next().unwrap_or(arg);
    arg.contains("::") || arg.contains('/') || file.trim_start_matches('.').contains('.')
}

static TABLE: LazyLock<Vec<Row>> = LazyLock::new(|| written().commands);

fn written() -> Written {
    table::rows(table::embedded!("commands/test_scope"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_what_the_table_says() {
        for (line, wants) in written().samples {
            let found = match test_scope(&line) {
                Some(TestScope::Whole) => "whole",
                Some(TestScope::Part) => "part",
                None => "unknown",
            };
            assert_eq!(found, wants, "{line}");
        }
    }
}
