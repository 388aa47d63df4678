//! Events: people's words in the wrapped eras, tokens, turns, and the parallel telling of what
//! response items say.

use super::super::injected::INJECTED;
use super::record::Record;
use super::session::content;
use super::state::{self, RolloutFormat};
use crate::json::fields::Fields;
use crate::model::entry::{EntryKind, Fact, Message};
use crate::model::usage::Usage;
use crate::rules::injected::Spoken;

impl Record<'_> {
    pub(super) fn event(&mut self, kind: &str, event: &Fields<'_>) {
        match kind {
            "user_message" => self.user_message(event),
            "item_completed" => self.item_completed(event),
            "token_count" => self.token_count(event),
            // a response item says the same: taken here too, it would count twice
            "agent_message" => {
                self.decide(RolloutFormat::Legacy);
                self.recorded_elsewhere();
            }
            "task_started" | "turn_started" => self.noise("turn start"),
            "task_complete" | "turn_complete" => self.turn_end(Fact::TurnEnd(None)),
            "turn_aborted" => self.turn_end(Fact::Interrupted),
            "thread_rolled_back" => {
                let turns = event.number("num_turns").unwrap_or(1);
                self.push(EntryKind::Fact(Fact::RolledBack { turns }));
            }
            "thread_name_updated" => match event.name("thread_name") {
                Some(name) => self.push(EntryKind::Fact(Fact::Title {
                    text: name.lines().next().unwrap_or_default().to_owned(),
                    custom: true,
                })),
                None => self.noise("settings"),
            },
            "error" => match event.name("message") {
                Some(message) => self.push(EntryKind::Failure(message.into_owned())),
                None => self.noise("empty"),
            },
            "patch_apply_end" => {
                let id = event.text("call_id").unwrap_or_default();
                self.patch_applied(event, &id);
            }
            "exec_command_end" => self.command_ended(event),
            "entered_review_mode" => self.review(event),
            "exited_review_mode" => {
                self.noise("review");
                self.reviewing(false);
            }
            _ => match quiet(kind) {
                Some(reason) => self.noise(reason),
                None => self.push(EntryKind::unknown(format!("event_msg/{kind}"))),
            },
        }
    }

    fn user_message(&mut self, event: &Fields<'_>) {
        self.decide(RolloutFormat::Legacy);
        if state::format(&self.state.context) != RolloutFormat::Legacy {
            return self.recorded_elsewhere();
        }
        if self.links().is_some_and(|links| links.reviewing) {
            return self.noise("review");
        }
        if let Some("environment_context" | "user_instructions") = event.text("kind").as_deref() {
            return self.noise("injected");
        }
        let pictures = !event.elements("images").is_empty();
        let pictures = pictures || !event.elements("local_images").is_empty();
        let text = event.text("message").unwrap_or_default();
        self.words(&text, pictures);
    }

    fn words(&mut self, text: &str, pictures: bool) {
        match INJECTED.people_words(text) {
            Spoken::Words(words) => self.prompt(words.into_owned()),
            Spoken::Machine("empty") if pictures => self.prompt("[image]".to_owned()),
            Spoken::Machine(reason) => self.noise(reason),
        }
    }

    /// Paginated files: one item, told when it was complete.
    fn item_completed(&mut self, event: &Fields<'_>) {
        let Some(item) = event.object("item") else {
            return self.push(EntryKind::unknown("item_completed"));
        };
        match item.text("type").unwrap_or_default().as_ref() {
            "UserMessage" => {
                self.decide(RolloutFormat::Paginated);
                // a file is wholly of one format: a legacy one has the same words as `user_message`
                if state::format(&self.state.context) != RolloutFormat::Paginated {
                    return self.recorded_elsewhere();
                }
                if self.links().is_some_and(|links| links.reviewing) {
                    return self.noise("review");
                }
                let (texts, pictures) = content(&item);
                self.words(&texts.join("\n"), pictures > 0);
            }
            "FileChange" => {
                let id = item.text("id").unwrap_or_default();
                self.patch_applied(&item, &id);
            }
            "CommandExecution" => self.command_ended(&item),
            "EnteredReviewMode" => self.review(&item),
            "ExitedReviewMode" => {
                self.noise("review");
                self.reviewing(false);
            }
            // a response item says the same of each
            "AgentMessage"
            | "Plan"
            | "McpToolCall"
            | "DynamicToolCall"
            | "WebSearch"
            | "CollabAgentToolCall"
            | "ContextCompaction"
            | "ImageGeneration"
            | "ImageView" => {
                self.recorded_elsewhere();
            }
            "Reasoning" => self.noise("thinking"),
            "SubAgentActivity" => self.noise("mail between agents"),
            "Sleep" | "Extension" | "HookPrompt" => self.noise("progress"),
            other => self.push(EntryKind::unknown(format!("item_completed/{other}"))),
        }
    }

    /// A file without a meta shows by its first event which telling it uses.
    fn decide(&mut self, format: RolloutFormat) {
        if state::format(&self.state.context) == RolloutFormat::None {
            self.sticky(|context| state::set_format(context, format));
        }
    }

    /// Cumulative totals: what was billed since the last one belongs to the message in progress,
    /// or waits for the session's first.
    fn token_count(&mut self, event: &Fields<'_>) {
        let info = event.object("info");
        let stated = |key| Some(usage(&info.as_ref()?.object(key)?));
        let Some(total) = stated("total_token_usage") else {
            return self.noise("token count");
        };
        let links = self.links().cloned().unwrap_or_default();
        // A total that went down was reset; a first one may include what another file tells.
        let fresh = links.billed == Usage::default() || sum(total) < sum(links.billed);
        let since = match stated("last_token_usage").filter(|_| fresh) {
            Some(last) => last,
            None => total.minus(links.billed),
        };
        let spent = links.spent.plus(since);
        let message = (links.message != 0).then_some(Message {
            group: links.message,
            model: links.model,
            usage: Some(spent),
            long: false,
        });
        self.push_with(EntryKind::Noise("token count".into()), message);
        if total != links.billed {
            self.amend(|links| {
                links.billed = total;
                links.spent = spent;
            });
        }
    }

    /// Ends a turn. Tokens of a session in which the agent has said nothing yet belong to a
    /// message without words.
    fn turn_end(&mut self, fact: Fact) {
        let silent = self
            .links()
            .filter(|links| links.message == 0 && links.spent != Usage::default())
            .map(|links| Message {
                group: self.group(),
                model: links.model.clone(),
                usage: Some(links.spent),
                long: false,
            });
        let group = silent.as_ref().map(|message| message.group);
        self.push_with(EntryKind::Fact(fact), silent);
        if let Some(group) = group {
            self.amend(|links| links.message = group);
        }
        self.reviewing(false);
    }

    /// A person asked for a review; the words that follow are the program's.
    fn review(&mut self, event: &Fields<'_>) {
        let hint = event.name("user_facing_hint");
        let hint = hint.or_else(|| event.name("review")).unwrap_or_default();
        self.prompt(format!("/review {hint}").trim_end().to_owned());
        self.reviewing(true);
    }

    fn reviewing(&mut self, now: bool) {
        if self.links().is_some_and(|links| links.reviewing) != now {
            self.amend(|links| links.reviewing = now);
        }
    }
}

/// Why an event that is understood says nothing new.
fn quiet(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "agent_reasoning" | "agent_reasoning_raw_content" | "agent_reasoning_section_break" => {
            "thinking"
        }
        "context_compacted"
        | "mcp_tool_call_end"
        | "web_search_end"
        | "image_generation_end"
        | "view_image_tool_call"
        | "plan_update"
        | "dynamic_tool_call_response"
        | "raw_response_item" => "recorded twice",
        "sub_agent_activity" => "mail between agents",
        "session_configured"
        | "thread_settings_applied"
        | "thread_goal_updated"
        | "model_reroute" => "settings",
        "item_started"
        | "stream_error"
        | "background_event"
        | "warning"
        | "turn_diff"
        | "deprecation_notice"
        | "undo_started"
        | "undo_completed"
        | "shutdown_complete"
        | "hook_started"
        | "hook_completed"
        | "dynamic_tool_call_request"
        | "request_user_input"
        | "exec_approval_request"
        | "apply_patch_approval_request"
        | "elicitation_request"
        | "guardian_assessment" => "progress",
        _ if kind.ends_with("_begin") || kind.ends_with("_delta") => "progress",
        _ if kind.starts_with("collab_") => "recorded twice",
        _ => return None,
    })
}

fn sum(usage: Usage) -> u64 {
    let parts = [
        usage.input,
        usage.output,
        usage.cache_read,
        usage.cache_write,
    ];
    parts.into_iter().fold(0, u64::saturating_add)
}

/// Codex counts cached input as input.
fn usage(tokens: &Fields<'_>) -> Usage {
    let count = |key| tokens.number::<u64>(key).unwrap_or(0);
    let (read, write) = (
        count("cached_input_tokens"),
        count("cache_write_input_tokens"),
    );
    Usage {
        input: count("input_tokens").saturating_sub(read.saturating_add(write)),
        output: count("output_tokens"),
        cache_read: read,
        cache_write: write,
        cache_write_1h: 0,
    }
}
