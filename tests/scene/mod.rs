//! A home whose store knows the fixture sessions and whose logs went on since: what a run is to be
//! disturbed at. Always at the same place, because stores hold absolute paths.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;
use tempfile::TempDir;

/// Copies of one session that make the new log: large enough for several transactions.
const REPEATS: usize = 60;

/// See the module.
pub struct Scene {
    folder: TempDir,
    /// What an undisturbed run makes of it.
    undisturbed: String,
}

impl Scene {
    /// Lays it out and runs it once undisturbed.
    pub fn new() -> Scene {
        let folder = tempfile::tempdir().unwrap();
        let mut scene = Scene {
            folder,
            undisturbed: String::new(),
        };
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/logs/home");
        copy(&fixtures, &scene.home());
        let settings = r#"{"session_tracking": {"enabled": true, "keep_length_days": null}}"#;
        let state = scene.home().join(".graphiti");
        fs::create_dir_all(&state).unwrap();
        fs::write(state.join("graphiti.config.json"), settings).unwrap();
        scene.run();
        scene.go_on();
        copy(&scene.home(), &scene.saved());
        scene.run();
        scene.undisturbed = scene.dump();
        scene.restore();
        scene
    }

    /// The logs go on: a new one, one that grows, one that moves, one that is replaced.
    fn go_on(&self) {
        self.put_new_log();
        let logs = logs_below(&self.home());
        for (nth, log) in logs.iter().enumerate() {
            let uuid = format!("00000000-0000-4000-8000-00000000aa{nth:02}");
            append(
                log,
                prompt(&uuid, &format!("One more thing, {nth}")).as_bytes(),
            );
        }
        let moved = logs[1].parent().unwrap().join("moved");
        fs::create_dir_all(&moved).unwrap();
        fs::rename(&logs[1], moved.join(logs[1].file_name().unwrap())).unwrap();
        fs::write(
            &logs[2],
            prompt(
                "00000000-0000-4000-8000-00000000bbbb",
                "Another session altogether",
            ),
        )
        .unwrap();
    }

    /// The log that the store doesn't know yet.
    pub fn new_log(&self) -> PathBuf {
        let name = "aaaaaaaa-0000-4000-8000-00000000cccc.jsonl";
        self.home()
            .join(".claude/projects/-home-ada-shop")
            .join(name)
    }

    /// Many exchanges, each with a text of its own.
    pub fn put_new_log(&self) {
        let mut text = String::new();
        for nth in 0..REPEATS * 40 {
            let uuid = format!("00000000-0000-4000-8001-{nth:012x}");
            let words = format!(
                "{nth:x} {}",
                "why does the cart forget its owls ".repeat(12)
            );
            text.push_str(&prompt(&uuid, &words));
        }
        fs::create_dir_all(self.new_log().parent().unwrap()).unwrap();
        fs::write(self.new_log(), text).unwrap();
    }

    /// Appends to the new log and to another one, line by line and torn, while something runs.
    pub fn grow_slowly(&self, seed: u64) -> JoinHandle<()> {
        let logs = [self.new_log(), logs_below(&self.home())[0].clone()];
        std::thread::spawn(move || {
            for nth in 0..40u64 {
                let uuid = format!("00000000-0000-4000-8002-{:06x}{nth:06x}", seed);
                let line = prompt(&uuid, &format!("typed meanwhile {nth}"));
                let (start, end) = line.split_at(line.len() / 2);
                let log = &logs[nth as usize % 2];
                append(log, start.as_bytes());
                sleep(Duration::from_millis(1 + (seed + nth) % 4));
                append(log, end.as_bytes());
            }
        })
    }

    /// As it was before the run that is to be disturbed.
    pub fn restore(&self) {
        fs::remove_dir_all(self.home()).unwrap();
        copy(&self.saved(), &self.home());
    }

    /// A plain run, and the store is as if nothing had happened.
    pub fn comes_right(&self, after: &str) {
        self.run();
        same(&self.undisturbed, &self.dump(), after);
        self.is_at_rest(after);
    }

    /// A plain run, and everything that was said is in the store once. Who owns what a fork copied
    /// depends on which of the two could be read first.
    pub fn has_every_word(&self, after: &str) {
        self.run();
        same(&words(&self.undisturbed), &words(&self.dump()), after);
        self.is_at_rest(after);
    }

    /// Another run does nothing, and nothing lies around.
    fn is_at_rest(&self, after: &str) {
        let again = self.command(&["run", "--json"]).output().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
        assert_eq!(report["bytes_read"], 0, "{after}: news without news");
        let mut left: Vec<String> = fs::read_dir(self.home().join(".graphiti"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !EXPECTED.contains(&name.as_str()))
            .collect();
        left.sort();
        assert!(left.is_empty(), "{after}: left behind: {left:?}");
    }

    /// What a store of these logs holds that was made in one go.
    pub fn cold(&self) -> String {
        for name in fs::read_dir(self.home().join(".graphiti")).unwrap() {
            let path = name.unwrap().path();
            if path
                .file_name()
                .is_some_and(|n| n != "graphiti.config.json")
                && path.is_file()
            {
                fs::remove_file(path).unwrap();
            }
        }
        self.run();
        self.dump()
    }

    /// A plain run that goes well.
    pub fn run(&self) {
        self.run_with_code(0);
    }

    /// A plain run that ends with this code.
    pub fn run_with_code(&self, code: i32) {
        let ran = self.command(&["run"]).output().unwrap();
        let told = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(code), "{told}");
    }

    /// Everything that the store holds.
    pub fn dump(&self) -> String {
        let ran = self.command(&["store", "dump"]).output().unwrap();
        assert!(
            ran.status.success(),
            "{}",
            String::from_utf8_lossy(&ran.stderr)
        );
        String::from_utf8(ran.stdout).unwrap()
    }

    /// The program with these words.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sessionmill"));
        command.args(words);
        self.at_home(command)
    }

    /// A shell script in which `$0` is the program.
    pub fn shell(&self, script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script, env!("CARGO_BIN_EXE_sessionmill")]);
        self.at_home(command)
    }

    /// A run under `strace` with a fault at one of its `call`s.
    pub fn traced(&self, call: &str, fault: &str) -> Command {
        let mut command = Command::new("strace");
        command
            .args(["-f", "-qq", "-o"])
            .arg(self.folder.path().join("trace"));
        command.args(["-e", &format!("trace={call}"), "-e", fault]);
        command.args([env!("CARGO_BIN_EXE_sessionmill"), "run"]);
        self.at_home(command)
    }

    /// How often one thread of a run makes `call` at most.
    pub fn count_calls(&self, call: &str) -> usize {
        self.restore();
        let trace = format!("trace={call}");
        let out = self.folder.path().join("trace");
        let mut command = Command::new("strace");
        command
            .args(["-f", "-qq", "-o"])
            .arg(&out)
            .args(["-e", &trace]);
        command.args([env!("CARGO_BIN_EXE_sessionmill"), "run"]);
        let ran = self
            .at_home(command)
            .output()
            .expect("strace: see make crash");
        assert!(
            ran.status.success(),
            "{}",
            String::from_utf8_lossy(&ran.stderr)
        );
        let text = fs::read_to_string(out).unwrap();
        let made = text
            .lines()
            .filter(|line| line.contains(&format!(" {call}(")));
        let mut threads = std::collections::BTreeMap::<&str, usize>::new();
        for line in made {
            *threads.entry(line.split(' ').next().unwrap()).or_default() += 1;
        }
        threads.into_values().max().unwrap_or(0)
    }

    fn at_home(&self, mut command: Command) -> Command {
        let path = std::env::var_os("PATH").unwrap_or_default();
        command
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", path)
            .current_dir(self.home())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.args(["--now", "2026-06-01T12:00:00Z"]);
        command
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn saved(&self) -> PathBuf {
        self.folder.path().join("saved")
    }
}

/// What a run leaves beside the settings.
const EXPECTED: [&str; 6] = [
    "runs",
    "graphiti.config.json",
    "redact.key",
    "sessionmill.db",
    "sessionmill.lock",
    "logs",
];

/// A number from the environment, for longer runs.
pub fn env_number(name: &str, default: u64) -> u64 {
    let set = std::env::var(name).ok().and_then(|n| n.parse().ok());
    set.unwrap_or(default)
}

fn prompt(uuid: &str, text: &str) -> String {
    format!(
        "{{\"type\":\"user\",\"uuid\":\"{uuid}\",\"timestamp\":\"2026-03-02T10:00:00.000Z\",\
         \"sessionId\":\"aaaaaaaa-0000-4000-8000-00000000cccc\",\"cwd\":\"/home/ada/shop\",\
         \"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
    )
}

fn append(path: &Path, bytes: &[u8]) {
    let mut file = File::options().append(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
}

/// The lines of the episodes' texts, sorted.
fn words(dump: &str) -> String {
    let mut lines: Vec<&str> = dump.lines().filter(|l| l.starts_with("    ")).collect();
    lines.sort_unstable();
    lines.join("\n")
}

/// The dumps are equal; else the first lines that only one of them has.
pub fn same(wanted: &str, found: &str, after: &str) {
    if wanted == found {
        return;
    }
    let only = |sign: char, these: &str, those: &str| -> String {
        let those: Vec<&str> = those.lines().collect();
        let alone = these.lines().filter(|line| !those.contains(line)).take(6);
        alone.map(|line| format!("{sign} {line:.600}\n")).collect()
    };
    let lines = [wanted, found].map(|dump| dump.lines().count());
    panic!(
        "{after}: another store, {lines:?} lines\n{}{}",
        only('-', wanted, found),
        only('+', found, wanted)
    );
}

/// Claude Code's main logs, by path.
fn logs_below(home: &Path) -> Vec<PathBuf> {
    let all = walkdir::WalkDir::new(home.join(".claude/projects")).sort_by_file_name();
    let files = all.into_iter().map(|entry| entry.unwrap().into_path());
    files
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
        .filter(|path| !path.to_string_lossy().contains("/subagents/"))
        .collect()
}

fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp")
        .args(["-a", "-T"])
        .args([from, to])
        .status();
    assert!(status.unwrap().success());
}
