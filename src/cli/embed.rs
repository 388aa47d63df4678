//! Texts as vectors: with whom, with whose consent; in a run for what is stored, and in a search for
//! what is looked for.

use super::ctx::Ctx;
use super::deliver::retry;
use super::human::{count, plural};
use super::keys;
use super::sinks;
use crate::config::{Config, EmbeddingsSettings as Settings, Env, Loaded};
use crate::model::embedding::Meaning;
use crate::model::error::Error;
use crate::net::embeddings::Embedder;
use crate::net::http::{Http, Options};
use crate::pipeline::admission::Admission;
pub use crate::pipeline::embed::Done;
use crate::pipeline::embed::{self, Asked, OTHER_LENGTH, Orders};
use crate::pipeline::spec::Window;
use crate::store::Store;
use anyhow::Result;

/// For the vector of a question. More: a person waits; less: a far server never answers in time.
const QUESTION_MS: u64 = 2_000;

/// Fails where a model is configured to which nobody agreed, or whose key is missing: before a run
/// does anything.
pub fn check(config: &Config, store: &Store, ctx: &Ctx) -> Result<()> {
    if let Some(settings) = &config.embeddings {
        store.permit(&settings.endpoint)?;
        key(settings, &ctx.env)?;
    }
    Ok(())
}

/// Asks for the vectors of texts that have none, where a model is configured. One that fails is a
/// warning; the next run goes on.
pub fn embed(loaded: &Loaded, store: &mut Store, ctx: &mut Ctx) -> Result<Done> {
    let Some(settings) = &loaded.config.embeddings else {
        return Ok(Done::default());
    };
    let permit = store.permit(&settings.endpoint)?;
    let embedder = embedder(settings, u64::from(settings.timeout_s) * 1_000, &ctx.env)?;
    let done = with(loaded, settings, ctx, |orders| {
        embed::embed(store, orders, &|texts| embedder.vectors(&permit, texts))
    })?;
    if let Some(why) = &done.stopped {
        let waiting = plural(done.waiting, "text");
        ctx.out.warn(format!(
            "{why}; {waiting} without a vector for the next run"
        ))?;
    }
    Ok(done)
}

/// How many texts a run would send of what is stored; `None`: no model is configured.
pub fn planned(loaded: &Loaded, store: &Store, ctx: &Ctx) -> Result<Option<u64>> {
    let Some(settings) = &loaded.config.embeddings else {
        return Ok(None);
    };
    let (sent, _) = with(loaded, settings, ctx, |orders| {
        embed::waiting(store, orders)
    })?;
    Ok(Some(sent.len() as u64))
}

fn with<T>(
    loaded: &Loaded,
    settings: &Settings,
    ctx: &Ctx,
    act: impl FnOnce(&Orders<'_>) -> Result<T>,
) -> Result<T> {
    act(&Orders {
        now: ctx.now,
        model: &settings.model,
        batch: settings.batch,
        texts_max: settings.texts_max,
        retry: &retry(&loaded.config.delivery),
        admission: &Admission::new(loaded, &ctx.env, Window::Configured, ctx.now),
    })
}

/// What a question means; `None`: no model is configured, or no text has a vector yet, and nobody is
/// asked.
///
/// # Errors
/// What stands in the way, or what the server did: words alone have to do then.
pub fn meaning(asked: &Asked<'_>, store: &Store) -> Result<Option<Meaning>> {
    let Some(settings) = &asked.loaded.config.embeddings else {
        return Ok(None);
    };
    let Some(length) = store.vector_length(&settings.model)? else {
        return Ok(None);
    };
    let words = embed::question(asked)?;
    let permit = store.permit(&settings.endpoint)?;
    if words.is_empty() {
        return Ok(None);
    }
    let timeout_ms = QUESTION_MS.min(u64::from(settings.timeout_s) * 1_000);
    let embedder = embedder(settings, timeout_ms, asked.env)?;
    let answered = embedder.vector(&permit, &words);
    let vector = answered.map_err(|why| anyhow::anyhow!("{why}"))?;
    if vector.as_bytes().len() != length {
        return Err(anyhow::anyhow!("{}: {OTHER_LENGTH}", settings.endpoint));
    }
    Ok(Some(Meaning {
        model: settings.model.clone(),
        vector,
    }))
}

/// Why a search goes by words alone.
pub fn excuse(error: &anyhow::Error) -> String {
    let hint = error.downcast_ref::<Error>().and_then(|e| e.hint.clone());
    let hint = hint.map_or(String::new(), |hint| format!(" ({hint})"));
    format!("searched by words alone: {error:#}{hint}")
}

/// For people; `None` where nothing was sent.
pub fn line(done: &Done) -> Option<String> {
    let parts = [
        (done.texts, "embedded"),
        (done.refused, "refused, to be sent again"),
        (done.given_up, "given up"),
    ];
    let told = parts.iter().filter(|(number, _)| *number > 0);
    let told: Vec<String> = told
        .map(|(n, what)| format!("{} {what}", count(*n)))
        .collect();
    (!told.is_empty()).then(|| format!("texts: {}, {} wait", told.join(", "), count(done.waiting)))
}

fn embedder(settings: &Settings, timeout_ms: u64, env: &Env) -> Result<Embedder> {
    let options = Options {
        timeout_ms,
        proxies: sinks::proxies(env),
    };
    Ok(Embedder {
        http: Http::new(&options)?,
        model: settings.model.clone(),
        key: key(settings, env)?,
    })
}

fn key(settings: &Settings, env: &Env) -> Result<Option<String>> {
    let name = settings.key_env.as_ref();
    name.map(|name| keys::key("embeddings.key_env", name, env))
        .transpose()
}
