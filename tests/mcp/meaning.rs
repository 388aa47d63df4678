//! Search by meaning, as agents meet it: words that no session has, and a model that knows what they
//! mean.

use super::client::Client;
use super::home::Home;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// A model for which all that speaks of owls, and `strix`, means the same.
fn model() -> (String, Receiver<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let (counted, texts) = channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let (mut line, mut bytes) = (String::new(), 0);
            while stream.read_line(&mut line).unwrap() > 2 {
                if let Some(length) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    bytes = length.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; bytes];
            stream.read_exact(&mut body).unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap();
            let inputs = body["input"].as_array().unwrap();
            let data = inputs.iter().map(|text| {
                let text = text.as_str().unwrap().to_lowercase();
                let owls = text.contains("owl") || text.contains("strix");
                json!({"embedding": if owls { [1, 0] } else { [0, 1] }})
            });
            let answer = json!({"data": data.collect::<Vec<_>>()}).to_string();
            let length = answer.len();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n");
            let answer = format!("{head}connection: close\r\n\r\n{answer}");
            if counted.send(inputs.len()).is_err() {
                return;
            }
            let _ = stream.get_mut().write_all(answer.as_bytes());
        }
    });
    (endpoint, texts)
}

#[test]
fn agents_find_what_means_the_same_and_lose_nothing_without_a_model() {
    let (endpoint, texts) = model();
    let home = Home::new(json!({}));
    let project = home.root().to_str().unwrap().to_owned();
    let mut client = Client::new(&home, &[]);
    let owls = json!({"name": "Birds", "episode_body": "Owls hoot at night.", "project": project});
    client.call("add_memory", owls).unwrap();
    let ask = |client: &mut Client, tool: &str, query: &str| {
        client.call(tool, json!({"query": query})).unwrap()
    };
    assert_eq!(
        ask(&mut client, "search_memory_nodes", "strix"),
        "nothing found\n"
    );

    let settings = json!({"session_tracking": {"enabled": true, "keep_length_days": null},
        "embeddings": {"endpoint": endpoint, "model": "m"}});
    home.write(".graphiti/graphiti.config.json", &settings.to_string());
    let words = format!("I understand this sends what my session logs say to {endpoint}");
    let said = home
        .command(&format!("consent give {endpoint}"))
        .args(["--confirm", &words])
        .output()
        .unwrap();
    assert_eq!(
        said.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&said.stderr)
    );
    assert_eq!(home.run("run --quiet").status.code(), Some(0));
    assert!(texts.try_iter().sum::<usize>() > 1);
    let found = ask(&mut client, "search_memory_nodes", "strix");
    assert!(found.contains("Owls hoot at night."), "{found}");
    assert_eq!(found.matches("[namespace: ").count(), 1, "{found}");
    assert_eq!(texts.try_iter().count(), 1);
    client
        .call("recall", json!({"question": "strix?", "project": project}))
        .unwrap();
    client.call("recent", json!({})).unwrap();
    assert_eq!(texts.try_iter().count(), 0);

    home.run(&format!("consent revoke {endpoint}"));
    assert_eq!(
        ask(&mut client, "search_memory_nodes", "strix"),
        "nothing found\n"
    );
    assert!(ask(&mut client, "search_sessions", "redis").contains("[namespace: "));
    assert_eq!(texts.try_iter().count(), 0);
    let said = String::from_utf8_lossy(&client.leave().stderr).into_owned();
    let warning = format!(
        "warning: searched by words alone: nothing is sent to {endpoint} without your consent"
    );
    assert_eq!(said.matches(&warning).count(), 2, "{said}");
}
