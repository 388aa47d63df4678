//! What people, the model and tools said (formats § 11.2).

use super::super::injected::INJECTED;
use super::record::Record;
use crate::agents::genai::{self, Parts};
use crate::json::fields::Fields;
use crate::model::entry::{EntryKind, Identity, Message, PromptOrigin};
use crate::model::usage::Usage;
use crate::rules::injected::Spoken;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// Who a line of type `user` is of, where a person typed it.
const PERSON: &str = "real_user";

impl Record<'_> {
    pub(super) fn user(&mut self, line: &Fields<'_>, message: Option<&Fields<'_>>) {
        let whose = line.text("provenance");
        if whose.is_some_and(|whose| whose != PERSON) {
            return self.noise("system prompt");
        }
        let parts = parts(message);
        let shown = line.object("systemPayload");
        let shown = shown.and_then(|payload| payload.name("displayText"));
        let text = shown.as_deref().unwrap_or(&parts.text);
        match INJECTED.people_words(text) {
            Spoken::Words(words) => self.prompt(line, parts.with_pictures(&words)),
            Spoken::Machine(_) if parts.pictures > 0 => self.prompt(line, parts.with_pictures("")),
            Spoken::Machine(reason) => self.noise(reason),
        }
    }

    /// Words typed to the agent: a person's, or in a sub-agent's chat its parent's.
    fn prompt(&mut self, line: &Fields<'_>, text: String) {
        let via = match self.is_stream() {
            true => PromptOrigin::Agent,
            false => PromptOrigin::Typed,
        };
        self.push(EntryKind::Prompt { text, via });
        let mut prompts = self.prompts();
        prompts.add(parent(line));
        self.remember(prompts);
    }

    /// What it said, and the calls that it makes.
    pub(super) fn assistant(&mut self, line: &Fields<'_>, message: Option<&Fields<'_>>) {
        let parts = parts(message);
        let group = match self.id {
            Identity::Own(id) => xxh3_64(id.as_bytes()).max(1),
            _ => self.place.offset.max(1),
        };
        let message = Message {
            group,
            model: self.shared_model(line),
            usage: line.object("usageMetadata").map(|usage| tokens(&usage)),
            long: false,
        };
        let (is_said, calls) = (!parts.text.trim().is_empty(), parts.calls);
        if is_said {
            let said = EntryKind::Said(parts.text);
            self.push_of(said, Some(message.clone()));
        }
        for call in &calls {
            let call = EntryKind::Call(genai::call(call));
            self.push_of(call, Some(message.clone()));
        }
        if !is_said && calls.is_empty() {
            let why = if parts.thinks { "thinking" } else { "empty" };
            self.push_of(EntryKind::Noise(why.into()), Some(message));
        }
    }

    pub(super) fn tool_result(&mut self, line: &Fields<'_>, message: Option<&Fields<'_>>) {
        let parts = parts(message);
        let told = line.object("toolCallResult");
        let member = |key: &str| told.as_ref().and_then(|told| told.text(key));
        let shown = told.as_ref().and_then(|told| told.raw("resultDisplay"));
        let status = member("status");
        for response in &parts.responses {
            let mut result = genai::result(Some(response), status.as_deref(), shown);
            let took = told.as_ref().and_then(|told| told.number("durationMs"));
            result.facts.duration_ms = took;
            result.facts.images = parts.pictures as u64;
            self.push(EntryKind::Result(result));
        }
        if parts.responses.is_empty() {
            self.noise("empty");
        }
    }

    fn shared_model(&mut self, line: &Fields<'_>) -> Option<Arc<str>> {
        let name = line.label("model")?;
        if self.state.model.as_deref() != Some(&*name) {
            self.state.model = Some(Arc::from(&*name));
        }
        self.state.model.clone()
    }
}

/// Where a record hangs: a rewind hangs where the first prompt does that it takes back.
pub(super) fn parent(line: &Fields<'_>) -> u64 {
    xxh3_64(line.text("parentUuid").unwrap_or_default().as_bytes())
}

fn parts<'a>(message: Option<&Fields<'a>>) -> Parts<'a> {
    let raw = message.and_then(|message| message.raw("parts"));
    Parts::of(raw.unwrap_or_default())
}

fn tokens(usage: &Fields<'_>) -> Usage {
    let count = |key| usage.number::<u64>(key).unwrap_or(0);
    // what it thought is counted as output there
    genai::usage(
        count("promptTokenCount"),
        count("cachedContentTokenCount"),
        count("candidatesTokenCount"),
        0,
    )
}
