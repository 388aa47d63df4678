//! The secret that HTTP clients show: made once, readable by its owner alone.

use crate::config::Home;
use crate::model::error::{Error, ErrorKind};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Bytes of chance in a token; more than anybody guesses.
const TOKEN_BYTES: usize = 32;

/// The token of this home, made where there is none, and the file that holds it.
///
/// # Errors
/// When the file can't be made or read, others may read it, or it holds something else.
pub fn token(home: &Home) -> Result<(String, PathBuf), Error> {
    let file = home.dir.join("mcp-token");
    let token = match fs::metadata(&file) {
        Ok(found) if found.permissions().mode() & 0o077 != 0 => {
            let why = "others may have read this token, so it is no longer accepted";
            return Err(refused(&file, why));
        }
        Ok(_) => read(&file).map_err(|error| refused(&file, &error.kind().to_string()))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            make(&file).map_err(|error| refused(&file, &error.kind().to_string()))?
        }
        Err(error) => return Err(refused(&file, &error.kind().to_string())),
    };
    match token.len() == 2 * TOKEN_BYTES && token.bytes().all(|b| b.is_ascii_hexdigit()) {
        true => Ok((token, file)),
        false => Err(refused(&file, "this is not one of our tokens")),
    }
}

fn refused(file: &Path, why: &str) -> Error {
    let message = format!("{}: {why}", file.display());
    let hint = format!("rm {}: the next start makes a new one", file.display());
    Error::new(ErrorKind::Failed, message).hinted(hint)
}

fn read(file: &Path) -> io::Result<String> {
    Ok(fs::read_to_string(file)?.trim().to_owned())
}

fn make(file: &Path) -> io::Result<String> {
    if let Some(dir) = file.parent() {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)?;
    }
    let mut chance = [0; TOKEN_BYTES];
    getrandom::fill(&mut chance)?;
    let mut token = String::new();
    for byte in chance {
        let _ = write!(token, "{byte:02x}");
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    options
        .open(file)?
        .write_all(format!("{token}\n").as_bytes())?;
    Ok(token)
}

/// Whether a request's `Authorization` is `Bearer <token>`. Takes as long for a near miss as for
/// another.
pub fn is_shown(header: Option<&[u8]>, token: &str) -> bool {
    let wants = format!("Bearer {token}");
    let shown = header.unwrap_or_default();
    Sha256::digest(shown) == Sha256::digest(wants.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_made_once_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home {
            dir: dir.path().join("home"),
        };
        let (first, file) = token(&home).unwrap();
        assert_eq!(first.len(), 64);
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert_eq!(token(&home).unwrap().0, first);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        let error = token(&home).unwrap_err();
        assert!(error.hint.is_some() && !error.message.contains(&first));
        fs::remove_file(&file).unwrap();
        assert_ne!(token(&home).unwrap().0, first);
        fs::write(&file, "guess").unwrap();
        assert!(token(&home).is_err());
    }

    #[test]
    fn only_the_whole_token_counts() {
        assert!(is_shown(Some(b"Bearer abc"), "abc"));
        for shown in [
            &b"Bearer ab"[..],
            b"Bearer abcd",
            b"bearer abc",
            b"abc",
            b"",
        ] {
            assert!(!is_shown(Some(shown), "abc"));
        }
        assert!(!is_shown(None, "abc"));
    }
}
