//! What the agent asked last, where nobody answered.

use super::line::LocatedItem;
use super::words::folded;
use crate::insight::outcome::is_aside;
use crate::insight::summary::short;
use crate::model::exchange::ItemKind;
use crate::model::summary::Sourced;
use crate::rules::words::sentences;

/// Stands before what nobody answered.
pub const UNANSWERED: &str = "Unanswered: ";

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
    (!asked.is_empty()).then(|| line.source(format!("{UNANSWERED}{asked}")))
}

/// Sentences that ask, in the last paragraph that isn't code.
fn questions(words: &str) -> Vec<String> {
    let paragraph = words.trim_end().rsplit("\n\n").next().unwrap_or(words);
    if paragraph.contains("```") {
        return Vec::new();
    }
    let text = folded(paragraph);
    let asks = |sentence: &&str| {
        let bare = sentence.trim_end_matches(['*', '_', '"', ')']);
        bare.ends_with('?')
    };
    let asked = sentences(&text).filter(asks);
    asked
        .map(|sentence| sentence.trim_start_matches(['-', '*', ' ']).to_owned())
        .collect()
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
        ] {
            assert_eq!(questions(words), wants, "{words}");
        }
    }
}
