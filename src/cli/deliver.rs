//! `deliver`: what goes to which sink, what arrived, what was given up.

use super::ctx::Ctx;
use super::exit::{Exit, with_hint};
use super::sink_status;
use crate::config::{Config, Loaded, SinkSettings as Settings, SinkTo, graphs};
use crate::model::delivery::DeliveryError;
use crate::model::error::{Error, ErrorKind};
use crate::model::human::{ago, count, plural, table};
use crate::pipeline::cost::{Cost, New, costs};
use crate::pipeline::graph_gate::allowed;
use crate::pipeline::lock::Lock;
use crate::pipeline::progress::Silent;
use crate::pipeline::sink_setup::{chosen, failed, open};
use crate::pipeline::steps::upload::delivery::{Interrupted, verify as verify_sink};
use crate::pipeline::steps::upload::report::{SinkReport, Verified};
use crate::pipeline::steps::upload::smoke::smoke as smoke_test;
use crate::pipeline::steps::upload::{UploadOptions, deliver_to, lines};
use crate::pipeline::tables;
use crate::store::{Access, DeadLetter, Store};
use anyhow::Result;
use serde_json::json;
use uuid::Uuid;

/// Deliver episodes to other systems and check what arrived
///
/// Destinations are listed under `sinks` in the settings. Every run delivers what is due; these
/// commands deliver or check separately.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand, Debug)]
enum Verb {
    /// Show each sink: what waits, what arrived, what failed permanently
    Status,
    /// Deliver what is due, even to a paused sink
    Run {
        /// Only this sink
        #[arg(value_name = "SINK")]
        sink: Option<String>,
        /// Include episodes stored before the sink was configured, oldest first
        #[arg(long)]
        history: bool,
        /// Maximum episodes per sink
        #[arg(long, value_name = "N")]
        max: Option<usize>,
        /// Deliver even to a server whose episodes can't be read back; arrival is never
        /// confirmed
        #[arg(long, requires = "sink")]
        unverified: bool,
        /// Include untrusted projects this time
        #[arg(long)]
        allow_untrusted: bool,
        /// Show what would be sent and what it would cost, without sending it
        #[arg(long)]
        dry_run: bool,
    },
    /// Read back everything that was delivered; exit 3 if something is missing or duplicated
    Verify {
        /// Only this sink
        #[arg(value_name = "SINK")]
        sink: Option<String>,
        /// Queue what is missing for delivery
        #[arg(long)]
        requeue: bool,
        /// Run even in an untrusted project
        #[arg(long)]
        allow_untrusted: bool,
    },
    /// Check that sinks can be reached and accept our credentials
    Check {
        /// Only this sink
        #[arg(value_name = "SINK")]
        sink: Option<String>,
        /// Write a test episode, read it back and remove it
        #[arg(long)]
        smoke: bool,
        /// Run even in an untrusted project
        #[arg(long)]
        allow_untrusted: bool,
    },
    /// Move everything from another group to the current one: removes it from the sinks and
    /// delivers it again
    Regroup {
        /// The group to move from
        #[arg(value_name = "GROUP")]
        group: String,
        /// Show how much would be moved, without moving it
        #[arg(long)]
        dry_run: bool,
    },
    /// List, retry or drop deliveries that failed permanently
    Dead {
        #[command(subcommand)]
        verb: Dead,
    },
}

#[derive(clap::Subcommand, Debug)]
enum Dead {
    /// List them with the reasons
    List,
    /// Queue them for delivery again
    Replay(Letters),
    /// Stop trying to deliver them
    Drop(Letters),
}

/// Which dead letters.
#[derive(clap::Args, Debug)]
struct Letters {
    /// Ids of episodes
    #[arg(value_name = "EPISODE", required_unless_present = "all", value_parser = episode_id)]
    episodes: Vec<Uuid>,
    /// Only this sink's
    #[arg(long, value_name = "SINK")]
    sink: Option<String>,
    /// All of them
    #[arg(long, conflicts_with = "episodes")]
    all: bool,
}

fn episode_id(typed: &str) -> Result<Uuid, String> {
    typed
        .parse()
        .map_err(|_| "not an episode's id; `deliver dead list` prints them".to_owned())
}

/// Delivers or looks.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let loaded = ctx.settings()?;
    match &args.verb {
        Verb::Status => {
            let graphs = graphs(&loaded.config.memory, None);
            let refused = |sink: &Settings| match sink.is_graph() {
                true => leaves(&loaded.config).and(graphs.clone()).err(),
                false => leaves(&loaded.config).err(),
            };
            sink_status::status(&chosen(&loaded, None)?, &refused, &loaded, ctx)
        }
        Verb::Run {
            sink,
            history,
            max,
            unverified,
            allow_untrusted,
            dry_run,
        } => {
            leaves(&loaded.config)?;
            let sinks = chosen(&loaded, sink.as_deref())?;
            if *dry_run {
                return would_run(&sinks, *history, &loaded, ctx);
            }
            let mut cx = ctx.pipeline_context(&loaded, &Silent);
            let sinks = allowed(sinks, sink.is_some(), *allow_untrusted, &mut cx)?;
            let options = UploadOptions {
                history: *history,
                max: *max,
                insist: true,
                unverified: *unverified,
                allow_untrusted: *allow_untrusted,
            };
            let (_lock, mut store) = deliverer(ctx)?;
            let mut cx = ctx.pipeline_context(&loaded, &Silent);
            let done = deliver_to(&sinks, options, &mut store, &mut cx)?;
            store.finish()?;
            tell_run(&done, ctx)
        }
        Verb::Verify {
            sink,
            requeue,
            allow_untrusted,
        } => {
            let sinks = chosen(&loaded, sink.as_deref())?;
            let mut cx = ctx.pipeline_context(&loaded, &Silent);
            let sinks = allowed(sinks, sink.is_some(), *allow_untrusted, &mut cx)?;
            verify(&sinks, *requeue, &loaded, ctx)
        }
        Verb::Check {
            sink,
            smoke,
            allow_untrusted,
        } => {
            let mut sinks = chosen(&loaded, sink.as_deref())?;
            // what stands behind the name of a scope is the same place
            sinks.retain(|sink| sink.scope.is_none());
            let mut cx = ctx.pipeline_context(&loaded, &Silent);
            let sinks = allowed(sinks, sink.is_some(), *allow_untrusted, &mut cx)?;
            check(&sinks, *smoke, &loaded, ctx)
        }
        Verb::Regroup { group, dry_run } => regroup(group, *dry_run, &loaded, ctx),
        Verb::Dead { verb } => dead(verb, ctx),
    }
}

/// Reads only: it needs no consent, and nobody is waited for.
fn would_run(sinks: &[&Settings], history: bool, loaded: &Loaded, ctx: &mut Ctx) -> Result<Exit> {
    let store = ctx.reader()?;
    let costs = costs(
        sinks,
        &store,
        New::default(),
        &ctx.pipeline_context(loaded, &Silent),
    )?;
    if ctx.out.json {
        let sinks: Vec<_> = costs.iter().map(Cost::json).collect();
        let body = json!({"dry_run": true, "sinks": sinks});
        ctx.out.document("deliver run", body)?;
        return Ok(Exit::Done);
    }
    for line in costs.iter().flat_map(|cost| cost.delivery_lines(history)) {
        ctx.out.line(line)?;
    }
    Ok(Exit::Done)
}

fn regroup(from: &str, dry_run: bool, loaded: &Loaded, ctx: &mut Ctx) -> Result<Exit> {
    let (_lock, mut store) = writer(ctx)?;
    let to = match &loaded.config.group_id {
        Some(group) => group.clone(),
        None => store.last_group()?.unwrap_or_default(),
    };
    let episodes = store.in_group(from)?;
    if from == to || episodes == 0 {
        let what = format!("no episode has the group {from} and another one than {to}");
        return Err(Error::new(ErrorKind::Failed, what).into());
    }
    if !dry_run {
        store.regroup(from, &to)?;
        store.finish()?;
    }
    if ctx.out.json {
        let body = json!({"from": from, "to": to, "episodes": episodes, "dry_run": dry_run});
        ctx.out.document("deliver regroup", body)?;
        return Ok(Exit::Done);
    }
    let verb = if dry_run { "would move" } else { "moved" };
    let episodes = plural(episodes, "episode");
    ctx.out
        .line(format!("{verb} {episodes} from {from} to {to}"))?;
    ctx.out
        .note("the next run removes them there and delivers them again; to see what it does: sessionmill plan")?;
    Ok(Exit::Done)
}

/// Anything may leave the local store.
fn leaves(config: &Config) -> Result<(), Error> {
    match config.store_in_graph {
        true => Ok(()),
        false => Err(Error::usage(
            "nothing leaves the local store: `session_tracking.store_in_graph` is false",
        )),
    }
}

/// Whoever delivers keeps nobody from reading.
fn deliverer(ctx: &Ctx) -> Result<(Lock, Store)> {
    ctx.reader()?;
    let lock = Lock::take_for("deliver", &ctx.home.deliver_lock())?;
    Ok((lock, Store::open(&ctx.home.store(), Access::ReadWrite)?))
}

fn writer(ctx: &Ctx) -> Result<(Lock, Store)> {
    ctx.reader()?;
    let lock = Lock::take(&ctx.home.lock())?;
    Ok((lock, Store::open(&ctx.home.store(), Access::ReadWrite)?))
}

/// The same, where it is said which sink.
fn of_sink(name: &str, fault: DeliveryError) -> Error {
    let mut error = failed(fault);
    error.message = format!("sink {name}: {}", error.message);
    error.hinted(format!("sessionmill deliver check {name}"))
}

fn tell_run(done: &[SinkReport], ctx: &mut Ctx) -> Result<Exit> {
    if ctx.out.json {
        ctx.out.document("deliver run", json!({"sinks": done}))?;
    } else {
        let lines = lines(done, ctx.zone);
        for line in &lines {
            ctx.out.line(line)?;
        }
        if lines.is_empty() {
            ctx.out.line("nothing is waiting")?;
        }
    }
    Ok(exit(done))
}

/// Worth a look: new dead letters, what no run can pay for, and what goes on failing. A sink that is
/// away for a while is not (architecture § 5).
pub fn exit(done: &[SinkReport]) -> Exit {
    let is_partial =
        |sink: &SinkReport| sink.dead > 0 || !sink.too_dear.is_empty() || sink.alarm.is_some();
    match done.iter().any(is_partial) {
        true => Exit::Partial,
        false => Exit::Done,
    }
}

fn verify(sinks: &[&Settings], requeue: bool, loaded: &Loaded, ctx: &mut Ctx) -> Result<Exit> {
    // what another run is just delivering would count as missing
    let (_lock, mut store) = deliverer(ctx)?;
    let cx = ctx.pipeline_context(loaded, &Silent);
    let mut all = Vec::new();
    for settings in sinks {
        if let SinkTo::Parquet(folder) = &settings.to {
            let (landed, missing) = tables::verify(folder)?;
            all.push(Verified {
                sink: settings.name.clone(),
                landed,
                missing,
                ..Verified::default()
            });
            continue;
        }
        let mut sink = open(settings, false, &store, &cx)?;
        let address = settings.to.address();
        let which = (settings.name.as_str(), address.as_str());
        let verified = verify_sink(&mut store, which, sink.as_mut(), requeue, cx.now);
        all.push(match verified {
            Ok(verified) => verified,
            Err(Interrupted::Sink(fault)) => return Err(of_sink(&settings.name, fault).into()),
            Err(Interrupted::Failed(error)) => return Err(error),
        });
    }
    store.finish()?;
    let whole = |v: &Verified| v.missing + v.twice + v.unverified == 0;
    if ctx.out.json {
        ctx.out.document("deliver verify", json!({"sinks": all}))?;
    } else {
        for v in &all {
            let landed = plural(v.landed, "episode");
            let (missing, twice) = (count(v.missing), count(v.twice));
            let sink = &v.sink;
            if v.landed + v.missing + v.twice + v.unverified == 0 {
                let line = "nothing to verify, nothing was delivered yet";
                ctx.out.line(format!("sink {sink}: {line}"))?;
                continue;
            }
            ctx.out.line(format!(
                "sink {sink}: {landed} there, {missing} missing, {twice} twice"
            ))?;
            if v.beside > 0 {
                let beside = count(v.beside);
                let line = format!("sink {sink}: {beside} of them beside an older revision");
                ctx.out.line(line)?;
            }
            if v.unverified > 0 {
                let unverified = plural(v.unverified, "episode");
                let line = format!("sink {sink}: {unverified} can't be verified");
                ctx.out.line(line)?;
            }
            if v.without_text > 0 {
                let texts = plural(v.without_text, "text");
                ctx.out.note(format!(
                    "only the sinks have {texts} of these; to read the logs that still exist: sessionmill run --rebuild --all"
                ))?;
            }
            if v.missing > v.requeued {
                let hint = format!("hint: sessionmill deliver verify {sink} --requeue");
                ctx.out.note(hint)?;
            }
        }
    }
    Ok(match all.iter().all(whole) {
        true => Exit::Done,
        false => Exit::Partial,
    })
}

fn check(sinks: &[&Settings], smoke: bool, loaded: &Loaded, ctx: &mut Ctx) -> Result<Exit> {
    // a smoke test writes: not while somebody delivers
    let _lock = smoke
        .then(|| Lock::take(&ctx.home.deliver_lock()))
        .transpose()?;
    let store = match ctx.home.store().exists() {
        true => ctx.reader()?,
        false => Store::open(&ctx.home.store(), Access::ReadWrite)?,
    };
    let mut documents = Vec::new();
    let mut exit = Exit::Done;
    for settings in sinks {
        let context = ctx.pipeline_context(loaded, &Silent);
        let smoke = smoke && !settings.is_tables();
        let opened = open(settings, false, &store, &context);
        let checked = opened.map(|mut sink| {
            sink.check().and_then(|said| match smoke {
                true => smoke_test(sink.as_mut(), ctx.now).map(|is_removed| match is_removed {
                    true => format!("{said}; an episode was written, read back and removed"),
                    false => {
                        format!("{said}; an episode was written and read back, and stays there")
                    }
                }),
                false => Ok(said),
            })
        });
        let (ok, said) = match checked {
            Ok(Ok(said)) => (true, said),
            Ok(Err(fault)) => (false, fault.reason().to_owned()),
            // what one lacks keeps none of the others from being checked
            Err(error) => {
                ctx.out.warn(with_hint(&error))?;
                (false, format!("{error:#}"))
            }
        };
        if !ok {
            exit = Exit::Failed;
        }
        documents.push(json!({"sink": settings.name, "ok": ok, "says": said, "smoke": smoke}));
        if !ctx.out.json {
            let word = if ok { "ok" } else { "FAILED" };
            ctx.out.line(format!("{}: {word}: {said}", settings.name))?;
        }
    }
    if ctx.out.json {
        ctx.out
            .document("deliver check", json!({"sinks": documents}))?;
    }
    Ok(exit)
}

fn dead(verb: &Dead, ctx: &mut Ctx) -> Result<Exit> {
    let (letters, replay) = match verb {
        Dead::List => {
            let dead = ctx.reader()?.dead_letters(None)?;
            return list_dead(&dead, ctx);
        }
        Dead::Replay(letters) => (letters, true),
        Dead::Drop(letters) => (letters, false),
    };
    let (_lock, mut store) = writer(ctx)?;
    let settled = store.settle_dead(letters.sink.as_deref(), &letters.episodes, replay, ctx.now)?;
    store.finish()?;
    let (command, word) = match replay {
        true => ("deliver dead replay", "to be tried again"),
        false => ("deliver dead drop", "dropped for good"),
    };
    match ctx.out.json {
        true => ctx.out.document(command, json!({"episodes": settled}))?,
        false => ctx
            .out
            .line(format!("{}: {word}", plural(settled, "episode")))?,
    }
    Ok(Exit::Done)
}

fn list_dead(dead: &[DeadLetter], ctx: &mut Ctx) -> Result<Exit> {
    if ctx.out.json {
        let letters: Vec<_> = dead
            .iter()
            .map(|letter| {
                json!({
                    "sink": letter.sink, "episode": letter.id, "attempts": letter.attempts,
                    "at": letter.at.rfc3339_millis(), "error": letter.error,
                })
            })
            .collect();
        ctx.out
            .document("deliver dead list", json!({"dead": letters}))?;
        return Ok(Exit::Done);
    }
    if dead.is_empty() {
        ctx.out.line("no dead letters")?;
    }
    let rows: Vec<Vec<String>> = dead
        .iter()
        .map(|letter| {
            vec![
                letter.id.to_string(),
                letter.sink.clone(),
                ago(letter.at, ctx.now),
                letter.error.clone(),
            ]
        })
        .collect();
    ctx.out.text(table(&rows, &[]))?;
    if let [one, ..] = dead {
        ctx.out
            .note(format!("to read one: sessionmill show {}", one.id))?;
        ctx.out
            .note("to retry all: sessionmill deliver dead replay --all")?;
    }
    Ok(Exit::Done)
}
