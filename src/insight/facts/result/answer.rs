//! The agent's last words to a request, and how much was done for it.

use super::super::conclusions::{conclusion, stated_with_conclusion};
use super::super::fitted::fitted_with;
use super::super::further::{changes, is_unfinished};
use super::super::last_words::{is_cut, last_said};
use super::super::line::LocatedItem;
use super::super::points::{about_first, cut_late, section_about, without_cause};
use super::super::quoted::quoted;
use super::super::remarks::{SO_FAR, led};
use super::super::stated::{STEP_BYTES_MAX, one_line, stated};
use super::open::{asks_back, asks_to_choose, proposes, proposes_work};
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::rules::paths::{is_throwaway, plan_word};
use rustc_hash::FxHashSet;
use std::borrow::Cow;

/// Shorter ones say that something is done, not what.
const RESULT_CHARS_MIN: usize = 40;

/// What came of a request.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Came {
    /// Files are not as they were.
    Changed,
    /// Work was asked for; none of it changed files.
    Worked,
    /// An answer, or finished work was moved on.
    Said,
}

/// The last words after a prompt that state something.
pub(super) struct Answer<'l, 't> {
    pub(super) line: &'l LocatedItem<'t>,
    /// What they state, line by line, as much as one line may tell.
    pub(super) said: Vec<String>,
    /// Of these: of words before the line, and behind it.
    pub(super) around: (usize, usize),
    /// Of the line itself it is everything.
    pub(super) is_all: bool,
    /// Somebody asked for an account of the session.
    pub(super) is_account: bool,
    /// Somebody only picked from what it lists.
    pub(super) is_menu: bool,
    /// The agent waits for something that came later, or leads to questions that somebody answered then.
    pub(super) is_waiting: bool,
    /// The next prompt says that it isn't so.
    pub(super) is_doubted: bool,
    /// The next request had done what it lists: `fix them all`.
    pub(super) is_taken_up: bool,
    /// The log breaks off in the middle of the work.
    pub(super) is_partial: bool,
    /// Where its prompt stands.
    pub(super) at: usize,
    pub(super) came: Came,
    /// Files or history changed.
    pub(super) is_done: bool,
    /// Files that were changed for it.
    pub(super) changed: FxHashSet<&'t str>,
    /// More where more was done, where more is said, and later.
    pub(super) weight: f64,
}

impl<'l, 't> Answer<'l, 't> {
    pub(super) fn of(
        exchange: &'l [LocatedItem<'t>],
        (at, late): (usize, f64),
        is_asked: bool,
        is_last: bool,
    ) -> Option<Answer<'l, 't>> {
        let findings = || exchange.iter().flat_map(|line| line.item.findings);
        let edits = findings().filter(is_edit).count();
        let calls = exchange
            .iter()
            .filter(|line| line.item.kind == ItemKind::Digest);
        let came = match () {
            () if edits > 0 => Came::Changed,
            () if is_asked && !findings().any(changes) => Came::Worked,
            () => Came::Said,
        };
        let (line, said, around, is_all) = last_said(exchange, edits)?;
        let words = line.words();
        let is_open = || match came {
            Came::Changed => proposes_work(words),
            _ => asks_to_choose(words) || proposes(&said),
        };
        let is_open = !is_last && is_open();
        // who tells much and asks at its end which way to go on has answered
        let is_answer = came != Came::Changed && words.len() >= ANSWER_BYTES_MIN;
        let asks_back = came != Came::Changed && asks_back(words);
        let is_cut = is_cut(exchange, line);
        let is_partial = is_last && is_cut && is_unfinished(exchange);
        if is_partial && proposes(&said) || !is_last && is_cut || is_open && !is_answer || asks_back
        {
            return None;
        }
        let grows = |count: usize, each: f64| (1.0 + count as f64 / each).log2();
        let told = 0.5 * grows(words.len(), 200.0);
        let done = 0.5 * grows(edits, 1.0) + 0.3 * grows(calls.count(), 1.0);
        let work = match came {
            Came::Changed => 2.5,
            Came::Worked => 1.5,
            Came::Said => 0.0,
        };
        Some(Answer {
            line,
            said,
            around,
            is_all,
            is_account: false,
            is_menu: false,
            is_waiting: !is_last && came != Came::Changed && leads_to_form(exchange, line),
            is_doubted: false,
            is_taken_up: false,
            is_partial,
            at,
            came,
            is_done: findings().any(changes),
            changed: findings().filter_map(changed_path).collect(),
            weight: work + done + told + 2.0 * late - if is_open { 2.0 } else { 0.0 },
        })
    }

    /// Nothing was changed for it, and it says little.
    pub(super) fn is_bare(&self) -> bool {
        let bytes: usize = self.said.iter().map(String::len).sum();
        self.came != Came::Changed && bytes < ANSWER_BYTES_MIN
    }

    /// The words say more than that it is done.
    pub(super) fn says(&self) -> bool {
        let chars: usize = self.said.iter().map(|line| line.chars().count()).sum();
        chars >= RESULT_CHARS_MIN
    }

    pub(super) fn beginning(&self, chars_max: usize) -> String {
        let (before, behind) = self.around;
        let mut said = self.said[..before].to_vec();
        let own = before..self.said.len() - behind;
        match self.is_all {
            true => said.extend_from_slice(&self.said[own]),
            false => said.extend(stated_with_conclusion(self.line.words())),
        }
        let behind = &self.said[self.said.len() - behind..];
        let text = fitted_with(&said, behind, chars_max);
        match self.is_partial {
            true => led(SO_FAR, text),
            false => text,
        }
    }

    /// The same as the agent wrote it, in so many characters.
    pub(super) fn whole(&self, chars_max: usize) -> String {
        let (before, behind) = self.around;
        let before = self.said[..before].join("\n");
        let behind = self.said[self.said.len() - behind..].join("\n");
        let room = chars_max.saturating_sub(before.len() + behind.len());
        let own = quoted(self.line.words(), room);
        let all = [before, own, behind].into_iter();
        let all: Vec<String> = all.filter(|part| !part.is_empty()).collect();
        match self.is_partial {
            true => led(SO_FAR, all.join("\n")),
            false => all.join("\n"),
        }
    }

    /// Its longer words, by how they begin in small letters.
    pub(super) fn topic(&self) -> FxHashSet<u64> {
        const WORD_BYTES_MIN: usize = 5;
        const STEM_BYTES: usize = 6;
        let text = one_line(&self.said, 2 * STEP_BYTES_MAX);
        let words = text.split(|c: char| !c.is_alphanumeric());
        let words = words.filter(|word| word.len() >= WORD_BYTES_MIN);
        let key = |word: &str| {
            let stem = word.bytes().take(STEM_BYTES);
            stem.fold(0, |key, byte| {
                key << 8 | u64::from(byte.to_ascii_lowercase())
            })
        };
        words.map(key).collect()
    }

    /// The beginning of an answer with what it comes to, where that stands further behind.
    fn with_conclusion(&self, step: String, bytes_max: usize) -> String {
        let is_answer = self.came != Came::Changed && !self.is_partial;
        let comes_to = is_answer.then(|| conclusion(self.line.words())).flatten();
        let comes_to = comes_to.map(|said| cut_late(&said, bytes_max));
        match comes_to.filter(|said| !step.contains(&said[..said.floor_char_boundary(SAME_BYTES)]))
        {
            Some(said) => format!("{} {said}", cut_late(&step, bytes_max / 2)),
            None => step,
        }
    }

    /// In a line of so many bytes; of sections the one that is about what was `asked`, of a list its first points, or those
    /// that are about it.
    pub(super) fn step(&self, bytes_max: usize, asked: &str) -> Option<String> {
        let own = section_about(self.line.words(), asked).map(stated);
        let said = own.as_deref().unwrap_or(&self.said);
        let asks_why = asked.to_lowercase().contains("why");
        let said = &*match self.came {
            Came::Changed if !asks_why => without_cause(said),
            _ => Cow::Borrowed(said),
        };
        let step = one_line(&about_first(said, asked, bytes_max), bytes_max);
        let step = self.with_conclusion(step, bytes_max);
        let (lead, chars_min) = match self.is_partial {
            // a remark of the middle of work says less
            true => (SO_FAR, 2 * RESULT_CHARS_MIN),
            false => ("", RESULT_CHARS_MIN),
        };
        (step.chars().count() >= chars_min).then(|| format!("{lead}{step}"))
    }
}

/// A form with questions that somebody answered stands behind the line.
fn leads_to_form(exchange: &[LocatedItem<'_>], line: &LocatedItem<'_>) -> bool {
    let behind = exchange.iter().rev();
    let mut behind = behind.take_while(|other| !std::ptr::eq(*other, line));
    behind.any(|other| other.main && other.is_form() && !other.words().contains(REFUSED))
}

/// Nobody answered then, maybe with words why.
const REFUSED: &str = "→ refused by the user";

/// What begins so is the same sentence.
const SAME_BYTES: usize = 40;

fn changed_path(finding: &Finding) -> Option<&str> {
    match finding {
        Finding::Changed { path, .. } => Some(path),
        _ => None,
    }
}

/// A plan that an agent writes for itself is no work on the project.
fn is_edit(finding: &&Finding) -> bool {
    changed_path(finding).is_some_and(|path| !(is_throwaway(path) && plan_word(path).is_some()))
}

/// With fewer, the words only ask.
const ANSWER_BYTES_MIN: usize = 600;
