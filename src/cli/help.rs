//! What `--help` shows besides clap's own: the grouped first page, and examples of each command.

use crate::rules::help::{examples, groups};
use clap::Command;

/// Where the first page's second column begins.
const COLUMN: usize = 21;
const BOLD: &str = "\u{1b}[1m";
const PLAIN: &str = "\u{1b}[0m";

/// The tree with examples under each command and the groups as its first page.
pub fn dressed(tree: Command) -> Command {
    let page = first_page(&tree);
    with_examples(tree, "").override_help(page)
}

fn with_examples(command: Command, path: &str) -> Command {
    let names: Vec<String> = command
        .get_subcommands()
        .map(|sub| sub.get_name().to_owned())
        .collect();
    let command = names.into_iter().fold(command, |command, name| {
        let path = format!("{path} {name}").trim().to_owned();
        command.mut_subcommand(name, |sub| with_examples(sub, &path))
    });
    let lines: Vec<String> = examples(path)
        .map(|(what, line)| format!("  # {what}\n  $ {line}"))
        .collect();
    match lines.is_empty() {
        true => command,
        false => command.after_long_help(format!("{BOLD}Examples:{PLAIN}\n{}", lines.join("\n"))),
    }
}

fn first_page(tree: &Command) -> String {
    let about = tree
        .get_about()
        .map(ToString::to_string)
        .unwrap_or_default();
    let mut page = format!("{about}\n\n{BOLD}Usage:{PLAIN} sessionmill <COMMAND> [OPTIONS]\n");
    for group in groups() {
        page += &format!("\n{BOLD}{}:{PLAIN}\n", group.title);
        for row in &group.rows {
            let names = row.commands.join(", ");
            let command = tree.find_subcommand(&row.commands[0]);
            let own = command
                .and_then(Command::get_about)
                .map(ToString::to_string);
            let about = row.about.clone().or(own).unwrap_or_default();
            page += &format!(
                "  {BOLD}{names}{PLAIN}{:1$}{about}\n",
                "",
                COLUMN - 2 - names.len()
            );
        }
    }
    page + "\n`sessionmill help COMMAND` shows a command's options and examples.\n\
            All commands take --json, --quiet, --verbose and --color.\n\
            Exit codes: 0 done, 1 failed or nothing found, 2 usage, 3 partly done, 75 busy.\n"
}
