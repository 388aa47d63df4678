//! Files of projects, as agents have them remembered.

use crate::client::Client;
use crate::home::{Home, prompt};
use serde_json::{Value, json};
use std::path::Path;

/// The tools of this kind.
pub const TOOLS: [&str; 8] = [
    "configure_file_tracking",
    "list_tracked_files",
    "sync_tracked_files",
    "enable_realtime_sync",
    "disable_realtime_sync",
    "get_tracking_status",
    "pause_tracking",
    "resume_tracking",
];

/// A home with a project in which a session was.
fn home() -> (Home, String) {
    let home = Home::empty(json!({}));
    let root = home.path("work/app");
    home.write(
        "work/app/src/auth.py",
        "TOKEN_LIFETIME = 900  # zebrafish\n",
    );
    home.write("work/app/notes.txt", "not asked for\n");
    let root = root.canonicalize().unwrap().to_str().unwrap().to_owned();
    let hello = prompt("s", &root, 1, "hello");
    home.write(".claude/projects/-p/s.jsonl", &hello);
    assert_eq!(home.run("run --quiet").status.code(), Some(0));
    (home, root)
}

fn settings(home: &Home) -> Value {
    let file = home.path(".graphiti/tracking-config.json");
    let text = std::fs::read_to_string(file).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn files_are_configured_told_paused_and_switched_off() {
    let (home, root) = home();
    let mut client = Client::new(&home, &[&root]);
    let mut ask = |tool: &str, more: Value| {
        let mut arguments = json!({"project_path": root});
        arguments
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        client.call(tool, arguments)
    };
    for tool in TOOLS.iter().skip(1) {
        let refused = ask(tool, json!({})).unwrap_err();
        assert!(refused.contains("not tracked"), "{tool}: {refused}");
    }
    let pattern = json!({"patterns": [{"include": "src/**/*.py", "update_strategy": "version"}]});
    let told = ask("configure_file_tracking", pattern).unwrap();
    assert!(told.starts_with("files tracked: 1;"), "{told}");
    let entry = settings(&home)["projects"]
        .as_object()
        .unwrap()
        .values()
        .next()
        .unwrap()
        .clone();
    assert_eq!(entry["patterns"][0]["update_strategy"], "version");
    assert_eq!(
        ask("list_tracked_files", json!({})).unwrap(),
        "new src/auth.py\n"
    );
    let bare = ask("list_tracked_files", json!({"include_status": false}));
    assert_eq!(bare.unwrap(), "src/auth.py\n");
    let synced = ask("sync_tracked_files", json!({})).unwrap();
    assert!(
        synced.starts_with("1 file change and 0 git operations recorded"),
        "{synced}"
    );
    assert_eq!(
        ask("list_tracked_files", json!({})).unwrap(),
        "told src/auth.py\n"
    );
    let standing = ask("get_tracking_status", json!({})).unwrap();
    for line in [
        "enabled: true",
        "files_watched: 1",
        "pending_updates: 0",
        "last_sync: 2",
    ] {
        assert!(standing.contains(line), "{line}: {standing}");
    }
    assert_eq!(ask("pause_tracking", json!({})).unwrap(), "paused\n");
    home.write("work/app/src/auth.py", "TOKEN_LIFETIME = 60  # narwhal\n");
    let synced = ask("sync_tracked_files", json!({})).unwrap();
    assert!(synced.starts_with("0 file changes"), "paused: {synced}");
    assert_eq!(
        settings(&home)["projects"]
            .as_object()
            .unwrap()
            .values()
            .next(),
        Some(&entry)
    );
    assert_eq!(ask("resume_tracking", json!({})).unwrap(), "resumed\n");
    let synced = ask("sync_tracked_files", json!({})).unwrap();
    assert!(synced.contains("1 file change"), "{synced}");
    assert!(
        ask("disable_realtime_sync", json!({}))
            .unwrap()
            .starts_with("off")
    );
    let standing = ask("get_tracking_status", json!({})).unwrap();
    assert!(standing.contains("enabled: false"), "{standing}");
    assert!(
        ask("enable_realtime_sync", json!({}))
            .unwrap()
            .starts_with("on: the next run")
    );
    let found = client
        .call("search_memory_nodes", json!({"query": "narwhal"}))
        .unwrap();
    assert!(found.contains("TOKEN_LIFETIME = 60"), "{found}");
    assert!(!Path::new(&root).join(".graphiti").exists());
    std::fs::rename(&root, home.path("work/moved")).unwrap();
    let mut asks = |tool: &str| client.call(tool, json!({"project_path": root}));
    let synced = asks("sync_tracked_files").unwrap();
    assert!(
        synced.ends_with("0 files looked at; 1 can't be read\n"),
        "{synced}"
    );
    let listed = client.ask("tools/list", json!({}))["result"]["tools"].to_string();
    assert!(TOOLS.iter().all(|tool| listed.contains(tool)), "{listed}");
}

#[test]
fn only_projects_with_sessions_are_tracked_for_agents() {
    let (home, root) = home();
    home.write("secrets/id", "private");
    let elsewhere = home.root().canonicalize().unwrap().join("secrets");
    let whole = home.root().canonicalize().unwrap();
    let mut client = Client::new(&home, &[&root]);
    for (path, patterns, why) in [
        (
            home.root().to_str().unwrap(),
            json!([{"include": "**"}]),
            "home folder",
        ),
        (
            whole.parent().unwrap().to_str().unwrap(),
            json!([{"include": "**"}]),
            "home folder",
        ),
        (
            elsewhere.to_str().unwrap(),
            json!([{"include": "**"}]),
            "no stored session",
        ),
        (&root, json!([]), "names no files"),
        (&root, json!([{"include": "a["}]), "is not a valid glob"),
        (
            &root,
            json!([{"include": "a", "update_strategy": "sometimes"}]),
            "update_strategy",
        ),
        // from where the server runs
        ("work/app", json!([{"include": "**"}]), "no stored session"),
    ] {
        let arguments = json!({"project_path": path, "patterns": patterns});
        let refused = client
            .call("configure_file_tracking", arguments)
            .unwrap_err();
        assert!(refused.contains(why), "{path}: {refused}");
    }
    assert!(!home.path(".graphiti/tracking-config.json").exists());
}
