//! A home with many episodes, somewhere to deliver them to, and what goes wrong meanwhile.

mod parts;

use parts::{Falkor, StandIn};
use serde_json::{Value, json};
use sessionmill::model::consent::endpoint_text;
use sessionmill::model::time::Time;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

/// The group, and so the graph.
const GROUP: &str = "soak";
/// Runs in which something goes wrong.
const STORMY: u32 = 8;
/// Runs after which it is given up.
const RUNS_MAX: u32 = 60;
/// Between two runs: whatever waits is due again.
const PAUSE_MS: i64 = 8 * 3_600_000;

/// How episodes get into the graph; with the kind of the sink.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    /// They are written there.
    Direct,
    /// The same, and a server works through them.
    WithDatabase(&'static str),
    /// A server is given them.
    Alone(&'static str),
}

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }

    fn one_in(&mut self, sides: u64) -> bool {
        self.roll(sides) == 0
    }

    fn time(&mut self, most_ms: u64) -> Duration {
        Duration::from_millis(self.roll(most_ms))
    }
}

/// What was done to a delivery.
#[derive(Debug, Default)]
struct Told {
    runs: u32,
    kills: u32,
    database_kills: u32,
    server_restarts: u32,
    /// What the last run left.
    left: Value,
}

/// See the module.
pub struct Scene {
    folder: TempDir,
    episodes: u64,
    now: Time,
}

/// The other ends of one delivery.
struct Ends {
    way: Way,
    falkor: Falkor,
    /// A language model, and a server.
    graphiti: Option<(StandIn, StandIn)>,
}

impl Scene {
    /// A store with so many episodes, a session each.
    pub fn new(episodes: u64) -> Scene {
        let scene = Scene {
            folder: tempfile::tempdir().unwrap(),
            episodes,
            now: Time::parse("2026-06-01T12:00:00Z").unwrap(),
        };
        for nth in 0..episodes {
            let path = format!(".claude/projects/-w/session-{nth:04}.jsonl");
            scene.write(&path, &session(nth));
        }
        scene.configure(&json!({}));
        scene.done(&["run", "--steps", "ingest"]);
        fs::copy(scene.store(), scene.home().join("saved.db")).unwrap();
        scene
    }

    /// Delivers all of it in this way while things go wrong, and counts what is there in the end.
    pub fn comes_right(&mut self, way: Way, seed: u64) {
        let what = format!("seed {seed}, {way:?}");
        let Some(mut ends) = Ends::start(way, self.home()) else {
            eprintln!("{what}: passed over, a part can't be had here");
            return;
        };
        self.restore(&ends);
        let mut dice = Dice(seed.wrapping_mul(1_000_003));
        let mut told = Told::default();
        loop {
            assert!(told.runs < RUNS_MAX, "{what}: still not through: {told:?}");
            let is_calm = told.runs >= STORMY;
            ends.mend(is_calm, &mut dice, &mut told);
            let left = self.run(is_calm, &mut ends, &mut dice, &mut told);
            if is_calm && left == Some(0) {
                break;
            }
        }
        self.assert_whole(&ends, &what);
        told.left = Value::Null;
        eprintln!(
            "{what}: {} episodes, 0 lost, 0 twice; {told:?}",
            self.episodes
        );
    }

    /// One delivery; what it leaves, unless it was killed.
    fn run(
        &mut self,
        is_calm: bool,
        ends: &mut Ends,
        dice: &mut Dice,
        told: &mut Told,
    ) -> Option<u64> {
        self.now = Time(self.now.0 + PAUSE_MS);
        told.runs += 1;
        // a part of it, so that each run has something to do
        let part = (self.episodes / u64::from(STORMY)).to_string();
        let words = ["deliver", "run", "--history", "--json", "--max", &part];
        let words = if is_calm { &words[..4] } else { &words };
        let mut child = self.command(words).spawn().unwrap();
        let within_ms = if ends.graphiti.is_some() { 800 } else { 30 };
        if !is_calm && dice.one_in(3) {
            sleep(dice.time(within_ms));
            ends.falkor.kill_and_start();
            told.database_kills += 1;
        }
        if !is_calm && !dice.one_in(3) {
            sleep(dice.time(within_ms));
            child.kill().unwrap();
        }
        let ran = child.wait_with_output().unwrap();
        told.kills += u32::from(ran.status.code().is_none());
        ran.status.code()?;
        let said: Value = serde_json::from_slice(&ran.stdout).ok()?;
        told.left = said["sinks"][0].clone();
        let left = |key: &str| told.left[key].as_u64();
        Some(left("waiting")? + left("to_enrich")? + left("failed")?)
    }

    fn assert_whole(&self, ends: &Ends, what: &str) {
        let nodes = "MATCH (n:Episodic) WHERE NOT n.name STARTS WITH 'canary' RETURN";
        let wanted = self.episodes;
        for (counted, wants) in [
            ("count(n)", wanted),
            ("count(DISTINCT n.uuid)", wanted),
            ("count(DISTINCT n.name)", wanted),
            ("count(n.sessionmill_pending)", 0),
        ] {
            let found = ends.falkor.number(GROUP, &format!("{nodes} {counted}"));
            assert_eq!(found, wants, "{what}: {counted}");
        }
        self.done(&["deliver", "verify"]);
        let dead = self.done(&["deliver", "dead", "list", "--json"]);
        let dead: Value = serde_json::from_slice(&dead).unwrap();
        assert_eq!(dead["dead"], json!([]), "{what}");
    }

    /// Nothing was delivered yet, and this is where it goes.
    fn restore(&self, ends: &Ends) {
        for beside in ["-wal", "-shm"] {
            let path = format!(".graphiti/sessionmill.db{beside}");
            let _ = fs::remove_file(self.home().join(path));
        }
        fs::copy(self.home().join("saved.db"), self.store()).unwrap();
        self.configure(&json!({"place": ends.sink()}));
        for endpoint in ends.endpoints() {
            let text = endpoint_text(&endpoint.parse().unwrap());
            self.done(&["consent", "give", &endpoint, "--confirm", &text]);
        }
    }

    fn configure(&self, sinks: &Value) {
        let settings = json!({
            "session_tracking": {
                "enabled": true, "keep_length_days": null, "group_id": GROUP,
                // the same episode may be the one that is blamed again and again
                "resilience": {"retry_queue": {"max_retries": 100}},
            },
            "graphiti": {"enabled": true, "consent": true},
            "sinks": sinks,
        });
        self.write(".graphiti/graphiti.config.json", &settings.to_string());
    }

    fn home(&self) -> &Path {
        self.folder.path()
    }

    fn store(&self) -> PathBuf {
        self.home().join(".graphiti/sessionmill.db")
    }

    fn write(&self, below: &str, text: &str) {
        let path = self.home().join(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sessionmill"));
        command
            .args(words)
            .args(["--now", &self.now.rfc3339()])
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .current_dir(self.home())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn done(&self, words: &[&str]) -> Vec<u8> {
        let ran = self.command(words).output().unwrap();
        let told = String::from_utf8_lossy(&ran.stderr);
        let said = String::from_utf8_lossy(&ran.stdout);
        assert_eq!(ran.status.code(), Some(0), "{words:?}: {told}{said}");
        ran.stdout
    }
}

impl Ends {
    /// `None`: a part can't be had.
    fn start(way: Way, home: &Path) -> Option<Ends> {
        let falkor = Falkor::start(&home.join("falkordb"));
        let graphiti = match way {
            Way::Direct => None,
            Way::Alone(_) | Way::WithDatabase(_) => {
                let llm = StandIn::start(&["llm", "0"])?;
                let server = server(way, 0, &falkor, &llm)?;
                Some((llm, server))
            }
        };
        Some(Ends {
            way,
            falkor,
            graphiti,
        })
    }

    fn endpoints(&self) -> Vec<String> {
        let database = format!("redis://127.0.0.1:{}", self.falkor.port);
        let server = self.graphiti.iter();
        let server = server.map(|(_, server)| format!("http://127.0.0.1:{}", server.port));
        match self.way {
            Way::Alone(_) => server.collect(),
            Way::Direct | Way::WithDatabase(_) => server.chain([database]).collect(),
        }
    }

    fn sink(&self) -> Value {
        let endpoints = self.endpoints();
        let mut sink = match self.way {
            Way::Direct => json!({"kind": "falkordb"}),
            Way::Alone(kind) | Way::WithDatabase(kind) => {
                json!({"kind": kind, "stall": "5s", "window": 50})
            }
        };
        sink["url"] = endpoints[0].clone().into();
        if let Some(database) = endpoints.get(1) {
            sink["database"] = database.clone().into();
        }
        sink
    }

    /// Whoever minds the server restarts it, in time or for nothing; then something else goes wrong.
    fn mend(&mut self, is_calm: bool, dice: &mut Dice, told: &mut Told) {
        let Some((llm, server)) = &mut self.graphiti else {
            return;
        };
        if server.is_dead() || dice.one_in(4) {
            let port = server.port;
            server.kill();
            *server = self::server(self.way, port, &self.falkor, llm).expect("it started before");
            told.server_restarts += 1;
        }
        let (requests, fails, dies_at) = match is_calm {
            true => (Vec::new(), 0, -1),
            false => (faults(dice), dice.roll(3), dice.roll(80) as i64),
        };
        server.command(&json!({"requests": requests, "dies_at": dies_at}));
        let status = [429, 402, 500][dice.roll(3) as usize];
        llm.command(&json!({"fails": {"*": fails}, "status": status}));
    }
}

/// What the next requests get instead of an answer, `null` being one.
fn faults(dice: &mut Dice) -> Vec<Value> {
    let kinds = ["hang", "reset", "half"].map(Value::from);
    let kinds = [&kinds[..], &[429, 402, 500].map(Value::from)].concat();
    let often = [4, 12, u64::MAX][dice.roll(3) as usize];
    let mut fault = || match dice.one_in(often) {
        true => kinds[dice.roll(6) as usize].clone(),
        false => Value::Null,
    };
    (0..20).map(|_| fault()).collect()
}

fn server(way: Way, port: u16, falkor: &Falkor, llm: &StandIn) -> Option<StandIn> {
    let ports = [port, falkor.port, llm.port].map(|port| port.to_string());
    let [port, falkor, llm] = ports.each_ref();
    match way {
        Way::Alone("graphiti-mcp") | Way::WithDatabase("graphiti-mcp") => {
            StandIn::start(&["mcp", port, falkor, llm, GROUP])
        }
        _ => StandIn::start(&["server", port, falkor, llm]),
    }
}

/// A prompt with words of its own, of which no entity can be made.
fn session(nth: u64) -> String {
    let text = format!(
        "{nth:x} {}",
        "why does the cart forget its owls ".repeat(10)
    );
    format!(
        "{{\"type\":\"user\",\"uuid\":\"00000000-0000-4000-8000-{nth:012x}\",\
         \"timestamp\":\"2026-03-02T10:00:00.000Z\",\"sessionId\":\"session-{nth:04}\",\
         \"cwd\":\"/w/shop\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
    )
}
