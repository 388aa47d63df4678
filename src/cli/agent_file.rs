//! Changing an agent's own settings: shown first, then written whole. Knows files and differences;
//! refuses to know what stands in them (`config`).

use super::ctx::Ctx;
use crate::config::edit;
use crate::model::error::{Error, ErrorKind};
use anyhow::Result;
use similar::TextDiff;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A change of one file that was read and isn't written yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub file: PathBuf,
    /// Its text; `None`: it isn't there.
    pub before: Option<String>,
    /// What it is to be; `None`: it is to go.
    pub after: Option<String>,
}

impl Change {
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
            let message = format!("{}: somebody else changes it", self.file.display());
            return Err(Error::new(ErrorKind::Failed, message).hinted("type it again"));
        }
        match &self.after {
            Some(text) => edit::write(&self.file, text),
            None => fs::remove_file(&self.file).map_err(|error| named(&self.file, &error)),
        }
    }

    /// Shows it where that is all that is wanted, else writes it and says so.
    pub fn carry_out(&self, dry_run: bool, ctx: &mut Ctx) -> Result<()> {
        if dry_run {
            return ctx.out.text(self.diff());
        }
        self.write()?;
        let file = self.file.display();
        match (self.is_news(), &self.after) {
            (true, Some(_)) => ctx.out.line(format!("wrote {file}")),
            (true, None) => ctx.out.line(format!("removed {file}")),
            (false, _) => ctx.out.line(format!("{file} stays as it is")),
        }
    }
}

/// The text of an agent's file; `None` where there is none.
///
/// # Errors
/// When it can't be read.
pub fn read(file: &Path) -> Result<Option<String>, Error> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(named(file, &error)),
    }
}

fn named(file: &Path, error: &io::Error) -> Error {
    Error::usage(format!("{}: {error}", file.display()))
}
