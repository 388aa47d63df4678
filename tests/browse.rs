//! `browse` in real terminals: what is drawn, and that the terminal is as it was, whatever ends it.
#![cfg(unix)]
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "tests start processes, wait for them, and say what they pass over"
)]

mod home;
mod terminal;

use home::Home;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};
use terminal::{PATIENCE, Terminal};

/// With the fixture sessions read, and one that can be continued.
fn home() -> Home {
    let home = Home::with(json!({}));
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/logs/home");
    copy(&fixtures, home.root());
    fs::create_dir_all(home.path("owls")).unwrap();
    let owls = home.path("owls");
    let line = home::prompt(
        "0b1f0a34-5c0e-4b57-9d3e-2f9a51c7e0aa",
        &owls.to_string_lossy(),
        1,
        "Count the owls",
    );
    home.write(
        ".claude/projects/-owls/0b1f0a34-5c0e-4b57-9d3e-2f9a51c7e0aa.jsonl",
        &line,
    );
    let agent = home.write(
        "bin/claude",
        "#!/bin/sh\nstty -a > started.tmp; echo \"$PWD $*\" >> started.tmp; mv started.tmp \"$HOME/started\"\n",
    );
    fs::set_permissions(agent, fs::Permissions::from_mode(0o755)).unwrap();
    let run = home.run("run --all --host desk");
    assert_eq!(run.status.code(), Some(0), "{run:?}");
    home
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &target),
            false => {
                fs::copy(&path, &target).unwrap();
            }
        }
    }
}

fn path(home: &Home) -> String {
    let own = home.path("bin");
    format!("{}:/usr/bin:/bin", own.display())
}

/// The program in a terminal, at a fixed time.
fn browse(home: &Home, words: &str) -> Command {
    let line = format!("browse --now 2026-06-01T12:00:00Z {words}");
    let mut command = home.command(line.trim());
    command
        .env("TERM", "xterm-256color")
        .env("PATH", path(home));
    command
}

#[test]
fn each_key_finds_and_enter_continues_the_session() {
    let home = home();
    let mut terminal = Terminal::start(&browse(&home, ""), 100, 30).unwrap();
    terminal.until("the newest", |text| text.contains("newest first"));
    terminal.types("count the ow");
    terminal.until("the session", |text| {
        text.contains("Search: count the ow") && text.contains("> Count the owls")
    });
    terminal.types("\r");
    let began = Instant::now();
    let started = home.path("started");
    while !started.exists() {
        assert!(began.elapsed() < PATIENCE, "{}", terminal.text());
        sleep(Duration::from_millis(20));
    }
    let said = fs::read_to_string(started).unwrap();
    assert!(
        said.contains("--resume 0b1f0a34-5c0e-4b57-9d3e-2f9a51c7e0aa"),
        "{said}"
    );
    assert!(said.contains("owls --resume"), "{said}");
    // the agent has an ordinary terminal
    assert!(
        said.contains(" icanon") && said.contains(" echo "),
        "{said}"
    );
    assert!(ends_on_the_usual_screen(&terminal.bytes()));
}

#[test]
fn the_command_is_copied_and_printed_at_the_end() {
    let home = home();
    let mut terminal = Terminal::start(&browse(&home, "owls"), 120, 30).unwrap();
    terminal.until("the session", |text| text.contains("> Count the owls"));
    terminal.types("\ty");
    terminal.until("that it is copied", |text| text.contains("copied: cd "));
    terminal.types("q");
    let ended = terminal.child.wait().unwrap();
    assert_eq!(ended.code(), Some(0));
    let command = "claude --resume 0b1f0a34-5c0e-4b57-9d3e-2f9a51c7e0aa";
    terminal.until("the command", |text| text.contains(command));
    // OSC 52 with what is copied in base 64
    let sent = String::from_utf8_lossy(&terminal.bytes()).into_owned();
    assert!(sent.contains("\u{1b}]52;c;"), "{sent:?}");
}

#[test]
fn what_ends_it_leaves_the_terminal_as_it_was() {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    let home = home();
    for signal in [
        Signal::SIGTERM,
        Signal::SIGHUP,
        Signal::SIGINT,
        Signal::SIGQUIT,
    ] {
        let mut terminal = Terminal::start(&browse(&home, ""), 80, 24).unwrap();
        terminal.until("the newest", |text| text.contains("newest first"));
        kill(Pid::from_raw(terminal.child.id() as i32), signal).unwrap();
        let ended = terminal.child.wait().unwrap();
        assert!(!ended.success(), "{signal}: {ended}");
        terminal.quiet(Duration::from_millis(100));
        assert!(ends_on_the_usual_screen(&terminal.bytes()), "{signal}");
    }
}

/// The screen of its own is left, and the cursor shown, after everything else.
fn ends_on_the_usual_screen(bytes: &[u8]) -> bool {
    let sent = String::from_utf8_lossy(bytes).into_owned();
    let last = |what: &str| sent.rfind(what);
    last("\u{1b}[?1049l") > last("\u{1b}[?1049h")
        && last("\u{1b}[?25h") > last("\u{1b}[?25l")
        && last("\u{1b}[?1049h").is_some()
}

#[test]
fn no_escape_of_a_log_reaches_the_terminal() {
    let home = home();
    let words = "zebra \u{1b}]0;owned\u{7} \u{1b}[31m red \u{202e}turned \u{9b}2J \u{fdd3}mark";
    let line = home::prompt("hostile", "/p", 2, words);
    home.write(".claude/projects/-p/hostile.jsonl", &line);
    assert_eq!(home.run("run --all").status.code(), Some(0));
    let mut command = browse(&home, "zebra");
    command.env("NO_COLOR", "1");
    let mut terminal = Terminal::start(&command, 80, 24).unwrap();
    terminal.until("the session", |text| text.contains("> zebra"));
    terminal.until("its preview", |text| text.contains("Found"));
    terminal.types("\t?");
    terminal.until("the keys", |text| text.contains("Ctrl-Z"));
    let sent = String::from_utf8_lossy(&terminal.bytes()).into_owned();
    for bad in ["\u{1b}]0;", "\u{9b}", "\u{202e}", "\u{fdd3}", "\u{7}"] {
        assert!(!sent.contains(bad), "{bad:?}");
    }
    // without colours: no parameter of a colour but the default one
    for number in (31..=37).chain(91..=97) {
        assert!(!sent.contains(&format!("\u{1b}[{number}m")), "{number}");
        assert!(!sent.contains(&format!("\u{1b}[38;5;{}m", number - 30)));
    }
}

/// A server of tmux that nobody else uses, gone with the test.
struct Tmux {
    name: String,
    folder: PathBuf,
}

impl Tmux {
    /// `None`, with a word about it, where there is no tmux.
    fn start(home: &Home, columns: u16, lines: u16) -> Option<Tmux> {
        static NTH: AtomicU32 = AtomicU32::new(0);
        let nth = NTH.fetch_add(1, Ordering::SeqCst);
        let tmux = Tmux {
            name: format!("sessionmill-{}-{nth}", std::process::id()),
            folder: home.path("tmux"),
        };
        fs::create_dir_all(&tmux.folder).unwrap();
        let size = format!("-x {columns} -y {lines}");
        let shell = format!(
            "env -i HOME={} PATH={} TERM=screen-256color LC_ALL=C.UTF-8 PS1=ready$ sh",
            home.root().display(),
            path(home)
        );
        let mut words: Vec<&str> = "-f /dev/null new-session -d".split(' ').collect();
        words.extend(size.split(' '));
        words.push(&shell);
        let started = tmux.command(&words).output();
        match started {
            Ok(done) if done.status.success() => Some(tmux),
            _ => {
                println!("passed over: tmux is not here (apt-get install tmux)");
                None
            }
        }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        command
            .env("TMUX_TMPDIR", &self.folder)
            .env("LC_ALL", "C.UTF-8")
            .env_remove("TMUX")
            .args(["-L", &self.name])
            .args(words);
        command
    }

    fn says(&self, words: &[&str]) -> String {
        let done = self.command(words).output().unwrap();
        assert!(done.status.success(), "{words:?}: {done:?}");
        String::from_utf8(done.stdout).unwrap()
    }

    fn types(&self, keys: &[&str]) {
        self.says(&[&["send-keys"], keys].concat());
    }

    fn screen(&self) -> String {
        self.says(&["capture-pane", "-p"])
    }

    fn until(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        let began = Instant::now();
        loop {
            let screen = self.screen();
            if is_so(&screen) {
                return screen;
            }
            assert!(
                began.elapsed() < PATIENCE,
                "{what}: it never came\n{screen}"
            );
            sleep(Duration::from_millis(20));
        }
    }

    /// A line in the shell, until it has ended: what says so is said once, since older screens come back.
    fn shell(&self, line: &str) {
        static NTH: AtomicU32 = AtomicU32::new(0);
        let nth = NTH.fetch_add(1, Ordering::SeqCst);
        self.types(&["clear; ", line, &format!("; echo do''ne-{nth}."), "Enter"]);
        self.until(line, |screen| screen.contains(&format!("done-{nth}.")));
    }

    /// Whether a program's own screen is shown, and a cursor.
    fn modes(&self) -> String {
        let modes = self.says(&["display", "-p", "#{alternate_on} #{cursor_flag}"]);
        modes.trim().to_owned()
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = self.command(&["kill-server"]).output();
    }
}

/// The line that starts it and says which process it is.
fn started() -> String {
    format!(
        "sh -c 'echo $$ > pid; exec {} browse --now 2026-06-01T12:00:00Z'",
        env!("CARGO_BIN_EXE_sessionmill")
    )
}

#[test]
fn screens_look_like_this_in_tmux() {
    let home = home();
    let Some(tmux) = Tmux::start(&home, 80, 24) else {
        return;
    };
    tmux.shell("cd; stty -a > before");
    tmux.types(&[&started(), "Enter"]);
    // the last line of a screen is drawn last
    let whole = |screen: &str| screen.contains("Esc quit");
    let settled = |screen: &str| {
        screen.contains("> Run the tests") && screen.contains("to 2026") && whole(screen)
    };
    insta::assert_snapshot!("newest", anonymous(&tmux.until("the newest", settled)));
    tmux.types(&["token"]);
    let found = |screen: &str| screen.contains("best match first") && screen.contains("Found");
    tmux.until("the best", found);
    tmux.says(&["resize-window", "-x", "140", "-y", "40"]);
    let wide = |screen: &str| {
        let beside = screen.lines().any(|line| line.contains(" │ Found"));
        found(screen) && beside && whole(screen)
    };
    insta::assert_snapshot!("token-wide", anonymous(&tmux.until("a wide one", wide)));
    tmux.says(&["resize-window", "-x", "30", "-y", "7"]);
    let small = |screen: &str| screen.contains("Search: token") && !screen.contains("Found");
    tmux.until("a small one", small);
    tmux.types(&["C-c"]);
    tmux.until("the shell", |screen| screen.contains("ready$"));
    assert_eq!(tmux.modes(), "0 1");
    tmux.says(&["resize-window", "-x", "80", "-y", "24"]);
    tmux.shell("stty -a > after");
    // its first line is the size
    let stty = |name: &str| {
        let all = fs::read_to_string(home.path(name)).unwrap();
        all.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(!stty("after").is_empty());
    assert_eq!(stty("before"), stty("after"));
}

fn anonymous(screen: &str) -> String {
    let lines = screen.lines().map(str::trim_end);
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_killed_or_stopped_browse_leaves_tmux_sane() {
    let home = home();
    let Some(tmux) = Tmux::start(&home, 80, 24) else {
        return;
    };
    tmux.shell("cd; stty -a > before");
    let stty = |name: &str| fs::read_to_string(home.path(name)).unwrap();
    for signal in ["TERM", "HUP"] {
        tmux.types(&["clear; ", &started(), "Enter"]);
        tmux.until("the newest", |screen| screen.contains("newest first"));
        assert_eq!(tmux.modes().chars().next(), Some('1'));
        let pid = fs::read_to_string(home.path("pid")).unwrap();
        let kill = Command::new("kill")
            .args([&format!("-{signal}"), pid.trim()])
            .status();
        assert!(kill.unwrap().success());
        tmux.until("the shell", |screen| screen.contains("ready$"));
        assert_eq!(tmux.modes(), "0 1", "{signal}");
        tmux.shell("stty -a > after");
        assert_eq!(stty("before"), stty("after"), "{signal}");
    }
    // Ctrl-Z stops it, and it goes on where it was
    tmux.types(&["clear; set -m; ", &started(), "Enter"]);
    tmux.until("the newest", |screen| screen.contains("newest first"));
    tmux.types(&["token"]);
    tmux.until("the best", |screen| screen.contains("best match first"));
    tmux.types(&["C-z"]);
    tmux.until("the shell", |screen| screen.contains("ready$"));
    assert_eq!(tmux.modes(), "0 1");
    tmux.shell("stty -a > after");
    assert_eq!(stty("before"), stty("after"));
    tmux.types(&["fg", "Enter"]);
    tmux.until("it again", |screen| screen.contains("Search: token"));
    assert_eq!(tmux.modes().chars().next(), Some('1'));
    tmux.types(&["Escape"]);
    tmux.until("the shell", |screen| screen.contains("ready$"));
    assert_eq!(tmux.modes(), "0 1");
}

/// `sessions` fits the terminal that it is in, and is a whole row a line in a pipe.
#[test]
fn lists_fit_terminals_in_tmux() {
    let home = home();
    let Some(tmux) = Tmux::start(&home, 80, 24) else {
        return;
    };
    let program = env!("CARGO_BIN_EXE_sessionmill");
    let list = format!("{program} sessions -n 5 --now 2026-06-01T12:00:00Z");
    tmux.shell(&format!("cd; {list} | cat > piped"));
    let piped = fs::read_to_string(home.path("piped")).unwrap();
    assert_eq!(piped.lines().count(), 5, "{piped}");
    for columns in ["80", "140"] {
        tmux.says(&["resize-window", "-x", columns, "-y", "24"]);
        tmux.shell(&list);
        let screen = tmux.screen();
        assert_eq!(screen.matches("completed").count(), 5, "{screen}");
        // the terminal broke no line: joining what it broke changes nothing
        let joined = tmux.says(&["capture-pane", "-p", "-J"]);
        let trimmed = |text: &str| {
            text.lines()
                .map(str::trim_end)
                .collect::<Vec<_>>()
                .join("\n")
        };
        assert_eq!(trimmed(&screen), trimmed(&joined), "{columns}");
    }
}
