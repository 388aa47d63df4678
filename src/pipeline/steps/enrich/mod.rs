//! The step `enrich`: unknown tools are asked about, long messages are condensed, sessions that rest get their
//! summary, a language model is asked what it adds, and texts get their vectors.

pub mod alarms;
pub mod budget;
pub mod condense;
pub mod embeddings;
pub mod llm_summary;
pub mod models;
pub mod passages;
mod report;
pub mod session_summary;
pub mod tools;

use crate::pipeline::active_run::Run;
use crate::store::Spent;
pub use report::EnrichReport;

use anyhow::Result;
use session_summary::SummarizeOptions;

/// Whatever would make the step fail fails here.
///
/// # Errors
/// Where nobody agreed to a model's endpoint, a key is missing, or the user's template is wrong.
pub fn prepare(run: &mut Run<'_, '_>) -> Result<()> {
    let consents = run.store.consents()?;
    models::check_language_model(&consents, run.cx)?;
    models::check_embedder(&consents, run.cx)?;
    llm_summary::template(&run.cx.loaded.config)?;
    condense::templates(&run.cx.loaded.config)?;
    match run.options.ask_again {
        true => Ok(run.store.ask_all_again()?),
        false => Ok(()),
    }
}

/// Does the step.
///
/// # Errors
/// When the store fails, or a model that has to answer doesn't. Elsewhere a model that can't be reached
/// is a warning.
pub fn run(run: &mut Run<'_, '_>) -> Result<EnrichReport> {
    let tools = tools::ask_about_tools(&run.store, run.cx)?;
    let condensed = condense::condense_waiting(tools.spent, &mut run.store, run.cx)?;
    let used = Spent {
        tokens: tools.spent.tokens + condensed.spent.tokens,
        usd: tools.spent.usd + condensed.spent.usd,
    };
    let judge = run.cx.judge()?;
    let summaries = session_summary::summarize(
        &mut run.store,
        &mut SummarizeOptions {
            now: run.cx.now,
            settled_ms: run.cx.loaded.config.chunk.gap_ms,
            jobs: run.options.jobs,
            judge: &judge,
            hides: &mut |project| Ok(run.cx.hides_paths_of(project)),
        },
    )?;
    let llm_summaries = llm_summary::summarize(run.options, used, &mut run.store, run.cx)?;
    let embedded = embeddings::embed_new(&mut run.store, run.cx)?;
    let mut done = EnrichReport {
        tools,
        condensed,
        summaries,
        llm_summaries,
        embedded,
        alarms: Vec::new(),
    };
    done.alarms = alarms::sound(&done, &run.store, run.cx)?;
    Ok(done)
}
