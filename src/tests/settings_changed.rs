//! `config get`, `set` and `unset`: one key changes, nothing else does, and what would not be read is not
//! written.

use super::world::Desk;
use crate::cli::Exit;
use std::fs;

const FILE: &str = ".graphiti/graphiti.config.yaml";
const WRITTEN: &str = "\
# ours
version: 2.0.0
schedule:   # how often
  interval: 1h   # not more
";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write(FILE, WRITTEN);
    desk
}

fn text(desk: &Desk) -> String {
    fs::read_to_string(desk.path(FILE)).unwrap()
}

#[test]
fn a_value_changes_and_comments_stay() {
    let desk = desk();
    let before = text(&desk);
    let got = desk.run("sessionmill config get schedule.interval");
    assert_eq!(got.stdout, "1h\n");
    let set = desk.run("sessionmill config set schedule.interval 6h");
    assert_eq!(set.exit, Exit::Done, "{}", set.shown());
    assert_eq!(text(&desk), before.replace("1h ", "\"6h\" "));
    assert_eq!(
        desk.run("sessionmill config get schedule.interval").stdout,
        "6h\n"
    );
    // again is nothing
    let again = desk
        .run("sessionmill config set schedule.interval 6h --json")
        .json();
    assert_eq!(again["changed"], false);
    assert_eq!(text(&desk), before.replace("1h ", "\"6h\" "));
}

#[test]
fn a_value_that_goes_gives_its_default_back() {
    let desk = desk();
    let unset = desk.run("sessionmill config unset schedule.interval");
    assert_eq!(unset.exit, Exit::Done, "{}", unset.shown());
    assert!(
        text(&desk).starts_with("# ours\nversion: 2.0.0\n"),
        "{}",
        text(&desk)
    );
    assert_eq!(
        desk.run("sessionmill config get schedule.interval").stdout,
        "15min\n"
    );
    let nothing = desk
        .run("sessionmill config unset schedule.interval --json")
        .json();
    assert_eq!(nothing["changed"], false);
}

#[test]
fn what_would_not_be_read_is_not_written() {
    let desk = desk();
    let before = text(&desk);
    for line in [
        "config set schedule.intervall 6h",
        "config set schedule.interval 7min",
        "config set schedule.interval [1]",
        "config set session_tracking.keep_length_days never",
        "config set session_tracking.enabled true",
        "config set session_tracking '{\"enabled\": true}'",
        "config set --tracking global.enabled true",
        "config set --tracking global.session_tracking.enabled true",
        "config get schedule.intervall",
    ] {
        let refused = desk.run(&format!("sessionmill {line}"));
        assert_eq!(refused.exit, Exit::Usage, "{line}: {}", refused.shown());
        assert!(
            refused.stderr.contains("hint: ") || refused.stderr.contains("config.yaml:"),
            "{}",
            refused.stderr
        );
        assert_eq!(text(&desk), before, "{line}");
    }
    let consent = desk
        .run("sessionmill config set session_tracking.enabled true")
        .stderr;
    assert!(consent.contains("hint: sessionmill enable"), "{consent}");
    assert_eq!(
        desk.run("sessionmill config set session_tracking.enabled false")
            .exit,
        Exit::Done
    );
}

#[test]
fn a_setting_that_stops_everything_can_be_mended_here() {
    for enabled in [true, false] {
        let desk = Desk::new();
        let broken = format!(
            "version: 2.0.0\nsession_tracking:\n  enabled: {enabled}\nschedule:\n  interval: 7min\n"
        );
        desk.write(FILE, &broken);
        assert_eq!(desk.run("sessionmill config show").exit, Exit::Usage);
        // as long as it stands, nothing else is written, a yes least of all
        let yes = desk.run("sessionmill config set session_tracking.enabled true");
        assert_eq!(yes.exit == Exit::Usage, !enabled, "{}", yes.shown());
        assert_eq!(text(&desk), broken);
        let mended = desk.run("sessionmill config set schedule.interval 1h");
        assert_eq!(mended.exit, Exit::Done, "{}", mended.shown());
        let now = desk.run("sessionmill config get session_tracking.enabled");
        assert_eq!(now.stdout, format!("{enabled}\n"));
    }
}

#[test]
fn without_a_file_one_is_made() {
    let desk = Desk::new();
    let set = desk.run("sessionmill config set session_tracking.keep_length_days 30");
    assert_eq!(set.exit, Exit::Done, "{}", set.shown());
    assert_eq!(
        desk.run("sessionmill config get session_tracking.keep_length_days")
            .stdout,
        "30\n"
    );
    assert_eq!(desk.run("sessionmill config validate").exit, Exit::Done);
    let refused = desk.run("sessionmill config set --tracking defaults.nothing 1");
    assert_eq!(refused.exit, Exit::Usage);
    assert!(!desk.path(".graphiti/tracking-config.json").exists());
    let set = desk.run("sessionmill config set --tracking defaults.enabled true");
    assert_eq!(set.exit, Exit::Done, "{}", set.shown());
    assert_eq!(
        desk.run("sessionmill config get --tracking defaults.enabled")
            .stdout,
        "true\n"
    );
}

#[test]
fn a_key_above_others_shows_them_all() {
    let desk = desk();
    let got = desk.run("sessionmill config get schedule").stdout;
    assert!(got.contains("schedule.interval = \"1h\"\n"), "{got}");
    let json = desk
        .run("sessionmill config get schedule.interval --json")
        .json();
    assert_eq!(json["settings"][0]["value"], "1h");
}
