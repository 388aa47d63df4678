//! `why --commit`, `--branch` and `--file`: what became of it, which session did it, and the words.

use super::ctx::Ctx;
use super::exit::Exit;
use super::out::Style;
use super::session_filters::{self, Filters, documents};
use crate::memory::provenance::of_project;
use crate::model::git::{CommitLine, FileChange};
use crate::model::human;
use crate::store::GitRow;
use crate::tracking::commit_links::{CommitMention, LinkStrength};
use crate::tracking::coverage::{Coverage, coverage};
use crate::tracking::file_history::FileEdits;
use crate::tracking::git_history::{HistoryReach, HistoryRequest, OperationMatch, history_in};
use crate::tracking::history_words::{self as words, Shown, Told};
use anyhow::Result;
use serde_json::{Value, json};
use std::cell::RefCell;

/// Prints operations; exit 1 where there is none.
pub fn run(
    request: &HistoryRequest,
    filters: &Filters,
    limit: usize,
    ctx: &mut Ctx,
) -> Result<Exit> {
    let reach = session_filters::scope(filters, ctx)?;
    let namespaces = session_filters::namespaces(&reach, ctx)?;
    let present = reach.present.clone();
    let reach = HistoryReach {
        namespaces: namespaces.as_deref(),
        present: present.as_deref(),
        agent: filters.agent,
        limit,
    };
    let found = history_in(&ctx.reader()?, request, &reach)?;
    if ctx.out.json {
        let body = json!({
            "operations": documents(&found.operations, document, ctx)?,
            "sessions": documents(&found.mentions, mention_document, ctx)?,
            "edits": documents(&found.edits, edits_document, ctx)?,
            "may_have_changed_it": documents(&found.unseen, unseen_document, ctx)?,
        });
        ctx.out.document("why", body)?;
    } else {
        let lines = with_shown(ctx, |shown| {
            let operations = found.operations.iter();
            let operations = operations.map(|one| words::operation(one, shown));
            let mentions = found.other_mentions().map(|one| words::mention(one, shown));
            let edits = found.edits.iter().take(limit);
            let edits = edits.map(|one| words::edits(one, shown));
            let unseen = found.unseen.iter().map(|row| words::unseen(row, shown));
            let all = operations.chain(mentions).chain(edits).chain(unseen);
            all.collect::<Vec<Told>>()
        });
        for told in &lines {
            print(told, ctx)?;
        }
    }
    if found.is_empty() {
        let all = coverage(&ctx.reader()?, reach.namespaces)?;
        for line in with_shown(ctx, |shown| words::nothing(request, &all, shown)) {
            ctx.out.note(line)?;
        }
        hint(request, &all, ctx)?;
        return Ok(Exit::Failed);
    }
    Ok(Exit::Done)
}

/// Does something with how places, times and sessions are shown here.
fn with_shown<T>(ctx: &mut Ctx, work: impl FnOnce(&Shown<'_>) -> T) -> T {
    let zone = ctx.zone;
    let ctx = RefCell::new(ctx);
    let place = |namespace: &str, path: &str| {
        let told = session_filters::origin_of(namespace, path, &mut ctx.borrow_mut());
        told.unwrap_or_else(|_| of_project(namespace, path, false))
    };
    let session = |id: &str| {
        let told = ctx.borrow_mut().session_shown(id);
        told.unwrap_or_else(|_| id.to_owned())
    };
    work(&Shown {
        place: &place,
        session: &session,
        time: &|time| human::time(time, zone),
    })
}

/// Operations that gave up work, in words.
pub fn tell(operations: &[OperationMatch], ctx: &mut Ctx) -> Result<()> {
    let all = operations.iter();
    let lines = with_shown(ctx, |shown| {
        all.map(|one| words::operation(one, shown))
            .collect::<Vec<Told>>()
    });
    lines.iter().try_for_each(|told| print(told, ctx))
}

fn print(told: &Told, ctx: &mut Ctx) -> Result<()> {
    ctx.out.line(ctx.out.paint(Style::Bold, &told.head))?;
    for line in &told.lines {
        ctx.out.line(format!("  {line}"))?;
    }
    let origin = format!("  {}", told.origin);
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

pub fn document(answer: &OperationMatch, ctx: &mut Ctx) -> Result<Value> {
    let (operation, effect) = (&answer.git.operation, &answer.git.effect);
    let commit = |commit: &CommitLine| json!({"hash": commit.hash, "subject": commit.subject, "at": commit.at.rfc3339_millis()});
    let file = |file: &FileChange| {
        json!({"path": file.path, "operation": file.operation.as_str(), "previous_path": file.previous_path,
            "lines": file.lines.map(|(added, removed)| [added, removed])})
    };
    let document = json!({
        "git_batch_id": answer.id.to_string(),
        "role": answer.role.as_str(),
        "operation": answer.git.name(),
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
            "confidence": reason.confidence.as_str(),
        })),
        "undone": effect.undone,
        "left": effect.left.iter().map(commit).collect::<Vec<_>>(),
        "left_count": effect.left_count,
        "made": effect.made.iter().map(commit).collect::<Vec<_>>(),
        "files": effect.files.iter().map(file).collect::<Vec<_>>(),
        "files_count": effect.files_count,
        "lines": [effect.lines.0, effect.lines.1],
        "files_looked_at": effect.files.len(),
        "given_up": answer.git.is_given_up(),
        "lost": effect.lost.iter().map(commit).collect::<Vec<_>>(),
        "lost_count": effect.lost_count,
        "kept_in": effect.kept_in,
        "missing": effect.missing,
        "namespace": answer.namespace,
        "project_path": answer.project_path,
    });
    session_filters::veiled(document, &answer.project_path, ctx)
}

/// The next thing to do: switch tracking on where it is off, look anew, or ask git itself.
fn hint(request: &HistoryRequest, all: &Coverage, ctx: &mut Ctx) -> Result<()> {
    let loaded = ctx.settings()?;
    let tracking = &loaded.tracking;
    let root = match request {
        HistoryRequest::File(file) => file.root(),
        _ => None,
    };
    let is_on = root.map_or(tracking.is_on(), |root| tracking.of(root).is_some());
    if !is_on {
        let shown = root.filter(|root| ctx.hides_paths_of(root).is_ok_and(|hides| !hides));
        let whose = shown.map_or(String::new(), |root| format!(" of {root}"));
        ctx.out.note(format!(
            "git operations{whose} are not tracked (tracking is off)"
        ))?;
        let config = ctx.home.tracking_config();
        let (path, is_there) = (config.display().to_string(), config.exists());
        return ctx.out.note(words::switch_on(&path, is_there));
    }
    ctx.out
        .note(format!("hint: {}", words::next_step(request, all)))
}
