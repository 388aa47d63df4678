//! `browse`: finding a session by typing, looking at it, and going on with it. `state` decides, `view` draws,
//! `finder` asks the store; `screen` and `terminal` are the thin shell around them, `plain` the one without a
//! screen.

mod areas;
mod finder;
mod keys;
mod menu;
mod plain;
mod preview;
mod screen;
mod state;
mod terminal;
#[cfg(test)]
mod tests;
mod typed;
mod view;

use super::ctx::Ctx;
use super::exit::Exit;
use super::session_filters::Filters;
use crate::model::error::Error;
use crate::model::shell;
use anyhow::Result;
use finder::Finder;

/// Find sessions as you type, look at them, continue one
///
/// Lists the newest sessions and, as you type, those that match, with a preview. Enter continues
/// the selected session in its agent. Press F1 for the other keys: copy the command, read the whole
/// session, filter by project, agent, time, kind of work or open ends. Searches by words only, even if a
/// model for search by meaning is configured.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// What to search for at first; fields work as in search
    #[arg(value_name = "WORDS")]
    words: Vec<String>,
    #[command(flatten)]
    filters: Filters,
    /// Ask and answer line by line, without drawing a screen: for screen readers
    #[arg(long)]
    plain: bool,
}

/// Browses until a person leaves.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let words = args.words.join(" ");
    let json = if ctx.out.json { " --json" } else { "" };
    let instead = match words.is_empty() {
        true => format!("sessionmill sessions{json}"),
        false => {
            let words = shell::words(args.words.iter().map(String::as_str));
            format!("sessionmill search{json} {words}")
        }
    };
    if ctx.out.json {
        return Err(Error::usage("browse has no --json").hinted(instead).into());
    }
    if !args.plain {
        if !ctx.stdin.terminal || !ctx.out.is_terminal() {
            let error = Error::usage("browse needs a terminal");
            return Err(error.hinted(instead).into());
        }
        if ctx.vars().get("TERM").is_none_or(|term| term == "dumb") {
            let error = Error::usage("this terminal can't draw (TERM is dumb or not set)");
            return Err(error.hinted("sessionmill browse --plain").into());
        }
    }
    let finder = Finder::new(&args.filters, ctx)?;
    let untrusted = args.filters.allow_untrusted;
    match args.plain {
        true => plain::run(&words, finder, untrusted, ctx),
        false => screen::run(&words, finder, untrusted, ctx),
    }
}
