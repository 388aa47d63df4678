//! Whether the file holds together: its pages, its tables, and the full-text index beside the
//! episodes. Knows what to compare; refuses to judge what follows from it.

use crate::store::compression::Unpacked;
use crate::store::damaged_rows::sound_or_none;
use crate::store::error::failed;
use crate::store::ingest::prepare::indexed;
use crate::store::ingest::write::index;
use crate::store::maintenance::packed_columns;
use crate::store::{Result, Store};
use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use std::collections::BTreeMap;

/// What was found wrong. All zero: the store is sound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Faults of pages and tables, at most [`FAULTS_MAX`].
    pub faults: u64,
    /// Packed values that can't be read, by table.
    pub unreadable: BTreeMap<&'static str, u64>,
    /// The full-text index contradicts itself.
    pub index_is_damaged: bool,
    /// Episodes that the full-text index doesn't have.
    pub not_indexed: u64,
    /// Entries of the index without an episode.
    pub stray: u64,
}

impl Health {
    /// Rows can't be read, whatever the index is like.
    pub fn rows_are_damaged(&self) -> bool {
        self.faults > 0 || !self.unreadable.is_empty()
    }

    /// Only the index is wrong, which is made from the texts again.
    pub fn index_is_out_of_step(&self) -> bool {
        self.index_is_damaged || self.not_indexed + self.stray > 0
    }
}

/// Faults that are counted. One is enough to act; a broken file has thousands.
const FAULTS_MAX: u32 = 100;

impl Store {
    /// Checks everything that can be checked without the logs, indexes against tables too. Reads the whole file and unpacks what is
    /// packed: some seconds per GB.
    pub fn health(&self) -> Result<Health> {
        let mut health = Health::default();
        for fault in self.faults() {
            match fault.contains("FTS5") {
                true => health.index_is_damaged = true,
                false => health.faults += 1,
            }
        }
        health.faults += self.closed_indexes() + self.miscounted_indexes();
        if health.faults == 0 {
            // The same question to a damaged index has no answer.
            let gaps = self.gaps().map_err(failed("comparing the index"));
            match gaps {
                Ok(gaps) => (health.not_indexed, health.stray) = gaps,
                Err(_) => health.index_is_damaged = true,
            }
            match packed_columns::unreadable(&self.db) {
                Ok(unreadable) => health.unreadable = unreadable,
                Err(_) => health.faults = 1,
            }
        }
        Ok(health)
    }

    /// In SQLite's words, which name pages and tables and never a value.
    fn faults(&self) -> Vec<String> {
        let check = || -> rusqlite::Result<Vec<String>> {
            self.db
                .prepare(&format!("PRAGMA integrity_check({FAULTS_MAX})"))?
                .query_map([], |row| row.get(0))?
                .collect()
        };
        let mut faults = check().unwrap_or_else(|error| vec![error.to_string()]);
        faults.retain(|said| said != "ok");
        faults
    }

    /// Indexes and tables that can't be begun: SQLite's check passes over an empty page of another kind in the
    /// place of an empty index's.
    fn closed_indexes(&self) -> u64 {
        let named = || -> rusqlite::Result<Vec<String>> {
            let sql = "SELECT 'SELECT 1 FROM \"' || tbl_name || '\" INDEXED BY \"' || name || '\"'
                     || coalesce(substr(sql, nullif(instr(sql, ' WHERE '), 0)), '')
                     || ' ORDER BY ' || (SELECT group_concat(i.name ORDER BY i.seqno)
                         FROM pragma_index_info(m.name) i WHERE i.name IS NOT NULL) || ' LIMIT 1'
                 FROM sqlite_schema m WHERE type = 'index' AND rootpage > 0
                 UNION ALL
                 SELECT 'SELECT 1 FROM \"' || name || '\" NOT INDEXED LIMIT 1'
                 FROM sqlite_schema WHERE type = 'table' AND rootpage > 0";
            let mut select = self.db.prepare(sql)?;
            select.query_map([], |row| row.get(0))?.collect()
        };
        let is_closed = |sql: &String| {
            let begun = self
                .db
                .prepare(sql)
                .and_then(|mut select| select.exists([]));
            // one that can't be asked for this way is no fault
            begun.is_err_and(|e| e.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt))
        };
        let named = named().unwrap_or_default();
        named.iter().filter(|sql| is_closed(sql)).count() as u64
    }

    /// Partial indexes with entries that no row has, or without some: SQLite's check doesn't count them.
    fn miscounted_indexes(&self) -> u64 {
        let named = || -> rusqlite::Result<Vec<String>> {
            let sql = "SELECT 'SELECT (SELECT count(*) FROM \"' || tbl_name || '\" INDEXED BY \"' || name
                     || '\"' || substr(sql, instr(sql, ' WHERE ')) || ') <> (SELECT count(*) FROM \"'
                     || tbl_name || '\" NOT INDEXED' || substr(sql, instr(sql, ' WHERE ')) || ')'
                 FROM sqlite_schema WHERE type = 'index' AND instr(sql, ' WHERE ') > 0";
            let mut select = self.db.prepare(sql)?;
            select.query_map([], |row| row.get(0))?.collect()
        };
        let differs = |sql: &String| -> rusqlite::Result<bool> {
            self.db.query_row(sql, [], |row| row.get(0))
        };
        let is_miscounted = |sql: &String| {
            differs(sql)
                .unwrap_or_else(|e| e.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt))
        };
        let named = named().unwrap_or_default();
        named.iter().filter(|sql| is_miscounted(sql)).count() as u64
    }

    /// Episodes without an entry in the index, and entries without an episode. The index holds no
    /// texts, so that SQLite's own check can't compare them.
    fn gaps(&self) -> rusqlite::Result<(u64, u64)> {
        self.db.query_row(
            "SELECT
                 (SELECT count(*) FROM episode WHERE n NOT IN (SELECT id FROM words_docsize)),
                 (SELECT count(*) FROM words_docsize WHERE id NOT IN (SELECT n FROM episode))",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
    }

    /// Makes the full-text index from the stored texts again, in one transaction; gives the number
    /// of episodes. About 30 MB of text a second.
    pub fn rebuild_index(&mut self) -> Result<u64> {
        self.writable()?;
        self.dirty = true;
        rebuild(&mut self.db).map_err(failed("making the index again"))
    }
}

#[cfg(test)]
impl Store {
    /// The number of a table's first page; for tests that damage it.
    pub(crate) fn root_page(&self, table: &str) -> usize {
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
        let page: u32 = self.db.query_row(sql, [table], |row| row.get(0)).unwrap();
        page as usize
    }
}

fn rebuild(db: &mut Connection) -> rusqlite::Result<u64> {
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    tx.execute("INSERT INTO words (words) VALUES ('delete-all')", [])?;
    let mut episodes = 0;
    {
        let mut select =
            tx.prepare("SELECT n, title, text FROM episode JOIN body ON body.episode = n")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let read = || Ok((row.get::<_, String>(1)?, row.get(2)?));
            let Some((title, Unpacked(text))) = sound_or_none(read())? else {
                continue;
            };
            let (title, words) = indexed(&title, &text);
            index(&tx, row.get(0)?, &title, &words)?;
            episodes += 1;
        }
    }
    tx.commit()?;
    Ok(episodes)
}
