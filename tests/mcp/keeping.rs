//! What agents keep for good, and what they are told where they may not.

use super::client::Client;
use super::home::Home;
use super::{SHOP, SHOP_NAMESPACE, namespaces};
use serde_json::json;

#[test]
fn what_is_kept_is_found_and_what_may_not_be_kept_is_refused_without_a_word_of_it() {
    let home = Home::new(json!({}));
    let mut client = Client::new(&home, &[SHOP]);
    let kept = json!({"kind": "decision", "text": "Zebrafish tests run nightly."});
    let first = client.call("promote", kept.clone()).unwrap();
    assert!(first.starts_with("saved: memory "), "{first}");
    let again = client.call("promote", kept).unwrap();
    assert!(again.contains("saved already"), "{again}");
    let found = client.call("search_memory_nodes", json!({"query": "zebrafish"}));
    assert!(
        found.as_ref().unwrap().contains("Zebrafish tests"),
        "{found:?}"
    );
    assert_eq!(namespaces(&found.unwrap()), [SHOP_NAMESPACE]);
    let question = json!({"question": "when do zebrafish tests run?"});
    let told = client.call("recall", question.clone()).unwrap();
    assert!(told.contains("Zebrafish tests run nightly."), "{told}");
    let key = ["AKIA", "Q3EGRIPXWBEXAMPL"].concat();
    for (tool, arguments) in [
        (
            "promote",
            json!({"kind": "lesson", "text": format!("The key is {key}")}),
        ),
        (
            "add_memory",
            json!({"name": "key", "episode_body": format!("aws {key}")}),
        ),
        (
            "add_memory",
            json!({"name": "x", "episode_body": "y", "filepath": "/etc/passwd"}),
        ),
        ("promote", json!({"kind": "rumour", "text": "x"})),
        ("promote", json!({"kind": "lesson", "text": " "})),
        (
            "promote",
            json!({"kind": "lesson", "text": "x", "scope": "global"}),
        ),
        (
            "promote",
            json!({"kind": "lesson", "text": "x", "scope": "session"}),
        ),
    ] {
        let refused = client.call(tool, arguments.clone()).unwrap_err();
        assert!(!refused.contains(&key), "{tool} {arguments}: {refused}");
    }
    // a project that an agent was told not to trust neither gives nor takes (D63)
    let trust = json!({"projects": {SHOP: {"hasTrustDialogAccepted": false}}});
    home.write(".claude.json", &trust.to_string());
    assert!(
        client
            .call("recall", question)
            .unwrap_err()
            .contains("not trusted")
    );
    let late = json!({"kind": "lesson", "text": "Owls hoot."});
    assert!(
        client
            .call("promote", late)
            .unwrap_err()
            .contains("not trusted")
    );
}

/// An agent has neither our options nor our commands.
#[test]
fn what_an_agent_is_told_to_do_it_can_do() {
    let home = Home::new(json!({}));
    let mut client = Client::new(&home, &[SHOP]);
    for (tool, arguments) in [
        ("promote", json!({"kind": "lesson", "text": " "})),
        ("promote", json!({"kind": "rumour", "text": "x"})),
        ("search_memory_nodes", json!({"query": ""})),
        ("search_memory_nodes", json!({"query": "sicne:14d"})),
        ("search_memory_nodes", json!({"query": "source:chunk"})),
        ("get_session", json!({"session": "zzzz"})),
        ("why", json!({"question": "why?"})),
    ] {
        let told = client.call(tool, arguments.clone()).unwrap_err();
        let is_ours = told.contains("--") || told.contains("sessionmill ");
        assert!(!is_ours, "{tool} {arguments}: {told}");
    }
    let kept = json!({"kind": "lesson", "text": "Zebrafish sleep."});
    let kept = client.call("promote", kept).unwrap();
    let id = kept.split_whitespace().nth(2).unwrap();
    for (tool, arguments) in [
        ("search_memory_nodes", json!({"query": "zebrafish"})),
        ("recent", json!({})),
    ] {
        let told = client.call(tool, arguments).unwrap();
        assert!(told.contains(&format!(" memory {id}")), "{tool}: {told}");
        assert!(!told.contains("session memories-"), "{tool}: {told}");
    }
}
