//! `forget`: takes everything that a session said out of the store.

use super::ctx::Ctx;
use super::exit::Exit;
use super::human;
use crate::model::error::{Error, ErrorKind};
use crate::pipeline::lock::Lock;
use crate::store::{Access, Store};
use anyhow::Result;
use serde_json::json;

/// Remove what a session said, for good
///
/// Its episodes, words and titles are removed, and later runs don't bring them back. The agent's
/// own log is not touched. `store compact` then gives the disk space back.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The session's id, or its beginning
    #[arg(value_name = "SESSION")]
    session: String,
}

/// Forgets one session.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    ctx.reader()?;
    let _lock = Lock::take(&ctx.home.lock())?;
    let mut store = Store::open(&ctx.home.store(), Access::ReadWrite)?;
    let row = store.session(&args.session)?;
    let id = row
        .as_ref()
        .map_or(args.session.as_str(), |row| &row.session.id);
    let gone = store.forget(id, ctx.now)?;
    store.finish()?;
    let Some(gone) = gone else {
        let message = format!("there is no session {}", args.session);
        return Err(Error::new(ErrorKind::Failed, message)
            .hinted("sessionmill sessions")
            .into());
    };
    if ctx.out.json {
        let body = json!({
            "session": id,
            "episodes": gone.episodes,
            "body_bytes": gone.body_bytes,
            "files": gone.files,
        });
        ctx.out.document("forget", body)?;
        return Ok(Exit::Done);
    }
    ctx.out.line(format!(
        "forgot session {id}: {}, {}",
        human::plural(gone.episodes, "episode"),
        human::bytes(gone.body_bytes)
    ))?;
    ctx.out.note("hint: sessionmill store compact")?;
    Ok(Exit::Done)
}
