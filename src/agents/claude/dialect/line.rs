//! One line's envelope: the members that anyone looks at, and what the line's entries share.

use super::message;
use super::structured::Structured;
use crate::json::cursor::{Cursor, Raw, Visit, get};
use crate::json::text::{decode, inside, is_name, string};
use crate::model::entry::{Context, Entry, EntryKind, Identity, Message};
use crate::model::source::Span;
use crate::model::time::Time;
use crate::stages::parse::ParseState;
use std::borrow::Cow;
use std::sync::Arc;
use uuid::Uuid;

/// The stream of inline sidechain records without an agent id (1.0.x): all of a file share one.
const NAMELESS_SIDECHAIN: &str = "sidechain";

/// The raw members of a line that anyone looks at.
#[derive(Default)]
pub(super) struct Line<'a> {
    pub(super) kind: Option<Raw<'a>>,
    pub(super) subtype: Option<Raw<'a>>,
    /// How long the agent worked in a turn: without what it waited for somebody.
    pub(super) worked: Option<Raw<'a>>,
    /// Which time a request is tried again.
    pub(super) retry: Option<Raw<'a>>,
    pub(super) uuid: Option<Raw<'a>>,
    pub(super) forked_from: Option<Raw<'a>>,
    pub(super) parent: Option<Raw<'a>>,
    pub(super) timestamp: Option<Raw<'a>>,
    pub(super) session: Option<Raw<'a>>,
    pub(super) sidechain: bool,
    pub(super) agent: Option<Raw<'a>>,
    /// What a member of a team of agents is called, in its own log.
    pub(super) member: Option<Raw<'a>>,
    pub(super) cwd: Option<Raw<'a>>,
    pub(super) branch: Option<Raw<'a>>,
    pub(super) version: Option<Raw<'a>>,
    pub(super) message: Option<message::Parts<'a>>,
    /// A `message` that is no object.
    pub(super) odd_message: Option<Raw<'a>>,
    pub(super) request: Option<Raw<'a>>,
    pub(super) structured: Structured,
    pub(super) denial: Option<Raw<'a>>,
    pub(super) meta: bool,
    pub(super) compact_summary: bool,
    pub(super) api_error: bool,
    pub(super) attachment: Option<Raw<'a>>,
    pub(super) operation: Option<Raw<'a>>,
    pub(super) content: Option<Raw<'a>>,
    pub(super) origin: Option<Raw<'a>>,
    pub(super) prompt_source: Option<Raw<'a>>,
    pub(super) summary: Option<Raw<'a>>,
    pub(super) leaf: Option<Raw<'a>>,
    pub(super) title: Option<Raw<'a>>,
    pub(super) pr_url: Option<Raw<'a>>,
    pub(super) tool: Option<Raw<'a>>,
}

impl<'a> Visit<'a, [u8]> for Line<'a> {
    /// Nearly all bytes of a line are in these two; they are walked once.
    fn enter(&mut self, key: &'a [u8], value: Cursor<'a, [u8]>) -> Option<usize> {
        match key {
            b"message" => self.message.get_or_insert_default().read(value),
            b"toolUseResult" => self.structured.read(value),
            _ => None,
        }
    }

    fn member(&mut self, key: &'a [u8], value: Raw<'a>) {
        let slot = match key {
            b"type" => &mut self.kind,
            b"subtype" => &mut self.subtype,
            b"uuid" => &mut self.uuid,
            b"forkedFrom" => &mut self.forked_from,
            b"parentUuid" => &mut self.parent,
            b"timestamp" => &mut self.timestamp,
            b"sessionId" => &mut self.session,
            b"agentId" => &mut self.agent,
            b"agentName" => &mut self.member,
            b"cwd" => &mut self.cwd,
            b"gitBranch" => &mut self.branch,
            b"version" => &mut self.version,
            b"requestId" => &mut self.request,
            b"message" => &mut self.odd_message,
            b"toolDenialKind" => &mut self.denial,
            b"attachment" => &mut self.attachment,
            b"operation" => &mut self.operation,
            b"content" => &mut self.content,
            b"origin" => &mut self.origin,
            b"promptSource" => &mut self.prompt_source,
            b"summary" => &mut self.summary,
            b"leafUuid" => &mut self.leaf,
            b"customTitle" | b"aiTitle" => &mut self.title,
            b"prUrl" => &mut self.pr_url,
            b"tool" => &mut self.tool,
            b"durationMs" => &mut self.worked,
            b"retryAttempt" => &mut self.retry,
            b"isSidechain" => return self.sidechain = value == b"true",
            b"isMeta" => return self.meta = value == b"true",
            b"isCompactSummary" => return self.compact_summary = value == b"true",
            b"isApiErrorMessage" => return self.api_error = value == b"true",
            _ => return,
        };
        *slot = Some(value);
    }
}

impl<'a> Line<'a> {
    /// The documents' simplified shapes (D27): words or a tool's name where Claude Code nests a
    /// message, and no uuid.
    pub(super) fn is_plain(&self) -> bool {
        let kind = self.kind.and_then(inside).unwrap_or_default();
        self.uuid.is_none()
            && match kind {
                b"user" | b"assistant" => self.content.is_some() && self.message.is_none(),
                b"tool_use" => self.tool.is_some(),
                b"error" => true,
                _ => false,
            }
    }

    pub(super) fn record(&self, state: &mut ParseState, place: Span) -> Record {
        Record {
            place,
            id: self.id().map_or(Identity::None, Identity::Own),
            time: self
                .timestamp
                .and_then(inside)
                .and_then(|t| Time::parse(&decode(t))),
            context: self.context(state),
            message: None,
        }
    }

    /// The record's; of a fork's copy the one that it was copied from, which some forks rename.
    fn id(&self) -> Option<Uuid> {
        let parsed = |raw: Raw<'_>| Uuid::try_parse_ascii(inside(raw)?).ok();
        let own = self.uuid.and_then(parsed)?;
        let copied = self.forked_from.and_then(|from| get(from, "messageUuid"));
        Some(copied.and_then(parsed).unwrap_or(own))
    }

    /// The context that the line states; what it doesn't state stays in force.
    fn context(&self, state: &mut ParseState) -> Arc<Context> {
        let now = &state.context;
        let stream = self.stream(state);
        let origin = self.forked_from.and_then(|from| get(from, "sessionId"));
        let same = unchanged(self.session, &now.session)
            && unchanged(self.cwd, &now.cwd)
            && unchanged(self.branch, &now.branch)
            && unchanged(self.version, &now.version)
            && now.stream.as_deref() == stream.as_deref()
            && (origin.is_some() || now.origin.is_none())
            && unchanged(origin, &now.origin);
        if same {
            return now.clone();
        }
        let stated = |raw: Option<Raw<'_>>, old: &Option<String>| {
            raw.and_then(string)
                .filter(|s| !s.is_empty() && is_name(s))
                .or_else(|| old.clone())
        };
        let next = Context {
            session: stated(self.session, &now.session),
            cwd: stated(self.cwd, &now.cwd),
            branch: stated(self.branch, &now.branch),
            version: stated(self.version, &now.version),
            stream: stream.map(Cow::into_owned),
            origin: stated(origin, &None),
            ..Context::default()
        };
        state.enter(next)
    }

    fn stream<'s>(&self, state: &'s ParseState) -> Option<Cow<'s, str>>
    where
        'a: 's,
    {
        if let Some(file) = &state.file.stream {
            return Some(Cow::Borrowed(file));
        }
        if !self.sidechain {
            return None;
        }
        let agent = self.agent.and_then(inside).map(decode);
        let agent = agent.filter(|name| is_name(name));
        Some(agent.unwrap_or(Cow::Borrowed(NAMELESS_SIDECHAIN)))
    }
}

/// Nothing stated, or the same as before. Escaped strings (Windows paths) are decoded to compare.
fn unchanged(raw: Option<Raw<'_>>, now: &Option<String>) -> bool {
    match raw.and_then(inside) {
        None | Some(b"") => true,
        Some(text) => now
            .as_ref()
            .is_some_and(|now| text == now.as_bytes() || decode(text) == now.as_str()),
    }
}

pub(super) fn decode_raw(raw: Raw<'_>) -> Cow<'_, str> {
    decode(inside(raw).unwrap_or(raw))
}

/// What the entries of one line share.
pub(super) struct Record {
    pub(super) place: Span,
    pub(super) id: Identity,
    pub(super) time: Option<Time>,
    pub(super) context: Arc<Context>,
    pub(super) message: Option<Message>,
}

impl Record {
    pub(super) fn push(&self, out: &mut Vec<Entry>, what: EntryKind) {
        out.push(Entry {
            place: self.place,
            nth: 0, // `lines` numbers the entries of a line
            id: self.id,
            time: self.time,
            context: self.context.clone(),
            message: self.message.clone(),
            what,
        });
    }
}
