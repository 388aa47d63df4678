//! Runs that meet: real processes, one lock. Needs `/proc/locks` to know when a run holds it.
#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests start processes and wait for them"
)]

mod home;

use home::{Home, prompt};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

/// Exit code of a run that finds the lock held.
const BUSY: i32 = 75;
/// Lines of the log that keeps a run at work while others try: some seconds in a debug build, a tenth of
/// one in another.
const LINES: usize = 8_000;

impl Home {
    /// One whose store knows one small session and that has a big one to read.
    fn with_much_to_read() -> Home {
        let home = Home::with(json!({}));
        home.write(".claude/projects/-p/small.jsonl", &hello("small", 0));
        assert_eq!(home.run("run --quiet").status.code(), Some(0));
        let big: String = (0..LINES).map(|n| hello("big", n)).collect();
        home.write(".claude/projects/-p/big.jsonl", &big);
        home
    }

    /// A run that holds the lock, stopped where it is.
    fn stopped_at_work(&self) -> Child {
        let child = self.command("run --quiet").spawn().unwrap();
        while !self.is_locked() {
            sleep(Duration::from_millis(1));
        }
        signal(&child, Signal::SIGSTOP);
        assert!(
            self.is_locked(),
            "it was done before it could be stopped: more LINES"
        );
        child
    }

    /// Looks without taking the lock itself, which would be in the run's way.
    fn is_locked(&self) -> bool {
        let lock = self.path(".graphiti/sessionmill.lock");
        let end = format!(":{} 0 EOF", lock.metadata().unwrap().ino());
        let locks = fs::read_to_string("/proc/locks").unwrap();
        locks
            .lines()
            .any(|l| l.contains("FLOCK") && !l.contains("->") && l.ends_with(&end))
    }
}

fn hello(session: &str, n: usize) -> String {
    let words = format!("hello number {n} of {session}, and some more words to be cut and indexed");
    prompt(session, "/p", n, &words)
}

fn signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
}

#[test]
fn of_ten_runs_one_works_nine_leave_at_once_and_a_search_is_answered() {
    let home = Home::with_much_to_read();
    let first = home.stopped_at_work();
    let others: Vec<Child> = (0..9)
        .map(|_| home.command("run").spawn().unwrap())
        .collect();
    for other in others {
        let ended = other.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(BUSY));
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(said.contains("another run holds the lock"), "{said}");
    }
    let found = home.run("search hello --limit 1");
    let shown = String::from_utf8_lossy(&found.stdout).into_owned();
    assert!(
        found.status.success() && shown.contains("hello"),
        "{found:?}"
    );
    signal(&first, Signal::SIGCONT);
    let ended = first.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    assert_eq!(home.run("run --quiet").status.code(), Some(0));
}

#[test]
fn a_run_that_is_killed_leaves_no_lock_and_the_next_one_does_its_work() {
    let home = Home::with_much_to_read();
    let mut killed = home.stopped_at_work();
    signal(&killed, Signal::SIGKILL);
    assert!(!killed.wait().unwrap().success());
    assert!(!home.is_locked());
    let again = home.run("run --json");
    assert_eq!(again.status.code(), Some(0), "{again:?}");
    let found = home.run(&format!("search number {} --limit 1", LINES - 1));
    assert!(found.status.success(), "{found:?}");
    let idle = String::from_utf8(home.run("run").stdout).unwrap();
    assert!(idle.starts_with("nothing new"), "{idle}");
}
