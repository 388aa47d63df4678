//! Parts of an agent's words that are about what comes next, or what could be done: no result.

use super::sections::{is_heading, rank};
use crate::rules::headings::{is_about_next, is_proposal};

/// Where words are about what comes next: below such a heading, up to the next one of its rank.
#[derive(Default)]
pub(super) struct NextSection {
    /// The rank of that heading.
    rank: Option<usize>,
}

impl NextSection {
    /// The next line stands there; `may_begin`: something was said before it.
    pub(super) fn has(&mut self, line: &str, may_begin: bool) -> bool {
        if may_begin && (is_about_next(line) || is_proposal(line)) {
            self.rank = self.rank.or(Some(rank(line)));
            return true;
        }
        let ends = |below: &mut usize| is_heading(line) && rank(line) <= *below;
        self.rank.take_if(ends).is_none() && self.rank.is_some()
    }
}
