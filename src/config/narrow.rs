//! What a file in a project may change (D08): only less. A cloned repository can't switch tracking
//! on, send anything anywhere, or show more than the user's own file allows.

use super::document::Document;
use super::env::Env;
use super::exclude::literal;
use super::layers::{Layer, Layers, leaves};
use super::position::{PathStep, path};
use super::values::{as_namespace, trusted_namespace};
use crate::model::error::Error;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// When a project's value narrows.
#[derive(Clone, Copy)]
enum Rule {
    /// It is `false`.
    OnlyFalse,
    /// It keeps less of a conversation: in full > condensed > out.
    KeepsLess,
    /// It is smaller; null is the largest.
    Smaller,
    /// Always: its items join the user's.
    Adds,
    /// Always: only what both lists trust remains.
    Intersects,
}

/// The keys that a project may touch.
const RULES: &[(&str, Rule)] = &[
    ("session_tracking.enabled", Rule::OnlyFalse),
    ("session_tracking.subagents", Rule::OnlyFalse),
    ("session_tracking.auto_summarize", Rule::OnlyFalse),
    ("session_tracking.store_in_graph", Rule::OnlyFalse),
    ("session_tracking.include_project_path", Rule::OnlyFalse),
    ("session_tracking.cross_project_search", Rule::OnlyFalse),
    ("session_tracking.keep_length_days", Rule::Smaller),
    ("session_tracking.excluded_paths", Rule::Adds),
    ("session_tracking.trusted_namespaces", Rule::Intersects),
    ("session_tracking.filter.tool_calls", Rule::KeepsLess),
    ("session_tracking.filter.tool_content", Rule::KeepsLess),
    ("session_tracking.filter.user_messages", Rule::KeepsLess),
    ("session_tracking.filter.agent_messages", Rule::KeepsLess),
    ("graphiti.enabled", Rule::OnlyFalse),
    ("graphiti.consent", Rule::OnlyFalse),
    ("graphiti.include_system_messages", Rule::OnlyFalse),
    ("graphiti.include_git_metadata", Rule::OnlyFalse),
    ("graphiti.recall.enabled", Rule::OnlyFalse),
    ("graphiti.recall.timeout_ms", Rule::Smaller),
    ("graphiti.recall.max_results", Rule::Smaller),
    ("graphiti.recall.max_fact_chars", Rule::Smaller),
    ("graphiti.recall.max_total_chars", Rule::Smaller),
    ("graphiti.auto_promote.enabled", Rule::OnlyFalse),
    ("graphiti.global.enabled", Rule::OnlyFalse),
];

/// Applies a project's file to the user's settings. Returns a warning, naming file, line and key,
/// for everything that would widen and is therefore ignored.
pub(super) fn narrow(
    layers: &mut Layers,
    document: Document,
    env: &Env,
) -> Result<Vec<String>, Error> {
    let source = Layer {
        document: Arc::new(document),
        base: Vec::new(),
        project: true,
    };
    let dir = source.document.file.parent().unwrap_or(Path::new(""));
    let mut ignored = Vec::new();
    let mut kept = Vec::new();
    for (key, value) in leaves(source.value()) {
        if key == "$schema" || key == "version" || layers.get(&key) == &value {
            continue;
        }
        let rule = RULES.iter().find(|(k, _)| *k == key).map(|(_, rule)| *rule);
        let at = path(&key);
        let place = |i| source.error(&[at.as_slice(), &[PathStep::Index(i)]].concat(), "");
        let narrowed = match rule {
            Some(Rule::Adds) => Some(added(layers.get(&key), &value, dir)),
            Some(Rule::Intersects) => {
                let both = intersection(layers.get(&key), &value, env);
                let (list, wider) = both.map_err(|(i, what)| {
                    source.error(&[at.as_slice(), &[PathStep::Index(i)]].concat(), &what)
                })?;
                ignored.extend(wider.iter().map(|i| warning(place(*i))));
                Some(list)
            }
            Some(rule) if is_narrower(rule, layers.get(&key), &value) => Some(value),
            _ => None,
        };
        match narrowed {
            Some(value) => kept.push((key, value)),
            None => ignored.push(warning(source.error(&at, ""))),
        }
    }
    // only now: each key was to be compared with the user's settings, not with this file's
    let index = layers.add(source);
    for (key, value) in kept {
        layers.put(&key, value, index);
    }
    Ok(ignored)
}

fn warning(place: Error) -> String {
    format!(
        "{}ignored: a project's file can only restrict",
        place.message
    )
}

fn is_narrower(rule: Rule, user: &Value, project: &Value) -> bool {
    match rule {
        Rule::OnlyFalse => project == &Value::Bool(false),
        Rule::KeepsLess => keeps(project) < keeps(user),
        Rule::Smaller => match (user.as_u64(), project.as_u64()) {
            (None, Some(_)) => true,
            (Some(user), Some(project)) => project < user,
            _ => false,
        },
        Rule::Adds | Rule::Intersects => false,
    }
}

fn keeps(value: &Value) -> u8 {
    match value {
        Value::Bool(false) => 0,
        Value::String(_) => 1,
        _ => 2,
    }
}

/// The user's exclusions and the project's, which count from the project's folder.
fn added(user: &Value, project: &Value, dir: &Path) -> Value {
    let mut all: Vec<Value> = user.as_array().cloned().unwrap_or_default();
    for item in project.as_array().into_iter().flatten() {
        let Some(text) = item.as_str() else { continue };
        let plain = text.strip_prefix("./").unwrap_or(text);
        let from_here = !plain.starts_with(['/', '~', '$']) && !plain.starts_with("**");
        let item = if from_here {
            Value::from(format!("{}/{plain}", literal(&dir.to_string_lossy())))
        } else {
            Value::from(plain)
        };
        if !all.contains(&item) {
            all.push(item);
        }
    }
    all.into()
}

/// What both lists trust, and which of the project's items the user doesn't trust. Errors name the
/// project's item that is no namespace.
fn intersection(
    user: &Value,
    project: &Value,
    env: &Env,
) -> Result<(Value, Vec<usize>), (usize, String)> {
    let Some(wanted) = project.as_array() else {
        return Ok((user.clone(), vec![]));
    };
    let users: Option<Vec<String>> = user.as_array().map(|list| {
        let texts = list.iter().filter_map(Value::as_str);
        texts
            .filter_map(|t| trusted_namespace(t, env).ok())
            .collect()
    });
    let mut both = Vec::new();
    let mut wider = Vec::new();
    for (i, item) in wanted.iter().enumerate() {
        let text = item.as_str().unwrap_or_default();
        let mine = trusted_namespace(text, env).map_err(|what| (i, what))?;
        let Some(users) = &users else {
            both.push(Value::from(mine));
            continue;
        };
        let begins = |long: &str, short: &str| as_namespace(long).starts_with(&as_namespace(short));
        let longer = users.iter().filter(|u| begins(u, &mine)).cloned();
        let mut common: Vec<String> = longer.collect();
        if users.iter().any(|u| begins(&mine, u)) {
            common = vec![mine];
        }
        if common.is_empty() {
            wider.push(i);
        }
        both.extend(common.into_iter().map(Value::from));
    }
    Ok((both.into(), wider))
}
