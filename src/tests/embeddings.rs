//! Search by meaning: a real server on loopback whose vectors come from a table of synonyms. What is
//! sent, to whom and how often; what is found by it; and that no trouble with it is in anybody's way.

use super::forget::{desk, exchanges};
use super::server::{Asked, Reply, Server};
use super::world::{Desk, Ran};
use crate::cli::Exit;
use crate::memory::query_terms::parse;
use crate::memory::recall::{RecallQuestion, recall};
use crate::memory::scopes::Scope;
use crate::model::consent::endpoint_text;
use crate::model::embedding::{Meaning, Vector};
use crate::model::source::Agent;
use crate::model::time::Time;
use crate::store::{Access, Embedded, Query, Store};
use serde_json::{Value, json};

/// What vectors are made by with the settings of these tests.
pub(super) const MADE_BY: &str = "m, 600 characters";

/// Words that mean the same; what has none of them means something else.
const SYNONYMS: [&[&str]; 4] = [
    &["mend", "repair"],
    &["paint", "colour"],
    &["sail", "navigate"],
    &["sleep", "slumber"],
];

pub(super) fn numbers(text: &str) -> Vec<f64> {
    let has = |words: &&[&str]| words.iter().any(|word| text.contains(word));
    let mut all: Vec<f64> = SYNONYMS.iter().map(|words| f64::from(has(words))).collect();
    all.push(f64::from(all.iter().all(|n| *n == 0.0)));
    all
}

fn inputs(asked: &Asked) -> Vec<String> {
    let list = asked.body["input"].as_array().expect("texts");
    list.iter()
        .map(|text| text.as_str().expect("a text").to_owned())
        .collect()
}

pub(super) fn knows(asked: &Asked) -> Reply {
    let texts = inputs(asked).into_iter().enumerate();
    // the last one first: the index says whose it is
    let data = texts
        .map(|(n, text)| json!({"index": n, "embedding": numbers(&text)}))
        .rev();
    says(json!({"data": data.collect::<Vec<_>>()}))
}

pub(super) fn says(body: Value) -> Reply {
    Reply::Says(200, "", body.to_string())
}

pub(super) fn put(desk: &Desk, project: &str, session: &str, words: &[&str]) {
    let text = exchanges(session, &desk.path(project), 1, words);
    let text = text.replace("00000000-0000-4000", &format!("0000{session}-0000-4000"));
    desk.write(&format!(".claude/projects/-w/{session}.jsonl"), &text);
}

/// `more` goes to the settings beside `embeddings`, `own` to those in it.
pub(super) fn configure(desk: &Desk, endpoint: &str, own: Value, more: Value) {
    let mut settings = json!({"version": "2.0.0", "session_tracking": {"enabled": true},
        "embeddings": {"endpoint": endpoint, "model": "m", "timeout_s": 1}});
    for (into, more) in [("embeddings", own), ("session_tracking", more)] {
        for (key, value) in more.as_object().into_iter().flatten() {
            settings[into][key] = value.clone();
        }
    }
    desk.write(".graphiti/graphiti.config.json", &settings.to_string());
}

pub(super) fn agree(desk: &Desk, endpoint: &str) {
    let text = endpoint_text(&endpoint.parse().unwrap());
    run(
        desk,
        &format!("consent give {endpoint} --confirm \"{text}\""),
    );
}

pub(super) fn run(desk: &Desk, line: &str) -> Ran {
    let ran = desk.run(&format!("sessionmill {line}"));
    assert_eq!(ran.exit, Exit::Done, "{line}: {}", ran.shown());
    ran
}

/// A desk with two sessions, a day after them, and a model that was agreed to.
pub(super) fn asking(
    reply: impl FnMut(&Asked) -> Reply + Send + 'static,
    own: Value,
) -> (Desk, Server) {
    let (mut desk, server) = (desk(), Server::answering(reply));
    desk.now = Time::parse("2026-05-21T12:00:00Z").unwrap();
    put(&desk, "shop", "aaaa", &["mend"]);
    put(&desk, "yard", "bbbb", &["paint"]);
    configure(&desk, &server.endpoint, own, Value::Null);
    agree(&desk, &server.endpoint);
    (desk, server)
}

fn found(desk: &Desk, line: &str) -> Vec<(String, bool)> {
    let hits = desk
        .run(&format!("sessionmill search --json {line}"))
        .json()["hits"]
        .take();
    let hit = |hit: &Value| {
        let session = hit["session"].as_str().unwrap().to_owned();
        (session, !hit["similarity"].is_null())
    };
    hits.as_array().unwrap().iter().map(hit).collect()
}

fn sessions(desk: &Desk, line: &str) -> String {
    let mut all: Vec<String> = found(desk, line).into_iter().map(|(s, _)| s).collect();
    all.dedup();
    all.join(" ")
}

fn sent(server: &Server) -> Vec<String> {
    server.asked().iter().flat_map(inputs).collect()
}

fn store(desk: &Desk) -> Store {
    Store::open(&desk.path(".graphiti/sessionmill.db"), Access::ReadOnly).unwrap()
}

pub(super) fn embedded(desk: &Desk) -> (u64, u64, u64) {
    let Embedded {
        made,
        waiting,
        refused,
    } = store(desk).embedded(MADE_BY).unwrap();
    (made, waiting, refused)
}

#[test]
fn a_paraphrase_is_found_with_a_model_and_not_without() {
    let (desk, server) = asking(knows, Value::Null);
    let planned = run(&desk, "run --steps ingest,report --json").json();
    assert_eq!(planned["texts_embedded"], 0);
    assert_eq!(
        run(&desk, "plan --json").json()["embeddings"],
        json!({"texts": 2})
    );
    assert_eq!(sessions(&desk, "repair"), "");
    assert!(
        server.asked().is_empty(),
        "there is nothing to compare with"
    );

    let ran = run(&desk, "run --json").json();
    assert_eq!(ran["texts_embedded"], 4, "two chunks and two pages");
    let asked = server.asked();
    assert_eq!(
        (asked.len(), asked[0].line.as_str()),
        (1, "POST /embeddings")
    );
    assert_eq!(asked[0].body["model"], "m");
    assert_eq!(embedded(&desk), (4, 0, 0));

    assert_eq!(sessions(&desk, "who can repair it here?"), "aaaa");
    assert_eq!(sent(&server), ["who can repair it here?"]);
    assert!(
        run(&desk, "search colour")
            .stdout
            .contains(" · by meaning\n")
    );
    assert_eq!(found(&desk, "mend")[0], ("aaaa".into(), true), "both ways");
    assert_eq!(run(&desk, "run --json").json()["texts_embedded"], 0);
    server.asked();
    run(&desk, "run");
    assert_eq!(
        run(&desk, "plan --json").json()["embeddings"],
        json!({"texts": 0})
    );
    assert!(server.asked().is_empty(), "again is nothing");
    let status = run(&desk, "status");
    let line = "vectors: 4 episodes, 0 without one yet\n";
    assert!(status.stdout.contains(line), "{}", status.shown());

    configure(
        &desk,
        &server.endpoint,
        json!({"endpoint": null}),
        Value::Null,
    );
    assert_eq!(sessions(&desk, "repair"), "");
    assert!(server.asked().is_empty());
}

#[test]
fn filters_and_scopes_hold_for_meanings_too() {
    let (desk, server) = asking(knows, Value::Null);
    put(&desk, "yard", "cccc", &["repair"]);
    put(&desk, "shop", "dddd", &["mend"]);
    run(&desk, "run");
    let all = |line: &str| {
        let mut all: Vec<String> = found(&desk, line).into_iter().map(|(s, _)| s).collect();
        all.sort();
        all.dedup();
        all.join(" ")
    };
    assert_eq!(all("repair"), "aaaa cccc dddd");
    assert_eq!(all("repair project:yard"), "cccc");
    assert_eq!(all("repair --session dddd"), "dddd");
    assert_eq!(all("repair until:2026-05-01"), "");
    assert_eq!(all("repair -- -mend"), "cccc");
    assert_eq!(all("repair source:session_summary -n 1").len(), 4);
    assert_eq!(all("repair activity:testing"), "");
    server.asked();
    assert_eq!(all("source:session"), "aaaa bbbb cccc dddd");
    let texts = sent(&server);
    assert_eq!(texts, [""; 0], "without words there is nothing to mean");
    let yard = desk.path("yard").display().to_string();
    let trusted = json!({"trusted_namespaces": [yard]});
    configure(&desk, &server.endpoint, Value::Null, trusted);
    assert_eq!(all("repair"), "cccc");
    let isolated = json!({"cross_project_search": false});
    configure(&desk, &server.endpoint, Value::Null, isolated);
    assert_eq!(all("repair"), "", "the home is no project");
}

#[test]
fn without_consent_no_connection_is_made_and_search_goes_by_words() {
    let (desk, server) = asking(knows, Value::Null);
    run(&desk, "run");
    run(&desk, &format!("consent revoke {}", server.endpoint));
    server.asked();
    let ran = desk.run("sessionmill run");
    let command = format!("sessionmill consent give {}", server.endpoint);
    assert_eq!(ran.exit, Exit::Usage);
    assert!(
        ran.stderr.contains(&format!("hint: {command}")),
        "{}",
        ran.shown()
    );
    let ran = run(&desk, "search mend");
    let warned = "warning: searched by words alone: nothing is sent to ";
    assert!(
        ran.stderr.contains(warned) && ran.stderr.contains(&command),
        "{}",
        ran.shown()
    );
    assert_eq!(sessions(&desk, "repair"), "");
    assert!(server.asked().is_empty());
}

#[test]
fn without_a_model_there_is_no_row_and_no_work() {
    let mut desk = desk();
    desk.now = Time::parse("2026-05-21T12:00:00Z").unwrap();
    put(&desk, "shop", "aaaa", &["mend"]);
    run(&desk, "run");
    assert_eq!(run(&desk, "plan --json").json()["embeddings"], Value::Null);
    assert_eq!(
        run(&desk, "status --json").json()["embeddings"],
        Value::Null
    );
    assert!(!run(&desk, "status").stdout.contains("vectors"));
    let store = store(&desk);
    assert_eq!(store.embedded(MADE_BY).unwrap().made, 0);
    assert_eq!(store.vector_length(MADE_BY).unwrap(), None);
    assert!(!store.dump().unwrap().contains("vector="));
    let answer = recall(&store, &RecallQuestion::new(parse("mend", 9), &Scope::All)).unwrap();
    assert_eq!((answer.compared, answer.hits.is_empty()), (0, false));
}

#[test]
fn only_one_models_vectors_are_compared_and_another_model_begins_anew() {
    let (desk, server) = asking(knows, Value::Null);
    run(&desk, "run");
    let compared = |model: &str, query: Query| {
        let meaning = Meaning {
            made_by: model.into(),
            vector: Vector::new(&numbers("repair")).unwrap(),
        };
        let question = RecallQuestion {
            meaning: Some(meaning),
            ..RecallQuestion::new(query, &Scope::All)
        };
        let answer = recall(&store(&desk), &question).unwrap();
        (answer.compared, answer.hits.len())
    };
    assert_eq!(compared(MADE_BY, parse("repair", 9)), (4, 2));
    assert_eq!(compared("other", parse("repair", 9)), (0, 0));
    let own = Query {
        agent: Some(Agent::new("codex")),
        ..parse("repair", 9)
    };
    assert_eq!(compared(MADE_BY, own), (0, 0), "filters come before");
    server.asked();
    configure(
        &desk,
        &server.endpoint,
        json!({"model": "other"}),
        Value::Null,
    );
    assert_eq!(sessions(&desk, "repair"), "");
    assert_eq!(run(&desk, "run --json").json()["texts_embedded"], 4);
    assert_eq!(sessions(&desk, "repair"), "aaaa");
    assert_eq!(embedded(&desk), (0, 4, 0));
}

#[test]
fn what_changes_is_embedded_anew_and_what_is_forgotten_has_no_vector() {
    let (mut desk, server) = asking(knows, Value::Null);
    run(&desk, "run");
    server.asked();
    put(&desk, "shop", "aaaa", &["mend", "sail"]);
    run(&desk, "run --steps ingest,report");
    assert_eq!(embedded(&desk), (3, 1, 0), "the chunk grew");
    desk.now = Time(desk.now.0 + 3_600_000);
    assert_eq!(run(&desk, "run --json").json()["texts_embedded"], 2);
    let texts = sent(&server);
    assert_eq!(texts.len(), 2, "the chunk and its page: {texts:?}");
    assert!(texts.iter().all(|text| text.contains("sail")), "{texts:?}");
    assert_eq!(sessions(&desk, "navigate"), "aaaa");
    run(&desk, "forget aaaa");
    assert_eq!(embedded(&desk), (2, 0, 0));
    assert_eq!(sessions(&desk, "navigate"), "");
    let kept = run(
        &desk,
        "promote --kind lesson --project shop --text \"never slumber\"",
    )
    .stdout;
    run(&desk, "run");
    assert_eq!(embedded(&desk), (3, 0, 0), "a memory is a text too");
    let id = kept
        .split_whitespace()
        .find(|word| word.len() >= 8 && word.contains('-'));
    let id = id
        .unwrap_or_else(|| panic!("{kept}"))
        .trim_end_matches(':')
        .to_owned();
    assert!(run(&desk, "search sleep").stdout.contains("memory"));
    run(&desk, &format!("memories undo {id}"));
    assert_eq!(embedded(&desk), (2, 0, 0));
}

#[test]
fn texts_of_projects_that_nobody_may_read_are_never_sent() {
    let (mut desk, server) = asking(knows, Value::Null);
    put(&desk, "inn", "cccc", &["sail"]);
    run(&desk, "run --steps ingest,report");
    let inn = desk.path("inn").display().to_string();
    desk.write(
        "shop/graphiti.config.json",
        &json!({"session_tracking": {"enabled": false}}).to_string(),
    );
    desk.write(
        ".codex/config.toml",
        &format!("[projects.\"{inn}\"]\ntrust_level = \"untrusted\"\n"),
    );
    let yard = json!({"excluded_paths": [desk.path("yard")]});
    configure(&desk, &server.endpoint, Value::Null, yard);
    assert_eq!(run(&desk, "run --json").json()["texts_embedded"], 0);
    configure(&desk, &server.endpoint, Value::Null, Value::Null);
    assert_eq!(run(&desk, "run --json").json()["texts_embedded"], 2);
    let texts = sent(&server);
    assert!(texts.iter().all(|text| text.contains("paint")), "{texts:?}");
    for (project, says) in [
        ("shop", "session_tracking.enabled is false"),
        ("inn", "the current project is untrusted"),
    ] {
        desk.cwd = Some(desk.path(project));
        std::fs::create_dir_all(desk.path(project)).unwrap();
        let ran = desk.run("sessionmill search colour");
        assert!(ran.stderr.contains(says), "{says}: {}", ran.shown());
    }
    assert!(server.asked().is_empty());
}

#[test]
fn what_is_sent_is_masked_and_short() {
    let (desk, server) = asking(knows, Value::Null);
    let secret = ["AKIA", "QYLPMN5HNM4T6ZQX"].concat();
    put(
        &desk,
        "shop",
        "cccc",
        &[&format!("{secret} {}", "owl ".repeat(9_000))],
    );
    run(&desk, "run");
    let texts = sent(&server);
    assert!(texts.len() > 50, "{}", texts.len());
    assert!(texts.iter().all(|text| text.chars().count() <= 600));
    let (made, waiting, _) = embedded(&desk);
    assert!(
        waiting == 0 && texts.len() as u64 > 3 * made,
        "each text has its passages"
    );
    let ran = desk.run(&format!(
        "sessionmill search repair {secret} tool:Bash since:2026-01-01 -- -paint"
    ));
    assert_eq!(ran.exit, Exit::Failed, "{}", ran.shown());
    let asked = sent(&server);
    assert!(
        asked[0].starts_with("repair ") && !asked[0].contains("tool:"),
        "{asked:?}"
    );
    assert!(!asked[0].contains("paint"), "{asked:?}");
    for text in texts.iter().chain(&asked) {
        assert!(!text.contains(&secret), "{text}");
    }
}

#[test]
fn a_run_sends_so_many_the_latest_first_and_the_next_goes_on() {
    let (desk, server) = asking(knows, json!({"batch": 2, "max_texts_per_run": 3}));
    let old = desk.path(".claude/projects/-w/aaaa.jsonl");
    let text = std::fs::read_to_string(&old).unwrap();
    std::fs::write(&old, text.replace("2026-05-20", "2026-05-19")).unwrap();
    let ran = run(&desk, "run");
    assert!(
        ran.stdout.contains("texts: 3 embedded, 1 wait"),
        "{}",
        ran.shown()
    );
    let asked = server.asked();
    assert_eq!(
        asked.iter().map(|a| inputs(a).len()).collect::<Vec<_>>(),
        [2, 1]
    );
    assert!(inputs(&asked[0]).iter().all(|text| text.contains("paint")));
    assert_eq!(run(&desk, "run --json").json()["texts_embedded"], 1);
    assert_eq!(embedded(&desk), (4, 0, 0));
}

#[test]
fn a_long_text_is_found_by_the_passage_that_means_it_and_prefixes_are_said() {
    let own =
        json!({"query_prefix": "query: ", "passage_prefix": "passage: ", "passage_chars": 100});
    let (desk, server) = asking(knows, own);
    let long = format!(
        "{} sail {}",
        "owl paint ".repeat(300),
        "owl paint ".repeat(300)
    );
    put(&desk, "shop", "cccc", &[&long]);
    run(&desk, "run");
    let texts = sent(&server);
    let is_passage = |text: &String| text.starts_with("passage: ") && text.chars().count() <= 109;
    assert!(
        texts.len() > 60 && texts.iter().all(is_passage),
        "{texts:?}"
    );
    let sails = texts.iter().filter(|text| text.contains("sail"));
    assert!(
        (1..=4).contains(&sails.count()),
        "borders stand in two passages"
    );
    assert_eq!(sessions(&desk, "navigate").split(' ').next(), Some("cccc"));
    assert_eq!(sent(&server), ["query: navigate"]);
    let made = store(&desk).embedded("m, 100 characters after \"passage: \"");
    let made = made.unwrap().made;

    configure(
        &desk,
        &server.endpoint,
        json!({"passage_chars": 200}),
        Value::Null,
    );
    assert_eq!(
        sessions(&desk, "navigate"),
        "",
        "vectors of other passages say nothing"
    );
    assert_eq!(run(&desk, "run --json").json()["texts_embedded"], made);
    assert!(
        sent(&server)
            .iter()
            .all(|text| !text.starts_with("passage: "))
    );
}

#[test]
fn recall_and_its_hooks_ask_nobody() {
    let (desk, server) = asking(knows, Value::Null);
    run(&desk, "run");
    server.asked();
    let shop = desk.path("shop").display().to_string();
    let given = run(
        &desk,
        &format!("recall --project {shop} could you repair it"),
    )
    .stdout;
    assert!(given.is_empty(), "{given}");
    assert!(server.asked().is_empty());
}
