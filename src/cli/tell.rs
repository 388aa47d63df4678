//! Asking a language model what sessions came to: with whom, with whose consent, and for how much.

use super::activity;
use super::ctx::Ctx;
use super::deliver::retry;
use super::enrich;
use super::human::{count, plural};
use super::notify;
use super::setup::{self, Orders};
use crate::config::{Config, LlmSettings as Settings, Loaded};
use crate::insight::summarise::prompt::embedded;
use crate::memory::screen;
use crate::model::llm::Turn;
use crate::model::template::Template;
use crate::pipeline::admission::Admission;
use crate::pipeline::enrich::Budget;
use crate::pipeline::spec::Window;
use crate::pipeline::tell::{self, Predicted, Project, Told};
use crate::store::{Spent, Store};
use anyhow::Result;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

/// The question's words: the user's or the built-in ones.
///
/// # Errors
/// When the user's are wrong: before a run does anything.
pub fn template(config: &Config) -> Result<Cow<'static, Template>> {
    Ok(match config.summarizing.template()? {
        Some(own) => Cow::Owned(own),
        None => Cow::Borrowed(embedded()),
    })
}

/// Asks about the sessions that wait, where that is wanted; `used`: tokens that this run used for
/// something else.
///
/// # Errors
/// As [`tell::tell`].
pub fn tell(
    loaded: &Loaded,
    orders: &Orders,
    used: u64,
    store: &mut Store,
    ctx: &mut Ctx,
) -> Result<Told> {
    let Some(settings) = asks(&loaded.config) else {
        return Ok(Told::default());
    };
    let permit = store.permit(&settings.endpoint)?;
    let llm = enrich::llm(settings, ctx)?;
    let budgets = left(settings, used, store.spent(ctx.now)?);
    let told = with(loaded, orders, &budgets, store, ctx, |store, orders| {
        let talk = |turns: &[Turn], most: u64| llm.say(&permit, turns, most);
        tell::tell(store, orders, &talk)
    })?;
    if let Some(why) = told.stopped.as_ref().filter(|why| *why != "budget") {
        ctx.out.warn(format!("sessions keep their facts: {why}"))?;
    }
    notify::untold(told.given_up, settings, &loaded.config.delivery, store, ctx)?;
    Ok(told)
}

/// What asking about the sessions that wait would cost; `None`: nobody would be asked.
///
/// # Errors
/// When the store can't be read, or the user's template is wrong.
pub fn predicted(
    loaded: &Loaded,
    orders: &Orders,
    store: &mut Store,
    ctx: &mut Ctx,
) -> Result<Option<Predicted>> {
    if asks(&loaded.config).is_none() {
        return Ok(None);
    }
    with(loaded, orders, &[], store, ctx, |store, orders| {
        tell::predicted(store, orders)
    })
    .map(Some)
}

/// The model that is asked; `None`: none is, or sessions aren't told to it.
fn asks(config: &Config) -> Option<&Settings> {
    config.llm.as_ref().filter(|_| config.auto_summarize)
}

fn with<T>(
    loaded: &Loaded,
    run: &Orders,
    budgets: &[Budget],
    store: &mut Store,
    ctx: &mut Ctx,
    act: impl FnOnce(&mut Store, &mut tell::Orders<'_>) -> Result<T>,
) -> Result<T> {
    let config = &loaded.config;
    let template = template(config)?;
    let judge = activity::judge(ctx)?;
    let screen = screen::screen(config, &ctx.home)?;
    let retry = retry(&config.delivery);
    let env = ctx.env.clone();
    let admission = Admission::new(loaded, &env, Window::Configured, ctx.now);
    let settings = config.llm.as_ref();
    let bounds = settings.map_or_else(Vec::new, |llm| left(llm, 0, Spent::default()));
    let mut wants = BTreeMap::new();
    let mut orders = tell::Orders {
        now: ctx.now,
        since: setup::since(config, run),
        judge: &judge,
        project: &mut |path| {
            let own = || {
                let own = loaded.for_project(Path::new(path));
                admission.admit(Some(path), None, "").is_ok()
                    && own.is_ok_and(|(config, _)| config.auto_summarize)
            };
            Ok(Project {
                wants: *wants.entry(path.to_owned()).or_insert_with(own),
                hides_paths: ctx.hides_paths_of(path)?,
            })
        },
        policy: config.summarizing.policy,
        template: &template,
        context_tokens: settings.map_or(0, |llm| u64::from(llm.context_tokens)),
        budgets,
        bounds: &bounds,
        retry: &retry,
        queue_max: config.delivery.max_queue_size,
        when_away: config.when_away,
        redactor: &screen.redactor,
        model: settings.map_or("", |llm| &llm.model),
    };
    act(store, &mut orders)
}

/// What is left for this run and for the day.
fn left(settings: &Settings, used: u64, spent: Spent) -> Vec<Budget> {
    let run = Budget {
        tokens: settings.tokens_max.map(|most| most.saturating_sub(used)),
        usd: settings.usd_max,
        usd_per_million: settings.usd_per_million,
    };
    let day = Budget {
        tokens: settings
            .tokens_max_a_day
            .map(|most| most.saturating_sub(spent.tokens.total())),
        usd: settings.usd_max_a_day.map(|most| most - spent.usd),
        ..run
    };
    vec![run, day]
}

/// For people; `None` where nobody was asked.
pub fn line(told: &Told) -> Option<String> {
    let mut parts = Vec::new();
    if told.sessions > 0 {
        parts.push(format!(
            "{} told by the model",
            plural(told.sessions, "session")
        ));
    }
    for (number, what) in [
        (told.refused, "without a useful answer"),
        (told.given_up, "given up"),
        (told.too_dear, "left out, because one alone costs too much"),
    ] {
        if number > 0 {
            parts.push(format!("{} {what}", plural(number, "session")));
        }
    }
    if told.stopped.as_deref() == Some("budget") {
        parts.push("the budget is used up".into());
    }
    if told.tokens.total() > 0 {
        parts.push(format!(
            "{} tokens, ${:.2}",
            count(told.tokens.total()),
            told.usd
        ));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}
