//! Which of an agent's words end what follows a prompt: its last ones, or the report before them.

use super::line::LocatedItem;
use super::points::is_point;
use super::remarks::{done_so_far, parts, states};
use super::stated::begun;
use crate::model::exchange::{INTERRUPTED, ItemKind};
use crate::model::finding::Finding;
use crate::rules::outcome::{Ending, ending};

/// Words that end an exchange, with what they state, how many lines of that stand before and behind these words, and
/// whether the others are everything that these state.
pub(super) type LastSaid<'l, 't> = (&'l LocatedItem<'t>, Vec<String>, (usize, usize), bool);

/// The words that end an exchange: the last ones, or the report right before them where they only say that it is
/// done. Where they name no file of what was changed, with the points of earlier reports that do.
pub(super) fn last_said<'l, 't>(
    exchange: &'l [LocatedItem<'t>],
    edits: usize,
) -> Option<LastSaid<'l, 't>> {
    let words = exchange.iter().enumerate().rev();
    let words = words.filter(|(_, line)| line.main && line.item.kind == ItemKind::Agent);
    let mut words = words.filter(|(_, line)| !line.words().is_empty() && states(line.words()));
    let (at, last) = words.next()?;
    let (said, is_all) = begun(last.words());
    let bytes: usize = said.iter().map(String::len).sum();
    let waits = bytes < LIST_BYTES_MIN && ending(last.words()) == Ending::Waits;
    if bytes < SHORT_BYTES || waits {
        let long = words.take(NEAR_WORDS).find_map(|(at, line)| {
            let after = exchange[at..].iter().flat_map(|line| line.item.findings);
            let is_late = after.filter(is_edit).count() * 2 <= edits;
            let is_long = is_late && line.words().len() >= LIST_BYTES_MIN;
            let (list, is_all) = is_long.then(|| begun(line.words()))?;
            let points = list.iter().filter(|line| is_point(line)).count();
            let is_report = list.len() >= 2 && line.words().len() >= REPORT_BYTES_MIN;
            (points >= 2 || is_report).then_some((at, line, list, is_all))
        });
        if let Some((from, line, mut list, is_all)) = long {
            let behind = since(&exchange[from + 1..], said, waits);
            let lines = behind.len();
            list.extend(behind);
            return Some((line, list, (0, lines), is_all));
        }
    }
    // who waits tells what is done in the words before
    let mut all = match waits {
        true => done_so_far(&exchange[..at]),
        false => parts(&exchange[..at], &said),
    };
    let before = all.len();
    all.extend(said);
    (!all.is_empty()).then_some((last, all, (before, 0), is_all))
}

/// What remarks behind a report say is done where the last ones say that the agent waits, or these.
fn since(behind: &[LocatedItem<'_>], last: Vec<String>, waits: bool) -> Vec<String> {
    let done = waits.then(|| done_so_far(behind));
    done.filter(|done| !done.is_empty()).unwrap_or(last)
}

fn is_edit(finding: &&Finding) -> bool {
    matches!(finding, Finding::Changed { .. })
}

/// Further before the last words, a report is about something else.
const NEAR_WORDS: usize = 3;

/// Without a list, shorter words tell of one thing.
const REPORT_BYTES_MIN: usize = 400;

/// Words that say no more may only say that it is done.
pub(super) const SHORT_BYTES: usize = 160;

/// A list that tells what was done has more.
const LIST_BYTES_MIN: usize = 240;

/// A report: calls behind it only tidy up.
pub(super) fn is_list(words: &str) -> bool {
    words.len() >= LIST_BYTES_MIN && words.lines().filter(|line| is_point(line)).count() >= 2
}

/// The words are a remark in the middle of work that somebody cut off.
pub(super) fn is_cut(exchange: &[LocatedItem<'_>], line: &LocatedItem<'_>) -> bool {
    let after = exchange.iter().rev();
    let after = after.take_while(|other| !std::ptr::eq(*other, line));
    let mut after = after.filter(|other| other.main);
    let is_report = is_list(line.words());
    if is_report && after.clone().any(LocatedItem::is_form) {
        // all was said but for what the form asks
        return false;
    }
    after.any(|other| match other.item.kind {
        ItemKind::Digest => !is_report,
        ItemKind::Note => other.words() == INTERRUPTED,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_not_cut_off_with_the_form_behind_it() {
        let line = |kind, text| LocatedItem::sample(kind, 1, text, &[]);
        let report = format!(
            "Agent: No, carts can't be shared yet.\n\n- each page keeps its own{}\n- none of them is stored",
            ", and so does the shop".repeat(12)
        );
        let exchange = |call| {
            let said = line(ItemKind::Agent, &report);
            let stopped = line(ItemKind::Note, "Note: interrupted by the user");
            [said, line(ItemKind::Digest, call), stopped]
        };
        let is_cut = |call| {
            let exchange = exchange(call);
            is_cut(&exchange, &exchange[0])
        };
        assert!(!is_cut(
            "Action: AskUserQuestion(Which pages?) → refused by the user"
        ));
        assert!(is_cut("Action: Bash(make pages) → interrupted"));
    }

    #[test]
    fn what_landed_behind_a_report_is_told_with_it() {
        let line = |kind, text| LocatedItem::sample(kind, 1, text, &[]);
        let report = format!(
            "Agent: Everything's in flight.\n\n**Shipped:**\n- PR #7 rounds totals half up\n- carts add up once{}\n\n\
            **Watching:** the build and what reviewers say.",
            ", and so do orders".repeat(12)
        );
        let call = line(ItemKind::Digest, "Action: Bash(gh pr view) → 4 lines");
        let exchange = [
            line(ItemKind::Agent, &report),
            call,
            line(
                ItemKind::Agent,
                "Agent: The build is green; the reviewer found two faults. Fetching both of them:",
            ),
            call,
            line(
                ItemKind::Agent,
                "Agent: Reply posted. Waiting on the second agent; once it lands I'll push.",
            ),
            call,
            line(
                ItemKind::Agent,
                "Agent: The second fault is fixed, and the suite passes. Committing:",
            ),
        ];
        let (_, said, (_, behind), _) = last_said(&exchange, 0).expect("words");
        let told = &said[said.len() - behind..];
        let wants = [
            "The build is green; the reviewer found two faults.",
            "The second fault is fixed, and the suite passes.",
        ];
        assert_eq!(told, wants);
        assert!(
            !said.iter().any(|line| line.contains("Watching")),
            "{said:?}"
        );
    }
}
