//! Our entry among an agent's MCP servers: put in, and taken out so that nothing else changes by a
//! byte. Claude Code's is JSON, Codex' TOML. Knows both shapes; refuses to know what the server does.

use super::document::Document;
use super::edit::splice;
use super::env::Env;
use super::hooks::{append, key, pretty, removed, untouched};
use super::trust::claude_state;
use crate::model::error::Error;
use crate::model::source::Agent;
use serde_json::{Value, json};
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
        Agent::Codex => env.codex_dir().join("config.toml"),
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
/// is; an entry that starts us otherwise is changed.
///
/// # Errors
/// When the file isn't what it should be, or has another server of our name.
pub fn with(agent: Agent, file: &Path, text: Option<&str>, start: &Start) -> Result<String, Error> {
    let text = text.unwrap_or_default();
    let servers = match text.is_empty() {
        true => json!({}),
        false => servers(agent, file, text)?,
    };
    let clean = match servers.get(NAME) {
        Some(entry) if *entry == entry_of(agent, start) => return Ok(text.to_owned()),
        Some(entry) if !is_ours(entry) => {
            let message = format!("{}: another server is called {NAME}", file.display());
            return Err(untouched(Error::usage(message)));
        }
        Some(_) => without(agent, file, text)?.unwrap_or_default(),
        None => text.to_owned(),
    };
    let new = match agent {
        Agent::Claude => with_json(file, &clean, &entry_of(agent, start)),
        Agent::Codex => Some(with_toml(&clean, start)),
    };
    checked(agent, file, text, new)
}

/// The text without our entry; `None`: it was a file of ours alone.
///
/// # Errors
/// As [`with`].
pub fn without(agent: Agent, file: &Path, text: &str) -> Result<Option<String>, Error> {
    if program(agent, file, text)?.is_none() {
        return Ok(Some(text.to_owned()));
    }
    let new = match agent {
        Agent::Claude => {
            let document = Document::parse(file, text.as_bytes()).map_err(untouched)?;
            removed(&document, &[key(CLAUDE_SERVERS), key(NAME)])
        }
        Agent::Codex => without_toml(text),
    };
    let new = checked(agent, file, text, new)?;
    let is_empty = new.trim().is_empty() || fresh_json_left(agent, &new);
    Ok((!is_empty).then_some(new))
}

/// Nothing is left but the brackets that a fresh file had around our entry.
fn fresh_json_left(agent: Agent, text: &str) -> bool {
    agent == Agent::Claude && text.split_whitespace().collect::<String>() == "{}"
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
        Agent::Codex => whole.get_mut(CODEX_SERVERS),
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
        Agent::Codex => toml::from_str(text).map_err(|error: toml::de::Error| {
            let at = error.span().map_or(0, |span| span.start);
            let line = 1 + text[..at.min(text.len())].matches('\n').count();
            wrong(format!("line {line} is no TOML"))
        }),
    }
}

fn with_json(file: &Path, text: &str, entry: &Value) -> Option<String> {
    if text.is_empty() {
        let whole = json!({CLAUDE_SERVERS: {NAME: entry}});
        return Some(format!("{}\n", pretty(&whole, "  ", "")));
    }
    let document = Document::parse(file, text.as_bytes()).ok()?;
    match document.value.get(CLAUDE_SERVERS) {
        Some(_) => append(&document, &[key(CLAUDE_SERVERS)], Some(NAME), entry),
        None => append(&document, &[], Some(CLAUDE_SERVERS), &json!({NAME: entry})),
    }
}

fn header() -> String {
    format!("[{CODEX_SERVERS}.{NAME}]")
}

/// With our table at the end, after an empty line where the last line is whole.
fn with_toml(text: &str, start: &Start) -> String {
    // JSON's strings are TOML's basic ones.
    let word = |text: &str| Value::from(text).to_string();
    let mut block = format!(
        "{}\ncommand = {}\nargs = [\"mcp\"]\n",
        header(),
        word(&start.program)
    );
    if let Some(home) = &start.home {
        block.push_str(&format!("env = {{ SESSIONMILL_HOME = {} }}\n", word(home)));
    }
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = if text.is_empty() { "" } else { newline };
    format!("{text}{gap}{}", block.replace('\n', newline))
}

/// Without our table, and without what was put before it.
fn without_toml(text: &str) -> Option<String> {
    let header = header();
    let mut at = 0;
    let (mut from, mut to) = (None, 0);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let begins = trimmed.starts_with('[') && trimmed != header;
        if from.is_some() && begins {
            break;
        }
        if trimmed == header {
            from = Some(at);
        }
        at += line.len();
        if from.is_some() && !trimmed.is_empty() && !trimmed.starts_with('#') {
            to = at;
        }
    }
    let from = from?;
    let before = &text[..from];
    let before = before.strip_suffix('\n').unwrap_or(before);
    let before = before.strip_suffix('\r').unwrap_or(before);
    Some(splice(text, before.len(), to, ""))
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
        Agent::Codex => CODEX_SERVERS,
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

    const CLAUDE: [&str; 8] = [
        "{}",
        "{}\n",
        "{\n  \"numStartups\": 3\n}\n",
        "{\n\t\"mcpServers\": {},\n\t\"x\": [1, 2]\n}",
        "{\n  \"mcpServers\": {\n    \"git\": {\n      \"command\": \"git-mcp\"\n    }\n  },\n  \"y\": null\n}\n",
        "{\"a\":1,\"mcpServers\":{\"git\":{\"command\":\"git-mcp\",\"args\":[]}}}",
        "{\r\n  \"projects\": {\r\n    \"/home/me/app\": {\"mcpServers\": {}}\r\n  }\r\n}\r\n",
        "{\"oauthAccount\":{\"emailAddress\":\"me@example.org\"},\"mcpServers\":{}}",
    ];
    const CODEX: [&str; 7] = [
        "",
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
                Agent::Codex => "config.toml",
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
            let back = without(agent, file, &other).unwrap().unwrap_or_default();
            let is_bare = ["", "{}"].contains(&text.trim());
            assert!(
                back == text || is_bare && back.is_empty(),
                "{text:?}\n{back:?}"
            );
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
            assert_eq!(without(agent, file, &text), Ok(None), "{text}");
        }
    }

    #[test]
    fn what_came_after_our_table_stays() {
        let file = Path::new("config.toml");
        let text = with(Agent::Codex, file, Some("a = 1\n"), &start()).unwrap();
        let text = format!("{text}\n# mine\n[tui]\nx = 1\n");
        let back = without(Agent::Codex, file, &text).unwrap().unwrap();
        assert_eq!(back, "a = 1\n\n# mine\n[tui]\nx = 1\n");
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
