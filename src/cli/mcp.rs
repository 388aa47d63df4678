//! `mcp`: serves agents, and tells them that it does. Knows how the server is started and what is said
//! about its entry in an agent's settings (`config::agent_settings`); `crate::mcp` knows the rest.

use super::agents::{self, Entries, EntryStatus, Install, Remove};
use super::ctx::Ctx;
use super::exit::Exit;
use super::world::present;
use crate::agents::CodingAgent;
use crate::config::agent_settings::ServerCommand;
use crate::mcp::{ServerContext, serve_http, serve_stdio, token};
use crate::model::error::Error;
use crate::model::inert::inert;
use anyhow::Result;
use clap::{Args as ClapArgs, Subcommand};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::net::SocketAddr;

/// Serve search and memory to agents (Model Context Protocol)
///
/// Serves the agent that started it over standard input and output (docs/mcp.md).
#[derive(ClapArgs, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// Serve over HTTP instead, at an address of this machine; clients send the token in
    /// ~/.graphiti/mcp-token
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address)]
    http: Option<SocketAddr>,
}

#[derive(Subcommand, Debug)]
enum Verb {
    /// Add the server to an agent's settings
    ///
    /// Changes .claude.json of Claude Code, config.toml of Codex, settings.json of Gemini CLI or Qwen
    /// Code, or opencode.json of OpenCode. Everything else in the file stays as it is, byte for byte. A
    /// file that cannot be parsed is left alone.
    Install(Install),
    /// Remove the server from agents' settings
    #[command(alias = "uninstall")]
    Remove(Remove),
    /// Show where the server is installed
    Status,
}

/// `localhost` is this machine, whatever its name service says.
fn address(typed: &str) -> Result<SocketAddr, String> {
    let host = typed.strip_prefix("localhost:");
    let typed = host.map_or(typed.to_owned(), |port| format!("127.0.0.1:{port}"));
    let parsed = typed.parse();
    parsed.map_err(|_| "write 127.0.0.1:8787, [::1]:8787 or localhost:8787".into())
}

pub(super) const ENTRIES: Entries = Entries {
    command: "mcp",
    file: |agent, env| agent.servers(env).file,
    with: |agent, text, ctx| agent.servers(&ctx.env).with(text, &start(ctx)?),
    without: |agent, text, force, env| agent.servers(env).without(text, force),
    status,
    absent: ("not installed", Value::Null),
    key: "program",
};

/// Serves, or changes or shows who starts us.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    match &args.verb {
        None => serve(args.http, ctx)?,
        Some(Verb::Install(install)) => ENTRIES.install(install, ctx)?,
        Some(Verb::Remove(remove)) => return ENTRIES.remove(remove, ctx),
        Some(Verb::Status) => ENTRIES.status(ctx)?,
    }
    Ok(Exit::Done)
}

/// What a person is told who starts what agents start.
const AT_A_TERMINAL: &str = "waiting for an agent on standard input (Ctrl-D ends it); \
    hint: sessionmill mcp install --agent claude";

fn serve(http: Option<SocketAddr>, ctx: &mut Ctx) -> Result<()> {
    let (now, zone) = (ctx.now, ctx.zone);
    let world = ServerContext {
        zone,
        warn: Box::new(|what| {
            // the agent may have closed it
            let _ = writeln!(io::stderr(), "warning: {}", inert(what));
        }),
        env: ctx.env.clone(),
        host: ctx.host.clone(),
        is_beside: http.is_none(),
        clock: if ctx.now_is_fixed {
            Box::new(move || now)
        } else {
            Box::new(present)
        },
    };
    let Some(address) = http else {
        if ctx.stdin.terminal {
            ctx.out.note(AT_A_TERMINAL)?;
        }
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

/// How an agent is to start us.
fn start(ctx: &Ctx) -> Result<ServerCommand, Error> {
    let home = ctx.env.var("SESSIONMILL_HOME");
    Ok(ServerCommand {
        program: agents::program(ctx)?,
        home: home.map(|_| ctx.home.dir.to_string_lossy().into_owned()),
    })
}

fn status(agent: &dyn CodingAgent, text: Option<&str>, ctx: &Ctx) -> Result<EntryStatus, Error> {
    let program = match text {
        Some(text) => agent.servers(&ctx.env).program(text)?,
        None => None,
    };
    Ok(EntryStatus {
        text: program.clone().unwrap_or_default(),
        document: json!(program),
        fault: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_a_name() {
        assert_eq!(
            address("localhost:8787"),
            "127.0.0.1:8787".parse().map_err(|_| String::new())
        );
        assert!(address("[::1]:0").is_ok());
        for wrong in ["localhost", "8787", "localhost:x", "example.org:80"] {
            assert!(address(wrong).is_err_and(|what| what.contains("127.0.0.1:8787")));
        }
    }
}
