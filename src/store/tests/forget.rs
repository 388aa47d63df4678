//! Forgetting: gone, gone for good, and nothing else with it.

use std::sync::Arc;

use super::*;
use crate::memory::query_terms::parse;
use crate::model::resume_state::{FilterResumeState, QueuedPrompt, StreamResumeState};
use crate::model::tombstone::Selection;
use crate::store::Forgotten;
use std::fs;

fn forget(world: &mut World, session: &str) -> Forgotten {
    let selection = Selection {
        sessions: vec![session.into()],
        ..Selection::default()
    };
    world.store.forget(&selection, Time(7), false).unwrap()
}

fn telling(name: &str, word: &str) -> FileCommit {
    let text = format!("{word} was said here");
    let mut commit = log(name, "/home/u/app", &[&text]);
    commit.sealed[0].files = [format!("/home/u/{word}.txt")].into();
    commit.facts.ai_title = Some(format!("about {word}"));
    commit.carry.streams = vec![StreamResumeState {
        filter: FilterResumeState {
            queued: vec![Arc::new(QueuedPrompt {
                text: word.into(),
                emitted: false,
            })],
            ..FilterResumeState::default()
        },
        ..StreamResumeState::default()
    }];
    commit
}

#[test]
fn what_is_forgotten_leaves_no_trace_in_the_file() {
    let mut world = World::new();
    world.commit(&[telling("a", "zebrafish"), telling("b", "platypus")]);
    let gone = forget(&mut world, "a");
    assert_eq!((gone.episodes, gone.files), (1, 1));
    assert!(gone.body_bytes > 0);
    world.store.compact().unwrap();
    let file = fs::read(world.store.path()).unwrap();
    let holds = |word: &str| memchr::memmem::find(&file, word.as_bytes()).is_some();
    assert!(holds("platypus") && !holds("zebrafish"));
    assert_eq!(world.store.search(&parse("zebrafish", 9)), Ok(vec![]));
    assert_eq!(world.store.search(&parse("platypus", 9)).unwrap().len(), 1);
    assert!(world.store.tombstones().unwrap().holds("a"));
    assert_eq!(forget(&mut world, "nobody"), Forgotten::default());
}

#[test]
fn later_runs_do_not_bring_it_back() {
    let mut world = World::new();
    world.commit(&[telling("a", "zebrafish")]);
    forget(&mut world, "a");
    let mut more = telling("a", "zebrafish");
    more.checkpoint.offset = 500;
    more.ids = vec![77];
    more.facts.summaries = vec![(Uuid::from_u128(1), "zebrafish".into())];
    world.commit(&[more.clone()]);
    let dump = world.dump();
    assert!(!dump.contains("zebrafish"), "{dump}");
    // Its logs are passed over, its records stay known.
    assert_eq!(world.store.checkpoints(), Ok(vec![more.checkpoint]));
    let ids = world.store.record_ids("/logs/a.jsonl").unwrap();
    assert_eq!(ids.committed, [101, 102, 77]);
}

#[test]
fn compacting_gives_room_back() {
    let mut world = World::new();
    let long: String = (0..20_000).map(|i| format!("word{} ", i * 7919)).collect();
    world.commit(&[log("a", "/home/u/app", &[&long])]);
    forget(&mut world, "a");
    let compacted = world.store.compact().unwrap();
    assert!(compacted.after < compacted.before / 2, "{compacted:?}");
}

#[test]
fn a_forgotten_session_is_not_counted() {
    let mut world = World::new();
    world.commit(&[telling("a", "zebrafish"), telling("b", "platypus")]);
    forget(&mut world, "a");
    let status = world.store.status().unwrap();
    assert_eq!((status.sessions["claude"], status.forgotten), (1, 1));
    let stats = world.store.stats(&Default::default()).unwrap();
    assert_eq!((stats.rows[0].sessions, stats.rows[0].files), (1, 1));
    let listed = world.store.sessions(&Default::default()).unwrap();
    assert_eq!(listed.len(), 1);
}
