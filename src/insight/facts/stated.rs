//! What an agent's words state, line by line, without what only leads to it: prose, points of lists, rows of
//! tables.

use super::code_blocks::{Block, is_preamble, tell_short, without_verse};
use super::fitted::BEGINNING_CHARS_MAX;
use super::next_headings::NextSection;
use super::points::{cut_late, is_other_list, is_point, points_left, without_mark};
use super::sections::{Sections, is_drawn, is_picture, is_rule, without_targets};
use super::words::folded;
use crate::rules::headings::states_done;
use crate::rules::left::{is_settled, is_undone};
use crate::rules::outcome::announces;
use crate::rules::replies::lists_options;
use crate::rules::reports::{is_label, is_moved, tells_gap};
use crate::rules::requests::{
    RequestKind, asks_leave, asks_something, behind_answer, is_chatter, is_stale, offered, request,
};
use crate::rules::words::sentences;
use std::borrow::Cow;

/// In one line only so much is told.
pub const STEP_BYTES_MAX: usize = 220;

/// How an agent's words begin, in so many bytes at most; `None` where nothing is stated.
#[cfg(test)]
fn beginning(words: &str, bytes_max: usize) -> Option<String> {
    let text = super::fitted::fitted(&stated(words), bytes_max);
    (!text.is_empty()).then_some(text)
}

/// What an agent's words state, line by line: sentences as they are, rows of tables as points, what a list is
/// about before it; without chatter, announcements, code, questions and offers.
pub fn stated(words: &str) -> Vec<String> {
    stated_in(words, READ_BYTES_MAX).0
}

/// How that begins: as much as one line may tell.
pub fn stated_first(words: &str) -> Vec<String> {
    begun(words).0
}

/// The same, and whether that is all of it.
pub fn begun(words: &str) -> (Vec<String>, bool) {
    stated_in(words, 5 * STEP_BYTES_MAX)
}

/// Behind so many bytes points of lists are only counted, and prose isn't read: then it isn't all.
fn stated_in(words: &str, bytes_max: usize) -> (Vec<String>, bool) {
    let words = &*without_verse(words);
    let (mut block, mut is_all, mut is_before) = (Block::None, true, false);
    let (mut in_menu, mut next) = (false, NextSection::default());
    let (mut all, mut bytes): (Vec<String>, usize) = (Vec::new(), 0);
    let (mut columns, mut in_quote): (Vec<&str>, bool) = (Vec::new(), false);
    let mut sections = Sections::of(words);
    let mut lines = words.lines().map(str::trim_end).peekable();
    while let Some(line) = lines.next() {
        let is_quoted = line.starts_with('>');
        let line = unquoted(line);
        let bare = line.trim_start();
        let fence = bare.starts_with("```");
        if fence {
            block = block.behind(bare);
            is_before = block == Block::Text && is_preamble(lines.clone());
            if block == Block::Code && !sections.is_case() {
                tell_short(&mut all, lines.clone());
            }
        }
        is_before &= !bare.starts_with("## ");
        if all.len() == LINES_READ_MAX {
            break;
        }
        if block != Block::Code && next.has(bare, !all.is_empty()) {
            continue;
        }
        let is_code = fence || block == Block::Code || is_code(bare);
        // the rule of a table ends no section
        let is_idle = is_code || is_before || is_rule(bare) || is_label(bare);
        if is_idle || bare.is_empty() {
            continue;
        }
        if is_drawn(bare) {
            sections.begin(bare, &mut all);
            continue;
        }
        if in_menu && is_point(line) {
            continue;
        }
        in_menu = leads_to_menu(bare);
        let mut is_header = || lines.peek().is_some_and(|next| is_rule(next.trim_start()));
        is_all &= bytes <= bytes_max;
        let said = match bare.starts_with('|') {
            true if is_header() => {
                columns = cells(bare).collect();
                continue;
            }
            true => row(bare, &columns),
            false if bytes > bytes_max && is_point(line) => line.to_owned(),
            false if bytes > bytes_max && !sections.concludes() => break,
            false => said(line, bytes == 0),
        };
        bytes += said.len();
        let is_new = sections.has_begun();
        in_quote = is_quoted && !is_new && (in_quote || leads_to(&said, all.last()));
        match all.last_mut() {
            _ if said.is_empty() => {}
            Some(last) if in_quote || !is_new && hangs_on(line, last) => add_to(last, &said),
            _ => sections.add(said, &mut all),
        }
    }
    sections.begin("", &mut all);
    let mut all = sections.listed(all);
    if words.trim_end().ends_with('?') {
        without_menu(&mut all);
    }
    (without_lead_ins(all), is_all)
}

/// Without what somebody is asked to choose from: `Two options:` and its points.
fn without_menu(lines: &mut Vec<String>) {
    let Some(at) = lines
        .iter()
        .position(|line| line.ends_with(':') && lists_options(line))
    else {
        return;
    };
    let points = lines[at + 1..].iter().take_while(|line| is_point(line));
    let points = points.count();
    let names_one = |line: &String| line.contains("Option 1") || line.contains("Option A");
    if lines[at + 1 + points..].iter().any(names_one) {
        return;
    }
    lines.drain(at + 1..=at + points);
}

/// An indented paragraph below a point of a list belongs to that.
fn hangs_on(line: &str, point: &str) -> bool {
    const INDENT: &str = "  ";
    line.starts_with(INDENT)
        && !is_point(line)
        && is_point(point)
        && !line.trim_start().starts_with('|')
}

/// What is quoted belongs to what leads to it: alone it would be the agent's own word.
fn leads_to(quoted: &str, lead: Option<&String>) -> bool {
    lead.is_some_and(|lead| lead.ends_with(':')) && !is_point(quoted)
}

fn add_to(point: &mut String, said: &str) {
    let ended = point.ends_with(['.', ':', '!', '?', '…']);
    point.push_str(if ended { " " } else { ". " });
    point.push_str(said.trim_start());
}

/// It asks or offers, and the list below it is of that: `Shall I add a note? Something like:`
fn leads_to_menu(line: &str) -> bool {
    let last = line.rsplit(". ").next().unwrap_or_default();
    line.ends_with(':') && (line.contains("? ") || asks_leave(last))
}

/// A line that is code: `9759b67d chore: use it`.
fn is_code(line: &str) -> bool {
    let inside = line
        .strip_prefix('`')
        .and_then(|line| line.strip_suffix('`'));
    inside.is_some_and(|inside| !inside.contains('`'))
}

/// Without the mark of what is quoted or set apart: `> it`, `<summary>it</summary>`.
fn unquoted(line: &str) -> &str {
    let line = untagged(line);
    let bare = line.trim_start();
    match bare.starts_with('>') {
        true => bare.trim_start_matches(['>', ' ']),
        false => line,
    }
}

/// Without a tag before all of a line, and one behind it.
fn untagged(line: &str) -> &str {
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    let opened = line.trim_start().strip_prefix('<');
    let opened = opened.and_then(|rest| rest.trim_start_matches('/').split_once('>'));
    let line = opened
        .filter(|(name, _)| is_name(name))
        .map_or(line, |(_, rest)| rest);
    let closed = line
        .strip_suffix('>')
        .and_then(|rest| rest.rsplit_once("</"));
    let closed = closed.filter(|(before, name)| is_name(name) && !before.contains(['`', '<']));
    closed.map_or(line, |(before, _)| before)
}

/// What stands further behind is no result any more.
const LINES_READ_MAX: usize = 60;
const READ_BYTES_MAX: usize = 3 * BEGINNING_CHARS_MAX;

/// `| 2 | Retries | cart.rs |` as `- Retries: cart.rs`; of more columns each is named.
pub(super) fn row(line: &str, columns: &[&str]) -> String {
    const NAMED_MIN: usize = 3;
    let says = |cell: &str| cell.chars().any(char::is_alphabetic);
    let mut all = cells(line).enumerate().skip_while(|(_, cell)| !says(cell));
    let (_, first) = all.next().unwrap_or_default();
    // a name says nothing without its numbers
    let counts = |cell: &str| cell.chars().any(char::is_alphanumeric);
    let rest: Vec<(usize, &str)> = all.filter(|(_, cell)| counts(cell)).collect();
    let is_named = rest.len() + 1 >= NAMED_MIN;
    let name = |nth: usize| columns.get(nth).filter(|name| is_named && !name.is_empty());
    let rest: Vec<String> = rest
        .iter()
        .map(|(nth, cell)| match name(*nth) {
            Some(name) => format!("{name}: {cell}"),
            None => (*cell).to_owned(),
        })
        .collect();
    let row = match (first, rest.is_empty()) {
        ("", _) => String::new(),
        (first, true) => folded(&format!("- {first}")),
        (first, false) => folded(&format!("- {first}: {}", rest.join("; "))),
    };
    if is_label(&row) { String::new() } else { row }
}

pub(super) fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.trim_matches('|').split('|').map(str::trim)
}

/// Without sentences that announce what was left out: code, pictures, prose.
fn without_lead_ins(lines: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    let mut is_led = false;
    for (nth, line) in lines.iter().enumerate() {
        let line = match std::mem::take(&mut is_led) {
            true => without_dangling(line),
            false => line,
        };
        if line.is_empty() {
            continue;
        }
        let next = lines.get(nth + 1).filter(|next| is_point(next));
        let is_numbered = |line: &str| line.trim_start().starts_with(|c: char| c.is_ascii_digit());
        let is_below = |next: &String| {
            !is_point(line)
                || indent(next) > indent(line)
                || is_numbered(line) && !is_numbered(next)
        };
        if !line.ends_with(':') || next.is_some_and(is_below) {
            kept.push(line.to_owned());
            continue;
        }
        let last = sentences(line).last().unwrap_or_default();
        let before = line.strip_suffix(last).unwrap_or_default().trim_end();
        if is_point(line) {
            // what it leads to was left out
            kept.push(
                match without_mark(before).is_empty() || states_itself(last) {
                    true => without_open_end(line.trim_end_matches(':')).to_owned(),
                    false => before.to_owned(),
                },
            );
            continue;
        }
        let is_alone = lines.len() == 1 && line.split_whitespace().count() > LEAD_IN_WORDS;
        let is_alone = is_alone && !shows(line);
        let states =
            states_itself(last) || before.is_empty() && states_done(last) && !is_open(last);
        match before.is_empty() {
            _ if states => kept.push(format!("{}.", line.trim_end_matches(':'))),
            false => kept.push(before.to_owned()),
            true if is_alone => kept.push(line.to_owned()),
            true => is_led = true,
        }
    }
    kept
}

/// Without the rest of a sentence whose beginning led to what was left out, and what hangs on it: `The folders:`, then
/// `are hard to find. That is why …`
fn without_dangling(line: &str) -> &str {
    const JOINTS: [&str; 24] = [
        "is", "are", "was", "were", "and", "or", "but", "which", "that", "with", "to", "into",
        "for", "in", "on", "from", "so", "has", "have", "where", "then", "becomes", "will", "as",
    ];
    const BACK: [&str; 10] = [
        "That", "This", "These", "Those", "It", "They", "It's", "It’s", "That's", "That’s",
    ];
    let begins = |text: &str, words: &[&str]| {
        let first = text.split(' ').next().unwrap_or_default();
        words.contains(&first.trim_end_matches(','))
    };
    if !begins(line, &JOINTS) {
        return line;
    }
    let mut behind = sentences(line)
        .skip(1)
        .skip_while(|next| begins(next, &BACK));
    let rest = behind
        .next()
        .map(|first| first.as_ptr() as usize - line.as_ptr() as usize);
    rest.map_or("", |at| &line[at..])
}

/// `It is clean, but each machine must be set up with`, without what only leads to code.
fn without_open_end(point: &str) -> &str {
    const OPEN: [&str; 12] = [
        " with", " to", " by", " from", " as", " like", " via", " in", " on", " at", " run",
        " called",
    ];
    const BYTES_MIN: usize = 24;
    let before = point.rfind(", ").or_else(|| point.rfind("; "));
    let before =
        before.filter(|at| *at >= BYTES_MIN && OPEN.iter().any(|end| point.ends_with(end)));
    before.map_or(point, |at| &point[..at])
}

/// A sentence before code that says what is, not only that something follows: `The file stays, but it is safe now:`
fn states_itself(sentence: &str) -> bool {
    const WORDS_MIN: usize = 7;
    const LEADS: [&str; 14] = [
        "here", "to ", "for ", "if ", "when ", "you ", "so ", "instead ", "like ", "see ", "the ",
        "this ", "as ", "with ",
    ];
    let lower = sentence.to_lowercase();
    let is_ask = request(sentence).is_some_and(|said| said.kind == RequestKind::Ask);
    let is_lead =
        LEADS.iter().any(|lead| lower.starts_with(lead)) || is_open(&lower) || shows(&lower);
    sentence.split_whitespace().count() >= WORDS_MIN && !is_lead && !is_ask
}

/// It breaks off: `The cart is read from:`
fn is_open(sentence: &str) -> bool {
    const OPEN: [&str; 36] = [
        "see",
        "get",
        "show",
        "display",
        "including",
        "is",
        "are",
        "uses",
        "use",
        "has",
        "have",
        "reads",
        "shows",
        "says",
        "looks",
        "becomes",
        "this",
        "following",
        "to",
        "with",
        "as",
        "like",
        "by",
        "from",
        "run",
        "below",
        "now",
        "via",
        "in",
        "on",
        "of",
        "at",
        "and",
        "into",
        "called",
        "named",
    ];
    let bare = sentence.trim_end_matches(':');
    // `The layout is roughly:`
    let last = bare.rsplit(' ').find(|word| !word.ends_with("ly"));
    let last = last.unwrap_or_default();
    OPEN.iter().any(|open| open.eq_ignore_ascii_case(last))
}

/// It only leads to what is shown: `Based on the log, here's the entry:`
fn shows(sentence: &str) -> bool {
    const CUES: [&str; 4] = ["here's ", "here’s ", "here is ", "here are "];
    let begins = |at: usize| !sentence[..at].ends_with(char::is_alphanumeric);
    let mut found = CUES.iter().filter_map(|cue| sentence.find(cue));
    found.any(begins)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// In so many bytes: sentences behind each other, and points of a list.
pub fn one_line(lines: &[String], bytes_max: usize) -> String {
    let mut text = String::new();
    let mut in_list = false;
    // it only leads to the list
    let is_lead = |line: &&String| {
        line.ends_with(':') && line.split_whitespace().count() <= LEAD_IN_WORDS * 2
    };
    let leads = lines.iter().take_while(is_lead).count();
    // of several lists each is told with what it is about
    let is_alone = !lines.iter().skip(leads).any(|line| line.ends_with(':'));
    let leads = if is_alone {
        leads
    } else {
        leads.saturating_sub(1)
    };
    for (nth, line) in lines.iter().enumerate().skip(leads) {
        let point = is_point(line);
        let piece = match point {
            true => without_mark(line).trim_end_matches('.'),
            false => line.as_str(),
        };
        let ended = text.ends_with([':', '.', '!', '?', '…']);
        let joint = match () {
            () if text.is_empty() => "",
            () if in_list && point && !text.ends_with(':') => "; ",
            () if ended => " ",
            () => ". ",
        };
        let room = bytes_max.saturating_sub(text.len() + joint.len());
        if piece.len() <= room {
            text.push_str(joint);
            text.push_str(piece);
            in_list = point;
            continue;
        }
        let first = sentences(piece).next().unwrap_or_default();
        let whole = first.len() <= room;
        if point && whole && first.len() < piece.len() && !text.is_empty() {
            // of a long point its first sentence says what it is about
            text.push_str(joint);
            text.push_str(first.trim_end_matches('.'));
            in_list = true;
            continue;
        }
        let is_short = text.len() * 3 < bytes_max;
        if text.is_empty() || text.ends_with(':') || whole && !point || is_short {
            let room = if text.ends_with(':') {
                room.max(STEP_BYTES_MAX / 2)
            } else {
                room
            };
            text.push_str(joint);
            text.push_str(&cut_late(piece, room));
        } else if in_list && point {
            text.push_str(&rest_of_list(&lines[nth..]));
        }
        break;
    }
    text
}

/// What stands for points that have no room: a single one itself; of more how many there are, behind the first that says
/// that something isn't so.
fn rest_of_list(lines: &[String]) -> String {
    let short = |point: &str| {
        let bare = without_mark(point).trim_end_matches([':', '.']);
        cut_late(bare, LAST_POINT_BYTES)
    };
    let first = lines.first().map_or("", String::as_str);
    let list = lines
        .iter()
        .take_while(|line| is_point(line) && !is_other_list(first, line));
    let mut own = list.filter(|line| indent(line) == 0);
    match points_left(lines) {
        0 => "; …".to_owned(),
        1 if indent(first) == 0 => format!("; {}", short(first)),
        left => match own.find(|point| tells_gap(without_mark(point))) {
            Some(gap) if left > 1 => format!("; {}; and {} more", short(gap), left - 1),
            _ => format!("; and {left} more"),
        },
    }
}

/// The last point of a list has so much room, where all others are told.
const LAST_POINT_BYTES: usize = 120;

/// A line that stands alone and says no more announces only.
const LEAD_IN_WORDS: usize = 3;

/// What a line states; `first`: nothing was stated yet.
pub(super) fn said(line: &str, first: bool) -> String {
    let indent = &line[..line.len() - line.trim_start().len()];
    let mut out = String::new();
    let text = without_targets(&folded(&undecorated(line.trim_start())));
    for sentence in sentences(&text) {
        let opens = first && out.is_empty();
        // it is told beside the result as what is left; what follows it in its paragraph hangs on it
        // of a point the bad half is not left out: `It builds. The page fails, as it did before.`
        let is_half = || !out.is_empty() && is_point(line) && is_old_fault(sentence);
        let is_told = || is_half() || declines(sentence);
        if !opens && is_undone(sentence) && !is_settled(sentence) && !is_told() {
            match out.is_empty() {
                true => break,
                false => continue,
            }
        }
        let asks = asks(sentence);
        // `✅`, `🎯.`
        let is_drawn = || !sentence.contains(char::is_alphanumeric);
        let is_plan = || opens && behind_answer(sentence).is_some_and(announces);
        let is_chat = || opens && is_chatter(sentence) || is_plan();
        let is_idle = || announces(sentence) || is_stale(sentence) || is_chat() || is_drawn();
        if asks && out.is_empty() && is_point(line) {
            // what stands behind a point's question hangs on it
            break;
        }
        if asks && asks_leave(sentence) {
            // `Want it committed? Seven files, one commit`: what was to be agreed to
            break;
        }
        let is_menu = sentence.ends_with(':') && leads_to_menu(&text);
        if asks || is_menu || offered(sentence).is_some() || is_idle() || is_moved(sentence) {
            continue;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(sentence);
    }
    if let Some(before) = out.strip_suffix(['—', '–']) {
        // it leads to a list
        out = format!("{}:", before.trim_end_matches([' ', '—', '–']));
    }
    match out.is_empty() {
        true => out,
        false => format!("{indent}{out}"),
    }
}

/// It is a question; what one in parentheses asks, is told: `Four criteria (is it due?)`.
fn asks(sentence: &str) -> bool {
    let closed = sentence.trim_end_matches(['*', '_', '"', ')']);
    let is_aside = closed.len() < sentence.len()
        && sentence.ends_with(')')
        && sentence.find('(').is_some_and(|at| at > 0);
    closed.ends_with('?') && !(is_aside && !asks_leave(sentence) && !asks_something(closed))
}

/// `I did not push to main because the branch is protected`: what was decided against, with a reason.
fn declines(sentence: &str) -> bool {
    const CUES: [&str; 3] = ["I did not ", "I didn't ", "I didn’t "];
    const ACTS: [&str; 6] = ["push", "merge", "delete", "remove", "deploy", "publish"];
    let at = CUES
        .iter()
        .find_map(|cue| sentence.find(cue).map(|at| at + cue.len()));
    let act = at.map_or("", |at| &sentence[at..]);
    let act = act.strip_prefix("directly ").unwrap_or(act);
    ACTS.iter().any(|one| act.starts_with(one)) && sentence.contains(" because ")
}

/// It tells of faults that were there before.
fn is_old_fault(sentence: &str) -> bool {
    sentence.contains("pre-existing") || sentence.contains("preexisting")
}

/// `✅ Done` as `- Done`, `🎯 **Done**` as `**Done**`: what is drawn before words says no more than that they begin.
pub(super) fn undecorated(line: &str) -> Cow<'_, str> {
    let is_drawn = |c: char| is_picture(c) || c == ' ';
    if line.is_ascii() {
        return Cow::Borrowed(line);
    }
    let (mark, rest) = match line.strip_prefix("- ") {
        Some(rest) => ("- ", rest),
        None => ("", line),
    };
    let bare = rest.trim_start_matches(is_drawn);
    let is_tick = mark.is_empty() && rest.starts_with(['✅', '✔', '✓']);
    match bare.len() == rest.len() {
        true => Cow::Borrowed(line),
        false => Cow::Owned(format!("{}{bare}", if is_tick { "- " } else { mark })),
    }
}

#[cfg(test)]
mod tests;
