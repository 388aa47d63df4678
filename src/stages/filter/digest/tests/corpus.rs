//! Real calls and results through the digest, read by a reader of our own: the parsers are not ours
//! to use. Knows just enough of `docs/formats.md` to be fair.

use super::*;
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

#[test]
fn every_real_call_gives_one_short_line() {
    let Some(calls) = calls() else { return };
    assert!(calls.len() > 1000, "{} calls", calls.len());
    for call in &calls {
        let got = call.digest(&call.input);
        assert!(
            !got.text.is_empty() && !got.text.contains('\n'),
            "{}",
            got.text
        );
        let asks = matches!(call.tool.as_str(), "AskUserQuestion");
        assert!(
            asks || got.text.len() <= 800,
            "{} bytes: {}",
            got.text.len(),
            got.text
        );
        let short = shorten_input(&call.tool, call.input.clone(), redactor());
        assert_eq!(call.digest(&short), got);
        assert!(asks || short.to_string().len() < 8_000, "{short}");
    }
}

/// For eyes: `cargo test digest_zoo -- --ignored --nocapture`, `ZOO=Bash` for one tool.
#[test]
#[ignore = "prints digests of real calls"]
fn digest_zoo() {
    let Some(calls) = calls() else { return };
    let only = std::env::var("ZOO").ok();
    let mut out = std::io::stderr().lock();
    for call in calls
        .iter()
        .filter(|c| only.as_ref().is_none_or(|o| *o == c.tool))
    {
        let _ = writeln!(out, "{}", call.digest(&call.input).text);
    }
    let began = std::time::Instant::now();
    let rounds = std::env::var("ROUNDS").map_or(1, |n| n.parse().unwrap_or(1));
    for _ in 1..rounds {
        for c in &calls {
            std::hint::black_box(c.digest(&c.input));
        }
    }
    let bytes: usize = calls.iter().map(|c| c.digest(&c.input).text.len()).sum();
    let each = began.elapsed().as_nanos() as usize / calls.len() / rounds;
    let _ = writeln!(out, "{} calls, {bytes} bytes, {each} ns each", calls.len());
    let mut tools: std::collections::BTreeMap<&str, (u128, u128)> = Default::default();
    for call in &calls {
        let began = std::time::Instant::now();
        std::hint::black_box(call.digest(&call.input));
        let slot = tools.entry(&call.tool).or_default();
        *slot = (slot.0 + began.elapsed().as_nanos(), slot.1 + 1);
    }
    for (tool, (ns, n)) in tools.into_iter().filter(|(_, (_, n))| *n > 20) {
        let _ = writeln!(out, "{tool}: {} ns", ns / n);
    }
    let inputs: Vec<_> = calls
        .iter()
        .map(|c| (c.tool.clone(), c.input.clone()))
        .collect();
    let began = std::time::Instant::now();
    for (tool, input) in inputs {
        std::hint::black_box(shorten_input(&tool, input, redactor()));
    }
    let each = began.elapsed().as_nanos() as usize / calls.len();
    let _ = writeln!(out, "shortening: {each} ns each");
}

struct Real {
    tool: String,
    input: Value,
    cwd: Option<String>,
    result: Option<ToolResult>,
}

impl Real {
    fn digest(&self, input: &Value) -> Digest {
        let outcome = self
            .result
            .as_ref()
            .map_or(CallOutcome::NoResult, CallOutcome::Result);
        digest(
            &self.tool,
            input,
            outcome,
            &plain(&policy(), self.cwd.as_deref()),
        )
    }
}

fn calls() -> Option<Vec<Real>> {
    let folder = std::env::var_os("CORPUS_DIR").map(PathBuf::from);
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    let home = folder.unwrap_or(here).join("home");
    if !home.is_dir() {
        let _ = writeln!(
            std::io::stderr(),
            "no corpus at {}: passed over",
            home.display()
        );
        return None;
    }
    let mut calls = Vec::new();
    let files = walkdir::WalkDir::new(home).sort_by_file_name().into_iter();
    for file in files.filter_map(Result::ok) {
        if file.path().extension().is_some_and(|e| e == "jsonl") {
            let text = std::fs::read(file.path()).expect("a readable file");
            read(&String::from_utf8_lossy(&text), &mut calls);
        }
    }
    Some(calls)
}

fn read(text: &str, calls: &mut Vec<Real>) {
    let mut open: HashMap<String, Real> = HashMap::new();
    let mut cwd: Option<String> = None;
    for line in text.lines() {
        let Ok(value) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let payload = value.get("payload").unwrap_or(&value);
        if let Some(dir) = payload["cwd"].as_str().or(value["cwd"].as_str()) {
            cwd = Some(dir.to_owned());
        }
        for block in value["message"]["content"].as_array().into_iter().flatten() {
            if block["type"] == "tool_use" {
                let call = real(&block["name"], block["input"].clone(), &cwd);
                open.insert(block["id"].to_string(), call);
            } else if let Some(mut call) = open.remove(&block["tool_use_id"].to_string()) {
                call.result = Some(claude_result(block, &value["toolUseResult"]));
                calls.push(call);
            }
        }
        if payload["type"]
            .as_str()
            .is_some_and(|t| t.ends_with("_call"))
        {
            let input = codex_input(payload);
            open.insert(
                payload["call_id"].to_string(),
                real(&payload["name"], input, &cwd),
            );
        } else if let Some(mut call) = open.remove(&payload["call_id"].to_string()) {
            call.result = Some(codex_result(&payload["output"]));
            calls.push(call);
        }
    }
    calls.extend(open.into_values());
}

fn real(name: &Value, input: Value, cwd: &Option<String>) -> Real {
    Real {
        tool: name.as_str().unwrap_or("web_search").to_owned(),
        input,
        cwd: cwd.clone(),
        result: None,
    }
}

fn codex_input(payload: &Value) -> Value {
    if let Some(text) = payload["arguments"].as_str() {
        return serde_json::from_str(text).unwrap_or(json!({ "input": text }));
    }
    match payload["input"].as_str() {
        Some(text) => json!({ "input": text }),
        None => payload["action"].clone(),
    }
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<&str> = blocks.iter().filter_map(|b| b["text"].as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

fn codex_result(output: &Value) -> ToolResult {
    let mut text = text_of(output);
    if let Some(rest) = text
        .strip_prefix("Script completed\n")
        .and_then(|t| t.split_once("Output:\n\n"))
    {
        text = rest.1.to_owned();
    }
    let mut result = ok(&text);
    if text.contains("Process running with session ID") || text.starts_with("Script running") {
        result.status = CallStatus::Running;
    } else if text.starts_with("apply_patch verification failed") {
        result.status = CallStatus::Failed;
    }
    result
}

fn claude_result(block: &Value, copy: &Value) -> ToolResult {
    let text = text_of(&block["content"]);
    let mut result = ok(&text);
    result.status = match () {
        _ if copy["isAsync"] == true || copy["backgroundTaskId"].is_string() => CallStatus::Running,
        _ if block["is_error"] != true => CallStatus::Ok,
        _ if text.starts_with("The user doesn't want") => CallStatus::Refused,
        _ if text.contains("Sibling tool call errored") => CallStatus::Interrupted,
        _ => CallStatus::Failed,
    };
    let number = |value: &Value| value.as_u64();
    let facts = &mut result.facts;
    facts.lines = number(&copy["file"]["numLines"]).or(number(&copy["numLines"]));
    facts.total_lines = number(&copy["file"]["totalLines"]);
    facts.files = number(&copy["numFiles"]);
    facts.matches = number(&copy["numMatches"]);
    facts.tool_uses = number(&copy["totalToolUseCount"]);
    facts.tokens = number(&copy["totalTokens"]);
    facts.kind = copy["code"].as_u64().map(|code| code.to_string());
    if let Some(hunks) = copy["structuredPatch"].as_array() {
        let lines = hunks
            .iter()
            .flat_map(|h| h["lines"].as_array().into_iter().flatten());
        let starts = |mark: char| {
            let lines = lines.clone().filter_map(Value::as_str);
            Some(lines.filter(|l| l.starts_with(mark)).count() as u64)
        };
        (facts.added, facts.removed) = (starts('+'), starts('-'));
    }
    for (question, answer) in copy["answers"].as_object().into_iter().flatten() {
        let answer = answer.as_str().unwrap_or_default();
        facts.answers.push((question.clone(), answer.to_owned()));
    }
    result
}
