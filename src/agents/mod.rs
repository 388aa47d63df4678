//! Floor 3: one folder per agent, with all that is the agent's. Nobody else matches on an agent.
//!
//! To add an agent:
//!
//! 1. A folder here with a type that implements [`CodingAgent`] (where its logs are, what it injects,
//!    where its hooks and MCP servers stand, how a session is resumed, which versions were seen) and
//!    one that implements [`Dialect`] (which names its logs have, and how a line becomes entries).
//!    What reading needs to know of earlier lines goes into
//!    [`DialectState`](crate::model::dialect_state::DialectState), which is stored with the checkpoint.
//!    Texts that it injects and fields on which reading depends are tables in the folder
//!    (`injected.yaml`, `fields.yaml`).
//! 2. Its line in [`registry`].
//! 3. Its words in the settings' schema (`config/wire/session_tracking.rs`: `sources`, `agent`), which
//!    editors read.
//!
//! `toy/` is the smallest one; the tests run it from the log to the search.

pub mod claude;
pub mod codex;
pub mod gemini;
mod genai;
pub mod opencode;
mod prompts;
pub mod qwen;
pub mod registry;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub mod toy;
pub mod versions;

use crate::config::Env;
use crate::config::agent_settings::{HookSettings, ServerSettings};
use crate::model::source::Agent;
use crate::rules::injected::Injected;
use crate::stages::parse::Dialect;
use std::path::PathBuf;

/// What the name of our plugin begins with; its marketplace follows.
const PLUGIN: &str = "sessionmill@";

/// A program whose sessions are read, and that may ask for memory.
pub trait CodingAgent: Sync {
    /// Its word in options, tables and output.
    fn agent(&self) -> Agent;

    /// The name that people know it by.
    fn title(&self) -> &'static str;

    /// The newest version whose logs this program was tested with.
    fn newest_version(&self) -> &'static str;

    /// What it puts into texts of role user.
    fn injected(&self) -> &'static Injected;

    /// How it spells its logs.
    fn dialect(&self) -> &'static dyn Dialect;

    /// The folders in which it keeps logs, unless settings name others.
    fn log_folders(&self, env: &Env) -> Vec<PathBuf>;

    /// The variable that moves its folder, and the value that it has, or stands for where it isn't set.
    fn folder(&self, env: &Env) -> (&'static str, PathBuf);

    /// Days after its last change that it deletes a log; `None`: it keeps them.
    fn keeps_days(&self, _env: &Env) -> Option<u32> {
        None
    }

    /// Where an example's log lies below a home.
    fn example_log(&self) -> &'static str;

    /// The command that goes on with a session.
    fn resume_command(&self, session: &str) -> String;

    /// The command that installs it.
    fn install_command(&self) -> &'static str;

    /// Where its hooks stand.
    fn hooks(&self, env: &Env) -> HookSettings;

    /// Why it starts no hooks at all, where its settings say so.
    fn hooks_switched_off(&self, env: &Env) -> Option<String>;

    /// What a person has to do once hooks were installed.
    fn after_hooks(&self) -> Option<&'static str> {
        None
    }

    /// The command that takes our plugin out, where its settings have the plugin switched on: it brings
    /// the hooks and the MCP server.
    fn plugin(&self, _env: &Env) -> Option<&'static str> {
        None
    }

    /// Where its MCP servers stand.
    fn servers(&self, env: &Env) -> ServerSettings;
}
