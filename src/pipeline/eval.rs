//! How well the rules judge: labelled truth in, figures out. Reads the truth and the logs that it
//! names; writes nothing.

mod figure;
pub mod recall;
mod secrets;
mod sessions;

pub use figure::Figure;
use figure::{Half, Label};
pub use sessions::{Read, read};

use crate::model::activity::ActivityVector;
use crate::model::classification::Classification;
use crate::rules::classify::Classifier;
use crate::rules::commands;
use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A row of `commands.jsonl` or `tools.jsonl`.
#[derive(Deserialize)]
struct Call {
    #[serde(alias = "tool", alias = "command")]
    name: String,
    /// Absent: the set has no halves.
    half: Option<Half>,
    intent: String,
    intent_ok: Vec<String>,
    domain: String,
    domain_ok: Vec<String>,
    activity: Vec<String>,
}

/// What is measured, by the files of labelled examples.
pub const PARTS: [&str; 6] = [
    "commands",
    "tools",
    "secrets",
    "sessions",
    "sessions_short",
    "recall",
];

/// Of these, those that need no logs.
pub const WITHOUT_LOGS: [&str; 3] = ["commands", "tools", "secrets"];

/// The figures of the rules: of those `parts` whose file is in `truth`; sessions' logs are below
/// one of `corpora`.
///
/// # Errors
/// When a file can't be read or isn't what its name says.
pub fn figures(
    truth: &Path,
    corpora: &[PathBuf],
    parts: &[String],
    classifier: &Classifier,
) -> Result<Vec<Figure>> {
    let mut all = Vec::new();
    if let Some(rows) = rows::<Call>(truth, "commands", parts)? {
        all.extend(calls("commands", &rows, |name| {
            commands::classify(name).classification
        }));
    }
    if let Some(rows) = rows::<Call>(truth, "tools", parts)? {
        all.extend(calls("tools", &rows, |name| {
            classifier.tool(name, &Value::Null)
        }));
    }
    if let Some(rows) = rows::<secrets::Labelled>(truth, "secrets", parts)? {
        all.extend(secrets::figures(&rows));
    }
    for (name, has_bars) in [("sessions", true), ("sessions_short", false)] {
        if let Some(rows) = rows::<sessions::Labelled>(truth, name, parts)? {
            all.extend(sessions::figures(
                name, &rows, corpora, classifier, has_bars,
            )?);
        }
    }
    Ok(all)
}

/// The examples of a part; `None`: there is no file, or nobody wants it.
fn rows<T: for<'a> Deserialize<'a>>(
    truth: &Path,
    part: &str,
    parts: &[String],
) -> Result<Option<Vec<T>>> {
    if !parts.iter().any(|wanted| wanted == part) {
        return Ok(None);
    }
    let path = &truth.join(format!("{part}.jsonl"));
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| path.display().to_string()),
    };
    let rows = (1..).zip(text.lines()).map(|(number, line)| {
        serde_json::from_str(line).with_context(|| format!("{}:{number}", path.display()))
    });
    rows.collect::<Result<Vec<T>>>().map(Some)
}

/// Of each half for itself.
fn calls(what: &str, rows: &[Call], classify: impl Fn(&str) -> Classification) -> Vec<Figure> {
    let halves: BTreeSet<Option<Half>> = rows.iter().map(|row| row.half).collect();
    let of = |half: Option<Half>| {
        let rows = rows.iter().filter(move |row| row.half == half);
        half_of_calls(&Half::of_set(half, what), rows, &classify)
    };
    halves.into_iter().flat_map(of).collect()
}

fn half_of_calls<'r>(
    what: &str,
    rows: impl Iterator<Item = &'r Call>,
    classify: impl Fn(&str) -> Classification,
) -> Vec<Figure> {
    let mut intent = Figure::new(&format!("{what}: intent"), Some(0.95));
    let mut domain = Figure::new(&format!("{what}: domain"), Some(0.94));
    let mut unknown = Figure::at_most(&format!("{what}: unknown"), 0.08);
    let mut activity = Figure::new(&format!("{what}: strongest dimension"), None);
    for row in rows {
        let found = classify(&row.name);
        let id = row.name.chars().take(200).collect::<String>();
        let label = Label {
            best: &row.intent,
            also: &row.intent_ok,
        };
        let said = if found.is_unknown() {
            "unknown"
        } else {
            found.intent.as_str()
        };
        intent.count(&id, said, &label);
        let label = Label {
            best: &row.domain,
            also: &row.domain_ok,
        };
        domain.count(&id, found.domain.as_str(), &label);
        unknown.note(&id, found.is_unknown());
        let vector = ActivityVector::from_signals(&found.signals);
        let strongest = vector.primary().map_or("", |d| d.as_str());
        let (best, also) = match row.activity.split_first() {
            Some((best, also)) => (best.as_str(), also),
            None => ("", [].as_slice()),
        };
        activity.count(&id, strongest, &Label { best, also });
    }
    vec![intent, domain, unknown, activity]
}
