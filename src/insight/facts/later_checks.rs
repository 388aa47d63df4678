//! Which later runs, here and elsewhere, say as much of the work as a check that failed.

use super::line::LocatedItem;
use super::ran::{RUNNING, RanCommand, call};
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::model::summary::{CheckRun, SessionCommit, Sourced};
use crate::rules::check_words::{CheckScope, may_find_the_same, runs_tasks, scope};
use crate::rules::commands::{
    CommandCheck, bare, checks, is_ci_open, is_clean, is_setting, may_be_one_place, names_ci,
    watches_ci,
};
use crate::rules::test_words::{checks_pass, ci_passes, says_ci_ended, says_ci_runs};

/// How much of what a check looks at another run has to look at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Overlap {
    All,
    Some,
    /// Some, with whatever tool.
    Kind,
}

/// Behind a check that failed something shows that what it looks at may be well: another form of it or one of more passed,
/// here or elsewhere, or the agent says so.
pub fn is_superseded(check: &CheckRun, later: &[LocatedItem<'_>], coverage: Overlap) -> bool {
    // where a target is set, it is told before the command
    let is_target = |word: &&str| is_setting(word);
    let target: Vec<&str> = check.command.split(' ').take_while(is_target).collect();
    let words: Vec<&str> = check.command.split(' ').skip(target.len()).collect();
    if watches_ci(&words) {
        return later.iter().any(starts_ci);
    }
    let failed = scope(&check.command);
    let covers = |other: CheckScope| match coverage {
        Overlap::All => other.covers(failed),
        Overlap::Some | Overlap::Kind => other.meets(failed),
    };
    let any_tool = coverage == Overlap::Kind || !failed.looks_at_form();
    let is_kin = |other: &str| any_tool || may_find_the_same(&check.command, other);
    let passes = |line: &LocatedItem<'_>, ran: &RanCommand<'_>| {
        let is_ci = |words: &[String]| watches_ci(words) && !is_ci_open(ran.output);
        let mut found = checks(ran.command).into_iter();
        let is_clean = is_clean(ran.output) != Some(false) && !line.item.text.ends_with(RUNNING);
        let each = || runs_each(ran.command);
        let is_here = |place: Option<&str>| may_be_one_place(place, check.place.as_deref());
        let is_one = |other: CommandCheck| {
            let words = bare(&other.words);
            let command = words.join(" ");
            let is_for_it = other.target().as_deref().unwrap_or_default() == target.join(" ");
            let is_same = covers(scope(&command)) && is_kin(&command);
            is_ci(words) || is_same && is_for_it && is_here(other.place.as_deref())
        };
        !ran.failed && is_clean && (found.any(is_one) || covers(each()))
    };
    // whose tests run has built it; lint is another matter, and so is what a runner of tasks built
    let is_built =
        |program: &&str| target.is_empty() && !failed.looks_at_form() && !runs_tasks(program);
    let program = words.first().copied().filter(is_built);
    let shown = |finding: &Finding| match finding {
        Finding::Tests(run) => run.failed == 0 && run.runner.split(' ').next() == program,
        // it may have looked at what was staged only
        Finding::HookChecked {
            check: other,
            passed: true,
        } => coverage != Overlap::All && covers(scope(other)) && is_kin(other),
        _ => false,
    };
    later.iter().any(|line| match line.item.kind {
        ItemKind::Agent if line.main => {
            let words = line.words();
            let says_clean = || !failed.is_none() && checks_pass(words).is_some();
            says_clean() || ci_passes(words).is_some()
        }
        ItemKind::Digest => {
            line.item.findings.iter().any(shown)
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
    let is_push = |finding: &Finding| matches!(finding, Finding::Pushed | Finding::PullRequest(_));
    line.item.findings.iter().any(is_push) || looks_at_ci(line) || says_ci_passes(line)
}

/// A call asks for checks elsewhere, or for how they ended.
fn looks_at_ci(line: &LocatedItem<'_>) -> bool {
    const CALLS: [&str; 7] = [
        "gh run rerun",
        "gh run watch",
        "gh run view",
        "gh run list",
        "gh pr checks",
        "gh pr merge",
        "gh workflow run",
    ];
    line.item.kind == ItemKind::Digest && CALLS.iter().any(|call| line.item.text.contains(call))
}

fn says_ci_passes(line: &LocatedItem<'_>) -> bool {
    line.main && line.item.kind == ItemKind::Agent && ci_passes(line.words()).is_some()
}

/// That checks elsewhere failed when somebody looked at them last, and nobody did behind the last push.
pub fn not_seen_since(lines: &[LocatedItem<'_>]) -> Option<Sourced<String>> {
    let is_push = |finding: &Finding| matches!(finding, Finding::Pushed);
    let pushed = lines
        .iter()
        .rposition(|line| line.item.findings.iter().any(is_push))?;
    let before = lines[..pushed].iter().enumerate().rev();
    let mut looks = before.filter_map(|(at, line)| Some((at, fails_in_ci(line)?)));
    let (looked, _) = looks.next().filter(|(_, fails)| *fails)?;
    let is_seen = |line: &LocatedItem<'_>| looks_at_ci(line) || says_ci_passes(line);
    let is_known =
        lines[looked + 1..].iter().any(says_ci_passes) || lines[pushed + 1..].iter().any(is_seen);
    (!is_known).then(|| lines[pushed].source(CI_NOT_SEEN.to_owned()))
}

const CI_NOT_SEEN: &str = "CI failed when it was looked at last, before the last push";

/// That checks elsewhere of a commit that the session sent were not done when somebody listed them last.
pub fn queued_at_last(
    lines: &[LocatedItem<'_>],
    commits: &[Sourced<SessionCommit>],
) -> Option<Sourced<String>> {
    let lists = |line: &LocatedItem<'_>| {
        let mut findings = line.item.findings.iter();
        findings.any(|finding| matches!(finding, Finding::CheckElsewhere { .. }))
    };
    let at = lines.iter().rposition(lists)?;
    let mut later = lines[at + 1..].iter();
    if looks_on(&lines[at]) || later.any(may_tell_of_ci) {
        return None;
    }
    // the last one of each title, where none of it is done
    let state_of = |commit: &SessionCommit| {
        let findings = lines[at].item.findings.iter();
        let states = findings.filter_map(|finding| match finding {
            Finding::CheckElsewhere { title, state } => {
                (*title == commit.subject).then_some(state.as_str())
            }
            _ => None,
        });
        let states: Vec<&str> = states.collect();
        let last = states.last().filter(|_| !states.contains(&"completed"));
        last.map(|state| state.replace('_', " "))
    };
    let mut sent = commits.iter().rev().filter(|commit| commit.what.pushed);
    sent.find_map(|commit| {
        let (hash, state) = (&commit.what.hash, state_of(&commit.what)?);
        Some(lines[at].source(format!(
            "The run of CI for {hash} was {state} when it was looked at last"
        )))
    })
}

/// That checks elsewhere went on behind the last push when the agent spoke of them last.
pub fn running_at_last(lines: &[LocatedItem<'_>]) -> Option<Sourced<String>> {
    let is_push = |finding: &Finding| matches!(finding, Finding::Pushed | Finding::PullRequest(_));
    let pushed = lines
        .iter()
        .rposition(|line| line.item.findings.iter().any(is_push))?;
    let after = &lines[pushed + 1..];
    let says = |line: &LocatedItem<'_>| {
        line.main && line.item.kind == ItemKind::Agent && says_ci_runs(line.words())
    };
    let at = after.iter().rposition(says)?;
    let is_told = |line: &LocatedItem<'_>| says_ci_ended(line.words());
    let is_over = is_told(&after[at]) || after[at + 1..].iter().any(may_tell_of_ci);
    (!is_over).then(|| after[at].source(CI_RUNS.to_owned()))
}

const CI_RUNS: &str = "CI was running when the agent spoke of it last";

/// The call that lists checks elsewhere looks at them in another way too, or nobody knows.
fn looks_on(line: &LocatedItem<'_>) -> bool {
    let call = call(line).unwrap_or_default();
    call.contains('…') || names_ci(&call.replace("gh run list", ""))
}

/// A call names checks elsewhere, or somebody says how some ended.
fn may_tell_of_ci(line: &LocatedItem<'_>) -> bool {
    match line.item.kind {
        ItemKind::Digest => looks_at_ci(line) || names_ci(line.words()),
        ItemKind::Agent | ItemKind::Prompt => says_ci_ended(line.words()),
        _ => false,
    }
}

/// Whether a call that looked at checks elsewhere shows that they failed; who reads why they did looks at them no more. Of
/// other calls than these a failure may be their own: a merge that isn't allowed, a run that isn't there.
fn fails_in_ci(line: &LocatedItem<'_>) -> Option<bool> {
    const TELLING: [&str; 2] = ["gh pr checks", "gh run watch"];
    let is_look = looks_at_ci(line) && !line.item.text.contains("--log");
    let ran = is_look.then(|| RanCommand::of(line)).flatten()?;
    let tells = TELLING.iter().any(|call| ran.command.starts_with(call));
    let is_red = ran.failed || is_clean(ran.output) == Some(false);
    Some(tells && is_red && !is_ci_open(ran.output))
}

/// The agent's last sentence that says that checks elsewhere passed, up to the next look at some.
pub fn says_ci_passed(later: &[LocatedItem<'_>]) -> bool {
    let until = later
        .iter()
        .take_while(|line| !starts_ci(line) || line.item.kind == ItemKind::Agent);
    let mut said = until.filter(|line| line.main && line.item.kind == ItemKind::Agent);
    said.any(|line| ci_passes(line.words()).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_push_after_red_checks_is_to_be_looked_at() {
        let call = |text, findings| LocatedItem::sample(ItemKind::Digest, 1, text, findings);
        let (failed, worked) = ([Finding::Failed { key: 1 }], [Finding::Worked { key: 1 }]);
        let red = call(
            "Action: Bash(gh pr checks 7) → exit 1: E2E fail 3m",
            &failed[..],
        );
        let open = call(
            "Action: Bash(gh pr checks 7) → exit 8: E2E pending",
            &failed[..],
        );
        let push = call("Action: Bash(git push) → ok", &[Finding::Pushed]);
        let look = call(
            "Action: Bash(gh run list --limit 3) → 3 lines, 200 bytes",
            &worked[..],
        );
        let green = LocatedItem::sample(ItemKind::Agent, 1, "Agent: All CI checks pass.", &[]);
        let told = |lines: &[LocatedItem<'_>]| not_seen_since(lines).map(|step| step.what);
        let wants = Some(CI_NOT_SEEN.to_owned());
        assert_eq!(told(&[red, push]), wants);
        let some = call(
            "Action: Bash(gh pr checks 7 | grep E2E) → E2E fail 3m",
            &worked[..],
        );
        let why = call(
            "Action: Bash(gh run view 9 --log-failed) → 200 lines, 22 KB",
            &worked[..],
        );
        assert_eq!(told(&[some, why, push]), wants);
        let passed = call("Action: Bash(gh pr checks 7) → E2E pass 3m", &worked[..]);
        let merge = call(
            "Action: Bash(gh pr merge 7) → exit 1: not mergeable",
            &failed[..],
        );
        let chain = call(
            "Action: Bash(git push && gh pr checks 7) → exit 1: rejected",
            &failed[..],
        );
        for lines in [
            &[red, push, look][..],
            &[red, green, push],
            &[red, push, green],
            &[push, red],
            &[open, push],
            &[red, passed, push],
            &[red, push, look, push],
            &[merge, push],
            &[chain, push],
        ] {
            assert_eq!(told(lines), None);
        }
    }

    #[test]
    fn checks_that_ran_when_they_were_spoken_of_last_are_left() {
        let push = "Action: Bash(git push) → ok";
        let push = LocatedItem::sample(ItemKind::Digest, 1, push, &[Finding::Pushed]);
        let said = |text| LocatedItem::sample(ItemKind::Agent, 2, text, &[]);
        let runs = said("Agent: Pushed. CI checks are running on the new head.");
        let green = said("Agent: CI is green.");
        let told = |lines: &[LocatedItem<'_>]| running_at_last(lines).map(|step| step.what);
        assert_eq!(told(&[push, runs]).as_deref(), Some(CI_RUNS));
        for lines in [
            &[push, runs, green][..],
            &[runs, push],
            &[runs],
            &[push, green],
        ] {
            assert_eq!(told(lines), None);
        }
    }

    #[test]
    fn a_run_that_was_not_done_when_it_was_listed_is_left() {
        let commit = Sourced {
            what: SessionCommit {
                hash: "1a2b3c4".into(),
                subject: "Carts add up".into(),
                pushed: true,
                ..SessionCommit::default()
            },
            episode: uuid::Uuid::nil(),
            line: 1,
        };
        let listed = |state: &str| {
            [Finding::CheckElsewhere {
                title: "Carts add up".into(),
                state: state.into(),
            }]
        };
        let (queued, done) = (listed("in_progress"), listed("completed"));
        let call = |findings| {
            let text = "Action: Bash(gh run list --limit 2) → 2 lines, 200 bytes";
            LocatedItem::sample(ItemKind::Digest, 2, text, findings)
        };
        let green = LocatedItem::sample(ItemKind::Agent, 3, "Agent: All CI checks pass.", &[]);
        let told = |lines: &[LocatedItem<'_>]| {
            let step = queued_at_last(lines, std::slice::from_ref(&commit));
            step.map(|step| step.what)
        };
        let wants = "The run of CI for 1a2b3c4 was in progress when it was looked at last";
        assert_eq!(told(&[call(&queued[..])]).as_deref(), Some(wants));
        for lines in [
            &[call(&done[..])][..],
            &[call(&queued[..]), call(&done[..])],
            &[call(&queued[..]), green],
        ] {
            assert_eq!(told(lines), None);
        }
        let both = [queued[0].clone(), done[0].clone()];
        assert_eq!(told(&[call(&both[..])]), None);
        let watched = "Action: Bash(gh run list -L1 && gh run watch 7) → 9 lines, 1 KB";
        let watched = LocatedItem::sample(ItemKind::Digest, 2, watched, &queued);
        assert_eq!(told(&[watched]), None);
        let later = |kind, text| {
            let later = LocatedItem::sample(kind, 3, text, &[]);
            told(&[call(&queued[..]), later])
        };
        for closing in [
            "Action: Bash(gh api repos/shop/cart/actions/runs/7) → done",
            "Action: mcp__github__get_workflow_run(7) → 20 lines, 1 KB",
            "Action: Bash(gh pr view 7 --json statusCheckRollup) → done",
        ] {
            assert_eq!(later(ItemKind::Digest, closing), None, "{closing}");
        }
        let by_person = later(ItemKind::Prompt, "User: CI is green");
        assert_eq!(by_person, None);
        let failed = later(ItemKind::Agent, "Agent: The run failed.");
        assert_eq!(failed, None);
        let other = later(ItemKind::Agent, "Agent: Pushed. CI runs now.");
        assert_eq!(other.as_deref(), Some(wants));
    }
}
