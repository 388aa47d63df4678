//! What an agent says in the middle of work that its last words don't tell again.

use super::code_blocks::without_verse;
use super::line::LocatedItem;
use super::points::is_point;
use super::prompts::opens;
use super::stated::{STEP_BYTES_MAX, one_line, stated, stated_first};
use super::words::{folded, shortened};
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::model::summary::Sourced;
use crate::rules::outcome::{Ending, announces, ending};
use crate::rules::reports::{is_interim, is_readiness};
use crate::rules::words::sentences;

/// A shorter remark says that something is done, not what.
const REMARK_CHARS_MIN: usize = 40;

/// Remarks before an agent waits, or before a log breaks off.
const REMARKS_MAX: usize = 4;

/// What the last remarks before an agent waits say is done, each in a line.
pub(super) fn done_so_far(exchange: &[LocatedItem<'_>]) -> Vec<String> {
    let remarks = exchange.iter().rev();
    let remarks = remarks.filter(|line| line.main && line.item.kind == ItemKind::Agent);
    let done = remarks.filter_map(|line| {
        let text = folded(&without_verse(line.words()));
        let is_done = |sentence: &&str| {
            let ends = sentence.ends_with(['.', '!']);
            let says = ends && sentence.split_whitespace().count() >= WORDS_MIN;
            says && !announces(sentence)
                && !is_interim(sentence)
                && !is_readiness(sentence)
                && ending(sentence) == Ending::Done
        };
        let done: Vec<&str> = sentences(&text).filter(is_done).collect();
        let said = stated(&done.join(" ")).join(" ");
        (said.chars().count() >= REMARK_CHARS_MIN).then(|| shortened(&said, STEP_BYTES_MAX))
    });
    let mut all: Vec<String> = done.take(REMARKS_MAX).collect();
    all.reverse();
    all
}

/// What the last remarks state where work was going on when the log ends.
pub(super) fn so_far(lines: &[LocatedItem<'_>]) -> Option<Sourced<String>> {
    let exchange = lines
        .iter()
        .rposition(opens)
        .map_or(lines, |at| &lines[at + 1..]);
    let mut main = exchange.iter().rev().filter(|line| line.main);
    let last = main.find(|line| line.item.kind != ItemKind::Note)?;
    if last.item.kind == ItemKind::Agent && states(last.words()) {
        return None;
    }
    let words = exchange.iter().enumerate().rev();
    let words = words.filter(|(_, line)| line.main && line.item.kind == ItemKind::Agent);
    let words = words.map(|(at, line)| (at, line, one_line(&remark(line.words()), STEP_BYTES_MAX)));
    let told = words.filter(|(.., said)| !said.is_empty());
    let mut said: Vec<_> = told.take(REMARKS_MAX).collect();
    // what was said only before anything was changed is what was to be done
    let first = exchange.iter().position(|line| line.main && line.is_edit());
    let is_late = |at: usize| first.is_none_or(|first| at > first);
    if !said.first().is_some_and(|(at, ..)| is_late(*at)) {
        return None;
    }
    said.reverse();
    let all: Vec<String> = said.iter().map(|(.., said)| said.clone()).collect();
    let (_, last, _) = said.last()?;
    let text = all.join(" ");
    let is_enough = text.chars().count() >= REMARK_CHARS_MIN;
    is_enough.then(|| last.source(format!("{SO_FAR}{text}")))
}

/// What a remark states: not `Good.`, nor `Reading the plan...`.
fn remark(words: &str) -> Vec<String> {
    let stated = stated_first(words).into_iter();
    let stated = stated.map(|line| match is_point(&line) {
        true => line,
        false => without_idle(&line),
    });
    stated.filter(|line| !line.is_empty()).collect()
}

/// A shorter sentence says nothing: `Both land.`
const WORDS_MIN: usize = 3;

/// The sentences of the middle of work that state something.
pub(super) fn without_idle(line: &str) -> String {
    let says = |sentence: &&str| {
        let is_going_on = sentence.ends_with("...") || sentence.ends_with('…');
        let says = sentence.split_whitespace().count() >= WORDS_MIN;
        says && !is_going_on && !is_readiness(sentence) && !is_interim(sentence)
    };
    sentences(line).filter(says).collect::<Vec<_>>().join(" ")
}

/// Stands before what was stated in the middle of work.
pub(super) const SO_FAR: &str = "So far: ";

/// Stands before an answer that changed nothing, where files were changed later, or where later turns changed the same
/// files.
pub(super) const FIRST: &str = "First: ";

/// What stands before an answer, and the answer.
pub(super) fn without_lead(text: &str) -> (&str, &str) {
    let leads = [SO_FAR, FIRST];
    let lead = leads.iter().find(|lead| text.starts_with(**lead));
    text.split_at(lead.map_or(0, |lead| lead.len()))
}

/// A list stands in lines of its own.
pub(super) fn led(lead: &str, text: String) -> String {
    match text.lines().next().is_some_and(is_point) {
        true => format!("{}\n{text}", lead.trim_end()),
        false => format!("{lead}{text}"),
    }
}

/// Points of reports in the middle of work that name files which were changed; none where the last words name one.
pub(super) fn parts(exchange: &[LocatedItem<'_>], last: &[String]) -> Vec<String> {
    let changed = |line: &LocatedItem<'_>| {
        let paths = line
            .item
            .findings
            .iter()
            .filter_map(|finding| match finding {
                Finding::Changed { path, .. } => path.rsplit(['/', '\\']).next().map(str::to_owned),
                _ => None,
            });
        paths.collect::<Vec<String>>()
    };
    let first = exchange.iter().position(|line| !changed(line).is_empty());
    let Some(first) = first else {
        return Vec::new();
    };
    let names: Vec<String> = exchange.iter().flat_map(changed).collect();
    let names_one = |text: &&String| names.iter().any(|name| text.contains(name.as_str()));
    let points = last.iter().filter(|text| is_point(text)).count();
    if points >= 2 || last.iter().any(|text| names_one(&text)) {
        return Vec::new();
    }
    let reports = exchange[first..].iter();
    let reports = reports.filter(|line| line.main && line.item.kind == ItemKind::Agent);
    let mut all: Vec<String> = Vec::new();
    let lists = |words: &str| words.contains("\n- ") || words.contains("\n|");
    for line in reports.filter(|line| lists(line.words())) {
        let points = stated_first(line.words());
        let points = points
            .iter()
            .filter(|text| is_point(text))
            .filter(names_one);
        for point in points {
            if all.len() < PARTS_MAX && !all.contains(point) {
                all.push(point.clone());
            }
        }
    }
    all
}

/// More points of the middle of work are a log.
const PARTS_MAX: usize = 5;

/// The words don't announce what comes next.
pub(super) fn states(words: &str) -> bool {
    !words.trim_end().ends_with([':', '…']) && ending(words) != Ending::GoesOn
}
