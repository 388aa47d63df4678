//! Values as people write them: paths, spans of time, sizes, namespaces. Pure: a path is not looked
//! for.

use super::env::Env;
use crate::model::namespace::{namespace, project_root};
use std::path::PathBuf;

/// `~` and variables expanded, and absolute; else what is wrong with it (D11).
pub fn absolute(written: &str, env: &Env) -> Result<PathBuf, String> {
    let path = PathBuf::from(env.expand(written).map_err(|e| e.message)?);
    if path.is_absolute() {
        Ok(path.components().collect())
    } else {
        Err(format!(
            "must be absolute, `{written}` would be {}",
            env.cwd.join(&path).display()
        ))
    }
}

/// A span of time: a number and `s`, `min` (or `m`), `h`, `d`. `None` for anything else.
pub fn seconds(written: &str) -> Option<u64> {
    let text = written.trim();
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let unit = match text[digits..].trim() {
        "s" | "sec" | "seconds" => 1,
        "m" | "min" | "minutes" => 60,
        "h" | "hours" => 3_600,
        "d" | "days" => 86_400,
        _ => return None,
    };
    text[..digits].parse::<u64>().ok()?.checked_mul(unit)
}

/// A file is read whole: whoever allows more allows a run to take all memory.
const FILE_MB_MAX: f64 = 256.0;

/// Of `max_file_size_mb`.
pub fn bytes(mb: f64) -> u64 {
    (mb.clamp(0.0, FILE_MB_MAX) * f64::from(1 << 20)) as u64
}

/// What a trusted project's namespace begins with, where it stands as a path too.
pub fn as_namespace(trusted: &str) -> String {
    match trusted.bytes().all(|b| b.is_ascii_hexdigit()) {
        true => trusted.to_owned(),
        false => namespace(trusted),
    }
}

/// A trusted project in either of its forms: the beginning of a namespace, or an absolute path (D07).
pub fn trusted_namespace(written: &str, env: &Env) -> Result<String, String> {
    let hex = written.trim().to_ascii_lowercase();
    if (6..=64).contains(&hex.len()) && hex.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Ok(hex);
    }
    let root = project_root(&env.expand(written.trim()).map_err(|e| e.message)?);
    let b = root.as_bytes();
    let drive = b.len() > 2 && b[0].is_ascii_alphabetic() && b[1] == b':' && b[2] == b'/';
    if root.starts_with('/') || drive {
        Ok(root)
    } else {
        Err(format!(
            "Invalid namespace format: {written}. Expected hex hash (e.g., 'a1b2c3d4'). \
             6 to 64 digits, or a project's absolute path (e.g., '/home/me/app')"
        ))
    }
}

/// A span of at least a minute; else what is wrong with it.
pub fn interval(written: &str) -> Result<u64, String> {
    let long_enough = seconds(written).filter(|seconds| *seconds >= 60);
    long_enough.ok_or_else(|| {
        format!("expected at least a minute, as in \"15min\" or \"2h\", found {written:?}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_has_a_file_read_that_takes_all_memory() {
        let mb = |mb: f64| bytes(mb) >> 20;
        assert_eq!([mb(-1.0), mb(5.0), mb(1e300), mb(f64::NAN)], [0, 5, 256, 0]);
    }
}
