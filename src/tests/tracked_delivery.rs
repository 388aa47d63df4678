//! What is kept of tracked files on its way out, what is forgotten of it, and the commands around it.

use super::tracked::{Site, all_markdown, counts, done};
use crate::cli::Exit;
use crate::model::time::Time;
use serde_json::{Value, json};
use std::fs;

impl Site {
    /// With a sink of lines, that consent is recorded for where it needs any.
    fn with_sink(&self, queue: u64) {
        let settings = json!({
            "version": "2.0.0", "session_tracking": {"enabled": true},
            "sinks": {"export": {"kind": "jsonl", "path": "~/out"}},
        });
        self.desk
            .write(".graphiti/graphiti.config.json", &settings.to_string());
        self.configure(
            &all_markdown("replace"),
            &json!({"resilience": {"max_queue_size": queue, "retry_failed_after_seconds": 60}}),
        );
    }

    /// Everything that the sink holds.
    fn exported(&self) -> String {
        let Ok(files) = fs::read_dir(self.desk.path("out")) else {
            return String::new();
        };
        let files = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap_or_default());
        files.collect()
    }

    fn upload(&mut self) -> Value {
        self.desk.now = Time(self.desk.now.0 + 600_000);
        let ran = self.desk.run("sessionmill run --json");
        assert!(
            matches!(ran.exit, Exit::Done | Exit::Partial),
            "{}",
            ran.shown()
        );
        ran.json()
    }
}

#[test]
fn sinks_get_files_with_what_is_known_of_them_and_lose_what_is_forgotten() {
    let mut site = Site::new(&all_markdown("replace"));
    site.with_sink(1_000);
    site.write("src/a.md", "alpha words\n");
    site.upload();
    let out = site.exported();
    for wants in [
        "origin_path: \\\"src/a.md\\\"",
        "operation: create",
        "file_size: 12",
        "content_hash: sha256:",
        "Auto-tracked from filesystem",
        "alpha words",
    ] {
        assert!(out.contains(wants), "{wants}: {out}");
    }
    assert!(
        !out.contains(&*site.path("").to_string_lossy()),
        "no absolute path: {out}"
    );
    site.write("src/a.md", "beta words\n");
    site.upload();
    let out = site.exported();
    assert!(out.contains("beta words"), "{out}");
    done(site.desk.run("sessionmill track remove app --forget"));
    site.upload();
    assert!(
        !site.exported().contains("beta words"),
        "{}",
        site.exported()
    );
    assert!(site.texts("beta").is_empty());
}

#[test]
fn what_is_forgotten_by_time_does_not_come_back() {
    let mut site = Site::new(&all_markdown("replace"));
    site.write("a.md", "alpha words\n");
    let file = fs::File::options()
        .append(true)
        .open(site.path("a.md"))
        .unwrap();
    file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000))
        .unwrap();
    site.sync();
    assert_eq!(site.titles("alpha"), ["a.md"]);
    done(
        site.desk
            .run("sessionmill forget --before 2024-01-01 --yes"),
    );
    assert_eq!(site.titles("alpha"), Vec::<String>::new());
    site.sync();
    assert_eq!(site.titles("alpha"), Vec::<String>::new());
}

#[test]
fn a_full_queue_takes_no_more_and_loses_nothing() {
    let mut site = Site::new(&all_markdown("replace"));
    site.with_sink(3);
    // the sink is met, and what it should write to is not there
    site.write("first.md", "words\n");
    std::thread::sleep(std::time::Duration::from_millis(50));
    site.upload();
    fs::remove_dir_all(site.desk.path("out")).unwrap();
    site.desk.write("out", "a file where the folder should be");
    for n in 0..8 {
        site.write(&format!("f{n}.md"), "words\n");
    }
    // what was written just before a look is looked at again
    std::thread::sleep(std::time::Duration::from_millis(50));
    let waiting = |run: &Value| run["files"]["waiting"].as_u64().unwrap();
    assert_eq!(waiting(&site.upload()), 5);
    assert_eq!(waiting(&site.upload()), 5);
    fs::remove_file(site.desk.path("out")).unwrap();
    for _ in 0..4 {
        site.desk.now = Time(site.desk.now.0 + 30 * 86_400_000);
        site.upload();
    }
    let out = site.exported();
    assert_eq!(
        (0..8).filter(|n| out.contains(&format!("f{n}.md"))).count(),
        8,
        "{out}"
    );
}

#[test]
fn commands_add_list_pause_and_remove() {
    let mut site = Site::new(&json!([]));
    fs::remove_file(site.desk.path(".graphiti/tracking-config.json")).unwrap();
    site.write("src/a.py", "alpha\n");
    site.write("src/tests/b.py", "beta\n");
    let refused = site.desk.run("sessionmill track list app");
    assert_eq!(refused.exit, Exit::Usage, "{}", refused.shown());
    let add = "track add app --include 'src/**/*.py' --exclude '**/tests/**' --strategy version";
    let added = site.ask(add);
    assert_eq!(
        (&added["files"], &added["changed"]),
        (&json!(1), &json!(true)),
        "{added}"
    );
    assert_eq!(site.ask(add)["changed"], false);
    let listed = site.ask("track list app");
    assert_eq!(listed["files"][0]["state"], "new");
    done(site.desk.run("sessionmill track pause app"));
    assert_eq!(site.sync()["seen"], 0);
    let status = site.ask("track status");
    assert_eq!(status["projects"][0]["state"], "paused");
    assert_eq!(status["projects"][0]["pending_updates"], 1);
    done(site.desk.run("sessionmill track resume"));
    assert_eq!(site.sync()["created"], 1);
    std::thread::sleep(std::time::Duration::from_millis(50));
    site.sync();
    let status = site.ask("track status app");
    assert_eq!(status["projects"][0]["pending_updates"], 0, "{status}");
    assert_eq!(status["projects"][0]["files_watched"], 1);
    let shown = site.ask("track list app");
    let episode = shown["files"][0]["episode"].as_str().unwrap().to_owned();
    let told = site.ask(&format!("show {episode}"));
    assert_eq!(told["file"]["origin_path"], "src/a.py");
    assert_eq!(told["file"]["operation"], "create");
    done(site.desk.run("sessionmill track remove app"));
    assert_eq!(site.ask("track status")["projects"], json!([]));
    assert_eq!(site.titles("alpha"), ["src/a.py"], "what was kept stays");
    site.ask(add);
    assert_eq!(counts(&site.sync()), [0; 5], "and is not told twice");
    assert_eq!(site.titles("alpha"), ["src/a.py"]);
}

#[test]
fn a_project_has_one_name() {
    let site = Site::new(&json!([]));
    site.write("shop/a.md", "words\n");
    std::os::unix::fs::symlink(site.path("shop"), site.path("way")).unwrap();
    for path in ["app/shop", "app/way", "app/./shop/", "app/../app/shop"] {
        done(
            site.desk
                .run(&format!("sessionmill track add {path} --include '**/*.md'")),
        );
    }
    let all = site.ask("track status")["projects"].clone();
    assert_eq!(all.as_array().unwrap().len(), 2, "{all}");
    done(site.desk.run("sessionmill track remove app/way"));
}
