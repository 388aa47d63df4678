//! A place has one name: whichever way a project is named, each command and each tool means the same sessions.
//! Real repositories, worktrees and symlinks.

use super::delivery::{configure, done};
use super::forget::{desk, said};
use super::memory_rows::promote;
use super::world::{Desk, Ran};
use crate::cli::Exit;
use crate::config::Env;
use crate::mcp::{ServerContext, call};
use crate::model::error::Error;
use crate::model::zone::Zone;
use chrono::FixedOffset;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// Folders that sessions worked in, and the word that each session alone has.
const SESSIONS: [(&str, &str); 8] = [
    ("app", "rootword"),
    ("app/src", "subword"),
    ("tree", "treeword"),
    ("link", "linkword"),
    ("notes", "plainword"),
    ("other", "otherword"),
    // one repository, which moved
    ("old", "oldword"),
    ("new", "newword"),
];

const APP: [&str; 4] = ["linkword", "rootword", "subword", "treeword"];

/// Every way to a project, and what is its.
const PLACES: [(&str, &[&str]); 12] = [
    ("app", &APP),
    ("app/src", &APP),
    ("app/src/deep", &APP),
    ("tree", &APP),
    ("link", &APP),
    ("link/src", &APP),
    ("source", &APP),
    ("notes", &["plainword"]),
    ("papers", &["plainword"]),
    ("new", &MOVED),
    ("new/src", &MOVED),
    ("old", &MOVED),
];

pub(super) const MOVED: [&str; 2] = ["newword", "oldword"];

/// A repository with a subfolder, a worktree and symlinks to it; a folder without one; another repository; one
/// that moved. A session in each.
pub(super) fn places() -> Desk {
    let desk = desk();
    for folder in ["app/src/deep", "notes", "other", "old/src", "githome"] {
        fs::create_dir_all(desk.path(folder)).unwrap();
    }
    for repository in ["app", "other", "old"] {
        git(&desk, repository, &["init", "-q", "-b", "main"]);
        git(
            &desk,
            repository,
            &["commit", "-q", "--allow-empty", "-m", repository],
        );
    }
    let tree = desk.path("tree").display().to_string();
    git(
        &desk,
        "app",
        &["worktree", "add", "-q", "-b", "work", &tree],
    );
    symlink(desk.path("app"), desk.path("link")).unwrap();
    symlink(desk.path("app/src"), desk.path("source")).unwrap();
    symlink(desk.path("notes"), desk.path("papers")).unwrap();
    let (last, before) = SESSIONS.split_last().unwrap();
    for (nth, (folder, word)) in (0..).zip(before) {
        session(&desk, folder, word, nth);
    }
    done(desk.run("sessionmill run --all"));
    for (folder, word) in before {
        remember(&desk, folder, word);
    }
    fs::rename(desk.path("old"), desk.path("new")).unwrap();
    session(&desk, last.0, last.1, 7);
    let ran = done(desk.run("sessionmill run --all"));
    let hint = "to join it to its earlier sessions: sessionmill project move ~/old ~/new";
    assert!(ran.stderr.contains(hint), "{}", ran.shown());
    done(desk.run("sessionmill project move old new"));
    remember(&desk, last.0, last.1);
    desk
}

pub(super) fn session(desk: &Desk, folder: &str, word: &str, nth: u32) {
    let cwd = desk.path(folder).display().to_string();
    let asked = format!("Let's use redis for {word} instead of signed cookies.");
    let log = said(word, &cwd, 10 * nth, "user", &asked)
        + &said(
            word,
            &cwd,
            10 * nth + 1,
            "assistant",
            &format!("Redis for {word} it is. All done."),
        );
    desk.write(&format!(".claude/projects/-w{nth}/{word}.jsonl"), &log);
}

fn remember(desk: &Desk, folder: &str, word: &str) {
    let path = desk.path(folder).display().to_string();
    done(promote(
        desk,
        &format!("--kind lesson --project {path} --text \"keep {word} small\""),
    ));
}

fn git(desk: &Desk, folder: &str, words: &[&str]) {
    let out = Command::new("git")
        .args(words)
        .current_dir(desk.path(folder))
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", desk.path("githome"))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_NAME"), "A")))
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_EMAIL"), "a@example.org")))
        .output()
        .expect("git");
    assert!(out.status.success(), "{words:?}: {out:?}");
}

/// Which sessions a text tells of.
pub(super) fn told(text: &str) -> Vec<&'static str> {
    let words = SESSIONS.map(|(_, word)| word).into_iter();
    let told: BTreeSet<&str> = words.filter(|word| text.contains(word)).collect();
    told.into_iter().collect()
}

/// What a command tells where all of a project's sessions are looked at.
enum Tells {
    /// Each session's word.
    Words,
    /// How many they are, at this place of its document.
    Count(&'static str),
}

use Tells::{Count, Words};

/// Commands that read, before the option that names a project.
const READING: [(&str, Tells); 9] = [
    ("search redis --json -n 0", Words),
    ("search --json -n 0 -- redis", Words),
    ("sessions --json", Words),
    ("recap --since 2026-05-01 --json", Words),
    ("why redis --json", Words),
    ("memories list --json", Words),
    ("stats --json", Count("/projects")),
    ("insights --json", Count("/sessions")),
    ("forget --dry-run --json", Count("/sessions")),
];

/// Where the project of these sessions is.
fn root(wants: &[&str]) -> &'static str {
    match wants.len() {
        1 => "notes",
        2 => "new",
        _ => "app",
    }
}

fn check(ran: &Ran, tells: &Tells, wants: &[&str], what: &str) {
    assert_eq!(ran.exit, Exit::Done, "{what}: {}", ran.shown());
    match tells {
        Words => assert_eq!(told(&ran.stdout), wants, "{what}: {}", ran.shown()),
        Count(at) => {
            let document = ran.json();
            let value = document.pointer(at).unwrap_or_else(|| panic!("{document}"));
            let count = match value.as_array() {
                Some(rows) => rows.iter().filter_map(|row| row["sessions"].as_u64()).sum(),
                None => value.as_u64().unwrap_or_default(),
            };
            assert_eq!(count, wants.len() as u64, "{what}: {}", ran.shown());
        }
    }
}

/// A command with the option before what follows `--`.
fn with(line: &str, option: &str) -> String {
    match line.split_once(" -- ") {
        Some((start, rest)) => format!("sessionmill {start} {option} -- {rest}"),
        None => format!("sessionmill {line} {option}"),
    }
}

#[test]
fn every_command_means_the_same_sessions_by_every_name_of_a_place() {
    let mut desk = places();
    for (place, wants) in PLACES {
        let path = desk.path(place);
        for (line, tells) in &READING {
            desk.cwd = None;
            let named = with(line, &format!("--project {}", path.display()));
            check(&desk.run(&named), tells, wants, &named);
            desk.cwd = Some(path.clone());
            let here = with(line, "--project .");
            check(
                &desk.run(&here),
                tells,
                wants,
                &format!("{here} in {place}"),
            );
        }
        desk.cwd = None;
        let field = format!(
            "sessionmill search --json -n 0 redis project:{}",
            path.display()
        );
        check(&desk.run(&field), &Words, wants, &field);
        let space = with(
            "sessions --json",
            &format!("--namespace {}", path.display()),
        );
        check(&desk.run(&space), &Words, wants, &space);
        let asked = format!(
            "sessionmill recall --project {} --json keep {} small",
            path.display(),
            wants[0]
        );
        let ran = desk.run(&asked);
        assert!(
            told(&ran.stdout).iter().all(|word| wants.contains(word)),
            "{asked}: {}",
            ran.shown()
        );
        assert!(ran.stdout.contains(wants[0]), "{asked}: {}", ran.shown());
    }
}

#[test]
fn a_name_will_do_and_what_it_leaves_open_is_asked() {
    let mut desk = places();
    fs::create_dir_all(desk.path("far/notes")).unwrap();
    for (name, wants) in [("app", &APP[..]), ("App", &APP), ("notes", &["plainword"])] {
        for (line, tells) in &READING {
            desk.cwd = Some(desk.path("far"));
            // a folder of that name here would be that folder
            if name == "notes" {
                desk.cwd = Some(desk.path("other"));
            }
            let named = with(line, &format!("--project {name}"));
            check(&desk.run(&named), tells, wants, &named);
        }
        let field = format!("sessionmill search --json -n 0 redis project:{name}");
        check(&desk.run(&field), &Words, wants, &field);
    }
    session(&desk, "far/notes", "farword", 9);
    desk.cwd = Some(desk.path("other"));
    done(desk.run("sessionmill run --all"));
    for (name, exit, says) in [
        ("notes", Exit::Usage, "2 projects are called notes"),
        ("ap", Exit::Failed, "did you mean `app`?"),
        (
            "/nowhere/ap",
            Exit::Failed,
            "nothing from /nowhere/ap is stored",
        ),
        (
            "../nowhere",
            Exit::Failed,
            "nothing from ~/nowhere is stored",
        ),
    ] {
        for (line, _) in READING
            .iter()
            .filter(|(line, _)| !line.starts_with("forget"))
        {
            let ran = desk.run(&with(line, &format!("--project {name}")));
            assert_eq!(ran.exit, exit, "{line} {name}: {}", ran.shown());
            assert!(
                ran.stderr.contains(says) || ran.stdout.contains(says),
                "{line} {name}: {}",
                ran.shown()
            );
        }
    }
    let far = desk.run("sessionmill sessions --json --project far/notes");
    assert!(
        far.stdout.contains("farword") && told(&far.stdout).is_empty(),
        "{}",
        far.shown()
    );
}

#[test]
fn isolation_and_trust_know_every_name_of_a_place() {
    let mut desk = places();
    let alone = json!({"session_tracking": {"enabled": true, "cross_project_search": false}});
    configure(&desk, alone);
    for (place, wants) in PLACES {
        desk.cwd = Some(desk.path(place));
        for (line, tells) in READING
            .iter()
            .filter(|(line, _)| !line.starts_with("forget"))
        {
            let ran = desk.run(&with(line, ""));
            check(&ran, tells, wants, &format!("{line} alone in {place}"));
        }
    }
    desk.cwd = Some(desk.path("githome"));
    let nowhere = desk.run("sessionmill sessions");
    assert!(
        nowhere.stderr.contains("name it with --project"),
        "{}",
        nowhere.shown()
    );
    for (place, wants) in PLACES {
        let trusted = [desk.path(place).display().to_string()];
        configure(
            &desk,
            json!({"session_tracking": {"enabled": true, "trusted_namespaces": trusted}}),
        );
        desk.cwd = None;
        let ran = desk.run("sessionmill sessions --json");
        check(&ran, &Words, wants, &format!("{place} is trusted"));
        desk.cwd = Some(desk.path(place));
        let ran = desk.run(&format!(
            "sessionmill recall --json keep {} small",
            wants[0]
        ));
        assert!(ran.stdout.contains(wants[0]), "{place}: {}", ran.shown());
    }
}

#[test]
fn what_changes_a_project_changes_it_under_every_name() {
    let mut desk = places();
    for (place, wants) in PLACES {
        let root = format!("~/{}", root(wants));
        let path = desk.path(place);
        for (cwd, typed) in [
            (None, path.display().to_string()),
            (Some(path.clone()), ".".into()),
        ] {
            desk.cwd = cwd;
            let project = |line: &str| -> Value {
                let ran = done(desk.run(&format!("sessionmill {line}")));
                ran.json()["project"].clone()
            };
            for line in ["disable --json --project", "enable --json --project"] {
                assert_eq!(project(&format!("{line} {typed}")), root, "{line} {place}");
            }
            // files are where they are
            if !path.exists() {
                continue;
            }
            let add = format!("track add --json {typed} --include '*.md'");
            assert_eq!(project(&add), root, "{place}");
            let ran = done(desk.run(&format!("sessionmill track status --json {typed}")));
            assert_eq!(ran.json()["projects"][0]["project"], root, "{place}");
            for verb in ["list", "remove"] {
                assert_eq!(
                    project(&format!("track {verb} --json {typed}")),
                    root,
                    "{verb} {place}"
                );
            }
        }
    }
    desk.cwd = None;
    let source = desk.path("link/src").display().to_string();
    done(desk.run(&format!("sessionmill forget --yes --project {source}")));
    let left = done(desk.run("sessionmill sessions --json"));
    assert_eq!(
        told(&left.stdout),
        ["newword", "oldword", "otherword", "plainword"]
    );
    // nor does a later look at the same logs bring it back
    done(desk.run("sessionmill run --all --rebuild"));
    let left = done(desk.run("sessionmill sessions --json"));
    assert_eq!(
        told(&left.stdout),
        ["newword", "oldword", "otherword", "plainword"]
    );
}

/// What a tool of a server that runs there answers.
pub(super) fn ask_from(
    desk: &Desk,
    dir: &Path,
    tool: &str,
    arguments: Value,
) -> Result<String, Error> {
    let now = desk.now;
    let context = ServerContext {
        env: Env {
            home: desk.path(""),
            cwd: dir.to_owned(),
            vars: desk.vars.clone(),
        },
        host: "desk".into(),
        clock: Box::new(move || now),
        zone: Zone::Fixed(FixedOffset::east_opt(0).unwrap()),
        warn: Box::new(|what| panic!("{what}")),
        is_beside: true,
    };
    call(&context, dir, tool, arguments)
}

/// Tools that read, with their arguments; `PLACE` is one of a project's names.
fn reading_tools() -> [(&'static str, Value); 8] {
    let spaces = json!(["PLACE"]);
    [
        (
            "search_memory_nodes",
            json!({"query": "redis", "max_nodes": 100, "project_namespaces": spaces}),
        ),
        (
            "search_memory_nodes",
            json!({"query": "redis project:PLACE", "max_nodes": 100}),
        ),
        ("search_sessions", json!({"project_namespaces": spaces})),
        (
            "search_sessions",
            json!({"query": "redis", "project_namespaces": spaces}),
        ),
        ("search_sessions", json!({"query": "redis project:PLACE"})),
        (
            "why",
            json!({"question": "why redis", "project_namespaces": spaces}),
        ),
        ("recent", json!({"project": "PLACE"})),
        (
            "recall",
            json!({"question": "keep WORD small", "project": "PLACE"}),
        ),
    ]
}

#[test]
fn every_tool_means_the_same_sessions_by_every_name_of_a_place() {
    let desk = places();
    let tracking = "configure_file_tracking";
    for (place, wants) in PLACES {
        let path = desk.path(place);
        let text = path.display().to_string();
        for (tool, arguments) in reading_tools() {
            let arguments = arguments
                .to_string()
                .replace("PLACE", &text)
                .replace("WORD", wants[0]);
            let arguments: Value = serde_json::from_str(&arguments).unwrap();
            let dir = match arguments.get("project") {
                Some(_) => path.clone(),
                None => desk.path("other"),
            };
            let answer = ask_from(&desk, &dir, tool, arguments.clone()).unwrap();
            let all = told(&answer);
            match tool {
                "recall" => assert!(
                    answer.contains(wants[0]) && all.iter().all(|w| wants.contains(w)),
                    "{place} {answer}"
                ),
                _ => assert_eq!(all, wants, "{tool} {arguments} {place}: {answer}"),
            }
        }
        let status = ask_from(&desk, &path, "session_tracking_status", json!({})).unwrap();
        let root = desk.path(root(wants));
        assert!(
            status.contains(&format!("current project: {}\n", root.display())),
            "{status}"
        );
        if !path.exists() {
            continue;
        }
        let patterns = json!([{"include": "*.md"}]);
        ask_from(
            &desk,
            &path,
            tracking,
            json!({"project_path": text, "patterns": patterns}),
        )
        .unwrap();
        for tool in [
            "list_tracked_files",
            "sync_tracked_files",
            "disable_realtime_sync",
            "enable_realtime_sync",
            "get_tracking_status",
            "pause_tracking",
            "resume_tracking",
        ] {
            ask_from(&desk, &path, tool, json!({"project_path": text})).unwrap();
        }
    }
    let config = fs::read_to_string(desk.path(".graphiti/tracking-config.json")).unwrap();
    let config: Value = serde_json::from_str(&config).unwrap();
    assert_eq!(config["projects"].as_object().unwrap().len(), 3, "{config}");
}

#[test]
fn tools_take_names_too() {
    let desk = places();
    let by_name = ask_from(
        &desk,
        &desk.path("other"),
        "search_sessions",
        json!({"project_namespaces": ["app"]}),
    )
    .unwrap();
    assert_eq!(told(&by_name), APP);
    let recent = ask_from(&desk, Path::new("app"), "recent", json!({})).unwrap();
    assert_eq!(told(&recent), APP);
    let wrong = ask_from(
        &desk,
        &desk.path("other"),
        "search_sessions",
        json!({"project_namespaces": ["appp"]}),
    );
    assert!(wrong.unwrap_err().hint.unwrap().contains("app"));
}

/// A title that was cut when it was stored ends at a word, and says so.
#[test]
fn tools_say_that_a_title_was_cut() {
    let desk = places();
    let long = "please find out why nobody can log in any more since the last release of the shop was rolled out";
    let log = said(
        "longword",
        &desk.path("app").display().to_string(),
        1,
        "user",
        long,
    );
    desk.write(".claude/projects/-w/longword.jsonl", &log);
    done(desk.run("sessionmill run"));
    let listed = ask_from(&desk, &desk.path("app"), "search_sessions", json!({})).unwrap();
    assert!(
        listed.contains("since the last release of the shop was…\n"),
        "{listed}"
    );
    let found = json!({"query": "nobody"});
    let found = ask_from(&desk, &desk.path("app"), "search_memory_nodes", found).unwrap();
    assert!(
        found.starts_with("find out") && found.contains("release of the shop was…\n"),
        "{found}"
    );
}

#[test]
fn isolated_tools_know_every_name_of_a_place() {
    let desk = places();
    configure(
        &desk,
        json!({"session_tracking": {"enabled": true, "cross_project_search": false}}),
    );
    for (place, wants) in PLACES {
        let path = desk.path(place);
        let ids = ask_from(&desk, &path, "search_sessions", json!({})).unwrap();
        assert_eq!(told(&ids), wants, "{place}");
        for (_, word) in SESSIONS {
            let got = ask_from(&desk, &path, "get_session", json!({"session": word}));
            assert_eq!(got.is_ok(), wants.contains(&word), "{place}: {word}");
        }
        for (tool, arguments) in [
            (
                "promote",
                json!({"kind": "lesson", "text": format!("from {place}")}),
            ),
            (
                "add_memory",
                json!({"name": "n", "episode_body": format!("again from {place}")}),
            ),
        ] {
            let kept = ask_from(&desk, &path, tool, arguments).unwrap();
            assert!(kept.starts_with("saved"), "{kept}");
        }
    }
    let mut groups = BTreeSet::new();
    let all = done(desk.run("sessionmill memories list --json --project app"));
    for memory in all.json()["memories"].as_array().unwrap() {
        groups.insert(memory["group"].to_string());
    }
    assert_eq!(groups.len(), 1, "{}", all.shown());
}
