//! Trees that are made to hold a look up, to lead it out of the project, or to make it read what it must
//! not.

use super::tracked::Site;
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
