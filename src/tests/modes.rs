//! What is ours is for its owner alone, whatever the umask, and `doctor` sees where it isn't.

use super::forget::{desk, said};
use super::world::Desk;
use crate::cli::Exit;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

const LOG: &str = ".claude/projects/-w/aaaa.jsonl";

/// Everything below our folder, itself included, that somebody else may get at.
fn open_to_others(desk: &Desk) -> Vec<String> {
    let all = walkdir::WalkDir::new(desk.path(".graphiti")).into_iter();
    all.map(|entry| entry.unwrap())
        .filter(|entry| entry.metadata().unwrap().permissions().mode() & 0o077 != 0)
        .map(|entry| entry.path().display().to_string())
        .collect()
}

/// Everything that writes. Run by the test below, in a process with its own umask.
#[test]
fn with_any_umask_files_are_for_their_owner() {
    let desk = desk();
    desk.write(LOG, &said("aaaa", "/w/shop", 1, "user", "zebrafish"));
    for line in [
        "run",
        "search zebrafish",
        "disable --project /w/other",
        "consent give http://h --confirm 'I understand this sends what my session logs say to http://h'",
        "run nightly --check --record",
        "store compact",
        "forget aaaa",
        "forget --undo",
        "run",
        "doctor",
    ] {
        let ran = desk.run(&format!("sessionmill {line}"));
        assert_eq!(ran.exit, Exit::Done, "{line}: {}", ran.shown());
        assert_eq!(open_to_others(&desk), [""; 0], "{line}");
    }
}

#[test]
fn the_umask_of_others_changes_nothing() {
    let me = std::env::current_exe().unwrap();
    let script =
        "umask 000 && exec \"$0\" --exact tests::modes::with_any_umask_files_are_for_their_owner";
    let ran = Command::new("sh")
        .arg("-c")
        .arg(script)
        .arg(me)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && told.contains("1 passed"), "{told}");
}

#[test]
fn doctor_names_what_others_may_read() {
    let desk = desk();
    desk.write(LOG, &said("aaaa", "/w/shop", 1, "user", "zebrafish"));
    desk.run("sessionmill run");
    let set = |below: &str, mode| {
        fs::set_permissions(desk.path(below), fs::Permissions::from_mode(mode)).unwrap();
    };
    for (below, mode, closed) in [
        (".graphiti/sessionmill.db", 0o640, 0o600),
        (".graphiti/redact.key", 0o604, 0o600),
        (".graphiti", 0o755, 0o700),
        (".graphiti", 0o711, 0o700),
    ] {
        set(below, mode);
        let ran = desk.run("sessionmill doctor");
        assert_eq!(ran.exit, Exit::Partial, "{}", ran.shown());
        assert!(
            ran.stdout.contains("chmod -R go= ~/.graphiti"),
            "{}",
            ran.shown()
        );
        set(below, closed);
        assert_eq!(desk.run("sessionmill doctor").exit, Exit::Done);
    }
}
