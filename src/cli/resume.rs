//! `resume`: goes on with a session in its agent.

use super::ctx::Ctx;
use super::exit::Exit;
use super::session_filters;
use crate::agents::registry;
use crate::model::error::{Error, ErrorKind};
use crate::pipeline::resume::resumable;
use crate::store::TYPED;
use anyhow::Result;
use serde_json::json;

/// Continue a session in its agent
///
/// Changes to the session's folder and starts the agent there (claude --resume, codex resume, …). This
/// needs the agent's own log, and agents delete old logs.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Id of the session, or a prefix of it
    #[arg(value_name = "SESSION")]
    id: String,
    /// Print the command instead of starting it
    #[arg(long)]
    print: bool,
    /// Include untrusted projects
    #[arg(long)]
    allow_untrusted: bool,
}

impl Args {
    /// Starts the agent for this session.
    pub(super) fn of(id: String, allow_untrusted: bool) -> Args {
        Args {
            id,
            print: false,
            allow_untrusted,
        }
    }
}

/// Starts the agent, or says why it can't go on.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let store = ctx.reader()?;
    let seen = session_filters::seen(args.allow_untrusted, &store, ctx)?;
    let absent = || {
        let message = format!("there is no session {}", args.id);
        Error::new(ErrorKind::Failed, message).hinted("sessionmill sessions")
    };
    let row = match store.session_with_agents(&args.id, seen.as_deref())? {
        Some(row) => Some(row),
        // an episode's session is meant
        None => match store.episode_among(&args.id, seen.as_deref())? {
            Some(found) => store.session(&found.session)?,
            None => None,
        },
    };
    let session = row.ok_or_else(absent)?.session;
    let shown = store.session_shown(&session.id, TYPED)?;
    let next = resumable(&store, &session, &shown, &ctx.env)?;
    if ctx.out.json {
        let body = json!({
            "session": session.id,
            "program": next.program,
            "args": next.args,
            "cwd": next.cwd,
        });
        ctx.out.document("resume", body)?;
        return Ok(Exit::Done);
    }
    if args.print {
        ctx.out
            .line(registry::resume(&session).unwrap_or_default())?;
        return Ok(Exit::Done);
    }
    ctx.out.flush()?;
    drop(store);
    (ctx.hand_over)(&next).map_err(|error| {
        let message = format!("{}: {error}", next.program.display());
        Error::new(ErrorKind::Failed, message).hinted(format!("sessionmill resume {shown} --print"))
    })?;
    Ok(Exit::Done)
}
