//! Why it was that kind of work, in words for people.

use super::evidence::{Source, WorkEvidence, by_kind, evidence};
use crate::model::activity::{Activity, ActivityTally, Dimension, Said};
use crate::model::human::plural;
use crate::rules::classify::{CHANGES, COMMAND, Classifier};
use serde::Serialize;

/// Kinds of work that are explained: the strongest.
const KINDS_MAX: usize = 3;
/// Commands and tools that are named.
const CALLS_MAX: usize = 4;
/// Less says nothing to a reader.
const AMOUNT_MIN: f64 = 0.005;

/// Why a dimension is as strong as it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkExplanation {
    /// The kind of work.
    pub dimension: &'static str,
    /// As the vector has it.
    pub intensity: f64,
    /// What speaks for it, the strongest first.
    pub reasons: Vec<WorkReason>,
}

/// One thing that speaks for a dimension.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkReason {
    /// How much.
    pub amount: f64,
    /// In words.
    pub words: String,
}

/// Of the strongest dominant dimensions, what speaks for them; nothing where too little speaks for
/// anything.
pub fn explained(
    tally: &ActivityTally,
    activity: &Activity,
    classifier: &Classifier,
) -> Vec<WorkExplanation> {
    if activity.primary.is_none() {
        return Vec::new();
    }
    let all = evidence(tally, classifier);
    let dominant = activity.vector.dominant().into_iter().take(KINDS_MAX);
    let explained = dominant.map(|dimension| {
        let of = |one: &WorkEvidence| WorkReason {
            amount: one.signals.get(dimension),
            words: words(one.source, dimension, tally, classifier),
        };
        let mut reasons: Vec<WorkReason> = all.iter().map(of).collect();
        reasons.retain(|reason| reason.amount >= AMOUNT_MIN);
        reasons.sort_by(|a, b| b.amount.total_cmp(&a.amount));
        WorkExplanation {
            dimension: dimension.as_str(),
            intensity: activity.vector.get(dimension),
            reasons,
        }
    });
    explained.collect()
}

/// The same as text, a line for each dimension and each reason.
pub fn text(explained: &[WorkExplanation]) -> String {
    if explained.is_empty() {
        return "mixed: too little speaks for any kind of work, or the settings say what it is\n"
            .to_owned();
    }
    let mut text = String::new();
    for one in explained {
        text += &format!("{} ({:.1})\n", one.dimension, one.intensity);
        for reason in &one.reasons {
            text += &format!("  {:.2}  {}\n", reason.amount, reason.words);
        }
    }
    text
}

fn words(
    source: Source,
    dimension: Dimension,
    tally: &ActivityTally,
    classifier: &Classifier,
) -> String {
    match source {
        Source::Keywords => {
            let of = |keyword: &&String| classifier.dimension(keyword) == Some(dimension);
            let found: Vec<&str> = tally.keywords.keys().filter(of).map(|k| &**k).collect();
            format!("words of people: {}", found.join(", "))
        }
        Source::Said(said) => spoken(said, dimension, tally),
        Source::Calls => called(dimension, tally, classifier),
        Source::Failures => format!("{} failed", plural(tally.errors, "call")),
        Source::Files => {
            let files = tally.files.get(&dimension).map_or(0, |files| files.len());
            format!(
                "{} of this kind read or changed",
                plural(files as u64, "file")
            )
        }
        Source::Lines => match tally.lines.get(&dimension) {
            Some(lines) => format!("{} changed in files of this kind", plural(*lines, "line")),
            None => {
                let lines = tally.code.0 + tally.code.1;
                format!("{} of code changed", plural(lines, "line"))
            }
        },
        Source::Growth => format!("code grew: +{} −{}", tally.code.0, tally.code.1),
        Source::Turnover => format!("code was replaced: +{} −{}", tally.code.0, tally.code.1),
    }
}

fn spoken(said: Said, dimension: Dimension, tally: &ActivityTally) -> String {
    let of = |said: Said| {
        let kinds = tally.said.get(&said);
        let own = kinds.and_then(|kinds| kinds.get(&dimension)).copied();
        let all = kinds.map_or(0, |kinds| kinds.values().sum::<u64>());
        (own.unwrap_or_default(), all)
    };
    let (own, all) = of(said);
    match said {
        Said::Asked => format!("asked for first in {own} of {}", plural(all, "request")),
        Said::Reported => format!(
            "reported as done by the agent: {own} of {}",
            plural(all, "report")
        ),
        Said::Committed => format!("the subject of {own} of {}", plural(all, "commit")),
        Said::Planned | Said::Announced => {
            let (announced, announcements) = of(Said::Announced);
            format!(
                "planned by the agent: {own} of {}, {announced} of {}",
                plural(all, "task"),
                plural(announcements, "announcement")
            )
        }
    }
}

/// The calls that speak most for a dimension.
fn called(dimension: Dimension, tally: &ActivityTally, classifier: &Classifier) -> String {
    let kinds = by_kind(tally, classifier).into_iter();
    let mut named: Vec<(f64, String)> = kinds
        .map(|(kind, calls)| {
            let amount = classifier.counted(kind).get(dimension) * calls as f64;
            (amount, format!("{} ({calls})", shown(kind)))
        })
        .filter(|(amount, _)| *amount > 0.0)
        .collect();
    named.sort_by(|a, b| b.0.total_cmp(&a.0));
    let more = if named.len() > CALLS_MAX { ", …" } else { "" };
    let names: Vec<String> = named
        .into_iter()
        .take(CALLS_MAX)
        .map(|(_, name)| name)
        .collect();
    format!("commands and tools: {}{more}", names.join(", "))
}

/// `$ vcs_look` as people read it: `vcs look commands`.
fn shown(kind: &str) -> String {
    if let Some(class) = kind.strip_prefix(COMMAND) {
        return format!("{} commands", class.replace('_', " "));
    }
    match kind.split_once(CHANGES) {
        Some((category, tool)) => format!("{tool} in files for {category}"),
        None => kind.trim_start_matches('?').to_owned(),
    }
}
