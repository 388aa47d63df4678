//! Which later runs, here and elsewhere, say as much of the work as a check that failed.

use super::line::LocatedItem;
use super::ran::{RUNNING, RanCommand};
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::model::summary::CheckRun;
use crate::rules::check_words::{CheckScope, scope};
use crate::rules::commands::{
    CommandCheck, bare, checks, is_ci_open, is_clean, may_be_one_place, watches_ci,
};
use crate::rules::test_words::{checks_pass, ci_passes};

/// How much of what a check looks at another run has to look at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Overlap {
    All,
    Some,
}

/// Behind a check that failed something shows that what it looks at may be well: another form of it or one of more passed,
/// here or elsewhere, or the agent says so.
pub fn is_superseded(check: &CheckRun, later: &[LocatedItem<'_>], coverage: Overlap) -> bool {
    let words: Vec<&str> = check.command.split(' ').collect();
    if watches_ci(&words) {
        return later.iter().any(starts_ci);
    }
    let failed = scope(&check.command);
    let covers = |other: CheckScope| match coverage {
        Overlap::All => other.covers(failed),
        Overlap::Some => other.meets(failed),
    };
    let passes = |line: &LocatedItem<'_>, ran: &RanCommand<'_>| {
        let is_ci = |words: &[String]| watches_ci(words) && !is_ci_open(ran.output);
        let mut found = checks(ran.command).into_iter();
        let is_clean = is_clean(ran.output) != Some(false) && !line.item.text.ends_with(RUNNING);
        let each = || runs_each(ran.command);
        let is_here = |place: Option<&str>| may_be_one_place(place, check.place.as_deref());
        let is_one = |other: CommandCheck| {
            let words = bare(&other.words);
            is_ci(words) || covers(scope(&words.join(" "))) && is_here(other.place.as_deref())
        };
        !ran.failed && is_clean && (found.any(is_one) || covers(each()))
    };
    // whose tests run has built it
    let program = words.first().copied();
    let tested = |finding: &Finding| match finding {
        Finding::Tests(run) => run.failed == 0 && run.runner.split(' ').next() == program,
        _ => false,
    };
    later.iter().any(|line| match line.item.kind {
        ItemKind::Agent if line.main => {
            let words = line.words();
            let says_clean = || !failed.is_none() && checks_pass(words).is_some();
            says_clean() || ci_passes(words).is_some()
        }
        ItemKind::Digest => {
            line.item.findings.iter().any(tested)
                || RanCommand::of(line).is_some_and(|ran| passes(line, &ran))
        }
        _ => false,
    })
}

/// What a command that gets its files from another one looks at: `git ls-files | xargs npx eslint`.
fn runs_each(command: &str) -> CheckScope {
    let each = command.rsplit_once("xargs ");
    each.map_or(CheckScope::default(), |(_, each)| scope(each))
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
