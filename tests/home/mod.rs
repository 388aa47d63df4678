//! A home of its own for a test, and the real program run in it. Knows nothing of what a test is about.
#![allow(dead_code, reason = "no test needs all of it")]

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Gone with the test.
pub struct Home {
    folder: TempDir,
}

impl Home {
    /// One that has said yes, with these settings under `session_tracking` besides.
    pub fn with(mut settings: Value) -> Home {
        let folder = tempfile::tempdir().unwrap();
        let home = Home { folder };
        settings["enabled"] = json!(true);
        home.configure(&json!({"session_tracking": settings}));
        home
    }

    /// Writes all settings anew.
    pub fn configure(&self, settings: &Value) {
        self.write(".graphiti/graphiti.config.json", &settings.to_string());
    }

    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self, below: &str) -> PathBuf {
        self.root().join(below)
    }

    pub fn write(&self, below: &str, text: &str) -> PathBuf {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// The program; its words are parted by blanks.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sessionmill"));
        command
            .args(line.split(' '))
            .env_clear()
            .env("HOME", self.root())
            .current_dir(self.root())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run(&self, line: &str) -> Output {
        self.command(line).output().unwrap()
    }

    /// Git in the project `app`, as A; gives what it prints. `date`: what it takes for the present time.
    pub fn git(&self, line: &str, date: Option<&str>) -> String {
        let mut command = Command::new("git");
        command
            .args(["-c", "user.name=A", "-c", "user.email=a@example.org"])
            .args(line.split(' '))
            .current_dir(self.path("app"))
            .env("HOME", self.root())
            .env("GIT_CONFIG_NOSYSTEM", "1");
        if let Some(date) = date {
            command.env("GIT_COMMITTER_DATE", date);
        }
        let ran = command.output().unwrap();
        assert!(ran.status.success(), "git {line}: {ran:?}");
        String::from_utf8(ran.stdout).unwrap().trim().to_owned()
    }
}

/// A line of a log: what a person typed.
pub fn prompt(session: &str, cwd: &str, nth: usize, words: &str) -> String {
    let id = session.bytes().fold(0u32, |id, byte| {
        id.wrapping_mul(31).wrapping_add(byte.into())
    });
    let line = json!({
        "type": "user",
        "uuid": format!("{id:08x}-0000-4000-8000-{nth:012x}"),
        "sessionId": session,
        "cwd": cwd,
        "timestamp": format!("2026-03-01T10:00:{:02}.000Z", nth % 60),
        "message": {"role": "user", "content": words},
    });
    format!("{line}\n")
}
