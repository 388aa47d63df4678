//! What git operations come to beside `why`: what the next session and a prompt are told, and which
//! session made which commit.

use super::git::{Site, take_the_cache_back};
use crate::cli::Exit;
use crate::model::time::Time;
use crate::store::{Access, Store};
use serde_json::{Value, json};
use std::path::Path;

const SESSION: &str = "6f1c5b80-0000-4000-8000-0000000000aa";
const WHY: &str = "Actually this won't work with our serverless architecture";

/// What a hook gives; empty: nothing.
fn hook(site: &mut Site, mut input: Value, cwd: &Path) -> String {
    input["cwd"] = json!(cwd);
    site.desk.piped = input.to_string();
    let ran = site.desk.run("sessionmill recall --hook claude");
    assert_eq!(
        (ran.exit, ran.stderr.as_str()),
        (Exit::Done, ""),
        "{}",
        ran.shown()
    );
    match ran.stdout.as_str() {
        "" => String::new(),
        _ => ran.json()["hookSpecificOutput"]["additionalContext"].to_string(),
    }
}

pub(super) fn begins(site: &mut Site) -> String {
    let repo = site.repo.clone();
    begins_in(site, &repo)
}

fn begins_in(site: &mut Site, cwd: &Path) -> String {
    hook(
        site,
        json!({"session_id": "next", "hook_event_name": "SessionStart", "source": "startup"}),
        cwd,
    )
}

pub(super) fn asks(site: &mut Site, words: &str) -> String {
    let repo = site.repo.clone();
    hook(
        site,
        json!({"session_id": "next", "hook_event_name": "UserPromptSubmit", "prompt": words}),
        &repo,
    )
}

/// The lines of a block that tell a rollback.
pub(super) fn given_up(block: &str) -> Vec<&str> {
    block
        .split("\\n")
        .filter(|line| line.starts_with("- Given up "))
        .collect()
}

/// Everything that a run does, two hours later.
pub(super) fn run_all(site: &mut Site) {
    site.save();
    site.desk.now = Time((site.now + 7_200) * 1_000);
    let ran = site.desk.run("sessionmill run");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
}

#[test]
fn the_next_session_is_told_what_was_given_up_and_why() {
    let mut site = Site::new();
    let hashes = take_the_cache_back(&mut site);
    site.run();
    let block = begins(&mut site);
    let told = given_up(&block);
    assert_eq!(told.len(), 1, "{block}");
    let line = told[0];
    for part in [
        "- Given up 2026-06-01 09:",
        "reset --hard on feature/new-architecture left 5 commits behind",
        WHY,
        "as the user said",
        &hashes[4][..12],
        "20 files: src/cache/part1_0.py, ",
        "(session 6f1c5b80-0000, 2026-06-01)",
    ] {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert!(!line.contains(".jsonl"), "its place is for `show`: {line}");
    assert!(!line.contains("step"), "no commit's message: {line}");
    assert!(
        !block.contains("git_bulk_update") && !block.contains("part2_0"),
        "{block}"
    );

    // nobody else is told, and nobody for ever
    let elsewhere = site.desk.path("elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    assert_eq!(begins_in(&mut site, &elsewhere), "");
    let distrusts = format!(
        "[projects.\"{}\"]\ntrust_level = \"untrusted\"\n",
        site.repo.display()
    );
    site.desk.write(".codex/config.toml", &distrusts);
    assert_eq!(begins(&mut site), "");
    site.desk.write(".codex/config.toml", "");
    let now = site.desk.now;
    site.desk.now = Time(now.0 + 15 * 86_400_000);
    assert_eq!(given_up(&begins(&mut site)), Vec::<&str>::new());
    site.desk.now = now;

    // the words go with their session; what was done stays
    let ran = site.desk.run(&format!("sessionmill forget {SESSION}"));
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    let block = begins(&mut site);
    assert_eq!(given_up(&block).len(), 1, "{block}");
    assert!(
        !block.contains("serverless") && !block.contains("6f1c5b80"),
        "{block}"
    );
}

#[test]
fn what_was_taken_up_again_or_never_given_up_is_not_told() {
    let mut site = Site::new();
    site.user("hello");
    site.commit("a", "a\n", "first");
    let second = site.commit("b", "b\n", "second");
    site.git("commit -q --amend -m again");
    site.git("reset -q --soft HEAD~1");
    site.agent_git("reset --soft HEAD");
    site.git("commit -q -m soft");
    site.git("checkout -q -b side");
    site.git("checkout -q main");
    site.git("branch -q -d side");
    site.git("reset -q --hard HEAD~1");
    site.git(&format!("reset -q --hard {second}"));
    site.git("reset -q --hard HEAD~1");
    site.git("reset -q --hard ORIG_HEAD");
    site.run();
    let block = begins(&mut site);
    let told = given_up(&block);
    assert!(
        told.iter().all(|line| !line.contains(&second[..12])),
        "{block}"
    );
}

#[test]
fn a_prompt_about_that_work_is_told_why_it_was_given_up() {
    let mut site = Site::new();
    take_the_cache_back(&mut site);
    site.run();
    let block = asks(&mut site, "let's add a redis cache in src/cache1.py");
    let told = given_up(&block);
    assert_eq!(told.len(), 1, "{block}");
    assert!(
        told[0].contains(WHY) && told[0].contains("session 6f1c5b80-0000"),
        "{block}"
    );
    assert!(!told[0].contains("step"), "no commit's message: {block}");
    let block = asks(&mut site, "rename the invoice template");
    assert_eq!(given_up(&block), Vec::<&str>::new(), "{block}");
}

/// The commits that `show` names, each with whether git alone tells it.
fn commits(site: &Site) -> Vec<(String, String, bool)> {
    let shown = site.ask(&format!("show {SESSION}"));
    let all = shown["summary"]["commits"].as_array().unwrap().clone();
    let one = |commit: &Value| {
        let what = &commit["what"];
        let text = |key: &str| what[key].as_str().unwrap().to_owned();
        (text("hash"), text("subject"), what["by_git"] == true)
    };
    all.iter().map(one).collect()
}

fn by(site: &Site, commit: &str) -> Value {
    site.ask(&format!("why --commit {commit}"))["operations"][0]["session_by"].clone()
}

/// Commits that different things tie to a session.
struct Made {
    by_file: String,
    quiet: String,
    loud: String,
    strangers: String,
}

fn make(site: &mut Site) -> Made {
    site.commit("README.md", "app\n", "before anybody came");
    site.now += 3_600;
    site.user("Write src/parser.rs, then src/quiet.rs");
    let by_file = site.commit("src/parser.rs", "1\n", "A parser");
    site.agent("src/parser.rs is there");
    site.write("src/quiet.rs", "2\n");
    site.git("add -A");
    site.agent_git("commit -q -m \"A quiet one\"");
    let quiet = site.git("rev-parse HEAD");
    site.write("src/loud.rs", "3\n");
    site.git("add -A");
    site.agent_git("commit -m \"A loud one\"");
    let loud = site.git("rev-parse HEAD");
    let strangers = site.commit("other.txt", "4\n", "Somebody beside it");
    site.user("thanks");
    run_all(site);
    Made {
        by_file,
        quiet,
        loud,
        strangers,
    }
}

#[test]
fn sessions_and_commits_are_joined_both_ways() {
    let mut site = Site::new();
    let made = make(&mut site);
    let told = commits(&site);
    let of = |subject: &str| {
        let mut of = told.iter().filter(|told| told.1 == subject);
        of.next().map(|told| (told.0.as_str(), told.2))
    };
    assert_eq!(of("A parser"), Some((&made.by_file[..12], true)));
    assert_eq!(
        of("A quiet one"),
        Some((&made.quiet[..12], false)),
        "git tells its hash"
    );
    let (hash, by_git) = of("A loud one").expect("the log tells it");
    assert!(made.loud.starts_with(hash) && !by_git, "{told:?}");
    assert_eq!(
        of("Somebody beside it"),
        None,
        "nothing ties it to the session"
    );
    assert_eq!(of("before anybody came"), None);
    for (commit, wants) in [
        (&made.by_file, "files"),
        (&made.quiet, "message"),
        (&made.loud, "hash"),
        (&made.strangers, "time"),
    ] {
        assert_eq!(by(&site, commit), wants);
    }
    // again is nothing
    let store = |site: &Site| std::fs::read(site.desk.path(".graphiti/sessionmill.db")).unwrap();
    let before = store(&site);
    assert_eq!(site.desk.run("sessionmill run").exit, Exit::Done);
    assert!(store(&site) == before, "a run without news writes nothing");
}

#[test]
fn a_page_tells_the_commits_and_is_found_by_them() {
    let mut site = Site::new();
    let made = make(&mut site);
    let page = &site.ask("search parser --source session_summary")["hits"][0];
    for wants in [
        json!({"hash": made.by_file[..12], "subject": "A parser"}),
        json!({"hash": made.quiet[..12], "subject": "A quiet one"}),
    ] {
        let told = page["commits"].as_array().unwrap();
        assert!(told.contains(&wants), "{wants} {told:?}");
    }
    let shown = site.desk.run(&format!("sessionmill show {SESSION}"));
    assert!(
        shown.stdout.contains("A parser (git tells it)"),
        "{}",
        shown.shown()
    );
    let sessions = &site.ask(&format!("why --commit {}", made.by_file))["sessions"];
    assert_eq!(sessions[0]["session"], SESSION);
}

#[test]
fn a_commit_that_is_told_after_the_page_comes_onto_it() {
    let mut site = Site::new();
    let config = ".graphiti/tracking-config.json";
    site.desk.write(config, r#"{"version": "1.0"}"#);
    site.user("Write src/parser.rs");
    let hash = site.commit("src/parser.rs", "1\n", "A parser");
    site.agent("src/parser.rs is there");
    run_all(&mut site);
    assert_eq!(commits(&site), []);
    site.desk.write(
        config,
        r#"{"version": "1.0", "defaults": {"enabled": true}}"#,
    );
    run_all(&mut site);
    let found = site.ask("search parser --source session_summary");
    assert_eq!(found["hits"][0]["commits"][0]["hash"], hash[..12]);
}

#[test]
fn without_tracking_a_commit_is_found_where_a_log_names_it() {
    let mut site = Site::new();
    site.desk
        .write(".graphiti/tracking-config.json", r#"{"version": "1.0"}"#);
    site.user("Commit it");
    site.write("a", "a\n");
    site.git("add -A");
    site.agent_git("commit -m \"A loud one\"");
    let loud = site.git("rev-parse HEAD");
    run_all(&mut site);
    let document = site.ask(&format!("why --commit {loud}"));
    assert_eq!(document["operations"], json!([]));
    assert_eq!(document["sessions"][0]["session"], SESSION);
    let ran = site
        .desk
        .run(&format!("sessionmill why --commit {}", &loud[..8]));
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    assert!(ran.stdout.contains("A loud one"), "{}", ran.shown());
    let ran = site.desk.run("sessionmill why --commit 0123456789");
    assert_eq!(ran.exit, Exit::Failed, "{}", ran.shown());
}

#[test]
fn a_commit_is_looked_up_and_no_other_operation_is_read() {
    let mut site = Site::new();
    site.user("commit a lot");
    let hashes: Vec<String> = (0..40)
        .map(|n| site.commit("n", &format!("{n}\n"), &format!("number {n}")))
        .collect();
    site.git("reset -q --hard HEAD~30");
    site.run();
    let store = site.desk.path(".graphiti/sessionmill.db");
    let store = Store::open(&store, Access::ReadOnly).unwrap();
    assert_eq!(store.operations(None).unwrap().len(), 41);
    for (hash, wants) in [(&hashes[12], 2), (&hashes[39], 2), (&hashes[3], 1)] {
        for digits in [9, 12, 40] {
            let rows = store.operations_naming(&hash[..digits], None).unwrap();
            // its commit, the one after it, and the reset that left it behind
            assert!(
                (wants..=3).contains(&rows.len()),
                "{digits}: {}",
                rows.len()
            );
        }
        let told = site.told(&format!("--commit {}", &hash[..9]));
        assert_eq!(told.len(), wants, "{told:?}");
    }
    let none = store.operations_naming("0123456789", None).unwrap();
    assert!(none.is_empty());
    let elsewhere = ["ffff".to_owned()];
    assert!(
        store
            .operations_naming(&hashes[12], Some(&elsewhere))
            .unwrap()
            .is_empty()
    );
}
