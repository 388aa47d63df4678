//! Claude Code.

pub mod dialect;
mod injected;
mod retention;

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
pub const CLAUDE: Agent = Agent::new("claude");

/// What `settings.json` says about hooks and plugins.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Settings {
    disable_all_hooks: bool,
    enabled_plugins: BTreeMap<String, serde_json::Value>,
}

/// A file that can't be understood says nothing.
fn settings(env: &Env) -> Settings {
    let text = std::fs::read_to_string(env.claude_dir().join("settings.json"));
    let settings = text.ok().and_then(|text| serde_json::from_str(&text).ok());
    settings.unwrap_or_default()
}

/// Claude Code; its dialect also reads the documents' plain lines (D27).
pub struct Claude;

impl CodingAgent for Claude {
    fn agent(&self) -> Agent {
        CLAUDE
    }

    fn title(&self) -> &'static str {
        "Claude Code"
    }

    fn newest_version(&self) -> &'static str {
        "2.1.331"
    }

    fn injected(&self) -> &'static Injected {
        &injected::INJECTED
    }

    fn dialect(&self) -> &'static dyn Dialect {
        &dialect::ClaudeDialect
    }

    fn log_folders(&self, env: &Env) -> Vec<PathBuf> {
        let dirs = env.claude_dirs().into_iter();
        dirs.map(|dir| dir.join("projects")).collect()
    }

    fn folder(&self, env: &Env) -> (&'static str, PathBuf) {
        ("CLAUDE_CONFIG_DIR", env.claude_dir())
    }

    fn keeps_days(&self, env: &Env) -> Option<u32> {
        Some(retention::keeps_days(env))
    }

    fn example_log(&self) -> &'static str {
        ".claude/projects/-example/00000000-0000-4000-8000-000000000000.jsonl"
    }

    fn resume_command(&self, session: &str) -> String {
        format!("claude --resume {session}")
    }

    fn install_command(&self) -> &'static str {
        "npm install -g @anthropic-ai/claude-code"
    }

    fn hooks(&self, env: &Env) -> HookSettings {
        HookSettings {
            agent: CLAUDE,
            file: env.claude_dir().join("settings.json"),
            shape: HookShape::Entries,
            // A session that is resumed or compacted knows what it did.
            events: &[
                ("SessionStart", Some("startup|clear")),
                ("UserPromptSubmit", None),
            ],
            timeout: 5,
        }
    }

    /// A file that can't be understood switches nothing off.
    fn hooks_switched_off(&self, env: &Env) -> Option<String> {
        let file = env.claude_dir().join("settings.json");
        let reason = || format!("`disableAllHooks` is true in {}", file.display());
        settings(env).disable_all_hooks.then(reason)
    }

    fn plugin(&self, env: &Env) -> Option<&'static str> {
        let plugins = settings(env).enabled_plugins;
        let mut on = plugins.iter().filter(|(_, on)| on.as_bool() == Some(true));
        on.any(|(name, _)| name.starts_with(PLUGIN))
            .then_some("claude plugin uninstall sessionmill@sessionmill")
    }

    fn servers(&self, env: &Env) -> ServerSettings {
        ServerSettings {
            agent: CLAUDE,
            file: env.claude_state(),
            format: ServerFormat::Json,
            shape: ServerShape::Parts,
            table: "mcpServers",
            transport: Some("stdio"),
        }
    }
}
