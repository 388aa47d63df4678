//! What people asked for after the first request, each in a line, with what became of it where that is known.

mod asked_back;
mod asking;
mod became;
mod beside;
mod interrupted;
mod last_words;
mod listed;
mod moved;
mod offers;

use super::committed::committed;
use super::history::is_sub_agent;
use super::line::{LocatedItem, edits};
use super::meanwhile::meanwhile;
use super::options::{option_of, with_option};
use super::pasted_failures::shown;
use super::plan_steps::is_lead;
use super::prompts::{Prompt, exchange, opens};
use super::prose::links_shortened;
use super::taken_up::Withdrawn;
use super::words::shortened;
use crate::model::finding::Finding;
use crate::model::summary::{SessionCommit, Sourced};
use crate::rules::replies::{Reply, reply};
use crate::rules::requests::{Request, RequestKind, is_idle, request};
use crate::rules::words::content_words;
use asked_back::asks_back;
pub use asking::{asks_for_work, is_bare_pick, says_something};
use became::{DONE, NOT_DONE, STOPPED_THERE, became, is_left};
pub use became::{changes, is_unfinished};
use beside::{is_dependent, with_error, with_quoted};
pub use interrupted::{Next, next_of};
use last_words::{answers_aside, last_said, said_before_forms, said_so_far, said_until};
pub use listed::{LaterRequests, ListedRequest};
pub use moved::is_bare_errand;
use moved::{MOVED_BYTES_MAX, are_moved, is_moved, missed};
pub use offers::words_before;
use offers::{agreed, with_offer};
use rustc_hash::FxHashMap;

/// One prompt of many, in a list.
const REQUEST_CHARS_MAX: usize = 280;

/// A question that nobody answered says nothing with fewer.
const QUESTION_WORDS_MIN: usize = 4;

/// Of what nothing came, with fewer: `use the other skill`.
const ASK_WORDS_MIN: usize = 3;

/// With fewer words that say something, what begins so asks for nothing: `I was mistaken`.
const STATEMENT_WORDS_MIN: usize = 3;
const STATES: [&str; 10] = [
    "i ", "it ", "it's ", "that ", "that's ", "this ", "there ", "you ", "does ", "doesn't ",
];

/// What the agent said to requests, by where their prompts stand.
pub struct Answers<'a> {
    /// In a line each.
    pub steps: &'a [(usize, Sourced<String>)],
    /// Those that the result tells.
    pub in_result: &'a [usize],
    /// Those that were taken back.
    pub withdrawn: &'a FxHashMap<usize, Withdrawn>,
    /// Those that are left at the end.
    pub commits: &'a [Sourced<SessionCommit>],
}

/// All but the first request, with what the agent said to each, where that is known.
pub fn requests(
    lines: &[LocatedItem<'_>],
    prompts: &[Prompt<'_, '_>],
    first: Option<&Sourced<String>>,
    answers: &Answers<'_>,
) -> LaterRequests {
    let answered = answered(lines, prompts, first);
    let others = prompts.iter().enumerate();
    let others = others.filter_map(|(nth, prompt)| Some((nth, prompt, answered[nth]?)));
    let mut all: Vec<ListedRequest> = Vec::new();
    let mut of_asides = Vec::new();
    for (nth, prompt, answered) in others {
        let answer = answers.steps.iter().find(|(at, _)| *at == answered.at);
        let answer = match answers.in_result.contains(&answered.at) {
            true => Some(Answer::Result),
            false => answer.map(|(_, step)| Answer::Said(step.what.as_str())),
        };
        let is_open = answer.is_none() && !answers.withdrawn.contains_key(&answered.at);
        let last = is_open.then(|| last_said(lines, answered)).flatten();
        let last = last.or_else(|| said_so_far(lines, answered).filter(|_| is_open));
        let answer = answer.or(last.as_deref().map(Answer::Last));
        let own = others_answer(lines, prompt, answer.as_ref(), &mut of_asides);
        let is_asked_back = !answers.in_result.contains(&prompt.at)
            && asks_for_work(prompt)
            && asks_back(lines, prompt);
        let answer = match &own {
            _ if is_asked_back => None,
            Some(own) => own.as_deref().map(Answer::Last),
            None => answer,
        };
        let failure = || shown(prompt, &prompts[..nth]);
        let Some(mut text) = said(lines, prompt, answer.as_ref(), failure) else {
            continue;
        };
        let is_answered = matches!(answer, Some(Answer::Said(_) | Answer::Result));
        let withdrawn = answers.withdrawn.get(&prompt.at).copied();
        let withdrawn = withdrawn.filter(|_| answer.is_none());
        mark(&mut text, withdrawn, is_asked_back);
        if answer.is_none()
            && !text.ends_with(NOT_DONE)
            && let Some(committed) = committed(lines, prompt.at, answers.commits)
        {
            let asked = text.strip_suffix(DONE).unwrap_or(&text);
            text = format!("{asked}{ANSWERED}{committed}");
        }
        if let (Some(Answer::Result), Some(answer)) = (&answer, meanwhile(lines, prompt.at)) {
            let asked = text.strip_suffix(IN_RESULT).unwrap_or(&text);
            text = format!("{asked}{ANSWERED}{answer}{ALSO_IN_RESULT}");
        }
        // the objective says it, and the result what came of it
        let bare = text.strip_suffix(IN_RESULT).unwrap_or(&text);
        let is_in_objective =
            bare.len() < text.len() && first.is_some_and(|first| first.what.contains(bare));
        drop_asked_again(&mut all, &text);
        if all.iter().all(|known| known.request.what != text) {
            let is_work = is_work(exchange(lines, prompt.at));
            all.push(ListedRequest {
                at: prompt.at,
                weight: 2 * usize::from(is_work) + usize::from(answer.is_some()),
                answered: (own.is_none() && is_answered).then_some(answered.at),
                asked_bytes: asked_bytes(&text, answer.as_ref()),
                is_in_objective,
                request: prompt.line.source(text),
            });
        }
    }
    LaterRequests::of(all)
}

/// Where a line of a request and its answer goes over to the answer: people write arrows too.
fn asked_bytes(text: &str, answer: Option<&Answer<'_>>) -> usize {
    let asked = match answer {
        Some(Answer::Said(answer) | Answer::Last(answer)) => text.strip_suffix(answer),
        Some(Answer::Result) => text.strip_suffix(IN_RESULT),
        None => None,
    };
    let asked = asked.map(|asked| asked.strip_suffix(ANSWERED).unwrap_or(asked).len());
    asked.or_else(|| text.rfind(ANSWERED)).unwrap_or(text.len())
}

/// Files were changed for it, by the agent or by one that it sent.
fn is_work(exchange: &[LocatedItem<'_>]) -> bool {
    edits(exchange) > 0 || exchange.iter().any(is_sub_agent)
}

/// It is the objective, or only picks what that names.
fn is_told(
    lines: &[LocatedItem<'_>],
    prompt: &Prompt<'_, '_>,
    objective: &Sourced<String>,
) -> bool {
    if objective.line == prompt.line.line {
        return true;
    }
    let Some(Reply::Picks(name)) = reply(prompt.line.words()) else {
        return false;
    };
    let option = words_before(lines, prompt).and_then(|words| option_of(words, &name));
    option.is_some_and(|option| objective.what.contains(&option))
}

/// For each prompt the one whose answer answers it; `None` where another one tells it, or the objective `first`.
fn answered<'p, 'l, 't>(
    lines: &[LocatedItem<'_>],
    prompts: &'p [Prompt<'l, 't>],
    first: Option<&Sourced<String>>,
) -> Vec<Option<&'p Prompt<'l, 't>>> {
    let mut before = None;
    let each = prompts.iter().enumerate().map(|(nth, prompt)| {
        let next = next_of(lines, prompts, nth);
        let is_objective = first.is_some_and(|first| is_told(lines, prompt, first));
        match (before.replace(next).flatten(), next) {
            _ if is_objective => None,
            (Some(Next::GoesOn), _) | (_, Some(Next::Anew)) => None,
            (_, Some(Next::GoesOn)) => prompts.get(nth + 1),
            (_, None) => Some(prompt),
        }
    });
    each.collect()
}

/// Who was interrupted asks again: of the same request with an answer and one without, the answered one is listed.
fn drop_asked_again(all: &mut Vec<ListedRequest>, text: &str) {
    if let Some((asked, _)) = text.split_once(ANSWERED) {
        all.retain(|known| known.request.what != asked);
    }
}

/// Says behind a request how it was taken back, or that the agent only asked.
fn mark(text: &mut String, withdrawn: Option<Withdrawn>, is_asked_back: bool) {
    if let Some(asked) = text.strip_suffix(DONE).filter(|_| withdrawn.is_some()) {
        text.truncate(asked.len());
    }
    match withdrawn {
        _ if text.ends_with(')') => {}
        Some(Withdrawn::Said) => text.push_str(TAKEN_BACK),
        Some(Withdrawn::Undone(_)) => text.push_str(UNDONE),
        None if is_asked_back => text.push_str(ASKED_BACK),
        None => {}
    }
}

/// What a prompt is answered by instead, where its answer is about what somebody typed meanwhile or was asked in forms, or
/// where such an answer is its own. `of_asides` has those by their places.
fn others_answer(
    lines: &[LocatedItem<'_>],
    prompt: &Prompt<'_, '_>,
    answer: Option<&Answer<'_>>,
    of_asides: &mut Vec<(usize, String)>,
) -> Option<Option<String>> {
    if let Some((_, own)) = of_asides.iter().find(|(at, _)| *at == prompt.at) {
        return Some(Some(own.clone()));
    }
    let (Answer::Said(said) | Answer::Last(said)) = answer? else {
        return None;
    };
    if let Some(first) = said_before_forms(lines, prompt, said) {
        return Some(Some(first));
    }
    let aside = answers_aside(lines, prompt, said)?;
    of_asides.push((aside, (*said).to_owned()));
    Some(said_until(lines, prompt, aside))
}

/// What was asked last, or agreed with: `first` where nothing was asked after that.
pub fn last(
    lines: &[LocatedItem<'_>],
    prompts: &[Prompt<'_, '_>],
    first: Option<&Sourced<String>>,
) -> Option<Sourced<String>> {
    let prompt = prompts.iter().rfind(|prompt| opens(prompt.line))?;
    let first = first.filter(|first| first.line == prompt.line.line);
    let own = || {
        let text = own_requests(prompt);
        let best = text.iter().min_by_key(rank);
        let text = best.map(|best| with_others(best, &text));
        let text = text.or_else(|| agreed(lines, prompt));
        let words = || prompt.line.words().trim();
        let is_done = || {
            let exchange = exchange(lines, prompt.at).iter();
            exchange.flat_map(|line| line.item.findings).any(changes)
        };
        // `push`, and nothing shows that it was
        let is_left = || {
            let is_short = (1..=MOVED_BYTES_MAX).contains(&words().len());
            is_short && !words().contains("://") && !is_done()
        };
        let text = text.or_else(|| is_left().then(|| words().to_owned()))?;
        Some(prompt.line.source(text))
    };
    let first = first.map(|first| {
        let text = first.what.as_str();
        // where it was asked stands in parentheses behind it
        let bare = text
            .strip_suffix(')')
            .and_then(|text| text.rsplit_once(" ("));
        prompt
            .line
            .source(bare.map_or(text, |(bare, _)| bare).to_owned())
    });
    first.or_else(own)
}

/// What the agent said to a request.
enum Answer<'t> {
    /// In a line.
    Said(&'t str),
    /// The same, of words that are no answer of their own.
    Last(&'t str),
    /// The session's result.
    Result,
}

/// How much an answer says for itself; the session's result says much.
fn bytes_of(answer: Option<&Answer<'_>>) -> usize {
    match answer {
        Some(Answer::Said(answer)) => answer.len(),
        Some(Answer::Result) => usize::MAX,
        Some(Answer::Last(_)) | None => 0,
    }
}

/// Stands between a request and what the agent said to it.
pub const ANSWERED: &str = " → ";

/// Stands behind the request that the result is about.
pub const IN_RESULT: &str = " (see Result)";

/// The same, where the agent answered a part of it before.
const ALSO_IN_RESULT: &str = " (see also Result)";

/// Stands behind a request whose answer the agent took back.
const TAKEN_BACK: &str = " (answer taken back)";

/// Stands behind a request whose work somebody then had undone.
const UNDONE: &str = " (undone later)";

/// Stands behind a request that the agent did nothing for but ask how.
const ASKED_BACK: &str = " (the agent asked back)";

/// What an agreement agrees to, where that doesn't only move finished work on.
fn agreement(
    lines: &[LocatedItem<'_>],
    prompt: &Prompt<'_, '_>,
    answer: Option<&Answer<'_>>,
) -> Option<String> {
    let is_listed = || is_committed(exchange(lines, prompt.at));
    let is_over = |text: &str| {
        let asked = text.rsplit_once(" to: ").map_or(text, |(_, asked)| asked);
        is_moved(text, bytes_of(answer)) || is_moved(asked, 0) && is_listed()
    };
    agreed(lines, prompt).filter(|text| !is_over(text))
}

/// A commit came of it, which is listed among the commits.
fn is_committed(exchange: &[LocatedItem<'_>]) -> bool {
    let mut findings = exchange.iter().flat_map(|line| line.item.findings);
    findings.any(|finding| matches!(finding, Finding::Commit { .. }))
}

/// What a prompt asks for, with what became of it; an agreement is told with what it agrees to. `None` where
/// it says neither.
fn said(
    lines: &[LocatedItem<'_>],
    prompt: &Prompt<'_, '_>,
    answer: Option<&Answer<'_>>,
    failure: impl Fn() -> Option<String>,
) -> Option<String> {
    let words = prompt.line.words().trim();
    if let Some(Answer::Said(answer) | Answer::Last(answer)) = answer
        && let Some(missed) = missed(words, exchange(lines, prompt.at))
    {
        return Some(format!("{words} ({missed} failed){ANSWERED}{answer}"));
    }
    let requests = own_requests(prompt);
    let became = || match answer {
        Some(Answer::Said(answer) | Answer::Last(answer)) => format!("{ANSWERED}{answer}"),
        Some(Answer::Result) => IN_RESULT.to_owned(),
        None => became(lines, prompt).to_owned(),
    };
    let is_work = || {
        exchange(lines, prompt.at)
            .iter()
            .flat_map(|line| line.item.findings)
            .any(changes)
    };
    let Some(best) = requests.iter().min_by_key(rank) else {
        if let Some(failure) = failure().filter(|_| answer.is_some() || is_work()) {
            return Some(format!("{failure}{}", became()));
        }
        if let Some(errand) = bare_errand(lines, prompt, answer) {
            return Some(errand);
        }
        let came = || answer.is_some() || is_work();
        let text = match prompt.prose.address {
            // of nothing but an address, the agent knew what to do
            Some(address) if address == words => came().then(|| links_shortened(words))?,
            _ => agreement(lines, prompt, answer)?,
        };
        return Some(format!("{text}{}", became()));
    };
    let text = with_offer(lines, prompt, with_others(best, &requests));
    let text = with_option(text, words_before(lines, prompt).unwrap_or_default());
    let text = &with_error(prompt, best, with_quoted(prompt, text));
    if best.kind == RequestKind::Ask && are_moved(&requests, text, bytes_of(answer)) {
        let is_bare = matches!(answer, None | Some(Answer::Last(_)));
        let is_left = is_bare && is_left(lines, prompt);
        return is_left.then(|| format!("{}{NOT_DONE}", with_others(best, &requests)));
    }
    let is_pasted = || !is_own(text) && !is_work() && became() != STOPPED_THERE;
    let is_nothing = || asks_for_nothing(text) || is_pasted();
    // `That looks great now`, whatever the agent said to it
    let is_praise = || !says_something(prompt) && !is_work();
    if best.kind == RequestKind::Statement && (is_praise() || answer.is_none() && is_nothing()) {
        return None;
    }
    let about = content_words(text);
    let says = about.iter().filter(|word| !is_idle(word)).count();
    let is_short = match best.kind {
        RequestKind::Ask => says < ASK_WORDS_MIN,
        _ => says < QUESTION_WORDS_MIN,
    };
    // `do it (see Result)` says nothing of its own, `fix them all` what became of all before it
    let is_bare =
        || matches!(answer, Some(Answer::Result)) && says < 2 && !(says == 1 && is_work());
    if is_short && answer.is_none() && became().is_empty() || is_bare() {
        return None;
    }
    let is_told = best.kind == RequestKind::Ask || answer.is_some();
    let became = is_told.then(became).unwrap_or_default();
    Some(format!("{text}{became}"))
}

/// `push`, where the session ends in the middle of it, or where the agent says more than that it did.
fn bare_errand(
    lines: &[LocatedItem<'_>],
    prompt: &Prompt<'_, '_>,
    answer: Option<&Answer<'_>>,
) -> Option<String> {
    let words = prompt.line.words().trim();
    match answer {
        _ if !is_bare_errand(words) => None,
        _ if is_left(lines, prompt) => Some(format!("{words}{NOT_DONE}")),
        Some(Answer::Said(answer) | Answer::Last(answer)) if answer.len() > MOVED_BYTES_MAX => {
            Some(format!("{words}{ANSWERED}{answer}"))
        }
        _ => None,
    }
}

/// What a prompt says that may be listed.
fn own_requests<'p>(prompt: &'p Prompt<'_, '_>) -> Vec<Request<'p>> {
    let prose = &prompt.prose;
    // a heading stands above what somebody wrote or pasted
    let said = prose.sentences.iter().enumerate();
    let said = said.filter(|(nth, _)| !prose.headings.contains(nth));
    said.filter_map(|(nth, sentence)| match prose.sentences.get(nth + 1) {
        // `Implement this plan:` is what the plan is called
        Some(title) if prose.headings.contains(&(nth + 1)) && is_lead(sentence) => {
            let text = title.strip_prefix("Plan: ").unwrap_or(title);
            let kind = RequestKind::Ask;
            Some(Request { kind, text })
        }
        _ => request(sentence),
    })
    .filter(|request| request.text.split_whitespace().count() > 1 || !request.text.is_ascii())
    .filter(|request| !is_scrap(request.text))
    .collect()
}

/// The first is what a prompt is about.
fn rank(request: &&Request<'_>) -> u8 {
    let about = content_words(request.text);
    let says = about.iter().any(|word| !is_idle(word));
    match request.kind {
        RequestKind::Ask if says => 0,
        RequestKind::Question => 1,
        RequestKind::Statement => 2,
        RequestKind::Ask | RequestKind::Limit => 3,
    }
}

/// A request with what else the prompt says, in order: all of it where that is short, else what else it asks for, as far
/// as that has room.
fn with_others(best: &Request<'_>, all: &[Request<'_>]) -> String {
    let whole = joined(all.iter().map(|one| one.text));
    if whole.chars().count() <= REQUEST_CHARS_MAX {
        return whole;
    }
    let says = |ask: &str| {
        let words = content_words(ask);
        words.iter().filter(|word| !is_idle(word)).count() >= ASK_WORDS_MIN
    };
    let best_text = shortened(best.text, REQUEST_CHARS_MAX);
    let mut chosen = vec![best.text];
    let asks = all
        .iter()
        .filter(|one| one.kind == RequestKind::Ask && says(one.text));
    for ask in asks.filter(|ask| ask.text != best.text) {
        let told = |text: &str| text == ask.text || chosen.contains(&text);
        let more: Vec<&str> = all
            .iter()
            .map(|one| one.text)
            .filter(|text| told(text))
            .collect();
        if joined(more.iter().copied()).chars().count() <= REQUEST_CHARS_MAX {
            chosen = more;
        }
    }
    let is_first = all.first().is_some_and(|one| one.text == best.text);
    match chosen.len() {
        // "shorten that loop" says nothing without what was said before it
        1 if !is_first && is_dependent(best.text) => shortened(&whole, REQUEST_CHARS_MAX),
        1 => best_text,
        _ => joined(chosen.into_iter()),
    }
}

fn joined<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    let mut all = String::new();
    for text in texts {
        let ended = all.ends_with(['?', '!', '.', ':', '…']);
        all.push_str(match all.is_empty() {
            true => "",
            false if ended => " ",
            false => "; ",
        });
        all.push_str(text);
    }
    all
}

/// A part of something, or nothing but an address: `shop PR #7`.
fn is_scrap(text: &str) -> bool {
    const WORDS_MAX: usize = 3;
    let is_address = text.contains(" #") && text.split_whitespace().count() <= WORDS_MAX;
    let opened = text.find('(').unwrap_or(text.len());
    let is_rest = text
        .find(')')
        .is_some_and(|closed| closed < opened && text[..closed].ends_with(char::is_alphanumeric));
    text.starts_with(['(', '['])
        || is_rest
        || is_address && (text.contains(" PR #") || text.contains(" issue #"))
}

/// Somebody speaks of themselves there; what nobody says and nobody answered was pasted. Of other languages nobody
/// knows.
fn is_own(text: &str) -> bool {
    const OWN: [&str; 9] = [
        "i", "i'd", "i'm", "i've", "we", "we'd", "let's", "my", "our",
    ];
    let lower = text.to_lowercase().replace('’', "'");
    let mut words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
    !text.is_ascii() || words.any(|word| OWN.contains(&word))
}

/// `I was mistaken`, `2 and 3`.
fn asks_for_nothing(text: &str) -> bool {
    let about = content_words(text);
    let is_word = |word: &&String| !is_idle(word) && word.contains(char::is_alphabetic);
    let says = about.iter().filter(is_word).count();
    let lower = text.to_lowercase();
    says == 0 || says < STATEMENT_WORDS_MIN && STATES.iter().any(|start| lower.starts_with(start))
}

#[cfg(test)]
mod tests;
