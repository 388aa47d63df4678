//! A run on one screen: read what is new in the logs, keep what people asked to remember, look at files
//! and repositories, ask models, deliver, report.

use super::active_run::Run;
use super::context::RunContext;
use super::last_run;
use super::options::RunOptions;
use super::preconditions;
use super::spec::{Pipeline, Step};
use super::steps::report::RunReport;
use super::steps::{enrich, ingest, promote, report, track, upload};
use super::sweep::sweeps;
use crate::config::gate;
use anyhow::Result;

/// How a run ended.
pub enum RunOutcome {
    /// Tracking is off, with why: nothing was read. No failure, or a timer would fail for ever.
    Off(String),
    /// Its steps went through.
    Done(Box<RunReport>),
}

/// Runs a pipeline once. Whatever can fail at once fails before the first log is opened; what fails
/// later leaves everything stored that was committed before it, and the next run goes on from there.
///
/// # Errors
/// Kind `Usage` when the pipeline or the settings can't be run, `Busy` when another run holds the lock;
/// else when the store fails. What can't be read, or reached, is a problem of the report.
pub fn run(
    pipeline: &Pipeline,
    options: &RunOptions,
    cx: &mut RunContext<'_>,
) -> Result<RunOutcome> {
    let gate = gate(&cx.loaded.config);
    if !gate.enabled {
        // what is written from now on is not asked for; a timer must not fail over it
        if cx.home.runs().is_dir() {
            let _ = last_run::begin_anew(cx.home);
        }
        return Ok(RunOutcome::Off(gate.reason));
    }
    let has = |step| pipeline.steps.contains(&step);
    preconditions::reads(pipeline)?;
    let mut run = Run::begin(pipeline, options, &gate.reason, cx)?;
    if has(Step::Enrich) {
        enrich::prepare(&mut run)?;
    }
    if has(Step::Upload) {
        upload::prepare(&mut run)?;
    }
    let mut done = RunReport {
        outside_before: options.last_run.left.outside,
        ingested: ingest::run(&mut run).map_err(|error| run.note_failure(error))?,
        read_ms: (run.cx.elapsed_ms)(),
        promoted: promote::run(&mut run)?,
        ..RunReport::default()
    };
    if has(Step::Track) {
        done.tracked = track::run(&mut run)?;
    }
    if has(Step::Enrich) {
        done.enriched = enrich::run(&mut run).map_err(|error| run.note_failure(error))?;
    }
    if has(Step::Upload) {
        upload::keep_here(&mut run)?;
    }
    if has(Step::Upload)
        && upload::is_wanted(&run)
        && let Some(_lock) = run.begin_delivery()?
    {
        done.uploaded = upload::run(&mut run)?;
    }
    done.sweeps = sweeps(&done.ingested.unread, run.cx.env, run.cx.now);
    run.end()?;
    report::run(&mut run, &done)?;
    Ok(RunOutcome::Done(Box::new(done)))
}
