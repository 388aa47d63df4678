//! The walk from zero to a graph, as docs/delivery.md has it: what it publishes, keeps and asks for, and its
//! commands, typed against a real FalkorDB where one can be had.

use super::falkor::{Falkor, free_port};
use super::graphiti_real::StandIn;
use super::graphiti_upstream::Upstream;
use super::world::Desk;
use crate::cli::Exit;
use crate::config::CONSENT_TEXT;
use crate::model::consent::endpoint_text;
use serde_json::json;
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

/// The program's own commands of one part of the walk, without what is said about them.
fn commands(part: usize) -> Vec<String> {
    let first = blocks("sh")[part].clone();
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
    type_all(&mut desk, commands(0).iter().map(|line| here(line)));
    desk
}

/// As somebody types them who says yes.
fn type_all(desk: &mut Desk, lines: impl Iterator<Item = String>) {
    for line in lines {
        let asked = line.split(' ').nth(3).unwrap_or_default();
        desk.answers = Some(match line.contains("consent give") {
            true => endpoint_text(&asked.parse().expect("an endpoint")),
            false => CONSENT_TEXT.to_owned(),
        });
        let ran = desk.run(&line);
        assert_eq!(ran.exit, Exit::Done, "{line}: {}", ran.shown());
    }
}

#[test]
fn the_walk_names_every_step_once() {
    let commands = commands(0);
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
    assert_eq!(again.stdout, "nothing is waiting\n", "{}", again.shown());
}

/// The sink that the walk's text names for one of Graphiti's servers, at this test's ports.
fn sink(opens: &str, server: u16, database: u16) -> Value {
    let page = page().replace("\n#", "\n").replace('\n', " ");
    let (_, from) = page.split_once(opens).expect("the sink's beginning");
    let (inside, _) = from.split_once('}').expect("its end");
    let text = format!("{opens}{inside}}}")
        .replace(":8000", &format!(":{server}"))
        .replace(":6379", &format!(":{database}"));
    let (_, value) = text.split_once(": ").expect("a name and a value");
    serde_yaml::from_str(value).expect("a sink")
}

/// Types the rest of the walk for a server until all is worked through, and looks at the graph.
fn goes_on_to(
    desk: &mut Desk,
    falkor: &Falkor,
    upstream: &Upstream,
    opens: &str,
    lines: &[String],
) {
    let file = ".graphiti/graphiti.config.json";
    let settings = fs::read_to_string(desk.path(file)).expect("settings");
    let mut settings: serde_json::Value = serde_json::from_str(&settings).expect("JSON");
    let sink = sink(opens, upstream.port, falkor.port());
    let sink = serde_json::to_value(sink).expect("JSON");
    settings["sinks"]["memory"] = sink;
    desk.write(file, &settings.to_string());
    let here = |line: &str| {
        line.replace(":8000", &format!(":{}", upstream.port))
            .replace(":6379", &format!(":{}", falkor.port()))
    };
    type_all(desk, lines.iter().map(|line| here(line)));
    for _ in 0..40 {
        let ran = desk.run("sessionmill deliver run memory --history --json");
        assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
        let said = ran.json()["sinks"][0].clone();
        if said["waiting"] == 0 && said["to_enrich"] == 0 {
            break;
        }
    }
    type_all(
        desk,
        std::iter::once("sessionmill deliver verify".to_owned()),
    );
    for query in [
        "MATCH (n:Episodic) RETURN count(n) > 10",
        "MATCH (n:Episodic) RETURN count(n) = count(DISTINCT n.uuid)",
        "MATCH (n:Episodic) RETURN count(n.sessionmill_pending) = 0",
        "MATCH (n:Episodic) OPTIONAL MATCH (n)-[:MENTIONS]->(e) WITH n, count(e) AS c \
         RETURN sum(CASE WHEN c > 0 THEN 1 ELSE 0 END) > 0",
        "OPTIONAL MATCH (e:Entity) WHERE e.name CONTAINS 'sessionmill' RETURN count(e) = 0",
    ] {
        let told = falkor.redis(&["GRAPH.QUERY", "desk__global", query]);
        assert!(told.contains("true"), "{query}: {told}");
    }
}

#[test]
#[ignore = "needs FalkorDB and graphiti-core: make test-graph"]
fn the_walk_goes_on_to_upstreams_own_mcp_server() {
    let Some(llm) = StandIn::start(&["llm", "0"]) else {
        return;
    };
    let port = free_port();
    let falkor = Falkor::start_closed(port, "sesame");
    let Some(upstream) = Upstream::mcp(&falkor, "sesame", llm.port) else {
        return;
    };
    llm.command(&json!({"also": {"the": "Harbour"}}));
    let mut desk = walk(port);
    let opens = "\"memory\": {\"kind\": \"graphiti-mcp\"";
    goes_on_to(&mut desk, &falkor, &upstream, opens, &commands(1));
}

#[test]
#[ignore = "needs FalkorDB and graphiti-core: make test-graph"]
fn the_walk_goes_on_to_upstreams_own_rest_server() {
    let Some(llm) = StandIn::start(&["llm", "0"]) else {
        return;
    };
    // it can't be told a password
    let falkor = Falkor::start();
    let Some(upstream) = Upstream::rest(&falkor, llm.port) else {
        return;
    };
    llm.command(&json!({"also": {"the": "Harbour"}}));
    let mut desk = Desk::with_fixtures();
    let settings =
        blocks("json")[0].replace("localhost:6379", &format!("127.0.0.1:{}", falkor.port()));
    let mut settings: serde_json::Value = serde_json::from_str(&settings).expect("JSON");
    settings["sinks"] = json!({});
    desk.write(".graphiti/graphiti.config.json", &settings.to_string());
    let first = ["sessionmill enable", "sessionmill backfill"];
    type_all(&mut desk, first.map(str::to_owned).into_iter());
    let first = commands(0).into_iter();
    let consent = first.filter(|line| line.contains("consent give"));
    let lines: Vec<String> = consent.chain(commands(1)).collect();
    let opens = "\"memory\": {\"kind\": \"graphiti\"";
    goes_on_to(&mut desk, &falkor, &upstream, opens, &lines);
}
