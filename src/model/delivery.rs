//! An episode on its way to a sink: what every sink gets of it, and what became of it.

use super::time::Time;
use serde::Serialize;
use std::time::Duration;
use uuid::Uuid;

/// An episode as it is delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboundEpisode {
    /// The episode's; at the sink too, where it takes ids.
    pub id: Uuid,
    /// The hash of what is delivered. Another revision of an id replaces the one before.
    pub revision: u64,
    /// The group as the store has it; a sink may have to spell it otherwise.
    pub group: String,
    /// Its heading without the mark: `Session 6b1f0a34, part 2: fix the tests`.
    pub name: String,
    /// Header, heading and text.
    pub content: String,
    /// D17, with the revision at its end: graphs keep no property that they don't know.
    pub source_description: String,
    /// The session's id.
    pub session: String,
    /// The project's namespace.
    pub namespace: String,
    /// The project's last folder, for names that people read.
    pub project: String,
    /// When it happened: its first record's time, else when it was stored.
    pub valid_at: Time,
    /// When it was stored.
    pub created_at: Time,
    /// Attempts that failed by the episode's own fault.
    pub attempts: u32,
}

/// What was made of episodes at a graph, and became of that when they were removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Traces {
    /// Facts that nothing else states: removed.
    pub facts: u64,
    /// Facts that others state too: they stay, without these.
    pub facts_shared: u64,
    /// Entities that nothing else mentions: removed.
    pub entities: u64,
    /// Entities that others mention too: their summaries are made of the facts that are left.
    pub summaries: u64,
    /// Summaries of communities and sagas that may have quoted them: emptied, until Graphiti makes them
    /// again.
    pub emptied: u64,
}

impl Traces {
    /// These and those.
    pub fn join(&mut self, more: &Traces) {
        self.facts += more.facts;
        self.facts_shared += more.facts_shared;
        self.entities += more.entities;
        self.summaries += more.summaries;
        self.emptied += more.emptied;
    }
}

/// Where an episode stands at one sink. Without a row it waits (`queued`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Older than the sink, and history was not asked for.
    Before,
    /// An attempt failed; the next one is due at a known time.
    Queued,
    /// Handed over or about to be; nobody has seen it there yet.
    Sent,
    /// It was read back, or the sink's own transaction says so.
    Seen,
    /// The same, and the sink has worked through it: Graphiti took entities and facts from it.
    Enriched,
    /// It was taken, and this sink can't be asked whether it is there.
    Unverified,
    /// Given up, with a reason; can be replayed.
    Dead,
    /// Given up for good.
    Dropped,
    /// The episode is no more; the sink still has it.
    Gone,
    /// The same, and the sink can't remove it.
    Kept,
}

impl State {
    const ALL: [State; 10] = [
        State::Before,
        State::Queued,
        State::Sent,
        State::Seen,
        State::Enriched,
        State::Unverified,
        State::Dead,
        State::Dropped,
        State::Gone,
        State::Kept,
    ];

    /// The word used in the store and in output.
    pub fn as_str(self) -> &'static str {
        match self {
            State::Before => "before",
            State::Queued => "queued",
            State::Sent => "sent",
            State::Seen => "seen",
            State::Enriched => "enriched",
            State::Unverified => "unverified",
            State::Dead => "dead",
            State::Dropped => "dropped",
            State::Gone => "gone",
            State::Kept => "kept",
        }
    }

    /// The inverse of [`State::as_str`].
    pub fn parse(word: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.as_str() == word)
    }
}

/// What an attempt came to, for one episode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Which episode.
    pub id: Uuid,
    /// Of which revision.
    pub revision: u64,
    /// Where it stands now.
    pub state: State,
    /// Attempts that failed by its own fault.
    pub attempts: u32,
    /// When the next attempt is due, where one is.
    pub next_at: Option<Time>,
    /// Why it failed. Never content.
    pub error: Option<String>,
    /// It may come still, whatever became of the attempt.
    pub is_under_way: bool,
}

/// Proof that a sink has, or had, an episode: what has to be known to look for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Which episode.
    pub id: Uuid,
    /// Of which revision.
    pub revision: u64,
    /// Where the sink puts it: a graph, a file.
    pub place: String,
}

/// What a sink holds of an episode that it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landed {
    /// Once, in this revision.
    Once,
    /// The same, and an older revision of it stands beside it.
    Beside,
    /// Not at all, or in another revision.
    Missing,
    /// More than once.
    Twice,
    /// The sink can't say.
    Unknown,
}

/// How far an episode is that a sink was given to work through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryProgress {
    /// It is there, and nothing was made of it yet.
    Waits,
    /// It is done.
    Done,
    /// It isn't there, or in another revision.
    Missing,
}

/// What a sink says of one episode of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryOutcome {
    /// It is there. Of an enrichment: it is done.
    Seen,
    /// It is there, beside an older revision that the sink can't remove.
    Beside,
    /// It was taken, and this sink can't be asked whether it is there.
    Unverified,
    /// It was handed over, and nobody knows yet what becomes of it.
    Unknown,
    /// It is not there and won't come, and that is no fault of its own.
    Lost,
    /// It will never be taken: the reason, without content.
    Refused(String),
    /// It was not taken this time: the reason, without content.
    Failed(String),
    /// The same, and it may come still.
    Stopped(String),
}

/// Why a sink did nothing at all. It counts against the sink, not against episodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryError {
    /// Nobody answered, or somebody asked to come back later (after this time, where it was told).
    Unavailable(String, Option<Duration>),
    /// The batch as a whole was refused: something in it is wrong.
    BatchRejected(String),
    /// The sink is set up wrong; trying again won't help before somebody changes that.
    Misconfigured(String),
}

impl DeliveryError {
    /// What happened, without content.
    pub fn reason(&self) -> &str {
        match self {
            DeliveryError::Unavailable(reason, _)
            | DeliveryError::BatchRejected(reason)
            | DeliveryError::Misconfigured(reason) => reason,
        }
    }
}
