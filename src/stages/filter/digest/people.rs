//! Answers that are a person's words: refusals, choices, approvals. They are kept in full, or left out
//! with everything that people say.

use super::call::DigestCall;
use super::line;
use super::output::ToolOutput;
use crate::model::entry::{Denial, ToolResult};
use crate::rules::errors;
use serde_json::Value;

/// `refused by the user: use the other file`. Not an error (D28).
pub fn refused(out: &mut String, output: &ToolOutput<'_>) {
    out.push_str("refused by the user");
    let [head, _] = output.masked_parts();
    if let Some(words) = errors::refusal_words(&head).filter(|_| output.quotes_people) {
        out.push_str(": ");
        line::fold(out, words, usize::MAX);
    }
}

/// `denied by a permission rule`: nobody was asked.
pub fn denied(out: &mut String, by: Option<Denial>) {
    out.push_str(match by {
        Some(Denial::Rule) => "denied by a permission rule",
        Some(Denial::AutoMode) => "denied by the agent's auto mode",
        Some(Denial::Hook) => "denied by a hook",
        _ => "not permitted",
    });
}

/// `"Postgres"`; every further question stands before its answer.
pub fn answered(
    out: &mut String,
    call: &DigestCall<'_>,
    result: &ToolResult,
    output: &ToolOutput<'_>,
) {
    if !output.quotes_people {
        return out.push_str("(answer left out)");
    }
    let answers = answers(call, result, output);
    let first = call.questions().next().map(|(_, question)| question);
    for (nth, (question, answer)) in answers.iter().enumerate() {
        let question = Some(question.as_str()).filter(|question| Some(*question) != first);
        write(out, question, answer, nth);
    }
    if answers.is_empty() {
        output.write(out);
    }
}

/// (question, answer) in the order of the questions, then those whose question the log words
/// differently.
pub fn answers(
    call: &DigestCall<'_>,
    result: &ToolResult,
    output: &ToolOutput<'_>,
) -> Vec<(String, String)> {
    let questions: Vec<(&str, &str)> = call.questions().collect();
    let stated = &result.facts.answers;
    let [head, _] = output.masked_parts();
    let parsed: Option<Value> = match stated.is_empty() && head.starts_with('{') {
        true => serde_json::from_str(&head).ok(),
        false => None,
    };
    let asked = questions.iter().filter_map(|(id, question)| {
        let answer = stated.iter().find(|(q, _)| q == question);
        let stated = answer.map(|(_, answer)| answer.clone());
        let told = || {
            let found = parsed.as_ref().and_then(|p| answer_in(p, id, question));
            let found = found.or_else(|| answer_after(&head, question))?;
            // by itself once more: the quotes around it hid what is known by its lines
            Some(output.masked(&found).into_owned())
        };
        Some(((*question).to_owned(), stated.or_else(told)?))
    });
    let known = |q: &String| questions.iter().any(|(_, question)| question == q);
    let others = stated.iter().filter(|(q, _)| !known(q)).cloned();
    asked.chain(others).collect()
}

fn write(out: &mut String, question: Option<&str>, answer: &str, nth: usize) {
    out.push_str(if nth > 0 { "; " } else { "" });
    if let Some(question) = question {
        out.push('"');
        line::fold(out, question, usize::MAX);
        out.push_str("\" → ");
    }
    out.push('"');
    line::fold(out, answer, usize::MAX);
    out.push('"');
}

/// Codex: `{"answers":{"ID":{"answers":["…"]}}}`.
fn answer_in(value: &Value, id: &str, question: &str) -> Option<String> {
    let answers = value.get("answers")?;
    let found = answers.get(id).or_else(|| answers.get(question))?;
    let found = found.get("answers").unwrap_or(found);
    match found {
        Value::String(text) => Some(text.clone()),
        Value::Array(list) => {
            let texts: Vec<&str> = list.iter().filter_map(Value::as_str).collect();
            Some(texts.join(", "))
        }
        _ => None,
    }
}

/// Claude Code: `"QUESTION"="ANSWER", "QUESTION"="ANSWER". You can now …`.
fn answer_after(text: &str, question: &str) -> Option<String> {
    let marker = format!("\"{question}\"=\"");
    let answer = &text[text.find(&marker)? + marker.len()..];
    let next = answer
        .match_indices("\", \"")
        .find(|(at, m)| answer[at + m.len()..].contains("\"=\""));
    let end = next.map(|(at, _)| at);
    let end = end
        .or_else(|| answer.find("\". You can"))
        .or_else(|| answer.rfind('"'));
    Some(answer[..end.unwrap_or(answer.len())].to_owned())
}
