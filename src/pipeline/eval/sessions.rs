//! How well sessions are told: kind of work, outcome, files, tests, objective, decisions.
//!
//! Labels say which half they are of: what rules were learned from, or what was held back until they
//! stood. Each half has its own figures.

use super::figure::{Figure, Half, Label};
use crate::host::files::source_file;
use crate::insight::facts::{ANSWERED, LocatedItem, SessionContext, facts};
use crate::insight::outcome::{PENDING_CALL, SessionItem};
use crate::model::activity::{Activity, ActivityTally, Dimension, MIN_STRENGTH, MIXED};
use crate::model::entry::{Entry, EntryKind, Fact};
use crate::model::exchange::Item;
use crate::model::finding::{Finding, file_key};
use crate::model::fold::StreamFold;
use crate::model::policy::FilterPolicy;
use crate::model::source::Agent;
use crate::model::summary::{SessionOutcome, Summary};
use crate::pipeline::parsed_log::ParsedLog;
use crate::rules::classify::Classifier;
use crate::rules::secrets::Redactor;
use crate::rules::tools::{self, AnswerKind};
use crate::rules::words::{content_words, is_same, tokens};
use crate::stages::filter::{FilterState, filter};
use crate::stages::score::{score, signals};
use anyhow::{Context as _, Result};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// A row of `sessions.jsonl`.
#[derive(Deserialize)]
pub(super) struct Labelled {
    id: String,
    /// Of the log, below the corpus.
    path: PathBuf,
    tool: Agent,
    /// Absent: the set has no halves.
    half: Option<Half>,
    primary: String,
    primary_ok: Vec<String>,
    strong: Vec<String>,
    absent: Vec<String>,
    outcome: String,
    outcome_ok: Vec<String>,
    #[serde(default)]
    objective: String,
    #[serde(default)]
    result: String,
    /// Absent: nobody counted.
    files_modified: Option<usize>,
    tests: LabelledTests,
    /// Absent: nobody looked for them.
    decisions: Option<Vec<LabelledDecision>>,
}

#[derive(Deserialize)]
struct LabelledTests {
    /// `None`: not visible.
    last: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Decider {
    Person,
    Agent,
}

#[derive(Deserialize)]
struct LabelledDecision {
    who: Decider,
    /// In the annotator's words.
    what: String,
    /// That the log says it with.
    words: Vec<String>,
    /// Of the log.
    line: u64,
}

/// The figures of each half for itself, or of all rows where nobody halved them. Logs that are below none
/// of `corpora` are a figure of their own. Bars only where `has_bars`.
pub(super) fn figures(
    what: &str,
    rows: &[Labelled],
    corpora: &[PathBuf],
    classifier: &Classifier,
    has_bars: bool,
) -> Result<Vec<Figure>> {
    let halves: BTreeSet<Option<Half>> = rows.iter().map(|row| row.half).collect();
    let mut all = Vec::new();
    for half in halves {
        let what = Half::of_set(half, what);
        let rows = rows.iter().filter(|row| row.half == half);
        let (here, gone): (Vec<&Labelled>, Vec<&Labelled>) =
            rows.partition(|row| log(row, corpora).is_some());
        let mut figures = sessions(&what, &here, corpora, classifier)?;
        if !has_bars {
            figures.iter_mut().for_each(|figure| figure.bar = None);
        }
        all.extend(figures.into_iter().filter(|figure| figure.of > 0));
        if !gone.is_empty() {
            let mut missing = Figure::new(&format!("{what}: logs that are not here"), None);
            gone.iter().for_each(|row| missing.note(&row.id, true));
            all.push(missing);
        }
    }
    Ok(all)
}

fn sessions(
    what: &str,
    rows: &[&Labelled],
    corpora: &[PathBuf],
    classifier: &Classifier,
) -> Result<Vec<Figure>> {
    let mut work = Work::new(what);
    let mut told = Told::new(what);
    for row in rows {
        let log = log(row, corpora).with_context(|| row.path.display().to_string())?;
        let read = read(&log, row.tool, classifier)?;
        work.count(row, &read.tally, classifier);
        told.count(row, &read);
    }
    let mut all = vec![work.two, work.primary, work.sure, work.told];
    all.extend([work.broad, work.strong, work.absent]);
    all.extend([told.outcome, told.files, told.tests, told.false_alarms]);
    all.extend([
        told.objective.found,
        told.objective.idle,
        told.objective_long,
    ]);
    all.extend([told.result.found, told.result.idle]);
    all.extend([told.decisions, told.decisions_found]);
    all.extend([told.agent_decisions, told.agent_decisions_found]);
    Ok(all)
}

/// Where a row's log is.
fn log(row: &Labelled, corpora: &[PathBuf]) -> Option<PathBuf> {
    let mut all = corpora.iter().map(|corpus| corpus.join(&row.path));
    all.find(|path| path.is_file())
}

/// How well the kind of work is told.
struct Work {
    two: Figure,
    primary: Figure,
    /// Of the sessions of which we say it in a word.
    sure: Figure,
    told: Figure,
    broad: Figure,
    strong: Figure,
    absent: Figure,
}

impl Work {
    fn new(what: &str) -> Work {
        let of = |name: &str, bar| Figure::new(&format!("{what}: {name}"), bar);
        Work {
            two: of("primary among our two strongest", Some(0.85)),
            primary: of("our primary", Some(0.70)),
            sure: of("the kind of work that we say", Some(0.80)),
            told: of("of which we say one", None),
            broad: Figure::at_most(&format!("{what}: six or more dominant"), 0.05),
            strong: of("strong ones dominant", None),
            absent: of("absent ones not dominant", None),
        }
    }

    fn count(&mut self, row: &Labelled, tally: &ActivityTally, classifier: &Classifier) {
        let activity = Activity::of(signals(tally, classifier), MIN_STRENGTH);
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
        self.primary.count(&id, first, &label);
        self.told.hit(&row.id, activity.sure.is_some());
        if let Some(sure) = activity.sure {
            self.sure.count(&id, sure.as_str(), &label);
        }
        let right =
            |name: &&&str| **name == row.primary || row.primary_ok.iter().any(|ok| ok == **name);
        let found = dominant
            .iter()
            .take(2)
            .find(right)
            .copied()
            .unwrap_or(first);
        self.two.count(&id, found, &label);
        self.broad.note(&id, dominant.len() >= 6);
        for name in &row.strong {
            self.strong.note(&id, dominant.contains(&name.as_str()));
        }
        for name in &row.absent {
            self.absent.note(&id, !dominant.contains(&name.as_str()));
        }
    }
}

/// How well a summary tells a session.
struct Told {
    outcome: Figure,
    files: Figure,
    tests: Figure,
    /// Sessions whose tests are said to fail and don't.
    false_alarms: Figure,
    objective: SharedWords,
    objective_long: Figure,
    result: SharedWords,
    /// Decisions that we tell and that are some.
    decisions: Figure,
    /// Decisions that are some and that we tell.
    decisions_found: Figure,
    /// Of these the ones that agents made.
    agent_decisions: Figure,
    agent_decisions_found: Figure,
}

/// What a text of ours and the label's have in common.
struct SharedWords {
    /// Words of the labels' that ours have.
    found: Figure,
    /// Words of ours that the labels' have.
    idle: Figure,
}

impl SharedWords {
    fn new(what: &str, text: &str) -> SharedWords {
        let of = |name: String| Figure::new(&format!("{what}: {name}"), None);
        SharedWords {
            found: of(format!("words of the {text} that we tell")),
            idle: of(format!("words of ours that the {text} has")),
        }
    }

    fn count(&mut self, id: &str, label: &str, ours: &str) {
        let says = |words: &[String], word: &str| words.iter().any(|own| is_same(own, word));
        let told: Vec<String> = tokens(ours).collect();
        for word in content_words(label) {
            self.found.hit(id, says(&told, &word));
        }
        let theirs: Vec<String> = tokens(label).collect();
        for word in content_words(ours) {
            self.idle.hit(id, says(&theirs, &word));
        }
        self.idle.misses.clear();
        self.found.misses.retain(|missed| missed != id);
        self.found.misses.push(format!("{id}: {label} | {ours}"));
    }
}

/// An objective is read at a glance.
const OBJECTIVE_CHARS_MAX: usize = 200;

impl Told {
    fn new(what: &str) -> Told {
        let of = |name: &str, bar| Figure::new(&format!("{what}: {name}"), bar);
        Told {
            outcome: of("outcome", Some(0.80)),
            files: of("files modified", Some(0.95)),
            tests: of("last test result", Some(0.95)),
            false_alarms: Figure::at_most(&format!("{what}: tests failed, falsely"), 0.0),
            objective: SharedWords::new(what, "objective"),
            result: SharedWords::new(what, "result"),
            objective_long: Figure::at_most(
                &format!("{what}: objectives over {OBJECTIVE_CHARS_MAX} characters"),
                0.0,
            ),
            decisions: of("decisions that are some", None),
            decisions_found: of("decisions that we tell", None),
            agent_decisions: of("of these, told as an agent's", None),
            agent_decisions_found: of("of these, an agent's", None),
        }
    }

    fn count(&mut self, row: &Labelled, read: &Read) {
        let items = read.items.as_slice();
        let findings = |item: &'_ Item| {
            let tool = item.tool.as_ref();
            tool.map(|tool| tool.findings.clone()).unwrap_or_default()
        };
        let findings: Vec<Vec<Finding>> = items.iter().map(findings).collect();
        let lines = items
            .iter()
            .zip(&findings)
            .map(|(item, findings)| LocatedItem {
                item: SessionItem {
                    kind: item.kind,
                    text: &item.text,
                    findings,
                },
                main: true,
                episode: Uuid::nil(),
                line: item.place.line,
            });
        let mut lines: Vec<LocatedItem<'_>> = lines.collect();
        let pending = LocatedItem {
            item: PENDING_CALL,
            main: true,
            episode: Uuid::nil(),
            line: 0,
        };
        lines.extend(read.is_pending.then_some(pending));
        let summary = facts(&lines, &read.context());
        let found = summary.outcome.map_or("none", SessionOutcome::as_str);
        let label = Label {
            best: &row.outcome,
            also: &row.outcome_ok,
        };
        self.outcome.count(&row.id, found, &label);
        if let Some(wanted) = row.files_modified {
            let found = tried_files(items, &findings).to_string();
            self.files
                .count(&row.id, &found, &Label::of(&wanted.to_string()));
        }
        self.count_tests(row, &summary);
        self.count_objective(row, &summary);
        self.count_result(row, &summary);
        if let Some(labelled) = &row.decisions {
            self.count_decisions(row, labelled, &summary);
        }
    }

    fn count_tests(&mut self, row: &Labelled, summary: &Summary) {
        let found = match summary.tests.as_ref().map(|runs| runs.what.is_failed()) {
            Some(true) => "failed",
            Some(false) => "passed",
            None => "none",
        };
        if let Some(label) = &row.tests.last {
            self.tests.count(&row.id, found, &Label::of(label));
        }
        let is_failed = row.tests.last.as_deref() == Some("failed");
        self.false_alarms
            .note(&row.id, found == "failed" && !is_failed);
    }

    fn count_objective(&mut self, row: &Labelled, summary: &Summary) {
        let objective = summary.objective.as_ref();
        let objective = objective.map_or("", |objective| objective.what.as_str());
        self.objective.count(&row.id, &row.objective, objective);
        let is_long = objective.chars().count() > OBJECTIVE_CHARS_MAX;
        self.objective_long.note(&row.id, is_long);
    }

    fn count_result(&mut self, row: &Labelled, summary: &Summary) {
        // what is shown, and in its stead where the agent answered nothing
        let account = summary.account.iter().map(|told| &*told.what.answer);
        let short = summary.result.iter().chain(&summary.steps);
        let short = short.filter(|_| summary.account.is_empty());
        let answers = summary.requests.iter();
        let answers = answers.filter_map(|said| Some(said.what.split_once(ANSWERED)?.1));
        let told = account.chain(short.map(|said| &*said.what)).chain(answers);
        let told: Vec<&str> = told.collect();
        if !row.result.is_empty() {
            self.result.count(&row.id, &row.result, &told.join(" "));
        }
    }

    /// Ours and theirs are the same where most of the words of one are in the other's, or where they
    /// stand at one line and share some.
    fn count_decisions(
        &mut self,
        row: &Labelled,
        labelled: &[LabelledDecision],
        summary: &Summary,
    ) {
        let shared = |one: &[String], other: &[String]| {
            let in_other = |word: &&String| other.iter().any(|own| is_same(own, word));
            one.iter().filter(in_other).count()
        };
        let is_told = |label: &LabelledDecision, line: u64, ours: &[String]| {
            let said = content_words(&label.words.join(" "));
            let theirs: Vec<String> = content_words(&label.what).into_iter().chain(said).collect();
            let same = shared(ours, &theirs);
            line == label.line && (same > 0 || ours.is_empty())
                || same >= 2
                    && same * 2 >= ours.len().min(content_words(&label.words.join(" ")).len())
        };
        let people = summary.decisions.iter().map(|told| (Decider::Person, told));
        let agents = summary.agent_decisions.iter();
        let agents = agents.map(|told| (Decider::Agent, told));
        let ours: Vec<(Decider, u64, String)> = people
            .chain(agents)
            .map(|(who, told)| {
                let about = told.what.about.as_deref().unwrap_or_default();
                (who, told.line, format!("{} {about}", told.what.decision))
            })
            .collect();
        for (who, line, text) in &ours {
            let own = content_words(text);
            let is_one = labelled.iter().any(|label| is_told(label, *line, &own));
            let name = format!("{}:{line}: {text}", row.id);
            self.decisions.hit(&name, is_one);
            if *who == Decider::Agent {
                self.agent_decisions.hit(&name, is_one);
            }
        }
        for label in labelled {
            let is_found = ours
                .iter()
                .any(|(_, line, text)| is_told(label, *line, &content_words(text)));
            let name = format!("{}:{}: {}", row.id, label.line, label.what);
            self.decisions_found.hit(&name, is_found);
            if label.who == Decider::Agent {
                self.agent_decisions_found.hit(&name, is_found);
            }
        }
    }
}

/// Files that calls changed or tried to; the labels count what was tried too.
fn tried_files(items: &[Item], findings: &[Vec<Finding>]) -> usize {
    let mut files = BTreeSet::new();
    for (item, findings) in items.iter().zip(findings) {
        for finding in findings {
            match finding {
                Finding::Changed { path, .. } => _ = files.insert(file_key(path)),
                Finding::Unchanged { key } | Finding::Refused { key } if is_edit(item) => {
                    files.insert(*key);
                }
                _ => {}
            }
        }
    }
    files.len()
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
    /// It ends in a call without a result.
    pub is_pending: bool,
    /// The last one that somebody gave it, else the agent's.
    pub title: Option<String>,
}

impl Read {
    /// What a run knows of the session beside its items.
    fn context(&self) -> SessionContext<'_> {
        let mut contexts = self.items.iter().map(|item| &item.resume.context);
        let cwd = contexts.clone().find_map(|context| context.cwd.as_deref());
        let branch = contexts.rfind(|context| context.branch.is_some());
        let branch = branch.and_then(|context| context.branch.as_deref());
        SessionContext::new(
            self.title.as_deref(),
            cwd.unwrap_or_default(),
            branch,
            false,
        )
    }
}

/// What the log calls its session.
#[derive(Default)]
struct Titles {
    custom: Option<String>,
    ai: Option<String>,
}

impl Titles {
    fn read(&mut self, entries: &[Entry]) {
        for entry in entries {
            if let EntryKind::Fact(Fact::Title { text, custom }) = &entry.what {
                let known = if *custom {
                    &mut self.custom
                } else {
                    &mut self.ai
                };
                *known = Some(text.clone());
            }
        }
    }
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
    let (mut tally, mut all) = (ActivityTally::default(), BTreeMap::new());
    let mut titles = Titles::default();
    ParsedLog::open(&file)?.for_each_batch(|_, batch| {
        titles.read(&batch.items);
        let batch = score(filter(batch, &policy, &redactor, &mut state), classifier);
        for exchange in batch.items {
            exchange
                .items
                .iter()
                .for_each(|item| tally.merge(&item.activity));
            let stream: &mut Vec<Item> = all.entry(exchange.stream).or_default();
            stream.extend(exchange.items);
        }
        Ok(ControlFlow::<()>::Continue(()))
    })?;
    let main = all.remove(&None).map(|items| (None, items));
    let main = main.or_else(|| all.into_iter().max_by_key(|(_, items)| items.len()));
    let (stream, items) = main.unwrap_or_default();
    let waits = |fold: &StreamFold| fold.state.waiting() > 0;
    Ok(Read {
        tally,
        items,
        is_pending: state.streams.get(&stream).is_some_and(waits),
        title: titles.custom.or(titles.ai),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::env::var;
    use std::fs::read_to_string;

    /// Prints what is counted of the labelled sessions of `TRUTH_DIR`, whose logs are below `CORPUS_DIR`, and
    /// what each kind of call says, a line of JSON each: weights are chosen on that.
    #[test]
    #[ignore = "prints what weights are chosen on"]
    fn tallies_of_labelled_sessions() {
        let (truth, corpus) = (var("TRUTH_DIR").unwrap(), var("CORPUS_DIR").unwrap());
        let classifier = Classifier::default();
        for name in ["sessions", "sessions_short"] {
            let text = read_to_string(format!("{truth}/{name}.jsonl")).expect("labels");
            for line in text.lines() {
                let row: Labelled = serde_json::from_str(line).expect("a label");
                let log = Path::new(&corpus).join(&row.path);
                let tally = read(&log, row.tool, &classifier).expect("a log").tally;
                let calls = tally.tools.iter().map(|(name, calls)| {
                    let kind = classifier.kind(name);
                    json!([kind, calls, classifier.counted(kind)])
                });
                let words = tally.keywords.keys();
                let words = words.map(|word| json!([word, classifier.dimension(word)]));
                let (calls, words): (Vec<_>, Vec<_>) = (calls.collect(), words.collect());
                let label: serde_json::Value = serde_json::from_str(line).expect("a label");
                println!(
                    "{}",
                    json!({"set": name, "label": label, "tally": tally, "calls": calls, "words": words})
                );
            }
        }
    }
}
