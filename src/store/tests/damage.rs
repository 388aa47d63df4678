//! Damage to the file: every fault is named, none is made worse, and what can be read is kept.

use super::*;
use crate::model::consent::Consent;
use crate::model::episode::EpisodeSource;
use crate::model::error::ErrorKind;
use crate::model::tombstone::Selection;
use crate::store::{DatabaseState, Health, Resting, Salvage, SummaryUpdate, Switch};
use std::fs;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// A closed store with forty sessions, consent, a switch and a forgotten session.
fn full() -> (TempDir, PathBuf) {
    let mut world = World::new();
    for n in 0..40 {
        let name = format!("s{n:02}");
        // Words that no compression makes small.
        let hash = |word: usize| format!("{:016x} ", xxh3_64(&[n, word].map(|x| x as u8)));
        let long: String = (0..255).map(hash).collect();
        let texts = [
            format!("first {name} {long}"),
            format!("second {name} {long}"),
        ];
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        world.commit(&[log(&name, &format!("/home/u/p{n}"), &texts)]);
    }
    let at = Time(5);
    let (scope, text, version) = ("tracking".into(), "yes".into(), "0.1.0".into());
    let consent = Consent {
        given: true,
        scope,
        text,
        version,
        at,
    };
    world.store.record_consent(&consent).unwrap();
    let project = Some("/p".to_owned());
    world
        .store
        .set_switch(&Switch {
            project,
            tracked: false,
            at,
        })
        .unwrap();
    world
        .store
        .forget(
            &Selection {
                sessions: vec!["s00".into()],
                ..Selection::default()
            },
            at,
            false,
        )
        .unwrap();
    world.store.finish().unwrap();
    let path = world.store.path().to_path_buf();
    drop(world.store);
    (world.folder, path)
}

fn overwrite(path: &Path, at: usize, with: &[u8]) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at..at + with.len()].copy_from_slice(with);
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_file_that_is_not_as_we_left_it_is_named_with_the_next_command_and_left_alone() {
    let (folder, path) = full();
    let whole = fs::read(&path).unwrap();
    let cases: [(&str, Vec<u8>); 6] = [
        ("is empty", Vec::new()),
        ("is not a store", b"short".to_vec()),
        ("is not a store", vec![b'x'; 20_000]),
        ("is cut short", whole[..whole.len() / 2].to_vec()),
        ("is cut short", whole[..whole.len() - 1].to_vec()),
        (
            "is damaged",
            [&whole[..100], &vec![0xff; whole.len() - 100]].concat(),
        ),
    ];
    for (what, bytes) in cases {
        let path = folder.path().join("other.db");
        fs::write(&path, &bytes).unwrap();
        for access in [Access::ReadOnly, Access::ReadWrite] {
            let error = Store::open(&path, access).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Store);
            assert!(error.message.contains(what), "{what}: {error}");
            assert!(error.message.contains("other.db"), "{error}");
            assert_eq!(error.hint.as_deref(), Some("sessionmill doctor --repair"));
        }
        assert!(
            fs::read(&path).unwrap() == bytes,
            "{what}: it was written to"
        );
    }
    assert_eq!(DatabaseState::of(&path), Ok(DatabaseState::Current));
}

#[test]
fn a_store_whose_log_was_not_folded_in_is_not_cut_short() {
    let (folder, path) = full();
    let mut store = Store::open(&path, Access::ReadWrite).unwrap();
    let texts = vec!["more and more words ".repeat(2_000); 20];
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let commit = Prepared::new(log("late", "/home/u/late", &texts));
    store.commit(&[commit], Time(1), "g").unwrap();
    // As a killed run leaves it: file, log and marks.
    let copy = folder.path().join("copy.db");
    for suffix in ["", "-wal"] {
        let name = |path: &Path| format!("{}{suffix}", path.display());
        fs::copy(name(&path), name(&copy)).unwrap();
    }
    assert_eq!(DatabaseState::of(&copy), Ok(DatabaseState::Current));
    let copied = Store::open(&copy, Access::ReadWrite).unwrap();
    assert_eq!(copied.episodes("late").unwrap().len(), 20);
}

#[test]
fn a_new_store_appears_whole_and_what_a_crash_left_of_one_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.db");
    fs::write(folder.path().join("s.db.new"), "half a store").unwrap();
    fs::write(folder.path().join("s.db.new-wal"), "half a log").unwrap();
    drop(Store::open(&path, Access::ReadWrite).unwrap());
    let names: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(names.len(), 1, "{names:?}");
    assert!(path.metadata().unwrap().len() > 0);
}

#[test]
fn the_index_is_held_against_the_episodes_and_made_again_from_their_texts() {
    let (_folder, path) = full();
    let mut store = Store::open(&path, Access::ReadWrite).unwrap();
    assert_eq!(store.health(), Ok(Health::default()));
    let dump = store.dump().unwrap();
    store
        .db
        .execute("DELETE FROM words WHERE rowid % 3 = 0", [])
        .unwrap();
    let sick = store.health().unwrap();
    assert!(sick.index_is_out_of_step() && sick.faults == 0, "{sick:?}");
    assert_eq!(store.rebuild_index(), Ok(78));
    assert_eq!(store.health(), Ok(Health::default()));
    assert_eq!(store.dump().unwrap(), dump);
}

/// Salvages the file at `path` and gives the new store with the number of lost episodes.
fn salvaged(path: &Path) -> (Store, u64) {
    let before = fs::read(path).unwrap();
    let salvage = Salvage::of(path, "g", &|_| ()).unwrap();
    let (aside, lost) = salvage.finish("now").unwrap();
    let lost = lost.episodes.values().sum();
    assert!(
        fs::read(&aside).unwrap() == before,
        "the damaged file is as it was"
    );
    let store = Store::open(path, Access::ReadWrite).unwrap();
    assert_eq!(store.health(), Ok(Health::default()));
    fs::remove_file(aside).unwrap();
    (store, lost)
}

#[test]
fn nothing_is_lost_of_a_file_that_is_sound() {
    let (_folder, path) = full();
    let dump = Store::open(&path, Access::ReadOnly)
        .unwrap()
        .dump()
        .unwrap();
    let (store, lost) = salvaged(&path);
    assert_eq!((store.dump().unwrap(), lost), (dump, 0));
}

#[test]
fn whichever_page_is_destroyed_all_others_are_kept() {
    let (_folder, path) = full();
    let whole = fs::read(&path).unwrap();
    let page = usize::from(u16::from_be_bytes([whole[16], whole[17]]));
    let pages = whole.len() / page;
    assert!(pages > 30, "{pages} pages");
    let (mut found, mut worst, mut blind) = (0, 78, 0);
    for n in 1..pages {
        fs::write(&path, &whole).unwrap();
        overwrite(&path, n * page, &vec![0xa5; page]);
        let store = Store::open(&path, Access::ReadOnly);
        let sound = store.is_ok_and(|store| store.health() == Ok(Health::default()));
        found += usize::from(!sound);
        let (store, _) = salvaged(&path);
        let status = store.status().unwrap();
        if status.files.is_empty() && status.forgotten == 0 {
            // The schema was on it: without a map there is nothing to go by.
            blind += 1;
            continue;
        }
        let (consents, forgotten) = (store.consents().unwrap().len(), status.forgotten);
        assert!(
            consents == 1 || forgotten == 1,
            "page {n}: both can't be on it"
        );
        // Only the page in the middle of a tree carries more than its own rows.
        worst = worst.min(status.sealed + status.open);
    }
    assert!(found >= pages - 3, "{found} of {pages} faults were found");
    assert!(blind <= 3, "{blind} pages took everything with them");
    assert!(worst < 78, "no page held an episode");
}

#[test]
fn a_file_that_lost_its_end_gives_what_is_before_it() {
    let (_folder, path) = full();
    let whole = fs::read(&path).unwrap();
    let page = usize::from(u16::from_be_bytes([whole[16], whole[17]]));
    for pages in 1..=4 {
        fs::write(&path, &whole[..whole.len() - pages * page]).unwrap();
        let (store, _) = salvaged(&path);
        assert_eq!(store.consents().unwrap().len(), 1);
        let kept = store.status().unwrap();
        assert!(pages > 1 || kept.sealed > 0, "{pages} pages: {kept:?}");
    }
}

#[test]
fn a_page_that_is_lost_is_written_again_and_one_that_is_not_stays() {
    let (_folder, path) = full();
    let mut store = Store::open(&path, Access::ReadWrite).unwrap();
    let resting = Resting {
        now: Time(i64::MAX),
        settled_ms: 0,
        pending_ms: 0,
    };
    let waiting = |store: &Store| store.unsummarised(resting).unwrap();
    let page = |session: &String| {
        let text = format!("what {session} came to");
        let episode = Episode {
            id: SummaryUpdate::id(session),
            source: EpisodeSource::SessionSummary,
            ..episode(session, 0, &text)
        };
        SummaryUpdate::new(session, "g", "v", episode)
    };
    let pages: Vec<SummaryUpdate> = waiting(&store).iter().map(page).collect();
    store.put_summaries(&pages, Time(5)).unwrap();
    assert!(waiting(&store).is_empty() && pages.len() > 2);
    store.sink("vault", "/vault", Time(5)).unwrap();
    store.tamper(
        "UPDATE delivery SET state = 'seen'
         WHERE id IN (SELECT id FROM episode WHERE source = 'session_summary')",
    );
    let receipts = |store: &Store| -> usize {
        let sql = "SELECT count(*) FROM delivery WHERE state = 'seen'";
        store.db.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    store.tamper(
        "DELETE FROM body WHERE episode = (SELECT e.n FROM episode e JOIN session s
             ON s.n = e.session WHERE e.source = 'session_summary' AND s.id = 's01')",
    );
    store.tamper(
        "UPDATE telling SET (state, summary) = ('told', x'00')
         WHERE session = (SELECT n FROM session WHERE id = 's02')",
    );
    assert_eq!(store.llm_summary("s02"), Ok(None));
    assert!(crate::store::passed_over().is_some());
    store.finish().unwrap();
    drop(store);
    let (store, lost) = salvaged(&path);
    let ids = waiting(&store);
    assert_eq!(ids, ["s01"]);
    assert_eq!(lost, 0, "it is written again");
    assert_eq!(receipts(&store), pages.len(), "and not sent again");
    assert!(store.summary("s01").unwrap().is_none() && store.summary("s03").unwrap().is_some());
    assert_eq!(store.llm_summary("s02").unwrap(), None);
    assert!(store.llm_summary("s03").unwrap().is_some());
}

/// What a page becomes.
type Broken = fn(&mut [u8], usize, usize);

#[test]
fn reading_a_damaged_file_costs_what_its_size_allows() {
    let (_folder, path) = full();
    let whole = fs::read(&path).unwrap();
    let page = usize::from(u16::from_be_bytes([whole[16], whole[17]]));
    let pages = whole.len() / page;
    let read = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let told = std::cell::Cell::new(0);
        let salvage = Salvage::of(&path, "g", &|bytes| told.set(told.get() + bytes)).unwrap();
        let salvaged = salvage.salvaged.clone();
        assert!(
            told.get() <= 3 * 40 * (bytes.len() as u64),
            "told {}",
            told.get()
        );
        salvage.discard().unwrap();
        salvaged
    };
    let sound = read(&whole);
    assert!(sound.steps > 500 && sound.holes.is_empty(), "{sound:?}");
    let ways: [Broken; 3] = [
        |bytes, page, n| bytes[n * page..(n + 1) * page].fill(0),
        // rows out of order: another page's in this one's place
        |bytes, page, n| {
            let other = 1 + n * 7 % (bytes.len() / page - 1);
            bytes.copy_within(other * page..(other + 1) * page, n * page);
        },
        // cells that are none, in any order
        |bytes, page, n| bytes[n * page + 8..n * page + 64].reverse(),
    ];
    for (way, every) in ways
        .into_iter()
        .flat_map(|way| [2, 5, 18].map(|every| (way, every)))
    {
        let mut bytes = whole.clone();
        (1..pages)
            .step_by(every)
            .for_each(|n| way(&mut bytes, page, n));
        let salvaged = read(&bytes);
        let holes: u64 = salvaged.holes.values().sum();
        // rows there and back and once more, and some hundred probes for each hole
        let allowed = 3 * sound.steps + 500 * (holes + 1);
        assert!(salvaged.steps <= allowed, "{} of {allowed}", salvaged.steps);
        assert!(!path.with_extension("db.new").exists());
    }
}
