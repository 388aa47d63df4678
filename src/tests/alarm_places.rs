//! Every fault that an alarm knows, in every place where somebody may look: one table.

use super::server::{Reply, Server};
use super::world::{Desk, Ran};
use crate::cli::Exit;
use crate::model::consent::endpoint_text;
use crate::model::time::Time;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;

const DAY_MS: i64 = 86_400_000;

/// What goes wrong, and what everybody is told of it.
struct Fault {
    name: &'static str,
    /// What the server of the sink, or of the model, says to everything; `None`: nobody listens.
    says: Option<u16>,
    is_model: bool,
    /// The sink is a folder on a full disk instead.
    is_disk: bool,
    agrees: bool,
    /// Alarms of what may heal by itself begin after a day.
    heals: bool,
    reason: &'static str,
    hint: &'static str,
    /// What the webhook is told, once.
    event: &'static str,
}

const SINK: Fault = Fault {
    name: "",
    says: None,
    is_model: false,
    is_disk: false,
    agrees: true,
    heals: false,
    reason: "",
    hint: "sessionmill deliver check graph",
    event: "alarm_begins",
};

const FAULTS: [Fault; 8] = [
    Fault {
        name: "refused",
        heals: true,
        reason: "127.0.0.1:1",
        ..SINK
    },
    Fault {
        name: "wrong in its token",
        says: Some(401),
        reason: "401",
        ..SINK
    },
    Fault {
        name: "full",
        says: Some(507),
        heals: true,
        reason: "507",
        ..SINK
    },
    Fault {
        name: "full disk",
        is_disk: true,
        heals: true,
        reason: "no storage space",
        ..SINK
    },
    Fault {
        name: "no consent",
        agrees: false,
        reason: "consent",
        hint: "sessionmill consent give http://127.0.0.1:1",
        ..SINK
    },
    Fault {
        name: "dead letters",
        says: Some(422),
        reason: "failed permanently",
        hint: "sessionmill deliver dead list",
        event: "permanent_failure",
        ..SINK
    },
    Fault {
        name: "model down",
        is_model: true,
        heals: true,
        reason: "127.0.0.1:1",
        hint: "sessionmill run --ask-again",
        ..SINK
    },
    Fault {
        name: "model refuses its key",
        says: Some(401),
        is_model: true,
        reason: "401",
        hint: "sessionmill config show",
        ..SINK
    },
];

impl Fault {
    fn who(&self) -> &'static str {
        match self.is_model {
            true => "language model m",
            false => "sink graph",
        }
    }

    /// A home in which it goes wrong, with its servers: the faulty one and the webhook's.
    fn desk(&self) -> (Desk, Vec<Server>) {
        let hook = Server::new(vec![Reply::Says(200, "", "ok".into())]);
        let code = self.says;
        let faulty = code.map(|code| {
            Server::answering(move |asked| {
                // a sink that takes nothing is well otherwise
                match code == 422 && asked.line.starts_with("GET") {
                    true => Reply::Says(200, "", "[]".into()),
                    false => Reply::Says(code, "", "{}".into()),
                }
            })
        });
        let at = faulty.as_ref().map(|server| server.endpoint.clone());
        let at = at.unwrap_or_else(|| "http://127.0.0.1:1".to_owned());
        let notifications = json!({"notification_method": "webhook", "webhook_url": hook.endpoint});
        let mut settings = json!({
            "version": "2.0.0",
            "session_tracking": {"enabled": true, "auto_summarize": true,
                "resilience": {"notifications": notifications}},
            "graphiti": {"enabled": true, "consent": true},
        });
        let folder = json!({"kind": "jsonl", "path": "~/lines"});
        match (self.is_model, self.is_disk) {
            (true, _) => settings["llm"] = json!({"endpoint": at, "model": "m"}),
            (_, true) => settings["sinks"] = json!({"graph": folder}),
            _ => settings["sinks"] = json!({"graph": {"kind": "graphiti", "url": at}}),
        }
        let desk = Desk::enabled();
        desk.write(".graphiti/graphiti.config.json", &settings.to_string());
        agree(&desk, &hook.endpoint);
        if self.agrees && !self.is_disk {
            agree(&desk, &at);
        }
        (desk, std::iter::once(hook).chain(faulty).collect())
    }

    /// Whatever is written into the sink's folder from now on meets a full disk.
    fn fill(&self, desk: &Desk) {
        let part = desk.path("lines/episodes-000001.jsonl.part");
        let _ = fs::create_dir_all(part.parent().expect("a folder"));
        let _ = fs::remove_file(&part);
        symlink("/dev/full", part).expect("a link");
    }

    fn is_told(&self, place: &str, ran: &Ran) {
        let text = format!("{}{}", ran.stdout, ran.stderr);
        let wants = match place {
            // its table names each sink, and has no room for what to type
            "deliver status" => vec!["graph", self.reason],
            _ => vec![self.who(), self.reason, self.hint],
        };
        for wants in wants {
            let at = format!("{} in {place}: no {wants:?}", self.name);
            assert!(text.contains(wants), "{at}\n{}", ran.shown());
        }
    }
}

fn agree(desk: &Desk, endpoint: &str) {
    let text = endpoint_text(&endpoint.parse().expect("an endpoint"));
    let line = format!("sessionmill consent give {endpoint} --confirm \"{text}\"");
    assert_eq!(desk.run(&line).exit, Exit::Done);
}

#[test]
fn every_fault_is_told_in_every_place() {
    for fault in &FAULTS {
        let (mut desk, servers) = fault.desk();
        let events = || -> Vec<Value> {
            let asked = servers[0].asked();
            asked.iter().map(|one| one.body["event"].clone()).collect()
        };
        let run = |desk: &Desk, line: &str| {
            if fault.is_disk {
                fault.fill(desk);
            }
            desk.run(line)
        };
        let first = run(&desk, "sessionmill backfill --quiet");
        let at_once = match fault.heals {
            true => (Exit::Done, 0),
            false => (Exit::Partial, 1),
        };
        let said = (first.exit, first.stderr.lines().count());
        assert_eq!(said, at_once, "{}: {}", fault.name, first.shown());
        if fault.heals {
            let status = desk.run("sessionmill status");
            fault.is_told("status, before it is an alarm", &status);
            assert_eq!(events(), Vec::<Value>::new(), "{}", fault.name);
            desk.now = Time(desk.now.0 + DAY_MS + 1);
        }
        let aloud = run(&desk, "sessionmill run");
        let told = format!("{}: {}", fault.name, aloud.shown());
        assert_eq!(aloud.exit, Exit::Partial, "{told}");
        fault.is_told("run", &aloud);
        for (place, line) in [
            ("status", "sessionmill status"),
            ("doctor", "sessionmill doctor"),
            ("deliver status", "sessionmill deliver status"),
        ] {
            // a model is no sink
            if !(fault.is_model && place == "deliver status") {
                fault.is_told(place, &desk.run(line));
            }
        }
        desk.now = Time(desk.now.0 + DAY_MS + 1);
        let quiet = run(&desk, "sessionmill run --quiet");
        let said = (quiet.exit, quiet.stderr.lines().count());
        let told = format!("{}: {}", fault.name, quiet.shown());
        assert_eq!(said, (Exit::Partial, 1), "{told}");
        assert!(quiet.stderr.contains(fault.who()), "{told}");
        assert_eq!(events(), [fault.event], "{}", fault.name);
    }
}

#[test]
fn broken_rules_stop_every_run_aloud() {
    let desk = Desk::enabled();
    desk.write(".graphiti/rules/keywords.yaml", "{[nonsense: \"");
    for line in [
        "sessionmill run",
        "sessionmill run --quiet",
        "sessionmill doctor",
        "sessionmill status",
    ] {
        let ran = desk.run(line);
        let text = format!("{}{}", ran.stdout, ran.stderr);
        assert!(
            text.contains("rules/keywords.yaml"),
            "{line}: {}",
            ran.shown()
        );
        assert_ne!(ran.exit, Exit::Failed, "{line}: {}", ran.shown());
    }
    assert_eq!(desk.run("sessionmill run --quiet").exit, Exit::Usage);
}
