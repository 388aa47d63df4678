//! What builds, linters, type checkers and the like said of a session's work: of each the last run of which the log
//! tells how it ended. What only its own output could tell, and nobody sees, is left out.

use super::later_checks::{Overlap, is_superseded, says_ci_passed};
use super::line::LocatedItem;
use super::ran::{RUNNING, RanCommand, call, is_hook};
use super::unseen_runs;
use super::words::shortened;
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::model::summary::{CheckRun, Sourced};
use crate::rules::check_words::{runs_tasks, scope};
use crate::rules::commands::{
    CheckEnd, CommandCheck, bare, checks as checks_of, fixers, is_absent, is_ci_open, is_clean,
    is_fixer, is_missing, is_only_built, is_written, may_be_one_place, only_lists, passes_end,
    prints_only_faults, test_commands, watches_ci,
};
use crate::rules::paths::is_throwaway;
use crate::rules::test_words::checks_pass;
use std::borrow::Cow;

/// Commands of one session that are listed, the last ones.
const CHECKS_MAX: usize = 6;

/// Of what a command said more is no word on how it ended.
const SAID_CHARS_MAX: usize = 60;

/// It says which fault, not all of it.
const FAULT_CHARS_MAX: usize = 110;

/// Which checks a session ran.
pub struct Checks {
    /// The last run of each command, in the order in which these stood in the log.
    pub runs: Vec<Sourced<CheckRun>>,
    /// A next step: that the program of a check isn't there.
    pub not_there: Option<Sourced<String>>,
}

/// Reads each command once.
pub fn checks(lines: &[LocatedItem<'_>]) -> Checks {
    let all = seen(lines);
    Checks {
        not_there: not_there(&all, lines),
        runs: runs(all, lines),
    }
}

fn runs(all: Vec<Seen>, lines: &[LocatedItem<'_>]) -> Vec<Sourced<CheckRun>> {
    let last = |is_it: &dyn Fn(&LocatedItem<'_>) -> bool| lines.iter().rposition(is_it);
    let changed = last(&|line| changes(line, is_code)).unwrap_or(0);
    let changed_texts = last(&|line| changes(line, |_| true)).unwrap_or(0);
    // a commit's hook checked what was committed
    let hooked = last(&is_checked_commit).unwrap_or(0);
    let told = all.into_iter().filter_map(|seen| {
        let mut run = seen.run;
        let later = &lines[seen.at + 1..];
        let said = || match seen.is_ci {
            true => says_ci_passed(later),
            false => unseen_runs::says_passed(later, &run.what.command).is_some(),
        };
        run.what.by_agent = seen.passed.is_none() && said();
        run.what.passed = seen.passed.unwrap_or(run.what.by_agent);
        let is_open = || is_superseded(&run.what, later, Overlap::All);
        // nobody knows how it ended, or whether it still fails
        if !run.what.passed && (seen.passed.is_none() || is_open()) {
            return None;
        }
        if !run.what.passed && !seen.is_mended {
            run.what.fixed_by = None;
        }
        run.what.failed_before = seen.failed;
        let changed = match reads_texts(&run.what.command) {
            true => changed_texts,
            false => changed,
        };
        let is_again = || is_superseded(&run.what, &lines[changed + 1..], Overlap::All);
        run.what.changed_after = changed > seen.at
            && (hooked < changed || !run.what.passed)
            && !(run.what.passed && is_again());
        Some(run)
    });
    let mut told: Vec<_> = told.collect();
    if told.is_empty() && lines.iter().any(|line| changes(line, |_| true)) {
        told.extend(said_to_pass(lines, changed));
    }
    let first = told.len().saturating_sub(CHECKS_MAX);
    told.into_iter().skip(first).collect()
}

/// The platform that a build is for, where one is set: that it builds there says nothing of here.
fn target(check: &CommandCheck) -> Option<String> {
    const TARGETS: [&str; 2] = ["GOOS=", "GOARCH="];
    let is_one = |word: &&String| TARGETS.iter().any(|target| word.starts_with(target));
    let before = &check.words[..check.words.len() - bare(&check.words).len()];
    let set = check.set.iter().chain(before).filter(is_one);
    let set: Vec<&str> = set.map(String::as_str).collect();
    (!set.is_empty()).then(|| set.join(" "))
}

/// What fixers of a line that worked may have mended: checks of the same kind that failed when they ran last.
fn note_fixers(all: &mut [Seen], call: &RanCommand<'_>) {
    let is_red = |seen: &Seen| seen.passed == Some(false);
    let fixers = (!call.failed && all.iter().any(is_red)).then(|| fixers(call.command));
    for fixer in fixers.into_iter().flatten() {
        let own = key(bare(&fixer.words), None);
        let fixer = shown(bare(&fixer.words));
        let fixes = scope(&fixer);
        let failed = all.iter_mut().filter(|seen| is_red(seen));
        for seen in failed.filter(|seen| fixes.meets(scope(&seen.run.what.command))) {
            seen.run.what.fixed_by = Some(fixer.clone());
            seen.is_mended = seen.key == own;
        }
    }
}

/// The last run of each command, wherever it ran.
fn seen(lines: &[LocatedItem<'_>]) -> Vec<Seen> {
    let mut all: Vec<Seen> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let begun = || RanCommand::begun(line).filter(|call| call.command.contains("gh "));
        let call = RanCommand::of(line).or_else(begun);
        let Some(call) = call else { continue };
        note_fixers(&mut all, &call);
        let mut checks = checks_of(call.command).into_iter().peekable();
        while let Some(check) = checks.next() {
            let words = bare(&check.words);
            let shown = shown(words);
            if shown.rsplit(' ').next().is_some_and(is_throwaway) {
                continue;
            }
            let target = target(&check);
            let is_ci = watches_ci(words);
            let state = match is_ci {
                true if line.item.text.ends_with(RUNNING) => None,
                true => call.ci_state(&check),
                false if call.is_unclear() => None,
                false => call.state(&check),
            };
            let mut key = key(words, check.place.as_deref());
            key.extend(target.clone());
            if is_fixer(words) && state != Some(false) {
                all.retain(|seen| seen.key != key);
                continue;
            }
            let is_same = |seen: &Seen| {
                seen.key == key && may_be_one_place(seen.place.as_deref(), check.place.as_deref())
            };
            let known = all.iter().rposition(is_same);
            let known = known.map(|known| all.remove(known));
            let known = known.filter(|seen| !looks_at_less(words, &seen.run.what.command));
            let failed = known
                .as_ref()
                .is_some_and(|seen| seen.failed || seen.passed == Some(false));
            let fixer = known
                .as_ref()
                .and_then(|seen| seen.run.what.fixed_by.clone())
                .filter(|_| state == Some(true));
            let before = known.and_then(|seen| seen.run.what.fault);
            let fault = (state == Some(false)).then(|| call.fault()).flatten();
            all.push(Seen {
                at,
                passed: state,
                missing: (call.failed && is_missing(call.output, &check.program))
                    .then(|| check.program.clone()),
                failed,
                is_ci,
                is_mended: false,
                run: line.source(CheckRun {
                    command: behind(target, shown),
                    fixed_by: fixer,
                    // of several, the last one said it
                    said: state
                        .filter(|_| checks.peek().is_none())
                        .and_then(|_| call.said(&check)),
                    fault: fault.or(before),
                    ..CheckRun::default()
                }),
                key,
                place: check.place,
            });
        }
    }
    name_places(&mut all);
    all
}

/// The command behind what is set for it.
fn behind(target: Option<String>, shown: String) -> String {
    match target {
        Some(target) => format!("{target} {shown}"),
        None => shown,
    }
}

/// That a build or a check failed when it ran last and nothing was changed since, where no other one of its program passed.
/// Or that one failed and nothing shows that what was changed then helped: no check and no test passed behind it.
pub fn failing(checks: &[Sourced<CheckRun>], lines: &[LocatedItem<'_>]) -> Option<Sourced<String>> {
    let program = |run: &CheckRun| run.command.split(' ').next().map(str::to_owned);
    let failing = checks.iter().rev().find(|check| {
        let run = &check.what;
        let passed = |other: &&Sourced<CheckRun>| {
            let (place, other) = (run.place.as_deref(), &other.what);
            // a runner of tasks builds without a look at how it is written
            let is_kin = |program: &str| {
                let failed = scope(&run.command);
                let may_tell = !runs_tasks(program) || !failed.looks_at_form();
                may_tell || scope(&other.command).meets(failed)
            };
            let is_same = program(other) == program(run)
                && program(run).is_some_and(|program| is_kin(&program));
            other.passed && is_same && may_be_one_place(place, other.place.as_deref())
        };
        let is_mended = run.passed || run.fixed_by.is_some();
        if is_mended || checks.iter().any(|other| passed(&other)) {
            return false;
        }
        let later = later(check, lines);
        let is_open = |later| !is_superseded(run, later, Overlap::Some);
        later.is_some_and(|later| {
            is_open(later) && (!run.changed_after || is_last_word(checks, later))
        })
    })?;
    let lead = match failing.what.changed_after {
        true => NOT_AGAIN,
        false => FAILING,
    };
    let command = &failing.what.command;
    let is_named = |place: &&String| command.split(' ').any(|word| word == place.as_str());
    let at = failing.what.place.as_ref().filter(|place| !is_named(place));
    let at = at.map_or(String::new(), |place| format!(" in {place}"));
    Some(Sourced {
        what: format!("{lead}{}{at}", failing.what.command),
        episode: failing.episode,
        line: failing.line,
    })
}

/// That the program of a check isn't there, and nothing else looked at the same, before or after.
fn not_there(all: &[Seen], lines: &[LocatedItem<'_>]) -> Option<Sourced<String>> {
    let missing = all.iter().rev().find(|seen| {
        let program = seen.missing.as_deref();
        let ran = |program| lines.iter().any(|line| may_run(line, program));
        program.is_some_and(|program| !ran(program))
            && !is_superseded(&seen.run.what, lines, Overlap::Some)
    })?;
    let changed = lines.iter().any(|line| changes(line, |_| true));
    let step = format!("{MISSING}{}", missing.run.what.command);
    changed.then_some(Sourced {
        what: step,
        episode: missing.run.episode,
        line: missing.run.line,
    })
}

/// The line's command names the program and worked, or checked something with another end than that it isn't there.
fn may_run(line: &LocatedItem<'_>, program: &str) -> bool {
    let is_of_word = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    let ran = RanCommand::of(line).or_else(|| RanCommand::begun(line));
    ran.is_some_and(|ran| {
        let mut words = ran.command.split(|c| !is_of_word(c));
        let is_told = || !is_absent(ran.output) && !checks_of(ran.command).is_empty();
        words.any(|word| word == program) && (!ran.failed || is_told())
    })
}

const MISSING: &str = "Not checked, as the program isn't there: ";
const FAILING: &str = "Failed when it ran last: ";
const NOT_AGAIN: &str = "Failed, and not run again after the last change: ";

/// What stands behind a check.
fn later<'l, 't>(
    check: &Sourced<CheckRun>,
    lines: &'l [LocatedItem<'t>],
) -> Option<&'l [LocatedItem<'t>]> {
    let is_it = |line: &LocatedItem<'_>| (line.episode, line.line) == (check.episode, check.line);
    Some(&lines[lines.iter().position(is_it)? + 1..])
}

/// Nothing was checked or tested in what stands behind a check, and nobody says that it passed.
fn is_last_word(checks: &[Sourced<CheckRun>], later: &[LocatedItem<'_>]) -> bool {
    let stands = |other: &Sourced<CheckRun>| {
        let mut later = later.iter();
        later.any(|line| (line.episode, line.line) == (other.episode, other.line))
    };
    let is_test = |finding: &Finding| matches!(finding, Finding::Tests(_));
    let tells = |line: &LocatedItem<'_>| {
        let is_said = line.main && line.item.kind == ItemKind::Agent;
        is_said && checks_pass(line.words()).is_some() || line.item.findings.iter().any(is_test)
    };
    !checks.iter().any(stands) && !later.iter().any(tells)
}

/// The agent's last words that checks passed, where no call of the log shows one: another agent ran them.
fn said_to_pass(lines: &[LocatedItem<'_>], changed: usize) -> Option<Sourced<CheckRun>> {
    const WORDS_MAX: usize = 24;
    let words = lines.iter().enumerate().rev();
    let words = words.filter(|(_, line)| line.main && line.item.kind == ItemKind::Agent);
    let mut said = words
        .take(WORDS_MAX)
        .filter_map(|(at, line)| Some((at, line, checks_pass(line.words())?)));
    let (at, line, said) = said.next()?;
    Some(line.source(CheckRun {
        passed: true,
        said: Some(said.to_owned()),
        by_agent: true,
        changed_after: changed > at,
        ..CheckRun::default()
    }))
}

/// A command with what is known of its runs.
struct Seen {
    key: Vec<String>,
    place: Option<String>,
    at: usize,
    /// How the last run ended, where anybody knows.
    passed: Option<bool>,
    /// Its program, where that isn't there.
    missing: Option<String>,
    /// One before it failed.
    failed: bool,
    /// It tells of checks that run elsewhere.
    is_ci: bool,
    /// What mends its own faults ran behind it.
    is_mended: bool,
    run: Sourced<CheckRun>,
}

/// Where a command ran in several places, each is named by its last folder.
fn name_places(all: &mut [Seen]) {
    for nth in 0..all.len() {
        let one = &all[nth];
        let is_elsewhere = |other: &Seen| {
            other.key == one.key && !may_be_one_place(other.place.as_deref(), one.place.as_deref())
        };
        let is_one_of_several = all.iter().any(is_elsewhere);
        let place = one.place.as_deref().filter(|_| is_one_of_several);
        let last = place.and_then(|place| place.rsplit('/').next());
        all[nth].run.what.place = last.map(str::to_owned);
    }
}

impl RanCommand<'_> {
    /// Nothing was wrong; `None` where nobody knows.
    fn state(&self, check: &CommandCheck) -> Option<bool> {
        let is_cut = self.command.ends_with('…') || self.command.contains("<<");
        let is_absent = self.failed && is_absent(self.output);
        match check.end {
            _ if is_cut || is_absent => None,
            // a paper with an error in it is made, though its exit code is 1
            _ if self.failed && is_written(self.output) => Some(true),
            CheckEnd::Own if self.failed => Some(false),
            CheckEnd::Own if only_lists(&check.words) => Some(self.is_silent()),
            CheckEnd::Own => Some(true),
            CheckEnd::First if self.failed || only_lists(&check.words) => None,
            CheckEnd::First => Some(true),
            // its output said so, not the exit code of what passed that on
            CheckEnd::Printed if self.failed && !self.ended_badly() => Some(false),
            CheckEnd::Output | CheckEnd::Printed if self.failed => None,
            CheckEnd::Printed if is_size(self.output) && prints_only_faults(&check.words) => {
                Some(false)
            }
            CheckEnd::Output | CheckEnd::Printed => self.printed(check),
        }
    }

    /// Of a script nobody knows which of its commands ran, or which of them failed.
    fn is_unclear(&self) -> bool {
        const GUARDS: [&str; 4] = ["then", "else", "case", "exit"];
        let parts = || self.command.split(';').flat_map(|part| part.split("&&"));
        let first = |part: &str| part.split_whitespace().next().map(str::to_owned);
        let is_guard = |word: String| GUARDS.contains(&word.as_str());
        let is_guarded = || parts().filter_map(first).any(is_guard);
        let is_list = self.command.contains("; ");
        is_list && (is_guarded() || self.failed && several(self.command))
    }

    /// What was printed of a command says that nothing was wrong, or that something was.
    fn printed(&self, check: &CommandCheck) -> Option<bool> {
        let passed = passed_line(self.output);
        let own = self.without_echoes(self.output);
        let last = own.rsplit(" · ").next().unwrap_or_default();
        let is_piped = check.end == CheckEnd::Printed;
        let has_end = !is_piped || passes_end(self.command);
        if is_only_built(&check.words, passed.unwrap_or(last)) {
            return None;
        }
        match is_clean(&own) {
            _ if is_piped && passed.is_some() => has_end.then_some(true),
            // more of it came behind what was well
            Some(true) if is_piped && is_clean(last) != Some(true) => None,
            Some(true) if last == own => Some(true),
            Some(true) => has_end.then_some(true),
            Some(false) => Some(false),
            None => (has_end && self.is_shown()).then_some(true),
        }
    }

    /// The same of a command that waits for checks elsewhere.
    fn ci_state(&self, check: &CommandCheck) -> Option<bool> {
        let says = |flag: &str| check.words.iter().any(|word| word == flag);
        // without it `gh run watch` ends with 0 whatever it saw
        let is_told = says("checks") || says("--exit-status");
        let is_known = is_told && !is_ci_open(self.output) && !self.command.ends_with('…');
        match check.end {
            CheckEnd::Own if is_known => Some(!self.failed),
            CheckEnd::First if is_known && !self.failed => Some(true),
            _ => None,
        }
    }

    /// The line's exit code told of an error.
    fn ended_badly(&self) -> bool {
        self.output.starts_with("exit ") || self.output.starts_with("failed")
    }

    /// What it printed without what the line itself says between its commands: `echo done`.
    fn without_echoes<'o>(&self, output: &'o str) -> Cow<'o, str> {
        if !self.command.contains("echo ") {
            return Cow::Borrowed(output);
        }
        let echoes = self.command.split("echo ").skip(1);
        let echoes = echoes.filter_map(|said| said.split([';', '&', '|']).next());
        let echoes: Vec<&str> = echoes.map(|said| said.trim_matches(AROUND)).collect();
        let is_own = |part: &&str| !echoes.contains(&part.trim_matches(AROUND));
        Cow::Owned(
            output
                .split(" · ")
                .filter(is_own)
                .collect::<Vec<_>>()
                .join(" · "),
        )
    }

    /// The output stands there, and no word of trouble in it.
    fn is_shown(&self) -> bool {
        !is_size(self.output) && is_clean(self.output).is_none() && !is_absent(self.output)
    }

    /// What it complained of first; nothing where that only says that something failed.
    fn fault(&self) -> Option<String> {
        let (end, said) = self.output.split_once(": ")?;
        let tells = end.starts_with("exit ") || end == "complained";
        // how a runner of tasks ends says nothing of the fault
        let is_end = said.contains("exited with") || said.contains("ELIFECYCLE");
        // nor does a line of what a formatter would change
        let is_diff = said.starts_with(['-', '+']);
        let says = said.contains(' ') && !said.starts_with("no tests") && !is_end && !is_diff;
        (tells && says).then(|| shortened(said, FAULT_CHARS_MAX))
    }

    /// What the line printed, where that is of this command.
    fn said(&self, check: &CommandCheck) -> Option<String> {
        let said = self.output.trim().trim_end_matches('.');
        let said = said.strip_prefix("failed: ").unwrap_or(said);
        let said = passed_line(said).unwrap_or(said);
        let said = &*self.without_echoes(said);
        let is_short = !said.is_empty() && said.chars().count() <= SAID_CHARS_MAX;
        let is_own = check.end != CheckEnd::First && is_clean(said) == Some(true);
        (is_short && is_own && !self.is_silent()).then(|| said.to_owned())
    }
}

/// Stand around what is echoed; a digest escapes what begins like a list.
const AROUND: [char; 4] = [' ', '"', '\'', '\\'];

/// The line has more than one command that checks or tests.
fn several(line: &str) -> bool {
    checks_of(line).len() + test_commands(line).len() > 1
}

/// Of a longer output a digest tells only how long it is.
fn is_size(output: &str) -> bool {
    output.ends_with(" KB") || output.ends_with(" bytes")
}

/// Behind the size of a longer output a digest tells the line that says that a check passed.
fn passed_line(output: &str) -> Option<&str> {
    let (size, said) = output.split_once(": ")?;
    is_size(size).then_some(said)
}

/// A command without where its output goes.
fn shown(words: &[String]) -> String {
    let mut words = words.iter();
    let mut shown: Vec<&str> = Vec::new();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-o" | "--output" => _ = words.next(),
            word => shown.push(word),
        }
    }
    shown.join(" ")
}

/// The command looks only at what lies below a place that the other one looked at: what that found may still be there.
fn looks_at_less(words: &[String], other: &str) -> bool {
    let is_below = |word: &String| {
        let mut others = other.split(' ').filter(|other| other.contains('/'));
        others.any(|other| {
            let below = word.strip_prefix(other.trim_end_matches('/'));
            below.is_some_and(|below| below.starts_with('/') && below.len() > 1)
        })
    };
    words.iter().any(is_below)
}

/// What makes two commands runs of the same: the words that are no options, paths or numbers, and don't say of what part
/// of the project it is.
fn key(words: &[String], place: Option<&str>) -> Vec<String> {
    const WORDS_MAX: usize = 4;
    let is_name =
        |word: &&String| !word.starts_with('-') && !word.contains(['/', '\\', '.', '=', '*']);
    words
        .iter()
        .filter(is_name)
        .filter(|word| Some(word.as_str()) != place)
        .take(WORDS_MAX)
        .cloned()
        .collect()
}

fn changes(line: &LocatedItem<'_>, counts: impl Fn(&str) -> bool) -> bool {
    let mut findings = line.item.findings.iter();
    findings.any(|finding| match finding {
        Finding::Changed { path, .. } => counts(path) && !is_throwaway(path),
        _ => false,
    })
}

/// Not a text for people, nor one for git: most checks don't read those.
fn is_code(path: &str) -> bool {
    const TEXTS: [&str; 7] = [
        ".md",
        ".mdx",
        ".rst",
        ".adoc",
        "LICENSE",
        ".gitignore",
        ".gitattributes",
    ];
    !TEXTS.iter().any(|end| path.ends_with(end))
}

/// A check of texts for people.
fn reads_texts(command: &str) -> bool {
    const NAMES: [&str; 9] = [
        "md", "mdx", "markdown", "vale", "doc", "docs", "prettier", "spell", "cspell",
    ];
    let mut words = command.split(|c: char| !c.is_alphabetic());
    words.any(|word| NAMES.contains(&word)) || command.contains("markdown")
}

/// A commit was made whose hook ran tests, and they passed.
fn is_checked_commit(line: &LocatedItem<'_>) -> bool {
    let findings = line.item.findings;
    let is_commit = |finding: &Finding| matches!(finding, Finding::Commit { .. });
    let passed = |finding: &Finding| matches!(finding, Finding::Tests(run) if run.failed == 0);
    findings.iter().any(is_commit) && findings.iter().any(passed) && call(line).is_some_and(is_hook)
}

#[cfg(test)]
mod tests;
