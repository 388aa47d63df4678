//! Sessions that share a history, as their logs' rows tell: which of them was forked from which. Costs
//! a look-up for each session that is stored, and reading what the logs of such sessions say.

use crate::model::fork::{Course, KIN_MAX, Kin, origin};
use crate::model::ledger::Ledger;
use crate::model::session::SessionFacts;
use crate::store::compression::Json;
use crate::store::damaged_rows::sound_or_none;
use crate::store::ingest::prepare::tie_name;
use rusqlite::{Connection, params};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};

/// By `session.n`, of these sessions and of all that share a history with them.
pub(crate) type Origins = BTreeMap<i64, Option<String>>;

/// The sessions that these and their kin were forked from, as far as records tell.
pub(crate) fn origins(db: &Connection, sessions: &BTreeSet<i64>) -> rusqlite::Result<Origins> {
    let mut origins = Origins::new();
    for session in sessions {
        if origins.contains_key(session) {
            continue;
        }
        let family = family(db, *session)?;
        if family.len() == 1 || family.len() > KIN_MAX {
            origins.insert(*session, None);
            continue;
        }
        let kin = family.iter().map(|n| one(db, *n));
        let kin: Vec<Kin> = kin.collect::<rusqlite::Result<_>>()?;
        let each = family.iter().enumerate();
        origins.extend(each.map(|(nth, n)| (*n, origin(&kin, nth))));
    }
    Ok(origins)
}

/// A session, and those with a main log that begins with the same record as one of its, and so on;
/// more than [`KIN_MAX`] are as good as all.
fn family(db: &Connection, session: i64) -> rusqlite::Result<BTreeSet<i64>> {
    let (mut found, mut waiting) = (BTreeSet::from([session]), vec![session]);
    while let Some(next) = waiting.pop().filter(|_| found.len() <= KIN_MAX) {
        for other in begin_alike(db, next)? {
            if found.insert(other) {
                waiting.push(other);
            }
        }
    }
    Ok(found)
}

/// The other sessions with a main log that begins with the same record as one of this session's.
fn begin_alike(db: &Connection, session: i64) -> rusqlite::Result<BTreeSet<i64>> {
    let mut names = BTreeSet::new();
    let mut select =
        db.prepare_cached("SELECT ties FROM file WHERE session = ?1 AND stream IS NULL")?;
    let mut rows = select.query([session])?;
    while let Some(row) = rows.next()? {
        let ties = row.get_ref(0)?.as_str()?.lines();
        let records = ties.filter(|tie| tie.starts_with("uuid:"));
        names.extend(records.map(tie_name));
    }
    let mut found = BTreeSet::new();
    let mut select = db.prepare_cached(
        "SELECT file.session FROM tie JOIN file ON file.n = tie.file
         WHERE tie.name = ?1 AND file.stream IS NULL AND file.session <> ?2",
    )?;
    for name in names {
        let mut rows = select.query(params![name, session])?;
        while let Some(row) = rows.next()? {
            found.insert(row.get(0)?);
        }
    }
    Ok(found)
}

/// What a session's main logs say, the one that began first before the others.
fn one(db: &Connection, session: i64) -> rusqlite::Result<Kin> {
    let id = db
        .prepare_cached("SELECT id FROM session WHERE n = ?1")?
        .query_row([session], |row| row.get(0))?;
    let mut logs = Vec::new();
    let mut select = db.prepare_cached(
        "SELECT sealed, tail, key FROM fold JOIN file ON file.n = fold.file
         WHERE file.session = ?1 AND file.stream IS NULL",
    )?;
    let mut rows = select.query([session])?;
    while let Some(row) = rows.next()? {
        let mut facts = SessionFacts::default();
        for column in 0..2 {
            let told = row.get::<_, Json<(Ledger, SessionFacts)>>(column);
            if let Some(Json((_, told))) = sound_or_none(told)? {
                facts.merge(&told);
            }
        }
        logs.push((facts.course, facts.forked_from, row.get::<_, String>(2)?));
    }
    logs.sort_by(|a, b| (a.0.begun, &a.2).cmp(&(b.0.begun, &b.2)));
    let (mut met, mut whole, mut from) = (FxHashSet::default(), Course::default(), None);
    for (mut course, stated, _) in logs {
        course
            .turns
            .retain(|turn| turn.id == 0 || met.insert(turn.id));
        whole.merge(&course);
        from = from.or(stated);
    }
    Ok(Kin::new(id, from, whole))
}
