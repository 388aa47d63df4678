//! HTTP itself, against real sockets: who sees what is sent, and how much of an answer is waited for.

use super::server::{Reply, Server, agreed};
use crate::model::consent::Permit;
use crate::net::http::{Http, HttpError, HttpOptions, Proxies, Verb};
use serde_json::Value;

/// Reads what stands at an endpoint.
fn get(endpoint: &str, options: &HttpOptions) -> Result<Value, HttpError> {
    let endpoint = endpoint.parse().unwrap();
    let permit = Permit::of(&endpoint, &[agreed(&endpoint)]).unwrap();
    let http = Http::new(options).unwrap();
    http.once(&permit, (Verb::Get, "/"), &[("x", "secret")], None)
}

#[test]
fn a_proxy_sees_no_more_than_hosts_and_none_of_this_machine() {
    let proxy = Server::new(vec![Reply::Says(502, "", String::new())]);
    let options = HttpOptions {
        timeout_ms: 2_000,
        proxies: Proxies {
            https: Some(proxy.endpoint.clone()),
            none: None,
        },
    };
    let server = Server::new(vec![Reply::Says(200, "", "[]".into())]);
    let plain = get(&server.endpoint, &options);
    assert!(plain.is_ok(), "{plain:?}");
    let port = server.endpoint.rsplit_once(':').unwrap().1;
    for here in ["localhost", "127.0.0.1", "127.0.0.2"] {
        let told = get(&format!("https://{here}:{port}"), &options);
        assert!(matches!(told, Err(HttpError::NoAnswer(_))), "{told:?}");
    }
    assert_eq!(proxy.asked().len(), 0);
    let far = get("https://memory.example", &options);
    assert!(matches!(far, Err(HttpError::NoAnswer(_))), "{far:?}");
    let seen = proxy.asked();
    assert_eq!(seen[0].line, "CONNECT memory.example:443");
    assert!(!seen[0].headers.iter().any(|h| h.contains("secret")));
}

#[test]
fn an_answer_that_never_ends_is_given_up() {
    let server = Server::new(vec![Reply::Dribbles(100)]);
    let options = HttpOptions {
        timeout_ms: 300,
        ..HttpOptions::default()
    };
    let told = get(&server.endpoint, &options);
    assert_eq!(told, Err(HttpError::Late));
}

#[test]
fn a_text_that_is_too_long_is_cut_and_what_is_behind_it_is_read() {
    let long = format!("[\"{}\", 7]", "x".repeat(17 << 20));
    let server = Server::new(vec![Reply::Says(200, "", long)]);
    let options = HttpOptions {
        timeout_ms: 60_000,
        ..HttpOptions::default()
    };
    let told = get(&server.endpoint, &options).unwrap();
    assert_eq!(told[0].as_str().map(str::len), Some(16 << 20));
    assert_eq!(told[1], 7);
}
