//! `stats`: bytes and tokens in and out, measured, stage by stage (D23).

mod activity;
mod hidden_rows;

use super::ctx::Ctx;
use super::exit::Exit;
use super::session_filters::{self, Filters};
use crate::model::human::{bytes, count, plural, share, table};
use crate::model::tally::{Tally, Usage};
use crate::store::{Stats, StatsRow};
use anyhow::Result;
use hidden_rows::more;
use serde_json::{Value, json};

/// What was read and what was kept: bytes and tokens, stage by stage, project by project
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    filters: Filters,
    /// The kinds of work instead, by week and by project: means of the sessions' vectors
    #[arg(long)]
    activity: bool,
    /// Print this many projects, tools and weeks; 0: all
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
    let mut stats = ctx.reader()?.stats(&filter)?;
    for row in &mut stats.rows {
        if ctx.hides_paths_of(&row.project_path)? {
            row.project_path = session_filters::short(&row.namespace, 8).to_owned();
        }
    }
    let sum = Sum::of(&stats.rows);
    if ctx.out.json {
        ctx.out.document("stats", document(&stats, &sum))?;
        return Ok(Exit::Done);
    }
    ctx.out.text(stages(&sum))?;
    ctx.out.line("")?;
    ctx.out.text(projects(&stats.rows, limit))?;
    ctx.out.line("")?;
    ctx.out.text(tools(&stats, limit))?;
    Ok(Exit::Done)
}

/// All rows together.
#[derive(Default)]
struct Sum {
    sessions: u64,
    files: u64,
    episodes: u64,
    log_bytes: u64,
    body_bytes: u64,
    tally: Tally,
}

impl Sum {
    fn of(rows: &[StatsRow]) -> Sum {
        let mut sum = Sum::default();
        for row in rows {
            sum.sessions += row.sessions;
            sum.files += row.files;
            sum.episodes += row.episodes;
            sum.log_bytes += row.log_bytes;
            sum.body_bytes += row.body_bytes;
            sum.tally.merge(&row.tally);
        }
        sum
    }

    /// What people, agents and tools said, before digests took the outputs' place.
    fn said_bytes(&self) -> u64 {
        self.tally.user_bytes + self.tally.agent_bytes + self.tally.output_bytes
    }

    fn kept_bytes(&self) -> u64 {
        self.tally.user_bytes + self.tally.agent_bytes + self.tally.digest_bytes
    }
}

/// Four bytes of UTF-8 a token, rounded up (architecture § 6).
fn tokens(bytes: u64) -> u64 {
    bytes.div_ceil(4)
}

fn stages(sum: &Sum) -> String {
    let row = |what: &str, n: u64| {
        let tokens = format!("≈ {} tokens", count(tokens(n)));
        vec![what.to_owned(), bytes(n), tokens, share(n, sum.log_bytes)]
    };
    let tally = &sum.tally;
    let rows = [
        row("logs read", sum.log_bytes),
        row("said: words and tool outputs", sum.said_bytes()),
        row("  people's words", tally.user_bytes),
        row("  the agents' words", tally.agent_bytes),
        row("  tool outputs", tally.output_bytes),
        row("kept: words and digests", sum.kept_bytes()),
        row("  digests for the outputs", tally.digest_bytes),
        row("stored in episodes", sum.body_bytes),
    ];
    let head = format!(
        "{}, {}, {}, {}, {}, {} ({} failed)\n",
        plural(sum.sessions, "session"),
        plural(sum.files, "file"),
        plural(sum.episodes, "episode"),
        plural(tally.prompts, "prompt"),
        plural(tally.messages, "message"),
        plural(tally.calls, "tool call"),
        count(tally.failures),
    );
    head + &table(&rows, &[1, 2, 3]) + &used(&tally.usage)
}

/// What the agents' models were asked and answered; nothing where no log says it.
fn used(usage: &Usage) -> String {
    let all = usage.input + usage.output + usage.cache_read + usage.cache_write;
    if all == 0 {
        return String::new();
    }
    format!(
        "tokens that the agents used: {} in, {} out, {} read from a cache, {} written to it\n",
        count(usage.input),
        count(usage.output),
        count(usage.cache_read),
        count(usage.cache_write),
    )
}

fn projects(rows: &[StatsRow], limit: usize) -> String {
    let mut rows: Vec<&StatsRow> = rows.iter().collect();
    rows.sort_by(|a, b| (b.log_bytes, &a.project_path).cmp(&(a.log_bytes, &b.project_path)));
    let head = ["project", "agent", "sessions", "logs", "stored", "share"];
    let mut cells = vec![head.map(String::from).to_vec()];
    cells.extend(rows.iter().take(limit).map(|row| {
        vec![
            row.project_path.clone(),
            row.agent.as_str().to_owned(),
            count(row.sessions),
            bytes(row.log_bytes),
            bytes(row.body_bytes),
            share(row.body_bytes, row.log_bytes),
        ]
    }));
    more(table(&cells, &[2, 3, 4, 5]), rows.len(), limit)
}

fn tools(stats: &Stats, limit: usize) -> String {
    let mut rows: Vec<_> = stats.tools.iter().collect();
    rows.sort_by(|a, b| (b.1.calls, a.0).cmp(&(a.1.calls, b.0)));
    let mut cells = vec![["tool", "calls", "failed"].map(String::from).to_vec()];
    cells.extend(rows.iter().take(limit).map(|(tool, tally)| {
        vec![
            (*tool).clone(),
            count(tally.calls),
            share(tally.failed, tally.calls),
        ]
    }));
    more(table(&cells, &[1, 2]), rows.len(), limit)
}

fn document(stats: &Stats, sum: &Sum) -> Value {
    let projects = stats.rows.iter().map(|row| {
        json!({
            "project_path": row.project_path,
            "namespace": row.namespace,
            "agent": row.agent.as_str(),
            "sessions": row.sessions,
            "files": row.files,
            "episodes": row.episodes,
            "log_bytes": row.log_bytes,
            "body_bytes": row.body_bytes,
            "body_tokens": tokens(row.body_bytes),
        })
    });
    let tally = &sum.tally;
    json!({
        "sessions": sum.sessions,
        "files": sum.files,
        "episodes": sum.episodes,
        "prompts": tally.prompts,
        "messages": tally.messages,
        "calls": tally.calls,
        "failures": tally.failures,
        "refusals": tally.refusals,
        "stages": {
            "log_bytes": sum.log_bytes,
            "said_bytes": sum.said_bytes(),
            "user_bytes": tally.user_bytes,
            "agent_bytes": tally.agent_bytes,
            "output_bytes": tally.output_bytes,
            "digest_bytes": tally.digest_bytes,
            "kept_bytes": sum.kept_bytes(),
            "body_bytes": sum.body_bytes,
            "body_tokens": tokens(sum.body_bytes),
        },
        "usage": tally.usage,
        "projects": projects.collect::<Vec<Value>>(),
        "tools": stats.tools,
    })
}
