//! Sentences of what somebody wrote, without what they pasted. Knows Markdown; not what is said.

use super::words;

/// What stands behind so much is pasted text.
const WORDS_BYTES_MAX: usize = 8 * 1024;

/// Longer sentences are pasted text.
const SENTENCE_BYTES_MAX: usize = 450;

/// Sentences and lines in the beginning of somebody's words, without the questions, and without code, quotes,
/// tables and what a shell printed. Lines that were only wrapped are one; a sentence that gives the reason
/// of the one before it belongs to that.
pub fn sentences(text: &str) -> impl Iterator<Item = String> {
    sentences_of(text, |_| true).filter(|piece| !asks(piece))
}

/// The [`sentences`] of those paragraphs that are `wanted`, with the questions.
pub fn sentences_of(text: &str, wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = String> {
    let paragraphs = paragraphs(text).into_iter();
    let all = paragraphs.filter(move |paragraph| wanted(paragraph));
    let all = all.flat_map(|paragraph| with_reasons(&paragraph));
    all.filter(|piece| piece.len() <= SENTENCE_BYTES_MAX)
}

/// Each two sentences that follow each other in those paragraphs that are `wanted`.
pub fn pairs_of(text: &str, wanted: impl Fn(&str) -> bool) -> Vec<[String; 2]> {
    let paragraphs = paragraphs(text).into_iter();
    let all = paragraphs.filter(|paragraph| wanted(paragraph));
    let all = all.flat_map(|paragraph| {
        let sentences = with_reasons(&paragraph);
        let pairs = sentences.windows(2);
        let pairs = pairs.map(|pair| [pair[0].clone(), pair[1].clone()]);
        pairs.collect::<Vec<_>>()
    });
    all.filter(|[one, next]| one.len() + next.len() <= SENTENCE_BYTES_MAX)
        .collect()
}

fn with_reasons(paragraph: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for sentence in words::sentences(paragraph) {
        match all.last_mut().filter(|_| is_reason(sentence)) {
            Some(before) if !before.ends_with('?') => {
                before.push(' ');
                before.push_str(sentence);
            }
            _ => all.push(sentence.to_owned()),
        }
    }
    all
}

/// A question, also one with an afterthought. A mark in an address or in code asks nothing.
pub fn asks(sentence: &str) -> bool {
    let mut words = sentence.split_whitespace();
    words.any(|word| word.contains('?') && !word.contains("://") && !word.contains('`'))
}

/// It says why, and nothing besides.
fn is_reason(sentence: &str) -> bool {
    const WHY: [&str; 7] = [
        "Because ",
        "because ",
        "That way",
        "This way",
        "Otherwise",
        "So that ",
        "Reason: ",
    ];
    WHY.iter().any(|why| sentence.starts_with(why))
}

/// Lines of prose, those that were only wrapped in one, without emphasis.
fn paragraphs(text: &str) -> Vec<String> {
    let text = &text[..text.floor_char_boundary(WORDS_BYTES_MAX)];
    let mut all: Vec<String> = Vec::new();
    let mut inside_code = false;
    let mut goes_on = false;
    for line in text.lines().map(str::trim) {
        let fence = line.starts_with("```") || line.starts_with("~~~");
        inside_code ^= fence;
        if fence || inside_code || line.is_empty() || is_pasted(line) {
            goes_on = false;
            continue;
        }
        match all
            .last_mut()
            .filter(|before| goes_on && is_wrapped(before, line))
        {
            Some(before) => {
                before.push(' ');
                before.push_str(line);
            }
            None => all.push(line.to_owned()),
        }
        goes_on = true;
    }
    let marked = all.iter_mut().filter(|line| line.contains("**"));
    marked.for_each(|line| *line = line.replace("**", ""));
    all
}

/// Shorter lines end where their writer wanted them to.
const WRAPPED_BYTES_MIN: usize = 60;

/// A line goes on in the next one.
fn is_wrapped(before: &str, next: &str) -> bool {
    const GOES_ON: [&str; 8] = [
        ",", " because", " since", " and", " or", " the", " than", " of",
    ];
    let is_open = GOES_ON.iter().any(|end| before.ends_with(end));
    let last = before.rsplit(' ').next().map_or(0, str::len);
    let is_full =
        before.len() - last >= WRAPPED_BYTES_MIN - 20 && before.len() >= WRAPPED_BYTES_MIN;
    let is_ended = before.ends_with(['.', '!', '?', ':', ';']);
    let goes_on = next.starts_with(|c: char| c.is_lowercase() || c == '`' || c == '(');
    goes_on && !is_ended && (is_open || is_full)
}

/// Quotes, tables, headings, prompts of shells, diffs.
fn is_pasted(line: &str) -> bool {
    const MARKS: [&str; 11] = [">", "|", "#", "$ ", "% ", "❯", "➜", "+ ", "@@", "<", "⏺"];
    MARKS.iter().any(|mark| line.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_what_was_written_and_not_pasted() {
        for (text, wants) in [
            ("Fix it. Then push.", vec!["Fix it.", "Then push."]),
            ("Fix it?\nYes.", vec!["Yes."]),
            ("Q: can it be removed?a", vec![]),
            (
                "See http://a.b/c?d and keep it.",
                vec!["See http://a.b/c?d and keep it."],
            ),
            ("Is it red? Then fix it.", vec!["Then fix it."]),
            ("> keep a\nkeep b", vec!["keep b"]),
            ("```\nkeep a\n```\n| keep | b |\n# Keep c\n$ keep d", vec![]),
            ("**Use** it", vec!["Use it"]),
            ("keep a\nkeep b", vec!["keep a", "keep b"]),
            (
                "use the small one, because\nit is faster",
                vec!["use the small one, because it is faster"],
            ),
            (
                "Use the small one. Because it is faster. Go.",
                vec!["Use the small one. Because it is faster.", "Go."],
            ),
        ] {
            assert_eq!(sentences(text).collect::<Vec<_>>(), wants, "{text}");
        }
    }
}
