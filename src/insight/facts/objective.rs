//! What a session was asked for, in a line: its first ask, whole. Every word of it stands in the log, and
//! nothing is told that nobody asked for: what stands in parentheses behind it only says where.

mod errands;
mod later;
mod picked;
mod places;
mod plans;
mod said;

use super::ask::ask;
use super::line::LocatedItem;
use super::plan_steps::is_lead;
use super::prompts::{Prompt, stands_for};
use super::session_context::SessionContext;
use super::words::{clipped, points_back, shortened};
use crate::model::exchange::is_bare_command;
use crate::model::summary::Sourced;
use crate::rules::requests::{RequestKind, drives};
use crate::rules::words::is_same;
pub use later::THEN;
use later::then;
use places::{Work, with_places};
use said::{
    NEW_WORDS_MIN, OBJECTIVE_CHARS_MAX, PART_CHARS_MIN, Told, WEAK_WORDS_MAX, about, is_asking,
    is_command, is_pointer, is_reply, is_told, says, told, with_closing_quote,
};

/// What was asked first.
#[derive(Default)]
pub struct Asked {
    /// In a line, where anything was asked.
    pub objective: Option<Sourced<String>>,
    /// As it was written, where that says more, and in parentheses where, where nothing else of the summary says so.
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
    asking.drain(..errands::given_up(lines, prompts, &asking));
    let Some((first, others)) = asking.split_first() else {
        return Asked {
            objective: prompts.iter().find_map(only_pasted),
            whole: None,
        };
    };
    let work = Work { lines, context };
    // what somebody asks is whole; what else they say has room behind where it is
    let opens = told(first);
    let mut about = work.pointed_at(&whole(first, &opens, 0), first);
    let most: usize = about.iter().map(|name| name.chars().count() + 3).sum();
    let rest_room = OBJECTIVE_CHARS_MAX.saturating_sub(most);
    let mut text = whole(first, &opens, rest_room);
    let is_bare =
        first.prose.error.is_some() && opening(&opens).is_some_and(|ask| about_one(ask.text));
    let mut full = None;
    if is_pointer(&text) || first.prose.is_cut || is_bare {
        full = point_out(&mut text, most, lines, prompts, (first, others), context);
    }
    let left = OBJECTIVE_CHARS_MAX.saturating_sub(text.chars().count());
    let later = then(lines, prompts, first, &text, left.saturating_sub(most));
    let whole = full.or_else(|| ask(first, &text));
    let core = errands::core(lines, first, others).filter(|_| later.is_empty() || whole.is_some());
    let whole = match core.and_then(core_ask) {
        Some(core) => with_core(whole, &text, &core),
        None => whole,
    };
    // one sentence goes on behind a `;`
    if !later.is_empty() && text.ends_with('.') && !text.ends_with("..") {
        text.pop();
    }
    let bare = format!("{text}{later}");
    let whole = with_new_places(whole.unwrap_or_else(|| bare.clone()), &about, context);
    about.retain(|name| !is_told(&text, name));
    text.push_str(&later);
    let text = with_places(text, &about);
    let whole = (whole != text).then_some(whole);
    Asked {
        whole,
        objective: Some(first.line.source(text)),
    }
}

/// What an ask that only points at something is about, behind it; whole where that has no room there.
fn point_out(
    text: &mut String,
    most: usize,
    lines: &[LocatedItem<'_>],
    prompts: &[Prompt<'_, '_>],
    (first, others): (&Prompt<'_, '_>, &[&Prompt<'_, '_>]),
    context: &SessionContext<'_>,
) -> Option<String> {
    let is_command = is_command(first.line.words());
    let picked = is_command.then(|| picked::picked(lines, prompts, first));
    let purpose = || stands_for(lines, first.at).and_then(plans::purpose);
    let command = plans::title(lines, first).or_else(purpose);
    let command = picked.flatten().or_else(|| command.map(str::to_owned));
    let command = command.as_deref();
    let (joint, kept) = command.map_or(("; ", 0), |_| (": ", most));
    let more = command.map(str::to_owned);
    let more = more.or_else(|| further(first, others, context));
    let more = more.filter(|more| !text.contains(more.as_str()))?;
    let full = command.map(|command| format!("{text}: {command}"));
    let chars = text.chars().count() + joint.len() + kept;
    let more = shortened(&more, OBJECTIVE_CHARS_MAX.saturating_sub(chars));
    text.push_str(&format!("{joint}{more}"));
    full.filter(|full| full != text)
}

/// What a prompt asks for that more was done for than for the first one; an answer to the agent's words says too little.
fn core_ask(core: &Prompt<'_, '_>) -> Option<String> {
    let all = told(core);
    let ask = all.iter().find(|told| told.kind == RequestKind::Ask)?.text;
    let says = about(ask).len() >= WEAK_WORDS_MAX && !is_pointer(ask) && !points_back(ask);
    let fits = ask.chars().count() <= OBJECTIVE_CHARS_MAX;
    (says && fits && !is_reply(core)).then(|| ask.to_owned())
}

/// What was asked first, with that.
fn with_core(whole: Option<String>, text: &str, core: &str) -> Option<String> {
    let asked = whole.as_deref().unwrap_or(text);
    if asked.contains(core) {
        return whole;
    }
    Some(match asked.contains('\n') {
        true => format!("{asked}\nThen: {core}"),
        false => format!("{asked}{THEN}{core}"),
    })
}

/// With the names behind it that it doesn't have. The project is told beside every summary, and what was committed below
/// it: behind an ask that says enough, both stand twice.
fn with_new_places(mut whole: String, about: &[String], context: &SessionContext<'_>) -> String {
    let says = !whole.starts_with('/') && self::about(&whole).len() >= TELLING_WORDS_MIN;
    let is_new = |name: &&String| {
        let is_shipped = name.starts_with("commit: ") || name.starts_with("PR: ");
        let known = [context.project, context.title];
        let is_known = known.contains(&Some(name.as_str()));
        !(is_known || says && is_shipped)
    };
    let about = about.iter().filter(is_new).map(String::as_str);
    let about: Vec<&str> = about.filter(|name| !is_told(&whole, name)).collect();
    if !about.is_empty() {
        let joint = if whole.contains('\n') { "\n" } else { " " };
        whole.push_str(&format!("{joint}({})", about.join(", ")));
    }
    whole
}

/// An ask with so many words of its own says what it is about.
const TELLING_WORDS_MIN: usize = 8;

/// What an ask that only points at something is about: the address or the error that stands beside it, the
/// session's title, else the next ask that says something.
fn further(
    first: &Prompt<'_, '_>,
    others: &[&Prompt<'_, '_>],
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
            let ask = all.iter().find(|told| !is_pointer(told.text))?;
            Some(ask.text.to_owned())
        });
        next.next()
    };
    beside.or_else(title).or_else(next)
}

/// Where nothing but a log or an address was pasted: what stands out of it.
fn only_pasted(prompt: &Prompt<'_, '_>) -> Option<Sourced<String>> {
    let words = prompt.line.words();
    let said = prompt.prose.error.or(prompt.prose.address);
    let said = said.or_else(|| words.lines().map(str::trim).find(|line| !line.is_empty()))?;
    let is_machines = words.starts_with(['{', '<', '[']) || drives(words) || is_bare_command(words);
    let text = clipped(said, OBJECTIVE_CHARS_MAX);
    (!is_machines).then(|| prompt.line.source(text.to_owned()))
}

/// An ask that doesn't say of what: `fix`, `please fix it`.
fn about_one(text: &str) -> bool {
    is_pointer(text) && about(text).len() <= 1
}

/// What a prompt asks for, in `all` of its own sentences: the ask, what stands before it, its other asks, and what else is
/// said right behind these in so much room. Never longer than an objective.
fn whole(prompt: &Prompt<'_, '_>, all: &[Told<'_>], rest_room: usize) -> String {
    let room = OBJECTIVE_CHARS_MAX;
    if is_command(prompt.line.words()) {
        let words: Vec<&str> = prompt.line.words().split_whitespace().collect();
        return shortened(&words.join(" "), room);
    }
    let Some(opens) = opening(all) else {
        return String::new();
    };
    let is_led = || {
        prompt
            .prose
            .sentences
            .first()
            .is_some_and(|said| is_lead(said))
    };
    // behind another document stands what somebody wants of it
    if all[0].is_title && plans::is_document(prompt) && is_led() {
        return plans::with_aim(all[0].text, prompt, rest_room);
    }
    let (mut chosen, after) = (vec![opens], &all[opens.at + 1..]);
    for told in &all[..opens.at] {
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
    for told in rest {
        // what stands alone says nothing to what stands before it
        if chosen.iter().any(|known| known.at + 1 == told.at) {
            add(&mut chosen, told, rest_room);
        }
    }
    let last = chosen.last().map_or(0, |last| last.at);
    let next = all.get(last + 1);
    let next = next.filter(|next| next.kind != RequestKind::Question);
    let left = rest_room.saturating_sub(joined(&chosen).chars().count());
    // half of a sentence tells something only where what stands before it doesn't
    let is_led = chosen.last().is_some_and(|last| last.leads);
    let is_short = is_led || joined(&chosen).chars().count() < PART_CHARS_MIN;
    let is_more = left >= PART_CHARS_MIN && is_short;
    chosen.extend(next.filter(|_| is_more));
    while chosen.len() > 1 && chosen.last().is_some_and(|last| last.leads) {
        chosen.pop();
    }
    let room = if is_more { rest_room } else { room };
    let text = with_closing_quote(&shortened(&joined(&chosen), room), prompt);
    with_pasted(text, prompt, room)
}

/// The sentence that an objective is made around: the ask; who only describes comes to the point with a question at the
/// end, or with a contrast.
fn opening<'a, 'p>(all: &'a [Told<'p>]) -> Option<&'a Told<'p>> {
    let is_ask = |told: &&Told<'_>| told.kind == RequestKind::Ask && says(told.text);
    let ask = all.iter().take(OPENING_SENTENCES).find(is_ask);
    let turn = || all.iter().find(|told| turns(told.text) && says(told.text));
    let any = || all.iter().find(|told| says(told.text));
    let is_question = |told: &&Told<'_>| told.kind == RequestKind::Question && says(told.text);
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
        text.push_str(told.text);
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
