//! What came of a session, in the agent's words: those that end what was asked for, of the largest steps. What
//! answers a side question, thanks, announces or offers is no result, nor is what the person refused.

mod answer;
mod open;
mod told_anew;

use super::done_at_last::done_at_last;
use super::fitted::BEGINNING_CHARS_MAX;
use super::further::{asks_for_work, is_bare_pick, says_something};
use super::last_words::{SHORT_BYTES, is_list};
use super::line::LocatedItem;
use super::points::is_point;
use super::prompts::{Prompt, exchange, starts};
use super::remarks::{FIRST, SO_FAR, led, so_far, without_idle, without_lead};
use super::stated::{STEP_BYTES_MAX, stated};
use super::taken_up::{Withdrawn, is_amended, is_declined, is_reworked, is_taken_up, withdrawn};
use super::verdicts::{asks, with_verdict};
use super::words::shortened;
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::model::summary::Sourced;
use crate::rules::outcome::{Ending, ending};
use crate::rules::overtaken::fails;
use crate::rules::replies::{Reply, reply};
use crate::rules::reports::{leads_to_account, sums_up};
use crate::rules::requests::{RequestKind, is_objection, request};
use answer::{Answer, Came};
use open::is_refused;
use rustc_hash::{FxHashMap, FxHashSet};
use told_anew::standing;

/// Steps that are told beside the result.
const STEPS_MAX: usize = 20;

/// Of those that no request is listed for.
const OTHER_STEPS_MAX: usize = 2;

/// Beside steps a result has room for so much.
const RESULT_CHARS_MAX: usize = 1_700;

/// Of it, what answers the objective where more was done for another request.
const OPENING_CHARS_MAX: usize = 750;

/// Of the request that a list answers so much says which.
const ASKED_CHARS_MAX: usize = 80;

/// What came of the work.
#[derive(Default)]
pub struct Results {
    /// The answer to the request that most was done for. `None` where the agent only announced something, or said
    /// nothing.
    pub result: Option<Sourced<String>>,
    /// What came of the objective, where that is another; behind an account of the session, what was done last.
    pub opening: Option<Sourced<String>>,
    /// Where the requests that `result` and `opening` answer stand.
    pub told: Vec<usize>,
    /// In the order of time a line for each other request, and for the last, with where its prompt stands.
    pub steps: Vec<(usize, Sourced<String>)>,
    /// In the order of time what was said to each request, at more length: these are told beside one another.
    pub whole: Vec<(usize, Sourced<String>)>,
    /// The result is an account of the session.
    pub is_account: bool,
    /// Where prompts stand whose answers were taken back.
    pub withdrawn: FxHashMap<usize, Withdrawn>,
    /// Steps that stand without their request: what came of work is not overtaken as answers are.
    own: FxHashSet<usize>,
}

impl Results {
    /// What it came to.
    pub fn said(&mut self) -> impl Iterator<Item = &mut Sourced<String>> {
        self.result.iter_mut().chain(&mut self.opening)
    }

    /// What answers the other requests.
    pub fn answers(&mut self) -> impl Iterator<Item = &mut Sourced<String>> {
        self.steps.iter_mut().map(|(_, step)| step)
    }

    /// What came of the objective, and steps that no listed request tells.
    pub fn rest(self, told: &FxHashSet<usize>) -> Vec<Sourced<String>> {
        let is_own = |at: &usize| !told.contains(at) && self.own.contains(at);
        let others = self.steps.into_iter().filter(|(at, _)| is_own(at));
        let others = others.map(|(_, step)| step).take(OTHER_STEPS_MAX);
        self.opening.into_iter().chain(others).collect()
    }
}

/// What came of the work, in the agent's words; `objective` is where that was asked.
pub fn result(
    lines: &[LocatedItem<'_>],
    prompts: &[Prompt<'_, '_>],
    objective: Option<&Sourced<String>>,
) -> Results {
    let (answers, withdrawn) = answers(lines, prompts);
    let mut answers = standing(answers);
    let last = answers.last().map(|answer| answer.at);
    answers.sort_by(|one, other| other.weight.total_cmp(&one.weight));
    let main = answers.iter().position(Answer::says);
    // better short than nothing
    let main = main.or_else(|| answers.iter().position(|answer| !answer.said.is_empty()));
    let main = main.filter(|nth| !answers[*nth].is_menu);
    let Some(main) = main.map(|main| answers.remove(main)) else {
        return Results {
            result: so_far(lines),
            withdrawn,
            ..Results::default()
        };
    };
    let whole = whole(&answers, &main);
    let opening = match main.is_account {
        true => behind(&mut answers, main.at),
        false => opening(&mut answers, &main, prompts, objective, &withdrawn),
    };
    let stands =
        |answer: &Answer<'_, '_>| !answer.is_menu && !answer.is_waiting && !answer.is_doubted;
    let is_refused = |answer: &Answer<'_, '_>| {
        answer.came == Came::Said && is_refused(lines, prompts, answer.at)
    };
    let opening = opening.filter(|answer| answer.says() && stands(answer) && !is_refused(answer));
    let mut steps = steps(&answers, prompts, last);
    let room = match (&opening, steps.is_empty()) {
        (None, true) => BEGINNING_CHARS_MAX,
        (None, false) => RESULT_CHARS_MAX,
        (Some(_), _) => RESULT_CHARS_MAX - OPENING_CHARS_MAX / 2,
    };
    let mut text = main.beginning(room);
    if main.is_partial && text.len() < SHORT_BYTES {
        text = unfinished(lines, &main, &text);
    }
    let ended = opening
        .as_ref()
        .and_then(|first| ended(first, &answers, main.at, prompts));
    let told = opening.iter().map(|answer| answer.at).chain([main.at]);
    let told = told.collect();
    let opening = opening.map(|answer| answer.line.source(opening_text(lines, &answer, &main)));
    let seen = opening.iter().map(|said| said.what.clone());
    drop_told(&mut steps, seen.chain([text.clone()]).collect());
    let own = own(&answers, &main, last);
    if opening.is_some() && !main.is_account && text.lines().next().is_some_and(is_point) {
        text = match asked(prompts, main.at) {
            Some(asked) => format!("{asked}:\n{text}"),
            None => text,
        };
    }
    if let Some(ended) = ended.filter(|_| !text.is_empty()) {
        text = format!("{text}\n{ended}");
    }
    Results {
        result: (!text.is_empty()).then(|| main.line.source(text)),
        opening,
        told,
        steps,
        whole,
        is_account: main.is_account,
        withdrawn,
        own,
    }
}

/// What the last report behind the main answer says was done of what was asked first, and left then.
fn ended(
    first: &Answer<'_, '_>,
    answers: &[Answer<'_, '_>],
    main: usize,
    prompts: &[Prompt<'_, '_>],
) -> Option<String> {
    let last = answers.iter().max_by_key(|answer| answer.at)?;
    let is_report = last.at > main.max(first.at) && last.is_done && !last.is_partial;
    let prompt = prompts.iter().find(|prompt| prompt.at == first.at)?;
    let asked: Vec<&str> = prompt.prose.sentences.iter().map(|said| &**said).collect();
    let words = last.line.words();
    is_report
        .then(|| done_at_last(&asked, first.line.words(), &stated(words)))
        .flatten()
}

/// What an answer beside the main one says, led by what it is there.
fn opening_text(
    lines: &[LocatedItem<'_>],
    answer: &Answer<'_, '_>,
    main: &Answer<'_, '_>,
) -> String {
    match (answer.came, main.came) {
        _ if main.is_account => answer.step(STEP_BYTES_MAX, "").unwrap_or_default(),
        // what was found before the change may be what the change overtook, or stand beside it
        (Came::Said | Came::Worked, Came::Changed) => led(FIRST, answer.beginning(FIRST_CHARS_MAX)),
        _ if answer.is_taken_up || is_reworked(lines, answer.at) => {
            led(FIRST, answer.beginning(OPENING_CHARS_MAX))
        }
        _ => answer.beginning(OPENING_CHARS_MAX),
    }
}

/// Answers that may be told beside the main one without their requests: to work where that was work. An account tells all
/// that was done before it.
fn own(answers: &[Answer<'_, '_>], main: &Answer<'_, '_>, last: Option<usize>) -> FxHashSet<usize> {
    let is_own = |answer: &&Answer<'_, '_>| match main.is_account {
        true => Some(answer.at) == last && answer.at > main.at,
        false => main.came != Came::Changed || answer.came == Came::Changed,
    };
    answers
        .iter()
        .filter(is_own)
        .map(|answer| answer.at)
        .collect()
}

/// What short words in the middle of work come to, with the remarks around them; nothing where they only lead to work.
fn unfinished(lines: &[LocatedItem<'_>], main: &Answer<'_, '_>, text: &str) -> String {
    let said = so_far(lines).map(|said| said.what);
    let after = exchange(lines, main.at).iter().rev();
    let mut after = after.take_while(|line| !std::ptr::eq(*line, main.line));
    let is_lead = after.any(|line| line.main && line.is_edit());
    let own = without_idle(without_lead(text).1);
    let own = (!own.is_empty() && !is_lead).then(|| led(SO_FAR, own));
    said.or(own).unwrap_or_default()
}

/// Drops what is told already, or was by an earlier step.
fn drop_told(steps: &mut Vec<(usize, Sourced<String>)>, mut seen: Vec<String>) {
    steps.retain(|(_, step)| {
        let is_new = !seen
            .iter()
            .any(|told| told.contains(step.what.trim_end_matches('.')));
        seen.push(step.what.clone());
        is_new
    });
}

/// What was done last behind an account of the session: merged, closed, cleaned up.
fn behind<'l, 't>(answers: &mut Vec<Answer<'l, 't>>, at: usize) -> Option<Answer<'l, 't>> {
    let is_later = |answer: &Answer<'_, '_>| {
        answer.at > at
            && answer.is_done
            && !answer.is_partial
            && answer.step(STEP_BYTES_MAX, "").is_some()
    };
    let later = answers
        .iter()
        .enumerate()
        .filter(|(_, answer)| is_later(answer));
    let (nth, _) = later.max_by_key(|(_, answer)| answer.at)?;
    Some(answers.remove(nth))
}

/// The answer to the objective, where the main one is another. Who is asked for more before an answer answers both.
fn opening<'l, 't>(
    answers: &mut Vec<Answer<'l, 't>>,
    main: &Answer<'_, '_>,
    prompts: &[Prompt<'_, '_>],
    objective: Option<&Sourced<String>>,
    withdrawn: &FxHashMap<usize, Withdrawn>,
) -> Option<Answer<'l, 't>> {
    let objective = objective?;
    let mut asked = prompts.iter().map(|prompt| (prompt.at, prompt.line.line));
    let (first, _) = asked.find(|(at, line)| *line == objective.line && *at != main.at)?;
    let next = asked.next().map(|(at, _)| at).filter(|at| *at != main.at);
    let of = |at: usize| answers.iter().position(|answer| answer.at == at);
    let first = match withdrawn.get(&first) {
        Some(Withdrawn::Undone(by)) => *by,
        _ => first,
    };
    let nth = of(first).or_else(|| next.and_then(of))?;
    // what was proposed was then done
    let is_done = |nth: &usize| answers[*nth].came != Came::Said && answers[*nth].says();
    let proposed = answers[nth].is_taken_up && answers[nth].came != Came::Changed;
    let done = next.and_then(of).filter(is_done).filter(|_| proposed);
    Some(answers.remove(done.unwrap_or(nth)))
}

/// In the order of time a line for each answer, the largest ones, and for the last.
fn steps(
    answers: &[Answer<'_, '_>],
    prompts: &[Prompt<'_, '_>],
    last: Option<usize>,
) -> Vec<(usize, Sourced<String>)> {
    let mut steps: Vec<(usize, Sourced<String>)> = Vec::new();
    // few of them are no long list
    let bytes_max = match answers.len() <= FEW_STEPS {
        true => FEW_BYTES_MAX,
        false => STEP_BYTES_MAX,
    };
    for answer in answers {
        let is_last = Some(answer.at) == last;
        let has_room = steps.len() < STEPS_MAX;
        let prompt = prompts.iter().find(|prompt| prompt.at == answer.at);
        let asked = prompt.map_or("", |prompt| prompt.line.words());
        let step = |bytes| answer.step(bytes, asked);
        let step = match prompt.is_some_and(|prompt| !answer.is_partial && asks(prompt)) {
            true => with_verdict(answer.line.words(), bytes_max, step),
            false => step(bytes_max),
        };
        if let Some(step) = step.filter(|_| is_last || has_room) {
            steps.push((answer.at, answer.line.source(step)));
        }
    }
    steps.sort_by_key(|(at, _)| *at);
    steps
}

/// What was said to each request, in the order of time: more of what most was done for and of the last one, a line of
/// what only led to what came next.
fn whole(answers: &[Answer<'_, '_>], main: &Answer<'_, '_>) -> Vec<(usize, Sourced<String>)> {
    let mut all: Vec<&Answer<'_, '_>> = answers.iter().chain([main]).collect();
    all.sort_by_key(|answer| answer.at);
    let last = all.last().map(|answer| answer.at);
    let room = WHOLE_CHARS_MAX / (all.len() + 2);
    let room = room.clamp(WHOLE_CHARS_MIN, WHOLE_CHARS_EACH);
    let told = all.iter().map(|answer| {
        let is_large = answer.at == main.at || Some(answer.at) == last;
        let leads_on = answer.is_menu || answer.is_taken_up && answer.came != Came::Changed;
        let said = match (
            all.len() == 1 || main.is_account && answer.at == main.at,
            leads_on,
        ) {
            (true, _) => answer.whole(BEGINNING_CHARS_MAX),
            (false, true) => answer.step(STEP_BYTES_MAX, "").unwrap_or_default(),
            (false, false) if is_large => answer.whole(2 * room),
            (false, false) => answer.whole(room),
        };
        (answer.at, answer.line.source(said))
    });
    told.filter(|(_, said)| !said.what.is_empty()).collect()
}

/// Answers that are told beside one another have so much room together, and so much each; more is a log again.
const WHOLE_CHARS_MAX: usize = 8_000;
const WHOLE_CHARS_EACH: usize = 1_400;
const WHOLE_CHARS_MIN: usize = 480;

/// So many answers may be told at more length.
const FEW_STEPS: usize = 5;
const FEW_BYTES_MAX: usize = 380;

/// It says what stood there, not how.
const FIRST_CHARS_MAX: usize = 500;

/// What a prompt asks for, in a few words.
fn asked(prompts: &[Prompt<'_, '_>], at: usize) -> Option<String> {
    let prompt = prompts.iter().find(|prompt| prompt.at == at)?;
    let mut requests = prompt.prose.sentences.iter().filter_map(|one| request(one));
    let asked = requests.find(|request| request.kind == RequestKind::Ask)?;
    Some(shortened(asked.text, ASKED_CHARS_MAX))
}

/// What the agent said last to each request, without what was taken back, and where the prompts of that stand.
fn answers<'l, 't>(
    lines: &'l [LocatedItem<'t>],
    prompts: &[Prompt<'_, '_>],
) -> (Vec<Answer<'l, 't>>, FxHashMap<usize, Withdrawn>) {
    if prompts.is_empty() {
        // a log that begins in the middle
        let all = Answer::of(lines, (0, 1.0), true, true);
        return (all.into_iter().collect(), FxHashMap::default());
    }
    let opening: Vec<&Prompt<'_, '_>> = prompts
        .iter()
        .filter(|prompt| starts(lines, prompt.at))
        .collect();
    let places: Vec<usize> = opening.iter().map(|prompt| prompt.at).collect();
    let withdrawn = withdrawn(lines, &places);
    let each = opening.iter().enumerate().filter_map(|(nth, prompt)| {
        let next = opening.get(nth + 1);
        // who was cut off right away says nothing
        let is_heard = |prompt: &&&Prompt<'_, '_>| says_anything(exchange(lines, prompt.at));
        let heard = opening[nth + 1..].iter().find(is_heard).or(next);
        let is_refused =
            heard.is_some_and(|next| is_objection(next.line.words()) && !is_declined(lines, next));
        let late = (nth + 1) as f64 / opening.len() as f64;
        let exchange = exchange(lines, prompt.at);
        let is_last = next.is_none();
        let agrees = || matches!(reply(prompt.line.words()), Some(Reply::Agrees));
        let ran = |finding: &Finding| matches!(finding, Finding::Worked { .. });
        let is_run = || exchange.iter().flat_map(|line| line.item.findings).any(ran);
        let is_asked = asks_for_work(prompt) || agrees() && is_run();
        let mut answer = Answer::of(exchange, (prompt.at, late), is_asked, is_last)?;
        answer.is_account = is_list(answer.line.words())
            && (prompt.prose.sentences.iter().any(|said| sums_up(said))
                || is_last && answer.line.words().lines().any(leads_to_account));
        answer.weight += if answer.is_account {
            ACCOUNT_WEIGHT
        } else {
            0.0
        };
        let is_picked = |next: &Prompt<'_, '_>| match prompt.line.words().starts_with('/') {
            true => matches!(reply(next.line.words()), Some(Reply::Picks(_))),
            false => is_bare_pick(next.line.words()),
        };
        if next.is_some_and(|next| is_picked(next)) {
            answer.is_menu = true;
            answer.weight -= MENU_WEIGHT;
        }
        if !is_last && answer.is_bare() && ending(answer.line.words()) == Ending::Waits {
            answer.is_waiting = true;
            answer.weight -= TAKEN_UP_WEIGHT;
        }
        if next.is_some_and(|next| is_taken_up(lines, next)) {
            answer.is_taken_up = true;
            answer.weight -= TAKEN_UP_WEIGHT;
        }
        if is_amended(lines, prompt.at, &places[nth + 1..]) {
            answer.weight -= TAKEN_UP_WEIGHT;
        }
        // what it says of the work isn't so
        let mut said = next.iter().flat_map(|next| &next.prose.sentences);
        answer.is_doubted = said.by_ref().take(2).any(|said| fails(said));
        if answer.is_doubted {
            answer.weight -= TAKEN_UP_WEIGHT;
        }
        let is_small_talk = answer.came == Came::Said && !says_something(prompt);
        let is_over = is_refused || is_small_talk || withdrawn.contains_key(&prompt.at);
        (!is_over).then_some(answer)
    });
    let all = each.collect();
    (all, withdrawn)
}

/// What a later answer says of the same work comes before it.
const TAKEN_UP_WEIGHT: f64 = 3.0;

/// What somebody only picked from comes behind all else.
const MENU_WEIGHT: f64 = 20.0;

/// The agent said something there.
fn says_anything(exchange: &[LocatedItem<'_>]) -> bool {
    exchange
        .iter()
        .any(|line| line.main && line.item.kind == ItemKind::Agent)
}

/// Of what somebody asked for as an account of the session: more than of any work.
const ACCOUNT_WEIGHT: f64 = 20.0;

#[cfg(test)]
mod tests;
