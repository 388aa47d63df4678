//! What a session came to, in the agent's words: of several requests each with its answer, in the order of time. What was so
//! then stands before what came of the next one, and doesn't pass for how it ended.

use super::further::{ANSWERED, LaterRequests, is_bare_errand};
use super::line::LocatedItem;
use super::objective::THEN;
use super::prompts::{Prompt, exchange};
use super::result::Results;
use super::words::{folded, shortened};
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::model::summary::{RequestAnswer, Sourced};
use crate::rules::paths::is_throwaway;
use crate::rules::words::sentences;
use rustc_hash::FxHashSet;

/// The first request stands above in full.
const FIRST_CHARS_MAX: usize = 110;

/// With where each prompt stands.
type Told = (usize, Sourced<RequestAnswer>);

/// Each request with its answer. Of a single one, or of an account that the agent gave of all of them, only that; empty
/// where the agent answered none.
pub(super) fn account(
    lines: &[LocatedItem<'_>],
    prompts: &[Prompt<'_, '_>],
    objective: Option<&Sourced<String>>,
    requests: &LaterRequests,
    came: &Results,
) -> Vec<Sourced<RequestAnswer>> {
    let answer_at = |at: usize| came.whole.iter().find(|(of, _)| *of == at);
    let bare = |at: &usize| {
        let (_, whole) = answer_at(*at)?;
        Some((*at, told(whole, "", &whole.what)))
    };
    if came.is_account {
        let mut all: Vec<Told> = came.told.iter().filter_map(bare).collect();
        all.sort_by_key(|(at, _)| *at);
        return all.into_iter().map(|(_, told)| told).collect();
    }
    let mut answered: Vec<usize> = Vec::new();
    let mut all: Vec<Told> = Vec::new();
    for listed in &requests.listed {
        let (asked, short) = listed.request.what.split_at(listed.asked_bytes);
        let short = short.strip_prefix(ANSWERED).unwrap_or_default();
        let whole = listed.answered.and_then(answer_at);
        answered.extend(whole.map(|(at, _)| at));
        // what was committed is listed
        if is_bare_errand(asked) && !short.is_empty() {
            continue;
        }
        let answer = match whole {
            Some((_, whole)) => whole.what.clone(),
            None if short.is_empty() => last_words(exchange(lines, listed.at)),
            None => short.to_owned(),
        };
        let own = own_words(&lines[listed.at], asked);
        let asked = own.as_deref().unwrap_or(asked);
        all.push((listed.at, told(&listed.request, asked, &answer)));
    }
    if let Some(objective) = objective {
        let mut asked = prompts.iter();
        let prompt = asked.find(|prompt| prompt.line.line == objective.line);
        let at = prompt.map_or(0, |prompt| prompt.at);
        let own = came.told.iter().copied().chain([at]);
        let own = own.filter(|at| !answered.contains(at)).find_map(answer_at);
        answered.extend(own.map(|(at, _)| at));
        let asked = objective.what.split(THEN).next().unwrap_or_default();
        let first = sentences(asked).next().unwrap_or_default();
        let asked = shortened(first.trim_end_matches(['.', '…']), FIRST_CHARS_MAX);
        let answer = own.map_or("", |(_, whole)| &whole.what);
        all.push((at, told(objective, &asked, answer)));
    }
    let left = came.told.iter().filter(|at| !answered.contains(at));
    for (at, mut said) in left.filter_map(bare) {
        let prompt = prompts.iter().find(|prompt| prompt.at == at);
        let asked = prompt.map_or("", |prompt| prompt.line.words().trim());
        said.what.request = shortened(&folded(asked), FIRST_CHARS_MAX);
        all.push((at, said));
    }
    all.sort_by_key(|(at, _)| *at);
    drop_repeated(&mut all);
    mark_changed(lines, &mut all);
    only_answers(all)
}

/// A short prompt as it was typed, where `asked` has less of it and doesn't say what became of it.
fn own_words(prompt: &LocatedItem<'_>, asked: &str) -> Option<String> {
    const BYTES_MAX: usize = 420;
    const LINES_MAX: usize = 4;
    let words = prompt.words().trim();
    let mut lines = words.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_marked = asked.ends_with(')') && !words.ends_with(')');
    let is_own = words.len() <= BYTES_MAX && words.len() > asked.len() && !is_marked;
    let is_short = lines.clone().count() <= LINES_MAX
        && lines.all(|line| !line.starts_with(['<', '`', '{', '[']));
    (is_own && is_short).then(|| folded(&words.split_whitespace().collect::<Vec<_>>().join(" ")))
}

/// What the agent said at the end of an exchange where that is short: `No findings.`
fn last_words(exchange: &[LocatedItem<'_>]) -> String {
    const BYTES_MAX: usize = 160;
    let last = exchange.iter().rfind(|line| line.main);
    let said = last.filter(|line| line.item.kind == ItemKind::Agent);
    let said = said.map_or("", |line| line.words().trim());
    match said.len() <= BYTES_MAX && !said.ends_with([':', '?']) {
        true => folded(said),
        false => String::new(),
    }
}

/// Of one answer nobody has to be told to what.
fn only_answers(all: Vec<Told>) -> Vec<Sourced<RequestAnswer>> {
    let has_answer = |told: &Sourced<RequestAnswer>| !told.what.answer.is_empty();
    let mut all: Vec<_> = all.into_iter().map(|(_, told)| told).collect();
    if all.iter().filter(|told| has_answer(told)).count() < 2 {
        all.retain(has_answer);
        for told in &mut all {
            told.what.request.clear();
        }
    }
    all
}

/// Names the files that were changed for a request and again for a later one: what the answer says of them is how they
/// were.
fn mark_changed(lines: &[LocatedItem<'_>], all: &mut [Told]) {
    let changed = |lines: &[LocatedItem<'_>]| -> Vec<String> {
        let found = lines.iter().flat_map(|line| line.item.findings);
        let paths = found.filter_map(|finding| match finding {
            Finding::Changed { path, .. } if !is_throwaway(path) => Some(path.clone()),
            _ => None,
        });
        paths.collect()
    };
    for (at, told) in all {
        let own = exchange(lines, *at);
        let later: FxHashSet<String> = changed(&lines[*at + 1 + own.len()..]).into_iter().collect();
        let mut again = changed(own);
        again.retain(|path| later.contains(path));
        let mut names: Vec<String> = Vec::new();
        for path in again {
            let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        told.what.changed_later = names;
    }
}

/// One answer to two requests stands behind the later one.
fn drop_repeated(all: &mut [Told]) {
    let mut next = String::new();
    for (_, told) in all.iter_mut().rev() {
        if told.what.answer == next {
            told.what.answer.clear();
        } else {
            next.clone_from(&told.what.answer);
        }
    }
}

fn told<T>(source: &Sourced<T>, request: &str, answer: &str) -> Sourced<RequestAnswer> {
    Sourced {
        what: RequestAnswer {
            request: request.to_owned(),
            answer: answer.to_owned(),
            changed_later: Vec::new(),
        },
        episode: source.episode,
        line: source.line,
    }
}
