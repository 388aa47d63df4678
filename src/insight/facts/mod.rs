//! A session's summary, from what its log states. Pure and deterministic: no language model, no clock.
//!
//! Facts of sub-agents count where they are about files, tests and commits; words count only in the main
//! log.

mod ask;
mod asks;
mod changed_files;
mod checks;
mod compacted;
mod decided;
mod errors;
mod fitted;
mod further;
mod history;
mod left;
mod line;
mod objective;
mod overtaken;
mod prompts;
mod prose;
mod pull_requests;
mod remarks;
mod result;
mod rewritten;
mod session_context;
mod shipped;
mod stated;
mod tasks;
mod test_runs;
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
pub use session_context::SessionContext;

use super::outcome::outcome;
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::model::summary::{SessionCommit, SessionOutcome, SettingChange, Sourced, Summary};
use crate::rules::paths::is_throwaway;
use line::found;

/// The facts of a session, from its items in the order of time. About 10 MB/s of text.
pub fn facts(lines: &[LocatedItem<'_>], context: &SessionContext<'_>) -> Summary {
    let main = || lines.iter().filter(|line| line.main);
    let tasks = tasks::tasks(lines);
    let last_words = main().rev().find(|line| line.item.kind == ItemKind::Agent);
    let prompts = prompts::prompts(lines);
    let objective::Asked { objective, whole } = objective::asked(lines, &prompts, context);
    let commits = history::commits(lines);
    let outcome = outcome(main().rev().map(|line| line.item));
    let mut next = tasks.open;
    if outcome == Some(SessionOutcome::Completed) {
        tasks::drop_left_behind(&mut next, lines);
        history::note_older(&mut next, &commits, lines);
    }
    next.extend(history::unpushed(&commits, history::has_remote(lines)));
    let files_modified = changed_files::files(lines);
    let has_commits = !commits.is_empty();
    let uncommitted = left::uncommitted(lines, &files_modified, has_commits, context.branch);
    let asked = asks::unanswered(lines);
    let asks_for_it = asked
        .as_ref()
        .is_some_and(|asked| asked.what.contains("commit"));
    next.extend(left::not_permitted(lines));
    next.extend(uncommitted.filter(|_| !asks_for_it));
    next.extend(asked);
    if matches!(
        outcome,
        Some(SessionOutcome::InProgress | SessionOutcome::Interrupted)
    ) {
        next.extend(left::refused_plan(lines).or_else(|| left::announced(last_words)));
    }
    let [decisions, agent_decisions] = decided::listed(lines);
    let told = told(lines, &prompts, objective.as_ref(), &commits);
    let tests = test_runs::test_runs(lines);
    Summary {
        checks: checks::checks(lines),
        untested: tests.is_none() && checks::is_untested(lines, &files_modified),
        result: told.result,
        steps: told.steps,
        requests: told.requests,
        objective,
        asked: whole,
        outcome,
        completed: tasks.done,
        decisions,
        agent_decisions,
        errors_resolved: errors::resolved(lines),
        config_changes: settings(lines),
        tests,
        files_modified,
        commits,
        pull_requests: pull_requests::pull_requests(lines),
        mcp_tools_used: Vec::new(),
        next_steps: tasks::next_steps(next, last_words, left::is_work(lines)),
        llm: None,
    }
}

/// What a session came to, in people's and agents' words.
struct Told {
    result: Option<Sourced<String>>,
    steps: Vec<Sourced<String>>,
    requests: Vec<Sourced<String>>,
}

/// Commits have the hashes there that they have at the end.
fn told(
    lines: &[LocatedItem<'_>],
    prompts: &[prompts::Prompt<'_, '_>],
    objective: Option<&Sourced<String>>,
    commits: &[Sourced<SessionCommit>],
) -> Told {
    let mut came = result::result(lines, prompts, objective);
    let answers = (came.steps.as_slice(), came.told.as_slice());
    let (mut requests, listed) = further::requests(lines, prompts, objective, answers);
    let mut result = came.result.take();
    let mut steps = came.rest(&listed);
    let rewritten = rewritten::Rewritten::of(lines, commits);
    let all = result.iter_mut().chain(&mut steps).chain(&mut requests);
    all.for_each(|said| rewritten.tell(&mut said.what));
    let all = result.iter_mut().chain(&mut steps);
    all.for_each(|said| overtaken::drop_overtaken(said, lines));
    Told {
        result,
        steps,
        requests,
    }
}

/// Of each setting the first value and the last, where they differ.
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
            known.what.file == *path && known.what.setting == *setting
        };
        match all.iter_mut().find(same) {
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
