//! What came of several sessions: by project what is left open, what was worked on, decided, fixed and
//! committed. What repeats is one line. Pure; made of summaries alone.

mod fold;
mod names;
mod open;
mod text;
mod work;

pub use names::distinct;
pub use open::{DoneLater, DoneWork};
pub use text::markdown;
pub use work::{RecapSession, SessionFact, SessionWork};

use crate::model::summary::{Decision, PullRequest, Resolution, SessionCommit, Sourced};
use crate::model::time::Time;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use work::{is_cut_off, work};

/// What came of several sessions.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Recap {
    /// How many.
    pub sessions: u64,
    /// How they ended; those that don't say are in none.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// Of those that are in progress, the ones whose logs grow no more.
    #[serde(skip)]
    cut_off: u64,
    /// The one with most sessions first.
    pub projects: Vec<RecapProject>,
}

/// What came of a project's sessions; everything with the latest first, and what is open before it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RecapProject {
    /// 16 hex digits.
    pub namespace: String,
    /// What it is called; two projects of one recap have two names.
    pub project: String,
    /// One for each thing that was asked for, or session that changed something.
    pub worked_on: Vec<SessionWork>,
    /// What people chose, approved or said.
    pub decided: Vec<SessionFact<Decision>>,
    /// What agents say that they chose themselves.
    pub agent_decided: Vec<SessionFact<Decision>>,
    /// Errors that were resolved.
    pub fixed: Vec<SessionFact<Resolution>>,
    /// Open tasks and proposals of sessions that no later one did.
    pub left_open: Vec<SessionFact<String>>,
    /// Commits.
    pub commits: Vec<SessionFact<SessionCommit>>,
    /// Pull requests.
    pub pull_requests: Vec<SessionFact<PullRequest>>,
    #[serde(skip)]
    path: Option<String>,
}

/// Of these sessions, in the order in which they are given: the latest first. `done`: what was done in these
/// projects since the earliest of them, also by other sessions. `now`: the present time.
pub fn recap(sessions: Vec<RecapSession>, done: &[DoneLater], now: Time) -> Recap {
    let mut recap = Recap {
        sessions: sessions.len() as u64,
        ..Recap::default()
    };
    let ids: BTreeSet<String> = sessions.iter().map(|session| session.id.clone()).collect();
    // where the parent is older than the recap, the first of its children stands for it
    let mut started: BTreeMap<String, Vec<SessionWork>> = BTreeMap::new();
    for session in sessions {
        if let Some(outcome) = session.summary.outcome {
            *recap.outcomes.entry(outcome.as_str()).or_default() += 1;
            recap.cut_off += u64::from(is_cut_off(outcome, session.ended, now));
        }
        let at = recap.project_of(&session);
        let parent = session.parent.clone();
        let parent = parent.filter(|parent| ids.contains(parent) && *parent != session.id);
        let work = recap.projects[at].add(session, parent.is_some(), (done, now));
        match (parent, work) {
            (Some(parent), Some(work)) => started.entry(parent).or_default().push(work),
            (None, Some(work)) => recap.projects[at].worked_on.push(work),
            (_, None) => {}
        }
    }
    for project in &mut recap.projects {
        for work in &mut project.worked_on {
            fold::add_started(work, &mut started);
        }
        project.settle();
    }
    recap.projects.retain(|project| !project.is_empty());
    recap.name_projects();
    recap
        .projects
        .sort_by_key(|project| std::cmp::Reverse(project.sessions()));
    recap
}

impl Recap {
    fn project_of(&mut self, session: &RecapSession) -> usize {
        let mut known = self.projects.iter();
        let known = known.position(|p| p.namespace == session.namespace);
        known.unwrap_or_else(|| {
            self.projects.push(RecapProject {
                namespace: session.namespace.clone(),
                path: session.project_path.clone(),
                ..RecapProject::default()
            });
            self.projects.len() - 1
        })
    }

    fn name_projects(&mut self) {
        let places = self.projects.iter();
        let places = places.map(|project| (project.namespace.as_str(), project.path.as_deref()));
        let names = names::distinct(&places.collect::<Vec<_>>());
        for (project, name) in self.projects.iter_mut().zip(names) {
            project.project = name;
        }
    }
}

impl RecapProject {
    /// `is_started`: another session's agent did, whose line tells its work. Nobody chose anything in it.
    fn add(
        &mut self,
        session: RecapSession,
        is_started: bool,
        (done, now): (&[DoneLater], Time),
    ) -> Option<SessionWork> {
        let (id, mut summary) = (session.id.clone(), session.summary.clone());
        let steps = std::mem::take(&mut summary.next_steps).into_iter();
        if !is_started && session.parent.is_none() {
            let open = steps.filter(|step| open::is_open(step, &session, done));
            let open: Vec<Sourced<String>> = open.take(LEFT_OPEN_MAX).collect();
            extend(&mut self.left_open, &id, open);
            summary.decisions.reverse();
            extend(&mut self.decided, &id, summary.decisions);
            summary.agent_decisions.reverse();
            extend(&mut self.agent_decided, &id, summary.agent_decisions);
        }
        summary.errors_resolved.reverse();
        // what somebody said instead mended nothing, and another form of a command is the next session's news at most
        summary
            .errors_resolved
            .retain(|error| error.what.is_mended());
        extend(&mut self.fixed, &id, summary.errors_resolved);
        summary.commits.reverse();
        extend(&mut self.commits, &id, summary.commits);
        summary.pull_requests.reverse();
        extend(&mut self.pull_requests, &id, summary.pull_requests);
        work(session, now)
    }

    /// Folds what repeats, and puts what is open first.
    fn settle(&mut self) {
        fold::works(&mut self.worked_on);
        let is_done = |work: &SessionWork| !work.is_open();
        self.worked_on.sort_by_key(is_done);
        fold::steps(&mut self.left_open);
        fold::decisions(&mut self.decided);
        fold::decisions(&mut self.agent_decided);
        fold::errors(&mut self.fixed);
        fold::commits(&mut self.commits);
        fold::pull_requests(&mut self.pull_requests);
    }

    fn sessions(&self) -> usize {
        let works = self.worked_on.iter();
        works.map(|work| 1 + work.also.len()).sum()
    }

    fn is_empty(&self) -> bool {
        let lists = [self.decided.len(), self.fixed.len(), self.left_open.len()];
        let more = [
            self.agent_decided.len(),
            self.commits.len(),
            self.pull_requests.len(),
            self.worked_on.len(),
        ];
        lists.into_iter().chain(more).all(|length| length == 0)
    }
}

fn extend<T>(all: &mut Vec<SessionFact<T>>, session: &str, more: Vec<Sourced<T>>) {
    all.extend(more.into_iter().map(|fact| SessionFact {
        session: session.to_owned(),
        fact,
    }));
}

/// What one session leaves open, at most: the rest stands in its own summary.
const LEFT_OPEN_MAX: usize = 3;

#[cfg(test)]
mod tests;
