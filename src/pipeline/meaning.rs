//! What a question means, as a vector: for a search that finds by meaning too.

use super::admission::Admission;
use super::spec::Window;
use super::steps::enrich::embeddings::OTHER_LENGTH;
use super::steps::enrich::models::embedder;
use super::steps::enrich::passages::cut;
use crate::config::{Env, Loaded, gate};
use crate::memory::redaction_setup;
use crate::memory::workspace::Workspace;
use crate::model::embedding::Meaning;
use crate::model::error::Error;
use crate::model::time::Time;
use crate::store::Store;
use anyhow::Result;

/// For the vector of a question. More: a person waits; less: a far server never answers in time.
const QUESTION_MS: u64 = 2_000;

/// Characters of a question that are sent. More: models cut it.
const QUESTION_CHARS_MAX: usize = 2_000;

/// Somebody who looks for something.
pub struct MeaningRequest<'a> {
    /// What is looked for, as it was typed.
    pub words: &'a str,
    /// The settings where it is asked.
    pub loaded: &'a Loaded,
    /// The environment there: its working directory is in the present project.
    pub env: &'a Env,
    /// When.
    pub now: Time,
}

/// What may be sent of a question: its words, masked and cut. Tracking has to be on, and the present
/// project neither excluded, switched off, nor untrusted; consent to the endpoint comes after.
///
/// # Errors
/// Of usage: what stands in the way. When the rules for secrets can't be read.
fn question(asked: &MeaningRequest<'_>) -> Result<String> {
    let gate = gate(&asked.loaded.here);
    if !gate.enabled {
        return Err(Error::usage(gate.reason).into());
    }
    let admission = Admission::new(asked.loaded, asked.env, Window::Configured, asked.now);
    let project = Workspace::of(&asked.env.cwd).root;
    let cwd = asked.env.cwd.to_string_lossy();
    if let Err(reason) = admission.admit(Some(&project), Some(&cwd), "") {
        return Err(Error::usage(format!("the current project is {reason}")).into());
    }
    let redaction = redaction_setup::load(&asked.loaded.config, &asked.loaded.home)?;
    let words = redaction.redactor.redact(asked.words);
    Ok(cut(words.trim(), QUESTION_CHARS_MAX).to_owned())
}

/// What a question means; `None`: no model is configured, or no text has a vector yet, and nobody is
/// asked.
///
/// # Errors
/// What stands in the way, or what the server did: words alone have to do then.
pub fn meaning(asked: &MeaningRequest<'_>, store: &Store) -> Result<Option<Meaning>> {
    let Some(settings) = &asked.loaded.config.embeddings else {
        return Ok(None);
    };
    let Some(length) = store.vector_length(&settings.made_by())? else {
        return Ok(None);
    };
    let words = question(asked)?;
    let permit = store.permit(&settings.endpoint)?;
    if words.is_empty() {
        return Ok(None);
    }
    let timeout_ms = QUESTION_MS.min(u64::from(settings.timeout_s) * 1_000);
    let embedder = embedder(settings, timeout_ms, asked.env)?;
    let answered = embedder.vector(&permit, &format!("{}{words}", settings.query_prefix));
    let vector = answered.map_err(|why| anyhow::anyhow!("{why}"))?;
    if vector.as_bytes().len() != length {
        return Err(anyhow::anyhow!("{}: {OTHER_LENGTH}", settings.endpoint));
    }
    Ok(Some(Meaning {
        made_by: settings.made_by(),
        vector,
    }))
}

/// Why a search goes by words alone.
pub fn excuse(error: &anyhow::Error) -> String {
    let hint = error.downcast_ref::<Error>().and_then(|e| e.hint.clone());
    let hint = hint.map_or(String::new(), |hint| format!(" ({hint})"));
    format!("searched by words alone: {error:#}{hint}")
}
