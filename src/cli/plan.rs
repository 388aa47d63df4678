//! `plan`: what a run would do and cost. Reads, writes nothing.

use super::bar::Bar;
use super::ctx::Ctx;
use super::exit::Exit;
use super::run::Options;
use crate::config::{Config, gate};
use crate::model::human::{bytes, count, duration_ms, plural, roughly, share};
use crate::pipeline::cost::Cost;
use crate::pipeline::last_run::outside_line;
use crate::pipeline::options::RunOptions;
use crate::pipeline::plan::{MayAsk, Plan, plan};
use crate::pipeline::sweep::sweeps;
use crate::store::Store;
use anyhow::Result;
use serde_json::json;

/// Show what a run would do and cost, without doing it
///
/// Reads what a run would read and processes it the same way, but writes nothing.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Name of the pipeline
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
                .wrapped(format!("nothing would be read: {}", gate.reason))?,
        }
        ctx.out.note("hint: sessionmill init")?;
        return Ok(Exit::Done);
    }
    let store: Option<Store> = match ctx.home.store().exists() {
        true => Some(ctx.reader()?),
        false => None,
    };
    let bar = Bar::new(ctx.out.shows_progress());
    let mut cx = ctx.pipeline_context(&loaded, &bar);
    let options = RunOptions {
        allow_untrusted: args.options.allow_untrusted,
        ..RunOptions::new(&pipeline, &cx)
    };
    let planned = plan(&pipeline, &options, store.as_ref(), &mut cx)?;
    print(&planned, &loaded.config, ctx)?;
    Ok(match planned.report.problems.is_empty() {
        true => Exit::Done,
        false => Exit::Partial,
    })
}

fn print(plan: &Plan, config: &Config, ctx: &mut Ctx) -> Result<()> {
    let report = &plan.report;
    if ctx.out.json {
        let mut body = serde_json::to_value(report)?;
        body["deleted_unread"] = json!(sweeps(&report.unread, &ctx.env, ctx.now));
        body["text_tokens"] = report.text_tokens().into();
        body["asks"] = json!(plan.tools.as_ref().map(|question| &question.names));
        let prices = config.llm.as_ref().map(|llm| llm.usd_per_million);
        body["summaries"] = json!(plan.llm_summaries.map(|predicted| json!({
            "sessions": predicted.sessions,
            "input_tokens": predicted.tokens.input,
            "output_tokens": predicted.tokens.output,
            "usd": predicted.tokens.usd(prices.unwrap_or_default()),
        })));
        body["messages"] = json!(plan.messages.map(|planned| json!({
            "messages": planned.messages,
            "input_tokens": planned.tokens.input,
            "output_tokens": planned.tokens.output,
            "usd": planned.tokens.usd(prices.unwrap_or_default()),
        })));
        body["embeddings"] = json!(plan.texts.map(|texts| json!({"texts": texts})));
        body["may_ask"] = plan.may_ask.as_ref().map(MayAsk::json).into();
        body["pages"] = plan.summaries.into();
        body["sinks"] = plan.costs.iter().map(Cost::json).collect();
        body["took_ms"] = ctx.elapsed_ms().into();
        return ctx.out.document("plan", body);
    }
    for problem in &report.problems {
        ctx.out
            .warn(format!("{}: {}", problem.path, problem.reason))?;
    }
    let tally = &report.tally;
    ctx.out.wrapped(format!(
        "would read {} of {}: {}, {}",
        count(report.files_read),
        plural(report.files_found, "log"),
        plural(report.ledger.total(), "line"),
        bytes(tally.read_bytes),
    ))?;
    if report.ledger.total() > 0 {
        ctx.out.wrapped(format!(
            "would store {} ({} may still grow): {} of text ({} of the input), ≈ {} tokens",
            plural(report.episodes_sealed + report.episodes_open, "episode"),
            count(report.episodes_open),
            bytes(report.text_bytes),
            share(report.text_bytes, tally.read_bytes),
            roughly(report.text_tokens()),
        ))?;
    }
    if plan.summaries > 0 {
        ctx.out.wrapped(format!(
            "would write summaries of {}",
            plural(plan.summaries, "session")
        ))?;
    }
    requests(plan, config, ctx)?;
    let outside = outside_line(report.files_outside, report.bytes_outside);
    for line in report.left_out_lines().chain(outside) {
        ctx.out.wrapped(line)?;
    }
    ctx.out
        .note(format!("planned in {}", duration_ms(ctx.elapsed_ms())))
}

/// What would be sent, and to whom.
fn requests(plan: &Plan, config: &Config, ctx: &mut Ctx) -> Result<()> {
    let costs = &plan.costs;
    let predicted = plan
        .llm_summaries
        .filter(|predicted| predicted.sessions > 0);
    if let (Some(predicted), Some(llm)) = (predicted, &config.llm) {
        ctx.out.wrapped(format!(
            "would ask {} at {} to summarize {} in the store: ≈ {} tokens, ${:.2}",
            llm.model,
            llm.endpoint,
            plural(predicted.sessions, "session"),
            roughly(predicted.tokens.total()),
            predicted.tokens.usd(llm.usd_per_million),
        ))?;
    }
    let messages = plan.messages.filter(|planned| planned.messages > 0);
    if let (Some(planned), Some(llm)) = (messages, &config.llm) {
        ctx.out.wrapped(format!(
            "would ask {} at {} to condense {} in the store: ≈ {} tokens, ${:.2}",
            llm.model,
            llm.endpoint,
            plural(planned.messages, "long message"),
            roughly(planned.tokens.total()),
            planned.tokens.usd(llm.usd_per_million),
        ))?;
    }
    let texts = plan.texts.filter(|texts| *texts > 0);
    if let (Some(texts), Some(model)) = (texts, &config.embeddings) {
        ctx.out.wrapped(format!(
            "would send {} from the store to {} at {} for embedding",
            plural(texts, "text"),
            model.model,
            model.endpoint,
        ))?;
    }
    match (&plan.tools, &config.llm) {
        (Some(question), Some(llm)) => {
            let tools = plural(question.names.len() as u64, "unknown tool");
            let names = question.names.join(", ");
            ctx.out.wrapped(format!(
                "would ask {} at {} about {tools} in the store: {names}",
                llm.model, llm.endpoint
            ))?;
        }
        // what these cost is said in lines of their own
        _ if predicted.is_some()
            || messages.is_some()
            || texts.is_some()
            || costs.iter().any(|cost| cost.model.is_some()) => {}
        _ if plan.may_ask.is_some() => {}
        _ => ctx.out.wrapped("cost: $0 (no LLM calls)")?,
    }
    if let Some(may_ask) = &plan.may_ask {
        ctx.out.wrapped(may_ask.line())?;
    }
    for line in costs.iter().flat_map(Cost::lines) {
        ctx.out.wrapped(line)?;
    }
    Ok(())
}
