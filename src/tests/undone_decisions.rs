//! A decision whose work was given up says so, wherever it is recalled, and is found by what became of it.

use super::git::Site;
use super::git_told::{asks, run_all};
use serde_json::Value;

const DECISION: &str = "Let's keep sessions in Redis instead of signed cookies.";
const WHY: &str = "Actually this won't work with our serverless architecture";

/// A commit that the agent makes, which its log tells.
fn commits(site: &mut Site, path: &str, subject: &str) {
    site.write(path, &format!("{subject}\n"));
    site.git("add -A");
    site.agent_git(&format!("commit -m \"{subject}\""));
}

/// Two decisions with their work; the second one's is taken back.
fn decide_and_undo(site: &mut Site) {
    site.commit("README.md", "app\n", "first");
    site.user("We should use Postgres instead of SQLite for the ledger.");
    commits(site, "ledger.py", "Keep the ledger in Postgres");
    site.agent("The ledger is in Postgres.");
    site.user(DECISION);
    commits(site, "session.py", "Session store on Redis");
    commits(site, "expiry.py", "Expire sessions in Redis");
    site.agent("Sessions are in Redis.");
    site.user(WHY);
    site.user("git reset --hard HEAD~2");
    site.agent_git("reset --hard HEAD~2");
    site.agent("Done, both commits are gone.");
}

/// What `why` says of decisions with these words: each with its undoing.
fn why(site: &Site, words: &str) -> Vec<(String, Value)> {
    let found = site.ask(&format!("why {words}"));
    let decisions = found["decisions"].as_array().unwrap();
    let one = |d: &Value| {
        (
            d["decision"].as_str().unwrap().to_owned(),
            d["undone"].clone(),
        )
    };
    decisions.iter().map(one).collect()
}

#[test]
fn a_decision_that_was_undone_says_so_and_one_that_stands_does_not() {
    let mut site = Site::new();
    decide_and_undo(&mut site);
    run_all(&mut site);
    let told = why(&site, "redis");
    let [(decision, undone)] = told.as_slice() else {
        panic!("{told:?}");
    };
    assert_eq!(decision, DECISION);
    assert_eq!(undone["operation"], "reset --hard");
    assert_eq!(
        (&undone["commits"], &undone["commits_given_up"]),
        (&2.into(), &2.into())
    );
    assert_eq!(undone["reason"]["sentence"], WHY);
    let ran = site.desk.run("sessionmill why redis");
    assert!(
        ran.stdout.contains("undone 2026-06-01 09:")
            && ran
                .stdout
                .contains("both commits that followed it were given up")
            && ran.stdout.contains(WHY),
        "{}",
        ran.shown()
    );
    let told = why(&site, "postgres");
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].1, Value::Null, "it stands");
}

#[test]
fn a_question_that_finds_the_rollback_finds_the_decision() {
    let mut site = Site::new();
    decide_and_undo(&mut site);
    run_all(&mut site);
    let told = why(&site, "serverless architecture");
    assert!(
        told.iter()
            .any(|(decision, undone)| decision == DECISION && !undone.is_null()),
        "{told:?}"
    );
    // elsewhere nobody learns of it
    let found = site.ask("why serverless architecture --namespace ffffffff");
    assert_eq!(found["decisions"], Value::Array(vec![]));
}

#[test]
fn recall_tells_both() {
    let mut site = Site::new();
    decide_and_undo(&mut site);
    run_all(&mut site);
    let block = asks(&mut site, "where do we keep sessions, in redis?");
    assert!(block.contains("undone 2026-06-01 09:"), "{block}");
    assert!(
        block.contains("keep sessions in Redis") && block.contains(WHY),
        "{block}"
    );
    let block = asks(&mut site, "is the ledger in postgres or sqlite?");
    assert!(!block.contains("Decided"), "{block}");
    if let Some((before, _)) = block.split_once("undone") {
        assert!(
            before.ends_with("signed cookies. ("),
            "beside it alone: {block}"
        );
    }
}

#[test]
fn where_it_is_not_certain_nothing_is_linked() {
    let mut site = Site::new();
    site.commit("README.md", "app\n", "first");
    site.user("We decided to use Kafka for events.");
    site.agent("Noted.");
    site.user("Fix the login page, its button is too small");
    commits(&mut site, "login.css", "Larger button");
    site.user("Undo that last one please");
    site.agent_git("reset --hard HEAD~1");
    run_all(&mut site);
    let told = why(&site, "kafka");
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].1, Value::Null, "another request lies between");
}

#[test]
fn a_part_that_was_given_up_is_told_as_a_part() {
    let mut site = Site::new();
    site.commit("README.md", "app\n", "first");
    site.user(DECISION);
    commits(&mut site, "session.py", "Session store on Redis");
    commits(&mut site, "expiry.py", "Expire sessions in Redis");
    site.user("The expiry is broken, take it out");
    site.agent_git("reset --hard HEAD~1");
    run_all(&mut site);
    let ran = site.desk.run("sessionmill why redis");
    assert!(
        ran.stdout.contains("undone in part 2026-06-01")
            && ran
                .stdout
                .contains("1 of the 2 commits that followed it was given up"),
        "{}",
        ran.shown()
    );
}

#[test]
fn a_rollback_that_is_told_names_the_decision_before_it() {
    let mut site = Site::new();
    site.commit("README.md", "app\n", "first");
    site.git("checkout -q -b feature/new-architecture");
    site.user("Let's go with Redis for the product pages.");
    for n in 1..=5 {
        site.write(&format!("src/cache{n}.py"), "x = 1\n");
        site.git("add -A");
        site.agent_git(&format!("commit -q -m \"Redis cache, step {n}\""));
    }
    site.agent("I've implemented the new caching layer using Redis...");
    site.user(WHY);
    site.user("git reset --hard HEAD~5");
    site.agent_git("reset --hard HEAD~5");
    site.run();
    for words in [
        "let's add a redis cache in src/cache1.py",
        "redis cache step 1 2 3 4 5 on feature/new-architecture",
    ] {
        let block = asks(&mut site, words);
        assert_eq!(
            block.matches("Decided \\\"Let's go with Redis").count(),
            1,
            "{words}: {block}"
        );
        assert!(
            block.contains("all 5 commits that followed it were given up"),
            "{words}: {block}"
        );
    }
}
