//! Floor 5: the face for people. One command tree, one file per command, one place for exit codes.
//! The world comes in through [`World`]; nothing below this floor looks at it.

mod activity;
mod agent_file;
mod agents;
mod bar;
mod browse;
mod canary;
mod check;
mod completion;
mod completion_values;
mod config;
mod consent;
mod ctx;
mod deliver;
mod doctor;
mod drift;
mod enable;
mod errors;
mod eval;
mod exit;
mod export;
mod forget;
mod graph;
mod help;
mod hooks;
mod import;
mod init;
mod insights;
mod ledger;
mod ledger_lines;
mod man;
mod mcp;
mod memories;
mod out;
mod pages;
mod plan;
mod project;
mod promote;
mod recall;
mod recap;
mod report;
mod resume;
mod run;
mod schedule;
mod schedule_status;
mod search;
mod session_filters;
mod sessions;
mod show;
mod sink_status;
mod stats;
mod status;
mod store;
mod switches;
mod tracking;
mod transform;
mod undone;
mod uninstall;
mod watch;
mod why;
mod world;

pub use crate::model::zone::Zone;
pub use exit::Exit;
pub use world::{HandOver, Input, Output, World};

use clap::error::ErrorKind as Slip;
use clap::{ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand};
use ctx::Ctx;
use out::Out;
use std::ffi::OsString;
use switches::{ColorMode, Switches};

/// Turns the session logs of coding agents into searchable memory
///
/// Reads what Claude Code, Codex, Gemini CLI, Qwen Code and OpenCode wrote to disk, keeps what people and
/// agents said and one line per tool call, and makes it searchable. Nothing leaves this machine without your
/// consent.
#[derive(Parser, Debug)]
#[command(name = "sessionmill", version, max_term_width = 100)]
struct Line {
    #[command(flatten)]
    switches: Switches,
    #[command(subcommand)]
    command: Command,
}

/// The line of an agent's hook, which waits: to compose the other commands takes longer, and more memory, than
/// to look a prompt up.
#[derive(Parser, Debug)]
#[command(name = "sessionmill", version)]
struct HookLine {
    #[command(flatten)]
    switches: Switches,
    #[command(subcommand)]
    command: HookCommand,
}

#[derive(Subcommand, Debug)]
enum HookCommand {
    Recall(recall::Args),
}

impl HookLine {
    fn read(argv: Vec<OsString>) -> Result<Line, clap::Error> {
        let HookLine { switches, command } = HookLine::try_parse_from(argv)?;
        let HookCommand::Recall(args) = command;
        let command = Command::Recall(args);
        Ok(Line { switches, command })
    }
}

/// Columns of help where no terminal says how wide it is.
const HELP_COLUMNS: usize = 100;

#[derive(Subcommand, Debug)]
enum Command {
    Init(init::Args),
    Run(run::Args),
    Backfill(run::BackfillArgs),
    Plan(plan::Args),
    Search(search::Args),
    Show(show::Args),
    Resume(resume::Args),
    #[command(alias = "list", alias = "ls")]
    Sessions(sessions::Args),
    Browse(browse::Args),
    Recall(recall::Args),
    Recap(recap::Args),
    Why(why::Args),
    Insights(insights::Args),
    Status(status::Args),
    Stats(stats::Args),
    Report(report::Args),
    Export(export::Args),
    Import(import::Args),
    Deliver(deliver::Args),
    Doctor(doctor::Args),
    Eval(eval::Args),
    Enable(enable::EnableArgs),
    Disable(enable::DisableArgs),
    Consent(consent::Args),
    Project(project::Args),
    Promote(promote::Args),
    Memories(memories::Args),
    Forget(forget::Args),
    Track(tracking::Args),
    Config(config::Args),
    Watch(watch::Args),
    Schedule(schedule::Args),
    Hooks(hooks::Args),
    Mcp(mcp::Args),
    Store(store::Args),
    Transform(transform::TransformArgs),
    Merge(transform::MergeArgs),
    Completion(completion::Args),
    Man(man::Args),
    Uninstall(uninstall::Args),
}

impl Command {
    /// It is for machines on which nobody is at home.
    fn needs_no_home(&self) -> bool {
        matches!(self, Command::Transform(_) | Command::Merge(_))
    }

    fn run(&self, ctx: &mut Ctx) -> anyhow::Result<Exit> {
        match self {
            Command::Init(args) => init::run(args, ctx),
            Command::Run(args) => run::run(args, ctx),
            Command::Backfill(args) => run::backfill(args, ctx),
            Command::Plan(args) => plan::run(args, ctx),
            Command::Search(args) => search::run(args, ctx),
            Command::Show(args) => show::run(args, ctx),
            Command::Resume(args) => resume::run(args, ctx),
            Command::Sessions(args) => sessions::run(args, ctx),
            Command::Browse(args) => browse::run(args, ctx),
            Command::Recall(args) => recall::run(args, ctx),
            Command::Recap(args) => recap::run(args, ctx),
            Command::Why(args) => why::run(args, ctx),
            Command::Insights(args) => insights::run(args, ctx),
            Command::Status(args) => status::run(args, ctx),
            Command::Stats(args) => stats::run(args, ctx),
            Command::Report(args) => report::run(args, ctx),
            Command::Export(args) => export::run(args, ctx),
            Command::Import(args) => import::run(args, ctx),
            Command::Deliver(args) => deliver::run(args, ctx),
            Command::Doctor(args) => doctor::run(args, ctx),
            Command::Eval(args) => eval::run(args, ctx),
            Command::Enable(args) => enable::enable(args, ctx),
            Command::Disable(args) => enable::disable(args, ctx),
            Command::Consent(args) => consent::run(args, ctx),
            Command::Project(args) => project::run(args, ctx),
            Command::Promote(args) => promote::run(args, ctx),
            Command::Memories(args) => memories::run(args, ctx),
            Command::Forget(args) => forget::run(args, ctx),
            Command::Track(args) => tracking::run(args, ctx),
            Command::Config(args) => config::run(args, ctx),
            Command::Watch(args) => watch::run(args, ctx),
            Command::Schedule(args) => schedule::run(args, ctx),
            Command::Hooks(args) => hooks::run(args, ctx),
            Command::Mcp(args) => mcp::run(args, ctx),
            Command::Store(args) => store::run(args, ctx),
            Command::Transform(args) => transform::transform_files(args, ctx),
            Command::Merge(args) => transform::merge(args, ctx),
            Command::Completion(args) => completion::run(args, ctx),
            Command::Man(args) => man::run(args, tree(), ctx),
            Command::Uninstall(args) => uninstall::run(args, ctx),
        }
    }
}

/// Runs one command line (`argv[0]` is the program) and prints what comes of it.
pub fn run(argv: impl IntoIterator<Item = OsString>, mut world: World<'_>) -> Exit {
    let argv: Vec<OsString> = argv.into_iter().collect();
    if let Some(exit) = completion::answer(&argv, tree, &mut world) {
        return exit;
    }
    let argv = errors::meant(argv, &mut world);
    let is_hook = recall::is_hook(&argv);
    let mode = ColorMode::typed(&argv);
    let json = argv.iter().any(|word| word == "--json");
    let (line, command) = match is_hook {
        true => (HookLine::read(argv), String::new()),
        false => {
            let tree = Line::command();
            let command = errors::command(&argv, &tree);
            (read(argv, tree, mode, &world), command)
        }
    };
    let line = match line {
        Ok(line) => line,
        Err(_) if is_hook => return Exit::Done,
        Err(refused) => {
            let mut out = Out::new(world.stdout, world.stderr, mode, &world.vars);
            (out.command, out.json) = (command, json);
            return explain(&refused, &mut out);
        }
    };
    if line.command.needs_no_home() {
        world.vars.insert("HOME".into(), "/nonexistent".into());
    }
    let mut ctx = match Ctx::new(world, &line.switches, command) {
        Ok(ctx) => ctx,
        Err(_) if is_hook => return Exit::Done,
        Err(boxed) => {
            let (mut out, error) = *boxed;
            return match line.command {
                Command::Recall(_) => recall::without_home(&error, &mut out),
                _ => fail(&mut out, &error.into()),
            };
        }
    };
    let mut result = line
        .command
        .run(&mut ctx)
        .map_err(|error| ctx.name_store(error));
    if let Some(damage) = crate::store::passed_over() {
        result = result.and_then(|exit| ctx.out.warn(damage).map(|()| exit));
    }
    let result = result.and_then(|exit| ctx.out.flush().map(|()| exit));
    // a command that calls others may have silenced them
    ctx.out.json = line.switches.json;
    result.unwrap_or_else(|error| fail(&mut ctx.out, &error))
}

/// All commands with their options.
pub(crate) fn tree() -> clap::Command {
    help::dressed(Line::command())
}

/// Help is composed for those who are shown it: it takes as long as the rest of a program's start.
fn read(
    argv: Vec<OsString>,
    bare: clap::Command,
    mode: ColorMode,
    world: &World,
) -> Result<Line, clap::Error> {
    if let Ok(matches) = bare.try_get_matches_from(&argv) {
        return Line::from_arg_matches(&matches);
    }
    let are_terminals = world.stderr.terminal && world.stdout.terminal;
    let colour = match mode.paints(are_terminals, &world.vars) {
        true => ColorChoice::Auto,
        false => ColorChoice::Never,
    };
    let mut command = tree().color(colour);
    if !world.stdout.terminal {
        command = command.term_width(HELP_COLUMNS);
    }
    let matches = command.try_get_matches_from(argv)?;
    Line::from_arg_matches(&matches)
}

/// The whole manual: every command's help under a heading of its own, as `docs/commands.md` has it.
#[cfg(test)]
pub(crate) fn manual() -> String {
    let mut root = tree().term_width(HELP_COLUMNS);
    root.build();
    let mut text = String::new();
    write_manual(&mut root, 1, &mut text);
    text
}

#[cfg(test)]
fn write_manual(command: &mut clap::Command, depth: usize, text: &mut String) {
    let title = "#".repeat(depth.min(3));
    let name = command
        .get_bin_name()
        .unwrap_or(command.get_name())
        .to_owned();
    let help = command.render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let at = |heading: &str| lines.iter().position(|line| *line == heading);
    let end = lines.len();
    // The global options are the same everywhere; the first command has them.
    let own = at("Global options:").filter(|_| name != "sessionmill run");
    let examples = at("Examples:").unwrap_or(end);
    let body = [&lines[..own.unwrap_or(examples)], &lines[examples..]]
        .concat()
        .join("\n");
    text.push_str(&format!(
        "{title} {name}\n\n```text\n{}\n```\n\n",
        body.trim_end()
    ));
    let visible = command
        .get_subcommands_mut()
        .filter(|c| c.get_name() != "help");
    for subcommand in visible {
        write_manual(subcommand, depth + 1, text);
    }
}

/// Help and version go to stdout and are no failure; what clap refuses goes to stderr, code 2, as our own
/// errors do. Where nothing follows a command, that is its help.
fn explain(refused: &clap::Error, out: &mut Out) -> Exit {
    let text = refused.render();
    let (plain, styled) = (text.to_string(), text.ansi().to_string());
    let is_bare = refused.kind() == Slip::DisplayHelpOnMissingArgumentOrSubcommand;
    // Nobody is left to tell that telling failed.
    let _ = match refused.use_stderr() {
        true => {
            let (message, hint) = errors::told(refused, &out.command, &Line::command());
            errors::tell(out, errors::usage(&message, &hint));
            match is_bare {
                true => out.help_beside(&plain, &styled),
                false => out.error(&message, Some(&hint)),
            }
        }
        false => out.help(&plain, &styled),
    };
    let _ = out.flush();
    match refused.use_stderr() {
        true => Exit::Usage,
        false => Exit::Done,
    }
}

/// Prints an error with its hint and says which code it deserves.
fn fail(out: &mut Out, error: &anyhow::Error) -> Exit {
    if exit::is_broken_pipe(error) {
        return Exit::Done;
    }
    let exit = Exit::of(error);
    // The timer's runs say nothing when another run does their work.
    if !(exit == Exit::Busy && out.quiet) {
        let (typed, message) = (exit::typed(error), format!("{error:#}"));
        let hint = typed.and_then(|e| e.hint.as_deref());
        errors::tell(out, errors::failure(&message, hint, typed.map(|e| e.kind)));
        // Where stderr is gone too, the exit code is all that is left to say it with.
        let _ = out.error(&message, hint);
    }
    let _ = out.flush();
    exit
}
