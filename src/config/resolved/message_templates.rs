//! By whose words a language model condenses long messages: the user's files where there are some. Knows
//! where they lie, not what they say.

use crate::config::env::{Env, Home};
use crate::config::layers::Layers;
use crate::config::values::absolute;
use crate::model::condensing::Condensing;
use crate::model::error::Error;
use crate::model::policy::FilterPolicy;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

/// Where the templates of messages lie, by the names that the settings have for them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessageTemplates {
    files: BTreeMap<String, PathBuf>,
}

impl MessageTemplates {
    pub(super) fn of(
        policy: &FilterPolicy,
        layers: &Layers,
        env: &Env,
    ) -> Result<MessageTemplates, Error> {
        let prompts = Home::of(env).prompts();
        let mut files = BTreeMap::new();
        for name in Condensing::of(policy).templates() {
            let is_path = name.contains(['/', '\\']) || name.starts_with('~');
            let file = match is_path {
                true => absolute(name, env)
                    .map_err(|what| layers.error("session_tracking.filter", None, &what))?,
                false => prompts.join(name),
            };
            files.insert(name.to_owned(), file);
        }
        Ok(MessageTemplates { files })
    }

    /// The names in the settings; none where no message is condensed.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// The text of the user's file; `None`: there is none. Reads that file.
    ///
    /// # Errors
    /// Of usage, when it can't be read.
    pub fn text(&self, name: &str) -> Result<Option<String>, Error> {
        let Some(file) = self.files.get(name) else {
            return Ok(None);
        };
        match fs::read_to_string(file) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.wrong(name, &error.to_string())),
        }
    }

    /// An error of usage that names the file.
    pub fn wrong(&self, name: &str, what: &str) -> Error {
        let file = self.files.get(name).map(|file| file.display().to_string());
        let file = file.unwrap_or_else(|| name.to_owned());
        Error::usage(format!("{file}: {what}")).hinted("sessionmill config show")
    }
}
