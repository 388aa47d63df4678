//! `status`: what is in the store, what waits, what was odd.

use super::ctx::Ctx;
use super::drift;
use super::exit::Exit;
use super::ledger;
use super::ledger_lines::lines;
use crate::config::{Config, gate};
use crate::model::human::{self, ago, bytes, count, plural, table};
use crate::pipeline::alarms::{self, Alarm};
use crate::pipeline::disk_logs::logs_on_disk;
use crate::pipeline::last_run::outside_line;
use crate::pipeline::lock;
use crate::pipeline::memory_status::MemoryStatus;
use crate::pipeline::progress::Silent;
use crate::pipeline::status::{backlog, older, unread_sweeps};
use crate::pipeline::sweep::Sweep;
use crate::stages::discover::Discovered;
use crate::store::{Access, Embedded, Store, StoreStatus};
use anyhow::Result;
use serde_json::{Value, json};

/// Show what is stored and what waits for the next run
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Show what became of a log, or of one line of it; FILE is a path, part of one, or a
    /// session's id
    #[arg(long, value_name = "FILE[:LINE]")]
    ledger: Option<String>,
    /// List what this version does not know: kinds of records, changed types of fields, newer
    /// versions of agents
    #[arg(long, conflicts_with = "ledger")]
    drift: bool,
}

/// Refused records that are listed.
const REJECTS_SHOWN: u32 = 20;

/// Prints the state of everything.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    if let Some(typed) = &args.ledger {
        return ledger::run(typed, ctx);
    }
    if args.drift {
        return drift::run(ctx);
    }
    let loaded = ctx.settings()?;
    let config = &loaded.config;
    let gate = gate(config);
    let store = match ctx.home.store().exists() {
        true => Some(Store::open(&ctx.home.store(), Access::ReadOnly)?),
        false => None,
    };
    let found = logs_on_disk(&config.roots);
    let pipeline = ctx.pipeline("nightly")?;
    let cx = ctx.pipeline_context(&loaded, &Silent);
    let waiting = backlog(&found.files, &pipeline, store.as_ref(), &cx)?;
    let status = store
        .as_ref()
        .map_or_else(|| Ok(StoreStatus::default()), Store::status)?;
    let older = older(&status, store.as_ref(), &cx)?;
    let memory = MemoryStatus::new(&loaded, store.as_ref(), &ctx.env)?;
    let embedded = match (&store, &config.embeddings) {
        (Some(store), Some(model)) => Some(store.embedded(&model.made_by())?),
        _ => None,
    };
    let state = State {
        memory,
        embedded,
        gate: (gate.enabled, gate.reason),
        // a lock without a store is of a run that didn't get that far
        last_run: store.as_ref().and(lock::last_run(&ctx.home.lock())),
        older,
        sweeps: unread_sweeps(&waiting, &ctx.env, ctx.now),
        waiting,
        links: found.links,
        status,
    };
    match ctx.out.json {
        true => ctx.out.document("status", document(&state, config, ctx))?,
        false => print(&state, config, store.as_ref(), ctx)?,
    }
    Ok(Exit::Done)
}

struct State {
    memory: MemoryStatus,
    /// Where a model is configured.
    embedded: Option<Embedded>,
    gate: (bool, String),
    last_run: Option<crate::model::time::Time>,
    /// Episodes that other rules or settings made.
    older: u64,
    waiting: Discovered,
    /// What agents delete that no run has read.
    sweeps: Vec<Sweep>,
    /// Symbolic links below the sources.
    links: u64,
    status: StoreStatus,
}

fn backlog_bytes(waiting: &Discovered) -> u64 {
    let left =
        |slice: &crate::model::source::Slice| slice.file.stat.size.saturating_sub(slice.from);
    waiting.slices.iter().map(left).sum()
}

fn print(state: &State, config: &Config, store: Option<&Store>, ctx: &mut Ctx) -> Result<()> {
    let (status, waiting) = (&state.status, &state.waiting);
    let word = if state.gate.0 { "on" } else { "off" };
    ctx.out
        .wrapped(format!("tracking: {word}, {}", state.gate.1))?;
    for line in state.memory.lines() {
        ctx.out.wrapped(line)?;
    }
    ctx.out.wrapped(format!(
        "last run: {}",
        state.last_run.map_or("never".to_owned(), |at| {
            format!("{} ({})", human::time(Some(at), ctx.zone), ago(at, ctx.now))
        })
    ))?;
    for alarm in alarms::all(&ctx.home) {
        ctx.out.wrapped(alarm.line(ctx.zone))?;
    }
    ctx.out.wrapped(format!(
        "not read yet: {}, {}",
        plural(waiting.slices.len() as u64, "log"),
        bytes(backlog_bytes(waiting))
    ))?;
    let (outside, size) = waiting.outside_sizes();
    for line in outside_line(outside, size)
        .into_iter()
        .chain(state.sweeps.iter().map(Sweep::line))
    {
        ctx.out.wrapped(line)?;
    }
    let home = ctx.home.store();
    ctx.out.wrapped(format!(
        "store: {}, {} ({} of text)",
        home.display(),
        bytes(status.store_bytes),
        bytes(status.body_bytes)
    ))?;
    let marked = match status.kept_out {
        0 => String::new(),
        n => format!(" ({} by a marker in the prompt)", count(n)),
    };
    let open = match ctx.verbose {
        true => format!(" ({} not sealed)", count(status.open)),
        false => String::new(),
    };
    ctx.out.wrapped(format!(
        "stored: {}, {}, {}{open}; {} forgotten{marked}",
        plural(status.files.values().sum(), "log"),
        plural(status.sessions.values().sum(), "session"),
        plural(status.sealed + status.open, "episode"),
        plural(status.forgotten, "session"),
    ))?;
    models(state, ctx)?;
    if state.older > 0 {
        let older = plural(state.older, "episode");
        ctx.out.wrapped(format!(
            "made with older rules or settings: {older} (sessionmill run --rebuild)"
        ))?;
    }
    ctx.out.line("")?;
    ctx.out.text(sources(state, config))?;
    ctx.out.line("")?;
    ctx.out.text(lines(&status.ledger))?;
    oddities(status, store, ctx)
}

/// How far language models, and those of vectors, are with what is stored.
fn models(state: &State, ctx: &mut Ctx) -> Result<()> {
    const FAILED: &str = "failed permanently (sessionmill run --ask-again)";
    let llm_summaries = &state.status.llm_summaries;
    if llm_summaries.keys().any(|state| state != "waiting") {
        let told = llm_summaries.iter().map(|(state, n)| match state.as_str() {
            "told" => format!("{} written by a model", count(*n)),
            "refused" => format!("{} {FAILED}", count(*n)),
            _ => format!("{} not asked about yet", count(*n)),
        });
        let told: Vec<String> = told.collect();
        ctx.out.wrapped(format!("summaries: {}", told.join(", ")))?;
    }
    if let Some(embedded) = state.embedded {
        let given_up = match embedded.refused {
            0 => String::new(),
            n => format!(", {} {FAILED}", count(n)),
        };
        ctx.out.wrapped(format!(
            "vectors: {}, {} without one yet{given_up}",
            plural(embedded.made, "episode"),
            count(embedded.waiting)
        ))?;
    }
    Ok(())
}

fn sources(state: &State, config: &Config) -> String {
    let mut rows = vec![["agent", "exists", "folder"].map(String::from).to_vec()];
    rows.extend(config.roots.iter().map(|root| {
        let there = if root.path.exists() { "yes" } else { "no" };
        let path = root.path.display().to_string();
        vec![root.agent.as_str().into(), there.into(), path]
    }));
    let mut text = table(&rows, &[]);
    let vanished = state.waiting.vanished.len() as u64;
    if vanished > 0 {
        let logs = plural(vanished, "log");
        text += &format!("{logs} were deleted from disk; their content stays in the store\n");
    }
    if state.links > 0 {
        let links = plural(state.links, "symbolic link");
        text += &format!("{links} below the sources: not followed\n");
    }
    text
}

fn oddities(status: &StoreStatus, store: Option<&Store>, ctx: &mut Ctx) -> Result<()> {
    let (talking, silent): (Vec<_>, Vec<_>) =
        status.unknown.iter().partition(|kind| kind.words > 0);
    let kinds = |unknown: &[_]| format!("{} of records", plural(unknown.len() as u64, "kind"));
    if !talking.is_empty() {
        let words = talking.iter().map(|kind| kind.words).sum();
        ctx.out.wrapped(format!(
            "unknown: {} with {} that are not stored (sessionmill doctor --report-drift)",
            kinds(&talking),
            plural(words, "word"),
        ))?;
    }
    if !silent.is_empty() {
        ctx.out.wrapped(format!(
            "unknown: {} without words (sessionmill status --drift)",
            kinds(&silent),
        ))?;
    }
    let rejects = store.map_or_else(|| Ok(Vec::new()), |store| store.rejects(REJECTS_SHOWN))?;
    for reject in &rejects {
        ctx.out.wrapped(format!(
            "rejected: {}:{}: {}",
            reject.path, reject.place.line, reject.reason
        ))?;
    }
    let hidden = status.rejects.saturating_sub(rejects.len() as u64);
    if hidden > 0 {
        ctx.out.wrapped(format!("… and {} more", count(hidden)))?;
    }
    Ok(())
}

fn document(state: &State, config: &Config, ctx: &Ctx) -> Value {
    let (status, waiting) = (&state.status, &state.waiting);
    let (outside, outside_bytes) = waiting.outside_sizes();
    let roots = config.roots.iter().map(|root| {
        json!({"path": root.path, "agent": root.agent.as_str(), "there": root.path.exists()})
    });
    let unknown = status.unknown.iter().map(|kind| {
        json!({"kind": kind.kind, "files": kind.files, "path": kind.path, "line": kind.place.line, "count": kind.count, "words": kind.words})
    });
    json!({
        "enabled": state.gate.0,
        "reason": state.gate.1,
        "memory": state.memory.document(),
        "last_run": state.last_run.map(|t| t.rfc3339_millis()),
        "sources": roots.collect::<Vec<Value>>(),
        "waiting": {"files": waiting.slices.len(), "bytes": backlog_bytes(waiting)},
        "alarms": alarms::all(&ctx.home).iter().map(Alarm::document).collect::<Vec<_>>(),
        "outside": {"files": outside, "bytes": outside_bytes},
        "deleted_unread": state.sweeps,
        "vanished": waiting.vanished.len(),
        "links": state.links,
        "store": {"path": ctx.home.store(), "bytes": status.store_bytes},
        "files": status.files,
        "sessions": status.sessions,
        "episodes": {"sealed": status.sealed, "open": status.open, "older": state.older},
        "episode_sources": status.sources,
        "embeddings": state.embedded.map(|e| json!({"made": e.made, "waiting": e.waiting, "refused": e.refused})),
        "tellings": status.llm_summaries,
        "made_by": status.made_by,
        "read_bytes": status.read_bytes,
        "tail_bytes": status.tail_bytes,
        "body_bytes": status.body_bytes,
        "ledger": status.ledger,
        "rejects": status.rejects,
        "unknown": unknown.collect::<Vec<Value>>(),
        "forgotten": status.forgotten,
        "kept_out": status.kept_out,
    })
}
