//! What agents hand to a hook, and what they take from it. All speak the same JSON.

use crate::pipeline::recall::Event;
use serde::Deserialize;
use serde_json::{Deserializer, json};
use std::io::Read;

/// More is no prompt that anybody typed.
const INPUT_BYTES_MAX: u64 = 4 << 20;

/// What an agent says when it starts a hook. What it doesn't say is empty; what we don't know is
/// passed over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct HookCall {
    /// Which hook.
    hook_event_name: String,
    /// The session's id.
    pub session_id: Option<String>,
    /// Where it works.
    pub cwd: Option<String>,
    /// What a person typed.
    prompt: Option<String>,
    /// Why a session starts.
    source: Option<String>,
    /// A sub-agent's id: its prompts are its parent's words.
    agent_id: Option<String>,
}

impl HookCall {
    /// Reads one value; what follows it is nobody's business, so that an agent that leaves the pipe
    /// open is answered too. The reason when it isn't JSON, without a word of it.
    pub fn read(from: &mut dyn Read) -> Result<HookCall, String> {
        let mut values = Deserializer::from_reader(from.take(INPUT_BYTES_MAX)).into_iter();
        match values.next() {
            Some(Ok(call)) => Ok(call),
            Some(Err(error)) => Err(format!(
                "can't parse the hook's input at line {}",
                error.line()
            )),
            None => Err("the hook got no input".into()),
        }
    }

    /// What it is about; `None`: nothing that memory has to say something to.
    pub fn event(&self) -> Option<Event> {
        if self.agent_id.is_some() {
            return None;
        }
        let source = self.source.as_deref().unwrap_or("startup");
        match self.hook_event_name.as_str() {
            "SessionStart" => matches!(source, "startup" | "clear").then_some(Event::Begins),
            "UserPromptSubmit" | "BeforeAgent" => Some(Event::Prompt(self.prompt.clone()?)),
            _ => None,
        }
    }

    /// The answer that gives a block to the agent.
    pub fn answer(&self, block: &str) -> String {
        let given = json!({
            "hookEventName": self.hook_event_name,
            "additionalContext": block,
        });
        json!({"hookSpecificOutput": given}).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<Event>, String> {
        HookCall::read(&mut text.as_bytes()).map(|call| call.event())
    }

    #[test]
    fn calls_of_both_agents_are_understood() {
        let claude = r#"{"session_id": "s", "transcript_path": "/t.jsonl", "cwd": "/w",
            "permission_mode": "default", "hook_event_name": "UserPromptSubmit", "prompt": "go"}"#;
        assert_eq!(read(claude), Ok(Some(Event::Prompt("go".into()))));
        let codex = r#"{"session_id": "s", "turn_id": "t", "transcript_path": null, "cwd": "/w",
            "hook_event_name": "SessionStart", "model": "m", "permission_mode": "default",
            "source": "startup"}"#;
        assert_eq!(read(codex), Ok(Some(Event::Begins)));
        for silent in [
            r#"{"hook_event_name": "SessionStart", "source": "resume"}"#,
            r#"{"hook_event_name": "SessionStart", "source": "compact"}"#,
            r#"{"hook_event_name": "UserPromptSubmit"}"#,
            r#"{"hook_event_name": "UserPromptSubmit", "prompt": "go", "agent_id": "a1"}"#,
            r#"{"hook_event_name": "Stop"}"#,
            "{}",
        ] {
            assert_eq!(read(silent), Ok(None), "{silent}");
        }
    }

    #[test]
    fn what_is_no_call_is_told_without_a_word_of_it() {
        for text in [
            "",
            "secret",
            "{\"prompt\": \"secret\"",
            "{\"cwd\": {\"secret\": 1}}",
        ] {
            let reason = read(text).unwrap_err();
            assert!(!reason.contains("secret"), "{reason}");
        }
    }

    #[test]
    fn what_follows_a_call_is_not_waited_for() {
        struct Open<'t>(&'t [u8]);
        impl Read for Open<'_> {
            fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
                assert!(!self.0.is_empty(), "read past the call");
                self.0.read(&mut into[..1])
            }
        }
        let call = HookCall::read(&mut Open(br#"{"hook_event_name": "SessionStart"}"#));
        assert_eq!(call.unwrap().event(), Some(Event::Begins));
    }
}
