//! `recall` as agents' hooks and people use it: what is given, to whom, and that nothing that goes
//! wrong is in anybody's way (002-010, 002-015..018, D31, D63).

use super::world::Desk;
use crate::cli::Exit;
use serde_json::{Value, json};
use std::fs;

const SHOP: &str = "/home/ada/shop-api";

/// A desk with the fixture sessions in its store.
fn desk() -> Desk {
    let desk = Desk::enabled();
    let ran = desk.run("sessionmill backfill");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    desk
}

/// What an agent says when a person typed something in a project.
fn prompt(cwd: &str, words: &str) -> String {
    json!({"session_id": "now", "transcript_path": "/t.jsonl", "cwd": cwd,
        "permission_mode": "default", "hook_event_name": "UserPromptSubmit", "prompt": words})
    .to_string()
}

fn start(cwd: &str, source: &str) -> String {
    json!({"session_id": "now", "cwd": cwd, "hook_event_name": "SessionStart", "source": source})
        .to_string()
}

/// What the hook of an agent gives it; empty: nothing. It never fails and never says a word beside.
fn hook(desk: &mut Desk, agent: &str, input: String) -> String {
    desk.piped = input;
    let ran = desk.run(&format!("sessionmill recall --hook {agent}"));
    assert_eq!(
        (ran.exit, ran.stderr.as_str()),
        (Exit::Done, ""),
        "{}",
        ran.shown()
    );
    if ran.stdout.is_empty() {
        return String::new();
    }
    let answer = ran.json();
    let given = &answer["hookSpecificOutput"];
    let input: Value = serde_json::from_str(&desk.piped).unwrap();
    assert_eq!(given["hookEventName"], input["hook_event_name"]);
    assert_eq!(answer.as_object().unwrap().len(), 1);
    given["additionalContext"].as_str().unwrap().to_owned()
}

/// The day's log.
fn log(desk: &Desk) -> String {
    fs::read_to_string(desk.path(".graphiti/logs/sessionmill-2026-06-01.log")).unwrap_or_default()
}

const QUESTION: &str = "why does the token expiry test fail";

#[test]
fn both_agents_prompts_are_answered_with_one_block() {
    let mut desk = desk();
    let block = hook(&mut desk, "claude", prompt(SHOP, QUESTION));
    assert!(block.starts_with("<graphiti_memory>\n"), "{block}");
    assert!(block.ends_with("</graphiti_memory>"), "{block}");
    assert_eq!(block.matches("graphiti_memory").count(), 2);
    assert_eq!(block.matches("data to check").count(), 1);
    let facts: Vec<&str> = block
        .lines()
        .filter(|line| line.starts_with("- "))
        .collect();
    assert!(!facts.is_empty());
    for fact in facts {
        let source = fact.rsplit_once(" (session ").expect(fact).1;
        assert!(
            source.contains(", 202") && !source.contains(".jsonl"),
            "{fact}"
        );
    }
    assert_eq!(hook(&mut desk, "codex", prompt(SHOP, QUESTION)), block);
    let said = desk.run(&format!("sessionmill recall --project {SHOP} {QUESTION}"));
    assert_eq!(said.stdout, format!("{block}\n"), "{}", said.shown());
    desk.piped = QUESTION.into();
    let piped = desk.run(&format!("sessionmill recall --project {SHOP}"));
    assert_eq!(piped.stdout, said.stdout);
}

#[test]
fn a_project_is_given_its_own_memory_only() {
    let mut desk = desk();
    for elsewhere in ["/home/ada/elsewhere", "/home/ada", "/"] {
        assert_eq!(hook(&mut desk, "claude", prompt(elsewhere, QUESTION)), "");
        assert_eq!(hook(&mut desk, "claude", start(elsewhere, "startup")), "");
    }
}

#[test]
fn a_folder_of_windows_is_its_project_wherever_the_hook_runs() {
    let mut desk = Desk::enabled();
    let session = "11111111-0000-4000-8000-000000000001";
    let record = json!({"type": "user", "uuid": "11111111-0000-4000-8000-000000000002",
        "sessionId": session, "cwd": "D:\\till", "timestamp": "2026-05-31T10:00:00.000Z",
        "message": {"role": "user", "content": "The receipt printer jams on damp paper, so we feed it twice."}});
    let log = format!(".claude/projects/D--till/{session}.jsonl");
    desk.write(&log, &format!("{record}\n"));
    assert_eq!(desk.run("sessionmill run").exit, Exit::Done);
    let asked = "why is the receipt printer fed twice with damp paper?";
    let block = hook(&mut desk, "claude", prompt("D:\\till", asked));
    assert!(block.contains("damp paper, so we feed it twice"), "{block}");
    assert_eq!(hook(&mut desk, "claude", prompt("E:\\till", asked)), "");
}

#[test]
fn a_repository_is_one_project_and_a_folder_outside_of_one_is_itself() {
    let said = |desk: &Desk, session: &str, below: &str, words: &str| {
        let record = json!({"type": "user", "uuid": format!("{session}-0000-4000-8000-000000000001"),
            "sessionId": session, "cwd": desk.path(below), "timestamp": "2026-06-01T10:00:00.000Z",
            "message": {"role": "user", "content": words}});
        desk.write(
            &format!(".claude/projects/x/{session}.jsonl"),
            &format!("{record}\n"),
        );
    };
    let mut desk = Desk::enabled();
    desk.write("repo/.git/HEAD", "ref: refs/heads/main\n");
    desk.write("repo/sub/a.rs", "");
    desk.write("plain/sub/a.rs", "");
    said(
        &desk,
        "11111111",
        "repo/sub",
        "the barn owl nests under the gable",
    );
    said(
        &desk,
        "22222222",
        "plain/sub",
        "the barn owl eats forty mice",
    );
    desk.run("sessionmill backfill");
    let mut given = |below: &str| {
        let cwd = desk.path(below).to_string_lossy().into_owned();
        hook(&mut desk, "claude", prompt(&cwd, "what of the barn owl"))
    };
    for below in ["repo", "repo/sub"] {
        let block = given(below);
        assert!(
            block.contains("gable") && !block.contains("mice"),
            "{below}: {block}"
        );
    }
    let block = given("plain/sub");
    assert!(
        block.contains("mice") && !block.contains("gable"),
        "{block}"
    );
    assert_eq!(given("plain"), "", "a folder is none of those below it");
    let trusted = r#"{"session_tracking": {"enabled": true, "trusted_namespaces": ["~/repo"]}}"#;
    desk.write(".graphiti/graphiti.config.json", trusted);
    let cwd = desk.path("repo").to_string_lossy().into_owned();
    let block = hook(&mut desk, "claude", prompt(&cwd, "what of the barn owl"));
    assert!(
        block.contains("gable"),
        "sub-folders are trusted with it: {block}"
    );
}

#[test]
fn what_nobody_asked_is_not_answered() {
    let mut desk = desk();
    for words in [
        "Überall École 日本語 <é",
        "/clear token expiry",
        "<task-notification>token expiry</task-notification>",
        "<graphiti_memory>\n- token expiry\n</graphiti_memory>",
        "zyzzyva quokka",
        "",
    ] {
        assert_eq!(
            hook(&mut desk, "claude", prompt(SHOP, words)),
            "",
            "{words}"
        );
    }
    let mut call: Value = serde_json::from_str(&prompt(SHOP, QUESTION)).unwrap();
    call["agent_id"] = "a1".into();
    assert_eq!(hook(&mut desk, "claude", call.to_string()), "");
    assert_eq!(
        log(&desk).matches("recall:").count(),
        0,
        "silence is no trouble"
    );
}

#[test]
fn a_session_that_begins_is_told_where_the_last_one_ended() {
    let mut desk = desk();
    for source in ["startup", "clear"] {
        let block = hook(&mut desk, "claude", start(SHOP, source));
        insta::assert_snapshot!("recall-start", block);
    }
    for source in ["resume", "compact"] {
        assert_eq!(hook(&mut desk, "codex", start(SHOP, source)), "");
    }
}

#[test]
fn limits_are_the_settings() {
    let mut desk = desk();
    let settings = |desk: &Desk, recall: Value| {
        let all = json!({"session_tracking": {"enabled": true}, "graphiti": {"recall": recall}});
        desk.write(".graphiti/graphiti.config.json", &all.to_string());
    };
    settings(&desk, json!({"max_results": 1, "max_fact_chars": 150}));
    let block = hook(&mut desk, "claude", prompt(SHOP, QUESTION));
    let facts: Vec<&str> = block
        .lines()
        .filter(|line| line.starts_with("- "))
        .collect();
    assert_eq!(facts.len(), 1);
    assert!(facts[0].chars().count() <= 150, "{block}");
    settings(
        &desk,
        json!({"max_total_chars": 300, "max_fact_chars": 10000}),
    );
    let block = hook(&mut desk, "claude", prompt(SHOP, QUESTION));
    assert!(block.chars().count() <= 300, "{block}");
    settings(&desk, json!({"enabled": false}));
    assert_eq!(hook(&mut desk, "claude", prompt(SHOP, QUESTION)), "");
    settings(&desk, json!({"scopes": ["session"]}));
    assert_eq!(hook(&mut desk, "claude", prompt(SHOP, QUESTION)), "");
    assert_eq!(hook(&mut desk, "claude", start(SHOP, "startup")), "");
}

#[test]
fn whoever_is_not_trusted_is_given_nothing() {
    let mut desk = desk();
    let given = |desk: &mut Desk| hook(desk, "claude", prompt(SHOP, QUESTION));
    assert_ne!(given(&mut desk), "");
    let codex = format!("[projects.\"{SHOP}\"]\ntrust_level = \"untrusted\"\n");
    desk.write(".codex/config.toml", &codex);
    assert_eq!(given(&mut desk), "");
    assert_eq!(hook(&mut desk, "claude", start(SHOP, "startup")), "");
    assert!(
        log(&desk).contains("recall: the project is not trusted"),
        "{}",
        log(&desk)
    );
    // what can't be read fails closed
    desk.write(".codex/config.toml", "[[[");
    assert_eq!(given(&mut desk), "");
    desk.write(".codex/config.toml", "");
    for settings in [
        json!({"session_tracking": {"trusted_namespaces": ["abcdef12"]}}),
        json!({"graphiti": {"unknown_projects": "deny"}}),
    ] {
        desk.write(".graphiti/graphiti.config.json", &settings.to_string());
        assert_eq!(given(&mut desk), "", "{settings}");
    }
    desk.write(".codex/config.toml", &codex.replace("untrusted", "trusted"));
    assert_ne!(given(&mut desk), "", "trusted is not unknown");
}

#[test]
fn paths_are_hidden_where_they_are_to_be() {
    let mut desk = desk();
    let settings = r#"{"session_tracking": {"enabled": true, "include_project_path": false}}"#;
    desk.write(".graphiti/graphiti.config.json", settings);
    for input in [prompt(SHOP, QUESTION), start(SHOP, "startup")] {
        let block = hook(&mut desk, "claude", input);
        assert!(block.contains("(session "), "{block}");
        assert!(
            !block.contains(".jsonl") && !block.contains("/home/ada"),
            "{block}"
        );
    }
}

/// Whatever a store is, an agent goes on (002-018).
#[test]
fn trouble_is_noted_and_in_nobodys_way() {
    type Break = fn(&Desk);
    let store = ".graphiti/sessionmill.db";
    let breaks: [(&str, Break); 6] = [
        ("nothing is stored yet", |desk| {
            fs::remove_file(desk.path(".graphiti/sessionmill.db")).unwrap()
        }),
        ("is empty", |desk| {
            desk.write(".graphiti/sessionmill.db", "")
        }),
        ("is not a store", |desk| {
            desk.write(".graphiti/sessionmill.db", "no database at all")
        }),
        ("by a newer version", |desk| {
            let db = rusqlite::Connection::open(desk.path(".graphiti/sessionmill.db")).unwrap();
            db.pragma_update(None, "user_version", 999).unwrap();
        }),
        ("store: ", |desk| {
            // the header is whole, and nothing behind it is
            let path = desk.path(".graphiti/sessionmill.db");
            let mut bytes = fs::read(&path).unwrap();
            bytes[100..].fill(0xa5);
            fs::write(&path, bytes).unwrap();
        }),
        ("graphiti.config.json:1", |desk| {
            desk.write(".graphiti/graphiti.config.json", "{nonsense")
        }),
    ];
    for (noted, break_it) in breaks {
        let mut desk = desk();
        assert!(desk.path(store).exists());
        break_it(&desk);
        for input in [prompt(SHOP, QUESTION), start(SHOP, "startup")] {
            assert_eq!(hook(&mut desk, "claude", input), "", "{noted}");
        }
        let log = log(&desk);
        assert_eq!(log.matches("recall: ").count(), 2, "{noted}: {log}");
        assert!(
            log.contains(noted) || log.contains("damaged"),
            "{noted}: {log}"
        );
        assert!(!log.contains("expiry"), "a log quotes nobody: {log}");
        let person = desk.run(&format!("sessionmill recall --project {SHOP} {QUESTION}"));
        assert_eq!((person.exit, person.stdout.as_str()), (Exit::Done, ""));
        assert!(
            person.stderr.starts_with("no memory: "),
            "{}",
            person.shown()
        );
    }
}

#[test]
fn input_that_is_not_understood_is_in_nobodys_way() {
    let mut desk = desk();
    for input in ["", "{", "not json", "[1]", "{\"hook_event_name\": 3}"] {
        assert_eq!(hook(&mut desk, "codex", input.into()), "");
    }
    assert_eq!(log(&desk).matches("recall: ").count(), 5);
    for line in [
        "recall --hook claude --no-such-flag",
        "recall --hook=nobody",
        "recall --hook",
    ] {
        let ran = desk.run(&format!("sessionmill {line}"));
        assert_eq!(ran.shown(), "exit 0\n", "{line}");
    }
    desk.vars.remove("HOME");
    assert_eq!(
        desk.run("sessionmill recall --hook claude").shown(),
        "exit 0\n"
    );
    let asked = desk.run("sessionmill recall --no-such-flag");
    assert_eq!(asked.exit, Exit::Usage, "people are told");
}

#[test]
fn nothing_is_made_where_nothing_is() {
    let mut desk = Desk::new();
    assert_eq!(hook(&mut desk, "claude", prompt(SHOP, QUESTION)), "");
    assert!(!desk.path(".graphiti").exists());
    desk.piped.clear();
    let nothing = desk.run("sessionmill recall");
    assert_eq!(nothing.exit, Exit::Usage, "{}", nothing.shown());
}

/// 002-018: who can't have the store in time goes on without it.
#[test]
fn a_store_that_somebody_holds_is_not_waited_for() {
    let mut desk = desk();
    let settings =
        r#"{"session_tracking": {"enabled": true}, "graphiti": {"recall": {"timeout_ms": 50}}}"#;
    desk.write(".graphiti/graphiti.config.json", settings);
    assert_ne!(
        desk.run("sessionmill recall --hook claude").exit,
        Exit::Failed
    );
    let holder = rusqlite::Connection::open(desk.path(".graphiti/sessionmill.db")).unwrap();
    holder
        .pragma_update(None, "locking_mode", "exclusive")
        .unwrap();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert_eq!(hook(&mut desk, "claude", prompt(SHOP, QUESTION)), "");
    let noted = log(&desk);
    assert!(
        noted.contains("timeout_ms") || noted.contains("store: "),
        "{noted}"
    );
    let json = desk
        .run(&format!(
            "sessionmill recall --project {SHOP} {QUESTION} --json"
        ))
        .json();
    assert_eq!(json["block"], Value::Null);
    assert!(json["reason"].is_string());
}

#[test]
fn a_session_is_told_of_itself_only_after_it_was_compacted() {
    let line = |nth: u32, more: Value| {
        let mut record = json!({"uuid": format!("00000000-0000-4000-8000-00000000000{nth}"),
            "sessionId": "now", "cwd": "/w/owl", "timestamp": format!("2026-06-01T10:00:0{nth}.000Z")});
        record
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        format!("{record}\n")
    };
    let said = |nth, words: &str| {
        line(
            nth,
            json!({"type": "user", "message": {"role": "user", "content": words}}),
        )
    };
    let compacted = line(2, json!({"type": "system", "subtype": "compact_boundary"}));
    for (boundary, wants) in [(String::new(), false), (compacted, true)] {
        let mut desk = Desk::enabled();
        let log = [
            said(1, "the barn owl nests under the gable"),
            boundary,
            said(3, "go on"),
        ];
        desk.write(".claude/projects/-w-owl/now.jsonl", &log.concat());
        desk.run("sessionmill backfill");
        let block = hook(
            &mut desk,
            "claude",
            prompt("/w/owl", "where does the barn owl nest"),
        );
        assert_eq!(block.contains("under the gable"), wants, "{block}");
        let asked = "sessionmill recall --scope session --session now where does the barn owl nest";
        let elsewhere = desk.run(&format!("{asked} --project /w/other"));
        assert_eq!(elsewhere.stdout, "", "a session of another project");
        let asked = desk.run(&format!("{asked} --project /w/owl"));
        assert!(
            asked.stdout.contains("under the gable"),
            "{}",
            asked.shown()
        );
    }
}

#[test]
fn what_was_given_is_not_read_back() {
    let mut desk = desk();
    let block = hook(&mut desk, "claude", prompt(SHOP, QUESTION));
    let before = desk.run("sessionmill stats --json").json()["episodes"].clone();
    let record = |nth: u32, more: Value| {
        let mut record = json!({"uuid": format!("10000000-0000-4000-8000-00000000000{nth}"),
            "sessionId": "later", "cwd": "/w/later", "timestamp": format!("2026-06-01T10:00:0{nth}.000Z")});
        record
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        format!("{record}\n")
    };
    let attached = |nth, attachment: Value| {
        record(nth, json!({"type": "attachment", "attachment": attachment}))
    };
    let printed = json!({"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": block}});
    let log = [
        record(
            1,
            json!({"type": "user", "message": {"role": "user", "content": "mend the owl box"}}),
        ),
        attached(
            2,
            json!({"type": "hook_success", "hookEvent": "UserPromptSubmit", "stdout": printed.to_string()}),
        ),
        attached(
            3,
            json!({"type": "hook_additional_context", "hookEvent": "UserPromptSubmit", "content": [block]}),
        ),
        record(
            4,
            json!({"type": "user", "message": {"role": "user", "content": format!("and paint it\n{block}")}}),
        ),
    ];
    desk.write(".claude/projects/-w-later/later.jsonl", &log.concat());
    desk.run("sessionmill backfill");
    let after = desk.run("sessionmill stats --json").json()["episodes"].clone();
    assert_eq!(after.as_u64(), before.as_u64().map(|n| n + 1));
    let shown = desk.run("sessionmill show later").stdout;
    assert!(
        shown.contains("mend the owl box") && shown.contains("and paint it"),
        "{shown}"
    );
    assert!(
        !shown.contains("graphiti_memory") && !shown.contains("expiry"),
        "{shown}"
    );
    let ledger = desk.run("sessionmill status --ledger later --json").json();
    assert_eq!(
        ledger["accounts"][0]["ledger"]["lines"]["filtered"]["own memory"],
        2
    );
}

/// D30, D37: what people promoted comes back where it belongs, and nowhere else.
#[test]
fn promoted_memories_come_back_in_their_scope() {
    let mut desk = desk();
    let settings = |desk: &Desk, mode: &str| {
        let all = json!({"session_tracking": {"enabled": true}, "graphiti": {
            "user_scope_key": "github_login:ada", "recall": {"scopes_mode": mode}}});
        desk.write(".graphiti/graphiti.config.json", &all.to_string());
    };
    settings(&desk, "auto");
    for (scope, text) in [
        ("workspace", "Quokka deploys run on Tuesdays"),
        ("global", "I prefer quokka coloured terminals"),
    ] {
        let line = format!(
            "sessionmill promote --kind preference --scope {scope} --title quokka --text '{text}' --project {SHOP}"
        );
        let ran = desk.run(&line);
        assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    }
    let mine = "what quokka terminals do I prefer";
    let deploys = "when do the quokka deploys run";
    let block = hook(&mut desk, "claude", prompt(SHOP, deploys));
    assert!(block.contains("Tuesdays (promoted, memory "), "{block}");
    assert!(
        !block.contains("coloured"),
        "nobody asked about themselves: {block}"
    );
    let elsewhere = hook(&mut desk, "claude", prompt("/home/ada/elsewhere", mine));
    assert!(elsewhere.contains("coloured"), "{elsewhere}");
    assert!(!elsewhere.contains("Tuesdays"), "{elsewhere}");
    settings(&desk, "fixed");
    assert_eq!(
        hook(&mut desk, "claude", prompt("/home/ada/elsewhere", mine)),
        ""
    );
}

#[test]
fn without_a_home_it_goes_on_without_memory() {
    let mut desk = desk();
    desk.vars.remove("HOME");
    let ran = desk.run("sessionmill recall why redis");
    assert_eq!(
        (ran.exit, ran.stdout.as_str()),
        (Exit::Done, ""),
        "{}",
        ran.shown()
    );
    assert!(ran.stderr.contains("HOME"), "{}", ran.shown());
    let json = desk.run("sessionmill recall why redis --json").json();
    assert_eq!((&json["block"], &json["facts"]), (&Value::Null, &json!([])));
    assert_eq!(hook(&mut desk, "claude", prompt(SHOP, QUESTION)), "");
}

#[test]
fn the_first_memory_is_given_back_and_only_for_what_it_is_about() {
    let mut desk = Desk::new();
    desk.write("shop/.git/HEAD", "ref: refs/heads/main\n");
    desk.cwd = Some(desk.path("shop"));
    let lesson = "--kind lesson --text \"The barn owl nests under the gable\"";
    desk.run(&format!("sessionmill promote {lesson}"));
    for question in [
        "where does the barn owl nest",
        "is anything under the gable, a nest maybe",
    ] {
        let ran = desk.run(&format!("sessionmill recall {question}"));
        assert!(ran.stdout.contains("barn owl"), "{}", ran.shown());
    }
    for question in [
        "run the tests and commit",
        "rename the nest function in the parser and update its callers",
        "why is the build under test so slow",
    ] {
        let ran = desk.run(&format!("sessionmill recall {question}"));
        assert_eq!(ran.stdout, "", "{}", ran.shown());
    }
}
