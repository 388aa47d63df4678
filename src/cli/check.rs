//! `run --check`: runs a pipeline's examples and compares its result with the recorded one.

use super::bar::Bar;
use super::ctx::Ctx;
use super::exit::Exit;
use super::human::plural;
use super::setup::{self, Orders};
use super::tables;
use crate::agents::registry;
use crate::config::{self, Env, Loaded, gate};
use crate::memory::screen;
use crate::model::error::Error;
use crate::pipeline::admission::Admission;
use crate::pipeline::check::{difference, example, lay_out, whole};
use crate::pipeline::progress::{Progress, Silent};
use crate::pipeline::spec::{Example, Pipeline, Window};
use anyhow::{Context, Result};
use serde_json::json;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Checks a pipeline, or records its result. A difference and a failed example are exit 1.
pub fn check(pipeline: &Pipeline, record: bool, ctx: &mut Ctx) -> Result<Exit> {
    let mut failed = 0;
    for test in &pipeline.tests {
        for what in run_example(test, pipeline, ctx)? {
            failed += 1;
            ctx.out.warn(format!("test \"{}\": {what}", test.name))?;
        }
    }
    let compared = compare(pipeline, record, ctx)?;
    let same = compared.as_ref().is_none_or(|c| c.difference.is_none());
    if ctx.out.json {
        let body = json!({
            "pipeline": pipeline.name,
            "tests": pipeline.tests.len(),
            "failures": failed,
            "recorded": compared.as_ref().map(|c| &c.recorded),
            "difference": compared.as_ref().and_then(|c| c.difference.as_ref()),
        });
        ctx.out.document("run", body)?;
    } else {
        tell(pipeline, failed, compared.as_ref(), record, ctx)?;
    }
    Ok(if failed == 0 && same {
        Exit::Done
    } else {
        Exit::Failed
    })
}

/// The result beside what was recorded.
struct Compared {
    recorded: PathBuf,
    difference: Option<String>,
}

fn tell(
    pipeline: &Pipeline,
    failed: usize,
    compared: Option<&Compared>,
    record: bool,
    ctx: &mut Ctx,
) -> Result<()> {
    let tests = plural(pipeline.tests.len() as u64, "test");
    if !pipeline.tests.is_empty() {
        ctx.out
            .line(format!("{tests}, {}", plural(failed as u64, "failure")))?;
    }
    let Some(compared) = compared else {
        return Ok(());
    };
    let file = compared.recorded.display();
    match &compared.difference {
        _ if record => ctx.out.line(format!("recorded {file}")),
        None => ctx.out.line(format!("the result is as recorded in {file}")),
        Some(difference) => {
            ctx.out
                .line(format!("the result is not as recorded in {file}"))?;
            ctx.out.text(difference)?;
            let hint = format!("hint: sessionmill run {} --check --record", pipeline.name);
            ctx.out.note(hint)
        }
    }
}

fn run_example(test: &Example, pipeline: &Pipeline, ctx: &Ctx) -> Result<Vec<String>> {
    let dir = tempfile::tempdir()?;
    lay_out(test, dir.path()).with_context(|| format!("test \"{}\"", test.name))?;
    let loaded = defaults_at(dir.path())?;
    let orders = Orders {
        window: Window::All,
        ..orders(pipeline, ctx)
    };
    let screen = screen::reproducible(&loaded.config, &loaded.home)?;
    let classifier = tables::counter(&loaded.home)?;
    let setup = setup::setup(&loaded.config, &orders, screen, classifier, &|_, _, _| {
        Ok(None)
    });
    example(&test.wants, &setup, dir.path())
}

/// `None`: the pipeline compares nothing: it names no corpus, nothing is recorded for it, and
/// nothing is to be.
fn compare(pipeline: &Pipeline, record: bool, ctx: &mut Ctx) -> Result<Option<Compared>> {
    let named = pipeline.check.recorded.clone();
    let own = || ctx.home.dir.join(format!("recorded/{}.txt", pipeline.name));
    let recorded = named.unwrap_or_else(own);
    if pipeline.check.home.is_none() && !record && !recorded.exists() {
        return Ok(None);
    }
    corpus(pipeline, ctx)?;
    let before = match (record, fs::read_to_string(&recorded)) {
        (true, _) => String::new(),
        (false, Ok(text)) => text,
        (false, Err(error)) => {
            let message = format!("{}: {error}", recorded.display());
            let hint = format!("sessionmill run {} --check --record", pipeline.name);
            return Err(Error::usage(message).hinted(hint).into());
        }
    };
    let found = result(pipeline, ctx)?;
    let difference = match record {
        true => write(&recorded, &found).map(|()| None)?,
        false => difference(&before, &found),
    };
    Ok(Some(Compared {
        recorded,
        difference,
    }))
}

/// The folder that a pipeline's `check.home` names.
fn corpus(pipeline: &Pipeline, ctx: &Ctx) -> Result<Option<PathBuf>, Error> {
    let home = pipeline.check.home.as_ref();
    let home = home.map(|home| ctx.env.cwd.join(home));
    match home {
        Some(home) if !home.is_dir() => {
            let message = format!("there is no corpus at {}", home.display());
            let hint =
                "start in the project's folder, or copy the pipeline and name your own corpus";
            Err(Error::usage(message).hinted(hint))
        }
        home => Ok(home),
    }
}

/// The dump of a throw-away store that the pipeline filled.
fn result(pipeline: &Pipeline, ctx: &mut Ctx) -> Result<String> {
    let dir = tempfile::tempdir()?;
    let orders = orders(pipeline, ctx);
    let bar = Bar::default();
    let progress: &dyn Progress = if ctx.out.shows_progress() {
        &bar
    } else {
        &Silent
    };
    if let Some(home) = corpus(pipeline, ctx)? {
        let loaded = defaults_at(&home)?;
        let screen = screen::reproducible(&loaded.config, &loaded.home)?;
        let classifier = tables::counter(&loaded.home)?;
        let setup = setup::setup(&loaded.config, &orders, screen, classifier, &|_, _, _| {
            Ok(None)
        });
        return whole(&setup, dir.path(), &home, progress);
    }
    let loaded = ctx.settings()?;
    let gate = gate(&loaded.config);
    if !gate.enabled {
        let message = format!("tracking is off: {}", gate.reason);
        return Err(Error::usage(message).hinted("sessionmill enable").into());
    }
    let env = ctx.env.clone();
    let admission = Admission::new(&loaded, &env, orders.window, orders.now);
    let admit =
        |project: Option<&str>, cwd: Option<&str>, path: &str| admission.admit(project, cwd, path);
    let screen = screen::reproducible(&loaded.config, &ctx.home)?;
    let classifier = tables::counter(&ctx.home)?;
    let setup = setup::setup(&loaded.config, &orders, screen, classifier, &admit);
    whole(&setup, dir.path(), &ctx.env.home, progress)
}

/// The command line's clock and host count before the pipeline's.
fn orders(pipeline: &Pipeline, ctx: &Ctx) -> Orders {
    let mut orders = Orders::new(pipeline, ctx);
    if let (Some(now), false) = (pipeline.check.now, ctx.now_is_fixed) {
        orders.now = now;
    }
    if let (Some(host), false) = (&pipeline.check.host, ctx.host_is_fixed) {
        orders.host.clone_from(host);
    }
    orders
}

/// The default settings, with logs looked for in `home`: what lies in a corpus' own
/// `.graphiti/` is not asked.
pub fn defaults_at(home: &Path) -> Result<Loaded> {
    let env = Env {
        home: home.to_owned(),
        cwd: home.join("-"),
        vars: [(
            "SESSIONMILL_HOME".to_owned(),
            home.join("-").to_string_lossy().into_owned(),
        )]
        .into(),
    };
    Ok(config::load(&env, registry::log_folders)?)
}

fn write(recorded: &Path, text: &str) -> Result<()> {
    if let Some(dir) = recorded.parent() {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)?;
    }
    // What was said in a corpus is nobody else's business.
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let written = options
        .open(recorded)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    written.with_context(|| recorded.display().to_string())
}
