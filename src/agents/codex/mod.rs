//! Codex: CLI, desktop and editor extensions.

pub mod dialect;
mod injected;

use super::{CodingAgent, PLUGIN};
use crate::config::Env;
use crate::config::agent_settings::{
    HookSettings, HookShape, ServerFormat, ServerSettings, ServerShape,
};
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

/// What `config.toml` says about hooks and plugins.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Config {
    features: BTreeMap<String, toml::Value>,
    plugins: BTreeMap<String, toml::Value>,
}

/// A file that can't be understood says nothing.
fn config(env: &Env) -> Config {
    let text = std::fs::read_to_string(env.codex_dir().join("config.toml"));
    let config = text.ok().and_then(|text| toml::from_str(&text).ok());
    config.unwrap_or_default()
}

impl CodingAgent for Codex {
    fn agent(&self) -> Agent {
        CODEX
    }

    fn title(&self) -> &'static str {
        "Codex"
    }

    /// Real logs; newer ones by driving it (`tests/agents`).
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
            shape: HookShape::Entries,
            // A session that is resumed or compacted knows what it did.
            events: &[
                ("SessionStart", Some("startup|clear")),
                ("UserPromptSubmit", None),
            ],
            timeout: 5,
        }
    }

    /// The line of its `config.toml` that switches them off; a file that can't be understood switches
    /// nothing off.
    fn hooks_switched_off(&self, env: &Env) -> Option<String> {
        let file = env.codex_dir().join("config.toml");
        let config = config(env);
        // Their name until Codex 0.129.
        let off = ["hooks", "codex_hooks"]
            .into_iter()
            .find(|name| config.features.get(*name) == Some(&toml::Value::Boolean(false)))?;
        Some(format!("`features.{off} = false` in {}", file.display()))
    }

    fn plugin(&self, env: &Env) -> Option<&'static str> {
        let plugins = config(env).plugins;
        let is_on = |plugin: &toml::Value| {
            plugin.get("enabled").and_then(toml::Value::as_bool) != Some(false)
        };
        let mut on = plugins.iter().filter(|(_, plugin)| is_on(plugin));
        on.any(|(name, _)| name.starts_with(PLUGIN))
            .then_some("codex plugin remove sessionmill@sessionmill")
    }

    fn after_hooks(&self) -> Option<&'static str> {
        Some("hint: Codex starts new hooks once you have reviewed them: /hooks")
    }

    fn servers(&self, env: &Env) -> ServerSettings {
        ServerSettings {
            agent: CODEX,
            file: env.codex_dir().join("config.toml"),
            format: ServerFormat::Toml,
            shape: ServerShape::Parts,
            table: "mcp_servers",
            transport: None,
        }
    }
}
