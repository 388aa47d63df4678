//! Makes one whole of what was read out of a damaged file: rows that readers would stumble over go, rows that
//! others name and that could not be read get stand-ins. Knows what names what; the next telling of a log
//! replaces stand-ins, and an episode whose log is gone stays findable with them.

use crate::model::ledger::Ledger;
use crate::model::resume_state::ResumeState;
use crate::model::session::SessionFacts;
use crate::store::compression::{Unpacked, pack_json};
use crate::store::error::is_damage;
use crate::store::ingest::files;
use crate::store::ingest::prepare::{NO_TIME, revision_of, tie_name};
use crate::store::ingest::sessions::refresh;
use crate::store::removal::{remove, remove_summary};
use crate::store::search::{episodes, sessions};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, Row, params};
use std::collections::BTreeMap;

/// Reads one row as readers do.
type Check = fn(&Connection, i64) -> rusqlite::Result<()>;

const CHECKS: [(&str, Check); 3] = [
    ("session", sessions::check),
    ("file", files::check),
    ("episode", episodes::check),
];

/// Puts stand-ins in, and takes rows out that can't be read as what they are; gives how many, by table.
/// `group`: what the group of an episode is called whose own name could not be read, where no other is known.
pub(super) fn make_whole(
    db: &Connection,
    group: &str,
) -> rusqlite::Result<Vec<(&'static str, u64)>> {
    // what is taken out here is not what somebody wanted gone: sinks keep it
    let triggers = DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER;
    db.set_db_config(triggers, false)?;
    stand_in(db, group)?;
    let mut unfit = Vec::new();
    tie_again(db)?;
    for (table, check) in CHECKS {
        let all: Vec<i64> = db
            .prepare(&format!("SELECT n FROM {table}"))?
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let mut gone = 0;
        for n in all {
            match check(db, n) {
                Err(error) if is_damage(&error) => {
                    db.execute(&format!("DELETE FROM {table} WHERE n = ?1"), [n])?;
                    gone += 1;
                }
                other => other?,
            }
        }
        if gone > 0 {
            unfit.push((table, gone));
            stand_in(db, group)?;
        }
    }
    db.set_db_config(triggers, true)?;
    Ok(unfit)
}

/// Names that make families stand with the files too: what else says so isn't believed.
fn tie_again(db: &Connection) -> rusqlite::Result<()> {
    let files: Vec<(i64, String)> = db
        .prepare("SELECT n, ties FROM file WHERE ties <> ''")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    db.execute("DELETE FROM tie", [])?;
    let mut insert = db.prepare("INSERT OR IGNORE INTO tie (name, file) VALUES (?1, ?2)")?;
    for (n, ties) in &files {
        for tie in ties.lines() {
            insert.execute(params![tie_name(tie), n])?;
        }
    }
    Ok(())
}

/// Takes out empty texts of episodes that had one and that no sink has: only what sinks keep is emptied here.
pub(super) fn drop_emptied(db: &Connection) -> rusqlite::Result<()> {
    let sql = "DELETE FROM body WHERE text = '' AND episode IN (
             SELECT n FROM episode e WHERE body_bytes > 0 AND NOT EXISTS (
                 SELECT 1 FROM delivery d WHERE d.id = e.id AND d.state IN ('seen', 'enriched')))";
    db.execute(sql, []).map(drop)
}

/// What an episode's row says of its text.
enum Told {
    /// The revision is that of text and row.
    Same,
    /// One of the two was changed.
    Changed,
    /// The text is not even as long: it lay in a page that is in another's place.
    Another,
}

/// Takes out texts that aren't their episodes', and notes which rows and texts don't fit each other, so that a
/// log's next telling writes them again. Gives how many were taken out. Unpacks every text.
pub(super) fn drop_foreign_texts(db: &Connection) -> rusqlite::Result<u64> {
    let mut select = db.prepare(
        "SELECT e.n, b.text, e.title, e.part, e.message_count, e.duration_minutes, e.completed_tasks,
             e.files_modified, e.valid_at, e.body_bytes, e.revision
         FROM episode e JOIN body b ON b.episode = e.n WHERE b.text <> ''",
    )?;
    let told = |row: &Row<'_>| -> rusqlite::Result<(i64, Told)> {
        let Unpacked(text) = row.get(1)?;
        let mut numbers = [NO_TIME; 6];
        for (number, column) in numbers.iter_mut().zip(3..) {
            let value: Option<i64> = row.get(column)?;
            *number = value.map_or(NO_TIME, |value| value as u64);
        }
        let title: String = row.get(2)?;
        let is_same = revision_of(&text, &title, numbers) == row.get::<_, i64>(10)?;
        let told = match is_same {
            true => Told::Same,
            false if text.len() as i64 == row.get::<_, i64>(9)? => Told::Changed,
            false => Told::Another,
        };
        Ok((row.get(0)?, told))
    };
    let all: Vec<(i64, Told)> = select
        .query_map([], told)?
        .collect::<rusqlite::Result<_>>()?;
    let mut dropped = 0;
    for (n, told) in all {
        let sql = match told {
            Told::Same => continue,
            Told::Changed => "UPDATE episode SET revision = 0 WHERE n = ?1",
            Told::Another => "DELETE FROM body WHERE episode = ?1",
        };
        dropped += u64::from(matches!(told, Told::Another));
        db.prepare_cached(sql)?.execute([n])?;
    }
    Ok(dropped)
}

/// An episode without a text gets a revision that no text has, so that its log's next telling writes it
/// again. Gives their number.
pub(super) fn without_text(db: &Connection) -> rusqlite::Result<u64> {
    let sql = "UPDATE episode SET revision = 0 WHERE n NOT IN (SELECT episode FROM body)";
    Ok(db.execute(sql, [])? as u64)
}

/// Takes out the parts of episodes whose row could not be read; gives the number of texts.
pub(super) fn drop_parts(db: &Connection) -> rusqlite::Result<u64> {
    let mut dropped = 0;
    for table in [
        "activity",
        "outline",
        "condensing",
        "condensed",
        "embedding",
        "episode_tool",
        "episode_usage",
        "episode_path",
        "body",
    ] {
        let sql = format!("DELETE FROM {table} WHERE episode NOT IN (SELECT n FROM episode)");
        dropped = db.execute(&sql, [])? as u64;
    }
    Ok(dropped)
}

/// Rows in place of those that others name and that could not be read.
fn stand_in(db: &Connection, group: &str) -> rusqlite::Result<()> {
    stand_in_for_files(db)?;
    stand_in_for_names(db, group)?;
    for sql in [
        "DELETE FROM episode_tool WHERE tool NOT IN (SELECT n FROM name)",
        "DELETE FROM episode_usage WHERE model NOT IN (SELECT n FROM name)",
        "DELETE FROM episode_path WHERE path NOT IN (SELECT n FROM name)",
        "DELETE FROM tie WHERE file NOT IN (SELECT n FROM file)",
        "DELETE FROM fold WHERE file NOT IN (SELECT n FROM file)",
        "DELETE FROM record WHERE file NOT IN (SELECT n FROM file)",
        "DELETE FROM reject WHERE file NOT IN (SELECT n FROM file)",
        "DELETE FROM unknown_kind WHERE file NOT IN (SELECT n FROM file)",
        "DELETE FROM summary WHERE file NOT IN (SELECT n FROM file)",
        "DELETE FROM telling WHERE session NOT IN (SELECT n FROM session)",
        "DELETE FROM unsummarised WHERE session NOT IN (SELECT n FROM session)",
        // a page that could not be read is written again
        "INSERT OR IGNORE INTO unsummarised (session) SELECT session FROM episode
         WHERE source = 'session' AND session NOT IN (
             SELECT session FROM episode JOIN body ON episode = n WHERE source = 'session_summary')",
    ] {
        db.execute(sql, [])?;
    }
    Ok(())
}

/// Sessions and files, with what was read of these.
fn stand_in_for_files(db: &Connection) -> rusqlite::Result<()> {
    let facts = pack_json(&SessionFacts::default());
    let state = pack_json(&(Ledger::default(), SessionFacts::default()));
    let resume_state = pack_json(&ResumeState::default());
    db.execute(
        "INSERT OR IGNORE INTO session (n, id, agent, namespace, project_path, host, file,
             standing, facts)
         SELECT DISTINCT session, 'salvaged-' || session, 'claude', '', 'salvaged', '', '', 0, ?1
         FROM (SELECT session FROM episode UNION SELECT session FROM file)",
        [&facts],
    )?;
    db.execute(
        "INSERT OR IGNORE INTO file (n, key, agent, session, size, mtime_ns, ctime_ns, device,
             inode, generation, offset, line, read_to, head_print, head_bytes, tail_print,
             content, content_to, ties)
         SELECT file, 'salvaged-' || file, 'claude', min(session), 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0,
             0, 0, 0, '' FROM episode WHERE file <> 0 GROUP BY file",
        [],
    )?;
    db.execute(
        "INSERT OR IGNORE INTO fold (file, carry, sealed, tail) SELECT n, ?1, ?2, ?2 FROM file",
        params![resume_state, state],
    )?;
    Ok(())
}

/// Names of groups become the one that most episodes have, others something that nobody takes for a name.
fn stand_in_for_names(db: &Connection, group: &str) -> rusqlite::Result<()> {
    stand_in_for_groups(db, group)?;
    db.execute(
        "INSERT OR IGNORE INTO name (n, text)
         SELECT DISTINCT made_by, 'salvaged-' || made_by FROM episode",
        [],
    )
    .map(drop)
}

/// Groups that could not be read, or that are called as what the logs tell by now.
fn stand_in_for_groups(db: &Connection, group: &str) -> rusqlite::Result<()> {
    // a group that is called as a session or a log comes of a page of those
    let lost = "graph NOT IN (SELECT n FROM name
        WHERE text NOT IN (SELECT id FROM session) AND text NOT IN (SELECT key FROM file))";
    if db
        .prepare(&format!("SELECT 1 FROM episode WHERE {lost}"))?
        .exists([])?
    {
        db.execute("INSERT OR IGNORE INTO name (text) VALUES (?1)", [group])?;
        db.execute(
            &format!(
                "UPDATE episode SET graph = coalesce(
                     (SELECT graph FROM episode WHERE NOT {lost} AND file <> 0
                      GROUP BY graph ORDER BY count(*) DESC LIMIT 1),
                     (SELECT n FROM name WHERE text = ?1)) WHERE {lost}"
            ),
            [group],
        )?;
    }
    Ok(())
}

/// A file that no log told anything of since: no log has such a time.
const UNREAD: i64 = i64::MIN;

/// How much less than it did a session's first log counts for knowing the project, so that any log of it
/// that is read counts more.
const DOUBT: i64 = 100;

/// Whatever the logs tell of sessions and files replaces what was salvaged of them.
pub(super) fn expect_logs(db: &Connection) -> rusqlite::Result<()> {
    db.execute("UPDATE file SET mtime_ns = ?1", [UNREAD])?;
    let sql = "UPDATE session SET standing = standing - ?1 WHERE standing >= 0";
    db.execute(sql, [DOUBT]).map(drop)
}

/// What neither the damaged file nor the logs told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Episodes, by the session that they were of.
    pub episodes: BTreeMap<String, u64>,
    /// Summaries that the next run writes again.
    pub summaries: u64,
}

/// Drops what has no text; says what of it is lost for good. A summary whose session is there is written again
/// by the next run, under the id that sinks have it by: what they noted of it stays. `group`: as in [`make_whole`].
pub(super) fn drop_unfounded(db: &Connection, group: &str) -> rusqlite::Result<Lost> {
    // a page of sessions or of logs in the place of one with names: which are none is known since these were read
    stand_in_for_groups(db, group)?;
    let sql = "UPDATE session SET standing = standing + ?1 WHERE standing < -1";
    db.execute(sql, [DOUBT])?;
    db.execute_batch("CREATE TEMP TABLE noted AS SELECT * FROM delivery WHERE 0")?;
    let textless: Vec<(i64, String, bool)> = db
        .prepare(
            "SELECT e.n, s.id, e.source = 'session_summary' AND EXISTS (
                 SELECT 1 FROM episode told JOIN body b ON b.episode = told.n
                 WHERE told.session = e.session AND told.source <> 'session_summary')
             FROM episode e JOIN session s ON s.n = e.session
             WHERE e.n NOT IN (SELECT episode FROM body)",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut lost = Lost::default();
    for (n, session, is_written_again) in textless {
        let of = "(SELECT id FROM episode WHERE n = ?1)";
        if is_written_again {
            let sql = format!("INSERT INTO temp.noted SELECT * FROM delivery WHERE id = {of}");
            db.prepare_cached(&sql)?.execute([n])?;
            lost.summaries += 1;
        } else {
            *lost.episodes.entry(session).or_default() += 1;
        }
        // a sink that has it keeps it: that is the only copy
        db.prepare_cached(&format!("DELETE FROM delivery WHERE id = {of}"))?
            .execute([n])?;
        remove(db, n)?;
    }
    drop_files(db)?;
    let empty: Vec<i64> = db
        .prepare(
            "SELECT n FROM session WHERE standing >= 0 AND n NOT IN (SELECT session FROM file)
             AND n NOT IN (SELECT session FROM episode WHERE source <> 'session_summary')",
        )?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for n in empty {
        remove_summary(db, n)?;
        db.execute("DELETE FROM session WHERE n = ?1", [n])?;
    }
    // a page lies where its session's first words do
    let first = "(SELECT c.file FROM episode c WHERE c.session = episode.session
             AND c.source = 'session'
         ORDER BY c.stream IS NOT NULL, c.valid_at, c.part LIMIT 1)";
    db.execute(
        &format!(
            "UPDATE episode SET file = {first}
             WHERE source = 'session_summary' AND file <> {first}"
        ),
        [],
    )?;
    db.execute(
        "DELETE FROM delivery WHERE state NOT IN ('gone', 'kept')
         AND id NOT IN (SELECT id FROM episode)",
        [],
    )?;
    db.execute("INSERT INTO delivery SELECT * FROM temp.noted", [])?;
    Ok(lost)
}

/// Drops files that own nothing and that are none: stand-ins, and rows whose name is damaged, beside the one
/// that their log was read under.
fn drop_files(db: &Connection) -> rusqlite::Result<()> {
    let none: Vec<(i64, i64)> = db
        .prepare(
            "SELECT n, session FROM file f
             WHERE n NOT IN (SELECT file FROM episode WHERE source <> 'session_summary')
             AND (key LIKE 'salvaged-%' OR mtime_ns = ?1 AND EXISTS (
                 SELECT 1 FROM file o WHERE o.mtime_ns <> ?1
                 AND (o.head_print, o.head_bytes) = (f.head_print, f.head_bytes)))",
        )?
        .query_map([UNREAD], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (n, session) in none {
        for table in ["fold", "record", "tie", "reject", "unknown_kind", "summary"] {
            db.execute(&format!("DELETE FROM {table} WHERE file = ?1"), [n])?;
        }
        db.execute("DELETE FROM file WHERE n = ?1", [n])?;
        // what it told of its session is told by another one
        refresh(db, session)?;
    }
    Ok(())
}
