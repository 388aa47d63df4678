//! A file appears whole or not at all: written beside, synced, renamed, the folder synced.

use crate::model::delivery::DeliveryError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What a half-written file is called; the next write of the same file replaces it.
const PART: &str = ".part";

/// Makes a folder, readable by its owner only.
pub fn folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
}

/// Writes a file of which nobody ever sees a part. The folder must be there.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let part = part_of(path);
    let mut file = open(&part)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    drop(file);
    fs::rename(&part, path)?;
    sync_folder(path)
}

/// Writes a file that is read at once and removed then: as it comes, without waiting for the disk.
pub fn write_scratch(path: &Path, bytes: &[u8]) -> io::Result<()> {
    open(path)?.write_all(bytes)
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(path)
}

/// Removes a file and what somebody who died left of writing it; one that isn't there is removed.
pub fn remove(path: &Path) -> io::Result<()> {
    discard(path)?;
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other.and_then(|()| sync_folder(path)),
    }
}

/// Removes what somebody who died left of writing a file.
pub fn discard(path: &Path) -> io::Result<()> {
    match fs::remove_file(part_of(path)) {
        Err(error) if is_nothing_there(&error) => Ok(()),
        other => other,
    }
}

/// The file, or a folder above it, isn't there.
pub fn is_nothing_there(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

fn part_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(PART);
    path.with_file_name(name)
}

fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// A disk that is full or a folder that is away may be back later.
pub fn fault(path: &Path) -> impl FnOnce(io::Error) -> DeliveryError + '_ {
    move |error| {
        let reason = format!("{}: {}", path.display(), error.kind());
        match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                DeliveryError::Misconfigured(reason)
            }
            _ => DeliveryError::Unavailable(reason, None),
        }
    }
}
