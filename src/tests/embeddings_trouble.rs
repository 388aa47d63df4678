//! A model of vectors that hangs, lies, refuses or goes away: what was answered is kept, the rest waits,
//! and no run and no search fails.

use super::embeddings::{agree, asking, configure, embedded, knows, numbers, put, run, says};
use super::server::{Asked, Reply, Server, agreed};
use super::world::Desk;
use crate::cli::Exit;
use crate::model::consent::{Endpoint, Permit};
use crate::model::embedding::Vector;
use crate::model::llm::Unanswered;
use crate::model::time::Time;
use crate::net::embeddings::Embedder;
use crate::net::http::{Http, HttpOptions};
use serde_json::{Value, json};

/// The first request is answered, then this happens; then all is well.
fn after_one(trouble: Reply) -> (Desk, Server) {
    let mut nth = 0;
    let reply = move |asked: &Asked| {
        nth += 1;
        match nth {
            2 => trouble.clone(),
            _ => knows(asked),
        }
    };
    asking(reply, json!({"batch": 1, "timeout_s": 60}))
}

#[test]
fn a_server_in_trouble_keeps_nothing_up_and_the_next_run_goes_on() {
    let busy = "retry-after: 61\r\n";
    let short = json!({"data": [{"embedding": [1.0]}]});
    for (trouble, says) in [
        (Reply::Says(401, "", "{}".into()), "answers 401"),
        (
            Reply::Says(307, "location: http://127.0.0.1:1/\r\n", String::new()),
            "answers 307",
        ),
        (Reply::Says(429, busy, String::new()), "answers 429"),
        (Reply::Says(500, busy, String::new()), "answers 500"),
        (self::says(short), "another length"),
    ] {
        let (desk, server) = after_one(trouble);
        let ran = desk.run("sessionmill run");
        let is_lasting = !says.contains("429") && !says.contains("500");
        let exit = if is_lasting {
            Exit::Partial
        } else {
            Exit::Done
        };
        assert_eq!(ran.exit, exit, "{says}: {}", ran.shown());
        assert!(ran.stderr.contains(says), "{says}: {}", ran.shown());
        assert!(
            ran.stderr.contains("3 texts without a vector"),
            "{}",
            ran.shown()
        );
        assert_eq!(
            (embedded(&desk), server.asked().len()),
            ((1, 3, 0), 2),
            "{says}"
        );
        assert_eq!(
            run(&desk, "run --json").json()["texts_embedded"],
            3,
            "{says}"
        );
    }
}

#[test]
fn an_answer_that_is_none_costs_its_text_an_attempt_and_no_other() {
    let entry = json!({"embedding": numbers("mend")});
    let huge = format!("{{\"data\": [{}\"\"]}}", "\"\",".repeat(3 << 20));
    for trouble in [
        Reply::Says(400, "", String::new()),
        Reply::Says(413, "", String::new()),
        says(json!({"data": []})),
        says(json!({"data": [entry, entry]})),
        says(json!({"data": [{"embedding": numbers("mend"), "index": 1}]})),
        says(json!({"data": [{"embedding": [1.0, null, 0.0, 0.0, 0.0]}]})),
        says(json!({"data": [{"embedding": [0.0, 0.0, 0.0, 0.0, 0.0]}]})),
        says(json!({"data": [{"embedding": "AAAA"}]})),
        says(json!({"error": "private words"})),
        Reply::Says(200, "", "{\"data\": [{\"embedding\": [NaN]}]}".into()),
        Reply::Says(200, "", huge),
    ] {
        let (mut desk, server) = after_one(trouble.clone());
        let ran = run(&desk, "run");
        assert!(
            ran.stdout.contains("3 embedded, 1 refused"),
            "{}",
            ran.shown()
        );
        assert!(!ran.shown().contains("private"), "{}", ran.shown());
        assert_eq!((embedded(&desk), server.asked().len()), ((3, 1, 0), 4));
        run(&desk, "run");
        assert!(server.asked().is_empty(), "not at once");
        desk.now = Time(desk.now.0 + 301_000);
        assert_eq!(run(&desk, "run --json").json()["texts_embedded"], 1);
        assert_eq!(embedded(&desk), (4, 0, 0));
    }
}

#[test]
fn a_text_that_is_refused_again_and_again_is_given_up_and_counted() {
    let refuses = |asked: &Asked| match asked.text.contains("paint") {
        true => Reply::Says(400, "", String::new()),
        false => knows(asked),
    };
    let (mut desk, server) = asking(refuses, Value::Null);
    let ran = run(&desk, "run");
    assert!(
        ran.stdout.contains("texts: 2 embedded, 2 refused"),
        "{}",
        ran.shown()
    );
    let mut runs = 1;
    while embedded(&desk).2 < 2 {
        desk.now = Time(desk.now.0 + 30_000_000);
        run(&desk, "run");
        runs += 1;
    }
    assert_eq!((embedded(&desk), runs), ((2, 0, 2), 6));
    let shown = run(&desk, "status").stdout;
    let line = "vectors: 2 episodes, 0 without one yet, 2 failed permanently (sessionmill run --ask-again)";
    assert!(shown.contains(line), "{shown}");
    server.asked();
    desk.now = Time(desk.now.0 + 30_000_000);
    run(&desk, "run");
    assert!(server.asked().is_empty());
    run(&desk, "run --ask-again");
    assert!(!server.asked().is_empty());
    assert_eq!(embedded(&desk), (2, 2, 0));
}

#[test]
fn a_server_that_refuses_everything_is_left_after_a_few_requests() {
    let (desk, server) = asking(|_| Reply::Says(400, "", String::new()), Value::Null);
    for n in 0..10 {
        put(&desk, "shop", &format!("ab{n:02}"), &["mend"]);
    }
    let ran = run(&desk, "run");
    assert!(ran.stderr.contains("answers 400"), "{}", ran.shown());
    let asked = server.asked().len();
    assert!(asked <= 9, "{asked} requests");
    assert_eq!(embedded(&desk), (0, 24, 0));
}

#[test]
fn a_search_is_answered_whatever_the_server_does() {
    let (desk, server) = asking(knows, Value::Null);
    run(&desk, "run");
    let mend = |reply: Reply, says: &str, requests: usize| {
        let other = Server::new(vec![reply]);
        configure(&desk, &other.endpoint, Value::Null, Value::Null);
        agree(&desk, &other.endpoint);
        let ran = run(&desk, "search mend");
        assert!(ran.stdout.contains("mend it"), "{}", ran.shown());
        let warned = "warning: searched by words alone: ";
        assert!(
            ran.stderr.contains(warned) && ran.stderr.contains(says),
            "{}",
            ran.shown()
        );
        assert_eq!(other.asked().len(), requests, "{says}");
    };
    mend(Reply::Hangs, "no answer in time", 1);
    mend(
        Reply::Says(429, "retry-after: 1\r\n", String::new()),
        "answers 429",
        1,
    );
    mend(Reply::Says(500, "", String::new()), "answers 500", 1);
    mend(Reply::Cut("{".into()), "the answer ends early", 1);
    mend(says(json!({"data": []})), "the wrong number of vectors", 1);
    mend(
        says(json!({"data": [{"embedding": [1.0]}]})),
        "another length",
        1,
    );
    let key = json!({"key_env": "NO_SUCH_KEY"});
    configure(&desk, &server.endpoint, key, Value::Null);
    let ran = run(&desk, "search mend");
    assert!(
        ran.stderr.contains("NO_SUCH_KEY is not set"),
        "{}",
        ran.shown()
    );
    configure(&desk, "http://127.0.0.1:1", Value::Null, Value::Null);
    agree(&desk, "http://127.0.0.1:1");
    assert!(
        run(&desk, "search mend")
            .stderr
            .contains("connection refused")
    );
}

/// Answers nothing in time with more than so many texts, or with one that says this.
fn slow(most: usize, stuck: &'static str) -> impl FnMut(&Asked) -> Reply + Send {
    move |asked: &Asked| {
        let texts = asked.body["input"].as_array().map_or(0, Vec::len);
        match texts > most || asked.text.contains(stuck) {
            true => Reply::Hangs,
            false => knows(asked),
        }
    }
}

fn sizes(server: &Server) -> Vec<usize> {
    let size = |asked: &Asked| asked.body["input"].as_array().map_or(0, Vec::len);
    server.asked().iter().map(size).collect()
}

#[test]
fn a_slow_server_gets_requests_that_it_can_answer_in_time() {
    let (desk, server) = asking(slow(3, "nothing"), json!({"batch": 8}));
    for n in 0..4 {
        put(&desk, "shop", &format!("ab{n:02}"), &["mend"]);
    }
    let ran = run(&desk, "run");
    assert!(
        ran.stdout.contains("texts: 12 embedded, 0 wait"),
        "{}",
        ran.shown()
    );
    assert_eq!(
        sizes(&server),
        [8, 4, 2, 2, 2, 2, 2, 2],
        "and no later one is too large"
    );
    assert_eq!(embedded(&desk), (12, 0, 0));
}

#[test]
fn a_text_that_takes_too_long_alone_is_given_up_by_name_and_the_others_have_theirs() {
    let (mut desk, server) = asking(slow(9, "paint it"), json!({"batch": 4}));
    let ran = run(&desk, "run");
    assert!(
        ran.stdout.contains("texts: 2 embedded, 2 refused"),
        "{}",
        ran.shown()
    );
    assert!(sizes(&server).len() <= 6);
    let mut runs = 1;
    while embedded(&desk).2 == 0 {
        put(&desk, "shop", &format!("ab{runs:02}"), &["mend"]);
        desk.now = Time(desk.now.0 + 30_000_000);
        let ran = run(&desk, "run");
        runs += 1;
        let is_named = ran.stderr.contains("no vector for episode ")
            && ran.stderr.contains("of session bbbb: http://127.0.0.1:")
            && ran
                .stderr
                .contains("no answer in time; failed permanently (sessionmill run --ask-again)");
        assert_eq!(is_named, embedded(&desk).2 == 2, "{}", ran.shown());
    }
    assert_eq!((embedded(&desk).2, runs), (2, 6));
}

#[test]
fn a_server_that_hangs_is_left_after_a_few_requests_and_no_text_is_given_up_for_it() {
    let (mut desk, server) = asking(slow(0, "nothing"), json!({"batch": 4}));
    put(&desk, "shop", "cccc", &["mend"]);
    for _ in 0..8 {
        let ran = desk.run("sessionmill run");
        assert!(ran.stderr.contains("no answer in time"), "{}", ran.shown());
        assert!(sizes(&server).len() <= 5);
        desk.now = Time(desk.now.0 + 90_000_000);
    }
    assert_eq!(embedded(&desk), (0, 6, 0));
}

#[test]
fn a_server_that_dies_keeps_what_it_answered_before() {
    let mut left = 2;
    let dies = move |asked: &Asked| match left {
        0 => Reply::Cut("{".into()),
        _ => {
            left -= 1;
            knows(asked)
        }
    };
    let (desk, _server) = asking(dies, json!({"batch": 1, "timeout_s": 60}));
    let ran = desk.run("sessionmill run");
    assert!(
        ran.stderr
            .contains("the answer ends early; 2 texts without a vector"),
        "{}",
        ran.shown()
    );
    assert_eq!(embedded(&desk), (2, 2, 0));
}

/// Asks once, with waits that are only counted.
fn ask(endpoint: &str, texts: &[&str]) -> Result<Vec<Vector>, Unanswered> {
    let endpoint: Endpoint = endpoint.parse().unwrap();
    let permit = Permit::of(&endpoint, &[agreed(&endpoint)]).unwrap();
    let options = HttpOptions {
        timeout_ms: 100,
        ..HttpOptions::default()
    };
    let embedder = Embedder {
        http: Http::with_sleep(&options, Box::new(|_| {})).unwrap(),
        model: "m".into(),
        key: Some("k".into()),
    };
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    embedder.vectors(&permit, &texts)
}

#[test]
fn a_server_that_goes_away_is_tried_a_few_times_and_one_that_hangs_once() {
    for (reply, requests) in [
        (Reply::Cut("{".into()), 4),
        (Reply::Hangs, 1),
        (Reply::Dribbles(50), 1),
    ] {
        let server = Server::new(vec![reply]);
        let told = ask(&server.endpoint, &["mend"]);
        assert!(
            matches!(told, Err(Unanswered::Unavailable { .. })),
            "{told:?}"
        );
        assert_eq!(server.asked().len(), requests);
    }
    let told = ask("http://127.0.0.1:1", &["mend"]);
    assert!(
        matches!(told, Err(Unanswered::Unavailable { .. })),
        "{told:?}"
    );
    let server = Server::answering(knows);
    let told = ask(&server.endpoint, &["mend", "paint"]).unwrap();
    let wants = ["mend", "paint"].map(|word| Vector::new(&numbers(word)).unwrap());
    assert_eq!(told, wants);
    let asked = server.asked();
    assert!(
        asked[0]
            .headers
            .contains(&"authorization: bearer k".to_owned())
    );
}
