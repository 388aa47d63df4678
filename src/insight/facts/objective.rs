//! What a session was asked for, in a line: its first ask, whole. Every word of it stands in the log, and
//! nothing is told that nobody asked for: what stands in parentheses behind it only says where.

mod errands;
mod picked;
mod plans;

use super::ask::ask;
use super::line::{LocatedItem, edits};
use super::prompts::{Prompt, exchange, stands_for};
use super::pull_requests::pull_request;
use super::session_context::SessionContext;
use super::shipped::shipped;
use super::words::{clipped, points_back, shortened};
use crate::model::exchange::is_bare_command;
use crate::model::summary::Sourced;
use crate::rules::replies::{Reply, reply};
use crate::rules::requests::{
    RequestKind, asks_something, drives, is_idle, is_move, is_of_pull_request, is_of_work_at_hand,
    points, request,
};
use crate::rules::words::{content_words, is_same, is_stopword, tokens};

/// It is read at a glance.
const OBJECTIVE_CHARS_MAX: usize = 200;

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
    let mut text = whole(first, &opens, OBJECTIVE_CHARS_MAX.saturating_sub(most));
    let is_bare =
        first.prose.error.is_some() && opening(&opens).is_some_and(|ask| about_one(ask.text));
    let mut full = None;
    if is_pointer(&text) || first.prose.is_cut || is_bare {
        let is_command = is_command(first.line.words());
        let picked = is_command.then(|| picked::picked(lines, prompts, first));
        let purpose = || stands_for(lines, first.at).and_then(plans::purpose);
        let command = plans::title(lines, first).or_else(purpose);
        let command = picked.flatten().or_else(|| command.map(str::to_owned));
        let command = command.as_deref();
        let (joint, kept) = command.map_or(("; ", 0), |_| (": ", most));
        let more = command.map(str::to_owned);
        let more = more.or_else(|| further(first, others, context));
        if let Some(more) = more.filter(|more| !text.contains(more.as_str())) {
            full = command.map(|command| format!("{text}: {command}"));
            let chars = text.chars().count() + joint.len() + kept;
            let more = shortened(&more, OBJECTIVE_CHARS_MAX.saturating_sub(chars));
            text.push_str(&format!("{joint}{more}"));
            full = full.filter(|full| *full != text);
        }
    }
    let left = OBJECTIVE_CHARS_MAX.saturating_sub(text.chars().count());
    let later = then(lines, others, &text, left.saturating_sub(most));
    let whole = full.or_else(|| ask(first, &text));
    let core = errands::core(lines, first, others).filter(|_| later.is_empty() || whole.is_some());
    let whole = match core.and_then(core_ask) {
        Some(core) => with_core(whole, &text, &core),
        None => whole,
    };
    let bare = format!("{text}{later}");
    let whole = with_new_places(whole.unwrap_or_else(|| bare.clone()), &about, context);
    about.retain(|name| !is_told(&text, name));
    text.push_str(&later);
    let text = with_places(text, &about);
    Asked {
        whole: (whole != text).then_some(whole),
        objective: Some(first.line.source(text)),
    }
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

/// It answers what the agent offered: `yes, and run it twice`.
fn is_reply(prompt: &Prompt<'_, '_>) -> bool {
    matches!(
        reply(prompt.line.words()),
        Some(Reply::Agrees | Reply::Begins | Reply::Picks(_))
    )
}

/// With the names behind it that it doesn't have. The project is told beside every summary, and what was committed below
/// it: behind an ask that says enough, both stand twice.
fn with_new_places(mut whole: String, about: &[String], context: &SessionContext<'_>) -> String {
    let says = !whole.starts_with('/') && self::about(&whole).len() >= TELLING_WORDS_MIN;
    let is_new = |name: &&String| {
        let is_shipped = name.starts_with("commit: ") || name.starts_with("PR: ");
        Some(name.as_str()) != context.project && !(says && is_shipped)
    };
    let about = about.iter().filter(is_new).map(String::as_str);
    let about: Vec<&str> = about.filter(|name| !is_told(&whole, name)).collect();
    if !about.is_empty() {
        let joint = if whole.contains('\n') { "\n" } else { " " };
        whole.push_str(&format!("{joint}({})", about.join(", ")));
    }
    whole
}

/// With as many of the names behind it as have room: what somebody asked is whole before it is told where.
fn with_places(text: String, about: &[String]) -> String {
    let names = (1..=about.len()).rev();
    let mut all = names.map(|names| format!("{text} ({})", about[..names].join(", ")));
    let fits = all.find(|all| all.chars().count() <= OBJECTIVE_CHARS_MAX);
    fits.unwrap_or(text)
}

/// Asks that came later, whole, in the order of time, where they fit: of many those that most was done for.
fn then(lines: &[LocatedItem<'_>], others: &[&Prompt<'_, '_>], text: &str, room: usize) -> String {
    let is_edited = edits(lines) > 0;
    let mut asks: Vec<(usize, usize, String)> = others
        .iter()
        .filter_map(|prompt| {
            let all = told(prompt);
            let is_reply = is_reply(prompt);
            let asks = |told: &&Told<'_>| {
                let is_whole = told.text.matches('"').count().is_multiple_of(2);
                let is_ask = told.kind == RequestKind::Ask && !is_reply;
                let asks = is_ask || asks_something(told.text);
                let says = about(told.text).len() >= WEAK_WORDS_MAX && !is_pointer(told.text);
                asks && is_whole && says && !is_no_task(told.text)
            };
            let ask = all.iter().find(asks)?.text;
            let is_new = !text.contains(ask) && ask.chars().count() <= room;
            let edits = edits(exchange(lines, prompt.at));
            // where files were changed, what else was asked is no objective
            let is_work = edits > 0 || !is_edited;
            let size = edits * 2 + about(ask).len();
            (is_new && is_work).then(|| (size, prompt.at, ask.to_owned()))
        })
        .collect();
    asks.sort_by_key(|(size, at, _)| (std::cmp::Reverse(*size), *at));
    let mut left = room;
    let mut chosen = Vec::new();
    for (_, at, ask) in asks {
        let length = ask.chars().count() + THEN.len();
        if length <= left && chosen.len() < THEN_MAX {
            left -= length;
            chosen.push((at, ask));
        }
    }
    chosen.sort_unstable();
    chosen
        .iter()
        .map(|(_, ask)| format!("{THEN}{ask}"))
        .collect()
}

/// What it is about stands in another prompt: `do the same for the shop`, `update the page to say this`. Or it is a rule: `use the
/// small one from now on`.
fn is_no_task(ask: &str) -> bool {
    const CUES: [&str; 6] = [
        "do the same",
        "same thing",
        "going forward",
        "from now on",
        "in the future",
        "no longer",
    ];
    const POINTS: [&str; 4] = [" this", " that", " it", " them"];
    let ask = ask.to_lowercase();
    let bare = ask.trim_end_matches(['.', '?', '!']);
    let is_bare =
        POINTS.iter().any(|end| bare.ends_with(end)) && about(&ask).len() <= WEAK_WORDS_MAX;
    is_bare || CUES.iter().any(|cue| ask.contains(cue))
}

/// An ask with so many words of its own says what it is about.
const TELLING_WORDS_MIN: usize = 8;

/// Stands before an ask of a later prompt.
const THEN: &str = "; then: ";

/// More later asks than that are a list.
const THEN_MAX: usize = 2;

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

/// Somebody asks for something there.
fn is_asking(prompt: &Prompt<'_, '_>) -> bool {
    let sentences = &prompt.prose.sentences;
    let mut said = sentences.iter().filter_map(|sentence| request(sentence));
    said.any(|said| !about(said.text).is_empty()) || is_command(prompt.line.words())
}

/// A slash command that asks for work.
fn is_command(words: &str) -> bool {
    words.starts_with('/') && is_bare_command(words.trim()) && !drives(words)
}

/// It says where to look, not what for: `continue`, `/review 7`, `do what the plan says`.
fn is_pointer(text: &str) -> bool {
    let names_nothing = |word: &str| is_move(word) || is_idle(word) || points(word);
    let words = text.split_whitespace();
    let plain = words.filter(|word| !word.contains(['/', '#', '@']) && !word.contains("--"));
    let plain: Vec<&str> = plain.collect();
    let is_word = |word: &&&str| word.contains(char::is_alphabetic);
    // other scripts have no blanks between words
    let foreign = plain.iter().flat_map(|word| word.chars());
    let foreign = foreign.filter(|c| !c.is_ascii() && c.is_alphabetic());
    let is_said = plain.iter().filter(is_word).count() >= COMMAND_WORDS_MIN;
    if text.starts_with('/') && (is_said || foreign.count() >= FOREIGN_LETTERS_MIN) {
        return false;
    }
    let words = content_words(&plain.join(" "));
    let mut words = words.iter().filter(|word| !names_nothing(word));
    words.nth(POINTER_WORDS_MAX).is_none()
}

/// An ask that doesn't say of what: `fix`, `please fix it`.
fn about_one(text: &str) -> bool {
    is_pointer(text) && about(text).len() <= 1
}

/// What somebody types behind a slash command says with so many words what for.
const COMMAND_WORDS_MIN: usize = 4;

/// In another script, with so many letters.
const FOREIGN_LETTERS_MIN: usize = 8;

/// One word more than that says what an ask is about.
const POINTER_WORDS_MAX: usize = 1;

/// What a sentence of a prompt says.
struct Told<'p> {
    /// Of the sentences of the prompt.
    nth: usize,
    /// Of those that say something.
    at: usize,
    kind: RequestKind,
    text: &'p str,
    /// It ends with a colon.
    leads: bool,
    /// It is a heading.
    is_title: bool,
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
    let is_short = joined(&chosen).chars().count() < PART_CHARS_MIN;
    let is_more = left >= PART_CHARS_MIN && is_short;
    chosen.extend(next.filter(|_| is_more));
    while chosen.len() > 1 && chosen.last().is_some_and(|last| last.leads) {
        chosen.pop();
    }
    let room = if is_more { rest_room } else { room };
    let mut text = shortened(&joined(&chosen), room);
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

/// So many characters say where a text ends.
const END_CHARS: usize = 12;

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

/// Of a sentence that doesn't fit, a shorter beginning says nothing.
const PART_CHARS_MIN: usize = 50;

/// An ask that stands further behind isn't what a prompt opens with.
const OPENING_SENTENCES: usize = 6;

/// The sentences of a prompt that say something; headings but the first are none.
fn told<'p>(prompt: &'p Prompt<'_, '_>) -> Vec<Told<'p>> {
    let prose = &prompt.prose;
    let title = prose.headings.first();
    let sentences = prose.sentences.iter().enumerate();
    let sentences =
        sentences.filter(|(nth, _)| Some(nth) == title || !prose.headings.contains(nth));
    let all = sentences.filter_map(|(nth, sentence)| {
        let request = request(sentence)?;
        let is_part = request.text.starts_with(['(', ')']);
        (!is_part && !about(request.text).is_empty()).then(|| Told {
            nth,
            at: 0,
            kind: request.kind,
            text: without_label(request.text.trim_start_matches(['-', '–', ' '])),
            leads: sentence.ends_with(':'),
            is_title: Some(&nth) == title,
        })
    });
    // an address or a label says nothing
    let says = |told: &Told<'_>| {
        let is_place = !told.text.contains(' ') && told.text.contains(['.', '/']);
        !is_place && (!told.leads || told.nth == 0 || says(told.text))
    };
    let all: Vec<Told<'_>> = all.filter(says).collect();
    let is_how = |told: &Told<'_>| told.kind == RequestKind::Limit;
    // how it shall be done is told where nothing else is said
    let mut all: Vec<Told<'_>> = match all.iter().all(is_how) {
        true => all,
        false => all.into_iter().filter(|told| !is_how(told)).collect(),
    };
    all.iter_mut()
        .enumerate()
        .for_each(|(at, told)| told.at = at);
    all
}

/// `Plan: Two parsers` as `Two parsers`: what leads to it says so.
fn without_label(text: &str) -> &str {
    text.strip_prefix("Plan: ").unwrap_or(text)
}

/// More than one word of it says what it is about.
fn says(text: &str) -> bool {
    about(text).len() > 1
}

/// Words that say what a text is about.
fn about(text: &str) -> Vec<String> {
    let mut words = content_words(text);
    words.retain(|word| !is_idle(word));
    words
}

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

/// The words of a name stand in a text.
fn is_told(text: &str, name: &str) -> bool {
    let words: Vec<String> = tokens(text).collect();
    are_told(&words, name)
}

fn are_told(words: &[String], name: &str) -> bool {
    let mut parts = tokens(name).filter(|part| !is_stopword(part));
    parts.all(|part| words.iter().any(|word| is_same(word, &part)))
}

/// What a session worked at.
struct Work<'l, 't> {
    lines: &'l [LocatedItem<'t>],
    context: &'l SessionContext<'l>,
}

impl Work<'_, '_> {
    /// `shop`, `fix/totals`, `PR #7`: what a text points at without naming it.
    /// A command says nothing itself: the branch may. Of a ticket, what was committed says what it is about.
    fn pointed_at(&self, text: &str, prompt: &Prompt<'_, '_>) -> Vec<String> {
        let is_command = is_command(prompt.line.words());
        let words: Vec<String> = tokens(text).collect();
        let is_told = |name: &str| are_told(&words, name);
        let mut names = Vec::new();
        let project = self.context.project.filter(|name| !is_told(name));
        names.extend(project.map(str::to_owned));
        if is_command || is_of_work_at_hand(&words) {
            let branch = self.context.branch;
            let branch = branch.filter(|name| !TRUNKS.contains(name) && !is_told(name));
            names.extend(branch.map(str::to_owned));
        }
        let is_of_pull = is_of_pull_request(&words);
        if is_of_pull && !text.contains('#') {
            names.extend(pull_request(self.lines).map(|number| format!("PR #{number}")));
        }
        // what says enough itself may have been followed by other work
        let shipped = shipped(self.lines, prompt.at, &words);
        // a pull request that is asked about was there before
        let shipped = shipped.filter(|shipped| !is_of_pull || !shipped.starts_with("PR: "));
        names.extend(shipped.filter(|subject| is_about(subject, text, prompt)));
        names
    }
}

/// What was shipped is about what was asked, and says more.
fn is_about(subject: &str, text: &str, prompt: &Prompt<'_, '_>) -> bool {
    let said = &prompt.prose.sentences;
    let is_ticket = || said.iter().any(|said| names_ticket(said));
    if text.starts_with('/') || about(text).len() < WEAK_WORDS_MAX || is_ticket() {
        return true;
    }
    let words: Vec<String> = said.iter().flat_map(|said| tokens(said)).collect();
    let told = about(subject.split_once(": ").map_or("", |(_, subject)| subject));
    let is_said = |word: &&String| words.iter().any(|said| is_same(said, word));
    let (said, new): (Vec<_>, Vec<_>) = told.iter().partition(is_said);
    said.iter().any(|word| !is_move(word)) && new.len() >= NEW_WORDS_MIN
}

/// It is about something that it names by a number: `shop issue #7`, `tracker.example/shop/42`.
fn names_ticket(text: &str) -> bool {
    let mut words = text
        .split_whitespace()
        .map(|word| word.trim_end_matches(['.', ',', ':', '?', ')']));
    words.any(|word| {
        let number = word.rsplit(['/', '#']).next().unwrap_or_default();
        let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        is_number && number.len() < word.len()
    })
}

/// With fewer, an ask only points at something.
const WEAK_WORDS_MAX: usize = 3;

/// With fewer words that nobody asked for in, a subject says the same once more.
const NEW_WORDS_MIN: usize = 2;

/// Branches that every project has.
const TRUNKS: [&str; 7] = ["main", "master", "HEAD", "develop", "dev", "trunk", "next"];

#[cfg(test)]
mod tests;
