//! OpenCode's events, as lines: what was set of a session, of a message, of a part of a message (formats § 12).
//!
//! A part is told again with each state that it gets, a session and a message too; and a fork tells all that it
//! copies under new ids. So what a record is, is told by when its message was begun, and what stands in it.

mod message;
mod part;
mod state;

use super::tables::TABLES;
use crate::json::cursor;
use crate::json::fields::{self, Fields, Object};
use crate::json::text::is_name;
use crate::model::entry::{Context, Entry, EntryKind, Identity, Message};
use crate::model::source::Span;
use crate::model::table_log::Tables;
use crate::model::time::Time;
use crate::rules::fields::KnownFields;
use crate::rules::table;
use crate::stages::parse::dialect::stem;
use crate::stages::parse::{Dialect, LogName, ParseState};
use state::Told;
use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

static FIELDS: LazyLock<KnownFields> =
    LazyLock::new(|| KnownFields::of(table::embedded!(in "agents", "opencode/fields")));

/// What ids of sessions begin with.
const SESSION: &str = "ses_";

/// OpenCode's dialect.
pub struct OpenCodeDialect;

#[cfg(test)]
pub(crate) fn fields() -> &'static KnownFields {
    &FIELDS
}

impl Dialect for OpenCodeDialect {
    /// Its lines, written to a file.
    fn is_log(&self, stem: &[u8]) -> bool {
        stem.starts_with(SESSION.as_bytes())
    }

    fn tables(&self) -> Option<&'static Tables> {
        Some(&TABLES)
    }

    /// A sub-agent's log is called after the session at the root of its tree, and after its own.
    fn name(&self, key: &str) -> LogName {
        let own = stem(key);
        match parent(key) {
            Some(root) => LogName {
                session: Some(root.to_owned()),
                stream: Some(own.to_owned()),
                ..LogName::default()
            },
            None => LogName {
                session: own.starts_with(SESSION).then(|| own.to_owned()),
                ..LogName::default()
            },
        }
    }

    fn has_record_ids(&self) -> bool {
        true
    }

    fn resume(&self, context: &mut Context) {
        context.dialect.restore::<Told>();
    }

    fn family<'k>(&self, key: &'k str) -> &'k str {
        parent(key).unwrap_or_else(|| stem(key))
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
            inside: data,
            end,
        } = fields::nested(text, "data")?;
        let before = out.len();
        let mut record = Record {
            place,
            time: None,
            state,
            out,
        };
        record.begin();
        record.event(&line, data.as_ref());
        record.drifted("*", "*", &line);
        if record.out.len() == before {
            record.noise("empty");
        }
        Ok(end)
    }
}

fn parent(key: &str) -> Option<&str> {
    let name = key.rsplit('/').nth(1);
    name.filter(|name| name.starts_with(SESSION))
}

/// One of a holder's times, in milliseconds.
fn time(holder: &Fields<'_>, which: &str) -> Option<Time> {
    holder.object("time")?.number(which).map(Time)
}

/// One line on its way to entries.
struct Record<'s> {
    place: Span,
    time: Option<Time>,
    state: &'s mut ParseState,
    out: &'s mut Vec<Entry>,
}

impl Record<'_> {
    /// Whose log it is, its name says.
    fn begin(&mut self) {
        let (session, stream) = (&self.state.file.session, &self.state.file.stream);
        let context = &self.state.context;
        if context.session != *session || context.stream != *stream {
            let (session, stream) = (session.clone(), stream.clone());
            self.sticky(|context| (context.session, context.stream) = (session, stream));
        }
    }

    fn event(&mut self, line: &Fields<'_>, data: Option<&Fields<'_>>) {
        let kind = line.text("type").unwrap_or_default();
        // `message.updated.1`: the version of what is in it
        let versioned = kind.rsplit_once('.');
        let name = match versioned {
            Some((name, version)) if version.bytes().all(|b| b.is_ascii_digit()) => name,
            _ => &*kind,
        };
        let inner = |key| data.and_then(|data| data.object(key));
        match name {
            "session.created" | "session.updated" => match inner("info") {
                Some(info) => self.session(name, &info),
                None => self.unknown("session without info"),
            },
            "message.updated" => match inner("info") {
                Some(info) => self.message(&info),
                None => self.unknown("message without info"),
            },
            "message.part.updated" => match inner("part") {
                Some(part) => self.part(&part),
                None => self.unknown("part without a part"),
            },
            "message.removed" => self.removed(data),
            "message.part.removed" | "session.deleted" => self.noise("state"),
            "" => self.unknown("no type"),
            other => {
                let name: String = other.chars().take(40).collect();
                self.unknown(name);
            }
        }
    }

    fn told(&self) -> Told {
        let told = self.state.context.dialect.get::<Told>();
        told.cloned().unwrap_or_default()
    }

    /// From the next line on.
    fn remember(&mut self, told: Told) {
        if told != self.told() {
            self.sticky(|context| context.dialect = told.into());
        }
    }

    fn cwd(&mut self, path: &str) {
        if is_name(path) && path.starts_with('/') && self.state.context.cwd.as_deref() != Some(path)
        {
            self.sticky(|context| context.cwd = Some(path.to_owned()));
        }
    }

    fn sticky(&mut self, change: impl FnOnce(&mut Context)) {
        change(Arc::make_mut(&mut self.state.context));
    }

    fn push(&mut self, id: Identity, what: EntryKind, message: Option<Message>) {
        self.out.push(Entry {
            place: self.place,
            nth: 0, // `lines` numbers the entries of a line
            id,
            time: self.time,
            context: self.state.context.clone(),
            message,
            what,
        });
    }

    fn noise(&mut self, reason: &'static str) {
        self.push(Identity::None, EntryKind::Noise(reason.into()), None);
    }

    fn unknown(&mut self, name: impl Into<String>) {
        self.push(Identity::None, EntryKind::unknown(name), None);
    }

    /// Counts the fields of a record that have another type than they had so far.
    fn drifted(&mut self, record: &str, shown: &str, values: &Fields<'_>) {
        for field in FIELDS.of_record(record) {
            let raw = values.raw(&field.name);
            if let Some(name) = raw.and_then(|raw| field.drift(shown, raw.as_bytes())) {
                let last = self.out.last().filter(|entry| entry.place == self.place);
                let id = last.map_or(Identity::None, |entry| entry.id);
                self.push(id, EntryKind::unknown(name), None);
            }
        }
    }
}
