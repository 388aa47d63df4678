//! What became of a request that the agent said nothing to.

use super::super::line::LocatedItem;
use super::super::prompts::{Prompt, exchange, opens};
use crate::insight::outcome::outcome;
use crate::model::exchange::{INTERRUPTED, ItemKind};
use crate::model::finding::Finding;
use crate::model::summary::SessionOutcome;
use crate::rules::paths::is_throwaway;
use crate::rules::requests::is_idle;
use crate::rules::words::content_words;

/// ` (done)`, ` (not done)`, or nothing where nobody can tell.
pub(super) fn became(lines: &[LocatedItem<'_>], prompt: &Prompt<'_, '_>) -> &'static str {
    if prompt.line.item.kind != ItemKind::Prompt {
        return "";
    }
    let exchange = exchange(lines, prompt.at);
    let main = || exchange.iter().rev().filter(|line| line.main);
    // a plan is no change of what it plans
    let is_work = |finding: &Finding| match finding {
        Finding::Changed { path, .. } => !is_throwaway(path),
        _ => changes(finding),
    };
    let is_changed = exchange
        .iter()
        .flat_map(|line| line.item.findings)
        .any(is_work);
    let is_cut = main()
        .next()
        .is_none_or(|line| line.item.kind == ItemKind::Note && line.words() == INTERRUPTED);
    let after = &lines[prompt.at + 1 + exchange.len()..];
    // whoever goes on may take it up again
    let is_last = !after.iter().any(|line| line.main);
    match outcome(main().map(|line| line.item)) {
        Some(SessionOutcome::Completed) if is_changed && !is_cut => DONE,
        Some(SessionOutcome::Blocked) if is_last && !is_changed => NOT_DONE,
        _ if is_last && is_cut && !is_changed => NOT_DONE,
        // who only says `continue` then goes on with it
        _ if is_cut && !is_changed && main().next().is_some() && asks_anew(after) => STOPPED_THERE,
        _ => "",
    }
}

/// The next prompt says something.
fn asks_anew(after: &[LocatedItem<'_>]) -> bool {
    let next = after.iter().find(|line| opens(line));
    next.is_some_and(|next| {
        content_words(next.words())
            .iter()
            .filter(|word| !is_idle(word))
            .count()
            > 1
    })
}

/// Stands behind a request that files were changed for, where the agent said no more.
pub(super) const DONE: &str = " (done)";

/// Stands behind a request that a person stopped before anything was changed for it, and then asked for something else.
pub(super) const STOPPED_THERE: &str = " (interrupted)";

/// Stands behind a request that nothing came of.
pub(super) const NOT_DONE: &str = " (not done)";

/// The session ends in the middle of it, and nothing was changed for it.
pub(super) fn is_left(lines: &[LocatedItem<'_>], prompt: &Prompt<'_, '_>) -> bool {
    let exchange = exchange(lines, prompt.at);
    let is_last = !lines[prompt.at + 1 + exchange.len()..]
        .iter()
        .any(|line| line.main);
    let mut findings = exchange.iter().flat_map(|line| line.item.findings);
    is_last && is_unfinished(exchange) && !findings.any(changes)
}

/// The agent is at work there at the end, or was stopped.
pub fn is_unfinished(exchange: &[LocatedItem<'_>]) -> bool {
    use SessionOutcome::{Blocked, InProgress, Interrupted};
    let main = exchange.iter().rev().filter(|line| line.main);
    let ended = outcome(main.map(|line| line.item));
    matches!(ended, Some(InProgress | Blocked | Interrupted))
}

/// Something is not as it was.
pub fn changes(finding: &Finding) -> bool {
    matches!(
        finding,
        Finding::Changed { .. }
            | Finding::Commit { .. }
            | Finding::Pushed
            | Finding::PullRequest(_)
            | Finding::PullRequestState { done: true, .. }
    )
}
