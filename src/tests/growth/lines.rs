//! Lines as the agents write them, one marker in each that people would read. Knows all dialects
//! and which words of a line are a record's.

use serde_json::{Value, json};

/// Who writes a line, and when.
pub struct Pen {
    /// The session that the line states.
    pub session: String,
    /// A sub-agent's name.
    pub stream: Option<String>,
    /// Milliseconds since the epoch.
    pub at: i64,
    /// Numbers the record.
    pub number: u32,
}

/// `m-…`: words of a person or an agent; they have to be stored once a run saw the line.
pub fn said(number: u32) -> String {
    format!("m-{number:06}")
}

/// `c-…`: the words of a tool call; they are told with its result.
pub fn called(number: u32) -> String {
    format!("c-{number:06}")
}

/// `q-…`: a prompt typed while the agent works; it is told where it leaves the queue.
pub fn queued(number: u32) -> String {
    format!("q-{number:06}")
}

impl Pen {
    pub fn time(&self) -> String {
        let time = chrono::DateTime::from_timestamp_millis(self.at).expect("a time");
        time.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
    }

    fn claude(&self, kind: &str, more: Value) -> String {
        let mut line = json!({
            "type": kind, "uuid": format!("00000000-0000-4000-8000-{:012}", self.number),
            "timestamp": self.time(), "sessionId": self.session, "cwd": "/home/ada/shop",
        });
        if let Some(stream) = &self.stream {
            line["isSidechain"] = true.into();
            line["agentId"] = stream.as_str().into();
        }
        add(&mut line, more);
        line.to_string()
    }

    fn assistant(&self, block: Value) -> String {
        self.claude(
            "assistant",
            json!({
                "requestId": format!("req_{}", self.number),
                "message": {
                    "id": format!("msg_{}", self.number), "role": "assistant",
                    "model": "claude-sonnet-4-5", "content": [block],
                    "usage": {"input_tokens": 10, "output_tokens": 5},
                },
            }),
        )
    }

    pub fn claude_prompt(&self) -> String {
        let words = said(self.number);
        self.claude(
            "user",
            json!({"message": {"role": "user", "content": words}}),
        )
    }

    pub fn claude_answer(&self) -> String {
        self.assistant(json!({"type": "text", "text": said(self.number)}))
    }

    pub fn claude_call(&self) -> String {
        let command = format!("echo {}", called(self.number));
        self.assistant(json!({
            "type": "tool_use", "id": format!("toolu_{}", self.number), "name": "Bash",
            "input": {"command": command},
        }))
    }

    /// Of the call with the number before.
    pub fn claude_result(&self) -> String {
        let id = format!("toolu_{}", self.number - 1);
        let block = json!({"type": "tool_result", "tool_use_id": id, "content": "ok"});
        self.claude(
            "user",
            json!({"message": {"role": "user", "content": [block]}}),
        )
    }

    pub fn claude_noise(&self) -> String {
        self.claude("progress", json!({"data": {"type": "hook_progress"}}))
    }

    pub fn claude_boundary(&self) -> String {
        self.claude("system", json!({"subtype": "compact_boundary"}))
    }

    fn claude_line(&self, kind: &str, more: Value) -> String {
        let mut line = json!({"type": kind, "timestamp": self.time(), "sessionId": self.session});
        add(&mut line, more);
        line.to_string()
    }

    pub fn claude_title(&self) -> String {
        let title = format!("Title {}", self.number);
        self.claude_line("custom-title", json!({"customTitle": title}))
    }

    pub fn claude_enqueue(&self) -> String {
        self.claude_line(
            "queue-operation",
            json!({"operation": "enqueue", "content": queued(self.number)}),
        )
    }

    pub fn claude_remove(&self) -> String {
        self.claude_line("queue-operation", json!({"operation": "remove"}))
    }

    fn codex(&self, kind: &str, payload: Value) -> String {
        json!({"timestamp": self.time(), "type": kind, "payload": payload}).to_string()
    }

    /// The head of a rollout; `more` is what forks add to it.
    pub fn codex_meta(&self, more: Value) -> String {
        let mut payload = json!({
            "id": self.session, "timestamp": self.time(), "cwd": "/home/ada/shop",
            "originator": "codex_cli_rs", "cli_version": "0.134.0", "source": "cli",
        });
        add(&mut payload, more);
        self.codex("session_meta", payload)
    }

    pub fn codex_prompt(&self) -> String {
        let words = said(self.number);
        self.codex(
            "event_msg",
            json!({"type": "user_message", "message": words}),
        )
    }

    pub fn codex_answer(&self) -> String {
        let block = json!({"type": "output_text", "text": said(self.number)});
        self.codex(
            "response_item",
            json!({"type": "message", "role": "assistant", "content": [block]}),
        )
    }

    pub fn codex_call(&self) -> String {
        let arguments = json!({"command": ["echo", called(self.number)]}).to_string();
        self.codex(
            "response_item",
            json!({
                "type": "function_call", "name": "shell", "arguments": arguments,
                "call_id": format!("call_{}", self.number),
            }),
        )
    }

    /// Of the call with the number before.
    pub fn codex_result(&self) -> String {
        let id = format!("call_{}", self.number - 1);
        self.codex(
            "response_item",
            json!({"type": "function_call_output", "call_id": id, "output": "ok"}),
        )
    }

    pub fn codex_noise(&self) -> String {
        self.codex(
            "event_msg",
            json!({"type": "token_count", "info": null, "n": self.number}),
        )
    }

    /// The head of a chat; Gemini CLI writes it again when it is resumed.
    pub fn gemini_head(&self) -> String {
        json!({
            "sessionId": self.session, "projectHash": "00", "startTime": self.time(),
            "lastUpdated": self.time(), "kind": "main", "directories": ["/home/ada/shop"],
        })
        .to_string()
    }

    fn gemini(&self, number: u32, kind: &str, more: Value) -> String {
        let id = format!("g-{number}");
        let mut line = json!({"id": id, "timestamp": self.time(), "type": kind});
        add(&mut line, more);
        line.to_string()
    }

    pub fn gemini_prompt(&self) -> String {
        let content = json!([{"text": said(self.number)}]);
        self.gemini(self.number, "user", json!({"content": content}))
    }

    pub fn gemini_answer(&self) -> String {
        let content = said(self.number);
        let tokens = json!({"input": 10, "output": 5, "cached": 0});
        let more = json!({"content": content, "tokens": tokens, "model": "gemini-3.8-flash"});
        self.gemini(self.number, "gemini", more)
    }

    /// A message whose call runs: nothing of the call stands there.
    pub fn gemini_call(&self) -> String {
        self.gemini(self.number, "gemini", json!({"content": ""}))
    }

    /// The message with the number before, written again.
    pub fn gemini_result(&self) -> String {
        let number = self.number - 1;
        let id = format!("call_{number}");
        let answer = json!({"functionResponse": {"id": id, "response": {"output": "ok"}}});
        let call = json!({
            "id": id, "name": "run_shell_command", "status": "success",
            "args": {"command": format!("echo {}", called(number))}, "result": [answer],
        });
        self.gemini(
            number,
            "gemini",
            json!({"content": "", "toolCalls": [call]}),
        )
    }

    pub fn gemini_noise(&self) -> String {
        json!({"$set": {"lastUpdated": self.time(), "n": self.number}}).to_string()
    }

    pub fn gemini_title(&self) -> String {
        let title = format!("Title {}", self.number);
        json!({"$set": {"summary": title}}).to_string()
    }

    /// Messages of a chat, written again in one line.
    pub fn gemini_history(messages: &[String]) -> String {
        let parsed = messages
            .iter()
            .filter_map(|line| serde_json::from_str(line).ok());
        let messages: Vec<Value> = parsed.collect();
        json!({"$set": {"messages": messages}}).to_string()
    }

    fn qwen(&self, kind: &str, provenance: &str, more: Value) -> String {
        let mut line = json!({
            "uuid": format!("00000000-0000-4000-8000-{:012}", self.number), "sessionId": self.session,
            "timestamp": self.time(), "type": kind, "provenance": provenance, "cwd": "/home/ada/shop",
        });
        add(&mut line, more);
        line.to_string()
    }

    pub fn qwen_prompt(&self) -> String {
        let message = json!({"role": "user", "parts": [{"text": said(self.number)}]});
        self.qwen("user", "real_user", json!({"message": message}))
    }

    fn qwen_answers(&self, part: Value) -> String {
        self.qwen(
            "assistant",
            "assistant_output",
            json!({
                "model": "qwen3-coder-plus", "message": {"role": "model", "parts": [part]},
                "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5},
            }),
        )
    }

    pub fn qwen_answer(&self) -> String {
        self.qwen_answers(json!({"text": said(self.number)}))
    }

    pub fn qwen_call(&self) -> String {
        let command = format!("echo {}", called(self.number));
        self.qwen_answers(json!({"functionCall": {
            "id": format!("call_{}", self.number), "name": "run_shell_command", "args": {"command": command},
        }}))
    }

    /// Of the call with the number before.
    pub fn qwen_result(&self) -> String {
        let id = format!("call_{}", self.number - 1);
        let answer = json!({"id": id, "name": "run_shell_command", "response": {"output": "ok"}});
        self.qwen(
            "tool_result",
            "tool_result",
            json!({
                "message": {"role": "user", "parts": [{"functionResponse": answer}]},
                "toolCallResult": {"callId": id, "status": "success", "resultDisplay": "ok"},
            }),
        )
    }

    fn qwen_system(&self, subtype: &str, payload: Value) -> String {
        let more = json!({"subtype": subtype, "systemPayload": payload});
        self.qwen("system", "system", more)
    }

    pub fn qwen_noise(&self) -> String {
        self.qwen_system("attribution_snapshot", json!({"snapshot": {}}))
    }

    pub fn qwen_title(&self) -> String {
        let title = format!("Title {}", self.number);
        self.qwen_system("custom_title", json!({"customTitle": title}))
    }

    /// The history is summed up: what it contains nobody said.
    pub fn qwen_compaction(&self) -> String {
        let history = json!([{"role": "user", "parts": [{"text": "The sum of it"}]}]);
        self.qwen_system("chat_compression", json!({"compressedHistory": history}))
    }
}

/// How one agent writes what all of them do.
#[derive(Clone, Copy)]
pub struct Dialect {
    pub prompt: fn(&Pen) -> String,
    pub answer: fn(&Pen) -> String,
    pub call: fn(&Pen) -> String,
    /// Of the call with the number before.
    pub result: fn(&Pen) -> String,
    pub noise: fn(&Pen) -> String,
    pub title: fn(&Pen) -> String,
}

/// Whose log it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    Claude,
    Codex,
    Gemini,
    Qwen,
}

impl Writer {
    pub fn dialect(self) -> Dialect {
        match self {
            Writer::Claude => Dialect {
                prompt: Pen::claude_prompt,
                answer: Pen::claude_answer,
                call: Pen::claude_call,
                result: Pen::claude_result,
                noise: Pen::claude_noise,
                title: Pen::claude_title,
            },
            Writer::Codex => Dialect {
                prompt: Pen::codex_prompt,
                answer: Pen::codex_answer,
                call: Pen::codex_call,
                result: Pen::codex_result,
                noise: Pen::codex_noise,
                title: Pen::codex_noise,
            },
            Writer::Gemini => Dialect {
                prompt: Pen::gemini_prompt,
                answer: Pen::gemini_answer,
                call: Pen::gemini_call,
                result: Pen::gemini_result,
                noise: Pen::gemini_noise,
                title: Pen::gemini_title,
            },
            Writer::Qwen => Dialect {
                prompt: Pen::qwen_prompt,
                answer: Pen::qwen_answer,
                call: Pen::qwen_call,
                result: Pen::qwen_result,
                noise: Pen::qwen_noise,
                title: Pen::qwen_title,
            },
        }
    }
}

fn add(line: &mut Value, more: Value) {
    if let (Value::Object(line), Value::Object(more)) = (line, more) {
        line.extend(more);
    }
}

/// The markers in a text, in order.
pub fn markers(text: &str) -> impl Iterator<Item = &str> {
    let marker = |at: &usize| {
        let found = text.get(at - 1..at + 7)?;
        let kind = ["m-", "c-", "q-"].contains(&&found[..2]);
        (kind && found[2..].bytes().all(|b| b.is_ascii_digit())).then_some(found)
    };
    let dashes = memchr::memchr_iter(b'-', text.as_bytes()).filter(|at| *at > 0);
    dashes
        .collect::<Vec<_>>()
        .into_iter()
        .filter_map(move |at| marker(&at))
}

/// The record that a line is, wherever it is copied to: a uuid of Claude or Qwen Code, a Codex call, a Gemini message, when a
/// prompt was queued (its words are told by another line, which an edit of this one does not change), else
/// the words themselves. `None`: a line without a record, or not a whole one.
pub fn record(line: &str) -> Option<String> {
    let value: Value = serde_json::from_str(line).ok()?;
    if value.get("$set").is_some() {
        return None; // a history is written again
    }
    let payload = &value["payload"];
    let call = payload["call_id"].as_str();
    let call = call.map(|id| format!("{} {id}", payload["type"]));
    let uuid = value["uuid"].as_str().or(value["id"].as_str());
    let uuid = uuid.map(str::to_owned);
    let queued =
        (value["operation"] == "enqueue").then(|| format!("queued {}", value["timestamp"]));
    uuid.or(call)
        .or(queued)
        .or_else(|| markers(line).next().map(str::to_owned))
}
