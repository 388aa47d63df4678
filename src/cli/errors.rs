//! What a command line that isn't understood is answered, and how a failure is told to programs.

use super::out::Out;
use super::world::World;
use crate::memory::when::without_doubt;
use crate::model::error::ErrorKind;
use clap::error::ErrorKind as Slip;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{BufRead, Write};

/// The command that a line names, as documents call it: `deliver status`; empty where it names none.
pub fn command(argv: &[OsString], tree: &clap::Command) -> String {
    let mut at = tree;
    let mut names: Vec<String> = Vec::new();
    for word in argv.iter().skip(1).filter_map(|word| word.to_str()) {
        if word.starts_with('-') {
            continue;
        }
        let Some(next) = at.find_subcommand(word) else {
            break;
        };
        names.push(next.get_name().to_owned());
        at = next;
    }
    names.join(" ")
}

/// The line as it is meant: `help` takes no options, and `version` is one; a person says whether `3m` are
/// minutes or months.
pub fn meant(mut argv: Vec<OsString>, world: &mut World) -> Vec<OsString> {
    ask_when(&mut argv, world);
    let word =
        |argv: &[OsString], nth: usize| argv.get(nth).and_then(|w| w.to_str()).map(str::to_owned);
    match word(&argv, 1).as_deref() {
        Some("help") => argv.retain(|word| word != "--json"),
        Some("version") => argv[1] = "--version".into(),
        _ => {}
    }
    argv
}

/// Asks a person what is meant where a time is minutes or months. Anybody else is refused later.
fn ask_when(argv: &mut [OsString], world: &mut World) {
    let (from, to) = (&mut world.stdin.from, &mut world.stderr.to);
    for nth in (1..argv.len()).filter(|_| world.stdin.terminal) {
        let words = [nth - 1, nth].map(|nth| argv[nth].to_str());
        let [Some(before), Some(word)] = words else {
            continue;
        };
        let answer = |question: &str| {
            let mut answer = String::new();
            write!(to, "{question} ").and_then(|()| to.flush()).ok()?;
            from.read_line(&mut answer).ok()?;
            Some(answer)
        };
        if let Some(sure) = without_doubt(before, word, answer) {
            argv[nth] = sure.into();
        }
    }
}

/// What besides clap's own words helps.
pub fn hint(slip: Slip, command: &str) -> Option<&'static str> {
    let is_word = slip == Slip::UnknownArgument && command == "search";
    is_word.then_some("to leave a word out: sessionmill search token -- -expiry")
}

/// A refused line as programs read it.
pub fn document(refused: &clap::Error, command: &str) -> Value {
    let text = refused.render().to_string();
    let head = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = head.split_whitespace().collect();
    let words = words.join(" ");
    let message = words.strip_prefix("error: ").unwrap_or(&words);
    let tip = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("tip: "));
    let help = format!("sessionmill {command} --help").replace("  ", " ");
    let hint = hint(refused.kind(), command).or(tip).unwrap_or(&help);
    json!({"message": message, "hint": hint, "kind": kind(Some(ErrorKind::Usage))})
}

/// A failure as programs read it.
pub fn failure(message: &str, hint: Option<&str>, of: Option<ErrorKind>) -> Value {
    json!({"message": message, "hint": hint, "kind": kind(of)})
}

fn kind(kind: Option<ErrorKind>) -> &'static str {
    match kind {
        Some(ErrorKind::Usage) => "usage",
        Some(ErrorKind::Busy) => "busy",
        Some(ErrorKind::Store) => "store",
        Some(ErrorKind::Damaged) => "damaged",
        Some(ErrorKind::Failed) | None => "failed",
    }
}

/// Prints a failure as the one document of a run, unless it printed one.
pub fn tell(out: &mut Out, error: Value) {
    if out.json && !out.is_documented {
        let command = out.command.clone();
        // where nobody reads it, the exit code says it
        let _ = out.document(&command, json!({"error": error}));
    }
}
