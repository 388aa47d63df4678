//! Opening: whose file it is, who may read it, and reading while a run writes.

use super::*;
use crate::model::error::ErrorKind;
use rusqlite::{Connection, StatementStatus};
use std::fs;

#[test]
fn an_absent_store_is_made_by_a_writer_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/home/s.db");
    let error = Store::open(&path, Access::ReadOnly).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Store);
    assert_eq!(error.hint.as_deref(), Some("sessionmill init"));
    assert!(!path.exists() && !path.parent().unwrap().exists());
    Store::open(&path, Access::ReadWrite).unwrap();
    Store::open(&path, Access::ReadOnly).unwrap();
}

#[cfg(unix)]
#[test]
fn nobody_else_may_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    let path = home.join("s.db");
    let mut store = Store::open(&path, Access::ReadWrite).unwrap();
    store
        .set_switch(&crate::store::Switch {
            project: None,
            tracked: true,
            at: Time(1),
        })
        .unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home), 0o700);
    let files: Vec<_> = fs::read_dir(&home)
        .unwrap()
        .map(|f| f.unwrap().path())
        .collect();
    assert!(files.len() >= 2, "the write-ahead log is there too");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn other_programs_files_and_newer_versions_are_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    fs::write(
        &text,
        "not a database at all, and long enough to be read as a header",
    )
    .unwrap();
    let foreign = folder.path().join("foreign.db");
    Connection::open(&foreign)
        .unwrap()
        .execute_batch("CREATE TABLE t (x)")
        .unwrap();
    let newer = folder.path().join("newer.db");
    drop(Store::open(&newer, Access::ReadWrite).unwrap());
    Connection::open(&newer)
        .unwrap()
        .pragma_update(None, "user_version", 999)
        .unwrap();
    for path in [text, foreign, newer] {
        let before = fs::read(&path).unwrap();
        for access in [Access::ReadWrite, Access::ReadOnly] {
            let error = Store::open(&path, access).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Store, "{}", path.display());
            assert!(error.hint.is_some(), "{}", path.display());
        }
        assert_eq!(fs::read(&path).unwrap(), before, "{}", path.display());
    }
}

#[test]
fn readers_see_the_last_commit_while_a_run_writes() {
    let mut world = World::new();
    world.commit(&[log("a", "/home/u/app", &["one"])]);
    let reader = Store::open(world.store.path(), Access::ReadOnly).unwrap();
    let tx = world.store.db.transaction().unwrap();
    tx.execute("DELETE FROM episode", []).unwrap();
    assert_eq!(reader.episodes("a").unwrap().len(), 1);
    tx.rollback().unwrap();
    world.commit(&[log("b", "/home/u/app", &["two"])]);
    assert_eq!(reader.sessions(&Default::default()).unwrap().len(), 2);
}

#[test]
fn a_reader_cannot_write() {
    let world = World::new();
    let mut reader = Store::open(world.store.path(), Access::ReadOnly).unwrap();
    assert!(reader.commit(&[], Time(0), "g").is_err());
    assert!(reader.forget(&Default::default(), Time(0), false).is_err());
    assert!(reader.compact().is_err());
    drop(world.folder);
}

#[test]
fn consents_and_switches_are_kept_as_given() {
    let mut world = World::new();
    let consent = crate::model::consent::Consent {
        scope: "tracking".into(),
        given: true,
        text: "I understand this tracks conversation logs".into(),
        version: "0.1.0".into(),
        at: Time(5),
    };
    world.store.record_consent(&consent).unwrap();
    let switch = |project: Option<&str>, tracked| crate::store::Switch {
        project: project.map(str::to_string),
        tracked,
        at: Time(6),
    };
    for said in [
        switch(Some("/p"), true),
        switch(None, true),
        switch(Some("/p"), false),
    ] {
        world.store.set_switch(&said).unwrap();
    }
    assert_eq!(world.store.consents(), Ok(vec![consent]));
    let wants = vec![switch(None, true), switch(Some("/p"), false)];
    assert_eq!(world.store.switches(), Ok(wants));
}

#[test]
fn the_last_reader_leaves_nothing_beside_the_store() {
    let mut world = World::new();
    world.commit(&[log("a", "/home/u/app", &["one"])]);
    // a run that was killed: its log lies beside the file
    let folder = tempfile::tempdir().unwrap();
    for suffix in ["", "-wal"] {
        let from = crate::store::schema::database_state::beside(world.store.path(), suffix);
        fs::copy(from, folder.path().join(format!("s.db{suffix}"))).unwrap();
    }
    let reader = Store::open(&folder.path().join("s.db"), Access::ReadOnly).unwrap();
    assert_eq!(reader.episodes("a").unwrap().len(), 1);
    assert!(reader.db.execute("DELETE FROM episode", []).is_err());
    drop(reader);
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn without_room_beside_it_a_store_is_read_as_it_lies() {
    let mut world = World::new();
    world.commit(&[log("a", "/home/u/app", &["one"])]);
    let path = world.folder.path().join("odd #1?%.db");
    world.store.finish().unwrap();
    fs::copy(world.store.path(), &path).unwrap();
    let db = crate::store::schema::open::open_unchanging(&path).unwrap();
    let episodes = |db: &Connection| db.query_row("SELECT count(*) FROM episode", [], |r| r.get(0));
    assert_eq!(episodes(&db), Ok(1));
    assert!(!crate::store::schema::database_state::beside(&path, "-shm").exists());
}

/// A third of the time that pages took went into planning the same statements again.
#[test]
fn a_statement_is_planned_once() {
    let world = World::new();
    let episode = "SELECT e.id FROM episode e JOIN session s ON s.n = e.session
        JOIN activity a ON a.episode = e.n WHERE e.n = ?1 AND e.source = 'session'";
    let mut select = world.store.db.prepare(episode).unwrap();
    for n in 1..5 {
        select.query([n]).unwrap().next().unwrap();
    }
    assert_eq!(select.get_status(StatementStatus::RePrepare), 0);
}
