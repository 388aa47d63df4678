//! Which checks a commit's hook ran, as what ran them prints that, as a table (`hooks.yaml`).

use super::checks::{CheckEnd, all_checks};
use super::said::echoed;
use super::standing::bare;
use crate::rules::check_words::is_checker;
use crate::rules::literals::LiteralFinder;
use crate::rules::shell;
use crate::rules::table::{self, TextPattern};
use crate::rules::terminal::plain;
use serde::Deserialize;
use std::borrow::Cow;
use std::sync::LazyLock;

/// A check that a commit's hook ran, maybe on what was staged only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCheck {
    /// Its command or its name, as it is printed.
    pub command: String,
    /// It ended well, as often as it ran.
    pub passed: bool,
}

/// Those that the output of a commit tells. `parts`: its start and its end. `made`: the commit was made, and what stands
/// before git's own line is its hook's ([`shows_hook`]).
pub fn hook_checks(parts: [&str; 2], made: bool) -> Vec<HookCheck> {
    let mut found: Vec<HookCheck> = Vec::new();
    if !parts.iter().any(|part| HINTS.is_match(part)) {
        return found;
    }
    let parts = parts.map(plain);
    let lines = parts.iter().flat_map(|part| part.lines());
    let named = lines.filter_map(ended);
    let named = named.map(|(check, passed)| (check.to_owned(), passed));
    let ran = made.then(|| before_git(&parts)).flatten();
    let ran = ran_well(ran.unwrap_or_default()).into_iter();
    for (command, passed) in named.chain(ran.map(|command| (command, true))) {
        match found.iter_mut().find(|known| known.command == command) {
            // it runs once for each kind of file
            Some(known) => known.passed &= passed,
            None => found.push(HookCheck { command, passed }),
        }
    }
    found
}

/// Checks that a runner of tasks ran: they went well, or there would be no commit; unless the hook doesn't care, and what they
/// printed tells of an error. Commands that are printed behind each other may run at once: an error is of any of them.
fn ran_well(output: &str) -> Vec<String> {
    let (mut all, mut group) = (Vec::new(), Vec::new());
    let (mut has_printed, mut is_ill) = (false, false);
    for line in output.lines() {
        match echoed(line) {
            Some(command) => {
                if std::mem::take(&mut has_printed) {
                    let ended = std::mem::take(&mut group);
                    all.extend(ended.into_iter().filter(|_| !is_ill));
                    is_ill = false;
                }
                group.extend(commands_of(command));
            }
            // `> shop@1.0.0 lint`
            None if line.trim().is_empty() || line.starts_with("> ") => {}
            None => {
                has_printed = true;
                is_ill |= tells_error(line);
            }
        }
    }
    all.extend(group.into_iter().filter(|_| !is_ill));
    all
}

/// What stands before the only line in which git tells a commit, as far as nothing is missing between.
fn before_git<'p>(parts: &'p [Cow<'_, str>; 2]) -> Option<&'p str> {
    let [start, end] = [&*parts[0], &*parts[1]];
    let places = |part| TABLE.commit.regex().find_iter(part);
    let all = [start, end].map(|part| places(part).collect::<Vec<_>>());
    match &all.each_ref().map(Vec::as_slice) {
        [[at], []] => Some(&start[..at.start()]),
        [[], [at]] => Some(&end[..at.start()]),
        _ => None,
    }
}

fn tells_error(line: &str) -> bool {
    let without = TABLE.none.regex().replace_all(line, "");
    TABLE.faults.regex().is_match(&without)
}

/// What the line prints before git tells its commit comes from the commit's hook: nothing that prints runs before it, nothing
/// behind it, and its message has no line that looks like one of a runner of tasks. Some microseconds.
pub(super) fn shows_hook(line: &str) -> bool {
    if OFF.is_match(line) || line.lines().any(|line| echoed(line.trim()).is_some()) {
        return false;
    }
    let mut is_made = false;
    for simple in shell::read(line).iter().filter(|simple| !simple.nested) {
        let words: Vec<&str> = simple.words.iter().map(|word| &**word).collect();
        let program = words.first().copied().unwrap_or_default();
        match git_command(&words) {
            _ if is_made && simple.piped && TABLE.cuts.iter().any(|cut| cut == program) => {}
            _ if is_made => return false,
            Some(["commit", args @ ..]) => {
                if args.iter().any(|arg| skips_hook(arg)) {
                    return false;
                }
                is_made = true;
            }
            Some(["add" | "stage" | "mv" | "rm", ..]) => {}
            _ if TABLE.silent.iter().any(|silent| silent == program) => {}
            _ => return false,
        }
    }
    is_made
}

/// Git's command and what stands behind it.
fn git_command<'a, 'w>(words: &'a [&'w str]) -> Option<&'a [&'w str]> {
    let mut rest = words.strip_prefix(&["git"])?;
    while let ["-c" | "-C", _, behind @ ..] = rest {
        rest = behind;
    }
    Some(rest)
}

/// `-n`, alone or among others: `-anm`.
fn skips_hook(arg: &str) -> bool {
    let short = arg.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    let flags = short.map(|rest| rest.split(['m', 'F', 'C', 'c', 't', 'u', 'S']).next());
    flags.flatten().is_some_and(|flags| flags.contains('n'))
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
    faults: TextPattern,
    none: TextPattern,
    commit: TextPattern,
    off: Vec<String>,
    silent: Vec<String>,
    cuts: Vec<String>,
    well: Vec<TextPattern>,
    ill: Vec<TextPattern>,
    #[cfg(test)]
    samples: Vec<Sample>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| table::rows(table::embedded!("commands/hooks")));
static HINTS: LazyLock<LiteralFinder> = LazyLock::new(|| LiteralFinder::of(TABLE.hints.clone()));
static OFF: LazyLock<LiteralFinder> = LazyLock::new(|| LiteralFinder::of(TABLE.off.clone()));

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

    #[test]
    fn only_what_a_commit_prints_alone_is_its_hooks() {
        for (line, wants) in [
            ("cd shop && git add -A && git commit -m 'Round carts'", true),
            ("git -c core.pager=cat commit -am x 2>&1 | tail -20", true),
            ("git commit -q -F- <<E\nRound carts\nE", true),
            ("git commit -F- <<E\nRound\n\n$ eslint .\nE", false),
            ("git commit -am x && cat docs/carts.md", false),
            ("git commit -am x; git log -1 --format=%B", false),
            ("git commit -am x && git push", false),
            ("git commit -am x | grep main", false),
            ("cat docs/carts.md; git commit -am x", false),
            ("npm run lint; git commit -am x", false),
            ("git commit --no-verify -m x", false),
            ("git commit -anm x", false),
            ("git commit -am main", true),
            ("HUSKY=0 git commit -m x", false),
        ] {
            assert_eq!(shows_hook(line), wants, "{line}");
        }
    }
}
