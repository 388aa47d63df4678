//! Which prompts of a chat are in force, where a rewind names the first that it takes back and not how many
//! (formats § 10.3, § 11.3). Stored with the checkpoint.

use crate::model::dialect_state::Remembered;
use serde::{Deserialize, Serialize};

/// Prompts that a rewind can count. Larger: each prompt's context holds them; smaller: a rewind over more is
/// told as one over so many.
pub const PROMPTS_MAX: usize = 64;

/// The prompts in force, oldest first, by a hash of what a rewind names them by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Prompts {
    /// At most [`PROMPTS_MAX`].
    #[serde(rename = "prompts")]
    pub ids: Vec<u64>,
}

impl Prompts {
    /// One more.
    pub fn add(&mut self, id: u64) {
        if self.ids.contains(&id) {
            return;
        }
        if self.ids.len() >= PROMPTS_MAX {
            self.ids.remove(0);
        }
        self.ids.push(id);
    }

    /// Takes back the prompt and all after it; gives how many these are, 0 where nobody knows it.
    pub fn take_back(&mut self, first: u64) -> u32 {
        let Some(at) = self.ids.iter().position(|id| *id == first) else {
            return 0;
        };
        let turns = u32::try_from(self.ids.len() - at).unwrap_or(u32::MAX);
        self.ids.truncate(at);
        turns
    }
}

/// Nothing of it is to be masked: hashes, times and names of models say nothing.
impl Remembered for Prompts {}
