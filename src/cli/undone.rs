//! `why --commit`, `--branch` and `--file`: what became of it, which session did it, and the words.

use super::ctx::Ctx;
use super::exit::Exit;
use super::nothing_known;
use super::out::Style;
use super::session_filters::{self, Filters};
use crate::model::git::{CommitLine, Effect, FileChange, GitOperation, short_hash};
use crate::model::human;
use crate::model::source::Agent;
use crate::store::GitRow;
use crate::tracking::commit_links::{CommitMention, LinkStrength};
use crate::tracking::coverage::coverage;
use crate::tracking::file_history::FileEdits;
use crate::tracking::git_history::{HistoryReach, HistoryRequest, OperationMatch, history_in};
use anyhow::Result;
use serde_json::{Value, json};
use std::fmt::Write;

/// Prints operations; exit 1 where there is none.
pub fn run(
    request: &HistoryRequest,
    filters: &Filters,
    limit: usize,
    ctx: &mut Ctx,
) -> Result<Exit> {
    let reach = session_filters::scope(filters, ctx)?;
    let namespaces = reach.namespaces(ctx)?;
    let project = reach.project.as_deref();
    let reach = HistoryReach {
        namespaces: namespaces.as_deref(),
        project,
        agent: filters.agent,
        limit,
    };
    let found = history_in(&ctx.reader()?, request, &reach)?;
    if ctx.out.json {
        let operations = found.operations.iter().map(|one| document(one, ctx));
        let operations: Vec<Value> = operations.collect::<Result<_>>()?;
        let sessions = found.mentions.iter().map(|one| mention_document(one, ctx));
        let sessions: Vec<Value> = sessions.collect::<Result<_>>()?;
        let edits = found.edits.iter().map(|one| edits_document(one, ctx));
        let edits: Vec<Value> = edits.collect::<Result<_>>()?;
        let unseen = found.unseen.iter().map(|row| unseen_document(row, ctx));
        let unseen: Vec<Value> = unseen.collect::<Result<_>>()?;
        let body = json!({
            "operations": operations,
            "sessions": sessions,
            "edits": edits,
            "may_have_changed_it": unseen,
        });
        ctx.out.document("why", body)?;
    } else {
        for operation in &found.operations {
            print(operation, ctx)?;
        }
        for mention in found.other_mentions() {
            print_mention(mention, ctx)?;
        }
        for edits in found.edits.iter().take(limit) {
            print_edits(edits, ctx)?;
        }
        for row in &found.unseen {
            print_unseen(row, ctx)?;
        }
    }
    if found.is_empty() {
        let all = coverage(&ctx.reader()?, reach.namespaces, reach.project)?;
        nothing_known::print(request, &all, ctx)?;
        return Ok(Exit::Failed);
    }
    Ok(Exit::Done)
}

/// `edited: src/cache.py  3 edits, +10 −2 lines`.
fn print_edits(edits: &FileEdits, ctx: &mut Ctx) -> Result<()> {
    let (times, path) = (human::plural(edits.edits, "edit"), &edits.path);
    let head = format!(
        "edited: {path}  {times}, +{} −{} lines",
        edits.added, edits.removed
    );
    ctx.out.line(ctx.out.paint(Style::Bold, &head))?;
    let place = session_filters::origin_of(&edits.namespace, &edits.project_path, ctx)?;
    let when = human::time(edits.at, ctx.zone);
    let (agent, session) = (edits.agent.as_str(), ctx.session_shown(&edits.session)?);
    let line = edits.line;
    let origin = format!("  {when}  {place} by {agent}, session {session} line {line}");
    ctx.out.line(ctx.out.paint(Style::Dim, &origin))?;
    ctx.out.line("")
}

fn edits_document(edits: &FileEdits, ctx: &mut Ctx) -> Result<Value> {
    let document = json!({
        "session": edits.session,
        "agent": edits.agent.as_str(),
        "file": edits.path,
        "edits": edits.edits,
        "lines": [edits.added, edits.removed],
        "at": edits.at.map(|at| at.rfc3339_millis()),
        "episode": edits.episode.to_string(),
        "line": edits.line,
        "namespace": edits.namespace,
        "project_path": edits.project_path,
    });
    session_filters::veiled(document, &edits.project_path, ctx)
}

/// `perhaps: merge on main, which changed 10,000 files (500 looked at)`.
fn print_unseen(row: &GitRow, ctx: &mut Ctx) -> Result<()> {
    let operation = &row.git.operation;
    let on = operation
        .branch
        .as_ref()
        .map(|branch| format!(" on {branch}"));
    let head = format!(
        "perhaps: {}{}, which changed {}",
        operation.name(),
        on.unwrap_or_default(),
        files(&row.git.effect)
    );
    ctx.out.line(ctx.out.paint(Style::Bold, &head))?;
    ctx.out
        .line("  the file may be one of those that were not looked at: git show --stat")?;
    let place = session_filters::origin_of(&row.project.namespace, &row.project.path, ctx)?;
    let when = human::time(Some(operation.at), ctx.zone);
    let commit = short(&operation.new);
    let origin = format!("  {when}  {place} {commit}");
    ctx.out.line(ctx.out.paint(Style::Dim, &origin))?;
    ctx.out.line("")
}

fn unseen_document(row: &GitRow, ctx: &mut Ctx) -> Result<Value> {
    let (operation, effect) = (&row.git.operation, &row.git.effect);
    let document = json!({
        "git_batch_id": row.id.to_string(),
        "operation": operation.name(),
        "commit_to": operation.new,
        "at": operation.at.rfc3339_millis(),
        "files_count": effect.files_count,
        "files_looked_at": effect.files.len(),
        "namespace": row.project.namespace,
        "project_path": row.project.path,
    });
    session_filters::veiled(document, &row.project.path, ctx)
}

/// `10,000 files (500 looked at)`.
fn files(effect: &Effect) -> String {
    let all = human::plural(effect.files_count, "file");
    let seen = effect.files.len() as u64;
    match seen < effect.files_count {
        true => format!("{all} ({} looked at)", human::count(seen)),
        false => all,
    }
}

fn print_mention(mention: &CommitMention, ctx: &mut Ctx) -> Result<()> {
    let head = format!("told: {} {}", mention.hash, mention.subject);
    ctx.out.line(ctx.out.paint(Style::Bold, &head))?;
    let place = session_filters::origin_of(&mention.namespace, &mention.project_path, ctx)?;
    let when = human::time(mention.at, ctx.zone);
    let session = ctx.session_shown(&mention.session)?;
    let origin = format!("  {when}  {place} session {session}");
    ctx.out.line(ctx.out.paint(Style::Dim, &origin))?;
    ctx.out.line("")
}

fn mention_document(mention: &CommitMention, ctx: &mut Ctx) -> Result<Value> {
    let document = json!({
        "session": mention.session,
        "hash": mention.hash,
        "subject": mention.subject,
        "at": mention.at.map(|at| at.rfc3339_millis()),
        "namespace": mention.namespace,
        "project_path": mention.project_path,
    });
    session_filters::veiled(document, &mention.project_path, ctx)
}

fn print(answer: &OperationMatch, ctx: &mut Ctx) -> Result<()> {
    let effect = &answer.git.effect;
    ctx.out.line(ctx.out.paint(Style::Bold, &head(answer)))?;
    if let Some(fate) = fate(&answer.git) {
        ctx.out.line(format!("  {fate}"))?;
    }
    print_reason(answer, ctx)?;
    for commit in answer.commits().iter().take(COMMITS_SHOWN) {
        ctx.out
            .line(format!("  {} {}", short(&commit.hash), commit.subject))?;
    }
    let (added, removed) = effect.lines;
    let files = files(effect);
    ctx.out
        .line(format!("  {files}, +{added} −{removed} lines"))?;
    let place = session_filters::origin_of(&answer.namespace, &answer.project_path, ctx)?;
    let when = human::time(Some(answer.git.operation.at), ctx.zone);
    let origin = format!("  {when}  {place} {}", doer(answer, ctx)?);
    ctx.out.line(ctx.out.paint(Style::Dim, &origin))?;
    ctx.out.line("")
}

/// `by claude, session 6f1c5b80`; a session that may have done it is told as what it is.
fn doer(answer: &OperationMatch, ctx: &mut Ctx) -> Result<String> {
    let who = match answer.agent {
        Agent::PERSON => "by a person",
        Agent::UNKNOWN => "nobody knows by whom",
        agent => &format!("by {}", agent.as_str()),
    };
    let Some(by) = &answer.session else {
        return Ok(who.to_owned());
    };
    let session = ctx.session_shown(&by.session)?;
    Ok(match (by.link.is_weak(), answer.agent) {
        (false, _) => format!("{who}, session {session}"),
        (true, Agent::UNKNOWN) => format!(
            "perhaps by {}, session {session}, which was at work then",
            by.agent.as_str()
        ),
        (true, _) => format!("{who}, while session {session} was at work"),
    })
}

/// The sentence that says why, as sure as it is; where work was undone and nobody said why, that.
fn print_reason(answer: &OperationMatch, ctx: &mut Ctx) -> Result<()> {
    let Some(reason) = &answer.git.reason else {
        return match answer.git.gives_up() {
            true => ctx.out.line("  why: no reason was said"),
            false => Ok(()),
        };
    };
    let session = ctx.session_shown(&reason.session)?;
    ctx.out.line(format!("  why: {}", reason.sentence))?;
    let source = format!(
        "  said by the {}, session {session} line {}",
        reason.who(),
        reason.line
    );
    ctx.out.line(source)
}

/// What became of the work that an operation left; `None`: it left none.
fn fate(git: &GitOperation) -> Option<String> {
    let left = git.effect.left_count;
    match git.gives_up() {
        true if left == 0 => Some("given up: what was not committed".to_owned()),
        true => Some(format!("given up: {}", human::plural(left, "commit"))),
        false => None,
    }
}

/// `undid: reset --hard on main  3f2a91c04d5e → 91b07ac2d3f4`.
fn head(answer: &OperationMatch) -> String {
    let operation = &answer.git.operation;
    let mut head = format!("{}: {}", answer.role.as_str(), operation.name());
    for (word, name) in [("on", &operation.branch), ("to", &operation.to)] {
        if let Some(name) = name {
            let _ = write!(head, " {word} {name}");
        }
    }
    let (old, new) = (short(&operation.old), short(&operation.new));
    format!("{head}  {old} → {new}")
}

/// Commits of one operation that people see.
const COMMITS_SHOWN: usize = 10;

fn short(hash: &str) -> &str {
    match hash {
        "" => "(none)",
        hash => short_hash(hash),
    }
}

fn document(answer: &OperationMatch, ctx: &mut Ctx) -> Result<Value> {
    let (operation, effect) = (&answer.git.operation, &answer.git.effect);
    let commit = |commit: &CommitLine| json!({"hash": commit.hash, "subject": commit.subject, "at": commit.at.rfc3339_millis()});
    let file = |file: &FileChange| {
        json!({"path": file.path, "operation": file.operation.as_str(), "previous_path": file.previous_path,
            "lines": file.lines.map(|(added, removed)| [added, removed])})
    };
    let document = json!({
        "git_batch_id": answer.id.to_string(),
        "role": answer.role.as_str(),
        "operation": operation.name(),
        "commit_from": operation.old,
        "commit_to": operation.new,
        "branch": operation.branch,
        "to": operation.to,
        "at": operation.at.rfc3339_millis(),
        "agent": answer.agent.as_str(),
        "session": answer.session.as_ref().map(|by| &by.session),
        "session_is_named": answer.session.as_ref().map(|by| by.link == LinkStrength::Hash),
        "session_by": answer.session.as_ref().map(|by| by.link.as_str()),
        "session_is_sure": answer.session.as_ref().map(|by| !by.link.is_weak()),
        "reason": answer.git.reason.as_ref().map(|reason| json!({
            "sentence": reason.sentence,
            "by": reason.who(),
            "session": reason.session,
            "episode": reason.episode.to_string(),
            "line": reason.line,
        })),
        "undone": effect.undone,
        "left": effect.left.iter().map(commit).collect::<Vec<_>>(),
        "left_count": effect.left_count,
        "made": effect.made.iter().map(commit).collect::<Vec<_>>(),
        "files": effect.files.iter().map(file).collect::<Vec<_>>(),
        "files_count": effect.files_count,
        "lines": [effect.lines.0, effect.lines.1],
        "files_looked_at": effect.files.len(),
        "given_up": answer.git.gives_up(),
        "missing": effect.missing,
        "namespace": answer.namespace,
        "project_path": answer.project_path,
    });
    session_filters::veiled(document, &answer.project_path, ctx)
}
