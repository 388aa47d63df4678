//! The first request in the person's own words, for where an objective of one or two sentences doesn't hold it:
//! whole sentences, paragraphs and points as they were written, without what was pasted.

use super::prompts::Prompt;
use super::words::shortened;
use crate::rules::requests::request;
use crate::rules::words::{content_words, is_same, tokens};

/// More is a document, and buries what came of it.
const ASK_CHARS_MAX: usize = 700;

/// Of what a pasted document says first.
const DOCUMENT_CHARS_MAX: usize = 320;

/// With fewer words that the objective hasn't, it says the same.
const NEW_WORDS_MIN: usize = 3;

/// A prompt as it was written; `None` where the objective says as much.
pub(super) fn ask(prompt: &Prompt<'_, '_>, objective: &str) -> Option<String> {
    let text = written(prompt);
    let told: Vec<String> = tokens(objective).collect();
    let words = content_words(&text);
    let is_new = |word: &&String| !told.iter().any(|own| is_same(own, word));
    (words.iter().filter(is_new).count() >= NEW_WORDS_MIN).then_some(text)
}

/// Sentences of a line behind each other, points and headings in lines of their own.
fn written(prompt: &Prompt<'_, '_>) -> String {
    let prose = &prompt.prose;
    let mut text = String::new();
    let mut is_list = false;
    for (nth, sentence) in prose.sentences.iter().enumerate() {
        let begins = prose.lines.contains(&nth);
        let is_point = prose.points.contains(&nth);
        let is_heading = prose.headings.contains(&nth);
        // thanks and greetings
        if request(sentence).is_none() {
            continue;
        }
        let apart = is_point || is_heading || begins && (is_list || text.ends_with(':'));
        let joint = match () {
            () if text.is_empty() => "",
            () if apart => "\n",
            () if text.ends_with(['.', '?', '!', ':', '…', ';', ',']) => " ",
            () if begins => "\n",
            () => ". ",
        };
        let mark = if is_point { "- " } else { "" };
        let room = ASK_CHARS_MAX.saturating_sub(text.chars().count());
        if sentence.chars().count() + joint.len() + mark.len() > room {
            return cut(text, sentence, room);
        }
        text.extend([joint, mark, sentence]);
        is_list = is_point || is_list && !begins;
    }
    let document = prose.document.join(" ");
    if !document.is_empty() && !text.contains(&document) {
        let document = shortened(&document, DOCUMENT_CHARS_MAX);
        text.extend(["\n“", &document, "”"]);
    }
    text
}

/// With a sign that it goes on; of a first sentence that is too long its beginning.
fn cut(text: String, next: &str, room: usize) -> String {
    const WORTH_CHARS: usize = 200;
    match room >= WORTH_CHARS {
        true if text.is_empty() => shortened(next, room),
        true => format!("{text} {}", shortened(next, room)),
        false => format!("{} …", text.trim_end_matches(':')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::facts::line::LocatedItem;
    use crate::insight::facts::prompts::prompts;
    use crate::model::exchange::ItemKind;

    fn told(prompt: &str, objective: &str) -> Option<String> {
        let lines = [LocatedItem::sample(ItemKind::Prompt, 1, prompt, &[])];
        let prompts = prompts(&lines);
        ask(prompts.first()?, objective)
    }

    #[test]
    fn an_ask_is_told_as_it_was_written() {
        let prompt = "User: Please word the section better:\n- it is a preview\n- it works beside \
            the other one. Say so.\n\nDon't touch the docs. Thanks!";
        let wants = "Please word the section better:\n- it is a preview\n- it works beside the other one. \
            Say so.\nDon't touch the docs.";
        assert_eq!(
            told(prompt, "word the section better").as_deref(),
            Some(wants)
        );
        assert_eq!(
            told("User: fix the login test please", "fix the login test"),
            None
        );
        let plan = "User: Implement this plan:\n\n# Two parsers\n\n## Context\n\nThe parser grew over the years and \
            nobody can read it any more.\n\n## Steps\n\n- one";
        let wants = "Implement this plan:\nTwo parsers\n“The parser grew over the years and nobody can read it \
            any more.”";
        assert_eq!(
            told(plan, "Implement this plan: Two parsers").as_deref(),
            Some(wants)
        );
    }

    #[test]
    fn a_long_ask_is_cut_between_sentences() {
        let long = format!("User: {}", "Write the docs of carts anew. ".repeat(60));
        let told = told(&long, "").expect("it says more");
        assert!(
            told.chars().count() <= ASK_CHARS_MAX && told.ends_with(". …"),
            "{told}"
        );
    }
}
