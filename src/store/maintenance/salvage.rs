//! Takes what can still be read out of a damaged file into a new one, row by row. Refuses to guess values
//! that can't be read.
//!
//! What the logs can tell again is told again by the run that follows. What only the store has
//! (episodes whose logs are gone, consents, switches, what was forgotten, when an episode was first
//! stored) is why the damaged file is read at all. It is set aside under another name and never
//! deleted.

use crate::model::consent::TRACKING;
use crate::model::error::{Error, ErrorKind};
use crate::store::error::failed;
use crate::store::maintenance::salvage_reading::{Source, Table};
use crate::store::maintenance::stand_ins::{self, Lost};
use crate::store::pending_tasks::Task;
use crate::store::schema::database_state::beside;
use crate::store::schema::open::{NEW, clear};
use crate::store::{Access, DatabaseState, Result, Store};
use rusqlite::{Connection, OpenFlags, params_from_iter};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What came out of a damaged file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Salvaged {
    /// Rows that could be read, by table.
    pub rows: BTreeMap<String, u64>,
    /// Stretches of rows that could not, by table; nobody knows how many rows each had.
    pub holes: BTreeMap<String, u64>,
    /// Rows that hold something else than they should, by table: they are left out.
    pub unfit: BTreeMap<String, u64>,
    /// Episodes whose row is there and whose text is not.
    pub without_text: u64,
    /// Texts whose episode's row is not there.
    pub without_row: u64,
    /// Rows and probes: what reading it cost.
    pub steps: u64,
}

impl Salvaged {
    /// Every row of this table could be read.
    pub fn is_read(&self, table: &str) -> bool {
        !self.holes.contains_key(table) && !self.unfit.contains_key(table)
    }

    /// The same, and there are some.
    pub fn is_whole(&self, table: &str) -> bool {
        self.is_read(table) && self.rows.get(table).is_some_and(|rows| *rows > 0)
    }
}

/// A store that is being made of a damaged one.
#[derive(Debug)]
pub struct Salvage {
    /// The new store: what could be read, findable. Its logs still have to be read again.
    pub store: Store,
    /// What that was.
    pub salvaged: Salvaged,
    place: PathBuf,
    group: String,
}

/// Tables with what people decided and what was sent: of no other does a row name another's.
const CHOICES: [&str; 8] = [
    "consent",
    "delivery",
    "forgotten",
    "forgotten_before",
    "moved_project",
    "sink",
    "spent",
    "switch",
];

impl Salvage {
    /// Reads the file at `place` into a new one beside it; `advance` is told of bytes that were read. `place`
    /// itself stays as it is, whatever it is; an error where its folder can't be written to.
    /// `group`: what episodes are delivered to whose own group can't be read, where no other is known.
    pub fn of(place: &Path, group: &str, advance: &dyn Fn(u64)) -> Result<Salvage> {
        Salvage::of_tables(place, group, |_| true, advance)
    }

    /// The same of nothing but what people decided and what was sent: where all else can't even be told apart.
    pub fn of_choices(place: &Path) -> Result<Salvage> {
        Salvage::of_tables(place, "", |table| CHOICES.contains(&table), &|_| ())
    }

    fn of_tables(
        place: &Path,
        group: &str,
        is_wanted: impl Fn(&str) -> bool,
        advance: &dyn Fn(u64),
    ) -> Result<Salvage> {
        let unfinished = beside(place, NEW);
        remove_unfinished(&unfinished)?;
        let bytes = |path| fs::metadata(path).map_or(0, |file| file.len());
        let bytes = bytes(place.to_path_buf()) + bytes(beside(place, "-wal"));
        let mut store = Store::open(&unfinished, Access::ReadWrite)?;
        let filled = match open_damaged(place) {
            Ok(damaged) => {
                let source = Source::new(&damaged, bytes);
                let copied = copy(&damaged, &source, &mut store.db, is_wanted, advance);
                copied.and_then(|salvaged| settle(&store.db, salvaged, group))
            }
            Err(_) => Ok(Salvaged::default()),
        };
        let salvaged = filled.map_err(failed("salvaging")).and_then(|salvaged| {
            store.rebuild_index()?;
            Ok(salvaged)
        });
        match salvaged {
            Ok(salvaged) => Ok(Salvage {
                store,
                salvaged,
                place: place.to_path_buf(),
                group: group.to_owned(),
            }),
            Err(error) => {
                drop(store);
                remove_unfinished(&unfinished)?;
                Err(error)
            }
        }
    }

    /// Gives it up: the file stays as it is, and nothing is left beside it.
    pub fn discard(self) -> Result<()> {
        drop(self.store);
        remove_unfinished(&beside(&self.place, NEW))
    }

    /// Makes the new store what it is to be, once its logs are read again.
    pub fn complete(&mut self) -> Result<Lost> {
        let lost = stand_ins::drop_unfounded(&self.store.db, &self.group);
        let lost = lost.map_err(failed("salvaging"))?;
        Task::Titles
            .set(&self.store.db)
            .map_err(failed("salvaging"))?;
        self.store.dirty = true;
        self.store.finish()?;
        Ok(lost)
    }

    /// Closes the new store and moves it to its place; the damaged file, with its companions, gets
    /// a name that ends in `.damaged-` and `mark` (and a number where that name is taken), which is given
    /// back. Episodes whose text nobody could tell again are dropped; how many is given too.
    pub fn finish(mut self, mark: &str) -> Result<(PathBuf, Lost)> {
        let lost = self.complete()?;
        let unfinished = self.store.path.clone();
        drop(self.store);
        let aside = free(&beside(&self.place, &format!(".damaged-{mark}")));
        let set_aside = |error: std::io::Error| io_error("setting the damaged file aside", &error);
        // The log first: beside the new file it would be taken for its own.
        for suffix in ["-wal", "-shm"] {
            let from = beside(&self.place, suffix);
            if from.exists() {
                fs::rename(&from, beside(&aside, suffix)).map_err(set_aside)?;
            }
        }
        // A second name, where there can be one: so at no moment is there no store.
        fs::hard_link(&self.place, &aside)
            .or_else(|_| fs::rename(&self.place, &aside))
            .map_err(set_aside)?;
        fs::rename(&unfinished, &self.place)
            .map_err(|error| io_error("moving the new store to its place", &error))?;
        Ok((aside, lost))
    }
}

fn remove_unfinished(unfinished: &Path) -> Result<()> {
    clear(unfinished).map_err(|error| io_error("removing an unfinished store", &error))
}

/// The name itself, or with the first number behind it that nothing has.
fn free(name: &Path) -> PathBuf {
    let numbered = (2..).map(|n| beside(name, &format!("-{n}")));
    let mut names = std::iter::once(name.to_path_buf()).chain(numbered);
    names
        .find(|name| !name.exists())
        .unwrap_or_else(|| name.to_path_buf())
}

fn io_error(doing: &str, error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Store, format!("{doing}: {}", error.kind()))
        .hinted("check the permissions of the folder")
}

/// As leniently as SQLite can be: a length that contradicts the header, a schema with a fault.
fn open_damaged(place: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(place, flags)?;
    db.pragma_update(None, "writable_schema", true)?;
    db.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(db)
}

fn copy(
    damaged: &Connection,
    source: &Source<'_>,
    fresh: &mut Connection,
    is_wanted: impl Fn(&str) -> bool,
    advance: &dyn Fn(u64),
) -> rusqlite::Result<Salvaged> {
    let tables = Table::all(fresh)?;
    let tx = fresh.transaction()?;
    let mut salvaged = Salvaged::default();
    for table in tables.iter().filter(|table| is_wanted(&table.name)) {
        let mut insert = tx.prepare(&table.insert(damaged))?;
        let mut rows = 0;
        let reading = source.read(table, &mut |values, bytes| {
            advance(bytes);
            // a row that contradicts another one is as good as unreadable
            rows += insert.execute(params_from_iter(values)).unwrap_or(0) as u64;
        });
        let note = |counts: &mut BTreeMap<String, u64>, count: u64| {
            if count > 0 {
                counts.insert(table.name.clone(), count);
            }
        };
        note(&mut salvaged.holes, reading.holes);
        note(&mut salvaged.unfit, reading.unfit);
        salvaged.rows.insert(table.name.clone(), rows);
        salvaged.steps += reading.steps;
    }
    tx.commit()?;
    Ok(salvaged)
}

/// Makes one whole of the rows.
fn settle(db: &Connection, mut salvaged: Salvaged, group: &str) -> rusqlite::Result<Salvaged> {
    let tx = db.unchecked_transaction()?;
    for (table, unfit) in stand_ins::make_whole(&tx, group)? {
        *salvaged.unfit.entry(table.to_owned()).or_default() += unfit;
    }
    if salvaged.is_read("delivery") {
        stand_ins::drop_emptied(&tx)?;
    }
    let foreign = stand_ins::drop_foreign_texts(&tx)?;
    if foreign > 0 {
        *salvaged.unfit.entry("body".to_owned()).or_default() += foreign;
    }
    salvaged.without_text = stand_ins::without_text(&tx)?;
    salvaged.without_row = stand_ins::drop_parts(&tx)?;
    stand_ins::expect_logs(&tx)?;
    if !salvaged.is_read("consent") {
        // one that can't be read may have taken another one back: they are asked for again
        tx.execute("DELETE FROM consent WHERE scope <> ?1", [TRACKING])?;
    }
    tx.commit()?;
    Ok(salvaged)
}

/// Whether a file has anything of ours to salvage or to set aside.
impl DatabaseState {
    /// [`Salvage::of`] may take this file's place.
    pub fn may_be_replaced(self) -> bool {
        !matches!(
            self,
            DatabaseState::Missing | DatabaseState::Newer(_) | DatabaseState::Remote(_)
        )
    }
}
