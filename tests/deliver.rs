//! A delivery may die anywhere: the next one brings every episode to every sink once.
//!
//! The real program, killed at random moments on its way to files of lines and to notes.
#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests start processes and kill them"
)]

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Instant;
use tempfile::TempDir;

/// Sessions, each of one episode.
const SESSIONS: usize = 60;

/// A home with a full store and two empty sinks.
struct Scene {
    folder: TempDir,
}

impl Scene {
    fn new() -> Scene {
        let scene = Scene {
            folder: tempfile::tempdir().unwrap(),
        };
        for nth in 0..SESSIONS {
            scene.write(
                &format!(".claude/projects/-w/session-{nth:03}.jsonl"),
                &session(nth),
            );
        }
        let settings = |more: &str| {
            format!(r#"{{"session_tracking": {{"enabled": true, "keep_length_days": null{more}}}"#)
        };
        let file = ".graphiti/graphiti.config.json";
        scene.write(file, &settings("}"));
        scene.done(&["run"]);
        // small batches, so that there are many moments to die at
        let queue = r#", "resilience": {"retry_queue": {"max_queue_size": 5}}},
            "sinks": {"lines": {"kind": "jsonl", "path": "~/lines"},
                      "notes": {"kind": "markdown", "path": "~/notes"}}"#;
        scene.write(file, &settings(queue));
        scene.done(&["run"]);
        fs::copy(scene.store(), scene.home().join("saved.db")).unwrap();
        scene
    }

    fn home(&self) -> &Path {
        self.folder.path()
    }

    fn store(&self) -> PathBuf {
        self.home().join(".graphiti/sessionmill.db")
    }

    fn write(&self, below: &str, text: &str) {
        let path = self.home().join(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Nothing was delivered yet.
    fn restore(&self) {
        for sink in ["lines", "notes"] {
            let _ = fs::remove_dir_all(self.home().join(sink));
        }
        for beside in ["-wal", "-shm"] {
            let _ = fs::remove_file(
                self.home()
                    .join(format!(".graphiti/sessionmill.db{beside}")),
            );
        }
        fs::copy(self.home().join("saved.db"), self.store()).unwrap();
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sessionmill"));
        command
            .args(words)
            .args(["--now", "2026-06-01T12:00:00Z"])
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .current_dir(self.home())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn done(&self, words: &[&str]) -> Output {
        let ran = self.command(words).output().unwrap();
        let told = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(0), "{words:?}: {told}");
        ran
    }

    /// One more delivery, and everything is everywhere once.
    fn comes_right(&self, after: &str) {
        self.done(&["deliver", "run", "--history"]);
        self.done(&["deliver", "verify"]);
        for (sink, mark) in [("lines", "\"id\":\""), ("notes", "<!-- episode ")] {
            let ids = ids(&self.home().join(sink), mark);
            // each with its page
            assert_eq!(ids.len(), 2 * SESSIONS, "{after}: {sink}");
            assert!(ids.values().all(|n| *n == 1), "{after}: {sink}: {ids:?}");
        }
        let before = fs::read(self.store()).unwrap();
        self.done(&["deliver", "run"]);
        assert!(before == fs::read(self.store()).unwrap(), "{after}: wrote");
    }
}

/// A prompt with words of its own.
fn session(nth: usize) -> String {
    let text = format!(
        "{nth:x} {}",
        "why does the cart forget its owls ".repeat(40)
    );
    format!(
        "{{\"type\":\"user\",\"uuid\":\"00000000-0000-4000-8000-{nth:012x}\",\
         \"timestamp\":\"2026-03-02T10:00:00.000Z\",\"sessionId\":\"session-{nth:03}\",\
         \"cwd\":\"/w/shop\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
    )
}

/// How often each id stands after `mark` in the files below a folder, none of them half written.
fn ids(folder: &Path, mark: &str) -> BTreeMap<String, u32> {
    let mut ids = BTreeMap::new();
    for entry in walkdir::WalkDir::new(folder).into_iter().flatten() {
        if entry.file_type().is_file() {
            let path = entry.path();
            assert!(path.extension().is_some_and(|e| e != "part"), "{path:?}");
            let text = fs::read_to_string(path).unwrap();
            for (at, _) in text.match_indices(mark) {
                let id = &text[at + mark.len()..][..36];
                *ids.entry(id.to_owned()).or_default() += 1;
            }
        }
    }
    ids
}

#[test]
fn killed_at_random_moments_nothing_is_lost_or_there_twice() {
    let scene = Scene::new();
    let deliver = ["deliver", "run", "--history"];
    let begun = Instant::now();
    scene.done(&deliver);
    let whole = begun.elapsed();
    let kills = std::env::var("CRASH_KILLS").ok();
    let kills: u32 = kills.and_then(|n| n.parse().ok()).unwrap_or(50);
    let mut killed = 0;
    for nth in 0..kills {
        scene.restore();
        // evenly over the delivery, in an order that jumps, and now and then again
        for again in 0..=nth % 3 {
            let moment = f64::from((nth * 29 + again * 17) % kills) / f64::from(kills);
            let mut child = scene.command(&deliver).spawn().unwrap();
            sleep(whole.mul_f64(moment));
            child.kill().unwrap();
            killed += u32::from(child.wait().unwrap().code().is_none());
        }
        scene.comes_right(&format!("killed at {nth} of {kills}"));
    }
    assert!(killed > 0, "every delivery was done before it was killed");
}

/// A bare system, as a container without `ca-certificates`, can speak `http://`; what it says of `https://`
/// names what is missing.
#[test]
fn a_system_without_certificates_reaches_servers_without_tls() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut heard = [0; 512];
        let n = stream.read(&mut heard).unwrap();
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
        stream.write_all(answer.as_bytes()).unwrap();
        String::from_utf8_lossy(&heard[..n]).into_owned()
    });
    let run = |words: &[&str]| {
        let program = env!("CARGO_BIN_EXE_sessionmill");
        let output = Command::new(program)
            .args(words)
            .env_clear()
            .env("HOME", home)
            .env("SSL_CERT_FILE", home.join("none"))
            .env("SSL_CERT_DIR", home.join("none"))
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr)
    };
    fs::create_dir(home.join(".graphiti")).unwrap();
    for url in [
        format!("http://localhost:{port}"),
        format!("https://localhost:{port}"),
    ] {
        let settings = format!(
            r#"{{"graphiti": {{"enabled": true, "consent": true}},
                "sinks": {{"memory": {{"kind": "graphiti", "url": "{url}"}}}}}}"#
        );
        fs::write(home.join(".graphiti/graphiti.config.json"), settings).unwrap();
        let words = format!("I understand this sends what my session logs say to {url}");
        run(&["consent", "give", &url, "--confirm", &words]);
        let said = run(&["deliver", "check"]);
        let lacks = said.contains("install ca-certificates");
        assert_eq!(lacks, url.starts_with("https"), "{said}");
    }
    assert!(server.join().unwrap().starts_with("GET /healthcheck "));
}
