//! Whose sessions an agent may see: isolation, allow lists, trust, hidden paths.

use super::client::Client;
use super::home::Home;
use super::{NOTES_NAMESPACE, OTHER_SESSION, SESSION, SHOP, SHOP_NAMESPACE, namespaces};
use serde_json::json;

/// 000-026, 000-080, 000-105, D14.
#[test]
fn isolation_shows_the_clients_project_or_nothing() {
    let home = Home::new(json!({"cross_project_search": false}));
    let search = || json!({"query": "the", "max_nodes": 50, "max_bytes": 60_000});
    let mut lost = Client::new(&home, &[]);
    for tool in ["search_memory_nodes", "search_sessions"] {
        let told = lost.call(tool, json!({"query": "redis"})).unwrap_err();
        assert!(told.contains("cross_project_search"), "{told}");
    }
    assert!(lost.call("recent", json!({})).is_err());
    assert!(
        lost.call("get_session", json!({"session": SESSION}))
            .is_err()
    );
    assert!(lost.ask("resources/list", json!({}))["error"].is_object());
    let uri = format!("session://{SESSION}");
    assert!(lost.ask("resources/read", json!({"uri": uri}))["error"].is_object());
    let named = lost.call("recent", json!({"project": SHOP})).unwrap();
    assert_eq!(namespaces(&named), [SHOP_NAMESPACE]);
    let mut at_home = Client::new(&home, &[SHOP]);
    for (tool, arguments) in [
        ("search_memory_nodes", search()),
        ("search_sessions", json!({"max_sessions": 50})),
        ("recent", json!({})),
        ("why", json!({"question": "redis"})),
        ("get_session", json!({"session": SESSION})),
    ] {
        let told = at_home.call(tool, arguments).unwrap();
        assert_eq!(namespaces(&told), [SHOP_NAMESPACE], "{tool}: {told}");
    }
    let absent = at_home.call("get_session", json!({"session": OTHER_SESSION}));
    assert!(absent.unwrap_err().contains("there is no session"));
    let list = at_home.ask("resources/list", json!({}));
    assert_eq!(namespaces(&list.to_string()), [SHOP_NAMESPACE]);
    // 000-079: what is asked for by name wins
    let mut asked = search();
    asked["project_namespaces"] = json!([NOTES_NAMESPACE]);
    let told = at_home.call("search_memory_nodes", asked).unwrap();
    assert_eq!(namespaces(&told), [NOTES_NAMESPACE]);
}

/// 000-081, 000-106.
#[test]
fn an_allow_list_shows_what_it_lists() {
    let home = Home::new(json!({"trusted_namespaces": [NOTES_NAMESPACE]}));
    let mut client = Client::new(&home, &[SHOP]);
    let told = client
        .call("search_sessions", json!({"max_sessions": 50}))
        .unwrap();
    assert_eq!(namespaces(&told), [NOTES_NAMESPACE]);
    assert!(
        client
            .call("get_session", json!({"session": SESSION}))
            .is_err()
    );
    assert!(
        client
            .call("get_session", json!({"session": OTHER_SESSION}))
            .is_ok()
    );
}

#[test]
fn hidden_paths_stay_hidden() {
    let home = Home::new(json!({"include_project_path": false}));
    let mut client = Client::new(&home, &[SHOP]);
    let mut told = String::new();
    for (tool, arguments) in [
        ("search_memory_nodes", json!({"query": "redis"})),
        ("search_sessions", json!({})),
        ("recent", json!({})),
        ("why", json!({"question": "redis"})),
        ("session_tracking_status", json!({})),
    ] {
        told += &client.call(tool, arguments).unwrap();
    }
    told += &client.ask("resources/list", json!({})).to_string();
    assert!(told.contains("[namespace: 0d2640ea]"), "{told}");
    let logs = home.path(".claude").display().to_string();
    assert!(
        !told.contains(", path: ") && !told.contains(&logs),
        "{told}"
    );
    assert!(!told.contains(&format!("project: {SHOP}")), "{told}");
}

/// D62: a group is a filter.
#[test]
fn groups_are_a_filter() {
    let home = Home::new(json!({"group_id": "ours__global"}));
    let mut client = Client::new(&home, &[]);
    let mut found = |group: &str| {
        let arguments = json!({"query": "redis", "group_ids": [group]});
        client.call("search_memory_nodes", arguments).unwrap() != "nothing found\n"
    };
    assert!(found("ours__global"));
    assert!(!found("theirs__global"));
}

/// D63: whenever it was told so.
#[test]
fn a_project_that_is_not_trusted_any_more_is_as_absent_as_what_never_was() {
    let home = Home::new(json!({}));
    let mut client = Client::new(&home, &[]);
    let all = json!({"query": "the", "max_nodes": 100, "max_bytes": 60_000});
    let told = client.call("search_memory_nodes", all.clone()).unwrap();
    assert!(namespaces(&told).contains(&SHOP_NAMESPACE), "{told}");
    let trust = json!({"projects": {SHOP: {"hasTrustDialogAccepted": false}}});
    home.write(".claude.json", &trust.to_string());
    for (tool, arguments) in [
        ("search_memory_nodes", all),
        (
            "search_sessions",
            json!({"max_sessions": 100, "max_bytes": 60_000}),
        ),
        ("recent", json!({"max_nodes": 100, "max_bytes": 60_000})),
    ] {
        let told = client.call(tool, arguments).unwrap();
        let seen = namespaces(&told);
        assert!(!seen.contains(&SHOP_NAMESPACE), "{tool}: {told}");
        assert!(seen.contains(&NOTES_NAMESPACE), "{tool}: {told}");
    }
    let list = client.ask("resources/list", json!({})).to_string();
    assert!(!namespaces(&list).contains(&SHOP_NAMESPACE), "{list}");
    for id in [SESSION, &SESSION[..SESSION.len() - 1]] {
        let told = client.call("get_session", json!({"session": id}));
        let told = told.unwrap_or_else(|error| error);
        assert!(!told.contains(SHOP), "{id}: {told}");
    }
    let told = client.call(
        "why",
        json!({"question": "redis", "project_namespaces": [SHOP]}),
    );
    assert!(told.unwrap_err().contains("not to trust"));
    home.write(".claude.json", "{");
    assert!(client.call("recent", json!({})).is_err(), "it fails closed");
}

/// An id that is too short names no session that the client may not see.
#[test]
fn what_begins_like_hidden_sessions_does_not_name_them() {
    let home = Home::new(json!({"cross_project_search": false}));
    let mut client = Client::new(&home, &[SHOP]);
    let told = client.call("get_session", json!({"session": "6b1f0a34"}));
    let told = told.unwrap_err();
    assert!(
        told.contains(SESSION) && !told.contains(OTHER_SESSION),
        "{told}"
    );
}
