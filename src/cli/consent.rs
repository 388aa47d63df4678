//! `consent`: to which places something may be sent. Asks, records, lists, takes back; what may be
//! done with a consent is `model::consent`'s to say.

use super::ctx::{Ctx, is_yes};
use super::exit::Exit;
use crate::config::gate;
use crate::model::consent::{Consent, Endpoint, TRACKING, endpoint_text};
use crate::model::error::Error;
use crate::model::human;
use crate::pipeline::lock::Lock;
use crate::store::{Access, Store};
use anyhow::Result;
use serde_json::{Value, json};

/// Allow or stop sending data to an endpoint
///
/// Nothing leaves this machine until you consent to the exact endpoint that is configured; a
/// changed endpoint needs a new consent. Runs never ask. Consent to reading logs on this machine is
/// separate: see `enable`.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand, Debug)]
enum Verb {
    /// Allow sending data to an endpoint
    Give {
        /// scheme://host[:port][/path], as in the settings
        #[arg(value_name = "ENDPOINT")]
        endpoint: String,
        /// The words of consent [default: ask]
        #[arg(long, value_name = "TEXT")]
        confirm: Option<String>,
    },
    /// List the endpoints with consent given or revoked
    List,
    /// Stop sending data to an endpoint, effective at once, even during a run
    Revoke {
        /// scheme://host[:port][/path]
        #[arg(value_name = "ENDPOINT")]
        endpoint: String,
    },
}

/// Records or lists consents.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    match &args.verb {
        // Read here: clap would repeat what it refuses, and there may be a password in it.
        Verb::Give { endpoint, confirm } => give(&endpoint.parse()?, confirm.as_deref(), ctx)?,
        Verb::List => list(ctx)?,
        Verb::Revoke { endpoint } => revoke(&endpoint.parse()?, ctx)?,
    }
    Ok(Exit::Done)
}

fn give(endpoint: &Endpoint, confirm: Option<&str>, ctx: &mut Ctx) -> Result<()> {
    let text = agreed(endpoint, confirm, ctx)?;
    let _lock = Lock::take(&ctx.home.lock())?;
    let mut store = Store::open(&ctx.home.store(), Access::ReadWrite)?;
    store.record_consent(&said(endpoint, true, text, ctx))?;
    store.finish()?;
    report("consent give", endpoint, true, ctx)
}

/// Without the run's lock: it has to hold for a run that is going.
fn revoke(endpoint: &Endpoint, ctx: &mut Ctx) -> Result<()> {
    let recorded = ctx.reader()?.consents()?;
    let is_known = recorded.iter().any(|c| c.scope == endpoint.as_str());
    if !is_known {
        let error = Error::usage(format!("there is no consent to {endpoint}"));
        return Err(error.hinted("sessionmill consent list").into());
    }
    let mut store = Store::open(&ctx.home.store(), Access::ReadWrite)?;
    store.record_consent(&said(endpoint, false, String::new(), ctx))?;
    report("consent revoke", endpoint, false, ctx)
}

fn said(endpoint: &Endpoint, given: bool, text: String, ctx: &Ctx) -> Consent {
    Consent {
        scope: endpoint.to_string(),
        given,
        text,
        version: env!("CARGO_PKG_VERSION").into(),
        at: ctx.now,
    }
}

/// The words that the person agreed to.
fn agreed(endpoint: &Endpoint, confirm: Option<&str>, ctx: &mut Ctx) -> Result<String> {
    let wants = endpoint_text(endpoint);
    let answer = match confirm {
        Some(words) => Some(words.to_owned()),
        None => {
            ctx.out.note(format!(
                "sessionmill will send data to {endpoint}: see docs/privacy.md."
            ))?;
            ctx.ask(&format!("Do you agree: \"{wants}\"? [y/N]"))?
                .map(|typed| match is_yes(&typed) {
                    true => wants.clone(),
                    false => typed,
                })
        }
    };
    match answer.as_deref().map(str::trim) {
        Some(words) if words.eq_ignore_ascii_case(&wants) => Ok(words.to_owned()),
        _ => {
            let message = format!("sending to {endpoint} needs your consent, word for word");
            let hint = format!("sessionmill consent give {endpoint} --confirm \"{wants}\"");
            Err(Error::usage(message).hinted(hint).into())
        }
    }
}

fn list(ctx: &mut Ctx) -> Result<()> {
    let last = match ctx.home.store().exists() {
        true => last_words(ctx.reader()?.consents()?),
        false => Vec::new(),
    };
    if ctx.out.json {
        let consents: Vec<Value> = last.iter().map(value).collect();
        return ctx
            .out
            .document("consent list", json!({"consents": consents}));
    }
    let reads = gate(&ctx.settings()?.config).enabled;
    for said in &last {
        let what = match (said.given, said.scope == TRACKING && !reads) {
            (true, false) => "given",
            (true, true) => "off now, given",
            (false, _) => "revoked",
        };
        let line = format!(
            "{}: {what} {} with version {}",
            match said.scope == TRACKING {
                true => "reading logs on this machine",
                false => &said.scope,
            },
            human::time(Some(said.at), ctx.zone),
            said.version
        );
        ctx.out.line(line)?;
        if said.given {
            ctx.out.line(format!("    \"{}\"", said.text))?;
        }
    }
    match last.iter().any(|said| said.given && said.scope != TRACKING) {
        true => Ok(()),
        false => ctx
            .out
            .note("no destination has your consent; nothing is sent anywhere"),
    }
}

fn value(said: &Consent) -> Value {
    json!({
        "scope": said.scope,
        "given": said.given,
        "text": said.text,
        "version": said.version,
        "at": said.at.rfc3339_millis(),
    })
}

/// The last word of each scope, in the order in which these were said.
fn last_words(recorded: Vec<Consent>) -> Vec<Consent> {
    let mut last: Vec<Consent> = Vec::new();
    for said in recorded {
        last.retain(|earlier| earlier.scope != said.scope);
        last.push(said);
    }
    last
}

fn report(command: &str, endpoint: &Endpoint, given: bool, ctx: &mut Ctx) -> Result<()> {
    if ctx.out.json {
        let body = json!({"endpoint": endpoint.as_str(), "given": given});
        return ctx.out.document(command, body);
    }
    let line = match given {
        true => format!("{endpoint}: consent is recorded"),
        false => format!("{endpoint}: consent is revoked; nothing is sent there from now on"),
    };
    ctx.out.did(line)
}
