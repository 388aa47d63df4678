//! The only HTTP: JSON out, JSON in, to the one endpoint that a [`Permit`] names.
//!
//! Knows proxies, certificates, time limits, body limits and when to try again; follows no
//! redirection. Refuses to know what is said.

use super::events::Events;
use super::texts::ShortTexts;
use crate::model::consent::Permit;
use crate::model::error::{Error, ErrorKind};
use reqwest::blocking::{Client, Response};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{NoProxy, Proxy, redirect};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::error::Category;
use std::fmt;
use std::io::{self, BufReader, Read};
use std::time::Duration;

/// How requests are made.
#[derive(Clone, Debug, Default)]
pub struct HttpOptions {
    /// For a whole answer.
    pub timeout_ms: u64,
    /// Proxies, as the environment says.
    pub proxies: Proxies,
}

/// What `HTTPS_PROXY` (or `ALL_PROXY`) and `NO_PROXY` say. What is sent to `http://` goes there and
/// nowhere else: a proxy would see it, and nobody agreed to that.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    /// For `https://`, where it sees no more than the host.
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
/// An answer that is kept may have so many bytes.
const ANSWER_BYTES_MAX: u64 = 8 << 20;
/// One of which only parts are kept. More than a group's episodes of many years.
const LISTING_BYTES_MAX: u64 = 2 << 30;
/// Hosts that no proxy knows as we do.
const LOOPBACK: &str = "localhost,127.0.0.0/8,::1";

/// Makes requests. Costs a thread; make one per run.
pub struct Http {
    client: Client,
    timeout: Duration,
    /// Why `https://` can't be checked here: the system's certificates are missing, or can't be read.
    uncertified: Option<String>,
    sleep: Box<dyn Fn(u64)>,
}

/// Why a request came to nothing. Texts say what the server did, never what was sent or answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HttpError {
    /// Nobody answered to the end: what was asked may have been done or not.
    NoAnswer(String),
    /// The same, and it had all the time that it may take: asking once more costs as much again.
    Late,
    /// It answers this status; with the wait that it asks for.
    Status(u16, Option<Duration>),
    /// What it answers isn't what was expected.
    Odd(String),
}

impl HttpError {
    /// Another attempt may help.
    pub fn may_pass(&self) -> bool {
        match self {
            HttpError::NoAnswer(_) | HttpError::Late => true,
            HttpError::Status(status, _) => matches!(status, 408 | 425 | 429 | 500..=599),
            HttpError::Odd(_) => false,
        }
    }

    /// The wait that the server asks for, in milliseconds.
    pub fn asked_ms(&self) -> Option<u64> {
        match self {
            HttpError::Status(_, Some(wait)) => u64::try_from(wait.as_millis()).ok(),
            _ => None,
        }
    }
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HttpError::NoAnswer(why) | HttpError::Odd(why) => f.write_str(why),
            HttpError::Late => f.write_str("no answer in time"),
            HttpError::Status(status, _) => write!(f, "answers {status}"),
        }
    }
}

/// What is done to what stands at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Read it.
    Get,
    /// Give it something.
    Post,
    /// Remove it.
    Delete,
}

impl Http {
    /// A client; nothing is connected yet.
    ///
    /// # Errors
    /// When a proxy's address is not valid.
    #[expect(
        clippy::disallowed_methods,
        reason = "a busy server says how long to wait"
    )]
    pub fn new(options: &HttpOptions) -> Result<Http, Error> {
        Http::with_sleep(
            options,
            Box::new(|ms| std::thread::sleep(Duration::from_millis(ms))),
        )
    }

    /// The same with another way of waiting, which is told the milliseconds.
    pub fn with_sleep(options: &HttpOptions, sleep: Box<dyn Fn(u64)>) -> Result<Http, Error> {
        // an error means that one is installed already
        let _ = rustls::crypto::ring::default_provider().install_default();
        let timeout = Duration::from_millis(options.timeout_ms);
        let proxy = proxy(&options.proxies)?;
        let builder = || {
            let builder = Client::builder()
                .no_proxy()
                .redirect(redirect::Policy::none())
                .timeout(timeout)
                .connect_timeout(timeout.min(Duration::from_secs(10)));
            match &proxy {
                Some(proxy) => builder.proxy(proxy.clone()),
                None => builder,
            }
        };
        // a bare system has no certificates, and can speak `http://` all the same
        let whole = builder().build();
        let uncertified = whole.as_ref().err().map(chain);
        let client = whole
            .or_else(|_| builder().tls_certs_only([]).build())
            .map_err(|error| failed(format!("http: {}", chain(&error))))?;
        Ok(Http {
            client,
            timeout,
            uncertified,
            sleep,
        })
    }

    /// Posts to `path` below the permitted endpoint. What may pass is tried again, after the wait
    /// that the server asks for.
    ///
    /// # Errors
    /// What the server did at last. A header that is none is the caller's error: `Odd`.
    pub fn post(
        &self,
        permit: &Permit,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Result<Value, HttpError> {
        self.with_retries(|| self.post_once(permit, path, headers, body))
    }

    /// Posts as [`Http::post`] does, and tries nothing again: for somebody who waits.
    ///
    /// # Errors
    /// As those of [`Http::post`].
    pub fn post_once(
        &self,
        permit: &Permit,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Result<Value, HttpError> {
        let headers = header_map(headers).map_err(|error| HttpError::Odd(error.message))?;
        let answer = self.send(permit, Verb::Post, path, &headers, Some(body))?;
        read(answer, ANSWER_BYTES_MAX)
    }

    /// Posts to the permitted endpoint itself, as [`Http::post`] does; what it answers is not read.
    ///
    /// # Errors
    /// Of kind `Failed`; they name the endpoint and what it did, never what was sent or answered.
    pub fn tell(&self, permit: &Permit, body: &Value) -> Result<(), Error> {
        let headers = header_map(&[])?;
        let sent = self.with_retries(|| {
            self.send(permit, Verb::Post, "", &headers, Some(body))
                .map(|_| ())
        });
        sent.map_err(|error| failed(format!("{}: {error}", permit.endpoint())))
    }

    /// Tries one request again within a run, where that may help: of language models and webhooks, whose
    /// answer is wanted now. Deliveries are not retried here: `stages::upload` does that, over runs.
    ///
    /// A request that had all its time isn't repeated: a server that hangs would hold a run up for as many
    /// times that long.
    fn with_retries<T>(&self, try_it: impl Fn() -> Result<T, HttpError>) -> Result<T, HttpError> {
        let mut attempt = 1;
        let mut wait_ms = WAIT_MS;
        loop {
            let error = match try_it() {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            let asked_ms = error.asked_ms();
            let is_over = attempt == ATTEMPTS_MAX
                || error == HttpError::Late
                || asked_ms.is_some_and(|ms| ms > WAIT_MS_MAX);
            if is_over || !error.may_pass() {
                return Err(error);
            }
            (self.sleep)(asked_ms.unwrap_or(wait_ms));
            attempt += 1;
            wait_ms *= 2;
        }
    }

    /// Asks once for `path` below the permitted endpoint. Of the answer only what `T` names is kept,
    /// however long it is.
    ///
    /// # Errors
    /// What the server did instead. A header that is none is the caller's error: `Odd`.
    pub fn once<T: DeserializeOwned>(
        &self,
        permit: &Permit,
        (verb, path): (Verb, &str),
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<T, HttpError> {
        let headers = header_map(headers).map_err(|error| HttpError::Odd(error.message))?;
        let answer = self.send(permit, verb, path, &headers, body)?;
        read(answer, LISTING_BYTES_MAX)
    }

    /// Asks once, as [`Http::once`] does, and leaves reading the answer to the caller.
    ///
    /// # Errors
    /// As those of [`Http::once`].
    pub(super) fn answer(
        &self,
        permit: &Permit,
        (verb, path): (Verb, &str),
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<Answer, HttpError> {
        let headers = header_map(headers).map_err(|error| HttpError::Odd(error.message))?;
        self.send(permit, verb, path, &headers, body).map(Answer)
    }

    fn send(
        &self,
        permit: &Permit,
        verb: Verb,
        path: &str,
        headers: &HeaderMap,
        body: Option<&Value>,
    ) -> Result<Response, HttpError> {
        let url = format!("{}{path}", permit.endpoint());
        if let Some(why) = self
            .uncertified
            .as_ref()
            .filter(|_| url.starts_with("https:"))
        {
            let what = "this system's certificates can't be read, so https:// can't be checked";
            return Err(HttpError::Odd(format!(
                "{what} (install ca-certificates): {why}"
            )));
        }
        let request = match verb {
            Verb::Get => self.client.get(&url),
            Verb::Post => self.client.post(&url),
            Verb::Delete => self.client.delete(&url),
        };
        // the client's own time limit begins anew with each piece of an answer
        let request = request.headers(headers.clone()).timeout(self.timeout);
        let request = match body {
            Some(body) => request.body(body.to_string()),
            None => request,
        };
        let answer = request.send().map_err(|error| match error.is_timeout() {
            true => HttpError::Late,
            false => HttpError::NoAnswer(chain(&error)),
        })?;
        let status = answer.status();
        if status.is_success() {
            return Ok(answer);
        }
        let after = answer.headers().get(RETRY_AFTER);
        let seconds = after.and_then(|value| value.to_str().ok()?.trim().parse::<u64>().ok());
        Err(HttpError::Status(
            status.as_u16(),
            seconds.map(Duration::from_secs),
        ))
    }
}

fn failed(message: String) -> Error {
    Error::new(ErrorKind::Failed, message)
}

fn proxy(given: &Proxies) -> Result<Option<Proxy>, Error> {
    let wrong = |_| Error::usage("the proxy's address in the environment is not valid");
    let Some(url) = &given.https else {
        return Ok(None);
    };
    let none = [LOOPBACK, given.none.as_deref().unwrap_or_default()].join(",");
    let proxy = Proxy::https(url).map_err(wrong)?;
    Ok(Some(proxy.no_proxy(NoProxy::from_string(&none))))
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
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string().to_lowercase()
}

/// An answer that nobody has read.
pub(super) struct Answer(Response);

impl Answer {
    /// What a header says; `None`: it isn't there, or is no plain text.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.0.headers().get(name)?.to_str().ok()
    }

    /// The first of its values that `is_it`: the answer itself, or what one of its events holds.
    pub(super) fn find<T: DeserializeOwned>(
        self,
        is_it: impl Fn(&T) -> bool,
    ) -> Result<T, HttpError> {
        let kind = self.header(CONTENT_TYPE.as_str()).unwrap_or_default();
        if !kind.starts_with("text/event-stream") {
            let other = || HttpError::Odd("the answer is to another request".into());
            let value = read(self.0, LISTING_BYTES_MAX)?;
            return Some(value).filter(is_it).ok_or_else(other);
        }
        let early = |_| HttpError::NoAnswer("the answer ends early".into());
        let mut events = Events::new(self.0.take(LISTING_BYTES_MAX));
        while events.next().map_err(early)? {
            let value = read(&mut events, LISTING_BYTES_MAX)?;
            if is_it(&value) {
                return Ok(value);
            }
        }
        Err(HttpError::NoAnswer("the answer ends early".into()))
    }
}

/// The time was over in the middle of an answer.
fn is_late(error: &io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    inner.is_some_and(reqwest::Error::is_timeout)
}

fn read<T: DeserializeOwned>(answer: impl Read, bytes_max: u64) -> Result<T, HttpError> {
    let mut body = BufReader::new(ShortTexts::new(answer.take(bytes_max)));
    serde_json::from_reader(&mut body).map_err(|error| {
        let is_cut = body.get_ref().inner().limit() == 0;
        match error.classify() {
            _ if is_cut => HttpError::Odd("the answer is too long".into()),
            Category::Io if is_late(&error.into()) => HttpError::Late,
            Category::Io => HttpError::NoAnswer("the answer ends early".into()),
            _ => HttpError::Odd("the answer is not JSON".into()),
        }
    })
}
