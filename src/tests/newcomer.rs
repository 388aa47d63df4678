//! What somebody meets who has just begun: ids that can be typed, hints that help, failures that
//! programs can read.

use super::world::{Desk, Ran};
use crate::cli::Exit;
use crate::model::human::roughly;
use crate::model::layout::style::width;
use serde_json::Value;

const SHARED: &str = "6b1f0a34-5c0e";

fn ran(desk: &Desk, line: &str) -> Ran {
    let ran = desk.run(&format!("sessionmill {line}"));
    assert_eq!(ran.exit, Exit::Done, "{line}: {}", ran.shown());
    ran
}

fn stored() -> Desk {
    let desk = Desk::enabled();
    ran(&desk, "backfill");
    desk
}

fn set(desk: &Desk, settings: &Value) {
    desk.write(".graphiti/graphiti.config.json", &settings.to_string());
}

fn on() -> Value {
    serde_json::json!({"session_tracking": {"enabled": true}})
}

/// Words that follow `session `, and first words of lines that begin an entry.
fn ids(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let cited = words.windows(2).filter(|pair| pair[0].ends_with("session"));
    let cited = cited.map(|pair| pair[1]);
    let begin = text.lines().filter_map(|line| line.split(' ').next());
    let trim = |word: &str| {
        word.trim_matches(|c: char| !c.is_ascii_alphanumeric())
            .to_owned()
    };
    let is_id =
        |word: &String| word.len() >= 8 && word.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    cited.chain(begin).map(trim).filter(is_id).collect()
}

#[test]
fn every_id_that_is_shown_can_be_typed() {
    let desk = stored();
    for line in [
        "sessions -n 3",
        "search token",
        "why redis",
        "recall --project /home/ada/shop-api token expiry",
    ] {
        let ids = ids(&ran(&desk, line).stdout);
        assert!(!ids.is_empty(), "{line}");
        for id in ids {
            ran(&desk, &format!("show {id}"));
        }
    }
    let several = desk.run(&format!("sessionmill show {SHARED}"));
    assert_eq!(several.exit, Exit::Usage, "{}", several.shown());
    assert_eq!(
        several.stderr.matches(SHARED).count(),
        7,
        "the id and all six"
    );
    let recap = ran(&desk, "recap --since 2026-03-01").stdout;
    let cited = recap
        .split('[')
        .skip(1)
        .filter_map(|rest| rest.split([']', ':']).next());
    for id in cited.filter(|id| id.starts_with("6b1f")) {
        ran(&desk, &format!("show {id}"));
    }
}

#[test]
fn what_is_forgotten_by_time_is_in_no_list() {
    let desk = stored();
    ran(&desk, "forget --before 2026-03-20 --yes");
    let listed = ran(&desk, "sessions");
    assert_eq!(listed.stdout, "", "{}", listed.shown());
    let shown = desk.run("sessionmill show 7b1e2c3d");
    assert_eq!(shown.exit, Exit::Failed);
    assert!(shown.stderr.contains("was forgotten"), "{}", shown.shown());
}

#[test]
fn nothing_to_forget_is_said_before_anybody_is_asked() {
    let desk = stored();
    for line in [
        "--match zzzz",
        "--match zzzz --yes",
        "--project /nope",
        "--match zzzz --dry-run",
    ] {
        let ran = desk.run(&format!("sessionmill forget {line}"));
        assert_eq!(ran.exit, Exit::Failed, "{line}: {}", ran.shown());
        assert!(
            ran.stderr.contains("nothing stored matches"),
            "{line}: {}",
            ran.shown()
        );
    }
}

#[test]
fn a_run_says_once_what_its_window_leaves_out_and_status_always() {
    let mut desk = Desk::enabled();
    desk.now = crate::model::time::Time(4_102_444_800_000);
    for is_told in [true, false] {
        let told = ran(&desk, "run").stdout;
        let says = told.contains("older than 7 days were never read");
        assert_eq!(says, is_told, "{told}");
        let status = ran(&desk, "status").stdout;
        assert!(status.contains("older than the window: "), "{status}");
    }
}

#[test]
fn a_sink_that_is_switched_off_is_named() {
    let desk = stored();
    let mut settings = on();
    settings["sinks"] =
        serde_json::json!({"ex": {"kind": "jsonl", "path": "~/ex", "enabled": false}});
    set(&desk, &settings);
    for line in ["status", "run ex", "check"] {
        let ran = desk.run(&format!("sessionmill deliver {line}"));
        assert_eq!(ran.exit, Exit::Usage);
        assert!(
            ran.stderr.contains("hint: sinks.ex.enabled: true"),
            "{}",
            ran.shown()
        );
    }
}

#[test]
fn what_waits_for_a_sink_is_counted() {
    let desk = stored();
    let mut settings = on();
    settings["sinks"] = serde_json::json!({"ex": {"kind": "jsonl", "path": "~/ex"}});
    set(&desk, &settings);
    ran(&desk, "deliver run ex --history --max 2");
    let sink = &ran(&desk, "deliver status --json").json()["sinks"][0];
    let (there, waiting) = (sink["states"]["seen"].as_u64(), sink["waiting"].as_u64());
    assert_eq!(there, Some(2), "{sink}");
    assert!(waiting > Some(0), "{sink}");
    let told = ran(&desk, "deliver status").stdout;
    assert!(told.contains("waiting"), "{told}");
    assert!(
        sink["last_seen"]
            .as_str()
            .is_some_and(|at| at.ends_with(".000Z")),
        "{sink}"
    );
}

#[test]
fn one_broken_file_keeps_our_hooks_in_no_other() {
    let desk = Desk::enabled();
    ran(&desk, "hooks install --agent claude");
    desk.write(".codex/hooks.json", "{");
    let removed = desk.run("sessionmill hooks remove");
    assert_eq!(removed.exit, Exit::Usage, "{}", removed.shown());
    assert!(
        removed.stdout.contains(".claude/settings.json"),
        "{}",
        removed.shown()
    );
    assert!(removed.stderr.contains("hooks.json"), "{}", removed.shown());
    let status = desk.run("sessionmill hooks status").stdout;
    assert!(status.contains("claude    no hooks"), "{status}");
    std::fs::remove_file(desk.path(".codex/hooks.json")).unwrap();
    let again = ran(&desk, "hooks remove").stdout;
    assert_eq!(again, "hooks remove: nothing to do\n");
}

#[test]
fn yaml_in_json_and_a_file_that_nobody_reads_are_named() {
    let desk = Desk::new();
    desk.write(
        ".graphiti/graphiti.config.json",
        "sinks:\n  a: {kind: jsonl}\n",
    );
    let ran = desk.run("sessionmill config validate");
    assert!(ran.stderr.contains("that is YAML"), "{}", ran.shown());
    desk.write(".graphiti/graphiti.config.json", "{}");
    desk.write(".graphiti/graphiti.config.yaml", "sinks: {}\n");
    let ran = desk.run("sessionmill config validate");
    assert!(
        ran.stderr.contains("graphiti.config.yaml is not read"),
        "{}",
        ran.shown()
    );
    desk.write(".graphiti/graphiti.config.json", "{\"a\": ");
    let ran = desk.run("sessionmill config validate");
    assert!(ran.stderr.contains("ends too early"), "{}", ran.shown());
}

#[test]
fn the_setting_behind_a_refusal_is_named() {
    let desk = stored();
    for (graphiti, wants) in [
        (
            serde_json::json!({"unknown_projects": "deny"}),
            "unknown_projects",
        ),
        (
            serde_json::json!({"recall": {"scopes": []}}),
            "graphiti.recall.scopes is empty",
        ),
    ] {
        let mut settings = on();
        settings["graphiti"] = graphiti;
        set(&desk, &settings);
        let told = desk.run("sessionmill recall token expiry");
        assert!(told.stderr.contains(wants), "{}", told.shown());
        let status = ran(&desk, "status").stdout;
        assert!(status.contains(wants), "{status}");
    }
}

#[test]
fn what_a_command_would_refuse_validation_refuses() {
    let desk = Desk::new();
    for settings in [
        serde_json::json!({"schedule": {"interval": "7min"}}),
        serde_json::json!({"session_tracking": {"summarization": {"template": "nope.md"}}}),
    ] {
        set(&desk, &settings);
        let ran = desk.run("sessionmill config validate");
        assert_eq!(ran.exit, Exit::Usage, "{settings}: {}", ran.shown());
    }
    set(&desk, &serde_json::json!({"schedule": {"interval": "6h"}}));
    ran(&desk, "config validate");
}

#[test]
fn quiet_confirms_nothing() {
    let desk = Desk::enabled();
    for line in [
        "hooks install --agent codex",
        "hooks remove",
        "config validate",
        "promote --kind lesson --text owls",
        "disable",
        "disable --project /x",
    ] {
        assert_eq!(ran(&desk, &format!("{line} --quiet")).stdout, "", "{line}");
    }
}

#[test]
fn colours_are_for_those_who_want_them() {
    let mut desk = Desk::new();
    (desk.columns, desk.pipes_errors) = (Some(80), false);
    for line in ["serch", "--help", "search --nope"] {
        let coloured = desk.run(&format!("sessionmill {line}")).shown();
        assert!(coloured.contains('\u{1b}'), "{line}: {coloured}");
        let plain = desk.run(&format!("sessionmill {line} --no-color")).shown();
        assert!(!plain.contains('\u{1b}'), "{line}: {plain}");
    }
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        desk.vars.insert(name.into(), value.into());
        let plain = desk.run("sessionmill serch").shown();
        assert!(!plain.contains('\u{1b}'), "{name}: {plain}");
        desk.vars.remove(name);
    }
}

#[test]
fn lists_fit_the_terminal_and_are_a_row_a_line_in_a_pipe() {
    let mut desk = stored();
    let piped = ran(&desk, "sessions --color never").stdout;
    let widest = |text: &str| text.lines().map(width).max();
    assert!(widest(&piped) > Some(80), "{piped}");
    assert!(piped.contains("parseConfig…"), "{piped}");
    let json = ran(&desk, "sessions --json").json();
    let sessions = json["sessions"].as_array().map(Vec::len);
    assert_eq!(Some(piped.lines().count()), sessions);
    for columns in [40, 80, 100, 140, 200] {
        desk.columns = Some(columns);
        for line in [
            "sessions",
            "search token expiry",
            "search --all-parts token",
            "stats",
            "stats --activity",
            "why did we choose redis",
            "recap --since 2026-03-01",
            "insights",
            "show session-042",
        ] {
            let shown = ran(&desk, &format!("{line} --color never")).stdout;
            let most = columns.clamp(64, 140);
            assert!(widest(&shown) <= Some(most), "{columns}: {line}\n{shown}");
        }
        if columns >= 80 {
            let shown = ran(&desk, "config show --color never").stdout;
            assert!(widest(&shown) <= Some(columns.min(140)), "{shown}");
        }
    }
}

#[test]
fn a_failure_is_one_document() {
    let desk = stored();
    for (line, command, kind) in [
        ("show nope", "show", "failed"),
        ("deliver status", "deliver status", "usage"),
        ("enable --confirm ok", "enable", "usage"),
        ("search --nope", "search", "usage"),
        ("serch", "", "usage"),
    ] {
        let failed = desk.run(&format!("sessionmill {line} --json"));
        assert_ne!(failed.exit, Exit::Done);
        let document = failed.json();
        assert_eq!(document["command"], command, "{line}");
        assert_eq!(document["error"]["kind"], kind, "{line}");
        assert!(document["error"]["message"].is_string(), "{document}");
    }
    assert_eq!(ran(&desk, "backfill --json").json()["command"], "backfill");
    assert_eq!(
        ran(&desk, "track status --json").json()["command"],
        "track status"
    );
}

#[test]
fn words_that_people_try_are_understood() {
    let desk = stored();
    assert!(ran(&desk, "version").stdout.starts_with("sessionmill "));
    assert!(ran(&desk, "help --json").stdout.contains("Usage:"));
    assert!(
        ran(&desk, "completion bash")
            .stdout
            .contains("_sessionmill()")
    );
    let minus = desk.run("sessionmill search token -expiry");
    assert!(
        minus.stderr.contains("search token -- -expiry"),
        "{}",
        minus.shown()
    );
    let limit = desk.run("sessionmill search -n -1 token");
    assert!(
        limit.stderr.contains("invalid value '-1'"),
        "{}",
        limit.shown()
    );
    let jobs = desk.run("sessionmill status --jobs 0");
    assert!(jobs.stderr.contains("from 1 to"), "{}", jobs.shown());
    let all = ran(&desk, "search token -n 0").stdout;
    assert!(all.contains("token"), "{all}");
    ran(&desk, "why redis -n 0");
    desk.write(".graphiti/pipelines/weekly.yaml", "steps: [ingest]\n");
    let unknown = desk.run("sessionmill run nope");
    assert!(unknown.stderr.contains("weekly"), "{}", unknown.shown());
    let eval = desk.run("sessionmill eval --truth /nope");
    assert_eq!(eval.exit, Exit::Usage, "{}", eval.shown());
}

#[test]
fn a_home_that_is_not_utf8_is_called_so() {
    let mut desk = Desk::new();
    desk.vars.remove("HOME");
    desk.home_is_odd = true;
    let ran = desk.run("sessionmill status");
    assert!(ran.stderr.contains("not UTF-8"), "{}", ran.shown());
}

#[test]
fn a_timer_that_nothing_can_keep_leaves_nothing_behind() {
    let desk = Desk::new();
    desk.program("systemctl", "echo 'Failed to connect to bus' >&2; exit 1");
    let ran = desk.run("sessionmill schedule install --systemd");
    assert_eq!(ran.exit, Exit::Failed, "{}", ran.shown());
    assert!(!desk.path(".config").exists());
    let dry = desk.run("sessionmill schedule install --cron --dry-run");
    assert!(dry.stderr.contains("neither a systemd"), "{}", dry.shown());
}

#[test]
fn the_pipeline_of_the_docs_does_what_they_say() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/pipelines.md");
    let docs = std::fs::read_to_string(docs).unwrap();
    let pipeline = docs.split("```yaml\n").nth(1).unwrap();
    let pipeline = pipeline.split("```").next().unwrap();
    let desk = Desk::enabled();
    desk.write(".graphiti/pipelines/weekly.yaml", pipeline);
    let check = desk.run("sessionmill run weekly --check");
    assert_eq!(check.exit, Exit::Usage, "{}", check.shown());
    assert!(
        check.stderr.contains("there is no corpus at"),
        "{}",
        check.shown()
    );
    let tests = pipeline.split("check:").next().unwrap().to_owned()
        + &pipeline[pipeline.find("tests:").unwrap()..];
    desk.write(".graphiti/pipelines/weekly.yaml", &tests);
    let check = ran(&desk, "run weekly --check").stdout;
    assert!(check.contains("1 test, 0 failures"), "{check}");
}

#[test]
fn tokens_are_counted_alike_for_people_and_programs() {
    let desk = stored();
    let stages = &ran(&desk, "stats --json").json()["stages"];
    let tokens = stages["body_tokens"].as_u64().unwrap();
    let told = ran(&desk, "stats").stdout;
    let told_so = format!("≈ {} tokens", roughly(tokens));
    assert!(told.contains(&told_so), "{told_so}: {told}");
    assert!(told.contains("tokens used by agents"), "{told}");
    let recap = ran(&desk, "recap");
    assert!(recap.stdout.contains("2026-03-14"), "{}", recap.shown());
    let since = ran(&desk, "recap --since yesterday");
    assert!(
        since.stderr.contains("recap --since 2026-03-14"),
        "{}",
        since.shown()
    );
}

#[test]
fn hints_that_would_not_help_are_not_given() {
    let desk = stored();
    set(
        &desk,
        &serde_json::json!({"session_tracking": {"enabled": true, "cross_project_search": false}}),
    );
    for line in ["insights", "recap"] {
        let told = desk.run(&format!("sessionmill {line}")).stderr;
        assert!(
            !told.contains("backfill") && !told.contains("--since"),
            "{line}: {told}"
        );
    }
}

/// A line that isn't understood is answered like any other failure: what is wrong, and what helps.
#[test]
fn all_failures_look_alike() {
    let orders = "newest, oldest, longest, project, strength, building, fixing, configuring, \
         exploring, refactoring, reviewing, testing or documenting";
    let order = "error: invalid value 'purple' for '--sort <ORDER>'";
    let sort = format!("{order}: write {orders}\nhint: sessionmill sessions --help\n");
    let desk = stored();
    for (line, wants) in [
        (
            "help serch",
            "error: unrecognized subcommand 'serch'\nhint: did you mean `search`?\n",
        ),
        (
            "help deliver statu",
            "error: unrecognized subcommand 'statu'\nhint: did you mean `status`?\n",
        ),
        (
            "search --sinc 3d",
            "error: unexpected argument '--sinc' found\nhint: did you mean `--since`?\n",
        ),
        ("sessions --sort purple", &sort),
        ("--now 2026-06-01 sessions --sort purple", &sort),
        (
            "sessions --color purple",
            "error: invalid value 'purple' for '--color <WHEN>': write auto, always or never\n\
             hint: sessionmill sessions --help\n",
        ),
        (
            "deliver dead drop nope",
            "error: invalid value 'nope' for '[EPISODE]...': not an episode's id; `deliver dead list` prints \
             them\nhint: sessionmill deliver dead drop --help\n",
        ),
        (
            "search --nope",
            "error: unexpected argument '--nope' found\nhint: sessionmill search --help\n",
        ),
        (
            "import laptop.db",
            "error: unexpected argument 'laptop.db' found\n\
             hint: sessionmill import --from laptop.db\n",
        ),
        (
            "promote 'we use bun'",
            "error: unexpected argument 'we use bun' found\nhint: sessionmill promote --help\n",
        ),
        (
            "show",
            "error: SESSION or EPISODE is missing\nhint: sessionmill show --help\n",
        ),
        (
            "show nope",
            "error: no session or episode begins with nope\nhint: sessionmill sessions\n",
        ),
    ] {
        let ran = desk.run(&format!("sessionmill {line}"));
        assert_eq!((ran.stderr.as_str(), ran.stdout.as_str()), (wants, ""));
    }
    let bare = desk.run("sessionmill deliver");
    assert_eq!(bare.exit, Exit::Usage);
    assert!(
        bare.stderr.contains("Usage: sessionmill deliver"),
        "{}",
        bare.shown()
    );
}

#[test]
fn what_a_line_lacks_is_named_and_nothing_far_is_suggested() {
    let desk = Desk::new();
    for (line, wants) in [
        (
            "memories edit",
            "error: MEMORY and one of --title, --text or --stdin are missing\n\
             hint: sessionmill memories edit --help\n",
        ),
        (
            "promote",
            "error: --kind and either --text or --stdin are missing\nhint: sessionmill promote --help\n",
        ),
        (
            "deliver dead drop",
            "error: EPISODE is missing\nhint: sessionmill deliver dead drop --help\n",
        ),
        (
            "graph",
            "error: unrecognized subcommand 'graph'\nhint: sessionmill --help\n",
        ),
    ] {
        assert_eq!(desk.run(&format!("sessionmill {line}")).stderr, wants);
    }
}

#[test]
fn what_is_refused_makes_no_store() {
    let desk = Desk::new();
    let ran = desk.run("sessionmill import --from nowhere.db");
    assert_eq!(ran.exit, Exit::Usage, "{}", ran.shown());
    assert!(!desk.path(".graphiti").exists());
}

#[test]
fn memories_are_removed_by_any_word_for_it() {
    let desk = stored();
    for word in ["remove", "undo", "forget"] {
        let kept = ran(&desk, "promote --kind lesson --text owls --json").json();
        let id = kept["memory"].as_str().unwrap();
        let gone = ran(&desk, &format!("memories {word} {id}")).stdout;
        assert_eq!(gone, format!("memory {id} was removed\n"));
    }
}

#[test]
fn projects_have_names_and_no_hash() {
    let desk = stored();
    for line in [
        "stats",
        "stats --activity",
        "insights --by-project",
        "sessions",
    ] {
        let told = ran(&desk, line).stdout;
        assert!(
            told.contains("a1b2c3d4") && !told.contains("c81b3c93"),
            "{told}"
        );
    }
}
