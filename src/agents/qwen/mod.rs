//! Qwen Code.

pub mod dialect;
mod injected;

use super::CodingAgent;
use crate::config::Env;
use crate::config::agent_settings::{
    HookSettings, HookShape, ServerFormat, ServerSettings, ServerShape,
};
use crate::model::source::Agent;
use crate::rules::injected::Injected;
use crate::stages::parse::Dialect;
use serde::Deserialize;
use std::path::PathBuf;

/// Its word.
pub const QWEN: Agent = Agent::new("qwen");

const HOME: &str = "QWEN_HOME";

/// Moves the logs alone.
const RUNTIME_DIR: &str = "QWEN_RUNTIME_DIR";

/// Qwen Code.
pub struct Qwen;

/// What `settings.json` says about hooks.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Settings {
    disable_all_hooks: bool,
}

fn dir(env: &Env) -> PathBuf {
    env.folder(HOME, ".qwen")
}

fn settings_file(env: &Env) -> PathBuf {
    dir(env).join("settings.json")
}

impl CodingAgent for Qwen {
    fn agent(&self) -> Agent {
        QWEN
    }

    fn title(&self) -> &'static str {
        "Qwen Code"
    }

    fn newest_version(&self) -> &'static str {
        "0.24.4"
    }

    fn injected(&self) -> &'static Injected {
        &injected::INJECTED
    }

    fn dialect(&self) -> &'static dyn Dialect {
        &dialect::QwenDialect
    }

    fn log_folders(&self, env: &Env) -> Vec<PathBuf> {
        let dir = match env.var(RUNTIME_DIR) {
            Some(_) => env.folder(RUNTIME_DIR, ".qwen"),
            None => dir(env),
        };
        vec![dir.join("projects")]
    }

    fn folder(&self, env: &Env) -> (&'static str, PathBuf) {
        (HOME, dir(env))
    }

    fn example_log(&self) -> &'static str {
        ".qwen/projects/-example/chats/00000000-0000-4000-8000-000000000000.jsonl"
    }

    fn resume_command(&self, session: &str) -> String {
        format!("qwen --resume {session}")
    }

    fn install_command(&self) -> &'static str {
        "npm install -g @qwen-code/qwen-code"
    }

    fn hooks(&self, env: &Env) -> HookSettings {
        HookSettings {
            agent: QWEN,
            file: settings_file(env),
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
        let file = settings_file(env);
        let text = std::fs::read_to_string(&file).ok()?;
        let settings: Settings = serde_json::from_str(&text).ok()?;
        let reason = || format!("`disableAllHooks` is true in {}", file.display());
        settings.disable_all_hooks.then(reason)
    }

    fn servers(&self, env: &Env) -> ServerSettings {
        ServerSettings {
            agent: QWEN,
            file: settings_file(env),
            format: ServerFormat::Json,
            shape: ServerShape::Parts,
            table: "mcpServers",
            transport: None,
        }
    }
}
