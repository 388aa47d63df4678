//! `stats` in words, tables and JSON: bytes and tokens in and out, measured, stage by stage (D23).

use super::places::Places;
use crate::model::human::{bytes, count, plural, roughly, share, table};
use crate::model::layout::table::narrowed;
use crate::model::tally::Tally;
use crate::store::{Stats, StatsRow};
use serde_json::{Value, json};

/// One row for each project and agent, whatever folders of the project its sessions were in.
pub fn by_project(rows: Vec<StatsRow>, places: &Places) -> Vec<StatsRow> {
    let mut all: Vec<StatsRow> = Vec::with_capacity(rows.len());
    for mut row in rows {
        (row.namespace, row.project_path) = places.project_of(&row.namespace, &row.project_path);
        let is_same =
            |one: &&mut StatsRow| one.namespace == row.namespace && one.agent == row.agent;
        match all.iter_mut().find(is_same) {
            Some(one) => {
                one.sessions += row.sessions;
                one.files += row.files;
                one.log_bytes += row.log_bytes;
                one.episodes += row.episodes;
                one.body_bytes += row.body_bytes;
                one.tally.merge(&row.tally);
            }
            None => all.push(row),
        }
    }
    all
}

/// All rows together.
#[derive(Default)]
pub struct StatsSum {
    sessions: u64,
    files: u64,
    episodes: u64,
    log_bytes: u64,
    body_bytes: u64,
    tally: Tally,
}

impl StatsSum {
    /// Of these.
    pub fn of(rows: &[StatsRow]) -> StatsSum {
        let mut sum = StatsSum::default();
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

/// What was read and kept, stage by stage.
pub fn stages(sum: &StatsSum) -> String {
    let row = |what: &str, n: u64| {
        let tokens = format!("≈ {} tokens", roughly(tokens(n)));
        vec![what.to_owned(), bytes(n), tokens, share(n, sum.log_bytes)]
    };
    let tally = &sum.tally;
    let rows = [
        row("logs read", sum.log_bytes),
        row("conversation and tool outputs", sum.said_bytes()),
        row("  prompts", tally.user_bytes),
        row("  agents' messages", tally.agent_bytes),
        row("  tool outputs", tally.output_bytes),
        row("kept of these", sum.kept_bytes()),
        row(
            "  prompts and messages",
            tally.user_bytes + tally.agent_bytes,
        ),
        row("  one line per tool call", tally.digest_bytes),
        row("stored in episodes", sum.body_bytes),
    ];
    table(&rows, &[1, 2, 3])
}

/// Bytes of logs, of what was said in them, of what is kept of that, and of what is stored.
pub fn stage_bytes(sum: &StatsSum) -> [u64; 4] {
    [
        sum.log_bytes,
        sum.said_bytes(),
        sum.kept_bytes(),
        sum.body_bytes,
    ]
}

/// How much there is of everything, in one line.
pub fn counts(sum: &StatsSum) -> String {
    let tally = &sum.tally;
    format!(
        "{}, {}, {}, {}, {}, {} ({} failed)",
        plural(sum.sessions, "session"),
        plural(sum.files, "log"),
        plural(sum.episodes, "episode"),
        plural(tally.prompts, "prompt"),
        plural(tally.messages, "agent message"),
        plural(tally.calls, "tool call"),
        count(tally.failures),
    )
}

/// What the agents' models were asked and answered; nothing where no log says it.
pub fn used(sum: &StatsSum) -> Option<String> {
    let usage = &sum.tally.usage;
    let all = usage.input + usage.output + usage.cache_read + usage.cache_write;
    (all > 0).then(|| {
        format!(
            "tokens used by agents: {} input, {} output, {} cache read, {} cache write",
            count(usage.input),
            count(usage.output),
            count(usage.cache_read),
            count(usage.cache_write),
        )
    })
}

/// The projects with most logs; `columns`: of a terminal.
pub fn projects(rows: &[StatsRow], limit: usize, columns: Option<usize>) -> String {
    let mut rows: Vec<&StatsRow> = rows.iter().collect();
    rows.sort_by(|a, b| (b.log_bytes, &a.project_path).cmp(&(a.log_bytes, &b.project_path)));
    let head = [
        "project", "agent", "sessions", "log size", "stored", "of logs",
    ];
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
    narrowed(&mut cells, columns);
    more(table(&cells, &[2, 3, 4, 5]), rows.len(), limit)
}

/// The tools that were called most.
pub fn tools(stats: &Stats, limit: usize) -> String {
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

/// All of it for programs.
pub fn document(stats: &Stats, sum: &StatsSum) -> Value {
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

/// The table, and how many of its `rows` lie beyond the `limit`.
pub fn more(text: String, rows: usize, limit: usize) -> String {
    match rows.saturating_sub(limit) {
        0 => text,
        hidden => format!("{text}… and {hidden} more (--limit 0)\n"),
    }
}
