//! Git operations, end to end: real repositories made with the real `git`, logs as the agents write
//! them, whole commands over both.

use super::world::{Desk, Ran};
use crate::cli::Exit;
use crate::config::CONSENT_TEXT;
use crate::model::time::Time;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A repository in a desk's home with a clock of its own.
pub(super) struct Site {
    pub(super) desk: Desk,
    pub(super) repo: PathBuf,
    /// What `git` takes for the present time.
    pub(super) now: i64,
    /// Where the session works; `None`: in the repository.
    pub(super) cwd: Option<PathBuf>,
    log: String,
    uuids: u32,
}

const START: i64 = 1_780_304_400; // 2026-06-01T09:00:00Z

impl Site {
    pub(super) fn new() -> Site {
        let desk = Desk::new();
        let ran = desk.run(&format!("sessionmill enable --confirm \"{CONSENT_TEXT}\""));
        assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
        desk.write(
            ".graphiti/tracking-config.json",
            r#"{"version": "1.0", "defaults": {"enabled": true}}"#,
        );
        let repo = desk.path("app");
        fs::create_dir_all(&repo).unwrap();
        let mut site = Site {
            desk,
            repo,
            now: START,
            cwd: None,
            log: String::new(),
            uuids: 0,
        };
        site.git("init -q -b main");
        site
    }

    /// Runs git a minute later; blanks in quotes hold together.
    pub(super) fn git(&mut self, line: &str) -> String {
        let repo = self.repo.clone();
        self.git_in(&repo, line)
    }

    pub(super) fn git_in(&mut self, dir: &Path, line: &str) -> String {
        let (ok, out) = self.try_git(dir, line);
        assert!(ok, "git {line}: {out}");
        out
    }

    pub(super) fn try_git(&mut self, dir: &Path, line: &str) -> (bool, String) {
        self.now += 60;
        let date = format!("{} +0000", self.now);
        let out = Command::new("git")
            .args(super::world::words(line))
            .current_dir(dir)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.desk.path("githome"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_EDITOR", "true")
            .env("GIT_AUTHOR_NAME", "A")
            .env("GIT_AUTHOR_EMAIL", "a@example.org")
            .env("GIT_COMMITTER_NAME", "A")
            .env("GIT_COMMITTER_EMAIL", "a@example.org")
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_DATE", &date)
            .output()
            .expect("git");
        let text = String::from_utf8_lossy(&out.stdout).trim().to_owned();
        (
            out.status.success(),
            text + &String::from_utf8_lossy(&out.stderr),
        )
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.repo.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes a file and commits it; gives the hash.
    pub(super) fn commit(&mut self, path: &str, text: &str, subject: &str) -> String {
        self.write(path, text);
        self.git("add -A");
        self.git(&format!("commit -q -m \"{subject}\""));
        self.git("rev-parse HEAD")
    }

    pub(super) fn record(&mut self, kind: &str, message: &Value) {
        self.now += 10;
        self.uuids += 1;
        let uuid = format!("6f1c5b80-0000-4000-8000-{:012}", self.uuids);
        let line = json!({"type": kind, "uuid": uuid, "parentUuid": null,
            "sessionId": "6f1c5b80-0000-4000-8000-0000000000aa",
            "cwd": self.cwd.as_ref().unwrap_or(&self.repo), "version": "2.0.1", "timestamp": Time(self.now * 1_000).rfc3339_millis(),
            "message": message});
        self.log += &format!("{line}\n");
    }

    pub(super) fn user(&mut self, words: &str) {
        self.record("user", &json!({"role": "user", "content": words}));
    }

    pub(super) fn agent(&mut self, words: &str) {
        let id = format!("msg_{}", self.uuids);
        let content = json!([{"type": "text", "text": words}]);
        self.record("assistant", &json!({"id": id, "role": "assistant", "model": "claude-sonnet-4-5", "content": content}));
    }

    /// The agent runs git itself.
    pub(super) fn agent_git(&mut self, line: &str) {
        let call = format!("toolu_{}", self.uuids);
        let message = format!("msg_{}", self.uuids);
        let command = format!("git {line}");
        let content = json!([{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}]);
        self.record("assistant", &json!({"id": message, "role": "assistant", "model": "claude-sonnet-4-5", "content": content}));
        let said = self.git(line);
        self.now -= 5;
        let content = json!([{"type": "tool_result", "tool_use_id": call, "content": said}]);
        self.record("user", &json!({"role": "user", "content": content}));
    }

    pub(super) fn save(&self) {
        let log = ".claude/projects/-app/6f1c5b80-0000-4000-8000-0000000000aa.jsonl";
        self.desk.write(log, &self.log);
    }

    pub(super) fn run(&mut self) -> Ran {
        self.save();
        self.desk.now = Time((self.now + 7_200) * 1_000);
        let ran = self.desk.run("sessionmill run --steps ingest,track,report");
        assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
        ran
    }

    pub(super) fn ask(&self, line: &str) -> Value {
        self.desk.run(&format!("sessionmill {line} --json")).json()
    }

    /// Names of the operations on a file, a branch or a commit, the latest first, with their roles.
    pub(super) fn told(&self, what: &str) -> Vec<String> {
        let document = self.ask(&format!("why {what} -n 50"));
        let all = document["operations"].as_array().unwrap();
        let one = |o: &Value| {
            let [role, name] = ["role", "operation"].map(|key| o[key].as_str().unwrap());
            format!("{role} {name}")
        };
        all.iter().map(one).collect()
    }

    /// How many episodes of a source there are.
    pub(super) fn count(&self, source: &str) -> usize {
        let found = self.ask(&format!("search --source {source} -n 500"));
        found["hits"].as_array().unwrap().len()
    }
}

/// The document's scenario: a cache that can't work where it runs, five commits, all taken back. Gives
/// the commits.
pub(super) fn take_the_cache_back(site: &mut Site) -> Vec<String> {
    site.commit("README.md", "app\n", "first");
    site.git("checkout -q -b feature/new-architecture");
    site.user("Add a caching layer for the product pages");
    let mut hashes = Vec::new();
    for n in 1..=5 {
        for m in 0..3 {
            site.write(
                &format!("src/cache/part{n}_{m}.py"),
                "import redis\nclient = redis.Redis()\n",
            );
        }
        hashes.push(site.commit(
            &format!("src/cache{n}.py"),
            "x = 1\n",
            &format!("Redis cache, step {n}"),
        ));
    }
    site.agent("I've implemented the new caching layer using Redis...");
    site.user("Actually this won't work with our serverless architecture");
    site.agent("You're right, I should rollback and use a different approach");
    site.user("git reset --hard HEAD~5");
    site.agent_git("reset --hard HEAD~5");
    site.agent("Done, the branch is where it was.");
    hashes
}

#[test]
fn a_reset_keeps_what_was_lost_and_why() {
    let mut site = Site::new();
    let hashes = take_the_cache_back(&mut site);
    let ran = site.run();
    assert!(
        ran.stdout.contains("git operations recorded"),
        "{}",
        ran.shown()
    );

    let last = &hashes[4];
    assert_eq!(
        site.told(&format!("--commit {}", &last[..8])),
        ["undid reset --hard", "made commit"]
    );
    let document = site.ask(&format!("why --commit {last}"));
    let reset = &document["operations"][0];
    assert_eq!(reset["branch"], "feature/new-architecture");
    assert_eq!(reset["left_count"], 5);
    assert_eq!(reset["files_count"], 20);
    let reason = &reset["reason"];
    assert_eq!(
        reason["sentence"],
        "Actually this won't work with our serverless architecture"
    );
    assert_eq!(reason["by"], "user");
    assert_eq!(reason["line"], 3);
    assert_eq!(reset["session"], "6f1c5b80-0000-4000-8000-0000000000aa");

    assert_eq!(
        site.told("--branch feature/new-architecture")[0],
        "undid reset --hard"
    );
    assert_eq!(
        site.told("--file src/cache3.py"),
        ["undid reset --hard", "made commit"]
    );

    // one summary, one conversation, and the files apart from what is shown by itself
    let found = site.ask("search serverless --source git_context");
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
    let found = site.ask("search \"won't work\" --source git_metadata");
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
    assert_eq!(site.count("git_bulk_update"), 20);
    let sources = |line: &str| -> BTreeSet<String> {
        let found = site.ask(&format!("search serverless -n 100 {line}"));
        let hits = found["hits"].as_array().unwrap().iter();
        hits.map(|hit| hit["source"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(sources("--operation git_context").len(), 1);
    assert!(sources("").contains("git_context"));
    assert!(!sources("--exclude-operation git_context").contains("git_context"));

    // again is nothing: nothing of the repository is opened, nothing is written
    let store = || fs::read(site.desk.path(".graphiti/sessionmill.db")).unwrap();
    let before = store();
    let again = site.ask("run --steps ingest,track,report");
    assert_eq!(again["git_trees_opened"], 0);
    assert!(store() == before, "a run without news writes nothing");
}

#[test]
fn nothing_is_looked_at_where_tracking_is_off() {
    let mut site = Site::new();
    site.desk
        .write(".graphiti/tracking-config.json", r#"{"version": "1.0"}"#);
    site.user("hello");
    site.commit("a", "a\n", "first");
    site.run();
    assert_eq!(site.count("git_metadata"), 0);
}

#[test]
fn every_operation_has_its_name() {
    let mut site = Site::new();
    site.user("do it all");
    site.commit("a", "a\n", "first");
    let amended = site.commit("b", "b\n", "second");
    site.write("b", "b2\n");
    site.git("commit -q -a --amend -m second-again");
    site.git("checkout -q -b side");
    let picked = site.commit("c", "c\n", "third");
    site.git("checkout -q main");
    site.git(&format!("cherry-pick {picked}"));
    let reverted = site.git("rev-parse HEAD");
    site.git("revert --no-edit HEAD");
    site.git("merge -q --no-ff -m merged side");
    site.write("a", "changed\n");
    site.git("stash");
    site.git("checkout -q -b doomed");
    let dropped = site.commit("d", "d\n", "only here");
    site.git("checkout -q main");
    site.run();
    site.git("branch -q -D doomed");
    site.run();
    let told = site.told("--branch main");
    let names: Vec<&str> = told.iter().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "touched checkout",
            "touched checkout",
            "undid stash",
            "made merge",
            "undid revert",
            "made cherry-pick",
            "touched checkout",
            "touched checkout",
            "undid amend",
            "made commit",
            "made commit",
        ]
    );
    assert_eq!(site.told(&format!("--commit {amended}"))[0], "undid amend");
    assert_eq!(
        site.told(&format!("--commit {reverted}"))[0],
        "undid revert"
    );
    assert_eq!(
        site.told(&format!("--commit {dropped}"))[0],
        "undid branch deleted"
    );
}

#[test]
fn a_rebase_with_a_conflict_is_one_operation() {
    let mut site = Site::new();
    site.user("rebase it");
    site.commit("a", "a\n", "first");
    site.git("checkout -q -b side");
    let old = site.commit("a", "side\n", "side change");
    site.commit("b", "b\n", "side more");
    site.git("checkout -q main");
    site.commit("a", "main\n", "main change");
    site.git("checkout -q side");
    let repo = site.repo.clone();
    let (ok, _) = site.try_git(&repo, "rebase main");
    assert!(!ok, "there is a conflict");
    site.run();
    assert!(
        !site
            .told("--branch side")
            .iter()
            .any(|told| told.contains("rebase"))
    );
    site.write("a", "both\n");
    site.git("add a");
    site.git("rebase --continue");
    site.run();
    assert_eq!(site.told("--branch side")[0], "undid rebase");
    assert_eq!(site.told(&format!("--commit {old}"))[0], "undid rebase");
    site.git("reset -q --hard HEAD~1");
    site.run();
    assert_eq!(site.told("--branch side")[0], "undid reset --hard");
}

#[test]
fn linked_work_trees_detached_heads_bisections_and_packed_branches() {
    let mut site = Site::new();
    site.user("look around");
    let mut hashes = Vec::new();
    for n in 0..8 {
        hashes.push(site.commit("n", &format!("{n}\n"), &format!("number {n}")));
    }
    let linked = site.desk.path("linked");
    site.git(&format!("worktree add -q -b other {}", linked.display()));
    fs::write(linked.join("w"), "w\n").unwrap();
    site.git_in(&linked, "add -A");
    site.git_in(&linked, "commit -q -m in-the-linked-one");
    site.git_in(&linked, "reset -q --hard HEAD~1");
    site.git("bisect start HEAD HEAD~7");
    for _ in 0..3 {
        site.git("bisect good");
    }
    site.git("bisect reset");
    site.git(&format!("checkout -q {}", hashes[2]));
    let lost = site.commit("detached", "x\n", "on no branch");
    site.git("pack-refs --all");
    site.git("checkout -q main");
    site.run();
    assert_eq!(
        site.told("--branch other")[..2],
        ["undid reset --hard", "made commit"]
    );
    let main = site.told("--branch main");
    assert!(main.contains(&"touched bisect".to_owned()), "{main:?}");
    assert_eq!(
        site.told(&format!("--commit {lost}")),
        ["undid checkout", "made commit"]
    );
}

#[test]
fn a_force_pull_a_gone_commit_and_a_missing_log() {
    let mut site = Site::new();
    site.commit("a", "a\n", "first");
    let (origin, clone) = (site.repo.clone(), site.desk.path("clone"));
    site.git(&format!(
        "clone -q {} {}",
        origin.display(),
        clone.display()
    ));
    fs::write(clone.join("mine"), "m\n").unwrap();
    site.git_in(&clone, "add -A");
    site.git_in(&clone, "commit -q -m mine");
    site.commit("b", "b\n", "theirs");
    site.git_in(&clone, "fetch -q");
    site.git_in(&clone, "reset -q --hard origin/main");
    site.repo = clone.clone();
    site.user("and here");
    site.run();
    let told = site.told("--branch main");
    assert!(told.contains(&"undid reset --hard".to_owned()), "{told:?}");
    // the log goes, HEAD moves, and the commits that it was at are gone
    fs::remove_dir_all(clone.join(".git/logs")).unwrap();
    site.git("config core.logAllRefUpdates false");
    site.git("reset -q --hard HEAD~1");
    site.git("gc -q --prune=now");
    site.run();
    assert_eq!(site.told("--branch main")[0], "undid moved");
}

#[test]
fn sha256_repositories_are_read() {
    let mut site = Site::new();
    fs::remove_dir_all(site.repo.join(".git")).unwrap();
    site.git("init -q -b main --object-format=sha256");
    site.user("hello");
    site.commit("a", "a\n", "first");
    let lost = site.commit("b", "b\n", "second");
    assert_eq!(lost.len(), 64);
    site.git("reset -q --hard HEAD~1");
    site.run();
    assert_eq!(
        site.told(&format!("--commit {lost}")),
        ["undid reset --hard", "made commit"]
    );
}

#[test]
fn forgetting_a_session_takes_its_words_out_of_the_summary() {
    let mut site = Site::new();
    site.commit("a", "a\n", "first");
    site.commit("b", "b\n", "second");
    site.user("This is too complicated, drop the zebra part");
    site.agent_git("reset -q --hard HEAD~1");
    site.run();
    let words = |site: &Site| {
        let found = site.ask("search zebra");
        found["hits"].as_array().unwrap().len()
    };
    assert_eq!(
        words(&site),
        3,
        "the session, the conversation and the summary"
    );
    let ran = site
        .desk
        .run("sessionmill forget 6f1c5b80-0000-4000-8000-0000000000aa");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    assert_eq!(words(&site), 0);
    site.run();
    assert_eq!(words(&site), 0);
    assert_eq!(
        site.told("--file b")[0],
        "undid reset --hard",
        "what was done stays"
    );
}

#[test]
fn a_summary_that_is_written_again_stays_in_its_projects_group() {
    let mut site = Site::new();
    let tracking = json!({"version": "1.0", "projects": {
        "app": {"project_root": site.repo, "enabled": true, "group_id": "ours__app"}}});
    site.desk
        .write(".graphiti/tracking-config.json", &tracking.to_string());
    site.commit("a", "a\n", "first");
    site.commit("b", "b\n", "second");
    site.user("This is too complicated, drop the zebra part");
    site.agent_git("reset -q --hard HEAD~1");
    site.run();
    let groups = |site: &Site| {
        let found = site.ask("search --source git_metadata -n 9");
        let hits = found["hits"].as_array().unwrap().iter();
        let shown = hits.map(|hit| site.ask(&format!("show {}", hit["episode"].as_str().unwrap())));
        shown
            .map(|shown| shown["episode"]["group"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(groups(&site), ["ours__app"; 3]);
    let ran = site
        .desk
        .run("sessionmill forget 6f1c5b80-0000-4000-8000-0000000000aa");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    site.run();
    assert_eq!(groups(&site), ["ours__app"; 3]);
}

#[test]
fn a_branch_that_goes_with_nothing_of_its_own_takes_nothing_back() {
    let mut site = Site::new();
    site.user("tidy the branches");
    site.commit("a", "a\n", "first");
    site.git("branch merged");
    site.run();
    site.git("branch -q -d merged");
    site.git("branch -m main trunk");
    site.commit("b", "b\n", "second");
    site.run();
    assert_eq!(site.told("--branch merged"), ["touched branch deleted"]);
    assert_eq!(
        site.told("--branch main"),
        ["touched branch renamed", "made commit"]
    );
    assert_eq!(
        site.told("--branch trunk"),
        ["made commit", "touched branch renamed"]
    );
}
