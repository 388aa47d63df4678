//! What the sentences of a prompt ask for and say, for an objective.

use super::super::plan_steps::is_lead;
use super::super::prompts::Prompt;
use crate::model::exchange::is_bare_command;
use crate::rules::replies::{Reply, reply};
use crate::rules::requests::{RequestKind, drives, is_formula, is_idle, is_move, points, request};
use crate::rules::words::{content_words, is_same, is_stopword, tokens};

/// It is read at a glance.
pub(super) const OBJECTIVE_CHARS_MAX: usize = 200;

/// It answers what the agent offered: `yes, and run it twice`.
pub(super) fn is_reply(prompt: &Prompt<'_, '_>) -> bool {
    matches!(
        reply(prompt.line.words()),
        Some(Reply::Agrees | Reply::Begins | Reply::Picks(_))
    )
}

/// Somebody asks for something there.
pub(super) fn is_asking(prompt: &Prompt<'_, '_>) -> bool {
    let sentences = &prompt.prose.sentences;
    let mut said = sentences.iter().filter_map(|sentence| request(sentence));
    said.any(|said| !about(said.text).is_empty()) || is_command(prompt.line.words())
}

/// A slash command that asks for work.
pub(super) fn is_command(words: &str) -> bool {
    words.starts_with('/') && is_bare_command(words.trim()) && !drives(words)
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

/// What somebody types behind a slash command says with so many words what for.
const COMMAND_WORDS_MIN: usize = 4;

/// In another script, with so many letters.
const FOREIGN_LETTERS_MIN: usize = 8;

/// One word more than that says what an ask is about.
const POINTER_WORDS_MAX: usize = 1;

/// What a sentence of a prompt says.
pub(super) struct Told<'p> {
    /// Of the sentences of the prompt.
    pub(super) nth: usize,
    /// Of those that say something.
    pub(super) at: usize,
    pub(super) kind: RequestKind,
    pub(super) text: &'p str,
    /// It ends with a colon.
    pub(super) leads: bool,
    /// It is a heading.
    pub(super) is_title: bool,
}

/// A mark around a sentence's last words is no mark around it.
pub(super) fn with_closing_quote(text: &str, prompt: &Prompt<'_, '_>) -> String {
    let end = text
        .char_indices()
        .rev()
        .nth(END_CHARS)
        .map_or(0, |(at, _)| at);
    let quoted = format!("{}\"", &text[end..]);
    let is_open = !text.matches('"').count().is_multiple_of(2);
    match is_open && prompt.line.words().contains(&quoted) {
        true => format!("{text}\""),
        false => text.to_owned(),
    }
}

/// So many characters say where a text ends.
const END_CHARS: usize = 12;

/// Of a sentence that doesn't fit, a shorter beginning says nothing.
pub(super) const PART_CHARS_MIN: usize = 50;

/// The sentences of a prompt that say something; headings but the first are none.
pub(super) fn told<'p>(prompt: &'p Prompt<'_, '_>) -> Vec<Told<'p>> {
    let prose = &prompt.prose;
    let title = prose.headings.first();
    let sentences = prose.sentences.iter().enumerate();
    let sentences =
        sentences.filter(|(nth, _)| Some(nth) == title || !prose.headings.contains(nth));
    let all = sentences.filter_map(|(nth, sentence)| {
        let request = request(sentence)?;
        let is_part = request.text.starts_with(['(', ')']);
        (!is_part && !about(request.text).is_empty()).then(|| Told {
            nth,
            at: 0,
            kind: request.kind,
            text: without_label(request.text.trim_start_matches(['-', '–', ' '])),
            leads: sentence.ends_with(':'),
            is_title: Some(&nth) == title,
        })
    });
    // an address or a label says nothing
    let says = |told: &Told<'_>| {
        let is_place = !told.text.contains(' ') && told.text.contains(['.', '/']);
        !is_place && (!told.leads || told.nth == 0 || says(told.text))
    };
    let all: Vec<Told<'_>> = all.filter(says).collect();
    let is_how = |told: &Told<'_>| told.kind == RequestKind::Limit || is_formula(told.text);
    // how it shall be done is told where nothing else is said
    let mut all: Vec<Told<'_>> = match all.iter().all(is_how) {
        true => all,
        false => all.into_iter().filter(|told| !is_how(told)).collect(),
    };
    if let [lead, title, ..] = &all[..]
        && title.is_title
        && is_lead(&prose.sentences[lead.nth])
    {
        all.remove(0);
    }
    all.iter_mut()
        .enumerate()
        .for_each(|(at, told)| told.at = at);
    all
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

/// The words of a name stand in a text.
pub(super) fn is_told(text: &str, name: &str) -> bool {
    let words: Vec<String> = tokens(text).collect();
    are_told(&words, name)
}

pub(super) fn are_told(words: &[String], name: &str) -> bool {
    let mut parts = tokens(name).filter(|part| !is_stopword(part));
    parts.all(|part| words.iter().any(|word| is_same(word, &part)))
}

/// With fewer, an ask only points at something.
pub(super) const WEAK_WORDS_MAX: usize = 3;

/// With fewer words that nobody asked for in, a subject says the same once more.
pub(super) const NEW_WORDS_MIN: usize = 2;
