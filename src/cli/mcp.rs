//! `mcp`: serves agents, and tells them that it does. Knows how the server is started and what is said
//! about its entry in an agent's settings (`config::servers`); `crate::mcp` knows the rest.

use super::agent_file::{self, Change};
use super::ctx::Ctx;
use super::exit::Exit;
use super::out::Style;
use super::when::When;
use super::world::present;
use crate::config::servers::{self, Start};
use crate::mcp::{World, serve_http, serve_stdio, token};
use crate::model::error::Error;
use crate::model::source::Agent;
use anyhow::Result;
use clap::{Args as ClapArgs, Subcommand};
use serde_json::{Value, json};
use std::net::SocketAddr;

/// Serve agents: search, sessions, decisions and memory as tools of the Model Context Protocol
///
/// Speaks with the agent that started it, over standard input and output, until that goes away
/// (docs/mcp.md).
#[derive(ClapArgs, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// Serve over HTTP instead, at this address of this machine; clients show the token that lies in
    /// mcp-token of our folder
    #[arg(long, value_name = "ADDRESS:PORT")]
    http: Option<SocketAddr>,
}

#[derive(Subcommand, Debug)]
enum Verb {
    Install(Install),
    Remove(Remove),
    Status,
}

/// Tell an agent to start us: one entry in the user's own settings
///
/// Claude Code: .claude.json; Codex: config.toml. Everything else in the file stays as it is, byte for
/// byte. A file that can't be read is refused and not touched.
#[derive(ClapArgs, Debug)]
struct Install {
    /// Whose settings
    #[arg(long, value_name = "NAME", required = true, value_parser = agent)]
    agent: Vec<Agent>,
    /// Print what would change, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Take exactly our entry out again
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

const BOTH: [Agent; 2] = [Agent::Claude, Agent::Codex];

/// Serves, or changes or shows who starts us.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    match &args.verb {
        None => serve(args.http, ctx)?,
        Some(Verb::Install(install)) => {
            let changes = changes(&install.agent, ctx, installed)?;
            agent_file::carry_out("mcp install", &changes, install.dry_run, ctx)?;
        }
        Some(Verb::Remove(remove)) => {
            let agents = match remove.agent.as_slice() {
                [] => &BOTH[..],
                named => named,
            };
            let changes = changes(agents, ctx, removed)?;
            agent_file::carry_out("mcp remove", &changes, remove.dry_run, ctx)?;
        }
        Some(Verb::Status) => status(ctx)?,
    }
    Ok(Exit::Done)
}

fn serve(http: Option<SocketAddr>, ctx: &mut Ctx) -> Result<()> {
    let (now, zone) = (ctx.now, ctx.zone);
    let world = World {
        dates: Box::new(move |field, value, now| When::of_field(field, value, now, zone)),
        env: ctx.env.clone(),
        host: ctx.host.clone(),
        is_beside: http.is_none(),
        clock: match ctx.now_is_fixed {
            true => Box::new(move || now),
            false => Box::new(present),
        },
    };
    let Some(address) = http else {
        return Ok(serve_stdio(world)?);
    };
    let (token, file) = token(&ctx.home)?;
    let tell = |at: SocketAddr| {
        let told = format!("http://{at}/mcp, token in {}", file.display());
        // Where nobody reads it, it serves all the same.
        let _ = ctx.out.note(told);
    };
    Ok(serve_http(world, address, &token, tell)?)
}

/// All of them are known before the first one is written.
fn changes(
    agents: &[Agent],
    ctx: &Ctx,
    of: fn(Agent, &Change, &Ctx) -> Result<Option<String>, Error>,
) -> Result<Vec<(Agent, Change)>> {
    let change = |agent: &Agent| {
        let file = servers::file(*agent, &ctx.env);
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
    let start = Start {
        program: ctx.program.to_string_lossy().into_owned(),
        home: ctx
            .env
            .var("SESSIONMILL_HOME")
            .map(|_| ctx.home.dir.to_string_lossy().into_owned()),
    };
    servers::with(agent, &change.file, change.before.as_deref(), &start).map(Some)
}

fn removed(agent: Agent, change: &Change, _: &Ctx) -> Result<Option<String>, Error> {
    match &change.before {
        Some(text) => servers::without(agent, &change.file, text),
        None => Ok(None),
    }
}

fn status(ctx: &mut Ctx) -> Result<()> {
    let mut list = Vec::new();
    for agent in BOTH {
        let file = servers::file(agent, &ctx.env);
        let found = agent_file::read(&file).and_then(|text| match text {
            Some(text) => servers::program(agent, &file, &text),
            None => Ok(None),
        });
        let (program, fault) = match found {
            Ok(program) => (program, None),
            Err(error) => (None, Some(error.message)),
        };
        list.push((agent, file, program, fault));
    }
    if ctx.out.json {
        let list: Vec<Value> = list
            .iter()
            .map(|(agent, file, program, fault)| {
                json!({"agent": agent.as_str(), "file": file, "program": program, "fault": fault})
            })
            .collect();
        return ctx.out.document("mcp status", json!({"agents": list}));
    }
    for (agent, file, program, fault) in &list {
        let file = ctx.out.paint(Style::Dim, &file.display().to_string());
        let program = program.as_deref().unwrap_or("not installed");
        ctx.out
            .line(format!("{:<7} {program}  {file}", agent.as_str()))?;
        if let Some(fault) = fault {
            ctx.out.warn(fault)?;
        }
    }
    if list.iter().all(|(_, _, program, _)| program.is_none()) {
        ctx.out
            .note("hint: sessionmill mcp install --agent claude")?;
    }
    Ok(())
}
