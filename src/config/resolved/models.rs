//! `llm` and `embeddings` as they are meant: an endpoint with the model's name, or none.

use crate::config::layers::Layers;
use crate::config::wire::{LlmShape, WireConfig};
use crate::model::consent::Endpoint;
use crate::model::error::Error;

/// A language model. Whether something may be sent there is for consents to say.
#[derive(Clone, Debug, PartialEq)]
pub struct LlmSettings {
    /// Where it is.
    pub endpoint: Endpoint,
    /// How it is spoken to.
    pub shape: LlmShape,
    /// Its name there.
    pub model: String,
    /// The environment variable with the key; `None`: no key.
    pub key_env: Option<String>,
    /// For a whole answer.
    pub timeout_s: u32,
    /// Tokens of one question with its answer.
    pub context_tokens: u32,
    /// Tokens that one run may use.
    pub tokens_max: Option<u64>,
    /// US dollars that one run may cost.
    pub usd_max: Option<f64>,
    /// Tokens that one day may use.
    pub tokens_max_a_day: Option<u64>,
    /// US dollars that one day may cost.
    pub usd_max_a_day: Option<f64>,
    /// US dollars for a million tokens that it reads, and that it writes.
    pub usd_per_million: (f64, f64),
}

/// A model that turns texts into vectors. Whether something may be sent there is for consents to say.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddingsSettings {
    /// Where it is.
    pub endpoint: Endpoint,
    /// Its name there.
    pub model: String,
    /// The environment variable with the key; `None`: no key.
    pub key_env: Option<String>,
    /// For a whole answer.
    pub timeout_s: u32,
    /// Texts of one request; at least 1.
    pub batch: usize,
    /// Passages that one run sends.
    pub texts_max: usize,
    /// What the model wants before a question, and before a text.
    pub query_prefix: String,
    /// The same before a passage of a text.
    pub passage_prefix: String,
    /// Characters of a passage.
    pub passage_chars: usize,
}

impl EmbeddingsSettings {
    /// What vectors are made by: those that were made otherwise say nothing beside them.
    pub fn made_by(&self) -> String {
        let prefix = match self.passage_prefix.as_str() {
            "" => String::new(),
            prefix => format!(" after {prefix:?}"),
        };
        format!("{}, {} characters{prefix}", self.model, self.passage_chars)
    }
}

pub(super) fn llm(layers: &Layers, wire: &WireConfig) -> Result<Option<LlmSettings>, Error> {
    let written = &wire.llm;
    let Some(endpoint) = &written.endpoint else {
        return Ok(None);
    };
    let (endpoint, model) = model_at(layers, "llm", endpoint, written.model.as_deref())?;
    Ok(Some(LlmSettings {
        endpoint,
        shape: written.shape,
        model,
        key_env: written.key_env.clone(),
        timeout_s: written.timeout_s,
        context_tokens: written.context_tokens,
        tokens_max: written.max_tokens_per_run,
        usd_max: written.max_usd_per_run,
        tokens_max_a_day: written.max_tokens_per_day,
        usd_max_a_day: written.max_usd_per_day,
        usd_per_million: (
            written.usd_per_million_input,
            written.usd_per_million_output,
        ),
    }))
}

pub(super) fn embeddings(
    layers: &Layers,
    wire: &WireConfig,
) -> Result<Option<EmbeddingsSettings>, Error> {
    let written = &wire.embeddings;
    let Some(endpoint) = &written.endpoint else {
        return Ok(None);
    };
    let (endpoint, model) = model_at(layers, "embeddings", endpoint, written.model.as_deref())?;
    Ok(Some(EmbeddingsSettings {
        endpoint,
        model,
        key_env: written.key_env.clone(),
        timeout_s: written.timeout_s,
        batch: written.batch as usize,
        texts_max: written.max_texts_per_run as usize,
        query_prefix: written.query_prefix.clone(),
        passage_prefix: written.passage_prefix.clone(),
        passage_chars: written.passage_chars as usize,
    }))
}

/// Where the model of a block is, and what it is called there.
fn model_at(
    layers: &Layers,
    block: &str,
    endpoint: &str,
    model: Option<&str>,
) -> Result<(Endpoint, String), Error> {
    let wrong = |what: &str| layers.error(&format!("{block}.endpoint"), None, what);
    let endpoint: Endpoint = endpoint.parse().map_err(|e: Error| wrong(&e.message))?;
    if !matches!(endpoint.scheme(), "http" | "https") {
        return Err(wrong("expected http:// or https://"));
    }
    let missing = || wrong(&format!("needs `{block}.model`, the model's name there"));
    Ok((endpoint, model.ok_or_else(missing)?.to_owned()))
}
