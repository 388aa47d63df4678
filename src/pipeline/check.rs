//! `run --check`: a pipeline's examples, and the whole against a recorded result, in throw-away
//! stores. Touches nothing of the user's.

use super::progress::{Progress, Silent};
use super::run::{Setup, run};
use super::spec::{Example, Given, Wants};
use crate::agents::registry;
use crate::model::ledger::Fate;
use crate::store::{Access, SessionFilter, Store};
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// Writes an example's log below `home`.
///
/// # Errors
/// When its file can't be read, or the log not written.
pub fn lay_out(example: &Example, home: &Path) -> Result<()> {
    let known = registry::find(example.agent).context("an agent of the registry")?;
    let log = home.join(known.example_log());
    if let Some(dir) = log.parent() {
        fs::create_dir_all(dir)?;
    }
    match &example.given {
        Given::Lines(lines) => fs::write(&log, lines)?,
        Given::File(path) => {
            fs::copy(path, &log).with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}

/// What is wrong with an example's outcome, one sentence each; empty when it holds. `setup` looks
/// at the home that [`lay_out`] wrote to.
///
/// # Errors
/// When the store can't be made or read.
pub fn example(wants: &Wants, setup: &Setup<'_>, dir: &Path) -> Result<Vec<String>> {
    let mut store = Store::open(&dir.join("check.db"), Access::ReadWrite)?;
    run(&mut store, setup, &Silent)?;
    let status = store.status()?;
    let mut wrong = Vec::new();
    let mut compare = |what: &str, wants: Option<u64>, found: u64| {
        if let Some(wants) = wants.filter(|wants| *wants != found) {
            wrong.push(format!("{what}: wants {wants}, found {found}"));
        }
    };
    compare("sessions", wants.sessions, status.sessions.values().sum());
    compare("episodes", wants.episodes, status.sealed + status.open);
    for (fate, lines) in &wants.ledger {
        let what = format!("{} lines", Fate::as_str(*fate));
        compare(&what, Some(*lines), status.ledger.of(*fate));
    }
    let texts = texts(&store)?;
    let said = |words: &String| texts.iter().any(|text| text.contains(words.as_str()));
    wrong.extend(
        wants
            .contains
            .iter()
            .filter(|w| !said(w))
            .map(|w| format!("no episode contains {w:?}")),
    );
    wrong.extend(
        wants
            .lacks
            .iter()
            .filter(|w| said(w))
            .map(|w| format!("an episode contains {w:?}")),
    );
    Ok(wrong)
}

fn texts(store: &Store) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for row in store.sessions(&SessionFilter::default())? {
        let episodes = store.episodes(&row.session.id)?;
        texts.extend(episodes.into_iter().map(|found| found.episode.text));
    }
    Ok(texts)
}

/// Indexes everything that `setup` names into a store in `dir` and gives its dump, with `home`
/// written as `~`.
///
/// # Errors
/// When the store can't be made, or a log can't be read: a result without it means nothing.
pub fn whole(
    setup: &Setup<'_>,
    dir: &Path,
    home: &Path,
    progress: &dyn Progress,
) -> Result<String> {
    let mut store = Store::open(&dir.join("check.db"), Access::ReadWrite)?;
    let report = run(&mut store, setup, progress)?;
    if let Some(problem) = report.problems.first() {
        anyhow::bail!("{}: {}", problem.path, problem.reason);
    }
    let dump = store.dump()?;
    let real = home.canonicalize().unwrap_or_else(|_| home.to_owned());
    Ok(dump.replace(&*real.to_string_lossy(), "~"))
}

/// Lines shown of each side of a difference.
const SHOWN: usize = 12;

/// How `found` differs from `recorded`, for people; `None` when it doesn't.
pub fn difference(recorded: &str, found: &str) -> Option<String> {
    if recorded == found {
        return None;
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (recorded.lines().collect(), found.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - same;
    let (tail_a, tail_b) = (old.iter().rev(), new.iter().rev());
    let tail = tail_a
        .zip(tail_b)
        .take(rest)
        .take_while(|(a, b)| a == b)
        .count();
    let mut text = format!("they differ from line {} on:\n", same + 1);
    for (sign, lines) in [
        ('-', &old[same..old.len() - tail]),
        ('+', &new[same..new.len() - tail]),
    ] {
        for line in lines.iter().take(SHOWN) {
            text.push_str(&format!("{sign} {line}\n"));
        }
        if lines.len() > SHOWN {
            text.push_str(&format!(
                "{sign} … and {} more lines\n",
                lines.len() - SHOWN
            ));
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_shows_what_was_and_what_is() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(
            difference("a\nb\nc\nz\n", "a\nx\nz\n").unwrap(),
            "they differ from line 2 on:\n- b\n- c\n+ x\n"
        );
        assert_eq!(
            difference("", "a\n").unwrap(),
            "they differ from line 1 on:\n+ a\n"
        );
        assert_eq!(
            difference("a\na\n", "a\n").unwrap(),
            "they differ from line 2 on:\n- a\n"
        );
    }
}
