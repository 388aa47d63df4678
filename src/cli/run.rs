//! `run` and `backfill`: one pipeline, once.

use super::bar::Bar;
use super::check;
use super::ctx::Ctx;
use super::deliver;
use super::exit::Exit;
use crate::config::Loaded;
use crate::host::interrupt;
use crate::memory::moved_projects::MovedProject;
use crate::memory::when::When;
use crate::model::ledger::Fate;
use crate::pipeline::last_run::BACKFILL;
use crate::pipeline::metrics;
use crate::pipeline::options::RunOptions;
use crate::pipeline::run::{self, RunOutcome};
use crate::pipeline::spec::{self, Pipeline, Step, Window};
use crate::pipeline::steps::enrich::EnrichReport;
use crate::pipeline::steps::report::RunReport;
use crate::pipeline::steps::track_report;
use anyhow::Result;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Read what is new in the logs and make it searchable
///
/// Runs the pipeline `nightly` unless another one is named. `backfill` reads all logs, however old;
/// `ci` compares a corpus with a recorded result. Put your own pipelines into ~/.graphiti/pipelines
/// (docs/pipelines.md). Interrupted? Just run it again; nothing is lost or duplicated. A run that
/// finds nothing new writes nothing.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Name of the pipeline
    #[arg(value_name = "PIPELINE", default_value = "nightly")]
    pipeline: String,
    #[command(flatten)]
    options: Options,
    /// Index into a temporary store and compare with the recorded result; exit 1 if they differ
    #[arg(long, conflicts_with_all = ["rebuild", "metrics_file"])]
    check: bool,
    /// With --check: record the result instead of comparing
    #[arg(long, requires = "check")]
    record: bool,
    /// Write metrics of this run to FILE, for node_exporter's textfile collector
    #[arg(long, value_name = "FILE")]
    metrics_file: Option<PathBuf>,
}

/// Read all logs, however old (the pipeline `backfill`)
#[derive(clap::Args, Debug, Default)]
pub struct BackfillArgs {
    #[command(flatten)]
    options: Options,
    /// Write metrics of this run to FILE, for node_exporter's textfile collector
    #[arg(long, value_name = "FILE")]
    metrics_file: Option<PathBuf>,
}

/// What both understand.
#[derive(clap::Args, Debug, Default)]
pub struct Options {
    /// Run only these steps: ingest, track, enrich, upload, report
    #[arg(long, value_name = "STEPS", value_delimiter = ',', value_parser = Step::parse)]
    steps: Vec<Step>,
    /// Rebuild everything from the logs that still exist
    #[arg(long)]
    rebuild: bool,
    /// Read only logs modified since WHEN: 14d, 2h, 2026-04-01
    #[arg(long, value_name = "WHEN", conflicts_with = "all")]
    since: Option<When>,
    /// Read all logs, however old
    #[arg(long)]
    all: bool,
    /// Include untrusted projects in this run
    #[arg(long)]
    pub allow_untrusted: bool,
    /// Retry language-model requests that failed permanently, and those that are waiting, now
    #[arg(long)]
    ask_again: bool,
}

impl Options {
    /// Gives the command line's word for the pipeline's.
    pub fn apply(&self, pipeline: &mut Pipeline, ctx: &Ctx) {
        if !self.steps.is_empty() {
            pipeline.steps = spec::steps(self.steps.iter().copied());
        }
        if self.all {
            pipeline.window = Window::All;
        }
        if let Some(when) = self.since {
            pipeline.window = Window::Since(when.start(ctx.now, ctx.zone));
        }
        pipeline.rebuild |= self.rebuild;
    }
}

/// Runs or checks a pipeline.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let mut pipeline = ctx.pipeline(&args.pipeline)?;
    args.options.apply(&mut pipeline, ctx);
    match args.check {
        true => check::check(&pipeline, args.record, ctx),
        false => execute(&pipeline, &args.options, args.metrics_file.as_deref(), ctx),
    }
}

/// `run backfill`.
pub fn backfill(args: &BackfillArgs, ctx: &mut Ctx) -> Result<Exit> {
    let mut pipeline = ctx.pipeline("backfill")?;
    args.options.apply(&mut pipeline, ctx);
    execute(&pipeline, &args.options, args.metrics_file.as_deref(), ctx)
}

fn execute(
    pipeline: &Pipeline,
    options: &Options,
    metrics_file: Option<&Path>,
    ctx: &mut Ctx,
) -> Result<Exit> {
    let loaded = ctx.settings()?;
    if ctx.out.shows_progress() {
        // a run that can't say so can be stopped all the same
        let _ = interrupt::before_it_ends(|| {
            let _ = writeln!(std::io::stderr(), "\n{STOPPED}");
        });
    }
    let bar = Bar::new(ctx.out.shows_progress());
    let mut cx = ctx.pipeline_context(&loaded, &bar);
    let run_options = RunOptions {
        allow_untrusted: options.allow_untrusted,
        ask_again: options.ask_again,
        ..RunOptions::new(pipeline, &cx)
    };
    let ended = run::run(pipeline, &run_options, &mut cx);
    if let Some(file) = metrics_file
        && let Err(error) = metrics::write(file, &pipeline.name, &ended, &cx)
    {
        let warning = format!("the metrics were not written: {error}");
        cx.notices.warn(&warning)?;
    }
    let done = match ended? {
        RunOutcome::Done(done) => done,
        RunOutcome::Off(reason) => {
            let command = ctx.out.command.clone();
            return refuse(&command, &reason, ctx);
        }
    };
    if pipeline.steps.contains(&Step::Report) {
        tell(&done, &loaded, ctx)?;
    }
    Ok(exit(&done))
}

/// What somebody is told who presses Ctrl-C.
const STOPPED: &str = "stopped: progress is saved; run the same command to continue";

/// What could not be read is not all that was to be read.
fn exit(done: &RunReport) -> Exit {
    match done.is_whole() {
        true => deliver::exit(&done.uploaded),
        false => Exit::Partial,
    }
}

/// Tracking is off: nothing is read, and that is no failure, or a timer would fail for ever.
pub(super) fn refuse(command: &str, reason: &str, ctx: &mut Ctx) -> Result<Exit> {
    if ctx.out.json {
        ctx.out.document(
            command,
            serde_json::json!({"enabled": false, "reason": reason}),
        )?;
    }
    ctx.out
        .note(format!("tracking is off; nothing was read: {reason}"))?;
    ctx.out.note("hint: sessionmill init")?;
    Ok(Exit::Done)
}

/// The step `report`.
fn tell(done: &RunReport, loaded: &Loaded, ctx: &mut Ctx) -> Result<()> {
    let (report, tracked) = (&done.ingested, &done.tracked);
    if ctx.out.json {
        return document(done, ctx);
    }
    for problem in &report.problems {
        ctx.out
            .warn(format!("{}: {}", problem.path, problem.reason))?;
    }
    for problem in track_report::warnings(tracked) {
        ctx.out.warn(problem)?;
    }
    for alarm in done.alarms(ctx.out.quiet) {
        ctx.out.warn(alarm.line(ctx.zone))?;
    }
    if let Some(alarm) = report.drift_alarm() {
        ctx.out.warn(alarm)?;
        ctx.out.note(
            "to print a sample to send us, without content: sessionmill doctor --report-drift",
        )?;
    }
    for line in done.promoted.moved.iter().flat_map(MovedProject::lines) {
        ctx.out.warn(line)?;
    }
    if let Some(lines) = report.group_words(loaded.config.group_id.as_deref()) {
        for line in lines {
            ctx.out.warn(line)?;
        }
    }
    // problems are no result: they are shown even so
    if ctx.out.quiet {
        return Ok(());
    }
    if report.files_found == 0 {
        ctx.out.wrapped("no logs found")?;
        ctx.out
            .note("to list the folders that are searched: sessionmill status")?;
    } else {
        for line in report.news(done.read_ms) {
            ctx.out.wrapped(line)?;
        }
        if report.ledger.of(Fate::Rejected) > 0 {
            ctx.out
                .note("to see where rejected lines are: sessionmill status")?;
        }
    }
    for line in done.lines(ctx.zone) {
        ctx.out.wrapped(line)?;
    }
    if let Some(group) = &report.group_kept {
        ctx.out.warn(format!(
            "this machine's name has changed; new episodes still go to the group {group}"
        ))?;
        ctx.out
            .note("to choose the group: sessionmill config set session_tracking.group_id NAME")?;
    }
    for line in report.left_out_lines() {
        ctx.out.wrapped(line)?;
    }
    if report.files_outside > done.outside_before {
        let left = report.left();
        ctx.out
            .wrapped(left.words(loaded.config.keep_length_days))?;
        ctx.out.note(format!("hint: {BACKFILL}"))?;
    }
    for sweep in &done.sweeps {
        ctx.out.wrapped(sweep.line())?;
    }
    Ok(())
}

/// The same for machines.
fn document(done: &RunReport, ctx: &mut Ctx) -> Result<()> {
    let mut body = serde_json::to_value(&done.ingested)?;
    let (promoted, tracked) = (&done.promoted, &done.tracked);
    let EnrichReport {
        tools,
        condensed,
        llm_summaries,
        embedded,
        ..
    } = &done.enriched;
    body["memories_kept"] = promoted.kept.into();
    body["directives_refused"] = promoted.refused.len().into();
    body["git_operations"] = tracked.operations.into();
    body["git_trees_opened"] = tracked.opened.into();
    body["git_problems"] = track_report::problems(tracked);
    body["files"] = track_report::files(&tracked.files);
    body["tools_asked"] = tools.asked.into();
    body["tools_learned"] = tools.learned.into();
    body["summaries_written"] = done.enriched.summaries_written().into();
    body["summaries_told"] = llm_summaries.sessions.into();
    body["messages_condensed"] = condensed.messages.into();
    body["texts_embedded"] = embedded.texts.into();
    body["texts_given_up"] = embedded.given_up.into();
    body["llm_tokens"] = (tools.spent.tokens + condensed.spent.tokens + llm_summaries.tokens)
        .total()
        .into();
    body["sinks"] = serde_json::to_value(&done.uploaded)?;
    body["projects_moved"] = serde_json::to_value(&promoted.moved)?;
    body["deleted_unread"] = serde_json::to_value(&done.sweeps)?;
    body["took_ms"] = ctx.elapsed_ms().into();
    let command = ctx.out.command.clone();
    ctx.out.document(&command, body)
}
