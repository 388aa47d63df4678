//! The content of a project's file, read once and whole, or not at all: no pipe is waited for, no
//! device touched, no link followed that was not seen before, nothing read past a limit.

use super::files::stat_of;
use super::object_id::blob_id;
use crate::model::file::Hashes;
use crate::model::source::Stat;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Component, Path};

/// A file's content, and what `stat` said of exactly these bytes.
#[derive(Clone, Debug)]
pub struct FileContent {
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

impl FileContent {
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

/// Reads the file below `root` that `seen` was said of, of at most as many bytes. An empty one is not opened;
/// one that was reached through links (`is_linked`) is to lie below the root too.
///
/// # Errors
/// Why it was not read.
pub fn read(root: &Path, path: &Path, seen: &Stat, is_linked: bool) -> Result<FileContent, Unread> {
    if seen.size == 0 {
        return Ok(FileContent {
            bytes: Vec::new(),
            hashes: hashes(&[]),
            stat: *seen,
        });
    }
    let (mut file, before) = match is_linked {
        true => open_linked(root, path)?,
        false => open_below(root, path)?,
    };
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
    Ok(FileContent {
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

/// The first bytes of a file, links followed; `None`: there is none, or it is no plain file.
pub fn read_start(path: &Path, bytes: u64) -> Option<Vec<u8>> {
    let (file, _) = open(path, true).ok()?;
    let mut start = Vec::new();
    file.take(bytes).read_to_end(&mut start).ok()?;
    Some(start)
}

/// The present time as file systems stamp it, in nanoseconds: of a file in this folder that nobody sees.
/// `None` where it can't be made.
pub fn file_system_now(dir: &Path) -> Option<i64> {
    let file = tempfile::tempfile_in(dir).ok()?;
    Some(stat_of(&file.metadata().ok()?).mtime_ns)
}

/// Follows no link below the root, neither in the folders on the way: they may have been others when they were
/// listed.
fn open_below(root: &Path, path: &Path) -> Result<(File, Stat), Unread> {
    let folder = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let failed = |error: Errno| unread(error.into());
    let mut at = rustix::fs::open(root, folder, Mode::empty()).map_err(failed)?;
    let mut parts = path.components().peekable();
    while let Some(Component::Normal(part)) = parts.next() {
        let flags = match parts.peek() {
            Some(_) => folder,
            None => FLAGS,
        };
        let opened = rustix::fs::openat(&at, part, flags | OFlags::NOFOLLOW, Mode::empty());
        at = opened.map_err(failed)?;
    }
    plain(File::from(at))
}

/// Follows links, and looks afterwards whether what was opened is what lies below the root.
fn open_linked(root: &Path, path: &Path) -> Result<(File, Stat), Unread> {
    let path = root.join(path);
    let (file, stat) = open(&path, true)?;
    let real = path.canonicalize().map_err(unread)?;
    let is_inside = real.starts_with(root.canonicalize().map_err(unread)?);
    let there = stat_of(&real.symlink_metadata().map_err(unread)?);
    let is_it = (there.device, there.inode) == (stat.device, stat.inode);
    match is_inside && is_it {
        true => Ok((file, stat)),
        false => Err(Unread::Changing),
    }
}

/// No pipe is waited for, no terminal taken.
const FLAGS: OFlags = OFlags::NONBLOCK
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOCTTY);

fn open(path: &Path, follows: bool) -> Result<(File, Stat), Unread> {
    let flags = match follows {
        true => FLAGS,
        false => FLAGS | OFlags::NOFOLLOW,
    };
    let opened = rustix::fs::open(path, flags, Mode::empty());
    plain(File::from(opened.map_err(|error| unread(error.into()))?))
}

fn plain(file: File) -> Result<(File, Stat), Unread> {
    let meta = file.metadata().map_err(unread)?;
    match meta.is_file() {
        true => Ok((file, stat_of(&meta))),
        false => Err(Unread::Changing),
    }
}

fn unread(error: std::io::Error) -> Unread {
    let is_link = error.raw_os_error() == Some(Errno::LOOP.raw_os_error());
    match error.kind() {
        ErrorKind::NotFound => Unread::Vanished,
        // a link where a folder was is none
        ErrorKind::NotADirectory => Unread::Changing,
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
        let read = |seen: &Stat, is_linked| read(dir.path(), Path::new("a"), seen, is_linked);
        fs::write(&path, "hello\n").unwrap();
        let seen = stat_of(&fs::symlink_metadata(&path).unwrap());
        let content = read(&seen, false).unwrap();
        assert_eq!(content.text(), Some("hello\n"));
        assert_eq!(
            content.hashes.blob,
            "ce013625030ba8dba906f756967f9e9ca394464a"
        );
        assert!(content.hashes.sha256.starts_with("5891b5b522d5df08"));
        // another file under the same name, a link to one, a pipe: not what was seen
        fs::remove_file(&path).unwrap();
        assert_eq!(read(&seen, false).unwrap_err(), Unread::Vanished);
        std::os::unix::fs::symlink("/etc/hostname", &path).unwrap();
        assert_eq!(read(&seen, false).unwrap_err(), Unread::Changing);
        assert_eq!(read(&seen, true).unwrap_err(), Unread::Changing);
        fs::remove_file(&path).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        assert_eq!(read(&seen, false).unwrap_err(), Unread::Changing);
        assert_eq!(read_small(&path, 100), None);
    }

    #[test]
    fn what_grows_while_it_is_read_is_left_for_later() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        fs::write(&path, "hello, and more").unwrap();
        let mut seen = stat_of(&fs::symlink_metadata(&path).unwrap());
        seen.size = 5;
        let read = read(dir.path(), Path::new("a"), &seen, false);
        assert_eq!(read.unwrap_err(), Unread::Changing);
    }

    #[test]
    fn a_folder_that_became_a_link_is_not_gone_through() {
        let dir = tempfile::tempdir().unwrap();
        let (root, out) = (dir.path().join("app"), dir.path().join("out"));
        for folder in [&root, &out] {
            fs::create_dir(folder).unwrap();
        }
        fs::write(out.join("a"), "private\n").unwrap();
        std::os::unix::fs::symlink(&out, root.join("sub")).unwrap();
        let seen = stat_of(&fs::metadata(out.join("a")).unwrap());
        for is_linked in [false, true] {
            let read = read(&root, Path::new("sub/a"), &seen, is_linked);
            assert_eq!(read.unwrap_err(), Unread::Changing);
        }
        // inside it is what was asked for
        fs::create_dir(root.join("real")).unwrap();
        fs::rename(out.join("a"), root.join("real/a")).unwrap();
        fs::remove_file(root.join("sub")).unwrap();
        std::os::unix::fs::symlink(root.join("real"), root.join("sub")).unwrap();
        let seen = stat_of(&fs::metadata(root.join("real/a")).unwrap());
        assert!(read(&root, Path::new("sub/a"), &seen, true).is_ok());
    }

    #[test]
    fn binary_is_no_text() {
        let content = |bytes: &[u8]| FileContent {
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
