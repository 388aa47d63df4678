//! `hooks`: lets agents ask for memory by themselves. Knows what is started and what is said about it;
//! how settings are changed is `config::agent_settings`', and how that is printed `agents`'.

use super::agents::{self, Entries, EntryStatus, Install, Remove};
use super::ctx::Ctx;
use super::exit::Exit;
use crate::agents::{CodingAgent, registry};
use crate::config::agent_settings::Hook;
use crate::model::error::Error;
use crate::model::shell;
use anyhow::Result;
use clap::{Args as ClapArgs, Subcommand};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Install hooks so agents recall memory automatically
///
/// When a session starts, the agent gets the result of this project's last session, what it left
/// open, and the branch. With each prompt it gets what earlier sessions say about it, if there is a
/// confident match (`sessionmill recall`, docs/memory.md).
#[derive(ClapArgs, Debug)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// Add two hooks to an agent's settings
    ///
    /// Changes settings.json of Claude Code, Gemini CLI or Qwen Code, or hooks.json of Codex, which
    /// asks you to review hooks (/hooks), or puts a plugin into OpenCode's folder. Everything else
    /// in the file stays as it is, byte for byte. A file that is not JSON is left alone.
    Install(Install),
    /// Remove the hooks
    #[command(alias = "uninstall")]
    Remove(Remove),
    /// Show which hooks are installed
    Status,
}

pub(super) const ENTRIES: Entries = Entries {
    command: "hooks",
    file: |agent, env| agent.hooks(env).file,
    with: |agent, text, ctx| agent.hooks(&ctx.env).with(text, &command(agent, ctx)?),
    without: |agent, text, force, env| agent.hooks(env).without(text, force),
    status,
    absent: ("no hooks", Value::Array(Vec::new())),
    key: "hooks",
};

/// Installs, removes or shows hooks.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    match &args.verb {
        Verb::Install(options) => install(options, ctx)?,
        Verb::Remove(remove) => return ENTRIES.remove(remove, ctx),
        Verb::Status => ENTRIES.status(ctx)?,
    }
    Ok(Exit::Done)
}

/// Installs hooks and says what an agent wants done after that.
pub(super) fn install(options: &Install, ctx: &mut Ctx) -> Result<()> {
    ENTRIES.install(options, ctx)?;
    let agents = options.agent.iter().filter(|_| !options.dry_run);
    let after = agents.filter_map(|agent| registry::find(*agent)?.after_hooks());
    let hints: BTreeSet<&str> = after.collect();
    hints.into_iter().try_for_each(|hint| ctx.out.note(hint))
}

/// What an agent's shell is to start: this program, with our folder where it isn't the usual one.
fn command(agent: &dyn CodingAgent, ctx: &Ctx) -> Result<String, Error> {
    let home = ctx.env.var("SESSIONMILL_HOME").map(|_| {
        let dir = ctx.home.dir.to_string_lossy();
        format!("SESSIONMILL_HOME={} ", shell::word(&dir))
    });
    let program = shell::word(&agents::program(ctx)?);
    let command = format!(
        "{}{program} {}",
        home.unwrap_or_default(),
        agent.hooks(&ctx.env).arguments()
    );
    if command.contains(char::is_control) {
        Err(Error::usage(format!(
            "{command:?} can't be written into settings"
        )))
    } else {
        Ok(command)
    }
}

fn status(agent: &dyn CodingAgent, text: Option<&str>, ctx: &Ctx) -> Result<EntryStatus, Error> {
    let settings = agent.hooks(&ctx.env);
    let hooks = match text {
        Some(text) => settings.installed(text)?,
        None => Vec::new(),
    };
    let wants = command(agent, ctx).ok();
    let is_other = |hook: &Hook| Some(&hook.command) != wants.as_ref();
    let other = hooks.iter().any(is_other).then(|| {
        let name = agent.agent().as_str();
        format!("{name} starts another program: sessionmill hooks install --agent {name}")
    });
    let switched_off = || {
        agent
            .hooks_switched_off(&ctx.env)
            .filter(|_| !hooks.is_empty())
    };
    let events: Vec<&str> = hooks.iter().map(|hook| hook.event.as_str()).collect();
    Ok(EntryStatus {
        text: events.join(", "),
        fault: other.or_else(|| {
            let reason = switched_off()?;
            Some(format!("{} starts no hooks: {reason}", agent.title()))
        }),
        document: json!(hooks),
    })
}
