//! Committing: all or nothing, once, and whatever order the runs come in.

use super::*;
use crate::model::checkpoint::short_id;
use crate::model::error::ErrorKind;
use crate::model::ledger::Reject;
use crate::model::source::Span;
use crate::store::ingest::commit::write_all;
use crate::store::ingest::write::Stamp;
use crate::store::pending_tasks::Task;
use rusqlite::TransactionBehavior;
use rustc_hash::FxHashMap;

fn open_log(name: &str, sealed: &[&str], open: &str) -> FileCommit {
    let mut commit = log(name, "/home/u/app", sealed);
    commit.open = vec![Episode {
        sealed: false,
        ..episode(name, sealed.len() as u32 + 1, open)
    }];
    commit
}

#[test]
fn storing_the_same_commit_again_writes_nothing() {
    let mut world = World::new();
    let mut commit = open_log("a", &["one two", "three"], "four");
    let place = Span {
        offset: 5,
        bytes: 6,
        line: 1,
    };
    commit.rejects = vec![Reject {
        place,
        reason: "torn json".into(),
    }];
    commit.unknown = vec![novelty(place)];
    commit.facts.summaries = vec![(Uuid::from_u128(9), "a title".into())];
    let first = world.commit(&[commit.clone()]);
    assert_eq!((first.new, first.changed, first.removed), (3, 0, 0));
    let (dump, changes) = (world.dump(), world.store.db.total_changes());
    assert_eq!(world.commit(&[commit]), Stored::default());
    assert_eq!(world.store.db.total_changes(), changes);
    assert_eq!(world.dump(), dump);
    world.store.finish().unwrap();
    let changes = world.store.db.total_changes();
    world.store.finish().unwrap();
    assert_eq!(world.store.db.total_changes(), changes);
}

#[test]
fn what_was_not_committed_is_not_there() {
    let mut world = World::new();
    world.commit(&[open_log("a", &["one"], "two")]);
    let before = world.dump();
    let next = Prepared::new(open_log("a", &["one", "two and more"], "three"));
    let stamp = Stamp {
        indexed_at: Time(5),
        group: "g",
    };
    let tx = world
        .store
        .db
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .unwrap();
    write_all(&tx, &mut FxHashMap::default(), &[next], &stamp).unwrap();
    drop(tx);
    assert_eq!(world.dump(), before);
}

#[test]
fn an_error_in_a_slice_takes_the_whole_slice_back() {
    let mut world = World::new();
    world.commit(&[log("a", "/home/u/app", &["one", "two"])]);
    let before = world.dump();
    let slice = [
        log("b", "/home/u/app", &["new"]),
        log("a", "/home/u/app", &["one"]),
    ];
    let slice = slice.map(Prepared::new);
    let error = world.store.commit(&slice, Time(1), "g").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Failed);
    assert_eq!(world.dump(), before);
    // And the names that were taken back are stored anew.
    world.commit(&[log("b", "/home/u/app", &["new"])]);
    assert_eq!(world.store.episodes("b").unwrap()[0].made_by, "rules-1");
}

#[test]
fn runs_in_steps_give_the_store_of_one_run() {
    let mut once = World::new();
    let mut whole = open_log("a", &["one", "two", "three"], "four");
    whole.ids = vec![101, 102, 201, 202, 301, 302];
    whole.ledger = Ledger::default();
    for _ in 0..3 {
        whole.ledger.count(Fate::Kept, "prompt");
        whole.ledger.count(Fate::Filtered, "progress");
    }
    whole.facts.compactions = 3;
    once.commit(&[whole]);

    let mut steps = World::new();
    let texts = ["one", "two", "three"];
    for sealed in 1..=3 {
        let mut commit = open_log("a", &texts[..sealed], ["two", "three", "four"][sealed - 1]);
        commit.sealed.drain(..sealed - 1);
        steps.commit(&[commit]);
    }
    assert_eq!(steps.dump(), once.dump());
}

#[test]
fn record_ids_come_back_in_order_however_they_were_stored() {
    let mut world = World::new();
    let mut wants = Vec::new();
    for run in 1..=60 {
        let mut commit = commit("a", "/home/u/app", run * 100);
        commit.ids = (0..run).map(|n| run << 32 | n).collect();
        wants.extend(&commit.ids);
        world.commit(&[commit]);
    }
    let ids = world.store.record_ids("/logs/a.jsonl").unwrap();
    assert_eq!((&ids.committed, ids.tail), (&wants, vec![6_003]));
    let mut once = World::new();
    let mut commit = commit("a", "/home/u/app", 6_000);
    commit.ids = wants;
    once.commit(&[commit]);
    let ids = |world: &World| -> Vec<String> {
        let dump = world.dump();
        let lines = dump.lines().filter(|line| line.contains(" ids="));
        lines.map(str::to_string).collect()
    };
    assert_eq!(ids(&world), ids(&once));
    assert_eq!(ids(&once).len(), 2);
}

#[test]
fn open_episodes_that_are_not_told_again_go_with_their_words() {
    let mut world = World::new();
    world.commit(&[open_log("a", &["one"], "ephemeral")]);
    let stored = world.commit(&[log("a", "/home/u/app", &["one"])]);
    assert_eq!(stored.removed, 1);
    let texts: Vec<String> = texts(&world);
    assert_eq!(texts, ["one"]);
    let words = "SELECT count(*) FROM words WHERE words MATCH 'ephemeral'";
    let left: i64 = world
        .store
        .db
        .query_row(words, [], |row| row.get(0))
        .unwrap();
    assert_eq!(left, 0);
}

fn texts(world: &World) -> Vec<String> {
    let found = world.store.episodes("a").unwrap();
    found.into_iter().map(|f| f.episode.text).collect()
}

#[test]
fn an_episode_that_grows_keeps_its_id_and_first_day_and_gets_a_new_revision() {
    let mut world = World::new();
    world.commit(&[open_log("a", &[], "begin")]);
    let first = world.store.episodes("a").unwrap().remove(0);
    let mut grown = open_log("a", &[], "begin and more");
    grown.made_by = "rules-2".into();
    let grown = Prepared::new(grown);
    world.store.commit(&[grown], Time(9_999), "other").unwrap();
    let then = world.store.episodes("a").unwrap().remove(0);
    assert_eq!(then.episode.id, first.episode.id);
    assert_eq!(then.indexed_at, Time(1_000));
    assert_eq!((&*then.group, &*then.made_by), ("host__global", "rules-2"));
    assert_ne!(then.revision, first.revision);
    // Sealing it as it is changes nothing that is delivered.
    let mut sealed = open_log("a", &["begin and more"], "next");
    sealed.checkpoint.offset = 300;
    world.commit(&[sealed]);
    let last = world.store.episodes("a").unwrap().remove(0);
    assert!(last.episode.sealed);
    assert_eq!(last.revision, then.revision);
}

#[test]
fn what_goes_in_comes_out() {
    let mut world = World::new();
    let mut commit = log("a", "/home/u/app", &["long text ".repeat(100).as_str()]);
    commit.sealed[0].tally.usage.input = u64::MAX;
    commit.resume_state.context.cwd = Some("/home/u/app".into());
    world.commit(std::slice::from_ref(&commit));
    let found = world.store.episodes("a").unwrap().remove(0);
    let mut wants = commit.sealed[0].clone();
    wants.tally.usage.input = 1 << 48;
    assert_eq!(found.episode, wants);
    assert_eq!((&*found.path, &*found.host), ("/logs/a.jsonl", "host"));
    let stored = world.store.checkpoints().unwrap();
    assert_eq!(stored, [commit.checkpoint.clone()]);
    assert_eq!(
        world.store.resume_state("/logs/a.jsonl"),
        Ok(Some(commit.resume_state))
    );
    assert_eq!(world.store.resume_state("/logs/b.jsonl"), Ok(None));
    let ids = world.store.record_ids("/logs/a.jsonl").unwrap();
    assert_eq!((ids.committed, ids.tail), (commit.ids, commit.tail_ids));
    let tied = world.store.tied(&commit.checkpoint.ties);
    let known = ("/logs/a.jsonl".to_string(), commit.checkpoint.ties.clone());
    assert_eq!(tied, Ok(vec![known]));
    let short = found.episode.id.to_string();
    assert_eq!(world.store.episode(&short[..9]).unwrap(), Some(found));
    assert_eq!(world.store.episode("not hex"), Ok(None));
}

#[test]
fn a_new_generation_keeps_what_was_stored_and_counts_afresh() {
    let mut world = World::new();
    world.commit(&[open_log("a", &["one"], "tail of the old file")]);
    let mut stub = commit("a", "/home/u/app", 0);
    stub.checkpoint.generation = 2;
    stub.facts = SessionFacts::default();
    (stub.ids, stub.tail_ids) = (vec![], vec![900]);
    stub.ledger = Ledger::default();
    stub.tail_ledger.count(Fate::Filtered, "title");
    world.commit(&[stub]);
    assert_eq!(texts(&world), ["one", "tail of the old file"]);
    let ids = world.store.record_ids("/logs/a.jsonl").unwrap();
    assert_eq!((ids.committed, ids.tail), (vec![], vec![900]));
    assert_eq!(ids.older, [102, 101], "owned first; 103 is a copy of 102");
    let account = world.store.account("/logs/a.jsonl").unwrap().unwrap();
    assert_eq!(account.ledger.total(), 1);
    let row = world.store.session("a").unwrap().unwrap();
    assert_eq!(row.title.as_deref(), Some("first words of a"));
}

#[test]
fn a_session_is_what_its_main_log_says() {
    let mut sub = commit("sub", "/home/u/elsewhere", 100);
    sub.checkpoint.stream = Some("agent-1".into());
    sub.session.id = "a".into();
    sub.facts.ended = Some(Time(99));
    sub.facts.ai_title = Some("a sub-agent's".into());
    let main = commit("a", "/home/u/app", 100);
    let mut dumps = Vec::new();
    for slice in [[sub.clone(), main.clone()], [main, sub]] {
        let mut world = World::new();
        for commit in slice {
            world.commit(&[commit]);
        }
        let row = world.store.session("a").unwrap().unwrap();
        assert_eq!(row.session.project_path, "/home/u/app");
        assert_eq!(row.title.as_deref(), Some("first words of a"));
        assert_eq!(row.session.facts.ended, Some(Time(99)));
        assert_eq!((row.files, row.session.facts.compactions), (2, 2));
        dumps.push(world.dump());
    }
    assert_eq!(dumps[0], dumps[1]);
}

#[test]
fn a_title_told_elsewhere_finds_the_owner_of_its_record() {
    let leaf = Uuid::from_u128(77);
    let mut teller = commit("teller", "/home/u/app", 100);
    teller.facts.summaries = vec![(leaf, "what it was about".into())];
    let mut owner = commit("owner", "/home/u/app", 100);
    owner.ids.push(short_id(leaf));
    let mut world = World::new();
    world.commit(&[teller, owner]);
    world.store.finish().unwrap();
    let title = |id: &str| world.store.session(id).unwrap().unwrap().title;
    assert_eq!(title("owner").as_deref(), Some("what it was about"));
    assert_eq!(title("teller").as_deref(), Some("first words of teller"));
}

#[test]
fn titles_are_given_anew_only_where_a_record_with_one_came() {
    let leaf = Uuid::from_u128(77);
    let mut world = World::new();
    let mut teller = commit("teller", "/home/u/app", 100);
    teller.facts.summaries = vec![(leaf, "what it was about".into())];
    world.commit(&[teller]);
    world.store.finish().unwrap();
    let is_due = |world: &World| Task::Titles.is_due(&world.store.db).unwrap();
    let mut owner = commit("owner", "/home/u/app", 100);
    world.commit(&[owner.clone()]);
    assert!(!is_due(&world));
    owner.tail_ids.push(short_id(leaf));
    world.commit(&[owner.clone()]);
    assert!(
        is_due(&world),
        "also after a crash before the end of the run"
    );
    world.store.finish().unwrap();
    let title = world.store.session("owner").unwrap().unwrap().title;
    assert_eq!(title.as_deref(), Some("what it was about"));
    owner.tail_ids.push(short_id(Uuid::from_u128(78)));
    world.commit(&[owner]);
    assert!(!is_due(&world), "it had that record");
}

#[test]
fn a_transaction_is_one_segment_of_the_index() {
    let mut world = World::new();
    let logs = ["a", "b", "c"].map(|name| open_log(name, &["one two", "three"], "four"));
    world.commit(&logs);
    let sql = "SELECT count(DISTINCT segid) FROM words_idx";
    let segments: i64 = world.store.db.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(segments, 1);
}

#[test]
fn a_file_that_moved_is_the_same_file() {
    let mut world = World::new();
    world.commit(&[log("a", "/home/u/app", &["one"])]);
    let stat = Stat {
        size: 1,
        ..Stat::default()
    };
    let (old, new) = ("/logs/a.jsonl", "/archive/a.jsonl");
    world
        .store
        .relocate(old, new, "/archive/a.jsonl.zst", stat)
        .unwrap();
    let stored = world.store.checkpoints().unwrap().remove(0);
    assert_eq!((&*stored.key, &*stored.path), (new, "/archive/a.jsonl.zst"));
    assert_eq!(stored.stat, stat);
    let changes = world.store.db.total_changes();
    world
        .store
        .relocate(new, new, "/archive/a.jsonl.zst", stat)
        .unwrap();
    assert_eq!(world.store.db.total_changes(), changes);
    assert_eq!(world.store.files_like("archive"), Ok(vec![new.to_string()]));
}

#[test]
fn status_and_stats_count_what_is_there() {
    let mut world = World::new();
    let mut odd = open_log("a", &["one", "two"], "three");
    odd.unknown = vec![novelty(Span::default())];
    world.commit(&[odd, log("b", "/home/u/other", &["four"])]);
    let status = world.store.status().unwrap();
    assert_eq!((status.sealed, status.open), (3, 1));
    assert_eq!(status.files["claude"], 2);
    assert_eq!(status.made_by["rules-1"], 4);
    assert_eq!(status.ledger.of(Fate::Kept), 2);
    assert_eq!(status.body_bytes, 3 + 3 + 5 + 4);
    assert_eq!(
        (status.unknown[0].kind.as_str(), status.unknown[0].files),
        ("novelty", 1)
    );
    assert!(status.store_bytes > 4_096);
    let stats = world.store.stats(&Default::default()).unwrap();
    assert_eq!(stats.rows.len(), 2);
    let app = &stats.rows[0];
    assert_eq!(
        (&*app.project_path, app.episodes, app.files),
        ("/home/u/app", 3, 1)
    );
    assert_eq!((app.body_bytes, app.tally.calls), (11, 6));
    assert_eq!(
        stats.tools["Read"],
        ToolTally {
            calls: 8,
            failed: 4
        }
    );
}

#[test]
fn a_rebuild_that_was_killed_is_finished_by_the_next_run() {
    let told = |texts: &[&str]| {
        let mut commit = log("a", "/home/u/app", texts);
        for episode in &mut commit.sealed {
            // other rules cut elsewhere: other ids
            episode.id = Uuid::new_v5(&episode.id, b"again");
        }
        commit
    };
    let mut first = told(&["one"]);
    first.rebuild = true;
    first.checkpoint.stat = Stat::default();
    let mut rest = told(&["one", "two"]);
    rest.sealed.remove(0);
    let mut world = World::new();
    world.commit(&[log("a", "/home/u/app", &["on", "et", "wo"])]);
    world.commit(&[first.clone()]);
    let texts = |world: &World| -> Vec<String> {
        let all = world.store.episodes("a").unwrap();
        all.into_iter().map(|found| found.episode.text).collect()
    };
    assert_eq!(
        texts(&world).len(),
        4,
        "nothing is lost while it is unfinished"
    );
    world.commit(&[rest.clone()]);
    assert_eq!(texts(&world), ["one", "two"]);
    let mut cold = World::new();
    first.rebuild = false;
    cold.commit(&[first, rest]);
    assert_eq!(world.dump(), cold.dump());
}

#[test]
fn a_refused_record_of_the_open_tail_goes_when_it_is_not_told_again() {
    let reject = |offset| Reject {
        place: Span {
            offset,
            bytes: 0,
            line: 9,
        },
        reason: "damaged compression".into(),
    };
    let mut world = World::new();
    let mut commit = open_log("a", &["one"], "two");
    commit.rejects = vec![reject(5), reject(120)];
    world.commit(&[commit.clone()]);
    commit.rejects = vec![];
    world.commit(&[commit]);
    let held = world.store.rejects(9).unwrap();
    let held: Vec<u64> = held.iter().map(|r| r.place.offset).collect();
    assert_eq!(held, [5], "what is before the checkpoint stays");
}
