//! Codex: CLI, desktop and editor extensions.

pub mod dialect;
mod injected;

use super::CodingAgent;
use crate::config::Env;
use crate::config::agent_settings::{HookSettings, ServerFormat, ServerSettings};
use crate::model::source::Agent;
use crate::rules::injected::Injected;
use crate::stages::parse::Dialect;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Its word.
pub const CODEX: Agent = Agent::new("codex");

/// Codex.
pub struct Codex;

/// What `config.toml` says about hooks.
#[derive(Deserialize)]
struct Config {
    features: BTreeMap<String, toml::Value>,
}

impl CodingAgent for Codex {
    fn agent(&self) -> Agent {
        CODEX
    }

    fn title(&self) -> &'static str {
        "Codex"
    }

    /// Real logs up to 0.145; later ones by Codex' sources.
    fn newest_version(&self) -> &'static str {
        "0.169.0"
    }

    fn injected(&self) -> &'static Injected {
        &injected::INJECTED
    }

    fn dialect(&self) -> &'static dyn Dialect {
        &dialect::CodexDialect
    }

    fn log_folders(&self, env: &Env) -> Vec<PathBuf> {
        ["sessions", "archived_sessions"]
            .map(|folder| env.codex_dir().join(folder))
            .into()
    }

    fn folder(&self, env: &Env) -> (&'static str, PathBuf) {
        ("CODEX_HOME", env.codex_dir())
    }

    fn example_log(&self) -> &'static str {
        ".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-00000000-0000-7000-8000-000000000000.jsonl"
    }

    fn resume_command(&self, session: &str) -> String {
        format!("codex resume {session}")
    }

    fn install_command(&self) -> &'static str {
        "npm install -g @openai/codex"
    }

    fn hooks(&self, env: &Env) -> HookSettings {
        HookSettings {
            agent: CODEX,
            file: env.codex_dir().join("hooks.json"),
            // A session that is resumed or compacted knows what it did.
            events: &[
                ("SessionStart", Some("startup|clear")),
                ("UserPromptSubmit", None),
            ],
        }
    }

    /// The line of its `config.toml` that switches them off; a file that can't be understood switches
    /// nothing off.
    fn hooks_switched_off(&self, env: &Env) -> Option<String> {
        let file = env.codex_dir().join("config.toml");
        let config: Config = toml::from_str(&std::fs::read_to_string(&file).ok()?).ok()?;
        // Their name until Codex 0.129.
        let off = ["hooks", "codex_hooks"]
            .into_iter()
            .find(|name| config.features.get(*name) == Some(&toml::Value::Boolean(false)))?;
        Some(format!("`features.{off} = false` in {}", file.display()))
    }

    fn after_hooks(&self) -> Option<&'static str> {
        Some("hint: Codex starts new hooks once you have reviewed them: /hooks")
    }

    fn servers(&self, env: &Env) -> ServerSettings {
        ServerSettings {
            agent: CODEX,
            file: env.codex_dir().join("config.toml"),
            format: ServerFormat::Toml,
            table: "mcp_servers",
            transport: None,
        }
    }
}
