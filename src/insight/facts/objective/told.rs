//! What a prompt says, sentence by sentence, and which of that says anything of a session.

use super::super::prompts::Prompt;
use crate::model::exchange::is_bare_command;
use crate::rules::clauses::is_empty_ask;
use crate::rules::requests::{Request, RequestKind, drives, is_idle, is_move, points, request};
use crate::rules::words::content_words;
use std::borrow::Cow;

/// An objective is read at a glance.
pub(super) const OBJECTIVE_CHARS_MAX: usize = 200;

/// What a sentence of a prompt says.
pub(super) struct Told<'p> {
    /// Of the sentences of the prompt.
    pub(super) nth: usize,
    /// Of those that say something.
    pub(super) at: usize,
    pub(super) kind: RequestKind,
    pub(super) text: Cow<'p, str>,
    /// It ends with a colon.
    pub(super) leads: bool,
    /// It is a heading.
    pub(super) is_title: bool,
}

/// What somebody types behind a slash command says with so many words what for.
const COMMAND_WORDS_MIN: usize = 4;

/// In another script, with so many letters.
const FOREIGN_LETTERS_MIN: usize = 8;

/// One word more than that says what an ask is about.
const POINTER_WORDS_MAX: usize = 1;

/// With fewer, an ask only points at something.
pub(super) const WEAK_WORDS_MAX: usize = 3;

/// With fewer words that nobody asked for in, a subject says the same once more.
pub(super) const NEW_WORDS_MIN: usize = 2;

/// The sentences of a prompt that say something; headings but the first are none.
pub(super) fn told<'p>(prompt: &'p Prompt<'_, '_>) -> Vec<Told<'p>> {
    let prose = &prompt.prose;
    let title = prose.headings.first();
    let sentences = prose.sentences.iter().enumerate();
    let sentences =
        sentences.filter(|(nth, _)| Some(nth) == title || !prose.headings.contains(nth));
    let all = sentences.filter_map(|(nth, sentence)| {
        let request = behind_ticket(sentence).or_else(|| request(sentence))?;
        let is_part = request.text.starts_with(['(', ')']) || is_empty_ask(request.text);
        (!is_part && !about(request.text).is_empty()).then(|| Told {
            nth,
            at: 0,
            kind: request.kind,
            text: without_label(request.text.trim_start_matches(['-', '–', '^', ' '])).into(),
            leads: sentence.ends_with(':'),
            is_title: Some(&nth) == title,
        })
    });
    // an address or a label says nothing
    let says = |told: &Told<'_>| {
        let is_place = !told.text.contains(' ') && told.text.contains(['.', '/']);
        !is_place && (!told.leads || told.nth == 0 || says(&told.text))
    };
    let all: Vec<Told<'_>> = all.filter(says).collect();
    let is_how = |told: &Told<'_>| told.kind == RequestKind::Limit;
    // how it shall be done is told where nothing else is said
    let mut all: Vec<Told<'_>> = match all.iter().all(is_how) {
        true => all,
        false => all.into_iter().filter(|told| !is_how(told)).collect(),
    };
    all.iter_mut()
        .enumerate()
        .for_each(|(at, told)| told.at = at);
    all
}

/// `shop issue #7 Mend the carts` asks for something.
fn behind_ticket(sentence: &str) -> Option<Request<'_>> {
    const BEFORE_MAX: usize = 4;
    let mut end = 0;
    let words = sentence.split_inclusive(' ').take(BEFORE_MAX);
    let mut ends = words.map(|word| {
        end += word.len();
        (word.trim_end(), end)
    });
    let (_, end) = ends.find(|(word, _)| word.contains('#') && names_ticket(word))?;
    let asks = request(&sentence[end..]).filter(|asks| asks.kind == RequestKind::Ask)?;
    sentence[end..]
        .starts_with(char::is_uppercase)
        .then_some(Request {
            text: sentence.trim_end_matches(['.', ' ']),
            ..asks
        })
}

/// `Plan: Two parsers` as `Two parsers`: what leads to it says so.
fn without_label(text: &str) -> &str {
    text.strip_prefix("Plan: ").unwrap_or(text)
}

/// More than one word of it says what it is about.
pub(super) fn says(text: &str) -> bool {
    about(text).len() > 1
}

/// Words that say what a text is about.
pub(super) fn about(text: &str) -> Vec<String> {
    let mut words = content_words(text);
    words.retain(|word| !is_idle(word));
    words
}

/// It says where to look, not what for: `continue`, `/review 7`, `do what the plan says`.
pub(super) fn is_pointer(text: &str) -> bool {
    let names_nothing = |word: &str| is_move(word) || is_idle(word) || points(word);
    let words = text.split_whitespace();
    let plain = words.filter(|word| !word.contains(['/', '#', '@']) && !word.contains("--"));
    let plain: Vec<&str> = plain.collect();
    let is_word = |word: &&&str| word.contains(char::is_alphabetic);
    // other scripts have no blanks between words
    let foreign = plain.iter().flat_map(|word| word.chars());
    let foreign = foreign.filter(|c| !c.is_ascii() && c.is_alphabetic());
    let is_said = plain.iter().filter(is_word).count() >= COMMAND_WORDS_MIN;
    if text.starts_with('/') && (is_said || foreign.count() >= FOREIGN_LETTERS_MIN) {
        return false;
    }
    let words = content_words(&plain.join(" "));
    let mut words = words.iter().filter(|word| !names_nothing(word));
    words.nth(POINTER_WORDS_MAX).is_none()
}

/// An ask that doesn't say of what: `fix`, `please fix it`.
pub(super) fn about_one(text: &str) -> bool {
    is_pointer(text) && about(text).len() <= 1
}

/// A slash command that asks for work.
pub(super) fn is_command(words: &str) -> bool {
    words.starts_with('/') && is_bare_command(words.trim()) && !drives(words)
}

/// It is about something that it names by a number: `shop issue #7`, `tracker.example/shop/42`.
pub(super) fn names_ticket(text: &str) -> bool {
    let mut words = text
        .split_whitespace()
        .map(|word| word.trim_end_matches(['.', ',', ':', '?', ')']));
    words.any(|word| {
        let number = word.rsplit(['/', '#']).next().unwrap_or_default();
        let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        is_number && number.len() < word.len()
    })
}
