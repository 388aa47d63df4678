//! `doctor`: what is wrong, and which command mends it. The checks are in `pipeline::doctor`.

use super::bar::Bar;
use super::canary;
use super::ctx::Ctx;
use super::drift;
use super::exit::Exit;
use super::out::Style;
use super::schedule;
use crate::agents::registry;
use crate::config;
use crate::model::human::plural;
use crate::pipeline::check::defaults_at;
use crate::pipeline::doctor::examination::{Examination, examined, mended};
use crate::pipeline::doctor::repair::Repaired;
use crate::pipeline::doctor::{Diagnosis, Severity};
use anyhow::Result;
use serde_json::json;

/// Check for problems and show how to fix them
///
/// Checks the store, the settings, the timer and the logs. Exits 3 if something needs attention;
/// notes do not count.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Repair the store: rebuild the full-text index, or the whole file from what is readable
    /// and from the logs. The damaged file is set aside, never deleted
    #[arg(long)]
    repair: bool,
    /// Read every log again and compare what it says with what is stored. Takes as long as
    /// `run --rebuild`, and for that time as much disk space as the store. With --repair, repair
    /// what differs
    #[arg(long)]
    deep: bool,
    /// Plant secrets for every rule in a temporary home, index them, and search every byte of
    /// the result for them
    #[arg(long, conflicts_with_all = ["repair", "deep"])]
    canary: bool,
    /// Print one record of each kind that this version does not know, with all values blanked: a
    /// report to send to us, without content
    #[arg(long, conflicts_with_all = ["repair", "deep", "canary"])]
    report_drift: bool,
}

/// Examines, after mending where that was asked for.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let loaded = config::load(&ctx.env, registry::log_folders);
    if args.report_drift {
        return drift::report(ctx);
    }
    if args.canary {
        return canary::run(&loaded?, ctx);
    }
    let repaired = match (args.repair, &loaded) {
        (false, _) => None,
        (true, Err(error)) => return Err(error.clone().into()),
        (true, Ok(loaded)) => {
            let bar = Bar::new(ctx.out.shows_progress());
            let pipeline = ctx.pipeline("nightly")?;
            Some(mended(
                &pipeline,
                args.deep,
                &mut ctx.pipeline_context(loaded, &bar),
            )?)
        }
    };
    let interval_s = schedule::interval_s(ctx);
    let (settings, unreadable) = match loaded {
        Ok(loaded) => (loaded, None),
        Err(error) => (defaults_at(&ctx.home.dir)?, Some(error)),
    };
    let examination = Examination {
        unreadable: unreadable.as_ref(),
        interval_s,
        is_deep: args.deep,
    };
    let bar = Bar::new(args.deep && ctx.out.shows_progress());
    let diagnoses = examined(&examination, &mut ctx.pipeline_context(&settings, &bar))?;
    if ctx.out.json {
        let body = json!({"repaired": repaired, "findings": diagnoses});
        ctx.out.document("doctor", body)?;
    } else {
        if let Some(repaired) = &repaired {
            tell_repair(repaired, ctx)?;
        }
        tell(&diagnoses, ctx)?;
    }
    let grave = diagnoses.iter().any(|f| f.severity > Severity::Note);
    Ok(if grave { Exit::Partial } else { Exit::Done })
}

fn tell_repair(repaired: &Repaired, ctx: &mut Ctx) -> Result<()> {
    match repaired {
        Repaired::Nothing => ctx.out.line("the store is intact; nothing to repair"),
        Repaired::Index { episodes } => {
            let episodes = plural(*episodes, "episode");
            ctx.out
                .line(format!("rebuilt the full-text index: {episodes}"))
        }
        Repaired::Store(rebuilt) => {
            rebuilt
                .lines()
                .iter()
                .try_for_each(|line| ctx.out.line(line))?;
            match rebuilt.report {
                Some(_) => Ok(()),
                None => ctx.out.note("hint: sessionmill init"),
            }
        }
    }
}

fn tell(diagnoses: &[Diagnosis], ctx: &mut Ctx) -> Result<()> {
    if diagnoses.is_empty() {
        return ctx.out.line("no problems found");
    }
    for diagnosis in diagnoses {
        let style = match diagnosis.severity {
            Severity::Note => Style::Dim,
            Severity::Warning => Style::Bold,
            Severity::Error => Style::Alarm,
        };
        let word = ctx.out.paint(style, diagnosis.severity.as_str());
        let (code, reason) = (diagnosis.code, &diagnosis.reason);
        ctx.out.line(format!("{word} {code}: {reason}"))?;
        ctx.out.line(format!("  {}", diagnosis.command))?;
    }
    Ok(())
}
