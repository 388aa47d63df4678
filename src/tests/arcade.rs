//! A server that speaks Neo4j's protocol, of a test's own on loopback, started and stopped with it:
//! ArcadeDB, which `make test-graph` installs with the Java that it needs. It knows no full-text index.

use crate::model::consent::Endpoint;
use crate::sinks::bolt::Bolt;
use crate::sinks::cypher::Value;
use crate::sinks::database::Login;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// Of its only user, `root`.
pub const PASSWORD: &str = "swordfish";
/// Its only database.
pub const DATABASE: &str = "memory";

/// A running server; it dies with this value.
pub struct Arcade {
    child: Child,
    port: u16,
    http: u16,
    _root: TempDir,
}

impl Arcade {
    /// An empty server that answers; `None`: it isn't installed.
    pub fn start() -> Option<Arcade> {
        Arcade::start_at(free_port())
    }

    /// The same at a given port.
    pub fn start_at(port: u16) -> Option<Arcade> {
        let Some(folder) = installed() else {
            eprintln!("ArcadeDB can't be had here: passed over");
            return None;
        };
        let root = tempfile::tempdir().expect("a folder");
        let http = free_port();
        let set = |key: &str, value: &str| format!("-Darcadedb.{key}={value}");
        let child = Command::new(folder.join("jre/bin/java"))
            .args(["-Xmx512m", "--add-modules", "jdk.incubator.vector"])
            .arg(set("server.rootPath", &root.path().display().to_string()))
            .arg(set("server.rootPassword", PASSWORD))
            .arg(set("server.httpIncomingHost", "127.0.0.1"))
            .arg(set("server.httpIncomingPort", &http.to_string()))
            .arg(set("server.plugins", "BoltProtocolPlugin"))
            .arg(set("server.defaultDatabases", &format!("{DATABASE}[root]")))
            .arg(set("bolt.host", "127.0.0.1"))
            .arg(set("bolt.port", &port.to_string()))
            .arg("-cp")
            .arg(folder.join("jars/*"))
            .arg("com.arcadedb.server.ArcadeDBServer")
            .current_dir(root.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("java starts");
        let server = Arcade {
            child,
            port,
            http,
            _root: root,
        };
        for _ in 0..1_200 {
            if server.try_query("RETURN 1").is_some() {
                return Some(server);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("ArcadeDB doesn't answer");
    }

    /// Where it is reached, its database included.
    pub fn endpoint(&self, scheme: &str) -> Endpoint {
        let text = format!("{scheme}://127.0.0.1:{}/{DATABASE}", self.port);
        text.parse().expect("an endpoint")
    }

    /// Its port for Bolt.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its port for something else.
    pub fn http_port(&self) -> u16 {
        self.http
    }

    /// Holds still, or goes on: it keeps connections and answers nobody.
    pub fn hold(&self, still: bool) {
        let signal = if still { "-STOP" } else { "-CONT" };
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status();
        assert!(sent.expect("kill starts").success());
    }

    /// The rows of an answer.
    pub fn query(&self, query: &str) -> Vec<Vec<Value>> {
        self.try_query(query).expect("an answer")
    }

    fn try_query(&self, query: &str) -> Option<Vec<Vec<Value>>> {
        let mut bolt = Bolt::open(&self.endpoint("bolt"), &login()).ok()?;
        bolt.query(Some(DATABASE), query, &Value::Map(Vec::new()))
            .ok()
    }
}

/// What it lets in.
pub fn login() -> Login {
    Login {
        user: Some("root".into()),
        password: Some(PASSWORD.into()),
    }
}

fn installed() -> Option<PathBuf> {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/graph/bin/python");
    let code = "import importlib.util as u; \
                print(u.find_spec('arcadedb_embedded').submodule_search_locations[0])";
    let told = Command::new(python).args(["-c", code]).output().ok()?;
    let folder = String::from_utf8(told.stdout).ok()?;
    let folder = PathBuf::from(folder.trim());
    folder.join("jars").is_dir().then_some(folder)
}

fn free_port() -> u16 {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    free.local_addr().expect("an address").port()
}

impl Drop for Arcade {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
