//! Settings of the shapes that people have: what we put in comes out again, and nothing else moves.

use super::*;
use crate::agents::claude::CLAUDE;
use crate::agents::codex::CODEX;
use crate::agents::gemini::GEMINI;
use crate::agents::registry;
use crate::config::Env;
use std::path::Path;

fn settings(agent: Agent, file: &Path) -> ServerSettings {
    ServerSettings {
        file: file.to_owned(),
        ..registry::find(agent).unwrap().servers(&Env::default())
    }
}

fn start() -> ServerCommand {
    ServerCommand {
        program: "/opt/bin/sessionmill".into(),
        home: None,
    }
}

const CLAUDE_TEXTS: [&str; 10] = [
    "",
    " \n",
    "{}",
    "{}\n",
    "{\n  \"numStartups\": 3\n}\n",
    "{\n\t\"mcpServers\": {},\n\t\"x\": [1, 2]\n}",
    "{\n  \"mcpServers\": {\n    \"git\": {\n      \"command\": \"git-mcp\"\n    }\n  },\n  \"y\": null\n}\n",
    "{\"a\":1,\"mcpServers\":{\"git\":{\"command\":\"git-mcp\",\"args\":[]}}}",
    "{\r\n  \"projects\": {\r\n    \"/home/me/app\": {\"mcpServers\": {}}\r\n  }\r\n}\r\n",
    "{\"oauthAccount\":{\"emailAddress\":\"me@example.org\"},\"mcpServers\":{}}",
];
const CODEX_TEXTS: [&str; 8] = [
    "",
    "\n",
    "model = \"gpt-5\"\n",
    "model = \"gpt-5\"",
    "# mine\n[mcp_servers.git]\ncommand = \"git-mcp\" # here\n\n\n",
    "[projects.\"/home/me/app\"]\r\ntrust_level = \"trusted\"\r\n",
    "[mcp_servers.git]\ncommand = \"git-mcp\"\n[mcp_servers.git.env]\nA = \"b\"\n# end",
    "a = [\n  [1],\n  [2]\n]\n",
];

#[test]
fn what_is_put_in_and_taken_out_leaves_every_byte_as_it_was() {
    let claude = CLAUDE_TEXTS.iter().map(|text| (CLAUDE, *text));
    let codex = CODEX_TEXTS.iter().map(|text| (CODEX, *text));
    let gemini = CLAUDE_TEXTS.iter().map(|text| (GEMINI, *text));
    for (agent, text) in claude.chain(codex).chain(gemini) {
        let file = Path::new(match agent {
            CODEX => "config.toml",
            _ => "settings.json",
        });
        let new = settings(agent, file).with(Some(text), &start()).unwrap();
        assert_eq!(
            settings(agent, file).program(&new).unwrap().as_deref(),
            Some("/opt/bin/sessionmill"),
            "{new}"
        );
        assert_eq!(
            settings(agent, file).with(Some(&new), &start()).unwrap(),
            new
        );
        let moved = ServerCommand {
            program: "/usr/bin/sessionmill".into(),
            home: Some("/data/my mill".into()),
        };
        let other = settings(agent, file).with(Some(&new), &moved).unwrap();
        assert!(
            other.contains("/data/my mill") && !other.contains("/opt/"),
            "{other}"
        );
        let back = settings(agent, file).without(&other, false).unwrap();
        assert_eq!(back.text.as_deref(), Some(text), "{other:?}");
    }
}

#[test]
fn a_file_of_ours_alone_goes_again() {
    for (agent, name) in [(CLAUDE, ".claude.json"), (CODEX, "config.toml")] {
        let file = Path::new(name);
        let text = settings(agent, file).with(None, &start()).unwrap();
        let back = settings(agent, file).without(&text, false);
        assert_eq!(back, Ok(Removed::default()), "{text}");
    }
}

#[test]
fn what_came_after_our_table_stays() {
    let file = Path::new("config.toml");
    let text = settings(CODEX, file)
        .with(Some("a = 1\n"), &start())
        .unwrap();
    let text = format!("{text}\n# mine\n[tui]\nx = 1\n");
    let back = settings(CODEX, file).without(&text, false).unwrap();
    assert_eq!(back.text.unwrap(), "a = 1\n\n# mine\n[tui]\nx = 1\n");
}

#[test]
fn what_somebody_changed_by_hand_stays_and_is_named_unless_it_is_forced() {
    let changes = [
        (CLAUDE, "\"mcp\"", "\"mcp\", \"--quiet\""),
        (CLAUDE, "\"type\"", "\"timeout\": 9, \"type\""),
        (CODEX, "args", "# mine\nargs"),
        (CODEX, "args", "startup_timeout_sec = 9\nargs"),
        (
            CODEX,
            "[\"mcp\"]",
            "[\"mcp\"]\n[mcp_servers.sessionmill.env]\nA = \"b\"",
        ),
    ];
    for (agent, ours, theirs) in changes {
        let (file, rest) = match agent {
            CLAUDE => (Path::new(".claude.json"), "{\n  \"x\": 1\n}\n"),
            _ => (Path::new("config.toml"), "a = 1\n"),
        };
        let text = settings(agent, file).with(Some(rest), &start()).unwrap();
        let text = text.replacen(ours, theirs, 1);
        let kept = settings(agent, file).without(&text, false).unwrap();
        assert_eq!(kept.text.as_ref(), Some(&text));
        assert_eq!(kept.left, [NAME], "{text}");
        let forced = settings(agent, file).without(&text, true).unwrap();
        assert_eq!(forced.text.as_deref(), Some(rest), "{text}");
        // installing leaves what starts the same, and doesn't overwrite the rest
        assert_eq!(
            settings(agent, file).with(Some(&text), &start()).unwrap(),
            text
        );
        let moved = ServerCommand {
            program: "/usr/bin/sessionmill".into(),
            home: None,
        };
        let error = settings(agent, file).with(Some(&text), &moved).unwrap_err();
        assert!(error.hint.is_some_and(|hint| hint.contains("--force")));
    }
}

#[test]
fn what_is_not_understood_is_refused_and_never_quoted() {
    for (agent, name, text) in [
        (CLAUDE, ".claude.json", "{\"key\": \"sk-secret\", }"),
        (CLAUDE, ".claude.json", "[]"),
        (CLAUDE, ".claude.json", "{\"mcpServers\": \"sk-secret\"}"),
        (
            CLAUDE,
            ".claude.json",
            "{\"mcpServers\": {\"sessionmill\": {\"url\": \"x\"}}}",
        ),
        (CODEX, "config.toml", "key = sk-secret"),
        (CODEX, "config.toml", "mcp_servers = {}\n"),
        (CODEX, "config.toml", "mcp_servers = 3\n"),
    ] {
        let error = settings(agent, Path::new(name))
            .with(Some(text), &start())
            .unwrap_err();
        assert!(
            error.message.contains(name) && error.hint.is_some(),
            "{error:?}"
        );
        assert!(!error.message.contains("sk-secret"), "{error:?}");
    }
}

#[test]
fn an_entry_that_stands_in_two_places_is_left_and_a_text_is_no_header() {
    let file = Path::new("config.toml");
    let quoted = "a = [\n  \"x\",\n'[mcp_servers.sessionmill]'\n]\n";
    let text = settings(CODEX, file).with(Some(quoted), &start()).unwrap();
    let back = settings(CODEX, file).without(&text, false).unwrap();
    assert_eq!(back.text.as_deref(), Some(quoted));
    let apart = format!("{text}[tui]\n[mcp_servers.sessionmill.env]\nA = \"b\"\n");
    let kept = settings(CODEX, file).without(&apart, false).unwrap();
    assert_eq!(kept.left, [NAME]);
    assert!(settings(CODEX, file).without(&apart, true).is_err());
}
