//! How commands look, as snapshots over the fixture sessions: a fixed clock, a throw-away home. A
//! change that is meant is accepted with `INSTA_UPDATE=always cargo test looks`.

use super::forget;
use super::world::Desk;
use crate::model::layout::style::width;
use crate::model::time::Time;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn page(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("docs")
        .join(name)
}

#[test]
fn help_looks_like_this() {
    insta::assert_snapshot!("help", Desk::new().run("sessionmill --help").shown());
}

#[test]
fn commands_look_like_this() {
    let desk = Desk::enabled();
    for (name, line) in [
        ("plan", "plan"),
        ("run", "run"),
        ("run-again", "run"),
        ("search", "search token expiry"),
        ("search-json", "search redis --limit 1 --json"),
        ("sessions", "sessions"),
        ("show", "show 6b1f0a34-5c0e-4b57-9d3e-2f9a51c7e001"),
        ("recall", "recall --project /home/ada/shop-api token expiry"),
        ("recap", "recap --since 2026-03-01"),
        ("why", "why did we choose redis"),
        ("insights", "insights"),
        ("status", "status"),
        ("ledger", "status --ledger session-042"),
        ("doctor", "doctor"),
        ("stats", "stats"),
        ("stats-activity", "stats --activity"),
        ("stats-cost", "stats --cost"),
        ("check", "run nightly --check"),
        ("schedule", "schedule install --cron --dry-run"),
    ] {
        let shown = desk.run(&format!("sessionmill {line}")).shown();
        // The store's size depends on how long this machine's temporary paths are.
        insta::with_settings!({filters => vec![(r"sessionmill\.db, \d+ kB", "sessionmill.db, SIZE")]}, {
            insta::assert_snapshot!(name, format!("$ sessionmill {line}\n{shown}"));
        });
    }
}

/// On a terminal that has colours: `^[` stands for the escape character.
#[test]
fn lists_look_like_this_on_terminals() {
    let mut desk = Desk::enabled();
    desk.run("sessionmill backfill");
    for columns in [80, 140] {
        desk.columns = Some(columns);
        let mut text = String::new();
        for line in [
            "sessions -n 3",
            "sessions -n 1 -v",
            "search token expiry -n 2",
            "show 6b1f0a34-5c0e-4b57-9d3e-2f9a51c7e001",
            "why did we choose redis",
            "recap --since 2026-03-10",
            "stats -n 2",
            "stats --activity -n 2",
            "insights",
            "doctor",
            "plan",
            "memories list",
            "track status",
        ] {
            let shown = desk.run(&format!("sessionmill {line}")).stdout;
            let shown = shown.replace('\u{1b}', "^[");
            text += &format!("$ sessionmill {line}\n{shown}\n");
        }
        insta::assert_snapshot!(format!("terminal-{columns}"), text);
    }
}

/// What commands print on a terminal, and say beside it, ends between words and within the terminal. Commands
/// to copy are left to it, and so are documents for programs.
#[test]
fn nothing_is_wider_than_the_terminal() {
    let mut desk = Desk::enabled();
    desk.run("sessionmill backfill");
    desk.pipes_errors = false;
    for columns in [80, 140] {
        desk.columns = Some(columns);
        for line in [
            "sessions",
            "sessions -v",
            "search token expiry",
            "search",
            "show 6b1f0a34-5c0e-4b57-9d3e-2f9a51c7e001 --full",
            "why did we choose redis",
            "recall --project /home/ada/shop-api token expiry",
            "recap --since 2026-03-10",
            "stats",
            "insights",
            "status",
            "plan",
            "config show",
            "memories list",
            "config set foo bar",
            "deliver status",
            "track status",
            "track sync",
            "track pause",
            "hooks status",
            "mcp status",
            "schedule status",
            "consent list",
            "sessions --since 3blah",
            "forget --before 2020-01-01 --dry-run",
            "disable",
            "backfill",
            "enable --confirm nonsense",
        ] {
            let shown = desk.run(&format!("sessionmill {line}")).shown();
            let is_copied = |line: &&str| {
                line.trim_start()
                    .trim_start_matches("hint: ")
                    .starts_with("sessionmill ")
            };
            for row in shown.lines().filter(|row| !is_copied(row)) {
                assert!(width(&bare(row)) <= columns, "{line}, {columns}: {row}");
            }
        }
        desk.run("sessionmill enable --confirm 'I understand this tracks conversation logs'");
    }
}

/// A session whose log tells no time stands behind all others, whichever way time runs.
#[test]
fn sessions_without_times_stand_last() {
    let desk = forget::desk();
    for (name, nth, is_timed) in [("early", 1, true), ("late", 11, true), ("never", 21, false)] {
        let log = forget::said(name, "/w/shop", nth, "user", "please paint it");
        let log = match is_timed {
            true => log,
            false => log.replace("\"timestamp\"", "\"moment\""),
        };
        desk.write(&format!(".claude/projects/-w/{name}.jsonl"), &log);
    }
    desk.run("sessionmill backfill");
    for (order, wants) in [
        ("", ["late", "early", "never"]),
        (" --reverse", ["early", "late", "never"]),
        (" --sort oldest", ["early", "late", "never"]),
    ] {
        let listed = desk
            .run(&format!("sessionmill sessions{order} --json"))
            .json();
        let ids = listed["sessions"].as_array().unwrap().iter();
        let ids: Vec<&str> = ids.map(|row| row["id"].as_str().unwrap()).collect();
        assert_eq!(ids, wants, "{order}");
    }
}

/// A line without what colours it.
fn bare(line: &str) -> String {
    let escape = regex::Regex::new("\u{1b}(\\[[0-9;]*m|\\]8;[^\u{1b}]*\u{1b}\\\\)").unwrap();
    escape.replace_all(line, "").into_owned()
}

/// English has no blank before the sign.
#[test]
fn shares_are_written_one_way() {
    let snapshots = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/snapshots");
    let readme = page("../README.md");
    let pages = [page(""), snapshots].map(|folder| fs::read_dir(folder).unwrap());
    let pages = pages
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path());
    let apart = regex::Regex::new("[0-9] %").unwrap();
    for file in pages.chain([readme]).filter(|file| file.is_file()) {
        let text = fs::read_to_string(&file).unwrap();
        let found = text.lines().find(|line| apart.is_match(line));
        assert_eq!(found, None, "{}", file.display());
    }
}

#[test]
fn the_manual_is_the_help() {
    let file = page("commands.md");
    let wants = format!("{MANUAL_HEAD}{}\n", crate::cli::manual().trim_end());
    if std::env::var("INSTA_UPDATE").is_ok_and(|v| v == "always") {
        fs::write(&file, &wants).unwrap();
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        found == wants,
        "docs/commands.md is not the help: INSTA_UPDATE=always cargo test looks"
    );
}

const MANUAL_HEAD: &str =
    "<!-- Written by the test the_manual_is_the_help; edit the help in src/cli instead. -->\n\n";

/// Fields of `run` that `plan` has not.
const ONLY_RUNS_HAVE: [&str; 16] = [
    "projects_moved",
    "run",
    "memories_kept",
    "directives_refused",
    "git_operations",
    "git_trees_opened",
    "git_problems",
    "files",
    "tools_asked",
    "tools_learned",
    "llm_tokens",
    "texts_embedded",
    "texts_given_up",
    "summaries_written",
    "summaries_told",
    "messages_condensed",
];

#[test]
fn json_documents_have_the_fields_that_the_docs_name() {
    let docs = fs::read_to_string(page("json.md")).unwrap();
    let desk = Desk::enabled();
    for (row, line) in [
        ("`plan`", "plan --all"),
        ("`run`", "run --all"),
        ("`search`", "search token"),
        ("`sessions`", "sessions"),
        ("`recall`", "recall token expiry"),
        ("`recap`", "recap"),
        ("`why`", "why redis"),
        ("`insights`", "insights"),
        ("`status`", "status"),
        (
            "`status --ledger FILE:LINE`",
            "status --ledger session-042:1",
        ),
        ("`status --drift`", "status --drift"),
        ("`doctor`", "doctor"),
        ("`stats`", "stats"),
        ("`stats --activity`", "stats --activity"),
        ("`config show`", "config show"),
        ("`uninstall`", "uninstall"),
        ("`init`", "init --yes"),
        ("`config get`", "config get schedule.interval"),
        (
            "`config set`, `config unset`",
            "config unset schedule.interval",
        ),
        ("`config validate`", "config validate"),
        ("`config path`", "config path"),
        ("`schedule show`", "schedule show"),
        ("`schedule remove`", "schedule remove"),
        ("`hooks install`", "hooks install --agent codex"),
        ("`hooks status`", "hooks status"),
        ("`track status`", "track status"),
        ("`track sync`", "track sync"),
        ("`track pause`", "track pause"),
        ("`export`", "export --parquet tables"),
        ("`import`", "import --from .graphiti/sessionmill.db"),
        ("`store dump`", "store dump"),
        ("`store compact`", "store compact"),
        ("`run --check`", "run nightly --check"),
        ("`forget`", "forget session-042"),
        ("`consent list`", "consent list"),
        ("`enable`", "disable"),
    ] {
        let json = desk.run(&format!("sessionmill {line} --json")).json();
        let found: BTreeSet<&str> = json
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        let mut wants = documented(&docs, row);
        if row == "`plan`" {
            wants.extend(documented(&docs, "`run`"));
            for gone in ONLY_RUNS_HAVE {
                wants.remove(gone);
            }
        }
        wants.extend(["schema_version", "command"]);
        assert_eq!(found, wants, "{line}");
    }
}

#[test]
fn json_documents_have_times_that_people_can_read() {
    let desk = Desk::enabled();
    desk.run("sessionmill backfill");
    for (line, time) in [
        (
            "recap --since 2025-01-01",
            "/recap/projects/0/worked_on/0/ended",
        ),
        ("consent list", "/consents/0/at"),
        ("sessions", "/sessions/0/ended"),
        ("status", "/last_run"),
    ] {
        let json = desk.run(&format!("sessionmill {line} --json")).json();
        let found = json.pointer(time).and_then(|time| time.as_str());
        let is_rfc3339 = |time: &str| Time::parse(time).is_some() && time.ends_with('Z');
        assert!(found.is_some_and(is_rfc3339), "{line}: {json}");
    }
}

/// The fields in a command's table, without those inside of others.
fn documented<'a>(docs: &'a str, command: &str) -> BTreeSet<&'a str> {
    let start = format!("### {command}");
    let mut lines = docs.lines().skip_while(|line| !line.starts_with(&start));
    assert!(lines.next().is_some(), "{command}");
    let rows = lines.take_while(|line| !line.starts_with('#'));
    let names = rows.filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    names.filter(|name| !name.contains('.')).collect()
}
