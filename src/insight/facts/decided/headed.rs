//! Decisions below a heading which says so (`### Key Design Decisions`): in what an agent reports that it did, and in a
//! plan that a person handed over.

use super::super::line::LocatedItem;
use super::super::points::{is_point, without_mark};
use super::super::words;
use crate::model::exchange::ItemKind;
use crate::model::summary::Decision;
use crate::rules::decisions::is_heading;

/// Of each point so much says what it is.
const POINT_CHARS_MAX: usize = 200;

/// Shorter points name something.
const POINT_CHARS_MIN: usize = 24;

/// The points below such headings in `line`, where files were changed in the same exchange `before` it: others repeat
/// what a document says. What was rejected, where something was done `after` it.
pub(super) fn headed(
    line: &LocatedItem<'_>,
    before: &[LocatedItem<'_>],
    after: &[LocatedItem<'_>],
) -> Vec<Decision> {
    let said = line.words();
    if !said.lines().any(is_heading) {
        return Vec::new();
    }
    let is_reported = has_changed(before);
    let is_followed = || after.iter().any(|line| line.main && line.is_edit());
    let points = points(said).into_iter();
    let told = points.filter(|point| is_reported || point.starts_with(REJECTED) && is_followed());
    decisions(told)
}

/// Stands before what an agent considered and left.
const REJECTED: &str = "Rejected: ";

fn decisions(points: impl Iterator<Item = String>) -> Vec<Decision> {
    points
        .map(|decision| Decision {
            decision,
            ..Decision::default()
        })
        .collect()
}

/// The points below such headings of a plan that a person handed over, where it was carried out.
pub(super) fn planned(
    line: &LocatedItem<'_>,
    is_carried_out: impl FnOnce() -> bool,
) -> Vec<Decision> {
    let said = line.words();
    if !said.lines().any(is_heading) || !is_carried_out() {
        return Vec::new();
    }
    decisions(points(said).into_iter().take(PLANNED_MAX))
}

/// A plan has more of them than a summary room.
const PLANNED_MAX: usize = 4;

fn points(said: &str) -> Vec<String> {
    let (mut is_below, mut mark) = (false, "");
    let mut all = Vec::new();
    for line in said.lines().filter(|line| !line.trim().is_empty()) {
        if is_heading(line) {
            is_below = true;
            let is_rejected = line.contains("rejected") || line.contains("Rejected");
            mark = if is_rejected { REJECTED } else { "" };
        } else if !is_point(line) {
            // what is indented belongs to the point above
            is_below &= line.starts_with(char::is_whitespace);
        } else if is_below && !line.starts_with(char::is_whitespace) {
            let point = words::folded(without_mark(line)).replace("**", "");
            let point = words::shortened(&point, POINT_CHARS_MAX);
            if point.len() >= POINT_CHARS_MIN && !point.ends_with(['?', ':']) {
                all.push(format!("{mark}{point}"));
            }
        }
    }
    all
}

fn has_changed(before: &[LocatedItem<'_>]) -> bool {
    let main = before.iter().rev().filter(|line| line.main);
    let mut exchange = main.take_while(|line| line.item.kind != ItemKind::Prompt);
    exchange.any(LocatedItem::is_edit)
}
