//! `completion`: what a shell needs to complete our commands.

use super::ctx::Ctx;
use super::exit::Exit;
use anyhow::Result;
use clap_complete::{Shell, generate};

/// Print a shell completion script
///
/// For bash, add `source <(sessionmill completion bash)` to ~/.bashrc.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// bash, zsh, fish, elvish or powershell
    #[arg(value_name = "SHELL", hide_possible_values = true)]
    shell: Shell,
}

/// Prints the script.
pub fn run(args: &Args, mut tree: clap::Command, ctx: &mut Ctx) -> Result<Exit> {
    let mut script = Vec::new();
    generate(args.shell, &mut tree, "sessionmill", &mut script);
    ctx.out.text(String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
