//! Episodes as lines of JSON: each batch is a file of its own, numbered, complete or absent.
//!
//! Append-only: a changed episode is recorded again in a later file, the last line of an id counts. What
//! the files tell already is not recorded again. Forgetting rewrites the files that hold the episode.

use super::atomic;
use crate::model::delivery::{DeliveryError, DeliveryOutcome, Landed, OutboundEpisode, Receipt};
use crate::model::inert::escaped;
use crate::stages::upload::Sink;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// A folder with numbered files.
#[derive(Debug)]
pub struct Jsonl {
    folder: PathBuf,
    /// Of each id; read when it is first needed.
    recorded: Option<BTreeMap<Uuid, Recorded>>,
}

/// What the files tell of an episode.
#[derive(Debug)]
struct Recorded {
    /// In its last line.
    revision: String,
    /// Lines in a row that tell this revision.
    times: u32,
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
        Jsonl {
            folder,
            recorded: None,
        }
    }

    /// What our files tell. Reads all of them, the first time.
    fn recorded(&mut self) -> io::Result<&mut BTreeMap<Uuid, Recorded>> {
        let recorded = match self.recorded.take() {
            Some(recorded) => recorded,
            None => self.read()?,
        };
        Ok(self.recorded.insert(recorded))
    }

    fn read(&self) -> io::Result<BTreeMap<Uuid, Recorded>> {
        let mut all = BTreeMap::new();
        for path in self.files()?.values() {
            for line in fs::read(path)?.split(|byte| *byte == b'\n') {
                if let Ok(key) = serde_json::from_slice::<Key>(line) {
                    tell(&mut all, key);
                }
            }
        }
        Ok(all)
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

    fn fault(&self) -> impl FnOnce(io::Error) -> DeliveryError + '_ {
        atomic::fault(&self.folder)
    }
}

/// The last line of an id counts, and how often it is recorded in that revision.
fn tell(all: &mut BTreeMap<Uuid, Recorded>, key: Key) {
    let recorded = all.entry(key.id).or_insert(Recorded {
        revision: String::new(),
        times: 0,
    });
    if recorded.revision != key.revision {
        (recorded.revision, recorded.times) = (key.revision, 0);
    }
    recorded.times += 1;
}

/// 16 hex digits.
fn hex(revision: u64) -> String {
    format!("{revision:016x}")
}

/// `episodes-000012.jsonl` → 12.
fn number(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?;
    let digits = name.strip_prefix("episodes-")?.strip_suffix(".jsonl")?;
    digits.parse().ok()
}

fn line(outbound: &OutboundEpisode) -> Line<'_> {
    Line {
        schema_version: 1,
        id: outbound.id,
        revision: hex(outbound.revision).into(),
        group: Cow::from(&outbound.group),
        name: Cow::from(&outbound.name),
        session: Cow::from(&outbound.session),
        namespace: Cow::from(&outbound.namespace),
        source_description: Cow::from(&outbound.source_description),
        valid_at: outbound.valid_at.rfc3339_millis().into(),
        created_at: outbound.created_at.rfc3339_millis().into(),
        content: Cow::from(&outbound.content),
    }
}

impl Sink for Jsonl {
    fn replaces(&self) -> bool {
        true
    }

    /// Any of the files may hold it, and several may.
    fn place(&self, _: &OutboundEpisode) -> String {
        String::new()
    }

    fn check(&mut self) -> Result<String, DeliveryError> {
        atomic::folder(&self.folder).map_err(self.fault())?;
        let files = self.files().map_err(self.fault())?;
        Ok(format!("{}: {} files", self.folder.display(), files.len()))
    }

    fn deliver(
        &mut self,
        batch: &[OutboundEpisode],
    ) -> Result<Vec<DeliveryOutcome>, DeliveryError> {
        let folder = self.folder.clone();
        let fault = || atomic::fault(&folder);
        atomic::folder(&folder).map_err(fault())?;
        let recorded = self.recorded().map_err(fault())?;
        let is_new = |outbound: &&OutboundEpisode| {
            let recorded = recorded.get(&outbound.id);
            recorded.is_none_or(|recorded| recorded.revision != hex(outbound.revision))
        };
        let new: Vec<&OutboundEpisode> = batch.iter().filter(is_new).collect();
        let mut text = Vec::new();
        for outbound in &new {
            let line = serde_json::to_string(&line(outbound))
                .map_err(|error| DeliveryError::BatchRejected(error.to_string()))?;
            text.extend(escaped(line).into_bytes());
            text.push(b'\n');
        }
        if !new.is_empty() {
            let files = self.files().map_err(fault())?;
            let next = files.last_key_value().map_or(1, |(number, _)| number + 1);
            let path = folder.join(format!("episodes-{next:06}.jsonl"));
            // whatever comes of it, the files are asked again next time
            let mut recorded = self.recorded.take().unwrap_or_default();
            atomic::write(&path, &text).map_err(fault())?;
            for outbound in new {
                let (id, revision) = (outbound.id, hex(outbound.revision));
                tell(&mut recorded, Key { id, revision });
            }
            self.recorded = Some(recorded);
        }
        Ok(vec![DeliveryOutcome::Seen; batch.len()])
    }

    fn verify(&mut self, receipts: &[Receipt]) -> Result<Vec<Landed>, DeliveryError> {
        let recorded = self.read().map_err(self.fault())?;
        let landed = |receipt: &Receipt| match recorded.get(&receipt.id) {
            Some(recorded) if recorded.revision != hex(receipt.revision) => Landed::Missing,
            Some(recorded) if recorded.times > 1 => Landed::Twice,
            Some(_) => Landed::Once,
            None => Landed::Missing,
        };
        Ok(receipts.iter().map(landed).collect())
    }

    fn forget(&mut self, receipts: &[Receipt]) -> Result<Vec<Receipt>, DeliveryError> {
        self.recorded = None;
        let ids: BTreeSet<Uuid> = receipts.iter().map(|receipt| receipt.id).collect();
        let stays = |line: &&[u8]| {
            let key = serde_json::from_slice::<Key>(line);
            !key.is_ok_and(|key| ids.contains(&key.id))
        };
        // a batch that somebody died over
        let files = self.files().map_err(self.fault())?;
        let next = files.last_key_value().map_or(1, |(number, _)| number + 1);
        let unfinished = self.folder.join(format!("episodes-{next:06}.jsonl"));
        atomic::discard(&unfinished).map_err(self.fault())?;
        for path in files.values() {
            let text = fs::read(path).map_err(self.fault())?;
            let kept: Vec<&[u8]> = text
                .split_inclusive(|byte| *byte == b'\n')
                .filter(stays)
                .collect();
            let kept = kept.concat();
            if kept.is_empty() && !text.is_empty() {
                atomic::remove(path).map_err(self.fault())?;
            } else if kept.len() < text.len() {
                atomic::write(path, &kept).map_err(self.fault())?;
            }
        }
        Ok(Vec::new())
    }
}
