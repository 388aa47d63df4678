//! Long answers, read to their end by cursors.

use super::client::Client;
use super::home::Home;
use super::{SESSION, cursor};
use serde_json::{Value, json};

#[test]
fn cursors_read_a_session_to_its_end() {
    let home = Home::new(json!({}));
    let mut client = Client::new(&home, &[]);
    let shown = home.run(&format!("show {SESSION} --json"));
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    let episodes = shown["episodes"].as_array().unwrap();
    let wants: String = episodes
        .iter()
        .map(|e| e["text"].as_str().unwrap())
        .collect();
    let (mut told, mut pieces) = (String::new(), 0);
    let mut at = None;
    loop {
        let arguments = json!({"session": SESSION, "max_bytes": 600, "cursor": at});
        let text = client.call("get_session", arguments).unwrap();
        assert!(text.len() <= 600, "{}", text.len());
        let is_page = at
            .as_ref()
            .is_none_or(|at: &String| at.starts_with("summary"));
        at = cursor(&text);
        let (body, _) = text.rsplit_once("\nmore: cursor=").unwrap_or((&text, ""));
        if is_page {
            continue;
        }
        pieces += 1;
        for line in body
            .split_inclusive('\n')
            .filter(|line| !line.starts_with("--- "))
        {
            told.push_str(line);
        }
        if at.is_none() {
            break;
        }
    }
    let letters = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(letters(&told), letters(&wants));
    assert!(pieces > 1);
}

#[test]
fn lists_go_on_where_they_ended_and_end() {
    let home = Home::new(json!({}));
    let mut client = Client::new(&home, &[]);
    let (mut seen, mut at) = (Vec::new(), Value::Null);
    loop {
        let arguments = json!({"max_sessions": 3, "max_bytes": 512, "cursor": at});
        let text = client.call("search_sessions", arguments).unwrap();
        assert!(text.len() <= 512);
        let places = text.lines().filter(|line| line.starts_with("[namespace"));
        let ids = places.filter_map(|line| line.split_once(" session "));
        seen.extend(ids.map(|(_, rest)| rest.split(',').next().unwrap().to_owned()));
        match cursor(&text) {
            Some(next) => at = json!(next),
            None => break,
        }
    }
    let all = home.run("sessions --json -n 0");
    let all: Value = serde_json::from_slice(&all.stdout).unwrap();
    let ids = all["sessions"].as_array().unwrap().iter();
    let ids: Vec<String> = ids.map(|s| s["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(seen, ids);
}
