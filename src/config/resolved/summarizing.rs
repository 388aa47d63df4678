//! Whose words a language model is asked with: the user's file where there is one. Knows where it
//! lies, not what is asked.

use crate::config::env::{Env, Home};
use crate::config::layers::Layers;
use crate::config::values::absolute;
use crate::config::wire::Summarization;
use crate::model::error::Error;
use crate::model::policy::SummaryPolicy;
use crate::model::template::{SESSION_SUMMARY, Template};
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

/// The file that stands for the built-in question about a session.
const FILE_NAME: &str = "session-summary.md";

/// How sessions are summarised.
#[derive(Clone, Debug, PartialEq)]
pub struct Summarizing {
    /// What is asked for.
    pub policy: SummaryPolicy,
    file: PathBuf,
    /// A person named it, so it has to be there.
    is_named: bool,
}

pub(super) fn summarizing(
    layers: &Layers,
    written: &Summarization,
    env: &Env,
) -> Result<Summarizing, Error> {
    let key = "session_tracking.summarization.template";
    let prompts = Home::of(env).prompts();
    let is_path = |name: &str| name.contains(['/', '\\']) || name.starts_with('~');
    let file = match written.template.as_deref() {
        Some(path) if is_path(path) => {
            absolute(path, env).map_err(|what| layers.error(key, None, &what))?
        }
        Some(name) => prompts.join(name),
        None => prompts.join(FILE_NAME),
    };
    Ok(Summarizing {
        policy: SummaryPolicy {
            threshold: written.extraction_threshold,
            decisions: written.include_decisions,
            errors_resolved: written.include_errors_resolved,
        },
        file,
        is_named: written.template.is_some(),
    })
}

impl Summarizing {
    /// The user's template of the question; `None`: the built-in one. Reads at most that file.
    ///
    /// # Errors
    /// Of usage, when the file can't be read, was named and isn't there, or has wrong placeholders;
    /// names the file and the placeholders that there are.
    pub fn template(&self) -> Result<Option<Template>, Error> {
        let failed = |what: &str| Error::usage(format!("{}: {what}", self.file.display()));
        let text = match fs::read_to_string(&self.file) {
            Err(error) if error.kind() == ErrorKind::NotFound && !self.is_named => return Ok(None),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let hint = "sessionmill config show";
                return Err(failed("no such template").hinted(hint));
            }
            read => read.map_err(|error| failed(&error.to_string()))?,
        };
        let template = Template::parse(&text, &SESSION_SUMMARY).map_err(|what| failed(&what))?;
        Ok(Some(template))
    }
}
