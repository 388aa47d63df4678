//! OpenCode.

pub mod dialect;
mod injected;
mod tables;

use super::CodingAgent;
use crate::config::Env;
use crate::config::agent_settings::{
    HookSettings, HookShape, ServerFormat, ServerSettings, ServerShape,
};
use crate::model::source::Agent;
use crate::rules::injected::Injected;
use crate::stages::parse::Dialect;
use std::path::PathBuf;

/// Its word.
pub const OPENCODE: Agent = Agent::new("opencode");

/// What starts us is a module of its plugins' folder.
const PLUGIN: &str = include_str!("plugin.js");

/// OpenCode.
pub struct OpenCode;

/// `$XDG_DATA_HOME`, by default `~/.local/share`.
const DATA: &str = "XDG_DATA_HOME";

fn data_dir(env: &Env) -> PathBuf {
    env.folder(DATA, ".local/share").join("opencode")
}

fn config_dir(env: &Env) -> PathBuf {
    env.folder("XDG_CONFIG_HOME", ".config").join("opencode")
}

impl CodingAgent for OpenCode {
    fn agent(&self) -> Agent {
        OPENCODE
    }

    fn title(&self) -> &'static str {
        "OpenCode"
    }

    fn newest_version(&self) -> &'static str {
        "1.18.33"
    }

    fn injected(&self) -> &'static Injected {
        &injected::INJECTED
    }

    fn dialect(&self) -> &'static dyn Dialect {
        &dialect::OpenCodeDialect
    }

    fn log_folders(&self, env: &Env) -> Vec<PathBuf> {
        vec![data_dir(env)]
    }

    fn folder(&self, env: &Env) -> (&'static str, PathBuf) {
        (DATA, env.folder(DATA, ".local/share"))
    }

    fn example_log(&self) -> &'static str {
        ".local/share/opencode/ses_00000000000000000000000000.jsonl"
    }

    fn resume_command(&self, session: &str) -> String {
        format!("opencode --session {session}")
    }

    fn install_command(&self) -> &'static str {
        "npm install -g opencode-ai"
    }

    fn hooks(&self, env: &Env) -> HookSettings {
        HookSettings {
            agent: OPENCODE,
            file: config_dir(env).join("plugins/sessionmill.js"),
            shape: HookShape::Module(PLUGIN),
            events: &[("chat.message", None)],
            timeout: 5_000,
        }
    }

    fn hooks_switched_off(&self, _env: &Env) -> Option<String> {
        None
    }

    fn servers(&self, env: &Env) -> ServerSettings {
        ServerSettings {
            agent: OPENCODE,
            file: config_dir(env).join("opencode.json"),
            format: ServerFormat::Json,
            shape: ServerShape::OneList,
            table: "mcp",
            transport: Some("local"),
        }
    }
}
