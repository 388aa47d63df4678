//! The only HTTP: JSON out, JSON in, to the one endpoint that a [`Permit`] names.
//!
//! Knows proxies, certificates, time limits, body limits and when to try again; follows no
//! redirection. Refuses to know what is said.

use crate::model::consent::Permit;
use crate::model::error::{Error, ErrorKind};
use reqwest::blocking::{Client, Response};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{NoProxy, Proxy, StatusCode, redirect};
use serde_json::Value;
use std::io::Read;
use std::time::Duration;

/// How requests are made.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// For a whole answer.
    pub timeout_ms: u64,
    /// Proxies, as the environment says.
    pub proxies: Proxies,
}

/// What `HTTP_PROXY`, `HTTPS_PROXY` (or `ALL_PROXY`) and `NO_PROXY` say.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    /// For `http://`.
    pub http: Option<String>,
    /// For `https://`.
    pub https: Option<String>,
    /// Hosts that are reached without one.
    pub none: Option<String>,
}

/// Attempts at one request. More: a dead server holds a run up; fewer: a busy one fails it.
const ATTEMPTS_MAX: u32 = 4;
/// The wait before the second attempt; doubled before each further one.
const WAIT_MS: u64 = 500;
/// A server that asks for a longer wait is given up for this run.
const WAIT_MS_MAX: u64 = 60_000;
/// An answer may have so many bytes.
const ANSWER_BYTES_MAX: u64 = 8 << 20;

/// Makes requests. Costs a thread; make one per run.
pub struct Http {
    client: Client,
    sleep: Box<dyn Fn(u64)>,
}

/// Why there is no answer.
enum Fault {
    /// Another attempt may help, after so many milliseconds where the server says so.
    Passing(String, Option<u64>),
    /// It would not.
    Lasting(String),
}

impl Http {
    /// A client; nothing is connected yet.
    ///
    /// # Errors
    /// When a proxy's address is none, or the system's certificates can't be read.
    #[expect(
        clippy::disallowed_methods,
        reason = "a busy server says how long to wait"
    )]
    pub fn new(options: &Options) -> Result<Http, Error> {
        Http::with_sleep(
            options,
            Box::new(|ms| std::thread::sleep(Duration::from_millis(ms))),
        )
    }

    /// The same with another way of waiting, which is told the milliseconds.
    pub fn with_sleep(options: &Options, sleep: Box<dyn Fn(u64)>) -> Result<Http, Error> {
        // an error means that one is installed already
        let _ = rustls::crypto::ring::default_provider().install_default();
        let timeout = Duration::from_millis(options.timeout_ms);
        let mut builder = Client::builder()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .timeout(timeout)
            .connect_timeout(timeout.min(Duration::from_secs(10)));
        for proxy in proxies(&options.proxies)? {
            builder = builder.proxy(proxy);
        }
        let client = builder
            .build()
            .map_err(|error| failed(format!("http: {}", chain(&error))))?;
        Ok(Http { client, sleep })
    }

    /// Posts to `path` below the permitted endpoint. 429, 5xx and connections that fail are tried
    /// again, after the wait that the server asks for.
    ///
    /// # Errors
    /// Of kind `Failed`; they name the endpoint and what it did, never what was sent or answered.
    pub fn post(
        &self,
        permit: &Permit,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Result<Value, Error> {
        let url = format!("{}{path}", permit.endpoint());
        let headers = header_map(headers)?;
        let body = body.to_string();
        let mut wait_ms = WAIT_MS;
        for attempt in 1.. {
            let request = self.client.post(&url).headers(headers.clone());
            let fault = match request.body(body.clone()).send() {
                Ok(response) => match answer(response) {
                    Ok(value) => return Ok(value),
                    Err(fault) => fault,
                },
                Err(error) => Fault::Passing(chain(&error), None),
            };
            let (why, asked) = match fault {
                Fault::Lasting(why) => return Err(self.given_up(permit, &why)),
                Fault::Passing(why, asked) => (why, asked),
            };
            if attempt == ATTEMPTS_MAX || asked.is_some_and(|ms| ms > WAIT_MS_MAX) {
                return Err(self.given_up(permit, &why));
            }
            (self.sleep)(asked.unwrap_or(wait_ms));
            wait_ms *= 2;
        }
        Err(self.given_up(permit, "no attempt"))
    }

    fn given_up(&self, permit: &Permit, why: &str) -> Error {
        failed(format!("{}: {why}", permit.endpoint()))
    }
}

fn failed(message: String) -> Error {
    Error::new(ErrorKind::Failed, message)
}

fn proxies(given: &Proxies) -> Result<Vec<Proxy>, Error> {
    let none = || given.none.as_deref().and_then(NoProxy::from_string);
    let wrong = |_| Error::usage("the address of the proxy in the environment is none");
    let mut all = Vec::new();
    if let Some(url) = &given.http {
        all.push(Proxy::http(url).map_err(wrong)?.no_proxy(none()));
    }
    if let Some(url) = &given.https {
        all.push(Proxy::https(url).map_err(wrong)?.no_proxy(none()));
    }
    Ok(all)
}

fn header_map(given: &[(&str, &str)]) -> Result<HeaderMap, Error> {
    let mut map = HeaderMap::new();
    map.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in given {
        let wrong = || Error::usage(format!("the value of the header {name} is none"));
        let mut value = HeaderValue::from_str(value).map_err(|_| wrong())?;
        value.set_sensitive(true);
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        map.insert(name, value);
    }
    Ok(map)
}

/// The innermost cause says most; the address, which may hold a key, is left out.
fn chain(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "no answer in time".to_owned();
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string().to_lowercase()
}

fn answer(response: Response) -> Result<Value, Fault> {
    let status = response.status();
    if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() {
        let after = response.headers().get(RETRY_AFTER);
        let seconds = after.and_then(|value| value.to_str().ok()?.trim().parse::<u64>().ok());
        let wait = seconds.map(|seconds| seconds.saturating_mul(1_000));
        return Err(Fault::Passing(format!("answers {}", status.as_u16()), wait));
    }
    if !status.is_success() {
        return Err(Fault::Lasting(format!("answers {}", status.as_u16())));
    }
    let mut text = Vec::new();
    let read = response.take(ANSWER_BYTES_MAX + 1).read_to_end(&mut text);
    if read.is_err() {
        return Err(Fault::Passing("the answer ends early".to_owned(), None));
    }
    if text.len() as u64 > ANSWER_BYTES_MAX {
        return Err(Fault::Lasting("the answer is too long".to_owned()));
    }
    serde_json::from_slice(&text).map_err(|_| Fault::Lasting("the answer is no JSON".to_owned()))
}
