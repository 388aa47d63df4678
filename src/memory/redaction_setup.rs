//! What is kept out of the store in this home: secrets, by the user's rules and the key of the hashes in
//! placeholders, and what people mark.

use crate::config::{Config, Home};
use crate::model::error::Error;
use crate::rules::markers::Markers;
use crate::rules::secrets::{Redactor, UserRules};
use anyhow::{Context, Result};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// What is kept out of the store.
#[derive(Default)]
pub struct Redaction {
    /// Secrets.
    pub redactor: Redactor,
    /// What people mark.
    pub markers: Markers,
}

/// What a run keeps out. Makes the key where there is none.
///
/// # Errors
/// When the user's rules are wrong (file and line), or the key can't be read or made.
pub fn load(config: &Config, home: &Home) -> Result<Redaction> {
    let rules = user_rules(home)?;
    let key = key(&home.redact_key())?;
    Ok(Redaction {
        redactor: Redactor::new(key, config.masks_personal, rules),
        markers: markers(home)?,
    })
}

/// One for what is not stored: the same hashes everywhere, nothing is written.
///
/// # Errors
/// When the user's rules are wrong (file and line).
pub fn reproducible(config: &Config, home: &Home) -> Result<Redaction> {
    Ok(Redaction {
        redactor: Redactor::new([0; 32], config.masks_personal, user_rules(home)?),
        markers: markers(home)?,
    })
}

/// Whether [`load`] would do. Makes and changes nothing.
///
/// # Errors
/// As [`load`].
pub fn check(home: &Home) -> Result<()> {
    user_rules(home)?;
    markers(home)?;
    let file = home.redact_key();
    match file.exists() {
        true => key(&file).map(drop),
        false => Ok(()),
    }
}

fn user_rules(home: &Home) -> Result<UserRules> {
    let file = home.secret_rules();
    Ok(UserRules::parse(&file, &written(&file)?)?)
}

fn markers(home: &Home) -> Result<Markers> {
    let file = home.marker_rules();
    Ok(Markers::parse(&file, &written(&file)?)?)
}

/// A file's text; empty where there is none.
fn written(file: &Path) -> Result<String> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(Error::usage(format!("{}: {error}", file.display())).into()),
    }
}

fn key(file: &Path) -> Result<[u8; 32]> {
    let made = || make(file).with_context(|| format!("make {}", file.display()));
    let bytes = match fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return made(),
        Err(error) => return Err(Error::usage(format!("{}: {error}", file.display())).into()),
    };
    <[u8; 32]>::try_from(bytes).map_err(|_| {
        let hint = "remove it; equal secrets then get other placeholders than before";
        Error::usage(format!("{}: is not a key of 32 bytes", file.display()))
            .hinted(hint)
            .into()
    })
}

fn make(file: &Path) -> Result<[u8; 32]> {
    let mut key = [0; 32];
    getrandom::fill(&mut key)?;
    let mut options = File::options();
    options.write(true).create_new(true).mode(0o600);
    options.open(file)?.write_all(&key)?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_key_is_made_once_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("redact.key");
        let made = key(&file).unwrap();
        assert_ne!(made, [0; 32]);
        assert_eq!(key(&file).unwrap(), made);
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        fs::write(&file, "short").unwrap();
        let error = key(&file).unwrap_err().to_string();
        assert!(error.ends_with("is not a key of 32 bytes"), "{error}");
    }

    #[test]
    fn rules_of_ones_own_are_read_and_wrong_ones_named() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home {
            dir: dir.path().to_owned(),
        };
        assert!(user_rules(&home).is_ok());
        fs::create_dir(dir.path().join("rules")).unwrap();
        fs::write(home.secret_rules(), "\noff: [nothing]\n").unwrap();
        let error = user_rules(&home).unwrap_err().to_string();
        assert!(error.contains("secrets.yaml:2: "), "{error}");
    }
}
