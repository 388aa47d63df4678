//! Going on with a session: the agent is started in its folder, or it is said why not.

use super::world::Desk;
use crate::cli::Exit;
use std::fs;

const SESSION: &str = "0b1f0a34-5c0e-4b57-9d3e-2f9a51c7e0aa";

/// A desk with one session of Claude in a folder below the home.
fn desk() -> Desk {
    let desk = Desk::enabled();
    let cwd = desk.path("shop");
    fs::create_dir(&cwd).expect("a folder");
    let said = |nth: u32, role: &str, text: &str| {
        let record = serde_json::json!({
            "type": role, "sessionId": SESSION, "cwd": cwd, "version": "2.1.0",
            "uuid": format!("0b1f0a34-0000-4000-8000-{nth:012}"), "timestamp": format!("2026-05-31T10:0{nth}:00Z"),
            "message": {"role": role, "content": text},
        });
        format!("{record}\n")
    };
    let log = said(1, "user", "Count the owls") + &said(2, "assistant", "There are three.");
    desk.write(&format!(".claude/projects/-shop/{SESSION}.jsonl"), &log);
    let ran = desk.run("sessionmill run");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    desk
}

fn log(desk: &Desk) -> std::path::PathBuf {
    desk.path(&format!(".claude/projects/-shop/{SESSION}.jsonl"))
}

#[test]
fn the_agent_starts_in_the_sessions_folder() {
    let desk = desk();
    desk.program("claude", "echo \"$PWD: $*\" > \"$HOME/started\"");
    let ran = desk.run("sessionmill resume 0b1f0a34");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    let started = fs::read_to_string(desk.path("started")).expect("it was started");
    let folder = desk.path("shop");
    assert_eq!(
        started,
        format!("{}: --resume {SESSION}\n", folder.display())
    );
}

#[test]
fn programs_and_people_may_see_what_would_be_started() {
    let desk = desk();
    desk.program("claude", "exit 7");
    let printed = desk.run("sessionmill resume 0b1f0a34 --print").stdout;
    assert_eq!(printed, format!("cd ~/shop && claude --resume {SESSION}\n"));
    let json = desk.run("sessionmill resume 0b1f0a34 --json").json();
    assert_eq!(json["args"], serde_json::json!(["--resume", SESSION]));
    assert_eq!(json["cwd"], "~/shop");
}

#[test]
fn what_is_missing_is_named_with_what_to_type_next() {
    let desk = desk();
    let refused = |wants: &[&str]| {
        let ran = desk.run("sessionmill resume 0b1f0a34");
        assert_eq!(ran.exit, Exit::Failed, "{}", ran.shown());
        for part in wants {
            assert!(ran.stderr.contains(part), "{part}: {}", ran.shown());
        }
        assert!(!desk.path("started").exists());
    };
    refused(&[
        "Claude Code is not installed: there is no `claude` on the PATH",
        "hint: npm install -g @anthropic-ai/claude-code",
    ]);
    desk.program("claude", "touch \"$HOME/started\"");
    fs::remove_dir(desk.path("shop")).expect("a folder");
    refused(&[
        "the folder of session 0b1f0a34 no longer exists: ~/shop",
        "hint: mkdir -p ~/shop && sessionmill resume 0b1f0a34",
    ]);
    fs::remove_file(log(&desk)).expect("a log");
    refused(&[
        "the log of session 0b1f0a34 no longer exists (Claude Code deletes logs after 30 days)",
        "hint: sessionmill show 0b1f0a34 --full",
    ]);
    let none = desk.run("sessionmill resume ffff0000");
    assert_eq!(none.exit, Exit::Failed);
    assert!(
        none.stderr.contains("hint: sessionmill sessions"),
        "{}",
        none.shown()
    );
}

#[test]
fn a_pager_shows_a_session_on_a_terminal_and_never_in_a_pipe() {
    let mut desk = desk();
    desk.program(
        "owlpager",
        "/bin/cat > \"$HOME/paged\"; echo \"$LESS\" > \"$HOME/less\"",
    );
    desk.vars.insert("PAGER".into(), "owlpager".into());
    let piped = desk.run("sessionmill show 0b1f0a34").stdout;
    assert!(piped.contains("There are three.") && !desk.path("paged").exists());
    desk.columns = Some(80);
    let ran = desk.run("sessionmill show 0b1f0a34");
    assert_eq!(
        (ran.exit, ran.stdout.as_str()),
        (Exit::Done, ""),
        "{}",
        ran.shown()
    );
    let paged = fs::read_to_string(desk.path("paged")).expect("it was paged");
    assert!(paged.contains("There are three."), "{paged}");
    assert_eq!(
        fs::read_to_string(desk.path("less")).expect("its settings"),
        "FRX\n"
    );
    desk.vars.insert("PAGER".into(), "cat".into());
    assert!(
        desk.run("sessionmill show 0b1f0a34")
            .stdout
            .contains("There are three.")
    );
}

#[test]
fn three_m_is_asked_about_on_a_terminal_alone() {
    let mut desk = desk();
    let refused = desk.run("sessionmill sessions --since 3m");
    assert_eq!(refused.exit, Exit::Usage);
    assert!(
        refused.stderr.contains("write 3min or 3 months"),
        "{}",
        refused.shown()
    );
    let field = desk.run("sessionmill search owls since:3m");
    assert_eq!(field.exit, Exit::Usage, "{}", field.shown());
    for (answer, finds) in [("1\n", false), ("2\n", true)] {
        desk.answers = Some(answer.into());
        for line in [
            "sessions --since 3m",
            "sessions --since=3m",
            "search owls since:3m",
        ] {
            let ran = desk.run(&format!("sessionmill {line}"));
            assert_eq!(
                ran.stdout.contains("0b1f0a34"),
                finds,
                "{line}: {}",
                ran.shown()
            );
            assert!(
                ran.stderr.starts_with("3m: 1 = 3min, 2 = 3 months? "),
                "{line}"
            );
        }
    }
}
