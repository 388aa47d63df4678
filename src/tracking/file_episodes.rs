//! Changes of files become episodes (004-028..037, 004-050, 004-051, 004-075..077).

use super::git_episodes::bulk_update;
use crate::model::episode::{Episode, EpisodeSource};
use crate::model::file::{FileFacts, Hashes, Known, Strategy, file_id, shown};
use crate::model::git::{FileChange, FileOperation, GitOperation};
use crate::model::source::Stat;
use crate::model::time::Time;
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// What a file holds, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Words {
    /// Its text, masked.
    Text(String),
    /// It is named only, and why.
    Named(&'static str),
}

/// Who wrote a file.
#[derive(Clone, Debug)]
pub enum Writer<'a> {
    /// Somebody, or a program.
    Someone,
    /// A git operation.
    Git {
        /// `git_batch_id`.
        id: Uuid,
        /// What was done.
        git: &'a GitOperation,
        /// The file's path from the repository's root.
        path: String,
    },
}

impl Writer<'_> {
    /// It was git.
    pub fn is_git(&self) -> bool {
        self.batch().is_some()
    }

    fn batch(&self) -> Option<Uuid> {
        match self {
            Writer::Git { id, .. } => Some(*id),
            Writer::Someone => None,
        }
    }

    /// What it did, in a few words.
    pub fn did(&self, operation: FileOperation) -> String {
        match (self, operation) {
            (Writer::Git { id, git, .. }, _) => {
                format!("{}, git_batch_id {id}", git.operation.name())
            }
            (_, FileOperation::Delete) => "deleted".to_owned(),
            (_, FileOperation::Move) => "moved".to_owned(),
            (_, FileOperation::Rename) => "renamed".to_owned(),
            _ => "there is a newer one".to_owned(),
        }
    }
}

/// Which file of which project.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// The project's, 16 hex digits.
    pub namespace: &'a str,
    /// Its bytes, from the project's root.
    pub path: &'a [u8],
    /// The same for people, masked.
    pub name: &'a str,
}

impl Named<'_> {
    fn id(&self, of: &[&str]) -> Uuid {
        file_id(self.namespace, self.path, of)
    }
}

/// A file that came, or has another content.
#[derive(Clone, Debug)]
pub struct NewContent<'a> {
    /// Which one.
    pub file: Named<'a>,
    /// What happened to it.
    pub operation: FileOperation,
    /// What it is.
    pub words: &'a Words,
    /// What `stat` says.
    pub stat: Stat,
    /// Absent where it was not read.
    pub hashes: Option<&'a Hashes>,
    /// The episode that had its content before.
    pub before: Option<Uuid>,
    /// What the configuration calls such files.
    pub description: Option<&'a str>,
    /// Who did it.
    pub writer: &'a Writer<'a>,
    /// When it was scanned.
    pub now: Time,
}

/// The episode of a content, with its facts.
pub fn content(new: &NewContent<'_>, strategy: Strategy) -> (Episode, FileFacts) {
    let (name, modified) = (new.file.name, new.stat.modified());
    let facts = FileFacts {
        origin_path: name.to_owned(),
        operation: Some(new.operation),
        file_size: Some(new.stat.size),
        modified_time: Some(modified),
        content_hash: new.hashes.map(Hashes::content_hash),
        git_batch_id: new.writer.batch(),
        source_description: new.description.map(str::to_owned),
        ..FileFacts::default()
    };
    let text = match new.words {
        Words::Text(text) if text.is_empty() => "(empty file)".to_owned(),
        Words::Text(text) => text.clone(),
        Words::Named(why) => format!("{name} ({why}, {} bytes)", new.stat.size),
    };
    let episode = match new.writer {
        Writer::Git { id, git, path } => {
            let file = changed(git, path, new.operation);
            bulk_update(*id, git, &file, Some(&text))
        }
        Writer::Someone => Episode {
            id: content_id(new, strategy),
            text,
            ..event(name, modified.min(new.now))
        },
    };
    (episode, facts)
}

/// With `replace`, a path's content has one id for ever; else each follows from the one before.
fn content_id(new: &NewContent<'_>, strategy: Strategy) -> Uuid {
    if strategy == Strategy::Replace {
        return new.file.id(&[]);
    }
    let before = new.before.map(|id| id.to_string()).unwrap_or_default();
    let content = match new.hashes {
        Some(hashes) => hashes.sha256.clone(),
        None => format!("{} {}", new.stat.size, new.stat.mtime_ns),
    };
    new.file.id(&[&before, &content])
}

/// The record that a file is gone.
pub fn deletion(
    file: Named<'_>,
    before: Option<Uuid>,
    writer: &Writer<'_>,
    now: Time,
) -> (Episode, FileFacts) {
    let facts = FileFacts {
        origin_path: file.name.to_owned(),
        operation: Some(FileOperation::Delete),
        deleted_at: Some(now),
        previous_episode_uuid: before,
        git_batch_id: writer.batch(),
        ..FileFacts::default()
    };
    let episode = match writer {
        Writer::Git { id, git, path } => {
            let file = changed(git, path, FileOperation::Delete);
            bulk_update(*id, git, &file, None)
        }
        Writer::Someone => {
            let before = before.map(|id| id.to_string()).unwrap_or_default();
            Episode {
                id: file.id(&["delete", &before]),
                text: format!("File deleted: {}", file.name),
                ..event(file.name, now)
            }
        }
    };
    (episode, facts)
}

/// The record that a file went elsewhere; its content is in an episode of its own.
pub fn relocation(file: Named<'_>, previous: Named<'_>, now: Time) -> (Episode, FileFacts) {
    let operation = FileOperation::of_path(previous.path, file.path);
    let did = Writer::Someone.did(operation);
    let (was, name) = (previous.name, file.name);
    let episode = Episode {
        id: file.id(&["moved", &shown(previous.path)]),
        text: format!("File {did}: {was} → {name}"),
        files: BTreeSet::from([name.to_owned(), was.to_owned()]),
        ..event(name, now)
    };
    let facts = FileFacts {
        origin_path: name.to_owned(),
        operation: Some(operation),
        previous_path: Some(was.to_owned()),
        ..FileFacts::default()
    };
    (episode, facts)
}

fn event(name: &str, at: Time) -> Episode {
    Episode {
        source: EpisodeSource::FilesystemWatch,
        title: name.to_owned(),
        part: 1,
        sealed: true,
        valid_at: Some(at),
        ended_at: Some(at),
        files: BTreeSet::from([name.to_owned()]),
        ..Episode::default()
    }
}

/// As the operation lists the file; it may have left it out, of too many.
fn changed(git: &GitOperation, path: &str, operation: FileOperation) -> FileChange {
    let listed = git.effect.files.iter().find(|file| file.path == path);
    listed.cloned().unwrap_or_else(|| FileChange {
        path: path.to_owned(),
        operation,
        previous_path: None,
        blob: None,
        lines: None,
    })
}

/// A file that is new, or gone, where moves are looked for.
#[derive(Clone, Copy, Debug)]
pub struct MoveCandidate<'a> {
    /// Its bytes.
    pub path: &'a [u8],
    /// Absent where it was not read.
    pub hashes: Option<&'a Hashes>,
    /// Of the gone one: what it was.
    pub stat: Stat,
    /// Its text, where it is at hand.
    pub text: Option<&'a str>,
}

impl<'a> MoveCandidate<'a> {
    /// A file of the catalogue.
    pub fn of(path: &'a [u8], known: &'a Known, text: Option<&'a str>) -> MoveCandidate<'a> {
        MoveCandidate {
            path,
            hashes: known.hashes.as_ref(),
            stat: known.stat,
            text,
        }
    }
}

/// Many files are as short and as equal (`{}`): under another name in another folder, they are others.
const TELLING_BYTES: u64 = 64;
/// Files that are compared line by line with those that are gone. More: every one with every one.
const SIMILAR_MAX: usize = 50;
/// Of lines, by bytes, that two texts share: as much makes a file the other one, edited (git's measure).
const SIMILAR_PERCENT: usize = 50;

/// Which of the new files are which of the gone ones, by their places in the two: the same content, where
/// several have it under the same name first; then those whose text is as good as the same.
pub fn moves(came: &[MoveCandidate<'_>], gone: &[MoveCandidate<'_>]) -> BTreeMap<usize, usize> {
    let mut moves = BTreeMap::new();
    let mut left: BTreeMap<Content<'_>, Vec<usize>> = BTreeMap::new();
    for (nth, file) in gone.iter().enumerate() {
        if let Some(content) = Content::of(file) {
            left.entry(content).or_default().push(nth);
        }
    }
    for same_name in [true, false] {
        for (nth, file) in came.iter().enumerate() {
            let Some(content) = Content::of(file).filter(|_| !moves.contains_key(&nth)) else {
                continue;
            };
            let Some(places) = left.get_mut(&content) else {
                continue;
            };
            let is_telling = file.stat.size >= TELLING_BYTES;
            let has_name = |at: &usize| name_of(gone[*at].path) == name_of(file.path);
            let went = |at: &usize| FileOperation::of_path(gone[*at].path, file.path);
            let is_beside = |at: &usize| went(at) == FileOperation::Rename;
            let fits = |at: &usize| has_name(at) || (!same_name && (is_telling || is_beside(at)));
            if let Some(at) = places.iter().position(fits) {
                moves.insert(nth, places.remove(at));
            }
        }
    }
    edited(came, gone, &mut moves);
    moves
}

/// Adds the pairs of the most similar texts that are left.
fn edited(
    came: &[MoveCandidate<'_>],
    gone: &[MoveCandidate<'_>],
    moves: &mut BTreeMap<usize, usize>,
) {
    let taken: BTreeSet<usize> = moves.values().copied().collect();
    let left = |nth: &usize| !moves.contains_key(nth);
    let new: Vec<usize> = (0..came.len()).filter(left).take(SIMILAR_MAX).collect();
    let old = (0..gone.len()).filter(|nth| !taken.contains(nth));
    let old: Vec<usize> = old.take(SIMILAR_MAX).collect();
    let mut pairs = Vec::new();
    for a in &new {
        for b in &old {
            // the same content is judged already
            let is_other = Content::of(&came[*a]) != Content::of(&gone[*b]);
            let texts = came[*a].text.zip(gone[*b].text).filter(|_| is_other);
            let percent = texts.map_or(0, |(a, b)| similarity(a, b));
            if percent >= SIMILAR_PERCENT {
                pairs.push((percent, *a, *b));
            }
        }
    }
    pairs.sort_by_key(|(percent, a, b)| (std::cmp::Reverse(*percent), *a, *b));
    let mut used = BTreeSet::new();
    for (_, a, b) in pairs {
        if !moves.contains_key(&a) && used.insert(b) {
            moves.insert(a, b);
        }
    }
}

/// What two files have to share to be one that was moved.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Content<'a> {
    Read(&'a str),
    /// Not read: inode, size, mtime.
    Unread(u64, u64, i64),
}

impl<'a> Content<'a> {
    /// `None`: empty files are no proof.
    fn of(file: &MoveCandidate<'a>) -> Option<Content<'a>> {
        let stat = &file.stat;
        let content = match file.hashes {
            Some(hashes) => Content::Read(&hashes.sha256),
            None => Content::Unread(stat.inode, stat.size, stat.mtime_ns),
        };
        (stat.size > 0).then_some(content)
    }
}

fn name_of(path: &[u8]) -> &[u8] {
    let start = path.iter().rposition(|byte| *byte == b'/');
    &path[start.map_or(0, |at| at + 1)..]
}

/// Of 100: how much of the longer text stands in both, by whole lines.
pub fn similarity(a: &str, b: &str) -> usize {
    let longer = a.len().max(b.len());
    let shorter = a.len().min(b.len());
    if longer == 0 || shorter * 100 / longer < SIMILAR_PERCENT {
        return 0;
    }
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for line in a.split_inclusive('\n') {
        *lines.entry(line).or_default() += 1;
    }
    let mut shared = 0;
    for line in b.split_inclusive('\n') {
        if let Some(count) = lines.get_mut(line).filter(|count| **count > 0) {
            *count -= 1;
            shared += line.len();
        }
    }
    shared * 100 / longer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(of: &str) -> Hashes {
        Hashes {
            sha256: of.to_owned(),
            blob: String::new(),
        }
    }

    fn candidate<'a>(path: &'a str, hashes: &'a Hashes, text: &'a str) -> MoveCandidate<'a> {
        MoveCandidate {
            path: path.as_bytes(),
            hashes: Some(hashes),
            stat: Stat {
                size: text.len() as u64,
                ..Stat::default()
            },
            text: Some(text),
        }
    }

    #[test]
    fn the_same_content_under_the_same_name_goes_first() {
        let (a, b) = (hashes("a"), hashes("b"));
        let came = [candidate("y/two", &a, "x"), candidate("y/one", &a, "x")];
        let gone = [
            candidate("x/one", &a, "x"),
            candidate("x/two", &a, "x"),
            candidate("z", &b, "y"),
        ];
        assert_eq!(moves(&came, &gone), BTreeMap::from([(0, 1), (1, 0)]));
    }

    #[test]
    fn a_renamed_file_may_be_edited() {
        let (a, b, c) = (hashes("a"), hashes("b"), hashes("c"));
        let long = "one\ntwo\nthree\nfour\n";
        let came = [
            candidate("other", &c, "something\nelse\naltogether\n"),
            candidate("new", &b, "one\ntwo\nthree\nfive\n"),
        ];
        let gone = [candidate("old", &a, long)];
        assert_eq!(moves(&came, &gone), BTreeMap::from([(1, 0)]));
        assert_eq!(similarity(long, long), 100);
        assert_eq!(similarity("", ""), 0);
    }

    #[test]
    fn what_many_files_hold_is_no_move_to_another_name() {
        let (a, b) = (hashes("a"), hashes("b"));
        let gone = [candidate("x/a.json", &a, "{}\n")];
        assert!(moves(&[candidate("y/b.json", &a, "{}\n")], &gone).is_empty());
        assert_eq!(moves(&[candidate("y/a.json", &a, "{}\n")], &gone).len(), 1);
        let long = "word ".repeat(20);
        let gone = [candidate("x/a.md", &b, &long)];
        assert_eq!(moves(&[candidate("y/b.md", &b, &long)], &gone).len(), 1);
    }

    #[test]
    fn empty_files_are_no_moves() {
        let a = hashes("e3b0");
        assert!(moves(&[candidate("a", &a, "")], &[candidate("b", &a, "")]).is_empty());
    }

    fn named(path: &str) -> Named<'_> {
        Named {
            namespace: "n",
            path: path.as_bytes(),
            name: path,
        }
    }

    fn new<'a>(
        path: &'a str,
        words: &'a Words,
        hashes: &'a Hashes,
        before: Option<Uuid>,
    ) -> NewContent<'a> {
        NewContent {
            file: named(path),
            operation: FileOperation::Update,
            words,
            stat: Stat {
                size: 3,
                mtime_ns: 5_000_000_000,
                ..Stat::default()
            },
            hashes: Some(hashes),
            before,
            description: None,
            writer: &Writer::Someone,
            now: Time(9_000),
        }
    }

    #[test]
    fn ids_follow_the_strategy() {
        let words = Words::Text("abc".into());
        let (a, b) = (hashes("a"), hashes("b"));
        let id =
            |hashes, before, strategy| content(&new("x", &words, hashes, before), strategy).0.id;
        let first = id(&a, None, Strategy::Replace);
        assert_eq!(first, id(&b, Some(first), Strategy::Replace));
        let first = id(&a, None, Strategy::Version);
        let second = id(&b, Some(first), Strategy::Version);
        let third = id(&a, Some(second), Strategy::Version);
        assert_eq!(BTreeSet::from([first, second, third]).len(), 3);
        assert_eq!(first, id(&a, None, Strategy::Archive));
    }

    #[test]
    fn an_episode_has_the_documents_facts() {
        let words = Words::Named("binary");
        let a = hashes("aa");
        let (episode, facts) = content(&new("src/x", &words, &a, None), Strategy::Replace);
        assert_eq!(episode.title, "src/x");
        assert_eq!(episode.text, "src/x (binary, 3 bytes)");
        assert_eq!(episode.valid_at, Some(Time(5_000)));
        assert_eq!(episode.source, EpisodeSource::FilesystemWatch);
        assert_eq!(facts.content_hash.as_deref(), Some("sha256:aa"));
        let (file, before) = (named("src/x"), Some(episode.id));
        let (gone, facts) = deletion(file, before, &Writer::Someone, Time(9));
        assert_eq!(gone.text, "File deleted: src/x");
        assert_eq!(facts.previous_episode_uuid, Some(episode.id));
        assert_eq!(facts.deleted_at, Some(Time(9)));
    }
}
