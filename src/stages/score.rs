//! What kind of work it was: counts what speaks for it, and makes signals of the counts (003 §
//! 2.2).
//!
//! Knows what is counted of a record, but not words, tools, commands and paths (`rules` does), and how
//! much each count says (`evidence`). Counting needs the record; everything after it only the counts, so that a new
//! table or classification scores what is stored again.

use crate::model::activity::{ActivityTally, Dimension, Said, Signals};
use crate::model::batch::Batch;
use crate::model::entry::CallStatus;
use crate::model::exchange::{Exchange, Item, ItemKind, ToolUse};
use crate::model::finding::Finding;
use crate::rules::classify::{CHANGES, COMMAND, Classifier};
use crate::rules::tools::{self, AnswerKind};
use crate::rules::{paths, work_words};
use evidence::evidence;
use xxhash_rust::xxh3::xxh3_64;

/// How much more the strongest dimension counts than the others: the power of a share that it is
/// multiplied by. 0 in the sources, where every eighth session has six or more dominant dimensions.
const SHARPNESS: f64 = 0.5;
/// Tools that are told the name of a skill.
const SKILLS: [&str; 2] = ["Skill", "SlashCommand"];

/// Adds to each item what it says about the kind of work.
pub fn score(batch: Batch<Exchange>, classifier: &Classifier) -> Batch<Exchange> {
    batch.map(|mut exchanges| {
        let items = exchanges
            .iter_mut()
            .flat_map(|exchange| &mut exchange.items);
        items.for_each(|item| count(item, classifier));
        exchanges
    })
}

fn count(item: &mut Item, classifier: &Classifier) {
    match (&item.tool, item.kind) {
        (Some(tool), _) => {
            let mut tally = of_call(tool, classifier);
            let planned = task_of(tool, item.words());
            let planned = planned.map(|kind| (Said::Planned, kind));
            planned.into_iter().for_each(|said| note(&mut tally, said));
            item.activity = tally;
        }
        (None, ItemKind::Prompt | ItemKind::Aside) if item.label().starts_with("User") => {
            item.activity = of_request(item, classifier);
        }
        (None, ItemKind::Agent) => {
            let words = item.words();
            let announced = work_words::announced(words).map(|kind| (Said::Announced, kind));
            let reported = work_words::reported(words).map(|kind| (Said::Reported, kind));
            let mut tally = ActivityTally::default();
            announced
                .chain(reported)
                .for_each(|said| note(&mut tally, said));
            item.activity = tally;
        }
        _ => {}
    }
}

fn note(tally: &mut ActivityTally, (said, kind): (Said, Dimension)) {
    *tally.said.entry(said).or_default().entry(kind).or_default() += 1;
}

fn of_request(item: &Item, classifier: &Classifier) -> ActivityTally {
    let mut tally = ActivityTally::default();
    let words = item.words();
    let found = classifier.keywords(words);
    tally.keywords = found.map(|keyword| (keyword.to_owned(), 1)).collect();
    let first = work_words::requested(words).next();
    let asked = first.map(|kind| (Said::Asked, kind));
    asked.into_iter().for_each(|said| note(&mut tally, said));
    tally
}

/// What a task is called that is set to a list or a sub-agent, or the skill that is used.
fn task_of(tool: &ToolUse, digest: &str) -> Option<Dimension> {
    let rule = tools::tool(&tool.name);
    let is_task = matches!(rule.answer, AnswerKind::Agent | AnswerKind::Task);
    let is_skill = SKILLS.contains(&tool.name.as_str());
    if !is_task && !is_skill {
        return None;
    }
    let (_, shown) = digest.split_once('(')?;
    let shown = shown.split(") → ").next()?;
    match is_skill {
        true => work_words::named(shown.split([',', ')']).next()?),
        false => work_words::titled(shown.trim_matches('"')),
    }
}

fn of_call(tool: &ToolUse, classifier: &Classifier) -> ActivityTally {
    let mut tally = ActivityTally::default();
    let changed = tool
        .modified
        .first()
        .and_then(|file| classifier.categories(file).into_iter().next());
    let class = match (tool.command.as_str(), changed) {
        ("", None) => tool.name.clone(),
        ("", Some(category)) => format!("{}{CHANGES}{}", category.as_str(), tool.name),
        (command, _) => format!("{COMMAND}{command}"),
    };
    tally.tools.insert(class, 1);
    tally.errors = u64::from(tool.status == CallStatus::Failed);
    for file in &tool.files {
        let hash = xxh3_64(file.as_bytes());
        for category in classifier.categories(file) {
            tally.files.entry(category).or_default().insert(hash);
        }
    }
    for finding in &tool.findings {
        match finding {
            Finding::Commit { subject, .. } => {
                let kind = work_words::titled(subject).map(|kind| (Said::Committed, kind));
                kind.into_iter().for_each(|said| note(&mut tally, said));
            }
            Finding::Changed {
                path,
                added,
                removed,
            } if !paths::is_throwaway(path) => match classifier.categories(path).pop() {
                Some(category) => *tally.lines.entry(category).or_default() += added + removed,
                None => {
                    tally.code.0 += added;
                    tally.code.1 += removed;
                }
            },
            _ => {}
        }
    }
    tally
}

/// What the counts speak for. The same counts give the same signals, to the last bit, however
/// they were merged.
///
/// Everything that speaks for a dimension is added and weighed; then each is weighed again by its share
/// of the strongest one, so that the strength stays and the background fades.
pub fn signals(tally: &ActivityTally, classifier: &Classifier) -> Signals {
    let mut sum = Signals::default();
    for evidence in evidence(tally, classifier) {
        sum.add_all(&evidence.signals, 1.0);
    }
    let strength = sum.strength();
    let mut signals = Signals::default();
    for dimension in Dimension::ALL {
        let amount = sum.get(dimension);
        signals.add(dimension, amount * (amount / strength).powf(SHARPNESS));
    }
    signals
}

pub mod evidence;
pub mod explain;
#[cfg(test)]
mod tests;
