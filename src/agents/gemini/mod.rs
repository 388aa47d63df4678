//! Gemini CLI.

pub mod dialect;
mod injected;

use super::CodingAgent;
use crate::config::Env;
use crate::config::agent_settings::{
    HookSettings, HookShape, ServerFormat, ServerSettings, ServerShape,
};
use crate::model::source::Agent;
use crate::rules::injected::Injected;
use crate::stages::parse::Dialect;
use serde::Deserialize;
use std::path::PathBuf;

/// Its word.
pub const GEMINI: Agent = Agent::new("gemini");

/// Days after its last change that Gemini CLI deletes a chat, unless told otherwise (formats § 9).
const DEFAULT_DAYS: u32 = 30;

/// Gemini CLI.
pub struct Gemini;

/// What `settings.json` says about hooks, and how long chats are kept.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Settings {
    hooks_config: HooksConfig,
    general: General,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct General {
    session_retention: Retention,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Retention {
    enabled: Option<bool>,
    max_age: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct HooksConfig {
    enabled: Option<bool>,
}

const HOME: &str = "GEMINI_CLI_HOME";

/// The variable stands for the user's home, not for the folder in it.
fn home(env: &Env) -> PathBuf {
    env.folder(HOME, "")
}

fn dir(env: &Env) -> PathBuf {
    home(env).join(".gemini")
}

fn settings_file(env: &Env) -> PathBuf {
    dir(env).join("settings.json")
}

/// A file that can't be understood says nothing.
fn settings(env: &Env) -> Settings {
    let text = std::fs::read_to_string(settings_file(env));
    let settings = text.ok().and_then(|text| serde_json::from_str(&text).ok());
    settings.unwrap_or_default()
}

/// Days of `30d`, `2w`, `48h`.
fn days(age: &str) -> Option<u32> {
    let unit = age.chars().next_back()?;
    let number: u32 = age.strip_suffix(unit)?.parse().ok()?;
    match unit {
        'h' => Some(number.div_ceil(24)),
        'd' => Some(number),
        'w' => number.checked_mul(7),
        'm' => number.checked_mul(30),
        _ => None,
    }
}

impl CodingAgent for Gemini {
    fn agent(&self) -> Agent {
        GEMINI
    }

    fn title(&self) -> &'static str {
        "Gemini CLI"
    }

    fn newest_version(&self) -> &'static str {
        "0.61.0"
    }

    fn injected(&self) -> &'static Injected {
        &injected::INJECTED
    }

    fn dialect(&self) -> &'static dyn Dialect {
        &dialect::GeminiDialect
    }

    fn log_folders(&self, env: &Env) -> Vec<PathBuf> {
        vec![dir(env).join("tmp")]
    }

    fn folder(&self, env: &Env) -> (&'static str, PathBuf) {
        (HOME, home(env))
    }

    fn keeps_days(&self, env: &Env) -> Option<u32> {
        let retention = settings(env).general.session_retention;
        let age = retention.max_age.as_deref().and_then(days);
        (retention.enabled != Some(false)).then(|| age.unwrap_or(DEFAULT_DAYS))
    }

    fn example_log(&self) -> &'static str {
        ".gemini/tmp/example/chats/session-2026-01-01T00-00-00000000.jsonl"
    }

    fn resume_command(&self, session: &str) -> String {
        format!("gemini --resume {session}")
    }

    fn install_command(&self) -> &'static str {
        "npm install -g @google/gemini-cli"
    }

    fn hooks(&self, env: &Env) -> HookSettings {
        HookSettings {
            agent: GEMINI,
            file: settings_file(env),
            shape: HookShape::Entries,
            // its matchers are whole words: which starts count, we tell ourselves
            events: &[("SessionStart", None), ("BeforeAgent", None)],
            timeout: 5_000,
        }
    }

    fn hooks_switched_off(&self, env: &Env) -> Option<String> {
        let file = settings_file(env);
        let reason = || format!("`hooksConfig.enabled` is false in {}", file.display());
        (settings(env).hooks_config.enabled == Some(false)).then(reason)
    }

    fn servers(&self, env: &Env) -> ServerSettings {
        ServerSettings {
            agent: GEMINI,
            file: settings_file(env),
            format: ServerFormat::Json,
            shape: ServerShape::Parts,
            table: "mcpServers",
            transport: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_settings_say_how_long_chats_are_kept() {
        let home = tempfile::tempdir().unwrap();
        let env = Env {
            home: home.path().to_path_buf(),
            ..Env::default()
        };
        assert_eq!(Gemini.keeps_days(&env), Some(30));
        std::fs::create_dir(home.path().join(".gemini")).unwrap();
        for (retention, days) in [
            (r#"{"maxAge": "2w"}"#, Some(14)),
            (r#"{"maxAge": "49h"}"#, Some(3)),
            (r#"{"maxAge": "for ever"}"#, Some(30)),
            (r#"{"enabled": false}"#, None),
        ] {
            let text = format!(r#"{{"general": {{"sessionRetention": {retention}}}}}"#);
            std::fs::write(settings_file(&env), text).unwrap();
            assert_eq!(Gemini.keeps_days(&env), days, "{retention}");
        }
        std::fs::write(
            settings_file(&env),
            r#"{"hooksConfig": {"enabled": false}}"#,
        )
        .unwrap();
        let off = Gemini.hooks_switched_off(&env).unwrap();
        assert!(
            off.starts_with("`hooksConfig.enabled` is false in "),
            "{off}"
        );
    }
}
