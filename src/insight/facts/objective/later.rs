//! What was asked after the first request and shaped the session: by what followed it, not by where it stands.

use super::super::line::{LocatedItem, edits, found};
use super::super::prompts::{Prompt, exchange};
use super::super::words::points_back;
use super::clause::clause;
use super::{OBJECTIVE_CHARS_MAX, Told, WEAK_WORDS_MAX, about, is_pointer, told};
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::rules::replies::{Reply, reply};
use crate::rules::requests::{RequestKind, asks_something};
use crate::rules::words::is_same;

/// Stands before an ask of a later prompt.
pub(super) const THEN: &str = "; then: ";

/// More later asks than that are a list.
const THEN_MAX: usize = 3;

/// A later ask is a clause.
const CLAUSE_CHARS_MAX: usize = 90;

/// One that less than this share of the work was done for shaped nothing.
const SHARE_MIN: usize = 12;

/// What was asked first has so much room.
const FIRST_CHARS_MIN: usize = 90;

/// Of all that was done for the asks of a session.
pub(super) struct Later {
    /// In order of time.
    pub(super) asks: Vec<LaterAsk>,
    /// What was done for the first ask.
    pub(super) first: usize,
    /// What was done in all.
    pub(super) total: usize,
}

/// A later ask as a clause.
pub(super) struct LaterAsk {
    at: usize,
    work: usize,
    text: String,
}

/// The later asks that much was done for; `prompts`: all of the session, `first` and `others`: those that ask.
pub(super) fn later(
    lines: &[LocatedItem<'_>],
    prompts: &[Prompt<'_, '_>],
    first: &Prompt<'_, '_>,
    others: &[&Prompt<'_, '_>],
) -> Later {
    let asking: Vec<(usize, usize)> = work_of(lines, prompts, first, others);
    let total: usize = asking.iter().map(|(_, work)| work).sum();
    let of = |at: usize| {
        let found = asking.iter().find(|(known, _)| *known == at);
        found.map_or(0, |(_, work)| *work)
    };
    let asks = others.iter().filter_map(|prompt| {
        let work = of(prompt.at);
        let is_much = work > 0 && work * SHARE_MIN >= total;
        let text = is_much.then(|| clause_of(prompt))??;
        Some(LaterAsk {
            at: prompt.at,
            work,
            text,
        })
    });
    Later {
        asks: asks.collect(),
        first: of(first.at),
        total,
    }
}

/// What was done for each prompt that asks: who only agrees with what was talked about has that done.
fn work_of(
    lines: &[LocatedItem<'_>],
    prompts: &[Prompt<'_, '_>],
    first: &Prompt<'_, '_>,
    others: &[&Prompt<'_, '_>],
) -> Vec<(usize, usize)> {
    let mut all: Vec<(usize, usize)> = Vec::new();
    for prompt in prompts.iter().filter(|prompt| prompt.at >= first.at) {
        let own = work(exchange(lines, prompt.at));
        let asks = prompt.at == first.at
            || others.iter().any(|other| other.at == prompt.at) && clause_of(prompt).is_some();
        match all.last_mut().filter(|_| !asks) {
            Some((_, work)) => *work += own,
            None => all.push((prompt.at, own)),
        }
    }
    all
}

/// Changed files and what was committed or proposed count more than calls.
fn work(exchange: &[LocatedItem<'_>]) -> usize {
    const EDIT: usize = 4;
    const COMMIT: usize = 6;
    let calls = exchange
        .iter()
        .filter(|line| line.main && line.item.kind == ItemKind::Digest);
    let commits = found(exchange)
        .filter(|(_, finding)| matches!(finding, Finding::Commit { again: false, .. }));
    edits(exchange) * EDIT + commits.count() * COMMIT + calls.count()
}

/// What a prompt asks for, where it says so by itself.
fn clause_of(prompt: &Prompt<'_, '_>) -> Option<String> {
    let all = told(prompt);
    let is_reply = is_reply(prompt);
    let mut asks = all.iter().filter(|told| {
        let is_whole = told.text.matches('"').count().is_multiple_of(2);
        let asks = told.kind == RequestKind::Ask || asks_something(&told.text);
        asks && is_whole
    });
    asks.find_map(|told| {
        let text = clause(&told.text, CLAUSE_CHARS_MAX)?;
        let says = about(&text).len() >= WEAK_WORDS_MAX && !is_pointer(&text);
        let is_new = !is_reply || told.kind == RequestKind::Ask && !points_back(&text);
        (says && is_new).then_some(text)
    })
}

impl Later {
    /// What is kept for them behind names of so many characters: as much as was done for them of the whole, where they
    /// need it.
    pub(super) fn room(&self, names: usize) -> usize {
        let first = OBJECTIVE_CHARS_MAX * self.first / self.total.max(1);
        let room = OBJECTIVE_CHARS_MAX - first.max(FIRST_CHARS_MIN);
        self.then("", room.saturating_sub(names)).chars().count()
    }

    /// Those that have so much room and say what `told` doesn't, of many those that most was done for, and how they are
    /// told.
    pub(super) fn then(&self, told: &str, room: usize) -> String {
        let mut asks: Vec<&LaterAsk> = self.asks.iter().collect();
        asks.sort_by_key(|ask| (std::cmp::Reverse(ask.work), ask.at));
        let mut known = about(told);
        let mut left = room;
        let mut chosen: Vec<&LaterAsk> = Vec::new();
        for ask in asks {
            let length = ask.text.chars().count() + THEN.len();
            if length <= left && chosen.len() < THEN_MAX && is_new(&ask.text, &known) {
                left -= length;
                known.extend(about(&ask.text));
                chosen.push(ask);
            }
        }
        chosen.sort_unstable_by_key(|ask| ask.at);
        let all = chosen.iter().map(|ask| format!("{THEN}{}", ask.text));
        all.collect()
    }
}

/// Half of its words are new.
fn is_new(text: &str, known: &[String]) -> bool {
    let own = about(text);
    let is_known = |word: &&String| known.iter().any(|known| is_same(known, word));
    own.iter().filter(is_known).count() * 2 <= own.len()
}

/// What a prompt asks for that more was done for than for the first one; an answer to the agent's words says too little.
pub(super) fn core_ask(core: &Prompt<'_, '_>) -> Option<String> {
    let all = told(core);
    let is_ask = |told: &&Told<'_>| told.kind == RequestKind::Ask;
    let ask = &all.iter().find(is_ask)?.text;
    let says = about(ask).len() >= WEAK_WORDS_MAX && !is_pointer(ask) && !points_back(ask);
    let fits = ask.chars().count() <= OBJECTIVE_CHARS_MAX;
    (says && fits && !is_reply(core)).then(|| ask.to_string())
}

/// What was asked first, with that.
pub(super) fn with_core(whole: Option<String>, text: &str, core: &str) -> Option<String> {
    let asked = whole.as_deref().unwrap_or(text);
    if asked.contains(core) {
        return whole;
    }
    Some(match asked.contains('\n') {
        true => format!("{asked}\nThen: {core}"),
        false => format!("{asked}{THEN}{core}"),
    })
}

/// It answers what the agent offered: `yes, and run it twice`.
fn is_reply(prompt: &Prompt<'_, '_>) -> bool {
    matches!(
        reply(prompt.line.words()),
        Some(Reply::Agrees | Reply::Begins | Reply::Picks(_))
    )
}
