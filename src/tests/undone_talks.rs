//! Why was it undone? Talks of people with agents (`fixtures/undone/talks*.yaml`), written down as logs of Claude
//! Code and Codex, with the commits and undoings of each made by the real git. What `why` quotes is compared
//! with what was said.

use super::git::Site;
use crate::model::time::Time;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::{fs, io, thread};

/// A talk, as its file tells it.
#[derive(Deserialize)]
struct Talk {
    name: String,
    language: String,
    #[serde(flatten)]
    shape: Shape,
    undone: Vec<String>,
    reason: Option<Vec<String>>,
    #[serde(default)]
    after: Vec<Line>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Shape {
    Several { sessions: Vec<Session> },
    One(Session),
}

#[derive(Deserialize)]
struct Session {
    agent: Agent,
    talk: Vec<Line>,
    undo: Option<String>,
    by: Option<By>,
    #[serde(default)]
    elsewhere: bool,
}

#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Agent {
    Claude,
    Codex,
}

#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum By {
    Agent,
    Person,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    user: Option<String>,
    agent: Option<String>,
    commit: Option<String>,
    #[serde(default)]
    files: Vec<String>,
}

/// What of git stands in the logs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Calls {
    /// Commits, and the undoing where the agent does it.
    AsTold,
    /// None: everything was done beside the session.
    None,
}

impl Talk {
    fn sessions(&self) -> &[Session] {
        match &self.shape {
            Shape::Several { sessions } => sessions,
            Shape::One(session) => std::slice::from_ref(session),
        }
    }
}

/// A session's log that grows.
struct Log<'l> {
    site: &'l mut Site,
    agent: Agent,
    nth: usize,
    cwd: PathBuf,
    text: String,
    records: u32,
}

impl Log<'_> {
    fn id(&self) -> String {
        format!("6f1c5b80-0000-4000-8000-0000000000{:02x}", 0xa0 + self.nth)
    }

    fn push(&mut self, kind: &str, body: Value) {
        self.site.now += 5;
        self.records += 1;
        let stamp = Time(self.site.now * 1_000).rfc3339_millis();
        let line = match self.agent {
            Agent::Codex => json!({"timestamp": stamp, "type": kind, "payload": body}),
            Agent::Claude => json!({"type": kind, "parentUuid": null, "sessionId": self.id(),
                "uuid": format!("6f1c5b80-0000-4000-{:04x}-{:012}", 0x8000 + self.nth, self.records),
                "cwd": self.cwd, "version": "2.0.1", "timestamp": stamp, "message": body}),
        };
        let _ = writeln!(self.text, "{line}");
    }

    fn begin(&mut self) {
        if self.agent == Agent::Codex {
            let meta = json!({"id": self.id(), "cwd": self.cwd, "originator": "codex_cli_rs",
                "cli_version": "0.154.0", "source": "cli"});
            self.push("session_meta", meta);
        }
    }

    fn says(&mut self, by_user: bool, words: &str) {
        let id = format!("msg_{}_{}", self.nth, self.records);
        match (self.agent, by_user) {
            (Agent::Claude, true) => self.push("user", json!({"role": "user", "content": words})),
            (Agent::Claude, false) => self.push(
                "assistant",
                json!({"id": id, "role": "assistant",
                "model": "claude-sonnet-4-5", "content": [{"type": "text", "text": words}]}),
            ),
            (Agent::Codex, true) => {
                self.push(
                    "event_msg",
                    json!({"type": "user_message", "message": words}),
                );
            }
            (Agent::Codex, false) => self.push(
                "response_item",
                json!({"type": "message",
                "role": "assistant", "content": [{"type": "output_text", "text": words}]}),
            ),
        }
    }

    /// The agent runs a command of git, and its log says so.
    fn calls(&mut self, arguments: &str) {
        let id = format!("call_{}_{}", self.nth, self.records);
        let command = format!("git {arguments}");
        match self.agent {
            Agent::Claude => self.push("assistant", json!({"id": format!("msg_{id}"), "role": "assistant",
                "model": "claude-sonnet-4-5",
                "content": [{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]})),
            Agent::Codex => self.push("response_item", json!({"type": "function_call", "name": "exec_command",
                "arguments": json!({"cmd": command}).to_string(), "call_id": id})),
        }
        let cwd = self.cwd.clone();
        self.site.now -= 58;
        let said = self.site.git_in(&cwd, arguments);
        match self.agent {
            Agent::Claude => self.push(
                "user",
                json!({"role": "user",
                "content": [{"type": "tool_result", "tool_use_id": id, "content": said}]}),
            ),
            Agent::Codex => self.push(
                "response_item",
                json!({"type": "function_call_output", "call_id": id,
                "output": format!("Process exited with code 0\nOutput:\n{said}")}),
            ),
        }
    }

    /// A commit of what a line says, by the agent or beside the session.
    fn commits(&mut self, line: &Line, subject: &str, nth: usize, is_called: bool) {
        let own = vec![format!("notes/{nth}.txt")];
        let files = if line.files.is_empty() {
            &own
        } else {
            &line.files
        };
        for file in files {
            let path = self.cwd.join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            let before = fs::read_to_string(&path).unwrap_or_default();
            fs::write(&path, format!("{before}{subject} {nth}\n")).expect("a file");
        }
        let cwd = self.cwd.clone();
        self.site.git_in(&cwd, "add -A");
        let subject = subject.replace('"', "'");
        match is_called {
            true => self.calls(&format!("commit -m \"{subject}\"")),
            false => drop(
                self.site
                    .git_in(&cwd, &format!("commit -q -m \"{subject}\"")),
            ),
        }
    }

    fn save(&self) {
        let id = self.id();
        let name = match self.agent {
            Agent::Claude => format!(".claude/projects/-{}/{id}.jsonl", self.nth),
            Agent::Codex => {
                format!(".codex/sessions/2026/06/01/rollout-2026-06-01T10-00-00-{id}.jsonl")
            }
        };
        self.site.desk.write(&name, &self.text);
    }
}

/// What is told of a talk.
struct Told {
    sentence: String,
    confidence: String,
    who: String,
}

/// Plays a talk, and asks why its work was undone.
fn play(talk: &Talk, calls: Calls) -> Option<Told> {
    let mut site = Site::new();
    site.commit("README.md", "app\n", "Begin");
    let other = site.desk.path("other");
    fs::create_dir_all(&other).expect("a folder");
    site.git_in(&other, "init -q -b main");
    let mut commits: Vec<(String, String)> = Vec::new();
    for (nth, session) in talk.sessions().iter().enumerate() {
        site.now += 300;
        let repo = if session.elsewhere {
            other.clone()
        } else {
            site.repo.clone()
        };
        let mut log = Log {
            site: &mut site,
            agent: session.agent,
            nth,
            cwd: repo,
            text: String::new(),
            records: 0,
        };
        log.begin();
        for line in &session.talk {
            play_line(line, &mut log, calls, &mut commits, session.elsewhere);
        }
        if let Some(undo) = &session.undo {
            let undo = undo.strip_prefix("git ").expect("a command of git");
            match (session.by, calls) {
                (Some(By::Agent), Calls::AsTold) => log.calls(undo),
                _ => drop(log.site.git(undo)),
            }
            for line in &talk.after {
                play_line(line, &mut log, calls, &mut commits, false);
            }
        }
        log.save();
    }
    ask(&mut site, talk, &commits)
}

fn play_line(
    line: &Line,
    log: &mut Log<'_>,
    calls: Calls,
    commits: &mut Vec<(String, String)>,
    elsewhere: bool,
) {
    let words = line
        .user
        .as_ref()
        .or(line.agent.as_ref())
        .expect("somebody says something");
    log.says(line.user.is_some(), words);
    if let Some(subject) = &line.commit {
        log.commits(line, subject, commits.len(), calls == Calls::AsTold);
        if !elsewhere {
            let repo = log.cwd.clone();
            log.site.now -= 60;
            let hash = log.site.git_in(&repo, "rev-parse HEAD");
            commits.push((hash, subject.clone()));
        }
    }
}

/// What `why` says of the last commit that is undone.
fn ask(site: &mut Site, talk: &Talk, commits: &[(String, String)]) -> Option<Told> {
    site.desk.now = Time((site.now + 7_200) * 1_000);
    let ran = site.desk.run("sessionmill run --steps ingest,track,report");
    assert_eq!(
        ran.exit,
        crate::cli::Exit::Done,
        "{}: {}",
        talk.name,
        ran.shown()
    );
    let undone = commits
        .iter()
        .rev()
        .find(|(_, subject)| talk.undone.contains(subject));
    let (hash, _) = undone.unwrap_or_else(|| panic!("{}: no such commit", talk.name));
    let document = site.ask(&format!("why --commit {hash}"));
    let operations = document["operations"].as_array().expect("operations");
    let undid = operations.iter().find(|one| one["role"] == "undid");
    let reason = &undid.unwrap_or_else(|| panic!("{}: {document}", talk.name))["reason"];
    let text = |key: &str| reason[key].as_str().unwrap_or_default().to_owned();
    (!reason.is_null()).then(|| Told {
        sentence: text("sentence"),
        confidence: text("confidence"),
        who: text("by"),
    })
}

/// How a talk came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// What is quoted is the reason.
    Right,
    /// There is none, and none is told.
    RightlySilent,
    /// There is one, and none is told.
    Silent,
    /// What is quoted is not the reason.
    Wrong,
}

struct Played {
    name: String,
    language: String,
    calls: Calls,
    outcome: Outcome,
    told: Option<Told>,
}

fn judge(talk: &Talk, calls: Calls) -> Played {
    let told = play(talk, calls);
    let holds =
        |told: &Told, pieces: &[String]| pieces.iter().any(|piece| told.sentence.contains(piece));
    let outcome = match (&talk.reason, &told) {
        (None, None) => Outcome::RightlySilent,
        (Some(_), None) => Outcome::Silent,
        (Some(pieces), Some(told)) if holds(told, pieces) => Outcome::Right,
        (_, Some(_)) => Outcome::Wrong,
    };
    if let Some(told) = &told {
        let lines = talk.sessions().iter().flat_map(|session| &session.talk);
        let mut words = lines.filter_map(|line| line.user.as_ref().or(line.agent.as_ref()));
        assert!(
            words.any(|words| words.contains(&told.sentence)),
            "{}: not verbatim",
            talk.name
        );
    }
    Played {
        name: talk.name.clone(),
        language: talk.language.clone(),
        calls,
        outcome,
        told,
    }
}

/// The talks of all files, by file.
fn files() -> Vec<(String, Vec<Talk>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/undone");
    let paths = fs::read_dir(folder)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").path());
    let mut named: Vec<(String, PathBuf)> = paths
        .map(|path| {
            (
                path.file_name()
                    .expect("a name")
                    .to_string_lossy()
                    .into_owned(),
                path,
            )
        })
        .filter(|(name, _)| name.starts_with("talks") && name.ends_with(".yaml"))
        .collect();
    named.sort();
    let read = |(name, path): (String, PathBuf)| {
        let text = fs::read_to_string(path).expect("a file");
        let talks = serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        (name, talks)
    };
    named.into_iter().map(read).collect()
}

const THREADS: usize = 4;

/// Talks in these ways.
fn play_all<'t>(cases: impl Iterator<Item = (&'t Talk, Calls)> + Send) -> Vec<Played> {
    let cases = Mutex::new(cases.enumerate());
    let played = Mutex::new(Vec::new());
    let next = || cases.lock().expect("cases").next();
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some((nth, (talk, calls))) = next() {
                    let one = judge(talk, calls);
                    played.lock().expect("played").push((nth, one));
                }
            });
        }
    });
    let mut played = played.into_inner().expect("played");
    played.sort_by_key(|(nth, _)| *nth);
    played.into_iter().map(|(_, one)| one).collect()
}

/// The figures of a file that have a bar.
struct Figures {
    with_reason: usize,
    right: usize,
    wrong: usize,
    all: usize,
}

impl Figures {
    fn of(played: &[Played]) -> Figures {
        let count = |is: fn(Outcome) -> bool| played.iter().filter(|one| is(one.outcome)).count();
        Figures {
            with_reason: played.len() - count(|o| o == Outcome::RightlySilent),
            right: count(|o| o == Outcome::Right),
            wrong: count(|o| o == Outcome::Wrong),
            all: played.len(),
        }
    }

    /// Three of four reasons are right, and at most one of forty talks is told a wrong one.
    fn hold(&self) -> bool {
        self.right * 4 >= self.with_reason * 3 && self.wrong <= self.all.div_ceil(40)
    }
}

/// The table of `make eval`.
fn table(name: &str, played: &[Played]) -> String {
    let figures = Figures::of(played);
    let mut text = format!(
        "{name}: reasons right {} of {}, wrong {} in {} (with the calls in the log, or without)\n",
        figures.right, figures.with_reason, figures.wrong, figures.all
    );
    for one in played {
        let quote = one
            .told
            .as_ref()
            .map(|told| format!("{} ({}): {}", told.who, told.confidence, told.sentence));
        let what = match one.outcome {
            Outcome::Right | Outcome::RightlySilent => continue,
            Outcome::Silent => "silent",
            Outcome::Wrong => "wrong",
        };
        let quote = quote.unwrap_or_default();
        let _ = writeln!(
            text,
            "  {what} {} ({}, calls {:?}) {quote}",
            one.name, one.language, one.calls
        );
    }
    text
}

/// Each in one of the two ways: `make eval` plays both.
#[test]
fn a_reason_is_what_was_said_or_there_is_none() {
    for (name, talks) in files() {
        let ways = [Calls::AsTold, Calls::None].into_iter().cycle();
        let played = play_all(talks.iter().zip(ways));
        assert!(Figures::of(&played).hold(), "{}", table(&name, &played));
    }
}

#[test]
#[ignore = "prints; `make eval` runs it"]
fn eval_prints_reasons() {
    for (name, talks) in files() {
        let both = |talk| [Calls::AsTold, Calls::None].map(|calls| (talk, calls));
        let text = table(&name, &play_all(talks.iter().flat_map(both)));
        io::stdout().write_all(text.as_bytes()).expect("stdout");
    }
}

#[test]
fn a_sentence_is_the_reason_of_one_undoing() {
    let mut site = Site::new();
    site.commit("README.md", "app\n", "Begin");
    site.user("Add telemetry, then a banner");
    let telemetry = site.commit("telemetry.py", "1\n", "Add telemetry");
    let banner = site.commit("banner.py", "1\n", "Add a banner");
    site.agent("Both are in.");
    site.user("Legal says no telemetry and no banner, take both out please.");
    site.agent_git("reset --hard HEAD~1");
    site.agent_git("reset --hard HEAD~1");
    site.run();
    let reason = |commit: &str| {
        let document = site.ask(&format!("why --commit {commit}"));
        let operations = document["operations"]
            .as_array()
            .expect("operations")
            .clone();
        let undid = operations.into_iter().find(|one| one["role"] == "undid");
        undid.expect("an undoing")["reason"].clone()
    };
    let told = &reason(&banner)["sentence"];
    assert_eq!(
        *told,
        "Legal says no telemetry and no banner, take both out please."
    );
    assert_eq!(reason(&telemetry), Value::Null);
}
