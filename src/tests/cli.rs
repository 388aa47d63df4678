//! Whole commands as people see them.

use super::world::Desk;
use crate::cli::Exit;
use std::fs;
use std::path::Path;

#[test]
fn a_wrong_word_is_answered_with_the_right_one() {
    let ran = Desk::new().run("sessionmill serach jwt");
    assert_eq!(ran.exit, Exit::Usage);
    let wants = "error: unrecognized subcommand 'serach'\nhint: did you mean `search`?\n";
    assert_eq!((ran.stderr.as_str(), ran.stdout.as_str()), (wants, ""));
}

#[test]
fn without_a_store_the_next_command_is_named() {
    let ran = Desk::new().run("sessionmill search jwt");
    assert_eq!(
        ran.shown(),
        "exit 1\n--- stderr\nerror: nothing is stored yet: there is no ~/.graphiti/sessionmill.db\nhint: sessionmill init\n"
    );
}

#[test]
fn without_a_home_nothing_is_guessed() {
    let mut desk = Desk::new();
    desk.vars.remove("HOME");
    assert_eq!(desk.run("sessionmill sessions").exit, Exit::Usage);
}

#[test]
fn consent_is_word_for_word_and_recorded_before_the_switch() {
    let mut desk = Desk::new();
    let refused = desk.run("sessionmill enable --confirm ok");
    assert_eq!(refused.exit, Exit::Usage, "{}", refused.shown());
    assert!(!desk.path(".graphiti/graphiti.config.json").exists());
    desk.answers = Some("yes\n".into());
    let ran = desk.run("sessionmill enable");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    assert_eq!(
        ran.stdout,
        "tracking is on (~/.graphiti/graphiti.config.json)\n"
    );
    let dump = desk.run("sessionmill store dump").stdout;
    assert!(
        dump.contains("I understand this tracks conversation logs"),
        "{dump}"
    );
    let off = desk.run("sessionmill disable");
    assert_eq!(
        off.stdout,
        "tracking is off (~/.graphiti/graphiti.config.json)\n"
    );
}

#[test]
fn isolation_without_a_project_finds_nothing_and_says_why() {
    let desk = Desk::with_fixtures();
    let settings = r#"{"session_tracking": {"enabled": true, "cross_project_search": false}}"#;
    desk.write(".graphiti/graphiti.config.json", settings);
    desk.run("sessionmill backfill");
    let dump = desk.run("sessionmill store dump").stdout;
    assert!(
        dump.contains("by configuration: session_tracking.enabled is true"),
        "{dump}"
    );
    let ran = desk.run("sessionmill search jwt");
    assert_eq!(ran.exit, Exit::Failed);
    assert!(
        ran.stderr.contains("the current project is not known"),
        "{}",
        ran.shown()
    );
}

#[test]
fn every_setting_is_shown_with_its_origin() {
    let desk = Desk::new();
    desk.write(
        ".graphiti/graphiti.config.json",
        "{\n\"session_tracking\": {\n\"keep_length_days\": 30}}",
    );
    let shown = desk.run("sessionmill config show").stdout;
    let line = |key: &str| {
        shown
            .lines()
            .find(|l| l.starts_with(key))
            .unwrap_or_default()
            .to_owned()
    };
    let days = line("session_tracking.keep_length_days");
    assert!(
        days.contains(" 30 ") && days.ends_with("graphiti.config.json:3"),
        "{days}"
    );
    assert!(line("chunk.max_tokens").ends_with("default"));
    let json = desk.run("sessionmill config show --json").json();
    assert_eq!(json["schema_version"], 1);
}

#[test]
fn a_wrong_setting_stops_with_file_line_and_the_nearest_key() {
    let desk = Desk::new();
    desk.write(
        ".graphiti/graphiti.config.json",
        "{\n\"session_tracking\": {\n\"keep_lenght_days\": 30}}",
    );
    let ran = desk.run("sessionmill config validate");
    assert_eq!(ran.exit, Exit::Usage);
    assert!(
        ran.stderr.contains("graphiti.config.json:3"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("keep_length_days"), "{}", ran.stderr);
}

#[test]
fn nothing_is_read_before_somebody_says_yes() {
    let desk = Desk::with_fixtures();
    let ran = desk.run("sessionmill run");
    assert_eq!(ran.exit, Exit::Done);
    assert!(
        ran.stderr.starts_with("tracking is off; nothing was read"),
        "{}",
        ran.shown()
    );
    assert!(!desk.path(".graphiti").exists());
    let planned = desk.run("sessionmill plan").stdout;
    assert!(planned.starts_with("nothing would be read"), "{planned}");
}

#[test]
fn a_machine_without_logs_is_told_so() {
    let desk = Desk::new();
    let settings = r#"{"session_tracking": {"enabled": true}}"#;
    desk.write(".graphiti/graphiti.config.json", settings);
    let ran = desk.run("sessionmill run");
    assert_eq!(ran.exit, Exit::Done);
    assert!(ran.stdout.starts_with("no logs found"), "{}", ran.shown());
}

#[test]
fn a_second_run_does_nothing() {
    let desk = Desk::enabled();
    let first = desk.run("sessionmill backfill");
    assert_eq!(first.exit, Exit::Done, "{}", first.shown());
    let store = desk.path(".graphiti/sessionmill.db");
    let before = fs::read(&store).unwrap();
    let again = desk.run("sessionmill backfill --json").json();
    assert_eq!(again["files_read"], 0);
    assert_eq!(again["bytes_read"], 0);
    assert_eq!(again["files_unchanged"], again["files_found"]);
    assert_eq!(before, fs::read(&store).unwrap());
}

/// Neither threads nor their timing are in the store.
#[test]
fn one_worker_and_many_give_the_same_store() {
    let desk = Desk::enabled();
    let store_of = |jobs: u16| {
        for name in ["sessionmill.db", "sessionmill.db-wal", "sessionmill.db-shm"] {
            let _ = fs::remove_file(desk.path(".graphiti").join(name));
        }
        let ran = desk.run(&format!("sessionmill backfill --jobs {jobs}"));
        assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
        desk.run("sessionmill store dump").stdout
    };
    let one = store_of(1);
    assert!(one.lines().count() > 100, "{one}");
    assert_eq!(one, store_of(4));
}

#[test]
fn a_plan_says_what_the_run_then_does_and_writes_nothing() {
    let desk = Desk::enabled();
    let files = || walk(&desk.path(""));
    let before = files();
    let plan = desk.run("sessionmill plan --all --json").json();
    assert_eq!(before, files());
    let run = desk.run("sessionmill run --all --json").json();
    for key in [
        "files_read",
        "episodes_sealed",
        "episodes_open",
        "text_bytes",
        "ledger",
    ] {
        assert_eq!(plan[key], run[key], "{key}");
    }
}

/// Names and sizes of all files but the marks that SQLite's readers leave beside a store.
fn walk(dir: &Path) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(walk(&path)),
            false => found.push((path.display().to_string(), path.metadata().unwrap().len())),
        }
    }
    found.retain(|(name, _)| !name.ends_with("-shm") && !name.ends_with("-wal"));
    found.sort();
    found
}

#[test]
fn the_first_run_says_what_the_window_left_out_and_how_to_get_it() {
    let mut desk = Desk::enabled();
    assert!(
        desk.run("sessionmill status")
            .stdout
            .contains("last run: never")
    );
    desk.now = crate::model::time::Time(4_102_444_800_000);
    let first = desk.run("sessionmill run");
    assert!(
        first.stdout.contains("older than 7 days were never read"),
        "{}",
        first.shown()
    );
    assert!(
        first.stderr.contains("hint: sessionmill backfill"),
        "{}",
        first.shown()
    );
    let status = desk.run("sessionmill status").stdout;
    assert!(status.contains("(sessionmill backfill)"), "{status}");
}

#[test]
fn a_second_process_finds_the_lock_taken_and_leaves_at_once() {
    let desk = Desk::enabled();
    let lock = crate::pipeline::lock::Lock::take(&desk.path(".graphiti/sessionmill.lock")).unwrap();
    let busy = desk.run("sessionmill run");
    assert_eq!(busy.exit.code(), 75, "{}", busy.shown());
    assert_eq!(desk.run("sessionmill run --quiet").stderr, "");
    assert_eq!(desk.run("sessionmill run --quiet").exit, Exit::Busy);
    drop(lock);
    assert_eq!(desk.run("sessionmill run --quiet").exit, Exit::Done);
}

#[test]
fn a_file_that_cannot_be_read_is_named_and_the_others_are_stored() {
    let desk = Desk::enabled();
    // a link to itself: whoever runs the tests can't follow it
    let bad = desk.path(".codex/archived_sessions");
    fs::remove_dir_all(&bad).unwrap_or_default();
    std::os::unix::fs::symlink(&bad, &bad).unwrap();
    let ran = desk.run("sessionmill backfill");
    assert_eq!(ran.exit, Exit::Partial, "{}", ran.shown());
    assert!(ran.stderr.contains("archived_sessions"), "{}", ran.stderr);
    assert!(ran.stdout.contains("new episodes"), "{}", ran.stdout);
}

#[test]
fn a_damaged_archive_is_a_refused_record_and_no_failure() {
    let desk = Desk::enabled();
    let bad = desk.path(".codex/archived_sessions/rollout-2026-03-01T00-00-00-00000000-0000-7000-8000-000000000001.jsonl.zst");
    fs::create_dir_all(bad.parent().unwrap()).unwrap();
    fs::write(bad, "this is not zstd").unwrap();
    let ran = desk.run("sessionmill backfill");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    assert!(ran.stdout.contains("1 rejected"), "{}", ran.stdout);
    let status = desk.run("sessionmill status").stdout;
    assert!(status.contains("damaged compression"), "{status}");
}

#[test]
fn links_below_the_sources_are_counted() {
    let desk = Desk::enabled();
    std::os::unix::fs::symlink("/", desk.path(".claude/projects/elsewhere")).unwrap();
    let ran = desk.run("sessionmill backfill").stdout;
    assert!(ran.contains("left out: 1 file (symbolic link)"), "{ran}");
    let plan = desk.run("sessionmill plan").stdout;
    assert!(plan.contains("(symbolic link)"), "{plan}");
    let status = desk.run("sessionmill status").stdout;
    assert!(
        status.contains("1 symbolic link below the sources"),
        "{status}"
    );
}

#[test]
fn a_line_outside_episodes_is_copied_or_filtered() {
    let desk = Desk::enabled();
    let line = |kind: &str, nth: u32, session: &str, rest: &str| {
        format!(
            "{{\"type\":\"{kind}\",\"uuid\":\"00000000-0000-4000-8000-00000000000{nth}\",\"cwd\":\"/w\",\
             \"sessionId\":\"{session}\",\"timestamp\":\"2026-06-01T10:00:0{nth}.000Z\",{rest}}}\n"
        )
    };
    let words = |words: &str| format!("\"message\":{{\"role\":\"user\",\"content\":\"{words}\"}}");
    let log = |session: &str| {
        line(
            "progress",
            1,
            session,
            "\"data\":{\"type\":\"hook_progress\"}",
        ) + &line("user", 2, session, &words("first"))
    };
    let (old, new) = (
        "11111111-1111-4111-8111-111111111111",
        "22222222-2222-4222-8222-222222222222",
    );
    let fork = log(new) + &line("user", 3, new, &words("of the fork"));
    desk.write(&format!(".claude/projects/-w/{old}.jsonl"), &log(old));
    desk.run("sessionmill backfill");
    desk.write(&format!(".claude/projects/-w/{new}.jsonl"), &fork);
    desk.run("sessionmill backfill");
    let ask = |session: &str, line: u32| {
        let ran = desk.run(&format!(
            "sessionmill status --ledger {session}.jsonl:{line}"
        ));
        assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
        ran.stdout
    };
    assert!(
        ask(old, 1).contains("in no episode: filtered"),
        "{}",
        ask(old, 1)
    );
    assert!(ask(old, 2).contains("within episode"), "{}", ask(old, 2));
    let copied = ask(new, 2);
    assert!(
        copied.contains(&format!("copied, ~/.claude/projects/-w/{old}.jsonl has it")),
        "{copied}"
    );
    assert!(ask(new, 3).contains("within episode"), "{}", ask(new, 3));
}

#[test]
fn what_was_said_is_found_shown_and_forgotten() {
    let desk = Desk::enabled();
    desk.run("sessionmill backfill");
    let found = desk.run("sessionmill search refresh tokens --json");
    assert_eq!(found.exit, Exit::Done, "{}", found.shown());
    let hit = found.json()["hits"][0].clone();
    let (episode, session) = (
        hit["episode"].as_str().unwrap(),
        hit["session"].as_str().unwrap(),
    );
    let shown = desk.run(&format!("sessionmill show {episode}")).stdout;
    assert!(
        shown.contains("shop-api · ") && shown.contains("refresh"),
        "{shown}"
    );
    let whole = desk.run(&format!("sessionmill show {session}")).stdout;
    assert!(
        whole.contains(&format!("sessionmill resume {session}")),
        "{whole}"
    );
    let gone = desk.run(&format!("sessionmill forget {session}"));
    assert_eq!(gone.exit, Exit::Done, "{}", gone.shown());
    assert_eq!(
        desk.run(&format!("sessionmill show {session}")).exit,
        Exit::Failed
    );
    desk.run("sessionmill run --rebuild --all");
    assert_eq!(
        desk.run(&format!("sessionmill show {episode}")).exit,
        Exit::Failed
    );
}

#[test]
fn a_search_without_a_hit_is_exit_1() {
    let desk = Desk::enabled();
    desk.run("sessionmill backfill");
    let ran = desk.run("sessionmill search xylophonist");
    assert_eq!(ran.shown(), "exit 1\n--- stderr\nnothing found\n");
}

#[test]
fn every_filter_narrows() {
    let desk = Desk::enabled();
    desk.run("sessionmill backfill");
    let hits = |filter: &str| {
        let ran = desk.run(&format!("sessionmill search -n 100 --json {filter}"));
        ran.json()["hits"].as_array().map_or(0, Vec::len)
    };
    let all = hits("");
    assert!(all > 3);
    for filter in [
        "--agent claude",
        "--since 2026-03-04",
        "--until 2026-03-04",
        "--tool Bash",
        "--file auth.py",
        "--project /home/ada/notes",
        "--namespace /home/ada/notes",
    ] {
        let some = hits(filter);
        assert!(some > 0 && some < all, "{filter}: {some} of {all}");
    }
    let (chunks, pages) = (hits("--source session"), hits("--source session_summary"));
    assert!(chunks > 3 && pages > 0, "{chunks} and {pages} of {all}");
    assert_eq!(hits("--exclude-source session"), pages);
    assert_eq!(chunks + pages, all);
}

#[test]
fn a_log_and_a_line_are_accounted_for() {
    let desk = Desk::enabled();
    desk.run("sessionmill backfill");
    let name = "6b1f0a34-5c0e-4b57-9d3e-2f9a51c7e001";
    let account = desk
        .run(&format!("sessionmill status --ledger {name}.jsonl"))
        .stdout;
    assert!(account.contains("lines read"), "{account}");
    let line = desk.run(&format!("sessionmill status --ledger {name}.jsonl:2"));
    assert_eq!(line.exit, Exit::Done, "{}", line.shown());
    let absent = desk.run("sessionmill status --ledger nowhere.jsonl");
    assert!(
        absent
            .stderr
            .contains("no log with that name is below the sources"),
        "{}",
        absent.shown()
    );
}

#[test]
fn runs_are_logged_without_content() {
    let desk = Desk::enabled();
    desk.run("sessionmill backfill");
    desk.run("sessionmill backfill");
    let log = fs::read_to_string(desk.path(".graphiti/logs/sessionmill-2026-06-01.log")).unwrap();
    assert_eq!(
        log.lines().count(),
        1,
        "a run without news has nothing to say: {log}"
    );
    assert!(
        log.contains("run backfill: ") && !log.contains("JWT"),
        "{log}"
    );
}

#[test]
fn every_json_document_carries_its_version() {
    let desk = Desk::enabled();
    for line in [
        "plan",
        "run --all",
        "backfill",
        "search token",
        "sessions",
        "status",
        "stats",
        "config show",
        "config validate",
        "config path",
        "schedule show",
        "store path",
        "store dump",
        "disable",
        "schedule install --dry-run --cron",
        "run nightly --check",
    ] {
        let ran = desk.run(&format!("sessionmill {line} --json"));
        let json = ran.json();
        assert_eq!(json["schema_version"], 1, "{line}");
        let command = json["command"].as_str().unwrap_or_default();
        let same = line.starts_with(command) || (line == "backfill" && command == "run");
        assert!(same && !command.is_empty(), "{line}: {command}");
    }
}

#[test]
fn embedded_pipelines_pass_their_own_tests() {
    let desk = Desk::new();
    for (name, _) in crate::pipeline::spec::EMBEDDED {
        if name == "ci" {
            continue; // compares the fixtures, below
        }
        let ran = desk.run(&format!("sessionmill run {name} --check"));
        assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    }
}

#[test]
fn a_failing_pipeline_test_says_what_it_wanted() {
    let desk = Desk::new();
    desk.write(
        ".graphiti/pipelines/mine.yaml",
        "steps: [ingest]\ntests: [{name: silence, given: '', wants: {episodes: 2}}]\n",
    );
    let ran = desk.run("sessionmill run mine --check");
    assert_eq!(ran.exit, Exit::Failed);
    assert_eq!(
        ran.stderr,
        "warning: test \"silence\": episodes: wants 2, found 0\n"
    );
}

#[test]
fn a_result_is_recorded_and_a_difference_from_it_is_exit_1() {
    let desk = Desk::with_fixtures();
    let spec = "steps: [ingest]\nwindow: all\ncheck: {home: ../.., recorded: mine.txt, host: ci}\n";
    desk.write(".graphiti/pipelines/mine.yaml", spec);
    assert_eq!(desk.run("sessionmill run mine --check").exit, Exit::Usage);
    let recorded = desk.run("sessionmill run mine --check --record");
    assert_eq!(recorded.exit, Exit::Done, "{}", recorded.shown());
    let same = desk.run("sessionmill run mine --check");
    assert_eq!(same.exit, Exit::Done, "{}", same.shown());
    let log = ".claude/projects/-home-ada-notes/6b1f0a34-5c0e-4b57-9d3e-2f9a51c7e004.jsonl";
    fs::remove_file(desk.path(log)).unwrap();
    let other = desk.run("sessionmill run mine --check");
    assert_eq!(other.exit, Exit::Failed, "{}", other.shown());
    assert!(
        other.stdout.contains("they differ from line "),
        "{}",
        other.stdout
    );
    assert!(!desk.path(".graphiti/sessionmill.db").exists());
}

#[test]
fn the_fixture_corpus_gives_the_recorded_result() {
    let mut desk = Desk::new();
    desk.cwd = Some(env!("CARGO_MANIFEST_DIR").into());
    let ran = desk.run("sessionmill run ci --check");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let mut desk = Desk::enabled();
    desk.run("sessionmill backfill");
    desk.pipe_is_broken = true;
    for line in ["search token", "stats", "sessions --json", "store dump"] {
        let ran = desk.run(&format!("sessionmill {line}"));
        assert_eq!((ran.exit, ran.stderr.as_str()), (Exit::Done, ""), "{line}");
    }
}
