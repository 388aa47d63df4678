//! The table's samples give their digests; policies, shortening, hostile input; real calls.

mod branches;
mod corpus;
mod findings;
mod left_over;
mod pulls;

use super::*;
use crate::model::entry::{Excerpt, ResultFacts};
use crate::rules::tools::{SampleResult, samples};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn result(sample: &SampleResult) -> ToolResult {
    let mut output = Excerpt::of(&sample.output);
    output.bytes = sample.bytes.unwrap_or(output.bytes);
    ToolResult {
        call: "c".into(),
        status: sample.status,
        exit_code: sample.exit_code,
        output,
        facts: facts(&sample.facts),
    }
}

fn facts(stated: &BTreeMap<String, Value>) -> ResultFacts {
    let number = |key: &str| stated.get(key).and_then(Value::as_u64);
    let text = |key: &str| stated.get(key).and_then(Value::as_str).map(str::to_owned);
    let list = |key: &str| stated.get(key).and_then(Value::as_array).cloned();
    let string = |v: &Value| v.as_str().expect("a string").to_owned();
    let answers = list("answers").unwrap_or_default();
    ResultFacts {
        lines: number("lines"),
        total_lines: number("total_lines"),
        files: number("files"),
        matches: number("matches"),
        added: number("added"),
        removed: number("removed"),
        created: stated.get("created").and_then(Value::as_bool),
        duration_ms: number("duration_ms"),
        agent: text("agent"),
        tool_uses: number("tool_uses"),
        tokens: number("tokens"),
        answers: answers
            .iter()
            .map(|a| (string(&a[0]), string(&a[1])))
            .collect(),
        patched: Vec::new(),
        completed: list("completed")
            .unwrap_or_default()
            .iter()
            .map(string)
            .collect(),
        kind: text("kind"),
        images: number("images").unwrap_or(0),
        denied: None,
        summary: text("summary"),
    }
}

fn policy() -> FilterPolicy {
    FilterPolicy::default()
}

fn ok(output: &str) -> ToolResult {
    ToolResult {
        output: Excerpt::of(output),
        ..ToolResult::default()
    }
}

/// Masks by the embedded rules.
fn redactor() -> &'static Redactor {
    static REDACTOR: std::sync::LazyLock<Redactor> = std::sync::LazyLock::new(Redactor::default);
    &REDACTOR
}

fn plain<'a>(policy: &'a FilterPolicy, cwd: Option<&'a str>) -> DigestContext<'a> {
    DigestContext {
        policy,
        redactor: redactor(),
        cwd,
    }
}

fn told(tool: &str, input: Value, result: &ToolResult) -> Digest {
    digest(
        tool,
        &input,
        CallOutcome::Result(result),
        &plain(&policy(), Some("/p")),
    )
}

#[test]
fn samples_of_the_table_give_their_digests_and_so_do_their_shortened_inputs() {
    for (tool, sample) in samples() {
        let answer = sample.result.as_ref().map(result);
        let outcome = || {
            answer
                .as_ref()
                .map_or(CallOutcome::NoResult, CallOutcome::Result)
        };
        let got = digest(
            &tool,
            &sample.input,
            outcome(),
            &plain(&policy(), Some("/p")),
        );
        assert_eq!(got.text, sample.digest, "{tool}");
        let short = shorten_input(&tool, sample.input.clone(), redactor());
        let again = digest(&tool, &short, outcome(), &plain(&policy(), Some("/p")));
        assert_eq!(again, got, "{tool}: {short}");
        assert_eq!(
            shorten_input(&tool, short.clone(), redactor()),
            short,
            "{tool}"
        );
    }
}

#[test]
fn unknown_tools_follow_the_documents() {
    let long = "x".repeat(150);
    let input = json!({"repo": "a/b", "body": long, "list": [1, 2, 3, 4, 5, 6], "draft": true});
    let got = told(
        "mcp__github__create_pr",
        input.clone(),
        &ok("{\"url\": \"u\", \"number\": 1}"),
    );
    let wants = format!(
        "mcp__github__create_pr(repo=a/b, body={}... (150 chars), list=",
        "x".repeat(100)
    );
    assert!(got.text.starts_with(&wants), "{}", got.text);
    assert!(
        got.text
            .ends_with(") → Dict with 2 keys: ['url', 'number']"),
        "{}",
        got.text
    );
    let got = told("mcp__x__y", json!({}), &ok("0 failed, no errors\n\n"));
    assert_eq!(got.text, "mcp__x__y → Output (2 lines)");
    let got = told("mcp__x__y", json!({}), &ok(&"line\n".repeat(101)));
    assert_eq!(got.text, "mcp__x__y → Large output (101 lines, 505 chars)");
    assert_eq!(
        told("mcp__x__y", json!({}), &ok("")).text,
        "mcp__x__y → No output"
    );
}

#[test]
fn only_what_succeeded_counts_as_modified_or_completed() {
    let input = json!({"file_path": "/p/src/a.rs", "old_string": "a", "new_string": "b"});
    let got = told("Edit", input.clone(), &ok("updated")).tool;
    assert_eq!(
        (got.files, got.modified),
        (vec!["src/a.rs".to_owned()], vec!["src/a.rs".to_owned()])
    );
    let mut refused = ok("The user doesn't want to proceed");
    refused.status = CallStatus::Refused;
    let got = told("Edit", input, &refused).tool;
    assert_eq!((got.files.len(), got.modified.len()), (1, 0));
    let todos = json!({"todos": [{"content": "Write\ntests", "status": "completed"}, {"content": "b", "status": "pending"}]});
    assert_eq!(
        told("TodoWrite", todos, &ok("")).tool.completed,
        ["Write tests"]
    );
    let task = json!({"taskId": "3", "status": "completed"});
    assert_eq!(
        told("TaskUpdate", task, &ok("")).tool.completed,
        ["task #3"]
    );
    let mut patch = ok("Success.");
    patch.facts.patched = vec![("/p/a.rs".into(), 2, 1), ("b.rs".into(), 1, 0)];
    let got = told(
        "apply_patch",
        json!({"input": "*** Begin Patch\n*** Update File: a.rs\n+x"}),
        &patch,
    );
    assert_eq!(got.tool.modified, ["a.rs", "b.rs"]);
    assert!(got.text.ends_with("→ +3 −1"), "{}", got.text);
}

#[test]
fn content_is_kept_or_left_out_as_the_policy_says() {
    let input = json!({"command": "cat a"});
    let long = ok(&format!("start\n{}end\n", "middle é\n".repeat(3000)));
    let with = |keep: Keep, result: &ToolResult| {
        let policy = FilterPolicy {
            tool_content: keep,
            ..policy()
        };
        digest(
            "Bash",
            &input,
            CallOutcome::Result(result),
            &plain(&policy, None),
        )
        .text
    };
    let full = with(Keep::Full, &long);
    assert!(
        full.starts_with("Bash(cat a) → 3002 lines, 30 KB\n    start\n    middle"),
        "{full}"
    );
    assert!(full.contains("\n    …\n") && full.ends_with("\n    end"));
    assert!(full.len() < 3 * 1024);
    assert_eq!(with(Keep::Full, &ok("one\n")), "Bash(cat a) → one\n    one");
    assert_eq!(with(Keep::Full, &ok("")), "Bash(cat a) → ok, no output");
    assert_eq!(with(Keep::Out, &long), "Bash(cat a) → (content left out)");
    let mut failed = ok("Exit code 2\nsecret");
    failed.status = CallStatus::Failed;
    assert_eq!(
        with(Keep::Out, &failed),
        "Bash(cat a) → exit 2 (content left out)"
    );
}

#[test]
fn nothing_that_a_model_writes_breaks_the_line() {
    let inputs = [
        json!(null),
        json!([1, 2]),
        json!("text\nwith lines"),
        json!({"~changes": [["a\nb", u64::MAX, u64::MAX], ["c", 9, 9], 7], "~idle": 1, "~lines": -1, "~title": [], "~params": 3}),
        json!({"offset": u64::MAX, "~changed": [u64::MAX, 1], "plan": [{"step": "", "status": "completed"}], "question": "\n"}),
        json!({"command": {"nested": ["x"]}, "file_path": 7, "todos": "none", "questions": [1, {}]}),
        json!({"command": "a\u{0}b\n\n\u{1b}[31mc\u{1b}", "file_path": "\u{202e}\r\n", "plan": "#\n#"}),
        json!({"input": "*** Begin Patch\\n*** Update File: ", "edits": [{}], "content": [], "offset": -3}),
    ];
    let outputs = [
        "",
        "\n",
        "Exit code ",
        "<persisted-output>too large (x)",
        "{\"chunk_id\"",
        "Chunk ID: ",
        "Task #",
        "\u{1b}[",
    ];
    let names: Vec<String> = samples().into_iter().map(|(name, _)| name).collect();
    let odd = ["", "\n", "mcp__a\nb", "Task\" >\n<parameter"];
    for tool in names.iter().map(String::as_str).chain(odd) {
        for input in &inputs {
            for output in outputs {
                for status in [
                    CallStatus::Ok,
                    CallStatus::Failed,
                    CallStatus::Refused,
                    CallStatus::Running,
                ] {
                    let mut result = ok(output);
                    result.status = status;
                    result.facts.lines = Some(u64::MAX);
                    let got = digest(
                        tool,
                        input,
                        CallOutcome::Result(&result),
                        &plain(&policy(), Some("/p")),
                    );
                    assert!(
                        !got.text.contains(['\n', '\r', '\u{1b}', '\0']),
                        "{:?}",
                        got.text
                    );
                    let short = shorten_input(tool, input.clone(), redactor());
                    let again = digest(
                        tool,
                        &short,
                        CallOutcome::Result(&result),
                        &plain(&policy(), Some("/p")),
                    );
                    assert_eq!(again, got, "{tool} {input} {short}");
                }
            }
        }
    }
}
