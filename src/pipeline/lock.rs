//! The one lock: who holds it may write the store. Its file's modification time is the time of the
//! last run (architecture § 4, 4), so that a run without news leaves nothing else behind.

use crate::model::error::{Error, ErrorKind};
use crate::model::time::Time;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// Held until dropped; the system lets go of it when the process dies, however it dies.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock at `path` or fails at once: kind `Busy` when another process holds it. Makes
    /// the file (0600) and its folder (0700) where there is none.
    pub fn take(path: &Path) -> Result<Lock, Error> {
        Lock::take_for("another command", path)
    }

    /// The same; whoever finds it held is told by what: `run nightly`.
    ///
    /// # Errors
    /// As [`Lock::take`].
    pub fn take_for(what: &str, path: &Path) -> Result<Lock, Error> {
        let failed = |error: &io::Error| {
            let message = format!("{}: {error}", path.display());
            Error::new(ErrorKind::Failed, message).hinted(match error.kind() {
                io::ErrorKind::StorageFull => "free disk space, then try again",
                _ => "make the folder writable, or set SESSIONMILL_HOME to another one",
            })
        };
        if let Some(dir) = path.parent() {
            let mut builder = std::fs::DirBuilder::new();
            builder.recursive(true).mode(0o700);
            builder.create(dir).map_err(|e| failed(&e))?;
        }
        let file = open(path).map_err(|e| failed(&e))?;
        match file.try_lock() {
            Ok(()) => {
                let lock = Lock { file };
                // a full disk says it where it matters
                let _ = lock.sign(what);
                Ok(lock)
            }
            Err(TryLockError::WouldBlock) => {
                let by = match holder(path) {
                    Some((process, what)) => format!(": {what} (process {process})"),
                    None => String::new(),
                };
                let message = format!("another run holds the lock{by}");
                Err(Error::new(ErrorKind::Busy, message)
                    .hinted("wait for it to finish, then try again"))
            }
            Err(TryLockError::Error(error)) => Err(failed(&error)),
        }
    }

    /// Writes down who holds it, for [`holder`]; the file's time stays.
    fn sign(&self, what: &str) -> io::Result<()> {
        let last = self.file.metadata()?.modified()?;
        self.file.set_len(0)?;
        (&self.file).write_all(format!("{} {what}", std::process::id()).as_bytes())?;
        self.file.set_modified(last)
    }

    /// Notes that a run went through at `now`.
    pub fn stamp(&self, now: Time) -> Result<(), Error> {
        let since_epoch = Duration::from_millis(u64::try_from(now.0).unwrap_or(0));
        self.file
            .set_modified(UNIX_EPOCH + since_epoch)
            .map_err(|e| Error::new(ErrorKind::Failed, format!("the lock's time: {e}")))
    }
}

impl Drop for Lock {
    /// Not left to closing the file: a process that is being started has it open for a moment too.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

/// A new file says that no run ever went through: its time is the epoch.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    match options.clone().create_new(true).open(path) {
        Ok(file) => file.set_modified(UNIX_EPOCH).map(|()| file),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => options.open(path),
        Err(error) => Err(error),
    }
}

/// The process that took a lock last, and for what; `None` where nobody can say.
pub fn holder(path: &Path) -> Option<(u32, String)> {
    let text = std::fs::read_to_string(path).ok()?;
    let (process, what) = text.split_once(' ')?;
    Some((process.parse().ok()?, what.to_owned()))
}

/// Somebody holds it at this moment.
pub fn is_held(path: &Path) -> bool {
    let file = OpenOptions::new().write(true).open(path);
    file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// When the last run went through; `None` when none ever did. The lock need not be held.
pub fn last_run(path: &Path) -> Option<Time> {
    let modified = path.metadata().ok()?.modified().ok()?;
    let since_epoch = modified.duration_since(UNIX_EPOCH).ok()?;
    let millis = i64::try_from(since_epoch.as_millis()).ok()?;
    (millis > 0).then_some(Time(millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_one_fails_at_once_and_the_next_one_may() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("home/sessionmill.lock");
        assert_eq!(last_run(&path), None);
        let lock = Lock::take(&path).unwrap();
        assert_eq!(Lock::take(&path).unwrap_err().kind, ErrorKind::Busy);
        assert_eq!(last_run(&path), None, "taking it is no run");
        lock.stamp(Time(1_700_000_000_123)).unwrap();
        drop(lock);
        assert_eq!(last_run(&path), Some(Time(1_700_000_000_123)));
        assert!(Lock::take(&path).is_ok());
    }
}
