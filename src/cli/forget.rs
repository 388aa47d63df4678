//! `forget`: takes what was said out of the store, and takes that back while the logs are there.
//! Knows how people say what they mean.

use super::ctx::Ctx;
use super::exit::Exit;
use super::session_filters;
use crate::memory::forget_request::{ForgetRequest, restorable};
use crate::memory::when::When;
use crate::model::error::Error;
use crate::model::human;
use crate::model::layout::markdown::plain;
use crate::model::layout::table::INDENT;
use crate::model::shell;
use crate::model::tombstone::Selection;
use crate::pipeline::doctor::set_aside;
use crate::pipeline::lock::Lock;
use crate::store::{Access, Forgotten, Store, TYPED};
use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::json;
use std::path::PathBuf;

/// Permanently delete sessions or matching text
///
/// Deletes episodes with their index and titles and compacts the file; later runs do not bring them
/// back. The agents' own logs are not touched. To delete several sessions, or one by fewer than
/// eight characters of its id, confirm on the terminal or pass --yes.
#[derive(clap::Args, Debug)]
#[command(
    group = clap::ArgGroup::new("what").required(true).multiple(true),
    override_usage = "sessionmill forget [OPTIONS] <SESSION>\n       \
        sessionmill forget <--project|--namespace|--group|--before|--match> VALUE\n       \
        sessionmill forget --undo [SESSION]"
)]
pub struct Args {
    /// Id of a session, or a prefix of it
    #[arg(value_name = "SESSION", group = "what", conflicts_with_all = ["project", "namespace", "group", "before", "matching"])]
    id: Option<String>,
    /// Alias of SESSION
    #[arg(long, value_name = "SESSION", group = "what", conflicts_with_all = ["id", "project", "namespace", "group", "before", "matching"])]
    session: Option<String>,
    /// All sessions of this project (its name, or a path in it); limits --before and --match to
    /// it
    #[arg(
        long,
        value_name = "PROJECT",
        group = "what",
        conflicts_with = "namespace"
    )]
    project: Option<PathBuf>,
    /// All sessions of this namespace, or of those with this prefix
    #[arg(long, value_name = "HEX", group = "what")]
    namespace: Option<String>,
    /// Everything in this group: sessions delivered to it or covered by its scope, its
    /// memories, and what it was sent about its owner
    #[arg(long, value_name = "NAME", group = "what", conflicts_with_all = ["project", "namespace", "before", "matching"])]
    group: Option<String>,
    /// Episodes that began before WHEN: 90d, 2026-04-01. Sessions that continued later keep the
    /// rest
    #[arg(long, value_name = "WHEN", group = "what", conflicts_with = "matching")]
    before: Option<When>,
    /// All sessions in which `search` finds this
    #[arg(long = "match", value_name = "WORDS", group = "what")]
    matching: Option<String>,
    /// Let the next run restore what was deleted, if its logs still exist: one session, or
    /// everything
    #[arg(long, group = "what", conflicts_with_all = ["project", "namespace", "group", "before", "matching", "dry_run"])]
    undo: bool,
    /// Delete the damaged stores that `doctor --repair` set aside; they may contain what was
    /// deleted later
    #[arg(long, group = "what", conflicts_with_all = ["id", "session", "project", "namespace", "group", "before", "matching", "undo"])]
    purge_aside: bool,
    /// List what would be deleted, without deleting it
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
}

/// Forgets, or takes it back.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    if args.purge_aside {
        return purge(args, ctx);
    }
    ctx.reader()?;
    let _lock = Lock::take_for("forget", &ctx.home.lock())?;
    let mut store = Store::open(&ctx.home.store(), Access::ReadWrite)?;
    if args.undo {
        return undo(args, &mut store, ctx);
    }
    let selection = chosen(args, &store, ctx)?;
    let single = args.one().map(|_| selection.sessions[0].clone());
    let title = single.as_deref().map(|id| named(id, &store)).transpose()?;
    let would = store.forget(&selection, ctx.now, true)?;
    if single.is_none() && args.before.is_none() && would.is_nothing() {
        return nothing(args, &would, ctx);
    }
    let one = single.as_deref().zip(title.as_deref());
    // a time is remembered, for logs that are read later; nothing is deleted, so nothing is asked
    let is_rule = single.is_none() && would.is_nothing();
    if args.dry_run && is_rule && !ctx.out.json {
        return no_older(args, false, ctx);
    }
    if args.dry_run {
        list(&would, usize::MAX, &store, ctx)?;
        report(&would, one, None, ctx)?;
        return Ok(Exit::Done);
    }
    if let Some(id) = single.as_ref().filter(|_| would.is_all_gone()) {
        if ctx.out.json {
            report(&would, one, Some(&[]), ctx)?;
        }
        ctx.out.note(format!("session {id} was forgotten before"))?;
        return Ok(Exit::Done);
    }
    if !is_rule {
        confirm(args, &would, one, &store, ctx)?;
    }
    let typed = single.as_deref().map(|id| store.session_shown(id, TYPED));
    let typed = typed.transpose()?;
    let gone = store.forget(&selection, ctx.now, false)?;
    store.finish()?;
    if is_rule && !ctx.out.json {
        return no_older(args, true, ctx);
    }
    let left = left_at_sinks(&store, ctx)?;
    report(&gone, one, Some(&left), ctx)?;
    if store.is_compaction_due()? {
        ctx.out
            .warn("another process is reading the store; the next run removes the last traces from its file")?;
    }
    if let Some(aside) = set_aside::after_forgetting(&ctx.home) {
        ctx.out.warn(aside)?;
    }
    for kin in &gone.kin {
        ctx.out.note(format!(
            "session {kin} contains the beginning of this one: sessionmill forget {kin}"
        ))?;
    }
    if let Some(typed) = typed {
        ctx.out.note(format!(
            "to undo, while its log exists: sessionmill forget --undo {typed} && sessionmill backfill"
        ))?;
    }
    Ok(Exit::Done)
}

/// What a session is recognised by: its title.
fn named(id: &str, store: &Store) -> Result<String> {
    let title = store.session(id)?.and_then(|row| row.title);
    let title = title.as_deref().unwrap_or("(no title)");
    Ok(human::title(&plain(title)).into_owned())
}

/// A line for each session that loses words, the latest last.
fn list(would: &Forgotten, limit: usize, store: &Store, ctx: &mut Ctx) -> Result<()> {
    if ctx.out.json {
        return Ok(());
    }
    let mut rows = Vec::new();
    for id in &would.touched {
        let Some(row) = store.session(id)? else {
            continue;
        };
        let ended = row.session.facts.ended.or(row.session.facts.started);
        rows.push((ended, row.session));
    }
    rows.sort_by(|a, b| (a.0, &a.1.id).cmp(&(b.0, &b.1.id)));
    for (ended, session) in rows.iter().take(limit) {
        let day = ended.map_or_else(String::new, |at| {
            ctx.zone.show(at).format("%Y-%m-%d").to_string()
        });
        let place = session_filters::origin(session, ctx)?;
        let cells = [
            store.session_shown(&session.id, TYPED)?,
            day,
            place,
            named(&session.id, store)?,
        ];
        ctx.out.words("", INDENT, &cells.join("  "))?;
    }
    if let Some(more) = rows.len().checked_sub(limit).filter(|more| *more > 0) {
        ctx.out
            .line(format!("… and {} more", human::count(more as u64)))?;
    }
    Ok(())
}

/// Removes what repairs set aside.
fn purge(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let (verb, files) = match args.dry_run {
        true => ("would remove", set_aside::all(&ctx.home)),
        false => (
            "removed",
            set_aside::purge(&ctx.home).context("remove what was set aside")?,
        ),
    };
    if ctx.out.json {
        let paths: Vec<_> = files.iter().map(|file| &file.path).collect();
        let body = json!({"dry_run": args.dry_run, "set_aside": paths});
        ctx.out.document("forget --purge-aside", body)?;
        return Ok(Exit::Done);
    }
    match set_aside::named(&files) {
        Some(named) => ctx.out.line(format!("{verb} {named}"))?,
        None => ctx.out.line("there are no damaged stores from a repair")?,
    }
    Ok(Exit::Done)
}

impl Args {
    /// The one session that is meant.
    fn one(&self) -> Option<&str> {
        self.id.as_deref().or(self.session.as_deref())
    }
}

/// Nothing stored is meant. A time is remembered all the same: it is meant for later logs too.
fn nothing(args: &Args, would: &Forgotten, ctx: &mut Ctx) -> Result<Exit> {
    if ctx.out.json {
        report(would, None, None, ctx)?;
    }
    ctx.out.note("nothing stored matches")?;
    if let Some(path) = &args.project {
        let path = shell::word(&path.to_string_lossy());
        let hint = format!("to keep its logs out: sessionmill disable --project {path}");
        ctx.out.note(hint)?;
    }
    Ok(Exit::Failed)
}

/// Nothing stored is from before the time that was typed; whether it `is_kept` for logs that are read later.
fn no_older(args: &Args, is_kept: bool, ctx: &mut Ctx) -> Result<Exit> {
    let before = args.before.map(|when| when.start(ctx.now, ctx.zone));
    let before = human::time(before, ctx.zone);
    ctx.out
        .line(format!("no stored session or memory began before {before}"))?;
    if is_kept {
        ctx.out.note(
            "later runs leave out what began before then; to undo: sessionmill forget --undo",
        )?;
    }
    Ok(Exit::Done)
}

/// What the arguments name.
fn chosen(args: &Args, store: &Store, ctx: &Ctx) -> Result<Selection> {
    let places = session_filters::places(ctx)?;
    let request = ForgetRequest {
        session: args.one(),
        group: args.group.as_deref(),
        project: args.project.as_deref(),
        namespace: args.namespace.as_deref(),
        before: args.before.map(|when| when.start(ctx.now, ctx.zone)),
        matching: args.matching.as_deref(),
    };
    Ok(request.selection(store, &places, &ctx.env.cwd, ctx.now)?)
}

/// Sessions that the question about them names.
const ASKED_MAX: usize = 10;

/// One session is what was typed; several are asked about, and on a terminal one by so few characters that a
/// slip would name another.
fn confirm(
    args: &Args,
    would: &Forgotten,
    one: Option<(&str, &str)>,
    store: &Store,
    ctx: &mut Ctx,
) -> Result<()> {
    let is_typed = args
        .one()
        .is_some_and(|typed| typed.chars().count() >= TYPED || !ctx.stdin.terminal);
    if args.yes || is_typed {
        return Ok(());
    }
    let question = match one {
        Some((id, title)) => {
            let episodes = human::plural(would.episodes, "episode");
            let id = store.session_shown(id, TYPED)?;
            format!("Type yes to forget {id} \"{title}\" ({episodes}):")
        }
        None if ctx.stdin.terminal => {
            list(would, ASKED_MAX, store, ctx)?;
            format!("Type yes to forget {}:", counts(would))
        }
        None => String::new(),
    };
    match ctx.ask(&question)? {
        Some(answer) if answer.eq_ignore_ascii_case("yes") => Ok(()),
        _ => {
            let message = format!("this would delete {}; nothing was deleted", counts(would));
            Err(Error::usage(message)
                .hinted("add --dry-run to see what, or --yes to do it")
                .into())
        }
    }
}

fn counts(gone: &Forgotten) -> String {
    let memories = match gone.memories {
        0 => String::new(),
        n => format!(", {}", memories(n)),
    };
    format!(
        "{}, {}, {}{memories}",
        human::plural(gone.sessions, "session"),
        human::plural(gone.episodes, "episode"),
        human::bytes(gone.body_bytes)
    )
}

fn memories(n: u64) -> String {
    match n {
        1 => "1 memory".to_owned(),
        n => format!("{} memories", human::count(n)),
    }
}

/// What a sink has of episodes that are no more here.
#[derive(Serialize)]
struct Left {
    sink: String,
    /// It is still to be asked to remove these.
    episodes: u64,
    /// It was asked, and can't remove these.
    kept: u64,
    /// The settings name it, so that the next run asks it to forget.
    configured: bool,
}

fn left_at_sinks(store: &Store, ctx: &mut Ctx) -> Result<Vec<Left>> {
    let loaded = ctx.settings()?;
    let left = store.left_at_sinks()?.into_iter();
    Ok(left
        .map(|(sink, episodes, kept)| Left {
            configured: loaded.config.sinks.iter().any(|known| known.name == sink),
            sink,
            episodes,
            kept,
        })
        .collect())
}

/// `left` is absent where nothing was done.
fn report(
    gone: &Forgotten,
    single: Option<(&str, &str)>,
    left: Option<&[Left]>,
    ctx: &mut Ctx,
) -> Result<()> {
    let dry = left.is_none();
    if ctx.out.json {
        let body = json!({
            "session": single.map(|(id, _)| id),
            "session_ids": gone.touched,
            "dry_run": dry,
            "sessions": gone.sessions,
            "episodes": gone.episodes,
            "memories": gone.memories,
            "body_bytes": gone.body_bytes,
            "files": gone.files,
            "kin": gone.kin,
            "left_at_sinks": left.unwrap_or_default(),
        });
        return ctx.out.document("forget", body);
    }
    let verb = if dry { "would forget" } else { "forgot" };
    ctx.out.line(match single {
        Some((id, title)) => format!(
            "{verb} session {id} \"{title}\": {}, {}",
            human::plural(gone.episodes, "episode"),
            match gone.memories {
                0 => human::bytes(gone.body_bytes),
                n => format!("{}, {}", human::bytes(gone.body_bytes), memories(n)),
            }
        ),
        None => format!("{verb} {}", counts(gone)),
    })?;
    for Left {
        sink,
        episodes,
        kept,
        configured,
    } in left.unwrap_or_default()
    {
        if *kept > 0 {
            let kept = human::plural(*kept, "forgotten episode");
            ctx.out.warn(format!(
                "sink {sink} can't remove {kept}: remove them there yourself"
            ))?;
        }
        if *episodes == 0 {
            continue;
        }
        let episodes = human::plural(*episodes, "forgotten episode");
        match configured {
            true => ctx.out.note(format!(
                "sink {sink} still has {episodes}; the next run asks it to remove them: \
                 sessionmill deliver run {sink}"
            ))?,
            false => ctx.out.warn(format!(
                "sink {sink} still has {episodes} and is not in the settings: \
                 name it there again, or remove them by hand"
            ))?,
        }
    }
    Ok(())
}

/// Takes back what a log can tell again; the rest keeps its tombstone, so that no copy tells it.
fn undo(args: &Args, store: &mut Store, ctx: &mut Ctx) -> Result<Exit> {
    let tombstones = store.tombstones()?;
    let mut wanted: Vec<String> = tombstones.sessions.iter().cloned().collect();
    if let Some(typed) = args.one() {
        wanted.retain(|id| id.starts_with(typed));
        if wanted.len() != 1 {
            let error = Error::usage(format!(
                "{} forgotten sessions begin with {typed}",
                wanted.len()
            ));
            return Err(error.hinted("sessionmill store dump").into());
        }
    }
    // tombstones of a time belong to no session: they go only when all do
    let times = args.one().is_none() && !tombstones.before.is_empty();
    if times {
        wanted.extend(store.forgotten_by_time()?);
    }
    let (back, lost) = restorable(wanted, store)?;
    store.remember(&back, times.then_some(ctx.now))?;
    store.finish()?;
    if ctx.out.json {
        let body = json!({"undone": back, "lost": lost, "times": times});
        ctx.out.document("forget --undo", body)?;
        return Ok(Exit::Done);
    }
    let count = |ids: &[String]| human::plural(ids.len() as u64, "session");
    ctx.out
        .line(format!("{} can be read again", count(&back)))?;
    if !lost.is_empty() {
        ctx.out.line(format!(
            "{} can't be restored: the logs are gone",
            count(&lost)
        ))?;
    }
    let command = if times {
        "run --all --rebuild"
    } else {
        "backfill"
    };
    ctx.out.note(format!("hint: sessionmill {command}"))?;
    Ok(Exit::Done)
}
