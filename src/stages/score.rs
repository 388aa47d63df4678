//! What kind of work it was: counts what speaks for it, and makes signals of the counts (003 §
//! 2.2).
//!
//! Knows the documents' weights, caps and thresholds, but not words, tools, commands and paths
//! (`rules` does). Counting needs the record; everything after it only the counts, so that a new
//! table or classification scores what is stored again.

use crate::model::activity::{ActivityTally, Dimension, Signals};
use crate::model::batch::Batch;
use crate::model::entry::CallStatus;
use crate::model::exchange::{Exchange, Item, ItemKind, ToolUse};
use crate::rules::classify::{CHANGES, COMMAND, Classifier};
use std::collections::BTreeMap;
use xxhash_rust::xxh3::xxh3_64;

/// A distinct keyword (003-036).
const KEYWORD_WEIGHT: f64 = 0.15;
/// All keywords of a dimension (003-036).
const KEYWORDS_MAX: f64 = 0.5;
/// A tool's signals (003-037).
const TOOL_WEIGHT: f64 = 0.3;
/// More failed calls than these say fixing (003-038).
const ERRORS_FEW: u64 = 3;
/// What failures say (003-038).
const ERRORS_WEIGHT: f64 = 0.3;
/// More distinct files of a category than these say what it stands for (003-042).
const FILES_FEW: usize = 2;
/// What files say (003-042).
const FILES_WEIGHT: f64 = 0.25;

/// What people say and what is done, each against the sources' weights. Larger: short stretches
/// reach `score.min_strength` sooner; their ratio decides who is believed more.
const SCALE: f64 = 2.0;
/// All that is done in a stretch, together. Without it a hundred reads drown every word.
const DOING_MAX: f64 = 1.0;

/// How much what is done says of a dimension, in the documents' order. Every session reads and
/// most of them run tests, whatever they are for; few touch settings or documents without meaning
/// to. Rounded means over halves of the labelled sessions (docs/activity.md).
const TELLING: [f64; 8] = [0.8, 1.4, 2.0, 0.5, 1.4, 0.9, 0.4, 2.0];

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
        (Some(tool), _) => item.activity = of_call(tool, classifier),
        (None, ItemKind::Prompt | ItemKind::Aside) if item.label().starts_with("User") => {
            let found = classifier.keywords(item.words());
            item.activity.keywords = found.map(|keyword| (keyword.to_owned(), 1)).collect();
        }
        _ => {}
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
    tally
}

/// What the counts speak for. The same counts give the same signals, to the last bit, however
/// they were merged.
///
/// What people say and what is done are added; then each dimension is weighed by its share of the
/// strongest one, so that the strength stays and the background fades.
pub fn signals(tally: &ActivityTally, classifier: &Classifier) -> Signals {
    let mut sum = doing(tally, classifier);
    sum.add_all(&saying(tally, classifier), SCALE);
    let strength = sum.strength();
    let mut signals = Signals::default();
    for dimension in Dimension::ALL {
        let amount = sum.get(dimension);
        signals.add(dimension, amount * (amount / strength));
    }
    signals
}

fn saying(tally: &ActivityTally, classifier: &Classifier) -> Signals {
    let mut signals = Signals::default();
    for dimension in Dimension::ALL {
        let of = |keyword: &&String| classifier.dimension(keyword) == Some(dimension);
        let distinct = tally.keywords.keys().filter(of).count();
        signals.add(
            dimension,
            (distinct as f64 * KEYWORD_WEIGHT).min(KEYWORDS_MAX),
        );
    }
    signals
}

/// Calls of one kind count by their root: the hundredth says less than the first.
fn doing(tally: &ActivityTally, classifier: &Classifier) -> Signals {
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, calls) in &tally.tools {
        *kinds.entry(classifier.kind(name)).or_default() += calls;
    }
    let mut done = Signals::default();
    for (kind, calls) in kinds {
        let said = classifier.counted(kind);
        done.add_all(&said, TOOL_WEIGHT * (calls as f64).sqrt());
    }
    if tally.errors > ERRORS_FEW {
        done.add(Dimension::Fixing, ERRORS_WEIGHT);
    }
    for (category, files) in &tally.files {
        if files.len() > FILES_FEW {
            done.add(*category, FILES_WEIGHT);
        }
    }
    let share = DOING_MAX / done.total().max(DOING_MAX);
    let mut signals = Signals::default();
    for (dimension, weight) in Dimension::ALL.into_iter().zip(TELLING) {
        signals.add(dimension, done.get(dimension) * share * weight * SCALE);
    }
    signals
}

#[cfg(test)]
mod tests;
