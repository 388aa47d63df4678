//! What somebody picks from the list that a slash command gives: that is what a session was for, not the list.

use super::super::further::words_before;
use super::super::line::LocatedItem;
use super::super::options::option_of;
use super::super::prompts::Prompt;
use crate::rules::replies::{Reply, reply};

/// What the prompt behind this one picks from the agent's words between them.
pub(super) fn picked(
    lines: &[LocatedItem<'_>],
    prompts: &[Prompt<'_, '_>],
    command: &Prompt<'_, '_>,
) -> Option<String> {
    let next = prompts.iter().find(|prompt| prompt.at > command.at)?;
    option_of(words_before(lines, next)?, &name(next.line.words())?)
}

/// `3, but here` picks, too, from a list that was there to pick from.
fn name(words: &str) -> Option<String> {
    if let Some(Reply::Picks(name)) = reply(words) {
        return Some(name);
    }
    let words = words.trim();
    let rest = words.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = &words[..words.len() - rest.len()];
    let is_name = (1..=2).contains(&number.len()) && rest.starts_with([' ', ',', ':', ';']);
    is_name.then(|| number.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::super::prompts::prompts;
    use super::*;
    use crate::model::exchange::ItemKind;

    #[test]
    fn a_list_is_there_to_pick_from() {
        let told = |answer| {
            let items = [
                (ItemKind::Prompt, "User: /shop:todos"),
                (
                    ItemKind::Agent,
                    "Agent: What is open:\n\n| # | Title | Age |\n|---|---|---|\n| 1 | Paint the carts | 4d |\n| 2 | Mend the door of \
                     the shop | 1d |\n\nReply with a number.",
                ),
                (ItemKind::Prompt, answer),
            ];
            let lines = items.map(|(kind, text)| LocatedItem::sample(kind, 1, text, &[]));
            let prompts = prompts(&lines);
            picked(&lines, &prompts, &prompts[0])
        };
        let wants = Some("Mend the door of the shop".to_owned());
        assert_eq!(told("User: 2"), wants);
        assert_eq!(told("User: 2 seems like a great one to tackle"), wants);
        assert_eq!(told("User: 2 but on this branch"), wants);
        assert_eq!(told("User: 7"), None);
        assert_eq!(told("User: which of them is the oldest?"), None);
    }
}
