//! Claude Code.

pub mod dialect;

use super::CodingAgent;
use crate::config::Env;
use crate::config::agent_settings::{Format, HookSettings, ServerSettings};
use crate::model::source::Agent;
use crate::stages::parse::Dialect;
use std::path::PathBuf;

/// Claude Code; its dialect also reads the documents' plain lines (D27).
pub struct Claude;

impl CodingAgent for Claude {
    fn agent(&self) -> Agent {
        Agent::Claude
    }

    fn title(&self) -> &'static str {
        "Claude Code"
    }

    fn dialect(&self) -> &'static dyn Dialect {
        &dialect::ClaudeDialect
    }

    fn log_folders(&self, env: &Env) -> Vec<PathBuf> {
        vec![env.claude_dir().join("projects")]
    }

    fn resume_command(&self, session: &str) -> String {
        format!("claude --resume {session}")
    }

    fn hooks(&self, env: &Env) -> HookSettings {
        HookSettings {
            file: env.claude_dir().join("settings.json"),
            // A session that is resumed or compacted knows what it did.
            events: &[
                ("SessionStart", Some("startup|clear")),
                ("UserPromptSubmit", None),
            ],
            switched_off: crate::config::hooks::claude_switched_off(env),
        }
    }

    fn servers(&self, env: &Env) -> ServerSettings {
        ServerSettings {
            file: crate::config::servers::file(Agent::Claude, env),
            format: Format::Json,
            table: "mcpServers",
            transport: Some("stdio"),
        }
    }
}
