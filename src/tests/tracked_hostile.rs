//! Trees that are made to hold a look up, to lead it out of the project, or to make it read what it must
//! not.

use super::tracked::Site;
use crate::cli::Exit;
use crate::model::time::Time;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

fn everything() -> Value {
    json!([{"include": "**/*"}])
}

fn pipe(path: &std::path::Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

#[test]
fn odd_names_are_files_like_all_others() {
    let mut site = Site::new(&everything());
    let long = "n".repeat(255);
    let names: [&[u8]; 7] = [
        b"with blank",
        b"new\nline",
        b"not-\xff-utf8",
        b"not-\xfe-utf8",
        b"-rf",
        "é\u{301}\u{202e}".as_bytes(),
        long.as_bytes(),
    ];
    for name in names {
        fs::write(site.path("").join(OsStr::from_bytes(name)), "words\n").unwrap();
    }
    let done = site.sync();
    assert_eq!(
        (&done["created"], &done["seen"]),
        (&json!(7), &json!(7)),
        "{done}"
    );
    let titles = site.titles("words");
    assert!(titles.contains(&"new\\x0aline".to_owned()), "{titles:?}");
    assert!(titles.contains(&"not-\\xff-utf8".to_owned()), "{titles:?}");
    assert_eq!(titles.len(), 7);
    for name in names {
        fs::remove_file(site.path("").join(OsStr::from_bytes(name))).unwrap();
    }
    assert_eq!(site.sync()["deleted"], 7);
}

#[test]
fn what_is_no_file_is_never_opened() {
    let mut site = Site::new(&everything());
    site.write("a.md", "words\n");
    pipe(&site.path("pipe.md"));
    let _socket = UnixListener::bind(site.path("socket.md")).unwrap();
    site.write("sub/b.md", "words\n");
    pipe(&site.path("sub/.gitignore"));
    let sparse = fs::File::create(site.path("sparse.md")).unwrap();
    sparse.set_len(10 << 30).unwrap();
    site.write("empty.md", "");
    let done = site.sync();
    // the two with words; nothing of what is empty, endless or no file
    assert_eq!(done["opened"], 2, "{done}");
    assert_eq!(
        (&done["created"], &done["named_only"]),
        (&json!(4), &json!(1)),
        "{done}"
    );
    assert_eq!(done["passed_over"], 3, "{done}");
    // another mode is no change of what was not read
    let mode = fs::Permissions::from_mode(0o600);
    fs::set_permissions(site.path("sparse.md"), mode).unwrap();
    assert_eq!(site.sync()["updated"], 0);
    fs::remove_file(site.path("a.md")).unwrap();
    pipe(&site.path("a.md"));
    assert_eq!(site.sync()["deleted"], 1);
}

#[test]
fn links_are_followed_when_asked_and_never_out_of_the_project() {
    let mut site = Site::new(&everything());
    site.desk.write("private/key.md", "private words\n");
    site.write("real/a.md", "words\n");
    site.write(".git/config", "words\n");
    symlink(site.desk.path("private"), site.path("out")).unwrap();
    symlink(site.desk.path("private/key.md"), site.path("key.md")).unwrap();
    symlink(site.path("real"), site.path("inside")).unwrap();
    symlink(site.path(""), site.path("real/loop")).unwrap();
    symlink("self", site.path("self")).unwrap();
    symlink(site.path(".git"), site.path("git")).unwrap();
    symlink("/dev/zero", site.path("zero")).unwrap();
    assert_eq!(site.sync()["seen"], 1);
    site.configure(&everything(), &json!({"follow_symlinks": true}));
    let done = site.sync();
    let titles = site.titles("words");
    assert!(titles.contains(&"inside/a.md".to_owned()), "{titles:?}");
    let is_private = |title: &String| title.contains("key") || title.contains("config");
    assert!(!titles.iter().any(is_private), "{titles:?}");
    assert_eq!(done["seen"], 2, "{done}");
    // a beginning that a link replaces
    site.configure(&json!([{"include": "out/**"}]), &json!({}));
    assert_eq!(site.sync()["seen"], 0);
}

#[test]
fn what_may_not_be_read_is_named_and_nothing_is_lost() {
    let mut site = Site::new(&everything());
    site.write("shut/a.md", "words\n");
    site.write("b.md", "words\n");
    site.sync();
    let mode = |path: &str, mode| {
        fs::set_permissions(site.path(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("shut", 0o000);
    mode("b.md", 0o000);
    if fs::File::open(site.path("b.md")).is_ok() {
        mode("shut", 0o755);
        return; // nothing is shut to root
    }
    let done = site.sync();
    assert_eq!(
        (&done["deleted"], done["unread"].as_array().unwrap().len()),
        (&json!(0), 2)
    );
    let mode = |path: &str, mode| {
        fs::set_permissions(site.path(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("shut", 0o755);
    mode("b.md", 0o644);
    assert_eq!(site.sync()["unread"], json!([]));
}

#[test]
fn a_deep_tree_ends() {
    let mut site = Site::new(&everything());
    let mut path = "d".to_owned();
    for _ in 0..200 {
        path.push_str("/d");
    }
    site.write(&format!("{path}/a.md"), "words\n");
    let done = site.sync();
    assert_eq!(done["seen"], 0);
    assert_eq!(done["unread"][0]["reason"], "too deep", "{done}");
}

#[test]
fn links_lead_to_nothing_that_is_left_alone() {
    let mut site = Site::new(&everything());
    site.write("secret/a.md", "words\n");
    site.write("inner/b.md", "words\n");
    site.write("off/c.md", "words\n");
    site.write("off/graphiti.config.json", OFF);
    for name in ["secret", "inner", "off"] {
        symlink(site.path(name), site.path(&format!("to-{name}"))).unwrap();
    }
    symlink(site.path("secret/a.md"), site.path("one.md")).unwrap();
    let settings = json!({"version": "2.0.0", "session_tracking": {
        "enabled": true, "excluded_paths": [site.path("secret")],
    }});
    let tracking = json!({"version": "1.0", "defaults": {"follow_symlinks": true}, "projects": {
        "app": {"project_root": site.path(""), "enabled": true, "patterns": everything()},
        "inner": {"project_root": site.path("inner"), "enabled": false},
    }});
    let file = ".graphiti/graphiti.config.json";
    site.desk.write(file, &settings.to_string());
    let file = ".graphiti/tracking-config.json";
    site.desk.write(file, &tracking.to_string());
    assert_eq!(site.sync()["seen"], 0);
    assert_eq!(site.ask("track list app")["files"], json!([]));
}

const OFF: &str = "{\"session_tracking\": {\"enabled\": false}}";

#[test]
fn folders_that_are_not_trusted_or_switch_themselves_off_are_left_alone() {
    // as a pattern that reaches them, and as one that begins in them
    for patterns in [
        everything(),
        json!([{"include": "bad/x/*"}, {"include": "off/x/*"}]),
    ] {
        let mut site = Site::new(&patterns);
        site.write("bad/x/a.md", "words\n");
        site.write("off/x/b.md", "words\n");
        assert_eq!(site.sync()["seen"], 2);
        let bad = site.path("bad");
        let codex = format!("[projects.{bad:?}]\ntrust_level = \"untrusted\"\n");
        site.desk.write(".codex/config.toml", &codex);
        site.write("off/graphiti.config.json", OFF);
        let done = site.sync();
        assert_eq!(
            (&done["seen"], &done["deleted"]),
            (&json!(0), &json!(0)),
            "{done}"
        );
    }
}

#[test]
fn our_own_folder_and_what_sinks_write_are_no_files_of_a_project() {
    let mut site = Site::new(&everything());
    site.write("a.md", "words\n");
    symlink(site.desk.path(""), site.desk.path("way")).unwrap();
    let settings = json!({"version": "2.0.0", "session_tracking": {"enabled": true},
        "sinks": {"pages": {"kind": "jsonl", "path": site.path("memory")}}});
    let file = ".graphiti/graphiti.config.json";
    site.desk.write(file, &settings.to_string());
    let around = json!({"version": "1.0", "projects": {"home": {
        // the home by another name
        "project_root": site.desk.path("way"), "enabled": true, "patterns": everything(),
    }}});
    let file = ".graphiti/tracking-config.json";
    site.desk.write(file, &around.to_string());
    for _ in 0..2 {
        site.desk.now = Time(site.desk.now.0 + 600_000);
        let ran = site.desk.run("sessionmill run --json");
        assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    }
    assert!(site.path("memory").exists());
    assert_eq!(site.titles("--source filesystem_watch"), ["app/a.md"]);
}

#[test]
fn a_pattern_that_begins_in_git_names_nothing() {
    let mut site = Site::new(&json!([{"include": ".git/**"}, {"include": ".git/config"}]));
    site.write(".git/config", "url = https://me:words@example.org\n");
    assert_eq!(site.sync()["seen"], 0);
}
