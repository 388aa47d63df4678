//! `completion`: what a shell needs to complete our commands. The script asks this program at each TAB;
//! what completes an option's value is in `completion_values`.

use super::completion_values::{Values, with_values};
use super::ctx::Ctx;
use super::exit::Exit;
use super::world::World;
use anyhow::{Context, Result};
use clap_complete::Shell;
use clap_complete::env::{EnvCompleter, Shells};
use std::ffi::OsString;

/// Print a shell completion script
///
/// It completes commands and options, and also projects, ids of sessions and memories, sinks, pipelines
/// and settings. For bash, add `source <(sessionmill completion bash)` to ~/.bashrc. The script calls
/// sessionmill, which has to be on the PATH.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// bash, zsh, fish, elvish or powershell
    #[arg(value_name = "SHELL", hide_possible_values = true)]
    shell: Shell,
}

/// The variable in which a script says which shell asks.
const ASKED_BY: &str = "SESSIONMILL_COMPLETE";

/// zsh reads a script in its `fpath` when the first completion is wanted, which is not to be lost.
const ZSH_FIRST: &str = "\nif [[ \"${funcstack[1]}\" == _sessionmill ]]; then\n    \
                         _clap_dynamic_completer_sessionmill \"$@\"\nfi\n";

/// Prints the script.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let mut script = Vec::new();
    let shells = Shells::builtins();
    let shell = shells.completer(&args.shell.to_string());
    let shell = shell.with_context(|| format!("no completion for {}", args.shell))?;
    let program = "sessionmill";
    shell.write_registration(ASKED_BY, program, program, program, &mut script)?;
    if args.shell == Shell::Zsh {
        script.extend(ZSH_FIRST.bytes());
    }
    ctx.out.text(String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

/// Answers a script that asks how a line goes on; `None`: nobody asks. Where there is no answer it says
/// nothing: a person is typing.
pub fn answer(
    argv: &[OsString],
    tree: impl FnOnce() -> clap::Command,
    world: &mut World,
) -> Option<Exit> {
    let asked_by = world.vars.get(ASKED_BY)?;
    let shells = Shells::builtins();
    let shell: &dyn EnvCompleter = shells.completer(asked_by)?;
    let dashes = argv.iter().position(|word| word == "--")?;
    let words = argv[dashes + 1..].to_vec();
    if words.is_empty() {
        return Some(Exit::Done);
    }
    let mut tree = with_values(tree(), &Values::of(world));
    let mut text = Vec::new();
    let asked = shell.write_complete(&mut tree, words, Some(&world.cwd), &mut text);
    if asked.is_ok() {
        // a shell that went away wants nothing
        let _ = world.stdout.to.write_all(&text);
        let _ = world.stdout.to.flush();
    }
    Some(Exit::Done)
}
