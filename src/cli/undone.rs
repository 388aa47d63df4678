//! `why --commit`, `--branch` and `--file`: what became of it, which session did it, and the words.

use super::ctx::Ctx;
use super::exit::Exit;
use super::out::Style;
use super::session_filters::{self, Filters};
use crate::model::git::{CommitLine, FileChange, short_hash};
use crate::model::human;
use crate::model::source::Agent;
use crate::tracking::commit_links::{CommitMention, LinkStrength};
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
        let body = json!({"operations": operations, "sessions": sessions});
        ctx.out.document("why", body)?;
    } else {
        for operation in &found.operations {
            print(operation, ctx)?;
        }
        for mention in found.other_mentions() {
            print_mention(mention, ctx)?;
        }
    }
    if found.is_empty() {
        ctx.out
            .note("no session and no git operation that is known speaks of it")?;
        ctx.out
            .note("hint: docs/tracking.md says which repositories are looked at")?;
        return Ok(Exit::Failed);
    }
    Ok(Exit::Done)
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
    if let Some(reason) = &answer.git.reason {
        let session = ctx.session_shown(&reason.session)?;
        ctx.out.line(format!("  why: {}", reason.sentence))?;
        let source = format!(
            "  said by the {}, session {session} line {}",
            reason.who(),
            reason.line
        );
        ctx.out.line(source)?;
    }
    for commit in answer.commits().iter().take(COMMITS_SHOWN) {
        ctx.out
            .line(format!("  {} {}", short(&commit.hash), commit.subject))?;
    }
    let (added, removed) = effect.lines;
    let files = human::plural(effect.files_count, "file");
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
        "missing": effect.missing,
        "namespace": answer.namespace,
        "project_path": answer.project_path,
    });
    session_filters::veiled(document, &answer.project_path, ctx)
}
