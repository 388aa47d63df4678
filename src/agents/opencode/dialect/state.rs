//! What a line has to know of those before it: which messages are written at the time, and which prompts are in
//! force. Stored with the checkpoint.

use crate::agents::prompts::Prompts;
use crate::model::dialect_state::Remembered;
use serde::{Deserialize, Serialize};

/// Messages whose parts may still come. One or two are written at a time; larger: each context holds them;
/// smaller: parts of what runs for long lose who speaks.
const MESSAGES_MAX: usize = 8;

/// A message, as far as its parts need it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ToldMessage {
    /// A hash of its id.
    pub(super) id: u64,
    /// When it was begun, in milliseconds.
    pub(super) at: i64,
    /// The agent speaks.
    pub(super) is_agents: bool,
    /// It sums up what was said before.
    pub(super) is_summary: bool,
    /// Of the agent.
    pub(super) model: Option<String>,
}

/// What was told so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Told {
    /// The last ones, oldest first.
    pub(super) messages: Vec<ToldMessage>,
    /// By their messages' ids.
    #[serde(flatten)]
    pub(super) prompts: Prompts,
    /// A hash of the title.
    pub(super) title: u64,
}

impl Told {
    pub(super) fn message(&self, id: u64) -> Option<&ToldMessage> {
        self.messages.iter().find(|message| message.id == id)
    }

    /// A message is begun, or something of it is told.
    pub(super) fn learn(&mut self, message: ToldMessage) {
        match self.messages.iter_mut().find(|m| m.id == message.id) {
            Some(known) => *known = message,
            None => {
                if self.messages.len() >= MESSAGES_MAX {
                    self.messages.remove(0);
                }
                self.messages.push(message);
            }
        }
    }
}

/// Nothing of it is to be masked: hashes, times and names of models say nothing.
impl Remembered for Told {}
