//! Files of tracked projects, end to end: real files, whole commands over them.

use super::world::{Desk, Ran};
use crate::cli::Exit;
use crate::config::CONSENT_TEXT;
use crate::model::time::Time;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// A project in a desk's home, tracked as a test says.
pub struct Site {
    pub desk: Desk,
}

impl Site {
    /// A folder `app`, whose files are tracked by these patterns.
    pub fn new(patterns: &Value) -> Site {
        let desk = Desk::new();
        let ran = desk.run(&format!("sessionmill enable --confirm \"{CONSENT_TEXT}\""));
        assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
        fs::create_dir_all(desk.path("app")).unwrap();
        let site = Site { desk };
        site.configure(patterns, &json!({}));
        site
    }

    pub fn configure(&self, patterns: &Value, defaults: &Value) {
        let config = json!({
            "version": "1.0",
            "defaults": defaults,
            "projects": {"desk__app": {
                "project_root": self.desk.path("app"),
                "enabled": true,
                "patterns": patterns,
                "ignore_patterns": ["**/*.tmp"],
            }},
        });
        self.desk
            .write(".graphiti/tracking-config.json", &config.to_string());
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.desk.path("app").join(path)
    }

    /// Writes a file whose stamps are old enough to tell the next write apart.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn run(&mut self) -> Value {
        self.desk.now = Time(self.desk.now.0 + 600_000);
        let ran = self
            .desk
            .run("sessionmill run --steps ingest,track,report --json");
        assert!(
            matches!(ran.exit, Exit::Done | Exit::Partial),
            "{}",
            ran.shown()
        );
        ran.json()["files"].clone()
    }

    pub fn ask(&self, line: &str) -> Value {
        self.desk.run(&format!("sessionmill {line} --json")).json()
    }

    /// Titles of the hits, sorted.
    pub fn titles(&self, query: &str) -> Vec<String> {
        let found = self.ask(&format!("search {query} -n 500"));
        let hits = found["hits"].as_array().cloned().unwrap_or_default();
        let mut titles: Vec<String> = hits
            .iter()
            .map(|hit| hit["title"].as_str().unwrap().to_owned())
            .collect();
        titles.sort();
        titles
    }
}

pub fn done(ran: Ran) -> Ran {
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    ran
}

#[test]
fn a_file_that_comes_changes_and_goes_is_told() {
    let mut site = Site::new(&json!([{"include": "src/**/*.py", "exclude": ["**/tests/**"]}]));
    site.write("src/cache.py", "import redis\n");
    site.write("src/tests/test_cache.py", "redis\n");
    site.write("notes.txt", "redis\n");
    let files = site.run();
    assert_eq!(
        (&files["created"], &files["seen"]),
        (&json!(1), &json!(1)),
        "{files}"
    );
    assert_eq!(site.titles("redis"), ["src/cache.py"]);
    site.write("src/cache.py", "import memcache\n");
    assert_eq!(site.run()["updated"], 1);
    assert_eq!(site.titles("redis"), Vec::<String>::new());
    assert_eq!(site.titles("memcache"), ["src/cache.py"]);
    fs::remove_file(site.path("src/cache.py")).unwrap();
    assert_eq!(site.run()["deleted"], 1);
    assert_eq!(site.titles("--operation delete"), ["src/cache.py"]);
    let again = site.run();
    assert_eq!(
        (&again["seen"], &again["opened"]),
        (&json!(0), &json!(0)),
        "{again}"
    );
    done(site.desk.run("sessionmill status"));
}

impl Site {
    /// A sync, ten minutes later.
    pub fn sync(&mut self) -> Value {
        self.sync_as("")
    }

    pub fn sync_as(&mut self, more: &str) -> Value {
        self.desk.now = Time(self.desk.now.0 + 600_000);
        let ran = self
            .desk
            .run(&format!("sessionmill track sync {more} --json"));
        assert!(
            matches!(ran.exit, Exit::Done | Exit::Partial),
            "{}",
            ran.shown()
        );
        ran.json()
    }

    pub fn remove(&self, path: &str) {
        fs::remove_file(self.path(path)).unwrap();
    }

    pub fn rename(&self, from: &str, to: &str) {
        fs::create_dir_all(self.path(to).parent().unwrap()).unwrap();
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    /// Texts of the episodes that a search finds, the latest first.
    pub fn texts(&self, query: &str) -> Vec<String> {
        let found = self.ask(&format!("search {query} -n 500"));
        let hits = found["hits"].as_array().cloned().unwrap_or_default();
        let text = |hit: &Value| {
            let shown = self.ask(&format!("show {}", hit["episode"].as_str().unwrap()));
            shown["episode"]["text"].as_str().unwrap().to_owned()
        };
        hits.iter().map(text).collect()
    }
}

/// `created updated moved deleted by_git`.
pub fn counts(done: &Value) -> [u64; 5] {
    ["created", "updated", "moved", "deleted", "by_git"].map(|key| done[key].as_u64().unwrap())
}

pub fn all_markdown(strategy: &str) -> Value {
    json!([{"include": "**/*.md", "update_strategy": strategy}])
}

#[test]
fn what_looks_as_it_did_is_not_opened() {
    let mut site = Site::new(&all_markdown("replace"));
    for n in 0..300 {
        site.write(
            &format!("d{}/f{n}.md", n % 7),
            &format!("file number {n}\n"),
        );
    }
    std::thread::sleep(std::time::Duration::from_millis(50));
    let first = site.sync();
    assert_eq!(
        (&first["opened"], counts(&first)),
        (&json!(300), [300, 0, 0, 0, 0])
    );
    let store = site.desk.path(".graphiti/sessionmill.db");
    let before = fs::read(&store).unwrap();
    let again = site.sync();
    assert_eq!((&again["seen"], &again["opened"]), (&json!(300), &json!(0)));
    assert_eq!(fs::read(&store).unwrap(), before, "nothing is written");
    site.write("d1/f1.md", "another text\n");
    let third = site.sync();
    assert_eq!(
        (&third["opened"], counts(&third)),
        (&json!(1), [0, 1, 0, 0, 0])
    );
    // written anew with the same content: read, and nothing to tell
    std::thread::sleep(std::time::Duration::from_millis(50));
    site.write("d1/f1.md", "another text\n");
    let fourth = site.sync();
    assert_eq!((&fourth["opened"], counts(&fourth)), (&json!(1), [0; 5]));
    let forced = site.sync_as("--force");
    assert_eq!((&forced["opened"], counts(&forced)), (&json!(300), [0; 5]));
}

#[test]
fn replace_keeps_one_episode_of_a_file() {
    let mut site = Site::new(&all_markdown("replace"));
    let id = |site: &Site, word: &str| {
        let found = site.ask(&format!("search {word}"));
        assert_eq!(found["hits"].as_array().unwrap().len(), 1, "{found}");
        found["hits"][0]["episode"].clone()
    };
    site.write("a.md", "alpha\n");
    site.sync();
    let first = id(&site, "alpha");
    site.write("a.md", "beta\n");
    site.sync();
    assert_eq!(id(&site, "beta"), first);
    assert!(site.texts("alpha").is_empty());
}

#[test]
fn version_keeps_every_content() {
    let mut site = Site::new(&all_markdown("version"));
    for word in ["alpha", "beta", "alpha"] {
        site.write("a.md", &format!("{word} words\n"));
        site.sync();
    }
    assert_eq!(site.texts("words").len(), 3);
    assert!(
        site.texts("words")
            .iter()
            .all(|text| !text.contains("not valid"))
    );
}

#[test]
fn archive_marks_the_old_content() {
    let mut site = Site::new(&all_markdown("archive"));
    for word in ["alpha", "beta"] {
        site.write("a.md", &format!("{word} words\n"));
        site.sync();
    }
    let old = site.texts("alpha").remove(0);
    assert!(
        old.starts_with("(not valid since 2026-06-01T12:20:00Z: there is a newer one)"),
        "{old}"
    );
    assert_eq!(site.texts("beta"), ["beta words\n"]);
    // what is gone stays, marked, whatever the strategy
    site.remove("a.md");
    site.sync();
    assert!(
        site.texts("beta")[0].contains("deleted"),
        "{:?}",
        site.texts("beta")
    );
    assert_eq!(site.texts("--operation delete"), ["File deleted: a.md"]);
    site.write("a.md", "gamma words\n");
    assert_eq!(counts(&site.sync()), [1, 0, 0, 0, 0]);
    assert_eq!(site.texts("gamma"), ["gamma words\n"]);
}

#[test]
fn what_moves_stays_findable_under_its_new_name() {
    for strategy in ["replace", "version", "archive"] {
        let mut site = Site::new(&all_markdown(strategy));
        site.write("a/notes.md", "one\ntwo\nthree\nfour\n");
        site.write("b.md", "other\n");
        site.sync();
        site.rename("a/notes.md", "c/notes.md");
        assert_eq!(counts(&site.sync()), [0, 0, 1, 0, 0], "{strategy}");
        assert_eq!(
            site.texts("--operation move"),
            ["File moved: a/notes.md → c/notes.md"]
        );
        assert!(
            site.titles("three --exclude-operation move")
                .contains(&"c/notes.md".to_owned())
        );
        site.rename("c/notes.md", "c/plan.md");
        site.write("c/plan.md", "one\ntwo\nthree\nfive\n");
        assert_eq!(
            counts(&site.sync()),
            [0, 0, 1, 0, 0],
            "renamed and edited, {strategy}"
        );
        assert_eq!(
            site.texts("--operation rename"),
            ["File renamed: c/notes.md → c/plan.md"]
        );
        assert_eq!(site.texts("five"), ["one\ntwo\nthree\nfive\n"]);
        let valid = site
            .texts("four")
            .iter()
            .any(|text| !text.starts_with("(not valid"));
        assert_eq!(valid, strategy == "version", "{strategy}");
        assert_eq!(site.sync()["opened"].as_u64().map(|n| n <= 1), Some(true));
    }
}

#[test]
fn a_file_that_leaves_the_patterns_is_no_deletion() {
    let mut site = Site::new(&all_markdown("replace"));
    site.write("a.md", "alpha\n");
    site.write("b/c.md", "beta\n");
    site.sync();
    site.configure(&json!([{"include": "*.md"}]), &json!({}));
    assert_eq!(counts(&site.sync()), [0; 5]);
    assert_eq!(site.titles("beta"), ["b/c.md"]);
    site.configure(&all_markdown("replace"), &json!({}));
    assert_eq!(site.sync()["deleted"], 0);
    assert_eq!(site.titles("beta"), ["b/c.md"]);
    // a disk that is not there deletes nothing
    fs::rename(site.desk.path("app"), site.desk.path("away")).unwrap();
    let away = site.sync();
    assert_eq!(counts(&away), [0; 5]);
    assert_eq!(away["problems"][0]["reason"], "its folder is not there");
    fs::rename(site.desk.path("away"), site.desk.path("app")).unwrap();
    assert_eq!(counts(&site.sync()), [0; 5]);
}

#[test]
fn secrets_in_files_are_masked() {
    let mut site = Site::new(&all_markdown("replace"));
    let key = ["AKIA", "Q3EGUV4H5RSTLMNP"].concat();
    site.write(
        "deploy.md",
        &format!("deployment\naws_access_key_id = {key}\n"),
    );
    site.sync();
    let text = site.texts("deployment").remove(0);
    assert!(!text.contains(&key), "{text}");
    let shown = site.ask("track list app");
    assert!(
        shown["files"][0]["content_hash"]
            .as_str()
            .unwrap()
            .starts_with("sha256:"),
        "{shown}"
    );
}

#[test]
fn ignore_files_and_limits_are_kept_to() {
    let mut site = Site::new(&json!([{"include": "**/*", "max_file_size_mb": 0.001}]));
    site.write(".gitignore", "build/\n*.secret\n!keep.secret\n");
    site.write("build/out.md", "out\n");
    site.write("a.secret", "hidden\n");
    site.write("keep.secret", "kept\n");
    site.write("x.tmp", "temporary\n");
    site.write("sub/.gitignore", "/only-here.md\n");
    site.write("sub/only-here.md", "x\n");
    site.write("sub/b/only-here.md", "deeper\n");
    site.write("large.md", &"many words\n".repeat(200));
    fs::write(site.path("image.bin"), b"\x89PNG\0\0").unwrap();
    let done = site.sync();
    assert_eq!(done["named_only"], 2, "{done}");
    assert_eq!(
        site.titles("--source filesystem_watch"),
        [
            ".gitignore",
            "image.bin",
            "keep.secret",
            "large.md",
            "sub/.gitignore",
            "sub/b/only-here.md"
        ]
    );
    assert_eq!(site.texts("image.bin"), ["image.bin (binary, 6 bytes)"]);
    assert_eq!(site.texts("large.md"), ["large.md (too large, 2200 bytes)"]);
}

#[test]
fn what_is_excluded_or_another_project_is_left_out() {
    let mut site = Site::new(&all_markdown("replace"));
    for path in ["a.md", "secret/b.md", "inner/c.md"] {
        site.write(path, "words\n");
    }
    let settings = json!({
        "version": "2.0.0",
        "session_tracking": {"enabled": true, "excluded_paths": [site.path("secret")]},
    });
    let config = ".graphiti/graphiti.config.json";
    site.desk.write(config, &settings.to_string());
    let tracking = ".graphiti/tracking-config.json";
    let text = fs::read_to_string(site.desk.path(tracking)).unwrap();
    let mut projects: Value = serde_json::from_str(&text).unwrap();
    projects["projects"]["inner"] = json!({"project_root": site.path("inner"), "enabled": false});
    site.desk.write(tracking, &projects.to_string());
    assert_eq!(site.sync()["seen"], 1);
    assert_eq!(site.titles("words"), ["a.md"]);
}

#[test]
fn what_is_recent_is_what_is_so() {
    let mut site = Site::new(&all_markdown("archive"));
    site.write("a.md", "alpha words\n");
    site.sync();
    site.write("a.md", "beta words\n");
    site.write("b.md", "gamma words\n");
    site.sync();
    site.rename("b.md", "c.md");
    site.sync();
    let store = site.desk.path(".graphiti/sessionmill.db");
    let store = crate::store::Store::open(&store, crate::store::Access::ReadOnly).unwrap();
    let query = crate::store::Query {
        only_valid: true,
        not_operations: vec![crate::model::episode::Operation::Rename],
        limit: 50,
        ..Default::default()
    };
    let mut titles: Vec<String> = store
        .search(&query)
        .unwrap()
        .into_iter()
        .map(|hit| hit.title)
        .collect();
    titles.sort();
    assert_eq!(titles, ["a.md", "c.md"]);
}

#[test]
fn git_keeps_what_it_did_with_every_strategy() {
    let mut site = Site::new(&all_markdown("replace"));
    let mut second = 1_780_304_400;
    let mut git = |site: &Site, args: &[&str]| {
        second += 60;
        let date = format!("{second} +0000");
        let out = std::process::Command::new("git")
            .args(["-c", "user.name=A", "-c", "user.email=a@example.org"])
            .args(args)
            .current_dir(site.path(""))
            .env("HOME", site.desk.path("githome"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_DATE", &date)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success(), "{args:?}: {said}");
    };
    git(&site, &["init", "-q", "-b", "main"]);
    site.write("a.md", "alpha words\n");
    git(&site, &["add", "-A"]);
    git(&site, &["commit", "-q", "-m", "one"]);
    git(&site, &["checkout", "-q", "-b", "other"]);
    site.write("a.md", "beta words\n");
    git(&site, &["commit", "-q", "-a", "-m", "two"]);
    assert_eq!(counts(&site.sync()), [1, 0, 0, 0, 0]);
    for (branch, word) in [("main", "alpha"), ("other", "beta"), ("main", "alpha")] {
        git(&site, &["checkout", "-q", branch]);
        let done = site.sync();
        assert_eq!(counts(&done), [0, 1, 0, 0, 1], "{branch}: {done}");
        let now = format!("{word} --source git_bulk_update --operation update");
        assert!(!site.texts(&now).is_empty(), "{branch}");
        assert_eq!(
            site.titles("words --source filesystem_watch"),
            Vec::<String>::new()
        );
    }
    assert_eq!(
        site.titles("--source git_bulk_update"),
        ["a.md", "a.md", "a.md"]
    );
    site.write("a.md", "gamma words\n");
    assert_eq!(counts(&site.sync()), [0, 1, 0, 0, 0]);
    assert_eq!(site.titles("words --source filesystem_watch"), ["a.md"]);
    assert_eq!(
        site.titles("--source git_bulk_update").len(),
        3,
        "what git did stays told"
    );
}
