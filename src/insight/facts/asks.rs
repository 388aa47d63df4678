//! What the agent asked last, where nobody answered.

use super::line::LocatedItem;
use super::words::{folded, points_back};
use crate::insight::outcome::is_aside;
use crate::insight::summary::short;
use crate::model::exchange::ItemKind;
use crate::model::summary::Sourced;
use crate::rules::requests::offered;
use crate::rules::words::{content_words, sentences};

/// Stands before what nobody answered.
pub const UNANSWERED: &str = "Unanswered: ";

/// Stands before what the agent would do, where nobody answered.
pub const OFFERED: &str = "Offered: ";

/// Longer ones are cut.
const QUESTIONS_CHARS_MAX: usize = 240;

/// The questions in the last paragraph of a session that ends with the agent's words.
pub fn unanswered(lines: &[LocatedItem<'_>]) -> Option<Sourced<String>> {
    let mut last = lines.iter().rev().filter(|line| line.main);
    let last = last.find(|line| match line.item.kind {
        ItemKind::Note => false,
        ItemKind::Prompt | ItemKind::Aside => !is_aside(line.item.text),
        _ => true,
    });
    let line = last.filter(|line| line.item.kind == ItemKind::Agent)?;
    let asked = questions(line.words()).join(" ");
    let asked = short(&asked, QUESTIONS_CHARS_MAX);
    if !asked.is_empty() {
        return Some(line.source(format!("{UNANSWERED}{asked}")));
    }
    let offer = offer(line.words())?;
    let offer = short(&offer, QUESTIONS_CHARS_MAX);
    Some(line.source(format!("{OFFERED}{offer}")))
}

/// `If you want, I can …`, in the last paragraph.
fn offer(words: &str) -> Option<String> {
    let text = last_paragraph(words)?;
    let offer = sentences(&text).find_map(offered)?;
    Some(offer.to_owned())
}

/// Folded; `None` where it is code, or begins a list.
fn last_paragraph(words: &str) -> Option<String> {
    let paragraph = words.trim_end().rsplit("\n\n").next().unwrap_or(words);
    (!paragraph.contains("```")).then(|| folded(paragraph))
}

/// Sentences that ask, in the last paragraph that isn't code; what the first of them hangs on stands before it.
fn questions(words: &str) -> Vec<String> {
    let Some(text) = last_paragraph(words) else {
        return Vec::new();
    };
    let asks = |sentence: &&str| {
        let bare = sentence.trim_end_matches(['*', '_', '"', ')']);
        bare.ends_with('?')
    };
    let plain = |sentence: &str| sentence.trim_start_matches(['-', '*', ' ']).to_owned();
    let all: Vec<&str> = sentences(&text).collect();
    let mut asked: Vec<String> = all.iter().copied().filter(asks).map(plain).collect();
    let first = all.iter().position(asks);
    let before = first.and_then(|at| all[..at].last());
    if let (Some(before), Some(first)) = (before, asked.first())
        && is_dependent(first, before)
    {
        asked.insert(0, plain(before));
    }
    asked
}

/// `Go ahead?`, `Want me to push it?` behind the command for it: nobody knows to what, or not with what.
fn is_dependent(question: &str, before: &str) -> bool {
    const VAGUE_WORDS_MAX: usize = 2;
    let is_vague = content_words(question).len() <= VAGUE_WORDS_MAX;
    let names_command = || before.contains('`') && points_back(question);
    let chars = question.chars().count() + before.chars().count();
    chars < QUESTIONS_CHARS_MAX && is_vague && (names_command() || question.split(' ').count() <= 3)
}

/// The step is a question that stands right behind this sentence, or has it in it: it says itself what is open.
pub(super) fn asks_behind(step: &str, said: &str, words: &str) -> bool {
    let Some(asked) = step.strip_prefix(UNANSWERED) else {
        return false;
    };
    let text = last_paragraph(words).unwrap_or_default();
    let first = sentences(asked).next().unwrap_or_default();
    let mut pairs = sentences(&text).zip(sentences(&text).skip(1));
    pairs.any(|(one, next)| one == said && next == first) || asked.contains(said)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::outcome::SessionItem;
    use uuid::Uuid;

    fn line(kind: ItemKind, text: &str) -> LocatedItem<'_> {
        LocatedItem {
            item: SessionItem {
                kind,
                text,
                findings: &[],
            },
            main: true,
            episode: Uuid::nil(),
            line: 1,
        }
    }

    #[test]
    fn a_question_is_open_until_somebody_answers() {
        let asks = line(ItemKind::Agent, "Agent: Done. Shall I push it?");
        let left = |lines: &[LocatedItem<'_>]| unanswered(lines).map(|asked| asked.what);
        let wants = Some("Unanswered: Shall I push it?".to_owned());
        assert_eq!(left(&[asks]), wants);
        assert_eq!(left(&[asks, line(ItemKind::Prompt, "User: /exit")]), wants);
        assert_eq!(left(&[asks, line(ItemKind::Prompt, "User: yes")]), None);
        let offers = line(
            ItemKind::Agent,
            "Agent: Done.\n\nIf you want, I can push it.",
        );
        assert_eq!(left(&[offers]), Some("Offered: push it".to_owned()));
        let call = line(ItemKind::Digest, "Action: Bash(ls) → ok");
        assert_eq!(left(&[asks, call]), None);
    }

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
                vec!["1. Merge it?", "2. Leave it?"],
            ),
            ("```\nwhat?\n```", vec![]),
            ("**Shall I go on?**", vec!["Shall I go on?"]),
            (
                "All is in. It takes `git push -f`. Shall I push it?",
                vec!["It takes `git push -f`.", "Shall I push it?"],
            ),
        ] {
            assert_eq!(questions(words), wants, "{words}");
        }
    }
}
