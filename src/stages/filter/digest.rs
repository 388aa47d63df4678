//! One line for a tool call and its result.

use crate::model::entry::{Status, ToolResult};
use crate::model::exchange::ToolUse;
use crate::model::policy::FilterPolicy;
use serde_json::Value;

/// What stands for a call and its result.
pub struct Digest {
    /// `Read(src/auth.rs) → 2000 lines`, without `Action: `.
    pub text: String,
    /// What is counted of it.
    pub tool: ToolUse,
}

/// How a call ended, as far as the log says.
pub enum Outcome<'a> {
    /// It was answered.
    Result(&'a ToolResult),
    /// It was not.
    NoResult,
}

/// The digest of one call.
pub fn digest(
    tool: &str,
    input: &Value,
    outcome: Outcome<'_>,
    _policy: &FilterPolicy,
    _cwd: Option<&str>,
) -> Digest {
    let path = input.get("path").and_then(Value::as_str);
    let (end, status, bytes) = match outcome {
        Outcome::Result(r) => (
            format!("{} lines", r.output.lines),
            r.status,
            r.output.bytes,
        ),
        Outcome::NoResult => ("no result".to_owned(), Status::Interrupted, 0),
    };
    let files: Vec<String> = path.iter().map(|p| (*p).to_owned()).collect();
    Digest {
        text: format!("{tool}({}) → {end}", path.unwrap_or_default()),
        tool: ToolUse {
            name: tool.to_owned(),
            status,
            output_bytes: bytes,
            modified: if tool == "Edit" {
                files.clone()
            } else {
                Vec::new()
            },
            files,
            completed: Vec::new(),
        },
    }
}

/// What a pending call keeps of its parameters.
pub fn shorten_input(_tool: &str, input: Value) -> Value {
    input
}
