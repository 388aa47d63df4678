//! When agents delete logs that no run has read: by names and times alone, nothing is opened.

use super::last_run::BACKFILL;
use crate::agents::registry;
use crate::config::Env;
use crate::model::human::plural;
use crate::model::source::{Agent, SourceFile};
use crate::model::time::Time;
use serde::Serialize;
use std::collections::BTreeMap;

const DAY_MS: i64 = 86_400_000;

/// A log that the next run would take is spoken of when it goes within so many days.
const SOON_DAYS: i64 = 7;

/// A log that no run has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnreadLog {
    /// Whose it is.
    pub agent: Agent,
    /// When it changed last.
    pub changed: Time,
}

impl UnreadLog {
    /// Of this file.
    pub fn of(file: &SourceFile) -> UnreadLog {
        UnreadLog {
            agent: file.agent,
            changed: Time(file.stat.mtime_ns / 1_000_000),
        }
    }
}

/// What one agent deletes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sweep {
    /// The agent's name, as people know it.
    pub agent: &'static str,
    /// How many logs.
    pub logs: u64,
    /// The first day, in UTC.
    pub from: String,
    /// The last one.
    pub to: String,
}

impl Sweep {
    /// `Claude Code deletes 3 logs that were never read, from 2026-06-02 to 2026-06-23 (…)`.
    pub fn line(&self) -> String {
        let logs = plural(self.logs, "log");
        let were = if self.logs == 1 { "was" } else { "were" };
        let days = match self.from == self.to {
            true => format!("on {}", self.from),
            false => format!("from {} to {}", self.from, self.to),
        };
        let agent = self.agent;
        format!("{agent} deletes {logs} that {were} never read, {days} ({BACKFILL})")
    }
}

/// What agents delete of these.
pub fn sweeps(unread: &[UnreadLog], env: &Env, now: Time) -> Vec<Sweep> {
    let keeps = registry::keeps_days(env);
    let mut days: BTreeMap<Agent, Vec<Time>> = BTreeMap::new();
    for log in unread {
        if let Some(at) = deleted(log, &keeps) {
            // one that is overdue goes when the agent is started next
            days.entry(log.agent).or_default().push(at.max(now));
        }
    }
    let sweep = |(agent, mut days): (Agent, Vec<Time>)| {
        days.sort_unstable();
        Some(Sweep {
            agent: registry::title(agent),
            logs: days.len() as u64,
            from: day(*days.first()?),
            to: day(*days.last()?),
        })
    };
    days.into_iter().filter_map(sweep).collect()
}

/// Of logs that the next run takes, those that go soon.
pub fn soon<'f>(
    files: impl Iterator<Item = &'f SourceFile>,
    env: &Env,
    now: Time,
) -> Vec<UnreadLog> {
    let keeps = registry::keeps_days(env);
    let until = Time(now.0.saturating_add(SOON_DAYS * DAY_MS));
    let all = files.map(UnreadLog::of);
    all.filter(|log| deleted(log, &keeps).is_some_and(|at| at <= until))
        .collect()
}

fn deleted(log: &UnreadLog, keeps: &BTreeMap<Agent, u32>) -> Option<Time> {
    let days = i64::from(*keeps.get(&log.agent)?);
    Some(Time(log.changed.0.saturating_add(days * DAY_MS)))
}

/// Claude Code counts days, not hours.
fn day(time: Time) -> String {
    time.utc().format("%Y-%m-%d").to_string()
}
