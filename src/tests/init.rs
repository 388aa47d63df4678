//! `init` and `uninstall`: from an empty home to an answer and back, byte for byte.

use super::world::Desk;
use crate::cli::Exit;
use std::fs;
use std::path::Path;

const CLAUDE: &str = ".claude/settings.json";
const CODEX: &str = ".codex/hooks.json";
/// As a person lays it out, with what we know nothing of.
const ODD: &str = "{ \"model\": \"opus\",\n\n    \"env\": {\"A\":\"1\"} }\n";

/// A `crontab` that keeps its table in a file.
const CRONTAB: &str = r#"PATH=/usr/bin:/bin
case "$1" in
    -l) cat "$HOME/crontab" ;;
    -) cat > "$HOME/crontab" ;;
esac"#;

/// A home with the fixture logs, a crontab with a line of its owner's, and no systemd.
fn desk() -> Desk {
    let desk = Desk::with_fixtures();
    desk.program("systemctl", "exit 1");
    desk.write("crontab", "5 4 * * * backup\n");
    desk.program("crontab", CRONTAB);
    desk.write(CLAUDE, ODD);
    desk
}

fn text(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn yes_reads_everything_and_installs_nothing() {
    let desk = desk();
    let ran = desk.run("sessionmill init --yes");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    assert!(ran.stderr.contains("Claude Code: "), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("undo: sessionmill uninstall"),
        "{}",
        ran.stderr
    );
    assert_eq!(text(desk.path(CLAUDE)), ODD);
    assert_eq!(text(desk.path("crontab")), "5 4 * * * backup\n");
    assert_eq!(desk.run("sessionmill search token expiry").exit, Exit::Done);
    // consent is recorded, and to nothing but reading
    let given = desk.run("sessionmill consent list --json").json();
    assert_eq!(
        given["consents"].as_array().map(Vec::len),
        Some(1),
        "{given}"
    );
    // again is harmless, and asks nothing
    let again = desk.run("sessionmill init --yes");
    assert_eq!(again.exit, Exit::Done, "{}", again.shown());
    assert!(again.stdout.contains("nothing new"), "{}", again.stdout);
}

/// The fixtures' sessions are of March.
#[test]
fn the_reward_is_the_last_week_of_work() {
    for (day, is_now) in [("2026-03-15", true), ("2026-06-01", false)] {
        let ran = desk().run(&format!("sessionmill init --yes --now {day}T12:00:00Z"));
        assert!(ran.stdout.contains("# Recap: 2026-03-"), "{}", ran.shown());
        let told = ran.stderr.contains("no session in the last 7 days");
        assert_eq!(told, !is_now, "{}", ran.shown());
    }
}

#[test]
fn somebody_at_a_terminal_is_asked_once_for_each_step() {
    let mut desk = desk();
    desk.answers = Some("y\ny\nno\n\n".into());
    let ran = desk.run("sessionmill init");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    assert_eq!(ran.stderr.matches("[y/N]").count(), 4, "{}", ran.stderr);
    assert!(text(desk.path("crontab")).contains("sessionmill"));
    assert!(
        ran.stderr.contains("undo: sessionmill schedule remove"),
        "{}",
        ran.stderr
    );
    assert_eq!(text(desk.path(CLAUDE)), ODD);
    // one consent is enough
    desk.answers = Some("n\nn\nn\n".into());
    let again = desk.run("sessionmill init");
    assert_eq!(again.stderr.matches("[y/N]").count(), 3, "{}", again.stderr);
}

#[test]
fn without_a_yes_nothing_is_read() {
    for answers in [None, Some("n\n".to_owned()), Some(String::new())] {
        let mut desk = desk();
        desk.answers = answers;
        let ran = desk.run("sessionmill init --timer --hooks --mcp");
        assert_eq!(ran.exit, Exit::Usage, "{}", ran.shown());
        assert!(
            ran.stderr.contains("hint: sessionmill init --yes"),
            "{}",
            ran.stderr
        );
        assert!(!desk.path(".graphiti/sessionmill.db").exists());
        assert_eq!(text(desk.path(CLAUDE)), ODD);
    }
    let error = desk().run("sessionmill init --json").json();
    assert_eq!(error["error"]["hint"], "sessionmill init --yes");
}

#[test]
fn what_init_installs_uninstall_takes_away_byte_for_byte() {
    let desk = desk();
    let state = text(desk.path(".claude.json"));
    let ran = desk.run("sessionmill init --yes --timer --hooks --mcp --json");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    let document = ran.json();
    assert_eq!(document["had_consent"], false);
    for step in ["timer", "hooks", "mcp"] {
        assert_eq!(document["steps"][step], "installed", "{document}");
    }
    assert!(text(desk.path(CLAUDE)).contains("recall"));
    assert!(text(desk.path("crontab")).contains("sessionmill run nightly"));
    let completion = ".config/fish/completions/sessionmill.fish";
    desk.write(completion, &desk.run("sessionmill completion fish").stdout);
    desk.write(".zfunc/_sessionmill", "# somebody else's\n");

    let gone = desk.run("sessionmill uninstall");
    assert_eq!(gone.exit, Exit::Done, "{}", gone.shown());
    assert_eq!(text(desk.path(CLAUDE)), ODD);
    assert_eq!(text(desk.path(CODEX)), "");
    assert_eq!(text(desk.path(".claude.json")), state);
    assert_eq!(text(desk.path("crontab")), "5 4 * * * backup\n");
    assert!(!desk.path(completion).exists());
    assert!(desk.path(".zfunc/_sessionmill").exists());
    assert!(
        gone.stdout
            .contains("the store was kept: ~/.graphiti/sessionmill.db"),
        "{}",
        gone.shown()
    );
    assert_eq!(desk.run("sessionmill search token expiry").exit, Exit::Done);
    assert_eq!(
        desk.run("sessionmill uninstall --json").json()["failed"],
        serde_json::json!([])
    );
}

#[test]
fn a_purge_leaves_what_is_not_ours() {
    let mut desk = desk();
    desk.run("sessionmill init --yes");
    desk.write(".graphiti/pipelines/mine.yaml", "steps: []\n");
    desk.write(".graphiti/logs/graphiti.log", "theirs\n");
    let refused = desk.run("sessionmill uninstall --purge");
    assert_eq!(refused.exit, Exit::Usage, "{}", refused.shown());
    assert!(desk.path(".graphiti/sessionmill.db").exists());
    desk.answers = Some("yes\n".into());
    let gone = desk.run("sessionmill uninstall --purge");
    assert_eq!(gone.exit, Exit::Done, "{}", gone.shown());
    for name in [
        "sessionmill.db",
        "sessionmill.db-wal",
        "sessionmill.lock",
        "redact.key",
        "runs",
    ] {
        assert!(!desk.path(&format!(".graphiti/{name}")).exists(), "{name}");
    }
    assert!(desk.path(".graphiti/pipelines/mine.yaml").exists());
    assert!(desk.path(".graphiti/logs/graphiti.log").exists());
    assert!(
        gone.stdout.contains("left ~/.graphiti/pipelines"),
        "{}",
        gone.shown()
    );
    // settings that stay are no consent
    assert_eq!(
        desk.run("sessionmill config get session_tracking.enabled")
            .stdout,
        "false\n"
    );
}

#[test]
fn a_step_that_fails_is_named_and_the_rest_goes_on() {
    let desk = desk();
    desk.write(CLAUDE, "{ not json");
    let ran = desk.run("sessionmill init --yes --hooks --timer");
    assert_eq!(ran.exit, Exit::Failed, "{}", ran.shown());
    assert!(
        ran.stderr.contains("warning: hooks not installed: "),
        "{}",
        ran.stderr
    );
    assert!(text(desk.path("crontab")).contains("sessionmill"));
    assert_eq!(text(desk.path(CLAUDE)), "{ not json");
    let gone = desk.run("sessionmill uninstall");
    assert_eq!(gone.exit, Exit::Failed, "{}", gone.shown());
    assert_eq!(text(desk.path("crontab")), "5 4 * * * backup\n");
}

#[test]
fn without_a_timer_the_warning_says_what_to_do() {
    let desk = Desk::with_fixtures();
    let ran = desk.run("sessionmill init --yes --timer");
    assert_eq!(ran.exit, Exit::Failed, "{}", ran.shown());
    let hint = "hint: run this from your own scheduler: sessionmill run nightly --quiet";
    assert!(ran.stderr.contains(hint), "{}", ran.stderr);
}

#[test]
fn a_machine_without_logs_is_set_up_all_the_same() {
    let desk = Desk::new();
    let ran = desk.run("sessionmill init --yes --hooks");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    assert!(
        ran.stderr.contains("no logs in ~/.claude/projects"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr
            .contains("hooks not installed: no agent was found"),
        "{}",
        ran.stderr
    );
    let nothing = Desk::new().run("sessionmill uninstall");
    assert_eq!(nothing.exit, Exit::Done, "{}", nothing.shown());
}
