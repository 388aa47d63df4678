//! How well the rules judge: labelled truth in, figures out. Reads the truth and the logs that it
//! names; writes nothing.

pub mod recall;

use super::parsed_log::ParsedLog;
use crate::host::files::source_file;
use crate::insight::facts::{LocatedItem, facts};
use crate::insight::outcome::{SessionItem, outcome};
use crate::model::activity::{
    Activity, ActivityTally, ActivityVector, Dimension, MIN_STRENGTH, MIXED,
};
use crate::model::classification::Classification;
use crate::model::exchange::Item;
use crate::model::finding::{Finding, file_key};
use crate::model::policy::FilterPolicy;
use crate::model::source::Agent;
use crate::model::summary::SessionOutcome;
use crate::rules::classify::Classifier;
use crate::rules::commands;
use crate::rules::secrets::Redactor;
use crate::rules::tools::{self, AnswerKind};
use crate::rules::words::{content_words, is_same, tokens};
use crate::stages::filter::{FilterState, filter};
use crate::stages::score::{score, signals};
use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use uuid::Uuid;

/// One figure.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// What is measured.
    pub name: String,
    /// Labelled examples.
    pub of: u64,
    /// Examples that equal their label.
    pub strict: u64,
    /// Examples that equal their label or a listed alternative.
    pub lenient: u64,
    /// What the lenient share must reach, or must not pass where `at_most` is set.
    pub bar: Option<f64>,
    /// The bar is an upper one.
    pub at_most: bool,
    /// Examples that miss, as `what: wanted, found`.
    pub misses: Vec<String>,
    /// A mean over the examples, where it is none of shares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
}

impl Figure {
    fn new(name: &str, bar: Option<f64>) -> Figure {
        Figure {
            name: name.to_owned(),
            of: 0,
            strict: 0,
            lenient: 0,
            bar,
            at_most: false,
            misses: Vec::new(),
            mean: None,
        }
    }

    fn at_most(name: &str, bar: f64) -> Figure {
        Figure {
            at_most: true,
            ..Figure::new(name, Some(bar))
        }
    }

    /// The share of examples that hold, lenient; 1 where there are none.
    pub fn share(&self) -> f64 {
        match self.of {
            0 => 1.0,
            of => self.lenient as f64 / of as f64,
        }
    }

    /// Whether the bar is reached; `None` where there is none.
    pub fn holds(&self) -> Option<bool> {
        let bar = self.bar?;
        Some(match self.at_most {
            true => self.share() <= bar,
            false => self.share() >= bar,
        })
    }

    fn count(&mut self, id: &str, found: &str, label: &Label<'_>) {
        self.of += 1;
        self.strict += u64::from(found == label.best);
        let fine = found == label.best || label.also.iter().any(|also| also == found);
        self.lenient += u64::from(fine);
        if !fine {
            let wanted = std::iter::once(label.best).chain(label.also.iter().map(String::as_str));
            let wanted: Vec<&str> = wanted.collect();
            self.misses
                .push(format!("{id}: {} not {found}", wanted.join("|")));
        }
    }

    /// Counts what should happen.
    fn hit(&mut self, id: &str, happened: bool) {
        self.of += 1;
        self.strict += u64::from(happened);
        self.lenient += u64::from(happened);
        if !happened {
            self.misses.push(id.to_owned());
        }
    }

    /// Counts what must not happen often.
    fn note(&mut self, id: &str, happened: bool) {
        self.of += 1;
        self.strict += u64::from(happened);
        self.lenient += u64::from(happened);
        if happened {
            self.misses.push(id.to_owned());
        }
    }
}

struct Label<'a> {
    best: &'a str,
    also: &'a [String],
}

impl Label<'_> {
    fn of(best: &str) -> Label<'_> {
        Label { best, also: &[] }
    }
}

/// A row of `commands.jsonl` or `tools.jsonl`.
#[derive(Deserialize)]
struct Call {
    #[serde(alias = "tool", alias = "command")]
    name: String,
    intent: String,
    intent_ok: Vec<String>,
    domain: String,
    domain_ok: Vec<String>,
    activity: Vec<String>,
}

/// A row of `sessions.jsonl`.
#[derive(Deserialize)]
struct Labelled {
    id: String,
    path: String,
    tool: Agent,
    primary: String,
    primary_ok: Vec<String>,
    strong: Vec<String>,
    absent: Vec<String>,
    outcome: String,
    outcome_ok: Vec<String>,
    #[serde(default)]
    objective: String,
    files_modified: usize,
    tests: LabelledTests,
}

#[derive(Deserialize)]
struct LabelledTests {
    /// `None`: not visible.
    last: Option<String>,
}

/// What is measured, by the files of labelled examples.
pub const PARTS: [&str; 5] = ["commands", "tools", "sessions", "sessions_short", "recall"];

/// The figures of the rules: of those `parts` whose file is in `truth`; sessions' logs are below
/// `corpus`.
///
/// # Errors
/// When a file can't be read or isn't what its name says.
pub fn figures(
    truth: &Path,
    corpus: &Path,
    parts: &[String],
    classifier: &Classifier,
) -> Result<Vec<Figure>> {
    let mut all = Vec::new();
    if let Some(rows) = rows::<Call>(truth, "commands", parts)? {
        all.extend(calls("commands", &rows, 0.92, |name| {
            commands::classify(name).classification
        }));
    }
    if let Some(rows) = rows::<Call>(truth, "tools", parts)? {
        all.extend(calls("tools", &rows, 0.92, |name| {
            classifier.tool(name, &Value::Null)
        }));
    }
    for (name, has_bars) in [("sessions", true), ("sessions_short", false)] {
        if let Some(rows) = rows::<Labelled>(truth, name, parts)? {
            let mut figures = sessions(name, &rows, corpus, classifier)?;
            if !has_bars {
                figures.iter_mut().for_each(|figure| figure.bar = None);
            }
            all.extend(figures);
        }
    }
    Ok(all)
}

/// The examples of a part; `None`: there is no file, or nobody wants it.
fn rows<T: for<'a> Deserialize<'a>>(
    truth: &Path,
    part: &str,
    parts: &[String],
) -> Result<Option<Vec<T>>> {
    if !parts.iter().any(|wanted| wanted == part) {
        return Ok(None);
    }
    let path = &truth.join(format!("{part}.jsonl"));
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| path.display().to_string()),
    };
    let rows = (1..).zip(text.lines()).map(|(number, line)| {
        serde_json::from_str(line).with_context(|| format!("{}:{number}", path.display()))
    });
    rows.collect::<Result<Vec<T>>>().map(Some)
}

fn calls(
    what: &str,
    rows: &[Call],
    bar: f64,
    classify: impl Fn(&str) -> Classification,
) -> Vec<Figure> {
    let mut intent = Figure::new(&format!("{what}: intent"), Some(bar));
    let mut domain = Figure::new(&format!("{what}: domain"), Some(0.90));
    let mut unknown = Figure::at_most(&format!("{what}: unknown"), 0.08);
    let mut activity = Figure::new(&format!("{what}: strongest dimension"), None);
    for row in rows {
        let found = classify(&row.name);
        let id = row.name.chars().take(200).collect::<String>();
        let label = Label {
            best: &row.intent,
            also: &row.intent_ok,
        };
        let said = if found.is_unknown() {
            "unknown"
        } else {
            found.intent.as_str()
        };
        intent.count(&id, said, &label);
        let label = Label {
            best: &row.domain,
            also: &row.domain_ok,
        };
        domain.count(&id, found.domain.as_str(), &label);
        unknown.note(&id, found.is_unknown());
        let vector = ActivityVector::from_signals(&found.signals);
        let strongest = vector.primary().map_or("", |d| d.as_str());
        let (best, also) = match row.activity.split_first() {
            Some((best, also)) => (best.as_str(), also),
            None => ("", [].as_slice()),
        };
        activity.count(&id, strongest, &Label { best, also });
    }
    vec![intent, domain, unknown, activity]
}

fn sessions(
    what: &str,
    rows: &[Labelled],
    corpus: &Path,
    classifier: &Classifier,
) -> Result<Vec<Figure>> {
    let mut two = Figure::new(
        &format!("{what}: primary among our two strongest"),
        Some(0.85),
    );
    let mut primary = Figure::new(&format!("{what}: our primary"), Some(0.70));
    let mut broad = Figure::at_most(&format!("{what}: six or more dominant"), 0.05);
    let mut strong = Figure::new(&format!("{what}: strong ones dominant"), None);
    let mut absent = Figure::new(&format!("{what}: absent ones not dominant"), None);
    let mut ends = Ends::new(what);
    for row in rows {
        let read = read(&corpus.join(&row.path), row.tool, classifier)?;
        ends.count(row, &read.items);
        let counted = read.tally;
        let activity = Activity::of(signals(&counted, classifier), MIN_STRENGTH);
        let vector = activity.vector;
        // too weak to have a primary dimension is too weak to have dominant ones
        let dominant: Vec<&str> = match activity.primary {
            Some(_) => vector
                .dominant()
                .into_iter()
                .map(Dimension::as_str)
                .collect(),
            None => Vec::new(),
        };
        let first = dominant.first().copied().unwrap_or(MIXED);
        let id = format!("{} {}", row.id, vector.profile());
        let label = Label {
            best: &row.primary,
            also: &row.primary_ok,
        };
        primary.count(&id, first, &label);
        let right =
            |name: &&&str| **name == row.primary || row.primary_ok.iter().any(|ok| ok == **name);
        let found = dominant
            .iter()
            .take(2)
            .find(right)
            .copied()
            .unwrap_or(first);
        two.count(&id, found, &label);
        broad.note(&id, dominant.len() >= 6);
        for name in &row.strong {
            strong.note(&id, dominant.contains(&name.as_str()));
        }
        for name in &row.absent {
            absent.note(&id, !dominant.contains(&name.as_str()));
        }
    }
    let mut all = vec![two, primary, broad, strong, absent];
    all.extend([ends.outcome, ends.files, ends.tests, ends.objective]);
    Ok(all)
}

/// How well the facts of sessions are told.
struct Ends {
    outcome: Figure,
    files: Figure,
    tests: Figure,
    /// Words of the labels' objectives that ours have.
    objective: Figure,
}

impl Ends {
    fn new(what: &str) -> Ends {
        Ends {
            outcome: Figure::new(&format!("{what}: outcome"), Some(0.80)),
            files: Figure::new(&format!("{what}: files modified"), Some(0.95)),
            tests: Figure::new(&format!("{what}: last test result"), Some(0.95)),
            objective: Figure::new(&format!("{what}: words of the objective"), None),
        }
    }

    fn count(&mut self, row: &Labelled, items: &[Item]) {
        let findings = |item: &'_ Item| {
            let tool = item.tool.as_ref();
            tool.map(|tool| tool.findings.clone()).unwrap_or_default()
        };
        let findings: Vec<Vec<Finding>> = items.iter().map(findings).collect();
        let session = items
            .iter()
            .zip(&findings)
            .map(|(item, findings)| SessionItem {
                kind: item.kind,
                text: &item.text,
                findings,
            });
        self.count_objective(row, session.clone());
        let found = outcome(session.rev()).map_or("none", SessionOutcome::as_str);
        let label = Label {
            best: &row.outcome,
            also: &row.outcome_ok,
        };
        self.outcome.count(&row.id, found, &label);
        let mut files = BTreeSet::new();
        let mut last = None;
        for (item, findings) in items.iter().zip(&findings) {
            for finding in findings {
                match finding {
                    Finding::Changed { path, .. } => _ = files.insert(file_key(path)),
                    // the labels count what was tried too
                    Finding::Unchanged { key } | Finding::Refused { key } if is_edit(item) => {
                        files.insert(*key);
                    }
                    Finding::Tests(run) => last = Some(run.failed > 0),
                    _ => {}
                }
            }
        }
        let (found, wanted) = (files.len().to_string(), row.files_modified.to_string());
        self.files.count(&row.id, &found, &Label::of(&wanted));
        if let Some(label) = &row.tests.last {
            let found = match last {
                Some(true) => "failed",
                Some(false) => "passed",
                None => "none",
            };
            self.tests.count(&row.id, found, &Label::of(label));
        }
    }
}

impl Ends {
    fn count_objective<'t>(
        &mut self,
        row: &Labelled,
        items: impl Iterator<Item = SessionItem<'t>>,
    ) {
        let lines = items.map(|item| LocatedItem {
            item,
            main: true,
            episode: Uuid::nil(),
            line: 0,
        });
        let objective = facts(&lines.collect::<Vec<_>>()).objective;
        let objective = objective
            .map(|objective| objective.what)
            .unwrap_or_default();
        let ours: Vec<String> = tokens(&objective).collect();
        for word in content_words(&row.objective) {
            let is_found = ours.iter().any(|own| is_same(own, &word));
            self.objective.note(&row.id, is_found);
        }
        self.objective.misses.clear();
    }
}

fn is_edit(item: &Item) -> bool {
    let tool = item.tool.as_ref().map(|used| tools::tool(&used.name));
    tool.is_some_and(|tool| {
        matches!(
            tool.answer,
            AnswerKind::Edit | AnswerKind::Write | AnswerKind::Patch
        )
    })
}

/// One log, read.
pub struct Read {
    /// What its work is told by.
    pub tally: ActivityTally,
    /// What its main log says, or the log itself where it is a sub-agent's.
    pub items: Vec<Item>,
}

/// Reads a log as a run would, but for the store.
///
/// # Errors
/// When it can't be read.
pub fn read(path: &Path, agent: Agent, classifier: &Classifier) -> Result<Read> {
    let named = || path.display().to_string();
    let file = source_file(path, agent).with_context(named)?;
    let mut state = FilterState::default();
    let (policy, redactor) = (FilterPolicy::default(), Redactor::default());
    let (mut tally, mut all) = (ActivityTally::default(), Vec::new());
    ParsedLog::open(&file)?.for_each_batch(|_, batch| {
        let batch = score(filter(batch, &policy, &redactor, &mut state), classifier);
        for exchange in batch.items {
            exchange
                .items
                .iter()
                .for_each(|item| tally.merge(&item.activity));
            if exchange.stream.is_none() {
                all.extend(exchange.items);
            }
        }
        Ok(ControlFlow::<()>::Continue(()))
    })?;
    Ok(Read { tally, items: all })
}
