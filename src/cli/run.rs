//! `run` and `backfill`: one pipeline, once.

use super::activity;
use super::bar::Bar;
use super::check;
use super::ctx::Ctx;
use super::deliver;
use super::embed;
use super::enrich::{self, Enriched};
use super::exit::Exit;
use super::human::{bytes, count, duration_ms, plural};
use super::runlog;
use super::setup::{self, Orders};
use super::tables;
use super::tell;
use super::track;
use super::when::When;
use crate::config::{Loaded, gate};
use crate::host::interrupt;
use crate::memory::groups::meet_projects;
use crate::memory::screen;
use crate::model::consent::{Consent, TRACKING};
use crate::model::error::Error;
use crate::model::ledger::Fate;
use crate::pipeline::admission::Admission;
use crate::pipeline::steps::upload::deliver::Delivered;
use crate::pipeline::lock::Lock;
use crate::pipeline::progress::{Progress, Silent};
use crate::pipeline::steps::promote::{Promoted, promote};
use crate::pipeline::steps::ingest::report::Report;
use crate::pipeline::steps::ingest::{self, Setup};
use crate::pipeline::spec::{self, Pipeline, Step, Window};
use crate::pipeline::steps::enrich::session_summary;
use crate::pipeline::steps::enrich::llm_summary::Told;
use crate::store::{Access, Store, Stored};
use anyhow::Result;
use std::io::Write;

/// Run a pipeline: read what is new in the logs and make it searchable
///
/// Without a name it is `nightly`. `backfill` takes all logs, however old; `ci` compares a corpus
/// with a recorded result. Your own pipelines are files in ~/.graphiti/pipelines (docs/pipelines.md).
/// A run may be stopped and repeated at any time; one after another without news does nothing.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The pipeline's name
    #[arg(value_name = "PIPELINE", default_value = "nightly")]
    pipeline: String,
    #[command(flatten)]
    options: Options,
    /// Index into a throw-away store and compare with the recorded result; a difference is exit 1
    #[arg(long, conflicts_with = "rebuild")]
    check: bool,
    /// With --check: record the result instead
    #[arg(long, requires = "check")]
    record: bool,
}

/// Run the pipeline `backfill`: all logs, however old
#[derive(clap::Args, Debug)]
pub struct BackfillArgs {
    #[command(flatten)]
    options: Options,
}

/// What both understand.
#[derive(clap::Args, Debug)]
pub struct Options {
    /// Only these steps: ingest, track, enrich, upload, report
    #[arg(long, value_name = "STEPS", value_delimiter = ',', value_parser = Step::parse)]
    steps: Vec<Step>,
    /// Derive everything again from the logs that still exist
    #[arg(long)]
    rebuild: bool,
    /// Only logs modified since: 14d, 2h, 2026-04-01
    #[arg(long, value_name = "WHEN", conflicts_with = "all")]
    since: Option<When>,
    /// All logs, however old
    #[arg(long)]
    all: bool,
    /// This time, read the logs of projects too that an agent was told not to trust
    #[arg(long)]
    pub allow_untrusted: bool,
    /// Ask the models again about sessions and texts that were given up, and at once about those that
    /// wait
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
        false => execute(&pipeline, &args.options, ctx),
    }
}

/// `run backfill`.
pub fn backfill(args: &BackfillArgs, ctx: &mut Ctx) -> Result<Exit> {
    let mut pipeline = ctx.pipeline("backfill")?;
    args.options.apply(&mut pipeline, ctx);
    execute(&pipeline, &args.options, ctx)
}

/// Everything that can fail at once fails before the first log is opened.
fn execute(pipeline: &Pipeline, options: &Options, ctx: &mut Ctx) -> Result<Exit> {
    let loaded = ctx.settings()?;
    let gate = gate(&loaded.config);
    if !gate.enabled {
        let command = ctx.out.command.clone();
        return refuse(&command, &gate.reason, ctx);
    }
    if !pipeline.steps.contains(&Step::Ingest) {
        let message = format!(
            "pipeline `{}` has nothing to report without `ingest`",
            pipeline.name
        );
        return Err(Error::usage(message).hinted("sessionmill status").into());
    }
    let orders = Orders::new(pipeline, ctx);
    let env = ctx.env.clone();
    let admission = Admission::new(&loaded, &env, orders.window, orders.now)
        .allowing_untrusted(options.allow_untrusted);
    let lock = Lock::take(&ctx.home.lock())?;
    let screen = screen::screen(&loaded.config, &ctx.home)?;
    let classifier = tables::counter(&ctx.home)?;
    let mut store = Store::open(&ctx.home.store(), Access::ReadWrite)?;
    agree_by_configuration(&gate.reason, &mut store, ctx)?;
    let enriches = pipeline.steps.contains(&Step::Enrich);
    if enriches {
        prepare_enrich(&loaded, options, &mut store, ctx)?;
    }
    let uploads = pipeline.steps.contains(&Step::Upload);
    if uploads {
        deliver::prepare(&loaded, &mut store, ctx)?;
    }
    let admit =
        |project: Option<&str>, cwd: Option<&str>, path: &str| admission.admit(project, cwd, path);
    let redactor = screen.redactor.clone();
    let setup = setup::setup(&loaded.config, &orders, screen, classifier, &admit);
    let mut report =
        ingest(&mut store, &setup, ctx).map_err(|error| failed(error, pipeline, ctx))?;
    report.unclear(admission.unclear());
    let read_ms = ctx.elapsed_ms();
    meet_projects(&mut store)?;
    let promoted = promote(&mut store, &loaded.config.memory, &redactor)?;
    let tracked = match pipeline.steps.contains(&Step::Track) {
        true => track::run_all(&loaded, &admission, &orders, &redactor, &mut store)?,
        false => track::Done::default(),
    };
    let enriched = match enriches {
        true => enrich(&loaded, &orders, &mut store, ctx)
            .map_err(|error| failed(error, pipeline, ctx))?,
        false => Enrichment::default(),
    };
    let delivered = match uploads {
        true => deliver::upload(&loaded, &mut store, ctx)?,
        false => Vec::new(),
    };
    store.finish()?;
    lock.stamp(ctx.now)?;
    let done = Done {
        report,
        read_ms,
        promoted,
        tracked,
        enriched,
        delivered,
    };
    log(pipeline, &done, ctx)?;
    if pipeline.steps.contains(&Step::Report) {
        tell(&done, &loaded, ctx)?;
    }
    Ok(exit(&done))
}

/// Whatever would make the step `enrich` fail fails here.
fn prepare_enrich(
    loaded: &Loaded,
    options: &Options,
    store: &mut Store,
    ctx: &mut Ctx,
) -> Result<()> {
    enrich::check(&loaded.config, store, ctx)?;
    embed::check(&loaded.config, store, ctx)?;
    tell::template(&loaded.config)?;
    match options.ask_again {
        true => Ok(store.ask_all_again()?),
        false => Ok(()),
    }
}

/// What could not be read is not all that was to be read.
fn exit(done: &Done) -> Exit {
    let is_whole = done.report.problems.is_empty() && done.tracked.unread() == 0;
    match is_whole {
        true => deliver::exit(&done.delivered),
        false => Exit::Partial,
    }
}

/// Says it in the log of runs. The error is told anyway; a log that can't be written must not hide it.
fn failed(error: anyhow::Error, pipeline: &Pipeline, ctx: &Ctx) -> anyhow::Error {
    let text = format!("run {}: failed: {error:#}", pipeline.name);
    let _ = runlog::append(&ctx.home.logs(), ctx.now, ctx.zone, &text);
    error
}

/// The step `ingest`, with a bar where somebody looks.
fn ingest(store: &mut Store, setup: &Setup<'_>, ctx: &Ctx) -> Result<Report> {
    let bar = Bar::default();
    let progress: &dyn Progress = match ctx.out.shows_progress() {
        true => {
            // a run that can't say so can be stopped all the same
            let _ = interrupt::before_it_ends(|| {
                let _ = writeln!(std::io::stderr(), "\n{STOPPED}");
            });
            &bar
        }
        false => &Silent,
    };
    let ran = run::run(store, setup, progress);
    progress.finish();
    ran
}

/// What somebody is told who presses Ctrl-C.
const STOPPED: &str = "stopped: what is stored stays; the same command goes on from there";

/// What the step `enrich` did.
#[derive(Default)]
struct Enrichment {
    tools: Enriched,
    /// Pages of sessions.
    pages: Stored,
    told: Told,
    embedded: embed::Done,
}

/// The step `enrich`: unknown tools are asked about, sessions that rest get their page, a model is asked
/// what it adds, and texts get their vectors.
fn enrich(
    loaded: &Loaded,
    orders: &Orders,
    store: &mut Store,
    ctx: &mut Ctx,
) -> Result<Enrichment> {
    let tools = enrich::enrich(&loaded.config, store, ctx)?;
    let judge = activity::judge(ctx)?;
    let mut resting = summarise::Orders {
        now: ctx.now,
        settled_ms: loaded.config.chunk.gap_ms,
        jobs: orders.jobs,
        judge: &judge,
        hides: &mut |project| ctx.hides_paths_of(project),
    };
    let pages = summarise::summarise(store, &mut resting)?;
    let told = tell::tell(loaded, orders, tools.tokens, store, ctx)?;
    let embedded = embed::embed(loaded, store, ctx)?;
    Ok(Enrichment {
        tools,
        pages,
        told,
        embedded,
    })
}

impl Enrichment {
    fn lines(&self) -> impl Iterator<Item = String> {
        let pages = written(&self.pages);
        let told = tell::line(&self.told);
        let embedded = embed::line(&self.embedded);
        let tools = self.tools.line().into_iter();
        tools.chain(pages).chain(told).chain(embedded)
    }
}

/// What the steps of a run did.
struct Done {
    report: Report,
    /// When reading was done, after the program's start.
    read_ms: u64,
    promoted: Promoted,
    tracked: track::Done,
    enriched: Enrichment,
    delivered: Vec<Delivered>,
}

/// A line in the log of runs, where there is news.
fn log(pipeline: &Pipeline, done: &Done, ctx: &mut Ctx) -> Result<()> {
    let also: Vec<String> = memories(&done.promoted)
        .into_iter()
        .chain(track::line(&done.tracked))
        .chain(done.enriched.lines())
        .chain(deliver::lines(&done.delivered, ctx))
        .collect();
    if !has_news(&done.report) && also.is_empty() {
        return Ok(());
    }
    let refused = done.promoted.refused.iter();
    let refused = refused.map(|(id, why)| format!("directive {id} refused: {why}"));
    let also: Vec<String> = also.into_iter().chain(refused).collect();
    let took = duration_ms(ctx.elapsed_ms());
    let also: String = also.iter().map(|line| format!(", {line}")).collect();
    let summary = summary(&done.report);
    let text = format!("run {}: {summary}{also}, took {took}", pipeline.name);
    match runlog::append(&ctx.home.logs(), ctx.now, ctx.zone, &text) {
        Ok(()) => Ok(()),
        Err(error) => ctx.out.warn(format!("the run is not in the log: {error}")),
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
        .note(format!("tracking is off, nothing was read: {reason}"))?;
    ctx.out.note("hint: sessionmill enable")?;
    Ok(Exit::Done)
}

/// `enabled: true`, written by the user, is consent; it is recorded as what it is (D20).
fn agree_by_configuration(reason: &str, store: &mut Store, ctx: &Ctx) -> Result<()> {
    if store
        .consents()?
        .iter()
        .any(|consent| consent.scope == TRACKING)
    {
        return Ok(());
    }
    store.record_consent(&Consent {
        scope: TRACKING.into(),
        given: true,
        text: format!("by configuration: {reason}"),
        version: env!("CARGO_PKG_VERSION").into(),
        at: ctx.now,
    })?;
    Ok(())
}

fn has_news(report: &Report) -> bool {
    report.files_read + report.files_moved + report.episodes_redacted > 0
        || !report.problems.is_empty()
}

/// One line without content, for the log.
fn summary(report: &Report) -> String {
    format!(
        "{} read, {}, {} kept, {} rejected, {}, {} changed, {}",
        plural(report.files_read, "file"),
        bytes(report.bytes_read),
        plural(report.ledger.of(Fate::Kept), "line"),
        count(report.ledger.of(Fate::Rejected)),
        plural(report.episodes_new, "new episode"),
        count(report.episodes_changed),
        plural(report.problems.len() as u64, "problem"),
    )
}

/// What became of directives; nothing where there were none.
fn memories(promoted: &Promoted) -> Option<String> {
    let refused = promoted.refused.len() as u64;
    let kept = plural(promoted.kept, "directive");
    let why = "sessionmill memories list --refused";
    match (promoted.kept, refused) {
        (0, 0) => None,
        (_, 0) => Some(format!("{kept} kept as memory")),
        _ => Some(format!("{kept} kept as memory, {refused} refused ({why})")),
    }
}

/// How many pages were written; `None` where there were none.
fn written(stored: &Stored) -> Option<String> {
    let pages = stored.new + stored.changed;
    (pages > 0).then(|| format!("{} written", plural(pages, "session summary")))
}

/// The step `report`.
fn tell(done: &Done, loaded: &Loaded, ctx: &mut Ctx) -> Result<()> {
    let Done {
        report,
        promoted,
        tracked,
        enriched,
        ..
    } = done;
    if ctx.out.json {
        return document(done, ctx);
    }
    for problem in &report.problems {
        ctx.out
            .warn(format!("{}: {}", problem.path, problem.reason))?;
    }
    for problem in track::warnings(tracked) {
        ctx.out.warn(problem)?;
    }
    if ctx.out.quiet {
        return Ok(());
    }
    if report.files_found == 0 {
        ctx.out.line("there are no logs in the configured places")?;
        ctx.out.note("hint: sessionmill status lists them")?;
    } else {
        news(report, done.read_ms, ctx)?;
    }
    let told = memories(promoted).into_iter().chain(track::line(tracked));
    for line in told.chain(enriched.lines()) {
        ctx.out.line(line)?;
    }
    for line in deliver::lines(&done.delivered, ctx) {
        ctx.out.line(line)?;
    }
    if let Some(group) = &report.group_kept {
        ctx.out.warn(format!(
            "this machine has another name now; new episodes go on to the group {group}"
        ))?;
        ctx.out
            .note("hint: set `session_tracking.group_id` to settle which group they go to")?;
    }
    if report.drift() > 0 {
        ctx.out.line(format!(
            "drift: {} in {} (sessionmill status --drift)",
            plural(report.drift(), "unknown name"),
            plural(report.files_drifting, "file"),
        ))?;
    }
    for (reason, files) in &report.left_out {
        ctx.out
            .line(format!("left out: {} ({reason})", plural(*files, "file")))?;
    }
    if report.files_outside > 0 {
        let days = loaded.config.keep_length_days.unwrap_or_default();
        ctx.out.line(format!(
            "{} ({}) older than {} were left out",
            plural(report.files_outside, "log"),
            bytes(report.bytes_outside),
            plural(u64::from(days), "day"),
        ))?;
        ctx.out.note("hint: sessionmill backfill")?;
    }
    Ok(())
}

/// The same for machines.
fn document(done: &Done, ctx: &mut Ctx) -> Result<()> {
    let Done {
        report,
        promoted,
        tracked,
        enriched,
        ..
    } = done;
    let mut body = serde_json::to_value(report)?;
    let Enrichment {
        tools,
        pages,
        told,
        embedded,
    } = enriched;
    body["memories_kept"] = promoted.kept.into();
    body["directives_refused"] = promoted.refused.len().into();
    body["git_operations"] = tracked.operations.into();
    body["git_trees_opened"] = tracked.opened.into();
    body["git_problems"] = track::problems(tracked);
    body["files"] = track::files(&tracked.files);
    body["tools_asked"] = tools.asked.into();
    body["tools_learned"] = tools.learned.into();
    body["summaries_written"] = (pages.new + pages.changed).into();
    body["summaries_told"] = told.sessions.into();
    body["texts_embedded"] = embedded.texts.into();
    body["texts_given_up"] = embedded.given_up.into();
    body["llm_tokens"] = (tools.tokens + told.tokens.total()).into();
    body["sinks"] = serde_json::to_value(&done.delivered)?;
    body["took_ms"] = ctx.elapsed_ms().into();
    let command = ctx.out.command.clone();
    ctx.out.document(&command, body)
}

fn news(report: &Report, read_ms: u64, ctx: &mut Ctx) -> Result<()> {
    if !has_news(report) {
        let logs = plural(report.files_unchanged, "log");
        return ctx.out.line(format!("nothing new in {logs}"));
    }
    let took = duration_ms(read_ms);
    ctx.out.line(format!(
        "read {} of {} ({}) in {took}",
        count(report.files_read),
        plural(report.files_found, "log"),
        bytes(report.tally.read_bytes),
    ))?;
    let ledger = &report.ledger;
    let fates = [
        Fate::Kept,
        Fate::Filtered,
        Fate::Copied,
        Fate::Unknown,
        Fate::Rejected,
    ];
    let fates = fates.map(|fate| format!("{} {}", count(ledger.of(fate)), fate.as_str()));
    let lines = plural(ledger.total(), "line");
    ctx.out.line(format!(
        "{lines}: {}, {} pending",
        fates.join(", "),
        ledger.pending
    ))?;
    ctx.out.line(format!(
        "{}, {} changed; {} of text, ≈ {} tokens",
        plural(report.episodes_new, "new episode"),
        count(report.episodes_changed),
        bytes(report.text_bytes),
        count(report.text_tokens()),
    ))?;
    if report.episodes_redacted > 0 {
        let episodes = plural(report.episodes_redacted, "stored episode");
        ctx.out.line(format!("{episodes} masked by new rules"))?;
    }
    if ledger.of(Fate::Rejected) + ledger.of(Fate::Unknown) > 0 {
        ctx.out
            .note("hint: sessionmill status says where they are")?;
    }
    Ok(())
}
