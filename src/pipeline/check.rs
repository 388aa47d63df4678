//! `run --check`: a pipeline's examples, and the whole against a recorded result, in throw-away
//! stores. Of the user's, only the recorded result is written.

use super::admission::Admission;
use super::context::RunContext;
use super::options::{self, RunOptions};
use super::progress::{Progress, Silent};
use super::spec::{Example, Given, Pipeline, Wants, Window};
use crate::agents::registry;
use crate::config::{self, Env, Home, Loaded, gate};
use crate::memory::{classifiers, redaction_setup};
use crate::model::error::Error;
use crate::model::ledger::Fate;
use crate::pipeline::ingest_options::IngestOptions;
use crate::pipeline::steps::ingest::index;
use crate::store::{Access, SessionFilter, Store};
use anyhow::{Context, Result};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Writes an example's log below `home`.
///
/// # Errors
/// When its file can't be read, or the log not written.
fn lay_out(example: &Example, home: &Path) -> Result<()> {
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
fn example(wants: &Wants, setup: &IngestOptions<'_>, dir: &Path) -> Result<Vec<String>> {
    let mut store = Store::open(&dir.join("check.db"), Access::ReadWrite)?;
    index(&mut store, setup, &Silent)?;
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
fn whole(
    setup: &IngestOptions<'_>,
    dir: &Path,
    home: &Path,
    progress: &dyn Progress,
) -> Result<String> {
    let mut store = Store::open(&dir.join("check.db"), Access::ReadWrite)?;
    let report = index(&mut store, setup, progress)?;
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
fn difference(recorded: &str, found: &str) -> Option<String> {
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

/// A pipeline's result beside what was recorded.
pub struct Compared {
    /// The file of the recorded result.
    pub recorded: PathBuf,
    /// How they differ, for people; `None`: they don't.
    pub difference: Option<String>,
}

/// Runs one of a pipeline's examples; gives what is wrong with its outcome, one sentence each.
///
/// # Errors
/// When its file can't be read, or no store can be made.
pub fn run_example(
    test: &Example,
    pipeline: &Pipeline,
    cx: &RunContext<'_>,
) -> Result<Vec<String>> {
    let dir = tempfile::tempdir()?;
    lay_out(test, dir.path()).with_context(|| format!("test \"{}\"", test.name))?;
    let options = RunOptions {
        window: Window::All,
        ..RunOptions::new(pipeline, cx)
    };
    let loaded = defaults_at(dir.path())?;
    with_defaults(&loaded, &options, |ingest| {
        example(&test.wants, ingest, dir.path())
    })
}

/// Compares a pipeline's result with the recorded one, or records it. `None`: it compares nothing: it
/// names no corpus, nothing is recorded for it, and nothing is to be.
///
/// # Errors
/// When there is no corpus or no recorded result where there should be one, or a log can't be read.
pub fn compare(pipeline: &Pipeline, record: bool, cx: &RunContext<'_>) -> Result<Option<Compared>> {
    let recorded = recorded(pipeline, cx.home);
    if pipeline.check.home.is_none() && !record && !recorded.exists() {
        return Ok(None);
    }
    corpus(pipeline, cx)?;
    let before = match (record, fs::read_to_string(&recorded)) {
        (true, _) => String::new(),
        (false, Ok(text)) => text,
        (false, Err(error)) => {
            let message = format!("{}: {error}", recorded.display());
            let hint = format!("sessionmill run {} --check --record", pipeline.name);
            return Err(Error::usage(message).hinted(hint).into());
        }
    };
    let found = result(pipeline, cx)?;
    let difference = match record {
        true => write(&recorded, &found).map(|()| None)?,
        false => difference(&before, &found),
    };
    Ok(Some(Compared {
        recorded,
        difference,
    }))
}

/// Whether the result depends on the user's settings: the logs are those of the configured places.
pub fn goes_by_settings(pipeline: &Pipeline, record: bool, home: &Home) -> bool {
    pipeline.check.home.is_none() && (record || recorded(pipeline, home).exists())
}

fn recorded(pipeline: &Pipeline, home: &Home) -> PathBuf {
    let own = || home.dir.join(format!("recorded/{}.txt", pipeline.name));
    pipeline.check.recorded.clone().unwrap_or_else(own)
}

/// The folder that a pipeline's `check.home` names.
fn corpus(pipeline: &Pipeline, cx: &RunContext<'_>) -> Result<Option<PathBuf>, Error> {
    let home = pipeline.check.home.as_ref();
    let home = home.map(|home| cx.env.cwd.join(home));
    match home {
        Some(home) if !home.is_dir() => {
            let message = format!("there is no corpus at {}", home.display());
            let hint =
                "start in the project's folder, or copy the pipeline and name your own corpus";
            Err(Error::usage(message).hinted(hint))
        }
        home => Ok(home),
    }
}

/// The dump of a throw-away store that the pipeline filled.
fn result(pipeline: &Pipeline, cx: &RunContext<'_>) -> Result<String> {
    let dir = tempfile::tempdir()?;
    let options = RunOptions::new(pipeline, cx);
    if let Some(home) = corpus(pipeline, cx)? {
        let loaded = defaults_at(&home)?;
        return with_defaults(&loaded, &options, |ingest| {
            whole(ingest, dir.path(), &home, cx.progress)
        });
    }
    let gate = gate(&cx.loaded.config);
    if !gate.enabled {
        let message = format!("tracking is off: {}", gate.reason);
        return Err(Error::usage(message).hinted("sessionmill enable").into());
    }
    let config = &cx.loaded.config;
    let admission = Admission::new(cx.loaded, cx.env, options.window, options.now);
    let admit =
        |project: Option<&str>, cwd: Option<&str>, path: &str| admission.admit(project, cwd, path);
    let redaction = redaction_setup::reproducible(config, cx.home)?;
    let classifier = classifiers::counter(cx.home)?;
    let rules = options::rules(config, &options.host, redaction, classifier);
    let ingest = options::ingest(config, &options, rules, &admit);
    whole(&ingest, dir.path(), &cx.env.home, cx.progress)
}

/// Does it with every log admitted, and nothing of the user's own rules that isn't in that home.
///
/// # Errors
/// When a rule or a table is wrong, and what `act` says.
pub fn with_defaults<T>(
    loaded: &Loaded,
    options: &RunOptions,
    act: impl FnOnce(&IngestOptions<'_>) -> Result<T>,
) -> Result<T> {
    let redaction = redaction_setup::reproducible(&loaded.config, &loaded.home)?;
    let classifier = classifiers::counter(&loaded.home)?;
    let rules = options::rules(&loaded.config, &options.host, redaction, classifier);
    act(&options::ingest(
        &loaded.config,
        options,
        rules,
        &|_, _, _| Ok(None),
    ))
}

/// The default settings, with logs looked for in `home`: what lies in a corpus' own
/// `.graphiti/` is not asked.
pub fn defaults_at(home: &Path) -> Result<Loaded> {
    let env = Env {
        home: home.to_owned(),
        cwd: home.join("-"),
        vars: [(
            "SESSIONMILL_HOME".to_owned(),
            home.join("-").to_string_lossy().into_owned(),
        )]
        .into(),
    };
    Ok(config::load(&env, registry::log_folders)?)
}

fn write(recorded: &Path, text: &str) -> Result<()> {
    if let Some(dir) = recorded.parent() {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)?;
    }
    // What was said in a corpus is nobody else's business.
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let written = options
        .open(recorded)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    written.with_context(|| recorded.display().to_string())
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
