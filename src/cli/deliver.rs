//! `deliver`: what goes to which sink, what arrived, what was given up. And the step `upload` of a
//! run, which is `deliver run` for all sinks.

use super::activity;
use super::ctx::Ctx;
use super::exit::Exit;
use super::human::{ago, count, plural, table, time};
use super::memory::{self, KeptHere, allowed};
use super::sinks::{chosen, extraction, failed, open, wait};
use super::{notify, standing};
use crate::config::{Config, DeliveryLimits, Loaded, SinkSettings as Settings, SinkTo, graphs};
use crate::memory::provenance::told_path;
use crate::model::delivery::Fault;
use crate::model::error::Error;
use crate::pipeline::deliver::{self, Delivered, Orders, Verified};
use crate::pipeline::lock::Lock;
use crate::pipeline::promote::tell_owner;
use crate::stages::upload::RetryOptions;
use crate::store::{Access, DeadLetter, Due, Store};
use anyhow::Result;
use serde_json::json;
use std::collections::BTreeSet;
use uuid::Uuid;

/// Sinks: deliver to them, see what arrived and what was given up
///
/// Sinks are named under `sinks` in the settings. Every run delivers what is due; these commands do
/// parts of it, or look.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand, Debug)]
enum Verb {
    /// How each sink stands: what waits, what is there, what was given up
    Status,
    /// Deliver what is due, also to a sink that is paused
    Run {
        /// Only this sink
        #[arg(value_name = "SINK")]
        sink: Option<String>,
        /// Also what was stored before the sink was known, oldest first
        #[arg(long)]
        history: bool,
        /// Not more than so many episodes per sink
        #[arg(long, value_name = "N")]
        max: Option<usize>,
        /// Also to a server whose episodes can't be read back: nobody will know what arrived
        #[arg(long, requires = "sink")]
        unverified: bool,
        /// This time, also in and of projects that an agent was told not to trust
        #[arg(long)]
        allow_untrusted: bool,
    },
    /// Ask sinks for everything that they are said to have; exit 3 unless all of it is there, once
    Verify {
        /// Only this sink
        #[arg(value_name = "SINK")]
        sink: Option<String>,
        /// What is missing waits again
        #[arg(long)]
        requeue: bool,
        /// Also in a project that an agent was told not to trust
        #[arg(long)]
        allow_untrusted: bool,
    },
    /// See whether sinks answer and let us in
    Check {
        /// Only this sink
        #[arg(value_name = "SINK")]
        sink: Option<String>,
        /// Write an episode, read it back, remove it
        #[arg(long)]
        smoke: bool,
        /// Also in a project that an agent was told not to trust
        #[arg(long)]
        allow_untrusted: bool,
    },
    /// What was given up
    Dead {
        #[command(subcommand)]
        verb: Dead,
    },
}

#[derive(clap::Subcommand, Debug)]
enum Dead {
    /// List it with the reasons
    List,
    /// Try again from the start
    Replay(Letters),
    /// Give up for good
    Drop(Letters),
}

/// Which dead letters.
#[derive(clap::Args, Debug)]
struct Letters {
    /// Ids of episodes
    #[arg(value_name = "EPISODE", required_unless_present = "all")]
    episodes: Vec<Uuid>,
    /// Only this sink's
    #[arg(long, value_name = "SINK")]
    sink: Option<String>,
    /// All of them
    #[arg(long, conflicts_with = "episodes")]
    all: bool,
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
            standing::status(&chosen(&loaded, None)?, &refused, &loaded, ctx)
        }
        Verb::Run {
            sink,
            history,
            max,
            unverified,
            allow_untrusted,
        } => {
            leaves(&loaded.config)?;
            let sinks = chosen(&loaded, sink.as_deref())?;
            let sinks = allowed(sinks, sink.is_some(), *allow_untrusted, &loaded, ctx)?;
            let wish = Wish {
                history: *history,
                max: *max,
                insist: true,
                unverified: *unverified,
                allow_untrusted: *allow_untrusted,
            };
            let (_lock, mut store) = writer(ctx)?;
            let done = deliver_to(&sinks, &wish, &loaded, &mut store, ctx)?;
            store.finish()?;
            tell_run(&done, ctx)
        }
        Verb::Verify {
            sink,
            requeue,
            allow_untrusted,
        } => {
            let sinks = chosen(&loaded, sink.as_deref())?;
            let sinks = allowed(sinks, sink.is_some(), *allow_untrusted, &loaded, ctx)?;
            verify(&sinks, *requeue, ctx)
        }
        Verb::Check {
            sink,
            smoke,
            allow_untrusted,
        } => {
            let mut sinks = chosen(&loaded, sink.as_deref())?;
            // what stands behind the name of a scope is the same place
            sinks.retain(|sink| sink.scope.is_none());
            let sinks = allowed(sinks, sink.is_some(), *allow_untrusted, &loaded, ctx)?;
            check(&sinks, *smoke, ctx)
        }
        Verb::Dead { verb } => dead(verb, ctx),
    }
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

/// The step `upload`: every sink, unless `store_in_graph` is off.
pub fn upload(loaded: &Loaded, store: &mut Store, ctx: &mut Ctx) -> Result<Vec<Delivered>> {
    let off = |sink: &&Settings| sink.is_graph() && !loaded.config.memory.enabled;
    let sinks: Vec<&Settings> = loaded.config.sinks.iter().filter(|s| !off(s)).collect();
    match loaded.config.store_in_graph {
        true => {
            tell_rate(&sinks, &loaded.config.delivery, ctx)?;
            deliver_to(&sinks, &Wish::default(), loaded, store, ctx)
        }
        false => Ok(Vec::new()),
    }
}

/// Fails where nobody agreed to an endpoint, or a password is missing: before a run does anything.
/// Sinks that are new are noted, so that they get what this run stores.
pub fn prepare(loaded: &Loaded, store: &mut Store, ctx: &mut Ctx) -> Result<()> {
    for sink in memory::of_a_run(loaded, ctx)? {
        open(sink, false, store, ctx)?;
        store.sink(&sink.name, &sink.to.address(), ctx.now)?;
    }
    Ok(())
}

/// What counts as due, in a plan.
pub fn due<'a>(config: &Config, sink: &Settings, kept_here: &'a [String], ctx: &Ctx) -> Due<'a> {
    Due {
        now: ctx.now,
        settled_ms: i64::from(config.inactivity_timeout_s) * 1_000,
        pending_ms: deliver::PENDING_MS,
        kept_here,
        only_logs: sink.scope.is_some(),
    }
}

/// What is asked for besides the settings.
#[derive(Default)]
struct Wish {
    history: bool,
    max: Option<usize>,
    insist: bool,
    unverified: bool,
    allow_untrusted: bool,
}

fn writer(ctx: &Ctx) -> Result<(Lock, Store)> {
    ctx.reader()?;
    let lock = Lock::take(&ctx.home.lock())?;
    Ok((lock, Store::open(&ctx.home.store(), Access::ReadWrite)?))
}

/// The same, where it is said which sink.
fn of_sink(name: &str, fault: Fault) -> Error {
    let mut error = failed(fault);
    error.message = format!("sink {name}: {}", error.message);
    error.hinted(format!("sessionmill deliver check {name}"))
}

fn deliver_to(
    sinks: &[&Settings],
    wish: &Wish,
    loaded: &Loaded,
    store: &mut Store,
    ctx: &mut Ctx,
) -> Result<Vec<Delivered>> {
    let config = &loaded.config;
    let limits = &config.delivery;
    if sinks.is_empty() {
        return Ok(Vec::new());
    }
    let kept = KeptHere::new(loaded, store, wish.allow_untrusted, ctx)?;
    let judge = activity::judge(ctx)?;
    let hidden = hidden(store, ctx)?;
    let mut all = Vec::new();
    // scopes first: what is delivered to their groups tells which groups are in use
    let (scoped, own): (Vec<&Settings>, Vec<&Settings>) =
        sinks.iter().partition(|sink| sink.scope.is_some());
    let last_scoped = scoped.len();
    for (nth, settings) in scoped.into_iter().chain(own).enumerate() {
        if nth == last_scoped && sinks.iter().any(|sink| sink.is_graph()) {
            tell_owner(store, &config.memory, ctx.now)?;
        }
        let mut sink = open(settings, wish.unverified, store, ctx)?;
        let permitted = |store: &Store| {
            let endpoints = settings.to.endpoints();
            let mut permits = endpoints.into_iter().map(|endpoint| store.permit(endpoint));
            permits.try_for_each(|permit| permit.map(|_| ()))
        };
        let begun_ms = ctx.elapsed_ms();
        let is_late = || match &settings.to {
            SinkTo::Graphiti(to) => ctx.elapsed_ms() - begun_ms >= to.time_per_run_s * 1_000,
            _ => false,
        };
        let address = settings.to.address();
        let orders = Orders {
            address: &address,
            now: ctx.now,
            settled_ms: ms(u64::from(config.inactivity_timeout_s)),
            settle_after_ms: ms(limits.settle_after_s),
            retry: retry(limits),
            on_their_way_max: limits.max_queue_size as usize,
            episodes_max: wish.max.or(limits.max_episodes_per_run.map(|n| n as usize)),
            rate_per_minute: limits.rate_per_minute,
            extraction: extraction(&settings.to),
            usd_max: limits.max_usd_per_run,
            is_late: &is_late,
            wait: &wait,
            history: wish.history,
            insist: wish.insist,
            kept_here: kept.of(settings),
            only_logs: settings.scope.is_some(),
            tells_git: config.memory.includes_git && settings.is_graph(),
            told_path: &|project| {
                (!hidden.contains(project)).then(|| told_path(project, config).into_owned())
            },
            profile: &|tally| judge.activity(tally).profile(),
            permitted: &permitted,
        };
        all.push(deliver::deliver(
            store,
            &settings.name,
            sink.as_mut(),
            &orders,
        )?);
    }
    settle(&all, config, store, ctx)?;
    Ok(all)
}

/// A delivery that takes its time says so to whoever looks on.
fn tell_rate(sinks: &[&Settings], limits: &DeliveryLimits, ctx: &mut Ctx) -> Result<()> {
    match limits.rate_per_minute {
        Some(rate) if !sinks.is_empty() && ctx.out.shows_progress() => ctx.out.note(format!(
            "delivering at upload.rate_per_minute: {rate}; no other run starts until then"
        )),
        _ => Ok(()),
    }
}

/// What follows a delivery: texts are left to the sinks, and what was given up is told.
fn settle(done: &[Delivered], config: &Config, store: &mut Store, ctx: &mut Ctx) -> Result<()> {
    let limits = &config.delivery;
    if !limits.keeps_local {
        leave(config, store, ctx)?;
    }
    match limits.notifies_dead_letters {
        true => notify::given_up(done, limits.webhook.as_ref(), store, ctx),
        false => Ok(()),
    }
}

/// Projects whose paths are told to nobody.
fn hidden(store: &Store, ctx: &mut Ctx) -> Result<BTreeSet<String>> {
    let mut hidden = BTreeSet::new();
    for (_, project) in store.projects("")? {
        if ctx.hides_paths_of(&project)? {
            hidden.insert(project);
        }
    }
    Ok(hidden)
}

/// Empties the texts that all sinks have.
fn leave(config: &Config, store: &mut Store, ctx: &mut Ctx) -> Result<()> {
    let names: Vec<&str> = config.sinks.iter().map(|sink| &*sink.name).collect();
    let left = store.leave_to_sinks(&names)?;
    if left > 0 {
        let texts = plural(left, "episode");
        let line = format!("the text of {texts} is kept by the sinks alone now");
        ctx.out.note(line)?;
    }
    Ok(())
}

/// As the user wants it.
pub fn retry(limits: &DeliveryLimits) -> RetryOptions {
    RetryOptions {
        max_retries: limits.max_retries,
        delays_ms: limits
            .retry_delays_s
            .iter()
            .map(|s| ms(u64::from(*s)))
            .collect(),
    }
}

fn ms(seconds: u64) -> i64 {
    i64::try_from(seconds.saturating_mul(1_000)).unwrap_or(i64::MAX)
}

/// One line per sink that has something to say.
pub fn lines(done: &[Delivered], ctx: &Ctx) -> Vec<String> {
    let mut lines = Vec::new();
    for sink in done {
        let mut parts = Vec::new();
        let mut add = |n: u64, what: &str| {
            if n > 0 {
                parts.push(format!("{} {what}", count(n)));
            }
        };
        add(sink.delivered + sink.found, "delivered");
        add(sink.enriched, "enriched");
        add(sink.to_enrich, "to be enriched");
        add(
            sink.unverified,
            "posted, and nobody can say whether they arrived",
        );
        add(sink.beside, "beside an older revision that stays there");
        add(sink.failed, "to be tried again");
        add(sink.dead, "given up (sessionmill deliver dead list)");
        add(sink.forgotten, "removed there");
        add(sink.kept, "can't be removed there");
        add(sink.waiting, "waiting");
        for dear in &sink.too_dear {
            parts.push(format!(
                "episode {} left out: ≈ {:.2} USD alone, more than upload.max_usd_per_run",
                dear.episode, dear.usd
            ));
        }
        match sink.stopped.as_deref() {
            Some("budget") => parts.push(format!(
                "stopped at upload.max_usd_per_run (≈ {:.2} USD spent)",
                sink.usd
            )),
            Some(_) => parts.push("stopped at its time_per_run; the next run goes on".into()),
            None => {}
        }
        if let Some(fault) = &sink.fault {
            let until = time(sink.paused_until, ctx.zone);
            parts.push(format!("paused until {until}: {fault}"));
        }
        if !parts.is_empty() {
            lines.push(format!("sink {}: {}", sink.sink, parts.join(", ")));
        }
    }
    lines
}

fn tell_run(done: &[Delivered], ctx: &mut Ctx) -> Result<Exit> {
    if ctx.out.json {
        ctx.out.document("deliver run", json!({"sinks": done}))?;
    } else {
        let lines = lines(done, ctx);
        for line in &lines {
            ctx.out.line(line)?;
        }
        if lines.is_empty() {
            ctx.out.line("nothing waits")?;
        }
    }
    Ok(exit(done))
}

/// New dead letters are worth a look, and what no run can pay for; a sink that is away is not
/// (architecture § 5).
pub fn exit(done: &[Delivered]) -> Exit {
    let is_partial = |sink: &Delivered| sink.dead > 0 || !sink.too_dear.is_empty();
    match done.iter().any(is_partial) {
        true => Exit::Partial,
        false => Exit::Done,
    }
}

fn verify(sinks: &[&Settings], requeue: bool, ctx: &mut Ctx) -> Result<Exit> {
    let (_lock, mut store) = writer(ctx)?;
    let mut all = Vec::new();
    for settings in sinks {
        let mut sink = open(settings, false, &store, ctx)?;
        let address = settings.to.address();
        let which = (settings.name.as_str(), address.as_str());
        let verified = deliver::verify(&mut store, which, sink.as_mut(), requeue, ctx.now)?;
        all.push(verified.map_err(|fault| of_sink(&settings.name, fault))?);
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
                let line = format!("sink {sink}: nobody can say whether {unverified} arrived");
                ctx.out.line(line)?;
            }
            if v.without_text > 0 {
                let texts = plural(v.without_text, "text");
                ctx.out.note(format!(
                    "{texts} of these were left to the sinks: sessionmill run --rebuild --all reads the logs that remain"
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

fn check(sinks: &[&Settings], smoke: bool, ctx: &mut Ctx) -> Result<Exit> {
    // a smoke test writes: not while somebody delivers
    let _lock = smoke.then(|| Lock::take(&ctx.home.lock())).transpose()?;
    let store = match ctx.home.store().exists() {
        true => ctx.reader()?,
        false => Store::open(&ctx.home.store(), Access::ReadWrite)?,
    };
    let mut documents = Vec::new();
    let mut exit = Exit::Done;
    for settings in sinks {
        let mut sink = open(settings, false, &store, ctx)?;
        let checked = sink.check().and_then(|said| match smoke {
            true => deliver::smoke(sink.as_mut(), ctx.now).map(|is_removed| match is_removed {
                true => format!("{said}; an episode was written, read back and removed"),
                false => format!("{said}; an episode was written and read back, and stays there"),
            }),
            false => Ok(said),
        });
        let (ok, said) = match checked {
            Ok(said) => (true, said),
            Err(fault) => (false, fault.reason().to_owned()),
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
        false => ("deliver dead drop", "given up for good"),
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
        ctx.out.line("nothing was given up")?;
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
        let hint = format!(
            "hint: sessionmill show {}; deliver dead replay --all",
            one.id
        );
        ctx.out.note(hint)?;
    }
    Ok(Exit::Done)
}
