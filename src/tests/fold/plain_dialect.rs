//! The documents' entries (001-034..056) as a run prints them: what the golden vectors say,
//! but where a decision says something else.

use super::*;
use crate::agents::registry;
use crate::host::read::{LogBlock, Shape};
use crate::model::entry::CallStatus;
use crate::model::exchange::ToolUse;
use crate::model::source::Agent;
use crate::rules::tools::{self, AnswerKind};
use crate::stages::parse::{ParseState, parse};
use std::io::Write;
use std::path::PathBuf;

/// What a run prints of vectors that a decision overrules: row and decision, the vector's line,
/// the run's.
const DECIDED: [(&str, &str, &str); 9] = [
    (
        "001-046 by D26",
        "Action: Read(file_path=src/auth.py) → Large output (2000 lines, 3999 chars)",
        "Action: Read(src/auth.py) → 2000 lines, 4 KB",
    ),
    (
        "001-047 by D26",
        "Action: Bash(command=pytest tests/) → Output (1 lines)",
        "Action: Bash(pytest tests/) → passed 47/47 in 1.2 s",
    ),
    (
        "001-045 by D26 and D28",
        "Action: Bash(command=pytest tests/) → Error output (1 lines)",
        "Action: Bash(pytest tests/) → 46 passed, 1 failed",
    ),
    (
        "001-045 by D26 and D28",
        "Action: Bash(command=pytest) → Error output (1 lines)",
        "Action: Bash(pytest) → 0 failed, no errors",
    ),
    (
        "001-049 by D26",
        "Action: Grep(pattern=jwt) → List with 0 items",
        "Action: Grep(\"jwt\") → no matches",
    ),
    (
        "001-040 by D26",
        "Action: Edit(file_path=a, old_string=",
        "Action: Edit(a) → +1 −1",
    ),
    (
        "001-041 by D26",
        "Action: TodoWrite(todos=[1, 2, 3, 4, 5, '... (6 items)']) → Output (1 lines)",
        "Action: TodoWrite → emptied",
    ),
    (
        "001-037 by D26",
        "Error: String to replace not found in file",
        "Error: Edit failed - String to replace not found in file",
    ),
    (
        "001-037 by D26",
        "Error: line1\nline2",
        "Error: Bash failed - line1\nline2",
    ),
];

fn golden() -> Option<Value> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/golden");
    let folder = std::env::var_os("GOLDEN_DIR").map_or(beside, PathBuf::from);
    let text = std::fs::read_to_string(folder.join("plain_dialect.json")).ok()?;
    Some(serde_json::from_str(&text).expect("the golden file is JSON"))
}

/// Cases with a long repetitive output give its measures only.
fn whole(mut input: Value) -> Value {
    let measure = |key: &str| input.get(key).and_then(Value::as_u64).map(|n| n as usize);
    if let (Some(lines), Some(chars)) = (measure("output_lines"), measure("output_chars")) {
        let newlines = "x\n".repeat(lines - 1);
        let rest = "x".repeat(chars.saturating_sub(newlines.len()));
        let fields = input.as_object_mut().expect("an entry");
        for key in ["long_repeat", "json_len", "output_lines", "output_chars"] {
            fields.remove(key);
        }
        fields.insert("output".into(), json!(newlines + &rest));
    }
    input
}

/// What follows each vector's record, so that there is an episode and what stands between is seen.
const NEXT: &str = "Agent: next";

/// The episode of a log with this record, and the tool that it used.
fn printed(record: &Value) -> (String, Option<ToolUse>) {
    let next = json!({ "type": "assistant", "content": "next" });
    let dialect = registry::dialect(Agent::new("claude"));
    let block = LogBlock {
        offset: 0,
        line: 0,
        bytes: &mut format!("{record}\n{next}\n").into_bytes(),
        shape: Shape::Lines,
    };
    let mut state = ParseState::resume(dialect, Context::default(), "a.jsonl");
    let log = Log {
        entries: parse(dialect, &mut state, block).items,
        ..Log::default()
    };
    let batch = Batch::<Entry>::default().with(log.entries.clone());
    let policy = FilterPolicy::default();
    let exchanges = filter(
        batch,
        &policy,
        &Default::default(),
        &mut FilterState::default(),
    );
    let mut items = exchanges.items.into_iter().flat_map(|e| e.items);
    (text(&log), items.find_map(|item| item.tool))
}

/// What the episode says where the vector holds.
fn by_vector(case: &Value) -> String {
    match &case["want"] {
        Value::Null => NEXT.to_owned(),
        _ => format!("{}\n{NEXT}", case["line"].as_str().expect("a line")),
    }
}

/// D26 and D28 say how known tools are told, and D26 how an error names its tool.
fn is_decided(input: &Value) -> bool {
    let Some(tool) = input["tool"].as_str() else {
        return false;
    };
    input["type"] == "error" || tools::tool(tool).answer != AnswerKind::Other
}

#[test]
fn a_run_prints_what_the_golden_vectors_say() {
    let Some(golden) = golden() else {
        let _ = writeln!(std::io::stderr(), "passed over: no golden folder");
        return;
    };
    let cases = golden["cases"].as_array().expect("cases");
    assert!(!cases.is_empty());
    let mut wrong = Vec::new();
    for case in cases {
        let input = whole(case["input"].clone());
        let (text, tool) = printed(&input);
        let line = case["line"].as_str().unwrap_or_default();
        let decided = DECIDED
            .iter()
            .find(|(_, vector, _)| match vector.ends_with('=') {
                true => line.starts_with(vector),
                false => line == *vector,
            });
        match decided {
            Some((_, _, run)) if text == format!("{run}\n{NEXT}") => {}
            // of other vectors of known tools nobody wrote down the digest
            None if is_decided(&input) => {}
            None if text == by_vector(case) => {}
            _ => wrong.push(format!("{line:?}: a run prints {text:?}")),
        }
        if let Some(tool) = tool {
            assert_eq!(tool.name, input["tool"].as_str().unwrap_or_default());
            let succeeded = case["want"]["status"] == "success";
            assert_eq!(tool.status == CallStatus::Ok, succeeded, "{input}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn outputs_of_unknown_tools_are_told_by_their_kind() {
    for (output, told) in [
        (json!(null), "No output"),
        (json!("an error\n"), "Error output (2 lines)"),
        (json!({"a": 1, "b": [2]}), "Dict with 2 keys: ['a', 'b']"),
        (json!([1, 2, 3]), "List with 3 items"),
        (json!(1.5), "float"),
    ] {
        let record = json!({"type": "tool_use", "tool": "X", "input": {}, "output": output});
        let line = format!("Action: X() → {told}\n{NEXT}");
        assert_eq!(printed(&record).0, line);
    }
    let failed = json!({"type": "tool_use", "tool": "X", "input": null});
    let (text, tool) = printed(&failed);
    assert_eq!(text, format!("Action: X() → No output\n{NEXT}"));
    assert_eq!(tool.map(|tool| tool.status), Some(CallStatus::Failed));
}

#[test]
fn an_empty_line_follows_what_people_said() {
    let said = json!({"type": "user", "content": "Fix it"});
    assert_eq!(printed(&said).0, format!("User: Fix it\n\n{NEXT}"));
}
