//! What a request is told with that stands beside it in its prompt: the error that was pasted, the agent's own words.

use super::super::pasted_failures::ERROR_CHARS_MAX;
use super::super::prompts::Prompt;
use super::super::words::{folded, points_back, shortened};
use crate::rules::requests::{Request, RequestKind};
use crate::rules::words::content_words;

/// Few words, one of which stands for what was said before.
pub(super) fn is_dependent(text: &str) -> bool {
    const WORDS_MAX: usize = 3;
    points_back(text) && content_words(text).len() <= WORDS_MAX
}

/// `do this`, with the beginning of the agent's words that were pasted below it.
pub(super) fn with_quoted(prompt: &Prompt<'_, '_>, text: String) -> String {
    const QUOTED_CHARS_MAX: usize = 120;
    match prompt.prose.quoted.filter(|_| is_dependent(&text)) {
        Some(quoted) => {
            let asked = text.trim_end_matches(['.', ':', '?', '!']);
            let quoted = folded(quoted);
            format!(
                "{asked}: {}",
                shortened(quoted.trim_end_matches([':', '.']), QUOTED_CHARS_MAX)
            )
        }
        None => text,
    }
}

/// A statement with the error that was pasted beside it.
pub(super) fn with_error(prompt: &Prompt<'_, '_>, best: &Request<'_>, text: String) -> String {
    let error = prompt.prose.error.filter(|error| !text.contains(error));
    match error.filter(|_| best.kind == RequestKind::Statement) {
        Some(error) => format!("{text}: {}", shortened(error, ERROR_CHARS_MAX)),
        None => text,
    }
}
