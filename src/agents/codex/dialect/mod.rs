//! Codex rollouts to entries. Knows the envelope of the three eras, whose record it is (forks copy
//! history), and which telling counts, but not files, offsets beyond the line's own, and what came
//! before except through [`Context`].
//!
//! Which record tells what: people speak in `user_message` (legacy), `item_completed/UserMessage`
//! (paginated) or `message` items of role user (bare); the agent speaks, calls and gets results in
//! response items in every era. All parallel records are noise, but what they know better (exit
//! codes of code mode, files that a patch changed) is added to the result that tells of the call.

mod calls;
#[cfg(test)]
mod corpus;
mod drift;
mod events;
mod items;
mod output;
mod patch;
mod record;
mod review;
mod script;
mod session;
pub mod state;
#[cfg(test)]
mod tests;

use crate::json::cursor;
use crate::json::fields::{self, Fields, Object};
use crate::model::entry::{Context, Entry, EntryKind, Fact, Identity};
use crate::model::source::Span;
use crate::model::time::Time;
use crate::stages::parse::dialect::stem;
use crate::stages::parse::{Dialect, LogName, ParseState};
use record::Record;
use state::{RolloutFormat, RolloutState};
use std::borrow::Cow;
use uuid::Uuid;

/// Codex's dialect.
pub struct CodexDialect;

#[cfg(test)]
pub(crate) fn fields() -> &'static crate::rules::fields::KnownFields {
    &drift::FIELDS
}

impl Dialect for CodexDialect {
    /// Rollouts (formats § 8).
    fn is_log(&self, stem: &[u8]) -> bool {
        stem.starts_with(b"rollout-")
    }

    /// `rollout-<time>-<thread>.jsonl`.
    fn name(&self, key: &str) -> LogName {
        LogName {
            fallback_session: thread(stem(key)).map(str::to_owned),
            ..LogName::default()
        }
    }

    fn resume(&self, context: &mut Context) {
        context.dialect.restore::<RolloutState>();
    }

    fn value(
        &self,
        state: &mut ParseState,
        place: Span,
        bytes: &[u8],
        out: &mut Vec<Entry>,
    ) -> Result<usize, Cow<'static, str>> {
        value(state, place, bytes, out)
    }
}

/// The thread in a rollout's name, which may be followed by `_` and the rollout's own id.
fn thread(stem: &str) -> Option<&str> {
    let stem = stem.strip_prefix("rollout-")?;
    let name = stem.split('_').next()?;
    let id = name.get(name.len().checked_sub(36)?..)?;
    Uuid::try_parse(id).is_ok().then_some(id)
}

/// Reads the object at the start of a line of a rollout; gives how many bytes it takes. Costs one
/// pass over the bytes plus the texts that are kept.
fn value(
    state: &mut ParseState,
    place: Span,
    bytes: &[u8],
    out: &mut Vec<Entry>,
) -> Result<usize, Cow<'static, str>> {
    let text = cursor::value_text(bytes)?;
    let Object {
        fields: envelope,
        inside: payload,
        end,
    } = fields::nested(text, "payload")?;
    let text = &text[..end];
    let kind = envelope.name("type").unwrap_or_default();
    let time = envelope.text("timestamp").and_then(|t| Time::parse(&t));
    let before = out.len();
    let mut record = Record {
        state,
        place,
        time,
        out,
        id: Identity::None,
        nth: 0,
    };
    match payload {
        Some(payload) => {
            record.wrapped(&kind, &payload, envelope.raw("payload").unwrap_or(""));
            record.drifted(&kind, &payload);
        }
        None if WRAPPED.contains(&&*kind) => match envelope.raw("payload") {
            None | Some("null") => return Err("no payload".into()),
            // a payload that is no object: `drifted` names it
            Some(_) => {}
        },
        None => record.bare(&kind, &envelope, text),
    }
    record.drifted("*", &envelope);
    if record.out.len() == before {
        record.noise("empty");
    }
    Ok(end)
}

/// Kinds of lines that have a payload.
const WRAPPED: [&str; 5] = [
    "session_meta",
    "response_item",
    "event_msg",
    "turn_context",
    "compacted",
];

impl Record<'_> {
    fn wrapped(&mut self, kind: &str, payload: &Fields<'_>, raw: &str) {
        let inner = payload.text("type").unwrap_or_default();
        if kind == "session_meta" {
            return self.session_meta(payload, raw);
        }
        self.own_again(payload);
        self.identify(kind, &inner, payload, raw);
        match kind {
            "response_item" => self.item(&inner, payload),
            "event_msg" => self.event(&inner, payload),
            "turn_context" => self.turn_context(payload),
            "compacted" => self.push(EntryKind::Fact(Fact::Compaction)),
            "world_state" => self.noise("world state"),
            // `token_count` says the same
            "token_usage_record" => self.noise("token count"),
            "inter_agent_communication" | "inter_agent_communication_metadata" => {
                self.noise("mail between agents");
            }
            _ if kind.is_empty() => self.push(EntryKind::unknown("untyped")),
            _ => self.push(EntryKind::unknown(kind.to_owned())),
        }
    }

    fn bare(&mut self, kind: &str, fields: &Fields<'_>, raw: &str) {
        if fields.raw("record_type").is_some() {
            self.identify("bare", "state", fields, raw);
            return self.noise("state");
        }
        if kind.is_empty() && fields.name("id").is_some() && fields.raw("timestamp").is_some() {
            self.sticky(|context| state::set_format(context, RolloutFormat::Bare));
            return self.session_meta(fields, raw);
        }
        self.time = None;
        self.identify("response_item", kind, fields, raw);
        if state::format(&self.state.context) == RolloutFormat::None && items::is_known(kind) {
            self.sticky(|context| state::set_format(context, RolloutFormat::Bare));
        }
        match kind {
            "" => self.push(EntryKind::unknown("untyped")),
            _ => self.item(kind, fields),
        }
    }
}
