//! The items of an episode's text: where each one is in it, so that the text can be taken apart again.

use super::exchange::ItemKind;
use super::finding::Finding;
use serde::{Deserialize, Serialize};

/// One item of an episode: enough to take the episode's text apart again, and what was found in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// What it is.
    pub kind: ItemKind,
    /// UTF-8 bytes of it in the episode's text.
    pub bytes: u64,
    /// The line of its record.
    pub line: u64,
    /// In the order in which they were found.
    pub findings: Vec<Finding>,
}

impl Mark {
    /// A sub-agent's log has a copy of it from the log of the agent that started it.
    pub fn is_inherited(&self) -> bool {
        self.findings.contains(&Finding::Inherited)
    }
}

/// The items of an episode's text; `None` where they don't make up all of it.
pub fn apart<'t>(text: &'t str, marks: &[Mark]) -> Option<Vec<&'t str>> {
    let mut rest = text;
    let mut last: Option<&Mark> = None;
    let mut items = Vec::with_capacity(marks.len());
    for mark in marks {
        rest = rest.strip_prefix(last.map_or("", |last| between(last.kind, mark.kind)))?;
        let (item, after) = rest.split_at_checked(usize::try_from(mark.bytes).ok()?)?;
        items.push(item);
        rest = after;
        last = Some(mark);
    }
    rest.is_empty().then_some(items)
}

/// What stands between two items of a text: an empty line around people's words, else a line break.
pub fn between(last: ItemKind, next: ItemKind) -> &'static str {
    let spoken = |kind| matches!(kind, ItemKind::Prompt | ItemKind::Aside);
    match spoken(last) || spoken(next) {
        true => "\n\n",
        false => "\n",
    }
}
