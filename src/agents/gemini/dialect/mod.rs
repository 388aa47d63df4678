//! Gemini CLI's chats: lines that add to a conversation or set something of it (formats § 10).
//!
//! A message is written again, whole, when it has got calls or tokens; so each of its parts is a record of its
//! own, and the parts that were told before are copies. History that `$set` writes again is no telling at all.

mod history;
mod message;
mod record;

use crate::agents::prompts::Prompts;
use crate::json::cursor;
use crate::json::fields::{self, Fields, Object};
use crate::model::entry::{Context, Entry, EntryKind, Identity};
use crate::model::source::Span;
use crate::model::time::Time;
use crate::rules::fields::KnownFields;
use crate::rules::table;
use crate::stages::parse::dialect::stem;
use crate::stages::parse::{Dialect, LogName, ParseState};
use record::Record;
use std::borrow::Cow;
use std::sync::{Arc, LazyLock};
use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_64;

static FIELDS: LazyLock<KnownFields> =
    LazyLock::new(|| KnownFields::of(table::embedded!(in "agents", "gemini/fields")));

/// Gemini CLI's dialect.
pub struct GeminiDialect;

#[cfg(test)]
pub(crate) fn fields() -> &'static KnownFields {
    &FIELDS
}

impl Dialect for GeminiDialect {
    /// `session-2026-01-31T09-30-1b2c3d4e`, or a sub-agent's UUID. Beside them, in `logs/`, are others.
    fn is_log(&self, stem: &[u8]) -> bool {
        short_session(stem).is_some() || Uuid::try_parse_ascii(stem).is_ok()
    }

    /// A sub-agent's log lies in a folder that is called like its parent's session.
    fn name(&self, key: &str) -> LogName {
        let stem = stem(key);
        if short_session(stem.as_bytes()).is_some() {
            return LogName::default();
        }
        let parent = parent(key).filter(|name| Uuid::try_parse(name).is_ok());
        LogName {
            session: parent.map(str::to_owned),
            stream: parent.map(|_| stem.to_owned()),
            ..LogName::default()
        }
    }

    fn resume(&self, context: &mut Context) {
        context.dialect.restore::<Prompts>();
    }

    /// The session's first eight characters: a main log's name has no more.
    fn family<'k>(&self, key: &'k str) -> &'k str {
        let stem = stem(key);
        let whole = match short_session(stem.as_bytes()) {
            Some(at) => &stem[at..],
            None => parent(key).unwrap_or(stem),
        };
        whole.get(..8).unwrap_or(whole)
    }

    fn value(
        &self,
        state: &mut ParseState,
        place: Span,
        bytes: &[u8],
        out: &mut Vec<Entry>,
    ) -> Result<usize, Cow<'static, str>> {
        let text = cursor::value_text(bytes)?;
        let Object {
            fields: line,
            inside: set,
            end,
        } = fields::nested(text, "$set")?;
        let before = out.len();
        if let Some(stream) = &state.file.stream
            && state.context.stream.is_none()
        {
            let (stream, session) = (stream.clone(), state.file.session.clone());
            let context = Arc::make_mut(&mut state.context);
            (context.stream, context.session) = (Some(stream), session);
        }
        let mut record = Record {
            place,
            time: time(&line),
            state,
            out,
        };
        record.line(&line, set);
        if record.out.len() == before {
            record.noise("empty");
        }
        Ok(end)
    }
}

/// Where the session begins in the name of a main log.
fn short_session(stem: &[u8]) -> Option<usize> {
    let form = b"session-0000-00-00T00-00-";
    let fits = |(byte, form): (&u8, &u8)| match form {
        b'0' => byte.is_ascii_digit(),
        form => byte == form,
    };
    let is_it = stem.len() > form.len() && stem.iter().zip(form).all(fits);
    is_it.then_some(form.len())
}

fn parent(key: &str) -> Option<&str> {
    key.rsplit('/').nth(1)
}

fn time(line: &Fields<'_>) -> Option<Time> {
    Time::parse(&line.text("timestamp")?)
}

impl Record<'_> {
    fn line(&mut self, line: &Fields<'_>, set: Option<Fields<'_>>) {
        if let Some(set) = set {
            self.set(&set);
            self.drifted("$set", &set);
        } else if let Some(first) = line.text("$rewindTo") {
            self.rewind(xxh3_64(first.as_bytes()));
        } else if line.raw("id").is_some() {
            self.message(line);
            let kind = line.text("type").unwrap_or_default();
            self.drifted("*", line);
            self.drifted(&kind, line);
        } else if let Some(session) = line.label("sessionId") {
            self.head(line, session.into_owned());
        } else {
            self.push(Identity::None, EntryKind::unknown("no kind"));
        }
    }

    fn drifted(&mut self, record: &str, values: &Fields<'_>) {
        let shown = match record {
            "*" => values.text("type").unwrap_or_default().into_owned(),
            record => record.to_owned(),
        };
        for field in FIELDS.of_record(record) {
            let raw = values.raw(&field.name);
            if let Some(name) = raw.and_then(|raw| field.drift(&shown, raw.as_bytes())) {
                self.push(self.last(), EntryKind::unknown(name));
            }
        }
    }
}
