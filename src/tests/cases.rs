//! Runs every case of `fixtures/cases` (its README says what a case is).
//!
//! Each is run three ways: at once; growing line by line with a run after each line, which must
//! come to the same (architecture § 4, 3); and once more at the end, which must do nothing
//! (architecture § 4, 4).

pub(super) mod database;
mod given;
mod wants;

use super::growth::model::{answered, origins};
use super::home::Home;
use crate::model::source::Agent;
use crate::store::Access;
use anyhow::{Context, Result, ensure};
use given::{Given, GivenFile};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use wants::{Came, Wants};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    why: String,
    agent: Agent,
    config: Option<serde_json::Value>,
    given: Given,
    wants: Wants,
}

#[test]
fn every_case_comes_out_as_wanted() {
    let failed = each(|_, case| {
        let files = case.given.files()?;
        let home = Home::new(case.config.as_ref())?;
        for file in &files {
            file.write(home.path(), file.content.len())?;
        }
        home.run()?;
        let mut found = case.wants.differences(&came(&home, &files)?);
        let before = home.store(Access::ReadOnly)?.dump()?;
        let again = home.run()?;
        if again.files_read > 0 || again.bytes_read > 0 {
            found.push(format!("a second run read {} bytes", again.bytes_read));
        }
        if before != home.store(Access::ReadOnly)?.dump()? {
            found.push("a second run changed the store".into());
        }
        Ok(found)
    });
    assert!(failed.is_empty(), "{}", report(&failed));
}

#[test]
fn a_case_that_grows_line_by_line_comes_to_the_same() {
    let failed = each(|_, case| {
        let files = case.given.files()?;
        let [file] = files.as_slice() else {
            return Ok(Vec::new());
        };
        if file.path.ends_with(".zst") {
            return Ok(Vec::new());
        }
        let (at_once, growing) = (
            Home::new(case.config.as_ref())?,
            Home::new(case.config.as_ref())?,
        );
        file.write(at_once.path(), file.content.len())?;
        at_once.run()?;
        for end in ends_of_lines(&file.content) {
            file.write(growing.path(), end)?;
            growing.run()?;
        }
        let found = case.wants.differences(&came(&growing, &files)?);
        let (one, other) = (came(&at_once, &files)?, came(&growing, &files)?);
        let mut found: Vec<String> = found.into_iter().map(|d| format!("growing: {d}")).collect();
        found.extend(unlike(&one.episodes, &other.episodes));
        found.extend(unlike(&one.sessions, &other.sessions));
        Ok(found)
    });
    assert!(failed.is_empty(), "{}", report(&failed));
}

/// Several logs, each met in a run of its own: what depends on the logs alone is as at once, also
/// after everything was told again.
#[test]
fn origins_and_calls_are_told_in_any_order_of_the_logs() {
    let mut told = 0;
    let failed = each(|_, case| {
        let mut files = case.given.files()?;
        if !(2..=4).contains(&files.len()) {
            return Ok(Vec::new());
        }
        let (mut found, mut first) = (Vec::new(), None);
        for nth in 0..2 * files.len() {
            files.rotate_left(1);
            if nth == files.len() {
                files.reverse();
            }
            let home = Home::new(case.config.as_ref())?;
            for file in &files {
                file.write(home.path(), file.content.len())?;
                home.run()?;
            }
            let came = (origins(&home)?, answered(&home)?);
            home.rebuild()?;
            let again = origins(&home)?;
            if again != came.0 {
                found.push(format!("told again: {again:?}, before {:?}", came.0));
            }
            told += came.0.values().flatten().count();
            match &first {
                None => first = Some(came),
                Some(first) if came != *first => found.push(format!("{came:?}, not {first:?}")),
                Some(_) => {}
            }
        }
        Ok(found)
    });
    assert!(failed.is_empty(), "{}", report(&failed));
    assert!(told > 0 || std::env::var_os("CASE").is_some());
}

/// The lines in which two values differ, when they do.
fn unlike(at_once: &impl Debug, growing: &impl Debug) -> Option<String> {
    let (at_once, growing) = (format!("{at_once:#?}"), format!("{growing:#?}"));
    let only = |one: &str, other: &str, sign: char| -> String {
        let lines = one.lines().filter(|line| !other.contains(line));
        lines.map(|line| format!("\n    {sign} {line}")).collect()
    };
    (at_once != growing).then(|| {
        let missing = only(&at_once, &growing, '-');
        let added = only(&growing, &at_once, '+');
        format!("growing is not as at once:{missing}{added}")
    })
}

/// Ends of lines, and the middle of each line: a run may come while a line is being written.
fn ends_of_lines(content: &[u8]) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut start = 0;
    for newline in memchr::memchr_iter(b'\n', content) {
        ends.extend([start + (newline - start) / 2, newline, newline + 1]);
        start = newline + 1;
    }
    ends.push(content.len());
    ends.dedup();
    ends
}

/// What the store has of the case.
fn came(home: &Home, files: &[GivenFile]) -> Result<Came> {
    let store = home.store(Access::ReadOnly)?;
    let mut sessions = BTreeMap::new();
    let mut episodes = Vec::new();
    for row in store.sessions(&Default::default())? {
        sessions.insert(row.session.id.clone(), (row.session, row.title));
    }
    for id in sessions.keys() {
        for found in store.episodes(id)? {
            episodes.push((id.clone(), found.episode));
        }
    }
    // both a plain file and its compressed copy count once: they are one log
    let plain = |file: &&GivenFile| {
        let twin = file.path.strip_suffix(".zst");
        !files.iter().any(|other| Some(other.path.as_str()) == twin)
    };
    Ok(Came {
        sessions,
        episodes,
        ledger: home.ledger()?,
        lines: files.iter().filter(plain).map(GivenFile::lines).sum(),
    })
}

/// Runs `check` over every case, or over those whose name contains `CASE`; gives the ones that
/// differ, with how.
fn each(mut check: impl FnMut(&str, &Case) -> Result<Vec<String>>) -> Vec<(String, Vec<String>)> {
    let only = std::env::var("CASE").unwrap_or_default();
    let mut failed = Vec::new();
    let mut ran = 0;
    for path in case_files() {
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if !name.contains(&only) {
            continue;
        }
        ran += 1;
        let result = read(&path).and_then(|case| check(&name, &case));
        let differences = result.unwrap_or_else(|error| vec![format!("{error:#}")]);
        if !differences.is_empty() {
            failed.push((name, differences));
        }
    }
    assert!(ran > 0, "no case is called {only:?}");
    failed
}

fn read(path: &Path) -> Result<Case> {
    let text = std::fs::read_to_string(path)?;
    serde_yaml::from_str(&text).with_context(|| path.display().to_string())
}

fn case_files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases");
    let entries = std::fs::read_dir(folder).expect("the cases are part of the repository");
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut cases: Vec<PathBuf> = paths
        .filter(|p| p.extension().is_some_and(|e| e == "yaml"))
        .collect();
    cases.sort();
    cases
}

fn report(failed: &[(String, Vec<String>)]) -> String {
    let mut all = format!("{} cases differ", failed.len());
    for (name, differences) in failed {
        all.push_str(&format!("\n\n{name}:\n  {}", differences.join("\n  ")));
    }
    all
}

#[test]
fn every_case_says_why_and_whose_log_it_is() -> Result<()> {
    for path in case_files() {
        let case = read(&path)?;
        ensure!(case.why.len() > 20, "{} doesn't say why", path.display());
        let place = database::folder(case.agent);
        let files = case.given.files()?;
        let there = files.iter().all(|file| file.path.starts_with(&place));
        ensure!(there, "{} has logs of another agent", path.display());
    }
    Ok(())
}
