//! `project`: joins one that moved to its past.

use super::ctx::Ctx;
use super::exit::Exit;
use super::session_filters;
use crate::memory::places::root_of;
use crate::model::error::Error;
use crate::pipeline::lock::Lock;
use crate::store::{Access, Store};
use anyhow::Result;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Projects: where they are
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand, Debug)]
enum Verb {
    /// Say that a project is at another place now: what is stored of it counts to the one there
    Move {
        /// Where it was: a path, or its name
        #[arg(value_name = "OLD")]
        old: String,
        /// Its folder now
        #[arg(value_name = "NEW")]
        new: PathBuf,
    },
}

/// Notes it. Nothing that is stored changes: moving it back undoes it.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let Verb::Move { old, new } = &args.verb;
    ctx.reader()?;
    let from = session_filters::places(ctx)?.stored_root(old, &ctx.env.cwd)?;
    let to = root_of(Some(new), &ctx.env.cwd);
    if from == to || !Path::new(&to).is_dir() {
        let what = if from == to {
            "is where it was"
        } else {
            "is no folder"
        };
        return Err(Error::usage(format!("{to} {what}")).into());
    }
    let _lock = Lock::take(&ctx.home.lock())?;
    let mut store = Store::open(&ctx.home.store(), Access::ReadWrite)?;
    store.move_project(&from, &to, ctx.now)?;
    store.finish()?;
    if ctx.out.json {
        ctx.out
            .document("project move", json!({"from": from, "to": to}))?;
    } else {
        ctx.out
            .did(format!("what is stored of {from} counts to {to} now"))?;
    }
    let loaded = ctx.settings()?;
    for warning in loaded.named_at_old_place(&from, &to) {
        ctx.out.warn(warning)?;
    }
    Ok(Exit::Done)
}
