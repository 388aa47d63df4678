//! A change of an agent's settings file: known whole before it is written, and written whole or not at all.

use crate::config::edit;
use crate::model::error::{Error, ErrorKind};
use crate::model::source::Agent;
use similar::TextDiff;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A change of one file that was read and isn't written yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsChange {
    /// Whose.
    pub agent: Agent,
    /// The file.
    pub file: PathBuf,
    /// Its text; `None`: it isn't there.
    pub before: Option<String>,
    /// What it is to be; `None`: it is to go.
    pub after: Option<String>,
    /// What of ours stays, because somebody changed it by hand.
    pub left: Vec<String>,
    /// Why it isn't changed, where others are all the same.
    pub fault: Option<Error>,
}

impl SettingsChange {
    /// Something is different.
    pub fn is_news(&self) -> bool {
        self.before != self.after
    }

    /// The lines that differ, as `diff -u` shows them; empty where there is no news.
    pub fn diff(&self) -> String {
        let name = self.file.display().to_string();
        let side = |text: &Option<String>| match text {
            Some(_) => name.clone(),
            None => "/dev/null".to_owned(),
        };
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let (before, after) = (text(&self.before), text(&self.after));
        TextDiff::from_lines(&before, &after)
            .unified_diff()
            .header(&side(&self.before), &side(&self.after))
            .to_string()
    }

    /// Writes it: all of it or nothing, with the mode of the file that is there. A link stays a link.
    ///
    /// # Errors
    /// When somebody else changed the file since it was read, or it can't be written.
    pub fn write(&self) -> Result<(), Error> {
        if !self.is_news() {
            return Ok(());
        }
        if read(&self.file)? != self.before {
            let message = format!("{}: another program is changing it", self.file.display());
            return Err(Error::new(ErrorKind::Failed, message).hinted("try again"));
        }
        match &self.after {
            Some(text) => edit::write(&self.file, text),
            None => fs::canonicalize(&self.file)
                .and_then(fs::remove_file)
                .map_err(|error| named(&self.file, &error)),
        }
    }
}

/// The text of an agent's file; `None` where there is none.
///
/// # Errors
/// When it can't be read, is a folder, a pipe or a device, or a broken link.
pub fn read(file: &Path) -> Result<Option<String>, Error> {
    let refused = |what: &str| {
        let message = format!("{}: {what}", file.display());
        Err(Error::new(ErrorKind::Failed, message).hinted("put a file in its place"))
    };
    match fs::metadata(file) {
        Ok(there) if !there.is_file() => return refused("not a regular file"),
        Err(_) if fs::symlink_metadata(file).is_ok() => {
            return refused("a broken link");
        }
        _ => {}
    }
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(named(file, &error)),
    }
}

fn named(file: &Path, error: &io::Error) -> Error {
    Error::new(ErrorKind::Failed, format!("{}: {error}", file.display()))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_link_stays_and_what_is_no_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "{}").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let change = SettingsChange {
            agent: Agent::new("claude"),
            left: Vec::new(),
            fault: None,
            file: link.clone(),
            before: read(&link).unwrap(),
            after: None,
        };
        change.write().unwrap();
        assert!(!file.exists() && fs::symlink_metadata(&link).is_ok());
        let device = folder.path().join("device");
        std::os::unix::fs::symlink("/dev/null", &device).unwrap();
        assert!(read(&device).is_err() && read(folder.path()).is_err());
        assert!(read(&link).is_err(), "what it leads to is gone");
    }
}
