//! Logs in another program's database: sessions that older versions wrote, and databases that can't be read.

use super::cases::database::{TABLES, write};
use super::home::Home;
use crate::store::{Access, execute};
use anyhow::Result;
use serde_json::json;
use std::path::PathBuf;

const SESSION: &str = "ses_0000000000000000000000old";

/// A database of a version that wrote no events.
struct Old {
    home: Home,
    path: PathBuf,
}

impl Old {
    fn new() -> Result<Old> {
        let home = Home::new(None)?;
        let path = home.put(".local/share/opencode/opencode.db", b"")?;
        let old = Old { home, path };
        let tables: Vec<(&str, Vec<String>)> = TABLES.map(|sql| (sql, Vec::new())).into();
        execute(&old.path, &tables);
        old.sql(
            "INSERT INTO session VALUES (?1, NULL, '/home/ada/shop', 'Old jars', '1.2.0', 1000, 1000)",
            &[SESSION],
        );
        Ok(old)
    }

    fn sql(&self, sql: &str, values: &[&str]) {
        let values = values.iter().map(ToString::to_string).collect();
        execute(&self.path, &[(sql, values)]);
    }

    /// Writes a message, or what is new of it.
    fn message(&self, id: &str, at: u32, data: &str) {
        let sql = "INSERT OR REPLACE INTO message VALUES (?1, ?2, CAST(?3 AS INTEGER), 0, ?4)";
        self.sql(sql, &[id, SESSION, &at.to_string(), data]);
    }

    fn part(&self, message: &str, id: &str, at: u32, data: &str) {
        let sql = "INSERT OR REPLACE INTO part VALUES (?1, ?2, ?3, 0, CAST(?4 AS INTEGER), ?5)";
        self.sql(sql, &[id, message, SESSION, &at.to_string(), data]);
    }

    fn asked(&self) {
        self.message("m1", 2_000, r#"{"role":"user","time":{"created":2000}}"#);
        self.part(
            "m1",
            "p1",
            2_001,
            r#"{"type":"text","text":"Count the jars"}"#,
        );
    }

    fn answering(&self) {
        self.message(
            "m2",
            3_000,
            r#"{"role":"assistant","modelID":"kimi","time":{"created":3000}}"#,
        );
        let half = r#"{"type":"text","text":"Seven","time":{"start":3001}}"#;
        self.part("m2", "p2", 3_001, half);
    }

    fn answered(&self) {
        let done =
            r#"{"role":"assistant","modelID":"kimi","time":{"created":3000,"completed":4000}}"#;
        self.message("m2", 3_000, done);
        let whole = r#"{"type":"text","text":"Seven jars.","time":{"start":3001,"end":3900}}"#;
        self.part("m2", "p2", 3_900, whole);
    }

    /// A newer version goes on with it, and writes events from then on.
    fn goes_on(&self) {
        self.message("m3", 5_000, r#"{"role":"user","time":{"created":5000}}"#);
        self.part(
            "m3",
            "p3",
            5_001,
            r#"{"type":"text","text":"And the lids?"}"#,
        );
        self.sql(
            "INSERT INTO event VALUES ('e', ?1, 0, 'message.updated.1', '{}')",
            &[SESSION],
        );
        self.sql(
            "UPDATE session SET time_updated = 5000, title = 'Jars and lids'",
            &[],
        );
    }

    fn text(&self) -> Result<String> {
        let store = self.home.store(Access::ReadOnly)?;
        let texts = store.episodes(SESSION)?.into_iter();
        Ok(texts.map(|found| found.episode.text).collect())
    }
}

#[test]
fn a_session_without_its_first_events_is_told_by_its_messages() -> Result<()> {
    let (growing, at_once) = (Old::new()?, Old::new()?);
    growing.asked();
    growing.answering();
    growing.home.run()?;
    let text = growing.text()?;
    assert!(
        text.contains("Count the jars") && !text.contains("Seven"),
        "{text}"
    );
    growing.answered();
    growing.home.run()?;
    assert!(growing.text()?.contains("Agent: Seven jars."));
    growing.goes_on();
    growing.home.run()?;
    let again = growing.home.run()?;
    assert_eq!(
        (again.files_read, again.bytes_read),
        (0, 0),
        "nothing is new"
    );
    at_once.asked();
    at_once.answered();
    at_once.goes_on();
    at_once.home.run()?;
    assert_eq!(growing.text()?, at_once.text()?);
    assert!(growing.text()?.contains("User: And the lids?"));
    let rows = growing
        .home
        .store(Access::ReadOnly)?
        .sessions(&Default::default())?;
    assert_eq!(rows[0].title.as_deref(), Some("Jars and lids"));
    Ok(())
}

#[test]
fn a_database_that_is_none_is_a_problem_and_others_are_read() -> Result<()> {
    let old = Old::new()?;
    old.asked();
    let broken = old
        .home
        .put(".local/share/opencode/opencode-dev.db", b"no database")?;
    let report = old.home.run()?;
    assert!(old.text()?.contains("Count the jars"));
    let named = format!("{:?}", report.problems);
    assert!(named.contains(&*broken.to_string_lossy()), "{named}");
    Ok(())
}

#[test]
fn a_session_that_is_deleted_keeps_its_episodes() -> Result<()> {
    let old = Old::new()?;
    old.asked();
    old.home.run()?;
    old.sql("DELETE FROM session", &[]);
    let report = old.home.run()?;
    assert_eq!(report.files_vanished, 1);
    assert!(old.text()?.contains("Count the jars"));
    Ok(())
}

const LOG: &str = "ses_0000000000000000000000new";

/// Events of a session with one turn.
fn events() -> String {
    let event = |kind: &str, data: serde_json::Value| {
        json!({"type": format!("{kind}.1"), "data": data}).to_string() + "\n"
    };
    let info = |info| event("message.updated", json!({"info": info}));
    let part = |part| event("message.part.updated", json!({"part": part}));
    [
        event(
            "session.created",
            json!({"info": {"directory": "/home/ada/shop", "time": {"created": 1000}}}),
        ),
        info(json!({"id": "m1", "role": "user", "time": {"created": 2000}})),
        part(json!({"messageID": "m1", "type": "text", "text": "Count the jars"})),
        info(json!({"id": "m2", "role": "assistant", "time": {"created": 3000}})),
        part(
            json!({"messageID": "m2", "type": "text", "text": "Seven jars.",
            "time": {"start": 3001, "end": 3900}}),
        ),
    ]
    .concat()
}

fn texts(home: &Home) -> Result<Vec<String>> {
    let store = home.store(Access::ReadOnly)?;
    let texts = store.episodes(LOG)?.into_iter();
    Ok(texts.map(|found| found.episode.text).collect())
}

#[test]
fn a_database_that_is_copied_is_told_once() -> Result<()> {
    let home = Home::new(None)?;
    let path = home.put(".local/share/opencode/opencode.db", b"")?;
    write(&path, LOG, events().as_bytes())?;
    home.run()?;
    let before = texts(&home)?;
    std::fs::copy(&path, path.with_file_name("opencode-copy.db"))?;
    home.run()?;
    assert_eq!(texts(&home)?, before);
    let all = before.concat();
    assert_eq!(all.matches("Count the jars").count(), 1, "{all}");
    assert_eq!(all.matches("Seven jars.").count(), 1, "{all}");
    Ok(())
}

#[test]
fn what_is_edited_replaces_what_was_told() -> Result<()> {
    let home = Home::new(None)?;
    let path = home.put(".local/share/opencode/opencode.db", b"")?;
    write(&path, LOG, events().as_bytes())?;
    home.run()?;
    let edit = "UPDATE event SET data = replace(data, 'Seven jars', 'Eight jars')";
    let seen = "UPDATE session SET time_updated = 9000";
    execute(&path, &[(edit, Vec::new()), (seen, Vec::new())]);
    home.run()?;
    let all = texts(&home)?.concat();
    assert!(
        all.contains("Agent: Eight jars.") && !all.contains("Seven"),
        "{all}"
    );
    assert_eq!(all.matches("Count the jars").count(), 1, "{all}");
    Ok(())
}

#[test]
fn a_database_that_moves_is_the_same_one() -> Result<()> {
    let home = Home::new(None)?;
    let path = home.put(".local/share/opencode/opencode.db", b"")?;
    write(&path, LOG, events().as_bytes())?;
    home.run()?;
    let before = texts(&home)?;
    std::fs::rename(&path, path.with_file_name("opencode-next.db"))?;
    let moved = home.run()?;
    assert_eq!((moved.files_moved, moved.files_vanished), (1, 0));
    assert_eq!(texts(&home)?, before);
    Ok(())
}
