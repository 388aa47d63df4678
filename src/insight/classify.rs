//! Asking what unknown tools are for: the documents' prompt (003 § 3.2), and what an answer is worth.
//!
//! Knows names only: no parameter and no content of a log is asked about.

use crate::model::activity::Signals;
use crate::model::classification::{Classification, Domain, Intent};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const PROMPT: &str = include_str!("classify.md");

/// What is asked about these names: tools, and programs as `Bash(program subcommand)`.
pub fn prompt(names: &[String]) -> String {
    let calls: Vec<Value> = names
        .iter()
        .map(|name| json!({"tool_name": name}))
        .collect();
    let calls = serde_json::to_string_pretty(&calls).unwrap_or_default();
    PROMPT.replace("{tool_calls_json}", &calls)
}

/// Tokens that an answer about so many names may have.
pub fn answer_tokens_max(names: usize) -> u64 {
    200 + 150 * names as u64
}

#[derive(Deserialize)]
struct Answered {
    classifications: Vec<Value>,
}

#[derive(Deserialize)]
struct Row {
    tool_name: String,
    intent: Intent,
    domain: Domain,
    confidence: f64,
    #[serde(default)]
    reasoning: String,
    #[serde(default)]
    activity_signals: BTreeMap<String, f64>,
}

/// Letters of a reason that are kept.
const REASON_CHARS_MAX: usize = 200;

/// What an answer says of the names that were asked; empty where it is no answer. A row that is
/// malformed, out of range or about something else is none.
pub fn read(answer: &str, names: &[String]) -> BTreeMap<String, Classification> {
    let inner = answer.find('{').zip(answer.rfind('}'));
    let inner = inner.and_then(|(from, to)| answer.get(from..=to));
    let answered: Option<Answered> = inner.and_then(|text| serde_json::from_str(text).ok());
    let rows = answered.map(|a| a.classifications).unwrap_or_default();
    let rows = rows
        .into_iter()
        .filter_map(|row| classification(row, names));
    rows.collect()
}

fn classification(row: Value, names: &[String]) -> Option<(String, Classification)> {
    let row: Row = serde_json::from_value(row).ok()?;
    let within = |amount: &f64| (0.0..=1.0).contains(amount);
    let sound = names.contains(&row.tool_name)
        && within(&row.confidence)
        && row.activity_signals.values().all(within);
    if !sound {
        return None;
    }
    let classification = Classification {
        intent: row.intent,
        domain: row.domain,
        confidence: row.confidence,
        reasoning: row.reasoning.chars().take(REASON_CHARS_MAX).collect(),
        signals: Signals::from(row.activity_signals),
    };
    Some((row.tool_name, classification))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::activity::Dimension;

    fn names() -> Vec<String> {
        vec!["mcp__a__b".into(), "Bash(acme ship)".into()]
    }

    #[test]
    fn names_are_asked_about_and_nothing_else() {
        let prompt = prompt(&names());
        assert!(prompt.contains(r#""tool_name": "Bash(acme ship)""#));
        assert!(!prompt.contains("{tool_calls_json}"));
    }

    #[test]
    fn an_answer_is_read_row_by_row() {
        let answer = r#"Sure: ```json
            {"classifications": [
              {"tool_name": "mcp__a__b", "intent": "search", "domain": "code", "confidence": 0.9,
               "reasoning": "x", "activity_signals": {"exploring": 0.4}},
              {"tool_name": "Bash(acme ship)", "intent": "fly", "domain": "code", "confidence": 0.9},
              {"tool_name": "other", "intent": "read", "domain": "code", "confidence": 0.9}
            ]}
            ```"#;
        let read = read(answer, &names());
        assert_eq!(read.len(), 1, "{read:?}");
        assert_eq!(read["mcp__a__b"].signals.get(Dimension::Exploring), 0.4);
    }

    #[test]
    fn what_is_no_answer_says_nothing() {
        let row = |confidence: &str, signal: &str| {
            format!(
                r#"{{"classifications": [{{"tool_name": "mcp__a__b", "intent": "read",
                "domain": "code", "confidence": {confidence},
                "activity_signals": {{"fixing": {signal}}}}}]}}"#
            )
        };
        assert_eq!(read(&row("0.5", "0.5"), &names()).len(), 1);
        for answer in ["", "no", "{}", "}{", "{\"classifications\": 3}"] {
            assert!(read(answer, &names()).is_empty(), "{answer}");
        }
        for answer in [row("1.5", "0"), row("0.5", "-1"), row("\"high\"", "0")] {
            assert!(read(&answer, &names()).is_empty(), "{answer}");
        }
    }
}
