//! Runs at any times over growing files give the store of one run at the end (DESIGN § 4, 3), and a
//! run without news changes nothing (§ 4, 4).
//!
//! Real logs, cut at arbitrary bytes; no model: the cold run is the judge.

use super::home::Home;
use crate::store::Access;
use anyhow::Result;
use std::path::{Path, PathBuf};

/// Stores hold absolute paths; each home is elsewhere.
fn dump(home: &Home) -> String {
    let dump = home.store(Access::ReadOnly).unwrap().dump().unwrap();
    dump.replace(&*home.path().canonicalize().unwrap().to_string_lossy(), "~")
}

fn lines_with_differences(left: &str, right: &str) -> String {
    let differing = left.lines().zip(right.lines()).filter(|(a, b)| a != b);
    let shown = differing
        .take(6)
        .map(|(a, b)| format!("- {a:.900}\n+ {b:.900}\n"));
    let (l, r) = (left.lines().count(), right.lines().count());
    format!("{l} and {r} lines\n{}", shown.collect::<String>())
}

/// Feeds `text` in steps that end at `cuts`, with a run after each, and compares with one run.
fn check(below: &str, text: &[u8], cuts: &[usize]) -> Result<()> {
    let grown = Home::new(None)?;
    for cut in cuts {
        grown.put(below, &text[..*cut])?;
        grown.run()?;
    }
    grown.put(below, text)?;
    grown.run()?;
    let before = dump(&grown);
    let report = grown.run()?;
    assert_eq!(
        (report.bytes_read, report.files_read),
        (0, 0),
        "news without news"
    );
    assert_eq!(before, dump(&grown), "a run without news changed the store");
    let cold = Home::new(None)?;
    cold.put(below, text)?;
    cold.run()?;
    let cold = dump(&cold);
    assert!(
        before == cold,
        "{below} cut at {cuts:?}\n{}",
        lines_with_differences(&before, &cold)
    );
    Ok(())
}

/// Small steps of a linear congruential generator: the same cuts every time.
fn cuts(length: usize, count: usize, seed: u64) -> Vec<usize> {
    let mut state = seed;
    let mut cuts: Vec<usize> = (0..count)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % length.max(1)
        })
        .collect();
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

fn corpus() -> Option<PathBuf> {
    let path = std::env::var_os("CORPUS_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus"),
        PathBuf::from,
    );
    if !path.is_dir() {
        eprintln!("no corpus at {}: passed over", path.display());
        return None;
    }
    Some(path)
}

#[test]
fn a_log_that_grows_gives_the_store_of_a_cold_run() {
    let Some(corpus) = corpus() else { return };
    let home = corpus.join("home");
    let files = walkdir::WalkDir::new(&home).sort_by_file_name();
    let files = files
        .into_iter()
        .filter_map(Result::ok)
        .filter(|f| f.file_type().is_file());
    let mut checked = 0;
    for (n, file) in files.enumerate().filter(|(n, _)| n % 4 == 0) {
        let text = std::fs::read(file.path()).unwrap();
        if text.len() < 600_000 {
            let below = file.path().strip_prefix(&home).unwrap().to_string_lossy();
            check(&below, &text, &cuts(text.len(), 7, n as u64)).unwrap();
            checked += 1;
        }
    }
    assert!(checked > 10, "{checked} logs were checked");
}

#[test]
fn stored_versions_that_append_equal_a_cold_run_and_all_of_them_settle() {
    let Some(corpus) = corpus() else { return };
    let mut series = 0;
    for agent in ["claude", "codex"] {
        let steps = walkdir::WalkDir::new(corpus.join("growth").join(agent)).sort_by_file_name();
        let folders = steps
            .into_iter()
            .filter_map(Result::ok)
            .filter(|f| f.path().join("000.jsonl").is_file());
        for folder in folders {
            let below = match agent {
                "claude" => ".claude/projects/p/11111111-1111-4111-8111-111111111111.jsonl",
                _ => ".codex/sessions/2026/06/01/rollout-2026-06-01T00-00-00-x.jsonl",
            };
            grow(folder.path(), below).unwrap();
            series += 1;
        }
    }
    assert!(series >= 8, "{series} series");
}

/// Pure appends must equal a cold run; after any series, rewrites too, another run does nothing.
fn grow(folder: &Path, below: &str) -> Result<()> {
    let mut versions: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|f| f.map(|f| f.path()))
        .collect::<Result<_, _>>()?;
    versions.sort();
    let (grown, cold) = (Home::new(None)?, Home::new(None)?);
    let (mut last, mut appended) = (Vec::new(), true);
    for version in &versions {
        let text = std::fs::read(version)?;
        appended &= text.starts_with(&last);
        grown.put(below, &text)?;
        grown.run()?;
        last = text;
    }
    cold.put(below, &last)?;
    cold.run()?;
    let (left, right) = (dump(&grown), dump(&cold));
    if appended {
        assert!(
            left == right,
            "{}\n{}",
            folder.display(),
            lines_with_differences(&left, &right)
        );
    }
    let report = grown.run()?;
    assert_eq!(report.bytes_read, 0, "{}", folder.display());
    assert_eq!(left, dump(&grown));
    Ok(())
}
