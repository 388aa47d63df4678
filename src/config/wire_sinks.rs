//! `sinks` as it is written: where episodes are delivered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One destination.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sink {
    /// What it is.
    pub kind: SinkKind,
    /// Where it is reached, for `falkordb`: `redis://host[:port]`, `rediss://…` with TLS. No user
    /// name and no password.
    #[serde(default)]
    pub url: Option<String>,
    /// Folder that it writes to, for `markdown` and `jsonl`. Absolute; `~` and variables are
    /// expanded.
    #[serde(default)]
    pub path: Option<String>,
    /// Who logs in.
    #[serde(default)]
    pub user: Option<String>,
    /// Name of the environment variable that holds the password; the file `env` beside the settings
    /// may hold it too.
    #[serde(default)]
    pub password_env: Option<String>,
    /// false: it gets nothing.
    #[serde(default = "yes")]
    pub enabled: bool,
}

fn yes() -> bool {
    true
}

/// Which program or format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SinkKind {
    /// FalkorDB, in Graphiti's own schema: one graph per group.
    Falkordb,
    /// A folder with one Markdown file per session.
    Markdown,
    /// A folder with files of one JSON object per line.
    Jsonl,
}
