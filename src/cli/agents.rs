//! What commands that write entries into agents' own settings have in common: their options, the order
//! of reading and writing, how it is printed. Knows no entry: `hooks` and `mcp` hand theirs in.

use super::agent_file;
use super::ctx::Ctx;
use super::exit::Exit;
use super::out::Style;
use crate::agents::{CodingAgent, registry};
use crate::config::Env;
use crate::config::agent_settings::{Removed, SettingsChange, is_our_program, read};
use crate::model::error::Error;
use crate::model::source::Agent;
use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Options of `install`.
#[derive(Args, Debug)]
pub struct Install {
    #[arg(long, value_name = "NAME", required = true, value_parser = agent, help = which(""))]
    pub agent: Vec<Agent>,
    /// Show what would change, without changing it
    #[arg(long)]
    pub dry_run: bool,
}

impl Install {
    /// Into these agents' settings.
    pub fn of(agents: &[Agent]) -> Install {
        Install {
            agent: agents.to_vec(),
            dry_run: false,
        }
    }
}

/// Options of `remove`.
#[derive(Args, Debug, Default)]
pub struct Remove {
    #[arg(long, value_name = "NAME", value_parser = agent, help = which(" [default: all]"))]
    agent: Vec<Agent>,
    /// Show what would change, without changing it
    #[arg(long)]
    dry_run: bool,
    /// Remove entries that were changed by hand too
    #[arg(long)]
    force: bool,
}

/// What `--agent` is for.
fn which(default: &str) -> String {
    format!("Which agent's settings: {}{default}", registry::choice())
}

/// An agent, as a person names it.
pub fn agent(word: &str) -> Result<Agent, String> {
    registry::named(word)
}

/// This program, as entries name it. One by another name would not be found again.
///
/// # Errors
/// When it goes by another name.
pub fn program(ctx: &Ctx) -> Result<String, Error> {
    let program = ctx.program.to_string_lossy().into_owned();
    match is_our_program(&program) {
        true => Ok(program),
        false => Err(Error::usage(format!(
            "agents' settings name the program sessionmill, but this one is {program}"
        ))
        .hinted("give the file a name that contains sessionmill")),
    }
}

/// Entries of one kind in agents' settings.
pub struct Entries {
    /// The command that changes them.
    pub command: &'static str,
    /// Where an agent has them.
    pub file: fn(&dyn CodingAgent, &Env) -> PathBuf,
    /// A text with ours; `None`: there is no file.
    pub with: fn(&dyn CodingAgent, Option<&str>, &Ctx) -> Result<String, Error>,
    /// A text without ours; those that were changed by hand only where that is forced.
    pub without: fn(&dyn CodingAgent, &str, bool, &Env) -> Result<Removed, Error>,
    /// What a text has of ours.
    pub status: fn(&dyn CodingAgent, Option<&str>, &Ctx) -> Result<EntryStatus, Error>,
    /// What is said where nothing of ours is there, to people and to programs.
    pub absent: (&'static str, Value),
    /// What programs find under it.
    pub key: &'static str,
}

/// What is there of ours.
#[derive(Default)]
pub struct EntryStatus {
    /// For people; empty: nothing.
    pub text: String,
    /// The same for programs.
    pub document: Value,
    /// Why it doesn't work.
    pub fault: Option<String>,
}

impl Entries {
    /// Puts ours in, but not beside our plugin, which has the same.
    pub fn install(&self, args: &Install, ctx: &mut Ctx) -> Result<()> {
        let with = |agent: &dyn CodingAgent, before: Option<&str>| {
            let text = match agent.plugin(&ctx.env) {
                Some(_) => before.map(str::to_owned),
                None => Some((self.with)(agent, before, ctx)?),
            };
            Ok(Removed {
                text,
                left: Vec::new(),
            })
        };
        let changes = self.changes(&args.agent, ctx, with)?;
        let name = format!("{} install", self.command);
        agent_file::apply(&name, &changes, args.dry_run, ctx)?;
        let agents = args.agent.iter().filter_map(|agent| registry::find(*agent));
        for agent in agents {
            if let Some(remove) = agent.plugin(&ctx.env) {
                let title = agent.title();
                ctx.out.note(format!(
                    "{title} has the plugin sessionmill, which brings the same; to do without it: {remove}"
                ))?;
            }
        }
        Ok(())
    }

    /// Takes exactly ours out, and names what stays. Where no agent is named, a file that can't be read
    /// keeps ours in none but itself.
    pub fn remove(&self, args: &Remove, ctx: &mut Ctx) -> Result<Exit> {
        let without = |agent: &dyn CodingAgent, before: Option<&str>| match before {
            Some(text) => (self.without)(agent, text, args.force, &ctx.env),
            None => Ok(Removed::default()),
        };
        let changes = match args.agent.as_slice() {
            [] => registry::all()
                .map(|agent| self.change(agent, ctx, &without))
                .collect(),
            named => self.changes(named, ctx, without)?,
        };
        let name = format!("{} remove", self.command);
        agent_file::apply(&name, &changes, args.dry_run, ctx)?;
        let faults = changes.iter().filter_map(|change| change.fault.as_ref());
        let mut exit = Exit::Done;
        for fault in faults {
            ctx.out.warn(format!("{}: left as it is", fault.message))?;
            exit = Exit::Usage;
        }
        for change in changes.iter().filter(|change| !change.left.is_empty()) {
            let (file, left) = (change.file.display(), change.left.join(", "));
            let agent = change.agent.as_str();
            ctx.out.warn(format!(
                "{file}: changed by hand, so left: {left}; hint: sessionmill {name} --agent {agent} --force"
            ))?;
        }
        Ok(exit)
    }

    /// Whoever has the plugin has ours, or has it twice.
    fn beside_plugin(&self, agent: Agent, status: &mut EntryStatus) {
        if status.text.is_empty() {
            status.text = "by the plugin".into();
        } else {
            let (command, agent) = (self.command, agent.as_str());
            status.fault = Some(format!(
                "the plugin has the same, so that they run twice: sessionmill {command} remove --agent {agent}"
            ));
        }
    }

    /// All of them are known before the first one is written.
    fn changes(
        &self,
        agents: &[Agent],
        ctx: &Ctx,
        of: impl Fn(&dyn CodingAgent, Option<&str>) -> Result<Removed, Error>,
    ) -> Result<Vec<SettingsChange>> {
        let agents = agents.iter().filter_map(|agent| registry::find(*agent));
        let changes = agents.map(|agent| {
            let change = self.change(agent, ctx, &of);
            change.fault.clone().map_or(Ok(change), Err)
        });
        Ok(changes.collect::<Result<_, Error>>()?)
    }

    /// One file's, with what is the matter with it.
    fn change(
        &self,
        agent: &dyn CodingAgent,
        ctx: &Ctx,
        of: &impl Fn(&dyn CodingAgent, Option<&str>) -> Result<Removed, Error>,
    ) -> SettingsChange {
        let mut change = SettingsChange {
            agent: agent.agent(),
            before: None,
            after: None,
            left: Vec::new(),
            fault: None,
            file: (self.file)(agent, &ctx.env),
        };
        let new = read(&change.file).and_then(|text| {
            change.before = text;
            of(agent, change.before.as_deref())
        });
        match new {
            Ok(new) => (change.after, change.left) = (new.text, new.left),
            Err(fault) => {
                change.after = change.before.clone();
                change.fault = Some(fault);
            }
        }
        change
    }

    /// Shows what is there.
    pub fn status(&self, ctx: &mut Ctx) -> Result<()> {
        let (words, nothing) = &self.absent;
        let all = registry::all().map(|agent| {
            let file = (self.file)(agent, &ctx.env);
            let found = read(&file).and_then(|text| (self.status)(agent, text.as_deref(), ctx));
            // one agent's unreadable file mustn't hide the others
            let mut status = found.unwrap_or_else(|error| EntryStatus {
                document: nothing.clone(),
                fault: Some(error.message),
                ..EntryStatus::default()
            });
            if agent.plugin(&ctx.env).is_some() {
                self.beside_plugin(agent.agent(), &mut status);
            }
            (agent.agent(), file, status)
        });
        let all: Vec<_> = all.collect();
        if ctx.out.json {
            let list = all.iter().map(|(agent, file, status)| {
                let (value, fault) = (&status.document, &status.fault);
                json!({"agent": agent.as_str(), "file": file, self.key: value, "fault": fault})
            });
            let list: Vec<Value> = list.collect();
            let name = format!("{} status", self.command);
            return ctx.out.document(&name, json!({"agents": list}));
        }
        for (agent, file, status) in &all {
            let file = ctx.out.paint(Style::Dim, &file.display().to_string());
            let text = match status.text.as_str() {
                "" => *words,
                text => text,
            };
            ctx.out
                .line(format!("{:<9} {text}  {file}", agent.as_str()))?;
            if let Some(fault) = &status.fault {
                ctx.out.warn(fault)?;
            }
        }
        if all.iter().all(|(_, _, status)| status.text.is_empty()) {
            ctx.out.note(format!(
                "hint: sessionmill {} install --agent claude",
                self.command
            ))
        } else {
            Ok(())
        }
    }
}
