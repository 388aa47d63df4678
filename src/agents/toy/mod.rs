//! An agent that nobody has: the proof that one more is a folder here and a line in the registry.

use super::CodingAgent;
use crate::config::Env;
use crate::config::agent_settings::{
    HookSettings, HookShape, ServerFormat, ServerSettings, ServerShape,
};
use crate::model::entry::{Call, Context, Entry, EntryKind, Excerpt, Message, ToolResult};
use crate::model::entry::{CallStatus, PromptOrigin};
use crate::model::source::{Agent, Span};
use crate::model::time::Time;
use crate::rules::injected::{Injected, Spoken};
use crate::stages::parse::dialect::stem;
use crate::stages::parse::{Dialect, LogName, ParseState, nameless};
use serde::Deserialize;
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::LazyLock;

/// Its word.
pub const TOY: Agent = Agent::new("toy");

static INJECTED: LazyLock<Injected> = LazyLock::new(|| Injected::of("[]"));

/// The agent.
pub struct Toy;

impl CodingAgent for Toy {
    fn agent(&self) -> Agent {
        TOY
    }

    fn title(&self) -> &'static str {
        "Toy"
    }

    fn newest_version(&self) -> &'static str {
        "1.0"
    }

    fn injected(&self) -> &'static Injected {
        &INJECTED
    }

    fn dialect(&self) -> &'static dyn Dialect {
        &ToyDialect
    }

    fn log_folders(&self, env: &Env) -> Vec<PathBuf> {
        vec![self.folder(env).1.join("talks")]
    }

    fn folder(&self, env: &Env) -> (&'static str, PathBuf) {
        ("TOY_HOME", env.home.join(".toy"))
    }

    fn example_log(&self) -> &'static str {
        ".toy/talks/talk-example.jsonl"
    }

    fn resume_command(&self, session: &str) -> String {
        format!("toy --again {session}")
    }

    fn install_command(&self) -> &'static str {
        "make toy"
    }

    fn hooks(&self, env: &Env) -> HookSettings {
        HookSettings {
            agent: TOY,
            file: self.folder(env).1.join("hooks.json"),
            shape: HookShape::Entries,
            events: &[("Begin", None)],
            timeout: 5,
        }
    }

    fn hooks_switched_off(&self, _: &Env) -> Option<String> {
        None
    }

    fn servers(&self, env: &Env) -> ServerSettings {
        ServerSettings {
            agent: TOY,
            file: self.folder(env).1.join("settings.json"),
            format: ServerFormat::Json,
            shape: ServerShape::Parts,
            table: "servers",
            transport: None,
        }
    }
}

/// One object per line: who, and what was said or run.
struct ToyDialect;

#[derive(Deserialize)]
struct Line {
    at: String,
    who: String,
    #[serde(default)]
    says: String,
    #[serde(default)]
    runs: Option<String>,
    #[serde(default)]
    folder: Option<String>,
}

impl Dialect for ToyDialect {
    fn is_log(&self, stem: &[u8]) -> bool {
        stem.starts_with(b"talk-")
    }

    fn name(&self, key: &str) -> LogName {
        LogName {
            session: Some(stem(key).to_owned()),
            ..LogName::default()
        }
    }

    fn value(
        &self,
        state: &mut ParseState,
        place: Span,
        bytes: &[u8],
        out: &mut Vec<Entry>,
    ) -> Result<usize, Cow<'static, str>> {
        let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<Line>();
        let line = match values.next() {
            Some(Ok(line)) => line,
            _ => return Err("no line of the toy's".into()),
        };
        let used = values.byte_offset();
        let id = nameless(&bytes[..used]);
        let cwd = line.folder.or_else(|| state.context.cwd.clone());
        let session = state.file.session.clone();
        let context = state.enter(Context {
            session,
            cwd,
            ..Context::default()
        });
        let message = (line.who == "toy").then_some(Message {
            group: place.offset,
            model: None,
            usage: None,
            long: false,
        });
        let whats = match (line.who.as_str(), line.runs) {
            ("toy", Some(command)) => run(place, command, &line.says),
            ("toy", None) => vec![EntryKind::Said(line.says)],
            _ => match INJECTED.people_words(&line.says) {
                Spoken::Words(text) => vec![EntryKind::Prompt {
                    text: text.into_owned(),
                    via: PromptOrigin::Typed,
                }],
                Spoken::Machine(why) => vec![EntryKind::Noise(why.into())],
            },
        };
        let entry = |what| Entry {
            place,
            nth: 0,
            id,
            time: Time::parse(&line.at),
            context: context.clone(),
            message: message.clone(),
            what,
        };
        out.extend(whats.into_iter().map(entry));
        Ok(used)
    }
}

/// A command, and what came of it.
fn run(place: Span, command: String, output: &str) -> Vec<EntryKind> {
    let id = format!("line:{}", place.offset);
    let result = ToolResult {
        call: id.clone(),
        status: CallStatus::Ok,
        output: Excerpt::of(output.to_owned()),
        ..ToolResult::default()
    };
    let input = serde_json::json!({ "command": command });
    let call = Call {
        id,
        tool: "Bash".into(),
        input,
    };
    vec![EntryKind::Call(call), EntryKind::Result(result)]
}
