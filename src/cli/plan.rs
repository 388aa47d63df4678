//! `plan`: what a run would do and cost. Reads, writes nothing.

use super::bar::Bar;
use super::cost::{self, Cost};
use super::ctx::Ctx;
use super::embed;
use super::enrich;
use super::exit::Exit;
use super::human::{bytes, count, duration_ms, plural, share};
use super::run::Options;
use super::setup::{self, Orders};
use super::tables;
use super::tell;
use crate::config::{Config, Loaded, gate};
use crate::memory::screen;
use crate::model::time::Time;
use crate::pipeline::admission::Admission;
use crate::pipeline::steps::upload::deliver::PENDING_MS;
use crate::pipeline::steps::enrich::tools::Question;
use crate::pipeline::progress::{Progress, Silent};
use crate::pipeline::steps::ingest::report::Report;
use crate::pipeline::steps::ingest;
use crate::pipeline::spec::{Pipeline, Step};
use crate::pipeline::steps::enrich::llm_summary::Predicted;
use crate::store::{Resting, Store};
use anyhow::Result;
use std::collections::BTreeSet;

/// Say what a run would do and cost, without doing it
///
/// Reads what a run would read and cuts it the same way; writes nothing, not even a checkpoint.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The pipeline's name
    #[arg(value_name = "PIPELINE", default_value = "nightly")]
    pipeline: String,
    #[command(flatten)]
    options: Options,
}

/// Plans.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let mut pipeline = ctx.pipeline(&args.pipeline)?;
    args.options.apply(&mut pipeline, ctx);
    let loaded = ctx.settings()?;
    let gate = gate(&loaded.config);
    if !gate.enabled {
        let body = serde_json::json!({"enabled": false, "reason": gate.reason});
        match ctx.out.json {
            true => ctx.out.document("plan", body)?,
            false => ctx
                .out
                .line(format!("a run would read nothing: {}", gate.reason))?,
        }
        ctx.out.note("hint: sessionmill enable")?;
        return Ok(Exit::Done);
    }
    let orders = Orders::new(&pipeline, ctx);
    let env = ctx.env.clone();
    let admission = Admission::new(&loaded, &env, orders.window, orders.now)
        .allowing_untrusted(args.options.allow_untrusted);
    let admit =
        |project: Option<&str>, cwd: Option<&str>, path: &str| admission.admit(project, cwd, path);
    let screen = screen::reproducible(&loaded.config, &ctx.home)?;
    let classifier = tables::counter(&ctx.home)?;
    let setup = setup::setup(&loaded.config, &orders, screen, classifier, &admit);
    let mut store: Option<Store> = match ctx.home.store().exists() {
        true => Some(ctx.reader()?),
        false => None,
    };
    let bar = Bar::default();
    let progress: &dyn Progress = if ctx.out.shows_progress() {
        &bar
    } else {
        &Silent
    };
    let planned = run::plan(store.as_ref(), &setup, progress);
    progress.finish();
    let mut report = planned?;
    report.unclear(admission.unclear());
    let asked = asked(&pipeline, &loaded, &orders, &report, &mut store, ctx)?;
    print(&report, &asked, &loaded.config, ctx)?;
    Ok(match report.problems.is_empty() {
        true => Exit::Done,
        false => Exit::Partial,
    })
}

/// What the steps after reading would do, of what is stored by now.
fn asked(
    pipeline: &Pipeline,
    loaded: &Loaded,
    orders: &Orders,
    report: &Report,
    store: &mut Option<Store>,
    ctx: &mut Ctx,
) -> Result<Asked> {
    let mut asked = Asked::default();
    if pipeline.steps.contains(&Step::Enrich) {
        let settled_ms = loaded.config.chunk.gap_ms;
        asked.pages = pages(store.as_ref(), report, settled_ms, ctx)?;
        asked.may_ask = MayAsk::of(&loaded.config, report);
        if let Some(store) = store.as_mut() {
            asked.asks = enrich::planned(&loaded.config, store, ctx)?;
            asked.told = tell::predicted(loaded, orders, store, ctx)?;
            asked.texts = embed::planned(loaded, store, ctx)?;
        }
    }
    if let (Some(store), true) = (store, pipeline.steps.contains(&Step::Upload)) {
        asked.costs = cost::costs(loaded, store, report, asked.pages, ctx)?;
    }
    Ok(asked)
}

/// The sessions that a run would write pages of: those that rest, of what it would read and of what is
/// stored. A session that has nothing to tell counts too.
fn pages(store: Option<&Store>, report: &Report, settled_ms: i64, ctx: &Ctx) -> Result<u64> {
    let rested = Time(ctx.now.0.saturating_sub(settled_ms));
    let resting = Resting {
        now: ctx.now,
        settled_ms,
        pending_ms: PENDING_MS,
    };
    let stored = store.map_or(Ok(Vec::new()), |store| store.unsummarised(resting))?;
    let read = report.ended_before(rested);
    let sessions: BTreeSet<&str> = read.chain(stored.iter().map(|s| s.id.as_str())).collect();
    Ok(sessions.len() as u64)
}

/// What others would be asked, and what is written without them.
#[derive(Default)]
struct Asked {
    /// About unknown tools.
    asks: Option<Question>,
    /// About sessions.
    told: Option<Predicted>,
    /// For the vectors of texts.
    texts: Option<u64>,
    /// About what is not read yet.
    may_ask: Option<MayAsk>,
    /// Sessions that get their page.
    pages: u64,
    /// By sinks.
    costs: Vec<Cost>,
}

/// What asking about the logs that a run would read can come to, with what the store has: its bounds.
struct MayAsk {
    /// `None` inside: no bound; outside: no language model.
    llm: Option<(Option<u64>, Option<f64>)>,
    /// Texts for their vectors.
    texts: Option<usize>,
}

impl MayAsk {
    /// `None`: nothing would be read, or nobody asked.
    fn of(config: &Config, report: &Report) -> Option<MayAsk> {
        let may_ask = MayAsk {
            llm: config.llm.as_ref().map(|llm| (llm.tokens_max, llm.usd_max)),
            texts: config.embeddings.as_ref().map(|model| model.texts_max),
        };
        let asks = may_ask.llm.is_some() || may_ask.texts.is_some();
        (asks && report.files_read > 0).then_some(may_ask)
    }

    fn json(&self) -> serde_json::Value {
        let (tokens, usd) = self.llm.unzip();
        serde_json::json!({
            "tokens_max": tokens.flatten(),
            "usd_max": usd.flatten(),
            "texts_max": self.texts,
        })
    }

    fn line(&self) -> String {
        let llm = self.llm.map(|(tokens, usd)| {
            let tokens = tokens.map(|most| format!("{} tokens", count(most)));
            let usd = usd.map(|most| format!("${most:.2}"));
            let bounds: Vec<String> = tokens.into_iter().chain(usd).collect();
            match bounds.is_empty() {
                true => "a language model, without a bound (llm.max_tokens_per_run)".to_owned(),
                false => format!("a language model, for {} at most", bounds.join(" and ")),
            }
        });
        let texts = self.texts.map(|most| {
            let texts = plural(most as u64, "text");
            format!("a model of vectors, with {texts} at most")
        });
        let asked: Vec<String> = llm.into_iter().chain(texts).collect();
        format!(
            "and ask about what it reads too, which isn't known before: {}",
            asked.join("; ")
        )
    }
}

fn print(report: &Report, asked: &Asked, config: &Config, ctx: &mut Ctx) -> Result<()> {
    let asks = asked.asks.as_ref();
    if ctx.out.json {
        let mut body = serde_json::to_value(report)?;
        body["text_tokens"] = report.text_tokens().into();
        body["asks"] = serde_json::json!(asks.map(|question| &question.names));
        let prices = config.llm.as_ref().map(|llm| llm.usd_per_million);
        body["summaries"] = serde_json::json!(asked.told.map(|told| serde_json::json!({
            "sessions": told.sessions,
            "input_tokens": told.tokens.input,
            "output_tokens": told.tokens.output,
            "usd": told.tokens.usd(prices.unwrap_or_default()),
        })));
        body["embeddings"] =
            serde_json::json!(asked.texts.map(|texts| serde_json::json!({"texts": texts})));
        body["may_ask"] = asked.may_ask.as_ref().map(MayAsk::json).into();
        body["pages"] = asked.pages.into();
        body["sinks"] = asked.costs.iter().map(Cost::json).collect();
        body["took_ms"] = ctx.elapsed_ms().into();
        return ctx.out.document("plan", body);
    }
    for problem in &report.problems {
        ctx.out
            .warn(format!("{}: {}", problem.path, problem.reason))?;
    }
    let tally = &report.tally;
    ctx.out.line(format!(
        "a run would read {} of {}: {}, {}",
        count(report.files_read),
        plural(report.files_found, "log"),
        plural(report.ledger.total(), "line"),
        bytes(tally.read_bytes),
    ))?;
    ctx.out.line(format!(
        "and store {} ({} may still grow): {} of text, {} of what was read, ≈ {} tokens",
        plural(report.episodes_sealed + report.episodes_open, "episode"),
        count(report.episodes_open),
        bytes(report.text_bytes),
        share(report.text_bytes, tally.read_bytes),
        count(report.text_tokens()),
    ))?;
    if asked.pages > 0 {
        ctx.out.line(format!(
            "and write the pages of {}",
            plural(asked.pages, "session")
        ))?;
    }
    requests(asked, config, ctx)?;
    for (reason, files) in &report.left_out {
        ctx.out
            .line(format!("left out: {} ({reason})", plural(*files, "file")))?;
    }
    if report.files_outside > 0 {
        let (files, size) = (
            plural(report.files_outside, "file"),
            bytes(report.bytes_outside),
        );
        ctx.out.line(format!(
            "older than the window: {files}, {size} (sessionmill backfill)"
        ))?;
    }
    ctx.out
        .note(format!("planned in {}", duration_ms(ctx.elapsed_ms())))
}

/// What would be sent, and to whom.
fn requests(asked: &Asked, config: &Config, ctx: &mut Ctx) -> Result<()> {
    let costs = &asked.costs;
    let told = asked.told.filter(|told| told.sessions > 0);
    if let (Some(told), Some(llm)) = (told, &config.llm) {
        ctx.out.line(format!(
            "and ask {} at {} what {} came to that the store has: ≈ {} tokens, ${:.2}",
            llm.model,
            llm.endpoint,
            plural(told.sessions, "session"),
            count(told.tokens.total()),
            told.tokens.usd(llm.usd_per_million),
        ))?;
    }
    let texts = asked.texts.filter(|texts| *texts > 0);
    if let (Some(texts), Some(model)) = (texts, &config.embeddings) {
        ctx.out.line(format!(
            "and send {} that the store has to {} at {} for their vectors",
            plural(texts, "text"),
            model.model,
            model.endpoint,
        ))?;
    }
    match (&asked.asks, &config.llm) {
        (Some(question), Some(llm)) => {
            let tools = plural(question.names.len() as u64, "unknown tool");
            let names = question.names.join(", ");
            ctx.out.line(format!(
                "and ask {} at {} about {tools} that the store knows: {names}",
                llm.model, llm.endpoint
            ))?;
        }
        _ if told.is_some() || texts.is_some() || costs.iter().any(Cost::has_model) => {}
        _ if asked.may_ask.is_some() => {}
        _ => ctx
            .out
            .line("in money: nothing; no language model is asked")?,
    }
    if let Some(may_ask) = &asked.may_ask {
        ctx.out.line(may_ask.line())?;
    }
    for line in costs.iter().flat_map(Cost::lines) {
        ctx.out.line(line)?;
    }
    Ok(())
}
