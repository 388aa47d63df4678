//! The switches that every command understands.

use crate::model::time::Time;
use std::num::NonZeroU16;

/// What every command understands.
#[derive(clap::Args, Debug, Default)]
pub struct Switches {
    /// Print one JSON document (docs/json.md)
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub json: bool,
    /// Print data and errors only
    #[arg(long, short, global = true, help_heading = "Everywhere")]
    pub quiet: bool,
    /// Worker threads [default: one per core]
    #[arg(long, global = true, value_name = "N", value_parser = threads, help_heading = "Everywhere")]
    pub jobs: Option<NonZeroU16>,
    /// Take this for the present time (RFC 3339)
    #[arg(long, global = true, value_name = "TIME", value_parser = moment, help_heading = "Everywhere")]
    pub now: Option<Time>,
    /// Take this for the machine's name
    #[arg(long, global = true, value_name = "NAME", value_parser = host_name, help_heading = "Everywhere")]
    pub host: Option<String>,
    /// Judge tools without the cache of what was learned of them
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub no_tool_cache: bool,
    /// Print without colours
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub no_color: bool,
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
