//! The canary: secrets of every rule, planted in every place of a log, and looked for in everything
//! that a run leaves behind or sends.

use crate::rules::secrets::samples::{self, Planted};
use aho_corasick::AhoCorasick;
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Secrets that are planted, and those that were found again.
pub struct Canary {
    planted: Vec<(&'static str, Planted)>,
    /// Which of `planted` each piece is of.
    owners: Vec<usize>,
    pieces: AhoCorasick,
    found: BTreeSet<(String, &'static str)>,
    bytes: u64,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Sighted {
    /// Rules of which secrets were planted.
    pub rules: u64,
    /// Places that each was planted in.
    pub places: u64,
    /// Secrets planted.
    pub planted: u64,
    /// Bytes that were searched.
    pub bytes: u64,
    /// (rule, place) of each secret that was found.
    pub found: Vec<(String, &'static str)>,
}

impl Canary {
    /// Makes up the secrets. The table of rules is read with its samples.
    pub fn new() -> Result<Canary> {
        let mut planted: Vec<(&str, Planted)> = Vec::new();
        for (n, (place, around, _)) in (0..).zip(PLACES) {
            let here = samples::planted(100_000 * n).into_iter();
            let here = here.filter(|secret| around.suits(secret));
            planted.extend(here.map(|secret| (place, secret)));
        }
        let (mut owners, mut pieces) = (Vec::new(), Vec::new());
        for (n, (_, secret)) in planted.iter().enumerate() {
            owners.extend(secret.pieces.iter().map(|_| n));
            pieces.extend(&secret.pieces);
        }
        Ok(Canary {
            pieces: AhoCorasick::new(pieces)?,
            owners,
            planted,
            found: BTreeSet::new(),
            bytes: 0,
        })
    }

    /// Writes the logs that hold them, one for each place, below a folder of Claude Code's.
    ///
    /// # Errors
    /// Where the folder can't be written to.
    pub fn plant(&self, projects: &Path) -> Result<()> {
        let folder = projects.join("-p");
        fs::create_dir_all(&folder)?;
        for (n, (place, _, lines)) in PLACES.iter().enumerate() {
            let here = self.planted.iter().filter(|(at, _)| at == place);
            let all: Vec<Value> = here.flat_map(|(_, secret)| lines(&secret.text)).collect();
            let id = uuid(place);
            let text = log(&all).replace(SESSION, &id);
            let first = uuid("first");
            let text = text.replace(&first, &uuid(&format!("first of {n}")));
            fs::write(folder.join(format!("{id}.jsonl")), text)?;
        }
        Ok(())
    }

    /// Looks for them in what was stored, printed or sent.
    pub fn look(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        for found in self.pieces.find_overlapping_iter(bytes) {
            let (place, secret) = &self.planted[self.owners[found.pattern().as_usize()]];
            self.found.insert((secret.rule.clone(), place));
        }
    }

    /// The same in every file below a folder.
    ///
    /// # Errors
    /// Where one can't be read.
    pub fn look_below(&mut self, folder: &Path) -> Result<()> {
        for entry in walkdir::WalkDir::new(folder) {
            let entry = entry?;
            if entry.file_type().is_file() {
                self.look(&fs::read(entry.path())?);
            }
        }
        Ok(())
    }

    /// What was found.
    pub fn sighted(self) -> Sighted {
        let rules: BTreeSet<&str> = self.planted.iter().map(|(_, s)| s.rule.as_str()).collect();
        Sighted {
            rules: rules.len() as u64,
            places: PLACES.len() as u64,
            planted: self.planted.len() as u64,
            bytes: self.bytes,
            found: self.found.into_iter().collect(),
        }
    }
}

/// A place's name, what else stands there, and the lines of a log that have a secret there.
pub type PlantSite = (&'static str, Around, fn(&str) -> Vec<Value>);

/// What else stands on a secret's lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Around {
    /// Words, or the rest of a path.
    Words,
    /// Nothing: those that are known by that only are planted here too.
    Nothing,
}

impl Around {
    /// Whether a secret is one here.
    pub fn suits(self, secret: &Planted) -> bool {
        self == Around::Nothing || !secret.alone
    }
}

use Around::{Nothing, Words};

/// Where a secret may stand.
pub const PLACES: [PlantSite; 29] = [
    ("prompt", Words, |s| {
        vec![user(json!(format!("use {s} please")))]
    }),
    ("prompt of its own", Nothing, |s| vec![user(json!(s))]),
    ("answer", Nothing, |s| {
        vec![said(
            json!([{"type": "text", "text": format!("it is\n{s}\nthen")}]),
        )]
    }),
    ("error", Words, |s| {
        let mut line = said(json!([{"type": "text", "text": format!("API Error: {s}")}]));
        line["isApiErrorMessage"] = true.into();
        vec![line]
    }),
    ("command", Words, |s| {
        call(
            "Bash",
            json!({"command": format!("run {s} now")}),
            "ok",
            false,
        )
    }),
    ("argument", Nothing, |s| {
        call("mcp__x__y", json!({"a": {"b": s}, "c": [s]}), "ok", false)
    }),
    ("written text", Nothing, |s| {
        call(
            "Write",
            json!({"file_path": "/p/a", "content": s}),
            "ok",
            false,
        )
    }),
    ("output", Nothing, |s| {
        call("Bash", json!({"command": "env"}), s, false)
    }),
    ("failed output", Words, |s| {
        call(
            "Bash",
            json!({"command": "env"}),
            &format!("Exit code 1\nerror: {s}"),
            true,
        )
    }),
    ("output of an unknown tool", Words, |s| {
        call("mcp__x__y", json!({}), &json!({s: 1}).to_string(), false)
    }),
    ("refusal", Nothing, |s| {
        let text = format!(
            "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n{s}"
        );
        call("Bash", json!({"command": "env"}), &text, true)
    }),
    ("file path", Words, |s| {
        call(
            "Read",
            json!({"file_path": format!("/p/{s}/a.rs")}),
            "ok",
            false,
        )
    }),
    ("file name", Words, |s| {
        let input = json!({"file_path": format!("/p/keys/{s}"), "content": "x"});
        call("Write", input, "ok", false)
    }),
    ("changed setting", Words, |s| {
        let edit = json!({
            "file_path": "/p/.env", "old_string": format!("A={s}"), "new_string": format!("B={s}"),
        });
        call("Edit", edit, "The file has been updated.", false)
    }),
    ("answer to a question", Nothing, |s| {
        let asked = json!({"questions": [{"question": "Which one?"}]});
        let answer = format!(
            "User has answered your questions: \"Which one?\"=\"{s}\". You can now continue."
        );
        call("AskUserQuestion", asked, &answer, false)
    }),
    ("task", Nothing, |s| {
        let list = json!({"todos": [{"content": s, "status": "in_progress"}]});
        call(
            "TodoWrite",
            list,
            "Todos have been modified successfully.",
            false,
        )
    }),
    ("commit", Words, |s| {
        let printed = format!("[main 1a2b3c4] {s}\n 1 file changed, 1 insertion(+)");
        call(
            "Bash",
            json!({"command": "git commit -F m"}),
            &printed,
            false,
        )
    }),
    ("name of a failed test", Words, |s| {
        let printed = format!(
            "FAILED tests/test_a.py::test_key[{s}] - assert 0\n1 failed, 2 passed in 0.10s"
        );
        call("Bash", json!({"command": "pytest"}), &printed, false)
    }),
    ("call without a result", Nothing, |s| {
        call("Bash", json!({"command": s}), "", false)[..1].to_vec()
    }),
    ("queued prompt", Nothing, |s| {
        vec![
            json!({"type": "queue-operation", "operation": "enqueue", "content": s,
            "timestamp": "2026-04-01T10:00:05.000Z", "sessionId": SESSION}),
        ]
    }),
    ("title", Nothing, |s| {
        vec![json!({"type": "custom-title", "customTitle": s, "sessionId": SESSION})]
    }),
    ("summary", Nothing, |s| {
        vec![json!({"type": "summary", "summary": s, "leafUuid": uuid("first")})]
    }),
    ("branch", Nothing, |s| {
        let mut line = user(json!("hello"));
        line["gitBranch"] = s.into();
        vec![line]
    }),
    ("directory", Words, |s| {
        let mut line = user(json!("hello"));
        line["cwd"] = format!("/p/{s}").into();
        vec![line]
    }),
    ("link", Words, |s| {
        vec![
            json!({"type": "pr-link", "sessionId": SESSION, "prNumber": 7, "prRepository": "a/b",
            "prUrl": format!("https://x.example/{s}"), "timestamp": "2026-04-01T10:00:05.000Z"}),
        ]
    }),
    ("description of a command", Nothing, |s| {
        let input = json!({"command": "make", "description": s});
        call("Bash", input, "ok", false)
    }),
    ("search", Words, |s| {
        let input = json!({"pattern": s, "path": format!("/p/{s}")});
        call("Grep", input, "Found 1 file", false)
    }),
    ("fetched page", Words, |s| {
        let input = json!({"url": format!("https://x.example/{s}"), "prompt": s});
        call("WebFetch", input, s, false)
    }),
    ("task of a sub-agent", Nothing, |s| {
        let input = json!({"description": s, "prompt": s, "subagent_type": "general-purpose"});
        call("Task", input, s, false)
    }),
];

pub(crate) const SESSION: &str = "00000000-0000-4000-8000-000000000001";

fn uuid(of: &str) -> String {
    uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_URL, of.as_bytes()).to_string()
}

fn line(kind: &str, message: Value) -> Value {
    let id = uuid(&message.to_string());
    json!({"type": kind, "uuid": id, "sessionId": SESSION, "cwd": "/p", "gitBranch": "main",
        "version": "2.0.0", "timestamp": "2026-04-01T10:00:00.000Z", "message": message})
}

pub(crate) fn user(content: Value) -> Value {
    line("user", json!({"role": "user", "content": content}))
}

fn said(content: Value) -> Value {
    let id = uuid(&content.to_string());
    line(
        "assistant",
        json!({"role": "assistant", "id": id, "model": "m", "content": content}),
    )
}

pub(crate) fn call(tool: &str, input: Value, output: &str, failed: bool) -> Vec<Value> {
    let id = uuid(&format!("{tool}{input}{output}"));
    let call = json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]);
    let result =
        json!([{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed}]);
    vec![said(call), user(result)]
}

pub(crate) fn log(lines: &[Value]) -> String {
    let mut first = user(json!("hello"));
    first["uuid"] = uuid("first").into();
    let all = std::iter::once(&first).chain(lines);
    all.map(|line| format!("{line}\n")).collect()
}
