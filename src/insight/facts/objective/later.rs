//! What was asked after the first request and shaped the session: by what followed it, not by where it stands.

use super::super::line::{LocatedItem, edits, found};
use super::super::prompts::{Prompt, exchange};
use super::super::shipped::is_of_history;
use super::super::words::points_back;
use super::clause::clause;
use super::told::{
    NEW_WORDS_MIN, OBJECTIVE_CHARS_MAX, Told, WEAK_WORDS_MAX, about, is_pointer, told,
};
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::rules::clauses::{asks_progress, is_empty_ask, is_hollow, proposed};
use crate::rules::replies::{Reply, reply};
use crate::rules::requests::{RequestKind, acts_on, asks_something, is_move, points, request};
use crate::rules::words::is_same;
use rustc_hash::FxHashMap;

/// Stands before an ask of a later prompt.
pub(super) const THEN: &str = "; then: ";

/// More later asks than that are a list.
const THEN_MAX: usize = 3;

/// A later ask is a clause, or a few of them.
const CLAUSE_CHARS_MAX: usize = 70;

/// What was asked first has so much room, and all that it needs where most was done for it.
pub(super) const FIRST_CHARS_MIN: usize = 130;

/// An ask that less than this part of the work was done for shaped nothing.
const PARTS_MAX: usize = 40;

/// What was committed tells what one was about that this part of the work was done for.
const MAIN_PARTS_MAX: usize = 6;

/// The asks behind the first one.
pub(super) struct Later {
    /// In order of time.
    asks: Vec<LaterAsk>,
    /// What was done for the first one.
    first: usize,
    /// What was done in all.
    total: usize,
    /// In how many prompts a word stands.
    often: FxHashMap<String, usize>,
}

/// A later ask as a clause.
struct LaterAsk {
    at: usize,
    work: usize,
    text: String,
}

/// A prompt with what was done for it and for those behind it that only agree or move on.
struct Matter<'t> {
    at: usize,
    work: usize,
    is_edited: bool,
    clause: Option<Clause>,
    subjects: Vec<&'t str>,
}

/// What a prompt asks for, where it says so by itself.
struct Clause {
    text: String,
    /// It asks for an answer.
    is_question: bool,
}

/// The later asks that much was done for; `prompts`: all of the session.
pub(super) fn later(
    lines: &[LocatedItem<'_>],
    prompts: &[Prompt<'_, '_>],
    first: &Prompt<'_, '_>,
) -> Later {
    let mut matters = matters(lines, prompts, first);
    let total: usize = matters.iter().map(|matter| matter.work).sum();
    let rest = matters.split_off(matters.len().min(1));
    let asks = rest.into_iter().filter_map(|matter| {
        let is_much = total == 0 || matter.work > 0 && matter.work * PARTS_MAX >= total;
        let clause = matter.clause.filter(|_| is_much);
        // what was asked for shapes more than what somebody wanted to know, or what only the agent's words name
        let is_asked = clause.as_ref().is_some_and(|clause| !clause.is_question);
        let work = if is_asked {
            matter.work
        } else {
            matter.work / 2
        };
        let said = clause.map(|clause| clause.text);
        // who only agrees has that done which was committed then
        let is_main = matter.is_edited && matter.work * MAIN_PARTS_MAX >= total;
        let text = said.or_else(|| subject(&matter.subjects).filter(|_| is_main))?;
        Some(LaterAsk {
            at: matter.at,
            work,
            text,
        })
    });
    Later {
        asks: asks.collect(),
        first: matters.first().map_or(0, |matter| matter.work),
        total,
        often: often(prompts),
    }
}

fn often(prompts: &[Prompt<'_, '_>]) -> FxHashMap<String, usize> {
    let mut often = FxHashMap::default();
    for prompt in prompts {
        for word in about(&prompt.prose.sentences.join(" ")) {
            *often.entry(word).or_default() += 1;
        }
    }
    often
}

fn matters<'t>(
    lines: &[LocatedItem<'t>],
    prompts: &[Prompt<'_, '_>],
    first: &Prompt<'_, '_>,
) -> Vec<Matter<'t>> {
    let mut all: Vec<Matter<'t>> = Vec::new();
    for prompt in prompts.iter().filter(|prompt| prompt.at >= first.at) {
        let exchange = exchange(lines, prompt.at);
        let subjects: Vec<&str> = found(exchange)
            .filter_map(|(_, finding)| committed(finding))
            .collect();
        let is_edited = edits(exchange) > 0;
        let work = work(exchange, subjects.len());
        match all.last_mut().filter(|_| moves_on(prompt)) {
            Some(matter) => {
                matter.work += work;
                matter.is_edited |= is_edited;
                matter.subjects.extend(subjects);
            }
            None => all.push(Matter {
                at: prompt.at,
                work,
                is_edited,
                clause: clause_of(prompt),
                subjects,
            }),
        }
    }
    all
}

/// It agrees, passes finished work on, or says nothing new.
fn moves_on(prompt: &Prompt<'_, '_>) -> bool {
    let words = prompt.line.words();
    let agrees = matches!(reply(words), Some(Reply::Agrees | Reply::Picks(_)));
    let says_nothing = |text: &str| is_pointer(text) || is_empty_ask(text) || asks_progress(text);
    agrees || told(prompt).iter().all(|told| says_nothing(&told.text))
}

fn committed(finding: &Finding) -> Option<&str> {
    match finding {
        Finding::Commit {
            subject,
            again: false,
            ..
        } => Some(subject),
        _ => None,
    }
}

/// Changed files and commits count more than calls.
fn work(exchange: &[LocatedItem<'_>], commits: usize) -> usize {
    const EDIT: usize = 4;
    const COMMIT: usize = 6;
    let is_call = |line: &&LocatedItem<'_>| line.main && line.item.kind == ItemKind::Digest;
    let calls = exchange.iter().filter(is_call).count();
    edits(exchange) * EDIT + commits * COMMIT + calls
}

/// Of the subjects of some commits, the one that says most; without its kind (`fix(cart): `).
fn subject(subjects: &[&str]) -> Option<String> {
    let says = subjects.iter().filter(|subject| !is_of_history(subject));
    let mut bare = says.filter_map(|subject| match subject.split_once(": ") {
        Some((kind, bare)) if !kind.contains(' ') => {
            let is_work = WORK_KINDS.iter().any(|work| kind.starts_with(work));
            is_work.then_some(bare)
        }
        _ => Some(*subject),
    });
    let first = bare.next()?;
    let most = bare.fold(first, |most, one| {
        if about(one).len() > about(most).len() {
            one
        } else {
            most
        }
    });
    let text = clause(most, CLAUSE_CHARS_MAX)?;
    (about(&text).len() >= WEAK_WORDS_MAX).then_some(text)
}

/// Kinds of commits that do what was asked for; others tidy up.
const WORK_KINDS: [&str; 4] = ["feat", "fix", "perf", "refactor"];

/// Its asks, as many as have room; else what it proposes or wants to know.
fn clause_of(prompt: &Prompt<'_, '_>) -> Option<Clause> {
    let all = told(prompt);
    let (mut text, mut left) = (String::new(), CLAUSE_CHARS_MAX);
    for ask in all.iter().filter_map(act) {
        let Some(ask) = clause(&ask, left).filter(|ask| is_own(ask)) else {
            continue;
        };
        if !text.is_empty() {
            if about(&ask).len() < WEAK_WORDS_MAX {
                continue;
            }
            text.push_str(JOINT);
        }
        text.push_str(&ask);
        left = left.saturating_sub(ask.chars().count() + JOINT.len());
    }
    if !text.is_empty() {
        return Some(Clause {
            text,
            is_question: false,
        });
    }
    let is_reply = is_reply(prompt);
    let mut questions = all
        .iter()
        .filter(|told| asks_something(&told.text) && !points_back(&told.text) && !is_reply);
    let text = questions
        .find_map(|told| clause(&told.text, CLAUSE_CHARS_MAX).filter(|ask| is_own(ask)))?;
    (about(&text).len() >= WEAK_WORDS_MAX).then_some(Clause {
        text,
        is_question: true,
    })
}

/// Between two asks of a prompt.
const JOINT: &str = "; ";

/// What a sentence has done, or proposes to.
fn act(told: &Told<'_>) -> Option<String> {
    match told.kind {
        RequestKind::Ask => Some(told.text.to_string()),
        RequestKind::Limit => None,
        _ => {
            let act = proposed(&told.text)?;
            let asks = request(&act).is_some_and(|asked| asked.kind != RequestKind::Statement);
            asks.then_some(act)
        }
    }
}

/// It says by itself what it is about.
fn is_own(text: &str) -> bool {
    let words = about(text);
    let is_plain = |word: &String| acts_on(word) || is_move(word) || points(word);
    let says = match words.len() {
        NEW_WORDS_MIN => !words.iter().any(is_plain) && !points_back(text),
        WEAK_WORDS_MAX => !points_first(text),
        words => words > WEAK_WORDS_MAX,
    };
    says && !is_pointer(text) && !is_hollow(text)
}

/// It begins with what only points at something: `do this for carts`, `these two`.
fn points_first(text: &str) -> bool {
    const WORDS: usize = 2;
    let mut blanks = text.match_indices(' ');
    let end = blanks.nth(WORDS - 1).map_or(text.len(), |(at, _)| at);
    points_back(&text[..end].to_lowercase())
}

impl Later {
    /// What is kept for them behind what was asked first in so many characters, and names. `is_long`: it has no clause.
    pub(super) fn room(&self, first: usize, is_long: bool, names: usize) -> usize {
        let is_most = self.first * 2 >= self.total;
        let kept = match is_most || is_long {
            true => first,
            false => first.min(FIRST_CHARS_MIN),
        };
        let room = OBJECTIVE_CHARS_MAX.saturating_sub(kept + names);
        self.then("", room).chars().count()
    }

    /// Those that have so much room and say what `told` doesn't, of many those that most was done for and that name what
    /// the session speaks of, and how they are told.
    pub(super) fn then(&self, told: &str, room: usize) -> String {
        let mut known = about(told);
        let mut left = room;
        let mut chosen: Vec<(usize, String)> = Vec::new();
        let mut asks: Vec<&LaterAsk> = self.asks.iter().collect();
        while chosen.len() < THEN_MAX {
            let of = |ask: &&LaterAsk| self.weight(ask, &known);
            let Some(best) = asks
                .iter()
                .rev()
                .max_by_key(|ask| of(ask))
                .map(|ask| ask.at)
            else {
                break;
            };
            let nth = asks
                .iter()
                .position(|ask| ask.at == best)
                .unwrap_or_default();
            let ask = asks.remove(nth);
            let Some(text) = clause(&ask.text, left.saturating_sub(THEN.len())) else {
                continue;
            };
            if is_own(&text) && is_new(&text, &known) {
                left -= text.chars().count() + THEN.len();
                known.extend(about(&text));
                chosen.push((ask.at, text));
            }
        }
        chosen.sort_unstable();
        let all = chosen.iter().map(|(_, text)| format!("{THEN}{text}"));
        all.collect()
    }

    /// By what was done, and by the new words of it that prompts say again and again.
    fn weight(&self, ask: &LaterAsk, known: &[String]) -> usize {
        const OFTEN: usize = 4;
        let new = about(&ask.text);
        let is_known = |word: &String| known.iter().any(|known| is_same(known, word));
        let new = new.iter().filter(|word| !is_move(word) && !is_known(word));
        let often =
            new.map(|word| 1 + self.often.get(word).copied().unwrap_or_default().min(OFTEN));
        (1 + ask.work.max(1).ilog2() as usize) * often.sum::<usize>()
    }
}

/// It says something new.
fn is_new(text: &str, known: &[String]) -> bool {
    let own = about(text);
    let is_new = |word: &&String| !known.iter().any(|known| is_same(known, word));
    own.iter().filter(is_new).count() >= NEW_WORDS_MIN
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

/// What was asked first, with more that was asked later.
pub(super) fn with_more(whole: Option<String>, text: &str, more: &str) -> Option<String> {
    let asked = whole.as_deref().unwrap_or(text);
    if asked.contains(more) {
        return whole;
    }
    Some(match asked.contains('\n') {
        true => format!("{asked}\nThen: {more}"),
        false => format!("{asked}{THEN}{more}"),
    })
}

/// It answers what the agent offered: `yes, and run it twice`.
fn is_reply(prompt: &Prompt<'_, '_>) -> bool {
    matches!(
        reply(prompt.line.words()),
        Some(Reply::Agrees | Reply::Begins | Reply::Picks(_))
    )
}
