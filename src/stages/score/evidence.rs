//! What speaks for a kind of work, count by count, and how much.
//!
//! Knows the documents' weights, caps and thresholds (003-036..042) and our own (docs/activity.md); each
//! kind of evidence alone comes to about 1 at most.

use crate::model::activity::{ActivityTally, Dimension, Said, Signals};
use crate::rules::classify::Classifier;
use std::collections::BTreeMap;

/// A distinct keyword (003-036).
const KEYWORD_WEIGHT: f64 = 0.15;
/// All keywords of a dimension (003-036).
const KEYWORDS_MAX: f64 = 0.5;
/// A call's signals (003-037).
const CALL_WEIGHT: f64 = 0.3;
/// More failed calls than these say fixing (003-038).
const ERRORS_FEW: u64 = 3;
/// What failures say (003-038).
const ERRORS_WEIGHT: f64 = 0.3;
/// More distinct files of a category than these say what it stands for (003-042).
const FILES_FEW: usize = 2;
/// What files say (003-042).
const FILES_WEIGHT: f64 = 0.25;

/// All calls of a stretch, together: without a bound a hundred reads drown everything else.
const CALLS_MAX: f64 = 1.5;
/// What all requests of a stretch ask for.
const ASKED_WEIGHT: f64 = 0.8;
/// An announcement, against a task that is written down.
const ANNOUNCED_WEIGHT: f64 = 1.0 / 3.0;
/// One thing said is half as telling as many.
const SAID_FEW: f64 = 1.0;
/// So many changed lines are half as telling as many.
const LINES_FEW: f64 = 20.0;

/// How telling a dimension's evidence is, in the documents' order: every session tests, and few touch
/// settings or documents without meaning to. Means over halves of the labelled sessions, rounded
/// (docs/activity.md).
const TELLING: [f64; 8] = [1.1, 1.4, 1.5, 1.0, 1.0, 1.3, 0.8, 1.4];

/// One kind of evidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkEvidence {
    /// What it is.
    pub source: Source,
    /// What it says, weighed.
    pub signals: Signals,
}

/// Where evidence comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Keywords in people's words.
    Keywords,
    /// What people ask for, or agents plan, report or commit.
    Said(Said),
    /// Commands and tools.
    Calls,
    /// Calls that failed.
    Failures,
    /// Files that calls name.
    Files,
    /// Which lines edits changed.
    Lines,
    /// Code became more.
    Growth,
    /// Code was replaced by as much.
    Turnover,
}

/// All that speaks for something, in a fixed order.
pub fn evidence(tally: &ActivityTally, classifier: &Classifier) -> Vec<WorkEvidence> {
    let all = [
        (Source::Keywords, keywords(tally, classifier)),
        (Source::Said(Said::Asked), said(tally, Said::Asked)),
        (Source::Said(Said::Planned), planned(tally)),
        (Source::Said(Said::Reported), said(tally, Said::Reported)),
        (Source::Said(Said::Committed), said(tally, Said::Committed)),
        (Source::Calls, calls(tally, classifier)),
        (Source::Failures, failures(tally)),
        (Source::Files, files(tally)),
        (Source::Lines, lines(tally)),
        (Source::Growth, growth(tally)),
        (Source::Turnover, turnover(tally)),
    ];
    let weighed = all.into_iter().map(|(source, plain)| {
        let mut signals = Signals::default();
        for (dimension, weight) in Dimension::ALL.into_iter().zip(TELLING) {
            signals.add(dimension, plain.get(dimension) * weight);
        }
        WorkEvidence { source, signals }
    });
    weighed.filter(|one| !one.signals.is_empty()).collect()
}

fn keywords(tally: &ActivityTally, classifier: &Classifier) -> Signals {
    let mut signals = Signals::default();
    for dimension in Dimension::ALL {
        let of = |keyword: &&String| classifier.dimension(keyword) == Some(dimension);
        let distinct = tally.keywords.keys().filter(of).count() as f64;
        signals.add(dimension, (distinct * KEYWORD_WEIGHT).min(KEYWORDS_MAX));
    }
    signals
}

/// The share of each kind; of requests all, of what agents say less where little is said.
fn said(tally: &ActivityTally, said: Said) -> Signals {
    let Some(kinds) = tally.said.get(&said) else {
        return Signals::default();
    };
    let kinds = kinds.iter().map(|(kind, times)| (*kind, *times as f64));
    match said {
        Said::Asked => shares(kinds, 0.0, ASKED_WEIGHT),
        _ => shares(kinds, SAID_FEW, 1.0),
    }
}

fn planned(tally: &ActivityTally) -> Signals {
    let of = |said: Said, weight: f64| {
        let kinds = tally.said.get(&said).into_iter().flatten();
        kinds.map(move |(kind, times)| (*kind, *times as f64 * weight))
    };
    let all = of(Said::Planned, 1.0).chain(of(Said::Announced, ANNOUNCED_WEIGHT));
    shares(all, SAID_FEW, 1.0)
}

fn shares(kinds: impl Iterator<Item = (Dimension, f64)>, few: f64, weight: f64) -> Signals {
    let mut sum = Signals::default();
    kinds.for_each(|(kind, times)| sum.add(kind, times));
    let mut signals = Signals::default();
    signals.add_all(&sum, weight / (sum.total() + few));
    signals
}

fn calls(tally: &ActivityTally, classifier: &Classifier) -> Signals {
    let mut sum = Signals::default();
    for (kind, calls) in by_kind(tally, classifier) {
        let weight = CALL_WEIGHT * CALLS_MAX * calls as f64;
        sum.add_all(&classifier.counted(kind), weight);
    }
    let mut signals = Signals::default();
    signals.add_all(&sum, CALLS_MAX / sum.total().max(CALLS_MAX));
    signals
}

/// Calls by what they are.
pub(super) fn by_kind<'t>(
    tally: &'t ActivityTally,
    classifier: &Classifier,
) -> BTreeMap<&'t str, u64> {
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, calls) in &tally.tools {
        *kinds.entry(classifier.kind(name)).or_default() += calls;
    }
    kinds
}

fn failures(tally: &ActivityTally) -> Signals {
    let mut signals = Signals::default();
    if tally.errors > ERRORS_FEW {
        signals.add(Dimension::Fixing, ERRORS_WEIGHT);
    }
    signals
}

fn files(tally: &ActivityTally) -> Signals {
    let mut signals = Signals::default();
    for (category, files) in &tally.files {
        if files.len() > FILES_FEW {
            signals.add(*category, FILES_WEIGHT);
        }
    }
    signals
}

/// Lines of each category by their share; those of code speak for what code is changed for.
fn lines(tally: &ActivityTally) -> Signals {
    let mut signals = Signals::default();
    let all = changed(tally);
    for (category, lines) in &tally.lines {
        signals.add(*category, *lines as f64 / all);
    }
    let code = (tally.code.0 + tally.code.1) as f64 / all;
    for kind in [
        Dimension::Building,
        Dimension::Fixing,
        Dimension::Refactoring,
    ] {
        signals.add(kind, code);
    }
    signals
}

fn growth(tally: &ActivityTally) -> Signals {
    let mut signals = Signals::default();
    let (added, removed) = tally.code;
    let more = added.saturating_sub(removed);
    signals.add(Dimension::Building, more as f64 / changed(tally));
    signals
}

fn turnover(tally: &ActivityTally) -> Signals {
    let mut signals = Signals::default();
    let (added, removed) = tally.code;
    let replaced = 2.0 * added.min(removed) as f64;
    signals.add(Dimension::Refactoring, replaced / changed(tally));
    signals
}

/// All changed lines, so that few are less telling than many.
fn changed(tally: &ActivityTally) -> f64 {
    let lines = tally.lines.values().sum::<u64>() + tally.code.0 + tally.code.1;
    lines as f64 + LINES_FEW
}
