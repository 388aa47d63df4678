//! The models that the settings name, made ready to be asked: with their keys and proxies.

use crate::config::{EmbeddingsSettings, Env, LlmSettings, LlmShape};
use crate::model::consent::{Consent, Permit};
use crate::model::llm::Unanswered;
use crate::net::embeddings::Embedder;
use crate::net::http::{Http, HttpOptions};
use crate::net::llm::{ApiStyle, Llm};
use crate::pipeline::context::RunContext;
use crate::pipeline::keys::{key, proxies};
use anyhow::Result;

/// Why a model didn't answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Silence {
    /// What it did instead.
    pub why: String,
    /// Time won't heal it: address, key or model are wrong.
    pub is_lasting: bool,
}

impl Silence {
    /// Of what came instead of an answer; `None`: it is the question's own fault.
    pub fn of(unanswered: &Unanswered) -> Option<Silence> {
        let is_lasting = match unanswered {
            Unanswered::Unavailable { .. } => false,
            Unanswered::Misconfigured { .. } => true,
            Unanswered::Refused { .. } => return None,
        };
        let why = unanswered.to_string();
        Some(Silence { why, is_lasting })
    }
}

/// Fails where a language model is configured to which nobody agreed, or whose key is missing: before a
/// run does anything.
///
/// # Errors
/// That.
pub fn check_language_model(consents: &[Consent], cx: &RunContext<'_>) -> Result<()> {
    if let Some(settings) = &cx.loaded.config.llm {
        Permit::of(&settings.endpoint, consents)?;
        language_model(settings, cx)?;
    }
    Ok(())
}

/// The same of a model of vectors.
///
/// # Errors
/// That.
pub fn check_embedder(consents: &[Consent], cx: &RunContext<'_>) -> Result<()> {
    if let Some(settings) = &cx.loaded.config.embeddings {
        Permit::of(&settings.endpoint, consents)?;
        embedder(settings, u64::from(settings.timeout_s) * 1_000, cx.env)?;
    }
    Ok(())
}

/// The language model.
///
/// # Errors
/// Where its key is missing.
pub fn language_model(settings: &LlmSettings, cx: &RunContext<'_>) -> Result<Llm> {
    let options = HttpOptions {
        timeout_ms: u64::from(settings.timeout_s) * 1_000,
        proxies: proxies(cx.env),
    };
    Ok(Llm {
        http: Http::new(&options)?,
        shape: match settings.shape {
            LlmShape::OpenAi => ApiStyle::OpenAi,
            LlmShape::Anthropic => ApiStyle::Anthropic,
        },
        model: settings.model.clone(),
        key: llm_key(settings, cx.env)?,
    })
}

/// The model of vectors.
///
/// # Errors
/// Where its key is missing.
pub fn embedder(settings: &EmbeddingsSettings, timeout_ms: u64, env: &Env) -> Result<Embedder> {
    let options = HttpOptions {
        timeout_ms,
        proxies: proxies(env),
    };
    Ok(Embedder {
        http: Http::new(&options)?,
        model: settings.model.clone(),
        key: embedder_key(settings, env)?,
    })
}

fn llm_key(settings: &LlmSettings, env: &Env) -> Result<Option<String>> {
    let name = settings.key_env.as_ref();
    name.map(|name| key("llm.key_env", name, env)).transpose()
}

fn embedder_key(settings: &EmbeddingsSettings, env: &Env) -> Result<Option<String>> {
    let name = settings.key_env.as_ref();
    name.map(|name| key("embeddings.key_env", name, env))
        .transpose()
}
