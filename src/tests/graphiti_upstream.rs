//! Graphiti's own servers, as their makers publish them, each a process of a test's own.
//! `scripts/graphiti-upstream` installs them.

use super::falkor::{Falkor, free_port};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// One that runs; it dies with this value.
pub(super) struct Upstream {
    child: Child,
    pub(super) port: u16,
}

impl Upstream {
    /// The REST server, on a FalkorDB without a password. `None`: it can't be had here.
    pub(super) fn rest(falkor: &Falkor, llm: u16) -> Option<Upstream> {
        let port = free_port();
        let mut command = python("server", llm)?;
        command
            .args(["-m", "uvicorn", "graph_service.main:app", "--port"])
            .arg(port.to_string())
            .env("DB_BACKEND", "falkordb")
            .env("FALKORDB_HOST", "127.0.0.1")
            .env("FALKORDB_PORT", falkor.port().to_string());
        Some(Upstream::start(command, port))
    }

    /// The MCP server, on a FalkorDB with this password. `None`: it can't be had here.
    pub(super) fn mcp(falkor: &Falkor, password: &str, llm: u16) -> Option<Upstream> {
        let port = free_port();
        let mut command = python("mcp_server", llm)?;
        command
            .args(["main.py", "--transport", "http", "--host", "127.0.0.1"])
            .args(["--database-provider", "falkordb", "--port"])
            .arg(port.to_string())
            .args(["--config", "config/config-docker-falkordb.yaml"])
            .env("FALKORDB_URI", falkor.endpoint().to_string())
            .env("FALKORDB_PASSWORD", password);
        Some(Upstream::start(command, port))
    }

    fn start(mut command: Command, port: u16) -> Upstream {
        let mut child = command.spawn().expect("python starts");
        for _ in 0..1200 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Upstream { child, port };
            }
            if let Ok(Some(ended)) = child.try_wait() {
                panic!("Graphiti's server ended: {ended}");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("Graphiti's server doesn't listen");
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Python in the folder of one of the servers, with a language model at this port and nothing else in its
/// environment.
fn python(server: &str, llm: u16) -> Option<Command> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let found = Command::new(root.join("scripts/graphiti-upstream")).output();
    let found = found.ok().filter(|found| found.status.success());
    let Some(found) = found else {
        eprintln!("Graphiti's own servers can't be had here: passed over");
        return None;
    };
    let folder = String::from_utf8(found.stdout).expect("a path");
    let url = format!("http://127.0.0.1:{llm}/v1");
    let mut command = Command::new(root.join("target/upstream/bin/python"));
    command
        .current_dir(root.join(folder.trim()).join(server))
        .env_clear()
        .envs(["PATH", "HOME"].map(|name| (name, std::env::var_os(name).unwrap_or_default())))
        .env("OPENAI_API_KEY", "x")
        .env("OPENAI_BASE_URL", &url)
        .env("OPENAI_API_URL", &url)
        .env("GRAPHITI_TELEMETRY_ENABLED", "false")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Some(command)
}
