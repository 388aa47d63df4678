//! What belongs to a decision besides its sentence: the points below it, and the question that a no answers.

use super::super::points::{is_point, without_mark};
use super::super::words;
use crate::model::summary::Decision;
use crate::rules::replies::{declines, leads_to_plan, named, offers_several, offers_work};
use crate::rules::requests::{RequestKind, request};
use crate::rules::words::sentences;

/// Points of a decision take no more.
const POINTS_CHARS_MAX: usize = 160;

/// Of each so much says what it is.
const POINT_CHARS_MAX: usize = 60;

/// Adds the points that stand below a decision which ends its line with a colon.
pub(super) fn add_points(decision: &mut String, prompt: &str) {
    let leads = |line: &str| {
        let line = line.trim_end().strip_suffix(':');
        line.is_some_and(|line| line.ends_with(decision.as_str()))
    };
    let mut lines = prompt.lines();
    if !lines.by_ref().any(leads) {
        return;
    }
    let points = lines
        .skip_while(|line| line.trim().is_empty())
        .take_while(|line| is_point(line));
    let mut text = String::new();
    for point in points {
        let point = words::folded(without_mark(point));
        let point = words::shortened(&point, POINT_CHARS_MAX);
        if text.chars().count() + point.chars().count() > POINTS_CHARS_MAX {
            text.push_str("; …");
            break;
        }
        text.push_str(if text.is_empty() { ": " } else { "; " });
        text.push_str(&point);
    }
    decision.push_str(&text);
}

/// The points of the last plan in an agent's words, the first ones in short: `Plan: round once; drop the old list`.
pub(super) fn planned(agent: &str) -> Option<String> {
    const POINTS_MAX: usize = 3;
    const CHARS_MAX: usize = 90;
    let lines = agent.lines().map(words::folded);
    let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
    let at = lines.iter().rposition(|line| leads_to_plan(line))?;
    let below = lines[at + 1..].iter().take_while(|line| is_point(line));
    let points: Vec<&str> = below.map(|point| without_mark(point)).collect();
    let told = points.iter().take(POINTS_MAX);
    let mut told: Vec<String> = told
        .map(|point| words::shortened(point.trim_end_matches(['.', ':']), CHARS_MAX))
        .collect();
    match points.len().saturating_sub(POINTS_MAX) {
        0 => {}
        more => told.push(format!("and {more} more")),
    }
    (points.len() > 1).then(|| format!("{} {}", lines[at], told.join("; ")))
}

/// Of a long reply its first sentence.
pub(super) fn first_of_long(words: &str) -> &str {
    const BYTES_MAX: usize = 100;
    match words.len() > BYTES_MAX {
        true => sentences(words).next().unwrap_or(words),
        false => words,
    }
}

/// A name of what the agent spoke of before it asked something, chosen by the first line of an answer.
pub(super) fn named_in(answer: &str, agent: &str, end: &[String]) -> Option<Decision> {
    let line = answer.lines().next()?;
    let name = named(line)?;
    let mut asked = end.iter().filter(|sentence| sentence.contains('?'));
    let is_answer = asked.clone().next().is_some() && agent.contains(&name);
    let about = asked.find(|sentence| sentence.contains(&name));
    is_answer.then(|| Decision {
        decision: words::folded(line),
        about: about.map(|asked| words::shortened(asked, QUESTION_CHARS_MAX)),
        ..Decision::default()
    })
}

/// Of a question so much says what it asks.
const QUESTION_CHARS_MAX: usize = 200;

/// A no to work that the agent offered, where nothing else is asked for.
pub(super) fn declined(answer: &str, end: &[String]) -> Option<Decision> {
    const BYTES_MAX: usize = 80;
    if answer.len() > BYTES_MAX || answer.contains('\n') || !declines(answer) {
        return None;
    }
    let asks = |sentence: &str| {
        let asked = request(sentence);
        asked.is_some_and(|asked| asked.kind == RequestKind::Ask)
    };
    let asked = end.iter().find(|sentence| sentence.ends_with('?'))?;
    let is_one = offers_work(asked) && !offers_several(asked);
    (is_one && !sentences(answer).any(asks)).then(|| Decision {
        decision: answer.to_owned(),
        about: Some(asked.clone()),
        ..Decision::default()
    })
}
