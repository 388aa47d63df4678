//! `sinks` as it is written: where episodes are delivered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One destination.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WireSink {
    /// What it is.
    pub kind: SinkKind,
    /// Where it is reached, for `falkordb`: `redis://host[:port]`, `rediss://…` with TLS; for `neo4j`:
    /// `neo4j://host[:port][/database]` or `bolt://…`, `neo4j+s://…` and `bolt+s://…` with TLS; for
    /// `graphiti` and `graphiti-mcp`: `http://host[:port]`, `https://…`; what follows is the path of the
    /// MCP endpoint, `/mcp` without it. No user name and no password.
    #[serde(default)]
    pub url: Option<String>,
    /// For Graphiti's servers: where the database is reached that the server works on, as `url` of
    /// `falkordb` or `neo4j`. Episodes are written there, and the server only works through them. null: it is posted to.
    #[serde(default)]
    pub database: Option<String>,
    /// Folder that it writes to, for `markdown`, `jsonl` and `parquet`. Absolute; `~` and variables are
    /// expanded.
    #[serde(default)]
    pub path: Option<String>,
    /// Who logs in to the database. null: its default user; for Neo4j `neo4j`.
    #[serde(default)]
    pub user: Option<String>,
    /// Name of the environment variable that holds the database's password; the file `env` beside the settings
    /// may hold it too.
    #[serde(default)]
    pub password_env: Option<String>,
    /// For `falkordb`, `neo4j` and where there is a `database`: each session is a saga that has its
    /// episodes, one after the other. null: false.
    #[serde(default)]
    pub sagas: Option<bool>,
    /// For Graphiti's servers: name of the variable that holds a bearer token, where a proxy before the server
    /// asks for one.
    #[serde(default)]
    pub token_env: Option<String>,
    /// For Graphiti's servers: episodes that the server is given at once, 1 to 100. null: 25.
    #[serde(default)]
    #[schemars(range(min = 1, max = 100), extend("x-error" = "window must be 1 to 100"))]
    pub window: Option<u32>,
    /// For Graphiti's servers: when nothing came out of the server's queue for so long, its worker is taken
    /// for dead. Longer than its slowest episode. null: "5m".
    #[serde(default)]
    pub stall: Option<String>,
    /// For Graphiti's servers: how long a run goes on handing out work; the next one does the rest. null:
    /// "30m".
    #[serde(default)]
    pub time_per_run: Option<String>,
    /// For Graphiti's servers: US dollars for a million tokens that its language model reads. null: 0.4.
    #[serde(default)]
    pub usd_per_million_input: Option<f64>,
    /// For Graphiti's servers: US dollars for a million tokens that its language model writes. null: 1.6.
    #[serde(default)]
    pub usd_per_million_output: Option<f64>,
    /// Which episodes of sessions it gets: what was said in them, the sessions' summaries, or both.
    #[serde(default)]
    pub content: SinkContent,
    /// false: it gets nothing.
    #[serde(default = "yes")]
    pub enabled: bool,
}

fn yes() -> bool {
    true
}

/// Which episodes of sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SinkContent {
    /// What was said, and summaries.
    #[default]
    All,
    /// What was said.
    Chunks,
    /// Summaries.
    Summaries,
}

/// Which program or format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SinkKind {
    /// FalkorDB, in Graphiti's own schema: one graph per group.
    Falkordb,
    /// Neo4j, in Graphiti's own schema: groups are a property.
    Neo4j,
    /// Graphiti's REST server.
    Graphiti,
    /// Graphiti's MCP server, over streamable HTTP.
    #[serde(rename = "graphiti-mcp")]
    GraphitiMcp,
    /// A folder with one Markdown file per session.
    Markdown,
    /// A folder with files of one JSON object per line.
    Jsonl,
    /// A folder with tables for SQL, as `export --parquet` writes them.
    Parquet,
}
