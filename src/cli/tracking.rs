//! `track`: which files of which projects are remembered. Knows how people say it and how it is
//! shown, but not how a change is found (`tracking`) and how settings are written
//! (`config::edit::tracking_config`).

use super::ctx::Ctx;
use super::exit::Exit;
use crate::config::edit::Edited;
use crate::config::edit::tracking_config::{NewPattern, NewProject, add, drop_project};
use crate::config::{FileTracking, TrackedProject, gate};
use crate::memory::places::{glob_from_root, tracked_root};
use crate::memory::redaction_setup;
use crate::model::choice::expected;
use crate::model::error::Error;
use crate::model::file::Strategy;
use crate::model::human::{self, ago, plural, table};
use crate::pipeline::lock::Lock;
use crate::pipeline::options::RunOptions;
use crate::pipeline::progress::Silent;
use crate::pipeline::steps;
use crate::pipeline::steps::track::{TrackRequest, files};
use crate::pipeline::steps::track_report;
use crate::store::{Access, Store};
use crate::tracking::project_status::{self, FileState, FileStatus, ProjectStatus};
use anyhow::Result;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Track project files: added, changed, moved, deleted
///
/// Each run checks the files that match a project's patterns (step `track`). Nothing is written
/// into the project: patterns are stored in ~/.graphiti/tracking-config.json. Text is stored with
/// secrets masked; of binary and large files only the name.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand, Debug)]
enum Action {
    Add(AddArgs),
    List(ListArgs),
    /// Show the state of tracking: files, pending changes, unreadable files
    Status(OneArgs),
    Sync(SyncArgs),
    /// Pause tracking
    Pause(OneArgs),
    /// Resume tracking
    Resume(OneArgs),
    Remove(RemoveArgs),
}

/// Track files of a project, one pattern per --include
#[derive(clap::Args, Debug)]
struct AddArgs {
    /// The project's folder
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Files to track, as a glob relative to the folder: 'src/**/*.py'
    #[arg(long, value_name = "GLOB", required = true)]
    include: Vec<String>,
    /// Files to leave out, as a glob
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// What happens to the previous episode of a changed file: replace, version, archive
    #[arg(long, value_name = "NAME", default_value = "replace", value_parser = strategy)]
    strategy: Strategy,
    /// Store only the name of larger files, in MB [default: 5]
    #[arg(long, value_name = "MB")]
    max_size_mb: Option<f64>,
    /// Description of the episodes [default: Auto-tracked from filesystem]
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Group to deliver the episodes to [default: the machine's]
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
}

/// List the tracked files of a project and their state
#[derive(clap::Args, Debug)]
struct ListArgs {
    /// The project's folder [default: the current project's]
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    /// Only files with pending changes
    #[arg(long)]
    pending: bool,
}

// no doc comment: it would be each command's help
#[derive(clap::Args, Debug)]
struct OneArgs {
    /// The project's folder [default: all projects]
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
}

/// Check the files now, as a run does
#[derive(clap::Args, Debug)]
struct SyncArgs {
    /// The project's folder [default: all projects]
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    /// Read all files, even those that look unchanged
    #[arg(long)]
    force: bool,
}

/// Stop tracking a project and remove its patterns
#[derive(clap::Args, Debug)]
struct RemoveArgs {
    /// The project's folder
    #[arg(value_name = "PATH")]
    path: PathBuf,
    /// Delete what was stored of its files too, here and from the sinks
    #[arg(long)]
    forget: bool,
}

fn strategy(word: &str) -> Result<Strategy, String> {
    let all = Strategy::ALL.map(Strategy::as_str);
    Strategy::parse(word).ok_or_else(|| expected(word, all))
}

/// Does it.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    match &args.action {
        Action::Add(args) => run_add(args, ctx),
        Action::List(args) => run_list(args, ctx),
        Action::Status(args) => run_status(args, ctx),
        Action::Sync(args) => run_sync(args, ctx),
        Action::Pause(args) => pause(args, true, ctx),
        Action::Resume(args) => pause(args, false, ctx),
        Action::Remove(args) => run_remove(args, ctx),
    }
}

fn run_add(args: &AddArgs, ctx: &mut Ctx) -> Result<Exit> {
    let loaded = ctx.settings()?;
    let root = root(Some(&args.path), &loaded.tracking, ctx);
    if !Path::new(&root).is_dir() {
        return Err(Error::usage(format!("{root} is not a folder")).into());
    }
    let folder = ctx.env.cwd.join(&args.path);
    let from_root = |glob: &String| glob_from_root(glob, &folder, &root);
    let pattern = |include: &String| NewPattern {
        include: from_root(include),
        exclude: args.exclude.iter().map(from_root).collect(),
        strategy: args.strategy,
        max_file_size_mb: args.max_size_mb,
        description: args.description.clone(),
    };
    let patterns: Vec<NewPattern> = args.include.iter().map(pattern).collect();
    let new = NewProject {
        root: &root,
        host: &ctx.host,
        patterns: &patterns,
        group: args.group.as_deref(),
    };
    let file = ctx.home.tracking_config();
    let edited = add(&file, &ctx.env, &new)?;
    // read again: files are counted by what is written now
    let loaded = ctx.settings()?;
    let project = one(&loaded.tracking, &root)?;
    let files = files(None, project, &loaded, ctx.cores)?;
    let count = files.len() as u64;
    if ctx.out.json {
        let body = json!({
            "project": root, "name": project.name, "file": file, "files": count,
            "changed": edited != Edited::Same,
        });
        ctx.out.document("track add", body)?;
        return Ok(Exit::Done);
    }
    let what = match edited {
        Edited::Same => "is already tracked this way",
        Edited::Created | Edited::Changed => "is tracked",
    };
    ctx.out.line(format!(
        "{root} {what}: {} ({})",
        plural(count, "file"),
        file.display()
    ))?;
    ctx.out.note("hint: sessionmill track sync")?;
    Ok(Exit::Done)
}

/// The entry for a root.
fn one<'a>(tracking: &'a FileTracking, root: &str) -> Result<&'a TrackedProject, Error> {
    tracking.project(root).ok_or_else(|| {
        Error::usage(format!("{root} is not tracked"))
            .hinted("sessionmill track add PATH --include 'src/**/*.py'")
    })
}

/// The project's root.
fn root(path: Option<&Path>, tracking: &FileTracking, ctx: &Ctx) -> String {
    let path = path.unwrap_or(Path::new("."));
    tracked_root(path, &ctx.env.cwd, |root| tracking.project(root).is_some())
}

fn meant(path: Option<&Path>, tracking: &FileTracking, ctx: &Ctx) -> Result<Option<String>, Error> {
    let Some(path) = path else { return Ok(None) };
    let root = root(Some(path), tracking, ctx);
    one(tracking, &root)?;
    Ok(Some(root))
}

fn run_list(args: &ListArgs, ctx: &mut Ctx) -> Result<Exit> {
    let loaded = ctx.settings()?;
    let root = root(args.path.as_deref(), &loaded.tracking, ctx);
    let project = one(&loaded.tracking, &root)?;
    let store = ctx.stored()?;
    let mut files = files(store.as_ref(), project, &loaded, ctx.cores)?;
    if args.pending {
        files.retain(|file| file.state != FileState::Recorded);
    }
    if ctx.out.json {
        let files: Vec<Value> = files.iter().map(file_document).collect();
        let body = json!({"project": root, "name": project.name, "files": files});
        ctx.out.document("track list", body)?;
        return Ok(Exit::Done);
    }
    if files.is_empty() {
        let what = if args.pending {
            "nothing is waiting"
        } else {
            "no file matches a pattern"
        };
        ctx.out.line(what)?;
        return Ok(Exit::Done);
    }
    let rows = files.iter().map(|file| {
        vec![
            match file.state {
                FileState::Recorded => "recorded",
                other => other.as_str(),
            }
            .to_owned(),
            human::bytes(file.size),
            human::time(Some(file.modified), ctx.zone),
            file.path.clone(),
        ]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    ctx.out.text(table(&rows, &[1]))?;
    Ok(Exit::Done)
}

fn file_document(file: &FileStatus) -> Value {
    json!({
        "path": file.path,
        "state": file.state.as_str(),
        "file_size": file.size,
        "modified_time": file.modified.rfc3339_millis(),
        "content_hash": file.content_hash,
        "episode": file.episode.map(|id| id.to_string()),
        "operation": file.operation.map(|operation| operation.as_str()),
    })
}

fn run_status(args: &OneArgs, ctx: &mut Ctx) -> Result<Exit> {
    let loaded = ctx.settings()?;
    let only = meant(args.path.as_deref(), &loaded.tracking, ctx)?;
    let store = ctx.stored()?;
    let all = project_status::projects(store.as_ref(), &loaded.tracking, only.as_deref())?;
    let mut documents = Vec::new();
    for status in &all {
        let files = files(store.as_ref(), status.project, &loaded, ctx.cores)?;
        let pending = project_status::pending(&files);
        match ctx.out.json {
            true => documents.push(project_document(status, pending)),
            false => tell_project(status, pending, ctx)?,
        }
    }
    if ctx.out.json {
        ctx.out
            .document("track status", json!({"projects": documents}))?;
    } else if all.is_empty() {
        return none_tracked(ctx);
    }
    Ok(Exit::Done)
}

fn none_tracked(ctx: &mut Ctx) -> Result<Exit> {
    ctx.out.line("no project is tracked")?;
    ctx.out
        .note("hint: sessionmill track add PATH --include 'src/**/*.py'")?;
    Ok(Exit::Done)
}

fn state(status: &ProjectStatus<'_>) -> &'static str {
    match (status.project.enabled, status.paused_at) {
        (false, _) => "off",
        (true, Some(_)) => "paused",
        (true, None) => "on",
    }
}

fn project_document(status: &ProjectStatus<'_>, pending: u64) -> Value {
    let patterns = status.project.tracked.patterns.iter().map(
        |pattern| json!({"include": pattern.written, "update_strategy": pattern.strategy.as_str()}),
    );
    let unread = status.unread.iter();
    let unread = unread.map(|(path, reason)| json!({"path": path, "reason": reason}));
    json!({
        "project": status.project.root,
        "name": status.project.name,
        "enabled": status.project.enabled,
        "state": state(status),
        "paused_at": status.paused_at.map(|at| at.rfc3339_millis()),
        "files_watched": status.files,
        "pending_updates": pending,
        "last_sync": status.changed_at.map(|at| at.rfc3339_millis()),
        "patterns": patterns.collect::<Vec<_>>(),
        "unread": unread.collect::<Vec<_>>(),
    })
}

fn tell_project(status: &ProjectStatus<'_>, pending: u64, ctx: &mut Ctx) -> Result<()> {
    let last = status
        .changed_at
        .map_or("never".to_owned(), |at| ago(at, ctx.now));
    ctx.out.line(format!(
        "{}: {}, {}, {pending} to record, last change {last}",
        status.project.root,
        state(status),
        plural(status.files, "file"),
    ))?;
    for pattern in &status.project.tracked.patterns {
        let strategy = pattern.strategy.as_str();
        ctx.out
            .line(format!("  {} ({strategy})", pattern.written))?;
    }
    for (path, why) in &status.unread {
        ctx.out.line(format!("  can't be read: {path}: {why}"))?;
    }
    Ok(())
}

fn run_sync(args: &SyncArgs, ctx: &mut Ctx) -> Result<Exit> {
    let loaded = ctx.settings()?;
    let only = meant(args.path.as_deref(), &loaded.tracking, ctx)?;
    let gate = gate(&loaded.config);
    if !gate.enabled {
        let error = Error::usage(format!("nothing is read: {}", gate.reason));
        return Err(error.hinted("sessionmill enable").into());
    }
    let pipeline = ctx.pipeline("nightly")?;
    ctx.make_home()?;
    let _lock = Lock::take(&ctx.home.lock())?;
    let redaction = redaction_setup::load(&loaded.config, &ctx.home)?;
    let mut store = Store::open(&ctx.home.store(), Access::ReadWrite)?;
    let request = TrackRequest {
        only: only.as_deref(),
        force: args.force,
    };
    let cx = ctx.pipeline_context(&loaded, &Silent);
    let options = RunOptions::new(&pipeline, &cx);
    let done = steps::track::sync(&request, &options, &redaction.redactor, &mut store, &cx)?;
    store.finish()?;
    if ctx.out.json {
        let mut body = track_report::files(&done.files);
        body["git_operations"] = done.operations.into();
        body["git_problems"] = track_report::problems(&done);
        ctx.out.document("track sync", body)?;
    } else {
        for warning in track_report::warnings(&done) {
            ctx.out.warn(warning)?;
        }
        let seen = plural(done.files.seen, "file");
        match steps::track::line(&done) {
            Some(told) => ctx.out.line(format!("{told}, of {seen}"))?,
            None if loaded.tracking.projects().is_empty() => return none_tracked(ctx),
            None => ctx.out.line(format!("nothing new, of {seen}"))?,
        }
    }
    Ok(match done.unread() == 0 {
        true => Exit::Done,
        false => Exit::Partial,
    })
}

fn pause(args: &OneArgs, pauses: bool, ctx: &mut Ctx) -> Result<Exit> {
    let loaded = ctx.settings()?;
    let only = meant(args.path.as_deref(), &loaded.tracking, ctx)?;
    ctx.make_home()?;
    let _lock = Lock::take(&ctx.home.lock())?;
    let mut store = Store::open(&ctx.home.store(), Access::ReadWrite)?;
    let mut changed = Vec::new();
    let projects = loaded.tracking.projects().iter();
    for project in projects.filter(|p| only.as_ref().is_none_or(|only| *only == p.root)) {
        if store.pause_project(&project.root, pauses.then_some(ctx.now))? {
            changed.push(project.root.clone());
        }
    }
    store.finish()?;
    let (kind, word) = match pauses {
        true => ("track pause", "paused"),
        false => ("track resume", "resumed"),
    };
    if ctx.out.json {
        ctx.out.document(kind, json!({"projects": changed}))?;
        return Ok(Exit::Done);
    }
    if loaded.tracking.projects().is_empty() {
        return none_tracked(ctx);
    }
    if changed.is_empty() {
        let already = if pauses {
            "paused already"
        } else {
            "not paused"
        };
        ctx.out.line(already)?;
    }
    for root in &changed {
        ctx.out.line(format!("{root}: {word}"))?;
    }
    Ok(Exit::Done)
}

fn run_remove(args: &RemoveArgs, ctx: &mut Ctx) -> Result<Exit> {
    let loaded = ctx.settings()?;
    let root = root(Some(&args.path), &loaded.tracking, ctx);
    match one(&loaded.tracking, &root) {
        Ok(project) => {
            drop_project(&ctx.home.tracking_config(), &project.name)?;
        }
        // its entry went before, and its episodes are to go too
        Err(_) if args.forget => {}
        Err(error) => return Err(error.into()),
    }
    let mut forgotten = 0;
    if ctx.home.store().exists() {
        let _lock = Lock::take(&ctx.home.lock())?;
        let mut store = Store::open(&ctx.home.store(), Access::ReadWrite)?;
        forgotten = store.remove_tracked(&root, args.forget)?;
        store.finish()?;
    }
    if ctx.out.json {
        let body = json!({"project": root, "episodes_forgotten": forgotten});
        ctx.out.document("track remove", body)?;
        return Ok(Exit::Done);
    }
    ctx.out.line(format!("{root} is no longer tracked"))?;
    match args.forget {
        true => ctx
            .out
            .line(format!("{} forgotten", plural(forgotten, "episode")))?,
        false => ctx.out.note(
            "recorded episodes stay; to delete them: sessionmill track remove PATH --forget",
        )?,
    }
    Ok(Exit::Done)
}
