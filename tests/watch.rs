//! `watch`: real processes, real files, real signals.
#![cfg(unix)]
#![allow(
    clippy::disallowed_methods,
    reason = "tests start processes and wait for them"
)]

mod home;

use home::{Home, prompt};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Output};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longer than any machine takes for what takes a second.
const PATIENCE: Duration = Duration::from_secs(60);

impl Home {
    /// With a session, and runs that follow a change alone.
    fn new() -> Home {
        let home = Home::with(json!({"check_interval": 3_600}));
        home.write(
            ".graphiti/tracking-config.json",
            r#"{"version": "1.0", "defaults": {"enabled": true, "debounce_seconds": 0.1}}"#,
        );
        home.write(".claude/projects/-p/one.jsonl", &said("one", 1, "alpha"));
        home
    }

    fn finds(&self, word: &str) -> bool {
        self.run(&format!("search {word}")).status.code() == Some(0)
    }

    /// Until a run made it so.
    fn comes_to(&self, what: &str, is_so: impl Fn(&Home) -> bool) {
        let began = Instant::now();
        while !is_so(self) {
            assert!(began.elapsed() < PATIENCE, "{what}: nothing came of it");
            sleep(Duration::from_millis(50));
        }
    }

    /// A watch whose first run has ended.
    fn watched(&self) -> Child {
        let child = self.command("watch --json").spawn().unwrap();
        self.comes_to("the first run", |home| home.finds("alpha"));
        child
    }
}

fn said(session: &str, nth: usize, words: &str) -> String {
    prompt(session, "/p", nth, words)
}

fn end(child: Child, signal: Signal) -> Output {
    kill(Pid::from_raw(child.id().try_into().unwrap()), signal).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn what_is_appended_is_found_without_another_command() {
    let home = Home::new();
    let watch = home.watched();
    let log = home.path(".claude/projects/-p/one.jsonl");
    let mut log = OpenOptions::new().append(true).open(log).unwrap();
    log.write_all(said("one", 2, "beta").as_bytes()).unwrap();
    home.comes_to("a line", |home| home.finds("beta"));
    home.write(".claude/projects/-new/two.jsonl", &said("two", 3, "gamma"));
    home.comes_to("a folder", |home| home.finds("gamma"));
    let ended = end(watch, Signal::SIGTERM);
    assert_eq!(ended.status.code(), Some(0));
    let told: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert!(told["runs"].as_u64().unwrap() >= 3, "{told}");
    assert_eq!(told["failed"], 0);
}

#[test]
fn files_and_new_folders_of_a_tracked_project_are_told() {
    let home = Home::new();
    home.write("app/src/a.py", "word = 'delta'\n");
    let add = home.run("track add app --include src/**/*.py");
    assert_eq!(add.status.code(), Some(0), "{add:?}");
    let watch = home.watched();
    home.comes_to("what was there", |home| home.finds("delta"));
    // again until it listens there, which is after its first run; and quiet between
    home.comes_to("an edit", |home| {
        home.write("app/src/a.py", "word = 'epsilon'\n");
        sleep(Duration::from_millis(500));
        home.finds("epsilon")
    });
    home.write("app/src/deep/b.py", "word = 'zeta'\n");
    home.comes_to("a folder", |home| home.finds("zeta"));
    assert_eq!(end(watch, Signal::SIGTERM).status.code(), Some(0));
}

#[test]
fn git_operations_of_a_tracked_project_are_told() {
    let home = Home::new();
    home.write("app/src/a.py", "word = 'delta'\n");
    home.git("init -q -b main", None);
    home.git("commit -q --allow-empty -m first", None);
    let add = home.run("track add app --include src/**/*.py");
    assert_eq!(add.status.code(), Some(0), "{add:?}");
    let watch = home.watched();
    // again until it listens there
    home.comes_to("a commit", |home| {
        home.git("commit -q --allow-empty -m more", None);
        sleep(Duration::from_millis(500));
        let told = home.run("why --branch main --json").stdout;
        let told: Value = serde_json::from_slice(&told).unwrap();
        told["operations"].as_array().unwrap().len() > 1
    });
    assert_eq!(end(watch, Signal::SIGTERM).status.code(), Some(0));
}

#[test]
fn a_second_one_leaves_at_once_and_the_next_one_takes_over() {
    let home = Home::new();
    let watch = home.watched();
    let second = home.run("watch");
    assert_eq!(second.status.code(), Some(75));
    let told = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(told.contains("another `watch`"));
    assert!(told.contains(&format!("kill {}", watch.id())), "{told}");
    end(watch, Signal::SIGKILL);
    let next = home.watched();
    assert_eq!(end(next, Signal::SIGINT).status.code(), Some(0));
}

#[test]
fn nothing_is_watched_without_a_yes_or_with_wrong_settings() {
    let home = Home::new();
    home.configure(&json!({}));
    let refused = home.run("watch");
    assert_eq!(refused.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("tracking is off"));
    home.configure(&json!({"sesion_tracking": {}}));
    assert_eq!(home.run("watch").status.code(), Some(2));
}

/// Processes that this one started.
#[cfg(target_os = "linux")]
fn children(of: &Child) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{}/task", of.id()));
    let tasks = tasks.into_iter().flatten().flatten();
    let lists = tasks.map(|task| fs::read_to_string(task.path().join("children")));
    let lists: Vec<String> = lists.map(Result::unwrap_or_default).collect();
    let ids = lists.iter().flat_map(|list| list.split_whitespace());
    ids.map(str::to_owned).collect()
}

#[test]
#[cfg(target_os = "linux")]
fn a_run_that_is_at_work_ends_with_it_and_the_next_one_goes_on() {
    const FILES: usize = 5_000;
    let home = Home::new();
    let tracking = serde_json::json!({"version": "1.0", "projects": {"p": {
        "project_root": home.path("p"), "enabled": true, "patterns": [{"include": "**/*.md"}],
    }}});
    home.write(".graphiti/tracking-config.json", &tracking.to_string());
    for n in 0..FILES {
        home.write(&format!("p/{}/{n}.md", n % 50), &format!("text {n}\n"));
    }
    let watch = home.command("watch --json").spawn().unwrap();
    home.comes_to("a run", |_| !children(&watch).is_empty());
    let run = children(&watch).pop().unwrap();
    let ended = end(watch, Signal::SIGTERM);
    assert_eq!(ended.status.code(), Some(0));
    let told: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!((&told["runs"], &told["failed"]), (&1.into(), &0.into()));
    assert!(!Path::new(&format!("/proc/{run}")).exists(), "it runs on");
    let ask = |line: &str| -> serde_json::Value {
        serde_json::from_slice(&home.run(line).stdout).unwrap()
    };
    let rest = ask("track sync --json");
    assert!(rest["created"].as_u64() > Some(0), "it had ended before");
    let standing = ask("track status --json")["projects"][0].clone();
    assert_eq!(standing["files_watched"], FILES);
    assert_eq!(standing["pending_updates"], 0);
}

/// Reading, its own runs' too, is no change: else it would run for ever.
#[test]
fn its_own_runs_are_no_news() {
    let home = Home::new();
    let watch = home.watched();
    home.comes_to("its stamp", |home| stamp(home) > 0);
    sleep(Duration::from_millis(700));
    let before = stamp(&home);
    sleep(Duration::from_millis(700));
    assert_eq!(stamp(&home), before, "it ran again");
    assert_eq!(end(watch, Signal::SIGHUP).status.code(), Some(0));
}

/// When the last run went through, in milliseconds.
fn stamp(home: &Home) -> u128 {
    let lock = home.path(".graphiti/sessionmill.lock").metadata();
    let at = lock.unwrap().modified().unwrap();
    at.duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_millis()
}
