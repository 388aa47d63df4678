//! How sure recall is of a store that holds one log alone: of that log's own questions, of other
//! projects', and of prompts that are about nothing in particular. The figures of docs/memory.md.

use super::corpus::{corpus, logs_below};
use super::home::Home;
use crate::memory::query_terms;
use crate::memory::rank::Near;
use crate::memory::recall::{RecallQuestion, recall};
use crate::memory::scopes::Scope;
use crate::store::{Access, Store};
use anyhow::Result;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const PROMPTS: [&str; 12] = [
    "run the tests and commit",
    "add a login form to the settings page",
    "fix the failing build please",
    "why does the server return an error 500",
    "rename this function and update its callers",
    "write a readme for the project",
    "what does this file do",
    "make the button blue",
    "update dependencies to the newest version",
    "explain how the cache works",
    "review my changes",
    "there is a bug in the date parser, can you look at the test",
];

/// Larger logs are no small stores.
const LOG_BYTES_MAX: u64 = 3_000_000;

/// A row of the truth.
struct Asked {
    question: String,
    wants: Vec<String>,
    project: Value,
}

#[test]
#[ignore = "a measurement"]
fn measure_small_stores() -> Result<()> {
    let Some(corpus) = corpus() else {
        return Ok(());
    };
    let mut logs = Vec::new();
    logs_below(&corpus.join("home"), &mut logs)?;
    let all = asked()?;
    let sessions: BTreeSet<&String> = all.iter().flat_map(|asked| &asked.wants).collect();
    // (episodes, kind) → (shown, asked)
    let mut shown: BTreeMap<(&str, &str), (u32, u32)> = BTreeMap::new();
    for id in sessions {
        let log = logs
            .iter()
            .find(|log| log.to_string_lossy().contains(id.as_str()));
        let Some(log) = log.filter(|log| log.metadata().is_ok_and(|m| m.len() < LOG_BYTES_MAX))
        else {
            continue;
        };
        let home = Home::new(None)?;
        let below = log.strip_prefix(corpus.join("home"))?;
        home.put(&below.to_string_lossy(), &std::fs::read(log)?)?;
        home.run()?;
        let store = home.store(Access::ReadOnly)?;
        let Some(row) = store.sessions(&Default::default())?.pop() else {
            continue;
        };
        let size = match row.episodes {
            1 => "1",
            2 => "2",
            3..=5 => "3 to 5",
            _ => continue,
        };
        let project = row.session.project_path.as_str();
        let questions = all.iter().filter_map(|asked| {
            let kind = match (asked.wants.contains(id), asked.project == project) {
                (true, _) => "own",
                (false, false) => "other",
                (false, true) => return None,
            };
            Some((kind, asked.question.as_str()))
        });
        for (kind, question) in questions.chain(PROMPTS.map(|prompt| ("prompts", prompt))) {
            let (yes, of) = shown.entry((size, kind)).or_default();
            *yes += u32::from(is_shown(&store, question, project)?);
            *of += 1;
        }
    }
    for ((size, kind), (yes, of)) in shown {
        let share = f64::from(100 * yes) / f64::from(of);
        eprintln!("{size:>7} episodes, {kind:<8} {yes:>4} of {of:>5}: {share:.1}%");
    }
    Ok(())
}

fn asked() -> Result<Vec<Asked>> {
    let truth = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/truth/recall.jsonl");
    let text = std::fs::read_to_string(truth)?;
    let row = |line: &str| -> Result<Asked> {
        let row: Value = serde_json::from_str(line)?;
        let wants = row["wants"].as_array().into_iter().flatten();
        Ok(Asked {
            question: row["question"].as_str().unwrap_or_default().to_owned(),
            wants: wants
                .filter_map(|id| id.as_str().map(str::to_owned))
                .collect(),
            project: row["project"].clone(),
        })
    };
    text.lines().map(row).collect()
}

fn is_shown(store: &Store, question: &str, project: &str) -> Result<bool> {
    let query = query_terms::question(question, 5);
    if query.terms.is_empty() {
        return Ok(false);
    }
    let near = Near {
        project: Some(project.into()),
        ..Near::default()
    };
    let question = RecallQuestion {
        near,
        ..RecallQuestion::new(query, &Scope::All)
    };
    Ok(recall(store, &question)?.is_confident())
}
