//! The walk from zero to a graph, as docs/delivery.md has it: what it publishes, keeps and asks for, and its
//! commands, typed against a real FalkorDB where one can be had.

use super::falkor::{Falkor, free_port};
use super::world::Desk;
use crate::cli::Exit;
use crate::config::CONSENT_TEXT;
use crate::model::consent::endpoint_text;
use serde_yaml::Value;
use std::fs;
use std::path::Path;

fn page() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(root.join("docs/delivery.md")).expect("the page")
}

/// The blocks of a language in the walk.
fn blocks(language: &str) -> Vec<String> {
    let page = page();
    let (_, walk) = page
        .split_once("## From zero to a graph")
        .expect("the walk");
    let (walk, _) = walk.split_once("\n## ").expect("another part");
    let opens = format!("```{language}\n");
    let parts = walk.split(&opens).skip(1);
    parts
        .map(|part| part.split("```").next().unwrap_or_default().to_owned())
        .collect()
}

fn words(of: &Value, key: &str) -> Vec<String> {
    let all = of[key].as_sequence().cloned().unwrap_or_default();
    all.iter()
        .map(|word| word.as_str().expect("words").to_owned())
        .collect()
}

#[test]
fn nothing_is_published_beyond_this_machine_and_data_outlives_its_container() {
    let compose: Value = serde_yaml::from_str(&blocks("yaml")[0]).expect("YAML");
    let services = compose["services"].as_mapping().expect("services");
    assert_eq!(services.len(), 2);
    for (name, service) in services {
        let name = name.as_str().expect("a name");
        let ports = words(service, "ports");
        assert!(!ports.is_empty(), "{name}");
        assert!(
            ports.iter().all(|port| port.starts_with("127.0.0.1:")),
            "{name}: {ports:?}"
        );
        let has_password = words(service, "environment")
            .iter()
            .any(|word| word.contains("${FALKORDB_PASSWORD:?}"));
        assert!(
            has_password,
            "{name} asks for the password, and fails without one"
        );
        // the published image has no driver for FalkorDB
        assert_ne!(service["image"].as_str(), Some("zepai/graphiti"), "{name}");
    }
    let falkordb = &compose["services"]["falkordb"];
    let arguments = words(falkordb, "environment").join(" ");
    assert!(arguments.contains("--requirepass") && arguments.contains("--appendonly yes"));
    let volumes = words(falkordb, "volumes");
    let (volume, _) = volumes[0].split_once(':').expect("a volume and its place");
    assert!(
        compose["volumes"].get(volume).is_some(),
        "{volume} is declared"
    );
    let graphiti = words(&compose["services"]["graphiti"], "environment");
    assert!(
        graphiti.contains(&"GRAPHITI_TELEMETRY_ENABLED=false".to_owned()),
        "{graphiti:?}"
    );
    // what is typed instead of it is held to the same
    let typed = blocks("sh").join("\n").replace("\\\n", " ");
    for line in typed.lines().filter(|line| line.contains("docker run")) {
        let published = line.split(" -p ").skip(1);
        assert!(published.clone().count() > 0, "{line}");
        assert!(
            published
                .into_iter()
                .all(|port| port.starts_with("127.0.0.1:")),
            "{line}"
        );
        assert!(!line.contains("zepai/graphiti"), "{line}");
    }
    assert!(typed.contains("--build-arg INSTALL_FALKORDB=true"));
}

/// The program's own commands of the walk's first part, without what is said about them.
fn commands() -> Vec<String> {
    let first = blocks("sh")[0].clone();
    let ours = first
        .lines()
        .filter(|line| line.starts_with("sessionmill "));
    ours.map(|line| line.split('#').next().unwrap_or_default().trim().to_owned())
        .collect()
}

/// As they are typed, by somebody who says yes.
fn walk(port: u16) -> Desk {
    let mut desk = Desk::with_fixtures();
    let here = |text: &str| text.replace("localhost:6379", &format!("localhost:{port}"));
    let settings = here(&blocks("json")[0]);
    desk.write(".graphiti/graphiti.config.json", &settings);
    desk.write(".graphiti/env", "FALKORDB_PASSWORD=sesame\n");
    let secret = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    fs::set_permissions(desk.path(".graphiti/env"), secret).expect("a mode");
    for line in commands() {
        let line = here(&line);
        let asked = line.split(' ').nth(3).unwrap_or_default();
        desk.answers = Some(match line.contains("consent give") {
            true => endpoint_text(&asked.parse().expect("an endpoint")),
            false => CONSENT_TEXT.to_owned(),
        });
        let ran = desk.run(&line);
        assert_eq!(ran.exit, Exit::Done, "{line}: {}", ran.shown());
    }
    desk
}

#[test]
fn the_walk_names_every_step_once() {
    let commands = commands();
    for step in [
        "enable",
        "consent give",
        "deliver check",
        "backfill",
        "deliver run",
        "deliver verify",
    ] {
        let many = commands.iter().filter(|line| line.contains(step)).count();
        assert_eq!(many, 1, "{step}: {commands:?}");
    }
}

#[test]
#[ignore = "needs FalkorDB: make test-graph"]
fn the_walk_leads_to_a_graph() {
    let port = free_port();
    let falkor = Falkor::start_closed(port, "sesame");
    let desk = walk(port);
    let nodes = "MATCH (n:Episodic) RETURN count(n) > 10";
    let told = falkor.redis(&["GRAPH.QUERY", "desk__global", nodes]);
    assert!(told.contains("true"), "{told}");
    let graphs = falkor.redis(&["GRAPH.LIST"]);
    assert!(!graphs.contains("smoke"), "{graphs}");
    let again = desk.run("sessionmill deliver run");
    assert_eq!(again.stdout, "nothing waits\n", "{}", again.shown());
}
