//! Where an agent's own settings hold our entries, and how it spells them. `agents` fills these in;
//! `hooks` and `servers` edit what they describe.

use std::path::PathBuf;

/// How a settings file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON, comments allowed.
    Json,
    /// TOML.
    Toml,
}

/// Where an agent's hooks stand: JSON with a map `hooks` from events to lists of groups of hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookSettings {
    /// The user's own file.
    pub file: PathBuf,
    /// When the agent is to start us, each with the matcher that narrows the event.
    pub events: &'static [(&'static str, Option<&'static str>)],
}

/// Where an agent's MCP servers stand: a map from names to what is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSettings {
    /// The user's own file.
    pub file: PathBuf,
    /// How it is written.
    pub format: Format,
    /// The key of the map.
    pub table: &'static str,
    /// The value of an entry's `type`, where the agent writes one.
    pub transport: Option<&'static str>,
}
