//! Commands of a line that check or build what was written, and what their output says, as a table (`checks.yaml`).
//!
//! Knows what follows a command in its line, and so whether the line's exit code tells how it ended.

use super::judge::{COMMANDS_MAX, DEPTH_MAX, Ran, Verdict, judge, ran};
use super::standing::{bare, is_setting};
use super::test_scope::{TestScope, test_scope};
use crate::rules::check_words::scope;
use crate::rules::lazy_pattern::LazyPattern;
use crate::rules::literals::{LiteralFinder, LiteralMatch};
#[cfg(test)]
use crate::rules::sentence_cues::tests::Samples;
use crate::rules::shell;
use crate::rules::table;
use crate::rules::terminal::plain;
use regex_automata::Input;
use serde::Deserialize;
#[cfg(test)]
use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

/// A command that checks or builds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandCheck {
    /// As it was typed, without what stands around it.
    pub words: Vec<String>,
    /// What is set for it alone: `GOOS=linux`.
    pub set: Vec<String>,
    /// What checks, without what starts it: `npm` of `timeout 9 npm run lint`.
    pub program: String,
    /// See there.
    pub end: CheckEnd,
    /// Where it ran, or of which part of the project: what its line says of that. `None` where it says nothing.
    pub place: Option<String>,
}

impl CommandCheck {
    /// The platform that it is for, where one is set: what it says of that says nothing of here.
    pub fn target(&self) -> Option<String> {
        const TARGETS: [&str; 2] = ["GOOS=", "GOARCH="];
        let is_one = |word: &&String| TARGETS.iter().any(|target| word.starts_with(target));
        let before = &self.words[..self.words.len() - bare(&self.words).len()];
        let set = self.set.iter().chain(before).filter(is_one);
        let set: Vec<&str> = set.map(String::as_str).collect();
        (!set.is_empty()).then(|| set.join(" "))
    }
}

/// What tells how a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckEnd {
    /// The line's exit code is its own.
    Own,
    /// The line goes on only where it worked.
    First,
    /// Only its output, and nothing else of the line prints.
    Printed,
    /// Only its output.
    Output,
}

/// Those of a line, in order; none where the line works on code that was put aside. Below a microsecond where nothing
/// hints at one, else some.
pub fn checks(line: &str) -> Vec<CommandCheck> {
    match TABLE.hints.is_match(line) && !line.contains("git stash") {
        true => found(line, &TABLE.classes, false, true),
        false => Vec::new(),
    }
}

/// The same, whatever reads their output.
pub(super) fn all_checks(line: &str) -> Vec<CommandCheck> {
    match TABLE.hints.is_match(line) && !line.contains("git stash") {
        true => found(line, &TABLE.classes, true, false),
        false => Vec::new(),
    }
}

/// The commands of a line of one of these classes.
fn found(line: &str, classes: &[String], any_reader: bool, others: bool) -> Vec<CommandCheck> {
    let mut found = Vec::new();
    let wanted = Wanted {
        classes,
        any_reader,
        others,
    };
    read(line, 0, &wanted, &mut found);
    found
}

/// Both are one place, or nobody knows: a folder may be named whole and from where the shell is.
pub fn may_be_one_place(one: Option<&str>, other: Option<&str>) -> bool {
    let (Some(one), Some(other)) = (one, other) else {
        return true;
    };
    let ends = |long: &str, short: &str| {
        let before = long.strip_suffix(short);
        before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
    };
    ends(one, other) || ends(other, one)
}

/// Those of a line that run all of a project's tests, as far as its command says; among them tasks that may only check,
/// which [`names_tests`] tells. Cost as of [`checks`].
pub fn whole_test_runs(line: &str) -> Vec<CommandCheck> {
    // `git checkout` is no check
    let is_check = |hint: LiteralMatch| !line[hint.end..].starts_with("out");
    if !TABLE.test_hints.any(line, is_check) || line.contains("git stash") {
        return Vec::new();
    }
    let mut found = found(line, &TABLE.test_classes, true, false);
    found.retain(|run| test_scope(&run.words.join(" ")) == Some(TestScope::Whole));
    found
}

/// Those of a line that run tests, whichever and whatever reads their output. Cost as of [`checks`].
pub fn test_commands(line: &str) -> Vec<CommandCheck> {
    if !TABLE.test_hints.is_match(line) {
        return Vec::new();
    }
    let mut found = found(line, &TABLE.test_classes, true, false);
    found.retain(|run| names_tests(&run.words) || test_scope(&run.words.join(" ")).is_some());
    found
}

/// Whether one of a line's commands checks, builds or tests, whatever reads its output. Cost as of [`checks`].
pub fn checks_or_tests(line: &str) -> bool {
    let may_be = TABLE.hints.is_match(line) || TABLE.test_hints.is_match(line);
    may_be && !found(line, &TABLE.all_classes, true, true).is_empty()
}

/// The command says that tests are what it runs: `npm test`, but not `make check`.
pub fn names_tests(words: &[String]) -> bool {
    let mut words = words.iter();
    words.any(|word| TABLE.test_names.is_match(word))
}

/// What a shown output says; `None` where nobody knows, or nothing was checked.
pub fn is_clean(output: &str) -> Option<bool> {
    if is_absent(output) {
        return None;
    }
    let clean = TABLE.clean.is_match(output);
    match clean || TABLE.broken.is_match(output) {
        true => Some(clean),
        false => None,
    }
}

/// The end of what a line printed says that the check failed whose output it is; where a filter stands behind that, the exit
/// code is the filter's. `parts`: start and end of the output. Below a microsecond where nothing hints at one.
pub fn printed_failure(line: &str, parts: [&str; 2]) -> bool {
    const LINES_MAX: usize = 12;
    if !line.contains('|') {
        return false;
    }
    let last = plain(end_of(parts, LINES_MAX));
    let says = || last.lines().any(|line| TABLE.ended.is_match(line.trim()));
    TABLE.ended_hints.is_match(&last) && says() && checks(line).iter().any(prints)
}

/// The last line of what a line printed, where it says that the check passed whose output it is, and a filter stands behind
/// that which passes the end on. Cost as of [`printed_failure`], which is asked first.
pub fn printed_success(line: &str, parts: [&str; 2]) -> Option<String> {
    if !line.contains('|') {
        return None;
    }
    let last = plain(end_of(parts, 1));
    let said = last.trim();
    if !TABLE.well_hints.is_match(said) || !TABLE.well.is_match(said) || !passes_end(line) {
        return None;
    }
    let mut found = checks(line).into_iter();
    let check = found.next().filter(prints)?;
    let is_told = found.next().is_none() && !is_only_built(&check.words, said);
    is_told.then(|| said.to_owned())
}

/// A linter's compiler is done, whatever the linter found.
pub fn is_only_built(words: &[String], said: &str) -> bool {
    said.starts_with("Finished `") && scope(&words.join(" ")).looks_at_form()
}

/// What reads a command's output in this line leaves its end.
pub fn passes_end(line: &str) -> bool {
    let mut readers = line.split('|').skip(1).map(|reader| {
        let mut names = reader.split(|c: char| !c.is_alphanumeric());
        names.find(|name| !name.is_empty()).unwrap_or_default()
    });
    readers.all(|name| name != "head" && TABLE.passes.iter().any(|passes| passes == name))
}

fn prints(check: &CommandCheck) -> bool {
    check.end == CheckEnd::Printed
}

/// The last lines of an output whose start and end these are.
fn end_of(parts: [&str; 2], lines_max: usize) -> &str {
    let text = if parts[1].is_empty() {
        parts[0]
    } else {
        parts[1]
    };
    let from = memchr::memrchr_iter(b'\n', text.trim_end().as_bytes());
    let from = from.take(lines_max).last().map_or(0, |at| at + 1);
    &text[from..]
}

/// The output says that what was to check isn't there.
pub fn is_absent(output: &str) -> bool {
    TABLE.absent.is_match(output)
}

/// The output says of this program that it isn't there.
pub fn is_missing(output: &str, program: &str) -> bool {
    const AROUND: [char; 8] = [' ', ':', '"', '\'', '`', '‘', '’', '“'];
    let is_of_word = |c: char| c.is_alphanumeric() || "-_./@".contains(c);
    TABLE.missing.any(output, |hit| {
        let before = output[..hit.start].trim_end_matches(AROUND);
        let after = output[hit.end..].trim_start_matches(AROUND);
        let before = before.strip_suffix(program);
        let after = after.strip_prefix(program);
        before.is_some_and(|before| !before.ends_with(is_of_word))
            || after.is_some_and(|after| !after.starts_with(is_of_word))
    })
}

/// The output says that what was to be made is there, whatever the exit code says of errors in it.
pub fn is_written(output: &str) -> bool {
    TABLE.written.is_match(output)
}

/// The command lists what is wrong, and ends with 0 whatever that is.
pub fn only_lists(words: &[String]) -> bool {
    TABLE.lists.iter().any(|row| {
        let mut row = row.split(' ');
        row.all(|part| words.iter().any(|word| word == part))
    })
}

/// Those of a line that mend what checks find, whatever reads their output. Cost as of [`checks`].
pub fn fixers(line: &str) -> Vec<CommandCheck> {
    if !TABLE.fix_hints.is_match(line) || line.contains("git stash") {
        return Vec::new();
    }
    let mut fixers = found(line, &TABLE.classes, true, false);
    fixers.retain(|check| is_fixer(&check.words));
    fixers.extend(found(line, &TABLE.fix_classes, true, false));
    fixers
}

/// The command mends what it finds: how it ends says nothing of what was wrong.
pub fn is_fixer<W: AsRef<str>>(words: &[W]) -> bool {
    let mut words = words.iter().map(AsRef::as_ref);
    let is_one = |word: &str| {
        let mut fixers = TABLE.fixers.iter();
        fixers.any(|fixer| match fixer.starts_with("-") {
            true => word == fixer,
            false => word.ends_with(fixer.as_str()),
        })
    };
    words.any(is_one)
}

/// It prints what is wrong and nothing else.
pub fn prints_only_faults(words: &[String]) -> bool {
    starts_as_one(words, &TABLE.only_faults)
}

/// Which commands are looked for.
struct Wanted<'t> {
    classes: &'t [String],
    /// Also those whose output something reads that leaves out what matters.
    any_reader: bool,
    /// Also what waits for checks elsewhere, and subcommands of unknown programs that are called so.
    others: bool,
}

/// The command waits for checks that run elsewhere, or tells how these ended.
pub fn watches_ci<W: AsRef<str>>(words: &[W]) -> bool {
    starts_as_one(words, &TABLE.ci)
}

/// A call names checks that run elsewhere, whatever asks for them.
pub fn names_ci(call: &str) -> bool {
    TABLE.ci_names.is_match(call)
}

/// Its first words are one of these rows.
fn starts_as_one<W: AsRef<str>>(words: &[W], rows: &[String]) -> bool {
    rows.iter().any(|row| {
        let mut words = words.iter().map(AsRef::as_ref);
        row.split(' ').all(|part| words.next() == Some(part))
    })
}

/// What a command that [`watches_ci`] printed doesn't say how the checks ended.
pub fn is_ci_open(output: &str) -> bool {
    TABLE.ci_open.is_match(output)
}

/// `shop cart check`.
fn is_called_check<W: AsRef<str>>(words: &[W]) -> bool {
    let words = words.iter().map(AsRef::as_ref);
    let asks = |word: &str| matches!(word, "--help" | "-h" | "--version");
    let is_verb = |word: &str| TABLE.verbs.iter().any(|verb| verb == word);
    let is_other = |word: &str| {
        TABLE.no_verbs.iter().any(|other| other == word)
            || !word.bytes().all(|byte| byte.is_ascii_lowercase())
    };
    let mut subs = words.clone().skip(1);
    let (first, second) = (
        subs.next().unwrap_or_default(),
        subs.next().unwrap_or_default(),
    );
    (is_verb(first) || is_verb(second) && !is_other(first)) && !words.clone().any(asks)
}

fn read(line: &str, depth: u8, wanted: &Wanted<'_>, found: &mut Vec<CommandCheck>) {
    let mut from = 0;
    let mut folder = None;
    for simple in shell::read(line).iter().take(COMMANDS_MAX) {
        let Some(at) = line[from..].find(&*simple.words[0]).map(|at| from + at) else {
            continue;
        };
        let before = &line[..at];
        from = at + simple.words[0].len();
        if simple.piped || simple.nested || before.trim_end().ends_with("||") {
            continue;
        }
        if simple.words[0] == "cd" {
            folder = simple.words.get(1).filter(|folder| is_named(folder));
        }
        match ran(simple, depth) {
            // what reads a script's output reads that of its last command
            Some(Ran::Script(script))
                if depth < DEPTH_MAX && end(&line[from..]) == Some(CheckEnd::Own) =>
            {
                read(&script, depth + 1, wanted, found);
            }
            Some(Ran::Words(inner, _)) => {
                let judged = judge(simple, depth, None);
                let is_one = judged.is_some_and(|judged| match judged.verdict {
                    Verdict::Class(class) if wanted.classes.contains(&class.name) => true,
                    Verdict::Class(_) => wanted.others && watches_ci(inner),
                    Verdict::Name(_) => wanted.others && is_called_check(inner),
                });
                let any = wanted.any_reader.then_some(CheckEnd::Output);
                if is_one && let Some(end) = end(&line[from..]).or(any) {
                    let words: Vec<String> =
                        simple.words.iter().map(|word| word.to_string()).collect();
                    let program = inner.first().map(|word| word.to_string());
                    let program = program.unwrap_or_default();
                    let folder = folder.map(|folder| folder.trim_end_matches('/').to_owned());
                    found.push(CommandCheck {
                        place: part(&words).or(folder),
                        set: set_before(before),
                        program,
                        words,
                        end,
                    });
                }
            }
            _ => {}
        }
    }
}

/// What is set for a command by what stands before it: right there, or exported.
fn set_before(before: &str) -> Vec<String> {
    let mut parts: Vec<&str> = before.split([';', '&', '|', '\n']).map(str::trim).collect();
    let own = parts.pop().unwrap_or_default().trim_start_matches('(');
    let exported = parts.iter().filter_map(|part| part.strip_prefix("export "));
    let exported = exported.flat_map(str::split_whitespace);
    let own = own
        .rsplit(char::is_whitespace)
        .take_while(|word| is_setting(word));
    let mut own: Vec<&str> = own.collect();
    own.reverse();
    let all = exported.filter(|word| is_setting(word)).chain(own);
    all.map(str::to_owned).collect()
}

/// Not a folder that only the shell knows.
fn is_named(folder: &str) -> bool {
    !folder.starts_with(['-', '.', '~']) && !folder.contains(['$', '`'])
}

/// The part of the project that a command's options name.
fn part(words: &[String]) -> Option<String> {
    let at = words.iter().position(|word| TABLE.parts.contains(word))?;
    words.get(at + 1).cloned()
}

/// What stands behind a command in its line, up to the next operator; `None` where something reads its output that
/// leaves out what matters.
fn end(rest: &str) -> Option<CheckEnd> {
    match operator(rest) {
        (_, "") => Some(CheckEnd::Own),
        (at, "&&") => Some(match is_chain(&rest[at + 2..]) && !ends_in_finder(rest) {
            true => CheckEnd::First,
            false => CheckEnd::Output,
        }),
        (at, "|") => {
            let reader = rest[at + 1..].trim_start_matches(['&', ' ']);
            let reader = reader.split(|c: char| !c.is_alphanumeric()).next()?;
            let passes = TABLE.passes.iter().any(|name| name == reader);
            let is_last = is_chain(&rest[at + 1..]) && !rest.contains("&&");
            passes.then_some(if is_last {
                CheckEnd::Printed
            } else {
                CheckEnd::Output
            })
        }
        _ => Some(CheckEnd::Output),
    }
}

/// Something of the line runs on behind it: how the line ends says nothing of that.
pub fn leaves_running(line: &str) -> bool {
    let (at, mark) = operator(line);
    let rest = &line[at + mark.len()..];
    match mark {
        "" => false,
        "&" if rest.is_empty() || rest.starts_with(' ') => true,
        // `|&` passes on both outputs
        _ => leaves_running(rest.strip_prefix('&').unwrap_or(rest)),
    }
}

/// What stands behind `&&` only runs on: nothing in it has an end that hides one before.
fn is_chain(rest: &str) -> bool {
    match operator(rest) {
        (_, "") => true,
        (at, mark @ ("&&" | "|")) => is_chain(&rest[at + mark.len()..]),
        _ => false,
    }
}

/// The line's last command, as far as a mark inside of quotes isn't taken for an operator, hides that one before failed.
fn ends_in_finder(rest: &str) -> bool {
    let last = rest.rsplit(['|', '&']).next().unwrap_or_default();
    let name = last.split_whitespace().next().unwrap_or_default();
    TABLE.finders.iter().any(|finder| finder == name)
}

/// The first operator outside of quotes with where it stands; empty where none does.
fn operator(rest: &str) -> (usize, &str) {
    let mut quote = None;
    let bytes = rest.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let next = bytes.get(at + 1);
        let before = at.checked_sub(1).map(|at| bytes[at]);
        match (quote, byte) {
            (Some(open), byte) if open == *byte => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"') => quote = Some(*byte),
            (None, b'&' | b'|') if next == Some(byte) => return (at, &rest[at..at + 2]),
            (None, b'&') if next == Some(&b'>') || before == Some(b'>') => {}
            (None, b'&' | b';' | b'\n' | b'|') => return (at, &rest[at..=at]),
            _ => {}
        }
    }
    (rest.len(), "")
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenEnded {
    hints: Vec<String>,
    patterns: Vec<String>,
    #[cfg(test)]
    samples: Samples,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    classes: Vec<String>,
    hints: Vec<String>,
    test_classes: Vec<String>,
    test_hints: Vec<String>,
    test_names: Vec<String>,
    fixers: Vec<String>,
    fix_classes: Vec<String>,
    fix_hints: Vec<String>,
    lists: Vec<String>,
    only_faults: Vec<String>,
    parts: Vec<String>,
    ci: Vec<String>,
    ci_open: Vec<String>,
    ci_names: Vec<String>,
    verbs: Vec<String>,
    no_verbs: Vec<String>,
    passes: Vec<String>,
    finders: Vec<String>,
    missing: Vec<String>,
    absent: Vec<String>,
    clean: Vec<String>,
    written: Vec<String>,
    broken: Vec<String>,
    ended: WrittenEnded,
    well: WrittenEnded,
    #[cfg(test)]
    samples: BTreeMap<String, BTreeMap<String, String>>,
}

struct Table {
    classes: Vec<String>,
    test_classes: Vec<String>,
    all_classes: Vec<String>,
    fixers: Vec<String>,
    fix_classes: Vec<String>,
    fix_hints: LiteralFinder,
    lists: Vec<String>,
    only_faults: Vec<String>,
    parts: Vec<String>,
    ci: Vec<String>,
    ci_open: LiteralFinder,
    ci_names: LiteralFinder,
    verbs: Vec<String>,
    no_verbs: Vec<String>,
    passes: Vec<String>,
    finders: Vec<String>,
    hints: LiteralFinder,
    test_hints: LiteralFinder,
    test_names: LiteralFinder,
    missing: LiteralFinder,
    absent: LiteralFinder,
    clean: LiteralFinder,
    written: LiteralFinder,
    broken: LiteralFinder,
    ended: Ended,
    ended_hints: LiteralFinder,
    well: Ended,
    well_hints: LiteralFinder,
}

/// Patterns that are compiled once a hint of them was seen.
struct Ended {
    patterns: Vec<String>,
    compiled: OnceLock<LazyPattern>,
}

impl Ended {
    fn of(patterns: Vec<String>) -> Ended {
        Ended {
            patterns,
            compiled: OnceLock::new(),
        }
    }

    fn is_match(&self, line: &str) -> bool {
        let compiled = self.compiled.get_or_init(|| {
            let pattern = format!("(?:{})", self.patterns.join(")|(?:"));
            LazyPattern::new(&pattern).expect("a test reads them all")
        });
        compiled.is_match(Input::new(line))
    }
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let written: Written = table::rows(table::embedded!("commands/checks"));
    let words = LiteralFinder::of_any_case;
    Table {
        hints: words(written.hints),
        test_hints: words(written.test_hints),
        test_names: words(written.test_names),
        missing: words(written.missing),
        absent: words(written.absent),
        clean: words(written.clean),
        written: words(written.written),
        broken: words(written.broken),
        ended: Ended::of(written.ended.patterns),
        ended_hints: LiteralFinder::of(written.ended.hints),
        well: Ended::of(written.well.patterns),
        well_hints: LiteralFinder::of(written.well.hints),
        all_classes: [&written.classes[..], &written.test_classes[..]].concat(),
        classes: written.classes,
        test_classes: written.test_classes,
        fixers: written.fixers,
        fix_classes: written.fix_classes,
        fix_hints: words(written.fix_hints),
        lists: written.lists,
        only_faults: written.only_faults,
        parts: written.parts,
        ci: written.ci,
        ci_open: words(written.ci_open),
        ci_names: words(written.ci_names),
        verbs: written.verbs,
        no_verbs: written.no_verbs,
        passes: written.passes,
        finders: written.finders,
    }
});

#[cfg(test)]
mod tests;
