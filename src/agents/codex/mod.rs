//! Codex: CLI, desktop and editor extensions.

pub mod dialect;

use super::CodingAgent;
use crate::config::Env;
use crate::config::agent_settings::{Format, HookSettings, ServerSettings};
use crate::model::source::Agent;
use crate::stages::parse::Dialect;
use std::path::PathBuf;

/// Codex.
pub struct Codex;

impl CodingAgent for Codex {
    fn agent(&self) -> Agent {
        Agent::Codex
    }

    fn title(&self) -> &'static str {
        "Codex"
    }

    fn dialect(&self) -> &'static dyn Dialect {
        &dialect::CodexDialect
    }

    fn log_folders(&self, env: &Env) -> Vec<PathBuf> {
        ["sessions", "archived_sessions"]
            .map(|folder| env.codex_dir().join(folder))
            .into()
    }

    fn resume_command(&self, session: &str) -> String {
        format!("codex resume {session}")
    }

    fn hooks(&self, env: &Env) -> HookSettings {
        HookSettings {
            file: env.codex_dir().join("hooks.json"),
            // A session that is resumed or compacted knows what it did.
            events: &[
                ("SessionStart", Some("startup|clear")),
                ("UserPromptSubmit", None),
            ],
            switched_off: crate::config::hooks::codex_switched_off(env),
        }
    }

    fn servers(&self, env: &Env) -> ServerSettings {
        ServerSettings {
            file: env.codex_dir().join("config.toml"),
            format: Format::Toml,
            table: "mcp_servers",
            transport: None,
        }
    }
}
