//! `transform` and `merge`: the stages inside somebody else's engine. No store, no home, no network.

use super::ctx::Ctx;
use super::exit::Exit;
use crate::model::error::Error;
use crate::pipeline::engine::deliver::{DeliverOptions, deliver, receipts};
use crate::pipeline::engine::line::{self, DoneLine, Line, kind};
use crate::pipeline::engine::merge::Merge;
use crate::pipeline::engine::replay::{Replay, ReplayOptions};
use crate::pipeline::engine::surroundings::Surroundings;
use crate::pipeline::engine::transform::{
    PlaceMap, TransformOptions, TransformWants, transform, transform_to_arrow,
};
use crate::pipeline::progress::Silent;
use crate::pipeline::steps::upload::report::SinkReport;
use crate::pipeline::tables::{TablesOptions, export};
use crate::store::Store;
use anyhow::Result;
use std::fs;
use std::path::{Path, PathBuf};

/// Turn log files into episodes on standard output, without a store
///
/// Reads names of log files from standard input, one a line, and prints what the stages make of
/// them as JSON lines: episodes, rejects, the account of every line, counters, and how far each
/// file was read. For data platforms that run sessionmill inside their own engine (docs/engine.md).
/// Uses no home, no store and no network, and one thread unless --jobs says otherwise. Files that
/// may hold the same records (forks, resumed sessions) have to be in the same call.
#[derive(clap::Args, Debug)]
pub struct TransformArgs {
    /// Use the settings, rules and redact.key of this folder [default: built-in settings]
    #[arg(long, value_name = "DIR")]
    settings: Option<PathBuf>,
    /// JSON object of folders and the project folders they belong to (worktrees, moved checkouts)
    #[arg(long, value_name = "FILE")]
    places: Option<PathBuf>,
    /// Print only what the heads of the files say: to plan which files belong together
    #[arg(long, conflicts_with = "ids")]
    heads: bool,
    /// Print only the ids of the files' records: to divide files that belong together
    #[arg(long)]
    ids: bool,
    /// How lines are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    format: LineFormat,
    /// Number of the run: later runs need greater numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    run: u64,
}

/// How lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum LineFormat {
    /// JSON, one object a line
    #[default]
    Json,
    /// An Arrow IPC stream: the same lines as rows, with columns to divide and sort by
    Arrow,
}

/// Combine the output of several `transform` runs
///
/// Reads lines of `transform` from standard input, in any order, and prints each once, in a fixed
/// order, with sums at the end. The result doesn't depend on how the lines were split or
/// how often some came. With --tables it writes the tables of `export --parquet` instead.
#[derive(clap::Args, Debug)]
pub struct MergeArgs {
    /// Print only the latest state of each episode
    #[arg(long, conflicts_with = "tables")]
    latest: bool,
    /// Write the tables of docs/tables.md as Parquet files into this new folder, instead of lines
    #[arg(long, value_name = "DIR")]
    tables: Option<PathBuf>,
    /// Use the settings, rules and redact.key of this folder [default: built-in settings]
    #[arg(long, value_name = "DIR")]
    settings: Option<PathBuf>,
    /// Write the tables of one batch of lines after another, each into the folder that its `end` line names
    #[arg(long, conflicts_with_all = ["latest", "tables", "deliver"])]
    serve: bool,
    /// Deliver the episodes that have no receipt yet to this sink, and print all receipts
    #[arg(long, value_name = "SINK", conflicts_with_all = ["tables", "latest"], requires = "settings")]
    deliver: Option<String>,
    /// Receipts that an earlier --deliver printed
    #[arg(long, value_name = "FILE", requires = "deliver")]
    receipts: Option<PathBuf>,
    /// Consent to sending to an endpoint, word for word as `sessionmill consent give` asks for it
    #[arg(long, value_name = "TEXT", requires = "deliver")]
    confirm: Vec<String>,
}

/// `transform`.
pub fn transform_files(args: &TransformArgs, ctx: &mut Ctx) -> Result<Exit> {
    pipes_only(
        "find logs -name '*.jsonl' | sessionmill transform > lines",
        ctx,
    )?;
    let surroundings = Surroundings::of(args.settings.as_deref())?;
    warn(&surroundings, ctx)?;
    let places = args
        .places
        .as_deref()
        .map_or(Ok(PlaceMap::default()), places)?;
    let (host, now) = (ctx.host.clone(), ctx.now);
    let options = TransformOptions {
        surroundings: &surroundings,
        places,
        wants: match (args.heads, args.ids) {
            (true, _) => TransformWants::Heads,
            (_, true) => TransformWants::Ids,
            _ => TransformWants::Episodes,
        },
        host: &host,
        run: args.run,
        jobs: ctx.jobs.unwrap_or(1),
        now,
    };
    let print = match args.format {
        LineFormat::Json => transform,
        LineFormat::Arrow => transform_to_arrow,
    };
    let done = print(&mut ctx.stdin.from, ctx.out.data(), &options)?;
    Ok(match done.problems {
        0 => Exit::Done,
        _ => Exit::Partial,
    })
}

/// `merge`.
pub fn merge(args: &MergeArgs, ctx: &mut Ctx) -> Result<Exit> {
    pipes_only("cat lines-1 lines-2 | sessionmill merge > lines", ctx)?;
    if args.serve {
        return serve(args.settings.as_deref(), ctx);
    }
    let mut merge = Merge::begin()?;
    if merge.take(&mut ctx.stdin.from)?.is_some() {
        let error = Error::usage("standard input has an `end` line");
        return Err(error
            .hinted("several batches of lines are for merge --serve")
            .into());
    }
    if let Some(dir) = &args.tables {
        return tables(merge, dir, args.settings.as_deref(), ctx);
    }
    if let Some(sink) = &args.deliver {
        return send(merge, sink, args, ctx);
    }
    if args.latest {
        merge.keep_latest();
    }
    merge.print(ctx.out.data())?;
    Ok(Exit::Done)
}

/// Makes a store of the lines, in a folder that is gone afterwards, and the tables of that.
fn tables(merge: Merge, dir: &Path, settings: Option<&Path>, ctx: &mut Ctx) -> Result<Exit> {
    let into = new_folder(dir)?;
    let place = tempfile::tempdir()?;
    let surroundings = settled(settings, place.path(), ctx)?;
    let store = replayed(merge, place.path(), &surroundings, ctx)?;
    let mut cx = ctx.pipeline_context(&surroundings.loaded, &Silent);
    export(&store, &into, &TablesOptions::default(), &mut cx)?;
    Ok(Exit::Done)
}

/// The same for one batch after another, until standard input ends.
fn serve(settings: Option<&Path>, ctx: &mut Ctx) -> Result<Exit> {
    let place = tempfile::tempdir()?;
    let surroundings = settled(settings, place.path(), ctx)?;
    loop {
        let mut merge = Merge::begin()?;
        let Some(end) = merge.take(&mut ctx.stdin.from)? else {
            anyhow::ensure!(merge.is_empty(), "standard input ends within a batch");
            return Ok(Exit::Done);
        };
        let into = new_folder(&end.tables)?;
        let store = replayed(merge, place.path(), &surroundings, ctx)?;
        let options = TablesOptions {
            is_scratch: true,
            ..TablesOptions::default()
        };
        let mut cx = ctx.pipeline_context(&surroundings.loaded, &Silent);
        let done = export(&store, &into, &options, &mut cx)?;
        let line = DoneLine {
            tables: end.tables,
            rows: done.rows.values().sum(),
        };
        let mut bytes = Vec::new();
        line::write(&mut bytes, kind::DONE, &line)?;
        ctx.out.data().write_all(&bytes)?;
        ctx.out.data().flush()?;
    }
}

fn new_folder(dir: &Path) -> Result<PathBuf> {
    let into = std::path::absolute(dir)?;
    match fs::read_dir(&into).is_ok_and(|mut held| held.next().is_some()) {
        true => {
            let error = Error::usage(format!("{}: is not empty", dir.display()));
            Err(error.hinted("name a new folder").into())
        }
        false => Ok(into),
    }
}

/// Delivers what the lines come to.
fn send(merge: Merge, sink: &str, args: &MergeArgs, ctx: &mut Ctx) -> Result<Exit> {
    let mut told = DeliverOptions {
        sink: sink.to_owned(),
        confirmed: args.confirm.clone(),
        receipts: Vec::new(),
    };
    if let Some(file) = &args.receipts {
        let held = fs::read(file).map_err(|e| Error::usage(format!("{}: {e}", file.display())))?;
        told.receipts = receipts(&mut held.as_slice())?;
    }
    let place = tempfile::tempdir()?;
    let surroundings = settled(args.settings.as_deref(), place.path(), ctx)?;
    let mut store = replayed(merge, place.path(), &surroundings, ctx)?;
    let mut printed = Vec::new();
    let loaded = &surroundings.loaded;
    let mut cx = ctx.pipeline_context(loaded, &Silent);
    let done = deliver(&mut store, &told, loaded, &mut cx, &mut printed)?;
    ctx.out.data().write_all(&printed)?;
    for report in &done {
        if let Some(fault) = &report.fault {
            ctx.out.warn(format!("sink {}: {fault}", report.sink))?;
        }
    }
    let is_whole = |report: &SinkReport| report.waiting + report.failed + report.dead == 0;
    match done
        .iter()
        .all(|report| report.fault.is_none() && is_whole(report))
    {
        true => Ok(Exit::Done),
        false => Ok(Exit::Partial),
    }
}

/// The settings, copied into a folder that is to be removed afterwards. What else a command asks is there.
fn settled(settings: Option<&Path>, place: &Path, ctx: &mut Ctx) -> Result<Surroundings> {
    let surroundings = Surroundings::copied(settings, place)?;
    warn(&surroundings, ctx)?;
    (ctx.home, ctx.env) = (surroundings.home.clone(), surroundings.env.clone());
    Ok(surroundings)
}

/// The store that lines come to; it is the only one in `place`.
fn replayed(merge: Merge, place: &Path, surroundings: &Surroundings, ctx: &Ctx) -> Result<Store> {
    let options = ReplayOptions {
        surroundings,
        now: ctx.now,
        jobs: ctx.jobs.unwrap_or(1),
    };
    let mut replay = Replay::begin(&place.join("merge.db"), &options)?;
    merge.for_each(|line| replay.take(Line::parse(line)?))?;
    drop(merge);
    replay.finish()
}

/// What comes and goes here is for programs.
fn pipes_only(example: &str, ctx: &Ctx) -> Result<(), Error> {
    match ctx.stdin.terminal || ctx.out.is_terminal() {
        true => {
            Err(Error::usage("this command reads from a pipe and writes to one").hinted(example))
        }
        false => Ok(()),
    }
}

fn warn(surroundings: &Surroundings, ctx: &mut Ctx) -> Result<()> {
    for warning in &surroundings.loaded.warnings {
        ctx.out.warn(warning)?;
    }
    Ok(())
}

fn places(file: &Path) -> Result<PlaceMap> {
    let wrong = |why: &dyn std::fmt::Display| {
        let hint = r#"write {"/folder/of/a/worktree": "/folder/of/its/project"}"#;
        Error::usage(format!("{}: {why}", file.display())).hinted(hint)
    };
    let text = fs::read_to_string(file).map_err(|error| wrong(&error))?;
    Ok(PlaceMap::parse(&text).map_err(|error| wrong(&error))?)
}
