//! A vault: one Markdown file per session, in a folder per project, its episodes in the order in
//! which they happened.
//!
//! A file is ours: episodes stand between marks, what stands outside of them is written anew.

use super::atomic;
use crate::model::delivery::{DeliveryError, DeliveryOutcome, Landed, OutboundEpisode, Receipt};
use crate::model::file_name;
use crate::stages::upload::Sink;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::PathBuf;
use uuid::Uuid;

/// A folder of notes.
#[derive(Debug)]
pub struct Markdown {
    folder: PathBuf,
}

/// A file: its header, and its episodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Note {
    /// Of the episode that happened last.
    header: String,
    sections: BTreeMap<Uuid, Section>,
}

/// An episode as it stands in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Section {
    revision: u64,
    /// `2026-03-14T09:00:00.000Z`: sections are sorted by it, then by id.
    valid_at: String,
    /// Without its header.
    body: String,
}

const OPEN: &str = "<!-- episode ";
const CLOSE: &str = "<!-- /episode -->";

impl Markdown {
    /// Into this folder, which is made when it is needed.
    pub fn new(folder: PathBuf) -> Markdown {
        Markdown { folder }
    }

    fn fault(&self) -> impl FnOnce(io::Error) -> DeliveryError + '_ {
        atomic::fault(&self.folder)
    }

    /// Changes one file; a file without episodes is removed.
    fn change(&self, place: &str, change: impl FnOnce(&mut Note)) -> io::Result<()> {
        let path = self.folder.join(place);
        let before = self.read(place)?;
        let mut note = before.clone();
        change(&mut note);
        if note.sections.is_empty() {
            atomic::remove(&path)?;
            if let Some(folder) = path.parent() {
                // the last one takes the project's folder with it; others keep it
                let _ = fs::remove_dir(folder);
            }
            return Ok(());
        }
        atomic::discard(&path)?;
        if note == before {
            return Ok(());
        }
        if let Some(folder) = path.parent() {
            atomic::folder(folder)?;
        }
        atomic::write(&path, note.written().as_bytes())
    }

    fn read(&self, place: &str) -> io::Result<Note> {
        match fs::read(self.folder.join(place)) {
            Ok(text) => Ok(Note::read(&String::from_utf8_lossy(&text))),
            Err(error) if atomic::is_nothing_there(&error) => Ok(Note::default()),
            Err(error) => Err(error),
        }
    }
}

/// Somebody put something else where one note belongs; the others don't suffer from it.
fn is_in_the_way(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::IsADirectory | io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists
    )
}

impl Note {
    /// A file's episodes; what doesn't stand between marks is passed over.
    fn read(text: &str) -> Note {
        let mut note = Note {
            header: split(text).0.to_owned(),
            ..Note::default()
        };
        let mut rest = text;
        while let Some((_, from)) = rest.split_once(OPEN) {
            let Some((mark, from)) = from.split_once(" -->\n") else {
                break;
            };
            let Some((body, after)) = from.split_once(CLOSE) else {
                break;
            };
            note.sections.extend(section(mark, body));
            rest = after;
        }
        note
    }

    fn add(&mut self, outbound: &OutboundEpisode) {
        let (header, body) = split(&outbound.content);
        let valid_at = outbound.valid_at.rfc3339_millis();
        if self.sections.values().all(|s| s.valid_at <= valid_at) {
            header.clone_into(&mut self.header);
        }
        let section = Section {
            revision: outbound.revision,
            valid_at,
            // nothing in a text may end its section
            body: body.trim_end().replace(CLOSE, "<!-- / episode -->"),
        };
        self.sections.insert(outbound.id, section);
    }

    fn written(&self) -> String {
        let mut all: Vec<(&Uuid, &Section)> = self.sections.iter().collect();
        all.sort_by(|a, b| (&a.1.valid_at, a.0).cmp(&(&b.1.valid_at, b.0)));
        let mut out = self.header.clone();
        for (id, section) in all {
            let (revision, valid_at) = (section.revision, &section.valid_at);
            let _ = writeln!(out, "{OPEN}{id} {revision:016x} {valid_at} -->");
            let _ = write!(out, "{}\n\n{CLOSE}\n\n", section.body);
        }
        out
    }
}

fn section(mark: &str, body: &str) -> Option<(Uuid, Section)> {
    let mut words = mark.split(' ');
    let id = words.next()?.parse().ok()?;
    let section = Section {
        revision: u64::from_str_radix(words.next()?, 16).ok()?,
        valid_at: words.next()?.to_owned(),
        body: body.trim_end().to_owned(),
    };
    Some((id, section))
}

/// The header of an episode, with the empty line after it, and what follows.
fn split(content: &str) -> (&str, &str) {
    let end = content
        .strip_prefix("---\n")
        .and_then(|inside| inside.find("\n---\n\n"))
        .map_or(0, |end| "---\n".len() + end + "\n---\n\n".len());
    content.split_at(end)
}

impl Sink for Markdown {
    fn replaces(&self) -> bool {
        true
    }

    /// `shop-a1b2c3d4/6b1f0a34-….md`.
    fn place(&self, outbound: &OutboundEpisode) -> String {
        let namespace: String = outbound.namespace.chars().take(8).collect();
        let project = file_name::plain(&outbound.project, 120);
        let session = file_name::own(&outbound.session);
        format!("{project}-{namespace}/{session}.md")
    }

    fn check(&mut self) -> Result<String, DeliveryError> {
        atomic::folder(&self.folder).map_err(self.fault())?;
        Ok(self.folder.display().to_string())
    }

    fn deliver(
        &mut self,
        batch: &[OutboundEpisode],
    ) -> Result<Vec<DeliveryOutcome>, DeliveryError> {
        let mut files: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (nth, outbound) in batch.iter().enumerate() {
            files.entry(self.place(outbound)).or_default().push(nth);
        }
        atomic::folder(&self.folder).map_err(self.fault())?;
        let mut outcomes = vec![DeliveryOutcome::Seen; batch.len()];
        for (place, members) in files {
            let add = |note: &mut Note| members.iter().for_each(|nth| note.add(&batch[*nth]));
            match self.change(&place, add) {
                Err(error) if is_in_the_way(&error) => {
                    let reason = format!("{place}: {}", error.kind());
                    members
                        .into_iter()
                        .for_each(|nth| outcomes[nth] = DeliveryOutcome::Failed(reason.clone()));
                }
                other => other.map_err(self.fault())?,
            }
        }
        Ok(outcomes)
    }

    fn verify(&mut self, receipts: &[Receipt]) -> Result<Vec<Landed>, DeliveryError> {
        let mut notes: BTreeMap<&str, Note> = BTreeMap::new();
        for receipt in receipts {
            if !notes.contains_key(receipt.place.as_str()) {
                let note = match self.read(&receipt.place) {
                    Err(error) if is_in_the_way(&error) => Note::default(),
                    other => other.map_err(self.fault())?,
                };
                notes.insert(&receipt.place, note);
            }
        }
        let landed = |receipt: &Receipt| {
            let found = notes[receipt.place.as_str()].sections.get(&receipt.id);
            match found.is_some_and(|section| section.revision == receipt.revision) {
                true => Landed::Once,
                false => Landed::Missing,
            }
        };
        Ok(receipts.iter().map(landed).collect())
    }

    fn forget(&mut self, receipts: &[Receipt]) -> Result<Vec<Receipt>, DeliveryError> {
        let mut files: BTreeMap<&str, Vec<Uuid>> = BTreeMap::new();
        for receipt in receipts {
            files.entry(&receipt.place).or_default().push(receipt.id);
        }
        for (place, ids) in files {
            let forget = |note: &mut Note| note.sections.retain(|id, _| !ids.contains(id));
            match self.change(place, forget) {
                Err(error) if is_in_the_way(&error) => {}
                other => other.map_err(self.fault())?,
            }
        }
        Ok(Vec::new())
    }
}
