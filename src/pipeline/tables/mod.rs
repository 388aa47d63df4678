//! Tables of the store, kept up to date in a folder: only what changed is written again.
//!
//! Units (`store::table_units`) are put into parts of some megabytes of text; a part is a file in each table. A
//! part is written again where a unit of it is another than the list says, or is no more.

mod make;
mod plan;

pub use make::RowMaker;

use super::context::RunContext;
use super::lock::Lock;
use crate::model::error::{Error, ErrorKind};
use crate::sinks::tables::{HeldFile, HeldUnit, Manifest, Part, TablesFolder};
use crate::store::{Store, TableUnit};
use crate::tables::row::Rows;
use crate::tables::schema::{NO_MONTH, Name, TABLES_VERSION, table};
use anyhow::Result;
use plan::{PlannedPart, key, plan};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

/// What somebody asks for.
#[derive(Clone, Debug, Default)]
pub struct TablesOptions {
    /// Everything is written again.
    pub full: bool,
    /// Projects, by their paths, that have no rows.
    pub without: BTreeSet<String>,
    /// The folder is read at once and removed then: nothing in it is synced.
    pub is_scratch: bool,
}

/// What an export did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TablesReport {
    /// Version of the tables.
    pub tables_version: u32,
    /// Sessions, and months of what has no log, that were new or changed.
    pub changed: u64,
    /// Of those in the files before, the ones that are no more.
    pub removed: u64,
    /// Files that were written.
    pub files_written: u64,
    /// Their bytes.
    pub bytes_written: u64,
    /// Files that were removed.
    pub files_removed: u64,
    /// Files that are there now.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Rows that are there now, by table.
    pub rows: BTreeMap<&'static str, u64>,
}

impl TablesReport {
    /// No file was touched.
    pub fn is_nothing(&self) -> bool {
        self.files_written + self.files_removed == 0
    }
}

/// Brings the tables in a folder up to the store.
///
/// # Errors
/// When this build can't write Parquet, the store can't be read, or the folder can't be written to.
pub fn export(
    store: &Store,
    folder: &Path,
    options: &TablesOptions,
    cx: &mut RunContext<'_>,
) -> Result<TablesReport> {
    if !cfg!(feature = "parquet") {
        return Err(unavailable().into());
    }
    // two exports into one folder would remove one another's files
    let _lock = Lock::take_for("export", &cx.home.export_lock())?;
    let maker = RowMaker::new(store, cx)?;
    let to = match options.is_scratch {
        true => TablesFolder::scratch(folder.to_owned()),
        false => TablesFolder::new(folder.to_owned()),
    };
    let failed = |error: io::Error| failure(folder, &error);
    let held = to.manifest().map_err(failed)?;
    let held = held.filter(|held| !options.full && held.made_by == maker.made_by());
    let mut units = store.table_units()?;
    units.retain(|unit| !options.without.contains(&unit.project_path));
    let planned = plan(&units, held.as_ref(), |part| to.is_whole(part));
    let mut report = TablesReport {
        tables_version: TABLES_VERSION,
        changed: planned.changed,
        removed: planned.removed,
        ..TablesReport::default()
    };
    let mut manifest = held.unwrap_or_else(|| Manifest::new(maker.made_by()));
    let is_same = |parts: &[PlannedPart<'_>]| parts.iter().all(|part| !part.dirty);
    if !is_same(&planned.parts) || manifest.parts.len() != planned.parts.len() {
        to.make().map_err(failed)?;
        manifest.parts.retain(|held| {
            let is_it =
                |part: &PlannedPart<'_>| (&part.month, part.number) == (&held.month, held.number);
            planned.parts.iter().any(is_it)
        });
        for part in planned.parts.iter().filter(|part| part.dirty) {
            let written = write_part(part, store, &maker, &to, &mut report)
                .map_err(|error| error.context_of(folder))?;
            put(&mut manifest, written);
            to.save(&manifest).map_err(failed)?;
        }
        to.save(&manifest).map_err(failed)?;
    }
    report.files_removed = to.tidy(&manifest).map_err(failed)?;
    count(&manifest, &mut report);
    Ok(report)
}

/// What came between a part and its files.
enum Fault {
    Io(io::Error),
    Other(Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Other(error)
    }
}

impl Fault {
    fn context_of(self, folder: &Path) -> Error {
        match self {
            Fault::Io(error) => failure(folder, &error),
            Fault::Other(error) => error,
        }
    }
}

fn write_part(
    part: &PlannedPart<'_>,
    store: &Store,
    maker: &RowMaker,
    to: &TablesFolder,
    report: &mut TablesReport,
) -> Result<Part, Fault> {
    let rows = rows(&part.units, store, maker)?;
    // every table has a file somewhere, so that a query over it finds its columns
    let always = part.month == NO_MONTH && part.number == 0;
    let wanted = Name::ALL
        .into_iter()
        .filter(|name| always || !rows.of(*name).is_empty());
    let wanted: Vec<Name> = wanted.collect();
    let encoded: Vec<Vec<u8>> = wanted
        .par_iter()
        .map(|name| encode(*name, &rows))
        .collect::<Result<_, Error>>()?;
    let mut written = Part {
        month: part.month.clone(),
        number: part.number,
        units: part.units.iter().map(|unit| held(unit)).collect(),
        files: BTreeMap::new(),
    };
    for (name, bytes) in wanted.into_iter().zip(encoded) {
        let table = table(name).name;
        to.write(table, (&part.month, part.number), &bytes)
            .map_err(Fault::Io)?;
        report.files_written += 1;
        report.bytes_written += bytes.len() as u64;
        let file = HeldFile {
            rows: rows.of(name).len() as u64,
            bytes: bytes.len() as u64,
        };
        written.files.insert(table.to_owned(), file);
    }
    Ok(written)
}

/// Units that are in memory with everything that the store has of them. More: memory; fewer: threads wait.
const UNITS_AT_ONCE: usize = 32;

fn held(unit: &TableUnit) -> (String, HeldUnit) {
    let held = HeldUnit {
        fingerprint: format!("{:016x}", unit.fingerprint),
        text_bytes: unit.text_bytes,
    };
    (key(unit), held)
}

/// Rows of these units, in their order.
fn rows(units: &[&TableUnit], store: &Store, maker: &RowMaker) -> Result<Rows, Error> {
    let mut all = Rows::default();
    for units in units.chunks(UNITS_AT_ONCE) {
        let sources = units.iter().map(|unit| maker.read(unit, store));
        let sources = sources.collect::<Result<Vec<_>, Error>>()?;
        let made: Vec<Rows> = sources
            .into_par_iter()
            .flatten()
            .map(|source| maker.rows(&source))
            .collect();
        made.into_iter().for_each(|rows| all.append(rows));
    }
    Ok(all)
}

/// Of what the list in a folder has, how much is in files that are there as they were written, and how much
/// is not.
///
/// # Errors
/// When the list can't be read.
pub fn verify(folder: &Path) -> Result<(u64, u64), Error> {
    let to = TablesFolder::new(folder.to_owned());
    let manifest = to.manifest().map_err(|error| failure(folder, &error))?;
    let (mut whole, mut missing) = (0, 0);
    for part in manifest.iter().flat_map(|manifest| &manifest.parts) {
        match to.is_whole(part) {
            true => whole += part.units.len() as u64,
            false => missing += part.units.len() as u64,
        }
    }
    Ok((whole, missing))
}

#[cfg(feature = "parquet")]
fn encode(name: Name, rows: &Rows) -> Result<Vec<u8>, Error> {
    crate::tables::parquet::encode(table(name), rows.of(name))
}

#[cfg(not(feature = "parquet"))]
fn encode(_name: Name, _rows: &Rows) -> Result<Vec<u8>, Error> {
    Err(unavailable())
}

/// This build can't do it.
pub fn unavailable() -> Error {
    Error::new(
        ErrorKind::Usage,
        "this build of sessionmill can't write Parquet: it was built without the feature `parquet`",
    )
    .hinted("make install (or: cargo install --path . --features parquet)")
}

fn put(manifest: &mut Manifest, written: Part) {
    let key = |part: &Part| (part.month.clone(), part.number);
    match manifest
        .parts
        .binary_search_by(|held| key(held).cmp(&key(&written)))
    {
        Ok(at) => manifest.parts[at] = written,
        Err(at) => manifest.parts.insert(at, written),
    }
}

fn count(manifest: &Manifest, report: &mut TablesReport) {
    for name in Name::ALL {
        let table = table(name).name;
        let files = manifest.parts.iter();
        let files: Vec<&HeldFile> = files.filter_map(|part| part.files.get(table)).collect();
        report.files += files.len() as u64;
        report.bytes += files.iter().map(|file| file.bytes).sum::<u64>();
        report
            .rows
            .insert(table, files.iter().map(|file| file.rows).sum());
    }
}

fn failure(folder: &Path, error: &io::Error) -> Error {
    let message = format!("{}: {error}", folder.display());
    Error::new(ErrorKind::Failed, message).hinted(match error.kind() {
        io::ErrorKind::StorageFull => {
            "free disk space, then try again: it goes on where it stopped"
        }
        _ => "check that the folder can be written to, then try again",
    })
}
