//! The content of a project's file, read once and whole, or not at all: no pipe is waited for, no device
//! touched, no link followed that was not seen before, nothing read past a limit. Refuses to know what
//! the content means.

use super::files::stat_of;
use super::repository::blob_id;
use crate::model::file::Hashes;
use crate::model::source::Stat;
use rustix::fs::OFlags;
use rustix::io::Errno;
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// A file's content, and what `stat` said of exactly these bytes.
#[derive(Clone, Debug)]
pub struct Content {
    /// All of it.
    pub bytes: Vec<u8>,
    /// What names it.
    pub hashes: Hashes,
    /// Before and after it was read.
    pub stat: Stat,
}

/// Why a file was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// It is gone.
    Vanished,
    /// It was written meanwhile, or is another file by now.
    Changing,
    /// It may not be read, or the disk fails. Never content.
    Unreadable(String),
}

/// Bytes in which git looks for a zero.
const BINARY_BYTES: usize = 8_000;

impl Content {
    /// As text; `None`: binary, or no UTF-8.
    pub fn text(&self) -> Option<&str> {
        match is_binary(&self.bytes) {
            true => None,
            false => std::str::from_utf8(&self.bytes).ok(),
        }
    }
}

/// As git tells it: a zero is among the first bytes.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(BINARY_BYTES).any(|byte| *byte == 0)
}

/// Reads the file that `seen` was said of, of at most as many bytes. An empty one is not opened.
///
/// # Errors
/// Why it was not read.
pub fn read(path: &Path, seen: &Stat, is_linked: bool) -> Result<Content, Unread> {
    if seen.size == 0 {
        return Ok(Content {
            bytes: Vec::new(),
            hashes: hashes(&[]),
            stat: *seen,
        });
    }
    let (mut file, before) = open(path, is_linked)?;
    let is_same = |stat: &Stat| {
        let of = |stat: &Stat| (stat.device, stat.inode, stat.size, stat.mtime_ns);
        of(stat) == of(seen)
    };
    if !is_same(&before) {
        return Err(Unread::Changing);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(seen.size).unwrap_or_default());
    let limit = seen.size.saturating_add(1);
    (&mut file)
        .take(limit)
        .read_to_end(&mut bytes)
        .map_err(unread)?;
    let after = stat_of(&file.metadata().map_err(unread)?);
    if bytes.len() as u64 != seen.size || !is_same(&after) {
        return Err(Unread::Changing);
    }
    Ok(Content {
        hashes: hashes(&bytes),
        bytes,
        stat: after,
    })
}

/// A small file; `None`: there is none, it is no plain file, or longer.
pub fn read_small(path: &Path, bytes_max: u64) -> Option<Vec<u8>> {
    let (file, stat) = open(path, false).ok()?;
    let mut bytes = Vec::new();
    if stat.size > bytes_max {
        return None;
    }
    file.take(bytes_max).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The present time as file systems stamp it, in nanoseconds: of a file in this folder that nobody sees.
/// `None` where it can't be made.
pub fn file_system_now(dir: &Path) -> Option<i64> {
    let file = tempfile::tempfile_in(dir).ok()?;
    Some(stat_of(&file.metadata().ok()?).mtime_ns)
}

fn open(path: &Path, is_linked: bool) -> Result<(File, Stat), Unread> {
    let mut flags = OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    if !is_linked {
        flags |= OFlags::NOFOLLOW;
    }
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits() as i32)
        .open(path)
        .map_err(unread)?;
    let meta = file.metadata().map_err(unread)?;
    match meta.is_file() {
        true => Ok((file, stat_of(&meta))),
        false => Err(Unread::Changing),
    }
}

fn unread(error: std::io::Error) -> Unread {
    let is_link = error.raw_os_error() == Some(Errno::LOOP.raw_os_error());
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Unread::Vanished,
        _ if is_link => Unread::Changing,
        kind => Unread::Unreadable(kind.to_string()),
    }
}

fn hashes(bytes: &[u8]) -> Hashes {
    let sha256 = Sha256::digest(bytes);
    Hashes {
        sha256: sha256.iter().map(|byte| format!("{byte:02x}")).collect(),
        blob: blob_id(bytes).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_what_was_seen_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        fs::write(&path, "hello\n").unwrap();
        let seen = stat_of(&fs::symlink_metadata(&path).unwrap());
        let content = read(&path, &seen, false).unwrap();
        assert_eq!(content.text(), Some("hello\n"));
        assert_eq!(
            content.hashes.blob,
            "ce013625030ba8dba906f756967f9e9ca394464a"
        );
        assert!(content.hashes.sha256.starts_with("5891b5b522d5df08"));
        // another file under the same name, a link to one, a pipe: not what was seen
        fs::remove_file(&path).unwrap();
        assert_eq!(read(&path, &seen, false).unwrap_err(), Unread::Vanished);
        std::os::unix::fs::symlink("/etc/hostname", &path).unwrap();
        assert_eq!(read(&path, &seen, false).unwrap_err(), Unread::Changing);
        assert_eq!(read(&path, &seen, true).unwrap_err(), Unread::Changing);
        fs::remove_file(&path).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        assert_eq!(read(&path, &seen, false).unwrap_err(), Unread::Changing);
        assert_eq!(read_small(&path, 100), None);
    }

    #[test]
    fn what_grows_while_it_is_read_is_left_for_later() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        fs::write(&path, "hello, and more").unwrap();
        let mut seen = stat_of(&fs::symlink_metadata(&path).unwrap());
        seen.size = 5;
        assert_eq!(read(&path, &seen, false).unwrap_err(), Unread::Changing);
    }

    #[test]
    fn binary_is_no_text() {
        let content = |bytes: &[u8]| Content {
            bytes: bytes.to_vec(),
            hashes: Hashes::default(),
            stat: Stat::default(),
        };
        assert_eq!(content(b"a\0b").text(), None);
        assert_eq!(content(b"caf\xe9").text(), None);
        assert_eq!(content("café".as_bytes()).text(), Some("café"));
    }

    #[test]
    fn file_systems_have_a_clock() {
        let dir = tempfile::tempdir().unwrap();
        assert!(file_system_now(dir.path()).unwrap() > 1_700_000_000_000_000_000);
    }
}
