//! Settings changed by their key, as a person types them. What is written has been read as the next
//! command will read it; every other byte of the file stays.

use super::document::Document;
use super::edit::{self, Edited};
use super::file_kind::{FileKind, SETTINGS, TRACKING};
use super::load::{load, load_with};
use super::position::{PathStep, get, path};
use super::resolved::UsualLogs;
use super::validate::nearest;
use super::{Env, Home, schema, tracking_schema};
use crate::model::error::Error;
use crate::model::shell;
use serde_json::Value;
use std::path::PathBuf;

/// The key that lets logs be read.
const ENABLED: &str = "session_tracking.enabled";

/// Which of the user's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsFile {
    /// `graphiti.config`.
    Settings,
    /// `tracking-config`.
    Tracking,
}

/// One key that is changed.
#[derive(Clone, Copy, Debug)]
pub struct KeyChange<'a> {
    /// In which file.
    pub file: SettingsFile,
    /// Dotted, as `config show` prints it.
    pub key: &'a str,
    /// JSON, or the text itself where that is what the key takes; `None`: the key is taken out.
    pub value: Option<&'a str>,
}

impl KeyChange<'_> {
    /// Where it is written.
    pub fn path(&self, env: &Env) -> PathBuf {
        let home = Home::of(env);
        match self.file {
            SettingsFile::Settings => home.config(),
            SettingsFile::Tracking => home.tracking_config(),
        }
    }

    /// Writes it; makes the file where there is none and there is something to say.
    ///
    /// # Errors
    /// A key or a value that isn't valid, consent that isn't given this way, or a file that can't be read,
    /// edited in place or written; nothing is changed then.
    pub fn apply(&self, env: &Env, usual: UsualLogs) -> Result<Edited, Error> {
        let (file, kind) = (self.path(env), self.kind());
        let at: Vec<PathStep> = path(self.key);
        let was_on = match load(env, usual) {
            Ok(loaded) => loaded.config.enabled,
            // a file that says yes may be mended
            Err(_) => Document::load(&Home::of(env).config())?
                .is_some_and(|said| said.get(&path(ENABLED)) == Some(&Value::Bool(true))),
        };
        let proves = |changed: &Document| {
            let is_on = load_with(env, usual, Some(changed))?.config.enabled;
            match is_on && !was_on {
                // whichever key does it: only `enable` records the words
                true => Err(
                    Error::usage("reading logs needs your consent, word for word")
                        .hinted("sessionmill enable"),
                ),
                false => Ok(()),
            }
        };
        let Some(typed) = self.value else {
            return match edit::remove(kind, &file, &at, &proves)? {
                true => Ok(Edited::Changed),
                false => Ok(Edited::Same),
            };
        };
        let text = Value::String(typed.to_owned());
        let read: Value = serde_json::from_str(typed).unwrap_or_else(|_| text.clone());
        let set = |value: &Value| edit::set(kind, &file, |_| (at.clone(), value.clone()), &proves);
        // `2026` may be meant as a text: what the key takes decides, and the first refusal is told
        let written = set(&read).or_else(|refused| match read == text {
            true => Err(refused),
            false => set(&text).map_err(|_| refused),
        });
        written.map_err(|mut refused| {
            refused.message += "; nothing was written";
            if self.file == SettingsFile::Settings && is_of_tracking(&at) {
                refused.hint = Some(format!(
                    "sessionmill config set --tracking {} {}",
                    self.key,
                    shell::word(typed)
                ));
            }
            refused
        })
    }

    fn kind(&self) -> &'static FileKind {
        match self.file {
            SettingsFile::Settings => &SETTINGS,
            SettingsFile::Tracking => &TRACKING,
        }
    }
}

/// The settings at a key and below it, by their dotted keys: of [`SettingsFile::Settings`] as they are in
/// force, defaults included; of the other file as it says, else the key's default.
///
/// # Errors
/// No setting is named so, or the settings can't be read.
pub fn settings_at(
    key: &str,
    file: SettingsFile,
    env: &Env,
    usual: UsualLogs,
) -> Result<Vec<(String, Value)>, Error> {
    let loaded = load(env, usual)?;
    let at = path(key);
    let found: Vec<(String, Value)> = match file {
        SettingsFile::Tracking => {
            let document = Document::load(&Home::of(env).tracking_config())?;
            let said = document.and_then(|document| document.get(&at).cloned());
            said.or_else(|| default_of(&at))
                .map(|value| (key.to_owned(), value))
                .into_iter()
                .collect()
        }
        SettingsFile::Settings => {
            let named = loaded.settings.iter();
            let named = named.filter_map(|setting| under(key, &setting.key, &setting.value));
            named.collect()
        }
    };
    match found.is_empty() {
        true => {
            let unknown = Error::usage(format!("no setting is named {key}"));
            let names: Vec<String> = loaded.settings.into_iter().map(|known| known.key).collect();
            Err(unknown.hinted(match (file, nearest(key, &names)) {
                (SettingsFile::Settings, _) if is_of_tracking(&at) => {
                    format!("sessionmill config get --tracking {key}")
                }
                (SettingsFile::Settings, Some(near)) => format!("sessionmill config get {near}"),
                (SettingsFile::Settings, None) => "sessionmill config show".to_owned(),
                (SettingsFile::Tracking, _) => "sessionmill config schema --tracking".to_owned(),
            }))
        }
        false => Ok(found),
    }
}

/// A setting that is at a key or below it, or the part of its value that is.
fn under(key: &str, name: &str, value: &Value) -> Option<(String, Value)> {
    let is_below = |rest: &str| rest.is_empty() || rest.starts_with('.');
    if name.strip_prefix(key).is_some_and(is_below) {
        return Some((name.to_owned(), value.clone()));
    }
    let inside = key.strip_prefix(name)?.strip_prefix('.')?;
    let part = get(value, &path(inside))?;
    Some((key.to_owned(), part.clone()))
}

/// What applies where the tracking file doesn't have a key.
fn default_of(at: &[PathStep]) -> Option<Value> {
    let mut schema = tracking_schema();
    for step in at {
        let PathStep::Key(key) = step else {
            return None;
        };
        schema = schema.get_mut("properties")?.get_mut(key)?.take();
    }
    schema.get("default").cloned()
}

/// The tracking file has such keys, and the other one has none.
fn is_of_tracking(at: &[PathStep]) -> bool {
    let Some(PathStep::Key(first)) = at.first() else {
        return false;
    };
    let has = |schema: &Value| schema["properties"].get(first).is_some();
    has(&tracking_schema()) && !has(&schema())
}
