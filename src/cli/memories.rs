//! `memories`: what people curated, listed, shown, changed, taken back.
//! Knows how it is printed; refuses to judge what may be kept (`memory::promote`).

use super::ctx::Ctx;
use super::exit::Exit;
use super::out::Style;
use super::promote::{said, scope};
use super::session_filters::{self, Filters};
use crate::config::trust::{Trust, Trusts};
use crate::memory::promote::words;
use crate::memory::redaction_setup;
use crate::model::error::{Error, ErrorKind};
use crate::model::human::{plural, time};
use crate::model::memory::block;
use crate::model::scope::MemoryScope;
use crate::pipeline::lock::Lock;
use crate::store::{Access, KeptWords, MemoryRow, MemoryState, Store};
use anyhow::Result;
use serde_json::{Value, json};

/// List, show, edit and remove saved memories
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand, Debug)]
enum Verb {
    /// List memories, oldest first
    List {
        /// Only memories of this scope: session, workspace, global
        #[arg(long, value_name = "SCOPE", value_parser = scope)]
        scope: Option<MemoryScope>,
        /// Only memories of this project: its name, or a path in it (`.` is the current
        /// one)
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
        /// Include untrusted projects
        #[arg(long)]
        allow_untrusted: bool,
        /// List refused directives instead, with the reasons
        #[arg(long)]
        refused: bool,
    },
    /// Print a memory as sinks get it
    Show {
        /// Id of the memory, or a prefix of it
        #[arg(value_name = "MEMORY")]
        id: String,
    },
    /// Change a memory's title or text; it keeps its id and is delivered again
    #[command(
        group = clap::ArgGroup::new("words").required(true).multiple(true),
        override_usage = "sessionmill memories edit <MEMORY> <--title <LINE>|--text <TEXT>|--stdin>"
    )]
    Edit {
        /// Id of the memory, or a prefix of it
        #[arg(value_name = "MEMORY")]
        id: String,
        /// New title, one line
        #[arg(long, value_name = "LINE", group = "words")]
        title: Option<String>,
        /// The text to remember
        #[arg(long, value_name = "TEXT", group = "words")]
        text: Option<String>,
        /// Read the text from standard input
        #[arg(long, conflicts_with = "text", group = "words")]
        stdin: bool,
    },
    /// Remove a memory: here at once, from sinks with the next run
    #[command(alias = "undo", alias = "forget")]
    Remove {
        /// Id of the memory, or a prefix of it
        #[arg(value_name = "MEMORY")]
        id: String,
    },
}

/// Lists or changes memories.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    match &args.verb {
        Verb::List {
            scope,
            project,
            allow_untrusted,
            refused,
        } => match refused {
            true => list_refused(ctx)?,
            false => {
                let filters = Filters {
                    project: project.clone(),
                    allow_untrusted: *allow_untrusted,
                    ..Filters::default()
                };
                list(*scope, &filters, ctx)?;
            }
        },
        Verb::Show { id } => show(id, ctx)?,
        Verb::Edit {
            id,
            title,
            text,
            stdin,
        } => {
            let text = match text.is_some() || *stdin {
                true => Some(said(text.as_deref(), ctx)?),
                false => None,
            };
            edit(id, title.as_deref(), text, ctx)?;
        }
        Verb::Remove { id } => remove(id, ctx)?,
    }
    Ok(Exit::Done)
}

fn list(scope: Option<MemoryScope>, filters: &Filters, ctx: &mut Ctx) -> Result<()> {
    let reach = session_filters::scope(filters, ctx)?;
    let namespaces = session_filters::namespaces(&reach, ctx)?;
    let trusts = match filters.allow_untrusted {
        true => Trusts::default(),
        false => Trusts::load(&ctx.env)?,
    };
    let is_seen = |row: &MemoryRow, kept: &KeptWords| {
        // a global memory is for every project, but not from one that isn't trusted
        let is_global = row.scope == MemoryScope::Global.as_str()
            && trusts.of(&kept.project_path) != Trust::Untrusted;
        let begins = |start: &String| kept.namespace.starts_with(start.as_str());
        let passes = namespaces.as_ref().is_none_or(|all| all.iter().any(begins));
        (passes || (is_global && !reach.is_of_project))
            && scope.is_none_or(|s| s.as_str() == row.scope)
    };
    let rows = rows(&[MemoryState::Kept], ctx)?.into_iter();
    let rows: Vec<(MemoryRow, KeptWords)> = rows
        .filter_map(|row| Some((row.kept.clone()?, row)))
        .map(|(kept, row)| (row, kept))
        .filter(|(row, kept)| is_seen(row, kept))
        .collect();
    if ctx.out.json {
        let mut memories = Vec::with_capacity(rows.len());
        for (row, kept) in &rows {
            memories.push(document(row, kept, ctx)?);
        }
        return ctx
            .out
            .document("memories list", json!({"memories": memories}));
    }
    for (row, kept) in &rows {
        let id = ctx.episode_shown(row.id)?;
        let id = ctx.out.paint(Style::Dim, &id);
        let origin = session_filters::origin_of(&kept.namespace, &kept.project_path, ctx)?;
        let (kind, at) = (row.kind.as_str(), time(Some(row.at), ctx.zone));
        ctx.out
            .line(format!("{id} {kind} ({}): {}", row.scope, kept.title))?;
        ctx.out
            .line(format!("    {at} · {origin} · {}", row.origin.as_str()))?;
    }
    if rows.is_empty() {
        ctx.out.note(
            "no memories are saved\nhint: sessionmill promote --kind preference --text TEXT",
        )?;
    }
    match self::rows(&[MemoryState::Refused], ctx)?.len() {
        0 => Ok(()),
        refused => {
            let refused = plural(refused as u64, "refused directive");
            let hint = "hint: sessionmill memories list --refused";
            ctx.out.note(format!("{refused}; {hint}"))
        }
    }
}

fn rows(states: &[MemoryState], ctx: &Ctx) -> Result<Vec<MemoryRow>> {
    match ctx.home.store().exists() {
        true => Ok(ctx.reader()?.memories(states)?),
        false => Ok(Vec::new()),
    }
}

fn list_refused(ctx: &mut Ctx) -> Result<()> {
    let rows = rows(&[MemoryState::Refused], ctx)?;
    if ctx.out.json {
        let refused: Vec<Value> = rows
            .iter()
            .map(|row| {
                json!({
                    "memory": row.id, "kind": row.kind.as_str(), "scope": row.scope,
                    "session": row.session, "at": row.at.rfc3339_millis(), "reason": row.reason,
                })
            })
            .collect();
        return ctx
            .out
            .document("memories list", json!({"refused": refused}));
    }
    for row in &rows {
        let session = ctx.session_shown(row.session.as_deref().unwrap_or_default())?;
        let (kind, at) = (row.kind.as_str(), time(Some(row.at), ctx.zone));
        let reason = row.reason.as_deref().unwrap_or_default();
        ctx.out.line(format!(
            "{at}, session {session}, {kind} ({}): {reason}",
            row.scope
        ))?;
    }
    match rows.is_empty() {
        true => ctx.out.note("no directive was refused"),
        false => Ok(()),
    }
}

/// The one that is meant, with its words.
fn chosen(typed: &str, store: &Store) -> Result<(MemoryRow, KeptWords), Error> {
    let row = store.memory(typed)?;
    let failed = |what: &str| {
        let message = format!("{what} {typed}");
        Error::new(ErrorKind::Failed, message).hinted("sessionmill memories list")
    };
    match row.map(|row| (row.kept.clone(), row)) {
        Some((Some(kept), row)) => Ok((row, kept)),
        Some((None, row)) => {
            let state = match row.state {
                MemoryState::Undone => "removed",
                state => state.as_str(),
            };
            let message = format!("memory {typed} was {state}: its text is not stored");
            Err(Error::new(ErrorKind::Failed, message).hinted("sessionmill memories list"))
        }
        None => Err(failed("there is no memory")),
    }
}

fn show(typed: &str, ctx: &mut Ctx) -> Result<()> {
    let store = ctx.reader()?;
    let (row, kept) = chosen(typed, &store)?;
    if ctx.out.json {
        let body = document(&row, &kept, ctx)?;
        return ctx.out.document("memories show", body);
    }
    let origin = session_filters::origin_of(&kept.namespace, &kept.project_path, ctx)?;
    ctx.out.line(format!("memory {} {origin}", row.id))?;
    if let Some(session) = &row.session {
        ctx.out.line(format!("said in session {session}"))?;
    }
    let scope = MemoryScope::parse(&row.scope).unwrap_or(MemoryScope::Workspace);
    let at = row.edited.unwrap_or(row.at);
    let told = block(row.kind.as_str(), scope, at, Some(&kept.title), &kept.text);
    let loaded = ctx.settings()?;
    let config = &loaded.config;
    let is_off = config.sinks.is_empty() || !config.memory.enabled || !config.store_in_graph;
    let holders = store.sinks_holding(row.id)?;
    let group = &kept.group;
    ctx.out.line(match (holders.is_empty(), is_off) {
        (false, _) => format!("delivered to {group} ({}):", holders.join(", ")),
        (true, false) => format!("not delivered yet; will be delivered to {group}:"),
        (true, true) => format!("not delivered (graphs are off); would be delivered to {group}:"),
    })?;
    ctx.out.text(format!("{told}\n"))
}

fn document(row: &MemoryRow, kept: &KeptWords, ctx: &mut Ctx) -> Result<Value> {
    let body = json!({
        "memory": row.id,
        "kind": row.kind.as_str(),
        "scope": row.scope,
        "origin": row.origin.as_str(),
        "session": row.session,
        "title": kept.title,
        "text": kept.text,
        "group": kept.group,
        "namespace": kept.namespace,
        "project_path": kept.project_path,
        "git": row.git,
        "at": row.at.rfc3339_millis(),
        "edited": row.edited.map(|t| t.rfc3339_millis()),
        "revision": format!("{:016x}", kept.revision),
    });
    session_filters::veiled(body, &kept.project_path, ctx)
}

fn edit(typed: &str, title: Option<&str>, text: Option<String>, ctx: &mut Ctx) -> Result<()> {
    let loaded = ctx.settings()?;
    ctx.reader()?;
    let _lock = Lock::take(&ctx.home.lock())?;
    let redaction = redaction_setup::load(&loaded.config, &ctx.home)?;
    let mut store = Store::open(&ctx.home.store(), Access::ReadWrite)?;
    let (row, kept) = chosen(typed, &store)?;
    let is_retold = text.is_some() && title.is_none();
    let title = title.or((!is_retold).then_some(kept.title.as_str()));
    let text = text.unwrap_or(kept.text);
    let (title, text) = words(title, &text, &redaction.redactor)?;
    store.edit_memory(row.id, &title, &text, ctx.now)?;
    store.finish()?;
    if ctx.out.json {
        let (row, kept) = chosen(&row.id.to_string(), &store)?;
        let body = document(&row, &kept, ctx)?;
        return ctx.out.document("memories edit", body);
    }
    ctx.out.did(format!("memory {}: {title}", row.id))
}

fn remove(typed: &str, ctx: &mut Ctx) -> Result<()> {
    ctx.reader()?;
    let _lock = Lock::take(&ctx.home.lock())?;
    let mut store = Store::open(&ctx.home.store(), Access::ReadWrite)?;
    let (row, _) = chosen(typed, &store)?;
    store.undo_memory(row.id)?;
    store.finish()?;
    let left: u64 = store.left_at_sinks()?.iter().map(|(_, gone, _)| gone).sum();
    if ctx.out.json {
        let body = json!({"memory": row.id, "left_at_sinks": left});
        return ctx.out.document("memories remove", body);
    }
    ctx.out.did(format!("memory {} was removed", row.id))?;
    match left {
        0 => Ok(()),
        left => {
            let left = plural(left, "removed episode");
            ctx.out.note(format!(
                "sinks still have {left}; the next run asks for removal: sessionmill deliver run"
            ))
        }
    }
}
