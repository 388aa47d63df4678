//! Episodes as lines of JSON: each batch is a file of its own, numbered, complete or absent.
//!
//! Append-only: a changed episode is told again in a later file, the last line of an id counts.
//! Forgetting rewrites the files that hold the episode.

use super::atomic;
use crate::model::delivery::{Fault, Landed, Outcome, Parcel, Receipt};
use crate::stages::upload::Sink;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// A folder with numbered files.
#[derive(Debug)]
pub struct Jsonl {
    folder: PathBuf,
}

/// A line. `schema_version` 1.
#[derive(Serialize, Deserialize)]
struct Line<'a> {
    schema_version: u32,
    id: Uuid,
    /// 16 hex digits.
    revision: Cow<'a, str>,
    group: Cow<'a, str>,
    name: Cow<'a, str>,
    session: Cow<'a, str>,
    namespace: Cow<'a, str>,
    source_description: Cow<'a, str>,
    valid_at: Cow<'a, str>,
    created_at: Cow<'a, str>,
    content: Cow<'a, str>,
}

/// The part of a line that tells episodes apart.
#[derive(Deserialize)]
struct Key {
    id: Uuid,
    revision: String,
}

impl Jsonl {
    /// Into this folder, which is made when it is needed.
    pub fn new(folder: PathBuf) -> Jsonl {
        Jsonl { folder }
    }

    /// Our files, by number.
    fn files(&self) -> io::Result<BTreeMap<u64, PathBuf>> {
        let mut files = BTreeMap::new();
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(files),
            entries => entries?,
        };
        for entry in entries {
            let path = entry?.path();
            if let Some(number) = number(&path) {
                files.insert(number, path);
            }
        }
        Ok(files)
    }

    fn fault(&self) -> impl FnOnce(io::Error) -> Fault + '_ {
        atomic::fault(&self.folder)
    }
}

/// `episodes-000012.jsonl` → 12.
fn number(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?;
    let digits = name.strip_prefix("episodes-")?.strip_suffix(".jsonl")?;
    digits.parse().ok()
}

fn line(parcel: &Parcel) -> Line<'_> {
    Line {
        schema_version: 1,
        id: parcel.id,
        revision: format!("{:016x}", parcel.revision).into(),
        group: Cow::from(&parcel.group),
        name: Cow::from(&parcel.name),
        session: Cow::from(&parcel.session),
        namespace: Cow::from(&parcel.namespace),
        source_description: Cow::from(&parcel.source_description),
        valid_at: parcel.valid_at.rfc3339_millis().into(),
        created_at: parcel.created_at.rfc3339_millis().into(),
        content: Cow::from(&parcel.content),
    }
}

impl Sink for Jsonl {
    fn replaces(&self) -> bool {
        true
    }

    /// Any of the files may hold it, and several may.
    fn place(&self, _: &Parcel) -> String {
        String::new()
    }

    fn check(&mut self) -> Result<String, Fault> {
        atomic::folder(&self.folder).map_err(self.fault())?;
        let files = self.files().map_err(self.fault())?;
        Ok(format!("{}: {} files", self.folder.display(), files.len()))
    }

    fn deliver(&mut self, batch: &[Parcel]) -> Result<Vec<Outcome>, Fault> {
        atomic::folder(&self.folder).map_err(self.fault())?;
        let files = self.files().map_err(self.fault())?;
        let next = files.last_key_value().map_or(1, |(number, _)| number + 1);
        let name = format!("episodes-{next:06}.jsonl");
        let mut text = Vec::new();
        for parcel in batch {
            serde_json::to_writer(&mut text, &line(parcel))
                .map_err(|error| Fault::Batch(error.to_string()))?;
            text.push(b'\n');
        }
        atomic::write(&self.folder.join(&name), &text).map_err(self.fault())?;
        Ok(vec![Outcome::Seen; batch.len()])
    }

    fn verify(&mut self, receipts: &[Receipt]) -> Result<Vec<Landed>, Fault> {
        // the last line of an id counts, and how often it is told in that revision
        let mut last: BTreeMap<Uuid, (String, u32)> = BTreeMap::new();
        for path in self.files().map_err(self.fault())?.values() {
            let text = fs::read_to_string(path).map_err(self.fault())?;
            for key in text
                .lines()
                .filter_map(|l| serde_json::from_str::<Key>(l).ok())
            {
                let told = last.entry(key.id).or_insert((String::new(), 0));
                match told.0 == key.revision {
                    true => told.1 += 1,
                    false => *told = (key.revision, 1),
                }
            }
        }
        let landed = |receipt: &Receipt| match last.get(&receipt.id) {
            Some((revision, times)) if *revision == format!("{:016x}", receipt.revision) => {
                match times {
                    1 => Landed::Once,
                    _ => Landed::Twice,
                }
            }
            _ => Landed::Missing,
        };
        Ok(receipts.iter().map(landed).collect())
    }

    fn forget(&mut self, receipts: &[Receipt]) -> Result<(), Fault> {
        let gone = |line: &str| {
            let key = serde_json::from_str::<Key>(line);
            key.is_ok_and(|key| receipts.iter().any(|receipt| receipt.id == key.id))
        };
        for path in self.files().map_err(self.fault())?.values() {
            let text = fs::read_to_string(path).map_err(self.fault())?;
            let kept: String = text.split_inclusive('\n').filter(|l| !gone(l)).collect();
            if kept.len() < text.len() {
                atomic::write(path, kept.as_bytes()).map_err(self.fault())?;
            }
        }
        Ok(())
    }
}
