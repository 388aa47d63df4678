//! `project`: joins one that moved to its past.

use super::ctx::Ctx;
use super::exit::Exit;
use super::session_filters;
use crate::memory::moved_projects::moved_from;
use crate::memory::places::root_of;
use crate::model::error::Error;
use crate::model::shell::word;
use crate::pipeline::lock::Lock;
use crate::store::{Access, Store};
use anyhow::Result;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Move a project's history to its new folder
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand, Debug)]
enum Verb {
    /// Attach the sessions of a project's old folder to its new one
    Move {
        /// The old folder, or the project's name
        #[arg(value_name = "OLD")]
        old: String,
        /// The new folder
        #[arg(value_name = "NEW", required_unless_present = "undo")]
        new: Option<PathBuf>,
        /// Undo the move of OLD
        #[arg(long, conflicts_with = "new")]
        undo: bool,
    },
}

/// Notes it, or takes it back. Nothing that is stored changes.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let Verb::Move { old, new, .. } = &args.verb;
    let store = ctx.reader()?;
    let Some(new) = new else {
        let (from, to) = moved_from(old, &ctx.env.cwd, &store.moves()?)?;
        write(ctx, |store| store.undo_move(&from))?;
        return told(&from, &to, true, ctx);
    };
    let from = session_filters::places(ctx)?.stored_root(old, &ctx.env.cwd)?;
    let to = root_of(Some(new), &ctx.env.cwd);
    if from == to {
        return Err(Error::usage(format!("{to} is already there")).into());
    }
    if !Path::new(&to).is_dir() {
        let hint = "move or clone the project there first";
        return Err(Error::usage(format!("{to} is not a folder"))
            .hinted(hint)
            .into());
    }
    let now = ctx.now;
    write(ctx, |store| store.move_project(&from, &to, now))?;
    told(&from, &to, false, ctx)?;
    let loaded = ctx.settings()?;
    for warning in loaded.named_at_old_place(&from, &to) {
        ctx.out.warn(warning)?;
    }
    Ok(Exit::Done)
}

fn write(ctx: &Ctx, what: impl FnOnce(&mut Store) -> Result<(), Error>) -> Result<()> {
    let _lock = Lock::take_for("project move", &ctx.home.lock())?;
    let mut store = Store::open(&ctx.home.store(), Access::ReadWrite)?;
    what(&mut store)?;
    Ok(store.finish()?)
}

fn told(from: &str, to: &str, undone: bool, ctx: &mut Ctx) -> Result<Exit> {
    if ctx.out.json {
        let body = json!({"from": from, "to": to, "undone": undone});
        ctx.out.document("project move", body)?;
        return Ok(Exit::Done);
    }
    let owner = if undone { "it again" } else { to };
    ctx.out
        .did(format!("sessions stored under {from} belong to {owner}"))?;
    if !undone {
        let from = word(from);
        ctx.out
            .note(format!("to undo: sessionmill project move --undo {from}"))?;
    }
    Ok(Exit::Done)
}
