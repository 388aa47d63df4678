//! Answers of sub-agents, plans and tasks.

use super::call::DigestCall;
use super::line::{self, TEXT_CHARS_MAX};
use super::output::ToolOutput;
use crate::model::entry::ToolResult;
use crate::model::finding::{Task, TaskState};
use crate::rules::tools::AnswerKind;
use serde_json::Value;
use std::fmt::Write;

/// `done, 12 tool calls, 31k tokens`.
pub fn agent(out: &mut String, result: &ToolResult, output: &ToolOutput<'_>) {
    let facts = &result.facts;
    if output.head.starts_with("Async agent launched") {
        return out.push_str("running in the background");
    }
    if facts.tool_uses.is_none() && facts.tokens.is_none() {
        return output.write(out);
    }
    out.push_str("done");
    if let Some(calls) = facts.tool_uses {
        out.push_str(", ");
        line::count(out, calls, "tool call");
    }
    if let Some(tokens) = facts.tokens {
        let _ = match tokens {
            1_000_000.. => write!(out, ", {:.1}M tokens", tokens as f64 / 1e6),
            1000.. => write!(out, ", {}k tokens", (tokens + 500) / 1000),
            _ => write!(out, ", {tokens} tokens"),
        };
    }
}

/// One item of a plan: its words and its state.
struct Item<'a> {
    text: &'a str,
    status: &'a str,
}

fn items<'a>(input: &'a Value) -> impl Iterator<Item = Item<'a>> {
    let list = ["todos", "plan"]
        .iter()
        .find_map(|key| input.get(*key)?.as_array());
    list.into_iter().flatten().filter_map(|item| {
        let text = ["content", "step", "description", "title"];
        Some(Item {
            text: text.iter().find_map(|key| item.get(*key)?.as_str())?,
            status: item.get("status").and_then(Value::as_str).unwrap_or(""),
        })
    })
}

/// `3 of 7 done: Fix lint; now: Release`.
pub fn plan(out: &mut String, call: &DigestCall<'_>, result: &ToolResult) {
    let (mut done, mut all, mut now) = (0u64, 0u64, None);
    for item in items(call.input) {
        all += 1;
        match item.status {
            "completed" => done += 1,
            "in_progress" => now = now.or(Some(item.text)),
            _ => {}
        }
    }
    if all == 0 {
        return out.push_str("emptied");
    }
    let _ = write!(out, "{done} of {all} done");
    let mut before = ": ";
    let mut room = TEXT_CHARS_MAX;
    for text in result.facts.completed.iter().take_while(|_| done > 0) {
        if room == 0 {
            break;
        }
        out.push_str(before);
        let start = out.len();
        line::fold(out, text, room.max(2));
        room = room.saturating_sub(out[start..].chars().count());
        before = "; ";
    }
    if let Some(text) = now {
        out.push_str("; now: ");
        line::fold(out, text, TEXT_CHARS_MAX);
    }
}

/// `task 2`, `completed`, `in progress`, `updated`.
pub fn task(out: &mut String, call: &DigestCall<'_>, result: &ToolResult, output: &ToolOutput<'_>) {
    let head = output.head.as_ref();
    if let Some(status) = call.text("status") {
        line::fold(out, &status.replace('_', " "), TEXT_CHARS_MAX);
        if let Some(subject) = result.facts.completed.first() {
            out.push_str(": ");
            line::fold(out, subject, TEXT_CHARS_MAX);
        }
        return;
    }
    if let Some(rest) = head.strip_prefix("Task #") {
        let id = rest
            .split(|c: char| !c.is_alphanumeric())
            .next()
            .unwrap_or("");
        if rest.contains("created successfully") && !id.is_empty() {
            let _ = write!(out, "task {id}");
            return;
        }
    }
    match head.starts_with("Updated task") {
        true => out.push_str("updated"),
        false => output.write(out),
    }
}

/// Tasks of one list that are kept. Real lists have a few dozen.
const TASKS_MAX: usize = 100;

/// A whole list of tasks.
pub fn all(call: &DigestCall<'_>) -> Vec<Task> {
    let tasks = items(call.input).take(TASKS_MAX).map(|item| Task {
        id: None,
        text: line::folded(item.text, TEXT_CHARS_MAX).into_owned(),
        state: state(item.status),
    });
    tasks.collect()
}

/// A task that was created or changed; `None` where the call only looked.
pub fn one(call: &DigestCall<'_>, result: &ToolResult, output: &ToolOutput<'_>) -> Option<Task> {
    let subject = result.facts.completed.first().map(String::as_str);
    let text = call.text("subject").or(subject).unwrap_or("");
    let created = output.head.strip_prefix("Task #");
    let created = created.and_then(|rest| rest.split(|c: char| !c.is_alphanumeric()).next());
    let id = call.text("taskId").or(created);
    let status = call.text("status");
    let says = status.is_some() || !text.is_empty();
    says.then(|| Task {
        id: id.map(|id| line::folded(id, TEXT_CHARS_MAX).into_owned()),
        text: line::folded(text, TEXT_CHARS_MAX).into_owned(),
        state: status.map_or(TaskState::Open, state),
    })
}

fn state(status: &str) -> TaskState {
    match status {
        "completed" | "done" => TaskState::Done,
        "in_progress" => TaskState::Active,
        "deleted" | "cancelled" | "canceled" => TaskState::Dropped,
        _ => TaskState::Open,
    }
}

/// Tasks that a successful call marks as completed: what the result states, else a plan's completed
/// items, else the task's subject or number.
pub fn completed(call: &DigestCall<'_>, result: &ToolResult) -> Vec<String> {
    let one_line = |text: &str| line::folded(text, TEXT_CHARS_MAX).into_owned();
    match call.row.answer {
        AnswerKind::Plan => {
            let done = items(call.input).filter(|item| item.status == "completed");
            done.map(|item| one_line(item.text)).collect()
        }
        AnswerKind::Task if call.text("status") == Some("completed") => {
            if !result.facts.completed.is_empty() {
                return result.facts.completed.iter().map(|t| one_line(t)).collect();
            }
            let subject = call.text("subject").map(one_line);
            let number = call
                .text("taskId")
                .map(|id| one_line(&format!("task #{id}")));
            subject.or(number).into_iter().collect()
        }
        _ => Vec::new(),
    }
}
