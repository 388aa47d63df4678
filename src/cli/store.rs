//! `store`: the file itself.

use super::activity;
use super::ctx::Ctx;
use super::exit::Exit;
use crate::memory::session_activity::Judge;
use crate::model::activity::Dimension;
use crate::model::human;
use crate::pipeline::lock::Lock;
use crate::store::{Access, SessionFilter, Store};
use anyhow::Result;
use serde_json::json;
use std::fmt::Write;

/// Inspect and compact the database
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand, Debug)]
enum Verb {
    /// Print the path of the database
    Path,
    /// Print every table as text; equal stores print the same
    Dump,
    /// Rewrite the file to free unused space
    Compact,
}

/// Prints or compacts the store.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    match args.verb {
        Verb::Path => {
            let path = ctx.home.store();
            match ctx.out.json {
                true => ctx.out.document("store path", json!({"path": path}))?,
                false => ctx.out.line(path.to_string_lossy())?,
            }
        }
        Verb::Dump => {
            let judge = ctx.judge()?;
            let store = ctx.reader()?;
            let dump = store.dump()? + &vectors(&store, &judge)?;
            match ctx.out.json {
                true => ctx.out.document("store dump", json!({"dump": dump}))?,
                false => ctx.out.text(dump)?,
            }
        }
        Verb::Compact => compact(ctx)?,
    }
    Ok(Exit::Done)
}

/// What the counts under `activity` come to, session by session: derived, not stored.
fn vectors(store: &Store, judge: &Judge) -> Result<String> {
    let mut text = "# activity by today's tables\n".to_owned();
    let mut rows = store.sessions(&SessionFilter::default())?;
    rows.sort_by(|a, b| a.session.id.cmp(&b.session.id));
    for row in rows {
        let activity = judge.activity(&store.activity(&row.session.id)?);
        let _ = write!(text, "session={}", row.session.id);
        for dimension in Dimension::ALL {
            let amount = activity.vector.get(dimension);
            let _ = write!(text, " {}={amount:.3}", dimension.as_str());
        }
        let primary = activity::word(activity.primary);
        let _ = writeln!(text, " strength={:.3} primary={primary}", activity.strength);
    }
    Ok(text)
}

fn compact(ctx: &mut Ctx) -> Result<()> {
    ctx.reader()?;
    let _lock = Lock::take(&ctx.home.lock())?;
    let mut store = Store::open(&ctx.home.store(), Access::ReadWrite)?;
    let gained = store.compact()?;
    if ctx.out.json {
        let body = json!({"before_bytes": gained.before, "after_bytes": gained.after});
        return ctx.out.document("store compact", body);
    }
    let (before, after) = (human::bytes(gained.before), human::bytes(gained.after));
    ctx.out.line(format!("{before} before, {after} now"))
}
