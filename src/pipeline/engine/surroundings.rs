//! What stages go by where there is no home: the settings of a folder that somebody hands along, or none.

use crate::agents::registry;
use crate::config::{self, Env, Home, Loaded};
use crate::memory::redaction_setup::{self, Redaction};
use crate::model::error::Error;
use anyhow::Result;
use std::fs;
use std::path::{Path, PathBuf};

/// The settings, and where they were read.
pub struct Surroundings {
    /// The settings.
    pub loaded: Loaded,
    /// An environment that names nothing of this machine.
    pub env: Env,
    /// The folder of the settings.
    pub home: Home,
}

impl Surroundings {
    /// By a folder that looks like `~/.graphiti` (settings, rules and tables of one's own, `redact.key`); `None`:
    /// by the defaults. Reads it and nothing else; writes nothing.
    ///
    /// # Errors
    /// When there is no such folder, or the settings are wrong (file and line).
    pub fn of(settings: Option<&Path>) -> Result<Surroundings> {
        if let Some(dir) = settings.filter(|dir| !dir.is_dir()) {
            let message = format!("{}: is not a folder", dir.display());
            let hint = "copy ~/.graphiti/graphiti.config.yaml into a folder and name that";
            return Err(Error::usage(message).hinted(hint).into());
        }
        let nowhere = PathBuf::from("/nonexistent");
        let dir = settings.map_or_else(|| nowhere.join(".graphiti"), Path::to_path_buf);
        let dir = std::path::absolute(dir)?;
        let home = (
            "SESSIONMILL_HOME".into(),
            dir.to_string_lossy().into_owned(),
        );
        let env = Env {
            home: nowhere.clone(),
            cwd: nowhere,
            vars: [home].into(),
        };
        Ok(Surroundings {
            loaded: config::load(&env, registry::log_folders)?,
            home: Home::of(&env),
            env,
        })
    }

    /// The same by a copy of such a folder in `place`, which may be written to.
    ///
    /// # Errors
    /// As [`Surroundings::of`], and when the copy can't be made.
    pub fn copied(settings: Option<&Path>, place: &Path) -> Result<Surroundings> {
        let home = place.join("home");
        fs::create_dir_all(&home)?;
        if let Some(dir) = settings {
            Surroundings::of(settings)?;
            copy(dir, &home, FOLDERS_DEEP)?;
        }
        Surroundings::of(Some(&home))
    }

    /// What is kept out: with the folder's key, where it has one. Makes none.
    ///
    /// # Errors
    /// When a rule is wrong (file and line), or the key is none.
    pub fn redaction(&self) -> Result<Redaction> {
        match self.home.redact_key().exists() {
            true => redaction_setup::load(&self.loaded.config, &self.home),
            false => redaction_setup::reproducible(&self.loaded.config, &self.home),
        }
    }
}

/// Folders of a folder of settings that are looked into: tables and pipelines are one deep.
const FOLDERS_DEEP: usize = 1;

/// Settings are small files; a store beside them is none.
fn copy(from: &Path, to: &Path, deep: usize) -> Result<()> {
    const FILE_BYTES_MAX: u64 = 4 << 20;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        let meta = path.metadata()?;
        if meta.is_dir() && deep > 0 {
            fs::create_dir_all(&target)?;
            copy(&path, &target, deep - 1)?;
        } else if meta.is_file() && meta.len() <= FILE_BYTES_MAX && !is_store(&path) {
            fs::copy(&path, &target)?;
        }
    }
    Ok(())
}

fn is_store(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_none_or(|name| name.contains(".db"))
}
