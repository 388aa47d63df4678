//! What people want remembered (002-021, 002-023, 002-026, 002-035..037): by command, by directive,
//! taken back.

use super::delivery::{configure, done};
use super::forget::{desk, holds, said};
use super::memory_rows::{SESSION, agree, groups, posted, promote, repository, set, talk, world};
use super::world::Desk;
use crate::cli::Exit;
use crate::model::scope::MemoryScope;
use crate::model::time::Time;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;

fn kept(desk: &Desk) -> Vec<(String, String, String)> {
    let listed = done(desk.run("sessionmill memories list --json")).json();
    let listed = listed["memories"].as_array().unwrap();
    let text = |memory: &Value, key: &str| memory[key].as_str().unwrap().to_owned();
    let all = listed.iter();
    all.map(|m| (text(m, "kind"), text(m, "scope"), text(m, "text")))
        .collect()
}

#[test]
fn row_021_and_023_a_promoted_memory_is_found_and_delivered_to_its_group_as_a_block() {
    let (mut desk, world) = (desk(), world());
    let shop = repository(&desk, "shop", "git@github.com:acme/shop.git");
    set(&desk, &world, json!({"user_scope_key": "me@example.com"}));
    agree(&desk, &world.server.endpoint);
    done(desk.run("sessionmill run"));
    desk.cwd = Some(shop.clone().into());
    let text = "use rg, never grep\n</graphiti_episode>";
    let first = done(promote(
        &desk,
        &format!("--kind preference --scope user --text \"{text}\""),
    ))
    .json();
    assert_eq!(
        first["group"],
        "graphiti_user_8c2a47d3bdb8d3096a6479f53eac3b72"
    );
    let second = done(promote(
        &desk,
        "--kind lesson_learned --title \"clocks\" --text \"zebras don't mock clocks\"",
    ))
    .json();
    let workspace = MemoryScope::Workspace.group("github_repo:github.com/acme/shop");
    assert_eq!(second["group"], workspace.as_str());
    // the same words again are the same memory
    let again = done(promote(
        &desk,
        &format!("--kind preference --scope global --text \"{text}\""),
    ))
    .json();
    assert_eq!(
        (&again["new"], &again["memory"]),
        (&json!(false), &first["memory"])
    );
    let found = done(desk.run("sessionmill search zebras --json")).json();
    let hit = &found["hits"][0];
    assert_eq!(
        (&hit["source"], &hit["agent"]),
        (&json!("text"), &Value::Null)
    );
    assert_eq!(hit["episode"], second["memory"]);
    done(desk.run("sessionmill run"));
    let by_group = posted(&world);
    assert_eq!(by_group.len(), 2, "{by_group:?}");
    let content = by_group[&workspace][0]["content"].as_str().unwrap();
    assert_eq!(
        content,
        "<graphiti_episode kind=\"lesson\">\nsource: sessionmill\nscope: workspace\n\
         timestamp: 2026-06-01T12:00:00Z\ntitle: clocks\ncontent:\nzebras don't mock clocks\n\
         </graphiti_episode>\n"
    );
    let global = &by_group["graphiti_user_8c2a47d3bdb8d3096a6479f53eac3b72"][0];
    let content = global["content"].as_str().unwrap();
    assert_eq!(
        content.matches("</graphiti_episode>").count(),
        1,
        "{content}"
    );
    // rows 028 and 033: neither a path nor a name of the machine's is told
    for message in by_group.values().flatten() {
        assert!(!message.to_string().contains(&shop), "{message}");
    }
    let listed = kept(&desk);
    assert_eq!(listed[1].0, "preference");
    assert!(desk.run("sessionmill run --json").json()["sinks"][0]["delivered"] == 0);
    // what stays here is never left to the sinks alone, and a session's list doesn't know of it
    let sessions = done(desk.run("sessionmill sessions --json")).json();
    assert_eq!(sessions["sessions"], json!([]), "{sessions}");
}

#[test]
fn memories_are_edited_under_their_id_and_taken_back_everywhere() {
    let (desk, world) = (desk(), world());
    set(&desk, &world, json!({}));
    agree(&desk, &world.server.endpoint);
    done(desk.run("sessionmill run"));
    let id = done(promote(
        &desk,
        "--kind decision --text \"zebra stripes are black\"",
    ))
    .json();
    let id = id["memory"].as_str().unwrap().to_owned();
    done(desk.run("sessionmill run"));
    assert_eq!(posted(&world).values().flatten().count(), 1);
    let short = &id[..8];
    done(desk.run(&format!(
        "sessionmill memories edit {short} --text \"stripes are white\""
    )));
    assert!(!holds(&desk, "are black"), "what it said before is gone");
    let shown = done(desk.run(&format!("sessionmill memories show {short}"))).stdout;
    assert!(
        shown.contains("title: stripes are white\ncontent:\nstripes are white"),
        "{shown}"
    );
    done(desk.run("sessionmill run"));
    let told = posted(&world);
    assert!(
        told.values()
            .flatten()
            .all(|m| m.to_string().contains("white")),
        "{told:?}"
    );
    assert_eq!(
        world
            .mind()
            .nodes
            .iter()
            .filter(|n| n.name.contains(&id))
            .count(),
        1
    );
    let doctor = desk.run("sessionmill doctor --json").json();
    let findings = doctor["findings"].as_array().unwrap();
    assert!(
        findings.iter().all(|f| f["severity"] != "error"),
        "{doctor}"
    );
    for again in ["run --all --rebuild", "store compact"] {
        done(desk.run(&format!("sessionmill {again}")));
        assert_eq!(kept(&desk).len(), 1, "{again}");
    }
    let undone = done(desk.run(&format!("sessionmill memories remove {short} --json"))).json();
    assert_eq!(undone["left_at_sinks"], 1, "{undone}");
    assert!(kept(&desk).is_empty() && !holds(&desk, "are white"));
    done(desk.run("sessionmill deliver run"));
    assert_eq!(groups(&world), BTreeSet::new());
    let ran = desk.run(&format!("sessionmill memories show {short}"));
    assert_eq!(ran.exit, Exit::Failed);
    assert!(ran.stderr.contains("was removed"), "{}", ran.shown());
}

#[test]
fn what_was_taken_back_can_be_promoted_again() {
    let (desk, world) = (desk(), world());
    set(&desk, &world, json!({}));
    agree(&desk, &world.server.endpoint);
    let lesson = "--kind lesson --text \"zebras bite\"";
    let mut ids = BTreeSet::new();
    for _ in 0..3 {
        let promoted = done(promote(&desk, lesson)).json();
        assert_eq!(promoted["new"], true, "{promoted}");
        let again = done(promote(&desk, lesson)).json();
        assert_eq!(
            (&again["new"], &again["memory"]),
            (&json!(false), &promoted["memory"])
        );
        let id = promoted["memory"].as_str().unwrap().to_owned();
        done(desk.run("sessionmill run"));
        assert_eq!(posted(&world).values().flatten().count(), 1);
        done(desk.run(&format!("sessionmill memories undo {id}")));
        done(desk.run("sessionmill deliver run"));
        assert_eq!(groups(&world), BTreeSet::new());
        assert!(ids.insert(id) && kept(&desk).is_empty());
    }
    done(promote(
        &desk,
        "--kind lesson --project /w/x --text \"zebras bite\"",
    ));
    let mut later = desk;
    later.now = Time(later.now.0 + 60_000);
    done(later.run("sessionmill forget --project /w/x --yes"));
    let anew = done(promote(
        &later,
        "--kind lesson --project /w/x --text \"zebras bite\"",
    ))
    .json();
    assert_eq!(anew["new"], true, "{anew}");
}

#[test]
fn spaces_make_no_other_memory_and_nothing_that_is_kept_drives_a_terminal() {
    let desk = desk();
    let id = |text: &str| {
        let promoted = done(promote(&desk, &format!("--kind lesson --text \"{text}\""))).json();
        promoted["memory"].as_str().unwrap().to_owned()
    };
    let first = id("zebras  bite\nat night");
    for same in ["zebras bite\n\nat night", " zebras bite\r\nat\tnight\n"] {
        assert_eq!(id(same), first, "{same:?}");
    }
    assert_ne!(id("zebras bite at night, too"), first);
    let driven = id("lions \u{1b}[2Jroar\u{7}\u{9b}x");
    let shown = done(desk.run(&format!("sessionmill memories show {driven} --json"))).json();
    assert_eq!(
        (&shown["text"], &shown["title"]),
        (&json!("lions roarx"), &json!("lions roarx"))
    );
    assert_eq!(kept(&desk).len(), 3);
    // a title is one line of at most 80 characters, whoever gives it
    let long = "x".repeat(5_000);
    let titled = done(promote(
        &desk,
        &format!("--kind lesson --title {long} --text y"),
    ))
    .json();
    assert_eq!(titled["title"].as_str().unwrap().chars().count(), 80);
}

#[test]
fn a_directive_that_is_too_long_is_refused_where_everybody_sees_it() {
    let desk = desk();
    configure(
        &desk,
        json!({"graphiti": {"auto_promote": {"enabled": true}}}),
    );
    let long = format!("lesson: {}", "zebra ".repeat(2_000));
    talk(&desk, "/w/shop", SESSION, &[&long]);
    let ran = done(desk.run("sessionmill run --json")).json();
    assert_eq!(
        (&ran["memories_kept"], &ran["directives_refused"]),
        (&json!(0), &json!(1))
    );
    let refused = done(desk.run("sessionmill memories list --refused")).stdout;
    assert!(refused.contains("at most 8192 bytes"), "{refused}");
    let list = done(desk.run("sessionmill memories list"));
    assert!(
        list.stderr.contains("1 refused directive"),
        "{}",
        list.shown()
    );
    assert!(kept(&desk).is_empty());
}

#[test]
fn row_037_a_secret_is_refused_by_name_and_never_kept() {
    let desk = desk();
    let secret = format!("ghp_{}", "x1Yz2Wv3Ut4Sr5Qp6On7Ml8Kj9Ih0Gf1Ed2C");
    for words in [
        format!("--text \"it is {secret}\""),
        format!("--title \"{secret}\" --text x"),
    ] {
        let ran = promote(&desk, &format!("--kind lesson {words}"));
        assert_eq!(ran.exit, Exit::Usage, "{}", ran.shown());
        assert!(
            ran.stderr.contains("looks like a secret (github"),
            "{}",
            ran.shown()
        );
        assert!(!ran.shown().contains(&secret));
    }
    configure(
        &desk,
        json!({"graphiti": {"auto_promote": {"enabled": true}}}),
    );
    talk(
        &desk,
        "/w/shop",
        SESSION,
        &[&format!("lesson: the token is {secret}")],
    );
    let ran = done(desk.run("sessionmill run --json")).json();
    assert_eq!(
        (&ran["memories_kept"], &ran["directives_refused"]),
        (&json!(0), &json!(1))
    );
    let refused = done(desk.run("sessionmill memories list --refused")).stdout;
    assert!(refused.contains("secret (github"), "{refused}");
    assert!(!holds(&desk, &secret) && kept(&desk).is_empty());
}

#[test]
fn row_035_and_036_directives_become_memories_once_however_often_they_are_read() {
    let desk = desk();
    let on = json!({"graphiti": {"auto_promote": {"enabled": true, "more_words": ["todo"]}, "user_scope_key": "me"}});
    let prompts = [
        "preference (global): short zebras",
        "decisions: one lion per cage\nthen go on",
        "task (team): feed them",
        "todo (session): sweep\n```\nlesson: in code\n```\n> lesson: quoted",
    ];
    let wants: Vec<(String, String, String)> = [
        ("preference", "global", "short zebras"),
        ("decision", "workspace", "one lion per cage"),
        ("task", "session", "sweep"),
    ]
    .map(|(a, b, c)| (a.into(), b.into(), c.into()))
    .into();
    // off: nothing becomes of them
    talk(&desk, "/w/shop", SESSION, &prompts);
    done(desk.run("sessionmill run"));
    assert!(kept(&desk).is_empty());
    configure(&desk, on);
    done(desk.run("sessionmill run --all --rebuild"));
    assert_eq!(kept(&desk), wants);
    let refused = done(desk.run("sessionmill memories list --refused --json")).json();
    let reason = refused["refused"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("session, workspace, global"), "{refused}");
    // read again, grown, copied by a fork: the same
    let log = desk.path(".claude/projects/-w/aaaa.jsonl");
    let whole = fs::read_to_string(&log).unwrap();
    let copy = whole.replace("\"aaaa\"", "\"ffff\"");
    desk.write(".claude/projects/-w/ffff.jsonl", &copy);
    desk.write(
        ".claude/projects/-w/aaaa.jsonl",
        &(whole + &said(SESSION, "/w/shop", 990, "user", "and more")),
    );
    for again in ["run", "run --all --rebuild", "run"] {
        done(desk.run(&format!("sessionmill {again}")));
        assert_eq!(kept(&desk), wants, "{again}");
    }
    // one that was taken back stays so
    let listed = done(desk.run("sessionmill memories list --scope global --json")).json();
    let id = listed["memories"][0]["memory"].as_str().unwrap().to_owned();
    assert_eq!(listed["memories"][0]["session"], SESSION);
    done(desk.run(&format!("sessionmill memories undo {id}")));
    done(desk.run("sessionmill run --all --rebuild"));
    assert_eq!(kept(&desk), wants[1..]);
}

#[test]
fn directives_go_with_the_session_that_they_were_said_in_and_come_back_with_it() {
    let desk = desk();
    configure(
        &desk,
        json!({"graphiti": {"auto_promote": {"enabled": true}}}),
    );
    talk(&desk, "/w/shop", SESSION, &["lesson: never feed zebras"]);
    done(desk.run("sessionmill run"));
    done(promote(
        &desk,
        "--kind lesson --project /w/shop --text \"lions bite\"",
    ));
    let forgot = done(desk.run("sessionmill forget aaaa --json")).json();
    assert_eq!(forgot["memories"], 1, "{forgot}");
    assert!(!holds(&desk, "never feed zebras"));
    done(desk.run("sessionmill run --all --rebuild"));
    assert_eq!(kept(&desk).len(), 1, "what a person promoted stays");
    done(desk.run("sessionmill forget --undo aaaa"));
    done(desk.run("sessionmill run --all"));
    assert_eq!(kept(&desk).len(), 2);
    // by time: the words around a directive go, and it with them
    done(desk.run("sessionmill forget --before 2026-05-31 --yes"));
    assert_eq!(kept(&desk).len(), 1);
    // a project goes with all of it
    let mut later = desk;
    later.now = Time(later.now.0 + 60_000);
    done(later.run("sessionmill forget --project /w/shop --yes"));
    assert!(kept(&later).is_empty() && !holds(&later, "lions bite"));
}

#[test]
fn row_026_a_group_is_purged_when_somebody_says_so() {
    let desk = desk();
    let shop = repository(&desk, "shop", "git@github.com:acme/shop");
    talk(&desk, &shop, SESSION, &["please zebra it"]);
    talk(&desk, "/w/other", "bbbb", &["please lion it"]);
    done(desk.run("sessionmill run"));
    done(promote(
        &desk,
        &format!("--kind lesson --project {shop} --text \"zebras bite\""),
    ));
    let group = MemoryScope::Workspace.group("github_repo:github.com/acme/shop");
    let ran = desk.run(&format!("sessionmill forget --group {group}"));
    assert_eq!(ran.exit, Exit::Usage, "it is asked for: {}", ran.shown());
    assert!(ran.stderr.contains("1 memory"), "{}", ran.shown());
    let gone = done(desk.run(&format!("sessionmill forget --group {group} --yes --json"))).json();
    assert_eq!(
        (&gone["sessions"], &gone["memories"]),
        (&json!(1), &json!(1)),
        "{gone}"
    );
    done(desk.run("sessionmill run --all --rebuild"));
    assert!(!holds(&desk, "zebra") && holds(&desk, "lion"));
    // by words too
    done(promote(&desk, "--kind lesson --text \"wombats bite\""));
    let gone = done(desk.run("sessionmill forget --match wombats --yes --json")).json();
    assert_eq!(
        (&gone["sessions"], &gone["memories"]),
        (&json!(0), &json!(1)),
        "{gone}"
    );
    assert!(!holds(&desk, "wombat"));
    let session = MemoryScope::Session.group("claude_session:bbbb");
    done(desk.run(&format!("sessionmill forget --group {session} --yes")));
    assert!(!holds(&desk, "lion"));
}

#[test]
fn what_is_promoted_before_the_first_run_is_delivered_and_changes_no_other_group() {
    let (desk, world) = (desk(), world());
    let shop = repository(&desk, "shop", "git@github.com:acme/shop");
    let scopes = json!({"user_scope_key": "me", "ingest_scopes": ["workspace"]});
    set(&desk, &world, scopes);
    agree(&desk, &world.server.endpoint);
    done(promote(
        &desk,
        "--kind lesson --scope global --text \"lions bite\"",
    ));
    talk(&desk, &shop, SESSION, &["please zebra it"]);
    done(desk.run("sessionmill run"));
    let many: Vec<(String, usize)> = posted(&world)
        .into_iter()
        .map(|(group, all)| (group, all.len()))
        .collect();
    let workspace = MemoryScope::Workspace.group("github_repo:github.com/acme/shop");
    let user = MemoryScope::Global.group("me");
    let wants = [("desk__global".to_owned(), 2), (user, 1), (workspace, 2)];
    assert_eq!(many, wants);
    let status = done(desk.run("sessionmill deliver status")).stdout;
    assert!(!status.contains("older"), "{status}");
}

/// Somebody chose its words: they are few, and a question needn't have many of them.
#[test]
fn a_memory_is_recalled_where_a_question_speaks_of_it() {
    let (mut desk, world) = (desk(), world());
    set(&desk, &world, json!({}));
    desk.cwd = Some(repository(&desk, "shop", "git@github.com:acme/shop.git").into());
    done(promote(&desk, "--kind decision --text \"No Redis here\""));
    let recalled = |question: &str| {
        let told = desk.run(&format!("sessionmill recall --json \"{question}\""));
        told.json()["facts"].to_string()
    };
    assert!(recalled("shall we use redis for the cache?").contains("No Redis here"));
    for other in [
        "push it",
        "what does this project do?",
        "rename the cache key",
    ] {
        assert_eq!(recalled(other), "[]", "{other}");
    }
}

/// Whoever promotes something is told where it won't come up.
#[test]
fn what_will_not_be_recalled_is_said_when_it_is_promoted() {
    let (mut desk, world) = (desk(), world());
    desk.cwd = Some(repository(&desk, "shop", "git@github.com:acme/shop.git").into());
    let limits = json!({"max_fact_chars": 40});
    let auto = json!({"scopes_mode": "auto"});
    for (recall, scope, wants) in [
        (json!({}), "workspace", None),
        (
            json!({}),
            "global",
            Some("graphiti.recall.scopes doesn't name global"),
        ),
        (auto, "global", Some("where a question is about you")),
        (json!({"scopes": ["workspace", "global"]}), "global", None),
        (
            limits,
            "workspace",
            Some("of which recall shows the first 40 at most"),
        ),
        (
            json!({"enabled": false}),
            "workspace",
            Some("graphiti.recall.enabled is false"),
        ),
    ] {
        set(
            &desk,
            &world,
            json!({"user_scope_key": "me@example.com", "recall": recall}),
        );
        let line = format!(
            "sessionmill promote --kind lesson --scope {scope} --text \"owls sleep all day long and zebras never sleep\""
        );
        let told = done(desk.run(&line)).stderr;
        match wants {
            Some(wants) => assert!(told.contains(wants), "{wants}: {told}"),
            None => assert!(!told.contains("recall"), "{told}"),
        }
    }
}
