//! Records of the program's own (formats § 11.1).

use super::record::Record;
use super::speech::parent;
use crate::json::fields::Fields;
use crate::model::entry::{EntryKind, Fact};

/// Subtypes that say nothing of the conversation that isn't told elsewhere.
const QUIET: [&str; 24] = [
    "agent_attachment",
    "agent_bootstrap",
    "agent_color",
    "at_command",
    "attribution_snapshot",
    "background_task_completed",
    "branch_checkpoint",
    "cron",
    "file_history_snapshot",
    "goal_runtime",
    "goal_state",
    "goal_turn_end",
    "notification",
    "omni_recall",
    "parent_session",
    "session_artifact_event",
    "session_artifact_snapshot",
    "session_model",
    "session_source",
    "session_sources_snapshot",
    "slash_command",
    "turn_boundary",
    "turn_result",
    "user_text_elements",
];

/// The provider's failure, as telemetry has it.
const API_ERROR: &str = "qwen-code.api_error";

impl Record<'_> {
    pub(super) fn system(&mut self, line: &Fields<'_>) {
        let payload = line.object("systemPayload");
        match line.text("subtype").as_deref() {
            Some("ui_telemetry") => self.telemetry(payload.as_ref()),
            Some("chat_compression") => self.push(EntryKind::Fact(Fact::Compaction)),
            Some("custom_title") => self.title(payload.as_ref()),
            Some("rewind") => self.rewind(parent(line)),
            Some(known) if QUIET.contains(&known) => self.noise("state"),
            Some(other) => {
                let name: String = other.chars().take(40).collect();
                self.push(EntryKind::unknown(format!("system/{name}")));
            }
            // drift, or nothing
            None => self.noise("state"),
        }
    }

    fn telemetry(&mut self, payload: Option<&Fields<'_>>) {
        let event = payload.and_then(|payload| payload.object("uiEvent"));
        let failed = event.filter(|event| event.text("event.name").as_deref() == Some(API_ERROR));
        match failed.and_then(|event| event.name("error_message")) {
            Some(message) => self.push(EntryKind::Failure(message.into_owned())),
            None => self.noise("telemetry"),
        }
    }

    fn title(&mut self, payload: Option<&Fields<'_>>) {
        let title = payload.and_then(|payload| payload.name("customTitle"));
        let Some(title) = title else {
            return self.noise("state");
        };
        let source = payload.and_then(|payload| payload.text("titleSource"));
        let title = Fact::Title {
            text: title.split_whitespace().collect::<Vec<_>>().join(" "),
            custom: source.is_none_or(|source| source != "auto"),
        };
        self.push(EntryKind::Fact(title));
    }

    /// The turns from the one that hangs at the same place on were taken back.
    fn rewind(&mut self, at: u64) {
        let mut prompts = self.prompts();
        match prompts.take_back(at) {
            0 => self.noise("rewind"),
            turns => self.push(EntryKind::Fact(Fact::RolledBack { turns })),
        }
        self.remember(prompts);
    }
}
