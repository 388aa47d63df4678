//! Runs at any times over growing files give the store of one run at the end (architecture § 4, 3), and a
//! run without news changes nothing (architecture § 4, 4).
//!
//! Real logs, cut at arbitrary bytes: the cold run is the judge. Scripts of everything that can
//! happen to logs between runs: [`model`] is the judge, each of its laws a function.
//!
//! A script that fails is made small and saved in `fixtures/growth`; whatever lies there is told
//! again by every `cargo test`. `GROWTH_CASES=10000` tells more new ones, `GROWTH_SEED=7` others.

mod disk;
pub(super) mod lines;
mod log;
pub(super) mod model;
mod script;

use super::home::Home;
use anyhow::{Context, Result};
use model::{differences, dump};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use script::{Class, Script};
use std::path::{Path, PathBuf};

/// Feeds `text` in steps that end at `cuts`, with a run after each, and compares with one run.
fn check(below: &str, text: &[u8], cuts: &[usize]) -> Result<()> {
    let grown = Home::new(None)?;
    for cut in cuts {
        grown.put(below, &text[..*cut])?;
        grown.run()?;
    }
    grown.put(below, text)?;
    grown.run()?;
    let before = dump(&grown)?;
    let report = grown.run()?;
    assert_eq!(
        (report.bytes_read, report.files_read),
        (0, 0),
        "news without news"
    );
    assert_eq!(
        before,
        dump(&grown)?,
        "a run without news changed the store"
    );
    let cold = Home::new(None)?;
    cold.put(below, text)?;
    cold.run()?;
    let cold = dump(&cold)?;
    assert!(
        before == cold,
        "{below} cut at {cuts:?}\n{}",
        differences(&before, &cold)
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
    let (left, right) = (dump(&grown)?, dump(&cold)?);
    if appended {
        assert!(
            left == right,
            "{}\n{}",
            folder.display(),
            differences(&left, &right)
        );
    }
    let report = grown.run()?;
    assert_eq!(report.bytes_read, 0, "{}", folder.display());
    assert_eq!(left, dump(&grown)?);
    Ok(())
}

/// A number that the environment may give.
fn given<N: std::str::FromStr>(name: &str) -> Option<N> {
    std::env::var(name).ok()?.parse().ok()
}

/// Tells scripts of steps up to `class`; the first one that breaks a law is made small, saved and
/// shown.
fn tell(class: Class, seed: u8) {
    let config = Config {
        cases: given("GROWTH_CASES").unwrap_or(150),
        max_shrink_iters: 2_000,
        failure_persistence: None,
        ..Config::default()
    };
    let seed = given("GROWTH_SEED").unwrap_or(seed);
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let outcome = TestRunner::new_with_rng(config, rng).run(&Script::any(class), |script| {
        model::check(&script).map_err(|broken| TestCaseError::fail(format!("{broken:#}")))
    });
    if let Err(TestError::Fail(why, script)) = outcome {
        let path = saved().join(format!("found-{class:?}.script").to_lowercase());
        std::fs::write(&path, script.to_string()).expect("the folder is part of the repository");
        panic!("{} breaks a law:\n{script}\n{why}", path.display());
    }
}

/// The folder with scripts that once failed.
fn saved() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/growth")
}

#[test]
fn logs_that_grow_and_move_give_the_store_of_a_cold_run() {
    tell(Class::Grows, 1);
}

#[test]
fn records_that_are_copied_to_other_logs_are_stored_once() {
    tell(Class::Copies, 2);
}

#[test]
fn whatever_happens_to_logs_what_a_run_saw_stays() {
    tell(Class::Rewrites, 3);
}

#[test]
fn scripts_that_once_failed_hold() -> Result<()> {
    for file in std::fs::read_dir(saved())? {
        let path = file?.path();
        let only = std::env::var("SCRIPT").unwrap_or_default();
        if path.extension().is_some_and(|e| e == "script") && path.to_string_lossy().contains(&only)
        {
            let script = Script::parse(&std::fs::read_to_string(&path)?);
            let told = script.and_then(|script| model::check(&script));
            told.with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}
