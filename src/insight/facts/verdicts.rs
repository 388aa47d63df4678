//! How an agent's answer to a question begins: yes, no, or who is right. That comes before what else is told of it.

use super::prompts::Prompt;
use super::words::{folded, shortened};
use crate::rules::outcome::announces;
use crate::rules::requests::{RequestKind, behind_answer, request};
use crate::rules::words::sentences;

/// A prompt that asks for an answer.
pub(super) fn asks(prompt: &Prompt<'_, '_>) -> bool {
    let mut asked = prompt.prose.sentences.iter();
    asked.any(|said| request(said).is_some_and(|one| one.kind == RequestKind::Question))
}

/// What is `told` of an answer in so many bytes, with the sentence before it that says yes or no where it begins further
/// behind.
pub(super) fn with_verdict(
    words: &str,
    bytes_max: usize,
    told: impl Fn(usize) -> Option<String>,
) -> Option<String> {
    let text = told(bytes_max)?;
    // letters of some languages take several bytes
    let is_new = |verdict: &String| verdict.len() <= bytes_max / 2 && !is_in(verdict, &text);
    let Some(verdict) = verdict(words).filter(is_new) else {
        return Some(text);
    };
    let rest = match verdict.len() > SHORT_BYTES {
        true => told(bytes_max - verdict.len()).unwrap_or(text),
        false => text,
    };
    Some(format!("{verdict} {rest}"))
}

/// A shorter one takes no room from the rest.
const SHORT_BYTES: usize = 60;

/// `Yes, carts are kept.` at the beginning of words.
fn verdict(words: &str) -> Option<String> {
    const CHARS_MAX: usize = 140;
    let line = words.trim_start().lines().next()?;
    let line = folded(line.trim_start_matches(['#', ' ']));
    let mut all = sentences(&line);
    let first = all.next()?;
    // `Yes. No.`: of two questions
    let is_one = all.next().is_none_or(|next| behind_answer(next).is_none());
    // of what only leads to something nobody knows here whether that is told
    behind_answer(first).filter(|behind| is_one && !first.ends_with(':') && !announces(behind))?;
    let text = shortened(first, CHARS_MAX);
    Some(match text.ends_with(['.', '!', '…', '。', '！']) {
        true => text,
        false => format!("{text}."),
    })
}

fn is_in(verdict: &str, text: &str) -> bool {
    const WORDS_BYTES_MIN: usize = 12;
    let bare = verdict.trim_end_matches(['.', '!', '…']);
    text.starts_with(bare) || bare.len() >= WORDS_BYTES_MIN && text.contains(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_keeps_its_yes_or_no() {
        let told = |words: &str, text: &str| with_verdict(words, 200, |_| Some(text.to_owned()));
        let words = "Yes. The cart is kept in a cookie.\n\n## Why\n\nPages are cached.";
        let wants = "Yes. Pages are cached.";
        assert_eq!(told(words, "Pages are cached.").as_deref(), Some(wants));
        let words = "No, carts are not kept. Each page makes its own.";
        let wants = "No, carts are not kept. Each page makes its own.";
        assert_eq!(
            told(words, "Each page makes its own.").as_deref(),
            Some(wants)
        );
        assert_eq!(told(words, words).as_deref(), Some(words));
        let led = "**Yes**, the page is made by:\n```\nmake page\n```\nIt takes long.";
        let wants = "It takes long.";
        assert_eq!(told(led, wants).as_deref(), Some(wants));
        let plan = "Yes, let me look at the pages first.\n\nEach page is new.";
        let wants = "Each page is new.";
        assert_eq!(told(plan, wants).as_deref(), Some(wants));
        let long = format!("Yes, {}.", "ы".repeat(130));
        assert_eq!(told(&long, wants).as_deref(), Some(wants));
        let other = "Nothing is kept.";
        assert_eq!(
            told(other, "Each page is new.").as_deref(),
            Some("Each page is new.")
        );
    }
}
