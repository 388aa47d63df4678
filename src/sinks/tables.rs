//! A folder of tables: `sessions/month=2026-03/part-000.parquet`, and beside them a list of what each file
//! holds.
//!
//! A file appears whole or not at all, and the list is written last: whatever ends a run between, the next one
//! writes again what the list doesn't have as it is now. Files of ours that the list doesn't name are removed, so
//! that nothing stays that should be gone. Knows nothing of what is in the files.

use super::atomic;
use crate::model::delivery::{DeliveryError, DeliveryOutcome, Landed, OutboundEpisode, Receipt};
use crate::stages::upload::Sink;
use crate::tables::schema::{Name, PARTITION, TABLES_VERSION, table};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The list's own version.
const SCHEMA_VERSION: u32 = 1;
/// Readers of Parquet pass over files whose names begin so.
const LIST: &str = "_sessionmill.json";

/// A folder of tables.
#[derive(Debug)]
pub struct TablesFolder {
    root: PathBuf,
    is_scratch: bool,
}

/// What each file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    schema_version: u32,
    tables_version: u32,
    /// By what rows were made: rules, prices, settings.
    pub made_by: String,
    /// In the order of month and number.
    pub parts: Vec<Part>,
}

/// Some sessions of one month: a file in each table in which they have rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// `2026-03`.
    pub month: String,
    /// Counts from 0 within the month.
    pub number: u32,
    /// What is in it, by the unit's key.
    pub units: BTreeMap<String, HeldUnit>,
    /// Its files, by table.
    pub files: BTreeMap<String, HeldFile>,
}

/// A unit as it was when it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldUnit {
    /// 16 hex digits.
    pub fingerprint: String,
    /// UTF-8 bytes of its texts.
    pub text_bytes: u64,
}

/// A file as it was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldFile {
    /// Rows.
    pub rows: u64,
    /// Bytes of the file.
    pub bytes: u64,
}

impl Manifest {
    /// An empty one.
    pub fn new(made_by: &str) -> Manifest {
        Manifest {
            schema_version: SCHEMA_VERSION,
            tables_version: TABLES_VERSION,
            made_by: made_by.to_owned(),
            parts: Vec::new(),
        }
    }
}

impl TablesFolder {
    /// At this place, which is made when it is needed.
    pub fn new(root: PathBuf) -> TablesFolder {
        TablesFolder {
            root,
            is_scratch: false,
        }
    }

    /// One that is read at once and removed then: nothing in it is synced.
    pub fn scratch(root: PathBuf) -> TablesFolder {
        TablesFolder {
            root,
            is_scratch: true,
        }
    }

    /// Makes the folder where it isn't.
    ///
    /// # Errors
    /// When that fails, or something that is no folder stands there.
    pub fn make(&self) -> io::Result<()> {
        atomic::folder(&self.root)
    }

    /// What its files hold; `None`: there are none, or none that this version wrote.
    ///
    /// # Errors
    /// When the list can't be read. One that is damaged counts as none: all is written again.
    pub fn manifest(&self) -> io::Result<Option<Manifest>> {
        let text = match fs::read(self.root.join(LIST)) {
            Err(error) if atomic::is_nothing_there(&error) => return Ok(None),
            text => text?,
        };
        let manifest: Option<Manifest> = serde_json::from_slice(&text).ok();
        Ok(manifest.filter(|manifest| {
            (manifest.schema_version, manifest.tables_version) == (SCHEMA_VERSION, TABLES_VERSION)
        }))
    }

    /// Writes the list, which makes what was written before it count.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn save(&self, manifest: &Manifest) -> io::Result<()> {
        let text = serde_json::to_vec(manifest)?;
        self.put(&self.root.join(LIST), &text)
    }

    /// Every file of a part is there, and as long as it was.
    pub fn is_whole(&self, part: &Part) -> bool {
        part.files.iter().all(|(table, file)| {
            let path = self.path(table, &part.month, part.number);
            fs::metadata(path).is_ok_and(|found| found.len() == file.bytes)
        })
    }

    /// Writes the file of a table.
    ///
    /// # Errors
    /// When that fails; what stood there before stays.
    pub fn write(&self, table: &str, part: (&str, u32), bytes: &[u8]) -> io::Result<()> {
        let path = self.path(table, part.0, part.1);
        if let Some(folder) = path.parent() {
            atomic::folder(folder)?;
        }
        self.put(&path, bytes)
    }

    fn put(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        match self.is_scratch {
            true => atomic::write_scratch(path, bytes),
            false => atomic::write(path, bytes),
        }
    }

    /// Removes files of ours that the list doesn't name, and folders that are empty then; gives how many files.
    ///
    /// # Errors
    /// When a folder can't be read, or a file can't be removed.
    pub fn tidy(&self, manifest: &Manifest) -> io::Result<u64> {
        let mut known: BTreeSet<PathBuf> = BTreeSet::new();
        for part in &manifest.parts {
            let files = part.files.keys();
            known.extend(files.map(|table| self.path(table, &part.month, part.number)));
        }
        let mut removed = 0;
        for name in Name::ALL {
            let folder = self.root.join(table(name).name);
            for month in children(&folder)?.into_iter().filter(|path| is_month(path)) {
                for file in children(&month)? {
                    if is_ours(&file) && !known.contains(&file) {
                        atomic::remove(&file)?;
                        removed += 1;
                    }
                }
                // others' files keep it
                let _ = fs::remove_dir(&month);
            }
        }
        Ok(removed)
    }

    fn path(&self, table: &str, month: &str, number: u32) -> PathBuf {
        let folder = self.root.join(table).join(format!("{PARTITION}={month}"));
        folder.join(format!("part-{number:03}.parquet"))
    }
}

/// What it shares with other sinks. Its files are made of the store as a whole: no episode is handed over.
impl Sink for TablesFolder {
    fn replaces(&self) -> bool {
        true
    }

    fn place(&self, _: &OutboundEpisode) -> String {
        String::new()
    }

    fn check(&mut self) -> Result<String, DeliveryError> {
        let fault = || atomic::fault(&self.root);
        self.make().map_err(fault())?;
        let manifest = self.manifest().map_err(fault())?.unwrap_or_default();
        let units: usize = manifest.parts.iter().map(|part| part.units.len()).sum();
        let files: usize = manifest.parts.iter().map(|part| part.files.len()).sum();
        let root = self.root.display();
        Ok(format!("{root}: {units} sessions in {files} files"))
    }

    fn deliver(&mut self, _: &[OutboundEpisode]) -> Result<Vec<DeliveryOutcome>, DeliveryError> {
        let reason = format!("{}: tables take no single episodes", self.root.display());
        Err(DeliveryError::Misconfigured(reason))
    }

    fn verify(&mut self, receipts: &[Receipt]) -> Result<Vec<Landed>, DeliveryError> {
        Ok(vec![Landed::Unknown; receipts.len()])
    }

    fn forget(&mut self, _: &[Receipt]) -> Result<Vec<Receipt>, DeliveryError> {
        Ok(Vec::new())
    }
}

/// `part-000.parquet`, or what somebody who died left of writing it.
fn is_ours(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let number = name.strip_prefix("part-").and_then(|rest| {
        let rest = rest.strip_suffix(".part").unwrap_or(rest);
        rest.strip_suffix(".parquet")
    });
    number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_month(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let month = name.strip_prefix(PARTITION);
    month.is_some_and(|rest| rest.starts_with('='))
}

/// What is in a folder; nothing where there is none.
fn children(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if atomic::is_nothing_there(&error) => return Ok(Vec::new()),
        entries => entries?,
    };
    entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_ours_is_removed() {
        let home = tempfile::tempdir().unwrap();
        let folder = TablesFolder::new(home.path().join("tables"));
        let mut manifest = Manifest::new("rules");
        folder.make().unwrap();
        for number in 0..2 {
            folder.write("usage", ("2026-03", number), b"PAR1").unwrap();
        }
        let month = home.path().join("tables/usage/month=2026-03");
        for name in ["part-000.parquet.part", "notes.txt", "part-a.parquet"] {
            fs::write(month.join(name), "x").unwrap();
        }
        let mut part = Part {
            month: "2026-03".into(),
            ..Part::default()
        };
        let file = HeldFile { rows: 1, bytes: 4 };
        part.files.insert("usage".into(), file);
        assert!(folder.is_whole(&part));
        manifest.parts.push(part.clone());
        folder.save(&manifest).unwrap();
        assert_eq!(folder.manifest().unwrap(), Some(manifest.clone()));
        // the second file, and what is left of writing the first
        assert_eq!(folder.tidy(&manifest).unwrap(), 2);
        let mut left: Vec<String> = children(&month)
            .unwrap()
            .iter()
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        left.sort();
        assert_eq!(left, ["notes.txt", "part-000.parquet", "part-a.parquet"]);
        fs::write(month.join("part-000.parquet"), "PAR").unwrap();
        assert!(!folder.is_whole(&part));
        fs::write(home.path().join("tables").join(LIST), "{").unwrap();
        assert_eq!(folder.manifest().unwrap(), None);
    }
}
