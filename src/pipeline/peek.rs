//! Looks at the head of a log that the store doesn't know: whose session, which project, which
//! other files it shares records with.
//!
//! Knows no more than the parsers tell. Reads a few kilobytes, more only while no directory is stated.

use super::parsed_log::ParsedLog;
use crate::host::read::LINE_MAX;
use crate::model::entry::{Entry, EntryKind, Fact, Identity};
use crate::model::source::SourceFile;
use crate::model::time::Time;
use crate::stages::parse::LogName;
use crate::stages::parse::dialect::stem;
use anyhow::Result;
use std::ops::ControlFlow;
use std::path::Path;

/// A `cwd` has been seen as late as byte 358,000 (formats § 1.2).
const PEEK_BYTES_MAX: u64 = 1 << 20;

/// What the head of a log says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peek {
    /// The session that the file belongs to: for a main log of Claude Code its name where that is
    /// a uuid, else what the records state, else what the file's name states.
    pub session: String,
    /// `None`: the session's main log.
    pub stream: Option<String>,
    /// The first working directory.
    pub cwd: Option<String>,
    /// Names that tie it to others of its family (architecture § 6, "Records once").
    pub ties: Vec<String>,
    /// The first record's time.
    pub first: Option<Time>,
    /// The session that it says it was forked from.
    pub forked_from: Option<String>,
    /// Bytes that this look took.
    pub read_bytes: u64,
}

/// Reads until session, directory and first record are known, or [`PEEK_BYTES_MAX`]; a line that
/// begins before that is read on to [`LINE_MAX`], and of a longer one counts what comes before its
/// long member.
///
/// # Errors
/// When the file can't be read; the message names it.
pub fn peek(file: &SourceFile) -> Result<Peek> {
    let mut log = ParsedLog::head(file, LINE_MAX as u64)?;
    let mut peek = Peek::default();
    // such a head may be longer than a look, and forks are known by nothing else
    let wants_record = file.inside().is_some();
    log.for_each_batch(|log, batch| {
        batch.items.iter().for_each(|entry| peek.learn(entry));
        let read_enough = log.reader().read_bytes() > PEEK_BYTES_MAX;
        let is_tied = !wants_record || peek.begins_with_a_record();
        Ok(match peek.knows_enough() && is_tied || read_enough {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    })?;
    peek.read_bytes = log.reader().read_bytes();
    peek.settle(&file.key, log.into_name());
    Ok(peek)
}

impl Peek {
    fn learn(&mut self, entry: &Entry) {
        let context = &entry.context;
        if self.session.is_empty()
            && let Some(session) = &context.session
        {
            self.session.clone_from(session);
            self.tie("session", session);
        }
        if self.cwd.is_none() {
            self.cwd.clone_from(&context.cwd);
        }
        self.first = self.first.or(entry.time);
        if let Some(stream) = &context.stream {
            self.tie("session", stream);
        }
        if let (Identity::Own(_), Some(origin)) = (entry.id, &context.origin) {
            self.forked_from.get_or_insert_with(|| origin.clone());
            self.tie("session", origin);
        }
        match (&entry.what, entry.id) {
            (EntryKind::Fact(Fact::ForkedFrom(other)), _) => {
                self.forked_from.get_or_insert_with(|| other.clone());
                self.tie("session", other);
            }
            (EntryKind::Fact(Fact::Parent(other)), _) => self.tie("session", other),
            (_, Identity::Own(id)) if !self.begins_with_a_record() => {
                self.tie("uuid", &id.to_string());
            }
            _ => {}
        }
    }

    fn knows_enough(&self) -> bool {
        !self.session.is_empty() && self.cwd.is_some() && self.first.is_some()
    }

    fn begins_with_a_record(&self) -> bool {
        self.ties.iter().any(|tie| tie.starts_with("uuid:"))
    }

    fn tie(&mut self, kind: &str, name: &str) {
        let tie = format!("{kind}:{name}");
        if !self.ties.contains(&tie) {
            self.ties.push(tie);
        }
    }

    fn settle(&mut self, key: &str, name: LogName) {
        self.stream = name.stream;
        if let Some(session) = name.session {
            self.tie("session", &session);
            self.session = session;
        }
        if self.session.is_empty() {
            let fallback = name.fallback_session;
            self.session = fallback.unwrap_or_else(|| stem(key).to_owned());
            let session = self.session.clone();
            self.tie("session", &session);
        }
    }
}

/// What stands for the project where no record names a directory: the directory of the log.
pub fn label(key: &str) -> String {
    let mut directory = Path::new(key).parent();
    while let Some(d) = directory
        && d.file_name()
            .is_some_and(|n| n == "sessions" || n == "subagents")
    {
        directory = d.parent();
    }
    let name = directory.and_then(Path::file_name);
    name.map_or_else(|| "unknown".into(), |n| n.to_string_lossy().into_owned())
}
