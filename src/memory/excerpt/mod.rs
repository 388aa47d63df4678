//! What of a session answers a question, quoted within a fact's room: whole sentences, people's and agents' words
//! before a program's, and what took them back later.

mod choose;
mod spans;
mod taken_back;

use crate::model::episode::EpisodeSource;
use crate::store::{EpisodeText, Hit, Result, Store, Term};
use choose::{Place, choose};
use spans::{Span, Voice, spans};
use taken_back::taken_back;
use uuid::Uuid;

/// A question as an excerpt is chosen for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sought {
    /// Its terms.
    pub terms: Vec<Term>,
    /// How much each says.
    pub weights: Vec<f64>,
}

/// Episodes of a session that are read for an excerpt, the best ones. More: slower, each costs its text.
const EPISODES_MAX: usize = 4;

/// A sentence is shown up to here; of a longer one the stretch around the words.
const SENTENCE_CHARS_MAX: usize = 240;

/// Characters before the first word of such a stretch.
const LEAD_CHARS: usize = 60;

/// Between sentences that don't follow each other.
const GAP: &str = " … ";

/// Where a person speaks, and where an agent answers.
const PERSON: &str = "User: ";
const AGENT: &str = "Agent: ";

/// What a person said of it afterwards.
const LATER: &str = " … later User: ";

/// The sentences of this session, one of `hits`, that answer best, in so many characters. `None`: it has none that
/// fits. Some ms: it reads a few texts.
///
/// # Errors
/// When the store can't be read.
pub fn excerpt(
    store: &Store,
    session: &str,
    hits: &[Hit],
    sought: &Sought,
    room: usize,
) -> Result<Option<String>> {
    let texts = texts(store, session, hits, sought)?;
    Ok(of_texts(&texts, &sought.weights, room))
}

/// Of these texts, in their order.
fn of_texts(texts: &[EpisodeText], weights: &[f64], room: usize) -> Option<String> {
    let all: Vec<Vec<Span<'_>>> = texts.iter().map(spans).collect();
    let cost = |span: &Span<'_>| shown(span).chars().count() + GAP.chars().count() + AGENT.len();
    let mut chosen = choose(&all, weights, room, cost);
    let later = taken_back(&all, &chosen).map(|span| format!("{LATER}{}", shown(span)));
    let later = later.filter(|later| later.chars().count() < room);
    if let Some(later) = &later {
        chosen = choose(&all, weights, room - later.chars().count(), cost);
    }
    let text = quote(&all, &chosen);
    let later = later.unwrap_or_default();
    (!text.is_empty()).then(|| format!("{text}{later}"))
}

/// The best episodes of a session, in its order, and what came right behind the best one.
fn texts(store: &Store, session: &str, hits: &[Hit], sought: &Sought) -> Result<Vec<EpisodeText>> {
    let mut episodes: Vec<Uuid> = Vec::new();
    for hit in hits.iter().filter(|hit| hit.session == session) {
        episodes.push(hit.episode);
        episodes.extend(&hit.others);
    }
    episodes.truncate(EPISODES_MAX);
    let best = episodes.first().copied();
    let after = best
        .map(|best| store.episode_after(best))
        .transpose()?
        .flatten();
    episodes.extend(after.filter(|after| !episodes.contains(after)));
    let mut texts = store.episode_texts(&episodes, &sought.terms)?;
    let is_summary = |text: &EpisodeText| text.source == EpisodeSource::SessionSummary;
    // a summary says again what the log says
    if texts.iter().any(|text| !is_summary(text)) {
        texts.retain(|text| !is_summary(text));
    }
    texts.sort_by(|a, b| (&a.stream, a.part).cmp(&(&b.stream, b.part)));
    Ok(texts)
}

fn quote(all: &[Vec<Span<'_>>], chosen: &[Place]) -> String {
    let mut text = String::new();
    let mut last: Option<(Place, Voice)> = None;
    for (e, n) in chosen {
        let span = &all[*e][*n];
        text.push_str(match last {
            None => "",
            Some(((of, nth), _)) if (of, nth + 1) == (*e, *n) => " ",
            Some(_) => GAP,
        });
        text.push_str(match (last.map(|(_, voice)| voice), span.voice) {
            (Some(before), now) if before == now => "",
            (_, Voice::Person) => PERSON,
            (Some(_), Voice::Agent) => AGENT,
            _ => "",
        });
        text.push_str(&shown(span));
        last = Some(((*e, *n), span.voice));
    }
    text
}

/// A sentence as it is quoted.
fn shown(span: &Span<'_>) -> String {
    let text = span.text.trim_end_matches(['|', ' ']);
    let count = text.chars().count();
    if count <= SENTENCE_CHARS_MAX {
        return text.replace("**", "");
    }
    let last = count - SENTENCE_CHARS_MAX;
    let skipped = span.first.saturating_sub(LEAD_CHARS).min(last);
    let stretch = text.chars().skip(skipped).take(SENTENCE_CHARS_MAX);
    let stretch: String = stretch.collect();
    let mut words = stretch.as_str();
    let (mut before, mut after) = ("", "");
    if skipped > 0 {
        before = "…";
        words = words.split_once(' ').map_or(words, |(_, rest)| rest);
    }
    if skipped < last {
        after = "…";
        words = words.rsplit_once(' ').map_or(words, |(rest, _)| rest);
    }
    format!("{before}{}{after}", words.replace("**", ""))
}

#[cfg(test)]
mod tests;
