//! `search` from the command line to the answer: points in time, operations, commits, mistakes.

use super::delivery::done;
use super::forget::{desk, said};
use super::memory_rows::{SESSION, agree, set, talk, world as server};
use super::world::Desk;
use crate::cli::Exit;
use crate::memory::query_terms::question;
use crate::memory::rank::Near;
use crate::memory::recall::{RecallQuestion, recall};
use crate::memory::scopes::Scope;
use crate::model::namespace::namespace;
use crate::store::{Access, Store};
use serde_json::{Value, json};

fn found(desk: &Desk, line: &str) -> Vec<String> {
    let told = desk
        .run(&format!("sessionmill search {line} --json"))
        .json();
    let hits = told["hits"].as_array().unwrap().iter();
    let sessions = hits.map(|hit| hit["session"].as_str().unwrap().to_owned());
    let mut sessions: Vec<String> = sessions.collect();
    sessions.sort();
    sessions.dedup();
    sessions
}

#[test]
fn below_a_short_list_other_forms_that_find_more_are_named() {
    let desk = desk();
    for (nth, (session, words)) in [("aaaa", "the retry fails"), ("bbbb", "two retries fail")]
        .into_iter()
        .enumerate()
    {
        let text = said(session, "/w/shop", 50 + nth as u32, "user", words);
        desk.write(&format!(".claude/projects/-w/{session}.jsonl"), &text);
    }
    done(desk.run("sessionmill run"));
    assert_eq!(found(&desk, "retry"), ["aaaa"]);
    let told = done(desk.run("sessionmill search retry")).stderr;
    let wants = "other forms of the word find more: sessionmill search 'retry OR retries'\n";
    assert!(told.contains(wants), "{told}");
    assert_eq!(found(&desk, "'retry OR retries'"), ["aaaa", "bbbb"]);
    let all = done(desk.run("sessionmill search shop fails")).stderr;
    assert!(!all.contains("other forms"), "{all}");
}

/// Sessions of two days.
fn two_days() -> Desk {
    let desk = desk();
    let late = said("bbbb", "/w/shop", 50, "user", "the zebra sleeps");
    desk.write(
        ".claude/projects/-w/bbbb.jsonl",
        &late.replace("2026-05-20", "2026-05-25"),
    );
    talk(&desk, "/w/shop", SESSION, &["the zebra eats"]);
    done(desk.run("sessionmill run"));
    desk
}

#[test]
fn as_of_a_day_only_what_had_begun_is_known() {
    let desk = two_days();
    assert_eq!(found(&desk, "zebra"), [SESSION, "bbbb"]);
    assert_eq!(found(&desk, "zebra --as-of 2026-05-25"), [SESSION, "bbbb"]);
    assert_eq!(found(&desk, "zebra --as-of 2026-05-24"), [SESSION]);
    assert_eq!(found(&desk, "zebra --as-of 2026-05-19"), [""; 0]);
    assert_eq!(found(&desk, "--as-of 2026-05-24"), [SESSION]);
}

#[test]
fn operations_choose_what_episodes_tell_of() {
    let desk = two_days();
    for none in ["git_metadata", "rename"] {
        let ran = desk.run(&format!("sessionmill search zebra --operation {none}"));
        assert_eq!(ran.exit, Exit::Failed, "{}", ran.shown());
        let not = format!("zebra --exclude-operation {none}");
        assert_eq!(found(&desk, &not), [SESSION, "bbbb"]);
    }
    let wrong = desk.run("sessionmill search zebra --operation push");
    assert_eq!(wrong.exit, Exit::Usage, "{}", wrong.shown());
}

#[test]
fn results_carry_the_commits_of_their_session() {
    let desk = desk();
    let record = |nth: u32, kind: &str, content: Value| {
        json!({"type": kind, "uuid": format!("00000000-0000-4000-8000-{nth:012}"),
            "sessionId": SESSION, "cwd": "/w/shop", "timestamp": format!("2026-05-20T10:{nth:02}:00.000Z"),
            "message": {"id": format!("m{nth}"), "role": kind, "content": content}})
        .to_string()
            + "\n"
    };
    let commit = json!([{"type": "tool_use", "id": "t1", "name": "Bash",
        "input": {"command": "git commit -m \"Feed the zebra\""}}]);
    let output = "[main 1a2b3c4] Feed the zebra\n 1 file changed, 1 insertion(+)";
    let result = json!([{"type": "tool_result", "tool_use_id": "t1", "content": output}]);
    let log = [
        said(SESSION, "/w/shop", 1, "user", "feed the zebra and commit"),
        record(2, "assistant", commit),
        record(3, "user", result),
        said(SESSION, "/w/shop", 4, "assistant", "fed"),
    ];
    desk.write(".claude/projects/-w/aaaa.jsonl", &log.concat());
    done(desk.run("sessionmill run"));
    let told = desk.run("sessionmill search zebra --json").json();
    for hit in told["hits"].as_array().unwrap() {
        let wants = json!([{"hash": "1a2b3c4", "subject": "Feed the zebra"}]);
        assert_eq!(hit["commits"], wants, "{told}");
    }
}

#[test]
fn a_line_that_says_nothing_is_answered_with_a_hint() {
    let desk = two_days();
    for line in ["''", "' '", "--project /w/shop ''"] {
        let ran = desk.run(&format!("sessionmill search {line}"));
        assert_eq!(ran.exit, Exit::Usage, "{line}: {}", ran.shown());
        assert!(ran.stderr.contains("hint: "), "{line}: {}", ran.shown());
        assert_eq!(ran.stdout, "");
    }
    for line in ["'\"'", "-- -", "'(('", "🎉"] {
        let ran = desk.run(&format!("sessionmill search {line}"));
        assert_eq!(ran.exit, Exit::Failed, "{line}: {}", ran.shown());
        assert!(
            ran.stderr.contains("nothing found"),
            "{line}: {}",
            ran.shown()
        );
    }
    assert_eq!(found(&desk, "'\"zebra'"), found(&desk, "zebra"));
    assert_eq!(found(&desk, ""), [SESSION, "bbbb"]);
}

/// D35: what a group is told of itself is no episode that anybody looks for.
#[test]
fn the_latest_are_no_messages_about_groups() {
    let (desk, server) = (desk(), server());
    set(
        &desk,
        &server,
        json!({"include_system_messages": true, "user_scope_key": "me"}),
    );
    agree(&desk, &server.server.endpoint);
    done(desk.run("sessionmill promote --kind lesson --scope global --text zebras"));
    done(desk.run("sessionmill run"));
    let sources = |line: &str| -> Vec<String> {
        let told = desk
            .run(&format!("sessionmill search {line} --json"))
            .json();
        let hits = told["hits"].as_array().unwrap().iter();
        hits.map(|hit| hit["source"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(sources(""), ["text"]);
    assert_eq!(sources("--source message"), ["message"]);
}

#[test]
fn mistyped_words_are_asked_for_as_they_are_known() {
    let desk = two_days();
    for (typed, meant) in [
        ("zebar", "zebra"),
        ("zebra slepes", "zebra sleeps"),
        ("Zebra", ""),
        ("giraffe", ""),
        // nothing has both, spelled rightly too
        ("zebar giraffe", ""),
    ] {
        let ran = desk.run(&format!("sessionmill search {typed}"));
        let hint = format!("did you mean: sessionmill search {meant}\n");
        let is_told = ran.stderr.contains("did you mean");
        assert_eq!(is_told, !meant.is_empty(), "{typed}: {}", ran.shown());
        assert!(
            meant.is_empty() || ran.stderr.ends_with(&hint),
            "{}",
            ran.shown()
        );
    }
}

#[test]
fn a_word_of_another_project_is_not_suggested() {
    let desk = two_days();
    talk(&desk, "/w/other", "cccc", &["the okapi eats"]);
    done(desk.run("sessionmill run"));
    let here = desk.run("sessionmill search okapy --project /w/shop");
    assert!(!here.stderr.contains("okapi"), "{}", here.shown());
    let anywhere = desk.run("sessionmill search okapy");
    assert!(
        anywhere.stderr.contains("search okapi"),
        "{}",
        anywhere.shown()
    );
    done(desk.run("sessionmill forget cccc --yes"));
    let gone = desk.run("sessionmill search okapy");
    assert!(!gone.stderr.contains("okapi"), "{}", gone.shown());
}

#[test]
fn where_all_projects_may_answer_another_ones_session_must_be_surer() {
    const SHOP: &str = "/home/ada/shop-api";
    let desk = Desk::enabled();
    desk.run("sessionmill backfill");
    let store = Store::open(&desk.path(".graphiti/sessionmill.db"), Access::ReadOnly).unwrap();
    let answer = |project: &str, scope: &Scope| {
        let near = Near {
            project: Some(project.to_owned()),
            ..Near::default()
        };
        let words = question("does the token expiry have some leeway today", 9);
        let question = RecallQuestion {
            near,
            ..RecallQuestion::new(words, scope)
        };
        recall(&store, &question).unwrap()
    };
    assert!(answer(SHOP, &Scope::All).is_confident());
    assert!(!answer("/home/ada/other", &Scope::All).is_confident());
    // a project that moved is asked by its namespace
    let own = Scope::Only(vec![namespace(SHOP)]);
    assert!(answer("/home/ada/moved", &own).is_confident());
}
