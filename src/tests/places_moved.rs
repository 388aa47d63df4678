//! A project that moved is joined to its past by a person's word: what was stored of it is found where it is
//! now, and so is what is read later. And folders of logs behind links are read.

use super::delivery::done;
use super::forget::{desk, said};
use super::places::{MOVED, places, session, told};
use crate::cli::Exit;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;

#[test]
fn what_a_project_that_moved_was_told_comes_back_where_it_is() {
    let mut desk = places();
    desk.cwd = Some(desk.path("new"));
    for word in MOVED {
        let ran = desk.run(&format!("sessionmill recall keep {word} small"));
        assert!(
            ran.stdout.contains(&format!("keep {word} small")),
            "{}",
            ran.shown()
        );
    }
    // what is read of it later counts to it too
    session(&desk, "old", "farword", 9);
    done(desk.run("sessionmill run --all"));
    let here = done(desk.run("sessionmill sessions --json --project ."));
    assert!(here.stdout.contains("farword"), "{}", here.shown());
    done(desk.run("sessionmill forget --yes --project ."));
    session(&desk, "old", "lateword", 8);
    done(desk.run("sessionmill run --all"));
    let left = done(desk.run("sessionmill sessions --json"));
    for word in ["oldword", "newword", "farword", "lateword"] {
        assert!(!left.stdout.contains(word), "{word}: {}", left.shown());
    }
}

#[test]
fn one_place_is_one_row_whatever_its_sessions_were_stored_under() {
    let desk = places();
    let (new, old) = ("~/new", "~/old");
    let row_of = |rows: &Value, of: &str| -> Vec<u64> {
        let rows = rows.as_array().unwrap().iter();
        let rows = rows.filter(|row| row["project_path"] == of);
        rows.map(|row| row["sessions"].as_u64().unwrap()).collect()
    };
    let stats = done(desk.run("sessionmill stats --json")).json();
    assert_eq!(row_of(&stats["projects"], new), [2], "{stats}");
    assert!(row_of(&stats["projects"], old).is_empty(), "{stats}");
    let kinds = done(desk.run("sessionmill stats --activity --json")).json();
    assert_eq!(row_of(&kinds["projects"], new), [2], "{kinds}");
    let insights = done(desk.run("sessionmill insights --by-project --json")).json();
    let rows = insights["projects"].as_array().unwrap().iter();
    let of_new = rows.filter(|row| row["project_path"] == new);
    assert_eq!(of_new.count(), 1, "{insights}");
    let recap = done(desk.run("sessionmill recap --since 2000-01-01 --json")).json();
    let projects = recap["recap"]["projects"].as_array().unwrap();
    let named: Vec<&str> = projects
        .iter()
        .map(|p| p["project"].as_str().unwrap())
        .collect();
    assert!(
        named.contains(&"new") && !named.contains(&"old"),
        "{named:?}"
    );
}

#[test]
fn a_move_is_said_of_what_is_stored_and_of_a_folder_and_can_be_taken_back() {
    let desk = places();
    let sessions = |project: &str| {
        let ran = desk.run(&format!("sessionmill sessions --json --project {project}"));
        told(&ran.stdout)
    };
    for (line, exit, says) in [
        ("nothing new", Exit::Failed, "no project is named nothing"),
        ("app nowhere", Exit::Usage, "is not a folder"),
        ("app app/src", Exit::Usage, "is already there"),
    ] {
        let ran = desk.run(&format!("sessionmill project move {line}"));
        assert_eq!(ran.exit, exit, "{}", ran.shown());
        assert!(ran.stderr.contains(says), "{}", ran.shown());
    }
    let other = desk.path("other").display().to_string();
    done(desk.run(&format!("sessionmill disable --project {other}")));
    fs::rename(desk.path("other"), desk.path("third")).unwrap();
    let ran = done(desk.run(&format!("sessionmill project move {other} third")));
    assert!(
        ran.stderr.contains("disable --project ~/third"),
        "{}",
        ran.shown()
    );
    assert_eq!(sessions("third"), ["otherword"]);
    let undo = format!("sessionmill project move --undo {other}");
    let told = "to undo: sessionmill project move --undo ";
    assert!(ran.stderr.contains(told), "{}", ran.shown());
    done(desk.run(&undo));
    assert_eq!(sessions(&other), ["otherword"]);
    let again = desk.run(&undo);
    assert_eq!(again.exit, Exit::Failed, "{}", again.shown());
    assert!(again.stderr.contains("was not moved"), "{}", again.shown());
    done(desk.run(&format!("sessionmill project move {other} third")));
    // and into a folder of its own, and back
    fs::create_dir(desk.path("other")).unwrap();
    fs::rename(desk.path("third"), desk.path("other/again")).unwrap();
    done(desk.run("sessionmill project move third other/again"));
    assert_eq!(sessions("other/again"), ["otherword"]);
    fs::rename(desk.path("other/again"), desk.path("back")).unwrap();
    fs::remove_dir_all(desk.path("other")).unwrap();
    done(desk.run(&format!("sessionmill project move {other}/again back")));
    fs::rename(desk.path("back"), desk.path("other")).unwrap();
    done(desk.run("sessionmill project move back other"));
    for name in [&other, "other"] {
        assert_eq!(sessions(name), ["otherword"]);
    }
}

#[test]
fn a_project_that_is_known_by_its_remote_is_offered_and_a_copy_is_not() {
    let desk = desk();
    let remote = "[remote \"origin\"]\n\turl = git@example.org:me/app.git\n";
    for folder in ["one", "two"] {
        desk.write(&format!("{folder}/.git/config"), remote);
        desk.write(&format!("{folder}/.git/HEAD"), "ref: refs/heads/main\n");
    }
    let ran = |folder: &str, nth| {
        session(&desk, folder, &format!("{folder}word"), nth);
        done(desk.run("sessionmill run --all")).stderr
    };
    assert_eq!(ran("one", 1), "");
    assert_eq!(ran("two", 2), "", "both are there");
    fs::remove_dir_all(desk.path("one")).unwrap();
    fs::rename(desk.path("two"), desk.path("three")).unwrap();
    let told = ran("three", 3);
    for gone in ["one", "two"] {
        let wants = format!("~/three looks like ~/{gone}, which is gone: the same remote");
        assert!(told.contains(&wants), "{told}");
    }
    let again = done(desk.run("sessionmill run --all"));
    assert_eq!(again.stderr, "", "said once");
}

#[test]
fn a_folder_of_logs_behind_a_link_is_read_and_a_second_link_changes_nothing() {
    let desk = desk();
    let log = said("linkedlog", "/w/far", 1, "user", "feed the zebra");
    desk.write("backup/-w-far/linkedlog.jsonl", &log);
    fs::create_dir_all(desk.path(".claude/projects")).unwrap();
    symlink(
        desk.path("backup/-w-far"),
        desk.path(".claude/projects/-w-far"),
    )
    .unwrap();
    let first = done(desk.run("sessionmill run --all --json")).json();
    assert_eq!(
        (&first["files_read"], &first["left_out"]),
        (&1.into(), &serde_json::json!({}))
    );
    symlink(
        desk.path("backup/-w-far"),
        desk.path(".claude/projects/-w-again"),
    )
    .unwrap();
    let again = done(desk.run("sessionmill run --all --json")).json();
    assert_eq!(
        (&again["files_found"], &again["bytes_read"]),
        (&1.into(), &0.into())
    );
    assert_eq!(again["files_vanished"], 0);
    symlink(desk.path(""), desk.path(".claude/projects/around")).unwrap();
    let around = done(desk.run("sessionmill run --all --json")).json();
    assert_eq!(around["left_out"]["symbolic link"], 1, "{around}");
}
