//! What people wrote in a session's main log, and what follows each prompt.

use super::line::LocatedItem;
use super::prose::{Prose, prose};
use crate::model::exchange::{EXPANDED, INTERRUPTED, ItemKind, is_bare_command};
use crate::rules::outcome::{Ending, ending};
use crate::rules::requests::drives;

/// Prompts of one session that are read: the first ones and the last ones.
const PROMPTS_MAX: usize = 80;

/// A prompt with what was read of it.
pub struct Prompt<'l, 't> {
    /// Where it stands among the session's items.
    pub at: usize,
    /// It.
    pub line: &'l LocatedItem<'t>,
    /// What was written there.
    pub prose: Prose<'t>,
}

/// What people wrote in the main log, in order, without what only drives the program.
pub fn prompts<'l, 't>(lines: &'l [LocatedItem<'t>]) -> Vec<Prompt<'l, 't>> {
    let mut before = Vec::new();
    let mut all = Vec::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.main) {
        match line.item.kind {
            ItemKind::Agent => before.push(line.words()),
            ItemKind::Prompt | ItemKind::Aside if !drives(line.words()) => {
                let prose = match is_bare_command(line.words()) {
                    true => Prose::default(),
                    false => prose(line.words(), &before),
                };
                before.clear();
                all.push(Prompt { at, line, prose });
            }
            _ => {}
        }
    }
    if all.len() > PROMPTS_MAX {
        all.drain(PROMPTS_MAX / 2..all.len() - PROMPTS_MAX / 2);
    }
    all
}

/// What follows a prompt, up to the next one that was answered; nothing where it was cut off at once and the agent went
/// on with what it had begun.
pub fn exchange<'l, 't>(lines: &'l [LocatedItem<'t>], at: usize) -> &'l [LocatedItem<'t>] {
    let after = &lines[at + 1..];
    if opens(&lines[at]) && is_passed_over(after) {
        return &[];
    }
    let is_next = |nth: usize| starts(lines, at + 1 + nth) && !is_passed_over(&after[nth + 1..]);
    let next = (0..after.len()).find(|nth| is_next(*nth));
    &after[..next.unwrap_or(after.len())]
}

/// A prompt that begins something: also what somebody typed while a program worked on, where the agent had ended its
/// turn. What it says then is no answer to the prompt before.
pub fn starts(lines: &[LocatedItem<'_>], at: usize) -> bool {
    let line = &lines[at];
    opens(line) || is_own_turn(lines, at)
}

fn is_own_turn(lines: &[LocatedItem<'_>], at: usize) -> bool {
    let line = &lines[at];
    if !line.main || line.item.kind != ItemKind::Aside || line.words().starts_with(['<', '{']) {
        return false;
    }
    let mut before = lines[..at].iter().rev().filter(|line| line.main);
    let before = before.find(|line| line.item.kind != ItemKind::Note);
    before.is_some_and(|before| {
        let words = before.words().trim_end();
        let is_end = !words.is_empty() && !words.ends_with([':', '…']);
        before.item.kind == ItemKind::Agent && is_end && ending(words) == Ending::Done
    })
}

/// Behind a prompt that was cut off at once, the agent speaks on.
fn is_passed_over(after: &[LocatedItem<'_>]) -> bool {
    let mut main = after.iter().filter(|line| line.main);
    let is_cut =
        |line: &LocatedItem<'_>| line.item.kind == ItemKind::Note && line.words() == INTERRUPTED;
    main.next().is_some_and(is_cut)
        && main
            .next()
            .is_some_and(|line| line.item.kind == ItemKind::Agent)
}

/// A person's prompt; what programs report in between opens nothing.
pub fn opens(line: &LocatedItem<'_>) -> bool {
    line.main && line.item.kind == ItemKind::Prompt && !line.words().starts_with(['<', '{'])
}

/// What the slash command at this place is for, where its agent wrote that down.
pub fn stands_for<'t>(lines: &[LocatedItem<'t>], at: usize) -> Option<&'t str> {
    let next = lines[at + 1..].iter().find(|line| line.main)?;
    let is_note = next.item.kind == ItemKind::Note;
    let words: &'t str = next.words();
    words.strip_prefix(EXPANDED).filter(|_| is_note)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_cut_off_at_once_has_no_answer() {
        let line = |kind, text| LocatedItem::sample(kind, 1, text, &[]);
        let all = [
            line(ItemKind::Prompt, "User: publish the cart"),
            line(ItemKind::Digest, "Action: Bash(publish) → ok"),
            line(ItemKind::Prompt, "User: is it still running?"),
            line(ItemKind::Note, "Note: interrupted by the user"),
            line(ItemKind::Agent, "Agent: The cart is published."),
        ];
        assert_eq!(exchange(&all, 0).len(), 4);
        assert!(exchange(&all, 2).is_empty());
        assert_eq!(exchange(&all[..4], 2).len(), 1, "nobody went on");
    }
}
