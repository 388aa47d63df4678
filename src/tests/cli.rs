//! Whole commands as people see them.

use super::world::Desk;
use crate::cli::Exit;

#[test]
fn a_wrong_word_is_answered_with_the_right_one() {
    let ran = Desk::new().run("sessionmill serach jwt");
    assert_eq!(ran.exit, Exit::Usage);
    assert!(ran.stderr.contains("'search'"), "{}", ran.shown());
    assert_eq!(ran.stdout, "");
}

#[test]
fn without_a_store_the_next_command_is_named() {
    let ran = Desk::new().run("sessionmill search jwt");
    assert_eq!(
        ran.shown(),
        "exit 1\n--- stderr\nsessionmill: no store at ~/.graphiti/sessionmill.db\nhint: sessionmill run\n"
    );
}

#[test]
fn without_a_home_nothing_is_guessed() {
    let mut desk = Desk::new();
    desk.vars.remove("HOME");
    assert_eq!(desk.run("sessionmill sessions").exit, Exit::Usage);
}

#[test]
fn consent_is_word_for_word_and_recorded_before_the_switch() {
    let mut desk = Desk::new();
    let refused = desk.run("sessionmill enable --confirm ok");
    assert_eq!(refused.exit, Exit::Usage, "{}", refused.shown());
    assert!(!desk.path(".graphiti/graphiti.config.json").exists());
    desk.answers = Some("yes\n".into());
    let ran = desk.run("sessionmill enable");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    assert_eq!(
        ran.stdout,
        "tracking is on (~/.graphiti/graphiti.config.json)\n"
    );
    let dump = desk.run("sessionmill store dump").stdout;
    assert!(
        dump.contains("I understand this tracks conversation logs"),
        "{dump}"
    );
    let off = desk.run("sessionmill disable");
    assert_eq!(
        off.stdout,
        "tracking is off (~/.graphiti/graphiti.config.json)\n"
    );
}

#[test]
fn isolation_without_a_project_finds_nothing_and_says_why() {
    let desk = Desk::new();
    desk.write(
        ".graphiti/graphiti.config.json",
        r#"{"version": "2.0.0", "session_tracking": {"cross_project_search": false}}"#,
    );
    let ran = desk.run("sessionmill search jwt");
    assert_eq!(ran.exit, Exit::Failed);
    assert!(
        ran.stderr.contains("no project is known here"),
        "{}",
        ran.shown()
    );
}

#[test]
fn every_setting_is_shown_with_its_origin() {
    let desk = Desk::new();
    desk.write(
        ".graphiti/graphiti.config.json",
        "{\n\"session_tracking\": {\n\"keep_length_days\": 30}}",
    );
    let shown = desk.run("sessionmill config show").stdout;
    let line = |key: &str| {
        shown
            .lines()
            .find(|l| l.starts_with(key))
            .unwrap_or_default()
            .to_owned()
    };
    let days = line("session_tracking.keep_length_days");
    assert!(
        days.contains(" 30 ") && days.ends_with("graphiti.config.json:3"),
        "{days}"
    );
    assert!(line("chunk.max_tokens").ends_with("default"));
    let json = desk.run("sessionmill config show --json").json();
    assert_eq!(json["schema_version"], 1);
}

#[test]
fn a_wrong_setting_stops_with_file_line_and_the_nearest_key() {
    let desk = Desk::new();
    desk.write(
        ".graphiti/graphiti.config.json",
        "{\n\"session_tracking\": {\n\"keep_lenght_days\": 30}}",
    );
    let ran = desk.run("sessionmill config validate");
    assert_eq!(ran.exit, Exit::Usage);
    assert!(
        ran.stderr.contains("graphiti.config.json:3"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("keep_length_days"), "{}", ran.stderr);
}
