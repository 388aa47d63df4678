//! `enable` and `disable`: the one yes that lets logs be read, recorded word for word (D22), and
//! the exceptions for single projects.

use super::ctx::{Ctx, is_yes};
use super::exit::Exit;
use super::session_filters;
use crate::config::{CONSENT_TEXT, edit, literal};
use crate::model::consent::{Consent, TRACKING};
use crate::model::error::{Error, ErrorKind};
use crate::pipeline::last_run::switch_on;
use crate::pipeline::lock::Lock;
use crate::store::{Access, Store};
use anyhow::Result;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Turn tracking on (asks for consent)
///
/// Lets sessionmill read the session logs of coding agents and store what was said, with one line
/// per tool call, in ~/.graphiti, readable by you only. Nothing leaves this machine without your consent.
#[derive(clap::Args, Debug)]
pub struct EnableArgs {
    /// Read this project's sessions again (reverts `disable --project`)
    #[arg(long, value_name = "PROJECT")]
    project: Option<PathBuf>,
    /// The words of consent [default: ask]
    #[arg(long, value_name = "TEXT")]
    confirm: Option<String>,
}

/// Turn tracking off, everywhere or for one project
///
/// What is already stored stays searchable; `forget` deletes it.
#[derive(clap::Args, Debug)]
pub struct DisableArgs {
    /// Only for this project: its name, or a path in it
    #[arg(long, value_name = "PROJECT")]
    project: Option<PathBuf>,
}

/// Records consent, then switches tracking on.
pub fn enable(args: &EnableArgs, ctx: &mut Ctx) -> Result<Exit> {
    if let Some(path) = &args.project {
        return exclude(path, false, ctx);
    }
    let words = consent(args.confirm.as_deref(), ctx)?;
    agree(words, ctx)?;
    let file = ctx.home.config();
    report("enable", true, &file, None, ctx)?;
    ctx.out
        .note("hint: sessionmill run\nto run it regularly: sessionmill schedule install")?;
    Ok(Exit::Done)
}

/// Records these words and switches tracking on.
pub(super) fn agree(words: String, ctx: &mut Ctx) -> Result<()> {
    // First the record, then the switch: a crash between them leaves logs unread.
    let _lock = Lock::take(&ctx.home.lock())?;
    let mut store = Store::open(&ctx.home.store(), Access::ReadWrite)?;
    store.record_consent(&Consent {
        scope: TRACKING.into(),
        given: true,
        text: words,
        version: env!("CARGO_PKG_VERSION").into(),
        at: ctx.now,
    })?;
    store.finish()?;
    Ok(switch_on(&ctx.home.config(), &ctx.home)?)
}

/// Switches tracking off, or excludes one project.
pub fn disable(args: &DisableArgs, ctx: &mut Ctx) -> Result<Exit> {
    if let Some(path) = &args.project {
        return exclude(path, true, ctx);
    }
    let file = ctx.home.config();
    edit::set_enabled(&file, false)?;
    report("disable", false, &file, None, ctx)?;
    ctx.out.note(
        "stored sessions stay searchable\nto stop the timer too: sessionmill schedule remove",
    )?;
    Ok(Exit::Done)
}

/// The words that the person agreed to.
fn consent(given: Option<&str>, ctx: &mut Ctx) -> Result<String> {
    let answer = match given {
        Some(words) => Some(words.to_owned()),
        None => {
            let home = ctx.home.dir.display().to_string();
            ctx.out.note(format!(
                "sessionmill will read what coding agents wrote to disk on this machine and store \
                 what was said in {home}, readable by you only. Nothing leaves this machine without your consent."
            ))?;
            ctx.ask(&format!("Do you agree: \"{CONSENT_TEXT}\"? [y/N]"))?
                .map(|typed| match is_yes(&typed) {
                    true => CONSENT_TEXT.to_owned(),
                    false => typed,
                })
        }
    };
    match answer.as_deref().map(str::trim) {
        Some(words) if words.eq_ignore_ascii_case(CONSENT_TEXT) => Ok(words.to_owned()),
        _ => {
            let hint = format!("sessionmill enable --confirm \"{CONSENT_TEXT}\"");
            Err(Error::usage("tracking needs your consent, word for word")
                .hinted(hint)
                .into())
        }
    }
}

fn exclude(typed: &Path, excluded: bool, ctx: &mut Ctx) -> Result<Exit> {
    let loaded = ctx.settings()?;
    let folder = session_filters::project(Some(typed), ctx)?;
    let patterns = loaded.config.excluded.patterns();
    // a symlink to it names it too
    let leads_there = |pattern: &str| {
        let real = Path::new(pattern).canonicalize();
        real.is_ok_and(|real| real == Path::new(&folder))
    };
    let named = |pattern: &&String| **pattern == literal(&folder) || leads_there(pattern);
    let named: Vec<String> = patterns.iter().filter(named).cloned().collect();
    if !excluded && !loaded.config.enabled && named.is_empty() {
        let what = "tracking is off everywhere: `enable --project` only undoes `disable --project`";
        return Err(Error::usage(what).hinted("sessionmill enable").into());
    }
    let file = ctx.home.config();
    for other in named.iter().filter(|other| leads_there(other)) {
        edit::set_excluded(&file, other, false)?;
    }
    edit::set_excluded(&file, &folder, excluded)?;
    let command = if excluded { "disable" } else { "enable" };
    report(command, !excluded, &file, Some(&folder), ctx)?;
    let loaded = ctx.settings()?;
    if !excluded && loaded.config.excluded.covers(&folder) {
        let what = format!("excluded_paths in {} still covers {folder}", file.display());
        return Err(Error::new(ErrorKind::Failed, what).into());
    }
    if !excluded && !loaded.config.enabled {
        ctx.out
            .warn("tracking is off everywhere: sessionmill enable")?;
    }
    if excluded && !Path::new(&folder).exists() && !session_filters::places(ctx)?.has(&folder) {
        let what = format!("there is no folder {folder}, and nothing from it is stored");
        ctx.out.warn(what)?;
    }
    Ok(Exit::Done)
}

fn report(
    command: &str,
    on: bool,
    file: &Path,
    project: Option<&str>,
    ctx: &mut Ctx,
) -> Result<()> {
    if ctx.out.json {
        let body = json!({"enabled": on, "project": project, "file": file});
        return ctx.out.document(command, body);
    }
    let word = if on { "on" } else { "off" };
    let whose = project
        .map(|path| format!(" for {path}"))
        .unwrap_or_default();
    ctx.out
        .did(format!("tracking is {word}{whose} ({})", file.display()))
}
