//! Settings that say where things are, as they change: what stays here, which group, which folders of Claude
//! Code, and a file that Graphiti shares.

use super::delivery::{configure, done};
use super::forget::desk;
use super::memory_rows::talk;
use super::world::Desk;
use crate::cli::Exit;
use crate::model::namespace::namespace;
use crate::model::time::Time;
use serde_json::{Value, json};
use std::fs;

fn settings(desk: &Desk, tracking: Value) {
    let mut tracking = tracking;
    tracking["enabled"] = true.into();
    let sinks = json!({"out": {"kind": "jsonl", "path": "~/out"}});
    configure(desk, json!({"session_tracking": tracking, "sinks": sinks}));
}

/// A day later, so that everything is settled.
fn run(desk: &mut Desk) -> Value {
    desk.now = Time(desk.now.0 + 86_400_000);
    done(desk.run("sessionmill run --all --json")).json()
}

/// All that was exported.
fn exported(desk: &Desk) -> String {
    let files = fs::read_dir(desk.path("out")).into_iter().flatten();
    let files = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    files.collect()
}

fn waiting(desk: &Desk) -> Value {
    let status = done(desk.run("sessionmill deliver status --json")).json();
    status["sinks"][0]["waiting"].clone()
}

#[test]
fn what_was_stored_while_nothing_was_to_leave_waits_for_nothing() {
    let mut desk = desk();
    settings(&desk, json!({}));
    talk(&desk, "/w/shop", "aaaa1", &["alpha it"]);
    run(&mut desk);
    assert!(exported(&desk).contains("alpha"));
    settings(&desk, json!({"store_in_graph": false}));
    talk(&desk, "/w/shop", "bbbb2", &["beta it"]);
    run(&mut desk);
    settings(&desk, json!({}));
    assert_eq!(waiting(&desk), 0);
    talk(&desk, "/w/shop", "cccc3", &["gamma it"]);
    run(&mut desk);
    let told = exported(&desk);
    assert!(told.contains("gamma") && !told.contains("beta"), "{told}");
    done(desk.run("sessionmill deliver run --history"));
    assert!(exported(&desk).contains("beta"));
}

#[test]
fn a_project_that_kept_its_sessions_here_delivers_only_what_comes_then() {
    let mut desk = desk();
    settings(&desk, json!({}));
    let shop = desk.path("shop").display().to_string();
    let own = r#"{"session_tracking": {"store_in_graph": false}}"#;
    desk.write("shop/graphiti.config.json", own);
    talk(&desk, &shop, "aaaa1", &["alpha it"]);
    talk(&desk, "/w/blog", "bbbb2", &["beta it"]);
    run(&mut desk);
    desk.write("shop/graphiti.config.json", "{}");
    talk(&desk, &shop, "cccc3", &["gamma it"]);
    run(&mut desk);
    let told = exported(&desk);
    assert!(told.contains("beta") && told.contains("gamma"), "{told}");
    assert!(!told.contains("alpha"), "{told}");
    done(desk.run("sessionmill deliver run --history"));
    assert!(exported(&desk).contains("alpha"));
}

#[test]
fn a_group_that_changed_says_what_stays_where_and_can_be_moved() {
    let mut desk = desk();
    settings(&desk, json!({"group_id": "first"}));
    talk(&desk, "/w/shop", "aaaa1", &["alpha it"]);
    run(&mut desk);
    settings(&desk, json!({"group_id": "second"}));
    desk.now = Time(desk.now.0 + 1);
    let told = done(desk.run("sessionmill run --all"));
    for says in [
        "is second now",
        "2 episodes stay in first",
        "deliver regroup first",
    ] {
        assert!(told.stderr.contains(says), "{says}: {}", told.shown());
    }
    talk(&desk, "/w/shop", "bbbb2", &["beta it"]);
    run(&mut desk);
    let groups = |desk: &Desk| -> Vec<String> {
        let lines = exported(desk);
        let mut groups: Vec<String> = lines
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["group"].to_string())
            .collect();
        groups.sort();
        groups
    };
    assert_eq!(
        groups(&desk),
        [r#""first""#, r#""first""#, r#""second""#, r#""second""#]
    );
    let dry = done(desk.run("sessionmill deliver regroup first --dry-run"));
    assert!(
        dry.stdout
            .contains("would move 2 episodes from first to second"),
        "{}",
        dry.shown()
    );
    done(desk.run("sessionmill deliver regroup first"));
    run(&mut desk);
    assert_eq!(groups(&desk), [r#""second""#; 4]);
    done(desk.run("sessionmill deliver verify"));
    let again = desk.run("sessionmill deliver regroup first");
    assert_eq!(again.exit, Exit::Failed, "{}", again.shown());
    let quiet = done(desk.run("sessionmill run --all"));
    assert!(!quiet.stderr.contains("group_id"), "{}", quiet.shown());
}

#[test]
fn each_project_may_have_a_group_of_its_own_and_none_is_sent_twice() {
    let mut desk = desk();
    settings(&desk, json!({"group_id": "mine"}));
    talk(&desk, "/w/shop", "aaaa1", &["alpha it"]);
    run(&mut desk);
    settings(&desk, json!({"group_id": "mine_{namespace}"}));
    talk(&desk, "/w/blog", "bbbb2", &["beta it"]);
    desk.now = Time(desk.now.0 + 1);
    let moved = done(desk.run("sessionmill run --all"));
    assert!(
        moved.stderr.contains("deliver regroup mine"),
        "{}",
        moved.shown()
    );
    run(&mut desk);
    let (shop, blog) = (namespace("/w/shop"), namespace("/w/blog"));
    let groups = |desk: &Desk| -> Vec<String> {
        let read = |line: &str| serde_json::from_str::<Value>(line).unwrap()["group"].clone();
        let mut groups: Vec<String> = exported(desk)
            .lines()
            .map(|line| read(line).as_str().unwrap().to_owned())
            .collect();
        groups.sort();
        groups
    };
    let own = |namespace: &str| [format!("mine_{namespace}"), format!("mine_{namespace}")];
    let mut wants = [
        own(&blog).to_vec(),
        vec!["mine".to_owned(), "mine".to_owned()],
    ]
    .concat();
    wants.sort();
    assert_eq!(groups(&desk), wants);
    done(desk.run("sessionmill deliver regroup mine"));
    run(&mut desk);
    let mut wants = [own(&blog), own(&shop)].concat();
    wants.sort();
    assert_eq!(groups(&desk), wants);
    // nothing is given twice, and the way back is one command
    settings(&desk, json!({}));
    talk(&desk, "/w/shop", "cccc3", &["gamma it"]);
    run(&mut desk);
    let sent = groups(&desk);
    assert_eq!(
        sent.iter().filter(|group| **group == own(&shop)[0]).count(),
        4
    );
    settings(&desk, json!({"group_id": "mine"}));
    desk.now = Time(desk.now.0 + 1);
    let back = done(desk.run("sessionmill run --all"));
    assert!(
        back.stderr
            .contains("6 episodes stay in mine_{namespace}, which"),
        "{}",
        back.shown()
    );
    done(desk.run("sessionmill deliver regroup mine_{namespace}"));
    run(&mut desk);
    assert_eq!(groups(&desk), vec!["mine"; 6]);
    done(desk.run("sessionmill deliver verify"));
}

#[test]
fn several_folders_of_claude_code_are_read_and_heeded() {
    let mut desk = desk();
    let log =
        |cwd: &str, word: &str| super::forget::said(word, cwd, 1, "user", &format!("{word} it"));
    desk.write("one/projects/-w/a.jsonl", &log("/w/one", "alpha"));
    desk.write("two/projects/-w/b.jsonl", &log("/w/two", "beta"));
    desk.write(
        "two/projects/-w/c.jsonl",
        &log("/w/bad", "gamma").replace("000001", "000009"),
    );
    let distrust = json!({"projects": {"/w/bad": {"hasTrustDialogAccepted": false}}});
    desk.write("two/.claude.json", &distrust.to_string());
    let both = ["one", "two"]
        .map(|dir| desk.path(dir).display().to_string())
        .join(",");
    desk.vars.insert("CLAUDE_CONFIG_DIR".into(), both);
    let ran = done(desk.run("sessionmill run --all"));
    assert!(ran.stdout.contains("(untrusted)"), "{}", ran.shown());
    let sessions = done(desk.run("sessionmill sessions --json")).json();
    let mut ids: Vec<&str> = sessions["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["id"].as_str().unwrap())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, ["alpha", "beta"]);
}

#[test]
fn a_file_that_graphiti_shares_is_read_with_one_note() {
    let desk = desk();
    let shared = |more: Value| {
        let mut settings = json!({"version": "1.0.0", "session_tracking": {"enabled": true},
            "database": {"backend": "neo4j"}, "llm": {"default_model": "x"}, "daemon": {"enabled": true}});
        for (key, value) in more.as_object().unwrap() {
            settings[key] = value.clone();
        }
        desk.write(".graphiti/graphiti.config.json", &settings.to_string());
        desk.run("sessionmill config show")
    };
    let ran = done(shared(json!({})));
    let notes = ran
        .stderr
        .matches("they are Graphiti's: database, llm.default_model, daemon")
        .count();
    assert_eq!(notes, 1, "{}", ran.shown());
    let ran = shared(json!({"databse": {}}));
    assert_eq!(ran.exit, Exit::Usage, "{}", ran.shown());
    shared(json!({}));
    // what we write there leaves the rest as it is
    done(desk.run("sessionmill disable --project /w/shop"));
    let text = fs::read_to_string(desk.path(".graphiti/graphiti.config.json")).unwrap();
    assert!(
        text.contains(r#""database":{"backend":"neo4j"}"#) && text.contains("/w/shop"),
        "{text}"
    );
    done(desk.run("sessionmill run"));
}

#[test]
fn a_projects_file_counts_in_its_subfolders_and_one_there_takes_more_away() {
    let desk = desk();
    settings(&desk, json!({}));
    for (folder, off) in [("shop", "false"), ("blog", "true")] {
        desk.write(&format!("{folder}/.git/HEAD"), "ref: refs/heads/main\n");
        let own = format!(r#"{{"session_tracking": {{"enabled": {off}}}}}"#);
        desk.write(&format!("{folder}/graphiti.config.json"), &own);
        fs::create_dir(desk.path(&format!("{folder}/part"))).unwrap();
    }
    let more = r#"{"session_tracking": {"enabled": true, "include_project_path": false}}"#;
    desk.write("shop/part/graphiti.config.json", more);
    desk.write("blog/part/graphiti.config.json", more);
    for (session, folder) in [
        ("aaaa1", "shop/part"),
        ("bbbb2", "blog/part"),
        ("cccc3", "blog"),
    ] {
        talk(
            &desk,
            &desk.path(folder).display().to_string(),
            session,
            &["feed it"],
        );
    }
    let ran = done(desk.run("sessionmill run --all"));
    assert!(
        ran.stdout.contains("(switched off by the project)"),
        "{}",
        ran.shown()
    );
    let shown = done(desk.run("sessionmill sessions"));
    assert!(shown.stdout.contains("  blog  "), "{}", shown.shown());
    let hidden = ["aaaa1", "shop", "blog/part"];
    assert!(
        hidden.iter().all(|word| !shown.stdout.contains(word)),
        "{}",
        shown.shown()
    );
}

#[test]
fn one_project_is_switched_off_and_on_whatever_stands_around_it() {
    let mut desk = Desk::new();
    // before anybody said yes
    let on = desk.run("sessionmill enable --project shop");
    assert_eq!(on.exit, Exit::Failed, "{}", on.shown());
    assert!(
        on.stderr.contains("no project is named shop"),
        "{}",
        on.shown()
    );
    fs::create_dir(desk.path("shop")).unwrap();
    let on = desk.run("sessionmill enable --project shop");
    assert_eq!(on.exit, Exit::Usage, "{}", on.shown());
    assert!(on.stderr.contains("only undoes"), "{}", on.shown());
    done(desk.run("sessionmill disable --project shop"));
    let on = done(desk.run("sessionmill enable --project shop"));
    assert!(
        on.stderr.contains("off everywhere: sessionmill enable"),
        "{}",
        on.shown()
    );
    let off = done(desk.run("sessionmill disable --project /w/nowhere"));
    assert!(
        off.stderr.contains("no folder /w/nowhere"),
        "{}",
        off.shown()
    );
    desk.cwd = Some(desk.path("shop"));
    settings(&desk, json!({"excluded_paths": ["~/sh*"]}));
    let on = desk.run("sessionmill enable --project .");
    assert_eq!(on.exit, Exit::Failed, "{}", on.shown());
    assert!(on.stderr.contains("still covers ~/shop"), "{}", on.shown());
}
