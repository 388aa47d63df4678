//! Which tool is told how, as a table (`tools.yaml`): which parameters stand in the digest, which
//! are paths, and what its answer is made of.

use super::table;
use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::sync::LazyLock;

/// The row for a tool. Names are the model's output, not an enum: exact names first, then the
/// leading identifier of a garbled one, else the row of unknown tools. About 30 ns.
pub fn tool(name: &str) -> &'static ToolRule {
    if let Some(row) = TABLE.by_name.get(name) {
        return &TABLE.rows[*row];
    }
    let end = name
        .find(|c: char| !(c.is_alphanumeric() || "_.:-/".contains(c)))
        .unwrap_or(name.len());
    match TABLE.by_name.get(&name[..end]) {
        Some(row) => &TABLE.rows[*row],
        None => &UNKNOWN,
    }
}

/// How a tool is told.
#[derive(Debug, Default)]
pub struct ToolRule {
    /// What its answer is made of.
    pub answer: AnswerKind,
    /// What stands in the parentheses, in order; absent parameters are passed over.
    pub shows: Vec<Show>,
    /// Parameters that name files which it reads or changes.
    pub files: Vec<String>,
    /// What it counts, in the singular (`file`, `entry`, `result`).
    pub counts: String,
    /// Its call is all there is: no result is written for it.
    pub alone: bool,
}

impl ToolRule {
    /// Its answer is a person's.
    pub fn asks_people(&self) -> bool {
        matches!(self.answer, AnswerKind::Ask | AnswerKind::Approve)
    }
}

/// What an answer is made of; also, whether the tool changes files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerKind {
    /// Lines and bytes of what was read.
    Read,
    /// Lines added and removed.
    Edit,
    /// Created or not, and lines.
    Write,
    /// Files and lines of a patch.
    Patch,
    /// Matches and files.
    Search,
    /// A number of things.
    List,
    /// Exit code, tests, errors, output.
    Shell,
    /// The state of something in the background.
    Poll,
    /// Stopped.
    Stop,
    /// HTTP status and bytes.
    Fetch,
    /// What a sub-agent used.
    Agent,
    /// A list of tasks with their states.
    Plan,
    /// One task.
    Task,
    /// Questions and a person's answers.
    Ask,
    /// A person's approval.
    Approve,
    /// The first line of what it says.
    Said,
    /// The documents' rules.
    #[default]
    Other,
}

impl AnswerKind {
    /// The word in the table and in output.
    pub fn as_str(self) -> &'static str {
        match self {
            AnswerKind::Read => "read",
            AnswerKind::Edit => "edit",
            AnswerKind::Write => "write",
            AnswerKind::Patch => "patch",
            AnswerKind::Search => "search",
            AnswerKind::List => "list",
            AnswerKind::Shell => "shell",
            AnswerKind::Poll => "poll",
            AnswerKind::Stop => "stop",
            AnswerKind::Fetch => "fetch",
            AnswerKind::Agent => "agent",
            AnswerKind::Plan => "plan",
            AnswerKind::Task => "task",
            AnswerKind::Ask => "ask",
            AnswerKind::Approve => "approve",
            AnswerKind::Said => "said",
            AnswerKind::Other => "other",
        }
    }
}

/// One thing in the parentheses; several parameters stand for the first that is present.
#[derive(Debug)]
pub enum Show {
    /// A path, relative to the working directory when below it.
    Path(Vec<String>),
    /// The same, passed over when it is the working directory itself.
    Place(Vec<String>),
    /// Text in quotes.
    Quote(Vec<String>),
    /// Text as it is.
    Word(Vec<String>),
    /// A shell command: a string or a list of arguments.
    Command(Vec<String>),
}

impl Show {
    /// The parameters that it looks for.
    pub fn keys(&self) -> &[String] {
        match self {
            Show::Path(keys)
            | Show::Place(keys)
            | Show::Quote(keys)
            | Show::Word(keys)
            | Show::Command(keys) => keys,
        }
    }
}

static UNKNOWN: ToolRule = ToolRule {
    answer: AnswerKind::Other,
    shows: Vec::new(),
    files: Vec::new(),
    counts: String::new(),
    alone: false,
};

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::load(&written()));

struct Table {
    rows: Vec<ToolRule>,
    by_name: FxHashMap<String, usize>,
}

/// A row as the file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    names: Vec<String>,
    answer: AnswerKind,
    #[serde(default)]
    shows: Vec<String>,
    #[serde(default)]
    files: Vec<String>,
    #[serde(default)]
    counts: String,
    #[serde(default)]
    alone: bool,
    #[cfg(test)]
    samples: Vec<Sample>,
}

fn written() -> Vec<Written> {
    table::rows(table::embedded!("tools"))
}

impl Table {
    fn load(written: &[Written]) -> Table {
        let mut by_name = FxHashMap::default();
        for (i, row) in written.iter().enumerate() {
            by_name.extend(row.names.iter().map(|name| (name.clone(), i)));
        }
        let rows = written.iter().map(|row| ToolRule {
            answer: row.answer,
            shows: row.shows.iter().map(|show| checked(show)).collect(),
            files: row.files.clone(),
            counts: row.counts.clone(),
            alone: row.alone,
        });
        Table {
            rows: rows.collect(),
            by_name,
        }
    }
}

/// `path file_path|path` → as meant.
fn checked(show: &str) -> Show {
    let (how, keys) = show.split_once(' ').expect("a kind and its parameters");
    let keys = keys.split('|').map(str::to_owned).collect();
    match how {
        "path" => Show::Path(keys),
        "place" => Show::Place(keys),
        "quote" => Show::Quote(keys),
        "word" => Show::Word(keys),
        "command" => Show::Command(keys),
        other => panic!("the embedded table of tools shows a {other:?}"),
    }
}

/// A call, its result, and the digest that it must give; checked where digests are made.
#[cfg(test)]
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sample {
    /// The row's first name where absent.
    pub tool: Option<String>,
    #[serde(default)]
    pub input: serde_json::Value,
    /// Absent: no result.
    pub result: Option<SampleResult>,
    pub digest: String,
}

/// The parts of a result that samples state.
#[cfg(test)]
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SampleResult {
    pub status: crate::model::entry::CallStatus,
    pub exit_code: Option<i32>,
    pub output: String,
    /// Instead of those of `output`.
    pub bytes: Option<u64>,
    pub facts: std::collections::BTreeMap<String, serde_json::Value>,
}

/// Every sample with the name of its tool.
#[cfg(test)]
pub(crate) fn samples() -> Vec<(String, Sample)> {
    let rows = written().into_iter();
    rows.flat_map(|row| {
        assert!(!row.samples.is_empty(), "{:?} has no sample", row.names);
        let name = row.names[0].clone();
        row.samples
            .into_iter()
            .map(move |mut sample| (sample.tool.take().unwrap_or_else(|| name.clone()), sample))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_stated_once() {
        let rows = written();
        let names: Vec<&String> = rows.iter().flat_map(|row| &row.names).collect();
        assert_eq!(names.len(), TABLE.by_name.len());
    }

    #[test]
    fn garbled_names_are_known_by_how_they_start() {
        assert_eq!(tool("Task").answer, AnswerKind::Agent);
        assert_eq!(tool("Task\" >\n<parameter").answer, AnswerKind::Agent);
        assert_eq!(tool("TaskMaster").answer, AnswerKind::Other);
        assert_eq!(tool("").answer, AnswerKind::Other);
        assert_eq!(tool("mcp__a__read").answer, AnswerKind::Other);
    }
}
