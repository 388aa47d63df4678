//! What builds, linters, type checkers and the like said of a session's work: of each the last run of which the log
//! tells how it ended. What only its own output could tell, and nobody sees, is left out.

mod ended;
mod hooked;

use super::later_checks::{Overlap, is_superseded, says_ci_passed};
use super::line::LocatedItem;
use super::ran::{RanCommand, call, is_hook};
use super::stale::Changes;
use super::unseen_runs;
use super::words::shortened;
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::model::summary::{CheckRun, Sourced};
use crate::rules::check_words::scope;
use crate::rules::commands::{
    bare, checks as checks_of, fixers, is_absent, is_fixer, is_missing, may_be_one_place,
    watches_ci,
};
use crate::rules::paths::is_throwaway;
use crate::rules::test_words::{checks_pass, faults_excuse};
use ended::ended;
use hooked::hooked;

/// Commands of one session that are listed, the last ones.
const CHECKS_MAX: usize = 6;

/// Enough to tell of what it speaks.
const EXCUSE_CHARS_MAX: usize = 160;

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
    let changes = Changes::of(lines);
    // a commit's hook tested what was committed
    let tested = lines.iter().rposition(is_checked_commit).unwrap_or(0);
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
        if !run.what.passed {
            run.what.excuse = excused(later).map(|said| shortened(said, EXCUSE_CHARS_MAX));
        }
        let changed = changes.last_for(&run.what.command, seen.place.as_deref());
        let changed = changed.unwrap_or(0);
        let is_again = || is_superseded(&run.what, &lines[changed + 1..], Overlap::All);
        run.what.changed_after = changed > seen.at
            && (tested < changed || !run.what.passed)
            && !(run.what.passed && is_again());
        Some(run)
    });
    let mut told: Vec<_> = told.collect();
    if told.is_empty() && changes.is_any() {
        told.extend(said_to_pass(lines, changes.last_for("", None).unwrap_or(0)));
    }
    let first = told.len().saturating_sub(CHECKS_MAX);
    told.drain(..first);
    let by_hooks = hooked(lines, &changes, &told);
    told.extend(by_hooks.into_iter().take(CHECKS_MAX - told.len()));
    told
}

/// What the agent says next of what a check complains of: that it isn't of this work.
fn excused<'t>(later: &[LocatedItem<'t>]) -> Option<&'t str> {
    const WORDS_MAX: usize = 2;
    let next = later
        .iter()
        .take_while(|line| line.item.kind != ItemKind::Prompt && !line.is_edit());
    let said = next.filter(|line| line.main && line.item.kind == ItemKind::Agent);
    let mut said = said.take(WORDS_MAX);
    said.find_map(|line| faults_excuse(line.words()))
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
        let checks = checks_of(call.command);
        let ends = ended(line, &call, &checks);
        for (check, end) in checks.into_iter().zip(ends) {
            let words = bare(&check.words);
            let shown = shown(words);
            let is_cut = shown.ends_with('…');
            if is_cut || shown.rsplit(' ').next().is_some_and(is_throwaway) {
                continue;
            }
            let target = check.target();
            let state = end.passed;
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
            all.push(Seen {
                at,
                passed: state,
                missing: (call.failed && is_missing(call.output, &check.program))
                    .then(|| check.program.clone()),
                failed,
                is_ci: watches_ci(words),
                is_mended: false,
                run: line.source(CheckRun {
                    command: behind(target, shown),
                    fixed_by: fixer,
                    said: end.said,
                    fault: end.fault.or(before),
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

/// That a build or a check failed when it ran last and nothing was changed since, where no later one looked at the same and
/// passed. Or that one failed and nothing shows that what was changed then helped: no check and no test passed behind it.
pub fn failing(checks: &[Sourced<CheckRun>], lines: &[LocatedItem<'_>]) -> Option<Sourced<String>> {
    let changes = Changes::of(lines);
    let failing = checks.iter().rev().find(|check| {
        let run = &check.what;
        // how a file is written that the session left alone says nothing of its work
        let is_other = || scope(&run.command).looks_at_form() && changes.none_named(&run.command);
        let is_mended = run.passed || run.fixed_by.is_some() || run.excuse.is_some() || is_other();
        let later = || later(check, lines);
        let is_open = |later| !is_superseded(run, later, Overlap::Some);
        !is_mended
            && later().is_some_and(|later| {
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
            && !is_superseded(&seen.run.what, lines, Overlap::Kind)
    })?;
    let step = format!("{MISSING}{}", missing.run.what.command);
    Changes::of(lines).is_any().then_some(Sourced {
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

/// A commit was made whose hook ran tests, and they passed.
fn is_checked_commit(line: &LocatedItem<'_>) -> bool {
    let findings = line.item.findings;
    let is_commit = |finding: &Finding| matches!(finding, Finding::Commit { .. });
    let passed = |finding: &Finding| matches!(finding, Finding::Tests(run) if run.failed == 0);
    findings.iter().any(is_commit) && findings.iter().any(passed) && call(line).is_some_and(is_hook)
}

#[cfg(test)]
mod tests;
