//! Completion in the real shells: each is asked what goes on at a TAB, in a home with fixture sessions. A
//! shell that isn't here is passed over, and said so.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests start programs, look at the clock, and say what they passed over"
)]

mod home;

use home::Home;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// A title that would do harm in a shell or on a terminal, and a project's folder that would.
const TITLE: &str = "Fix the $(touch pwned) `touch pwned` \\u001b[31m\\u001b]52;c;eA==\\u0007\\u009b2J\\u202e\\u200bbug";

fn home() -> Home {
    let home = Home::with(json!({"keep_length_days": null}));
    let line = |cwd: &str| {
        format!(
            r#"{{"type":"user","sessionId":"3f2c1d00-0000-4000-8000-000000000001","uuid":"3f2c1d00-0000-4000-8000-0000000000a1","timestamp":"2026-03-01T10:00:00.000Z","cwd":"{cwd}","message":{{"role":"user","content":"{TITLE}"}}}}"#
        ) + "\n"
    };
    home.write(
        ".claude/projects/-home-ada-shop/3f2c1d00-0000-4000-8000-000000000001.jsonl",
        &line("/home/ada/shop-api"),
    );
    let other = line("/home/ada/$(touch pwned)").replace("3f2c1d00", "9e0b7c11");
    home.write(
        ".claude/projects/-home-ada-x/9e0b7c11-0000-4000-8000-000000000001.jsonl",
        &other,
    );
    let ran = home.run("run --all --quiet");
    assert!(ran.status.success(), "{ran:?}");
    home
}

/// The folder of the program comes first on the PATH.
fn path() -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_sessionmill"));
    let folder = program.parent().unwrap().display();
    format!("{folder}:/usr/local/bin:/usr/bin:/bin")
}

/// What a shell prints for a script; `None`: there is no such shell.
fn shell(home: &Home, name: &str, args: &[&str]) -> Option<Output> {
    let found = path()
        .split(':')
        .map(|dir| Path::new(dir).join(name))
        .find(|file| file.is_file());
    let Some(program) = found else {
        eprintln!("there is no {name} here: completion was not tried in it");
        return None;
    };
    let ended = Command::new(program)
        .args(args)
        .env_clear()
        .env("HOME", home.root())
        .env("PATH", path())
        .env("TERM", "dumb")
        .current_dir(home.root())
        .output()
        .unwrap();
    Some(ended)
}

fn text(ended: &Output) -> String {
    String::from_utf8_lossy(&ended.stdout).into_owned()
}

fn script(home: &Home, name: &str) -> String {
    let file = home.path(&format!("script.{name}"));
    let printed = home.run(&format!("completion {name}"));
    assert!(printed.status.success(), "{printed:?}");
    fs::write(&file, printed.stdout).unwrap();
    file.to_string_lossy().into_owned()
}

/// Lines with what has to come of a TAB at their end.
const WANTED: [(&str, &str); 8] = [
    ("sessionmill show 3f", "3f2c1d00"),
    ("sessionmill resume ", "9e0b7c11"),
    ("sessionmill search --project sh", "shop-api"),
    ("sessionmill config get schedule.", "schedule.interval"),
    ("sessionmill run ni", "nightly"),
    ("sessionmill hooks install --agent c", "codex"),
    ("sessionmill sched", "schedule"),
    ("sessionmill stats --act", "--activity"),
];

#[test]
fn bash_completes_values() {
    let home = home();
    let script = script(&home, "bash");
    for (line, wanted) in WANTED {
        let words: Vec<&str> = line.split(' ').collect();
        let typed = format!(
            "source {script}; COMP_WORDS=({}); COMP_CWORD={}; COMP_TYPE=9; \
             _clap_complete_sessionmill sessionmill '{}' ''; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            words.iter().map(|w| format!("'{w}' ")).collect::<String>(),
            words.len() - 1,
            words.last().unwrap()
        );
        let Some(ended) = shell(&home, "bash", &["--norc", "-c", &typed]) else {
            return;
        };
        let said = text(&ended);
        assert!(
            said.lines().any(|l| l.trim() == wanted),
            "{line}: {ended:?}"
        );
        assert!(!said.contains("touch"), "{said}");
    }
    assert!(!home.path("pwned").exists());
}

#[test]
fn fish_completes_values_with_titles() {
    let home = home();
    let script = script(&home, "fish");
    for (line, wanted) in WANTED {
        let typed = format!("source {script}; complete -C '{line}'");
        let Some(ended) = shell(&home, "fish", &["--no-config", "-c", &typed]) else {
            return;
        };
        let said = text(&ended);
        let is_there = |l: &str| l.split('\t').next() == Some(wanted);
        assert!(said.lines().any(is_there), "{line}: {ended:?}");
        assert!(!said.contains('\u{1b}'), "{said}");
        if line.contains("show") {
            assert!(said.contains("Fix the"), "the title is beside it: {said}");
        }
    }
    assert!(!home.path("pwned").exists());
}

#[test]
fn zsh_completes_values() {
    let home = home();
    let functions = home.path("functions");
    fs::create_dir(&functions).unwrap();
    fs::copy(script(&home, "zsh"), functions.join("_sessionmill")).unwrap();
    home.write(
        ".zshrc",
        "PROMPT='> '\nfpath=(~/functions $fpath)\nautoload -Uz compinit\ncompinit -u\n\
         zstyle ':completion:*' list-prompt ''\nLISTMAX=0\nunsetopt zle_bracketed_paste\n",
    );
    // a terminal of its own, in which a TAB is typed
    for (line, wanted) in WANTED {
        let typed = format!(
            "zmodload zsh/zpty; zpty -b z zsh -i; \
             zpty -r z said '*> '; zpty -w -n z '{line}'$'\\t'; \
             said=; for n in {{1..60}}; do while zpty -r -t z part; do said+=$part; done; \
             [[ $said == *'{wanted}'* ]] && break; sleep 0.1; done; print -r -- $said; zpty -d z"
        );
        let Some(ended) = shell(&home, "zsh", &["-f", "-c", &typed]) else {
            return;
        };
        let said = text(&ended);
        assert!(said.contains(wanted), "{line}: {ended:?}");
    }
    assert!(!home.path("pwned").exists());
}

#[test]
fn powershell_completes_values() {
    let home = home();
    let script = script(&home, "powershell");
    for (line, wanted) in WANTED {
        let typed = format!(
            "Invoke-Expression (Get-Content -Raw '{script}'); \
             (TabExpansion2 '{line}' {}).CompletionMatches.CompletionText",
            line.len()
        );
        let Some(ended) = shell(&home, "pwsh", &["-NoProfile", "-Command", &typed]) else {
            return;
        };
        assert!(
            text(&ended).lines().any(|l| l == wanted),
            "{line}: {ended:?}"
        );
    }
}

/// Nothing of a title that is said beside a value drives the terminal that the shell shows it on.
#[test]
fn what_is_said_beside_a_value_is_inert() {
    let home = home();
    let mut asked = Command::new(env!("CARGO_BIN_EXE_sessionmill"));
    asked.env_clear().env("SESSIONMILL_COMPLETE", "fish");
    asked.env("HOME", home.root());
    let ended = asked
        .args(["--", "sessionmill", "show", ""])
        .output()
        .unwrap();
    let said = text(&ended);
    assert!(
        said.contains("3f2c1d00") && said.contains("Fix the"),
        "{ended:?}"
    );
    let live = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{200b}' | '\u{202a}'..='\u{202e}')
    };
    assert_eq!(said.find(live), None, "{said:?}");
}

#[test]
fn without_a_store_or_a_home_nothing_is_said_and_quickly() {
    let home = Home::with(json!({}));
    let ask = |line: &str, has_home: bool| {
        let mut asked = Command::new(env!("CARGO_BIN_EXE_sessionmill"));
        asked.env_clear().env("SESSIONMILL_COMPLETE", "fish");
        if has_home {
            asked.env("HOME", home.root());
        }
        let begun = Instant::now();
        let ended = asked.arg("--").args(line.split(' ')).output().unwrap();
        assert!(
            ended.status.success() && ended.stderr.is_empty(),
            "{ended:?}"
        );
        // a debug build on a busy machine; the built one takes some milliseconds
        assert!(begun.elapsed() < Duration::from_secs(5));
        text(&ended)
    };
    assert_eq!(ask("sessionmill show a", true), "");
    assert_eq!(ask("sessionmill show a", false), "");
    assert_eq!(ask("sessionmill memories show a", true), "");
    assert!(ask("sessionmill sea", false).starts_with("search"));
    assert!(!home.path(".graphiti/sessionmill.db").exists());
}
