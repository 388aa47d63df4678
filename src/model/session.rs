//! One conversation, as far as its logs and its first ingest say.

use super::fork::Course;
use super::human::duration_ms;
use super::source::Agent;
use super::time::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use uuid::Uuid;

/// Titles, links and models of one session that are kept. Real sessions have a few dozen; without a
/// limit, each commit of a hostile log writes all of them again.
const TOLD_MAX: usize = 1_000;

/// What the store keeps per session. Columns that come late (title, summary, pull requests) never
/// change an episode's text (architecture § 6).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Claude's session id, Codex's (root) thread id; for a nameless log its file stem.
    pub id: String,
    /// Whose log it is.
    pub agent: Agent,
    /// 16 hex digits; resolved at first ingest (D10).
    pub namespace: String,
    /// The project's root as the records give it; a label when they give none.
    pub project_path: String,
    /// The first working directory, before worktrees are folded.
    pub cwd: Option<String>,
    /// The last git branch.
    pub branch: Option<String>,
    /// The machine that read it first.
    pub host: String,
    /// The file's name, as the frontmatter wants it (000-055).
    pub file: String,
    /// What later records say of it.
    pub facts: SessionFacts,
}

/// What records say about a session. Merging keeps the earliest start, the latest end, and of the
/// rest the last statement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionFacts {
    /// First record's time.
    pub started: Option<Time>,
    /// Last record's time.
    pub ended: Option<Time>,
    /// Typed by a person.
    pub custom_title: Option<String>,
    /// Written by the agent.
    pub ai_title: Option<String>,
    /// First prompt: first line, at most 80 characters.
    pub first_prompt: Option<String>,
    /// Titles for records' owners: (leaf uuid, text). The store attributes them.
    pub summaries: Vec<(Uuid, String)>,
    /// Links.
    pub pull_requests: BTreeSet<String>,
    /// Names of the models that answered.
    pub models: BTreeSet<String>,
    /// The agent's last version.
    pub version: Option<String>,
    /// The last branch.
    pub branch: Option<String>,
    /// The session that it was forked from.
    pub forked_from: Option<String>,
    /// The thread that spawned it.
    pub parent: Option<String>,
    /// How often its history was compacted.
    pub compactions: u32,
    /// How often a person interrupted.
    pub interruptions: u32,
    /// How one log goes on; nothing where several are merged to a session.
    #[serde(skip_serializing_if = "Course::is_empty")]
    pub course: Course,
}

/// How long a session took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SessionLength {
    /// At work: gaps as long as `session_tracking.inactivity_timeout` before a prompt are taken out.
    pub work_ms: u64,
    /// From its first record to its last.
    pub wall_ms: u64,
}

impl SessionLength {
    /// Of spans in the order in which they begin; those of several streams overlap. A gap of `gap_ms` is no
    /// work. `None`: there are none.
    pub fn of(spans: &[(Time, Time)], gap_ms: i64) -> Option<SessionLength> {
        let (first, mut latest) = spans.first().copied()?;
        let mut resting_ms = 0;
        for (from, to) in spans {
            let gap = from.0.saturating_sub(latest.0);
            if gap >= gap_ms {
                resting_ms += gap;
            }
            latest = latest.max(*to);
        }
        let wall_ms = latest.0.saturating_sub(first.0);
        Some(SessionLength {
            work_ms: u64::try_from(wall_ms - resting_ms).unwrap_or(0),
            wall_ms: u64::try_from(wall_ms).unwrap_or(0),
        })
    }

    /// `52 min`, or `52 min of work over 9.0 days`.
    pub fn shown(self) -> String {
        let (work, wall) = (duration_ms(self.work_ms), duration_ms(self.wall_ms));
        match work == wall {
            true => work,
            false => format!("{work} of work over {wall}"),
        }
    }
}

impl SessionFacts {
    /// The title to show: a person's, else the agent's, else the first prompt.
    pub fn title(&self) -> Option<&str> {
        self.custom_title
            .as_deref()
            .or(self.ai_title.as_deref())
            .or(self.first_prompt.as_deref())
    }

    /// Takes over what later records say.
    pub fn merge(&mut self, later: &SessionFacts) {
        self.started = min_some(self.started, later.started);
        self.ended = self.ended.max(later.ended);
        self.compactions += later.compactions;
        self.interruptions += later.interruptions;
        take(&mut self.custom_title, &later.custom_title);
        take(&mut self.ai_title, &later.ai_title);
        take(&mut self.version, &later.version);
        take(&mut self.branch, &later.branch);
        take(&mut self.forked_from, &later.forked_from);
        take(&mut self.parent, &later.parent);
        self.course.merge(&later.course);
        if self.first_prompt.is_none() {
            self.first_prompt.clone_from(&later.first_prompt);
        }
        for summary in &later.summaries {
            if self.summaries.len() < TOLD_MAX && !self.summaries.contains(summary) {
                self.summaries.push(summary.clone());
            }
        }
        add(&mut self.pull_requests, &later.pull_requests);
        add(&mut self.models, &later.models);
    }
}

fn take(mine: &mut Option<String>, later: &Option<String>) {
    if later.is_some() {
        mine.clone_from(later);
    }
}

fn add(mine: &mut BTreeSet<String>, later: &BTreeSet<String>) {
    let new: Vec<_> = later.difference(mine).cloned().collect();
    let room = TOLD_MAX.saturating_sub(mine.len());
    mine.extend(new.into_iter().take(room));
}

fn min_some(a: Option<Time>, b: Option<Time>) -> Option<Time> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_taken_out_and_streams_run_beside_one_another() {
        let of = |spans: &[(i64, i64)]| {
            let spans = spans.iter().map(|(from, to)| (Time(*from), Time(*to)));
            let spans: Vec<(Time, Time)> = spans.collect();
            SessionLength::of(&spans, 100).map(|length| (length.work_ms, length.wall_ms))
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[(0, 50)]), Some((50, 50)));
        assert_eq!(of(&[(0, 50), (149, 200)]), Some((200, 200)));
        assert_eq!(of(&[(0, 50), (150, 200)]), Some((100, 200)));
        assert_eq!(of(&[(0, 500), (20, 30), (520, 600)]), Some((600, 600)));
        assert_eq!(of(&[(0, 50), (9_000, 9_010)]), Some((60, 9_010)));
    }
}
