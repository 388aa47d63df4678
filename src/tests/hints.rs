//! What messages say to type next can be typed: each command in the program's own texts is read by its
//! own command line, and those of the help's examples run on the fixture sessions.

use super::world::{Desk, words};
use crate::cli::Exit;
use crate::rules::help::examples;
use std::fs;
use std::path::Path;
use walkdir::WalkDir;

const NAME: &str = "sessionmill ";

/// The program's own code, without tests and comments, its texts' lines joined.
fn texts() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = WalkDir::new(&root).into_iter().flatten();
    let mut all = Vec::new();
    for file in files.filter(|file| file.file_type().is_file()) {
        let name = file.path().strip_prefix(&root).expect("below src");
        let name = name.to_string_lossy().into_owned();
        if !name.ends_with(".rs") || name.contains("tests") {
            continue;
        }
        let text = fs::read_to_string(file.path()).expect("UTF-8");
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or("");
        let is_code = |line: &&str| !line.trim_start().starts_with("//");
        let lines = text.lines().filter(is_code).map(|line| line.trim_start());
        let mut joined = String::new();
        for line in lines {
            match line.strip_suffix('\\') {
                Some(line) => joined += line,
                None => joined += &format!("{line}\n"),
            }
        }
        all.push((name, joined));
    }
    all
}

/// `{…}` of a format, as something that is typed there.
fn filled(text: &str) -> String {
    let mut filled = String::new();
    for (nth, part) in text.split(['{', '}']).enumerate() {
        let typed = match (nth % 2, part) {
            (0, part) => part,
            (_, "since") => "2026-01-01",
            _ if filled.ends_with("--agent ") => "claude",
            _ => "word",
        };
        filled.push_str(typed);
    }
    filled
}

/// The commands in a text, each as far as it is typed.
fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(NAME) {
        let rest = &text[at + NAME.len()..];
        let rest = rest.replace("\\\"", "\u{1}");
        let ends = [
            "\"", "\\n", "`", ")", ";", "   (", " && ", ", ", ": ", " > ", " | ", "\n", "</",
        ];
        let end = ends.iter().filter_map(|end| rest.find(end)).min();
        let line = rest[..end.unwrap_or(rest.len())].replace('\u{1}', "\"");
        let is_sentence = line.ends_with('.') && !line.ends_with(" .");
        let line = line[..line.len() - usize::from(is_sentence)].to_owned();
        found.push(filled(line.trim()));
    }
    found
}

#[test]
fn every_command_that_a_message_names_can_be_typed() {
    let tree = crate::cli::tree();
    let (mut read, mut refused) = (0, Vec::new());
    for (file, text) in texts() {
        // a line with `<` says how a command is written, not what to type
        let typed = commands(&text).into_iter();
        for command in typed.filter(|line| !line.contains('<')) {
            let first = command.split(' ').next().unwrap_or_default();
            if tree.find_subcommand(first).is_none() {
                continue;
            }
            read += 1;
            let typed = words(&format!("{NAME}{command}"));
            if let Err(error) = tree.clone().try_get_matches_from(typed)
                && error.use_stderr()
            {
                refused.push(format!("{file}: {command}"));
            }
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert!(read > 80, "only {read} commands were found");
}

/// Commands whose examples run on the fixture sessions. The others' need a server, a terminal, a pipe, an
/// agent, or files and sinks of their own.
const RUN: [&str; 22] = [
    "run", "backfill", "plan", "search", "show", "sessions", "recall", "recap", "why", "insights",
    "status", "stats", "report", "doctor", "disable", "promote", "forget", "config", "schedule",
    "hooks", "store", "man",
];

#[test]
fn examples_do_what_they_say() {
    let mut failed = Vec::new();
    for command in RUN {
        let mut desk = Desk::enabled();
        desk.program("systemctl", "exit 0");
        desk.program("crontab", "exit 0");
        desk.run("sessionmill config set graphiti.user_scope_key ada");
        desk.write("release.md", "Tag, then push.");
        desk.write("home/code/shop/.keep", "");
        assert_eq!(desk.run("sessionmill backfill").exit, Exit::Done);
        let examples = examples(command);
        // no project of the fixtures is a folder here
        for (what, line) in examples.filter(|(_, line)| !line.contains("--project .")) {
            let line = line.replace('~', &desk.path("home").to_string_lossy());
            let line = line.split(" > ").next().unwrap_or_default();
            let (line, file) = line.split_once(" < ").unwrap_or((line, ""));
            if !file.is_empty() {
                desk.piped = fs::read_to_string(desk.path(file)).expect(file);
            }
            // asked before sessions are deleted
            desk.answers = (command == "forget").then(|| "yes\n".to_owned());
            let ran = desk.run(line);
            let is_empty = ran.exit == Exit::Failed
                && ["nothing found", "nothing stored matches"]
                    .iter()
                    .any(|said| ran.stderr.starts_with(said));
            if ran.exit != Exit::Done && !is_empty {
                failed.push(format!("{what}: {line}: {}", ran.shown()));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
