//! The official Python SDK as the client. `make test-mcp` runs it.

use super::home::Home;
use super::http::Server;
use serde_json::json;
use std::path::Path;
use std::process::Command;

/// Runs a part of `scripts/mcp-client`.
fn client(part: &str, home: &Home, more: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let ran = Command::new(root.join("target/graph/bin/python"))
        .arg(root.join("scripts/mcp-client"))
        .args([part, env!("CARGO_BIN_EXE_sessionmill")])
        .arg(home.root())
        .args(more)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{part}: {told}");
    let said = String::from_utf8_lossy(&ran.stdout);
    assert_eq!(said.lines().last(), Some("ok"), "{part}: {said}{told}");
}

#[test]
#[ignore = "needs the official SDK: make test-mcp"]
fn the_official_client_is_served() {
    let home = Home::new(json!({}));
    for part in [
        "tools",
        "resources",
        "cursors",
        "garbage",
        "cancel",
        "parallel",
    ] {
        client(part, &home, &[]);
    }
}

#[test]
#[ignore = "needs the official SDK: make test-mcp"]
fn the_official_clients_roots_decide_what_it_sees() {
    client(
        "roots",
        &Home::new(json!({"cross_project_search": false})),
        &[],
    );
}

#[test]
#[ignore = "needs the official SDK: make test-mcp"]
fn the_official_client_is_served_over_http_with_the_token_alone() {
    let home = Home::new(json!({}));
    let server = Server::start(&home);
    let url = format!("http://127.0.0.1:{}/mcp", server.port);
    client("http", &home, &[&url, &server.token]);
}
