//! What became of commits, branches and files, as agents ask for it.

use super::client::Client;
use super::home::{Home, prompt};
use super::{SHOP, SHOP_NAMESPACE};
use serde_json::json;

/// All within one second, as a script's commands are.
fn git(home: &Home, line: &str) -> String {
    home.git(line, Some("2026-06-01T09:00:00Z"))
}

#[test]
fn what_became_of_a_commit_a_branch_and_a_file() {
    let home = Home::empty(json!({}));
    let on = r#"{"version": "1.0", "defaults": {"enabled": true}}"#;
    home.write(".graphiti/tracking-config.json", on);
    home.write("app/a", "1\n");
    git(&home, "init -q -b main");
    git(&home, "add -A");
    git(&home, "commit -q -m first");
    home.write("app/src/cache.py", "2\n");
    git(&home, "add -A");
    git(&home, "commit -q -m cache");
    let lost = git(&home, "rev-parse HEAD");
    git(&home, "reset -q --hard HEAD~1");
    let app = home.path("app").display().to_string();
    let hello = prompt("hello", &app, 1, "hello");
    home.write(".claude/projects/-app/hello.jsonl", &hello);
    assert_eq!(home.run("run --quiet").status.code(), Some(0));
    let mut client = Client::new(&home, &[&app]);
    for asked in [
        json!({"commit": lost}),
        json!({"commit": lost[..8].to_uppercase()}),
        json!({"branch": "main"}),
        json!({"file": "./cache.py"}),
    ] {
        let told = client.call("why", asked.clone()).unwrap();
        let first = format!("undid: reset --hard on main ({}..", &lost[..12]);
        assert!(told.starts_with(&first), "{asked}: {told}");
        assert!(
            told.contains("src/cache.py") && told.contains("[namespace: "),
            "{told}"
        );
    }
    let told = client.call("why", json!({"commit": "0123456"})).unwrap();
    assert!(told.starts_with("nothing was recorded about"), "{told}");
    for wrong in [
        json!({"commit": "no hash"}),
        json!({"commit": lost, "branch": "main"}),
        json!({"file": "a", "question": "why a?"}),
        json!({}),
    ] {
        assert!(client.call("why", wrong.clone()).is_err(), "{wrong}");
    }
    // isolation holds for git too
    let elsewhere = json!({"commit": lost, "project_namespaces": ["ffffffff"]});
    let told = client.call("why", elsewhere).unwrap();
    assert!(told.starts_with("nothing was recorded about"), "{told}");
}

#[test]
fn a_commit_is_found_where_a_session_names_it() {
    let home = Home::new(json!({}));
    let mut client = Client::new(&home, &[SHOP]);
    let told = client.call("why", json!({"commit": "9d1c2e7"})).unwrap();
    assert!(
        told.contains("mentioned: 9d1c2e7 Compare JWT expiry in seconds"),
        "{told}"
    );
    assert!(
        told.contains(&format!("[namespace: {SHOP_NAMESPACE}")),
        "{told}"
    );
}
