//! Defaults, files and a project's file on top of each other, and which of them said what. What a
//! key means is for `resolved`.

use super::document::Document;
use super::file_kind::{SETTINGS, settings_by_default};
use super::position::{PathStep, dotted, path};
use super::schema;
use super::wire::WireConfig;
use crate::model::error::Error;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Who decided a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingOrigin {
    /// Nobody: the built-in default.
    Default,
    /// The user's file, 1-based line.
    File(PathBuf, usize),
    /// A project's file, which narrows.
    Project(PathBuf, usize),
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingOrigin::Default => f.write_str("default"),
            SettingOrigin::File(file, line) => write!(f, "{}:{line}", file.display()),
            SettingOrigin::Project(file, line) => write!(f, "project {}:{line}", file.display()),
        }
    }
}

/// One effective setting, as `config show` prints it.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Dotted.
    pub key: String,
    /// As a user would write it.
    pub value: Value,
    /// Who decided.
    pub origin: SettingOrigin,
    /// `no effect yet`, and the like.
    pub note: Option<String>,
}

/// A file among the layers.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    /// The file.
    pub document: Arc<Document>,
    /// Where our keys start in it.
    pub base: Vec<PathStep>,
    /// A project's.
    pub project: bool,
}

impl Layer {
    /// What this file says, in the shape of `graphiti.config.json`.
    pub fn value(&self) -> &Value {
        let whole = &self.document.value;
        self.base.iter().fold(whole, |value, step| match step {
            PathStep::Key(key) => &value[key.as_str()],
            PathStep::Index(i) => &value[*i],
        })
    }

    fn line(&self, key: &[PathStep]) -> usize {
        self.document.line(&[&self.base, key].concat())
    }

    /// An error at one of this file's keys.
    pub fn error(&self, key: &[PathStep], what: &str) -> Error {
        self.document.error(&[&self.base, key].concat(), what)
    }
}

/// The effective settings so far.
#[derive(Clone, Debug)]
pub(super) struct Layers {
    value: Value,
    sources: Vec<Layer>,
    /// Which of the sources decided a leaf, and where; absent: the default.
    deciders: BTreeMap<String, usize>,
}

impl Layers {
    /// The built-in defaults.
    pub fn defaults() -> Layers {
        Layers {
            value: settings_by_default(),
            sources: Vec::new(),
            deciders: BTreeMap::new(),
        }
    }

    /// Puts a file on top: each of its leaves decides. Lists are replaced, not joined.
    pub fn overlay(&mut self, source: Layer) {
        let value = source.value().clone();
        let index = self.add(source);
        for (key, value) in leaves(&value) {
            self.put(&key, value, index);
        }
    }

    /// Adds a file without taking anything from it.
    pub fn add(&mut self, source: Layer) -> usize {
        self.sources.push(source);
        self.sources.len() - 1
    }

    /// Lets a source decide one leaf.
    pub fn put(&mut self, key: &str, value: Value, source: usize) {
        let mut at = &mut self.value;
        for step in key.split('.') {
            if !at.is_object() {
                *at = Value::Object(Map::new());
            }
            at = &mut at[step];
        }
        *at = value;
        self.deciders.insert(key.to_owned(), source);
    }

    /// The effective value of a leaf; null for what isn't there.
    pub fn get(&self, key: &str) -> &Value {
        key.split('.').fold(&self.value, |value, k| &value[k])
    }

    /// Who decided a leaf.
    pub fn origin(&self, key: &str) -> SettingOrigin {
        let Some(source) = self.decider(key) else {
            return SettingOrigin::Default;
        };
        let file = source.document.file.clone();
        let line = source.line(&path(key));
        if source.project {
            SettingOrigin::Project(file, line)
        } else {
            SettingOrigin::File(file, line)
        }
    }

    /// The whole as its type.
    ///
    /// # Errors
    /// Never, where each file was validated before it was laid on top.
    pub fn wire(&self) -> Result<WireConfig, Error> {
        serde_json::from_value(self.value.clone())
            .map_err(|e| Error::usage(format!("settings: {e}")))
    }

    /// An error at the place that decided `key`; at item `index` of its list when given.
    pub fn error(&self, key: &str, index: Option<usize>, what: &str) -> Error {
        let mut at = path(key);
        at.extend(index.map(PathStep::Index));
        match self.decider(key) {
            Some(source) => source.error(&at, what),
            None => Error::usage(format!("`{}`: {what}", dotted(&at))),
        }
    }

    /// All leaves in the schema's order.
    pub fn settings(&self) -> Vec<Setting> {
        let leaves = leaves(&self.value).into_iter();
        leaves
            .filter(|(key, _)| key != "$schema")
            .map(|(key, value)| Setting {
                origin: self.origin(&key),
                note: effect(&key),
                key,
                value,
            })
            .collect()
    }

    fn decider(&self, key: &str) -> Option<&Layer> {
        self.sources.get(*self.deciders.get(key)?)
    }
}

/// What the schema says about a key's effect, or about that of a map around it.
pub(super) fn effect(key: &str) -> Option<String> {
    let steps = path(key);
    (1..=steps.len()).rev().find_map(|n| {
        let schema = schema::at(SETTINGS.schema, &steps[..n])?;
        schema["x-effect"].as_str().map(str::to_owned)
    })
}

/// The leaves of a value in the shape of `graphiti.config.json`: what the schema doesn't open up
/// further, with dotted keys.
pub(super) fn leaves(value: &Value) -> Vec<(String, Value)> {
    let mut out = Vec::new();
    collect(SETTINGS.schema, value, "", &mut out);
    out
}

fn collect(schema: &Value, value: &Value, prefix: &str, out: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(map) if schema["properties"].is_object() => {
            for (key, inner) in map {
                let key_path = if prefix.is_empty() {
                    key.clone()
                } else {
                    format!("{prefix}.{key}")
                };
                collect(&schema["properties"][key.as_str()], inner, &key_path, out);
            }
        }
        _ if prefix.is_empty() => {}
        other => out.push((prefix.to_owned(), other.clone())),
    }
}
