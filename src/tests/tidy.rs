//! The house rules that a script can see: who may use whom, how long a file and a function may be,
//! which words belong where. Each rule returns its findings as `file:line: what`, so that a failure
//! is a list to work through.

mod circles;
mod names;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Lines of a file, tests included.
const FILE_LINES_MAX: usize = 600;
/// Lines of a function, from its `fn` to its brace.
const FUNCTION_LINES_MAX: usize = 70;

/// Which of our modules each may name (architecture § 3). A module that isn't here may not exist.
const MAY_USE: [(&str, &[&str]); 17] = [
    ("model", &[]),
    ("rules", &["model"]),
    ("json", &["model"]),
    ("config", &["model"]),
    ("host", &["model"]),
    ("net", &["model"]),
    ("store", &["model"]),
    ("insight", &["model", "rules"]),
    ("tables", &["model", "rules", "insight"]),
    (
        "tracking",
        &["model", "rules", "config", "host", "store", "insight"],
    ),
    // Of `host`, stages take `read::LogBlock` and `read::Reduce`: bytes with their places, no I/O.
    ("stages", &["model", "rules", "json", "host"]),
    ("agents", &["model", "rules", "json", "config", "stages"]),
    ("sinks", &["model", "net", "stages", "tables"]),
    (
        "memory",
        &[
            "model", "rules", "config", "host", "store", "stages", "insight", "tracking",
        ],
    ),
    (
        "pipeline",
        &[
            "model", "rules", "json", "config", "host", "net", "store", "stages", "insight",
            "tables", "agents", "tracking", "sinks", "memory",
        ],
    ),
    // `mcp` and `cli` don't know each other; `cli` starts the server.
    (
        "mcp",
        &[
            "model", "rules", "config", "host", "store", "stages", "insight", "agents", "tracking",
            "memory", "pipeline",
        ],
    ),
    (
        "cli",
        &[
            "model", "rules", "config", "host", "net", "store", "stages", "insight", "tables",
            "agents", "tracking", "memory", "sinks", "pipeline", "mcp",
        ],
    ),
];

/// A word, the only module that may say it, and why.
const WORDS: [(&str, &str, &str); 22] = [
    (
        "gix::",
        "host",
        "repositories are read by the machine's floor",
    ),
    ("rusqlite", "store", "the only SQL is in the store"),
    ("reqwest", "net", "the only HTTP is in `net`"),
    ("tokio", "mcp", "only the face for agents is asynchronous"),
    ("rmcp", "mcp", "agents' protocol is in `mcp`"),
    ("hyper", "mcp", "the only HTTP server is in `mcp`"),
    (
        "redis::",
        "sinks",
        "databases of others are reached by sinks",
    ),
    (
        "rayon",
        "pipeline",
        "stages don't know that they run in parallel",
    ),
    ("indicatif", "cli", "progress is drawn by the command line"),
    ("ratatui", "cli", "screens are drawn by the command line"),
    ("crossterm", "cli", "keys are read by the command line"),
    ("println!", "cli", "data goes through `cli::out`"),
    ("print!", "cli", "data goes through `cli::out`"),
    (
        "SystemTime::now",
        "cli",
        "the clock is asked once and handed down",
    ),
    ("Utc::now", "cli", "the clock is asked once and handed down"),
    (
        "Local::now",
        "cli",
        "the clock is asked once and handed down",
    ),
    (
        "Instant::now",
        "cli",
        "the clock is asked once and handed down",
    ),
    (
        "env::var",
        "cli",
        "the environment is asked once and handed down",
    ),
    (
        "env::current_dir",
        "cli",
        "the working directory is asked once and handed down",
    ),
    (
        "env::temp_dir",
        "cli",
        "the environment is asked once and handed down",
    ),
    (
        "Command::new",
        "host",
        "programs are started by `host::process`",
    ),
    ("unsafe ", "", "there is none"),
];

/// What names one agent.
const NAMES_AN_AGENT: [&str; 11] = [
    "Agent::new(",
    "agents::claude",
    "agents::codex",
    "agents::gemini",
    "agents::qwen",
    "agents::opencode",
    "\"claude\"",
    "\"codex\"",
    "\"gemini\"",
    "\"qwen\"",
    "\"opencode\"",
];

/// The only files outside of `agents` that may, at most three, and why.
const MAY_NAME_AN_AGENT: [(&str, &str); 3] = [
    (
        "src/config/wire/session_tracking.rs",
        "the settings' schema lists the words that editors offer",
    ),
    (
        "src/model/dialect_state.rs",
        "stores have a member of this name since their first version",
    ),
    (
        "src/pipeline/doctor/canary_run.rs",
        "its secrets are planted in logs of one dialect",
    ),
];

/// Names that say nothing.
const DRAWERS: [&str; 7] = [
    "util", "utils", "helper", "helpers", "common", "misc", "shared",
];

#[test]
fn a_module_uses_only_lower_floors() {
    let mut findings = Vec::new();
    for file in sources() {
        let Some(me) = file.module() else { continue };
        let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == me) else {
            findings.push(format!(
                "{}: `{me}` has no floor in architecture § 3",
                file.name
            ));
            continue;
        };
        for (number, line) in file.production() {
            for used in names_after(line, "crate::") {
                let known = MAY_USE.iter().any(|(name, _)| *name == used);
                if known && used != me && !allowed.contains(&used) {
                    findings.push(format!("{}:{number}: {me} may not use {used}", file.name));
                }
            }
        }
    }
    report(&findings);
}

#[test]
fn one_stage_never_imports_another() {
    let stages: Vec<String> = children("src/stages");
    let mut findings = Vec::new();
    for file in sources() {
        let Some(rest) = file.name.strip_prefix("src/stages/") else {
            continue;
        };
        let me = rest.split(['/', '.']).next().unwrap_or_default();
        let is_flat = !rest.contains('/');
        for (number, line) in file.production() {
            let mut used = names_after(line, "crate::stages::");
            if is_flat && me != "mod" {
                used.extend(names_after(line, "super::"));
            }
            for other in used
                .iter()
                .filter(|other| stages.iter().any(|s| s == *other))
            {
                if *other != me {
                    findings.push(format!("{}:{number}: {me} may not use {other}", file.name));
                }
            }
        }
    }
    report(&findings);
}

#[test]
fn files_open_with_what_they_know_and_end_in_time() {
    let mut findings = Vec::new();
    for file in sources() {
        let first = file.text.lines().next().unwrap_or_default();
        if !first.starts_with("//! ") {
            findings.push(format!("{}:1: does not open with `//! `", file.name));
        }
        let lines = file.text.lines().count();
        if lines > FILE_LINES_MAX {
            findings.push(format!(
                "{}: {lines} lines, at most {FILE_LINES_MAX}",
                file.name
            ));
        }
        let drawer = |part: &str| DRAWERS.contains(&part);
        if file.name.split(['/', '.']).any(drawer) {
            findings.push(format!("{}: name the thing", file.name));
        }
    }
    report(&findings);
}

#[test]
fn functions_fit_on_a_screen() {
    let mut findings = Vec::new();
    for file in sources() {
        for (name, first, lines) in functions(&file.text) {
            if lines > FUNCTION_LINES_MAX {
                let at = format!("{}:{first}", file.name);
                findings.push(format!(
                    "{at}: `{name}` has {lines} lines, at most {FUNCTION_LINES_MAX}"
                ));
            }
        }
    }
    report(&findings);
}

#[test]
fn some_words_have_one_home() {
    let mut findings = Vec::new();
    for file in sources() {
        let me = file.module().unwrap_or_default();
        for (number, line) in file.production() {
            for (word, home, why) in WORDS {
                if me != home && contains_word(line, word) {
                    let word = word.trim();
                    findings.push(format!("{}:{number}: `{word}`: {why}", file.name));
                }
            }
        }
    }
    report(&findings);
}

#[test]
fn nobody_but_agents_asks_which_agent_it_is() {
    let mut findings = Vec::new();
    for file in sources() {
        let may = MAY_NAME_AN_AGENT.iter().any(|(name, _)| *name == file.name);
        let is_test = file.name.ends_with("/tests.rs");
        if may || is_test || file.name.starts_with("src/agents/") {
            continue;
        }
        for (number, line) in file.production() {
            for name in NAMES_AN_AGENT.iter().filter(|name| line.contains(**name)) {
                findings.push(format!("{}:{number}: `{name}`: ask `agents`", file.name));
            }
        }
    }
    report(&findings);
}

#[test]
fn nothing_is_left_unfinished_or_tied_to_one_machine() {
    // Put together here, so that this file doesn't find itself.
    let machine = ["work", "farm", "tmp/wt"].map(|dir| format!("/{dir}/"));
    let unfinished = ["todo", "unimplemented"].map(|name| format!("{name}!("));
    let notes = [["FIX", "ME"].concat(), ["X", "XX"].concat()];
    let mut findings = Vec::new();
    for file in all_texts() {
        let is_rust = file.name.ends_with(".rs");
        for (number, line) in (1..).zip(file.text.lines()) {
            let machine = machine.iter().any(|dir| line.contains(dir.as_str()));
            let mut words = unfinished.iter().chain(&notes);
            if machine {
                findings.push(format!("{}:{number}: a path of one machine", file.name));
            }
            if is_rust && words.any(|word| contains_word(line, word)) {
                findings.push(format!("{}:{number}: unfinished", file.name));
            }
        }
    }
    report(&findings);
}

/// Lines of `cli` before its files' inline tests: arguments, words and screens need no more.
const CLI_LINES_MAX: usize = 15_000;

/// Prints the size of each room: `cargo test --lib line_counts -- --nocapture`.
#[test]
fn line_counts_by_room() {
    let mut rooms: BTreeMap<String, usize> = BTreeMap::new();
    for file in sources().iter().filter(|file| !file.is_test) {
        if let Some(room) = file.module() {
            let is_test = |line: &str| line.starts_with("#[cfg(test)]");
            let lines = file.text.lines().take_while(|line| !is_test(line));
            *rooms.entry(room.to_owned()).or_default() += lines.count();
        }
    }
    for (room, lines) in &rooms {
        println!("{lines:>7} {room}");
    }
    println!("{:>7} in all", rooms.values().sum::<usize>());
    let cli = rooms.get("cli").copied().unwrap_or_default();
    assert!(
        cli <= CLI_LINES_MAX,
        "cli has {cli} lines, at most {CLI_LINES_MAX}"
    );
}

#[test]
fn the_rules_find_what_they_forbid() {
    assert_eq!(
        names_after("use crate::store::Store;", "crate::"),
        ["store"]
    );
    assert_eq!(
        names_after("use crate::{model, store::Store};", "crate::"),
        ["model", "store"]
    );
    assert!(contains_word("    rusqlite::open()", "rusqlite"));
    assert!(contains_word("println!(\"x\")", "println!"));
    assert!(!contains_word("eprintln_like()", "println!"));
    let text = "fn a() {\n    x\n}\n\nimpl T {\n    pub fn b() {\n    }\n}\n";
    assert_eq!(functions(text), [("a".into(), 1, 3), ("b".into(), 6, 2)]);
}

/// A text file of the project, by its path from the root.
pub(super) struct File {
    pub(super) name: String,
    pub(super) text: String,
    /// Its parent declares it, or a folder around it, under `#[cfg(test)]`.
    is_test: bool,
}

impl File {
    /// The room it is in: `src/<module>.rs` or `src/<module>/…`; none for the crate's own files and
    /// the whole-program tests.
    pub(super) fn module(&self) -> Option<&str> {
        let rest = self.name.strip_prefix("src/")?;
        let room = rest.split(['/', '.']).next()?;
        (!["main", "lib", "tests"].contains(&room)).then_some(room)
    }

    /// Its lines that aren't comments, without items for tests; none of a file of tests.
    fn production(&self) -> Vec<(usize, &str)> {
        let mut lines = (1..).zip(self.text.lines()).filter(|_| !self.is_test);
        let mut production = Vec::new();
        while let Some((number, line)) = lines.next() {
            if line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(all(test,") {
                // An item of one line, or up to the brace that closes it.
                let is_last =
                    |line: &str| line.ends_with(';') || line == "}" || line.ends_with("{}");
                lines
                    .by_ref()
                    .find(|(_, line)| is_last(line) && !line.starts_with(' '));
            } else if !line.trim_start().starts_with("//") {
                production.push((number, line));
            }
        }
        production
    }
}

pub(super) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources() -> Vec<File> {
    let mut files = Vec::new();
    walk(&root().join("src"), &mut files);
    files.retain(|file| file.name.ends_with(".rs"));
    assert!(files.len() > 20, "the sources were not found");
    let tests: Vec<String> = files.iter().flat_map(test_modules).collect();
    for file in &mut files {
        let stem = file.name.trim_end_matches(".rs");
        let within = |test: &String| stem == test || stem.starts_with(&format!("{test}/"));
        file.is_test = tests.iter().any(within);
    }
    files
}

/// Paths without `.rs` of the modules that a file declares under `#[cfg(test)]`.
fn test_modules(file: &File) -> Vec<String> {
    let stem = file.name.trim_end_matches(".rs");
    let stem = ["/mod", "/lib", "/main"]
        .iter()
        .find_map(|s| stem.strip_suffix(s))
        .unwrap_or(stem);
    let lines: Vec<&str> = file.text.lines().collect();
    let pairs = lines
        .windows(2)
        .filter(|pair| pair[0].trim() == "#[cfg(test)]");
    pairs
        .filter_map(|pair| pair[1].trim().strip_prefix("mod ")?.strip_suffix(';'))
        .map(|name| format!("{stem}/{name}"))
        .collect()
}

/// Everything that people wrote: not the build, not the fixtures' logs.
fn all_texts() -> Vec<File> {
    let mut files = Vec::new();
    for dir in ["src", "benches", "docs", "pipelines", "scripts", ".ci"] {
        walk(&root().join(dir), &mut files);
    }
    for name in [
        "README.md",
        "Makefile",
        "Cargo.toml",
        "deny.toml",
        ".clippy.toml",
    ] {
        read(&root().join(name), &mut files);
    }
    files
}

pub(super) fn walk(dir: &Path, files: &mut Vec<File>) {
    let Ok(entries) = fs::read_dir(dir) else {
        return;
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        match path.is_dir() {
            true => walk(&path, files),
            false => read(&path, files),
        }
    }
}

/// Files that are no text are passed over.
pub(super) fn read(path: &Path, files: &mut Vec<File>) {
    if let (Ok(text), Ok(name)) = (fs::read_to_string(path), path.strip_prefix(root())) {
        let name = name.to_string_lossy().replace('\\', "/");
        let is_test = false;
        files.push(File {
            name,
            text,
            is_test,
        });
    }
}

fn children(dir: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(dir)).into_iter().flatten();
    let stems = entries.filter_map(|e| Some(e.ok()?.path().file_stem()?.to_str()?.to_owned()));
    stems.filter(|name| name != "mod").collect()
}

/// The first segment of each path that follows `prefix`, groups in braces included.
fn names_after<'a>(line: &'a str, prefix: &str) -> Vec<&'a str> {
    let mut names = Vec::new();
    for (at, _) in line.match_indices(prefix) {
        let rest = &line[at + prefix.len()..];
        match rest.strip_prefix('{') {
            Some(group) => {
                let group = group.split('}').next().unwrap_or_default();
                names.extend(group.split(',').map(|path| word(path.trim())));
            }
            None => names.push(word(rest)),
        }
    }
    names
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

/// `needle` stands in `line` and does not continue a longer name.
fn contains_word(line: &str, needle: &str) -> bool {
    line.match_indices(needle).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// Name, first line and length of each function, by the indentation that rustfmt gives.
fn functions(text: &str) -> Vec<(String, usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let indent = &line[..line.len() - code.len()];
        let Some(name) = function_name(code) else {
            continue;
        };
        if line.ends_with(';') || line.ends_with('}') {
            continue;
        }
        let close = format!("{indent}}}");
        let declared = format!("{indent}) ");
        let end = lines[at + 1..]
            .iter()
            .position(|l| *l == close || (l.starts_with(&declared) && l.ends_with(';')));
        if let Some(end) = end {
            found.push((name.to_owned(), at + 1, end + 2));
        }
    }
    found
}

fn function_name(code: &str) -> Option<&str> {
    let mut rest = code;
    if let Some(public) = rest.strip_prefix("pub") {
        let public = public.trim_start();
        rest = match public.strip_prefix('(') {
            Some(scope) => scope.split_once(')')?.1.trim_start(),
            None => public,
        };
    }
    for qualifier in ["const ", "async "] {
        rest = rest.strip_prefix(qualifier).unwrap_or(rest);
    }
    rest.strip_prefix("fn ").map(word)
}

pub(super) fn report(findings: &[String]) {
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}
