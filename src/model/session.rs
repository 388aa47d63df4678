//! One conversation, as far as its logs and its first ingest say.

use super::activity::ExchangeTally;
use super::episode::Episode;
use super::fork::Course;
use super::human::duration_ms;
use super::source::Agent;
use super::time::Time;
use super::work_time::WorkTime;
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
    /// At work: from prompts to the agent's last records before the next ones, without what people took to answer.
    /// `None`: its log doesn't say, or an older program stored it.
    pub work_ms: Option<u64>,
    /// From its first record to its last.
    pub wall_ms: u64,
}

impl SessionLength {
    /// Of all of its stretches; of several sub-agents without a log of the session itself nobody knows the time at
    /// work. `None`: there are none.
    pub fn of(stretches: &[Stretch]) -> Option<SessionLength> {
        let first = stretches.iter().map(|stretch| stretch.from).min()?;
        let last = stretches.iter().map(|stretch| stretch.to).max()?;
        let wall_ms = u64::try_from(last.0.saturating_sub(first.0)).unwrap_or(0);
        let streams: BTreeSet<Option<&str>> =
            stretches.iter().map(|s| s.stream.as_deref()).collect();
        // sub-agents work while the session itself does
        let main = streams
            .first()
            .filter(|main| main.is_none() || streams.len() == 1);
        let own = stretches
            .iter()
            .filter(|s| Some(&s.stream.as_deref()) == main);
        let work = own.map(|stretch| stretch.work);
        let work: Option<WorkTime> = work.reduce(|a, b| Some(a?.plus(b?))).flatten();
        Some(SessionLength {
            // a log with one time has none
            work_ms: work
                .filter(|_| wall_ms > 0)
                .and_then(WorkTime::told)
                .map(|ms| ms.min(wall_ms)),
            wall_ms,
        })
    }

    /// `52 min`, or `52 min of work over 9.0 days`; `None` where the time at work isn't known.
    pub fn shown(self) -> Option<String> {
        let (work, wall) = (duration_ms(self.work_ms?), duration_ms(self.wall_ms));
        Some(match work == wall {
            true => work,
            false => format!("{work} of work over {wall}"),
        })
    }
}

/// A stretch of one of a session's logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The sub-agent's; `None`: the session's main log.
    pub stream: Option<String>,
    /// Its first record's time.
    pub from: Time,
    /// The latest time in it.
    pub to: Time,
    /// How long the agent worked; `None`: nobody counted.
    pub work: Option<WorkTime>,
}

impl Stretch {
    /// Of an episode without a time there is none.
    pub fn of(episode: &Episode) -> Option<Stretch> {
        let from = episode.valid_at?;
        Some(Stretch {
            stream: episode.stream.clone(),
            from,
            to: episode.ended_at.unwrap_or(from),
            work: ExchangeTally::work_of(&episode.exchanges),
        })
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
    fn work_adds_up_and_sub_agents_work_meanwhile() {
        let stretch =
            |stream: Option<&str>, (from, to): (i64, i64), work: Option<(i64, i64)>| Stretch {
                stream: stream.map(str::to_owned),
                from: Time(from),
                to: Time(to),
                work: work.map(|(ms, unsure_ms)| WorkTime { ms, unsure_ms }),
            };
        let of = |stretches: &[Stretch]| {
            SessionLength::of(stretches).map(|length| (length.work_ms, length.wall_ms))
        };
        let first = stretch(None, (0, 100), Some((40, 0)));
        let agent = stretch(Some("a"), (20, 300), Some((280, 0)));
        let both = [
            first.clone(),
            stretch(None, (150, 200), Some((-10, 0))),
            agent.clone(),
        ];
        assert_eq!(of(&both), Some((Some(30), 300)));
        let unsure = [first.clone(), stretch(None, (150, 200), Some((10, 6)))];
        assert_eq!(of(&unsure), Some((None, 200)));
        assert_eq!(of(&[first, stretch(None, (0, 9), None)]), Some((None, 100)));
        assert_eq!(of(std::slice::from_ref(&agent)), Some((Some(280), 280)));
        let other = stretch(Some("b"), (0, 50), Some((50, 0)));
        assert_eq!(of(&[agent, other]), Some((None, 300)));
        assert_eq!(of(&[]), None);
    }
}
