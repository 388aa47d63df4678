//! Every file of the corpus, and monsters made on the fly, read whole: no panic, every line
//! accounted for, and nothing left to do for a second run.
//!
//! The lines are counted here, by newlines alone; the ledger has to come to the same.

use super::home::Home;
use crate::model::ledger::Fate;
use crate::store::Access;
use anyhow::Result;
use std::path::{Path, PathBuf};

#[test]
fn every_line_of_the_corpus_has_a_fate() -> Result<()> {
    let Some(corpus) = corpus() else {
        return Ok(());
    };
    for folder in ["home", "odd", "growth"] {
        let mut logs = Vec::new();
        logs_below(&corpus.join(folder), &mut logs)?;
        for log in logs {
            let below = place(log.strip_prefix(&corpus)?);
            let lines = lines_of(&log)?;
            let home = Home::new(None)?;
            home.put(&below, &std::fs::read(&log)?)?;
            reads_whole(&home, lines).map_err(|e| e.context(log.display().to_string()))?;
        }
    }
    Ok(())
}

#[test]
fn all_of_the_corpus_at_once() -> Result<()> {
    let Some(corpus) = corpus() else {
        return Ok(());
    };
    let mut logs = Vec::new();
    logs_below(&corpus.join("home"), &mut logs)?;
    let (home, mut lines) = (Home::new(None)?, 0);
    for log in &logs {
        let below = log.strip_prefix(corpus.join("home"))?;
        home.put(&below.to_string_lossy(), &std::fs::read(log)?)?;
        lines += lines_of(log)?;
    }
    reads_whole(&home, lines)?;
    let ledger = home.ledger()?;
    assert!(
        ledger.of(Fate::Copied) > 0,
        "the slices of `home` share records on purpose"
    );
    assert_eq!(
        ledger.of(Fate::Unknown),
        0,
        "{:?}",
        ledger.lines.get(&Fate::Unknown)
    );
    Ok(())
}

#[test]
fn what_real_logs_say_is_hardly_ever_taken_for_an_order() -> Result<()> {
    let Some(corpus) = corpus() else {
        return Ok(());
    };
    let mut logs = Vec::new();
    logs_below(&corpus.join("home"), &mut logs)?;
    let home = Home::new(None)?;
    for log in &logs {
        let below = log.strip_prefix(corpus.join("home"))?;
        home.put(&below.to_string_lossy(), &std::fs::read(log)?)?;
    }
    home.run()?;
    let said = bodies(&home)?;
    let facts = said.lines().filter(|line| line.len() > 20);
    let (mut all, mut marked) = (0, Vec::new());
    for fact in facts {
        all += 1;
        if matches!(
            crate::rules::orders::without(fact),
            std::borrow::Cow::Owned(_)
        ) {
            marked.push(fact.chars().take(200).collect::<String>());
        }
    }
    println!("{} of {all} marked\n{}", marked.len(), marked.join("\n"));
    assert!(all > 10_000, "{all} facts");
    assert!(marked.len() * 100 <= all, "{} of {all}", marked.len());
    Ok(())
}

#[test]
fn monsters() -> Result<()> {
    let mega = |text: &str, times: usize| text.repeat(times);
    let monsters: [(&str, String); 9] = [
        (
            "a line of 64 MiB",
            result(&format!(
                "{{\"stdout\":\"{}\"}}",
                mega("x\\n\\\"é", 9 << 20)
            )),
        ),
        (
            "64 MiB of small values",
            result(&format!("[{}1]", mega("{\"a\":[1]},", 6 << 20))),
        ),
        ("64 MiB of one number", result(&mega("7", 64 << 20))),
        ("20 MiB of blanks", format!("{}\n", mega(" ", 20 << 20))),
        ("20 MiB of NULs", format!("{}\n", mega("\0", 20 << 20))),
        (
            "2,000 deep",
            result(&format!("{}{}", mega("[", 2_000), mega("]", 2_000))),
        ),
        ("a million deep, cut off", result(&mega("{\"a\":", 1 << 20))),
        (
            "20 MiB of backslashes",
            format!("{{\"a\":\"{}\n", mega("\\", 20 << 20)),
        ),
        (
            "a prompt of 20 MiB",
            prompt(2, &mega("wide words ", 2 << 20)),
        ),
    ];
    for (name, monster) in monsters {
        let text = format!("{}{monster}{}", prompt(1, "before"), prompt(3, "after"));
        let home = Home::new(None)?;
        home.put(LOG, text.as_bytes())?;
        reads_whole(&home, 3).map_err(|e| e.context(name))?;
        let all = bodies(&home)?;
        assert!(
            all.contains("User: before") && all.contains("User: after"),
            "{name}: neighbours lost"
        );
    }
    Ok(())
}

#[test]
fn a_short_log_torn_at_every_byte() -> Result<()> {
    let text = format!("{}{}", prompt(1, "first é"), prompt(2, "second"));
    let home = Home::new(None)?;
    for end in 0..text.len() {
        let torn = format!(
            "{}{}",
            String::from_utf8_lossy(&text.as_bytes()[..end]),
            format_args!("\n{}", prompt(3, "third"))
        );
        home.put(LOG, torn.as_bytes())?;
        home.run()?;
        let lines = torn.bytes().filter(|b| *b == b'\n').count() as u64;
        assert_eq!(home.ledger()?.total(), lines, "torn at byte {end}");
        assert!(bodies(&home)?.contains("User: third"), "torn at byte {end}");
    }
    Ok(())
}

const LOG: &str = ".claude/projects/-home-ada-shop/11111111-1111-4111-8111-111111111111.jsonl";

/// A user record.
fn prompt(nth: u32, words: &str) -> String {
    record(
        nth,
        &format!("{{\"role\":\"user\",\"content\":\"{words}\"}}}}"),
    )
}

/// A user record with a structured result.
fn result(structured: &str) -> String {
    record(
        2,
        &format!("{{\"role\":\"user\",\"content\":\"words\"}},\"toolUseResult\":{structured}}}"),
    )
}

fn record(nth: u32, rest: &str) -> String {
    format!(
        "{{\"type\":\"user\",\"uuid\":\"00000000-0000-4000-8000-00000000000{nth}\",\"timestamp\":\
         \"2026-03-02T10:00:0{nth}.000Z\",\"sessionId\":\"11111111-1111-4111-8111-111111111111\",\
         \"cwd\":\"/home/ada/shop\",\"message\":{rest}\n"
    )
}

/// One run accounts for `lines` lines; a second one reads nothing and changes nothing.
fn reads_whole(home: &Home, lines: u64) -> Result<()> {
    let report = home.run()?;
    anyhow::ensure!(report.problems.is_empty(), "{:?}", report.problems);
    let ledger = home.ledger()?;
    anyhow::ensure!(
        ledger.total() == lines,
        "{lines} lines, {} with a fate: {ledger:?}",
        ledger.total()
    );
    let before = home.store(Access::ReadOnly)?.dump()?;
    let again = home.run()?;
    anyhow::ensure!(
        again.bytes_read == 0,
        "a second run read {} bytes",
        again.bytes_read
    );
    anyhow::ensure!(
        before == home.store(Access::ReadOnly)?.dump()?,
        "a second run changed the store"
    );
    Ok(())
}

/// The bodies of all episodes, one after the other.
fn bodies(home: &Home) -> Result<String> {
    let store = home.store(Access::ReadOnly)?;
    let mut all = String::new();
    for row in store.sessions(&Default::default())? {
        for found in store.episodes(&row.session.id)? {
            all.push_str(&found.episode.text);
            all.push('\n');
        }
    }
    Ok(all)
}

/// Where a log of the corpus would lie in a home.
fn place(below: &Path) -> String {
    let path = below.to_string_lossy();
    let name = below.file_name().unwrap_or_default().to_string_lossy();
    match path.split_once("home/") {
        Some((_, rest)) if rest.starts_with('.') => rest.to_owned(),
        _ if path.contains("codex") && !name.starts_with("rollout-") => {
            format!(".codex/sessions/rollout-2026-03-02T10-00-00-{name}")
        }
        _ if name.starts_with("rollout-") => format!(".codex/sessions/{name}"),
        _ => format!(".claude/projects/-corpus/{name}"),
    }
}

/// Newlines, and what stands behind the last one.
fn lines_of(log: &Path) -> Result<u64> {
    let mut content = std::fs::read(log)?;
    if log.extension().is_some_and(|e| e == "zst") {
        content = zstd::decode_all(content.as_slice())?;
    }
    let cut = !content.is_empty() && !content.ends_with(b"\n");
    Ok(memchr::memchr_iter(b'\n', &content).count() as u64 + u64::from(cut))
}

pub(super) fn logs_below(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            logs_below(&path, found)?;
        } else if path.extension().is_some_and(|e| e == "jsonl" || e == "zst") {
            found.push(path);
        }
    }
    found.sort();
    Ok(())
}

pub(super) fn corpus() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    let corpus = std::env::var_os("CORPUS_DIR").map_or_else(beside, PathBuf::from);
    if !corpus.is_dir() {
        eprintln!("{} is absent: passed over", corpus.display());
        return None;
    }
    Some(corpus)
}
