//! The switches that every command understands.

use crate::model::time::Time;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::num::NonZeroU16;

/// What every command understands.
#[derive(clap::Args, Debug, Default)]
pub struct Switches {
    /// Print one JSON document (docs/json.md)
    #[arg(long, global = true, help_heading = "Global options")]
    pub json: bool,
    /// Print data and errors only
    #[arg(long, short, global = true, help_heading = "Global options")]
    pub quiet: bool,
    /// Worker threads [default: one per core]
    #[arg(long, global = true, value_name = "N", value_parser = threads, help_heading = "Global options")]
    pub jobs: Option<NonZeroU16>,
    /// Use this as the current time (RFC 3339; for tests)
    #[arg(long, global = true, value_name = "TIME", value_parser = moment, hide = true)]
    pub now: Option<Time>,
    /// Use this as the machine's name (for tests)
    #[arg(long, global = true, value_name = "NAME", value_parser = host_name, hide = true)]
    pub host: Option<String>,
    /// Classify tools without the cache of earlier classifications
    #[arg(long, global = true, hide = true)]
    pub no_tool_cache: bool,
    /// Show more: namespaces, paths, exact times, sizes
    #[arg(long, short, global = true, help_heading = "Global options")]
    pub verbose: bool,
    /// When to use colors: auto, always, never
    #[arg(
        hide_possible_values = true,
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        value_enum,
        help_heading = "Global options"
    )]
    pub color: ColorMode,
    /// Same as --color never
    #[arg(long, global = true, hide = true)]
    pub no_color: bool,
}

/// When something is painted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorMode {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Also in a pipe
    Always,
    /// Nowhere
    Never,
}

impl ColorMode {
    /// What a line says of it that may not be understood as a whole.
    pub fn typed(argv: &[OsString]) -> ColorMode {
        let words: Vec<&str> = argv.iter().filter_map(|word| word.to_str()).collect();
        let says = |mode: &str| {
            let joined = format!("--color={mode}");
            words.contains(&joined.as_str()) || words.windows(2).any(|two| two == ["--color", mode])
        };
        match (
            says("never") || words.contains(&"--no-color"),
            says("always"),
        ) {
            (true, _) => ColorMode::Never,
            (_, true) => ColorMode::Always,
            _ => ColorMode::Auto,
        }
    }

    /// Whether a stream is painted. <https://no-color.org>: any value but the empty one says no.
    pub fn paints(self, terminal: bool, vars: &BTreeMap<String, String>) -> bool {
        let is_set = |name: &str| vars.get(name).is_some_and(|value| !value.is_empty());
        let is_dumb = vars.get("TERM").is_some_and(|term| term == "dumb");
        match self {
            ColorMode::Auto => terminal && !is_set("NO_COLOR") && !is_dumb,
            ColorMode::Always => true,
            ColorMode::Never => false,
        }
    }
}

impl Switches {
    /// What was said of colours.
    pub fn colours(&self) -> ColorMode {
        match self.no_color {
            true => ColorMode::Never,
            false => self.color,
        }
    }
}

fn threads(text: &str) -> Result<NonZeroU16, String> {
    text.parse()
        .map_err(|_| "write a number from 1 to 65535".into())
}

fn moment(text: &str) -> Result<Time, String> {
    Time::parse(text).ok_or_else(|| "write a time like 2026-04-01T10:00:00Z".into())
}

fn host_name(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => Ok(text.to_owned()),
        false => Err("letters, digits, `-`, `_` and `.` only".into()),
    }
}
