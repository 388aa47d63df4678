//! Records what a scan of a project found: each change becomes an episode. What moved is paired first, so
//! that a file that went elsewhere is neither a deletion nor a new file; then comes what is gone, then what
//! is new or changed.

use super::file_scan::{FoundFile, ProjectScan, Reader, known, pattern};
use super::git_attribution::{FileNow, GitAttribution};
use super::track_options::{TrackOptions, Workers};
use super::track_report::FilesReport;
use crate::model::file::{FileFacts, Known, Strategy, shown};
use crate::model::git::FileOperation;
use crate::store::{FileUnit, Store, Supersede};
use crate::tracking::file_episodes::{
    MoveCandidate, Named, NewContent, Words, Writer, content, deletion, moves, relocation,
};
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// Records what the scans found.
///
/// # Errors
/// When the store fails.
pub(super) fn record(
    store: &mut Store,
    options: &TrackOptions<'_>,
    scans: Vec<ProjectScan<'_>>,
    workers: &impl Workers,
    done: &mut FilesReport,
) -> Result<()> {
    for scan in scans.iter().filter(|scan| !scan.is_empty()) {
        // what was there before the first scan is nobody's change
        let since = scan.row.changed_at.map(|_| scan.row.told_to);
        let attribution =
            GitAttribution::since(store, since, &scan.project.path, options.redactor)?;
        let recorder = FileRecorder::new(scan, options);
        let has_news = recorder.record(&attribution, store, workers, done)?;
        if has_news {
            store.looked(&scan.project.path, options.now, scan.operations_to)?;
        }
    }
    Ok(())
}

/// Records the changes of one project.
struct FileRecorder<'a> {
    scan: &'a ProjectScan<'a>,
    options: &'a TrackOptions<'a>,
    reader: Reader<'a>,
}

/// A change, before it is put into words.
struct Change<'a> {
    found: &'a FoundFile,
    writer: Writer<'a>,
    operation: FileOperation,
    /// Its content before, under this path or the one that it comes from.
    before: Option<Uuid>,
    /// Where it was.
    from: Option<&'a (Vec<u8>, Known)>,
}

impl<'a> FileRecorder<'a> {
    fn new(scan: &'a ProjectScan<'a>, options: &'a TrackOptions<'a>) -> FileRecorder<'a> {
        FileRecorder {
            scan,
            options,
            reader: Reader::again(scan, options),
        }
    }

    /// Writes it all; `false`: there was no news in it.
    fn record(
        &self,
        attribution: &'a GitAttribution<'a>,
        store: &mut Store,
        workers: &impl Workers,
        done: &mut FilesReport,
    ) -> Result<bool> {
        let pairs = self.pairs(store)?;
        let moved: BTreeSet<usize> = pairs.values().copied().collect();
        let mut silent: Vec<FileUnit> = Vec::new();
        let unwanted = self.scan.unwanted.iter();
        silent.extend(unwanted.map(|path| FileUnit::of(path, None)));
        let gone = self.scan.gone.iter().enumerate();
        let gone = gone.filter(|(nth, _)| !moved.contains(nth));
        let deleted: Vec<FileUnit> = gone
            .map(|(_, gone)| self.deleted(gone, attribution, done))
            .collect();
        let mut changes = Vec::new();
        for (nth, found) in self.scan.found.iter().enumerate() {
            let from = pairs.get(&nth).map(|at| &self.scan.gone[*at]);
            if found.is_same() && !(self.options.force && is_kept(found, store)?) {
                silent.push(unchanged(found, found.known.clone()));
                continue;
            }
            let last = match (&found.known, from) {
                (None, None) => store.last_content(self.scan.row.n, &found.sighting.path)?,
                _ => None,
            };
            match last.as_ref().and_then(|last| still(found, last)) {
                Some(known) => silent.push(unchanged(found, Some(known))),
                None => changes.push(self.change(found, from, last.map(|(id, _)| id), attribution)),
            }
        }
        let has_news = !(deleted.is_empty() && changes.is_empty());
        self.put(store, &silent, done)?;
        self.put(store, &deleted, done)?;
        for batch in changes.chunks(self.options.context.tracking.limits().batch) {
            self.put_changes(batch, store, workers, done)?;
        }
        Ok(has_news)
    }

    /// Which found file is which gone one.
    fn pairs(&self, store: &Store) -> Result<BTreeMap<usize, usize>> {
        let is_new = |found: &&FoundFile| found.known.is_none();
        if self.scan.gone.is_empty() || !self.scan.found.iter().any(|f| is_new(&f)) {
            return Ok(BTreeMap::new());
        }
        let mut texts = Vec::new();
        for (_, known) in &self.scan.gone {
            let id = known.episode.map(|id| id.to_string());
            // more are not compared
            let is_compared = texts.len() < GONE_COMPARED;
            let found = match id.filter(|_| is_compared) {
                Some(id) => store.episode(&id)?,
                None => None,
            };
            texts.push(found.map(|found| found.episode.text));
        }
        let gone = self.scan.gone.iter().zip(&texts);
        let gone: Vec<MoveCandidate<'_>> = gone
            .map(|((path, known), text)| MoveCandidate::of(path, known, text.as_deref()))
            .collect();
        let new: Vec<(usize, &FoundFile)> = self.scan.found.iter().enumerate().collect();
        let new: Vec<(usize, &FoundFile)> = new.into_iter().filter(|(_, f)| is_new(f)).collect();
        let came: Vec<MoveCandidate<'_>> = new.iter().map(|(_, found)| candidate(found)).collect();
        let pairs = moves(&came, &gone).into_iter();
        Ok(pairs.map(|(nth, at)| (new[nth].0, at)).collect())
    }

    /// `last`: the episode that once had the content of a file that is new to the catalogue.
    fn change(
        &self,
        found: &'a FoundFile,
        from: Option<&'a (Vec<u8>, Known)>,
        last: Option<Uuid>,
        attribution: &'a GitAttribution<'a>,
    ) -> Change<'a> {
        let now = FileNow {
            blob: found.hashes.as_ref().map(|hashes| hashes.blob.as_str()),
            size: found.sighting.stat.size,
        };
        let recorded = found.known.as_ref().or(from.map(|(_, known)| known));
        let as_before = recorded.and_then(|known| known.operation);
        let operation = match (&found.known, from) {
            (None, None) => FileOperation::Create,
            (None, Some(_)) => as_before.unwrap_or(FileOperation::Create),
            (Some(_), _) if found.is_same() => as_before.unwrap_or(FileOperation::Update),
            (Some(_), _) => FileOperation::Update,
        };
        Change {
            writer: attribution.writer(&found.sighting.path, Some(&now)),
            found,
            operation,
            before: recorded.and_then(|known| known.episode).or(last),
            from,
        }
    }

    fn put_changes(
        &self,
        changes: &[Change<'_>],
        store: &mut Store,
        workers: &impl Workers,
        done: &mut FilesReport,
    ) -> Result<()> {
        let units = workers.map(changes.iter().collect(), |change| self.unit(change));
        let mut ready = Vec::with_capacity(units.len());
        for (change, unit) in changes.iter().zip(units) {
            let Some((unit, is_named)) = unit else {
                done.waiting += 1;
                continue;
            };
            match (change.from, &change.found.known) {
                (Some(_), _) => done.moved += 1,
                (None, None) => done.created += 1,
                (None, Some(_)) if change.found.is_same() => {}
                (None, Some(_)) => done.updated += 1,
            }
            done.by_git += u64::from(change.writer.is_git());
            done.named += u64::from(is_named);
            ready.push(unit);
        }
        self.put(store, &ready, done)
    }

    /// All that a change writes, and whether its file is named only. `None`: the file has another content
    /// by now.
    fn unit(&self, change: &Change<'_>) -> Option<(FileUnit, bool)> {
        let found = change.found;
        let words = self.reader.words_of(found)?;
        let path = &found.sighting.path;
        let pattern = pattern(self.scan.tracked, path)?;
        let name = self.name(path);
        let file = self.named(path, &name);
        let new = NewContent {
            file,
            operation: change.operation,
            words: &words,
            stat: found.sighting.stat,
            hashes: found.hashes.as_ref(),
            before: change.before,
            description: pattern.description.as_deref(),
            writer: &change.writer,
            now: self.options.now,
        };
        let (mut episode, facts) = content(&new, pattern.strategy);
        if found.is_same()
            && let Some(id) = change.before
        {
            episode.id = id;
        }
        let id = episode.id;
        let mut unit = unchanged(
            found,
            Some(Known {
                episode: Some(id),
                operation: Some(change.operation),
                ..known(found.sighting.stat, found.hashes.clone())
            }),
        );
        if let Some((previous, _)) = change.from {
            unit.previous = Some(previous.clone());
            if !change.writer.is_git() {
                let was = self.name(previous);
                let was = self.named(previous, &was);
                let (episode, facts) = relocation(file, was, self.options.now);
                unit.tell(episode, path, facts);
            }
        }
        unit.supersedes = self.superseded(change, pattern.strategy, id);
        unit.tell(episode, path, facts);
        Some((unit, matches!(words, Words::Named(_))))
    }

    /// What becomes of the content before, now that another episode has the new one.
    fn superseded(&self, change: &Change<'_>, strategy: Strategy, by: Uuid) -> Option<Supersede> {
        let before = change.before.filter(|before| *before != by)?;
        match strategy {
            Strategy::Replace => Some(Supersede::Remove(before)),
            Strategy::Version => None,
            Strategy::Archive => Some(Supersede::Invalid {
                episode: before,
                at: self.options.now,
                why: change.writer.did(match change.from {
                    Some((previous, _)) => {
                        FileOperation::of_path(previous, &change.found.sighting.path)
                    }
                    None => FileOperation::Update,
                }),
            }),
        }
    }

    fn deleted(
        &self,
        gone: &(Vec<u8>, Known),
        attribution: &GitAttribution<'_>,
        done: &mut FilesReport,
    ) -> FileUnit {
        let (path, known) = gone;
        let writer = attribution.writer(path, None);
        done.deleted += 1;
        done.by_git += u64::from(writer.is_git());
        let name = self.name(path);
        let file = self.named(path, &name);
        let (episode, facts) = deletion(file, known.episode, &writer, self.options.now);
        let mut unit = FileUnit::of(path, None);
        unit.supersedes = known.episode.map(|episode| Supersede::Invalid {
            episode,
            at: self.options.now,
            why: writer.did(FileOperation::Delete),
        });
        unit.tell(episode, path, facts);
        unit
    }

    fn named<'n>(&'n self, path: &'n [u8], name: &'n str) -> Named<'n> {
        Named {
            namespace: &self.scan.project.namespace,
            path,
            name,
        }
    }

    /// As it is stored: masked.
    fn name(&self, path: &[u8]) -> String {
        self.options.redactor.redact(&shown(path)).into_owned()
    }

    fn put(&self, store: &mut Store, units: &[FileUnit], done: &mut FilesReport) -> Result<()> {
        if units.is_empty() {
            return Ok(());
        }
        let group = self.options.group_of(self.scan.tracked);
        let stored = store.put_files(&self.scan.project, group, units, self.options.now)?;
        done.stored.merge(stored);
        Ok(())
    }
}

/// Gone files whose texts are read to be compared.
const GONE_COMPARED: usize = 50;

/// Nobody wanted what is stored of the file forgotten.
fn is_kept(found: &FoundFile, store: &Store) -> Result<bool> {
    let episode = found.known.as_ref().and_then(|known| known.episode);
    let facts = episode.map(|id| store.file_facts(id)).transpose()?;
    Ok(facts.flatten().is_some())
}

/// A file that the catalogue lost has the content that was recorded last.
fn still(found: &FoundFile, (episode, facts): &(Uuid, FileFacts)) -> Option<Known> {
    let hash = found.hashes.as_ref()?.content_hash();
    let is_it = facts.invalid_at.is_none() && facts.content_hash.as_ref() == Some(&hash);
    is_it.then(|| Known {
        episode: Some(*episode),
        operation: facts.operation,
        ..known(found.sighting.stat, found.hashes.clone())
    })
}

/// The catalogue's row alone.
fn unchanged(found: &FoundFile, known: Option<Known>) -> FileUnit {
    let stat = found.sighting.stat;
    let known = known.map(|known| (Known { stat, ..known }, found.print));
    FileUnit::of(&found.sighting.path, known)
}

fn candidate(found: &FoundFile) -> MoveCandidate<'_> {
    MoveCandidate {
        path: &found.sighting.path,
        hashes: found.hashes.as_ref(),
        stat: found.sighting.stat,
        text: match &found.words {
            Some(Words::Text(text)) => Some(text),
            _ => None,
        },
    }
}
