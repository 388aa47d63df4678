//! What else a session was for: asks that came after the first one.

use super::super::further::words_before;
use super::super::line::{LocatedItem, edits};
use super::super::prompts::{Prompt, exchange};
use super::super::words::{folded, shortened};
use super::said::{
    Told, WEAK_WORDS_MAX, about, is_asking, is_pointer, is_reply, told, with_closing_quote,
};
use crate::model::exchange::{INTERRUPTED, ItemKind};
use crate::rules::overtaken::narrows;
use crate::rules::replies::{Reply, offered_act, reply};
use crate::rules::requests::{RequestKind, asks_something, begins_with_verb};
use crate::rules::words::sentences;

/// Stands before an ask of a later prompt.
pub const THEN: &str = "; then: ";

/// The same of one that takes the first ask back but for a part of it.
const THEN_ONLY: &str = "; then only: ";

/// More later asks than that are a list.
const THEN_MAX: usize = 3;

/// Of a later ask that doesn't fit, so that there is room for another.
const LATER_CHARS_MAX: usize = 80;

/// A shorter beginning of one says nothing.
const LATER_CHARS_MIN: usize = 40;

/// An ask that may be told.
struct Later {
    at: usize,
    joint: &'static str,
    /// What was changed for it.
    edits: usize,
    ask: String,
}

/// Asks that came later, in the order of time, where they fit: of many those that most was changed for.
pub(super) fn then(
    lines: &[LocatedItem<'_>],
    prompts: &[Prompt<'_, '_>],
    first: &Prompt<'_, '_>,
    text: &str,
    room: usize,
) -> String {
    let is_edited = edits(lines) > 0;
    let others = prompts.iter().filter(|prompt| prompt.at > first.at);
    let mut asks: Vec<Later> = others
        .filter_map(|prompt| later(lines, prompt, is_edited))
        .filter(|later| !text.contains(&later.ask))
        .collect();
    asks.sort_by_key(|later| {
        let narrows = later.joint == THEN_ONLY;
        std::cmp::Reverse((narrows, later.edits, about(&later.ask).len()))
    });
    let mut left = room;
    let mut chosen: Vec<(usize, String)> = Vec::new();
    for later in asks {
        let most = left.saturating_sub(later.joint.len());
        let is_known = chosen.iter().any(|(_, known)| known.contains(&later.ask));
        if chosen.len() == THEN_MAX || is_known {
            continue;
        }
        let is_whole = later.ask.chars().count() <= most;
        let ask = match is_whole {
            true => later.ask,
            false => shortened(&later.ask, most.min(LATER_CHARS_MAX)),
        };
        // who begins with what it is about comes to the point at the end
        let is_told = || begins_with_verb(&ask) && about(&ask).len() >= WEAK_WORDS_MAX;
        if is_whole || most >= LATER_CHARS_MIN && is_told() {
            let told = format!("{}{ask}", later.joint);
            left -= told.chars().count();
            chosen.push((later.at, told));
        }
    }
    chosen.sort_unstable();
    chosen.into_iter().map(|(_, told)| told).collect()
}

/// What a later prompt asks for, or agrees to have done; where files were changed, what was only asked about is no aim.
fn later(lines: &[LocatedItem<'_>], prompt: &Prompt<'_, '_>, is_edited: bool) -> Option<Later> {
    let edits = edits(exchange(lines, prompt.at));
    let with = |joint, ask| Later {
        at: prompt.at,
        joint,
        edits,
        ask,
    };
    if matches!(reply(prompt.line.words()), Some(Reply::Agrees)) {
        let act = agreed_act(words_before(lines, prompt)?)?;
        return says_task(&act).then(|| with(THEN, act));
    }
    if !is_asking(prompt) {
        return None;
    }
    let all = told(prompt);
    let is_behind_stop = || {
        let before = lines[..prompt.at].iter().rfind(|line| line.main);
        before.is_some_and(|line| line.item.kind == ItemKind::Note && line.words() == INTERRUPTED)
    };
    let narrows = |told: &&Told<'_>| narrows(told.text);
    if let Some(narrowed) = all.iter().find(narrows).filter(|_| is_behind_stop()) {
        return Some(with(THEN_ONLY, with_closing_quote(narrowed.text, prompt)));
    }
    let is_reply = is_reply(prompt);
    let asks = |told: &&Told<'_>| {
        let is_ask = told.kind == RequestKind::Ask && !is_reply;
        // what begins with code says what that does
        let is_code = told.text.starts_with('`');
        let asks = is_ask || asks_something(told.text) && (edits > 0 || !is_edited);
        asks && !is_code && says_task(told.text)
    };
    let ask = all.iter().find(asks)?.text;
    Some(with(THEN, ask.to_owned()))
}

/// Who does so does nothing.
const IDLE: [&str; 6] = ["not ", "leave ", "keep ", "skip ", "stop ", "wait"];

/// `apply the two fixes` of `… Want me to apply the two fixes?`
fn agreed_act(words: &str) -> Option<String> {
    let paragraph = words.trim_end().rsplit("\n\n").next()?;
    let paragraph = folded(paragraph);
    let asked = sentences(&paragraph).filter(|sentence| sentence.ends_with('?'));
    let act = offered_act(asked.last()?)?;
    let is_rest = IDLE.iter().any(|verb| act.starts_with(verb));
    (!is_rest && !act.contains(" or ")).then_some(act)
}

/// It says of itself what is to be done.
fn says_task(text: &str) -> bool {
    let is_whole = text.matches('"').count().is_multiple_of(2);
    let says = about(text).len() >= WEAK_WORDS_MAX && !is_pointer(text);
    is_whole && says && !is_no_task(text)
}

/// What it is about stands in another prompt: `do the same for the shop`, `update the page to say this`. Or it is a rule: `use the
/// small one from now on`. Or it is said to be an afterthought.
fn is_no_task(ask: &str) -> bool {
    const CUES: [&str; 9] = [
        "do the same",
        "same thing",
        "going forward",
        "from now on",
        "in the future",
        "no longer",
        "one last ",
        "one more ",
        "last thing",
    ];
    const POINTS: [&str; 4] = [" this", " that", " it", " them"];
    let ask = ask.to_lowercase();
    let bare = ask.trim_end_matches(['.', '?', '!']);
    let is_bare =
        POINTS.iter().any(|end| bare.ends_with(end)) && about(&ask).len() <= WEAK_WORDS_MAX;
    is_bare || CUES.iter().any(|cue| ask.contains(cue))
}
