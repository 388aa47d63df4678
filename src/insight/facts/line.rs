//! The items of a session with where they stand, and what their calls came to.

use crate::insight::outcome::SessionItem;
use crate::model::exchange::{ItemKind, LEFT_OUT, words_of};
use crate::model::finding::Finding;
use crate::model::summary::Sourced;
use uuid::Uuid;

/// One item of a session with where it stands.
#[derive(Clone, Copy, Debug)]
pub struct LocatedItem<'t> {
    /// The item.
    pub item: SessionItem<'t>,
    /// It is of the session's main log, or of what stands for it, not of a sub-agent's.
    pub main: bool,
    /// The episode that has it.
    pub episode: Uuid,
    /// The line of its record.
    pub line: u64,
}

#[cfg(test)]
impl<'t> LocatedItem<'t> {
    /// Of a main log, in no episode.
    pub(in crate::insight) fn sample(
        kind: ItemKind,
        line: u64,
        text: &'t str,
        findings: &'t [Finding],
    ) -> LocatedItem<'t> {
        LocatedItem {
            item: SessionItem {
                kind,
                text,
                findings,
            },
            main: true,
            episode: Uuid::nil(),
            line,
        }
    }
}

impl<'t> LocatedItem<'t> {
    /// Something that it says, with where that stands.
    pub(super) fn source<T>(&self, what: T) -> Sourced<T> {
        Sourced {
            what,
            episode: self.episode,
            line: self.line,
        }
    }

    /// Its call asked somebody questions, in a form.
    pub(super) fn is_form(&self) -> bool {
        const CALLS: [&str; 3] = ["AskUserQuestion(", "request_user_input(", "ask_user("];
        let is_call = self.item.kind == ItemKind::Digest;
        is_call && CALLS.iter().any(|call| self.words().starts_with(call))
    }

    /// The item without its label; nothing where the words are left out.
    pub fn words(&self) -> &'t str {
        match words_of(self.item.text) {
            LEFT_OUT => "",
            words => words,
        }
    }

    /// The call changed files.
    pub(super) fn is_edit(&self) -> bool {
        let mut findings = self.item.findings.iter();
        findings.any(|finding| matches!(finding, Finding::Changed { .. }))
    }
}

/// The call of a digest and what it came to, on both sides of its arrow.
pub(super) fn call_and_result(words: &str) -> Option<(&str, &str)> {
    const ARROW: &str = " → ";
    // few texts have a byte of it, and this is asked of every call
    let mut marks = memchr::memchr_iter(ARROW.as_bytes()[1], words.as_bytes());
    let at = marks.find(|at| {
        let from = at.wrapping_sub(1);
        let there = words.as_bytes().get(from..);
        there.is_some_and(|there| there.starts_with(ARROW.as_bytes()))
    })? - 1;
    Some((&words[..at], &words[at + ARROW.len()..]))
}

/// What the calls of these items came to, each with its item.
pub(super) fn found<'l, 't: 'l>(
    lines: &'l [LocatedItem<'t>],
) -> impl DoubleEndedIterator<Item = (&'l LocatedItem<'t>, &'t Finding)> {
    let each = |line: &'l LocatedItem<'t>| {
        line.item
            .findings
            .iter()
            .map(move |finding| (line, finding))
    };
    lines.iter().flat_map(each)
}

/// Edits that calls made.
pub(super) fn edits(lines: &[LocatedItem<'_>]) -> usize {
    let findings = lines.iter().flat_map(|line| line.item.findings);
    findings
        .filter(|finding| matches!(finding, Finding::Changed { .. }))
        .count()
}
