//! One line of what [`transform`](super::transform) prints: JSON with a `type` that comes first. The contract
//! is docs/engine.md; whoever changes a field's meaning raises [`CONTRACT`].

use crate::model::checkpoint::{Checkpoint, FileCommit};
use crate::model::condensing::Condensing;
use crate::model::episode::Episode;
use crate::model::ledger::{Ledger, Reject, Unknown};
use crate::model::memory::PromptDirective;
use crate::model::resume_state::ResumeState;
use crate::model::session::{Session, SessionFacts};
use crate::model::source::Stat;
use crate::model::tally::Tally;
use anyhow::{Context, Result, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::path::PathBuf;

/// The version of the lines. Fields are added within one; they are renamed or removed only with the next.
pub const CONTRACT: u32 = 1;

/// Which commit of which file a line belongs to. Ordered as the commits follow one another.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LineStep {
    /// The engine's number of the run.
    pub run: u64,
    /// Which of the run's files it was, counted from 0 in reading order.
    pub order: u64,
    /// The file.
    pub file: String,
    /// [`Checkpoint::generation`].
    pub generation: u32,
    /// [`Checkpoint::offset`].
    pub offset: u64,
    /// [`Checkpoint::read_to`].
    pub read_to: u64,
}

/// An episode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpisodeLine {
    /// Its commit.
    pub step: LineStep,
    /// Which of the commit's episodes, counted from 0.
    pub nth: u64,
    /// Of its session.
    pub session: String,
    /// The hash that names its project.
    pub namespace: String,
    /// All of it.
    pub episode: Episode,
}

/// A record that was not understood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RejectLine {
    /// Its commit.
    pub step: LineStep,
    /// Where and why.
    pub reject: Reject,
}

/// The account of a commit's lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LedgerLine {
    /// Its commit.
    pub step: LineStep,
    /// Of the session that the file belongs to.
    pub session: String,
    /// Lines before the checkpoint, since the file's last commit.
    pub ledger: Ledger,
    /// Lines of the open tail: replaces the last commit's.
    pub tail: Ledger,
}

/// The rest of a commit: how far the file is read, and what it takes to read on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommittedLine {
    /// Which.
    pub step: LineStep,
    /// The version of rules and settings that made its episodes.
    pub made_by: String,
    /// How many episodes belong to it.
    pub episodes: u64,
    /// Of these, sealed: the first ones.
    pub sealed: u64,
    /// How many rejects belong to it.
    pub rejects: u64,
    /// Where the file stands after it.
    pub checkpoint: Checkpoint,
    /// As far as this file knows it.
    pub session: Session,
    /// What the records before the checkpoint say, since the file's last commit.
    pub facts: SessionFacts,
    /// What the open tail says: replaces the last commit's.
    pub tail_facts: SessionFacts,
    /// Short ids of the records before the checkpoint, since the file's last commit.
    pub ids: PackedIds,
    /// Those of the open tail: replace the last commit's.
    pub tail_ids: PackedIds,
    /// Names that nobody knew.
    pub unknown: Vec<Unknown>,
    /// The file's account begins afresh with it.
    pub rebuild: bool,
    /// A person said in it that the session stays out.
    pub keeps_out: bool,
    /// What its people's words ask to be remembered.
    pub said: Vec<PromptDirective>,
    /// By what its long messages are condensed.
    pub condensing: Condensing,
    /// The folds' state at the checkpoint.
    pub resume_state: ResumeState,
}

/// A file that was found under another name or with another `stat`, its content being what was read before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MovedLine {
    /// Of it as it is called now; before the commits of its run.
    pub step: LineStep,
    /// What it was called.
    pub was: String,
    /// As a listing says it now.
    pub stat: Stat,
    /// Where it is now.
    pub path: String,
}

/// What was counted while a file was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TallyLine {
    /// The engine's number of the run.
    pub run: u64,
    /// The file.
    pub file: String,
    /// Content bytes read, checks included.
    pub read_bytes: u64,
    /// The counters; adding them is associative and commutative.
    pub tally: Tally,
}

/// A file that was not read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProblemLine {
    /// The engine's number of the run.
    pub run: u64,
    /// The file.
    pub file: String,
    /// Why. Never content.
    pub reason: String,
    /// It is left out on purpose: excluded, switched off or not trusted.
    pub left_out: bool,
}

/// To `merge --serve`: the lines since the last one of these are all of a batch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndLine {
    /// The new folder that its tables are written into.
    pub tables: PathBuf,
}

/// Of `merge --serve`: the tables of a batch are written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DoneLine {
    /// [`EndLine::tables`].
    pub tables: PathBuf,
    /// Rows of all tables.
    pub rows: u64,
}

/// The first line of everything that is printed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeaderLine {
    /// [`CONTRACT`].
    pub contract: u32,
    /// The version of the program.
    pub program: String,
}

impl HeaderLine {
    /// This program's.
    pub fn own() -> HeaderLine {
        HeaderLine {
            contract: CONTRACT,
            program: env!("CARGO_PKG_VERSION").into(),
        }
    }
}

/// A line, understood.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// What the others are to be read by.
    Header(HeaderLine),
    /// See there.
    Episode(Box<EpisodeLine>),
    /// See there.
    Reject(RejectLine),
    /// See there.
    Ledger(LedgerLine),
    /// See there.
    Commit(Box<CommittedLine>),
    /// See there.
    Moved(MovedLine),
    /// See there.
    Tally(TallyLine),
    /// See there.
    Problem(ProblemLine),
    /// See there.
    End(EndLine),
    /// Sums, which are made anew whenever lines are merged.
    Total,
}

/// The word of a line's `type`.
pub mod kind {
    /// [`super::HeaderLine`]
    pub const HEADER: &str = "header";
    /// [`super::EpisodeLine`]
    pub const EPISODE: &str = "episode";
    /// [`super::RejectLine`]
    pub const REJECT: &str = "reject";
    /// [`super::LedgerLine`]
    pub const LEDGER: &str = "ledger";
    /// [`super::CommittedLine`]
    pub const COMMIT: &str = "commit";
    /// [`super::MovedLine`]
    pub const MOVED: &str = "moved";
    /// [`HeadLine`](crate::pipeline::engine::heads::HeadLine)
    pub const HEAD: &str = "head";
    /// [`IdsLine`](crate::pipeline::engine::heads::IdsLine)
    pub const IDS: &str = "ids";
    /// [`super::TallyLine`]
    pub const TALLY: &str = "tally";
    /// [`super::ProblemLine`]
    pub const PROBLEM: &str = "problem";
    /// [`super::EndLine`]
    pub const END: &str = "end";
    /// [`super::DoneLine`]
    pub const DONE: &str = "done";
    /// [`ReceiptLine`](crate::pipeline::engine::deliver::ReceiptLine)
    pub const RECEIPT: &str = "receipt";
    /// The sums of a merge.
    pub const TOTAL: &str = "total";
}

impl Line {
    /// Understands a line.
    ///
    /// # Errors
    /// When it is none of ours, or of a contract that this version doesn't know.
    pub fn parse(text: &str) -> Result<Line> {
        #[derive(Deserialize)]
        struct Typed<'t> {
            #[serde(rename = "type", borrow)]
            kind: Cow<'t, str>,
        }
        let typed: Typed<'_> = serde_json::from_str(text).context("it has no `type`")?;
        Ok(match &*typed.kind {
            kind::HEADER => {
                let header: HeaderLine = serde_json::from_str(text)?;
                if header.contract != CONTRACT {
                    bail!(
                        "its contract is {}, and this version of sessionmill knows {CONTRACT}",
                        header.contract
                    );
                }
                Line::Header(header)
            }
            kind::EPISODE => Line::Episode(serde_json::from_str(text)?),
            kind::REJECT => Line::Reject(serde_json::from_str(text)?),
            kind::LEDGER => Line::Ledger(serde_json::from_str(text)?),
            kind::COMMIT => Line::Commit(serde_json::from_str(text)?),
            kind::MOVED => Line::Moved(serde_json::from_str(text)?),
            kind::TALLY => Line::Tally(serde_json::from_str(text)?),
            kind::PROBLEM => Line::Problem(serde_json::from_str(text)?),
            kind::END => Line::End(serde_json::from_str(text)?),
            kind::TOTAL => Line::Total,
            other => bail!("its type is `{other}`, which this version of sessionmill doesn't know"),
        })
    }
}

/// Adds a line to `out`, with its line break.
///
/// # Errors
/// When the value can't be written as JSON.
pub fn write(out: &mut Vec<u8>, kind: &str, line: &impl Serialize) -> Result<()> {
    out.extend_from_slice(b"{\"type\":\"");
    out.extend_from_slice(kind.as_bytes());
    out.extend_from_slice(b"\",");
    let at = out.len();
    serde_json::to_writer(&mut *out, line)?;
    // the value's own brace
    out.remove(at);
    out.push(b'\n');
    Ok(())
}

/// Adds all lines of a commit, its own last.
///
/// # Errors
/// As [`write`].
pub fn write_commit(out: &mut Vec<u8>, commit: FileCommit, run: u64, order: u64) -> Result<()> {
    let step = LineStep {
        run,
        order,
        file: commit.checkpoint.key.clone(),
        generation: commit.checkpoint.generation,
        offset: commit.checkpoint.offset,
        read_to: commit.checkpoint.read_to,
    };
    let (sealed, rejects) = (commit.sealed.len() as u64, commit.rejects.len() as u64);
    let episodes = sealed + commit.open.len() as u64;
    let all = commit.sealed.into_iter().chain(commit.open);
    for (nth, episode) in (0..).zip(all) {
        let line = EpisodeLine {
            step: step.clone(),
            nth,
            session: commit.session.id.clone(),
            namespace: commit.session.namespace.clone(),
            episode,
        };
        write(out, kind::EPISODE, &line)?;
    }
    for reject in commit.rejects {
        let step = step.clone();
        write(out, kind::REJECT, &RejectLine { step, reject })?;
    }
    let ledger = LedgerLine {
        step: step.clone(),
        session: commit.session.id.clone(),
        ledger: commit.ledger,
        tail: commit.tail_ledger,
    };
    write(out, kind::LEDGER, &ledger)?;
    let rest = CommittedLine {
        step,
        made_by: commit.made_by,
        episodes,
        sealed,
        rejects,
        checkpoint: commit.checkpoint,
        session: commit.session,
        facts: commit.facts,
        tail_facts: commit.tail_facts,
        ids: PackedIds(commit.ids),
        tail_ids: PackedIds(commit.tail_ids),
        unknown: commit.unknown,
        rebuild: commit.rebuild,
        keeps_out: commit.keeps_out,
        said: commit.said,
        condensing: commit.condensing,
        resume_state: commit.resume_state,
    };
    write(out, kind::COMMIT, &rest)
}

impl CommittedLine {
    /// The commit that it is the rest of.
    pub fn into_commit(
        self,
        episodes: Vec<Episode>,
        rejects: Vec<Reject>,
        ledger: LedgerLine,
    ) -> FileCommit {
        let mut sealed = episodes;
        let open = sealed.split_off((self.sealed as usize).min(sealed.len()));
        FileCommit {
            checkpoint: self.checkpoint,
            resume_state: self.resume_state,
            made_by: self.made_by,
            session: self.session,
            facts: self.facts,
            tail_facts: self.tail_facts,
            sealed,
            open,
            ids: self.ids.0,
            tail_ids: self.tail_ids.0,
            ledger: ledger.ledger,
            tail_ledger: ledger.tail,
            rejects,
            unknown: self.unknown,
            rebuild: self.rebuild,
            keeps_out: self.keeps_out,
            said: self.said,
            condensing: self.condensing,
        }
    }
}

/// Short ids of records as the lines have them: base64 of 8 bytes each, little-endian.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackedIds(pub Vec<u64>);

impl Serialize for PackedIds {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = self.0.iter().flat_map(|id| id.to_le_bytes()).collect();
        to.serialize_str(&STANDARD.encode(bytes))
    }
}

impl<'de> Deserialize<'de> for PackedIds {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<PackedIds, D::Error> {
        let text = Cow::<str>::deserialize(from)?;
        let bytes = STANDARD.decode(&*text).map_err(D::Error::custom)?;
        let (ids, rest) = bytes.as_chunks::<8>();
        match rest.is_empty() {
            true => Ok(PackedIds(
                ids.iter().map(|id| u64::from_le_bytes(*id)).collect(),
            )),
            false => Err(D::Error::custom("ids are 8 bytes each")),
        }
    }
}
