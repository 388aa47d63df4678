//! A foreign database in each of the states in which its owner leaves it.

use super::*;
use std::collections::BTreeMap;

static TABLES: Tables = Tables {
    is_database: |name| name == "notes.db",
    logs: &[
        "SELECT book, 0, book, count(*), max(at), 0 FROM page GROUP BY book",
        "SELECT book, 0, book, count(*), max(at), 0 FROM note GROUP BY book",
    ],
    rows: &["SELECT 0, rowid FROM note WHERE book = ?1 ORDER BY at"],
    lines: &[
        "SELECT '{\"text\":' || json_quote(text) || ',' || char(10) || '\"at\":' || at || '}' FROM note WHERE rowid = ?1",
    ],
};

const BEGUN: &str = "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
    CREATE TABLE note (book TEXT, at INTEGER, text TEXT);
    INSERT INTO note VALUES ('a', 1, 'one'), ('b', 2, 'two'), ('a', 3, 'three');";

/// What another program does to a database of its own, in one transaction.
pub(crate) fn execute(path: &Path, statements: &[(&str, Vec<String>)]) {
    let mut db = Connection::open(path).unwrap();
    db.pragma_update(None, "journal_mode", "WAL").unwrap();
    let transaction = db.transaction().unwrap();
    for (sql, values) in statements {
        let values = rusqlite::params_from_iter(values);
        transaction.execute(sql, values).unwrap();
    }
    transaction.commit().unwrap();
}

/// Name, bytes and time of all files in a folder.
fn files(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
    let all = fs::read_dir(folder).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        let written = fs::metadata(&path).unwrap().modified().unwrap();
        (path.clone(), (fs::read(&path).unwrap(), written))
    });
    all.collect()
}

fn told(path: &Path) -> Vec<(String, String)> {
    let database = ForeignDatabase::open(path, &TABLES).unwrap();
    let logs = database.logs().unwrap().into_iter().map(|log| {
        let mut text = String::new();
        log.inside
            .open()
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        (log.name, text)
    });
    logs.collect()
}

fn wants() -> Vec<(String, String)> {
    let log = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    vec![
        log(
            "a",
            "{\"text\":\"one\", \"at\":1}\n{\"text\":\"three\", \"at\":3}\n",
        ),
        log("b", "{\"text\":\"two\", \"at\":2}\n"),
    ]
}

/// The database and its log as a program that was killed leaves them.
fn killed(folder: &Path, with_index: bool) -> PathBuf {
    let (made, path) = (tempfile::tempdir().unwrap(), folder.join("notes.db"));
    let source = made.path().join("notes.db");
    let db = Connection::open(&source).unwrap();
    db.execute_batch(BEGUN).unwrap();
    for end in ["", "-wal", "-shm"] {
        if with_index || end != "-shm" {
            fs::copy(beside(&source, end), beside(&path, end)).unwrap();
        }
    }
    drop(db);
    path
}

#[test]
fn what_its_owner_left_is_read_and_not_touched() {
    for with_index in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let path = killed(folder.path(), with_index);
        assert!(fs::metadata(beside(&path, "-wal")).unwrap().len() > 0);
        let before = files(folder.path());
        assert_eq!(told(&path), wants(), "with an index: {with_index}");
        assert!(
            files(folder.path()) == before,
            "with an index: {with_index}"
        );
    }
}

#[test]
fn a_database_that_was_closed_is_read_and_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.db");
    let db = Connection::open(&path).unwrap();
    db.execute_batch(BEGUN).unwrap();
    drop(db);
    let before = files(folder.path());
    assert_eq!(before.len(), 1);
    assert_eq!(told(&path), wants());
    assert!(files(folder.path()) == before);
}

#[test]
fn what_is_written_while_it_is_read_is_seen_the_next_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.db");
    let owner = Connection::open(&path).unwrap();
    owner.execute_batch(BEGUN).unwrap();
    let database = ForeignDatabase::open(&path, &TABLES).unwrap();
    let logs = database.logs().unwrap();
    owner
        .execute("INSERT INTO note VALUES ('a', 4, 'four')", [])
        .unwrap();
    let mut text = String::new();
    logs[0]
        .inside
        .open()
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(text, wants()[0].1);
    drop((database, logs));
    assert!(
        told(&path)[0]
            .1
            .ends_with("{\"text\":\"four\", \"at\":4}\n")
    );
}

#[test]
fn a_torn_log_gives_what_was_committed() {
    let folder = tempfile::tempdir().unwrap();
    let path = killed(folder.path(), false);
    let (database, log) = (
        fs::read(&path).unwrap(),
        fs::read(beside(&path, "-wal")).unwrap(),
    );
    let notes = |log: &[u8]| -> Option<i64> {
        let whole = write_ahead::applied(database.clone(), log, IN_MEMORY_MAX)?;
        let mut db = Connection::open_in_memory().unwrap();
        let bytes = whole.len();
        db.deserialize_read_exact(MAIN_DB, whole.as_slice(), bytes, true)
            .ok()?;
        db.query_row("SELECT count(*) FROM note", [], |row| row.get(0))
            .ok()
    };
    assert_eq!(notes(&log), Some(3));
    assert_eq!(
        notes(&log[..log.len() - 1]),
        Some(0),
        "the table is there, its rows aren't"
    );
    let mut flipped = log.clone();
    *flipped.last_mut().unwrap() ^= 1;
    assert_eq!(notes(&flipped), Some(0));
    assert_eq!(
        write_ahead::applied(database, b"something else", IN_MEMORY_MAX),
        None
    );
}

#[test]
fn other_tables_are_a_problem_and_none_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.db");
    let logs = || ForeignDatabase::open(&path, &TABLES).unwrap().logs();
    fs::write(&path, "").unwrap();
    assert!(logs().unwrap().is_empty(), "its owner begins");
    let owner = Connection::open(&path).unwrap();
    owner.execute_batch("CREATE TABLE migration(id)").unwrap();
    assert!(logs().unwrap().is_empty(), "it makes its tables next");
    owner.execute_batch("CREATE TABLE other(id)").unwrap();
    let error = logs().err().unwrap();
    assert!(error.message.starts_with("no such table: "), "{error}");
}
