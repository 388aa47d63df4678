//! `why --commit`, `--branch` and `--file`: what became of it, which session did it, and the words.

use super::ctx::Ctx;
use super::exit::Exit;
use super::out::Style;
use super::session_filters::{self, Filters, documents, veiled};
use crate::memory::provenance::of_project;
use crate::model::human;
use crate::model::layout::table::INDENT;
use crate::tracking::coverage::{Coverage, coverage};
use crate::tracking::git_history::{HistoryReach, HistoryRequest, OperationMatch, history_in};
use crate::tracking::history_documents as history;
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
            "sessions": documents(&found.mentions, |one, ctx| veiled(history::mention(one), &one.project_path, ctx), ctx)?,
            "edits": documents(&found.edits, |one, ctx| veiled(history::edits(one), &one.project_path, ctx), ctx)?,
            "may_have_changed_it": documents(&found.unseen, |one, ctx| veiled(history::unseen(one), &one.project.path, ctx), ctx)?,
        });
        ctx.out.document("why", body)?;
    } else {
        let lines = with_shown(ctx, |shown| {
            let operations = found.operations.iter();
            let operations = operations.map(|one| words::operation(one, shown));
            let mentions = found.other_mentions().map(|one| words::mention(one, shown));
            let edits = found.edits.iter().map(|one| words::edits(one, shown));
            let unseen = found.unseen.iter().map(|row| words::unseen(row, shown));
            let all = operations.chain(mentions).chain(edits).chain(unseen);
            all.take(limit).collect::<Vec<Told>>()
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

/// An operation as `--json` shows it.
pub fn document(answer: &OperationMatch, ctx: &mut Ctx) -> Result<Value> {
    veiled(history::operation(answer), &answer.project_path, ctx)
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
pub fn tell_given_up(operations: &[OperationMatch], ctx: &mut Ctx) -> Result<()> {
    if !operations.is_empty() {
        ctx.out.line("given up:\n")?;
    }
    let all = operations.iter();
    let lines = with_shown(ctx, |shown| {
        all.map(|one| words::operation(one, shown))
            .collect::<Vec<Told>>()
    });
    lines.iter().try_for_each(|told| print(told, ctx))
}

fn print(told: &Told, ctx: &mut Ctx) -> Result<()> {
    ctx.out
        .words("", INDENT, &ctx.out.paint(Style::Bold, &told.head))?;
    for line in &told.lines {
        ctx.out.words(INDENT, INDENT, line)?;
    }
    let origin = ctx.out.paint(Style::Dim, &told.origin);
    ctx.out.words(INDENT, INDENT, &origin)?;
    ctx.out.line("")
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
        return ctx.out.note(words::SWITCH_ON);
    }
    ctx.out
        .note(format!("hint: {}", words::next_step(request, all)))
}
