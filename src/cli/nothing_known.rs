//! `why` where nothing is known: what was looked through, since when, and what would help.

use super::ctx::Ctx;
use super::session_filters;
use crate::model::human;
use crate::tracking::coverage::Coverage;
use crate::tracking::git_history::HistoryRequest;
use anyhow::Result;
use std::path::Path;

/// Repositories that are named.
const NAMED_MAX: usize = 5;

/// Prints it.
pub fn print(request: &HistoryRequest, all: &Coverage, ctx: &mut Ctx) -> Result<()> {
    let asked = match request {
        HistoryRequest::Commit(hash) => format!("commit {hash}"),
        HistoryRequest::Branch(name) => format!("branch {name}"),
        HistoryRequest::File(file) => file.shown().to_owned(),
    };
    ctx.out.note(format!("nothing is known of {asked}"))?;
    if all.repositories.is_empty() {
        ctx.out.note("no git operations are stored")?;
    }
    for one in all.repositories.iter().take(NAMED_MAX) {
        let place = session_filters::origin_of(&one.namespace, &one.project_path, ctx)?;
        let operations = human::plural(one.operations, "git operation");
        let since = human::time(Some(one.since), ctx.zone);
        ctx.out.note(format!(
            "looked through: {operations} since {since} {place}"
        ))?;
    }
    if all.repositories.len() > NAMED_MAX {
        let more = (all.repositories.len() - NAMED_MAX) as u64;
        let more = human::plural(more, "repository");
        ctx.out.note(format!("looked through: {more} more"))?;
    }
    if all.sessions > 0 {
        let sessions = human::plural(all.sessions, "session");
        let since = human::time(all.sessions_since, ctx.zone);
        ctx.out
            .note(format!("looked through: {sessions} since {since}"))?;
    }
    hint(request, all, ctx)
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
        let whose = root.map(|root| ctx.hides_paths_of(root).map(|hides| (root, hides)));
        let whose = match whose.transpose()? {
            Some((root, false)) => format!(" of {root}"),
            _ => String::new(),
        };
        let off = format!("git operations{whose} are not tracked (tracking is off)");
        ctx.out.note(off)?;
        let config = ctx.home.tracking_config();
        let config = config.display();
        return ctx.out.note(format!(
            "hint: \"defaults\": {{\"enabled\": true}} in {config} switches it on; then: sessionmill run"
        ));
    }
    let is_read = |root: &str| {
        let mut known = all.repositories.iter();
        known.any(|one| Path::new(&one.project_path) == Path::new(root))
    };
    let hint = match (root, request) {
        (Some(root), _) if !is_read(root) => "sessionmill run reads the repository".to_owned(),
        (_, HistoryRequest::File(file)) => format!("git log --all --oneline -- {}", file.shown()),
        (_, HistoryRequest::Commit(hash)) => format!("git show --stat {hash}"),
        (_, HistoryRequest::Branch(name)) => format!("git reflog {name}"),
    };
    ctx.out.note(format!("hint: {hint}"))
}
