//! Response items: messages, reasoning, and which of the tool records it is. They tell of the
//! agent's words and calls in every era, and of people's in the bare one.

use super::super::injected::INJECTED;
use super::record::Record;
use super::review;
use super::session::{content, environment_cwd};
use super::state::{self, RolloutFormat};
use crate::json::fields::Fields;
use crate::model::entry::{EntryKind, Message, PromptOrigin};
use crate::rules::injected::{self, Spoken};

/// A kind of response item that this version knows.
pub(super) fn is_known(kind: &str) -> bool {
    matches!(kind, "message" | "reasoning" | "compaction" | "other")
        || kind.ends_with("_call")
        || kind.ends_with("_output")
}

impl Record<'_> {
    pub(super) fn item(&mut self, kind: &str, item: &Fields<'_>) {
        match kind {
            "message" => self.message(item),
            "reasoning" => self.noise("thinking"),
            "function_call" => self.function_call(item),
            "custom_tool_call" => self.custom_call(item),
            "local_shell_call" => self.local_shell_call(item),
            "function_call_output" | "custom_tool_call_output" | "mcp_tool_call_output" => {
                self.call_output(item);
            }
            "tool_search_call" => self.tool_search_call(item),
            "tool_search_output" => self.tool_search_output(item),
            "web_search_call" => self.self_contained(item, "web_search", "action"),
            "image_generation_call" => {
                self.self_contained(item, "image_generation", "revised_prompt");
            }
            "agent_message" => self.noise("mail between agents"),
            "ghost_snapshot" => self.noise("snapshot"),
            "compaction" | "compaction_summary" | "context_compaction" | "compaction_trigger" => {
                self.recorded_elsewhere();
            }
            "other" => self.noise("other"),
            _ => self.push(EntryKind::unknown(format!("response_item/{kind}"))),
        }
    }

    fn message(&mut self, item: &Fields<'_>) {
        match item.text("role").as_deref() {
            Some("assistant") => self.said(item),
            Some("user") => self.role_user(item),
            Some("developer" | "system") => {
                let (texts, _) = content(item);
                let own = texts.iter().any(|text| injected::is_ours(text.as_bytes()));
                self.noise(if own { injected::OWN } else { "injected" });
            }
            _ => self.push(EntryKind::unknown("response_item/message/role")),
        }
    }

    fn said(&mut self, item: &Fields<'_>) {
        let (texts, _) = content(item);
        let text = texts.join("\n");
        if text.trim().is_empty() {
            return self.noise("empty");
        }
        let text = review::told(&text).unwrap_or(text);
        let group = self.group();
        let links = self.links();
        // Tokens billed before the session's first message were this message's.
        let spent = links.map(|c| c.spent).unwrap_or_default();
        let first = links.is_none_or(|c| c.message == 0);
        let message = Message {
            group,
            model: links.and_then(|c| c.model.clone()),
            usage: (first && spent != Default::default()).then_some(spent),
            long: false,
        };
        self.push_with(EntryKind::Said(text), Some(message));
        self.amend(|links| {
            links.message = group;
            if !first {
                links.spent = Default::default();
            }
        });
    }

    /// People's words in the bare era; elsewhere a mirror of what an event tells, but for commands
    /// that a person ran in the agent's shell.
    fn role_user(&mut self, item: &Fields<'_>) {
        let bare = state::format(&self.state.context) == RolloutFormat::Bare;
        let (texts, pictures) = content(item);
        if let Some(cwd) = texts
            .iter()
            .find_map(|text| environment_cwd(text))
            .filter(|_| bare)
            && self.state.context.cwd.as_deref() != Some(cwd)
        {
            let cwd = cwd.to_owned();
            self.sticky(|context| context.cwd = Some(cwd));
        }
        let mut words = Vec::new();
        let mut reason = "empty";
        for text in &texts {
            match INJECTED.people_words(text) {
                Spoken::Words(w) => {
                    let shell = text.trim_start().starts_with("<user_shell_command>");
                    if bare || shell {
                        words.push(w.into_owned());
                    } else {
                        reason = "recorded twice";
                    }
                }
                Spoken::Machine(why) if reason == "empty" => reason = why,
                Spoken::Machine(_) => {}
            }
        }
        if words.is_empty() && pictures > 0 && bare {
            words.push("[image]".to_owned());
        }
        match words.is_empty() {
            true => self.noise(reason),
            false => self.prompt(words.join("\n\n")),
        }
    }

    /// Words typed to the agent: a person's, or in a sub-agent's thread its parent's.
    pub(super) fn prompt(&mut self, text: String) {
        let via = match self.state.context.stream {
            Some(_) => PromptOrigin::Agent,
            None => PromptOrigin::Typed,
        };
        self.push(EntryKind::Prompt { text, via });
    }
}
