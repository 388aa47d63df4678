//! Sessions that stay out: who wanted that, and how what they said goes. Knows every table that holds
//! what a session said; refuses to keep a trace of it but ids and times.
//!
//! One place removes: [`gone`]. What sinks got is asked back through `delivery`.

use crate::model::ledger::Ledger;
use crate::model::resume_state::ResumeState;
use crate::model::session::SessionFacts;
use crate::model::time::Time;
use crate::model::tombstone::{FORGOTTEN, MARKED};
use crate::store::compression::{Json, pack_json};
use crate::store::damaged_rows::sound;
use crate::store::pending_tasks::after_removal;
use crate::store::removal::{forget_memories, forget_quotes, remove, remove_summary};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::BTreeSet;

/// Sessions, as a condition on `s`, that have a log and that no tombstone keeps out.
pub(crate) const NOT_FORGOTTEN: &str =
    "s.standing >= 0 AND s.id NOT IN (SELECT session FROM forgotten)
    AND NOT EXISTS (SELECT 1 FROM forgotten_before b
        WHERE substr(s.namespace, 1, length(b.namespace)) = b.namespace
            AND (s.ended < b.before OR NOT EXISTS
                (SELECT 1 FROM episode e WHERE e.session = s.n AND e.source = 'session')))";

/// Sessions, as a condition on `s`, that have a log and of which only tombstones of times leave nothing.
pub(crate) const BY_TIME: &str = "s.standing >= 0 AND s.id NOT IN (SELECT session FROM forgotten)
    AND EXISTS (SELECT 1 FROM forgotten_before b
        WHERE substr(s.namespace, 1, length(b.namespace)) = b.namespace
            AND (s.ended < b.before OR NOT EXISTS
                (SELECT 1 FROM episode e WHERE e.session = s.n AND e.source = 'session')))";

/// What was forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Sessions that stay out from now on.
    pub sessions: u64,
    /// Episodes removed.
    pub episodes: u64,
    /// Memories removed.
    pub memories: u64,
    /// UTF-8 bytes of their texts.
    pub body_bytes: u64,
    /// Log files that are passed over from now on.
    pub files: u64,
    /// Ids of the sessions that lose words.
    pub touched: BTreeSet<String>,
    /// Sessions that hold records which the forgotten ones have copies of, and that stay.
    pub kin: BTreeSet<String>,
}

impl Forgotten {
    /// No words were there; logs that are passed over may be.
    pub fn is_all_gone(&self) -> bool {
        self.sessions + self.episodes + self.memories == 0
    }

    /// Nothing of it was there.
    pub fn is_nothing(&self) -> bool {
        self.sessions + self.episodes + self.memories + self.files == 0
    }
}

/// Who wanted a session gone.
const BY_MARKER: &str = "marker";
pub(crate) const ASKED: &str = "asked";

/// Why a session's lines stay out, as its ledgers say it; `None`: they don't.
pub(crate) fn reason(db: &Connection, session: &str) -> rusqlite::Result<Option<&'static str>> {
    let reason: Option<String> = db
        .prepare_cached("SELECT reason FROM forgotten WHERE session = ?1")?
        .query_row([session], |row| row.get(0))
        .optional()?;
    Ok(reason.map(|reason| ledger_reason(&reason)))
}

fn ledger_reason(reason: &str) -> &'static str {
    match reason {
        BY_MARKER => MARKED,
        _ => FORGOTTEN,
    }
}

/// A session's own words keep it out: what is stored of it goes, once.
pub(crate) fn keep_out_marked(tx: &Connection, session: &str, at: Time) -> rusqlite::Result<()> {
    if reason(tx, session)?.is_some() {
        return Ok(());
    }
    let mut forgotten = Forgotten::default();
    keep_out(tx, session, BY_MARKER, at, &mut forgotten)
}

/// Makes the tombstone of a session and removes what it said.
pub(crate) fn keep_out(
    tx: &Connection,
    session: &str,
    reason: &str,
    at: Time,
    forgotten: &mut Forgotten,
) -> rusqlite::Result<()> {
    let Some(n) = number(tx, session)? else {
        return Ok(());
    };
    forgotten.sessions += tx.execute(
        "INSERT OR IGNORE INTO forgotten (session, reason, at) VALUES (?1, ?2, ?3)",
        params![session, reason, at.0],
    )? as u64;
    let episodes = tx
        .prepare("SELECT n, body_bytes FROM episode WHERE session = ?1 AND source = 'session'")?
        .query_map([n], doomed)?
        .collect::<rusqlite::Result<Vec<Doomed>>>()?;
    if !episodes.is_empty() {
        forgotten.touched.insert(session.to_owned());
    }
    gone(tx, &episodes, forgotten)?;
    let its = "m.session = ?1 AND m.origin = 'directive'";
    forgotten.memories += forget_memories(tx, its, &[&session])?;
    forget_quotes(tx, session)?;
    remove_summary(tx, n)?;
    let files = "SELECT count(*) FROM file WHERE session = ?1";
    forgotten.files += tx.query_row(files, [n], |row| row.get::<_, u64>(0))?;
    clear_files(tx, n, Some(ledger_reason(reason)), &|_| {
        ResumeState::default()
    })?;
    tx.execute(
        "UPDATE session SET summary = NULL, title = NULL, branch = NULL, facts = ?2 WHERE n = ?1",
        params![n, pack_json(&SessionFacts::default())],
    )?;
    after_removal(tx)
}

/// An episode that goes: `n`, bytes of text.
pub(crate) type Doomed = (i64, u64);

pub(crate) fn doomed(row: &rusqlite::Row<'_>) -> rusqlite::Result<Doomed> {
    Ok((row.get(0)?, row.get(1)?))
}

/// The one place where episodes go because somebody wants them gone: whatever else comes to hold
/// what an episode says is emptied here too.
pub(crate) fn gone(
    tx: &Connection,
    episodes: &[Doomed],
    forgotten: &mut Forgotten,
) -> rusqlite::Result<()> {
    for (n, bytes) in episodes {
        remove(tx, *n)?;
        forgotten.episodes += 1;
        forgotten.body_bytes += bytes;
    }
    Ok(())
}

/// Resume state and facts hold words; ledgers don't, and tell `reason` of what was kept.
pub(crate) fn clear_files(
    tx: &Connection,
    session: i64,
    reason: Option<&'static str>,
    keep: &dyn Fn(ResumeState) -> ResumeState,
) -> rusqlite::Result<()> {
    type State = Json<(Ledger, SessionFacts)>;
    type Fold = (i64, Json<ResumeState>, State, State);
    let folds: Vec<Fold> = tx
        .prepare(
            "SELECT fold.file, carry, sealed, tail FROM fold JOIN file ON file.n = fold.file
             WHERE file.session = ?1",
        )?
        .query_map([session], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })?
        .filter_map(sound)
        .collect::<rusqlite::Result<_>>()?;
    for (file, resume_state, sealed, tail) in folds {
        let without_facts = |Json((mut ledger, _)): State| {
            reason.inspect(|reason| ledger.withhold(reason));
            pack_json(&(ledger, SessionFacts::default()))
        };
        let resume_state = pack_json(&keep(resume_state.0));
        tx.execute(
            "UPDATE fold SET (carry, sealed, tail) = (?2, ?3, ?4) WHERE file = ?1",
            params![
                file,
                resume_state,
                without_facts(sealed),
                without_facts(tail)
            ],
        )?;
        tx.execute("DELETE FROM summary WHERE file = ?1", [file])?;
    }
    Ok(())
}

pub(crate) fn number(db: &Connection, session: &str) -> rusqlite::Result<Option<i64>> {
    db.prepare_cached("SELECT n FROM session WHERE id = ?1")?
        .query_row([session], |row| row.get(0))
        .optional()
}
