//! A session's summary, from what its log states. Pure and deterministic: no language model, no clock.
//!
//! Facts of sub-agents count where they are about files, tests and commits; words count only in the main
//! log.

mod account;
mod ask;
mod asks;
mod begun;
mod borne_out;
mod broken_off;
mod changed_files;
mod checks;
mod closing;
mod code_blocks;
mod command_forms;
mod committed;
mod compacted;
mod conclusions;
mod decided;
mod diverged;
mod done_at_last;
mod done_since;
mod errors;
mod fitted;
mod further;
mod hindrances;
mod history;
mod last_words;
mod later_checks;
mod left;
mod line;
mod lists;
mod meanwhile;
mod next_headings;
mod objective;
mod options;
mod other_counts;
mod outline;
mod overtaken;
mod pasted_failures;
mod plan_steps;
mod planned;
mod points;
mod prompts;
mod prose;
mod pull_requests;
mod quoted;
mod ran;
mod remarks;
mod repeats;
mod result;
mod rewritten;
mod sections;
mod session_context;
mod shipped;
mod stale;
mod stash;
mod stated;
mod taken_up;
mod tasks;
mod test_runs;
mod todos;
mod unseen_runs;
mod untested;
mod unverified;
mod unwritten;
mod verdicts;
mod words;

pub use asks::{OFFERED, UNANSWERED};
pub use changed_files::files_by_git;
pub use compacted::tell_compacted;
pub use decided::{decided, stated, stated_by_agent};
pub use further::ANSWERED;
#[cfg(test)]
pub use history::OLDER_TASK;
pub use history::{commits, is_older_task, says_unpushed, unpushed};
pub use left::says_uncommitted;
pub use line::LocatedItem;
pub use pull_requests::says_open;
pub use session_context::SessionContext;

use super::outcome::outcome;
use crate::model::finding::Finding;
use crate::model::summary::{
    RequestAnswer, SessionCommit, SessionOutcome, SettingChange, Sourced, Summary,
};
use crate::model::test_runs::TestRuns;
use crate::rules::paths::is_throwaway;
use line::found;

/// The facts of a session, from its items in the order of time. About 10 MB/s of text.
pub fn facts(lines: &[LocatedItem<'_>], context: &SessionContext<'_>) -> Summary {
    let main = || lines.iter().filter(|line| line.main);
    let tasks = tasks::tasks(lines);
    let prompts = prompts::prompts(lines);
    let objective::Asked { objective, whole } = objective::asked(lines, &prompts, context);
    let commits = history::commits(lines);
    let outcome = outcome(main().rev().map(|line| line.item));
    let mut next = tasks.open;
    done_since::drop_done(&mut next, lines);
    if outcome == Some(SessionOutcome::Completed) {
        tasks::drop_left_behind(&mut next, lines);
        history::note_older(&mut next, &commits, lines);
    }
    let has_tasks = !next.is_empty();
    let begun = begun::Begun::of(lines);
    let has_remote = commits.iter().any(|commit| commit.what.pushed);
    if !begun.pushes() && (has_remote || !history::has_no_remote(lines)) {
        next.extend(history::unpushed(&commits, history::ahead(lines)));
    }
    let files_modified = changed_files::files(lines);
    let has_commits = !commits.is_empty();
    let uncommitted = left::uncommitted(lines, &files_modified, has_commits, context.branch);
    let asked = asks::unanswered(lines);
    let asks_for_it = asked
        .as_ref()
        .is_some_and(|asked| asked.what.contains("commit"));
    next.extend(left::not_permitted(lines));
    next.extend(tasks.failed);
    next.extend(uncommitted.filter(|_| !asks_for_it && !begun.commits()));
    let is_listed = has_tasks || asked.is_some();
    next.extend(asked);
    next.extend(pasted_failures::not_run_since(lines, &prompts));
    if is_broken_off(outcome) {
        let asked = || further::last(lines, &prompts, objective.as_ref());
        let broken_off = broken_off::broken_off(lines, &next, is_listed, asked);
        next.extend(broken_off.filter(|step| !begun.repeats(&step.what)));
    }
    next.extend(begun.told());
    next.extend(planned::not_carried_out(lines));
    let whole_objective = shown(&objective, &whole);
    let asked_for = [objective.as_ref(), whole_objective.as_ref()];
    let told = told(lines, &prompts, asked_for, &commits);
    let mut done = tasks.done;
    repeats::drop_told(&mut done, told.texts());
    let mut summary = Summary {
        result: told.result,
        steps: told.steps,
        requests: told.requests,
        account: told.account,
        objective,
        asked: whole,
        outcome,
        completed: done,
        files_modified,
        commits,
        next_steps: tasks::next_steps(next, &closing::closing(lines), closing::is_work(lines)),
        ..Summary::default()
    };
    repeats::shorten_unfinished(&mut summary.requests, &summary.next_steps);
    if !context.is_brief {
        add_details(&mut summary, lines);
    }
    summary
}

fn is_broken_off(outcome: Option<SessionOutcome>) -> bool {
    use SessionOutcome::{InProgress, Interrupted};
    matches!(outcome, Some(InProgress | Interrupted))
}

/// What was decided, checked and mended on the way.
fn add_details(summary: &mut Summary, lines: &[LocatedItem<'_>]) {
    let decided = decided::listed(lines);
    (summary.decisions, summary.more_decisions) = (decided.people, decided.more);
    summary.agent_decisions = decided.agent;
    summary.tests = test_runs::test_runs(lines);
    let runs = other_counts::counted(lines);
    texts(summary).for_each(|said| other_counts::drop_other_counts(said, &runs));
    let checks = checks::checks(lines);
    summary.checks = checks.runs;
    if is_all_passed(summary) {
        let listed = [summary.tests.is_some(), !summary.checks.is_empty()];
        texts(summary).for_each(|said| repeats::drop_passes(said, listed));
    }
    repeats::drop_decided(&mut summary.requests, &summary.decisions);
    summary.untested =
        summary.tests.is_none() && untested::is_untested(lines, &summary.files_modified);
    if let Some(failing) = checks::failing(&summary.checks, lines) {
        summary.next_steps.insert(0, failing);
    }
    summary.next_steps.extend(checks.not_there);
    summary.errors_resolved = errors::resolved(lines);
    summary.config_changes = settings(lines);
    summary.pull_requests = pull_requests::pull_requests(lines);
    let open = pull_requests::open(&summary.pull_requests, &summary.next_steps);
    summary.next_steps.extend(open);
    let unseen = later_checks::not_seen_since(lines);
    summary.next_steps.extend(unseen);
    summary.next_steps.extend(diverged::diverged(lines));
    let queued = later_checks::queued_at_last(lines, &summary.commits);
    let queued = queued.or_else(|| later_checks::running_at_last(lines));
    summary.next_steps.extend(queued);
    summary.next_steps.extend(todos::todos(lines));
    let is_told = |step: &Sourced<String>| {
        let mut known = summary.next_steps.iter();
        known.any(|known| known.what.contains(&step.what))
    };
    let spun_off = left::spun_off(lines).filter(|step| !is_told(step));
    summary.next_steps.extend(spun_off);
    let has_ended = summary.outcome == Some(SessionOutcome::Completed);
    let unverified = unverified::unverified(lines, has_ended);
    summary.next_steps.extend(unverified);
}

/// What the agent said the work came to.
fn texts(summary: &mut Summary) -> impl Iterator<Item = &mut String> {
    let said = summary.result.iter_mut().chain(&mut summary.steps);
    let answers = summary.account.iter_mut();
    let answers = answers.map(|told| &mut told.what.answer);
    said.map(|said| &mut said.what).chain(answers)
}

/// Checks or tests are listed, and none of them failed last.
fn is_all_passed(summary: &Summary) -> bool {
    let is_ok = |tests: &Sourced<TestRuns>| {
        let tests = &tests.what;
        let others = tests.others.iter().map(|other| &other.counts);
        let all = others.chain(&tests.full);
        !tests.is_failed() && tests.open.is_none() && all.into_iter().all(|run| run.failed == 0)
    };
    let are_ok = summary.checks.iter().all(|check| check.what.passed);
    let is_listed = summary.tests.is_some() || !summary.checks.is_empty();
    is_listed && are_ok && summary.tests.as_ref().is_none_or(is_ok)
}

/// What stands under the heading of the objective.
fn shown(objective: &Option<Sourced<String>>, whole: &Option<String>) -> Option<Sourced<String>> {
    let mut shown = objective.clone()?;
    if let Some(whole) = whole {
        shown.what.clone_from(whole);
    }
    Some(shown)
}

/// What a session came to, in people's and agents' words.
struct Told {
    result: Option<Sourced<String>>,
    steps: Vec<Sourced<String>>,
    requests: Vec<Sourced<String>>,
    account: Vec<Sourced<RequestAnswer>>,
}

impl Told {
    fn texts(&self) -> impl Iterator<Item = &Sourced<String>> {
        self.result.iter().chain(&self.steps).chain(&self.requests)
    }
}

/// Answers to later requests say nothing in fewer.
const ANSWER_CHARS_MIN: usize = 60;

/// Commits have the hashes there that they have at the end. The objective comes in its short form and as it is shown.
fn told(
    lines: &[LocatedItem<'_>],
    prompts: &[prompts::Prompt<'_, '_>],
    [short, objective]: [Option<&Sourced<String>>; 2],
    commits: &[Sourced<SessionCommit>],
) -> Told {
    let mut came = result::result(lines, prompts, objective);
    if came.result.is_some() && came.opening.is_none() && !came.is_account {
        came.opening = opened(lines, prompts, objective, &came.told, commits);
    }
    let overtaken = overtaken::Overtaken::of(lines);
    came.said().for_each(|said| overtaken.drop_from(said, 1));
    came.answers()
        .for_each(|said| overtaken.drop_from(said, ANSWER_CHARS_MIN));
    let answers = further::Answers {
        steps: &came.steps,
        in_result: &came.told,
        withdrawn: &came.withdrawn,
        commits,
    };
    let further = further::requests(lines, prompts, objective, &answers);
    let mut requests = further.lines();
    let rewritten = rewritten::Rewritten::of(lines, commits);
    let unwritten = unwritten::Unwritten::of(lines);
    for (_, said) in &mut came.whole {
        overtaken.drop_from(said, ANSWER_CHARS_MIN);
        rewritten.tell(&mut said.what);
        unwritten.correct(&mut said.what);
    }
    let account = account::account(lines, prompts, short, &further, &came);
    let mut result = came.result.take();
    let mut steps = came.rest(&further.told());
    let all = result.iter_mut().chain(&mut steps).chain(&mut requests);
    all.for_each(|said| rewritten.tell(&mut said.what));
    if let Some(result) = &result {
        steps
            .iter_mut()
            .for_each(|step| repeats::drop_repeated(&mut step.what, &result.what));
    }
    let all = result.iter_mut().chain(&mut steps);
    all.for_each(|said| unwritten.correct(&mut said.what));
    steps.retain(|step| !step.what.is_empty());
    Told {
        result,
        steps,
        requests,
        account,
    }
}

/// What the objective was committed as, where none of these answers tells of it.
fn opened(
    lines: &[LocatedItem<'_>],
    prompts: &[prompts::Prompt<'_, '_>],
    objective: Option<&Sourced<String>>,
    told: &[usize],
    commits: &[Sourced<SessionCommit>],
) -> Option<Sourced<String>> {
    let objective = objective?;
    let prompt = prompts
        .iter()
        .find(|prompt| prompt.line.line == objective.line)?;
    let is_open = !told.contains(&prompt.at);
    let committed = is_open
        .then(|| committed::committed(lines, prompt.at, commits))
        .flatten()?;
    Some(prompt.line.source(remarks::led(remarks::FIRST, committed)))
}

/// Of each setting the first value and the last, where they differ. A change from another value than the last one is of
/// another part of the file that has a setting of this name.
fn settings(lines: &[LocatedItem<'_>]) -> Vec<Sourced<SettingChange>> {
    let mut all: Vec<Sourced<SettingChange>> = Vec::new();
    for (line, finding) in found(lines) {
        let Finding::Set {
            path,
            setting,
            old,
            new,
            renamed,
        } = finding
        else {
            continue;
        };
        if is_throwaway(path) {
            continue;
        }
        let same = |known: &&mut Sourced<SettingChange>| {
            let change = &known.what;
            let is_again = change.old == *old && change.new == *new;
            change.file == *path && change.setting == *setting && (change.new == *old || is_again)
        };
        match all.iter_mut().rev().find(same) {
            Some(known) => known.what.new.clone_from(new),
            None => all.push(line.source(SettingChange {
                file: path.clone(),
                setting: setting.clone(),
                old: old.clone(),
                new: new.clone(),
                renamed: renamed.clone(),
                reason: None,
            })),
        }
    }
    all.retain(|change| change.what.old != change.what.new || change.what.renamed.is_some());
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::exchange::ItemKind;
    use prompts::prompts;
    use result::result;

    fn told(items: &[(ItemKind, &str)]) -> Option<String> {
        let lines: Vec<LocatedItem<'_>> = items
            .iter()
            .map(|(kind, text)| LocatedItem::sample(*kind, 1, text, &[]))
            .collect();
        let result = result(&lines, &prompts(&lines), None).result;
        result.map(|told| told.what)
    }

    #[test]
    fn settings_of_one_name_are_one_where_their_values_meet() {
        let set = |old: Option<&str>, new: &str| {
            [Finding::Set {
                path: "/p/cart.yml".into(),
                setting: "size".into(),
                old: old.map(str::to_owned),
                new: Some(new.into()),
                renamed: None,
            }]
        };
        let told = |changes: &[[Finding; 1]]| {
            let line = |set| LocatedItem::sample(ItemKind::Digest, 1, "Action: Edit(x)", set);
            let lines: Vec<_> = changes.iter().map(|set| line(&set[..])).collect();
            let each = settings(&lines)
                .into_iter()
                .map(|set| (set.what.old, set.what.new));
            let each = each.map(|(old, new)| [old, new].map(Option::unwrap_or_default).join(" → "));
            each.collect::<Vec<String>>()
        };
        let (first, second) = (set(Some("1"), "2"), set(Some("2"), "3"));
        assert_eq!(told(&[first.clone(), second]), ["1 → 3"]);
        let other = set(Some("7"), "8");
        assert_eq!(told(&[first.clone(), other]), ["1 → 2", "7 → 8"]);
        assert_eq!(
            told(&[set(None, "1"), set(None, "1")]),
            [" → 1"],
            "twice the same"
        );
        assert!(
            told(&[first, set(Some("2"), "1")]).is_empty(),
            "it is as it was"
        );
    }

    #[test]
    fn a_report_says_more_than_remarks_before_an_agent_waits() {
        let report = format!(
            "Agent: All of it is on its way:\n\n- PR #7 rounds totals half up\n- carts add up once{}\n\nNothing else changed.",
            ", and so do orders".repeat(12)
        );
        let waits = "Agent: The reply is posted on the thread of the review. Waiting for the build of the branch; once it \
            lands I'll merge it, reply to the second thread, and close the issue of the shop's totals.";
        let items = [
            (ItemKind::Prompt, "User: make totals add up and open a PR"),
            (ItemKind::Agent, report.as_str()),
            (ItemKind::Digest, "Action: Bash(gh pr view) → 4 lines"),
            (ItemKind::Agent, waits),
        ];
        let told = told(&items).expect("a report");
        assert!(told.contains("- PR #7 rounds totals half up"), "{told}");
    }

    #[test]
    fn a_slash_command_is_told_with_what_it_stands_for() {
        let stands =
            "Note: the command stands for: Find the cause of the order's error and mend it";
        let long = format!(
            "{stands}{}",
            ", and so on with each of the others".repeat(8)
        );
        for (command, note, wants, whole) in [
            (
                "User: /fix-issue 12",
                stands,
                "/fix-issue 12: Find the cause of the order's error and mend it (shop)",
                None,
            ),
            (
                "User: /fix carts that count twice",
                stands,
                "/fix carts that count twice (shop)",
                None,
            ),
            (
                "User: /tidy @cart.md を最新の状態に更新してください",
                stands,
                "/tidy @cart.md を最新の状態に更新してください (shop)",
                None,
            ),
            (
                "User: /tidy bring the page up to date",
                stands,
                "/tidy bring the page up to date (shop)",
                None,
            ),
            (
                "User: /fix-issue 12",
                long.as_str(),
                "",
                Some("and so on with each of the others"),
            ),
        ] {
            let items = [
                (ItemKind::Prompt, command),
                (ItemKind::Note, note),
                (ItemKind::Agent, "Agent: Reading it."),
            ];
            let lines: Vec<LocatedItem<'_>> = items
                .iter()
                .map(|(kind, text)| LocatedItem::sample(*kind, 1, text, &[]))
                .collect();
            let shop = SessionContext::new(None, "/home/ada/shop", None, false);
            let objective::Asked {
                objective,
                whole: asked,
            } = objective::asked(&lines, &prompts(&lines), &shop);
            let objective = objective.expect("an objective").what;
            assert!(objective == wants || wants.is_empty(), "{objective}");
            assert!(objective.chars().count() <= 200, "{objective}");
            let is_it = match whole {
                Some(whole) => asked.as_ref().is_some_and(|asked| asked.ends_with(whole)),
                // the project is told beside it
                None => asked
                    .as_ref()
                    .is_none_or(|asked| objective.starts_with(asked)),
            };
            assert!(is_it, "{asked:?}");
        }
    }

    #[test]
    fn what_was_decided_with_the_ask_stands_once() {
        let ask = "User: I'd prefer that carts are kept in SQLite. Build the page of carts so that it reads them \
            from there, and shows how old each of them is.";
        let items = [
            (ItemKind::Prompt, ask),
            (ItemKind::Agent, "Agent: Done, it reads them."),
        ];
        let lines: Vec<LocatedItem<'_>> = items
            .iter()
            .map(|(kind, text)| LocatedItem::sample(*kind, 1, text, &[]))
            .collect();
        let summary = facts(&lines, &SessionContext::default());
        assert_eq!(summary.decisions.len(), 1, "it is one");
        let shown = crate::insight::summary::sections(&summary);
        assert_eq!(shown.matches("kept in SQLite").count(), 1, "{shown}");
    }

    #[test]
    fn so_far_is_what_remarks_state() {
        let call = (ItemKind::Digest, "Action: Read(plan.md) → 9 lines");
        let items = [
            (ItemKind::Prompt, "User: implement the plan"),
            (ItemKind::Agent, "Agent: Reading the plan of the shop..."),
            call,
            (
                ItemKind::Agent,
                "Agent: Good. Totals of carts are rounded in two places.",
            ),
            call,
        ];
        let wants = "So far: Totals of carts are rounded in two places.";
        assert_eq!(told(&items).as_deref(), Some(wants));
        let edit = [Finding::Changed {
            path: "/p/a.rs".into(),
            added: 1,
            removed: 1,
        }];
        let lines: Vec<LocatedItem<'_>> = items
            .iter()
            .map(|(kind, text)| match kind {
                ItemKind::Digest => LocatedItem::sample(*kind, 1, text, &edit),
                _ => LocatedItem::sample(*kind, 1, text, &[]),
            })
            .collect();
        let last = result(&lines[..4], &prompts(&lines[..4]), None).result;
        assert!(last.is_some(), "it was said behind the change");
        let told = result(&[lines[0], lines[3], lines[2]], &prompts(&lines), None).result;
        assert_eq!(told, None, "it leads to the change");
    }

    #[test]
    fn rows_of_a_table_are_points_of_a_report() {
        let edit = [Finding::Changed {
            path: "/p/cart.rs".into(),
            added: 1,
            removed: 1,
        }];
        let table = "Agent: Batch 1 complete\n\n| # | Location | Action |\n|---|---|---|\n\
            | 1 | cart.rs:37 | Changed the total from `1` to `2` |\n\nNow let me check it:";
        let end = "Agent: All comments of the review are resolved, and the description is updated.";
        let lines = [
            LocatedItem::sample(ItemKind::Prompt, 1, "User: address the comments", &[]),
            LocatedItem::sample(ItemKind::Digest, 2, "Action: Edit(cart.rs) → +1 −1", &edit),
            LocatedItem::sample(ItemKind::Agent, 3, table, &[]),
            LocatedItem::sample(ItemKind::Agent, 4, end, &[]),
        ];
        let told = result(&lines, &prompts(&lines), None).result;
        let told = told.expect("a result").what;
        assert!(told.contains("Changed the total from `1` to `2`"), "{told}");
    }

    #[test]
    fn where_a_log_breaks_off_its_remarks_are_told_so_far() {
        let call = (ItemKind::Digest, "Action: Read(cart.rs) → 9 lines");
        let items = [
            (ItemKind::Prompt, "User: make totals add up"),
            (
                ItemKind::Agent,
                "Agent: Totals round each row, and the sum again.",
            ),
            call,
            (
                ItemKind::Agent,
                "Agent: Both roundings are in one function now.",
            ),
            call,
            call,
        ];
        let wants = "So far: Totals round each row, and the sum again. Both roundings are in one function now.";
        assert_eq!(told(&items).as_deref(), Some(wants));
    }
}
