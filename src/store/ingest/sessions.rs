//! Sessions as their files tell them: merged anew whenever one of them says something else.

use crate::model::checkpoint::{COPY, short_id};
use crate::model::fork::Course;
use crate::model::ledger::Ledger;
use crate::model::session::{Session, SessionFacts};
use crate::store::columns::unpacked_ids;
use crate::store::compression::{Json, pack_json};
use crate::store::damaged_rows::sound_or_none;
use crate::store::ingest::{forks, records};
use crate::store::pending_tasks::{Task, after_removal, set_unsummarised};
use crate::store::removal::remove_summary;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// Adds or completes a session; gives `session.n`.
///
/// Host, namespace and project are the first ingest's, except that a log which knows the project
/// better (`standing`) corrects one that knew it worse.
pub(crate) fn upsert(db: &Connection, session: &Session, standing: u8) -> rusqlite::Result<i64> {
    let known: Option<(i64, i64)> = db
        .prepare_cached("SELECT n, standing FROM session WHERE id = ?1")?
        .query_row([&session.id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let values = params![
        session.id,
        session.agent.as_str(),
        session.namespace,
        session.project_path,
        session.cwd,
        session.file,
        standing,
        session.host,
    ];
    match known {
        None => db
            .prepare_cached(
                "INSERT INTO session (id, agent, namespace, project_path, cwd, file, standing, host,
                     facts) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, '{}')",
            )?
            .insert(values),
        Some((n, held)) if held < i64::from(standing) => {
            db.prepare_cached(
                "UPDATE session SET (agent, namespace, project_path, cwd, file, standing)
                     = (?2, ?3, ?4, ?5, ?6, ?7) WHERE id = ?1",
            )?
            .execute(&values[..7])?;
            Ok(n)
        }
        Some((n, _)) => Ok(n),
    }
}

/// Derives a session's title, times and facts from its files. A session that nothing belongs to
/// any more (its log was too short to tell whose it is) goes.
pub(crate) fn refresh(db: &Connection, session: i64) -> rusqlite::Result<()> {
    refresh_all(db, &BTreeSet::from([session]))
}

/// The same for some, and tells those that share a history with them where it came from.
pub(crate) fn refresh_all(db: &Connection, touched: &BTreeSet<i64>) -> rusqlite::Result<()> {
    for (session, origin) in forks::origins(db, touched)? {
        match touched.contains(&session) {
            true => refresh_one(db, session, origin)?,
            false => write_facts(db, session, origin)?,
        }
    }
    Ok(())
}

fn refresh_one(db: &Connection, session: i64, origin: Option<String>) -> rusqlite::Result<()> {
    let is_empty = db
        .prepare_cached(
            "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM file WHERE session = ?1) AND NOT EXISTS
                 (SELECT 1 FROM episode WHERE session = ?1 AND source = 'session')",
        )?
        .exists([session])?;
    if is_empty {
        remove_summary(db, session)?;
        return db
            .prepare_cached("DELETE FROM session WHERE n = ?1")?
            .execute([session])
            .map(drop);
    }
    set_unsummarised(db, session)?;
    write_facts(db, session, origin)
}

/// Derives what is told of a session, and writes what is new. `origin`: what it was forked from,
/// where no log of its states that.
fn write_facts(db: &Connection, session: i64, origin: Option<String>) -> rusqlite::Result<()> {
    let mut facts = merged_facts(db, session)?;
    facts.forked_from = facts.forked_from.or(origin);
    let summary: Option<String> = db
        .prepare_cached("SELECT summary FROM session WHERE n = ?1")?
        .query_row([session], |row| row.get(0))?;
    let title = facts
        .custom_title
        .as_ref()
        .or(facts.ai_title.as_ref())
        .or(summary.as_ref())
        .or(facts.first_prompt.as_ref());
    let values = params![
        session,
        title,
        facts.branch,
        facts.started.map(|t| t.0),
        facts.ended.map(|t| t.0),
        pack_json(&facts),
    ];
    // equal values are not written: a run without news must leave the file alone
    db.prepare_cached(
        "UPDATE session SET (title, branch, started, ended, facts) = (?2, ?3, ?4, ?5, ?6)
         WHERE n = ?1
             AND (title, branch, started, ended, facts) IS NOT (?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(values)?;
    Ok(())
}

/// Main logs in the order of their start, then sub-agents', whose titles and versions say
/// nothing about the session unless no main log is left.
fn merged_facts(db: &Connection, session: i64) -> rusqlite::Result<SessionFacts> {
    type State = Json<(Ledger, SessionFacts)>;
    let mut select = db.prepare_cached(
        "SELECT file.key, file.stream IS NOT NULL, sealed, tail
         FROM file JOIN fold ON fold.file = file.n WHERE file.session = ?1",
    )?;
    let mut files = select
        .query_map([session], |row| {
            let mut facts = SessionFacts::default();
            for column in 2..4 {
                if let Some(Json((_, told))) = sound_or_none(row.get::<_, State>(column))? {
                    facts.merge(&told);
                }
            }
            Ok((row.get::<_, bool>(1)?, facts, row.get::<_, String>(0)?))
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    files.sort_by(|a, b| (a.0, a.1.started, &a.2).cmp(&(b.0, b.1.started, &b.2)));
    let mut merged = SessionFacts::default();
    let mut main = false;
    for (stream, mut facts, _) in files {
        main |= !stream;
        if stream && main {
            (facts.custom_title, facts.ai_title, facts.first_prompt) = (None, None, None);
            (facts.version, facts.branch) = (None, None);
            (facts.forked_from, facts.parent) = (None, None);
        }
        facts.course = Course::default();
        merged.merge(&facts);
    }
    Ok(merged)
}

/// Gives the titles that files told by a record's id to the sessions that own the records. Reads
/// all record ids (8 bytes each), but only where that is due and a log tells such titles. Whether
/// it was due.
pub(crate) fn attribute_summaries(db: &mut Connection) -> rusqlite::Result<bool> {
    if !Task::Titles.is_due(db)? {
        return Ok(false);
    }
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if scrub_summaries(&tx)? {
        after_removal(&tx)?;
    }
    Task::Titles.clear(&tx)?;
    let texts: FxHashMap<u64, String> = tx
        .prepare_cached("SELECT leaf, text FROM summary ORDER BY leaf, text")?
        .query_map([], |row| Ok((row.get::<_, i64>(0)? as u64, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    if texts.is_empty() {
        return tx.commit().map(|()| true);
    }
    let mut titles = BTreeMap::new();
    {
        let mut select = tx.prepare_cached(
            "SELECT file.session, file.stream IS NULL, file.key, block, ids
             FROM record JOIN file ON file.n = record.file",
        )?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let ids = row.get_ref(4)?.as_blob()?;
            for (nth, id) in unpacked_ids(ids).enumerate() {
                let Some(text) = texts.get(&id) else { continue };
                let (session, main): (i64, bool) = (row.get(0)?, row.get(1)?);
                let (key, block): (String, i64) = (row.get(2)?, row.get(3)?);
                // sub-agents' count least
                let place = (session, main, Reverse(key), block == 0, block, nth);
                titles.insert(place, text);
            }
        }
    }
    // The last title of a session's own last record stands.
    let last = titles
        .into_iter()
        .map(|((session, ..), text)| (session, text));
    for (session, text) in BTreeMap::from_iter(last) {
        let changed = tx
            .prepare_cached("UPDATE session SET summary = ?2 WHERE n = ?1 AND summary IS NOT ?2")?
            .execute(params![session, text])?;
        if changed > 0 {
            refresh(&tx, session)?;
        }
    }
    tx.commit().map(|()| true)
}

/// Takes out the titles that other sessions' logs give to records of forgotten ones; whether there
/// were any. Reads record ids of forgotten sessions only, and only where logs tell such titles.
pub(crate) fn scrub_summaries(tx: &Connection) -> rusqlite::Result<bool> {
    let summaries: Vec<(i64, i64)> = tx
        .prepare_cached("SELECT leaf, file FROM summary")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    if summaries.is_empty() {
        return Ok(false);
    }
    let forgotten: Vec<i64> = tx
        .prepare_cached("SELECT n FROM session WHERE id IN (SELECT session FROM forgotten)")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut theirs = FxHashSet::default();
    for session in forgotten {
        let ids = records::of_session(tx, session)?;
        theirs.extend(ids.into_iter().filter(|id| id & COPY == 0));
    }
    let files: BTreeSet<i64> = summaries
        .iter()
        .filter(|(leaf, _)| theirs.contains(&(*leaf as u64)))
        .map(|(_, file)| *file)
        .collect();
    for file in &files {
        scrub_file(tx, *file, &theirs)?;
    }
    Ok(!files.is_empty())
}

/// The same for what one file tells.
fn scrub_file(tx: &Connection, file: i64, theirs: &FxHashSet<u64>) -> rusqlite::Result<()> {
    type State = Json<(Ledger, SessionFacts)>;
    let read: rusqlite::Result<(i64, State, State)> = tx.query_row(
        "SELECT file.session, sealed, tail FROM fold JOIN file ON file.n = fold.file
         WHERE fold.file = ?1",
        [file],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    );
    // what can't be read tells no title either
    let Some((session, Json(mut sealed), Json(mut tail))) = sound_or_none(read)? else {
        return Ok(());
    };
    for (_, facts) in [&mut sealed, &mut tail] {
        let stays = |leaf: &Uuid| !theirs.contains(&short_id(*leaf));
        facts.summaries.retain(|(leaf, _)| stays(leaf));
    }
    tx.execute(
        "UPDATE fold SET (sealed, tail) = (?2, ?3) WHERE file = ?1",
        params![file, pack_json(&sealed), pack_json(&tail)],
    )?;
    let mut delete = tx.prepare_cached("DELETE FROM summary WHERE file = ?1 AND leaf = ?2")?;
    for leaf in theirs {
        delete.execute(params![file, *leaf as i64])?;
    }
    refresh(tx, session)
}
