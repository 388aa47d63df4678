//! Parts of messages: what was said, what was called and what that gave back, what it cost (formats § 12.3).

use super::super::injected::INJECTED;
use super::state::ToldMessage;
use super::{Record, time};
use crate::agents::genai;
use crate::json::fields::Fields;
use crate::json::text::{is_wide, tree};
use crate::model::entry::{
    Call, CallStatus, Denial, EntryKind, Excerpt, Fact, Identity, Message, PromptOrigin, ToolResult,
};
use crate::model::time::Time;
use crate::model::usage::Usage;
use crate::rules::denials;
use crate::rules::injected::Spoken;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// What the shell tool writes behind the output of a command that a person stopped.
const STOPPED: &str = "<shell_metadata>\nUser aborted the command\n</shell_metadata>";

impl Record<'_> {
    pub(super) fn part(&mut self, part: &Fields<'_>) {
        let kind = part.text("type").unwrap_or_default();
        let id = part.text("messageID").unwrap_or_default();
        let told = self.told();
        let Some(message) = told.message(xxh3_64(id.as_bytes())) else {
            // of a message that is long over: something of it was tidied up
            self.noise("recorded twice");
            return self.drifted("part", "part", part);
        };
        self.time = time(part, "start").or(Some(Time(message.at)));
        match &*kind {
            "text" if message.is_agents => self.said(message, part),
            "text" => self.typed(&id, message, part),
            "subtask" => self.prompt(&id, message, part.text("prompt").unwrap_or_default()),
            "tool" => self.tool(message, part),
            "reasoning" => {
                let of = self.message_of(message, None);
                self.push(Identity::None, EntryKind::Noise("thinking".into()), of);
            }
            "step-finish" => self.step(message, part),
            "compaction" => {
                let id = genai::part_id(&message.at.to_string(), "compaction");
                let what = EntryKind::Fact(Fact::Compaction);
                self.push(Identity::Part(id), what, None);
            }
            "file" if !message.is_agents => self.noise("attachment"),
            "step-start" | "snapshot" | "patch" | "agent" | "retry" | "file" => {
                self.noise("state");
            }
            other => {
                let name: String = format!("part {other}").chars().take(40).collect();
                self.unknown(name);
            }
        }
        self.drifted("part", "part", part);
    }

    /// A person's words, or what was put beside them.
    fn typed(&mut self, id: &str, message: &ToldMessage, part: &Fields<'_>) {
        let is = |key| part.raw(key) == Some("true");
        if is("synthetic") || is("ignored") {
            return self.noise("injected");
        }
        let text = part.text("text").unwrap_or_default();
        match INJECTED.people_words(&text) {
            Spoken::Words(words) => self.prompt(id, message, words),
            Spoken::Machine(reason) => self.noise(reason),
        }
    }

    /// Words typed to the agent: a person's, or in a sub-agent's session its parent's.
    fn prompt(&mut self, id: &str, message: &ToldMessage, text: Cow<'_, str>) {
        let via = match self.state.context.stream {
            Some(_) => PromptOrigin::Agent,
            None => PromptOrigin::Typed,
        };
        self.time = Some(Time(message.at));
        let name = format!("prompt {:016x}", xxh3_64(text.as_bytes()));
        let record = Identity::Own(genai::part_id(&message.at.to_string(), &name));
        let text = text.into_owned();
        self.push(record, EntryKind::Prompt { text, via }, None);
        let mut told = self.told();
        told.prompts.add(xxh3_64(id.as_bytes()));
        self.remember(told);
    }

    /// The agent's words, once they are whole.
    fn said(&mut self, message: &ToldMessage, part: &Fields<'_>) {
        let text = part.text("text").unwrap_or_default();
        let end = time(part, "end");
        let is_whole = end.is_some() || part.object("time").is_none();
        if !is_whole || text.trim().is_empty() {
            return self.noise("not yet said");
        }
        let of = self.message_of(message, None);
        let begun = self.time.unwrap_or_default().0;
        self.time = end.or(self.time);
        let what = match message.is_summary {
            true => EntryKind::Noise("compaction summary".into()),
            false => EntryKind::Said(text.into_owned()),
        };
        let id = genai::part_id(&message.at.to_string(), &format!("text {begun}"));
        self.push(Identity::Own(id), what, of);
    }

    /// What a step of the agent cost.
    fn step(&mut self, message: &ToldMessage, part: &Fields<'_>) {
        let usage = part.object("tokens").map(|tokens| usage(&tokens));
        let of = self.message_of(message, usage);
        let id = genai::part_id(&message.at.to_string(), "tokens");
        let what = EntryKind::Noise("token count".into());
        self.push(Identity::Part(id), what, of);
    }

    /// A call: told once when it runs, and its result once when it is over.
    fn tool(&mut self, message: &ToldMessage, part: &Fields<'_>) {
        let state = part.object("state");
        let status = state.as_ref().and_then(|state| state.text("status"));
        let (Some(state), Some("running" | "completed" | "error")) = (&state, status.as_deref())
        else {
            return self.noise("not yet called");
        };
        let label = |key| part.label(key).map(Cow::into_owned).unwrap_or_default();
        let input = state.raw("input").filter(|raw| !is_wide(raw.as_bytes()));
        let call = Call {
            id: label("callID"),
            tool: label("tool"),
            input: input.map_or(Value::Null, |raw| tree(raw.as_bytes())),
        };
        let at = message.at.to_string();
        let record =
            |what: &str| Identity::Part(genai::part_id(&at, &format!("{what} {}", call.id)));
        let (called, answered) = (record("call"), record("result"));
        let of = self.message_of(message, None);
        let result = (status.as_deref() != Some("running")).then(|| result(&call, state));
        self.time = time(state, "start").or(self.time);
        self.push(called, EntryKind::Call(call), of);
        if let Some(result) = result {
            self.time = time(state, "end").or(self.time);
            self.push(answered, EntryKind::Result(result), None);
        }
        self.drifted("state", "state", state);
    }

    /// The message that a part belongs to.
    fn message_of(&mut self, message: &ToldMessage, usage: Option<Usage>) -> Option<Message> {
        if self.state.model.as_deref() != message.model.as_deref() {
            self.state.model = message.model.as_deref().map(Arc::from);
        }
        Some(Message {
            group: xxh3_64(&message.at.to_le_bytes()).max(1),
            model: self.state.model.clone(),
            usage,
            long: false,
        })
    }
}

/// How a call ended.
fn result(call: &Call, state: &Fields<'_>) -> ToolResult {
    let error = state
        .text("error")
        .filter(|_| state.raw("output").is_none());
    let failed = error.is_some();
    let told = error.or_else(|| state.text("output")).unwrap_or_default();
    let about = state.object("metadata");
    let about = about.as_ref();
    let exit_code = about.and_then(|about| about.number("exit"));
    let stopped = told.trim_end().strip_suffix(STOPPED);
    let mut result = ToolResult {
        call: call.id.clone(),
        exit_code,
        output: Excerpt::of(stopped.unwrap_or(&told).to_owned()),
        ..ToolResult::default()
    };
    if failed {
        result.facts.denied = denials::of(None, &told);
    } else if stopped.is_some() {
        result.facts.denied = Some(Denial::Interrupted);
    }
    result.status = match (result.facts.denied, exit_code) {
        (Some(denial), _) => denial.status(),
        (None, Some(code)) if code != 0 => CallStatus::Failed,
        (None, _) if failed => CallStatus::Failed,
        (None, _) => CallStatus::Ok,
    };
    if let Some(about) = about {
        facts(about, &mut result);
    }
    result
}

/// What stands beside an output: lines, files, the sub-agent.
fn facts(about: &Fields<'_>, result: &mut ToolResult) {
    let facts = &mut result.facts;
    if let Some(file) = about.object("filediff") {
        facts.added = file.number("additions");
        facts.removed = file.number("deletions");
    }
    if let Some(shown) = about.object("display") {
        facts.total_lines = shown.number("totalLines");
        let lines = shown
            .number::<u64>("lineEnd")
            .zip(shown.number::<u64>("lineStart"));
        facts.lines = lines.map(|(end, start)| (end + 1).saturating_sub(start));
    }
    facts.matches = about.number("matches");
    facts.files = about.number("count");
    facts.created = about.raw("exists").map(|exists| exists == "false");
    facts.agent = about.label("sessionId").map(Cow::into_owned);
}

fn usage(tokens: &Fields<'_>) -> Usage {
    let count = |fields: &Fields<'_>, key| fields.number::<u64>(key).unwrap_or(0);
    let cache = tokens.object("cache");
    let cached = |key| cache.as_ref().map_or(0, |cache| count(cache, key));
    Usage {
        input: count(tokens, "input"),
        output: count(tokens, "output").saturating_add(count(tokens, "reasoning")),
        cache_read: cached("read"),
        cache_write: cached("write"),
        cache_write_1h: 0,
    }
}
