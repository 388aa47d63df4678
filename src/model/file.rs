//! A file of a tracked project: what a look saw of it, and what is kept about each change. Plain values:
//! knows no disk and no pattern.

use super::git::FileOperation;
use super::source::Stat;
use super::time::Time;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_64;

/// Of the ids of files' episodes: UUIDv5 in this namespace.
const IDS: Uuid = Uuid::from_u128(0x0d5e_7b1a_92c4_5f63_a8b7_24e1_6c90_d3f8);

/// What a change does to the episode before it (004-075..077).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// The same episode gets the new content.
    #[default]
    Replace,
    /// Each content is an episode of its own; all stay valid for their time.
    Version,
    /// The same, and the old one is marked invalid.
    Archive,
}

impl Strategy {
    /// All of them, in the order of the declaration.
    pub const ALL: [Strategy; 3] = [Strategy::Replace, Strategy::Version, Strategy::Archive];

    /// The word used in configuration and output.
    pub fn as_str(self) -> &'static str {
        match self {
            Strategy::Replace => "replace",
            Strategy::Version => "version",
            Strategy::Archive => "archive",
        }
    }

    /// The inverse of [`Strategy::as_str`].
    pub fn parse(word: &str) -> Option<Strategy> {
        Strategy::ALL.into_iter().find(|s| s.as_str() == word)
    }
}

/// A file as a walk found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// Its bytes, from the project's root, with `/`.
    pub path: Vec<u8>,
    /// What `stat` says.
    pub stat: Stat,
    /// It was reached through a symbolic link.
    pub is_linked: bool,
}

/// What names a content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hashes {
    /// SHA-256, hex digits.
    pub sha256: String,
    /// The id that git gives it, SHA-1, hex digits (004-045).
    pub blob: String,
}

impl Hashes {
    /// As facts and people are told it.
    pub fn content_hash(&self) -> String {
        format!("sha256:{}", self.sha256)
    }
}

/// A path's bytes as the file system has them.
pub fn path_of(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// A file as the catalogue has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// What `stat` said; of times the mtime alone.
    pub stat: Stat,
    /// Of its content; absent where it was not read.
    pub hashes: Option<Hashes>,
    /// The episode that has its content.
    pub episode: Option<Uuid>,
    /// What its content's episode was told as.
    pub operation: Option<FileOperation>,
}

/// What is kept about a change beside its words (004-030..037, 004-051).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFacts {
    /// The path, from the project's root (D57).
    pub origin_path: String,
    /// What happened.
    pub operation: Option<FileOperation>,
    /// Bytes; absent where it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_size: Option<u64>,
    /// When it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_time: Option<Time>,
    /// `sha256:…`; absent where it is gone, or was not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<String>,
    /// Where it was before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_path: Option<String>,
    /// The git operation that did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_batch_id: Option<Uuid>,
    /// When a look found it gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Time>,
    /// The episode that had its content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_episode_uuid: Option<Uuid>,
    /// Since when it is not how things are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid_at: Option<Time>,
    /// What the configuration calls such files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_description: Option<String>,
}

impl FileFacts {
    /// What an episode tells of a file, by the documents' names (004-031..037, 004-051).
    pub fn document(&self) -> Value {
        let time = |at: Option<Time>| at.map(|at| at.rfc3339_millis());
        let id = |id: Option<Uuid>| id.map(|id| id.to_string());
        json!({
            "origin_path": self.origin_path,
            "operation": self.operation.map(FileOperation::as_str),
            "file_size": self.file_size,
            "modified_time": time(self.modified_time),
            "content_hash": self.content_hash,
            "previous_path": self.previous_path,
            "git_batch_id": id(self.git_batch_id),
            "deleted_at": time(self.deleted_at),
            "previous_episode_uuid": id(self.previous_episode_uuid),
            "invalid_at": time(self.invalid_at),
            "source_description": self.source_description,
        })
    }
}

/// What the catalogue compares: equal prints mean an unchanged file. Never 0, which no file has.
pub fn print_of(stat: &Stat) -> u64 {
    let mut bytes = [0; 32];
    let parts = [
        stat.size,
        stat.mtime_ns as u64,
        stat.ctime_ns as u64,
        stat.inode,
    ];
    for (slot, part) in bytes.chunks_mut(8).zip(parts) {
        slot.copy_from_slice(&part.to_le_bytes());
    }
    xxh3_64(&bytes).max(1)
}

/// A time stamp that may not tell the next write apart: the file was written when, or a tick before, it
/// was read. Stamps of whole seconds come from file systems that have no finer ones.
pub fn is_racy(stat: &Stat, read_at_ns: i64) -> bool {
    const TICK_NS: i64 = 20_000_000;
    const COARSE_NS: i64 = 2_000_000_000;
    let is_coarse = stat.mtime_ns % 1_000_000_000 == 0;
    let grain = if is_coarse { COARSE_NS } else { TICK_NS };
    stat.mtime_ns.max(stat.ctime_ns) >= read_at_ns.saturating_sub(grain)
}

/// A path in one line: bytes that are no UTF-8 and what drives a terminal as `\xNN`.
pub fn shown(path: &[u8]) -> String {
    let mut text = String::with_capacity(path.len());
    let escape = |text: &mut String, bytes: &[u8]| {
        for byte in bytes {
            // writing into a string can't fail
            let _ = write!(text, "\\x{byte:02x}");
        }
    };
    for chunk in path.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c.is_control() {
                true => escape(&mut text, c.to_string().as_bytes()),
                false => text.push(c),
            }
        }
        escape(&mut text, chunk.invalid());
    }
    text
}

/// The id of an episode about a file of a project; `of`: what tells it from the others of that file.
pub fn file_id(namespace: &str, path: &[u8], of: &[&str]) -> Uuid {
    let mut name = namespace.as_bytes().to_vec();
    for part in [path]
        .into_iter()
        .chain(of.iter().map(|part| part.as_bytes()))
    {
        name.push(0);
        name.extend_from_slice(part);
    }
    Uuid::new_v5(&IDS, &name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_one_line_of_utf8() {
        assert_eq!(shown("src/ä b.rs".as_bytes()), "src/ä b.rs");
        assert_eq!(shown(b"a\nb\xff\x1b[2J"), "a\\x0ab\\xff\\x1b[2J");
    }

    #[test]
    fn any_part_of_a_stat_is_told_apart() {
        let one = Stat {
            size: 1,
            ..Stat::default()
        };
        let all = [
            Stat::default(),
            one,
            Stat { mtime_ns: 1, ..one },
            Stat { ctime_ns: 1, ..one },
            Stat { inode: 1, ..one },
        ];
        let prints: std::collections::BTreeSet<u64> = all.iter().map(print_of).collect();
        assert_eq!(prints.len(), all.len());
        assert_eq!(print_of(&Stat { device: 7, ..one }), print_of(&one));
    }

    #[test]
    fn a_file_that_was_written_while_it_was_read_is_racy() {
        let at = |mtime_ns| Stat {
            mtime_ns,
            ..Stat::default()
        };
        let now = 1_700_000_000_123_456_789;
        assert!(is_racy(&at(now), now) && is_racy(&at(now + 5), now));
        assert!(is_racy(&at(now - 19_000_000), now));
        assert!(!is_racy(&at(now - 21_000_000), now));
        assert!(
            is_racy(&at(1_700_000_000_000_000_000), now),
            "whole seconds"
        );
    }
}
