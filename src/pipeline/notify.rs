//! Tells people what was given up (`resilience.notifications`): in the run's log, and at their webhook.
//! Knows counts and names of sinks and models; refuses to tell a word of an episode.

use super::alarms::Change;
use super::context::RunContext;
use super::keys::proxies;
use super::run_log;
use crate::config::LlmSettings;
use crate::model::consent::Endpoint;
use crate::model::error::Error;
use crate::model::human::plural;
use crate::net::http::{Http, HttpOptions};
use crate::store::Store;
use anyhow::Result;
use serde_json::{Value, json};

/// For a webhook's answer; nobody waits for it but the run.
const ANSWER_MS_MAX: u64 = 10_000;

/// Episodes that were given up for a sink.
pub struct GivenUp<'a> {
    /// Its name.
    pub sink: &'a str,
    /// How many.
    pub episodes: u64,
}

/// Tells of what was given up in this run. A webhook that can't be told is a warning: the log says
/// it, the report says it, and the dead letters stay where they are.
pub fn of_deliveries(dead: &[GivenUp<'_>], store: &Store, cx: &mut RunContext<'_>) -> Result<()> {
    for sink in dead {
        let episodes = plural(sink.episodes, "episode");
        log(
            &format!("sink {}: {episodes} failed permanently", sink.sink),
            cx,
        );
    }
    let webhook = cx.loaded.config.delivery.webhook.as_ref();
    match webhook.filter(|_| !dead.is_empty()) {
        Some(webhook) => tell(&message(dead, cx.host), webhook, store, cx),
        None => Ok(()),
    }
}

/// The same of sessions that a language model was asked about in vain.
pub fn of_sessions(
    sessions: u64,
    llm: &LlmSettings,
    store: &Store,
    cx: &mut RunContext<'_>,
) -> Result<()> {
    let limits = &cx.loaded.config.delivery;
    if sessions == 0 || !limits.notifies_dead_letters {
        return Ok(());
    }
    let (model, host) = (&llm.model, cx.host);
    let told = plural(sessions, "session");
    let body = json!({
        "text": format!("sessionmill on {host} gave up asking {model} about {told}: sessionmill status"),
        "event": "permanent_failure",
        "host": host,
        "model": model,
        "sessions": sessions,
    });
    log(&format!("model {model}: {told} failed permanently"), cx);
    match &limits.webhook {
        Some(webhook) => tell(&body, webhook, store, cx),
        None => Ok(()),
    }
}

/// Tells of alarms that begin and end.
///
/// # Errors
/// When a warning can't be given.
pub fn of_alarms(changes: &[Change], store: &Store, cx: &mut RunContext<'_>) -> Result<()> {
    for change in changes {
        let host = cx.host;
        let (event, alarm, text) = match change {
            Change::Begins(alarm) => {
                let words = alarm.words(cx.zone);
                ("alarm_begins", alarm, format!("{words}: {}", alarm.hint))
            }
            Change::Ends(alarm) => ("alarm_ends", alarm, format!("{} works again", alarm.who)),
        };
        log(&text, cx);
        let body = json!({
            "text": format!("sessionmill on {host}: {text}"),
            "event": event,
            "host": host,
            "who": alarm.who,
            "reason": alarm.reason,
            "since": alarm.since.rfc3339_millis(),
            "waiting": alarm.waiting,
        });
        let limits = &cx.loaded.config.delivery;
        let webhook = limits.webhook.as_ref();
        if let Some(webhook) = webhook.filter(|_| limits.notifies_dead_letters) {
            tell(&body, webhook, store, cx)?;
        }
    }
    Ok(())
}

/// The report says it too: a log that can't be written is no failure.
fn log(text: &str, cx: &RunContext<'_>) {
    let _ = run_log::append(&cx.home.logs(), cx.now, cx.zone, text);
}

/// A webhook that fails is a warning.
fn tell(body: &Value, webhook: &Endpoint, store: &Store, cx: &mut RunContext<'_>) -> Result<()> {
    if let Err(error) = post(body, webhook, store, cx) {
        let hint = match &error.hint {
            Some(hint) => format!(" ({hint})"),
            None => String::new(),
        };
        cx.notices
            .warn(&format!("the webhook could not be called: {error}{hint}"))?;
    }
    Ok(())
}

/// `text` is what chat services show.
fn message(dead: &[GivenUp<'_>], host: &str) -> Value {
    let told = dead
        .iter()
        .map(|sink| format!("{} ({})", sink.sink, plural(sink.episodes, "episode")));
    let told: Vec<String> = told.collect();
    let sinks = dead
        .iter()
        .map(|sink| json!({"sink": sink.sink, "dead": sink.episodes}));
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

fn post(body: &Value, webhook: &Endpoint, store: &Store, cx: &RunContext<'_>) -> Result<(), Error> {
    let permit = store.permit(webhook)?;
    let options = HttpOptions {
        timeout_ms: ANSWER_MS_MAX,
        proxies: proxies(cx.env),
    };
    Http::new(&options)?.tell(&permit, body)
}
