//! What comes after a delivery to the real graphiti-core on a real FalkorDB: what is forgotten, what changes,
//! what kills a database, what it costs. `make test-graph` runs these.

use super::falkor::{Falkor, free_port};
use super::forget::said;
use super::graphiti_real::{Scene, ServerOf, done};
use crate::cli::Exit;
use crate::model::time::Time;
use serde_json::{Value, json};
use std::fs;

/// Sessions that say something about these.
fn sessions(words: &[&str]) -> impl Iterator<Item = (String, String)> {
    let words: Vec<String> = words.iter().map(|&words| words.to_owned()).collect();
    let named = words.into_iter().enumerate();
    named.map(|(nth, words)| (format!("session-{nth:03}"), words))
}

fn scene(more: &Value, words: &[&str]) -> Option<Scene> {
    let scene = Scene::with(ServerOf::Rest, true, more, Falkor::start(), sessions(words))?;
    scene.calm_down();
    Some(scene)
}

/// Everything that a graph says, as text.
fn told(scene: &Scene) -> String {
    let nodes = "MATCH (n) RETURN labels(n), n.name, n.content, n.summary, n.source_description";
    let facts = "MATCH ()-[f:RELATES_TO]->() RETURN f.name, f.fact, f.episodes";
    let ask = |query: &str| scene.falkor.redis(&["GRAPH.QUERY", "desk__global", query]);
    format!("{}\n{}", ask(nodes), ask(facts))
}

fn ask(scene: &Scene, query: &str) {
    scene.falkor.redis(&["GRAPH.QUERY", "desk__global", query]);
}

/// What stays after session 0 and 1 of [`what_only_a_forgotten_session_says_goes_with_it_and_what_is_shared_stays`].
fn only_the_rest_is_told(scene: &Scene) {
    let all = told(scene);
    for word in ["zanzibar", "kilimanjaro", "Lynx91", "Puma92"] {
        assert!(!all.contains(word), "{word}: {all}");
    }
    for word in [
        "serengeti",
        "okavango",
        "Fox1 knows Owl2",
        "Owl2 knows Bear3",
    ] {
        assert!(all.contains(word), "{word}: {all}");
    }
    let episodes =
        "MATCH (:Entity)-[f:RELATES_TO {fact: 'Fox1 knows Owl2'}]->() RETURN size(f.episodes)";
    assert_eq!(scene.number(episodes), 2, "those of the session that stays");
    let kept = scene.desk.run("sessionmill search --graph Fox1");
    assert!(kept.stdout.contains("Fox1 knows Owl2"), "{}", kept.shown());
}

#[test]
#[ignore = "needs FalkorDB and graphiti-core: make test-graph"]
fn what_only_a_forgotten_session_says_goes_with_it_and_what_is_shared_stays() {
    let words = [
        "why does Lynx91 hunt Puma92 zanzibar",
        "why does Fox1 follow Owl2 kilimanjaro",
        "why does Fox1 follow Owl2 serengeti",
        "why does Owl2 follow Bear3 okavango",
    ];
    let Some(mut scene) = scene(&json!({}), &words) else {
        return;
    };
    let ran = scene.run("backfill");
    assert_eq!(
        (&ran["enriched"], &ran["to_enrich"]),
        (&json!(8), &json!(0)),
        "{ran}"
    );
    // as models write them: with the very words
    let summaries =
        "MATCH (e:Entity) WHERE e.name <> 'Bear3' SET e.summary = 'zanzibar kilimanjaro serengeti'";
    let community = "MATCH (e:Entity {name: 'Fox1'}) CREATE (:Community {uuid: 'c', name: 'c', \
                     group_id: 'desk__global', summary: 'kilimanjaro'})-[:HAS_MEMBER]->(e)";
    ask(&scene, summaries);
    ask(&scene, community);
    for session in ["session-000", "session-001"] {
        done(
            scene
                .desk
                .run(&format!("sessionmill forget {session} --yes")),
        );
    }
    // before the graph knows of it
    let found = scene
        .desk
        .run("sessionmill search --graph Lynx91 --json")
        .json();
    let facts: Vec<&str> = found["facts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fact| fact["fact"].as_str().unwrap())
        .collect();
    assert!(!facts.contains(&"Lynx91 knows Puma92"), "{facts:?}");
    let ran = scene.run("deliver run");
    assert_eq!(
        (&ran["forgotten"], &ran["kept"]),
        (&json!(4), &json!(0)),
        "{ran}"
    );
    let traces = &ran["traces"];
    assert_eq!(
        (
            &traces["facts"],
            &traces["entities"],
            &traces["facts_shared"]
        ),
        (&json!(1), &json!(2), &json!(1)),
        "{traces}"
    );
    assert_eq!(traces["emptied"], 1, "{traces}");
    only_the_rest_is_told(&scene);
}

#[test]
#[ignore = "needs FalkorDB and graphiti-core: make test-graph"]
fn a_session_that_goes_on_is_worked_through_anew_and_mentions_everything_once() {
    let words = [
        "why does Fox1 follow Owl2 zanzibar",
        "why does Bear3 follow Owl2",
    ];
    let Some(mut scene) = scene(&json!({}), &words) else {
        return;
    };
    let ran = scene.run("backfill");
    assert_eq!(ran["enriched"], 4, "{ran}");
    let log = scene.desk.path(".claude/projects/-w/session-000.jsonl");
    let more = said(
        "session-000",
        "/w/shop",
        0,
        "user",
        "and why does Hare5 follow Owl2",
    );
    let more = more.replace("\"uuid\":\"", "\"uuid\":\"9");
    fs::write(&log, format!("{}{more}", fs::read_to_string(&log).unwrap())).unwrap();
    scene.desk.now = Time(scene.desk.now.0 + 86_400_000);
    let ran = scene.run("run --all");
    assert!(ran["enriched"].as_u64() >= Some(1), "{ran}");
    let double = "MATCH (n:Episodic)-[m:MENTIONS]->(e) WITH n, e, count(m) AS c WHERE c > 1 \
                  RETURN count(*)";
    assert_eq!(scene.number(double), 0);
    let found = "MATCH (:Entity)-[f:RELATES_TO]->() RETURN count(f)";
    assert!(scene.number(found) >= 2);
}

#[test]
#[ignore = "needs FalkorDB and graphiti-core: make test-graph"]
fn an_episode_that_kills_the_database_is_given_up_by_name_and_the_others_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let port = free_port();
    let retries = json!({"enabled": true, "resilience": {"retry_queue": {"max_retries": 2}}});
    let more = json!({"session_tracking": retries});
    let words = [
        "why does Fox1 follow Owl2 first",
        "why does Fox1 follow Bear3 poison",
        "why does Bear3 follow Owl2 third",
        "why does Hare4 follow Owl2 fourth",
    ];
    let falkor = Falkor::start_keeping(port, dir.path());
    let Some(mut scene) = Scene::with(ServerOf::Rest, true, &more, falkor, sessions(&words)) else {
        return;
    };
    scene.llm.command(&json!({"also": {"poison": "IT"}}));
    let mut said = scene.run("backfill");
    let mut deaths = 0;
    for _ in 0..40 {
        if scene.falkor.is_dead() {
            deaths += 1;
            scene.falkor = Falkor::start_keeping(port, dir.path());
            scene.restart();
        } else if scene.server.count("is_dead") == true {
            scene.restart();
        }
        if said["fault"].is_null() && said["dead"] == 0 && said["failed"] == 0 {
            break;
        }
        said = scene.run("deliver run memory");
    }
    assert!(deaths >= 3, "{deaths}: {said}");
    let marked = "MATCH (n:Episodic) RETURN count(n.sessionmill_pending)";
    assert_eq!(
        scene.number("MATCH (n:Episodic) RETURN count(n)"),
        8,
        "{said}"
    );
    assert_eq!(scene.number(marked), 2, "the poison alone: {said}");
    let dead = scene
        .desk
        .run("sessionmill deliver dead list --json")
        .json();
    let dead = dead["dead"].as_array().unwrap().clone();
    assert_eq!(dead.len(), 2, "{dead:?}");
    assert!(
        dead[0]["error"]
            .as_str()
            .unwrap()
            .contains("while it was worked through")
    );
    let id = dead[0]["episode"].as_str().unwrap();
    let shown = done(scene.desk.run(&format!("sessionmill show {id}"))).stdout;
    assert!(shown.contains("poison"), "{shown}");
    let status = scene.desk.run("sessionmill status").stdout;
    assert!(status.contains("2 episodes failed permanently"), "{status}");
}

/// 24 words of which entities are made, and a text of about five thousand bytes.
fn rich(nth: usize) -> String {
    let names: Vec<String> = (0..25)
        .map(|n| format!("Fox{}", (nth * 7 + n * 11) % 200))
        .collect();
    let rest = "plain words of a session that say little ".repeat(110);
    format!("why do {} differ? {rest}", names.join(" and "))
}

#[test]
#[ignore = "needs FalkorDB and graphiti-core: make test-graph"]
fn a_bill_is_what_a_metered_model_counts_within_a_quarter() {
    let texts: Vec<String> = (0..9).map(rich).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for (entities, facts) in [(3, 1), (12, 8), (25, 16)] {
        let few = json!({"upload": {"max_episodes_per_run": 8}});
        let Some(mut scene) = scene(&few, &texts) else {
            return;
        };
        scene
            .llm
            .command(&json!({"entities": entities, "facts": facts, "rephrases": true}));
        let ran = scene.run("backfill");
        assert_eq!(ran["enriched"], 8, "{ran}");
        let dry = scene
            .desk
            .run("sessionmill deliver run memory --dry-run --json");
        let bill = dry.json()["sinks"][0].clone();
        let assumes = &bill["assumes"];
        assert_eq!(assumes["counted_episodes"], 8, "{bill}");
        let meter = |scene: &Scene| {
            ["calls", "characters"].map(|what| scene.llm.count(what).as_f64().unwrap())
        };
        let before = meter(&scene);
        let ran = scene.run("deliver run memory --max 100");
        assert_eq!(ran["enriched"], bill["episodes"], "{ran}");
        let after = meter(&scene);
        let near = |key: &str, counted: f64| {
            let said = bill[key].as_f64().unwrap();
            let off = said / counted - 1.0;
            eprintln!("{entities} entities, {key}: said {said:.0}, counted {counted:.0}");
            assert!(
                off.abs() < 0.25,
                "{entities} entities, {key}: {said} for {counted}"
            );
        };
        near("llm_calls", after[0] - before[0]);
        near("llm_input_tokens", (after[1] - before[1]) / 4.0);
    }
}

#[test]
#[ignore = "needs FalkorDB and graphiti-core: make test-graph"]
fn no_program_becomes_an_entity_and_a_smoke_test_leaves_nothing() {
    let words = ["why does Fox1 follow Owl2", "why does Bear3 follow Owl2"];
    for has_database in [true, false] {
        let of = ServerOf::Rest;
        let Some(mut scene) = Scene::with(
            of,
            has_database,
            &json!({}),
            Falkor::start(),
            sessions(&words),
        ) else {
            return;
        };
        scene.calm_down();
        // as models do that are told to
        scene.llm.command(&json!({"speaks": true}));
        let ran = scene.run("backfill");
        assert_eq!(ran["delivered"], 4, "{ran}");
        let ours = "MATCH (e:Entity) WHERE toLower(e.name) CONTAINS 'sessionmill' RETURN count(e)";
        assert_eq!(scene.number(ours), 0, "{}", told(&scene));
        if has_database {
            let smoke = scene.desk.run("sessionmill deliver check memory --smoke");
            assert_eq!(smoke.exit, Exit::Done, "{}", smoke.shown());
            let graphs = scene.falkor.redis(&["GRAPH.LIST"]);
            assert!(!graphs.contains("sessionmill_smoke"), "{graphs}");
        }
    }
}
