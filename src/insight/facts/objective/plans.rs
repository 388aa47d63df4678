//! What a prompt that only points at a plan is about, and what a slash command is for, in few words.

use super::super::line::{LocatedItem, found};
use super::super::prompts::{Prompt, exchange, stands_for};
use super::super::words::shortened;
use super::said::PART_CHARS_MIN;
use crate::model::finding::Finding;
use crate::rules::paths::{is_plan_word, plan_word};
use crate::rules::words::tokens;

/// The title of the plan that was read for a prompt that names such a file or calls it so, before anything was changed.
pub(super) fn title<'t>(lines: &[LocatedItem<'t>], prompt: &Prompt<'_, '_>) -> Option<&'t str> {
    let command = stands_for(lines, prompt.at).unwrap_or_default();
    let asked = format!("{} {command}", prompt.line.words()).to_lowercase();
    let exchange = exchange(lines, prompt.at);
    let before =
        found(exchange).take_while(|(_, finding)| !matches!(finding, Finding::Changed { .. }));
    let mut read = before
        .filter(|(line, _)| line.main)
        .filter_map(|(_, finding)| match finding {
            Finding::PlanRead { path, title } => Some((path, title)),
            _ => None,
        });
    let (path, title) = read.next()?;
    let name = path
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or(path)
        .to_lowercase();
    let word = plan_word(path).unwrap_or_default();
    let is_it = |said: String| said.strip_suffix('s').unwrap_or(&said) == word;
    let is_named = asked.contains(&name) || tokens(&asked).any(is_it);
    is_named.then(|| without_label(title))
}

/// `Plan: Carts add up` as `Carts add up`.
fn without_label(title: &str) -> &str {
    let is_label = |label: &str| tokens(&label.to_lowercase()).any(|word| is_plan_word(&word));
    let label = title.split_once(": ").filter(|(label, _)| is_label(label));
    label.map_or(title, |(_, title)| title)
}

/// The prompt is a plan or another document: what it says of itself is what somebody asked for.
pub(super) fn is_document(prompt: &Prompt<'_, '_>) -> bool {
    prompt.prose.aim.is_some() || !prompt.prose.document.is_empty()
}

/// A document's title with what it says first and what it is for, as far as that has room.
pub(super) fn with_aim(title: &str, prompt: &Prompt<'_, '_>, room: usize) -> String {
    let prose = &prompt.prose;
    let mut text = title.to_owned();
    for sentence in prose.document.first().into_iter().chain(&prose.aim) {
        let left = room.saturating_sub(text.chars().count() + 2);
        let is_whole = sentence.chars().count() <= left;
        let said = sentence
            .split_once(": ")
            .map_or(sentence.as_str(), |(_, said)| said);
        if (is_whole || left >= PART_CHARS_MIN) && !text.contains(said) {
            let joint = if text.ends_with(['.', '?', '!', '…']) {
                " "
            } else {
                ". "
            };
            text.extend([joint, &shortened(sentence, left)]);
        }
    }
    text
}

/// With fewer characters, what a command is for says too little.
const PURPOSE_CHARS_MIN: usize = 40;

/// What a slash command is for, without how it goes about it: `Mend what the reviewers ask for using batches`.
/// Who the agent shall be is none.
pub(super) fn purpose(text: &str) -> Option<&str> {
    if text.starts_with("You are ") || text.starts_with("You're ") {
        return None;
    }
    const WAYS: [&str; 5] = [" using ", " by ", " via ", " - ", " – "];
    let ways = WAYS.iter().filter_map(|way| text.find(way));
    let ends = ways.filter(|at| text[..*at].chars().count() >= PURPOSE_CHARS_MIN);
    Some(ends.min().map_or(text, |at| &text[..at]))
}

#[cfg(test)]
mod tests {
    use super::super::super::prompts::prompts;
    use super::*;
    use crate::model::exchange::ItemKind;

    #[test]
    fn what_a_command_is_for_has_no_ways() {
        for (text, wants) in [
            (
                "Fetches the comments of reviewers and mends what they ask for using batches",
                "Fetches the comments of reviewers and mends what they ask for",
            ),
            (
                "Make a commit using the rules",
                "Make a commit using the rules",
            ),
            ("Mend the cart", "Mend the cart"),
        ] {
            assert_eq!(purpose(text), Some(wants));
        }
        assert_eq!(purpose("You are an expert who reads carts"), None);
    }

    #[test]
    fn a_plan_is_read_for_who_names_one() {
        let read = [Finding::PlanRead {
            path: "/p/docs/plans/carts.md".into(),
            title: "Plan: Carts add up".into(),
        }];
        let changed = [Finding::Changed {
            path: "/p/a.rs".into(),
            added: 1,
            removed: 0,
        }];
        for (asked, note, first, wants) in [
            (
                "User: /do 7",
                "Note: the command stands for: Carry out a plan",
                &read,
                Some("Carts add up"),
            ),
            (
                "User: implement docs/carts.md",
                "Note: none",
                &read,
                Some("Carts add up"),
            ),
            (
                "User: /review 7",
                "Note: the command stands for: Review it",
                &read,
                None,
            ),
            ("User: implement the plan", "Note: none", &changed, None),
        ] {
            let lines = [
                LocatedItem::sample(ItemKind::Prompt, 1, asked, &[]),
                LocatedItem::sample(ItemKind::Note, 2, note, &[]),
                LocatedItem::sample(ItemKind::Digest, 3, "Action: one", first),
                LocatedItem::sample(
                    ItemKind::Digest,
                    4,
                    "Action: Read(docs/carts.md) → 9 lines",
                    &read,
                ),
            ];
            assert_eq!(title(&lines, &prompts(&lines)[0]), wants, "{asked}");
        }
    }

    #[test]
    fn a_label_is_no_title() {
        assert_eq!(without_label("Plan: Carts add up"), "Carts add up");
        assert_eq!(without_label("Implementation Plan: Carts"), "Carts");
        assert_eq!(without_label("Fix: Carts"), "Fix: Carts");
    }
}
