//! How a session goes on in its agent, or why it can't. Knows what has to be there; starts nothing.

use crate::agents::{CodingAgent, registry};
use crate::config::Env;
use crate::host::process::{NextProgram, find};
use crate::model::error::{Error, ErrorKind};
use crate::model::session::Session;
use crate::model::shell;
use crate::store::Store;
use std::path::{Path, PathBuf};

/// The program that continues a session, in its folder. `shown`: what people type for the session.
///
/// # Errors
/// Where the agent isn't known or installed, or deleted the log, or the folder is gone: with what to type
/// instead.
pub fn resumable(
    store: &Store,
    session: &Session,
    shown: &str,
    env: &Env,
) -> Result<NextProgram, Error> {
    let failed = |message: String| Error::new(ErrorKind::Failed, message);
    let read = format!("sessionmill show {shown} --full");
    let words = registry::resume_words(session);
    let (Some(agent), Some(words)) = (registry::find(session.agent), words) else {
        let agent = session.agent.as_str();
        return Err(failed(format!("no command continues {agent} session {shown}")).hinted(read));
    };
    let log = log_of(store, session)?;
    if !log.as_deref().is_some_and(is_there) {
        let message = format!(
            "the log of session {shown} no longer exists{}",
            days(agent, env)
        );
        return Err(failed(message).hinted(format!("{read}   (shows its transcript)")));
    }
    let cwd = session.cwd.as_ref().map_or(env.cwd.clone(), PathBuf::from);
    if !cwd.is_dir() {
        let folder = cwd.to_string_lossy();
        let message = format!("the folder of session {shown} no longer exists: {folder}");
        // another system's folder can't be made here
        let next = match cwd.is_absolute() {
            true => format!(
                "mkdir -p {} && sessionmill resume {shown}",
                shell::word(&folder)
            ),
            false => read,
        };
        return Err(failed(message).hinted(next));
    }
    let path = env.vars.get("PATH").map_or("", String::as_str);
    let (name, args) = words
        .split_first()
        .map_or(("", &[][..]), |(name, args)| (name.as_str(), args));
    let Some(program) = find(name, path) else {
        let message = format!(
            "{} is not installed: there is no `{name}` on the PATH",
            agent.title()
        );
        return Err(failed(message).hinted(agent.install_command()));
    };
    Ok(NextProgram {
        program,
        args: args.to_vec(),
        cwd,
        vars: env.vars.clone(),
    })
}

/// The log that a session's own episodes were cut from.
fn log_of(store: &Store, session: &Session) -> Result<Option<String>, Error> {
    let episodes = store.episodes(&session.id)?.into_iter();
    let mut paths =
        episodes.filter(|found| found.episode.stream.is_none() && !found.path.is_empty());
    if let Some(found) = paths.next() {
        return Ok(Some(found.path));
    }
    // nothing of it was kept: its name tells it from its sub-agents' logs
    let mut logs = store.logs_of(&session.id)?.into_iter();
    Ok(logs.find(|log| {
        let name = Path::new(log).file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.contains(&session.id))
    }))
}

fn is_there(log: &str) -> bool {
    let packed = format!("{log}.zst");
    Path::new(log).exists() || Path::new(&packed).exists()
}

/// How long an agent keeps its logs, where it deletes them.
fn days(agent: &dyn CodingAgent, env: &Env) -> String {
    let days = agent.keeps_days(env);
    days.map_or(String::new(), |days| {
        format!(" ({} deletes logs after {days} days)", agent.title())
    })
}
