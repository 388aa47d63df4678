//! The store under synthetic commits: a small world with one call per thing a log can do.

mod bench;
mod commit;
mod damage;
mod forget;
mod open;
mod search;
mod vectors;

use super::{Access, Prepared, Store, Stored};
use crate::model::batch::Delta;
use crate::model::checkpoint::{Checkpoint, FileCommit, Fingerprints};
use crate::model::episode::{Episode, EpisodeSource};
use crate::model::ledger::{Fate, Ledger, Unknown};
use crate::model::namespace::namespace;
use crate::model::resume_state::ResumeState;
use crate::model::session::{Session, SessionFacts};
use crate::model::source::{Agent, Span, Stat};
use crate::model::tally::{Tally, ToolTally};
use crate::model::time::Time;
use tempfile::TempDir;
use uuid::Uuid;

impl Store {
    /// Changes rows as no run would: what a crash or a stranger left.
    pub(crate) fn tamper(&self, sql: &str) {
        self.db.execute_batch(sql).unwrap();
    }

    /// Ids and revisions of all episodes.
    pub(crate) fn deliverable(&self) -> Vec<(Uuid, u64)> {
        let mut select = self.db.prepare("SELECT id, revision FROM episode").unwrap();
        let row = |row: &rusqlite::Row<'_>| {
            let revision: i64 = row.get(1)?;
            Ok((Uuid::from_bytes(row.get(0)?), revision as u64))
        };
        let rows = select.query_map([], row).unwrap();
        rows.map(Result::unwrap).collect()
    }
}

/// A folder with a store in it.
struct World {
    folder: TempDir,
    store: Store,
}

impl World {
    fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("s.db"), Access::ReadWrite).unwrap();
        World { folder, store }
    }

    fn commit(&mut self, commits: &[FileCommit]) -> Stored {
        let prepared: Vec<Prepared> = commits.iter().cloned().map(Prepared::new).collect();
        self.store
            .commit(&prepared, Time(1_000), "host__global")
            .unwrap()
    }

    fn dump(&self) -> String {
        self.store.dump().unwrap()
    }
}

/// The commit of a log `name` of `project` that was read up to `offset`, with nothing in it.
fn commit(name: &str, project: &str, offset: u64) -> FileCommit {
    let mut ledger = Ledger::default();
    ledger.count(Fate::Kept, "prompt");
    ledger.count(Fate::Filtered, "progress");
    FileCommit {
        condensing: Default::default(),
        checkpoint: Checkpoint {
            key: format!("/logs/{name}.jsonl"),
            path: format!("/logs/{name}.jsonl"),
            agent: Agent::new("claude"),
            stat: Stat {
                size: offset + 50,
                inode: u64::MAX,
                ..Stat::default()
            },
            generation: 1,
            offset,
            line: offset / 100,
            read_to: offset + 50,
            fingerprints: Fingerprints {
                head: u64::MAX,
                head_bytes: 10,
                tail: 7,
                content: 0,
                content_to: 0,
            },
            session: name.into(),
            stream: None,
            ties: vec![format!("session:{name}")],
        },
        resume_state: ResumeState::default(),
        made_by: "rules-1".into(),
        session: Session {
            id: name.into(),
            agent: Agent::new("claude"),
            namespace: namespace(project),
            project_path: project.into(),
            cwd: Some(project.into()),
            branch: None,
            host: "host".into(),
            file: format!("{name}.jsonl"),
            facts: SessionFacts::default(),
        },
        facts: SessionFacts {
            started: Some(Time(10)),
            ended: Some(Time(20)),
            first_prompt: Some(format!("first words of {name}")),
            compactions: 1,
            ..SessionFacts::default()
        },
        tail_facts: SessionFacts {
            ended: Some(Time(30)),
            ..SessionFacts::default()
        },
        sealed: vec![],
        open: vec![],
        ids: vec![offset + 1, offset + 2],
        tail_ids: vec![offset + 3],
        ledger,
        tail_ledger: Ledger::default(),
        rejects: vec![],
        rebuild: false,
        keeps_out: false,
        said: vec![],
        unknown: vec![],
    }
}

/// Part `part` of a log, with this text.
fn episode(name: &str, part: u32, text: &str) -> Episode {
    let mut tally = Tally {
        prompts: 1,
        calls: 2,
        ..Tally::default()
    };
    tally.tools.insert(
        "Read".into(),
        ToolTally {
            calls: 2,
            failed: 1,
        },
    );
    Episode {
        id: Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("{name}/{part}").as_bytes()),
        source: EpisodeSource::Session,
        part,
        sealed: true,
        title: format!("title of {name}"),
        text: text.into(),
        valid_at: Some(Time(i64::from(part) * 1_000)),
        ended_at: Some(Time(i64::from(part) * 1_000 + 500)),
        bytes: Delta {
            from: u64::from(part) * 100,
            to: u64::from(part) * 100 + 100,
        },
        lines: (u64::from(part), u64::from(part)),
        message_count: u64::from(part) * 2,
        files: ["/home/u/app/src/auth.rs".to_string()].into(),
        tally,
        ..Episode::default()
    }
}

/// A log with these texts as sealed episodes.
fn log(name: &str, project: &str, texts: &[&str]) -> FileCommit {
    let mut commit = commit(name, project, 100 * texts.len() as u64);
    commit.sealed = (1..)
        .zip(texts)
        .map(|(i, text)| episode(name, i, text))
        .collect();
    commit
}

/// A name that nobody knew, at this place.
fn novelty(place: Span) -> Unknown {
    Unknown {
        name: "novelty".into(),
        place,
        time: Some(Time(7)),
    }
}
