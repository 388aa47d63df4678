//! `stats`: bytes and tokens in and out, measured, stage by stage (D23).

mod activity;

use super::ctx::Ctx;
use super::exit::Exit;
use super::session_filters::{self, Filters};
use crate::memory::places::Places;
use crate::memory::provenance::shown_digits;
use crate::memory::stats::{self, StatsSum};
use anyhow::Result;

/// Show how much was read and kept, by stage, project and tool
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    filters: Filters,
    /// Show kinds of work instead, by week and by project
    #[arg(long)]
    activity: bool,
    /// Maximum rows of each table (0 = no limit)
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10)]
    limit: usize,
}

/// Prints the sums.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let reach = session_filters::scope(&args.filters, ctx)?;
    let filter = session_filters::sessions(&reach, &args.filters, ctx)?;
    let limit = match args.limit {
        0 => usize::MAX,
        limit => limit,
    };
    if args.activity {
        activity::run(&filter, limit, ctx)?;
        return Ok(Exit::Done);
    }
    let store = ctx.reader()?;
    let mut stored = store.stats(&filter)?;
    stored.rows = stats::by_project(stored.rows, &Places::of(&store)?);
    for row in &mut stored.rows {
        if !ctx.out.json && !ctx.verbose {
            row.project_path = ctx.project_name(&row.namespace, &row.project_path)?;
        } else if ctx.hides_paths_of(&row.project_path)? {
            row.project_path = shown_digits(&row.namespace).to_owned();
        }
    }
    let sum = StatsSum::of(&stored.rows);
    if ctx.out.json {
        ctx.out.document("stats", stats::document(&stored, &sum))?;
        return Ok(Exit::Done);
    }
    let columns = ctx.out.columns();
    ctx.out.words("", "", &stats::counts(&sum))?;
    ctx.out.text(stats::stages(&sum))?;
    if let Some(used) = stats::used(&sum) {
        ctx.out.words("", "", &used)?;
    }
    ctx.out.line("")?;
    ctx.out
        .text(stats::projects(&stored.rows, limit, columns))?;
    ctx.out.line("")?;
    ctx.out.text(stats::tools(&stored, limit))?;
    Ok(Exit::Done)
}
