//! `schedule`: lets a timer run the pipeline. Chooses between systemd and cron; each of them knows
//! its own files.

mod cron;
mod every;
mod systemd;

use super::ctx::Ctx;
use super::exit::Exit;
use crate::agents::registry;
use crate::config::{self, SinkTo};
use crate::model::error::{Error, ErrorKind};
use anyhow::{Context, Result};
use clap::{Args as ClapArgs, Subcommand};
use every::Every;
use serde_json::json;
use std::iter;
use std::path::{Path, PathBuf};

/// Run a pipeline regularly, with a systemd user timer or a crontab line
#[derive(ClapArgs, Debug)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    Install(Install),
    /// Show the timer that is installed, and when it runs next
    Show,
    /// Stop the timer and remove it
    Remove,
}

/// Install the timer, or change the one that is there
///
/// Writes sessionmill.service and sessionmill.timer into ~/.config/systemd/user and enables them;
/// where no systemd user manager answers, adds a marked block to your crontab. The environment
/// variables that say where logs and our folder are (SESSIONMILL_HOME, CLAUDE_CONFIG_DIR,
/// CODEX_HOME) are written down as they are now.
#[derive(ClapArgs, Debug)]
struct Install {
    /// How often: 5m, 15m, 1h, 6h, 1d (a divisor of the hour or of the day)
    /// [default: schedule.interval of the settings, 15min]
    #[arg(long, value_name = "SPAN")]
    every: Option<Every>,
    /// The pipeline to run
    #[arg(long, value_name = "NAME", default_value = "nightly")]
    pipeline: String,
    /// Use systemd, whatever is detected
    #[arg(long, conflicts_with = "cron")]
    systemd: bool,
    /// Use cron, whatever is detected
    #[arg(long)]
    cron: bool,
    /// Print what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// What the timer has to start.
struct Job {
    program: PathBuf,
    pipeline: String,
    every: Every,
    /// Our folder, which is written.
    home: PathBuf,
    /// Sinks' folders, which are written too.
    folders: Vec<PathBuf>,
    /// A sink or a language model is somewhere else.
    network: bool,
    /// The person's, where `~` leads.
    user_home: PathBuf,
    /// Variables that say where things are, resolved: a timer's environment wouldn't have them.
    vars: Vec<(String, String)>,
}

/// Installs, shows or removes the timer.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    match &args.verb {
        Verb::Install(options) => install(options, ctx),
        Verb::Show => show(ctx),
        Verb::Remove => remove(ctx),
    }
}

fn install(options: &Install, ctx: &mut Ctx) -> Result<Exit> {
    ctx.pipeline(&options.pipeline)?;
    let job = job(options, ctx)?;
    let on_systemd = match (options.systemd, options.cron) {
        (true, _) => true,
        (_, true) => false,
        _ => systemd::answers(ctx.vars()),
    };
    if options.systemd && !options.dry_run {
        systemd::expect_manager(ctx.vars())?;
    }
    if options.dry_run && !on_systemd && !cron::is_there(ctx.vars())? {
        ctx.out.warn(cron::NO_TIMER)?;
    }
    if options.dry_run {
        let files = match on_systemd {
            true => systemd::files(&job, ctx.vars()),
            false => vec![("crontab".into(), cron::block(&job))],
        };
        return print_files(&files, ctx);
    }
    ctx.make_home()?;
    for folder in &job.folders {
        // a unit can't be given a folder that is not there
        std::fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
    }
    let wrote = match on_systemd {
        true => {
            take_over_from_cron(ctx)?;
            systemd::install(&job, ctx.vars())?
        }
        false => {
            systemd::remove(ctx.vars())?;
            cron::install(&job, ctx.vars())?;
            vec!["crontab".into()]
        }
    };
    report(&job, on_systemd, &wrote, ctx)
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

fn job(options: &Install, ctx: &mut Ctx) -> Result<Job> {
    let config = ctx.settings()?.config;
    let every = match options.every {
        Some(every) => every,
        None => Every::of_seconds(config.schedule_interval_s)?,
    };
    let folder = |sink: &config::SinkSettings| match &sink.to {
        SinkTo::Markdown(folder) | SinkTo::Jsonl(folder) => Some(folder.clone()),
        SinkTo::Database(_) | SinkTo::Graphiti(_) => None,
    };
    let away = |sink: &config::SinkSettings| !sink.to.endpoints().is_empty();
    let agents = registry::all().map(|agent| agent.folder(&ctx.env));
    let set = iter::once(("SESSIONMILL_HOME", ctx.home.dir.clone()))
        .chain(agents)
        .filter(|(name, _)| ctx.env.var(name).is_some());
    let job = Job {
        program: ctx.program.clone(),
        pipeline: options.pipeline.clone(),
        every,
        home: ctx.home.dir.clone(),
        folders: config.sinks.iter().filter_map(folder).collect(),
        network: config.llm.is_some()
            || config.embeddings.is_some()
            || config.sinks.iter().any(away),
        user_home: ctx.env.home.clone(),
        vars: set
            .map(|(name, path)| (name.into(), path.to_string_lossy().into()))
            .collect(),
    };
    // A newline would end the line in a unit or a crontab and begin another one.
    let values = job.vars.iter().map(|(_, value)| value.as_str());
    let paths = [&job.program, &job.home].into_iter().chain(&job.folders);
    let paths: Vec<String> = paths.map(|p| p.to_string_lossy().into_owned()).collect();
    match values
        .chain(paths.iter().map(String::as_str))
        .find(|v| v.contains(char::is_control))
    {
        Some(bad) => Err(Error::usage(format!("{bad:?} can't be written into a timer")).into()),
        None => Ok(job),
    }
}

fn report(job: &Job, on_systemd: bool, wrote: &[PathBuf], ctx: &mut Ctx) -> Result<Exit> {
    if ctx.out.json {
        let body = json!({
            "how": if on_systemd { "systemd" } else { "cron" },
            "every": job.every.to_string(),
            "pipeline": job.pipeline,
            "program": job.program,
            "wrote": wrote,
        });
        ctx.out.document("schedule install", body)?;
        return Ok(Exit::Done);
    }
    let program = job.program.display();
    ctx.out.did(format!(
        "every {}: {program} run {}",
        job.every, job.pipeline
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
    if on_systemd {
        ctx.out.note(
            "it runs while you are logged in; `loginctl enable-linger` makes it run always",
        )?;
    }
    Ok(Exit::Done)
}

/// The units and the crontab block of ours that are there.
fn installed(ctx: &Ctx) -> Result<Vec<(PathBuf, String)>> {
    let mut files = systemd::installed(ctx.vars());
    if let Some(block) = cron::installed(ctx.vars())? {
        files.push(("crontab".into(), block));
    }
    Ok(files)
}

/// Seconds between the runs of the timer that is installed; `None` where there is none, or cron
/// can't be asked.
pub fn interval_s(ctx: &Ctx) -> Option<u64> {
    let files = installed(ctx).unwrap_or_default();
    let every = files.iter().find_map(|(_, text)| Every::installed_in(text));
    every.map(Every::seconds)
}

fn show(ctx: &mut Ctx) -> Result<Exit> {
    let files = installed(ctx)?;
    let units = files.iter().any(|(path, _)| path != Path::new("crontab"));
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

fn remove(ctx: &mut Ctx) -> Result<Exit> {
    let mut gone = systemd::remove(ctx.vars())?;
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
            "took our lines out of the"
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

/// A program of the machine that failed, with what it said.
fn refused(command: &str, said: &str, hint: &str) -> Error {
    let said = said.trim().replace('\n', "; ");
    Error::new(ErrorKind::Failed, format!("`{command}` failed: {said}")).hinted(hint)
}
