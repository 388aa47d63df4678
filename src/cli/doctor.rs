//! `doctor`: what is wrong, and which command mends it. The checks are in `pipeline::doctor`.

use super::bar::Bar;
use super::canary;
use super::ctx::Ctx;
use super::exit::Exit;
use super::out::Style;
use super::schedule;
use crate::agents::registry;
use crate::config;
use crate::model::human::plural;
use crate::pipeline::check::defaults_at;
use crate::pipeline::doctor::examination::{Examination, examined, mended};
use crate::pipeline::doctor::repair::{Rebuilt, Repaired};
use crate::pipeline::doctor::{Diagnosis, Severity};
use crate::pipeline::progress::Silent;
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
    let loaded = config::load(&ctx.env, registry::log_folders);
    if args.canary {
        return canary::run(&loaded?, ctx);
    }
    let repaired = match (args.repair, &loaded) {
        (false, _) => None,
        (true, Err(error)) => return Err(error.clone().into()),
        (true, Ok(loaded)) => {
            let bar = Bar::new(ctx.out.shows_progress());
            let pipeline = ctx.pipeline("nightly")?;
            Some(mended(&pipeline, &ctx.pipeline_context(loaded, &bar))?)
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
    let diagnoses = examined(&examination, &ctx.pipeline_context(&settings, &Silent))?;
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
    // the loss is known from the old table of episodes: with a hole in it no number holds
    let is_counted = !rebuilt.holes.iter().any(|table| table == "episode");
    ctx.out.line(match is_counted {
        true => format!("lost: {}", plural(rebuilt.episodes_lost, "episode")),
        false => "lost: nobody knows how many episodes the damaged part had".to_owned(),
    })
}

fn tell(diagnoses: &[Diagnosis], ctx: &mut Ctx) -> Result<()> {
    if diagnoses.is_empty() {
        return ctx.out.line("nothing is wrong");
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
