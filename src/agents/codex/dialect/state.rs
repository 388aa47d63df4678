//! What a Codex record needs to know of the records before it (formats § 8.1, § 8.3, § 8.5), stored
//! with the checkpoint, so that reading may start again at any record.

use crate::model::dialect_state::{DialectState, Remembered};
use crate::model::entry::Context;
use crate::model::time::Time;
use crate::model::usage::Usage;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The whole state. Fields have the names that stores have had since their first version.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RolloutState {
    /// Which of the parallel records counts; may be applied twice without harm.
    #[serde(rename = "telling")]
    pub format: RolloutFormat,
    /// What links records, as it was *before* the record whose context holds this: applied twice,
    /// it would count twice.
    #[serde(rename = "codex")]
    pub links: Option<Arc<RecordLinks>>,
}

/// In which records people speak, and so which of a conversation's parallel records count
/// (formats § 8.3, § 8.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RolloutFormat {
    /// Not known yet.
    #[default]
    None,
    /// Items without an envelope: people speak in `message` items of role user.
    Bare,
    /// People speak in `event_msg/user_message`.
    Legacy,
    /// People speak in `item_completed/UserMessage`.
    Paginated,
}

/// What links a rollout's records.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordLinks {
    /// The model in force.
    pub model: Option<Arc<str>>,
    /// Threads whose `session_meta` was seen: the file's own first, then those whose history a
    /// fork copied, nearest first.
    pub chain: Vec<String>,
    /// While copied history is read: the time of the last line.
    pub burst: Option<Time>,
    /// The group of the last assistant message; 0 before the first.
    pub message: u64,
    /// Tokens billed since that message began.
    pub spent: Usage,
    /// The thread's cumulative total, as last stated.
    pub billed: Usage,
    /// Between `entered_review_mode` and its end: user messages are the program's.
    pub reviewing: bool,
    /// Calls whose result needs more than its own record, oldest first.
    pub open: Vec<OpenCall>,
}

/// A call that waits for its output: a patch, or a script of code mode.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OpenCall {
    /// Its call id.
    pub call: String,
    /// A code-mode script: records of what it runs come under other ids.
    pub script: bool,
    /// (path, added lines, removed lines), from the call itself or from what was reported since.
    pub patched: Vec<(String, u64, u64)>,
    /// `patched` was reported by whoever applied it.
    pub confirmed: bool,
    /// Of the last command that was reported as its.
    pub exit_code: Option<i32>,
}

/// The format of the file that a record is in, as far as it is known there.
pub fn format(context: &Context) -> RolloutFormat {
    let state = context.dialect.get::<RolloutState>();
    state.map(|state| state.format).unwrap_or_default()
}

/// From here on the file is read as of this format.
pub fn set_format(context: &mut Context, format: RolloutFormat) {
    context.dialect.make_mut::<RolloutState>().format = format;
}

/// What links a record to those before it.
pub fn links(context: &Context) -> Option<&RecordLinks> {
    context.dialect.get::<RolloutState>()?.links.as_deref()
}

/// The same, to change.
pub fn links_mut(context: &mut Context) -> &mut RecordLinks {
    let state = context.dialect.make_mut::<RolloutState>();
    Arc::make_mut(state.links.get_or_insert_default())
}

impl Remembered for RolloutState {
    /// Paths of patches come from the log.
    fn masked(&self, mask: &dyn Fn(&mut String)) -> Option<DialectState> {
        let links = self.links.as_ref()?;
        if links.open.iter().all(|call| call.patched.is_empty()) {
            return None;
        }
        let mut links = RecordLinks::clone(links);
        let paths = links.open.iter_mut().flat_map(|call| &mut call.patched);
        paths.for_each(|(path, ..)| mask(path));
        Some(DialectState::from(RolloutState {
            format: self.format,
            links: Some(Arc::new(links)),
        }))
    }
}
