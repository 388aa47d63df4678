//! What a prompt is beside what it says: a request for work, a pick, more than thanks.

use super::super::prompts::Prompt;
use crate::rules::replies::{Reply, reply};
use crate::rules::requests::{RequestKind, is_idle, is_move, request};
use crate::rules::words::content_words;

/// `8`, `b`: nothing but the name of an option.
pub fn is_bare_pick(words: &str) -> bool {
    const PICK_CHARS_MAX: usize = 3;
    let words = words.trim();
    words.len() <= PICK_CHARS_MAX && matches!(reply(words), Some(Reply::Picks(_)))
}

/// The prompt asks for work, and not only for what moves it on.
pub fn asks_for_work(prompt: &Prompt<'_, '_>) -> bool {
    let requests = prompt
        .prose
        .sentences
        .iter()
        .filter_map(|sentence| request(sentence));
    let mut asks = requests.filter(|request| request.kind == RequestKind::Ask);
    asks.any(|ask| {
        !content_words(ask.text)
            .iter()
            .all(|word| is_move(word) || is_idle(word))
    })
}

/// The prompt is more than thanks or an agreement.
pub fn says_something(prompt: &Prompt<'_, '_>) -> bool {
    let sentences = &prompt.prose.sentences;
    let mut requests = sentences.iter().filter_map(|sentence| request(sentence));
    let says = |text: &str| content_words(text).iter().any(|word| !is_idle(word));
    sentences.is_empty() || requests.any(|request| says(request.text))
}
