//! What workers make of a commit before the writer sees it: words, packed texts, revisions, sums.
//! Knows how rows look, but not what is in the store, so it runs on any thread.

use crate::model::checkpoint::{Checkpoint, FileCommit, short_id};
use crate::model::condensing::Condensing;
use crate::model::episode::Episode;
use crate::model::ledger::{Ledger, Reject, Unknown};
use crate::model::memory::PromptDirective;
use crate::model::session::{Session, SessionFacts};
use crate::model::source::Stat;
use crate::model::spending::Spending;
use crate::model::tally::ToolTally;
use crate::model::time::Time;
use crate::store::columns::packed_ids;
use crate::store::compression::{Packed, pack, pack_json};
use crate::store::ingest::episode_items::Outline;
use crate::store::search::words::IndexText;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// A commit, ready to be written: nothing is left to do but SQL.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(crate) checkpoint: Checkpoint,
    /// xxh3 of each tie.
    pub(crate) ties: Vec<i64>,
    pub(crate) session: Session,
    /// How well this log knows the project: a main log with a directory best.
    pub(crate) standing: u8,
    pub(crate) resume_state: Packed,
    /// What a file that the store doesn't know yet gets as `fold.sealed`.
    pub(crate) sealed_state: Packed,
    pub(crate) ledger: Ledger,
    pub(crate) facts: SessionFacts,
    pub(crate) tail_state: Packed,
    /// Sealed ones first.
    pub(crate) rows: Vec<Row>,
    pub(crate) ids: Vec<u8>,
    pub(crate) tail_ids: Vec<u8>,
    pub(crate) rejects: Vec<Reject>,
    pub(crate) unknown: Vec<Unknown>,
    pub(crate) rebuild: bool,
    pub(crate) keeps_out: bool,
    pub(crate) said: Vec<PromptDirective>,
    pub(crate) made_by: String,
    /// Titles for the owners of records, by short id.
    pub(crate) summaries: Vec<(i64, String)>,
}

/// An episode as rows.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Its `text`, `tally.tools` and `tally.spending` are elsewhere here.
    pub(crate) episode: Episode,
    pub(crate) sealed: bool,
    pub(crate) revision: i64,
    pub(crate) body: Packed,
    pub(crate) body_bytes: u64,
    pub(crate) title_words: String,
    pub(crate) index: IndexText,
    pub(crate) tools: Vec<(String, ToolTally)>,
    pub(crate) spending: Spending,
    pub(crate) activity: Packed,
    pub(crate) outline: Outline,
    /// JSON, the templates of its long messages; `None`: nothing of it is condensed.
    pub(crate) condensing: Option<String>,
}

impl Prepared {
    /// When its episodes were; `None`: it has none with times.
    pub(crate) fn times(&self) -> Option<(Time, Time)> {
        let episodes = self.rows.iter().map(|row| &row.episode);
        let began = episodes.clone().filter_map(|episode| episode.valid_at);
        let ended = episodes.filter_map(|episode| episode.ended_at.or(episode.valid_at));
        began.min().zip(ended.max())
    }

    /// Does everything that needs no store: about 70 MB of kept text a second and thread.
    pub fn new(commit: FileCommit) -> Prepared {
        let ties = commit.checkpoint.ties.iter().map(|tie| tie_name(tie));
        let main = commit.checkpoint.stream.is_none();
        let placed = commit.session.cwd.is_some();
        let summaries = commit
            .facts
            .summaries
            .iter()
            .chain(&commit.tail_facts.summaries);
        let condensing = &commit.condensing;
        let sealed = commit.sealed.into_iter();
        let sealed = sealed.map(|e| Row::with_messages(e, true, condensing));
        let open = commit.open.into_iter();
        let open = open.map(|e| Row::with_messages(e, false, condensing));
        Prepared {
            ties: ties.collect(),
            standing: u8::from(main) + 2 * u8::from(placed),
            resume_state: pack_json(&commit.resume_state),
            sealed_state: pack_json(&(&commit.ledger, &commit.facts)),
            tail_state: pack_json(&(&commit.tail_ledger, &commit.tail_facts)),
            summaries: summaries
                .map(|(leaf, text)| (short_id(*leaf) as i64, text.clone()))
                .collect(),
            rows: sealed.chain(open).collect(),
            ids: packed_ids(&commit.ids),
            tail_ids: packed_ids(&commit.tail_ids),
            checkpoint: commit.checkpoint,
            session: commit.session,
            ledger: commit.ledger,
            facts: commit.facts,
            rejects: commit.rejects,
            unknown: commit.unknown,
            rebuild: commit.rebuild,
            keeps_out: commit.keeps_out,
            said: commit.said,
            made_by: commit.made_by,
        }
    }

    /// The whole file is told: only then does its checkpoint hold what `stat` said.
    pub(crate) fn reaches_the_end(&self) -> bool {
        self.checkpoint.stat != Stat::default()
    }

    /// About how many bytes wait in memory; the writer groups commits by it.
    pub fn bytes(&self) -> usize {
        let rows = self.rows.iter().map(|row| {
            let body = match &row.body {
                Packed::Text(text) => text.len(),
                Packed::Frame(frame) => frame.len(),
            };
            let index = row.index.words.len() + row.index.glued.len();
            size_of::<Row>() + body + index + 512
        });
        rows.sum::<usize>() + self.ids.len() + self.tail_ids.len() + BESIDES_BYTES
    }
}

/// What a commit takes in memory besides its rows: itself, and the names and states that it owns.
const BESIDES_BYTES: usize = size_of::<Prepared>() + (4 << 10);

impl Row {
    /// Of an episode whose long messages are to be condensed.
    fn with_messages(episode: Episode, sealed: bool, condensing: &Condensing) -> Row {
        let long = condensing.long_messages(&episode.text, &episode.outline);
        let templates = (!long.is_empty()).then(|| serde_json::to_string(condensing));
        Row {
            condensing: templates.and_then(Result::ok),
            ..Row::new(episode, sealed)
        }
    }

    pub(crate) fn new(mut episode: Episode, sealed: bool) -> Row {
        let revision = revision(&episode);
        let text = std::mem::take(&mut episode.text);
        let (title_words, index) = indexed(&episode.title, &text);
        Row {
            tools: std::mem::take(&mut episode.tally.tools)
                .into_iter()
                .collect(),
            spending: std::mem::take(&mut episode.tally.spending),
            activity: pack_json(&episode.exchanges),
            outline: Outline::of(&std::mem::take(&mut episode.outline)),
            condensing: None,
            revision,
            body_bytes: text.len() as u64,
            body: pack(text),
            title_words,
            index,
            sealed,
            episode,
        }
    }
}

/// What the full-text index takes of an episode: its title's words, its text's.
pub(crate) fn indexed(title: &str, text: &str) -> (String, IndexText) {
    let title = IndexText::of(title);
    let mut index = IndexText::of(text);
    if !title.glued.is_empty() {
        index.glued = format!("{} {}", title.glued, index.glued);
    }
    (title.words, index)
}

/// The hash of everything about an episode that is delivered, without `indexed_at`: an episode
/// that grows gets a new one, one that is sealed as it was keeps it.
fn revision(episode: &Episode) -> i64 {
    revision_of(
        &episode.text,
        &episode.title,
        [
            u64::from(episode.part),
            episode.message_count,
            episode.duration_minutes,
            episode.completed_tasks,
            episode.files_modified,
            episode.valid_at.map_or(NO_TIME, |t| t.0 as u64),
        ],
    )
}

/// What a revision is of in place of the time that an episode doesn't have.
pub(crate) const NO_TIME: u64 = u64::MAX;

/// `episode.revision` of what its row says: text, title, part, messages, minutes, tasks, files, time.
pub(crate) fn revision_of(text: &str, title: &str, numbers: [u64; 6]) -> i64 {
    let mut hash = Xxh3::new();
    for text in [text, title] {
        hash.update(&(text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    for number in numbers {
        hash.update(&number.to_le_bytes());
    }
    hash.digest() as i64
}

/// `tie.name` of a family name.
pub(crate) fn tie_name(tie: &str) -> i64 {
    xxh3_64(tie.as_bytes()) as i64
}
