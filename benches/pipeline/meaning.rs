//! Search over the store of the talks, by words and by meaning: each episode gets a vector from a
//! server here on loopback, then somebody asks in words that nobody wrote.

use crate::server::{Asked, Reply, Server};
use crate::table::{Figure, judged, told};
use crate::{Scale, child, measure};
use serde_json::{Value, json};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Numbers of a vector: what most models give.
const LENGTH: usize = 768;

/// Of a passage: a text of the talks has five.
const PASSAGE_CHARS: u32 = 800;

/// Passages that got a vector.
static PASSAGES: AtomicUsize = AtomicUsize::new(0);

/// Asks for what one episode says, in none of its words.
const ASKED: &str = "nocturnal bird";

/// What that episode says and no other.
const MEANT: [&str; 2] = ["barn owl", ASKED];

/// What a search takes by words alone, then with vectors for every stored episode.
pub fn measure(scale: &Scale, home: &Path, figures: &mut Vec<Figure>) -> io::Result<()> {
    let (name, words) = search(scale, home, "search by words", MEANT[0])?;
    figures.push(told(&name, measure::milliseconds(&words)));
    let server = Server::answering(answer);
    let endpoint = server.endpoint.as_str();
    let settings = json!({
        "version": "2.0.0",
        "session_tracking": {"enabled": true},
        "embeddings": {
            "endpoint": endpoint, "model": "m", "batch": 256, "passage_chars": PASSAGE_CHARS,
            "max_texts_per_run": 10 * scale.episodes,
        },
    });
    let file = home.join(".graphiti/graphiti.config.json");
    std::fs::write(file, settings.to_string())?;
    let words = format!("I understand this sends what my session logs say to {endpoint}");
    child::run(home, &["consent", "give", endpoint, "--confirm", &words])?;
    let run = child::run(home, &["run", "--all", "--json"])?;
    let report: Value = serde_json::from_str(&run.stdout)?;
    let texts = report["texts_embedded"].as_u64().unwrap_or(0);
    assert!(texts >= scale.episodes as u64, "{texts} texts");
    let vectors = PASSAGES.load(Relaxed);
    let name = format!("search by words and {vectors} vectors of {LENGTH}");
    let (name, median) = search(scale, home, &name, ASKED)?;
    let is_in_time = median.wall.as_millis() < 40;
    let took = measure::milliseconds(&median);
    figures.push(judged(&name, took, "≤ 40 ms", is_in_time));
    Ok(())
}

/// The name of the figure, and the median of the runs.
fn search(scale: &Scale, home: &Path, name: &str, words: &str) -> io::Result<(String, child::Run)> {
    let ask = |_| child::run(home, &["search", words, "--json"]);
    let mut runs = (0..scale.idle).map(ask).collect::<io::Result<Vec<_>>>()?;
    let found: Value = serde_json::from_str(&runs[0].stdout)?;
    let session = found["hits"][0]["session"].as_str().unwrap_or_default();
    assert!(session.starts_with("5e550003"), "{name}: {found}");
    runs.sort_by_key(|run| run.wall);
    let middle = runs.len() / 2;
    Ok((name.to_owned(), runs.swap_remove(middle)))
}

/// One vector for each text: thrown by its words, and turned aside where it says what is meant.
fn answer(asked: &Asked) -> Reply {
    let texts = asked.body["input"].as_array().into_iter().flatten();
    let vectors = texts.map(|text| {
        PASSAGES.fetch_add(1, Relaxed);
        let text = text.as_str().unwrap_or_default();
        json!({"embedding": vector(text)})
    });
    let body = json!({"data": vectors.collect::<Vec<_>>()});
    Reply::Says(200, "", body.to_string())
}

fn vector(text: &str) -> Vec<i64> {
    let mut dice = text.bytes().fold(7u64, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(u64::from(byte))
    });
    let mut throw = |_| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (dice >> 60) as i64 - 8
    };
    let mut numbers: Vec<i64> = (0..LENGTH).map(&mut throw).collect();
    if MEANT.iter().any(|meant| text.contains(meant)) {
        numbers[0] = 1_000;
    }
    numbers
}
