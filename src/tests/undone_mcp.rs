//! What an agent that asks the server is told of repositories and files: days and versions instead of floods,
//! rollbacks by themselves, and who did it.

use super::git::{Site, take_the_cache_back};
use super::git_told::{begins, run_all};
use super::places::ask_from;
use super::tracked;
use super::world::Desk;
use crate::model::git::Confidence;
use crate::store::{Access, GitUnit, Store};
use serde_json::{Value, json};
use std::path::Path;

const WHY: &str = "Actually this won't work with our serverless architecture";

fn ask_in(desk: &Desk, dir: &Path, tool: &str, arguments: Value) -> String {
    ask_from(desk, dir, tool, arguments).unwrap_or_else(|error| panic!("{tool}: {error:?}"))
}

fn ask(site: &Site, tool: &str, arguments: Value) -> String {
    ask_in(&site.desk, &site.repo, tool, arguments)
}

/// An answer's entries.
fn entries(answer: &str) -> Vec<&str> {
    answer.split("\n\n").collect()
}

/// Two days of ordinary commits, by an agent and by a person, and a rollback between them.
fn two_days(site: &mut Site) -> (Vec<String>, Vec<String>) {
    let mut first = take_the_cache_back(site);
    first.insert(0, site.git("rev-list --max-parents=0 main"));
    site.run();
    site.now += 86_400;
    site.git("checkout -q main");
    let mut second = Vec::new();
    for n in 0..30 {
        second.push(site.commit("n.txt", &format!("{n}\n"), &format!("Number {n}")));
    }
    site.now += 3_600;
    site.user("Commit the parser");
    site.write("parser.rs", "1\n");
    site.git("add -A");
    site.agent_git("commit -m \"A parser\"");
    second.push(site.git("rev-parse HEAD"));
    run_all(site);
    (first, second)
}

#[test]
fn ordinary_commits_are_a_day_and_a_rollback_stands_by_itself() {
    let mut site = Site::new();
    let (first, second) = two_days(&mut site);
    let told = ask(&site, "recent", json!({"max_bytes": 20_000}));
    let all = entries(&told);
    assert!(
        all[0].starts_with("Given up 2026-06-01 09:") && all[0].contains("left 5 commits behind"),
        "{told}"
    );
    assert!(all[0].contains("git_metadata by claude"), "{told}");
    let day = |date: &str| {
        let mut days = all
            .iter()
            .filter(|entry| entry.contains(&format!("] {date}, git_metadata by")));
        let day = *days.next().unwrap_or_else(|| panic!("{date}: {told}"));
        assert!(days.next().is_none(), "{told}");
        day
    };
    let later = day("2026-06-02");
    assert!(
        later.starts_with("31 commits on main, 1 × checkout (1 session)\n"),
        "{later}"
    );
    assert!(later.contains("by claude, "), "{later}");
    for hash in &second {
        assert!(later.contains(&hash[..8]), "{hash}: {later}");
        // so that one can ask for each
        let asked = ask(&site, "why", json!({"commit": hash[..8]}));
        assert!(asked.starts_with("made: commit on main"), "{asked}");
    }
    let earlier = day("2026-06-01");
    assert!(
        earlier.starts_with("5 commits on feature/new-architecture, 1 on main, 1 × checkout"),
        "{earlier}"
    );
    assert!(
        first.iter().all(|hash| earlier.contains(&hash[..8])),
        "{earlier}"
    );
    assert_eq!(all.len(), 4, "the rollback, two days, one session: {told}");

    // for two weeks, and then as a part of its day
    site.desk.now.0 += 10 * 86_400_000;
    assert!(ask(&site, "recent", json!({"max_nodes": 1})).starts_with("Given up 2026-06-01"));
    site.desk.now.0 += 5 * 86_400_000;
    let told = ask(&site, "recent", json!({}));
    assert!(
        !told.contains("Given up") && told.contains("1 × reset"),
        "{told}"
    );
    // who doesn't want git is not told of it
    let told = ask(
        &site,
        "recent",
        json!({"exclude_sources": ["git_metadata"]}),
    );
    assert!(
        !told.contains("commits on") && told.contains("session"),
        "{told}"
    );
}

#[test]
fn a_search_folds_days_and_keeps_rollbacks() {
    let mut site = Site::new();
    let (_, second) = two_days(&mut site);
    let told = ask(
        &site,
        "search_memory_nodes",
        json!({"query": "number", "max_bytes": 20_000}),
    );
    let all = entries(&told);
    assert!(all[0].contains(" commits on main"), "{told}");
    let days = all.iter().filter(|entry| entry.contains("git_metadata by"));
    assert_eq!(days.count(), 1, "{told}");
    let told = ask(
        &site,
        "search_memory_nodes",
        json!({"query": "redis cache", "max_bytes": 20_000}),
    );
    let all = entries(&told);
    let is_reset = |entry: &&&str| {
        let head = entry.lines().next().unwrap_or_default();
        head.contains("reset --hard on feature/new-architecture")
    };
    assert_eq!(all.iter().filter(is_reset).count(), 1, "{told}");
    assert!(!told.contains(&second[0][..8]), "{told}");
}

#[test]
fn who_did_it_is_told_and_asked_for() {
    let mut site = Site::new();
    let (_, second) = two_days(&mut site);
    let by = |hash: &str| ask(&site, "why", json!({"commit": hash}));
    let mine = by(&second[30]);
    assert!(
        mine.contains(" by claude, session 6f1c5b80-0000-4000-8000-0000000000aa, by hash"),
        "{mine}"
    );
    let theirs = by(&second[0]);
    assert!(theirs.contains(" by a person"), "{theirs}");
    let asked = |agent: &str| {
        let query = format!("number agent:{agent} source:git_metadata");
        ask(&site, "search_memory_nodes", json!({"query": query}))
    };
    assert!(
        asked("person").contains("git_metadata by person"),
        "{}",
        asked("person")
    );
    assert!(
        asked("codex").starts_with("nothing found"),
        "{}",
        asked("codex")
    );
}

#[test]
fn of_a_file_the_live_version_comes_first() {
    let mut site = tracked::Site::new(&json!([{"include": "*.md", "update_strategy": "version"}]));
    for n in 1..=3 {
        site.write("rules.md", &format!("narwhal rule number {n}\n"));
        site.run();
    }
    site.write("other.md", "narwhal of another file\n");
    site.run();
    let app = site.path("");
    let ask = |tool: &str, arguments: Value| ask_in(&site.desk, &app, tool, arguments);
    let told = ask("search_memory_nodes", json!({"query": "narwhal"}));
    let all = entries(&told);
    assert_eq!(all.len(), 2, "{told}");
    let rules = all
        .iter()
        .find(|entry| entry.starts_with("rules.md\n"))
        .unwrap();
    assert!(
        rules.contains("rule number 3") && rules.contains(", the live version; older: "),
        "{told}"
    );
    let other = all
        .iter()
        .find(|entry| entry.starts_with("other.md\n"))
        .unwrap();
    assert!(!other.contains("version"), "there is one: {told}");
    let told = ask("recent", json!({}));
    assert_eq!(told.matches("rules.md").count(), 1, "{told}");
    assert!(told.contains("rule number 3"), "{told}");
    // words of an old one alone find it, and it says that it is old
    let told = ask("search_memory_nodes", json!({"query": "\"number 1\""}));
    assert!(
        told.contains("an older version; live since 2026-06-01 12:"),
        "{told}"
    );
}

#[test]
fn a_reason_that_is_not_sure_is_quoted_to_no_agent() {
    let mut site = Site::new();
    site.commit("README.md", "app\n", "first");
    site.user("Let's go with Redis for the product pages.");
    for n in 1..=3 {
        site.write(&format!("src/cache{n}.py"), "import redis\n");
        site.git("add -A");
        site.agent_git(&format!("commit -m \"Redis cache, step {n}\""));
    }
    site.agent("The product pages are cached in Redis.");
    site.user(WHY);
    site.user("git reset --hard HEAD~3");
    site.agent_git("reset --hard HEAD~3");
    let lost = site.git("rev-parse ORIG_HEAD");
    site.run();
    let answers = |site: &mut Site| {
        let start = begins(site);
        let of_git = [
            ask(site, "why", json!({"commit": lost})),
            ask(site, "why", json!({"question": "redis"})),
            ask(
                site,
                "recent",
                json!({"exclude_sources": ["session", "git_bulk_update"]}),
            ),
            ask(
                site,
                "search_memory_nodes",
                json!({"query": "serverless source:git_metadata"}),
            ),
        ];
        [start].into_iter().chain(of_git).collect::<Vec<String>>()
    };
    for told in answers(&mut site) {
        assert!(told.contains(WHY), "{told}");
    }
    let path = site.desk.path(".graphiti/sessionmill.db");
    let mut store = Store::open(&path, Access::ReadWrite).unwrap();
    let rows = store.operations_naming(&lost, None).unwrap();
    let mut row = rows.into_iter().find(|row| row.git.gives_up()).unwrap();
    row.git.reason.as_mut().unwrap().confidence = Confidence::Medium;
    let unit = GitUnit {
        id: row.id,
        git: row.git,
        episodes: Vec::new(),
    };
    let now = site.desk.now;
    store
        .put_operations(&row.project, "g", vec![unit], None, now)
        .unwrap();
    drop(store);
    for told in answers(&mut site) {
        assert!(!told.contains(WHY), "{told}");
        assert!(
            told.to_lowercase().contains("no reason is certain"),
            "{told}"
        );
    }
    // people see it as what it is
    let ran = site.desk.run("sessionmill why redis");
    assert!(
        ran.stdout
            .contains("perhaps why, as the user said: \"Actually"),
        "{}",
        ran.shown()
    );
}
