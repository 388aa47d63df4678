//! `uninstall`: takes back what other commands installed, and deletes what is stored if that is wanted.

use super::agents::Remove;
use super::ctx::Ctx;
use super::exit::{Exit, with_hint};
use super::{hooks, mcp, schedule};
use crate::agents::registry;
use crate::model::error::Error;
use crate::model::human::bytes;
use crate::pipeline::setup::{self, completions, purge};
use anyhow::{Context, Result};
use serde_json::json;
use std::fs;

/// Remove the timer, hooks, MCP entries and completions
///
/// Everything else in the changed files stays as it is, byte for byte. What is stored stays too,
/// unless --purge is given. Remove the program itself the way you installed it.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Delete everything that is stored, too; the agents' own logs are not touched
    #[arg(long)]
    purge: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
}

type Removal = fn(&mut Ctx) -> Result<Exit>;

/// Takes away all that it can; what fails is named, and the rest goes on.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let (json, quiet) = (ctx.out.json, ctx.out.quiet);
    // one document at the end; what the steps say themselves is for people
    (ctx.out.json, ctx.out.quiet) = (false, quiet || json);
    let store = ctx.home.store();
    let size = setup::size(&ctx.home);
    if args.purge && size > 0 {
        confirm(args, size, ctx)?;
    }
    let steps: [(&str, Removal); 4] = [
        ("timer", schedule::remove),
        ("hooks", |ctx| {
            hooks::ENTRIES.remove(&Remove::default(), ctx)
        }),
        ("mcp", |ctx| mcp::ENTRIES.remove(&Remove::default(), ctx)),
        ("completions", remove_completions),
    ];
    let mut failed = Vec::new();
    for (name, remove) in steps {
        match remove(ctx) {
            Ok(Exit::Done) => {}
            Ok(_) => failed.push(name),
            Err(error) => {
                ctx.out.warn(format!("{name}: {}", with_hint(&error)))?;
                failed.push(name);
            }
        }
    }
    name_plugins(ctx)?;
    let purged = args.purge.then(|| purge(&ctx.home)).transpose()?;
    (ctx.out.json, ctx.out.quiet) = (json, quiet);
    let is_stored = purged.is_none() && store.exists();
    if json {
        let (removed, left) = purged.map(|done| (done.removed, done.left)).unzip();
        let body = json!({
            "failed": failed,
            "store": is_stored.then_some(&store),
            "removed": removed,
            "left": left,
        });
        ctx.out.document("uninstall", body)?;
    } else if let Some(done) = purged {
        ctx.out
            .did(format!("deleted all stored data ({})", bytes(size)))?;
        if done.switched_off {
            let file = ctx.home.config();
            ctx.out
                .did(format!("tracking is off ({})", file.display()))?;
        }
        for path in &done.left {
            ctx.out.did(format!("left {}", path.display()))?;
        }
    } else if is_stored {
        let size = bytes(size);
        ctx.out
            .did(format!("the store was kept: {} ({size})", store.display()))?;
        ctx.out
            .note("to delete it too: sessionmill uninstall --purge")?;
    }
    Ok(if failed.is_empty() {
        Exit::Done
    } else {
        Exit::Failed
    })
}

/// Agents take their plugins out themselves.
fn name_plugins(ctx: &mut Ctx) -> Result<()> {
    for agent in registry::all() {
        if let Some(remove) = agent.plugin(&ctx.env) {
            let title = agent.title();
            ctx.out
                .note(format!("{title} has the plugin sessionmill: {remove}"))?;
        }
    }
    Ok(())
}

fn confirm(args: &Args, size: u64, ctx: &mut Ctx) -> Result<()> {
    let (dir, size) = (ctx.home.dir.display().to_string(), bytes(size));
    let question = format!("Delete everything that is stored in {dir} ({size})?");
    if args.yes || ctx.is_yes(&question)? {
        return Ok(());
    }
    let refused = Error::usage(format!(
        "nothing was removed: --purge would delete {size} in {dir}"
    ));
    Err(refused.hinted("sessionmill uninstall --purge --yes").into())
}

fn remove_completions(ctx: &mut Ctx) -> Result<Exit> {
    for file in completions(&ctx.env) {
        fs::remove_file(&file).with_context(|| file.display().to_string())?;
        ctx.out.did(format!("removed {}", file.display()))?;
    }
    Ok(Exit::Done)
}
