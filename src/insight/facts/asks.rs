//! What the agent asked last, where nobody answered. Knows sentences; refuses to answer.

use super::Line;
use super::words::folded;
use crate::insight::outcome::is_aside;
use crate::model::exchange::ItemKind;
use crate::model::summary::Sourced;

/// More questions at an end are a list of options.
const QUESTIONS_MAX: usize = 2;

/// Longer ones are told by their end.
const QUESTION_CHARS_MAX: usize = 240;

/// Questions in the last paragraph of a session that ends with the agent's words.
pub fn unanswered(lines: &[Line<'_>]) -> Vec<Sourced<String>> {
    let mut last = lines.iter().rev().filter(|line| line.main);
    let last = last.find(|line| match line.told.kind {
        ItemKind::Note => false,
        ItemKind::Prompt | ItemKind::Aside => !is_aside(line.told.text),
        _ => true,
    });
    let Some(line) = last.filter(|line| line.told.kind == ItemKind::Agent) else {
        return Vec::new();
    };
    let asked = questions(line.words()).into_iter();
    asked
        .map(|question| line.source(format!("Unanswered: {question}")))
        .collect()
}

/// Sentences that ask, in the last paragraph that isn't code.
fn questions(words: &str) -> Vec<String> {
    let paragraph = words.trim_end().rsplit("\n\n").next().unwrap_or(words);
    if paragraph.contains("```") {
        return Vec::new();
    }
    let text = folded(paragraph);
    let mut asked: Vec<String> = sentences(&text)
        .filter(|sentence| {
            sentence
                .trim_end_matches(['*', '_', '"', ')'])
                .ends_with('?')
        })
        .filter(|sentence| sentence.chars().count() <= QUESTION_CHARS_MAX)
        .map(|sentence| sentence.trim_start_matches(['-', '*', ' ']).to_owned())
        .collect();
    asked.drain(..asked.len().saturating_sub(QUESTIONS_MAX));
    asked
}

/// Ends are marks that whitespace follows.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let text = rest.trim_start();
        if text.is_empty() {
            return None;
        }
        let end = text.match_indices(['.', '!', '?']).find_map(|(at, mark)| {
            let after = &text[at + mark.len()..];
            after
                .starts_with(char::is_whitespace)
                .then_some(at + mark.len())
        });
        let (sentence, after) = text.split_at(end.unwrap_or(text.len()));
        rest = after;
        Some(sentence)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_paragraph_asks() {
        for (words, wants) in [
            (
                "Done. Want me to commit this?",
                vec!["Want me to commit this?"],
            ),
            ("Why? Because.\n\nAll is done.", vec![]),
            (
                "Fixed in a.rs. Shall I push, or wait for v1.2?",
                vec!["Shall I push, or wait for v1.2?"],
            ),
            (
                "Two ways:\n\n1. Merge it?\n2. Leave it?",
                vec!["Merge it?", "Leave it?"],
            ),
            ("```\nwhat?\n```", vec![]),
            ("**Shall I go on?**", vec!["Shall I go on?"]),
        ] {
            assert_eq!(questions(words), wants, "{words}");
        }
    }
}
