//! What requests to others need of the environment: keys and passwords, by the names that the settings
//! give, and proxies. A key that is not in the environment is looked for in the file `env` of our folder,
//! since a timer has no shell; it is never in the settings themselves.

use crate::config::{Env, Home};
use crate::model::error::Error;
use crate::net::http::Proxies;
use anyhow::Result;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// What the variable `name` holds, which `setting` asks for.
///
/// # Errors
/// `Usage` with what to do, where it is nowhere, or others may read the file.
pub fn key(setting: &str, name: &str, env: &Env) -> Result<String> {
    if let Some(key) = env.var(name) {
        return Ok(key.to_owned());
    }
    let file = Home::of(env).secrets();
    let missing = || {
        Error::usage(format!("{setting}: the variable {name} is not set"))
            .hinted(format!("put {name}=… into {} (chmod 600)", file.display()))
    };
    Ok(kept(&file)?.remove(name).ok_or_else(missing)?)
}

/// `NAME=value` lines of the file; none where there is no file. One that others may read is refused.
fn kept(file: &Path) -> Result<BTreeMap<String, String>> {
    let named = || file.display().to_string();
    let unread = |error| Error::usage(format!("{}: {error}", named()));
    let mode = match fs::metadata(file) {
        Ok(meta) => meta.permissions().mode(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(unread(error).into()),
    };
    if mode & 0o077 != 0 {
        let error = Error::usage(format!("{} can be read by others", named()));
        return Err(error.hinted(format!("chmod 600 {}", named())).into());
    }
    let text = fs::read_to_string(file).map_err(unread)?;
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with('#'));
    let pairs = lines.filter_map(|line| line.trim_start_matches("export ").split_once('='));
    let unquoted = |value: &str| value.trim().trim_matches(['"', '\'']).to_owned();
    Ok(pairs
        .map(|(name, value)| (name.trim().to_owned(), unquoted(value)))
        .collect())
}

/// Proxies, as the environment names them.
pub fn proxies(env: &Env) -> Proxies {
    let var = |name: &str| {
        let lower = name.to_ascii_lowercase();
        let found = env.var(name).or_else(|| env.var(&lower));
        found.map(str::to_owned)
    };
    Proxies {
        https: var("HTTPS_PROXY").or_else(|| var("ALL_PROXY")),
        none: var("NO_PROXY"),
    }
}
