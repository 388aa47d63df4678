//! Repositories with a clock of their own, the session of an agent that works there, and people who look
//! at them with sessionmill, each when it suits them.

use crate::cli::Exit;
use crate::config::CONSENT_TEXT;
use crate::model::time::Time;
use crate::store::{Access, GitRow, Store};
use crate::tests::world::Desk;
use crate::tracking::rollbacks;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, UNIX_EPOCH};
use tempfile::TempDir;

/// 2026-06-01T09:00:00Z.
const START: i64 = 1_780_304_400;

/// Folders below one root: `app`, and what stands beside it.
pub struct Ground {
    root: TempDir,
    /// What git takes for the present time, in seconds.
    pub now: i64,
    /// Logs of the sessions by their folder: an agent that works in another one has a session of its own.
    logs: BTreeMap<String, String>,
    records: u32,
}

impl Ground {
    /// A repository `app` with two commits on `main`.
    pub fn new() -> Ground {
        let root = tempfile::tempdir().expect("a temporary directory");
        let mut ground = Ground {
            root,
            now: START,
            logs: BTreeMap::new(),
            records: 0,
        };
        for folder in ["app", "githome"] {
            fs::create_dir(ground.path(folder)).expect("a folder");
        }
        ground.done("app", "git init -q -b main");
        ground.write("app", "README.md", "# app\n\nIt does things.\n");
        ground.done("app", "git add -A && git commit -q -m Begin");
        let text = "def main():\n    print(\"app\")\n\n\nmain()\n";
        ground.write("app", "src/app.py", text);
        ground.done("app", "git add -A && git commit -q -m Skeleton");
        ground.says("user", &json!("Go on with the app"), "app");
        ground
    }

    /// With a bare `origin.git`, and a second clone: `server`.
    pub fn add_remote(&mut self) {
        self.done(".", "git init -q --bare -b main origin.git");
        let push = "git remote add origin ../origin.git && git push -q -u origin main";
        self.done("app", push);
        self.done(".", "git clone -q origin.git server");
    }

    /// With the submodule `app/lib`, whose HEAD is detached.
    pub fn add_submodule(&mut self) {
        let make = "git init -q --bare -b main lib.git && git clone -q lib.git libwork";
        self.done(".", make);
        self.write("libwork", "lib.py", "def lib():\n    return 1\n");
        let push = "git add -A && git commit -q -m Lib && git push -q origin HEAD:main";
        self.done("libwork", push);
        let add = "git -c protocol.file.allow=always submodule add -q ../lib.git lib";
        self.done("app", add);
        self.done("app", "git commit -q -m \"Use lib\"");
        self.done("app", "git -C lib checkout -q --detach");
    }

    /// A path below the root.
    pub fn path(&self, below: &str) -> PathBuf {
        self.root.path().join(below)
    }

    /// Writes a file of a folder.
    pub fn write(&self, dir: &str, path: &str, text: &str) {
        let path = self.path(dir).join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    /// Adds three lines that name the subject to a file of a folder.
    pub fn add_lines(&self, dir: &str, path: &str, subject: &str) {
        let before = fs::read_to_string(self.path(dir).join(path)).unwrap_or_default();
        let more: String = (1..=3).map(|n| format!("{subject}: {n}\n")).collect();
        self.write(dir, path, &(before + &more));
    }

    /// Somebody's command line in a terminal, a minute later; whether it succeeded, and what it said.
    pub fn person(&mut self, dir: &str, command: &str) -> (bool, String) {
        self.now += 60;
        let ran = self.ran(dir, command);
        self.settle();
        ran
    }

    /// As [`Ground::person`], by the agent: its session tells the command and what came of it.
    pub fn agent(&mut self, dir: &str, command: &str) -> (bool, String) {
        let call = format!("toolu_{}", self.records);
        self.now += 50;
        let asked = json!([{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}]);
        self.says("assistant", &asked, dir);
        self.now += 5;
        let (ok, said) = self.ran(dir, command);
        self.settle();
        self.now += 5;
        let result =
            json!([{"type": "tool_result", "tool_use_id": call, "content": said, "is_error": !ok}]);
        self.says("user", &result, dir);
        (ok, said)
    }

    /// The person's words in the session.
    pub fn user(&mut self, words: &str) {
        self.now += 20;
        self.says("user", &json!(words), "app");
    }

    /// A command line that has to succeed.
    pub fn done(&mut self, dir: &str, command: &str) -> String {
        let (ok, said) = self.person(dir, command);
        assert!(ok, "{command}: {said}");
        said
    }

    /// What git answers, at no time; empty: it fails.
    pub fn ask(&self, dir: &str, command: &str) -> String {
        let (ok, said) = self.ran(dir, command);
        if ok { said } else { String::new() }
    }

    fn ran(&self, dir: &str, command: &str) -> (bool, String) {
        let Output { status, stdout, .. } = self.shell(dir, &format!("{command} 2>&1"));
        let said = String::from_utf8_lossy(&stdout).trim().to_owned();
        (status.success(), said)
    }

    fn shell(&self, dir: &str, command: &str) -> Output {
        let date = format!("{} +0000", self.now);
        let names = ["AUTHOR", "COMMITTER"];
        let mut shell = Command::new("sh");
        shell
            .args(["-c", command])
            .current_dir(self.path(dir))
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.path("githome"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_EDITOR", "true");
        for name in names {
            shell.env(format!("GIT_{name}_NAME"), "A");
            shell.env(format!("GIT_{name}_EMAIL"), "a@example.org");
            shell.env(format!("GIT_{name}_DATE"), &date);
        }
        shell.output().expect("a shell")
    }

    /// Files that were written just now get the time of this world's clock. The machine's own times
    /// have fractions of a second.
    fn settle(&self) {
        let seconds = u64::try_from(self.now).expect("after 1970");
        let now = UNIX_EPOCH + Duration::from_secs(seconds);
        for entry in walkdir::WalkDir::new(self.root.path())
            .into_iter()
            .flatten()
        {
            let written = entry.metadata().ok().and_then(|m| m.modified().ok());
            let since = written.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
            if since.is_some_and(|since| since.subsec_nanos() != 0)
                && let Ok(file) = fs::File::open(entry.path())
            {
                file.set_modified(now).expect("a time");
            }
        }
    }

    fn says(&mut self, kind: &str, content: &Value, dir: &str) {
        self.records += 1;
        let message = match kind {
            "assistant" => {
                json!({"id": format!("msg_{}", self.records), "role": kind, "model": "m", "content": content})
            }
            _ => json!({"role": kind, "content": content}),
        };
        let line = json!({"type": kind, "uuid": format!("6f1c5b80-0000-4000-8000-{:012}", self.records),
            "parentUuid": null, "sessionId": session(dir), "cwd": self.folder(dir), "version": "2.0.1",
            "timestamp": Time(self.now * 1_000).rfc3339_millis(), "message": message});
        let log = self.logs.entry(dir.to_owned()).or_default();
        *log += &format!("{line}\n");
    }

    /// A folder without `..`.
    fn folder(&self, dir: &str) -> PathBuf {
        let path = self.path(dir);
        path.canonicalize().unwrap_or(path)
    }
}

/// The session of the agent in a folder.
fn session(dir: &str) -> String {
    let number = dir.bytes().fold(0xaa, |sum: u64, byte| {
        (sum * 31 + u64::from(byte)) % 1_000_000_007
    });
    format!("6f1c5b80-0000-4000-8000-{number:012x}")
}

/// Somebody with a home and a store of their own who looks at the ground now and then.
pub struct Observer {
    desk: Desk,
}

impl Observer {
    pub fn new() -> Observer {
        let desk = Desk::new();
        let ran = desk.run(&format!("sessionmill enable --confirm \"{CONSENT_TEXT}\""));
        assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
        let tracking = r#"{"version": "1.0", "defaults": {"enabled": true}}"#;
        desk.write(".graphiti/tracking-config.json", tracking);
        Observer { desk }
    }

    /// A run, so many seconds after the last step; gives its report.
    pub fn look(&mut self, ground: &Ground, later: i64) -> Value {
        for (dir, log) in &ground.logs {
            let below = format!("-{}/{}", dir.replace('/', "-"), session(dir));
            let below = format!(".claude/projects/{below}.jsonl");
            if fs::read_to_string(self.desk.path(&below)).ok().as_ref() != Some(log) {
                self.desk.write(&below, log);
            }
        }
        self.desk.now = Time((ground.now + later) * 1_000);
        let run = "sessionmill run --steps ingest,track,report --json";
        let ran = self.desk.run(run);
        assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
        ran.json()
    }

    /// The store's file, byte by byte.
    pub fn stored(&self) -> Vec<u8> {
        fs::read(self.desk.path(".graphiti/sessionmill.db")).expect("a store")
    }

    pub fn store(&self) -> Store {
        let path = self.desk.path(".graphiti/sessionmill.db");
        Store::open(&path, Access::ReadOnly).expect("a store")
    }

    /// Every operation that is stored.
    pub fn operations(&self) -> Vec<GitRow> {
        self.store().operations(None).expect("operations")
    }

    /// What a session that begins now may be told as given up.
    pub fn told(&self) -> Vec<Claim> {
        let store = self.store();
        let all = self.operations();
        let namespaces: BTreeSet<&str> = all.iter().map(|row| &*row.project.namespace).collect();
        let recent = namespaces
            .into_iter()
            .flat_map(|name| rollbacks::recent(&store, name, self.desk.now).expect("rollbacks"));
        let claim = |row: GitRow| Claim {
            operation: row.git.name(),
            branch: row.git.operation.branch.clone(),
            takes_back: !row.git.effect.reverts.is_empty(),
            subjects: row.git.effect.lost.into_iter().map(|c| c.subject).collect(),
        };
        recent.map(claim).collect()
    }
}

/// Something that is told as given up.
#[derive(Debug)]
pub struct Claim {
    /// `reset --hard`.
    pub operation: String,
    /// Where it happened.
    pub branch: Option<String>,
    /// With a commit that is the opposite of another one: it speaks of the branch that it is on, whatever
    /// others still have.
    pub takes_back: bool,
    /// Of the commits.
    pub subjects: Vec<String>,
}
