//! The groups of the first page of help, and examples of each command, as a table (`help.yaml`). Knows
//! no options; `cli` has those.

use super::table;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Commands that people look for together.
#[derive(Clone, Debug, Deserialize)]
pub struct HelpGroup {
    /// Its heading.
    pub title: String,
    /// Its lines, in order.
    pub rows: Vec<HelpRow>,
}

/// One line of the first page.
#[derive(Clone, Debug, Deserialize)]
pub struct HelpRow {
    /// The commands that it is about, by name; at least one.
    pub commands: Vec<String>,
    /// What it says of them; `None`: what the command says of itself.
    #[serde(default)]
    pub about: Option<String>,
}

#[derive(Deserialize)]
struct Table {
    groups: Vec<HelpGroup>,
    unlisted: Vec<String>,
    /// By command: what each is for, and its line.
    examples: BTreeMap<String, Vec<(String, String)>>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| table::rows(table::embedded!("help")));

/// The groups of the first page, in order.
pub fn groups() -> &'static [HelpGroup] {
    &TABLE.groups
}

/// The command is left off the first page.
pub fn is_unlisted(command: &str) -> bool {
    TABLE.unlisted.iter().any(|name| name == command)
}

/// What `sessionmill NAME …` is typed for, and the line: of a command all its examples, of a subcommand
/// (`deliver run`) those that type it.
pub fn examples(command: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let first = command.split(' ').next().unwrap_or_default();
    let typed = format!("sessionmill {command} ");
    let all = TABLE.examples.get(first).into_iter().flatten();
    all.filter(move |(_, line)| format!("{line} ").starts_with(&typed))
        .map(|(what, line)| (what.as_str(), line.as_str()))
}
