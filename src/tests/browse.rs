//! `browse` from the command line: where it refuses, and `--plain`, a line at a time.

use super::world::{Desk, Ran};
use crate::cli::Exit;

const JWT: &str = "6b1f0a34-5c0e-4b57-9d3e-2f9a51c7e001";

fn desk() -> Desk {
    let desk = Desk::enabled();
    let ran = desk.run("sessionmill backfill");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    desk
}

/// What a person hears who types this.
fn heard(desk: &mut Desk, line: &str, typed: &str) -> Ran {
    desk.answers = Some(typed.to_owned());
    let ran = desk.run(&format!("sessionmill browse --plain {line}"));
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    ran
}

#[test]
fn where_nothing_can_be_drawn_the_command_to_use_is_named() {
    let mut desk = desk();
    for (line, hint) in [
        ("browse", "hint: sessionmill sessions\n"),
        ("browse token", "hint: sessionmill search token\n"),
        ("browse --json", "sessionmill sessions --json"),
    ] {
        let ran = desk.run(&format!("sessionmill {line}"));
        assert_eq!(ran.exit, Exit::Usage, "{}", ran.shown());
        let told = format!("{}{}", ran.stdout, ran.stderr);
        assert!(told.contains(hint), "{line}: {}", ran.shown());
    }
    desk.columns = Some(80);
    desk.answers = Some(String::new());
    desk.vars.insert("TERM".into(), "dumb".into());
    let ran = desk.run("sessionmill browse");
    assert_eq!(ran.exit, Exit::Usage, "{}", ran.shown());
    assert!(ran.stderr.contains("hint: sessionmill browse --plain"));
}

#[test]
fn without_a_store_it_says_what_sessions_says() {
    for (desk, exit) in [(Desk::new(), Exit::Failed), (Desk::enabled(), Exit::Done)] {
        let [browse, sessions] = ["browse --plain", "sessions"].map(|line| {
            let ran = desk.run(&format!("sessionmill {line}"));
            (ran.exit, ran.stderr)
        });
        assert_eq!(browse, sessions);
        assert_eq!(browse.0, exit);
    }
}

#[test]
fn a_line_at_a_time_finds_shows_and_names_the_command() {
    let mut desk = desk();
    let typed = "token exp\n2\ncommand 2\n99\nagnt:x\nsort\n?\nq\n";
    let ran = heard(&mut desk, "", typed);
    insta::assert_snapshot!("plain", format!("{}\n--- said\n{}", ran.stdout, ran.stderr));
    assert!(ran.stdout.contains(&format!("claude --resume {JWT}")));
}

#[test]
fn each_word_of_a_filter_is_heeded() {
    let mut desk = desk();
    let all = heard(&mut desk, "", "\n").stdout;
    assert!(all.contains("1. ") && all.contains("these are 1 to 10; type more for more"));
    let more = heard(&mut desk, "", "more\n\n").stdout;
    assert!(more.contains("\n11. "), "{more}");
    let notes = heard(&mut desk, "--project notes", "\n").stdout;
    assert!(!notes.contains("shop-api, "), "{notes}");
    let codex = heard(&mut desk, "", "agent:codex\n\n").stdout;
    let codex = codex.split("more for more").nth(1).unwrap();
    assert!(
        codex.contains("codex") && !codex.contains("claude"),
        "{codex}"
    );
    let old = heard(&mut desk, "--since 2026-05-01", "\n");
    assert_eq!(old.stdout, "");
    assert!(old.stderr.contains("no session matches"), "{}", old.shown());
    // every session but the completed ones
    let open = heard(&mut desk, "", "open\n\n").stdout;
    let open = open.split("more for more").nth(1).unwrap();
    assert!(!open.contains(", completed"), "{open}");
}

#[test]
fn a_number_continues_the_session() {
    let mut desk = desk();
    let ran = heard(&mut desk, "token", "resume 1\nq\n");
    assert!(ran.stderr.contains("hint: "), "{}", ran.shown());
    let shown = heard(&mut desk, "token", "full 1\nq\n");
    assert!(shown.stdout.contains("User: "), "{}", shown.shown());
}
