//! Tells people what was given up (`resilience.notifications`): in the run's log, and at their webhook.
//! Knows counts and names of sinks and models; refuses to tell a word of an episode.

use super::ctx::Ctx;
use super::human::plural;
use super::{runlog, sinks};
use crate::config::{DeliveryLimits, LlmSettings};
use crate::model::consent::Endpoint;
use crate::model::error::Error;
use crate::net::http::{Http, Options};
use crate::pipeline::deliver::Delivered;
use crate::store::Store;
use anyhow::Result;
use serde_json::{Value, json};

/// For a webhook's answer; nobody waits for it but the run.
const ANSWER_MS_MAX: u64 = 10_000;

/// Tells of what was given up in this run. A webhook that can't be told is a warning: the log says
/// it, the report says it, and the dead letters stay where they are.
pub fn given_up(
    done: &[Delivered],
    webhook: Option<&Endpoint>,
    store: &Store,
    ctx: &mut Ctx,
) -> Result<()> {
    let dead: Vec<&Delivered> = done.iter().filter(|sink| sink.dead > 0).collect();
    for sink in &dead {
        let episodes = plural(sink.dead, "episode");
        log(&format!("sink {}: {episodes} given up", sink.sink), ctx);
    }
    let Some(webhook) = webhook.filter(|_| !dead.is_empty()) else {
        return Ok(());
    };
    tell(&message(&dead, &ctx.host), webhook, store, ctx)
}

/// The same of sessions that a language model was asked about in vain.
pub fn untold(
    sessions: u64,
    llm: &LlmSettings,
    limits: &DeliveryLimits,
    store: &Store,
    ctx: &mut Ctx,
) -> Result<()> {
    if sessions == 0 || !limits.notifies_dead_letters {
        return Ok(());
    }
    let (model, host) = (&llm.model, &ctx.host);
    let told = plural(sessions, "session");
    let body = json!({
        "text": format!("sessionmill on {host} gave up asking {model} about {told}: sessionmill status"),
        "event": "permanent_failure",
        "host": host,
        "model": model,
        "sessions": sessions,
    });
    log(&format!("model {model}: {told} given up"), ctx);
    match &limits.webhook {
        Some(webhook) => tell(&body, webhook, store, ctx),
        None => Ok(()),
    }
}

/// The report says it too: a log that can't be written is no failure.
fn log(text: &str, ctx: &Ctx) {
    let _ = runlog::append(&ctx.home.logs(), ctx.now, ctx.zone, text);
}

/// A webhook that fails is a warning.
fn tell(body: &Value, webhook: &Endpoint, store: &Store, ctx: &mut Ctx) -> Result<()> {
    if let Err(error) = post(body, webhook, store, ctx) {
        let hint = match &error.hint {
            Some(hint) => format!(" ({hint})"),
            None => String::new(),
        };
        ctx.out
            .warn(format!("the webhook was not told: {error}{hint}"))?;
    }
    Ok(())
}

/// `text` is what chat services show.
fn message(dead: &[&Delivered], host: &str) -> Value {
    let told = dead
        .iter()
        .map(|sink| format!("{} ({})", sink.sink, plural(sink.dead, "episode")));
    let told: Vec<String> = told.collect();
    let sinks = dead
        .iter()
        .map(|sink| json!({"sink": sink.sink, "dead": sink.dead}));
    json!({
        "text": format!(
            "sessionmill on {host} gave up on deliveries to {}: sessionmill deliver dead list",
            told.join(", ")
        ),
        "event": "permanent_failure",
        "host": host,
        "sinks": sinks.collect::<Vec<Value>>(),
    })
}

fn post(body: &Value, webhook: &Endpoint, store: &Store, ctx: &Ctx) -> Result<(), Error> {
    let permit = store.permit(webhook)?;
    let options = Options {
        timeout_ms: ANSWER_MS_MAX,
        proxies: sinks::proxies(&ctx.env),
    };
    Http::new(&options)?.tell(&permit, body)
}
