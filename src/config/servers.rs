//! Our entry among an agent's MCP servers: put in, and taken out so that nothing else changes by a
//! byte. Claude Code's is JSON, Codex' TOML. Knows both shapes; refuses to know what the server does.

use super::document::Document;
use super::edit::splice;
use super::entries::{Removed, append, key, pretty, removed, untouched};
use super::env::Env;
use super::trust::claude_state;
use crate::model::error::Error;
use crate::model::source::Agent;
use serde_json::{Value, json};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What we are called there.
const NAME: &str = "sessionmill";
const CLAUDE_SERVERS: &str = "mcpServers";
const CODEX_SERVERS: &str = "mcp_servers";

/// How we are started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// The program's file.
    pub program: String,
    /// Our folder, where it isn't the usual one.
    pub home: Option<String>,
}

/// The file in which the user's own servers of an agent stand.
pub fn file(agent: Agent, env: &Env) -> PathBuf {
    match agent {
        Agent::Claude => claude_state(env),
        _ => env.codex_dir().join("config.toml"),
    }
}

/// The program that our entry starts; `None`: there is no entry of ours.
///
/// # Errors
/// When the file isn't what it should be.
pub fn program(agent: Agent, file: &Path, text: &str) -> Result<Option<String>, Error> {
    let servers = servers(agent, file, text)?;
    let entry = servers.get(NAME).filter(|entry| is_ours(entry));
    Ok(entry.and_then(|entry| entry["command"].as_str().map(str::to_owned)))
}

/// The text with our entry. Without a text: a file of ours alone. A text that has it comes back as it
/// is; an entry of ours that starts something else is changed.
///
/// # Errors
/// When the file isn't what it should be, has another server of our name, or an entry of ours that
/// somebody changed by hand and that starts something else.
pub fn with(agent: Agent, file: &Path, text: Option<&str>, start: &Start) -> Result<String, Error> {
    let before = text.unwrap_or_default();
    let servers = match before.trim().is_empty() {
        true => json!({}),
        false => servers(agent, file, before)?,
    };
    let entry = servers.get(NAME);
    let clean = match entry {
        Some(entry) if is_ours(entry) && started(entry) == *start => return Ok(before.to_owned()),
        Some(entry) if !is_ours(entry) => {
            let message = format!("{}: another server is called {NAME}", file.display());
            return Err(untouched(Error::usage(message)));
        }
        Some(_) => {
            let removed = without(agent, file, before, false)?;
            if !removed.left.is_empty() {
                let message = format!("{}: {NAME} was changed by hand", file.display());
                let hint = format!("sessionmill mcp remove --agent {} --force", agent.as_str());
                return Err(Error::usage(message).hinted(hint));
            }
            removed.text
        }
        None => text.map(str::to_owned),
    };
    let new = match clean {
        None => Some(fresh(agent, start)),
        Some(clean) if clean.trim().is_empty() => Some(format!("{clean}\n{}", fresh(agent, start))),
        Some(clean) => match agent {
            Agent::Claude => with_json(file, &clean, &entry_of(agent, start)),
            _ => Some(with_toml(&clean, start)),
        },
    };
    checked(agent, file, before, new)
}

/// A file that has nothing but our entry.
fn fresh(agent: Agent, start: &Start) -> String {
    match agent {
        Agent::Claude => {
            let whole = json!({CLAUDE_SERVERS: {NAME: entry_of(agent, start)}});
            format!("{}\n", pretty(&whole, "  ", ""))
        }
        _ => table(start),
    }
}

/// The text without our entry. One that somebody changed by hand stays, unless `force`.
///
/// # Errors
/// As [`with`].
pub fn without(agent: Agent, file: &Path, text: &str, force: bool) -> Result<Removed, Error> {
    let servers = match text.trim().is_empty() {
        true => json!({}),
        false => servers(agent, file, text)?,
    };
    let kept = |left: &[&str]| Removed {
        text: Some(text.to_owned()),
        left: left.iter().map(|name| (*name).to_owned()).collect(),
    };
    let Some(entry) = servers.get(NAME).filter(|entry| is_ours(entry)) else {
        return Ok(kept(&[]));
    };
    let start = started(entry);
    if let Some(before) = text.strip_suffix(&fresh(agent, &start)) {
        let before_us = before.strip_suffix('\n');
        match before_us {
            None if before.is_empty() => return Ok(Removed::default()),
            Some(before) if before.trim().is_empty() => {
                return Ok(Removed {
                    text: Some(before.to_owned()),
                    left: Vec::new(),
                });
            }
            _ => {}
        }
    }
    let is_as_written = match agent {
        Agent::Claude => *entry == entry_of(agent, &start),
        _ => lines_of_table(text)
            .is_some_and(|lines| text[lines].replace("\r\n", "\n") == table(&start)),
    };
    if !is_as_written && !force {
        return Ok(kept(&[NAME]));
    }
    let new = match agent {
        Agent::Claude => {
            let document = Document::parse(file, text.as_bytes()).map_err(untouched)?;
            removed(&document, &[key(CLAUDE_SERVERS), key(NAME)])
        }
        _ => without_toml(text),
    };
    let new = checked(agent, file, text, new)?;
    Ok(Removed {
        text: Some(new),
        left: Vec::new(),
    })
}

/// What an entry of ours starts.
fn started(entry: &Value) -> Start {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    Start {
        program: text(&entry["command"]).unwrap_or_default(),
        home: text(&entry["env"]["SESSIONMILL_HOME"]),
    }
}

fn entry_of(agent: Agent, start: &Start) -> Value {
    let mut entry = json!({"command": start.program, "args": ["mcp"]});
    if agent == Agent::Claude {
        entry = json!({"type": "stdio", "command": start.program, "args": ["mcp"]});
    }
    if let Some(home) = &start.home {
        entry["env"] = json!({"SESSIONMILL_HOME": home});
    }
    entry
}

/// It starts a program of our name as a server, whatever its folder.
fn is_ours(entry: &Value) -> bool {
    let program = entry["command"].as_str().unwrap_or_default();
    program.ends_with(NAME) && entry["args"][0] == "mcp"
}

/// The agent's servers; an empty map where it has none.
fn servers(agent: Agent, file: &Path, text: &str) -> Result<Value, Error> {
    let mut whole = parse(agent, file, text)?;
    let servers = match agent {
        Agent::Claude => whole.get_mut(CLAUDE_SERVERS),
        _ => whole.get_mut(CODEX_SERVERS),
    };
    match servers.map(Value::take).unwrap_or_else(|| json!({})) {
        servers @ Value::Object(_) => Ok(servers),
        _ => {
            let message = format!("{}: its servers are no map", file.display());
            Err(untouched(Error::usage(message)))
        }
    }
}

fn parse(agent: Agent, file: &Path, text: &str) -> Result<Value, Error> {
    let wrong = |what: String| untouched(Error::usage(format!("{}: {what}", file.display())));
    match agent {
        Agent::Claude => Document::parse(file, text.as_bytes())
            .map(|document| document.value)
            .map_err(untouched),
        // The parser's own message quotes the file, which may hold keys.
        _ => toml::from_str(text).map_err(|error: toml::de::Error| {
            let at = error.span().map_or(0, |span| span.start);
            let line = 1 + text[..at.min(text.len())].matches('\n').count();
            wrong(format!("line {line} is no TOML"))
        }),
    }
}

fn with_json(file: &Path, text: &str, entry: &Value) -> Option<String> {
    let document = Document::parse(file, text.as_bytes()).ok()?;
    match document.value.get(CLAUDE_SERVERS) {
        Some(_) => append(&document, &[key(CLAUDE_SERVERS)], Some(NAME), entry),
        None => append(&document, &[], Some(CLAUDE_SERVERS), &json!({NAME: entry})),
    }
}

fn header() -> String {
    format!("[{CODEX_SERVERS}.{NAME}]")
}

/// Our table.
fn table(start: &Start) -> String {
    // JSON's strings are TOML's basic ones.
    let word = |text: &str| Value::from(text).to_string();
    let mut table = format!(
        "{}\ncommand = {}\nargs = [\"mcp\"]\n",
        header(),
        word(&start.program)
    );
    if let Some(home) = &start.home {
        table.push_str(&format!("env = {{ SESSIONMILL_HOME = {} }}\n", word(home)));
    }
    table
}

/// With our table at the end, after an empty line where the last line is whole.
fn with_toml(text: &str, start: &Start) -> String {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let table = table(start).replace('\n', newline);
    format!("{text}{newline}{table}")
}

/// The bytes of our table, with those below it.
fn lines_of_table(text: &str) -> Option<Range<usize>> {
    let (header, below) = (header(), format!("[{CODEX_SERVERS}.{NAME}."));
    let mut at = 0;
    let (mut from, mut to) = (None, 0);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let is_other = trimmed.starts_with('[') && !trimmed.starts_with(&below);
        if trimmed == header {
            from = Some(at);
        } else if from.is_some() && is_other {
            break;
        }
        at += line.len();
        if from.is_some() && !trimmed.is_empty() && !trimmed.starts_with('#') {
            to = at;
        }
    }
    Some(from?..to)
}

/// Without our table, and without what was put before it.
fn without_toml(text: &str) -> Option<String> {
    let lines = lines_of_table(text)?;
    let before = &text[..lines.start];
    let before = before.strip_suffix('\n').unwrap_or(before);
    let before = before.strip_suffix('\r').unwrap_or(before);
    Some(splice(text, before.len(), lines.end, ""))
}

/// The text read back: nothing but our entry may differ.
fn checked(agent: Agent, file: &Path, before: &str, new: Option<String>) -> Result<String, Error> {
    let refused = || {
        let what = "can't be changed without touching the rest";
        untouched(Error::usage(format!("{}: {what}", file.display())))
    };
    let new = new.ok_or_else(refused)?;
    let rest = |text: &str| match text.trim().is_empty() {
        true => Some(json!({})),
        false => parse(agent, file, text)
            .ok()
            .map(|whole| others(agent, whole)),
    };
    let same = rest(&new).is_some_and(|new| Some(new) == rest(before));
    same.then_some(new).ok_or_else(refused)
}

/// Everything but our entry, and but a map that it may leave empty.
fn others(agent: Agent, mut whole: Value) -> Value {
    let servers = match agent {
        Agent::Claude => CLAUDE_SERVERS,
        _ => CODEX_SERVERS,
    };
    let Some(map) = whole.as_object_mut() else {
        return whole;
    };
    if let Some(Value::Object(entries)) = map.get_mut(servers) {
        entries.shift_remove(NAME);
        if entries.is_empty() {
            map.shift_remove(servers);
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> Start {
        Start {
            program: "/opt/bin/sessionmill".into(),
            home: None,
        }
    }

    const CLAUDE: [&str; 10] = [
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
    const CODEX: [&str; 8] = [
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
        let claude = CLAUDE.iter().map(|text| (Agent::Claude, *text));
        let codex = CODEX.iter().map(|text| (Agent::Codex, *text));
        for (agent, text) in claude.chain(codex) {
            let file = Path::new(match agent {
                Agent::Claude => ".claude.json",
                _ => "config.toml",
            });
            let new = with(agent, file, Some(text), &start()).unwrap();
            assert_eq!(
                program(agent, file, &new).unwrap().as_deref(),
                Some("/opt/bin/sessionmill"),
                "{new}"
            );
            assert_eq!(with(agent, file, Some(&new), &start()).unwrap(), new);
            let moved = Start {
                program: "/usr/bin/sessionmill".into(),
                home: Some("/data/my mill".into()),
            };
            let other = with(agent, file, Some(&new), &moved).unwrap();
            assert!(
                other.contains("/data/my mill") && !other.contains("/opt/"),
                "{other}"
            );
            let back = without(agent, file, &other, false).unwrap();
            assert_eq!(back.text.as_deref(), Some(text), "{other:?}");
        }
    }

    #[test]
    fn a_file_of_ours_alone_goes_again() {
        for (agent, name) in [
            (Agent::Claude, ".claude.json"),
            (Agent::Codex, "config.toml"),
        ] {
            let file = Path::new(name);
            let text = with(agent, file, None, &start()).unwrap();
            let back = without(agent, file, &text, false);
            assert_eq!(back, Ok(Removed::default()), "{text}");
        }
    }

    #[test]
    fn what_came_after_our_table_stays() {
        let file = Path::new("config.toml");
        let text = with(Agent::Codex, file, Some("a = 1\n"), &start()).unwrap();
        let text = format!("{text}\n# mine\n[tui]\nx = 1\n");
        let back = without(Agent::Codex, file, &text, false).unwrap();
        assert_eq!(back.text.unwrap(), "a = 1\n\n# mine\n[tui]\nx = 1\n");
    }

    #[test]
    fn what_somebody_changed_by_hand_stays_and_is_named_unless_it_is_forced() {
        let changes = [
            (Agent::Claude, "\"mcp\"", "\"mcp\", \"--quiet\""),
            (Agent::Claude, "\"type\"", "\"timeout\": 9, \"type\""),
            (Agent::Codex, "args", "# mine\nargs"),
            (Agent::Codex, "args", "startup_timeout_sec = 9\nargs"),
            (
                Agent::Codex,
                "[\"mcp\"]",
                "[\"mcp\"]\n[mcp_servers.sessionmill.env]\nA = \"b\"",
            ),
        ];
        for (agent, ours, theirs) in changes {
            let (file, rest) = match agent {
                Agent::Claude => (Path::new(".claude.json"), "{\n  \"x\": 1\n}\n"),
                _ => (Path::new("config.toml"), "a = 1\n"),
            };
            let text = with(agent, file, Some(rest), &start()).unwrap();
            let text = text.replacen(ours, theirs, 1);
            let kept = without(agent, file, &text, false).unwrap();
            assert_eq!(kept.text.as_ref(), Some(&text));
            assert_eq!(kept.left, [NAME], "{text}");
            let forced = without(agent, file, &text, true).unwrap();
            assert_eq!(forced.text.as_deref(), Some(rest), "{text}");
            // installing leaves what starts the same, and doesn't overwrite the rest
            assert_eq!(with(agent, file, Some(&text), &start()).unwrap(), text);
            let moved = Start {
                program: "/usr/bin/sessionmill".into(),
                home: None,
            };
            let error = with(agent, file, Some(&text), &moved).unwrap_err();
            assert!(error.hint.is_some_and(|hint| hint.contains("--force")));
        }
    }

    #[test]
    fn what_is_not_understood_is_refused_and_never_quoted() {
        for (agent, name, text) in [
            (Agent::Claude, ".claude.json", "{\"key\": \"sk-secret\", }"),
            (Agent::Claude, ".claude.json", "[]"),
            (
                Agent::Claude,
                ".claude.json",
                "{\"mcpServers\": \"sk-secret\"}",
            ),
            (
                Agent::Claude,
                ".claude.json",
                "{\"mcpServers\": {\"sessionmill\": {\"url\": \"x\"}}}",
            ),
            (Agent::Codex, "config.toml", "key = sk-secret"),
            (Agent::Codex, "config.toml", "mcp_servers = {}\n"),
            (Agent::Codex, "config.toml", "mcp_servers = 3\n"),
        ] {
            let error = with(agent, Path::new(name), Some(text), &start()).unwrap_err();
            assert!(
                error.message.contains(name) && error.hint.is_some(),
                "{error:?}"
            );
            assert!(!error.message.contains("sk-secret"), "{error:?}");
        }
    }
}
