//! The account of one file: what became of its lines, and what was odd.

use crate::model::checkpoint::Checkpoint;
use crate::model::ledger::{Ledger, Reject, Unknown};
use crate::model::session::SessionFacts;
use crate::model::time::Time;
use crate::store::columns::place;
use crate::store::compression::Json;
use crate::store::damaged_rows::sound_or_none;
use crate::store::error::failed;
use crate::store::{Result, Store};
use rusqlite::OptionalExtension;

/// Everything that the store can say about a file without its episodes.
#[derive(Clone, Debug, PartialEq)]
pub struct FileAccount {
    /// How far it is in the store.
    pub checkpoint: Checkpoint,
    /// Of all lines that were read: before the checkpoint and in the open tail.
    pub ledger: Ledger,
    /// Refused records, by offset.
    pub rejects: Vec<Reject>,
    /// Unknown names, with the first place of each.
    pub unknown: Vec<Unknown>,
}

impl Store {
    /// The account of the file with this key; `None` when the store doesn't know it.
    pub fn account(&self, key: &str) -> Result<Option<FileAccount>> {
        let Some(checkpoint) = self.checkpoint(key)? else {
            return Ok(None);
        };
        let read = || -> rusqlite::Result<FileAccount> {
            let n: i64 = self
                .db
                .query_row("SELECT n FROM file WHERE key = ?1", [key], |row| row.get(0))?;
            Ok(FileAccount {
                ledger: self.ledger_where("WHERE file = ?1", &[&n])?,
                rejects: self
                    .db
                    .prepare(
                        "SELECT offset, bytes, line, reason FROM reject
                         WHERE file = ?1 ORDER BY offset",
                    )?
                    .query_map([n], |row| {
                        Ok(Reject {
                            place: place(row, 0)?,
                            reason: row.get::<_, String>(3)?.into(),
                        })
                    })?
                    .collect::<rusqlite::Result<_>>()?,
                unknown: self
                    .db
                    .prepare(
                        "SELECT offset, bytes, line, kind, time FROM unknown_kind
                         WHERE file = ?1 ORDER BY kind",
                    )?
                    .query_map([n], |row| {
                        Ok(Unknown {
                            name: row.get(3)?,
                            place: place(row, 0)?,
                            time: row.get::<_, Option<i64>>(4)?.map(Time),
                        })
                    })?
                    .collect::<rusqlite::Result<_>>()?,
                checkpoint,
            })
        };
        read().map(Some).map_err(failed("reading an account"))
    }

    /// Keys of the files whose path, name or session begins or ends with what a person typed:
    /// exact matches alone when there are any, else all that fit, by key.
    pub fn files_like(&self, typed: &str) -> Result<Vec<String>> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let exact: Option<String> = self
                .db
                .query_row(
                    "SELECT key FROM file WHERE key = ?1 OR path = ?1",
                    [typed],
                    |row| row.get(0),
                )
                .optional()?;
            if let Some(key) = exact {
                return Ok(vec![key]);
            }
            self.db
                .prepare(
                    "SELECT file.key FROM file JOIN session ON session.n = file.session
                     WHERE instr(file.key, ?1) > 0 OR substr(session.id, 1, length(?1)) = ?1
                     ORDER BY file.key",
                )?
                .query_map([typed], |row| row.get(0))?
                .collect()
        };
        read().map_err(failed("looking for a file"))
    }

    /// The sum of the ledgers, sealed and tail, of the folds that `condition` picks.
    pub(crate) fn ledger_where(
        &self,
        condition: &str,
        values: &[&dyn rusqlite::ToSql],
    ) -> rusqlite::Result<Ledger> {
        type State = Json<(Ledger, SessionFacts)>;
        let mut select = self
            .db
            .prepare(&format!("SELECT sealed, tail FROM fold {condition}"))?;
        let mut rows = select.query(values)?;
        let mut sum = Ledger::default();
        while let Some(row) = rows.next()? {
            for column in 0..2 {
                if let Some(Json((ledger, _))) = sound_or_none(row.get::<_, State>(column))? {
                    sum.merge(&ledger);
                }
            }
        }
        Ok(sum)
    }
}
