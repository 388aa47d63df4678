//! The sessions of a recap with their summaries, and what later sessions did of what they left.

use super::places::Places;
use super::session_summary::{context_of, items_of};
use crate::insight::facts::LocatedItem;
use crate::insight::recap::{DoneLater, DoneWork, RecapSession};
use crate::model::error::Error;
use crate::model::finding::{Finding, PullRequestState};
use crate::model::summary::{SessionOutcome, Summary};
use crate::model::time::Time;
use crate::store::{Found, SessionFilter, SessionRow, Store};
use crate::tracking::session_git::SessionGit;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// After so long what was left is no news: sessions that went on later aren't asked what they did of it.
const LATER_MS: i64 = 30 * 86_400_000;

/// What a recap is made of.
#[derive(Debug, Default)]
pub struct RecapSessions {
    /// The latest first.
    pub sessions: Vec<RecapSession>,
    /// What was done in their projects.
    pub done: Vec<DoneLater>,
}

/// Of the sessions that went on in the filter's time; `hides`: whether a project's path may not be shown.
///
/// # Errors
/// When the store can't be read, or `hides` fails.
pub fn recap_sessions<E: From<Error>>(
    store: &Store,
    filter: &SessionFilter,
    mut hides: impl FnMut(&str) -> Result<bool, E>,
) -> Result<RecapSessions, E> {
    let places = Places::of(store)?;
    let told = store.sessions(filter)?;
    let ids: BTreeSet<&str> = told.iter().map(|row| row.session.id.as_str()).collect();
    let project =
        |row: &SessionRow| places.project_of(&row.session.namespace, &row.session.project_path);
    let projects: BTreeSet<(String, String)> = told.iter().map(project).collect();
    let all = SessionFilter {
        until: filter.until.map(|until| Time(until.0 + LATER_MS)),
        agent: None,
        ..filter.clone()
    };
    let mut found = RecapSessions::default();
    for mut row in store.sessions(&all)? {
        let project = project(&row);
        if !projects.contains(&project) {
            continue;
        }
        let episodes = store.episodes(&row.session.id)?;
        let items = items_of(store, &episodes)?;
        // under its project's name, which needs not be said again
        let mut summary = items.summary(&context_of(&row, true));
        SessionGit::of_summary(store, &episodes, &summary)?.tell(&mut summary);
        let (namespace, root) = project;
        row.session.namespace = namespace;
        let whole = (&row, &episodes[..], &summary);
        found.done.extend(done_in(whole, &items.lines()));
        if ids.contains(row.session.id.as_str()) {
            let hides = hides(&row.session.project_path)? || hides(&root)?;
            let session = session((row, root), &episodes, summary, (filter, hides));
            found.sessions.push(session);
        }
    }
    Ok(found)
}

fn session(
    (row, root): (SessionRow, String),
    episodes: &[Found],
    mut summary: Summary,
    (filter, hides): (&SessionFilter, bool),
) -> RecapSession {
    summary.retain_episodes(&within(episodes, filter));
    summary.shorten_paths(&row.session.project_path, hides);
    RecapSession {
        project_path: Some(root).filter(|_| !hides),
        id: row.session.id,
        title: row.title,
        parent: row.session.facts.parent,
        namespace: row.session.namespace,
        ended: row.session.facts.ended,
        began: times(episodes, |found| found.episode.valid_at),
        summary,
    }
}

/// Episodes that went on in that time.
fn within(episodes: &[Found], filter: &SessionFilter) -> BTreeSet<Uuid> {
    let is_in = |found: &&Found| {
        let episode = &found.episode;
        let ended = episode.ended_at.or(episode.valid_at);
        let since = filter.since;
        let is_late = since.is_none_or(|since| ended.is_none_or(|at| at >= since));
        is_late
            && filter
                .until
                .is_none_or(|until| episode.valid_at.is_none_or(|at| at < until))
    };
    let within = episodes.iter().filter(is_in);
    within.map(|found| found.episode.id).collect()
}

fn times(episodes: &[Found], at: impl Fn(&Found) -> Option<Time>) -> BTreeMap<Uuid, Time> {
    let times = episodes
        .iter()
        .filter_map(|found| Some((found.episode.id, at(found)?)));
    times.collect()
}

/// What a session did that another one may have left open. Each at the end of its episode.
fn done_in(
    (row, episodes, summary): (&SessionRow, &[Found], &Summary),
    lines: &[LocatedItem<'_>],
) -> Vec<DoneLater> {
    let ended = times(episodes, |found| {
        found.episode.ended_at.or(found.episode.valid_at)
    });
    let done = |episode: &Uuid, work: DoneWork| DoneLater {
        namespace: row.session.namespace.clone(),
        session: row.session.id.clone(),
        at: ended.get(episode).copied(),
        work,
    };
    let each = lines.iter().flat_map(|line| {
        let found = line.item.findings.iter();
        found.filter_map(move |finding| Some((line.episode, sent(finding)?)))
    });
    let mut all: Vec<DoneLater> = each.map(|(episode, work)| done(&episode, work)).collect();
    let commits = summary.commits.iter();
    all.extend(commits.map(|commit| {
        let subject = commit.what.subject.clone();
        done(&commit.episode, DoneWork::Commit(subject))
    }));
    let tasks = summary.completed.iter();
    let asked = summary.objective.iter();
    let asked = asked.filter(|_| summary.outcome == Some(SessionOutcome::Completed));
    all.extend(
        tasks
            .chain(asked)
            .map(|task| done(&task.episode, DoneWork::Task(task.what.clone()))),
    );
    all
}

fn sent(finding: &Finding) -> Option<DoneWork> {
    Some(match finding {
        Finding::Pushed => DoneWork::Pushed,
        Finding::PullRequest(_) => DoneWork::PullRequest,
        Finding::PullRequestState {
            state: PullRequestState::Merged,
            done: true,
            ..
        } => DoneWork::Merged,
        _ => return None,
    })
}
