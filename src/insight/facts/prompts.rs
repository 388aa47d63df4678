//! What people wrote in a session's main log, and what follows each prompt.

use super::line::LocatedItem;
use super::prose::{Prose, prose};
use crate::model::exchange::{EXPANDED, ItemKind, is_bare_command};
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
    let mut before = "";
    let mut all = Vec::new();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.main) {
        match line.item.kind {
            ItemKind::Agent => before = line.words(),
            ItemKind::Prompt | ItemKind::Aside if !drives(line.words()) => {
                let prose = match is_bare_command(line.words()) {
                    true => Prose::default(),
                    false => prose(line.words(), before),
                };
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

/// What follows a prompt, up to the next one.
pub fn exchange<'l, 't>(lines: &'l [LocatedItem<'t>], at: usize) -> &'l [LocatedItem<'t>] {
    let after = &lines[at + 1..];
    let next = after.iter().position(opens);
    &after[..next.unwrap_or(after.len())]
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
