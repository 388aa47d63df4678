//! The second half of the step `enrich`: sessions that rest get their summary.

use crate::insight::facts::SessionContext;
use crate::insight::items::SessionItems;
use crate::insight::summary::{body, title};
use crate::memory::session_activity::Judge;
use crate::model::activity::{ActivityTally, ExchangeTally};
use crate::model::batch::Delta;
use crate::model::episode::{Episode, EpisodeSource};
use crate::model::summary::Summary;
use crate::model::time::Time;
use crate::pipeline::options::PENDING_MS;
use crate::store::{self, Found, LlmSummary, Resting, Store, SummaryUpdate, Unsummarised};
use crate::tracking::session_git::SessionGit;
use anyhow::Result;
use rayon::prelude::*;

/// Of a batch; of three at most something is in memory. More: memory; less: more transactions, and
/// workers that wait.
const READ_BYTES: usize = 2 << 20;

/// What a session takes in memory besides its texts, and each of its episodes: a hundred thousand tiny
/// ones are not one batch.
const BESIDES_BYTES: usize = 4 << 10;

/// What the summaries are made by.
pub struct SummarizeOptions<'a> {
    /// The run's time.
    pub now: Time,
    /// A session rests after so many milliseconds.
    pub settled_ms: i64,
    /// Worker threads.
    pub jobs: usize,
    /// Tells what kind of work it was.
    pub judge: &'a Judge,
    /// The projects, by path, whose paths are told to nobody.
    pub hides: &'a mut dyn FnMut(&str) -> Result<bool>,
}

/// A session as it was read.
pub(super) struct Whole {
    session: Unsummarised,
    /// What its log calls it, but for its first prompt.
    given: Option<String>,
    hides: bool,
    episodes: Vec<Found>,
    /// What git tells of its commits.
    git: SessionGit,
    tally: ActivityTally,
}

/// Text of one session that its summary is made of. More: a run's memory; less: of the longest sessions,
/// one in ten thousand, the middle is not told.
const SESSION_BYTES_MAX: u64 = 8 << 20;

/// Writes the summary of every session that rests and changed since its last one; gives what that
/// changed. A session of which only sinks hold the texts keeps the summary it has. About 10 MB of text
/// a second and thread.
///
/// # Errors
/// When the store fails; summaries that were written before stay.
pub fn summarize(store: &mut Store, options: &mut SummarizeOptions<'_>) -> Result<store::Stored> {
    let mut stored = store::Stored::default();
    let resting = Resting {
        now: options.now,
        settled_ms: options.settled_ms,
        pending_ms: PENDING_MS,
    };
    let mut waiting = store.unsummarised(resting)?.into_iter();
    let mut batch = read(store, &mut waiting, options.hides)?;
    if batch.is_empty() {
        return Ok(stored);
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(options.jobs)
        .build()?;
    let (judge, now) = (options.judge, options.now);
    let mut summaries = Vec::new();
    // workers make the summaries of a batch while those before it are written and those after it are read
    while !batch.is_empty() || !summaries.is_empty() {
        let mut made = Vec::new();
        let next = pool.in_place_scope(|scope| {
            scope.spawn(|_| {
                let each = batch.par_iter().map(|due| due.update(judge));
                each.collect_into_vec(&mut made);
            });
            stored.merge(store.put_summaries(&summaries, now)?);
            read(store, &mut waiting, options.hides)
        })?;
        (batch, summaries) = (next, made);
    }
    Ok(stored)
}

/// A session whose summary is due.
struct Due {
    whole: Whole,
    /// What a model told of it.
    llm_summary: Option<Summary>,
}

impl Due {
    fn update(&self, judge: &Judge) -> SummaryUpdate {
        match &self.llm_summary {
            Some(summary) => {
                let mut summary = summary.clone();
                self.whole.git.tell(&mut summary);
                self.whole.update(&summary, judge)
            }
            None => self.whole.facts_update(judge),
        }
    }
}

/// The next sessions, until there is text enough; none where none is left.
fn read(
    store: &mut Store,
    waiting: &mut impl Iterator<Item = String>,
    hides: &mut dyn FnMut(&str) -> Result<bool>,
) -> Result<Vec<Due>> {
    let (mut batch, mut bytes) = (Vec::new(), 0);
    while bytes < READ_BYTES
        && let Some(id) = waiting.next()
    {
        let Some(session) = store.unsummarised_session(&id)? else {
            continue;
        };
        let llm_summary = match store.llm_summary(&id)? {
            Some(LlmSummary::Summarized(summary)) => Some(*summary),
            _ => None,
        };
        let hides = hides(&session.project_path)?;
        let whole = Whole::read(store, session, hides)?;
        bytes += whole.bytes();
        batch.push(Due { whole, llm_summary });
    }
    Ok(batch)
}

impl Whole {
    pub(super) fn read(store: &Store, session: Unsummarised, hides: bool) -> Result<Whole> {
        let (episodes, tally) = store.chunks(&session.id, SESSION_BYTES_MAX)?;
        let row = store.session_of_id(&session.id)?;
        Ok(Whole {
            given: row.and_then(|row| row.given_title().map(str::to_owned)),
            git: SessionGit::of_items(store, &episodes)?,
            episodes,
            tally,
            hides,
            session,
        })
    }

    /// Its items.
    pub(super) fn items(&self) -> SessionItems<'_> {
        SessionItems::of(self.episodes.iter().map(|found| &found.episode))
    }

    /// Its facts, with paths as they may be shown; `None`: there is nothing to tell.
    pub(super) fn facts(&self, items: &SessionItems<'_>) -> Option<Summary> {
        let session = &self.session;
        let (title, branch) = (session.title.as_deref(), session.branch.as_deref());
        let context = SessionContext::new(title, &session.project_path, branch, self.hides);
        let mut summary = items.summary(&context);
        let has_facts = summary != Summary::default();
        self.git.tell(&mut summary);
        self.shorten_paths(&mut summary);
        has_facts.then_some(summary)
    }

    /// As they may be shown.
    pub(super) fn shorten_paths(&self, summary: &mut Summary) {
        summary.shorten_paths(&self.session.project_path, self.hides);
    }

    /// What its work is told by.
    pub(super) fn tally(&self) -> &ActivityTally {
        &self.tally
    }

    fn bytes(&self) -> usize {
        let texts = self.episodes.iter().map(|e| e.episode.text.len());
        texts.sum::<usize>() + BESIDES_BYTES * (1 + self.episodes.len())
    }

    fn facts_update(&self, judge: &Judge) -> SummaryUpdate {
        if self.episodes.iter().any(|e| e.episode.text.is_empty()) {
            return SummaryUpdate::as_before(&self.session.id);
        }
        match self.facts(&self.items()) {
            Some(facts) => self.update(&facts, judge),
            None => SummaryUpdate::nothing(&self.session.id),
        }
    }

    /// The summary that tells this.
    pub(super) fn update(&self, summary: &Summary, judge: &Judge) -> SummaryUpdate {
        let id = &self.session.id;
        let last = self.episodes.iter().max_by_key(|e| e.episode.ended_at);
        let Some(last) = last else {
            return SummaryUpdate::nothing(id);
        };
        let tally = self.tally.clone();
        let modified = summary.files_modified.iter();
        let first = &self.session.title;
        let asked = || title(summary, first.as_deref());
        let title = self.given.clone().or_else(asked).or_else(|| first.clone());
        let episode = Episode {
            id: SummaryUpdate::id(id),
            source: EpisodeSource::SessionSummary,
            sealed: true,
            title: title.unwrap_or_default(),
            text: body(summary, &judge.activity(&tally).profile()),
            files: modified.map(|file| file.what.path.clone()).collect(),
            exchanges: vec![ExchangeTally {
                tally,
                ..ExchangeTally::default()
            }],
            ..self.extent()
        };
        SummaryUpdate::new(id, &last.group, &last.made_by, episode)
    }

    /// When and where the session was: its main log, or what there is of it.
    fn extent(&self) -> Episode {
        let main = self.episodes.iter().any(|e| e.episode.stream.is_none());
        let chunks = self.episodes.iter().map(|found| &found.episode);
        let mut whole = Episode::default();
        for chunk in chunks.filter(|chunk| chunk.stream.is_none() == main) {
            whole.valid_at = whole.valid_at.max(chunk.ended_at.or(chunk.valid_at));
            whole.message_count = whole.message_count.max(chunk.message_count);
            whole.duration_minutes = whole.duration_minutes.max(chunk.duration_minutes);
            whole.completed_tasks = whole.completed_tasks.max(chunk.completed_tasks);
            whole.files_modified = whole.files_modified.max(chunk.files_modified);
            whole.lines.1 = whole.lines.1.max(chunk.lines.1);
            whole.bytes.to = whole.bytes.to.max(chunk.bytes.to);
        }
        whole.ended_at = whole.valid_at;
        whole.lines.0 = 1;
        whole.bytes = Delta {
            from: 0,
            ..whole.bytes
        };
        whole
    }
}
