//! Web pages and costs, over the fixture sessions: what is written, and that nothing of it runs. How the
//! pages look and act is `make test-look`'s.

use super::world::Desk;
use crate::cli::Exit;
use serde_json::{Value, json};
use std::fs;

/// An assistant's line of a Claude log.
fn answered(at: u32, uuid: u32, id: &str, model: &str, usage: Value, text: &str) -> String {
    let line = json!({
        "parentUuid": null, "isSidechain": false, "cwd": "/home/ada/costs", "type": "assistant",
        "sessionId": "c0575000-0000-4000-8000-000000000000", "version": "2.0.0",
        "uuid": format!("c0575000-0000-4000-8000-{uuid:012}"), "requestId": id,
        "timestamp": format!("2026-05-31T23:{at:02}:00.000Z"),
        "message": {"id": id, "role": "assistant", "model": model, "usage": usage,
            "content": [{"type": "text", "text": text}]},
    });
    format!("{line}\n")
}

fn used(output: u64) -> Value {
    json!({"input_tokens": 1_000_000, "output_tokens": output, "cache_read_input_tokens": 1_000_000,
        "cache_creation_input_tokens": 2_000_000,
        "cache_creation": {"ephemeral_5m_input_tokens": 1_000_000, "ephemeral_1h_input_tokens": 1_000_000}})
}

fn priced(desk: &Desk) -> Value {
    desk.run("sessionmill stats --cost --project /home/ada/costs --json")
        .json()
}

const LOG: &str = ".claude/projects/-home-ada-costs/c0575000-0000-4000-8000-000000000000.jsonl";

/// A message over two lines counts once, with its last usage; a copy in a fork doesn't count; cache
/// writes have two prices; a model that nobody knows is named.
#[test]
fn costs_are_summed_by_day_and_model() {
    let desk = Desk::enabled();
    let opus = "claude-opus-4-5-20251101";
    let log = [
        answered(1, 1, "m1", opus, used(5), "I begin"),
        answered(1, 2, "m1", opus, used(1_000_000), "and go on"),
        answered(50, 3, "m2", "odd-model", used(7), "with another model"),
    ]
    .concat();
    desk.write(LOG, &log);
    let copy = log.replace("\"sessionId\":\"c0575000", "\"sessionId\":\"c0575001");
    assert_ne!(copy, log);
    desk.write(&LOG.replace("c0575000", "c0575001"), &copy);
    assert_eq!(desk.run("sessionmill backfill").exit, Exit::Done);
    let told = priced(&desk);
    // 5 + 25 + 0.5 + 6.25 + 10
    assert_eq!(told["total"]["usd"], 46.75, "{told:#}");
    assert_eq!(
        told["unpriced"],
        json!([{"model": "odd-model", "tokens": 4_000_007}])
    );
    assert_eq!(told["days"].as_array().map(Vec::len), Some(2));
    assert_eq!(told["days"][0]["day"], "2026-05-31");

    desk.write(
        ".graphiti/rules/prices.yaml",
        "- {names: [odd-model], input: 1, output: 0, cache_read: 0}\n",
    );
    let told = priced(&desk);
    assert_eq!(told["total"]["usd"], 49.75, "{told:#}");
    assert_eq!(told["unpriced"], json!([]));
    desk.write(
        ".graphiti/rules/prices.yaml",
        "- {names: [x], input: much}\n",
    );
    let ran = desk.run("sessionmill stats --cost");
    assert_eq!(ran.exit, Exit::Usage);
    assert!(ran.stderr.contains("prices.yaml:1"), "{}", ran.stderr);
}

/// The data of a report's page.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    let (data, _) = rest.split_once("</script>").unwrap();
    serde_json::from_str(data).unwrap()
}

#[test]
fn a_report_is_one_page_without_paths() {
    let desk = Desk::enabled();
    desk.run("sessionmill backfill");
    let ran = desk.run("sessionmill report --html report.html --sessions pages --json");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.stderr);
    let page = fs::read_to_string(desk.path("report.html")).unwrap();
    assert_eq!(ran.json()["html"]["bytes"], page.len());
    let data = data(&page);
    let sessions = data["sessions"].as_array().unwrap();
    assert!(sessions.len() > 3, "{}", sessions.len());
    assert!(!data["work"].as_array().unwrap().is_empty());
    assert!(!data["tools"].as_array().unwrap().is_empty());
    assert!(!data["decisions"].as_array().unwrap().is_empty());
    assert!(
        !data["projects"].to_string().contains('/'),
        "{}",
        data["projects"]
    );
    for session in sessions {
        let name = format!("pages/{}.html", session[1].as_str().unwrap());
        assert!(desk.path(&name).exists(), "{name}");
    }
    let own = desk.run("sessionmill report --html one.html --project shop-api");
    assert_eq!(own.exit, Exit::Done, "{}", own.stderr);
    let one = fs::read_to_string(desk.path("one.html")).unwrap();
    let (_, rest) = one.split_once("id=\"data\">").unwrap();
    assert!(rest.len() < page.len());
    assert_eq!(
        self::data(&one)["projects"].as_array().map(Vec::len),
        Some(1)
    );
}

#[test]
fn a_session_s_page_has_its_lines_and_no_script() {
    let desk = Desk::enabled();
    desk.run("sessionmill backfill");
    let id = "6b1f0a34-5c0e-4b57-9d3e-2f9a51c7e001";
    let ran = desk.run(&format!("sessionmill show {id} --html session.html"));
    assert_eq!(ran.exit, Exit::Done, "{}", ran.stderr);
    let page = fs::read_to_string(desk.path("session.html")).unwrap();
    assert!(page.contains("script-src 'none'") && !page.contains("<script"));
    assert!(
        page.contains("id=\"L1\"") || page.contains("id=\"L2\""),
        "{page}"
    );
    assert!(page.contains("<details class=\"calls\">"));
    let ran = desk.run("sessionmill show nothing-of-that --html x.html");
    assert_eq!(ran.exit, Exit::Failed);
    assert!(!desk.path("x.html").exists());
}

#[test]
fn a_recap_can_be_sent() {
    let desk = Desk::enabled();
    desk.run("sessionmill backfill");
    let markdown = desk.run("sessionmill recap --since 2026-03-01 --markdown");
    let piped = desk.run("sessionmill recap --since 2026-03-01");
    assert_eq!(markdown.stdout, piped.stdout);
    let ran = desk.run("sessionmill recap --since 2026-03-01 --html recap.html");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.stderr);
    let page = fs::read_to_string(desk.path("recap.html")).unwrap();
    assert!(
        page.contains("<h1>Recap: ") && page.contains("<h2>"),
        "{page}"
    );
    assert!(!page.contains("<script"));
    let ran = desk.run("sessionmill recap --html no/such/folder/recap.html");
    assert_eq!(ran.exit, Exit::Failed);
    assert!(ran.stderr.contains("no/such/folder"), "{}", ran.stderr);
}
