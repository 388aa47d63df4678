//! `doctor`: what is wrong, and which command mends it. The checks are in `pipeline::doctor`.

use super::bar::Bar;
use super::ctx::Ctx;
use super::exit::Exit;
use super::human::plural;
use super::out::Style;
use super::schedule;
use super::setup::{self, Orders};
use super::{canary, embed, enrich, sinks, tables, tell as telling};
use crate::agents::registry;
use crate::config::trust::Trusts;
use crate::config::{self, Loaded};
use crate::host::files::{unreadable, walk};
use crate::host::room::no_room;
use crate::memory::screen;
use crate::model::error::Error;
use crate::pipeline::admission::Admission;
use crate::pipeline::doctor::repair::{Rebuilt, Repaired, repair};
use crate::pipeline::doctor::{Finding, Inside, Observed, Schedule, Severity, deep, examine};
use crate::pipeline::lock::{self, Lock};
use crate::pipeline::progress::{Progress, Silent};
use crate::pipeline::spec::Window;
use crate::store::{Access, Standing, Store};
use anyhow::Result;
use serde_json::json;

/// Say what is wrong, and the command that mends it
///
/// Looks at the store, the settings, the timer and the logs. Exit 3 when something needs attention;
/// notes alone don't.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Mend the store: the full-text index from the texts, or the file from what can be read of it
    /// and from the logs. The damaged file is set aside, never deleted
    #[arg(long)]
    repair: bool,
    /// Read every log again and compare it with what was read of it
    #[arg(long)]
    deep: bool,
    /// Plant secrets of every rule in a throw-away home, run over them, and look for them in every
    /// byte of what that leaves behind
    #[arg(long, conflicts_with_all = ["repair", "deep"])]
    canary: bool,
}

/// Examines, after mending where that was asked for.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let env = ctx.env.clone();
    let loaded = config::load(&env, registry::log_folders);
    if args.canary {
        return canary::run(&loaded?, ctx);
    }
    let repaired = match args.repair {
        true => Some(mend(loaded.as_ref(), ctx)?),
        false => None,
    };
    let findings = findings(args, loaded.as_ref(), ctx)?;
    if ctx.out.json {
        let body = json!({"repaired": repaired, "findings": findings});
        ctx.out.document("doctor", body)?;
    } else {
        if let Some(repaired) = &repaired {
            tell_repair(repaired, ctx)?;
        }
        tell(&findings, ctx)?;
    }
    let grave = findings.iter().any(|f| f.severity > Severity::Note);
    Ok(if grave { Exit::Partial } else { Exit::Done })
}

/// Looks at everything once, and lets the checks judge it.
fn findings(args: &Args, loaded: Result<&Loaded, &Error>, ctx: &Ctx) -> Result<Vec<Finding>> {
    let store = ctx.home.store();
    let standing = Standing::of(&store);
    let opened = match standing {
        Ok(Standing::Current) => Store::open(&store, Access::ReadOnly).ok(),
        _ => None,
    };
    let inside = opened.as_ref().map(Inside::of);
    let refusals = match (loaded, &opened) {
        (Ok(loaded), Some(store)) if loaded.config.enabled => refusals(loaded, store, ctx),
        _ => Vec::new(),
    };
    let roots = loaded.map(|loaded| loaded.config.roots.clone());
    let found = walk(&roots.unwrap_or_default(), &registry::is_log);
    let interval_s = schedule::interval_s(ctx);
    let admission = loaded
        .ok()
        .map(|loaded| Admission::new(loaded, &ctx.env, Window::Configured, ctx.now));
    let admit = |project: Option<&str>, cwd: Option<&str>, path: &str| match &admission {
        Some(admission) => admission.admit(project, cwd, path),
        None => Ok(None),
    };
    let observed = Observed {
        now: ctx.now,
        home: ctx.home.dir.clone(),
        no_room: no_room(&ctx.home.dir),
        store,
        standing,
        inside,
        settings: loaded,
        refusals,
        trust: Trusts::load(&ctx.env).err(),
        schedule: Schedule {
            installed: interval_s.is_some(),
            interval_s: interval_s.unwrap_or_default(),
        },
        last_run: lock::last_run(&ctx.home.lock()),
        unreadable: unreadable(&found.files),
        found,
        admit: &admit,
        keeps_days: registry::keeps_days(&ctx.env),
    };
    let mut findings = examine(&observed);
    if let (true, Some(inside)) = (args.deep, &observed.inside) {
        let jobs = ctx.jobs.unwrap_or(ctx.cores);
        findings.extend(deep(&observed.found.files, &inside.checkpoints, jobs)?);
    }
    Ok(findings)
}

/// Why a run would not begin, of every part that can say so.
fn refusals(loaded: &Loaded, store: &Store, ctx: &Ctx) -> Vec<Error> {
    let config = &loaded.config;
    let mut asked = vec![
        enrich::check(config, store, ctx),
        embed::check(config, store, ctx),
        telling::template(config).map(drop),
    ];
    asked.extend(sinks::refusals(config, store, ctx));
    let refused = asked.into_iter().filter_map(Result::err);
    refused
        .map(|error| match error.downcast::<Error>() {
            Ok(error) => error,
            Err(other) => Error::usage(format!("{other:#}")),
        })
        .collect()
}

/// Under the lock, with the logs read as a rebuilding run would.
fn mend(loaded: Result<&Loaded, &Error>, ctx: &Ctx) -> Result<Repaired> {
    let loaded = loaded.map_err(Clone::clone)?;
    let mut orders = Orders::new(&ctx.pipeline("nightly")?, ctx);
    orders.rebuild = true;
    let admission = Admission::new(loaded, &ctx.env, orders.window, orders.now);
    let admit =
        |project: Option<&str>, cwd: Option<&str>, path: &str| admission.admit(project, cwd, path);
    let screen = screen::screen(&loaded.config, &ctx.home)?;
    let classifier = tables::counter(&ctx.home)?;
    let setup = setup::setup(&loaded.config, &orders, screen, classifier, &admit);
    let setup = Some(setup).filter(|_| loaded.config.enabled);
    let _lock = Lock::take(&ctx.home.lock())?;
    let bar = Bar::default();
    let progress: &dyn Progress = match ctx.out.shows_progress() {
        true => &bar,
        false => &Silent,
    };
    let repaired = repair(&ctx.home.store(), setup, ctx.now, progress);
    progress.finish();
    repaired
}

fn tell_repair(repaired: &Repaired, ctx: &mut Ctx) -> Result<()> {
    match repaired {
        Repaired::Nothing => ctx.out.line("the store is sound; nothing was done"),
        Repaired::Index { episodes } => {
            let episodes = plural(*episodes, "episode");
            ctx.out
                .line(format!("made the full-text index again: {episodes}"))
        }
        Repaired::Store(rebuilt) => tell_rebuilt(rebuilt, ctx),
    }
}

/// Tables that are named; of more, the number says enough.
const HOLES_NAMED: usize = 6;

fn tell_rebuilt(rebuilt: &Rebuilt, ctx: &mut Ctx) -> Result<()> {
    ctx.out.line(format!(
        "made the store again; the damaged file is {}",
        rebuilt.aside.display()
    ))?;
    ctx.out.line(format!(
        "kept: {}, {}, {}, {} forgotten",
        plural(rebuilt.episodes_kept, "episode"),
        plural(rebuilt.consents, "consent"),
        plural(rebuilt.switches, "tracking choice"),
        plural(rebuilt.forgotten, "session"),
    ))?;
    match &rebuilt.report {
        Some(report) => ctx.out.line(format!(
            "read again: {}, {}, {} changed",
            plural(report.files_read, "log"),
            plural(report.episodes_new, "new episode"),
            report.episodes_changed,
        ))?,
        None => {
            ctx.out
                .line("read again: no log, because tracking is off")?;
            ctx.out.note("hint: sessionmill enable")?;
        }
    }
    match rebuilt.holes.as_slice() {
        [] => {}
        few if few.len() <= HOLES_NAMED => {
            let tables = few.join(", ");
            ctx.out
                .line(format!("could not be read in part: {tables}"))?;
        }
        many => {
            let tables = plural(many.len() as u64, "table");
            ctx.out
                .line(format!("could not be read in whole or in part: {tables}"))?;
        }
    }
    let is_counted = !rebuilt.holes.iter().any(|table| table == "episode");
    ctx.out.line(match is_counted {
        true => format!("lost: {}", plural(rebuilt.episodes_lost, "episode")),
        false => "lost: nobody knows how many episodes the damaged part had".to_owned(),
    })
}

fn tell(findings: &[Finding], ctx: &mut Ctx) -> Result<()> {
    if findings.is_empty() {
        return ctx.out.line("nothing is wrong");
    }
    for finding in findings {
        let style = match finding.severity {
            Severity::Note => Style::Dim,
            Severity::Warning => Style::Bold,
            Severity::Error => Style::Alarm,
        };
        let word = ctx.out.paint(style, finding.severity.as_str());
        let (code, reason) = (finding.code, &finding.reason);
        ctx.out.line(format!("{word} {code}: {reason}"))?;
        ctx.out.line(format!("  {}", finding.command))?;
    }
    Ok(())
}
