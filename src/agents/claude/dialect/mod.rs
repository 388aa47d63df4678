//! Claude Code's dialect: one JSON object per line, one content block per assistant line.
//!
//! Knows the envelope and who speaks (formats § 2, § 3, § 4).

mod assistant;
mod bookkeeping;
mod drift;
mod message;
mod plain;
mod records;
mod result;
mod user;

use crate::json::cursor::{Cursor, Raw, Visit};
use crate::json::text::{decode, inside, is_name, string};
use crate::model::entry::{Context, Entry, EntryKind, Identity, Message};
use crate::model::source::Span;
use crate::model::time::Time;
use crate::stages::parse::dialect::stem;
use crate::stages::parse::{Dialect, LogName, ParseState, nameless};
use std::borrow::Cow;
use std::sync::Arc;
use uuid::Uuid;

/// The stream of inline sidechain records without an agent id (1.0.x): all of a file share one.
pub const NAMELESS_SIDECHAIN: &str = "sidechain";

/// Claude Code's dialect.
pub struct ClaudeDialect;

#[cfg(test)]
pub(crate) fn fields() -> &'static crate::rules::fields::KnownFields {
    &drift::FIELDS
}

impl Dialect for ClaudeDialect {
    /// Every `.jsonl` below the projects but the workflows' journals (formats § 1).
    fn is_log(&self, stem: &[u8]) -> bool {
        stem != b"journal"
    }

    fn has_record_ids(&self) -> bool {
        true
    }

    /// `<session>.jsonl`, or `<session>/subagents/agent-<id>.jsonl`.
    fn name(&self, key: &str) -> LogName {
        let stem = stem(key);
        let stream = stem.strip_prefix("agent-").map(str::to_owned);
        let parent = stream.as_ref().and_then(|_| parent_session(key));
        LogName {
            session: Uuid::try_parse(stem).is_ok().then(|| stem.to_owned()),
            fallback_session: parent.map(str::to_owned),
            is_replay: stem.starts_with("agent-acompact-"),
            stream,
        }
    }

    /// A sub-agent's log is of the session whose directory it is in.
    fn family<'k>(&self, key: &'k str) -> &'k str {
        match key.find("/subagents/") {
            Some(at) => key[..at].rsplit('/').next().unwrap_or(key),
            None => stem(key),
        }
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

/// The session of `…/<session>/subagents/agent-x.jsonl`.
fn parent_session(key: &str) -> Option<&str> {
    key[..key.find("/subagents/")?].rsplit('/').next()
}

/// The value at the start of `bytes` as entries; gives how many bytes it takes. A complete object
/// always gives entries.
fn value(
    state: &mut ParseState,
    place: Span,
    bytes: &[u8],
    out: &mut Vec<Entry>,
) -> Result<usize, Cow<'static, str>> {
    let mut line = Line::default();
    let mut cursor = Cursor::lenient(bytes);
    cursor.object(&mut line).ok_or("torn json")?;
    let used = cursor.at();
    if line.is_plain() {
        plain::line(state, place, &bytes[..used], out)?;
        return Ok(used);
    }
    let mut record = line.record(state, place);
    if state.file.is_replay {
        record.id = Identity::None;
        record.push(out, EntryKind::Noise("compaction agent".into()));
        return Ok(used);
    }
    let before = out.len();
    let kind = line.kind.and_then(inside).map(decode);
    if let (Identity::None, Some("user" | "assistant" | "queue-operation")) =
        (record.id, kind.as_deref())
    {
        record.id = nameless(&bytes[..used]);
    }
    let drifted = drift::of(kind.as_deref(), &line);
    match kind.as_deref() {
        _ if drifted.hides_content => {}
        Some("assistant") => assistant::entries(state, &line, &mut record, out),
        Some("user") => user::entries(&line, &mut record, out),
        Some("attachment") => user::attachment(&line, &record, out),
        Some("system") => bookkeeping::system(&line, &record, out),
        Some(kind) => bookkeeping::other(kind, &line, &record, out),
        None => record.push(out, EntryKind::Unknown("no type".into())),
    }
    for name in drifted.names {
        record.push(out, EntryKind::Unknown(name));
    }
    if out.len() == before {
        record.push(out, EntryKind::Noise("empty".into()));
    }
    Ok(used)
}

/// The raw members of a line that anyone looks at.
#[derive(Default)]
struct Line<'a> {
    kind: Option<Raw<'a>>,
    subtype: Option<Raw<'a>>,
    uuid: Option<Raw<'a>>,
    parent: Option<Raw<'a>>,
    timestamp: Option<Raw<'a>>,
    session: Option<Raw<'a>>,
    sidechain: bool,
    agent: Option<Raw<'a>>,
    cwd: Option<Raw<'a>>,
    branch: Option<Raw<'a>>,
    version: Option<Raw<'a>>,
    message: Option<message::Parts<'a>>,
    /// A `message` that is no object.
    odd_message: Option<Raw<'a>>,
    request: Option<Raw<'a>>,
    structured: result::Structured,
    denial: Option<Raw<'a>>,
    meta: bool,
    compact_summary: bool,
    api_error: bool,
    attachment: Option<Raw<'a>>,
    operation: Option<Raw<'a>>,
    content: Option<Raw<'a>>,
    origin: Option<Raw<'a>>,
    prompt_source: Option<Raw<'a>>,
    summary: Option<Raw<'a>>,
    leaf: Option<Raw<'a>>,
    title: Option<Raw<'a>>,
    pr_url: Option<Raw<'a>>,
    tool: Option<Raw<'a>>,
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
            b"parentUuid" => &mut self.parent,
            b"timestamp" => &mut self.timestamp,
            b"sessionId" => &mut self.session,
            b"agentId" => &mut self.agent,
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
    fn is_plain(&self) -> bool {
        let kind = self.kind.and_then(inside).unwrap_or_default();
        self.uuid.is_none()
            && match kind {
                b"user" | b"assistant" => self.content.is_some() && self.message.is_none(),
                b"tool_use" => self.tool.is_some(),
                b"error" => true,
                _ => false,
            }
    }

    fn record(&self, state: &mut ParseState, place: Span) -> Record {
        let uuid = self
            .uuid
            .and_then(inside)
            .and_then(|u| Uuid::try_parse_ascii(u).ok());
        Record {
            place,
            id: uuid.map_or(Identity::None, Identity::Own),
            time: self
                .timestamp
                .and_then(inside)
                .and_then(|t| Time::parse(&decode(t))),
            context: self.context(state),
            message: None,
        }
    }

    /// The context that the line states; what it doesn't state stays in force.
    fn context(&self, state: &mut ParseState) -> Arc<Context> {
        let now = &state.context;
        let stream = self.stream(state);
        let same = unchanged(self.session, &now.session)
            && unchanged(self.cwd, &now.cwd)
            && unchanged(self.branch, &now.branch)
            && unchanged(self.version, &now.version)
            && now.stream.as_deref() == stream.as_deref();
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

fn decode_raw(raw: Raw<'_>) -> Cow<'_, str> {
    decode(inside(raw).unwrap_or(raw))
}

/// What the entries of one line share.
struct Record {
    place: Span,
    id: Identity,
    time: Option<Time>,
    context: Arc<Context>,
    message: Option<Message>,
}

impl Record {
    fn push(&self, out: &mut Vec<Entry>, what: EntryKind) {
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

/// Records that are known noise, or else unknown under this name.
fn noise_or_unknown(name: &str) -> EntryKind {
    match records::noise_type(name) {
        Some(reason) => EntryKind::Noise(reason.into()),
        None => EntryKind::Unknown(name.chars().take(60).collect()),
    }
}
