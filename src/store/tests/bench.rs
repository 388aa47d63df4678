//! How fast and how large the store is with made-up text. Prints, and asserts nothing about time:
//! `cargo test --release store::tests::bench -- --ignored --nocapture`.

use super::*;
use crate::memory::query_terms::parse;
use crate::store::search::words::IndexText;
use std::io::Write;
use std::time::Instant;

/// Bytes of text, as a 500 MB corpus leaves them.
const TEXT_BYTES: usize = 24_000_000;

/// Bytes of text per episode and episodes per commit: one file's worth.
const EPISODE_BYTES: usize = 6_000;
const FILE_EPISODES: usize = 4;

/// The writer groups commits up to so many bytes.
const SLICE_BYTES: usize = 4 << 20;

#[test]
#[ignore = "a measurement"]
fn measure_the_store() {
    let text = made_up(TEXT_BYTES);
    let mb = text.len() as f64 / 1e6;
    let (index, ms) = timed(|| IndexText::of(&text));
    say("words", mb * 1e3 / ms, "MB/s");
    say("glued", index.glued.len() as f64 / 1e6, "MB");
    let commits = commits(&text);
    let (prepared, ms) =
        timed(|| -> Vec<Prepared> { commits.into_iter().map(Prepared::new).collect() });
    say("prepare, one thread", mb * 1e3 / ms, "MB/s");
    let mut world = World::new();
    let ((), commit_ms) = timed(|| write(&mut world.store, &prepared));
    say("commit", commit_ms, "ms");
    let ((), finish_ms) = timed(|| world.store.finish().unwrap());
    say("finish", finish_ms, "ms");
    say("writer", mb * 1e3 / (commit_ms + finish_ms), "MB/s");
    let bytes = world.store.bytes_on_disk() as f64 / 1e6;
    say("store", bytes, "MB");
    say("store ÷ text", bytes / mb, "");
    for (table, bytes) in sizes(&world.store) {
        say(&table, bytes as f64 / 1e6, "MB");
    }
    measure_again(&mut world, prepared.len());
}

/// What runs and questions after the first one take.
fn measure_again(world: &mut World, files: usize) {
    let path = world.store.path().to_path_buf();
    let (store, ms) = timed(|| Store::open(&path, Access::ReadWrite).unwrap());
    say("open", ms, "ms");
    let (known, ms) = timed(|| store.checkpoints().unwrap());
    assert_eq!(known.len(), files);
    say(&format!("checkpoints of {files} files"), ms, "ms");
    let (hits, ms) = timed(|| store.search(&parse("config parser", 10)).unwrap());
    say(&format!("search, {} hits", hits.len()), ms, "ms");
    let (_, ms) = timed(|| store.status().unwrap());
    say("status", ms, "ms");
    let one = Prepared::new(log("one-more", "/home/u/app", &["one more line"]));
    let ((), ms) = timed(|| {
        write(&mut world.store, std::slice::from_ref(&one));
        world.store.finish().unwrap();
    });
    say("one small commit and finish", ms, "ms");
    let (compacted, ms) = timed(|| world.store.compact().unwrap());
    say("compact", ms, "ms");
    say("store compacted", compacted.after as f64 / 1e6, "MB");
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let clock = Instant::now();
    let done = work();
    (done, clock.elapsed().as_secs_f64() * 1e3)
}

fn say(what: &str, value: f64, unit: &str) {
    writeln!(std::io::stderr(), "{what:<40} {value:>10.2} {unit}").unwrap();
}

/// As the writer thread does it.
fn write(store: &mut Store, prepared: &[Prepared]) {
    let mut from = 0;
    while from < prepared.len() {
        let (mut to, mut bytes) = (from, 0);
        while to < prepared.len() && bytes < SLICE_BYTES {
            bytes += prepared[to].bytes();
            to += 1;
        }
        store.commit(&prepared[from..to], Time(1), "g").unwrap();
        from = to;
    }
}

/// Words by Zipf's law over a vocabulary of made-up names, the same every time.
fn made_up(bytes: usize) -> String {
    let syllables = [
        "con", "fig", "par", "ser", "to", "ken", "re", "try", "in", "dex", "er", "ab",
    ];
    let mut state = 1u64;
    let mut random = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        state >> 33
    };
    let mut text = String::with_capacity(bytes + 64);
    while text.len() < bytes {
        let rank = (1u64 << (random() % 17)) + random() % (1 << (random() % 17));
        let mut n = rank;
        while n > 0 {
            text.push_str(syllables[(n % 12) as usize]);
            n /= 12;
        }
        text.push_str(match random() % 40 {
            0 => ".\n",
            1 => "_",
            2 => "/",
            3 => "(",
            _ => " ",
        });
    }
    text
}

fn commits(text: &str) -> Vec<FileCommit> {
    let mut texts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut end = EPISODE_BYTES.min(rest.len());
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        texts.push(&rest[..end]);
        rest = &rest[end..];
    }
    let logs = texts.chunks(FILE_EPISODES).enumerate();
    let with_ids = logs.map(|(i, texts)| {
        let mut commit = log(&format!("log-{i:06}"), "/home/u/app", texts);
        let base = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        commit.ids = (0..200).map(|n| base.wrapping_mul(n + 1)).collect();
        commit
    });
    with_ids.collect()
}

fn sizes(store: &Store) -> Vec<(String, i64)> {
    let mut select = store
        .db
        .prepare("SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT 9")
        .unwrap();
    let rows = select
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    rows.map(|row| row.unwrap()).collect()
}
