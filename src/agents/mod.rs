//! Floor 3: one folder per agent, with all that is the agent's. Nobody else matches on an agent.
//!
//! To add an agent: a folder here that implements [`CodingAgent`] and [`Dialect`], and its line in
//! [`registry`].

pub mod claude;
pub mod codex;
pub mod registry;

use crate::config::Env;
use crate::config::agent_settings::{HookSettings, ServerSettings};
use crate::model::source::Agent;
use crate::stages::parse::Dialect;
use std::path::PathBuf;

/// A program whose sessions are read, and that may ask for memory.
pub trait CodingAgent: Sync {
    /// Its word in options, tables and output.
    fn agent(&self) -> Agent;

    /// The name that people know it by.
    fn title(&self) -> &'static str;

    /// How it spells its logs.
    fn dialect(&self) -> &'static dyn Dialect;

    /// The folders in which it keeps logs, unless settings name others.
    fn log_folders(&self, env: &Env) -> Vec<PathBuf>;

    /// The command that goes on with a session.
    fn resume_command(&self, session: &str) -> String;

    /// Where its hooks stand.
    fn hooks(&self, env: &Env) -> HookSettings;

    /// Where its MCP servers stand.
    fn servers(&self, env: &Env) -> ServerSettings;
}
