//! The rows of 002, one by one, as a person sees them: gates, scopes, groups. Promoted memories and
//! directives are in `promotion`.
//!
//! Rows that are held elsewhere: 002-003 (there is no such thing), 002-011..013 (`outbox`, `faults`,
//! `delivery`: a full queue, retries, dead letters), 002-015..018 (recall), 002-034
//! (`rules::directives`).

use super::delivery::{configure, done, sink_of};
use super::forget::{desk, holds, said};
use super::graphiti::{Mind, World};
use super::graphiti_rules::messages;
use super::world::{Desk, Ran};
use crate::cli::Exit;
use crate::model::consent::endpoint_text;
use crate::model::namespace::namespace;
use crate::model::scope::{MemoryScope, repository_key};
use crate::store::{Access, Store};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

pub(super) const SESSION: &str = "aaaa";

/// A server in memory that removes what it is told to.
pub(super) fn world() -> World {
    let world = World::new(Mind::new(0));
    world.mind().deletes = true;
    world
}

pub(super) fn agree(desk: &Desk, endpoint: &str) {
    let text = endpoint_text(&endpoint.parse().unwrap());
    done(desk.run(&format!(
        "sessionmill consent give {endpoint} --confirm \"{text}\""
    )));
}

/// Settings with that server as sink `memory`.
pub(super) fn set(desk: &Desk, world: &World, graphiti: Value) {
    let memory = json!({"kind": "graphiti", "url": world.server.endpoint, "stall": "2s"});
    let mut all = json!({"enabled": true, "consent": true});
    for (key, value) in graphiti.as_object().unwrap() {
        all[key] = value.clone();
    }
    configure(desk, json!({"sinks": {"memory": memory}, "graphiti": all}));
}

/// A repository in the home, with a remote.
pub(super) fn repository(desk: &Desk, name: &str, remote: &str) -> String {
    let config = format!("[remote \"origin\"]\n\turl = {remote}\n");
    desk.write(&format!("{name}/.git/config"), &config);
    desk.path(name).to_string_lossy().into_owned()
}

/// A session of these prompts, sealed by its age.
pub(super) fn talk(desk: &Desk, cwd: &str, session: &str, prompts: &[&str]) {
    let base = session.bytes().map(u32::from).sum::<u32>() * 10;
    let lines = (0..).zip(prompts).map(|(n, prompt)| {
        said(session, cwd, base + 2 * n, "user", prompt)
            + &said(session, cwd, base + 2 * n + 1, "assistant", "done")
    });
    let lines: String = lines.collect();
    desk.write(&format!(".claude/projects/-w/{session}.jsonl"), &lines);
}

/// What the server was sent since the last look, by group.
pub(super) fn posted(world: &World) -> BTreeMap<String, Vec<Value>> {
    let mut by_group: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let asked = world.server.asked();
    let posts = asked.iter().filter(|a| a.line == "POST /messages");
    for post in posts.filter(|post| post.body["group_id"] != "sessionmill_canary") {
        let group = post.body["group_id"].as_str().unwrap().to_owned();
        let all = messages(std::slice::from_ref(post));
        by_group.entry(group).or_default().extend(all);
    }
    by_group
}

pub(super) fn promote(desk: &Desk, more: &str) -> Ran {
    desk.run(&format!("sessionmill promote --json {more}"))
}

pub(super) fn groups(world: &World) -> BTreeSet<String> {
    let mind = world.mind();
    let ours = mind
        .nodes
        .iter()
        .filter(|n| n.group != "sessionmill_canary");
    ours.map(|node| node.group.clone()).collect()
}

#[test]
fn row_007_to_009_and_027_each_gate_in_its_order_names_its_setting() {
    let (desk, world) = (desk(), world());
    let bad = repository(&desk, "bad", "git@h:o/bad");
    desk.write(
        ".codex/config.toml",
        &format!("[projects.\"{bad}\"]\ntrust_level = \"untrusted\"\n"),
    );
    talk(&desk, "/w/shop", SESSION, &["please zebra it"]);
    let mut here = desk;
    here.cwd = Some(bad.into());
    let refused = |desk: &Desk, line: &str, says: &str| {
        let ran = desk.run(&format!("sessionmill {line}"));
        // a sink stops itself only: logs are read, and the run says what is missing
        let wants = match line {
            "run" => Exit::Partial,
            _ => Exit::Usage,
        };
        assert_eq!(ran.exit, wants, "{line}: {}", ran.shown());
        assert!(ran.stderr.contains(says), "{line}: {}", ran.shown());
    };
    // off by default: a run stores and sends nothing, and that is no failure
    let memory = json!({"kind": "graphiti", "url": world.server.endpoint});
    configure(&here, json!({"sinks": {"memory": memory}, "graphiti": {}}));
    let ran = done(here.run("sessionmill run"));
    assert!(
        ran.stderr.contains("graphiti.enabled is false"),
        "{}",
        ran.shown()
    );
    for command in [
        "deliver run",
        "deliver check",
        "deliver verify",
        "deliver check memory",
    ] {
        refused(&here, command, "graphiti.enabled is false");
    }
    set(&here, &world, json!({"consent": false}));
    for command in ["deliver run", "deliver check", "deliver verify"] {
        refused(&here, command, "is not trusted");
        refused(&here, command, "--allow-untrusted");
        let allowed = format!("{command} --allow-untrusted");
        refused(&here, &allowed, "graphiti.consent is false");
    }
    refused(&here, "run", "graphiti.consent is false");
    set(&here, &world, json!({}));
    let endpoint = format!("consent give {}", world.server.endpoint);
    refused(&here, "deliver run --allow-untrusted", &endpoint);
    refused(&here, "run", &endpoint);
    assert_eq!(world.server.asked().len(), 0, "somebody came");
    agree(&here, &world.server.endpoint);
    let ran = done(here.run("sessionmill deliver run --allow-untrusted --history --json"));
    assert_eq!(sink_of(&ran.json())["delivered"], 2, "{}", ran.shown());
}

#[test]
fn row_010_what_is_not_trusted_stays_here() {
    let (desk, world) = (desk(), world());
    let [bad, good, new] = ["bad", "good", "new"].map(|n| repository(&desk, n, "git@h:o/r"));
    let trust = |level: &str| {
        format!(
            "[projects.\"{bad}\"]\ntrust_level = \"{level}\"\n[projects.\"{good}\"]\ntrust_level = \"trusted\"\n"
        )
    };
    desk.write(".codex/config.toml", &trust("trusted"));
    for (nth, cwd) in [&bad, &good, &new].into_iter().enumerate() {
        talk(&desk, cwd, &format!("s{nth}"), &["please zebra it"]);
    }
    done(desk.run("sessionmill run"));
    desk.write(".codex/config.toml", &trust("untrusted"));
    let delivered = |desk: &Desk, line: &str| {
        let ran = done(desk.run(&format!("sessionmill deliver run {line} --json")));
        sink_of(&ran.json())["delivered"].as_u64().unwrap()
    };
    set(&desk, &world, json!({"unknown_projects": "deny"}));
    agree(&desk, &world.server.endpoint);
    assert_eq!(delivered(&desk, "--history"), 2, "trusted");
    set(&desk, &world, json!({}));
    assert_eq!(delivered(&desk, ""), 2, "unknown");
    assert_eq!(delivered(&desk, ""), 0);
    assert_eq!(
        delivered(&desk, "--allow-untrusted"),
        2,
        "overridden, this once"
    );
}

#[test]
fn row_014_and_019_scopes_get_every_episode_once_in_groups_of_their_own() {
    let (desk, world) = (desk(), world());
    let shop = repository(&desk, "shop", "https://tok@github.com/Acme/Shop.git");
    talk(
        &desk,
        &shop,
        SESSION,
        &["please zebra it", "please lion it"],
    );
    set(
        &desk,
        &world,
        json!({"ingest_scopes": ["workspace", "session"]}),
    );
    agree(&desk, &world.server.endpoint);
    let ran = done(desk.run("sessionmill run --json")).json();
    let sinks: BTreeMap<&str, u64> = ran["sinks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|sink| {
            (
                sink["sink"].as_str().unwrap(),
                sink["delivered"].as_u64().unwrap(),
            )
        })
        .collect();
    let wants = [
        ("memory", 2),
        ("memory/session", 2),
        ("memory/workspace", 2),
    ];
    assert_eq!(sinks, wants.into(), "{ran}");
    let workspace = MemoryScope::Workspace.group("github_repo:github.com/acme/shop");
    let session = MemoryScope::Session.group("claude_session:aaaa");
    let wants = ["desk__global", &workspace, &session].map(str::to_owned);
    assert_eq!(groups(&world), wants.into());
    let by_group = posted(&world);
    assert!(by_group.values().all(|all| all.len() == 2), "{by_group:?}");
    let names: BTreeSet<&str> = by_group
        .values()
        .flatten()
        .map(|m| m["name"].as_str().unwrap())
        .collect();
    assert_eq!(names.len(), 6, "each copy has an id of its own: {names:?}");
    // again is nothing, and all of it is there
    let again = done(desk.run("sessionmill run --json")).json();
    assert!(
        again["sinks"]
            .as_array()
            .unwrap()
            .iter()
            .all(|s| s["delivered"] == 0),
        "{again}"
    );
    assert!(posted(&world).is_empty());
    let verified = done(desk.run("sessionmill deliver verify --json")).json();
    let landed = verified["sinks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["landed"].as_u64());
    assert_eq!(landed.collect::<Vec<_>>(), [Some(2); 3], "{verified}");
    // and forgetting reaches every copy
    done(desk.run("sessionmill forget aaaa"));
    done(desk.run("sessionmill deliver run"));
    assert_eq!(groups(&world), BTreeSet::new());
}

#[test]
fn row_020_nothing_is_ingested_into_the_global_scope() {
    let desk = desk();
    configure(&desk, json!({"graphiti": {"ingest_scopes": ["user"]}}));
    let ran = desk.run("sessionmill run");
    assert_eq!(ran.exit, Exit::Usage, "{}", ran.shown());
    assert!(
        ran.stderr.contains("promoted memories only"),
        "{}",
        ran.shown()
    );
}

#[test]
fn row_032_and_033_the_global_scope_is_who_the_settings_say_and_nobody_else() {
    let desk = desk();
    desk.write(".gitconfig", "[user]\n\temail = ada@example.com\n");
    let more = "--kind preference --scope global --text \"tabs\"";
    let ran = promote(&desk, more);
    assert_eq!(ran.exit, Exit::Usage, "{}", ran.shown());
    assert!(
        ran.stderr.contains("graphiti.user_scope_key"),
        "{}",
        ran.shown()
    );
    configure(
        &desk,
        json!({"graphiti": {"user_scope_key": "me", "global": {"enabled": false}}}),
    );
    let ran = promote(&desk, more);
    assert!(
        ran.stderr.contains("graphiti.global.enabled"),
        "{}",
        ran.shown()
    );
    configure(
        &desk,
        json!({"graphiti": {"user_scope_key": " user-key-1 "}}),
    );
    let ran = done(promote(&desk, more)).json();
    assert_eq!(
        ran["group"],
        "graphiti_user_efeffff8fdf6eb1edc3d83f8a34fbe52"
    );
    assert!(!holds(&desk, "ada@example.com"));
}

#[test]
fn row_030_git_is_told_without_a_path_where_the_settings_say_so() {
    let (mut desk, world) = (desk(), world());
    let shop = repository(&desk, "shop", "git@github.com:acme/shop");
    let lines = "'# branch.oid 1a2b3c4d5e6f' '# branch.head main' '1 .M N... x y z secret/plan.md'";
    desk.program("git", &format!("printf '%s\\n' {lines}"));
    let log = said(SESSION, &shop, 1, "user", "please zebra it");
    let log = log.replace("\"cwd\":", "\"gitBranch\":\"feature/stripes\",\"cwd\":");
    desk.write(".claude/projects/-w/aaaa.jsonl", &log);
    for tells in [false, true] {
        set(&desk, &world, json!({"include_git_metadata": tells}));
        agree(&desk, &world.server.endpoint);
        desk.cwd = Some(shop.clone().into());
        done(promote(
            &desk,
            &format!("--kind lesson --text \"told {tells}\""),
        ));
        desk.cwd = None;
        done(desk.run("sessionmill deliver run --history"));
        done(desk.run("sessionmill run"));
        let told = format!("{:?}", posted(&world));
        assert_eq!(told.contains("git main@1a2b3c4, dirty"), tells, "{told}");
        assert!(
            !told.contains("plan.md") && told.contains(&format!("told {tells}")),
            "{told}"
        );
    }
    desk.write(
        ".claude/projects/-w/bbbb.jsonl",
        &log.replace("aaaa", "bbbb").replace("8000-0", "8000-7"),
    );
    done(desk.run("sessionmill run"));
    let told = format!("{:?}", posted(&world));
    assert!(told.contains("git feature/stripes"), "{told}");
}

#[test]
fn row_031_each_group_is_told_its_owner_once() {
    let (desk, world) = (desk(), world());
    let shop = repository(&desk, "shop", "git@github.com:acme/shop");
    talk(&desk, &shop, SESSION, &["please zebra it"]);
    let settings = |key: &str| {
        let owner = json!({"include_system_messages": true, "user_scope_key": key, "ingest_scopes": ["workspace"]});
        set(&desk, &world, owner);
    };
    settings("octocat");
    agree(&desk, &world.server.endpoint);
    done(desk.run("sessionmill run"));
    let owners = |world: &World| -> Vec<(String, String)> {
        let by_group = posted(world).into_iter();
        let told =
            by_group.flat_map(|(group, all)| all.into_iter().map(move |m| (group.clone(), m)));
        told.map(|(group, m)| (group, m["content"].as_str().unwrap().to_owned()))
            .filter(|(_, content)| content.contains("ownership_context"))
            .collect()
    };
    let told = owners(&world);
    let group = MemoryScope::Workspace.group("github_repo:github.com/acme/shop");
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].0, group);
    assert!(
        told[0]
            .1
            .contains("Owner: octocat.\nThe owner owns this workspace scope"),
        "{told:?}"
    );
    for _ in 0..2 {
        done(desk.run("sessionmill run"));
        assert_eq!(posted(&world).len(), 0, "again is nothing");
    }
    done(promote(
        &desk,
        "--kind lesson --scope global --text \"lions bite\"",
    ));
    done(desk.run("sessionmill run"));
    let told = owners(&world);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].1.contains("global scope"), "{told:?}");
    assert_eq!(
        desk.run("sessionmill search octocat").exit,
        Exit::Failed,
        "no noise in searches"
    );
    // another content is another message
    settings("hubot");
    done(desk.run("sessionmill run"));
    assert_eq!(owners(&world).len(), 2);
    // it goes with its group, and comes back only with something new in it
    let stored = |word: &str| {
        let dump = Store::open(&desk.path(".graphiti/sessionmill.db"), Access::ReadOnly);
        dump.unwrap().dump().unwrap().contains(word)
    };
    assert!(stored("owns this workspace scope"));
    let gone = done(desk.run(&format!("sessionmill forget --group {group} --yes --json"))).json();
    assert_eq!(
        (&gone["sessions"], &gone["memories"]),
        (&json!(1), &json!(0)),
        "{gone}"
    );
    assert!(!stored("owns this workspace scope") && stored("owns this global scope"));
    done(desk.run("sessionmill run"));
    assert!(!stored("owns this workspace scope"));
    assert_eq!(owners(&world).len(), 0, "nobody is told again");
}

#[test]
fn row_024_and_025_connectivity_and_the_state_of_memory_are_shown() {
    let (mut desk, world) = (desk(), world());
    let shop = repository(&desk, "shop", "git@github.com:acme/shop");
    set(
        &desk,
        &world,
        json!({"ingest_scopes": ["session"], "recall": {"scopes": ["workspace"], "scopes_mode": "static"}}),
    );
    agree(&desk, &world.server.endpoint);
    let checked = done(desk.run("sessionmill deliver check --smoke --json")).json();
    assert_eq!(
        (
            &checked["sinks"][0]["ok"],
            checked["sinks"].as_array().unwrap().len()
        ),
        (&json!(true), 1)
    );
    desk.cwd = Some(shop.into());
    let memory = done(desk.run("sessionmill status --json")).json()["memory"].clone();
    let workspace = MemoryScope::Workspace.group("github_repo:github.com/acme/shop");
    assert_eq!(
        memory,
        json!({
            "enabled": true, "consent": true, "refusal": null, "trust": "unknown",
            "unknown_projects": "allow", "ingest_scopes": ["session"],
            "recall": {"enabled": true, "scopes": ["workspace"], "adds_global": false},
            "auto_promote": false,
            "git_tracked": false, "groups": {"workspace": workspace},
        })
    );
    let shown = done(desk.run("sessionmill status")).stdout;
    assert!(shown.contains("graphs: on; scopes: session\n"), "{shown}");
    set(&desk, &world, json!({"enabled": false}));
    let shown = done(desk.run("sessionmill status")).stdout;
    assert!(
        shown.contains("graphs: off, graphiti.enabled is false"),
        "{shown}"
    );
    let shown = done(desk.run("sessionmill deliver status")).stdout;
    assert!(shown.contains("graphiti.enabled is false"), "{shown}");
}

#[test]
fn row_029_groups_are_derived_as_other_clients_do() {
    let dir = std::env::var("GOLDEN_DIR").unwrap_or_else(|_| "../shared/golden".into());
    let path = format!("{dir}/group_ids.json");
    let Ok(golden) = fs::read_to_string(&path) else {
        eprintln!("passed over: no {path}");
        return;
    };
    let golden: Value = serde_json::from_str(&golden).unwrap();
    for case in golden["cases"].as_array().unwrap() {
        let text = |key: &str| case[key].as_str().unwrap_or_default();
        let is = match text("op") {
            "group_id" => Some(
                MemoryScope::parse(text("scope"))
                    .unwrap()
                    .group(text("key")),
            ),
            _ => repository_key(text("url")),
        };
        assert_eq!(is.as_deref(), case["want"].as_str(), "{case}");
    }
}

#[test]
fn a_workspace_keeps_its_group_though_its_folder_goes_or_moves_to_another_host() {
    let desk = desk();
    let shop = repository(&desk, "shop", "git@github.com:acme/shop");
    let group = |desk: &Desk, n: u32| {
        let line = format!("--kind lesson --project {shop} --text \"zebra {n}\"");
        done(promote(desk, &line)).json()["group"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let first = group(&desk, 1);
    repository(&desk, "shop", "git@elsewhere:acme/shop");
    assert_eq!(group(&desk, 2), first);
    fs::remove_dir_all(desk.path("shop")).unwrap();
    assert_eq!(group(&desk, 3), first);
    // without a remote: by its path, hashed
    let bare = done(promote(
        &desk,
        "--kind lesson --project /home/user/project --text x",
    ))
    .json();
    assert_eq!(
        bare["group"],
        "graphiti_workspace_9dad1e4e08b0b11cbcd860257e8bdfa6"
    );
    assert_eq!(namespace("/home/user/project").len(), 16);
}
