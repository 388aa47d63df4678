//! What a command line that isn't understood is answered, and how a failure is told to programs.

use super::out::Out;
use super::world::World;
use crate::memory::when::without_doubt;
use crate::model::choice::{listed, nearest};
use crate::model::error::ErrorKind;
use crate::model::shell;
use clap::error::{ContextKind, ContextValue, ErrorKind as Slip};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{BufRead, Write};

/// The command that a line names, or asks help for, as documents call it: `deliver status`; empty where it
/// names none.
pub fn command(argv: &[OsString], tree: &clap::Command) -> String {
    let mut at = tree;
    let mut names: Vec<String> = Vec::new();
    let mut is_value = false;
    for word in argv.iter().skip(1).filter_map(|word| word.to_str()) {
        let asks_help = word == "help" && names.is_empty();
        // `--now 2026-06-01 sessions`: what stands behind an option may be its value
        let may_be_value = std::mem::replace(&mut is_value, word.starts_with('-'));
        if word.starts_with('-') || asks_help {
            continue;
        }
        let Some(next) = at.find_subcommand(word) else {
            match may_be_value && names.is_empty() {
                true => continue,
                false => break,
            }
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

/// A refused line in words: what is wrong, and what helps.
pub fn told(refused: &clap::Error, command: &str, tree: &clap::Command) -> (String, String) {
    let help = format!("sessionmill {command} --help").replace("  ", " ");
    if refused.kind() == Slip::DisplayHelpOnMissingArgumentOrSubcommand {
        return ("a subcommand is missing".to_owned(), help);
    }
    if refused.kind() == Slip::MissingRequiredArgument {
        return (missing(strings(refused, ContextKind::InvalidArg)), help);
    }
    let text = refused.render().to_string();
    let head = text.split("\n\n").next().unwrap_or_default();
    let head = head.split("[possible values").next().unwrap_or_default();
    let words: Vec<&str> = head.split_whitespace().collect();
    let words = words.join(" ");
    let mut message = words.strip_prefix("error: ").unwrap_or(&words).to_owned();
    let valid = strings(refused, ContextKind::ValidValue);
    if !valid.is_empty() {
        message += &format!(": write {}", listed(valid));
    }
    (message, hint(refused, command, tree).unwrap_or(help))
}

/// `SESSION is missing`, `MEMORY and one of --title, --text or --stdin are missing`.
fn missing(mut args: Vec<&str>) -> String {
    // what has a place of its own before what may be one of several options
    args.sort_by_key(|arg| arg.contains("|--"));
    let is_one = args.len() == 1;
    let named = args.iter().map(|arg| {
        let arg = arg.trim_end_matches("...");
        let bare = arg.strip_prefix('<').and_then(|arg| arg.strip_suffix('>'));
        // an option's value may have names of its own: `--sort <AGE|SIZE>`
        let names = match bare {
            Some(bare) => bare.split('|').collect(),
            None => vec![arg],
        };
        let names: Vec<&str> = names
            .iter()
            .filter_map(|name| name.split(' ').next())
            .collect();
        match names.len() {
            2 if !is_one => format!("either {}", listed(names)),
            0..=2 => listed(names),
            _ => format!("one of {}", listed(names)),
        }
    });
    let named: Vec<String> = named.collect();
    let is = if is_one { "is" } else { "are" };
    format!("{} {is} missing", named.join(" and "))
}

fn hint(refused: &clap::Error, command: &str, tree: &clap::Command) -> Option<String> {
    let suggested = [
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedArg,
        ContextKind::SuggestedValue,
    ];
    let hidden = tree.get_arguments().filter(|arg| arg.is_hide_set());
    let hidden: Vec<&str> = hidden.filter_map(clap::Arg::get_long).collect();
    let is_shown = |word: &&str| !hidden.contains(&word.trim_start_matches('-'));
    // an option of a subcommand is suggested with it
    // the most similar one comes last
    let best = |kind| strings(refused, kind).pop().filter(is_shown);
    let typed = strings(refused, ContextKind::InvalidSubcommand).pop();
    // clap takes `graph` for a slip of `recap`
    let is_near = |word: &&str| typed.is_none_or(|typed| nearest(typed, [*word]).is_some());
    let suggested = suggested.into_iter().filter_map(best).filter(is_near);
    let suggested = suggested.collect::<Vec<&str>>().join(" ");
    let at = command.split_whitespace();
    let at = at.fold(tree, |at, name| at.find_subcommand(name).unwrap_or(at));
    // `help WORD` suggests nothing by itself
    let own = || {
        let names = at.get_subcommands().map(clap::Command::get_name);
        nearest(typed?, names)
    };
    let near = match suggested.is_empty() {
        true => own(),
        false => Some(suggested.as_str()),
    };
    if let Some(near) = near {
        return Some(format!("did you mean `{near}`?"));
    }
    if let Some(option) = option_of_value(refused, at) {
        return Some(format!("sessionmill {command} {option}"));
    }
    let options = strings(refused, ContextKind::InvalidArg);
    let is_word = |option: &&str| option.starts_with('-') && !option.starts_with("--");
    let is_word = refused.kind() == Slip::UnknownArgument && options.first().is_some_and(is_word);
    (is_word && command == "search")
        .then(|| "to leave a word out: sessionmill search token -- -expiry".to_owned())
}

/// `import laptop.db` lacks the only option that the command can't do without: `--from laptop.db`.
fn option_of_value(refused: &clap::Error, command: &clap::Command) -> Option<String> {
    let typed = *strings(refused, ContextKind::InvalidArg).first()?;
    let has_choice = command.get_groups().any(clap::ArgGroup::is_required_set);
    if refused.kind() != Slip::UnknownArgument || typed.starts_with('-') || has_choice {
        return None;
    }
    let all = command.get_arguments();
    let mut needed = all.filter(|arg| arg.is_required_set());
    match (needed.next()?.get_long(), needed.next()) {
        (Some(long), None) => Some(format!("--{long} {}", shell::word(typed))),
        _ => None,
    }
}

fn strings(refused: &clap::Error, kind: ContextKind) -> Vec<&str> {
    match refused.get(kind) {
        Some(ContextValue::String(one)) => vec![one],
        Some(ContextValue::Strings(all)) => all.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    }
}

/// A failure of the line as programs read it.
pub fn usage(message: &str, hint: &str) -> Value {
    failure(message, Some(hint), Some(ErrorKind::Usage))
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
