//! What a rollout says about itself: `session_meta`, `turn_context`, and where a fork's copied
//! history ends.
//!
//! A legacy fork starts with its own meta, then its parent's meta and history, all written in one
//! burst. The copies keep their turn ids (UUIDv7, so they know their time) but not their times.

use super::record::{Record, identity, own_thread};
use super::state::{self, RecordLinks, RolloutFormat};
use crate::json::fields::{self, Fields};
use crate::model::entry::{Context, EntryKind, Fact};
use crate::model::time::Time;
use std::sync::Arc;
use uuid::Uuid;

/// A burst of copied lines has no longer pause than this (milliseconds). Longer: a fork's own first
/// words count as copied; shorter: a slow disk's copies count as own.
const BURST_PAUSE_MS: i64 = 2_000;

/// Threads whose history one file copies, that are told apart. A fork of a fork of a fork has
/// four; larger: every entry's context holds them.
const CHAIN_MAX: usize = 64;

impl Record<'_> {
    /// The first one is the file's identity; later ones of the same thread change settings; one of
    /// another thread opens copied history.
    pub(super) fn session_meta(&mut self, meta: &Fields<'_>, raw: &str) {
        let thread = meta.label("id").unwrap_or_default().into_owned();
        let known = own_thread(&self.state.context).map(str::to_owned);
        match known {
            Some(own) if own != thread => self.foreign_meta(thread, raw),
            known => self.own_meta(thread, known.is_none(), meta, raw),
        }
    }

    fn foreign_meta(&mut self, thread: String, raw: &str) {
        self.sticky(|context| context.origin = Some(thread.clone()));
        self.id = identity(&thread, ("session_meta", ""), None, raw);
        self.noise("copied history");
        let time = self.time;
        self.amend(|links| {
            links.burst = time;
            if links.chain.len() < CHAIN_MAX && !links.chain.contains(&thread) {
                links.chain.push(thread);
            }
        });
    }

    fn own_meta(&mut self, thread: String, first: bool, meta: &Fields<'_>, raw: &str) {
        let parent = parent(meta);
        let root = meta.label("session_id").map(|id| id.into_owned());
        let session = root
            .filter(|root| *root != thread)
            .or_else(|| parent.clone())
            .unwrap_or_else(|| thread.clone());
        self.sticky(|context| {
            context.stream = (session != thread && !thread.is_empty()).then(|| thread.clone());
            if !session.is_empty() {
                context.session = Some(session);
            }
            context.origin = None;
            settings(context, meta);
            if state::format(context) == RolloutFormat::None {
                let format = match meta.text("history_mode").as_deref() {
                    Some("paginated") => RolloutFormat::Paginated,
                    _ => RolloutFormat::Legacy,
                };
                state::set_format(context, format);
            }
        });
        self.id = identity(&thread, ("session_meta", ""), None, raw);
        self.push(EntryKind::Fact(Fact::Context));
        if let Some(parent) = parent.filter(|_| first) {
            self.push(EntryKind::Fact(Fact::Parent(parent)));
        }
        if let Some(from) = meta.label("forked_from_id").filter(|_| first) {
            self.push(EntryKind::Fact(Fact::ForkedFrom(from.into_owned())));
        }
        self.amend(|links| {
            if links.chain.is_empty() && !thread.is_empty() {
                links.chain.push(thread);
            }
            leave_copies(links);
        });
    }

    /// Directory and model of the turns that follow.
    pub(super) fn turn_context(&mut self, turn: &Fields<'_>) {
        if self.state.context.origin.is_some() {
            return self.noise("turn context");
        }
        let cwd = turn.label("cwd");
        let model = turn.label("model");
        let known = &self.state.context;
        let moved = cwd.is_some() && cwd.as_deref() != known.cwd.as_deref();
        let old = self.links().and_then(|c| c.model.as_deref());
        let other_model = model.is_some() && model.as_deref() != old;
        if moved {
            self.sticky(|context| context.cwd = cwd.map(|c| c.into_owned()));
        }
        match moved || other_model {
            true => self.push(EntryKind::Fact(Fact::Context)),
            false => self.noise("turn context"),
        }
        if let Some(model) = model.filter(|_| other_model) {
            self.amend(|links| links.model = Some(Arc::from(&*model)));
        }
    }

    /// While copied history is read: finds out whose record this is, by its turn's id or by a pause
    /// before it.
    pub(super) fn own_again(&mut self, payload: &Fields<'_>) {
        let Some(origin) = self.state.context.origin.clone() else {
            return;
        };
        let Some(links) = self.links() else { return };
        let owner = match payload.text("turn_id").and_then(|id| born(&id)) {
            Some(turn) => links
                .chain
                .iter()
                .find(|thread| born(thread).is_some_and(|thread| thread <= turn))
                .cloned(),
            None => {
                let pause = links.burst.zip(self.time).map(|(a, b)| b.0 - a.0);
                let own = pause.is_some_and(|ms| ms >= BURST_PAUSE_MS);
                own.then(|| links.chain.first().cloned()).flatten()
            }
        };
        let own = links.chain.first() == owner.as_ref() && owner.is_some();
        let (time, burst) = (self.time, links.burst);
        if own {
            self.sticky(|context| {
                context.origin = None;
                leave_copies(state::links_mut(context));
            });
            return;
        }
        if let Some(owner) = owner.filter(|owner| *owner != origin) {
            self.sticky(|context| context.origin = Some(owner));
        }
        if time > burst {
            self.amend(|links| links.burst = time);
        }
    }
}

/// Copied messages and calls are none of the file's own: forgets them, but not the total so far.
fn leave_copies(links: &mut RecordLinks) {
    if links.burst.take().is_some() {
        links.message = 0;
        links.spent = Default::default();
        links.open.clear();
        links.reviewing = false;
    }
}

fn settings(context: &mut Context, meta: &Fields<'_>) {
    if let Some(cwd) = meta.label("cwd") {
        context.cwd = Some(cwd.into_owned());
    }
    if let Some(version) = meta.label("cli_version") {
        context.version = Some(version.into_owned());
    }
    if let Some(branch) = meta.object("git").and_then(|git| git.label("branch")) {
        context.branch = Some(branch.into_owned());
    }
}

/// The thread that spawned this one, or that a sub-agent of an unnamed parent belongs to.
fn parent(meta: &Fields<'_>) -> Option<String> {
    let spawn = || {
        let source = meta.object("source")?;
        let agent = source.object("subagent")?;
        let spawn = agent.object("thread_spawn")?;
        spawn.label("parent_thread_id")
    };
    let parent = meta.label("parent_thread_id").or_else(spawn)?;
    Some(parent.into_owned())
}

/// The time inside a UUIDv7.
fn born(id: &str) -> Option<Time> {
    let id = Uuid::parse_str(id).ok()?;
    (id.get_version_num() == 7).then(|| Time((id.as_u128() >> 80) as i64))
}

/// The directory inside an `<environment_context>` block, in both of its spellings.
pub(super) fn environment_cwd(text: &str) -> Option<&str> {
    let block = text.trim_start().strip_prefix("<environment_context>")?;
    let tagged = || block.split_once("<cwd>")?.1.split_once("</cwd>");
    let spelled = || {
        let rest = block.split_once("Current working directory: ")?.1;
        rest.split_once('\n')
    };
    let cwd = tagged().or_else(spelled)?.0.trim();
    (!cwd.is_empty()).then_some(cwd)
}

/// The text of a `content` array: its text blocks, joined by newlines, and how many pictures.
pub(super) fn content(fields: &Fields<'_>) -> (Vec<String>, u64) {
    let mut texts = Vec::new();
    let mut pictures = 0;
    if let Some(text) = fields.text("content") {
        texts.push(text.into_owned());
    }
    for raw in fields.elements("content") {
        let Some(block) = fields::object(raw) else {
            continue;
        };
        match block.text("text") {
            Some(text) => texts.push(text.into_owned()),
            None => pictures += u64::from(is_picture(&block)),
        }
    }
    (texts, pictures)
}

fn is_picture(block: &Fields<'_>) -> bool {
    block
        .text("type")
        .is_some_and(|kind| kind.contains("image"))
}
