//! `init`: from nothing to a first answer. Asks, and calls the commands that do each step alone.

use super::agents::Install;
use super::ctx::Ctx;
use super::exit::{Exit, with_hint};
use super::run::{BackfillArgs, backfill};
use super::{enable, hooks, mcp, recap, schedule};
use crate::config::{CONSENT_TEXT, gate};
use crate::model::error::Error;
use crate::model::source::Agent;
use crate::pipeline::setup::{FoundLogs, found_logs, reading_line};
use anyhow::Result;
use serde_json::{Map, Value, json};

/// Set up: find logs, ask for consent, read them, show a recap
///
/// Then offers a timer, hooks and the MCP server, one question each. Never consents to sending data.
/// Safe to repeat. `sessionmill uninstall` reverts it.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Consent to reading logs on this machine, and ask nothing; implies none of the steps below
    #[arg(long, short)]
    yes: bool,
    /// Install the timer
    #[arg(long)]
    timer: bool,
    /// Install hooks so agents recall memory automatically
    #[arg(long)]
    hooks: bool,
    /// Add the MCP server to agents' settings
    #[arg(long)]
    mcp: bool,
}

/// A step after the first reading.
struct Offer {
    name: &'static str,
    question: &'static str,
    wanted: bool,
    undo: &'static str,
    install: fn(&[Agent], &mut Ctx) -> Result<()>,
}

/// Sets everything up that is agreed to.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let (json, quiet) = (ctx.out.json, ctx.out.quiet);
    // one document at the end; what the steps say themselves is for people
    (ctx.out.json, ctx.out.quiet) = (false, quiet || json);
    let loaded = ctx.settings()?;
    let logs = found_logs(&loaded.config);
    let had_consent = gate(&loaded.config).enabled;
    show(&logs, ctx)?;
    if !had_consent {
        consent(args, ctx)?;
        enable::agree(CONSENT_TEXT.to_owned(), ctx)?;
    }
    ctx.restart_clock();
    let mut exit = backfill(&BackfillArgs::default(), ctx)?;
    let agents = FoundLogs::agents(&logs);
    if !ctx.out.quiet && !agents.is_empty() {
        recap::run(&recap::Args::reward(), ctx)?;
    }
    let mut steps = Map::new();
    for offer in offers(args) {
        let state = match offer.is_wanted(args, &agents, ctx)? {
            false => json!("skipped"),
            true => match (offer.install)(&agents, ctx) {
                Ok(()) => {
                    ctx.out.note(format!("undo: sessionmill {}", offer.undo))?;
                    json!("installed")
                }
                Err(error) => {
                    let why = with_hint(&error);
                    ctx.out
                        .warn(format!("{} not installed: {why}", offer.name))?;
                    exit = Exit::Failed;
                    json!({"failed": format!("{error:#}")})
                }
            },
        };
        steps.insert(offer.name.to_owned(), state);
    }
    (ctx.out.json, ctx.out.quiet) = (json, quiet);
    if json {
        let body = json!({"logs": logs, "had_consent": had_consent, "steps": Value::Object(steps)});
        ctx.out.document("init", body)?;
        return Ok(exit);
    }
    ctx.out.note(match agents.is_empty() {
        true => "next: work with a coding agent, then: sessionmill run",
        false => "next: sessionmill search WORDS",
    })?;
    ctx.out
        .note("undo: sessionmill uninstall   (--purge also deletes what is stored)")?;
    Ok(exit)
}

/// What was found, and what reading it costs.
fn show(logs: &[FoundLogs], ctx: &mut Ctx) -> Result<()> {
    let any = logs.iter().any(|found| found.files > 0);
    for found in logs.iter().filter(|found| !any || found.files > 0) {
        ctx.out.note(found.line())?;
    }
    ctx.out.note(reading_line(logs))
}

fn consent(args: &Args, ctx: &mut Ctx) -> Result<()> {
    let home = ctx.home.dir.display().to_string();
    ctx.out.note(format!(
        "sessionmill will read these logs and store what was said in {home}, readable by you only. \
         Nothing leaves this machine without your consent."
    ))?;
    if args.yes || ctx.is_yes(&format!("Do you agree: \"{CONSENT_TEXT}\"?"))? {
        return Ok(());
    }
    let refused = Error::usage("reading logs needs your consent; nothing was read");
    Err(refused.hinted("sessionmill init --yes").into())
}

fn offers(args: &Args) -> [Offer; 3] {
    [
        Offer {
            name: "timer",
            question: "Run it every 15 minutes with a timer?",
            wanted: args.timer,
            undo: "schedule remove",
            install: |_, ctx| schedule::install_usual(ctx).map(drop),
        },
        Offer {
            name: "hooks",
            question: "Let agents recall memory automatically (hooks)?",
            wanted: args.hooks,
            undo: "hooks remove",
            install: |agents, ctx| hooks::install(&Install::of(agents), ctx),
        },
        Offer {
            name: "mcp",
            question: "Let agents search their memory (MCP server)?",
            wanted: args.mcp,
            undo: "mcp remove",
            install: |agents, ctx| mcp::ENTRIES.install(&Install::of(agents), ctx),
        },
    ]
}

impl Offer {
    fn is_wanted(&self, args: &Args, agents: &[Agent], ctx: &mut Ctx) -> Result<bool> {
        if agents.is_empty() && self.name != "timer" {
            if self.wanted {
                ctx.out
                    .warn(format!("{} not installed: no agent was found", self.name))?;
            }
            return Ok(false);
        }
        Ok(self.wanted || (!args.yes && ctx.is_yes(self.question)?))
    }
}
