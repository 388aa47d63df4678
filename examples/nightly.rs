//! Runs the pipeline `nightly` without the command line.
//!
//! `cargo run --example nightly` does what `sessionmill run` does, for the person who starts it: read the
//! settings, bring the store up to the logs, say what happened. It takes the lock, needs
//! `session_tracking.enabled`, and sends nothing without a recorded consent, like any run.

use anyhow::{Context, Result};
use sessionmill::agents::registry;
use sessionmill::config::{self, Env, Home};
use sessionmill::host::identity;
use sessionmill::model::time::Time;
use sessionmill::model::zone::Zone;
use sessionmill::pipeline::context::{HiddenPaths, RunContext, Timer};
use sessionmill::pipeline::options::RunOptions;
use sessionmill::pipeline::progress::Silent;
use sessionmill::pipeline::run::{RunOutcome, run};
use sessionmill::pipeline::spec;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

#[allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "the library asks the process nothing: its caller does"
)]
fn main() -> Result<()> {
    let home = std::env::home_dir().context("no home directory")?;
    let vars = std::env::vars().collect();
    for line in nightly(&home, vars)? {
        println!("{line}");
    }
    Ok(())
}

/// Runs `nightly` for the person whose home this is; gives what it did.
#[allow(
    clippy::disallowed_methods,
    reason = "the library asks the process nothing: its caller does"
)]
pub fn nightly(home: &Path, vars: BTreeMap<String, String>) -> Result<Vec<String>> {
    let env = Env {
        home: home.to_owned(),
        cwd: home.to_owned(),
        vars,
    };
    let ours = Home::of(&env);
    let loaded = config::load(&env, registry::log_folders)?;
    let begun = Instant::now();
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let mut cx = RunContext {
        loaded: &loaded,
        env: &env,
        home: &ours,
        now: Time(i64::try_from(now.as_millis())?),
        zone: Zone::Local,
        host: &identity::hostname(),
        jobs: None,
        cores: std::thread::available_parallelism()?.get(),
        elapsed_ms: &|| u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        timer: Timer {
            monotonic: Rc::new(move || begun.elapsed()),
            wait: Rc::new(std::thread::sleep),
        },
        progress: &Silent,
        notices: &mut Silent,
        hidden: HiddenPaths::default(),
    };
    let pipeline = spec::load("nightly", &ours.pipelines())?;
    let options = RunOptions::new(&pipeline, &cx);
    Ok(match run(&pipeline, &options, &mut cx)? {
        RunOutcome::Off(reason) => vec![format!("tracking is off: {reason}")],
        RunOutcome::Done(report) => {
            let ingested = &report.ingested;
            let mut lines = vec![format!(
                "{} of {} logs read, {} new episodes",
                ingested.files_read, ingested.files_found, ingested.episodes_new
            )];
            lines.extend(report.lines(Zone::Local));
            lines
        }
    })
}
