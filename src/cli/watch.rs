//! `watch`: a run whenever logs or repositories changed. Each run is a process of its own, the one that a
//! timer would start.

use super::ctx::Ctx;
use super::exit::Exit;
use super::run::refuse;
use crate::config::{Loaded, gate};
use crate::host::process::{self, AtWork, Finished};
use crate::host::watch::{Heard, Listener};
use crate::model::error::{Error, ErrorKind};
use crate::model::human::plural;
use crate::pipeline::lock::{Lock, holder, is_held};
use crate::pipeline::watch::pace::Pace;
use crate::pipeline::watch::places;
use anyhow::{Context, Result};
use serde_json::json;
use std::time::Duration;

/// Run whenever something changes, until interrupted
///
/// Watches the folders with logs and tracked files and repositories. Runs after 2 quiet seconds
/// (`defaults.debounce_seconds` in tracking-config), after at most 10 seconds if changes keep
/// coming (`defaults.debounce_max_seconds`), and every 60 seconds in any case
/// (`session_tracking.check_interval`). Use it instead of a timer or together with one. A second
/// watch of the same store exits 75. Stop it with Ctrl-C or SIGTERM.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Pipeline to run
    #[arg(value_name = "PIPELINE", default_value = "nightly")]
    pipeline: String,
}

/// Runs that were made, and how.
struct Watch<'a> {
    args: &'a Args,
    listener: Listener,
    pace: Pace,
    runs: u64,
    failed: u64,
    /// What the last run said, which isn't said again.
    said: String,
    /// A run that has read and waits for a graph; others go on reading.
    delivering: Option<AtWork>,
}

/// Watches until a signal comes.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    ctx.pipeline(&args.pipeline)?;
    let loaded = ctx.settings()?;
    let gate = gate(&loaded.config);
    if !gate.enabled {
        return refuse("watch", &gate.reason, ctx);
    }
    let path = ctx.home.watch_lock();
    let _lock = Lock::take_for("watch", &path).map_err(|error| match error.kind {
        ErrorKind::Busy => another(holder(&path).map(|(process, _)| process)),
        _ => error,
    })?;
    let polling = Duration::from_millis(loaded.tracking.polling_ms);
    let mut watch = Watch {
        args,
        listener: Listener::new(polling).context("catch signals")?,
        pace: pace(&loaded, ctx),
        runs: 0,
        failed: 0,
        said: String::new(),
        delivering: None,
    };
    watch.listen(&loaded, ctx);
    ctx.out.note(format!(
        "watching {}; runs start after changes. Press Ctrl-C to stop",
        plural(watch.listener.listens() as u64, "place")
    ))?;
    if let Some(refused) = watch.first(ctx)? {
        return Ok(refused);
    }
    watch.go_on(ctx)?;
    if let Some(mut delivering) = watch.delivering.take() {
        delivering.kill()?;
    }
    ctx.out
        .note(format!("{} made", plural(watch.runs, "run")))?;
    if ctx.out.json {
        let body = json!({"enabled": true, "runs": watch.runs, "failed": watch.failed});
        ctx.out.document("watch", body)?;
    }
    Ok(Exit::Done)
}

/// There is one already.
fn another(process: Option<u32>) -> Error {
    let error = Error::new(ErrorKind::Busy, "another `watch` is running");
    error.hinted(match process {
        Some(id) => format!("process {id} is already watching; to stop it: kill {id}"),
        None => "stop it first".to_owned(),
    })
}

fn pace(loaded: &Loaded, ctx: &Ctx) -> Pace {
    let interval_ms = u64::from(loaded.config.check_interval_s) * 1_000;
    let tracking = &loaded.tracking;
    let (quiet_ms, longest_ms) = (tracking.debounce_ms, tracking.debounce_max_ms);
    Pace::new(quiet_ms, longest_ms, interval_ms, ctx.elapsed_ms())
}

impl Watch<'_> {
    /// What is new already. Settings that a run refuses end the watch: nothing would change that.
    fn first(&mut self, ctx: &mut Ctx) -> Result<Option<Exit>> {
        let code = self.run(ctx)?;
        Ok((code == Some(Exit::Usage.code().into())).then_some(Exit::Usage))
    }

    fn go_on(&mut self, ctx: &mut Ctx) -> Result<()> {
        while !self.listener.is_ending() {
            self.reap(ctx)?;
            match self.pace.wait(ctx.elapsed_ms()) {
                0 => {
                    self.run(ctx)?;
                }
                wait => {
                    let wait = match self.delivering {
                        Some(_) => wait.min(REAP_MS),
                        None => wait,
                    };
                    if self.listener.wait(Duration::from_millis(wait)) == Heard::Change {
                        self.pace.heard(ctx.elapsed_ms());
                    }
                }
            }
        }
        Ok(())
    }

    /// A delivery that others read beside has come to its end.
    fn reap(&mut self, ctx: &mut Ctx) -> Result<()> {
        if let Some(mut delivering) = self.delivering.take() {
            match delivering.has_ended()? {
                true => self.tell(&delivering.finish()?, ctx)?,
                false => self.delivering = Some(delivering),
            }
        }
        Ok(())
    }

    /// One run from its start to its end, or to a signal. Its exit code; `None`: it was ended.
    fn run(&mut self, ctx: &mut Ctx) -> Result<Option<i32>> {
        let args = ["run", &self.args.pipeline, "--quiet"];
        let started = process::begin(&ctx.program, &args, ctx.vars());
        let mut started = started.with_context(|| format!("start {}", ctx.program.display()))?;
        let mut changed = false;
        self.pace.ran(ctx.elapsed_ms());
        while !started.has_ended()? {
            match self.listener.wait(LOOK) {
                // a run may be ended anywhere: what it hasn't committed, the next one does
                Heard::End => {
                    started.kill()?;
                    break;
                }
                Heard::Change => {
                    changed = true;
                    self.pace.heard(ctx.elapsed_ms());
                }
                Heard::Nothing => {}
            }
            let is_due = changed && self.pace.wait(ctx.elapsed_ms()) == 0;
            if is_due && self.delivering.is_none() && delivers_only(ctx) {
                self.delivering = Some(started);
                return Ok(None);
            }
        }
        let ended = started.finish()?;
        self.pace.ran(ctx.elapsed_ms());
        if changed || ended.code == Some(Exit::Busy.code().into()) {
            self.pace.heard(ctx.elapsed_ms());
        }
        self.tell(&ended, ctx)?;
        // settings may have changed, and folders may have come; what is wrong now, the run told
        if let Ok(loaded) = ctx.settings() {
            self.pace.adjust(pace(&loaded, ctx));
            self.listen(&loaded, ctx);
        }
        Ok(ended.code)
    }

    /// Says what the run said, once.
    fn tell(&mut self, ended: &Finished, ctx: &mut Ctx) -> Result<()> {
        let fine = [Exit::Done, Exit::Busy].map(|exit| Some(i32::from(exit.code())));
        self.runs += 1;
        self.failed += u64::from(!fine.contains(&ended.code) && !self.listener.is_ending());
        if ended.stderr != self.said {
            for line in ended.stderr.lines() {
                ctx.out.warn(line)?;
            }
            self.said.clone_from(&ended.stderr);
        }
        Ok(())
    }

    fn listen(&mut self, loaded: &Loaded, ctx: &Ctx) {
        let places = places(loaded, &ctx.home);
        self.listener.listen(&places);
    }
}

/// The run that is going has read everything, and waits for a graph.
fn delivers_only(ctx: &Ctx) -> bool {
    is_held(&ctx.home.deliver_lock()) && !is_held(&ctx.home.lock())
}

/// How often it is looked whether a delivery has ended, in milliseconds.
const REAP_MS: u64 = 1_000;
/// How often it is looked whether a run has ended.
const LOOK: Duration = Duration::from_millis(50);
