//! A language model in runs: which sessions it is asked about, what becomes of its answers, and of
//! sessions that get none. The model is a real server on loopback; the clock is the test's.

use super::forget::{desk, exchanges, holds};
use super::server::{Asked, Reply, Server};
use super::world::{Desk, Ran};
use crate::cli::Exit;
use crate::insight::summarise::tokens::tokens;
use crate::model::consent::endpoint_text;
use crate::model::time::Time;
use crate::store::{Access, Store};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// The model's words; no log has them.
const WORD: &str = "narwhal";

fn says(text: &str, input_tokens: u64) -> Reply {
    let body = json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": input_tokens, "completion_tokens": 50}});
    Reply::Says(200, "", body.to_string())
}

fn answer(objective: &str) -> Reply {
    let answer = json!({"objective": objective, "outcome": "completed"});
    says(&answer.to_string(), 1_000)
}

fn fine() -> Reply {
    answer("Teach the narwhal.")
}

/// Longer than a run waits.
fn busy() -> Reply {
    Reply::Says(429, "retry-after: 61\r\n", String::new())
}

/// One exchange for each word, in the project `shop` below the home.
fn put(desk: &Desk, session: &str, first: u32, words: &[&str]) {
    put_in(desk, "shop", session, first, words);
}

fn put_in(desk: &Desk, project: &str, session: &str, first: u32, words: &[&str]) {
    let text = exchanges(session, &desk.path(project), first, words);
    desk.write(&format!(".claude/projects/-w/{session}.jsonl"), &text);
}

/// `more` is merged into the settings: first the keys of `session_tracking`, then those of `llm`, then
/// others.
fn configure(desk: &Desk, server: &Server, more: [Value; 3]) {
    let mut settings = json!({
        "version": "2.0.0",
        "session_tracking": {"enabled": true, "auto_summarize": true},
        "llm": {"endpoint": server.endpoint, "model": "m", "timeout_s": 1},
    });
    let [tracking, llm, others] = more;
    let merge = |into: &mut Value, more: Value| {
        for (key, value) in more.as_object().into_iter().flatten() {
            into[key] = value.clone();
        }
    };
    merge(&mut settings["session_tracking"], tracking);
    merge(&mut settings["llm"], llm);
    merge(&mut settings, others);
    desk.write(".graphiti/graphiti.config.json", &settings.to_string());
}

fn agree(desk: &Desk, endpoint: &str) {
    let text = endpoint_text(&endpoint.parse().unwrap());
    let ran = desk.run(&format!(
        "sessionmill consent give {endpoint} --confirm \"{text}\""
    ));
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
}

/// A desk with a model that answers so and that was agreed to.
fn asking(replies: Vec<Reply>, more: [Value; 3]) -> (Desk, Server) {
    let (mut desk, server) = (desk(), Server::new(replies));
    desk.now = Time::parse("2026-05-21T12:00:00Z").unwrap(); // a day after the sessions
    configure(&desk, &server, more);
    agree(&desk, &server.endpoint);
    (desk, server)
}

const NOTHING: [Value; 3] = [Value::Null, Value::Null, Value::Null];

fn run(desk: &Desk, line: &str) -> Ran {
    let ran = desk.run(&format!("sessionmill {line}"));
    assert_eq!(ran.exit, Exit::Done, "{line}: {}", ran.shown());
    ran
}

fn later(desk: &mut Desk, seconds: i64) {
    desk.now = Time(desk.now.0 + seconds * 1_000);
}

fn telling(desk: &Desk, session: &str) -> Value {
    run(desk, &format!("show {session} --json")).json()["telling"].clone()
}

fn page(desk: &Desk) -> String {
    let store = Store::open(&desk.path(".graphiti/sessionmill.db"), Access::ReadOnly).unwrap();
    store.summary("aaaa").unwrap().unwrap().episode.text
}

fn question(asked: &Asked) -> String {
    let content = &asked.body["messages"][0]["content"];
    content.as_str().unwrap().to_owned()
}

fn store(desk: &Desk) -> Vec<u8> {
    fs::read(desk.path(".graphiti/sessionmill.db")).unwrap()
}

fn logged(desk: &Desk) -> String {
    let logs = fs::read_dir(desk.path(".graphiti/logs")).unwrap();
    logs.map(|log| fs::read_to_string(log.unwrap().path()).unwrap())
        .collect()
}

#[test]
fn a_model_is_asked_once_and_its_page_takes_the_place_of_the_facts() {
    let out = json!({"sinks": {"export": {"kind": "jsonl", "path": "~/out"}}});
    let (mut desk, server) = asking(vec![busy(), fine()], [Value::Null, Value::Null, out]);
    put(&desk, "aaaa", 1, &["mend"]);
    let ran = run(&desk, "run --json").json();
    assert_eq!(
        (&ran["summaries_told"], server.asked().len()),
        (&json!(0), 1)
    );
    assert_eq!(ran["sinks"][0]["delivered"], 2, "the chunk and the facts");
    assert!(page(&desk).contains("\nmend it") && !page(&desk).contains(WORD));

    later(&mut desk, 301);
    let ran = run(&desk, "run --json").json();
    assert_eq!(
        (&ran["summaries_told"], server.asked().len()),
        (&json!(1), 1)
    );
    assert_eq!(ran["sinks"][0]["delivered"], 1, "the page again: {ran}");
    assert!(page(&desk).contains(WORD), "{}", page(&desk));
    let before = store(&desk);
    run(&desk, "run");
    assert!(before == store(&desk) && server.asked().is_empty());
    run(&desk, "run --rebuild --all");
    assert!(server.asked().is_empty(), "it is the same session");
    assert!(page(&desk).contains(WORD), "{}", page(&desk));

    put(&desk, "aaaa", 1, &["mend", "paint"]);
    assert_eq!(run(&desk, "run --json").json()["summaries_told"], 1);
    let asked = server.asked();
    assert!(asked.len() == 1 && question(&asked[0]).contains("paint"));
}

#[test]
fn what_is_not_to_be_asked_for_is_not_told_either() {
    let answer = json!({"objective": "Teach the narwhal.", "outcome": "completed",
        "key_decisions": [{"decision": "Use krill", "rationale": "It is [cheap](javascript:alert(1))"}],
        "errors_resolved": [{"error": "A leak", "root_cause": "x", "fix": "y", "verification": "z"}]});
    for (include, told) in [(true, true), (false, false)] {
        let reply = says(&answer.to_string(), 1_000);
        let summarization = json!({"summarization": {"include_decisions": include,
            "include_errors_resolved": include, "extraction_threshold": 0.0}});
        let (desk, server) = asking(vec![reply], [summarization, Value::Null, Value::Null]);
        put(
            &desk,
            "aaaa",
            1,
            &["Let's use paint instead of ink because it is cheap, to mend"],
        );
        run(&desk, "run");
        let asked = server.asked();
        assert_eq!(question(&asked[0]).contains("key_decisions"), told);
        assert_eq!(question(&asked[0]).contains("D1 decision"), told);
        let shown = run(&desk, "show aaaa").stdout;
        for text in [page(&desk), shown] {
            assert!(text.contains("Teach the narwhal."), "{text}");
            for word in ["krill", "A leak", "Key Decisions"] {
                assert_eq!(text.contains(word), told, "{word}: {text}");
            }
            assert!(!text.contains(" [cheap](javascript"), "{text}");
        }
    }
}

#[test]
fn a_budget_that_allows_no_question_says_so() {
    let budget = json!({"max_tokens_per_run": 100});
    let (desk, server) = asking(vec![fine()], [Value::Null, budget, Value::Null]);
    put(&desk, "aaaa", 1, &["mend"]);
    let ran = run(&desk, "run");
    assert!(server.asked().is_empty());
    assert!(
        ran.stderr.contains("1 session can't be asked about"),
        "{}",
        ran.shown()
    );
    assert!(ran.stderr.contains("max_tokens_per_run"), "{}", ran.shown());
}

#[test]
fn without_consent_no_session_is_told() {
    let (desk, server) = (desk(), Server::new(vec![fine()]));
    configure(&desk, &server, NOTHING);
    put(&desk, "aaaa", 1, &["mend"]);
    assert_eq!(desk.run("sessionmill run").exit, Exit::Usage);
    assert!(server.asked().is_empty());
}

/// The model answers about everybody but `aaaa`.
fn picky(asked: &Asked) -> Reply {
    match question(asked).contains("mend") {
        true => busy(),
        false => fine(),
    }
}

#[test]
fn a_session_that_alone_gets_no_answer_is_asked_about_when_the_documents_say_and_given_up() {
    for (max_retries, delays) in [(5, &[300, 900, 2_700, 7_200, 21_600][..]), (1, &[300])] {
        let hook = Server::new(vec![Reply::Says(200, "", "ok".into())]);
        let resilience = json!({"resilience": {
            "retry_queue": {"max_retries": max_retries},
            "notifications": {"notification_method": "webhook", "webhook_url": hook.endpoint}}});
        let mut desk = desk();
        desk.now = Time::parse("2026-05-21T12:00:00Z").unwrap();
        let server = Server::answering(picky);
        configure(&desk, &server, [resilience, Value::Null, Value::Null]);
        agree(&desk, &server.endpoint);
        agree(&desk, &hook.endpoint);
        put(&desk, "aaaa", 1, &["mend"]);
        run(&desk, "run");
        assert_eq!(server.asked().len(), 1);
        // the next one comes while it waits
        put(&desk, "bbbb", 0, &["build"]);
        for (nth, delay) in delays.iter().enumerate() {
            assert_eq!(telling(&desk, "aaaa")["state"], "waiting");
            later(&mut desk, delay - 1);
            let said = desk.run("sessionmill plan --json").json();
            assert_eq!(said["summaries"]["sessions"], 0, "{said}");
            desk.run("sessionmill run");
            assert_eq!(server.asked().len(), 0, "too early");
            later(&mut desk, 1);
            desk.run("sessionmill run");
            let asked = 1 + usize::from(nth + 1 == delays.len());
            assert_eq!(server.asked().len(), asked, "after {delay}");
        }
        let given_up = telling(&desk, "aaaa");
        assert_eq!(given_up["state"], "refused");
        assert!(given_up["error"].as_str().unwrap().contains("429"));
        assert_eq!(telling(&desk, "bbbb")["state"], "told");
        assert!(page(&desk).contains("\nmend it"));
        assert!(logged(&desk).contains("model m: 1 session failed permanently"));
        let told = hook.asked();
        assert_eq!((told.len(), &told[0].body["sessions"]), (1, &json!(1)));
        assert!(!told[0].text.contains("mend"), "never content");
        later(&mut desk, 1_000_000);
        run(&desk, "run");
        assert!(server.asked().is_empty() && hook.asked().is_empty());
    }
}

#[test]
fn a_model_that_is_away_for_days_gives_no_session_up() {
    let (mut desk, server) = asking(vec![busy()], NOTHING);
    for (nth, session) in ["aaaa", "bbbb", "cccc"].into_iter().enumerate() {
        put(&desk, session, nth as u32, &["mend"]);
    }
    for _ in 0..30 {
        desk.run("sessionmill run");
        later(&mut desk, 3_600);
    }
    let asked = server.asked().len();
    assert!(asked < 25, "{asked} questions in thirty hours");
    for session in ["aaaa", "bbbb", "cccc"] {
        let state = telling(&desk, session)["state"].clone();
        assert_eq!(state, "waiting", "{session}");
    }
}

#[test]
fn a_run_may_go_without_a_model_or_fail_and_what_was_stored_stays() {
    let policy = |policy: &str| json!({"resilience": {"on_llm_unavailable": policy}});
    let (mut desk, server) = asking(
        vec![busy()],
        [policy("STORE_RAW"), Value::Null, Value::Null],
    );
    put(&desk, "aaaa", 1, &["mend"]);
    run(&desk, "run");
    assert_eq!(telling(&desk, "aaaa")["state"], "refused");
    later(&mut desk, 100_000);
    run(&desk, "run");
    assert_eq!(server.asked().len(), 1);
    let status = run(&desk, "status").stdout;
    assert!(
        status.contains("1 failed permanently (sessionmill run --ask-again)"),
        "{status}"
    );
    run(&desk, "run --ask-again");
    assert_eq!(server.asked().len(), 1, "once more");
    run(&desk, "run");
    assert_eq!(server.asked().len(), 0);

    let (desk, server) = asking(
        vec![says("nothing of use", 77), busy(), fine()],
        [policy("FAIL"), Value::Null, Value::Null],
    );
    put(&desk, "aaaa", 1, &["mend"]);
    let ran = desk.run("sessionmill run");
    assert_eq!(ran.exit, Exit::Failed, "{}", ran.shown());
    assert!(
        ran.stderr.contains("no language model answers"),
        "{}",
        ran.shown()
    );
    assert!(logged(&desk).contains("failed: no language model answers"));
    assert!(page(&desk).contains("\nmend it"));
    assert_eq!(server.asked().len(), 2);
    run(&desk, "run");
    assert!(server.asked().len() == 1 && page(&desk).contains(WORD));
}

#[test]
fn an_answer_of_no_use_leaves_the_facts_and_says_why() {
    let wrong = json!({"objective": "x", "outcome": "splendid"}).to_string();
    for useless in ["{\"objective\": \"Teach", "I'm sorry, I can't.", &wrong] {
        let (desk, server) = asking(vec![says(useless, 10)], NOTHING);
        put(&desk, "aaaa", 1, &["mend"]);
        run(&desk, "run");
        assert_eq!(server.asked().len(), 2, "one attempt to mend it");
        let shown = run(&desk, "show aaaa");
        assert!(
            shown
                .shown()
                .contains("facts only: the answer can't be used"),
            "{}",
            shown.shown()
        );
        assert!(shown.stdout.contains("\nmend it") && !shown.shown().contains("sorry"));
        run(&desk, "run");
        assert!(server.asked().is_empty(), "for good");
    }
}

#[test]
fn what_a_project_keeps_to_itself_is_never_sent_and_holds_nobody_up() {
    let queue = json!({"resilience": {"retry_queue": {"max_queue_size": 1}}});
    let (desk, server) = asking(vec![fine()], [queue, Value::Null, Value::Null]);
    let own = |project: &str, key: &str| {
        let settings = json!({"version": "2.0.0", "session_tracking": {key: false}});
        desk.write(
            &format!("{project}/graphiti.config.json"),
            &settings.to_string(),
        );
    };
    own("mute", "auto_summarize");
    put(&desk, "aaaa", 1, &["mend"]);
    for (first, (session, project)) in
        (10..)
            .step_by(10)
            .zip([("bbbb", "mute"), ("cccc", "off"), ("dddd", "bad")])
    {
        put_in(&desk, project, session, first, &["hide"]);
    }
    run(&desk, "run --steps ingest,report");
    own("off", "enabled");
    let bad = desk.path("bad").display().to_string();
    desk.write(
        ".codex/config.toml",
        &format!("[projects.\"{bad}\"]\ntrust_level = \"untrusted\"\n"),
    );
    run(&desk, "run");
    let asked = server.asked();
    assert_eq!(asked.len(), 1);
    assert!(question(&asked[0]).contains("mend") && !question(&asked[0]).contains("hide"));
}

#[test]
fn a_session_whose_texts_only_sinks_have_is_not_asked_about() {
    let others = json!({"sinks": {"export": {"kind": "jsonl", "path": "~/out"}},
        "upload": {"keep_local": false}});
    let (mut desk, server) = asking(vec![busy(), fine()], [Value::Null, Value::Null, others]);
    put(&desk, "aaaa", 1, &["mend"]);
    run(&desk, "run");
    assert_eq!(server.asked().len(), 1);
    later(&mut desk, 301);
    let ran = run(&desk, "run --json").json();
    assert_eq!(
        (server.asked().len(), &ran["sinks"][0]["delivered"]),
        (0, &json!(0))
    );
}

#[test]
fn budgets_of_a_run_and_of_a_day_bound_what_is_asked() {
    let dear = || {
        says(
            &json!({"objective": "x", "outcome": "completed"}).to_string(),
            99_900,
        )
    };
    for (key, [second, next_day]) in [
        ("max_tokens_per_run", [1, 0]),
        ("max_tokens_per_day", [0, 1]),
    ] {
        let budget = json!({key: 100_000});
        let (mut desk, server) = asking(vec![dear()], [Value::Null, budget, Value::Null]);
        put(&desk, "aaaa", 1, &["mend"]);
        put(&desk, "bbbb", 11, &["paint"]);
        let ran = run(&desk, "run");
        assert!(
            ran.stdout.contains("the budget is spent"),
            "{}",
            ran.shown()
        );
        assert_eq!(server.asked().len(), 1);
        run(&desk, "run");
        assert_eq!(server.asked().len(), second, "{key}");
        later(&mut desk, 86_400);
        run(&desk, "run");
        assert_eq!(server.asked().len(), next_day, "{key}");
    }
    let cents = json!({"max_usd_per_run": 0.0001});
    let (desk, server) = asking(vec![fine()], [Value::Null, cents, Value::Null]);
    put(&desk, "aaaa", 1, &["mend"]);
    let ran = run(&desk, "run");
    assert!(
        ran.stdout
            .contains("1 session left out, because one alone costs too much"),
        "{}",
        ran.shown()
    );
    assert_eq!(run(&desk, "plan --json").json()["summaries"]["sessions"], 0);
    assert!(server.asked().is_empty());
}

#[test]
fn plan_says_what_a_run_then_sends() {
    let (desk, server) = asking(vec![fine()], NOTHING);
    put(&desk, "aaaa", 1, &["mend"]);
    put(&desk, "bbbb", 11, &["paint", "sand"]);
    let agent = desk.path(".graphiti/graphiti.config.json");
    let on = fs::read_to_string(&agent).unwrap();
    fs::write(
        &agent,
        on.replace("\"auto_summarize\":true", "\"auto_summarize\":false"),
    )
    .unwrap();
    run(&desk, "run");
    fs::write(&agent, on).unwrap();
    let planned = run(&desk, "plan --json").json()["summaries"].clone();
    assert_eq!(planned["sessions"], 2);
    assert!(planned["usd"].as_f64().unwrap() > 0.0);
    run(&desk, "run");
    let sent: u64 = server
        .asked()
        .iter()
        .map(|asked| tokens(&question(asked)))
        .sum();
    let off = planned["input_tokens"].as_f64().unwrap() / sent as f64;
    assert!((0.85..1.15).contains(&off), "{off}");
}

#[test]
fn plan_says_what_unread_logs_may_come_to_before_anything_is_stored() {
    let (desk, server) = asking(vec![fine()], NOTHING);
    put(&desk, "aaaa", 1, &["mend"]);
    let planned = run(&desk, "plan").stdout;
    assert!(
        planned.contains("only the run knows: a language model, "),
        "{planned}"
    );
    assert!(!planned.contains("cost: $0"), "{planned}");
    assert!(run(&desk, "plan --json").json()["may_ask"].is_object());
    run(&desk, "run");
    assert_eq!(server.asked().len(), 1);
    // all is read: what would be asked is known
    let planned = run(&desk, "plan --json").json();
    assert_eq!(
        (&planned["may_ask"], &planned["summaries"]["sessions"]),
        (&Value::Null, &json!(0))
    );
}

#[test]
fn sessions_older_than_the_window_are_not_asked_about() {
    let window = json!({"keep_length_days": 1});
    let (desk, server) = asking(vec![fine()], [window, Value::Null, Value::Null]);
    put(&desk, "aaaa", 1, &["mend"]);
    run(&desk, "run");
    assert!(server.asked().is_empty());
    run(&desk, "run --all");
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn what_a_model_said_is_forgotten_with_the_session_and_masked_before_it_is_stored() {
    let key = format!("ghp_{}", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hL3nR6");
    let (desk, server) = asking(vec![answer(&format!("Teach the {WORD} {key}."))], NOTHING);
    put(&desk, "aaaa", 1, &["mend"]);
    run(&desk, "run");
    assert_eq!(server.asked().len(), 1);
    assert!(holds(&desk, WORD) && !holds(&desk, &key));
    assert!(page(&desk).contains(WORD));
    run(&desk, "forget aaaa");
    assert!(!holds(&desk, WORD));
    run(&desk, "run");
    assert!(server.asked().is_empty());
}

#[test]
fn pages_of_logs_that_grew_are_those_of_one_run_at_the_end() {
    let (cold, grown) = (Desk::enabled(), Desk::enabled());
    // a fork that is there before what it copies owns the copies
    let fork = ".claude/projects/-home-ada-shop-api/6b1f0a34-5c0e-4b57-9d3e-2f9a51c7e006.jsonl";
    for desk in [&cold, &grown] {
        fs::remove_file(desk.path(fork)).unwrap();
    }
    run(&cold, "backfill");
    let logs = walkdir::WalkDir::new(grown.path("")).sort_by_file_name();
    let logs = logs.into_iter().flatten().map(walkdir::DirEntry::into_path);
    let logs: Vec<PathBuf> = logs
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .collect();
    let whole: Vec<Vec<u8>> = logs.iter().map(|log| fs::read(log).unwrap()).collect();
    for part in [3, 2] {
        for (log, text) in logs.iter().zip(&whole) {
            fs::write(log, &text[..text.len() / part]).unwrap();
        }
        run(&grown, "backfill");
    }
    for (log, text) in logs.iter().zip(&whole) {
        fs::write(log, text).unwrap();
    }
    run(&grown, "backfill");
    let pages = |desk: &Desk| {
        let found = run(desk, "sessions --json --limit 1000").json();
        let ids = found["sessions"].as_array().unwrap().iter();
        let ids = ids.map(|session| session["id"].as_str().unwrap().to_owned());
        let store = Store::open(&desk.path(".graphiti/sessionmill.db"), Access::ReadOnly).unwrap();
        let home = desk.path("").display().to_string();
        let page = |id: String| {
            let found = store.summary(&id).unwrap();
            found.map(|found| found.episode.text.replace(&home, "~/"))
        };
        ids.map(|id| (id.clone(), page(id)))
            .collect::<BTreeMap<_, _>>()
    };
    let (cold, grown) = (pages(&cold), pages(&grown));
    assert!(
        cold.len() > 5 && cold.values().flatten().count() > 5,
        "{}",
        cold.len()
    );
    assert_eq!(cold, grown);
}
