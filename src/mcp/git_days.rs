//! What was done to repositories, as an agent reads it in a list: what was given up stands by itself,
//! everything else is folded into days.

use super::answer::counted;
use super::here::{Here, minute};
use crate::insight::summary::commits;
use crate::memory::rollback_facts::{repeated, seen_reason, told};
use crate::memory::rollback_rank::undoings;
use crate::memory::scopes::Scope;
use crate::model::episode::{EpisodeSource, Operation};
use crate::model::error::Error;
use crate::model::git::GitOperation;
use crate::model::source::Agent;
use crate::model::time::Time;
use crate::store::{GitRow, Query, SessionFilter, Store};
use crate::tracking::{rollbacks, safe_names};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Operations that are folded into days, the latest ones. More: slower.
const OPERATIONS_MAX: u32 = 600;
/// Commits of a day that are named; there is more to ask for by branch.
const NAMED_MAX: usize = 60;
/// Digits of a commit that is named.
const DIGITS: usize = 8;
/// Sessions of a day that are asked which commits they made.
const SESSIONS_MAX: u32 = 32;
const DAY_MS: i64 = 86_400_000;

/// An operation with who did it.
#[derive(Clone, Debug)]
pub struct Done {
    pub row: GitRow,
    pub by: Agent,
}

/// What an entry of a list tells of a repository.
#[derive(Clone, Debug)]
pub enum GitEntry {
    /// Work was given up: the whole entry.
    Undoing(String),
    /// Everything else of one day, the latest first, and when the last of it was.
    Day(Time, Vec<Done>),
}

/// What was done lately in what a query reaches: undoings of the last two weeks, most important first, then
/// days, the latest first.
pub fn entries(
    here: &Here,
    store: &Store,
    query: &Query,
    scope: &Scope,
) -> Result<Vec<GitEntry>, Error> {
    let hides = |source| query.not_sources.contains(&source);
    if hides(EpisodeSource::GitMetadata) || query.not_operations.contains(&Operation::GitMetadata) {
        return Ok(Vec::new());
    }
    let hits = store.search(&Query {
        sources: vec![EpisodeSource::GitMetadata],
        namespaces: scope.namespaces(),
        limit: OPERATIONS_MAX,
        ..query.clone()
    })?;
    let is_cut = hits.len() == OPERATIONS_MAX as usize;
    let mut done = Vec::new();
    for hit in hits {
        let row = store.operation(hit.episode)?;
        done.extend(row.map(|row| Done { row, by: hit.agent }));
    }
    let mut namespaces: BTreeSet<String> = done
        .iter()
        .map(|one| one.row.project.namespace.clone())
        .collect();
    namespaces.extend(here.namespaces());
    namespaces.retain(|namespace| scope.allows(namespace));
    let (mut undone, mut told) = (BTreeSet::new(), Vec::new());
    for namespace in namespaces {
        let rows = rollbacks::recent_operations(store, &namespace, here.now)?;
        let rollbacks = rows.iter().filter(|row| row.git.gives_up());
        undone.extend(rollbacks.map(|row| row.id));
        told.extend(undoing_entries(here, store, &rows, scope)?);
    }
    done.retain(|one| !undone.contains(&one.row.id));
    told.extend(days(done, is_cut));
    Ok(told)
}

fn undoing_entries(
    here: &Here,
    store: &Store,
    rows: &[GitRow],
    scope: &Scope,
) -> Result<Vec<GitEntry>, Error> {
    let mut told = Vec::new();
    for undoing in undoings(rows, None, here.now) {
        let row = undoing.row;
        let mut text = rollback(here, store, row, scope)?;
        let more = repeated(&undoing);
        if !more.is_empty() {
            let _ = writeln!(text, "{}", more.trim_start());
        }
        told.push(GitEntry::Undoing(text));
    }
    Ok(told)
}

/// A rollback: what, why, where, by whom.
pub fn rollback(here: &Here, store: &Store, row: &GitRow, scope: &Scope) -> Result<String, Error> {
    let seen = seen_reason(store, &row.git, scope)?;
    let text = told(&row.git, seen.as_ref().map(|(reason, _)| *reason));
    let by = store.operation_agent(row.id)?;
    let place = place(here, row, &minute(Some(row.git.operation.at)), &[by].into());
    Ok(format!("{text}\n{place}\n"))
}

/// Days of repositories, the latest first. Where not all is there, the first day is left out: who reads
/// `3 commits` thinks that there were no more.
fn days(done: Vec<Done>, is_cut: bool) -> Vec<GitEntry> {
    let mut days: BTreeMap<(i64, String), Vec<Done>> = BTreeMap::new();
    for one in done {
        days.entry(day_of(&one.row)).or_default().push(one);
    }
    if is_cut && days.len() > 1 {
        let first = days.keys().next().map(|(day, _)| *day);
        days.retain(|(day, _), _| Some(*day) != first);
    }
    let latest = |done: Vec<Done>| {
        let at = done.iter().map(|one| one.row.git.operation.at).max();
        GitEntry::Day(at.unwrap_or_default(), done)
    };
    days.into_values().rev().map(latest).collect()
}

/// The day (UTC) and the repository in which something was done.
pub fn day_of(row: &GitRow) -> (i64, String) {
    let day = row.git.operation.at.0.div_euclid(DAY_MS);
    (day, row.project.namespace.clone())
}

/// `12 commits on main, 1 merge (3 sessions)`, where, by whom, and the commits.
pub fn day(here: &Here, store: &Store, done: &[Done], scope: &Scope) -> Result<String, Error> {
    let Some(first) = done.first() else {
        return Ok(String::new());
    };
    let sessions = match sessions(store, done, scope)? {
        0 => String::new(),
        count => format!(" ({})", counted(count as u64, "session")),
    };
    let date = first
        .row
        .git
        .operation
        .at
        .utc()
        .format("%Y-%m-%d")
        .to_string();
    let by = done.iter().map(|one| one.by).collect();
    let place = place(here, &first.row, &date, &by);
    let mut text = format!("{}{sessions}\n{place}\n", title(done));
    let named: Vec<&str> = done.iter().filter_map(|one| made(&one.row.git)).collect();
    let shown: Vec<&str> = named.iter().take(NAMED_MAX).copied().collect();
    if !shown.is_empty() {
        text.push_str(&shown.join(" "));
        let more = named.len() - shown.len();
        if more > 0 {
            let _ = write!(text, " and {more} more");
        }
        text.push('\n');
    }
    Ok(text)
}

fn place(here: &Here, row: &GitRow, when: &str, by: &BTreeSet<Agent>) -> String {
    let origin = here.origin(&row.project.namespace, &row.project.path);
    let source = EpisodeSource::GitMetadata.as_str();
    let by: Vec<&str> = by.iter().map(|by| by.as_str()).collect();
    format!("{origin} {when}, {source} by {}", by.join(", "))
}

/// The beginning of the commit that an operation made.
fn made(git: &GitOperation) -> Option<&str> {
    let hash = git.commit()?.hash.as_str();
    Some(hash.get(..DIGITS).unwrap_or(hash))
}

/// `12 commits on main, 2 on side, 1 merge, 3 checkouts`: commits by branch, then what else was done.
fn title(done: &[Done]) -> String {
    let mut branches: Vec<(Option<String>, u64)> = Vec::new();
    let mut others: BTreeMap<&str, u64> = BTreeMap::new();
    for one in done {
        let operation = &one.row.git.operation;
        if !operation.kind.is_plain_work() {
            *others.entry(operation.kind.as_str()).or_default() += 1;
            continue;
        }
        let branch = operation.branch.as_deref().and_then(safe_names::branch);
        match branches.iter_mut().find(|(known, _)| *known == branch) {
            Some((_, count)) => *count += 1,
            None => branches.push((branch, 1)),
        }
    }
    branches.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let commits = branches.iter().enumerate().map(|(nth, (branch, count))| {
        let on = branch
            .as_ref()
            .map_or(String::new(), |branch| format!(" on {branch}"));
        match nth {
            0 => format!("{}{on}", counted(*count, "commit")),
            _ if on.is_empty() => format!("{count} on no branch"),
            _ => format!("{count}{on}"),
        }
    });
    let others = others
        .iter()
        .map(|(kind, count)| format!("{count} × {kind}"));
    let parts: Vec<String> = commits.chain(others).collect();
    let all = parts.join(", ");
    match done.len() < OPERATIONS_MAX as usize {
        true => all,
        false => format!("at least {all}"),
    }
}

/// Sessions whose summaries name one of the commits.
fn sessions(store: &Store, done: &[Done], scope: &Scope) -> Result<usize, Error> {
    let hashes = done.iter().filter_map(|one| one.row.git.commit());
    let hashes: Vec<&str> = hashes.map(|commit| commit.hash.as_str()).collect();
    let times = || done.iter().map(|one| one.row.git.operation.at);
    let (Some(first), Some(since), Some(until)) = (done.first(), times().min(), times().max())
    else {
        return Ok(0);
    };
    let namespace = &first.row.project.namespace;
    if hashes.is_empty() || !scope.allows(namespace) {
        return Ok(0);
    }
    let rows = store.sessions(&SessionFilter {
        namespaces: Some(vec![namespace.clone()]),
        since: Some(since),
        until: Some(Time(until.0 + 1)),
        limit: Some(SESSIONS_MAX),
        ..SessionFilter::default()
    })?;
    let mut count = 0;
    for row in rows {
        let Some(summary) = store.summary(&row.session.id)? else {
            continue;
        };
        let named = commits(&summary.episode.text).into_iter();
        let mut named = named.filter(|(hash, _)| hash.len() >= MENTION_DIGITS);
        let is_one = |hash: &str| hashes.iter().any(|known| known.starts_with(hash));
        count += usize::from(named.any(|(hash, _)| is_one(hash)));
    }
    Ok(count)
}

/// Digits of a commit that tell it from others.
const MENTION_DIGITS: usize = 7;
