//! What a check looks at, by the words of its command: which other runs say as much as one of it. And what tells of checks
//! that ran elsewhere.

use super::line::LocatedItem;
use super::ran::{RUNNING, RanCommand};
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::rules::commands::{bare, checks, is_ci_open, is_clean, watches_ci};
use crate::rules::test_words::{checks_pass, ci_passes};

/// Kinds of checks, a bit each.
const LINT: u8 = 1;
const TYPES: u8 = 2;
const BUILD: u8 = 4;
/// A check of all of it: a project's own.
const ALL: u8 = LINT | TYPES | BUILD;

/// Words of commands with what these look at.
const WORDS: [(&str, u8); 40] = [
    ("lint", LINT),
    ("linter", LINT),
    ("eslint", LINT),
    ("biome", LINT),
    ("prettier", LINT),
    ("oxlint", LINT),
    ("stylelint", LINT),
    ("ruff", LINT),
    ("black", LINT),
    ("flake8", LINT),
    ("pylint", LINT),
    ("isort", LINT),
    ("rubocop", LINT),
    ("golangci", LINT),
    ("staticcheck", LINT),
    ("gofmt", LINT),
    ("vet", LINT),
    ("clippy", LINT | TYPES),
    ("fmt", LINT),
    ("format", LINT),
    ("markdownlint", LINT),
    ("shellcheck", LINT),
    ("standard", LINT),
    ("tsc", TYPES),
    ("typecheck", TYPES),
    ("types", TYPES),
    ("mypy", TYPES),
    ("pyright", TYPES),
    ("ty", TYPES),
    ("flow", TYPES),
    ("build", BUILD | TYPES),
    ("compile", BUILD | TYPES),
    ("make", BUILD),
    ("gcc", BUILD),
    ("webpack", BUILD),
    ("vite", BUILD),
    ("tsup", BUILD),
    ("esbuild", BUILD),
    ("rollup", BUILD),
    ("xcodebuild", BUILD),
];

/// Words of a project's own tasks that check all of it.
const TASKS: [&str; 5] = ["check", "verify", "validate", "ci", "commit"];

/// Programs that run a project's tasks, or check all that there is.
const RUNNERS: [&str; 14] = [
    "npm", "pnpm", "yarn", "bun", "make", "just", "mise", "task", "rake", "deno", "turbo", "nx",
    "pre", "hatch",
];

/// What the command looks at; 0 where nobody knows, as of another program's `check`.
fn kinds(command: &str) -> u8 {
    let mut words = command
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let is_runner = words
        .clone()
        .next()
        .is_some_and(|first| RUNNERS.contains(&first));
    let kind = |word: &str| match WORDS.iter().find(|(known, _)| *known == word) {
        Some((_, kind)) => *kind,
        None if is_runner && TASKS.contains(&word) => ALL,
        None => 0,
    };
    words.by_ref().fold(0, |all, word| all | kind(word))
}

/// How much of what a check looks at another run has to look at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Overlap {
    All,
    Some,
}

/// Behind a check that failed something shows that what it looks at may be well: another form of it or one of more passed,
/// here or elsewhere, or the agent says so.
pub fn is_superseded(command: &str, later: &[LocatedItem<'_>], coverage: Overlap) -> bool {
    let words: Vec<&str> = command.split(' ').collect();
    if watches_ci(&words) {
        return later.iter().any(starts_ci);
    }
    let kind = kinds(command);
    let covers = |other: u8| match coverage {
        Overlap::All => kind != 0 && other & kind == kind,
        Overlap::Some => other & kind != 0,
    };
    let passes = |line: &LocatedItem<'_>, ran: &RanCommand<'_>| {
        let is_ci = |words: &[String]| watches_ci(words) && !is_ci_open(ran.output);
        let mut found = checks(ran.command).into_iter();
        let is_clean = is_clean(ran.output) != Some(false) && !line.item.text.ends_with(RUNNING);
        let each = || runs_each(ran.command);
        let is_one = |words: &[String]| is_ci(words) || covers(kinds(&words.join(" ")));
        !ran.failed && is_clean && (found.any(|check| is_one(bare(&check.words))) || covers(each()))
    };
    later.iter().any(|line| match line.item.kind {
        ItemKind::Agent if line.main => {
            let words = line.words();
            let says_clean = || kind != 0 && checks_pass(words).is_some();
            says_clean() || ci_passes(words).is_some()
        }
        ItemKind::Digest => RanCommand::of(line).is_some_and(|ran| passes(line, &ran)),
        _ => false,
    })
}

/// What a command that gets its files from another one looks at: `git ls-files | xargs npx eslint`.
fn runs_each(command: &str) -> u8 {
    command
        .rsplit_once("xargs ")
        .map_or(0, |(_, each)| kinds(each))
}

/// Checks run elsewhere again: something was pushed, or somebody asks for them or for how they ended.
fn starts_ci(line: &LocatedItem<'_>) -> bool {
    const CALLS: [&str; 6] = [
        "gh run rerun",
        "gh run watch",
        "gh run view",
        "gh pr checks",
        "gh pr merge",
        "gh workflow run",
    ];
    let is_push = |finding: &Finding| matches!(finding, Finding::Pushed | Finding::PullRequest(_));
    let is_call = || {
        line.item.kind == ItemKind::Digest && CALLS.iter().any(|call| line.item.text.contains(call))
    };
    let says =
        || line.main && line.item.kind == ItemKind::Agent && ci_passes(line.words()).is_some();
    line.item.findings.iter().any(is_push) || is_call() || says()
}

/// The agent's last sentence that says that checks elsewhere passed, up to the next look at some.
pub fn says_ci_passed(later: &[LocatedItem<'_>]) -> bool {
    let until = later
        .iter()
        .take_while(|line| !starts_ci(line) || line.item.kind == ItemKind::Agent);
    let mut said = until.filter(|line| line.main && line.item.kind == ItemKind::Agent);
    said.any(|line| ci_passes(line.words()).is_some())
}
