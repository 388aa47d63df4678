//! What rows are made of: a session with its episodes and the accounts of its logs, and what a row may say.

use super::row::Cell;
use super::schema::NO_MONTH;
use crate::model::activity::{Activity, ActivityTally};
use crate::model::episode::Episode;
use crate::model::ledger::Ledger;
use crate::model::session::Session;
use crate::model::source::Agent;
use crate::model::time::Time;
use crate::rules::prices::Prices;

/// A session with everything that was stored of it.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionSource {
    /// With the facts of all its logs.
    pub session: Session,
    /// The title to show.
    pub title: Option<String>,
    /// Its episodes and its summary, in any order.
    pub episodes: Vec<StoredEpisode>,
    /// One for each log, in any order.
    pub logs: Vec<LogAccount>,
}

/// An episode, with its outline and all names.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredEpisode {
    /// The episode.
    pub episode: Episode,
    /// Whose log it is of; of a git operation or a file, who did it.
    pub agent: Agent,
    /// The hash of what is delivered of it.
    pub revision: u64,
    /// UTF-8 bytes of its text, also where the text is stored by sinks only.
    pub text_bytes: u64,
}

/// What became of the lines of one log.
#[derive(Clone, Debug, PartialEq)]
pub struct LogAccount {
    /// Its path, where it was last seen.
    pub log: String,
    /// `None`: the session's main log.
    pub stream: Option<String>,
    /// The account.
    pub ledger: Ledger,
}

/// What a row may say of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectNames {
    /// 16 hex digits.
    pub namespace: String,
    /// Its root, as it may be told; `None`: not at all.
    pub path: Option<String>,
}

impl ProjectNames {
    /// Its last folder, where it may be told.
    pub fn name(&self) -> &str {
        let path = self.path.as_deref().unwrap_or_default();
        let parts = path.rsplit(['/', '\\']);
        let name = parts.into_iter().find(|part| !part.is_empty());
        match (&self.path, name) {
            (None, _) => "project",
            (Some(path), None) => path,
            (Some(_), Some(name)) => name,
        }
    }
}

/// By what rows are made, the same for all.
pub struct RowContext<'a> {
    /// What kind of work was counted.
    pub activity: &'a dyn Fn(&ActivityTally) -> Activity,
    /// What tokens cost.
    pub prices: &'a Prices,
    /// A project's path, or that of a log, as it may be told.
    pub shown_path: &'a dyn Fn(&str) -> String,
}

/// The first columns of every table of sessions.
pub(super) fn whose(session: &str, agent: Agent, project: &ProjectNames) -> [Cell; 4] {
    [
        session.into(),
        agent.as_str().into(),
        project.namespace.as_str().into(),
        project.name().into(),
    ]
}

/// The partition of what happened then.
pub fn month(time: Option<Time>) -> String {
    match time {
        Some(time) => time.utc().format("%Y-%m").to_string(),
        None => NO_MONTH.to_owned(),
    }
}

impl SessionSource {
    /// The partition of all its rows.
    pub fn month(&self) -> String {
        let began = self.episodes.iter().filter_map(|e| e.episode.valid_at);
        month(self.session.facts.started.into_iter().chain(began).min())
    }
}
