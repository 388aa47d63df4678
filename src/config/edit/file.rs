//! Settings files on disk: written whole or not at all, by one at a time.

use crate::model::error::Error;
use std::fs;
use std::io::Write;
use std::path::Path;

/// Held while settings are read and written: of two who change them at once, each keeps what it wrote.
pub(super) struct Alone(fs::File);

impl Alone {
    /// Waits for whoever is at it. Makes the folder where there is none.
    pub(super) fn with(file: &Path) -> Result<Alone, Error> {
        let dir = file.parent().unwrap_or(Path::new("."));
        let named = |e: std::io::Error| Error::usage(format!("{}: {e}", dir.display()));
        if !dir.is_dir() {
            create_private_dir(dir).map_err(named)?;
        }
        let folder = fs::File::open(dir).map_err(named)?;
        // a file system without locks has nobody else at it, or nobody can help it
        let _ = folder.lock();
        Ok(Alone(folder))
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Writes a file whole or not at all: through a temporary one in the same folder, for its owner
/// only where it is new. A link to a file elsewhere stays a link.
pub fn write(file: &Path, text: &str) -> Result<(), Error> {
    let target = fs::canonicalize(file).unwrap_or(file.to_path_buf());
    let dir = target.parent().unwrap_or(Path::new("."));
    let named = |e: std::io::Error| Error::usage(format!("{}: {e}", target.display()));
    if !dir.is_dir() {
        create_private_dir(dir).map_err(named)?;
    }
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let temporary = dir.join(format!(".{name}.{}", std::process::id()));
    let written = write_private(&temporary, &target, text)
        .and_then(|()| fs::rename(&temporary, &target))
        .map_err(named);
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

#[cfg(unix)]
fn create_private_dir(dir: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(dir)
}

#[cfg(not(unix))]
fn create_private_dir(dir: &Path) -> std::io::Result<()> {
    fs::create_dir_all(dir)
}

/// Writes a new file that only its owner may read, or with the mode of the file it will replace.
fn write_private(temporary: &Path, target: &Path, text: &str) -> std::io::Result<()> {
    let _ = fs::remove_file(temporary);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut out = options.open(temporary)?;
    if let Ok(old) = fs::metadata(target) {
        out.set_permissions(old.permissions())?;
    }
    out.write_all(text.as_bytes())?;
    out.sync_all()
}
