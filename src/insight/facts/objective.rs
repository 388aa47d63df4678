//! What a session was asked for, in a line: its first ask, and those of the later ones that shaped it. Every word of it
//! stands in the log; what stands in parentheses behind it only says where.

mod clause;
mod errands;
mod later;
mod places;
mod plans;
mod told;

use super::ask::ask;
use super::line::LocatedItem;
use super::prompts::{Prompt, stands_for};
use super::session_context::SessionContext;
use super::words::{clipped, shortened, without_joints};
use crate::model::exchange::is_bare_command;
use crate::model::summary::Sourced;
use crate::rules::clauses::{is_empty_ask, is_hollow};
use crate::rules::requests::{RequestKind, drives, request};
use crate::rules::words::is_same;
use later::Later;
use places::{
    Work, is_shipped, is_told, named_before, tells_subject, with_new_places, with_places,
};
use std::borrow::Cow;
use told::{
    NEW_WORDS_MIN, OBJECTIVE_CHARS_MAX, Told, about, about_one, is_command, is_pointer,
    names_ticket, says, told,
};

/// What a request only points at has so much room.
const MORE_CHARS_MIN: usize = 60;

/// An ask of fewer words doesn't say what came of it.
const SHORT_WORDS: usize = 6;

/// What was asked first.
#[derive(Default)]
pub struct Asked {
    /// In a line, where anything was asked.
    pub objective: Option<Sourced<String>>,
    /// As it was written, where that says more, and in parentheses where.
    pub whole: Option<String>,
}

/// The first request.
pub fn asked(
    lines: &[LocatedItem<'_>],
    prompts: &[Prompt<'_, '_>],
    context: &SessionContext<'_>,
) -> Asked {
    let mut asking: Vec<&Prompt<'_, '_>> =
        prompts.iter().filter(|prompt| is_asking(prompt)).collect();
    asking.drain(..errands::errands(lines, &asking));
    let Some((first, others)) = asking.split_first() else {
        return Asked {
            objective: prompts.iter().find_map(only_pasted),
            whole: None,
        };
    };
    let work = Work { lines, context };
    // what somebody asks is whole; what else they say has room behind where it is
    let opens = told(first);
    let mut about = work.pointed_at(&whole(first, &opens, OBJECTIVE_CHARS_MAX, 0), first);
    let most: usize = about.iter().map(|name| name.chars().count() + 3).sum();
    let later = later::later(lines, prompts, first);
    let Beginning {
        mut text,
        then,
        room,
        names,
    } = beginning(first, &opens, &later, &about);
    let is_bare =
        first.prose.error.is_some() && opening(&opens).is_some_and(|ask| about_one(&ask.text));
    let mut full = None;
    let tells = !then.is_empty() && !is_bare && !first.prose.is_cut;
    if is_pointer(&text) || first.prose.is_cut || is_bare {
        let command = plans::title(lines, first)
            .or_else(|| stands_for(lines, first.at).and_then(plans::purpose));
        let more = command.map(str::to_owned);
        let more = more.or_else(|| further(first, others, tells, context));
        let is_led = command.is_some() || more.as_deref() == first.prose.error;
        let joint = if is_led { ": " } else { "; " };
        let kept = command.map_or(0, |_| most);
        let is_in =
            |more: &str| text.contains(&more[..more.floor_char_boundary(MORE_CHARS_MIN / 2)]);
        if let Some(more) = more.filter(|more| !is_in(more)) {
            full = command.map(|command| format!("{text}: {command}"));
            let chars = text.chars().count() + joint.len() + kept;
            let left = match room.saturating_sub(chars) {
                left if left < MORE_CHARS_MIN / 2 => OBJECTIVE_CHARS_MAX.saturating_sub(chars),
                left => left,
            };
            let more = shortened(&more, left);
            text.push_str(&format!("{joint}{more}"));
            full = full.filter(|full| *full != text);
        }
    }
    let left = OBJECTIVE_CHARS_MAX.saturating_sub(text.chars().count());
    let then = later.then(&text, left.saturating_sub(names));
    let whole = full.or_else(|| ask(first, &text));
    let core = errands::core(lines, first, others).filter(|_| then.is_empty());
    let core = core.and_then(later::core_ask);
    let then_asked = then.strip_prefix(later::THEN).map(str::to_owned);
    let whole = match then_asked.filter(|_| whole.is_some()).or(core) {
        Some(more) => later::with_more(whole, &text, &more),
        None => whole,
    };
    let whole = whole.map(|whole| with_new_places(whole, &about, context));
    about.retain(|name| !is_told(&text, name));
    about.splice(..0, named_before(&opens, &text, &then));
    text.push_str(&then);
    about.retain(|name| !tells_subject(&then, name));
    let objective = Some(first.line.source(with_places(text, &about)));
    Asked { objective, whole }
}

/// What an ask that only points at something is about, where later asks don't tell: the address or the error that stands beside it, the
/// session's title, else the next ask that says something.
fn further(
    first: &Prompt<'_, '_>,
    others: &[&Prompt<'_, '_>],
    tells: bool,
    context: &SessionContext<'_>,
) -> Option<String> {
    let beside = first.prose.error.or(first.prose.address).map(str::to_owned);
    let beside = beside.or_else(|| first.prose.pasted.clone().filter(|text| says(text)));
    // what was cut off is in the prompt, so the title's words are
    let cut = || context.title.filter(|_| first.prose.is_cut);
    let title = || titled(first, context).or_else(cut).map(str::to_owned);
    let next = || {
        let mut next = others.iter().filter_map(|prompt| {
            let all = told(prompt);
            all.iter()
                .find(|told| !is_pointer(&told.text) && !is_hollow(&told.text))?;
            Some(whole(prompt, &all, NEXT_CHARS_MAX, NEXT_CHARS_MAX))
        });
        next.next()
    };
    let next = || if tells { None } else { next() };
    beside.or_else(title).or_else(next)
}

/// Of the request that says what the first one is about.
const NEXT_CHARS_MAX: usize = 120;

/// Where nothing but a log or an address was pasted: what stands out of it.
fn only_pasted(prompt: &Prompt<'_, '_>) -> Option<Sourced<String>> {
    let words = prompt.line.words();
    let said = prompt.prose.error.or(prompt.prose.address);
    let said = said.or_else(|| words.lines().map(str::trim).find(|line| !line.is_empty()))?;
    let is_machines = words.starts_with(['{', '<', '[']) || drives(words) || is_bare_command(words);
    let text = clipped(said, OBJECTIVE_CHARS_MAX);
    (!is_machines).then(|| prompt.line.source(text.to_owned()))
}

/// Somebody asks for something there.
fn is_asking(prompt: &Prompt<'_, '_>) -> bool {
    let sentences = &prompt.prose.sentences;
    let mut said = sentences.iter().filter_map(|sentence| request(sentence));
    said.any(|said| !about(said.text).is_empty() && !is_empty_ask(said.text))
        || is_command(prompt.line.words())
}

/// With asks as clauses, where they don't fit; what has all the room is told in its own words.
fn brief<'p>(all: &[Told<'p>], room: usize) -> Vec<Told<'p>> {
    let asks = all.iter().filter(|told| told.kind == RequestKind::Ask);
    let asks: Vec<&Told<'_>> = asks.collect();
    if room == OBJECTIVE_CHARS_MAX || joined(&asks).chars().count() <= room {
        return Vec::new();
    }
    let share = (room / asks.len()).max(PART_CHARS_MIN);
    let clause = |told: &Told<'_>| {
        let text = clause::clause(&told.text, share);
        let text = text.or_else(|| clause::clause(&told.text, room));
        text.filter(|_| told.kind == RequestKind::Ask)
    };
    let all = all.iter().map(|told| Told {
        text: clause(told).map_or_else(|| told.text.clone(), Cow::Owned),
        ..*told
    });
    all.collect()
}

/// What a prompt asks for, in `all` of its own sentences and in so much room: the ask, what stands before it, its other
/// asks, and what else is said right behind these in `rest_room`. Of asks that have no room, their clauses.
fn whole(prompt: &Prompt<'_, '_>, all: &[Told<'_>], room: usize, rest_room: usize) -> String {
    let brief = brief(all, room);
    let is_brief = !brief.is_empty();
    let all = if is_brief { &brief } else { all };
    if is_command(prompt.line.words()) {
        let words: Vec<&str> = prompt.line.words().split_whitespace().collect();
        return shortened(&words.join(" "), room);
    }
    let Some(opens) = opening(all) else {
        return String::new();
    };
    let (mut chosen, after) = (vec![opens], &all[opens.at + 1..]);
    let is_part = |told: &Told<'_>| told.kind == RequestKind::Ask || names_ticket(&told.text);
    let before = all[..opens.at].iter();
    for told in before.filter(|told| !is_brief || is_part(told)) {
        add(&mut chosen, told, room);
    }
    let (asks, rest): (Vec<&Told<'_>>, Vec<&Told<'_>>) =
        after.iter().partition(|told| told.kind == RequestKind::Ask);
    // a title says what a document is about
    let (titles, rest): (Vec<&Told<'_>>, Vec<&Told<'_>>) =
        rest.into_iter().partition(|told| told.is_title);
    for told in titles.into_iter().chain(asks) {
        add(&mut chosen, told, room);
    }
    // statements have no room where asks haven't
    let rest = rest
        .into_iter()
        .filter(|told| !is_brief || told.at == opens.at + 1 && opens.leads || is_part(told));
    for told in rest {
        // what stands alone says nothing to what stands before it; what a colon leads to is part of that
        let before = chosen.iter().find(|known| known.at + 1 == told.at);
        if let Some(leads) = before.map(|before| before.leads) {
            let is_part = leads || names_ticket(&told.text);
            add(&mut chosen, told, if is_part { room } else { rest_room });
        }
    }
    let last = chosen.last().map_or(0, |last| last.at);
    let next = all.get(last + 1);
    let next = next.filter(|next| next.kind != RequestKind::Question);
    let left = rest_room.saturating_sub(joined(&chosen).chars().count());
    // half of a sentence tells something only where what stands before it doesn't
    let is_short = joined(&chosen).chars().count() < PART_CHARS_MIN;
    let is_more = left >= PART_CHARS_MIN && is_short && room == OBJECTIVE_CHARS_MAX;
    chosen.extend(next.filter(|_| is_more));
    while chosen.len() > 1 && chosen.last().is_some_and(|last| last.leads) {
        chosen.pop();
    }
    let room = if is_more { rest_room } else { room };
    let mut text = ended(&chosen, all, room);
    // a mark around a sentence's last words is no mark around it
    let end = text
        .char_indices()
        .rev()
        .nth(END_CHARS)
        .map_or(0, |(at, _)| at);
    let quoted = format!("{}\"", &text[end..]);
    if !text.matches('"').count().is_multiple_of(2) && prompt.line.words().contains(&quoted) {
        text.push('"');
    }
    with_pasted(text, prompt, room)
}

/// Sentences behind each other, with what the colon of the last one leads to.
fn ended(chosen: &[&Told<'_>], all: &[Told<'_>], room: usize) -> String {
    let text = shortened(&joined(chosen), room);
    let Some(last) = chosen.last().filter(|last| last.leads) else {
        return text;
    };
    let left = room.saturating_sub(text.chars().count() + 2);
    let next = all.get(last.at + 1);
    match next.and_then(|next| clause::clause(&next.text, left)) {
        Some(next) => format!("{text}: {next}"),
        None => without_joints(&text).to_owned(),
    }
}

/// So many characters say where a text ends.
const END_CHARS: usize = 12;

/// The sentence that an objective is made around: the ask; who only describes comes to the point with a question at the
/// end, or with a contrast.
fn opening<'a, 'p>(all: &'a [Told<'p>]) -> Option<&'a Told<'p>> {
    let is_ask = |told: &&Told<'_>| told.kind == RequestKind::Ask && says(&told.text);
    let ask = all.iter().take(OPENING_SENTENCES).find(is_ask);
    let turn = || {
        all.iter()
            .find(|told| turns(&told.text) && says(&told.text))
    };
    let any = || all.iter().find(|told| says(&told.text));
    let is_question = |told: &&Told<'_>| told.kind == RequestKind::Question && says(&told.text);
    // what is asked about has room before it
    let fits = |told: &&Told<'_>| {
        let first = all.first().map_or(0, |first| first.text.chars().count());
        first + told.text.chars().count() + 2 <= OBJECTIVE_CHARS_MAX
    };
    let asks = || all.last().filter(is_question).filter(fits);
    ask.or_else(asks).or_else(turn).or_else(any).or(all.first())
}

/// Puts a sentence in its place, where all of them fit then.
fn add<'a, 'p>(chosen: &mut Vec<&'a Told<'p>>, told: &'a Told<'p>, room: usize) {
    let at = chosen.partition_point(|known| known.at < told.at);
    chosen.insert(at, told);
    if joined(chosen).chars().count() > room {
        chosen.remove(at);
    }
}

/// Less than half of it has the room that is kept.
fn has_no_clause(ask: &str) -> bool {
    let clause = clause::clause(ask, later::FIRST_CHARS_MIN);
    let told = clause.map_or(0, |clause| about(&clause).len());
    told * 2 < about(ask).len()
}

/// What was asked first, with what has room behind it.
struct Beginning {
    text: String,
    /// Later asks.
    then: String,
    /// Of what was asked first.
    room: usize,
    /// Characters of the names behind it.
    names: usize,
}

fn beginning(
    first: &Prompt<'_, '_>,
    opens: &[Told<'_>],
    later: &Later,
    names: &[String],
) -> Beginning {
    const ALL: usize = OBJECTIVE_CHARS_MAX;
    let chars = |name: &String| name.chars().count() + 3;
    // what was shipped says what a short ask is about, else it is told where room is left
    let words: usize = opens.iter().map(|told| about(&told.text).len()).sum();
    let places = names
        .iter()
        .filter(|name| words < SHORT_WORDS || !is_shipped(name));
    let places: usize = places.map(chars).sum();
    let asked = whole(first, opens, ALL, 0).chars().count();
    let is_long = opening(opens).is_some_and(|opens| has_no_clause(&opens.text));
    let kept = later.room(asked, is_long, places);
    if kept > 0 {
        let room = ALL - kept - places;
        let text = whole(first, opens, room, 0);
        let then = later.then(&text, kept);
        if !then.is_empty() {
            return Beginning {
                text,
                then,
                room,
                names: places,
            };
        }
    }
    let most: usize = names.iter().map(chars).sum();
    Beginning {
        text: whole(first, opens, ALL, ALL.saturating_sub(most)),
        then: String::new(),
        room: ALL,
        names: places,
    }
}

/// With the error that was pasted, or how what was pasted begins.
fn with_pasted(text: String, prompt: &Prompt<'_, '_>, room: usize) -> String {
    let pasted = prompt.prose.error.or(prompt.prose.pasted.as_deref());
    match pasted {
        Some(pasted) if !text.contains(pasted) && text.chars().count() + PART_CHARS_MIN < room => {
            let left = room - text.chars().count() - 2;
            let joint = if text.ends_with(['.', '?', '!']) {
                " "
            } else {
                ": "
            };
            format!("{text}{joint}{}", shortened(pasted, left))
        }
        _ => text,
    }
}

/// `However, the header is read twice`.
fn turns(text: &str) -> bool {
    const TURNS: [&str; 4] = ["However", "But ", "The fix ", "Instead"];
    TURNS.iter().any(|start| text.starts_with(start))
}

/// Of a sentence that doesn't fit, a shorter beginning says nothing.
const PART_CHARS_MIN: usize = 50;

/// An ask that stands further behind isn't what a prompt opens with.
const OPENING_SENTENCES: usize = 6;

/// Sentences behind each other; what follows a colon is a list.
fn joined(all: &[&Told<'_>]) -> String {
    let mut text = String::new();
    let mut is_list = false;
    for (nth, told) in all.iter().enumerate() {
        let ended = text.ends_with(['?', '!', '.', '…', ';']);
        text.push_str(match nth.checked_sub(1).map(|before| all[before].leads) {
            None => "",
            Some(true) => ": ",
            Some(false) if ended => " ",
            Some(false) if is_list => "; ",
            Some(false) => ". ",
        });
        let goes_on = nth > 0 && all[nth - 1].nth + 1 == told.nth;
        is_list = !told.is_title && (told.leads || is_list && goes_on);
        text.push_str(&told.text);
    }
    text
}

/// The session's title, where it is none of the first ask's words.
fn titled<'c>(first: &Prompt<'_, '_>, context: &SessionContext<'c>) -> Option<&'c str> {
    const SAME_BYTES: usize = 40;
    let own = first.line.words();
    let told = about(own);
    context.title.filter(|title| {
        let new = about(title);
        let new = new
            .iter()
            .filter(|word| !told.iter().any(|own| is_same(own, word)));
        if new.count() < NEW_WORDS_MIN {
            return false;
        }
        let start = &title[..title.floor_char_boundary(SAME_BYTES)];
        !own.starts_with(start.trim_end_matches('…')) && !is_bare_command(title)
    })
}

#[cfg(test)]
mod tests;
