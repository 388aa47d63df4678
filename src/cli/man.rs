//! `man`: the manual pages, of the same tree as the help.

use super::ctx::Ctx;
use super::exit::Exit;
use anyhow::{Context, Result};
use clap_mangen::Man;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

/// Write the manual pages to a folder
///
/// One page for each command: sessionmill.1, sessionmill-search.1 and so on. `man` finds them in
/// ~/.local/share/man/man1.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Folder for the pages; created if missing
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Writes the pages.
pub fn run(args: &Args, tree: clap::Command, ctx: &mut Ctx) -> Result<Exit> {
    let folder = ctx.env.cwd.join(&args.folder);
    fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    let mut tree = tree.disable_help_subcommand(true);
    tree.build();
    let mut wrote = Vec::new();
    write(&tree, &folder, &mut wrote)?;
    wrote.sort();
    if ctx.out.json {
        ctx.out.document("man", json!({"wrote": wrote}))?;
        return Ok(Exit::Done);
    }
    ctx.out.did(format!(
        "wrote {} manual pages to {}",
        wrote.len(),
        folder.display()
    ))?;
    Ok(Exit::Done)
}

/// A command's page, and those of the commands below it. Which day it is isn't told: the same program
/// writes the same pages.
fn write(command: &clap::Command, folder: &Path, wrote: &mut Vec<PathBuf>) -> Result<()> {
    let page = Man::new(command.clone())
        .source(format!("sessionmill {}", env!("CARGO_PKG_VERSION")))
        .manual("sessionmill");
    let path = folder.join(page.get_filename());
    let mut text = Vec::new();
    page.render(&mut text)?;
    fs::write(&path, text).with_context(|| format!("write {}", path.display()))?;
    wrote.push(path);
    for below in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        write(below, folder, wrote)?;
    }
    Ok(())
}
