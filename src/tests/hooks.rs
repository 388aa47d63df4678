//! `hooks`: our entries in agents' settings, as a person puts them in and takes them out.

use super::world::Desk;
use crate::agents::registry;
use crate::cli::Exit;
use crate::config::Env;
use crate::model::source::Agent;
use std::fs;
use std::path::Path;

const CLAUDE: &str = ".claude/settings.json";
const CODEX: &str = ".codex/hooks.json";

fn sample(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/hooks");
    fs::read_to_string(folder.join(name)).unwrap()
}

fn read(desk: &Desk, below: &str) -> Option<String> {
    fs::read_to_string(desk.path(below)).ok()
}

/// What an agent would start at an event.
fn commands(desk: &Desk, below: &str, agent: Agent) -> Vec<String> {
    let text = read(desk, below).unwrap();
    let settings = registry::find(agent).unwrap().hooks(&Env::default());
    let ours = settings.installed(&text).unwrap();
    ours.into_iter().map(|hook| hook.command).collect()
}

#[test]
fn hooks_go_in_once_and_come_out_without_a_trace() {
    for (agent, below, samples) in [
        ("claude", CLAUDE, [None, Some("claude-other-hooks.json")]),
        ("codex", CODEX, [None, Some("codex-other-hooks.json")]),
    ] {
        for name in samples {
            let desk = Desk::new();
            let before = name.map(sample);
            if let Some(text) = &before {
                desk.write(below, text);
            }
            let install = format!("sessionmill hooks install --agent {agent}");
            let ran = desk.run(&install);
            assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
            assert_eq!(ran.stdout, format!("wrote ~/{below}\n"));
            let once = read(&desk, below);
            let command = format!("/usr/local/bin/sessionmill recall --hook {agent}");
            let found = commands(&desk, below, Agent::of(agent));
            assert_eq!(found, [command.as_str(), command.as_str()]);
            let again = desk.run(&install).stdout;
            assert_eq!(again, format!("~/{below} stays as it is\n"));
            assert_eq!(read(&desk, below), once);
            let removed = desk.run("sessionmill hooks remove");
            assert_eq!(removed.exit, Exit::Done, "{}", removed.shown());
            assert_eq!(read(&desk, below), before, "{agent} {name:?}");
            assert_eq!(desk.run("sessionmill hooks remove").exit, Exit::Done);
        }
    }
}

#[test]
fn a_dry_run_shows_the_difference_and_writes_nothing() {
    let desk = Desk::new();
    desk.write(CLAUDE, &sample("claude-permissions.json"));
    let ran = desk.run("sessionmill hooks install --agent claude --dry-run");
    insta::assert_snapshot!("hooks-dry-run", ran.shown());
    assert_eq!(read(&desk, CLAUDE), Some(sample("claude-permissions.json")));
    let json = desk.run("sessionmill hooks install --agent claude --agent codex --dry-run --json");
    assert_eq!(json.json()["agents"][1]["changed"], true);
    assert_eq!(read(&desk, CODEX), None);
    desk.run("sessionmill hooks install --agent claude");
    let ran = desk.run("sessionmill hooks remove --dry-run");
    assert!(ran.stdout.contains("\n-  \"hooks\""), "{}", ran.shown());
    assert!(read(&desk, CLAUDE).unwrap().contains("recall --hook"));
}

#[test]
fn what_is_not_json_is_refused_and_nothing_is_written_anywhere() {
    let desk = Desk::new();
    let mine = "{\n  // my own notes\n  \"model\": \"opus\"\n}";
    desk.write(CLAUDE, mine);
    let ran = desk.run("sessionmill hooks install --agent codex --agent claude");
    assert_eq!(ran.exit, Exit::Usage, "{}", ran.shown());
    assert!(ran.stderr.contains("settings.json:2"), "{}", ran.stderr);
    assert!(ran.stderr.contains("it was not changed"), "{}", ran.stderr);
    assert_eq!(read(&desk, CLAUDE).as_deref(), Some(mine));
    assert_eq!(
        read(&desk, CODEX),
        None,
        "all are read before one is written"
    );
    let status = desk.run("sessionmill hooks status");
    assert_eq!(status.exit, Exit::Done);
    assert!(
        status.stderr.contains("settings.json:2"),
        "{}",
        status.shown()
    );
}

#[test]
fn places_and_spaces_are_kept() {
    let mut desk = Desk::new();
    let folder = desk.path("my claude").to_string_lossy().into_owned();
    desk.vars.insert("CLAUDE_CONFIG_DIR".into(), folder);
    desk.vars
        .insert("SESSIONMILL_HOME".into(), "~/my memory".into());
    // a link into a folder of dot files, as people have it
    desk.write("dotfiles/claude.json", "{}");
    fs::create_dir(desk.path("my claude")).unwrap();
    let link = desk.path("my claude/settings.json");
    std::os::unix::fs::symlink(desk.path("dotfiles/claude.json"), &link).unwrap();
    desk.run("sessionmill hooks install --agent claude");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    let home = desk.path("my memory");
    let found = commands(&desk, "dotfiles/claude.json", Agent::new("claude"));
    let wants = format!(
        "SESSIONMILL_HOME='{}' /usr/local/bin/sessionmill recall --hook claude",
        home.display()
    );
    assert_eq!(found, [wants.clone(), wants]);
    desk.run("sessionmill hooks remove --agent claude");
    assert_eq!(read(&desk, "dotfiles/claude.json").as_deref(), Some("{}"));
    assert!(link.exists());
}

#[test]
fn status_says_what_is_there_and_what_does_not_work() {
    let desk = Desk::new();
    let none = desk.run("sessionmill hooks status");
    assert!(none.stderr.contains("hooks install"), "{}", none.shown());
    desk.run("sessionmill hooks install --agent claude --agent codex");
    let there = desk.run("sessionmill hooks status");
    assert_eq!(
        there.shown(),
        "exit 0\n--- stdout\nclaude    SessionStart, UserPromptSubmit  ~/.claude/settings.json\n\
         codex     SessionStart, UserPromptSubmit  ~/.codex/hooks.json\n\
         gemini    no hooks  ~/.gemini/settings.json\n\
         qwen      no hooks  ~/.qwen/settings.json\n\
         opencode  no hooks  ~/.config/opencode/plugins/sessionmill.js\n"
    );
    let text = read(&desk, CLAUDE).unwrap();
    desk.write(CLAUDE, &text.replace("/usr/local/bin", "/old/place"));
    desk.write(".codex/config.toml", "[features]\ncodex_hooks = false\n");
    let faulty = desk.run("sessionmill hooks status").stderr;
    assert!(faulty.contains("claude starts another program"), "{faulty}");
    assert!(
        faulty.contains("`features.codex_hooks = false`"),
        "{faulty}"
    );
    desk.run("sessionmill hooks install --agent claude");
    assert_eq!(read(&desk, CLAUDE), Some(text), "only its path was wrong");
    let json = desk.run("sessionmill hooks status --json").json();
    assert_eq!(json["agents"][0]["hooks"][0]["event"], "SessionStart");
    assert_eq!(json["agents"][0]["fault"], serde_json::Value::Null);
}

#[test]
fn exactly_what_was_written_is_removed_and_the_rest_is_named() {
    let desk = Desk::new();
    for (command, below, before) in [
        ("mcp", ".claude.json", "{}"),
        ("mcp", ".claude.json", ""),
        ("mcp", ".codex/config.toml", ""),
        ("hooks", CLAUDE, "{}"),
        ("hooks", CODEX, "{}\n"),
    ] {
        desk.write(below, before);
        for line in ["install --agent claude --agent codex", "remove"] {
            let ran = desk.run(&format!("sessionmill {command} {line}"));
            assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
        }
        assert_eq!(
            read(&desk, below).as_deref(),
            Some(before),
            "{command} {below}"
        );
        fs::remove_file(desk.path(below)).unwrap();
    }
    for (command, below, ours, theirs) in [
        ("mcp", ".claude.json", "\"mcp\"", "\"mcp\", \"--quiet\""),
        ("hooks", CLAUDE, "\"timeout\": 5", "\"timeout\": 30"),
    ] {
        desk.run(&format!("sessionmill {command} install --agent claude"));
        let changed = read(&desk, below).unwrap().replace(ours, theirs);
        desk.write(below, &changed);
        let ran = desk.run(&format!("sessionmill {command} remove"));
        assert_eq!(ran.exit, Exit::Done);
        assert!(
            ran.stderr.contains("changed by hand, so left: "),
            "{}",
            ran.shown()
        );
        assert_eq!(read(&desk, below), Some(changed));
        let json = desk
            .run(&format!("sessionmill {command} remove --dry-run --json"))
            .json();
        assert!(
            !json["agents"][0]["left"].as_array().unwrap().is_empty(),
            "{json}"
        );
        desk.run(&format!("sessionmill {command} remove --force"));
        let left = read(&desk, below).unwrap_or_default();
        assert!(!left.contains("sessionmill"), "{left}");
    }
}

#[test]
fn what_keeps_hooks_from_working_is_told() {
    let desk = Desk::new();
    desk.write(CLAUDE, "{\"disableAllHooks\": true}");
    desk.run("sessionmill hooks install --agent claude");
    let status = desk.run("sessionmill hooks status");
    assert!(
        status.stderr.contains("`disableAllHooks` is true"),
        "{}",
        status.shown()
    );
    assert!(desk.run("sessionmill hooks status --json").json()["agents"][0]["fault"].is_string());
    let desk = Desk::new();
    fs::create_dir(desk.path(".claude")).unwrap();
    std::os::unix::fs::symlink(desk.path("gone.json"), desk.path(CLAUDE)).unwrap();
    let ran = desk.run("sessionmill hooks install --agent claude");
    assert_eq!(ran.exit, Exit::Failed, "{}", ran.shown());
    assert!(ran.stderr.contains("a broken link"), "{}", ran.shown());
    assert!(
        fs::symlink_metadata(desk.path(CLAUDE))
            .unwrap()
            .is_symlink()
    );
}

#[test]
fn beside_the_plugin_nothing_is_installed_twice() {
    const CLAUDE_ON: &str =
        r#"{"enabledPlugins": {"sessionmill@sessionmill": true, "other@x": true}}"#;
    const CODEX_ON: &str = "[plugins.\"sessionmill@here\"]\nenabled = true\n";
    let desk = Desk::enabled();
    desk.write(".claude/settings.json", CLAUDE_ON);
    desk.write(".codex/config.toml", CODEX_ON);
    for command in ["hooks", "mcp"] {
        let install = format!("sessionmill {command} install --agent claude --agent codex");
        let said = desk.run(&install).shown();
        for remove in ["claude plugin uninstall", "codex plugin remove"] {
            assert!(said.contains(remove), "{said}");
        }
        let status = desk.run(&format!("sessionmill {command} status")).stdout;
        assert_eq!(status.matches("by the plugin").count(), 2, "{status}");
    }
    assert_eq!(
        read(&desk, ".claude/settings.json").as_deref(),
        Some(CLAUDE_ON)
    );
    assert_eq!(read(&desk, ".codex/config.toml").as_deref(), Some(CODEX_ON));
    assert_eq!(read(&desk, ".codex/hooks.json"), None);
    let said = desk.run("sessionmill uninstall").shown();
    assert!(said.contains("claude plugin uninstall"), "{said}");

    // switched off, it is as if it weren't there
    desk.write(
        ".claude/settings.json",
        &CLAUDE_ON.replacen("true", "false", 1),
    );
    desk.run("sessionmill hooks install --agent claude");
    desk.write(
        ".claude/settings.json",
        &read(&desk, ".claude/settings.json")
            .unwrap()
            .replacen("false", "true", 1),
    );
    let status = desk.run("sessionmill hooks status").shown();
    assert!(status.contains("run twice"), "{status}");
}
