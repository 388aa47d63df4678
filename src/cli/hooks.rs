//! `hooks`: lets agents ask for memory by themselves. Knows what is said about it; how their settings
//! are changed is `config::hooks`'.

use super::agent_file::{self, Change};
use super::ctx::Ctx;
use super::exit::Exit;
use super::out::Style;
use super::shell;
use crate::config::hooks::{self, Hook};
use crate::model::error::Error;
use crate::model::source::Agent;
use anyhow::Result;
use clap::{Args as ClapArgs, Subcommand};
use serde_json::{Value, json};

/// Let Claude Code and Codex ask for memory by themselves
///
/// At the start of a session they are given what this project's last session came to, what it left
/// open and the branch; with each prompt, what earlier sessions say about it, where that is something
/// (`sessionmill recall`, docs/memory.md).
#[derive(ClapArgs, Debug)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand, Debug)]
enum Verb {
    Install(Install),
    Remove(Remove),
    Status,
}

/// Put our two hooks into an agent's settings
///
/// Claude Code: settings.json; Codex: hooks.json, which it asks you to review (/hooks). Everything
/// else in the file stays as it is, byte for byte. A file that isn't JSON is refused and not touched.
#[derive(ClapArgs, Debug)]
struct Install {
    /// Whose settings
    #[arg(long, value_name = "NAME", required = true, value_parser = agent)]
    agent: Vec<Agent>,
    /// Print what would change, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Take exactly our hooks out again
#[derive(ClapArgs, Debug)]
struct Remove {
    /// Whose settings [default: both]
    #[arg(long, value_name = "NAME", value_parser = agent)]
    agent: Vec<Agent>,
    /// Print what would change, and write nothing
    #[arg(long)]
    dry_run: bool,
}

fn agent(word: &str) -> Result<Agent, String> {
    Agent::parse(word).ok_or_else(|| "write claude or codex".into())
}

/// Installs, removes or shows hooks.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    match &args.verb {
        Verb::Install(install) => {
            let changes = changes(&install.agent, ctx, installed)?;
            carry_out("hooks install", &changes, install.dry_run, ctx)?;
            if install.agent.contains(&Agent::Codex) && !install.dry_run {
                let hint = "hint: Codex starts new hooks once you have reviewed them: /hooks";
                ctx.out.note(hint)?;
            }
        }
        Verb::Remove(remove) => {
            let agents = match remove.agent.as_slice() {
                [] => &BOTH[..],
                named => named,
            };
            let changes = changes(agents, ctx, removed)?;
            carry_out("hooks remove", &changes, remove.dry_run, ctx)?;
        }
        Verb::Status => status(ctx)?,
    }
    Ok(Exit::Done)
}

const BOTH: [Agent; 2] = [Agent::Claude, Agent::Codex];

/// All of them are known before the first one is written.
fn changes(
    agents: &[Agent],
    ctx: &Ctx,
    of: fn(Agent, &Change, &Ctx) -> Result<Option<String>, Error>,
) -> Result<Vec<(Agent, Change)>> {
    let change = |agent: &Agent| {
        let file = hooks::file(*agent, &ctx.env);
        let mut change = Change {
            before: agent_file::read(&file)?,
            after: None,
            file,
        };
        change.after = of(*agent, &change, ctx)?;
        Ok((*agent, change))
    };
    agents.iter().map(change).collect()
}

fn installed(agent: Agent, change: &Change, ctx: &Ctx) -> Result<Option<String>, Error> {
    let command = command(agent, ctx)?;
    hooks::with(&change.file, change.before.as_deref(), agent, &command).map(Some)
}

fn removed(agent: Agent, change: &Change, _: &Ctx) -> Result<Option<String>, Error> {
    match &change.before {
        Some(text) => hooks::without(&change.file, text, agent),
        None => Ok(None),
    }
}

/// What an agent's shell is to start: this program, with our folder where it isn't the usual one.
fn command(agent: Agent, ctx: &Ctx) -> Result<String, Error> {
    let home = ctx.env.var("SESSIONMILL_HOME").map(|_| {
        let dir = ctx.home.dir.to_string_lossy();
        format!("SESSIONMILL_HOME={} ", shell::word(&dir))
    });
    let program = shell::word(&ctx.program.to_string_lossy());
    let command = format!(
        "{}{program} {}",
        home.unwrap_or_default(),
        hooks::arguments(agent)
    );
    match command.contains(char::is_control) {
        true => Err(Error::usage(format!(
            "{command:?} can't be written into settings"
        ))),
        false => Ok(command),
    }
}

fn carry_out(name: &str, changes: &[(Agent, Change)], dry_run: bool, ctx: &mut Ctx) -> Result<()> {
    if !ctx.out.json {
        return changes
            .iter()
            .try_for_each(|(_, change)| change.carry_out(dry_run, ctx));
    }
    let mut list = Vec::new();
    for (agent, change) in changes {
        if !dry_run {
            change.write()?;
        }
        list.push(json!({
            "agent": agent.as_str(),
            "file": change.file,
            "changed": change.is_news(),
            "diff": change.diff(),
        }));
    }
    ctx.out
        .document(name, json!({"dry_run": dry_run, "agents": list}))
}

/// An agent's hooks as they are.
struct Standing {
    agent: Agent,
    hooks: Vec<Hook>,
    /// Why they don't work.
    fault: Option<String>,
}

fn status(ctx: &mut Ctx) -> Result<()> {
    let all: Vec<Standing> = BOTH.map(|agent| standing(agent, ctx)).into();
    if ctx.out.json {
        let list: Vec<Value> = all.iter().map(|standing| document(standing, ctx)).collect();
        return ctx.out.document("hooks status", json!({"agents": list}));
    }
    for Standing {
        agent,
        hooks,
        fault,
    } in &all
    {
        let events: Vec<&str> = hooks.iter().map(|hook| hook.event.as_str()).collect();
        let events = match events.is_empty() {
            true => "no hooks".to_owned(),
            false => events.join(", "),
        };
        let file = hooks::file(*agent, &ctx.env);
        let file = ctx.out.paint(Style::Dim, &file.display().to_string());
        ctx.out
            .line(format!("{:<7} {events}  {file}", agent.as_str()))?;
        if let Some(fault) = fault {
            ctx.out.warn(fault)?;
        }
    }
    if all.iter().all(|standing| standing.hooks.is_empty()) {
        ctx.out
            .note("hint: sessionmill hooks install --agent claude")?;
    }
    Ok(())
}

fn document(standing: &Standing, ctx: &Ctx) -> Value {
    json!({
        "agent": standing.agent.as_str(),
        "file": hooks::file(standing.agent, &ctx.env),
        "hooks": standing.hooks,
        "fault": standing.fault,
    })
}

fn standing(agent: Agent, ctx: &Ctx) -> Standing {
    let file = hooks::file(agent, &ctx.env);
    let found = agent_file::read(&file).and_then(|text| match text {
        Some(text) => hooks::ours(&file, &text, agent),
        None => Ok(Vec::new()),
    });
    let (hooks, fault) = match found {
        Ok(hooks) => (hooks, None),
        Err(error) => (Vec::new(), Some(error.message)),
    };
    let wants = command(agent, ctx).ok();
    let other = hooks
        .iter()
        .find(|hook| Some(&hook.command) != wants.as_ref());
    let other = other.map(|_| {
        let name = agent.as_str();
        format!("{name} starts another program: sessionmill hooks install --agent {name}")
    });
    let fault = fault.or(other).or_else(|| switched_off(agent, &hooks, ctx));
    Standing {
        agent,
        hooks,
        fault,
    }
}

/// Codex starts no hooks where its settings say so.
fn switched_off(agent: Agent, hooks: &[Hook], ctx: &Ctx) -> Option<String> {
    if agent != Agent::Codex || hooks.is_empty() {
        return None;
    }
    let off = hooks::codex_switched_off(&ctx.env)?;
    Some(format!("Codex starts no hooks: {off}"))
}
