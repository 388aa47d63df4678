//! Prompts typed while the agent works (formats § 4.3). Knows when a queued prompt was said, by
//! whom it is consumed, and when a delivery is a copy.
//!
//! Pairing is by text: `enqueue` and what becomes of it share no id. Machine texts (task
//! notifications, slash commands) go through the same queue; whoever parses leaves them out or
//! hands them in as empty texts, and both are passed over here, because people's prompts are served
//! first anyway.

use crate::model::entry::Queue;
use crate::model::policy::{FilterPolicy, Keep};
use crate::model::resume_state::QueuedPrompt;
use std::borrow::Cow;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// Larger: bigger checkpoints; smaller: a prompt that waits behind this many others is forgotten.
/// One real machine piled up 1,629 nudges that were never delivered.
const QUEUED_MAX: usize = 64;

/// Whether words reach the log for the first time.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    /// They were not told before.
    New,
    /// They were told where they left the queue.
    Copy,
}

/// What a prompt is recognised by while it waits: its words, or where people's words are left out only
/// their hash, since the queue is stored.
pub(super) fn key<'t>(text: &'t str, policy: &FilterPolicy) -> Cow<'t, str> {
    match policy.user_messages {
        Keep::Out if !text.is_empty() => format!("#{:016x}", xxh3_64(text.as_bytes())).into(),
        _ => text.into(),
    }
}

/// An operation whose words are [`key`]s.
pub(super) fn recognised(op: Queue, policy: &FilterPolicy) -> Queue {
    let key = |text: String| key(text.trim(), policy).into_owned();
    match op {
        Queue::Enqueue(text) => Queue::Enqueue(key(text)),
        Queue::RemoveText(text) => Queue::RemoveText(key(text)),
        other => other,
    }
}

/// Applies one operation. Returns the words that it tells: a prompt that leaves the queue mid-turn.
pub(super) fn operate(queued: &mut Vec<Arc<QueuedPrompt>>, op: Queue) -> Option<String> {
    match op {
        Queue::Enqueue(text) => {
            enqueue(queued, text.trim());
            None
        }
        // It becomes a user entry, which consumes it when it comes.
        Queue::Dequeue => None,
        Queue::Remove => mark_said(queued.iter_mut().find(|q| !q.emitted)),
        Queue::RemoveText(text) => {
            let text = text.trim();
            mark_said(queued.iter_mut().find(|q| !q.emitted && q.text == text))
        }
        // They return to the input line: nothing was said.
        Queue::PopAll => {
            queued.retain(|q| q.emitted);
            None
        }
    }
}

/// A `queued_command` with these words.
pub(super) fn delivered(queued: &mut Vec<Arc<QueuedPrompt>>, text: &str) -> Delivery {
    match queued.iter().position(|q| q.text == text) {
        Some(oldest) if queued.remove(oldest).emitted => Delivery::Copy,
        _ => Delivery::New,
    }
}

/// A user entry with these words; it is never a copy, since 3% of prompts repeat exactly.
pub(super) fn typed(queued: &mut Vec<Arc<QueuedPrompt>>, text: &str) {
    if let Some(oldest) = queued.iter().position(|q| !q.emitted && q.text == text) {
        queued.remove(oldest);
    }
}

fn enqueue(queued: &mut Vec<Arc<QueuedPrompt>>, text: &str) {
    if text.is_empty() {
        return;
    }
    if queued.len() >= QUEUED_MAX {
        let emitted = queued.iter().position(|q| q.emitted);
        queued.remove(emitted.unwrap_or(0));
    }
    queued.push(Arc::new(QueuedPrompt {
        text: text.to_owned(),
        emitted: false,
    }));
}

fn mark_said(prompt: Option<&mut Arc<QueuedPrompt>>) -> Option<String> {
    let prompt = Arc::make_mut(prompt?);
    prompt.emitted = true;
    Some(prompt.text.clone())
}
