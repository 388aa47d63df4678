//! How long Claude Code keeps its own logs. Knows one key of its settings; refuses to write there,
//! and to read anything else in the file.

use crate::config::Env;
use serde::Deserialize;
use std::path::Path;

/// Days after its last change that Claude Code deletes a session's log, unless told otherwise
/// (formats § 7).
const DEFAULT_DAYS: u32 = 30;

#[derive(Deserialize)]
struct Settings {
    #[serde(rename = "cleanupPeriodDays")]
    cleanup_period_days: Option<f64>,
}

/// `cleanupPeriodDays` of Claude Code's `settings.json`: of several folders the least. A file that is absent
/// or can't be understood says nothing: then it is Claude Code's default.
pub fn keeps_days(env: &Env) -> u32 {
    let dirs = env.claude_dirs().into_iter();
    let days = dirs.map(|dir| days_of(&dir.join("settings.json")));
    days.min().unwrap_or(DEFAULT_DAYS)
}

fn days_of(file: &Path) -> u32 {
    let configured = std::fs::read_to_string(file)
        .ok()
        .and_then(|text| serde_json::from_str::<Settings>(&text).ok())
        .and_then(|settings| settings.cleanup_period_days);
    configured.map_or(DEFAULT_DAYS, |days| days.clamp(0.0, 36_500.0) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_word_counts_and_nonsense_is_the_default() {
        let home = tempfile::tempdir().unwrap();
        let env = Env {
            home: home.path().to_path_buf(),
            ..Env::default()
        };
        assert_eq!(keeps_days(&env), 30);
        std::fs::create_dir(home.path().join(".claude")).unwrap();
        for (text, days) in [
            (r#"{"model": "x", "cleanupPeriodDays": 99}"#, 99),
            (r#"{"cleanupPeriodDays": 0}"#, 0),
            (r#"{"cleanupPeriodDays": "9"}"#, 30),
            ("{", 30),
        ] {
            std::fs::write(home.path().join(".claude/settings.json"), text).unwrap();
            assert_eq!(keeps_days(&env), days, "{text}");
        }
    }
}
