//! `schedule`: lets a timer run the pipeline. Chooses between systemd, launchd and cron.

use super::ctx::Ctx;
use super::exit::Exit;
use super::schedule_status;
use crate::pipeline::progress::Silent;
use crate::pipeline::schedule::calendar::Calendar;
use crate::pipeline::schedule::every::Every;
use crate::pipeline::schedule::job::Job;
use crate::pipeline::schedule::recurrence::Recurrence;
use crate::pipeline::schedule::{cron, installed, launchd, systemd};
use anyhow::{Context, Result};
use clap::{Args as ClapArgs, Subcommand};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Run regularly with a timer: systemd, launchd or cron
#[derive(ClapArgs, Debug)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    Install(Install),
    /// Show the last, the next and the failed runs
    Status,
    /// Show the installed timer and its next run
    Show,
    /// Stop the timer and remove it
    Remove,
}

/// Install the timer, or change the installed one
///
/// Writes sessionmill.service and sessionmill.timer to ~/.config/systemd/user and enables them; on
/// macOS, a launchd agent in ~/Library/LaunchAgents; elsewhere, a marked block in your crontab. Saves the current values of
/// SESSIONMILL_HOME and the variables of agents (CLAUDE_CONFIG_DIR, CODEX_HOME, …) for the timer.
#[derive(ClapArgs, Debug, Default)]
struct Install {
    /// How often: 5m, 15m, 1h, 6h, 1d; must divide the hour or the day [default: the setting
    /// schedule.interval, 15min]
    #[arg(long, value_name = "SPAN")]
    every: Option<Every>,
    /// At these times instead: 'Mon..Fri 09:00', 'Sat,Sun 10:00,18:00', '07:30'
    #[arg(long, value_name = "TIMES", conflicts_with = "every")]
    calendar: Option<Calendar>,
    /// Pipeline to run
    #[arg(long, value_name = "NAME", default_value = "nightly")]
    pipeline: String,
    /// Use systemd even if it was not detected
    #[arg(long, conflicts_with_all = ["cron", "launchd"])]
    systemd: bool,
    /// Use launchd even if it was not detected
    #[arg(long, conflicts_with = "cron")]
    launchd: bool,
    /// Use cron even if another timer was detected
    #[arg(long)]
    cron: bool,
    /// Show what would be written, without writing it
    #[arg(long)]
    dry_run: bool,
}

/// Installs, shows or removes the timer.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    match &args.verb {
        Verb::Install(options) => install(options, ctx),
        Verb::Status => schedule_status::run(ctx),
        Verb::Show => show(ctx),
        Verb::Remove => remove(ctx),
    }
}

/// Installs the timer as it is without options.
pub(super) fn install_usual(ctx: &mut Ctx) -> Result<Exit> {
    let pipeline = "nightly".to_owned();
    let usual = Install {
        pipeline,
        ..Install::default()
    };
    install(&usual, ctx)
}

fn install(options: &Install, ctx: &mut Ctx) -> Result<Exit> {
    ctx.pipeline(&options.pipeline)?;
    let loaded = ctx.settings()?;
    let program = ctx.program.clone();
    let cx = ctx.pipeline_context(&loaded, &Silent);
    let calendar = options.calendar.clone().map(Recurrence::At);
    let recurrence = calendar.or(options.every.map(Recurrence::Every));
    let job = Job::new(&program, &options.pipeline, recurrence, &cx)?;
    let way = Way::of(options, ctx);
    if options.systemd && !options.dry_run {
        systemd::expect_manager(ctx.vars())?;
    }
    if options.dry_run && way == Way::Cron && !cron::is_there(ctx.vars())? {
        ctx.out.warn(cron::NO_TIMER)?;
    }
    if options.dry_run {
        let files = match way {
            Way::Systemd => systemd::files(&job, ctx.vars()),
            Way::Launchd => vec![launchd::file(&job, ctx.vars())],
            Way::Cron => vec![("crontab".into(), cron::block(&job))],
        };
        return print_files(&files, ctx);
    }
    ctx.make_home()?;
    for folder in &job.folders {
        // a unit can't be given a folder that is not there
        std::fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
    }
    if way != Way::Systemd {
        systemd::remove(ctx.vars())?;
    }
    if way != Way::Launchd {
        launchd::remove(ctx.vars())?;
    }
    if way != Way::Cron {
        take_over_from_cron(ctx)?;
    }
    let wrote = match way {
        Way::Systemd => systemd::install(&job, ctx.vars())?,
        Way::Launchd => launchd::install(&job, ctx.vars())?,
        Way::Cron => {
            cron::install(&job, ctx.vars())?;
            vec!["crontab".into()]
        }
    };
    report(&job, way, &wrote, ctx)
}

/// What starts us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Systemd,
    Launchd,
    Cron,
}

impl Way {
    /// The one that is asked for, else the one that is there.
    fn of(options: &Install, ctx: &Ctx) -> Way {
        match (options.systemd, options.launchd, options.cron) {
            (true, _, _) => Way::Systemd,
            (_, true, _) => Way::Launchd,
            (_, _, true) => Way::Cron,
            _ if launchd::is_there(ctx.vars()) => Way::Launchd,
            _ if systemd::answers(ctx.vars()) => Way::Systemd,
            _ => Way::Cron,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Way::Systemd => "systemd",
            Way::Launchd => "launchd",
            Way::Cron => "cron",
        }
    }
}

/// One timer is enough. Where cron can't be asked it can't run anything of ours either.
fn take_over_from_cron(ctx: &mut Ctx) -> Result<()> {
    match cron::remove(ctx.vars()) {
        Ok(_) => Ok(()),
        Err(error) => ctx
            .out
            .warn(format!("the crontab was left alone: {error:#}")),
    }
}

fn report(job: &Job, way: Way, wrote: &[PathBuf], ctx: &mut Ctx) -> Result<Exit> {
    let (every, calendar) = match &job.recurrence {
        Recurrence::Every(every) => (Some(every.to_string()), None),
        Recurrence::At(calendar) => (None, Some(calendar.to_string())),
    };
    if ctx.out.json {
        let body = json!({
            "how": way.word(),
            "every": every,
            "calendar": calendar,
            "pipeline": job.pipeline,
            "program": job.program,
            "wrote": wrote,
        });
        ctx.out.document("schedule install", body)?;
        return Ok(Exit::Done);
    }
    let program = job.program.display();
    ctx.out.did(format!(
        "{}: {program} run {}",
        job.recurrence, job.pipeline
    ))?;
    for path in wrote {
        ctx.out.did(format!("wrote {}", path.display()))?;
    }
    if job
        .program
        .components()
        .any(|part| part.as_os_str() == "target")
    {
        ctx.out.warn("the timer starts a build directory's program; `make install`, then install the timer again")?;
    }
    if way == Way::Systemd {
        ctx.out.note(
            "it runs while you are logged in; `loginctl enable-linger` makes it run always",
        )?;
    }
    Ok(Exit::Done)
}

/// The longest time in seconds between two runs of the timer that is installed; `None` where there is none, or cron
/// can't be asked.
pub fn interval_s(ctx: &Ctx) -> Option<u64> {
    let files = installed(ctx.vars()).unwrap_or_default();
    let recurrence = files
        .iter()
        .find_map(|(_, text)| Recurrence::installed_in(text));
    recurrence.map(|recurrence| recurrence.seconds())
}

fn show(ctx: &mut Ctx) -> Result<Exit> {
    let files = installed(ctx.vars())?;
    let units = files
        .iter()
        .any(|(path, _)| path.extension().is_some_and(|kind| kind == "timer"));
    let state = match units {
        true => systemd::state(ctx.vars()),
        false => None,
    };
    if ctx.out.json {
        let list: Vec<_> = files
            .iter()
            .map(|(path, text)| json!({"path": path, "text": text}))
            .collect();
        let body = json!({"installed": !list.is_empty(), "state": state, "files": list});
        ctx.out.document("schedule show", body)?;
        return Ok(Exit::Done);
    }
    if files.is_empty() {
        ctx.out.line("no timer is installed")?;
        ctx.out.note("hint: sessionmill schedule install")?;
        return Ok(Exit::Done);
    }
    if let Some(state) = state {
        ctx.out.line(format!("timer: {state}"))?;
    }
    print_files(&files, ctx)
}

/// Removes whatever timer of ours is installed.
pub(super) fn remove(ctx: &mut Ctx) -> Result<Exit> {
    let mut gone = systemd::remove(ctx.vars())?;
    gone.extend(launchd::remove(ctx.vars())?);
    if cron::remove(ctx.vars())? {
        gone.push("crontab".into());
    }
    if ctx.out.json {
        ctx.out
            .document("schedule remove", json!({"removed": gone}))?;
        return Ok(Exit::Done);
    }
    if gone.is_empty() {
        ctx.out.did("no timer is installed")?;
    }
    for path in gone {
        let verb = if path == Path::new("crontab") {
            "removed our lines from the"
        } else {
            "removed"
        };
        ctx.out.did(format!("{verb} {}", path.display()))?;
    }
    Ok(Exit::Done)
}

fn print_files(files: &[(PathBuf, String)], ctx: &mut Ctx) -> Result<Exit> {
    if ctx.out.json {
        let list: Vec<_> = files
            .iter()
            .map(|(path, text)| json!({"path": path, "text": text}))
            .collect();
        ctx.out
            .document("schedule install", json!({"dry_run": true, "files": list}))?;
        return Ok(Exit::Done);
    }
    for (path, text) in files {
        ctx.out.line(format!("--- {}", path.display()))?;
        ctx.out.text(text)?;
    }
    Ok(Exit::Done)
}
