//! Pages of a dozen real sessions of both agents, as a snapshot of what they are made of: sections and
//! how much stands in each, files, tests, commits. A change of rules is seen here; one that is meant is
//! accepted with `INSTA_UPDATE=always cargo test corpus_pages`, once the pages themselves were read
//! (`sessionmill show`). What people and agents said is not copied.

use super::corpus::{corpus, logs_below};
use super::home::Home;
use crate::insight::summary::{body, commit, pull_request};
use crate::memory::session_summary::{context_of, items_of};
use crate::model::summary::{SessionOutcome, Summary};
use crate::rules::paths::is_throwaway;
use crate::store::Access;
use anyhow::{Context, Result};
use std::fmt::Write;
use std::path::Path;

/// What their logs' names hold, and why they are here.
const SESSIONS: [&str; 14] = [
    "0fae0449-64d3", // many commits, all pushed
    "9a9eadc8-c1f1", // a long list of tasks
    "fc71f2f6-8d80", // quiet commits, files by sub-agents
    "592b4ec7-7cdf", // a pull request of another session
    "eb99d5a6-3179", // a wrapper around git
    "48f428f9-72d8", // a section with another name
    "98766c04-3c5c", // a question at the end
    "e0a6db83-6641", // runs of some tests
    "1af7fc5e-8455", // a bare command
    "agent-a7be2f0", // a sub-agent's log alone
    "019f05f8-7f53", // a commit that was polled
    "019efc87-fa98", // a pull request by a tool
    "019e8923-1022", // a task that is older than the last commit
    "019f8af9-3076", // a push in code mode
];

#[test]
fn pages_of_real_sessions_are_made_of_this() -> Result<()> {
    let Some(corpus) = corpus() else {
        return Ok(());
    };
    let mut logs = Vec::new();
    logs_below(&corpus.join("home"), &mut logs)?;
    let mut told = String::new();
    for name in SESSIONS {
        let log = logs.iter().find(|log| log.to_string_lossy().contains(name));
        let log = log.with_context(|| format!("{name} is not in the corpus"))?;
        let _ = writeln!(told, "# {name}\n{}", made_of(&summary(log, &corpus)?));
    }
    insta::assert_snapshot!("corpus-pages", told.trim_end());
    Ok(())
}

fn summary(log: &Path, corpus: &Path) -> Result<Summary> {
    let home = Home::new(None)?;
    let below = log.strip_prefix(corpus.join("home"))?;
    home.put(&below.to_string_lossy(), &std::fs::read(log)?)?;
    home.run()?;
    let store = home.store(Access::ReadOnly)?;
    let row = store.sessions(&Default::default())?.pop();
    let row = row.context("a session")?;
    let session = &row.session;
    let episodes = store.episodes(&session.id)?;
    let mut summary = items_of(&store, &episodes)?.summary(&context_of(&row, true));
    let files = &mut summary.files_modified;
    files.retain(|file| !is_throwaway(&file.what.path));
    summary.shorten_paths(&session.project_path, true);
    Ok(summary)
}

fn made_of(summary: &Summary) -> String {
    let outcome = summary.outcome.map_or("none", SessionOutcome::as_str);
    let mut out = format!("outcome: {outcome}\nsections: {}\n", sections(summary));
    if let Some(runs) = &summary.tests {
        let runs = &runs.what;
        let full = runs.full.as_ref();
        let full = full.map(|run| format!(", full {}+{}", run.passed, run.failed));
        let _ = writeln!(
            out,
            "tests: {} × {}, last {}+{}{}",
            runs.runs,
            runs.last.runner,
            runs.last.passed,
            runs.last.failed,
            full.unwrap_or_default()
        );
    }
    for file in &summary.files_modified {
        let file = &file.what;
        let by_git = if file.by_git { " by git" } else { "" };
        let lines = format!("+{} −{}", file.added, file.removed);
        let _ = writeln!(out, "file: {} {lines}{by_git}", file.path);
    }
    for made in &summary.commits {
        let _ = writeln!(out, "commit: {}", commit(&made.what));
    }
    for pull in &summary.pull_requests {
        let _ = writeln!(out, "pull request: {}", pull_request(&pull.what));
    }
    out
}

/// `Objective 1, Further Requests 8, …`: lines below each heading.
fn sections(summary: &Summary) -> String {
    let page = body(summary, "");
    let parts = page.split("\n## ").skip(1);
    let counted = parts.map(|part| {
        let mut lines = part.lines();
        let name = lines.next().unwrap_or_default();
        let lines = lines.filter(|line| !line.is_empty()).count();
        format!("{name} {lines}")
    });
    counted.collect::<Vec<_>>().join(", ")
}
