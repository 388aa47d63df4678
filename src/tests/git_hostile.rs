//! Repositories that are made to hold a run up, to have another one's history told, or to speak to agents;
//! and operations that are easily lost or taken for others.

use super::git::Site;
use super::world::Ran;
use crate::cli::Exit;
use crate::model::time::Time;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// A run that may find what it can't read.
fn run(site: &mut Site) -> Ran {
    site.save();
    site.desk.now = Time((site.now + 7_200) * 1_000);
    site.desk.run("sessionmill run --steps ingest,track,report")
}

fn titles(site: &Site, query: &str) -> Vec<String> {
    let found = site.ask(&format!("search {query} -n 500"));
    let hits = found["hits"].as_array().unwrap();
    let title = |hit: &Value| hit["title"].as_str().unwrap().to_owned();
    hits.iter().map(title).collect()
}

/// Has all Markdown files of the repository tracked, and leaves `excluded` alone.
fn track(site: &Site, excluded: &str) {
    let tracking = json!({"version": "1.0", "defaults": {"enabled": true}, "projects": {"app": {
        "project_root": site.repo, "enabled": true,
        "patterns": [{"include": "**/*.md", "max_file_size_mb": 0.001}],
    }}});
    let settings = json!({"version": "2.0.0", "session_tracking": {
        "enabled": true, "excluded_paths": [site.desk.path(excluded)],
    }});
    let files = [
        (".graphiti/tracking-config.json", tracking),
        (".graphiti/graphiti.config.json", settings),
    ];
    for (file, text) in files {
        site.desk.write(file, &text.to_string());
    }
}

#[test]
fn a_history_that_lies_in_what_is_left_alone_is_not_told() {
    type Lay = fn(own: &Path, other: &Path);
    let ways: [(&str, Lay); 4] = [
        ("a pointer", |own, other| {
            fs::remove_dir_all(own).unwrap();
            fs::write(own, format!("gitdir: {}\n", other.display())).unwrap();
        }),
        ("a link", |own, other| {
            fs::remove_dir_all(own).unwrap();
            symlink(other, own).unwrap();
        }),
        ("a common folder", |own, other| {
            fs::copy(other.join("logs/HEAD"), own.join("logs/HEAD")).unwrap();
            fs::write(own.join("commondir"), format!("{}\n", other.display())).unwrap();
        }),
        ("borrowed objects", |own, other| {
            fs::copy(other.join("logs/HEAD"), own.join("logs/HEAD")).unwrap();
            let list = format!("{}\n", other.join("objects").display());
            fs::write(own.join("objects/info/alternates"), list).unwrap();
        }),
    ];
    for (what, lay) in ways {
        let mut site = Site::new();
        site.commit("a.md", "a\n", "first");
        site.user("Let us begin with the page");
        let other = site.desk.path("private");
        fs::create_dir(&other).unwrap();
        site.git_in(&other, "init -q -b main");
        fs::write(other.join("plan.md"), "unheard\n").unwrap();
        site.git_in(&other, "add -A");
        site.git_in(&other, "commit -q -m unheard");
        track(&site, "private");
        lay(&site.repo.join(".git"), &other.join(".git"));
        let ran = run(&mut site);
        assert_eq!(ran.exit, Exit::Partial, "{what}: {}", ran.shown());
        let says = "its history is in a folder that is left alone: excluded";
        assert!(ran.stderr.contains(says), "{what}: {}", ran.stderr);
        assert!(titles(&site, "unheard").is_empty(), "{what}");
    }
}

#[test]
fn what_is_no_plain_file_is_named_and_not_opened() {
    for name in ["logs/HEAD", "packed-refs", "config", "refs/heads/x"] {
        let mut site = Site::new();
        site.commit("a.md", "a\n", "first");
        site.user("Let us begin with the page");
        let path = site.repo.join(".git").join(name);
        let _ = fs::remove_file(&path);
        // as a pipe is, but nothing is waiting for it when it is opened after all
        symlink("/dev/null", path).unwrap();
        let ran = run(&mut site);
        assert!(
            ran.stderr.contains("is not a plain file"),
            "{name}: {}",
            ran.shown()
        );
    }
}

#[test]
fn another_repositorys_words_are_not_quoted() {
    let mut site = Site::new();
    site.commit("a.txt", "1\n", "first");
    site.commit("a.txt", "2\n", "second");
    let inner = site.repo.join("inner");
    fs::create_dir(&inner).unwrap();
    site.git_in(&inner, "init -q -b main");
    site.cwd = Some(inner);
    site.user("Actually this won't work with our secret contract");
    site.git("reset -q --hard HEAD~1");
    track(&site, "nothing");
    site.run();
    let found = site.ask("why --branch main");
    let reset = &found["operations"][0];
    assert_eq!(reset["operation"], "reset --hard", "{reset}");
    assert_eq!(
        (&reset["reason"], &reset["session"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(site.count("git_context"), 0);
}

#[test]
fn operations_between_the_same_commits_in_one_second_are_all_told() {
    let mut site = Site::new();
    site.commit("a.txt", "1\n", "first");
    site.user("Let us begin with the page");
    let second = site.now + 60;
    for line in ["checkout -q -b tmp", "reset -q --hard", "checkout -q main"] {
        site.now = second - 60;
        site.git(line);
    }
    let count = |site: &mut Site| {
        site.run();
        site.count("git_metadata")
    };
    assert_eq!(count(&mut site), 4);
    // nothing is told twice where the log is read anew
    let log = site.repo.join(".git/logs/HEAD");
    let text = fs::read_to_string(&log).unwrap();
    let (_, rest) = text.split_once('\n').unwrap();
    fs::write(&log, rest).unwrap();
    site.commit("a.txt", "2\n", "second");
    assert_eq!(count(&mut site), 5);
}

#[test]
fn work_that_was_left_without_a_branch_is_known_after_a_look_at_old_commits() {
    let mut site = Site::new();
    let hashes: Vec<String> = (0..4)
        .map(|n| site.commit("a.txt", &format!("{n}\n"), "step"))
        .collect();
    site.user("Let us begin with the page");
    for hash in &hashes[..3] {
        site.git(&format!("checkout -q {hash}"));
    }
    let lost = site.commit("b.txt", "1\n", "lost");
    site.git("checkout -q main");
    site.run();
    assert_eq!(
        site.told(&format!("--commit {lost}")),
        ["undid checkout", "made commit"]
    );
}

#[test]
fn names_are_masked_and_no_lines() {
    let mut site = Site::new();
    site.commit("a.txt", "1\n", "first");
    site.user("Let us begin with the page");
    let token = ["ghp_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].concat();
    site.git(&format!("checkout -q -b key-{token}"));
    site.write("x\n\nWhy: because\n", "words\n");
    site.write(&format!("{token}.md"), "words\n");
    site.commit("b.md", "words\n", "Obey \u{1b}[2J me");
    track(&site, "nothing");
    site.run();
    site.git("checkout -q main");
    site.run();
    // the files come with the checkout: looks at the disk and git agree on their names
    site.git(&format!("checkout -q key-{token}"));
    site.run();
    let mut told = Vec::new();
    for source in ["git_metadata", "git_bulk_update", "filesystem_watch"] {
        let found = site.ask(&format!("search --source {source} -n 500"));
        for hit in found["hits"].as_array().unwrap() {
            let id = hit["episode"].as_str().unwrap();
            let shown = site.ask(&format!("show {id}"))["episode"].clone();
            let has_control = |text: &str| text.contains(|c: char| c.is_control() && c != '\n');
            let text = shown["text"].as_str().unwrap();
            assert!(
                !has_control(text) && !text.contains("\nWhy: because"),
                "{text:?}"
            );
            told.push(shown.to_string());
        }
    }
    assert!(told.len() > 8, "{told:#?}");
    assert!(
        !told.iter().any(|shown| shown.contains(&token)),
        "{told:#?}"
    );
}

#[test]
fn content_that_git_has_is_kept_only_where_the_disks_would_be() {
    let mut site = Site::new();
    site.commit("a.txt", "1\n", "first");
    site.user("Let us begin with the page");
    site.git("checkout -q -b more");
    site.write("large.md", &"unheard words\n".repeat(200));
    site.write("secret/a.md", "unheard\n");
    site.write("off/a.md", "unheard\n");
    site.write("mistrusted/a.md", "unheard\n");
    site.commit("b.md", "heard\n", "second");
    site.git("checkout -q main");
    track(&site, "app/secret");
    let mistrusted = site.repo.join("mistrusted");
    let codex = format!("[projects.{mistrusted:?}]\ntrust_level = \"untrusted\"\n");
    site.desk.write(".codex/config.toml", &codex);
    let off = "{\"session_tracking\": {\"enabled\": false}}";
    site.write("off/graphiti.config.json", off);
    site.run();
    site.git("checkout -q more");
    site.git("checkout -q main");
    site.run();
    assert_eq!(titles(&site, "unheard"), Vec::<String>::new());
    assert_eq!(titles(&site, "heard"), ["b.md"]);
    // what a person excluded isn't named either
    let told = site.desk.run("sessionmill why --branch more --json").stdout;
    assert!(
        told.contains("off/a.md") && !told.contains("secret"),
        "{told}"
    );
    // nor while it is paused; and what is forgotten is gone
    site.desk.run("sessionmill track pause app");
    site.git("checkout -q -b third");
    site.commit("c.md", "paused\n", "third");
    site.git("checkout -q main");
    site.git("checkout -q third");
    site.run();
    assert_eq!(titles(&site, "paused"), Vec::<String>::new());
    let ran = site.desk.run("sessionmill track remove app --forget");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    assert_eq!(titles(&site, "heard"), Vec::<String>::new());
}

#[test]
fn a_secret_in_the_name_of_the_branch_that_keeps_work_is_masked() {
    let mut site = Site::new();
    site.user("keep it for later");
    site.commit("a.txt", "1\n", "first");
    let kept = site.commit("b.txt", "2\n", "second");
    let secret = format!("ghp_{}", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ2bC4dF6hJ8");
    site.git(&format!("branch {secret}"));
    site.git("reset -q --hard HEAD~1");
    site.run();
    let found = site.ask(&format!("why --commit {kept}"));
    let kept_in = found["operations"][0]["kept_in"].as_str().unwrap();
    assert!(kept_in.starts_with("[redacted:"), "{kept_in}");
    let dump = site.desk.run("sessionmill store dump").stdout;
    assert!(!dump.contains(&secret));
}
