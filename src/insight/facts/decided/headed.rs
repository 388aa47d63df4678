//! Decisions that an agent lists below a heading which says so (`### Key Design Decisions`), when it reports what it did.

use super::super::line::LocatedItem;
use super::super::points::{is_point, without_mark};
use super::super::words;
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::model::summary::Decision;
use crate::rules::decisions::is_heading;

/// Of each point so much says what it is.
const POINT_CHARS_MAX: usize = 200;

/// Shorter points name something.
const POINT_CHARS_MIN: usize = 24;

/// The points below such headings in `line`, where files were changed in the same exchange `before` it: others repeat
/// what a document says.
pub(super) fn headed(line: &LocatedItem<'_>, before: &[LocatedItem<'_>]) -> Vec<Decision> {
    let said = line.words();
    if !said.lines().any(is_heading) || !has_changed(before) {
        return Vec::new();
    }
    let mut is_below = false;
    let mut all = Vec::new();
    for line in said.lines().filter(|line| !line.trim().is_empty()) {
        if is_heading(line) {
            is_below = true;
        } else if !is_point(line) {
            // what is indented belongs to the point above
            is_below &= line.starts_with(char::is_whitespace);
        } else if is_below && !line.starts_with(char::is_whitespace) {
            let point = words::folded(without_mark(line)).replace("**", "");
            let point = words::shortened(&point, POINT_CHARS_MAX);
            if point.len() >= POINT_CHARS_MIN && !point.ends_with(['?', ':']) {
                all.push(Decision {
                    decision: point,
                    ..Decision::default()
                });
            }
        }
    }
    all
}

fn has_changed(before: &[LocatedItem<'_>]) -> bool {
    let main = before.iter().rev().filter(|line| line.main);
    let mut exchange = main.take_while(|line| line.item.kind != ItemKind::Prompt);
    exchange.any(|line| {
        let mut findings = line.item.findings.iter();
        findings.any(|finding| matches!(finding, Finding::Changed { .. }))
    })
}
