//! Words of a question or a sentence that say what it is about. Knows English endings and the words
//! that stand in every sentence; of other languages it keeps every word.

use std::collections::BTreeSet;

/// They stand in a sentence whatever it is about.
const EMPTY: [&str; 44] = [
    "a", "an", "and", "are", "as", "at", "be", "by", "choose", "chose", "chosen", "decide",
    "decided", "did", "do", "does", "for", "from", "had", "has", "have", "how", "in", "instead",
    "is", "it", "not", "of", "on", "or", "our", "over", "than", "that", "the", "this", "to", "use",
    "was", "we", "were", "what", "why", "with",
];

/// The words that say what a text is about, in lower case, each once.
pub fn content_words(text: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    tokens(text)
        .filter(|word| !EMPTY.contains(&word.as_str()) && seen.insert(word.clone()))
        .collect()
}

/// All words of a text, in lower case.
pub fn tokens(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|w| !w.is_empty()).map(str::to_lowercase)
}

/// The same word, or one of them with an ending.
pub fn is_same(one: &str, other: &str) -> bool {
    const ENDING_BYTES_MAX: usize = 3;
    const STEM_BYTES_MIN: usize = 4;
    let (short, long) = match one.len() <= other.len() {
        true => (one, other),
        false => (other, one),
    };
    one == other
        || (short.len() >= STEM_BYTES_MIN
            && long.starts_with(short)
            && long.len() - short.len() <= ENDING_BYTES_MAX)
}

/// Bytes of the first sentence with its mark; all of a text without one. A mark ends a sentence where
/// whitespace follows; the dot of `1.` numbers what follows, that of `e.g.` only shortens.
pub fn sentence_end(text: &str) -> usize {
    let marks = text.match_indices(['.', '!', '?']);
    let mut ends = marks.filter_map(|(at, mark)| {
        let after = &text[at + mark.len()..];
        let before = &text[..at];
        let shortens = SHORT.iter().any(|short| before.ends_with(short));
        let ends = after.starts_with(char::is_whitespace) && !shortens && !is_number(before);
        ends.then_some(at + mark.len())
    });
    ends.next().unwrap_or(text.len())
}

/// Sentences of a text, trimmed.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let text = rest.trim_start();
        let (sentence, after) = text.split_at(sentence_end(text));
        rest = after;
        (!sentence.is_empty()).then_some(sentence)
    })
}

/// Their last dot ends no sentence.
const SHORT: [&str; 4] = ["e.g", "i.e", " vs", " cf"];

fn is_number(before: &str) -> bool {
    let rest = before.trim_end_matches(|c: char| c.is_ascii_digit());
    (1..=2).contains(&(before.len() - rest.len())) && (rest.is_empty() || rest.ends_with(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_ends_where_whitespace_follows_its_mark() {
        let text =
            "Use settings.json (e.g. here). Why? 1. It is read 2. It is small. In 2026. Done";
        let wants = [
            "Use settings.json (e.g. here).",
            "Why?",
            "1. It is read 2. It is small.",
            "In 2026.",
            "Done",
        ];
        assert_eq!(sentences(text).collect::<Vec<_>>(), wants);
    }

    #[test]
    fn a_question_is_what_it_asks_about() {
        let words = content_words("Why did we choose Redis over the signed cookies? Redis!");
        assert_eq!(words, ["redis", "signed", "cookies"]);
        assert!(content_words("why did we do that").is_empty());
    }

    #[test]
    fn a_word_is_the_same_with_its_ending_and_no_other_word_is() {
        assert!(is_same("session", "sessions") && is_same("keeps", "keep"));
        assert!(!is_same("red", "redis") && !is_same("key", "keyboard"));
    }
}
