//! Settings of the shapes that people have (`fixtures/hooks`): what we put in comes out again, and
//! nothing else moves.

use super::*;
use crate::agents::claude::CLAUDE;
use crate::agents::codex::CODEX;
use crate::agents::registry;
use crate::config::Env;
use std::fs;
use std::path::Path;

const COMMAND: &str = "/usr/local/bin/sessionmill recall --hook ";

fn command(agent: Agent) -> String {
    format!("{COMMAND}{}", agent.as_str())
}

fn settings(agent: Agent, file: &Path) -> HookSettings {
    HookSettings {
        file: file.to_owned(),
        ..registry::find(agent).unwrap().hooks(&Env::default())
    }
}

/// Every sample with its agent.
fn samples() -> Vec<(Agent, PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/hooks");
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let sample = |path: PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let agent = registry::by_word(name.split('-').next().unwrap()).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        (agent, path, text)
    };
    let samples: Vec<_> = files.map(sample).collect();
    assert!(samples.len() >= 14);
    samples
}

#[test]
fn what_is_put_in_comes_out_byte_for_byte() {
    for (agent, path, text) in samples() {
        let name = path.display();
        let with = settings(agent, &path)
            .with(Some(&text), &command(agent))
            .unwrap();
        let hooks = settings(agent, &path).installed(&with).unwrap();
        let events: Vec<&str> = hooks.iter().map(|hook| hook.event.as_str()).collect();
        let wanted = settings(agent, &path).events.iter();
        assert_eq!(
            events,
            wanted.map(|(event, _)| *event).collect::<Vec<_>>(),
            "{name}"
        );
        assert!(hooks.iter().all(|hook| hook.command == command(agent)));
        assert_eq!(
            settings(agent, &path).without(&with, false).unwrap().text,
            Some(text),
            "{name}\n{with}"
        );
    }
}

#[test]
fn a_second_time_changes_nothing_and_a_moved_program_only_its_path() {
    for (agent, path, text) in samples() {
        let once = settings(agent, &path)
            .with(Some(&text), &command(agent))
            .unwrap();
        let twice = settings(agent, &path)
            .with(Some(&once), &command(agent))
            .unwrap();
        assert_eq!(once, twice, "{}", path.display());
        let moved = format!(
            "'/opt/my tools/sessionmill' recall --hook {}",
            agent.as_str()
        );
        let elsewhere = settings(agent, &path).with(Some(&once), &moved).unwrap();
        let same = elsewhere.replace(&moved, &command(agent));
        assert_eq!(same, once, "{}", path.display());
    }
}

#[test]
fn what_others_wrote_stands_as_it_stood() {
    for (agent, path, text) in samples() {
        let with = settings(agent, &path)
            .with(Some(&text), &command(agent))
            .unwrap();
        let mut rest = with.as_str();
        for line in text.lines().filter(|line| line.trim().len() > 2) {
            let words = line.trim().trim_end_matches(['}', ']', ',']).trim_end();
            let at = rest.find(words);
            assert!(at.is_some(), "{}: {words}\n{with}", path.display());
            rest = &rest[at.unwrap()..];
        }
    }
}

#[test]
fn a_file_of_ours_alone_goes_as_it_came() {
    let file = Path::new("/home/ada/.claude/settings.json");
    let text = settings(CLAUDE, file).with(None, &command(CLAUDE)).unwrap();
    insta::assert_snapshot!("fresh", text);
    assert_eq!(
        settings(CLAUDE, file).without(&text, false),
        Ok(Removed::default())
    );
    // the agent writes its settings again in its own way, with more in them
    let mut value: Value = serde_json::from_str(&text).unwrap();
    value["model"] = "opus".into();
    let theirs = serde_json::to_string_pretty(&value).unwrap();
    let left = settings(CLAUDE, file)
        .without(&theirs, false)
        .unwrap()
        .text
        .unwrap();
    assert_eq!(left, "{\n  \"model\": \"opus\"\n}");
}

#[test]
fn an_entry_that_somebody_put_beside_ours_stays() {
    let file = Path::new("/home/ada/.claude/settings.json");
    let text = settings(CLAUDE, file).with(None, &command(CLAUDE)).unwrap();
    let mut value: Value = serde_json::from_str(&text).unwrap();
    let beside = json!({"type": "command", "command": "date"});
    let hooks = value["hooks"]["SessionStart"][0]["hooks"].as_array_mut();
    hooks.unwrap().push(beside.clone());
    let left = settings(CLAUDE, file)
        .without(&format!("{value:#}"), false)
        .unwrap()
        .text;
    let left: Value = serde_json::from_str(&left.unwrap()).unwrap();
    let group = json!({"matcher": "startup|clear", "hooks": [beside]});
    assert_eq!(left, json!({"hooks": {"SessionStart": [group]}}));
}

#[test]
fn what_somebody_changed_by_hand_stays_and_is_named_unless_it_is_forced() {
    let file = Path::new("/home/ada/.claude/settings.json");
    let rest = "{\n  \"model\": \"opus\"\n}\n";
    let agent = CLAUDE;
    let text = settings(agent, file)
        .with(Some(rest), &command(agent))
        .unwrap();
    for (ours, theirs) in [
        ("startup|clear", "startup"),
        ("\"timeout\": 5", "\"timeout\": 30"),
        ("\"type\"", "\"async\": true, \"type\""),
    ] {
        let changed = text.replacen(ours, theirs, 1);
        assert_ne!(changed, text);
        let left = settings(agent, file).without(&changed, false).unwrap();
        assert_eq!(left.left, ["SessionStart"], "{theirs}");
        let found = settings(agent, file)
            .installed(left.text.as_ref().unwrap())
            .unwrap();
        assert_eq!(found.len(), 1, "the other one is gone");
        assert!(left.text.unwrap().contains(theirs));
        let forced = settings(agent, file).without(&changed, true).unwrap();
        assert_eq!(forced.text.as_deref(), Some(rest));
    }
}

#[test]
fn one_agents_entries_are_not_the_others() {
    let file = Path::new("/home/ada/.codex/hooks.json");
    let text = settings(CODEX, file).with(None, &command(CODEX)).unwrap();
    assert_eq!(settings(CLAUDE, file).installed(&text), Ok(vec![]));
    let left = settings(CLAUDE, file).without(&text, false).unwrap();
    assert_eq!(left.text, Some(text));
    for (line, wants) in [
        ("sessionmill recall --hook claude", true),
        (
            "SESSIONMILL_HOME='/a b' \"/x y/sessionmill\" recall --hook claude ",
            true,
        ),
        ("sessionmill recall --hook claude; date", false),
        ("othermill recall --hook claude", false),
        ("sessionmill run", false),
    ] {
        assert_eq!(settings(CLAUDE, file).starts_us(line), wants, "{line}");
    }
}

#[test]
fn what_is_not_understood_is_refused_with_its_place() {
    let file = Path::new("/home/ada/.claude/settings.json");
    for (text, place) in [
        ("{\n  // mine\n  \"model\": \"opus\"\n}", "settings.json:2:"),
        ("{\"model\": \"opus\",}", "settings.json:1:"),
        ("", "settings.json:1:"),
        ("[]", "settings.json:1:"),
        ("{\n\"hooks\": []}", "settings.json:2: `hooks`"),
        ("{\n\"hooks\": \"none\"}", "settings.json:2: `hooks`"),
        ("{\n\"hooks\": null}", "settings.json:2: `hooks`"),
        (
            "{\n\n\"hooks\": {\"SessionStart\": {}}}",
            "settings.json:3: `hooks`",
        ),
        ("{\"hooks\": {}, \"hooks\": {}}", "settings.json:1:"),
    ] {
        let error = settings(CLAUDE, file)
            .with(Some(text), &command(CLAUDE))
            .unwrap_err();
        assert!(error.message.contains(place), "{text}: {}", error.message);
        assert!(
            error
                .hint
                .is_some_and(|hint| hint.contains("fix the file") || hint.contains("fix it"))
        );
    }
}
