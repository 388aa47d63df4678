//! The text that Claude Code puts in place of a slash command: the meta record right behind the command's own
//! (formats § 4). Knows how the two are linked.

use super::super::injected::INJECTED;
use super::line::Line;
use super::message::Content;
use crate::json::cursor::Raw;
use crate::json::text::{inside, string};
use crate::model::dialect_state::{DialectState, Remembered};
use crate::model::entry::{Entry, EntryKind};
use crate::rules::injected::Spoken;
use crate::rules::slash_commands::{head, purpose};
use crate::stages::parse::ParseState;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use uuid::Uuid;

/// The last slash command, until somebody speaks again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SlashCommand {
    /// Its record.
    command: Option<Uuid>,
}

/// Nothing of it is to be masked: an id says nothing.
impl Remembered for SlashCommand {}

/// The text of the command before, as far as it is read, where this line is that and says what it is for. Whole
/// sentences are taken of it only when what stays out of it is out: a marker may begin in one and end in another.
pub(super) fn expanded(state: &ParseState, line: &Line<'_>) -> Option<String> {
    let command = state.context.dialect.get::<SlashCommand>()?.command?;
    if !line.meta || line.parent.and_then(id)? != command {
        return None;
    }
    let text = match &line.message.as_ref()?.content {
        Content::Absent => return None,
        Content::Text(text) => string(text)?,
        Content::Blocks(blocks) => blocks.first()?.text.and_then(string)?,
    };
    match INJECTED.people_words(&text) {
        Spoken::Words(words) => purpose(&words).map(|_| head(&words).to_owned()),
        Spoken::Machine(_) => None,
    }
}

/// Remembers a command for the line behind it, and forgets it there. `entries`: the line's.
pub(super) fn remember(state: &mut ParseState, line: &Line<'_>, entries: &[Entry]) {
    let is_command = |entry: &Entry| matches!(&entry.what, EntryKind::Prompt { text, .. } if text.starts_with('/'));
    let command = match entries.iter().any(is_command) {
        true => line.uuid.and_then(id),
        false => None,
    };
    let known = state.context.dialect.get::<SlashCommand>();
    if known.and_then(|known| known.command) != command {
        let dialect = command.map(|id| DialectState::from(SlashCommand { command: Some(id) }));
        Arc::make_mut(&mut state.context).dialect = dialect.unwrap_or_default();
    }
}

fn id(raw: Raw<'_>) -> Option<Uuid> {
    Uuid::try_parse_ascii(inside(raw)?).ok()
}
