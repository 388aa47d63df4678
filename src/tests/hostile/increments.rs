//! Any bytes as a log that grows: two runs over two parts come to what one run over all of it
//! does (architecture § 4, 3), and every line is accounted for (architecture § 4, 9).
//!
//! Method: the folds of `pipeline::steps::ingest::file` over a real file, and [`Shelf`], which does with a commit
//! what the store's tables do.

use crate::host::files::source_file;
use crate::model::checkpoint::{Checkpoint, FileCommit, RecordIds};
use crate::model::episode::Episode;
use crate::model::ledger::{Ledger, Reject};
use crate::model::policy::{ChunkOptions, FilterPolicy};
use crate::model::resume_state::ResumeState;
use crate::model::session::SessionFacts;
use crate::model::source::{Agent, Slice, SourceChange};
use crate::model::tombstone::Tombstones;
use crate::pipeline::ingest_options::Rules;
use crate::pipeline::parsed_log::Scratch;
use crate::pipeline::progress::Silent;
use crate::pipeline::steps::ingest::file::{Before, FileWork, FoldContext, fold};
use crate::pipeline::steps::ingest::ids::Ids;
use crate::rules::secrets::Redactor;
use std::collections::BTreeMap;
use std::path::Path;

/// The first three bytes choose the agent, how short chunks are, and where the file is cut.
pub fn increments(data: &[u8]) {
    let [how, high, low, log @ ..] = data else {
        return;
    };
    let agent = match how & 1 {
        0 => Agent::new("claude"),
        _ => Agent::new("codex"),
    };
    let rules = rules(u64::from(how >> 1));
    let cut = usize::from(u16::from_be_bytes([*high, *low])) * log.len() / 0xffff;
    let folder = tempfile::tempdir().expect("a temporary directory");
    let path = folder.path().join("rollout-x.jsonl");
    let (mut grown, mut cold) = (Shelf::default(), Shelf::default());
    for part in [&log[..cut], log] {
        std::fs::write(&path, part).expect("a log");
        grown.run(&path, agent, &rules);
        grown.accounts_for(part);
    }
    cold.run(&path, agent, &rules);
    cold.accounts_for(log);
    assert_eq!(grown, cold, "two runs come to something else than one");
}

/// Small budgets, so that a few lines make several chunks.
fn rules(choice: u64) -> Rules {
    Rules {
        policy: FilterPolicy::default(),
        chunk: ChunkOptions {
            max_exchanges: 1 + (choice & 3) as u32,
            max_tokens: 20 << (choice >> 2 & 7),
            ..ChunkOptions::default()
        },
        host: "test".into(),
        subagents: true,
        redactor: Redactor::default(),
        classifier: Default::default(),
        markers: Default::default(),
        hides_paths: false,
        directives: None,
    }
}

/// What the store would have of one file.
#[derive(Debug, Default, PartialEq)]
struct Shelf {
    checkpoint: Option<Checkpoint>,
    resume_state: ResumeState,
    ids: RecordIds,
    sealed: Vec<Episode>,
    open: Vec<Episode>,
    facts: SessionFacts,
    tail_facts: SessionFacts,
    ledger: Ledger,
    tail_ledger: Ledger,
    rejects: BTreeMap<u64, Reject>,
}

impl Shelf {
    fn run(&mut self, path: &Path, agent: Agent, rules: &Rules) {
        let file = source_file(path, agent).expect("the log's stat");
        let before = self.checkpoint.clone().map(|checkpoint| Before {
            checkpoint,
            resume_state: self.resume_state.clone(),
            ids: self.ids.clone(),
        });
        let at = self.checkpoint.as_ref();
        let work = FileWork {
            slice: Slice {
                file,
                from: at.map_or(0, |c| c.offset),
                line: at.map_or(0, |c| c.line),
                seen: at.map_or(SourceChange::New, |_| SourceChange::Grown),
                was: None,
            },
            ties: Default::default(),
            session: Some("s".into()),
            stream: None,
            folder: None,
            begun: None,
            descent: None,
            rules: None,
            before: before.map(Box::new),
        };
        let (mut ids, mut scratch) = (Ids::default(), Scratch::default());
        let mut take = |commit| {
            self.take(commit);
            true
        };
        let context = FoldContext {
            tombstones: &Tombstones::default(),
            rules,
            progress: &Silent,
        };
        fold(work, context, &mut ids, &mut scratch, &mut take).expect("a log that is read");
    }

    fn take(&mut self, commit: FileCommit) {
        self.checkpoint = Some(Checkpoint {
            stat: Default::default(), // each run has its own
            ..commit.checkpoint
        });
        self.resume_state = commit.resume_state;
        self.ids.committed.extend(commit.ids);
        self.ids.tail = commit.tail_ids;
        self.sealed.extend(commit.sealed);
        self.open = commit.open;
        self.facts.merge(&commit.facts);
        self.tail_facts = commit.tail_facts;
        self.ledger.merge(&commit.ledger);
        self.tail_ledger = commit.tail_ledger;
        let rejects = commit.rejects.into_iter();
        self.rejects.extend(rejects.map(|r| (r.place.offset, r)));
    }

    /// Lines read = kept + filtered + copied + rejected + unknown + pending.
    fn accounts_for(&self, log: &[u8]) {
        let newlines = memchr::memchr_iter(b'\n', log).count() as u64;
        let torn = u64::from(log.last().is_some_and(|b| *b != b'\n'));
        let told = self.ledger.total() + self.tail_ledger.total();
        assert_eq!(told, newlines + torn, "the ledger doesn't add up");
    }
}
