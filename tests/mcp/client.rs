//! A home with sessions, and a client that writes and reads lines as a test wants them.

use crate::home::Home;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Output, Stdio};

impl Home {
    /// A home whose store holds the fixture sessions, with these settings under `session_tracking`.
    pub fn new(settings: Value) -> Home {
        let home = Home::empty(settings);
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/logs/home");
        copy(&fixtures, home.root());
        assert_eq!(home.run("run --quiet").status.code(), Some(0));
        home
    }

    /// The same without sessions.
    pub fn empty(mut settings: Value) -> Home {
        settings["keep_length_days"] = Value::Null;
        Home::with(settings)
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &target),
            false => fs::copy(&path, &target).map(|_| ()).unwrap(),
        }
    }
}

/// One client at the real program's streams.
pub struct Client {
    server: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    asked: u64,
    answers: BTreeMap<u64, Value>,
    /// What it says when it is asked where it works.
    roots: Value,
}

impl Client {
    /// Connects and says hello; with roots where some are given.
    pub fn new(home: &Home, roots: &[&str]) -> Client {
        let mut client = Client::silent(home, roots);
        let can = match roots {
            [] => json!({}),
            _ => json!({"roots": {}}),
        };
        let hello = client.ask(
            "initialize",
            json!({
                "protocolVersion": "2025-06-18",
                "capabilities": can,
                "clientInfo": {"name": "test", "version": "1"},
            }),
        );
        assert_eq!(hello["result"]["serverInfo"]["name"], "sessionmill");
        client.line(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        client
    }

    /// Connects and says nothing.
    pub fn silent(home: &Home, roots: &[&str]) -> Client {
        let mut command = home.command("mcp");
        let mut server = command.stdin(Stdio::piped()).spawn().unwrap();
        let uris: Vec<Value> = roots
            .iter()
            .map(|dir| json!({"uri": format!("file://{dir}")}))
            .collect();
        Client {
            to: server.stdin.take(),
            from: BufReader::new(server.stdout.take().unwrap()),
            server,
            asked: 0,
            answers: BTreeMap::new(),
            roots: json!({"roots": uris}),
        }
    }

    pub fn line(&mut self, line: &str) {
        let to = self.to.as_mut().unwrap();
        to.write_all(format!("{line}\n").as_bytes()).unwrap();
        to.flush().unwrap();
    }

    /// Sends a request and doesn't wait for its answer.
    pub fn send(&mut self, method: &str, params: Value) -> u64 {
        self.asked += 1;
        let id = self.asked;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.line(&request.to_string());
        id
    }

    /// The next message that is neither an answer to a request nor a question for our roots.
    pub fn odd(&mut self) -> Value {
        loop {
            if let Some(odd) = self.read() {
                return odd;
            }
        }
    }

    pub fn answer(&mut self, id: u64) -> Value {
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return answer;
            }
            let odd = self.read();
            assert!(odd.is_none(), "{odd:?}");
        }
    }

    pub fn has_answered(&self, id: u64) -> bool {
        self.answers.contains_key(&id)
    }

    fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        assert_ne!(self.from.read_line(&mut line).unwrap(), 0, "it went away");
        let message: Value = serde_json::from_str(&line).expect("nothing but the protocol");
        if message["method"] == "roots/list" {
            let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": self.roots});
            self.line(&answer.to_string());
            return None;
        }
        match message["id"].as_u64() {
            Some(id) => {
                self.answers.insert(id, message);
                None
            }
            None => Some(message),
        }
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    /// What a tool says; an error where it says that it failed.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Result<String, String> {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let text = answer["result"]["content"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("{answer}")).to_owned();
        match answer["result"]["isError"] == json!(true) {
            true => Err(text),
            false => Ok(text),
        }
    }

    /// Goes away; the server's end.
    pub fn leave(mut self) -> Output {
        drop(self.to.take());
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut self.from, &mut rest).unwrap();
        self.server.wait_with_output().unwrap()
    }
}
