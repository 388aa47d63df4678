//! What a request answers: the agent's words before it, and what it offered there.

use super::super::line::LocatedItem;
use super::super::options::{beside, option_of};
use super::super::prompts::Prompt;
use super::super::tasks::point;
use super::super::words::{folded, points_back, shortened};
use crate::model::exchange::ItemKind;
use crate::rules::replies::{Reply, is_offer, offers, reply};
use crate::rules::requests::is_idle;
use crate::rules::words::{content_words, sentences};

/// With more words a question says what it is about.
const VAGUE_WORDS_MAX: usize = 3;

/// A question with the sentence before it.
const AGREED_CHARS_MAX: usize = 180;

/// `“yes” to: Shall I push it?`
pub(super) fn agreed(lines: &[LocatedItem<'_>], prompt: &Prompt<'_, '_>) -> Option<String> {
    const AGREES_BYTES_MAX: usize = 24;
    let asked = asked_before(lines, prompt, true)?;
    let words = prompt.line.words().trim();
    let short = words.len() <= AGREES_BYTES_MAX
        && !words.starts_with(['/', '[', '!'])
        && !words.contains('\n');
    let option = match reply(words) {
        Some(Reply::Picks(name)) => option_of(words_before(lines, prompt)?, &name),
        _ => None,
    };
    let option = option.map_or_else(String::new, |option| format!(" ({})", beside(&option)));
    short.then(|| format!("“{words}”{option} to: {asked}"))
}

/// A request that only points at what the agent asked, or that begins by agreeing with it, with that: `“yes, add it” to:
/// Shall I add a test?`, `run it twice (“yes” to: Shall I add a test?)`.
pub(super) fn with_offer(
    lines: &[LocatedItem<'_>],
    prompt: &Prompt<'_, '_>,
    text: String,
) -> String {
    const WORDS_MAX: usize = 1;
    const ASKED_CHARS_MAX: usize = 120;
    let words = prompt.line.words().trim();
    let first = words.split(|c: char| !c.is_alphanumeric()).next();
    let is_yes = first.is_some_and(|word| YES.contains(&word.to_lowercase().as_str()));
    let says = content_words(&text);
    let says = says.iter().filter(|word| !is_idle(word)).count();
    let agrees = || matches!(reply(words), Some(Reply::Agrees));
    let mut each = text.split([' ', ',']);
    let takes_all = is_yes && each.any(|word| ALL.contains(&word));
    let is_bare = says <= WORDS_MAX && (points_back(&text) || agrees() || takes_all);
    if !is_yes && !is_bare {
        return text;
    }
    if let Some(agreed) = agreed(lines, prompt).filter(|_| is_bare) {
        return agreed;
    }
    let asked = || asked_before(lines, prompt, false);
    let is_one = |asked: &String| offers(asked) && asked.chars().count() <= ASKED_CHARS_MAX;
    match is_yes.then(asked).flatten().filter(is_one) {
        Some(asked) => format!("{text} (“{}” to: {asked})", first.unwrap_or_default()),
        None => text,
    }
}

/// Words that agree before all else.
const YES: [&str; 5] = ["yes", "yeah", "yep", "yup", "sure"];

/// Words of who takes all of what was offered.
const ALL: [&str; 3] = ["all", "both", "everything"];

/// The agent's words right before a prompt.
pub fn words_before<'t>(lines: &[LocatedItem<'t>], prompt: &Prompt<'_, '_>) -> Option<&'t str> {
    let before = lines[..prompt.at].iter().rev().find(|line| line.main)?;
    (before.item.kind == ItemKind::Agent).then(|| before.words())
}

/// What the agent asked in its last paragraph before a prompt; `is_whole`: with what a vague question hangs on.
fn asked_before(
    lines: &[LocatedItem<'_>],
    prompt: &Prompt<'_, '_>,
    is_whole: bool,
) -> Option<String> {
    let agent = words_before(lines, prompt)?;
    if let Some(offered) = offered_list(agent).filter(|_| is_whole) {
        return Some(offered);
    }
    let paragraph = agent.trim_end().rsplit("\n\n").next()?;
    let paragraph = folded(paragraph);
    // who agrees takes the first of two
    let is_other = |sentence: &str| sentence.starts_with("Or ") || sentence.starts_with("or ");
    let asked =
        sentences(&paragraph).filter(|sentence| sentence.ends_with('?') && !is_other(sentence));
    let asked = asked.last()?;
    let before = sentences(&paragraph)
        .take_while(|sentence| *sentence != asked)
        .last();
    // `Want me to make that change?` hangs on what stands before it
    let is_vague = is_whole && content_words(asked).len() <= VAGUE_WORDS_MAX && points_back(asked);
    let asked = match before.filter(|_| is_vague) {
        Some(before) if before.contains(' ') && !before.ends_with('?') => {
            format!("{before} {asked}")
        }
        _ => asked.to_owned(),
    };
    Some(shortened(&asked, AGREED_CHARS_MAX))
}

/// What the agent offered in a list near its end: `Would you like me to: add a test; push it?`
fn offered_list(words: &str) -> Option<String> {
    const LINES_MAX: usize = 14;
    let lines: Vec<&str> = words
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let near = &lines[lines.len().saturating_sub(LINES_MAX)..];
    let lead = near
        .iter()
        .rposition(|line| line.trim_end().ends_with(':'))?;
    let points = near[lead + 1..].iter().map_while(|line| point(line.trim()));
    let points: Vec<String> = points
        .map(|point| folded(point).trim_end_matches(['?', '.']).to_owned())
        .collect();
    let last = near.len() - 1;
    // behind it a line asks which at most; one of several isn't all of them
    let behind = near.get(lead + 1 + points.len());
    let behind = behind.map_or(String::new(), |line| line.to_lowercase());
    let is_open = behind.is_empty() || behind.contains("let me know");
    let is_end = is_open && !behind.ends_with("which one?") && lead + 1 + points.len() >= last;
    let is_several = points.len() > 1;
    let lead = folded(near[lead]);
    let points = points.join("; ");
    let is_offer = is_offer(&format!("{} {points}?", lead.trim_end_matches(':')));
    let offered = format!("{lead} {points}?");
    (is_several && is_end && is_offer).then(|| shortened(&offered, AGREED_CHARS_MAX))
}
