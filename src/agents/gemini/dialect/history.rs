//! What lines say of the chat: its head, what `$set` sets, and turns that are taken back (formats § 10.3).

use super::super::injected::INJECTED;
use super::message;
use super::record::Record;
use crate::agents::genai;
use crate::agents::prompts::Prompts;
use crate::json::fields::{self, Fields};
use crate::model::entry::{EntryKind, Fact, Identity};
use crate::model::time::Time;
use crate::rules::injected::Spoken;
use xxhash_rust::xxh3::xxh3_64;

impl Record<'_> {
    /// Written when a chat begins, and again when it is resumed. A resumed chat's head may have its messages.
    pub(super) fn head(&mut self, head: &Fields<'_>, session: String) {
        self.time = head.text("startTime").and_then(|at| Time::parse(&at));
        if self.state.file.session.is_none()
            && self.state.context.session.as_ref() != Some(&session)
        {
            self.sticky(|context| context.session = Some(session));
        }
        self.directories(head);
        self.noise("session head");
    }

    /// The first directory is the one that it was started in.
    fn directories(&mut self, holder: &Fields<'_>) {
        let raw = holder.raw("directories").map(genai::list);
        let first = raw.and_then(|all| all.first().and_then(|raw| fields::text(raw)));
        if let Some(first) = first.filter(|path| path.starts_with('/')) {
            self.cwd(&first);
        }
    }

    pub(super) fn set(&mut self, set: &Fields<'_>) {
        self.directories(set);
        if let Some(title) = set.name("summary") {
            let text = title.split_whitespace().collect::<Vec<_>>().join(" ");
            let title = Fact::Title {
                text,
                custom: false,
            };
            self.push(Identity::None, EntryKind::Fact(title));
        }
        match set.raw("messages").filter(|raw| raw.starts_with('[')) {
            Some(messages) => self.history(messages),
            None => self.noise("settings"),
        }
    }

    /// The whole history, as the model gets it from here on: all of it was told before, but for the directory
    /// in which it works, and that it was compacted.
    fn history(&mut self, messages: &str) {
        let mut prompts = Prompts::default();
        let mut compacted = None;
        for message in genai::list(messages) {
            let Some(message) = fields::object(message) else {
                continue;
            };
            let id = message.text("id").unwrap_or_default();
            if message.text("type").as_deref() != Some("user") {
                continue;
            }
            let text = message::typed(&message).text;
            match INJECTED.people_words(&text) {
                Spoken::Words(_) => prompts.add(xxh3_64(id.as_bytes())),
                Spoken::Machine("compaction summary") => compacted = Some(id),
                Spoken::Machine("environment") => self.environment(&text),
                Spoken::Machine(_) => {}
            }
        }
        match compacted {
            Some(id) => {
                let id = Identity::Part(genai::part_id(&id, "compaction"));
                self.push(id, EntryKind::Fact(Fact::Compaction));
            }
            None => self.noise("history"),
        }
        self.remember(prompts);
    }

    /// `- **Workspace Directories:**`, then one on each line; `I'm currently working in the directory: …` before.
    pub(super) fn environment(&mut self, text: &str) {
        let mut lines = text.lines().map(str::trim);
        let found = lines.find_map(|line| {
            line.strip_prefix("I'm currently working in the directory: ")
                .or_else(|| line.contains("Workspace Directories:").then_some(""))
        });
        let path = match found {
            Some("") => lines.next().and_then(|line| line.strip_prefix("- ")),
            other => other,
        };
        if let Some(path) = path.filter(|path| path.starts_with('/')) {
            self.cwd(path);
        }
    }

    /// The turns from the one that begins with this message on were taken back.
    pub(super) fn rewind(&mut self, first: u64) {
        let mut prompts = self.prompts();
        match prompts.take_back(first) {
            0 => self.noise("rewind"),
            turns => self.push(Identity::None, EntryKind::Fact(Fact::RolledBack { turns })),
        }
        self.remember(prompts);
    }
}
