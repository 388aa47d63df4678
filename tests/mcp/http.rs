//! Over HTTP: who doesn't show the token gets nothing, whatever else is right.

use super::home::Home;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};

/// The server, stopped when dropped.
pub struct Server {
    process: Child,
    pub port: u16,
    pub token: String,
}

impl Server {
    pub fn start(home: &Home) -> Server {
        let mut command = home.command("mcp --http 127.0.0.1:0");
        let mut process = command.stdout(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stderr.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let port = line
            .split(':')
            .nth(2)
            .and_then(|rest| rest.split('/').next());
        let file = home.path(".graphiti/mcp-token");
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        Server {
            process,
            port: port
                .and_then(|port| port.parse().ok())
                .unwrap_or_else(|| panic!("{line}")),
            token: std::fs::read_to_string(file).unwrap().trim().to_owned(),
        }
    }

    /// Says hello with these headers besides; the status and the answer.
    fn hello(&self, path: &str, headers: &[&str]) -> (u16, String) {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}}})
        .to_string();
        let host = format!("Host: 127.0.0.1:{}", self.port);
        let own = headers.iter().any(|header| header.starts_with("Host: "));
        let host = (!own).then_some(host.as_str());
        let headers: Vec<&str> = headers.iter().copied().chain(host).collect();
        let head = format!(
            "POST {path} HTTP/1.1\r\n{}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n",
            headers.join("\r\n"),
            body.len()
        );
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream
            .write_all(format!("{head}{body}").as_bytes())
            .unwrap();
        let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
        let first = lines.next().unwrap_or_default();
        let status = first.split(' ').nth(1).and_then(|s| s.parse().ok());
        // an accepted stream stays open: its first message is enough
        let told = lines.find(|line| line.contains("serverInfo") || line.contains("show"));
        (status.unwrap_or(0), told.unwrap_or_default())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn only_who_shows_the_token_is_heard() {
    let home = Home::new(json!({}));
    let server = Server::start(&home);
    let right = format!("Authorization: Bearer {}", server.token);
    let wrong = format!(
        "Authorization: Bearer {}",
        server.token.replace(['a', '1'], "0")
    );
    let (status, told) = server.hello("/mcp", &[&right]);
    assert_eq!(status, 200);
    let told: Value = serde_json::from_str(told.trim_start_matches("data:").trim()).unwrap();
    assert_eq!(told["result"]["serverInfo"]["name"], "sessionmill");
    assert_eq!(server.hello("/mcp", &[]).0, 401);
    assert_eq!(server.hello("/mcp", &[&wrong]).0, 401);
    assert_eq!(server.hello("/mcp", &["Authorization: Bearer "]).0, 401);
    assert_eq!(server.hello("/", &[&right]).0, 404);
    // a page in a browser, by its own name for us or by ours
    assert_eq!(
        server
            .hello("/mcp", &[&right, "Origin: http://localhost"])
            .0,
        403
    );
    assert_eq!(
        server.hello("/mcp", &[&right, "Host: evil.example:80"]).0,
        403
    );
}

#[test]
fn who_says_nothing_locks_nobody_out() {
    let home = Home::new(json!({}));
    let server = Server::start(&home);
    let right = format!("Authorization: Bearer {}", server.token);
    let halves: Vec<TcpStream> = (0..600)
        .map(|nth| {
            let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
            if nth % 2 == 0 {
                stream
                    .write_all(b"POST /mcp HTTP/1.1\r\nHost: 127")
                    .unwrap();
            }
            stream
        })
        .collect();
    // far beyond any number of places: nobody waits for the ten seconds of a head
    let begun = std::time::Instant::now();
    assert_eq!(server.hello("/mcp", &[&right]).0, 200);
    assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
    std::thread::sleep(std::time::Duration::from_millis(2_500));
    for mut stream in halves {
        let mut rest = Vec::new();
        // closed, at the latest two seconds after it began
        let _ = stream.set_read_timeout(Some(std::time::Duration::from_secs(1)));
        let read = stream.read_to_end(&mut rest);
        let is_open = read.is_err_and(|e| e.kind() == std::io::ErrorKind::WouldBlock);
        assert!(!is_open, "a stranger stays");
    }
}

#[test]
fn sessions_without_end_are_bounded_and_many_calls_are_answered_after_them() {
    let home = Home::new(json!({}));
    let server = Server::start(&home);
    let right = format!("Authorization: Bearer {}", server.token);
    for _ in 0..1_500 {
        assert_eq!(server.hello("/mcp", &[&right]).0, 200);
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.process.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes: u64 = peak
        .unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap();
    println!("1,500 sessions: {kilobytes} kB");
    assert!(kilobytes < 200_000, "{kilobytes} kB");
    let all: Vec<u16> = std::thread::scope(|scope| {
        let ask = || server.hello("/mcp", &[&right]).0;
        let calls: Vec<_> = (0..500).map(|_| scope.spawn(ask)).collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    assert!(all.iter().all(|status| *status == 200), "{all:?}");
}

#[test]
fn the_token_stays_the_same_and_is_nobody_elses() {
    let home = Home::new(json!({}));
    let first = Server::start(&home).token.clone();
    assert_eq!(Server::start(&home).token, first);
    let file = home.path(".graphiti/mcp-token");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let refused = home.run("mcp --http 127.0.0.1:0");
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("hint: rm "));
}

#[test]
fn it_is_for_this_machine_alone() {
    let home = Home::empty(json!({}));
    let refused = home.run("mcp --http 0.0.0.0:0");
    assert_eq!(refused.status.code(), Some(2));
    let mut told = String::new();
    refused.stderr.as_slice().read_to_string(&mut told).unwrap();
    assert!(
        told.contains("hint: sessionmill mcp --http 127.0.0.1:8787"),
        "{told}"
    );
}
