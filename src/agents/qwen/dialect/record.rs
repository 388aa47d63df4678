//! One line's envelope: what its entries share.

use crate::agents::prompts::Prompts;
use crate::json::fields::Fields;
use crate::model::entry::{Context, Entry, EntryKind, Identity, Message};
use crate::model::source::Span;
use crate::model::time::Time;
use crate::rules::fields::KnownFields;
use crate::stages::parse::{ParseState, nameless};
use std::sync::Arc;
use uuid::Uuid;

/// One line on its way to entries.
pub(super) struct Record<'s> {
    pub(super) place: Span,
    pub(super) id: Identity,
    time: Option<Time>,
    pub(super) state: &'s mut ParseState,
    out: &'s mut Vec<Entry>,
}

impl<'s> Record<'s> {
    /// The envelope of a line, whose own text is `raw`.
    pub(super) fn new(
        line: &Fields<'_>,
        raw: &str,
        state: &'s mut ParseState,
        place: Span,
        out: &'s mut Vec<Entry>,
    ) -> Record<'s> {
        enter(line, state);
        Record {
            place,
            id: id(line).map_or_else(|| nameless(raw.as_bytes()), Identity::Own),
            time: line.text("timestamp").and_then(|at| Time::parse(&at)),
            state,
            out,
        }
    }

    /// Of a sub-agent: its prompts are its parent's words.
    pub(super) fn is_stream(&self) -> bool {
        self.state.context.stream.is_some()
    }

    pub(super) fn prompts(&self) -> Prompts {
        let known = self.state.context.dialect.get::<Prompts>();
        known.cloned().unwrap_or_default()
    }

    /// From the next line on.
    pub(super) fn remember(&mut self, prompts: Prompts) {
        if prompts != self.prompts() {
            Arc::make_mut(&mut self.state.context).dialect = prompts.into();
        }
    }

    pub(super) fn push(&mut self, what: EntryKind) {
        self.push_of(what, None);
    }

    pub(super) fn push_of(&mut self, what: EntryKind, message: Option<Message>) {
        self.out.push(Entry {
            place: self.place,
            nth: 0, // `lines` numbers the entries of a line
            id: self.id,
            time: self.time,
            context: self.state.context.clone(),
            message,
            what,
        });
    }

    pub(super) fn noise(&mut self, reason: &'static str) {
        self.push(EntryKind::Noise(reason.into()));
    }

    /// Names what drifted.
    pub(super) fn drifted(&mut self, known: &KnownFields, record: &str, values: &Fields<'_>) {
        let shown = match record {
            "*" => values.text("type").unwrap_or_default().into_owned(),
            record => record.to_owned(),
        };
        for field in known.of_record(record) {
            let raw = values.raw(&field.name);
            if let Some(name) = raw.and_then(|raw| field.drift(&shown, raw.as_bytes())) {
                self.push(EntryKind::unknown(name));
            }
        }
    }
}

/// The record's; of a fork's copy the one that it was copied from.
fn id(line: &Fields<'_>) -> Option<Uuid> {
    let parsed = |text: &str| Uuid::try_parse(text).ok();
    let own = line.text("uuid").and_then(|id| parsed(&id))?;
    let origin = line.object("forkedFrom");
    let copied = origin.and_then(|from| from.text("messageUuid").and_then(|id| parsed(&id)));
    Some(copied.unwrap_or(own))
}

/// Takes up the context that the line states; what it doesn't state stays in force.
fn enter(line: &Fields<'_>, state: &mut ParseState) {
    let now = &state.context;
    let stated = |key: &str, old: &Option<String>| {
        let new = line.label(key).map(|text| text.into_owned());
        new.or_else(|| old.clone())
    };
    let origin = line.object("forkedFrom");
    let origin = origin.and_then(|from| Some(from.label("sessionId")?.into_owned()));
    let next = Context {
        session: stated("sessionId", &now.session),
        cwd: stated("cwd", &now.cwd),
        branch: stated("gitBranch", &now.branch),
        version: stated("version", &now.version),
        stream: state.file.stream.clone(),
        origin,
        dialect: now.dialect.clone(),
    };
    state.enter(next);
}
