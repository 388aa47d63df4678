//! Messages: who speaks, what was called, what it cost (formats § 10.2).

use super::super::injected::INJECTED;
use super::record::Record;
use crate::agents::genai::{self, Parts};
use crate::json::fields::{self, Fields};
use crate::model::entry::{EntryKind, Fact, Identity, Message, PromptOrigin};
use crate::model::usage::Usage;
use crate::rules::injected::Spoken;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// What the terminal says when a person pressed Esc.
const CANCELLED: &str = "Request cancelled.";

/// What a person typed: the part that was shown, where more went to the model.
pub(super) fn typed<'a>(message: &Fields<'a>) -> Parts<'a> {
    let shown = message.raw("displayContent").filter(|raw| *raw != "null");
    Parts::of(shown.or_else(|| message.raw("content")).unwrap_or_default())
}

/// The command that a person typed to the agent's shell.
fn shell_command(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("I ran the following shell command:\n```sh\n")?;
    rest.split("\n```").next()
}

impl Record<'_> {
    pub(super) fn message(&mut self, line: &Fields<'_>) {
        let id = line.text("id").unwrap_or_default();
        match line.text("type").as_deref() {
            Some("user") => self.user(&id, line),
            Some("gemini") => self.gemini(&id, line),
            Some("info" | "warning") => self.notice(&id, line),
            Some("error") => {
                let text = Parts::of(line.raw("content").unwrap_or_default()).text;
                let id = Identity::Part(genai::part_id(&id, "text"));
                self.push(id, EntryKind::Failure(text));
            }
            Some(other) => {
                let name: String = other.chars().take(40).collect();
                self.push(Identity::None, EntryKind::unknown(name));
            }
            None => self.push(Identity::None, EntryKind::unknown("no type")),
        }
    }

    fn user(&mut self, id: &str, line: &Fields<'_>) {
        let parts = typed(line);
        let record = Identity::Part(genai::part_id(id, "text"));
        if let Some(command) = shell_command(&parts.text) {
            return self.prompt(id, record, format!("!{command}"));
        }
        match INJECTED.people_words(&parts.text) {
            Spoken::Words(words) => self.prompt(id, record, parts.with_pictures(&words)),
            // what a call gave back stands beside the call
            Spoken::Machine(_) if !parts.responses.is_empty() => self.noise("recorded twice"),
            Spoken::Machine(_) if parts.pictures > 0 => {
                self.prompt(id, record, parts.with_pictures(""));
            }
            Spoken::Machine("environment") => {
                self.environment(&parts.text);
                self.push(record, EntryKind::Noise("environment".into()));
            }
            Spoken::Machine(reason) => self.push(record, EntryKind::Noise(reason.into())),
        }
    }

    /// Words typed to the agent: a person's, or in a sub-agent's chat its parent's.
    fn prompt(&mut self, id: &str, record: Identity, text: String) {
        let via = match self.state.context.stream {
            Some(_) => PromptOrigin::Agent,
            None => PromptOrigin::Typed,
        };
        self.push(record, EntryKind::Prompt { text, via });
        let mut prompts = self.prompts();
        prompts.add(xxh3_64(id.as_bytes()));
        self.remember(prompts);
    }

    fn notice(&mut self, id: &str, line: &Fields<'_>) {
        let text = Parts::of(line.raw("content").unwrap_or_default()).text;
        let record = Identity::Part(genai::part_id(id, "text"));
        let what = match text.as_str() {
            CANCELLED => EntryKind::Fact(Fact::Interrupted),
            _ => EntryKind::Noise("notice".into()),
        };
        self.push(record, what);
    }

    /// What it said, what that cost, and the calls with what they gave back: each is told once, however often
    /// the message is written.
    fn gemini(&mut self, id: &str, line: &Fields<'_>) {
        let parts = Parts::of(line.raw("content").unwrap_or_default());
        let part = |name: &str| Identity::Part(genai::part_id(id, name));
        let message = self.message_of(id, line);
        if !parts.text.trim().is_empty() {
            let said = EntryKind::Said(parts.text);
            self.push_of(part("text"), said, Some(message.clone()));
        }
        if let Some(usage) = line.object("tokens").map(|tokens| usage(&tokens)) {
            let message = Message {
                usage: Some(usage),
                ..message.clone()
            };
            let what = EntryKind::Noise("token count".into());
            self.push_of(part("tokens"), what, Some(message));
        }
        for raw in line.raw("toolCalls").map(genai::list).unwrap_or_default() {
            if let Some(call) = fields::object(raw) {
                self.call(id, &call, &message);
            }
        }
    }

    /// One call. Written when it is over, so that its result is beside it.
    fn call(&mut self, id: &str, fields: &Fields<'_>, message: &Message) {
        let call = genai::call(fields);
        let record = Identity::Part(genai::part_id(id, &format!("call {}", call.id)));
        let answers = fields.raw("result").map(Parts::of);
        let answer = answers.as_ref().and_then(|parts| {
            let is_its = |response: &&Fields<'_>| response.text("id").as_deref() == Some(&call.id);
            let own = parts.responses.iter().find(is_its);
            own.or_else(|| parts.responses.first())
        });
        let status = fields.text("status");
        let mut result = genai::result(answer, status.as_deref(), fields.raw("resultDisplay"));
        result.call.clone_from(&call.id);
        result.facts.agent = fields.label("agentId").map(std::borrow::Cow::into_owned);
        result.facts.images = answers.map_or(0, |parts| parts.pictures as u64);
        self.push_of(record, EntryKind::Call(call), Some(message.clone()));
        if matches!(status.as_deref(), Some("success" | "error" | "cancelled")) || answer_is(fields)
        {
            let record = Identity::Part(genai::part_id(id, &format!("result {}", result.call)));
            self.push(record, EntryKind::Result(result));
        }
    }

    fn message_of(&mut self, id: &str, line: &Fields<'_>) -> Message {
        if let Some(model) = line.label("model")
            && self.state.model.as_deref() != Some(&*model)
        {
            self.state.model = Some(Arc::from(&*model));
        }
        let model = line.raw("model").and(self.state.model.clone());
        Message {
            group: xxh3_64(id.as_bytes()).max(1),
            model,
            usage: None,
            long: false,
        }
    }
}

fn answer_is(call: &Fields<'_>) -> bool {
    call.raw("result").is_some_and(|raw| raw.starts_with('['))
}

fn usage(tokens: &Fields<'_>) -> Usage {
    let count = |key| tokens.number::<u64>(key).unwrap_or(0);
    genai::usage(
        count("input"),
        count("cached"),
        count("output"),
        count("thoughts"),
    )
}
