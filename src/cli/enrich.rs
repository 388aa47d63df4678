//! The step `enrich` of a run: with whom, with whose consent, and where what is learned is kept.

use super::ctx::Ctx;
use super::human::{count, plural};
use super::keys;
use super::sinks;
use super::tables;
use crate::config::{Config, LlmSettings as Settings, LlmShape};
use crate::model::consent::Permit;
use crate::model::error::Error;
use crate::net::http::{Http, Options};
use crate::net::llm::{Llm, Shape};
use crate::pipeline::enrich::{Budget, Learned, Question, question};
use crate::store::Store;
use anyhow::Result;

/// What the step did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Enriched {
    /// Names that were asked about.
    pub asked: u64,
    /// Of these, the ones that are known now.
    pub learned: u64,
    /// Tokens, as the server counts them.
    pub tokens: u64,
}

/// Fails where a language model is configured to which nobody agreed, or whose key is missing:
/// before a run does anything.
pub fn check(config: &Config, store: &Store, ctx: &Ctx) -> Result<()> {
    if let Some(settings) = &config.llm {
        store.permit(&settings.endpoint)?;
        key(settings, ctx)?;
    }
    Ok(())
}

/// What a run would ask now; `None` where no model is configured, nothing is unknown, or the answer
/// could not be kept.
pub fn planned(config: &Config, store: &Store, ctx: &mut Ctx) -> Result<Option<Question>> {
    let Some(settings) = &config.llm else {
        return Ok(None);
    };
    let Some(classifier) = tables::learned(&config.scoring.tool_cache, ctx)? else {
        return Ok(None);
    };
    let budget = Budget {
        tokens: settings.tokens_max,
        usd: settings.usd_max,
        usd_per_million: settings.usd_per_million,
    };
    Ok(question(store, &classifier, ctx.now, &budget)?)
}

/// Asks about unknown tools in one call and keeps the answer. A model that can't be reached is a
/// warning; the next run asks again.
pub fn enrich(config: &Config, store: &Store, ctx: &mut Ctx) -> Result<Enriched> {
    let Some(settings) = &config.llm else {
        return Ok(Enriched::default());
    };
    let Some(question) = planned(config, store, ctx)? else {
        return Ok(Enriched::default());
    };
    let permit = store.permit(&settings.endpoint)?;
    let llm = llm(settings, ctx)?;
    match ask(&llm, &permit, &question) {
        Ok((learned, tokens)) => {
            let cache = &config.scoring.tool_cache;
            tables::keep(cache, ctx.now, &learned, ctx)?;
            if learned.missing() > 0 {
                let missing = plural(learned.missing(), "tool");
                ctx.out.note(format!(
                    "{missing} could not be classified; asked again in a day"
                ))?;
            }
            Ok(Enriched {
                asked: question.names.len() as u64,
                learned: learned.tools(),
                tokens,
            })
        }
        Err(error) => {
            let waiting = plural(question.names.len() as u64, "unknown tool");
            ctx.out
                .warn(format!("{error}; {waiting} wait for the next run"))?;
            Ok(Enriched::default())
        }
    }
}

impl Enriched {
    /// For people; `None` where nothing was asked.
    pub fn line(&self) -> Option<String> {
        let (asked, tokens) = (plural(self.asked, "unknown tool"), count(self.tokens));
        let learned = count(self.learned);
        (self.asked > 0)
            .then(|| format!("asked about {asked}: {learned} known now, {tokens} tokens"))
    }
}

fn ask(llm: &Llm, permit: &Permit, question: &Question) -> Result<(Learned, u64), Error> {
    let answer = llm.ask(permit, &question.prompt, question.tokens_max)?;
    Ok((Learned::of(question, &answer.text), answer.tokens))
}

/// The model that is configured.
pub fn llm(settings: &Settings, ctx: &Ctx) -> Result<Llm> {
    let options = Options {
        timeout_ms: u64::from(settings.timeout_s) * 1_000,
        proxies: sinks::proxies(&ctx.env),
    };
    Ok(Llm {
        http: Http::new(&options)?,
        shape: match settings.shape {
            LlmShape::OpenAi => Shape::OpenAi,
            LlmShape::Anthropic => Shape::Anthropic,
        },
        model: settings.model.clone(),
        key: key(settings, ctx)?,
    })
}

fn key(settings: &Settings, ctx: &Ctx) -> Result<Option<String>> {
    let name = settings.key_env.as_ref();
    name.map(|name| keys::key("llm.key_env", name, &ctx.env))
        .transpose()
}
