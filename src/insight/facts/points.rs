//! Points of lists and sentences of paragraphs, and how these are cut. Knows no report.

use super::words::clipped;
use crate::rules::headings::is_beside;
use crate::rules::reports::{is_cure, is_fault, is_remedy, only_counts};
use crate::rules::requests::is_idle;
use crate::rules::words::{content_words, is_same, sentences};
use std::borrow::Cow;
use std::cmp::Reverse;

/// So many sentences of a paragraph; what leads to a list leads on.
pub(super) fn first_sentences(line: &str, most: usize) -> String {
    if most > line.len() || line.ends_with(':') && sentences(line).nth(1).is_none() {
        return line.to_owned();
    }
    let mut all = sentences(line).peekable();
    let mut kept: Vec<&str> = all.by_ref().take(most).collect();
    // a problem is told with its cure, or neither is
    if (2..=FEW_SENTENCES).contains(&most) && all.peek().is_some_and(|next| is_cure(next)) {
        kept.pop();
    }
    while kept.len() >= most
        && let Some(cure) = all.next_if(|next| is_cure(next))
    {
        kept.push(cure);
    }
    if all.peek().is_some() {
        kept.truncate(closed(&kept));
    }
    let mut text = kept.join(" ");
    if let Some(lead) = all.last().filter(|last| last.ends_with(':')) {
        text.push(' ');
        text.push_str(lead);
    }
    text
}

/// Where paragraphs have no more, other lines wait for room.
const FEW_SENTENCES: usize = 2;

pub(super) fn short_point(line: &str, bytes_max: usize) -> String {
    match line.len() > bytes_max {
        true if line.ends_with(':') => line.to_owned(),
        true => cut_late(line, bytes_max),
        false => line.to_owned(),
    }
}

pub(super) fn more(points: usize) -> String {
    format!("- and {points} more")
}

/// `2. two` of a list.
pub(super) fn is_numbered(line: &str) -> bool {
    line.starts_with(|c: char| c.is_ascii_digit())
}

/// Points of the list that these lines begin in.
pub(super) fn points_left(lines: &[String]) -> usize {
    let first = lines.first().map_or("", String::as_str);
    let list = lines
        .iter()
        .take_while(|line| is_point(line) && !is_other_list(first, line));
    list.filter(|line| !line.starts_with(' ')).count()
}

/// A point of a list.
pub(super) fn is_point(line: &str) -> bool {
    let bare = line.trim_start();
    bare.starts_with(['-', '*', '•']) || bare.starts_with(|c: char| c.is_ascii_digit())
}

/// With more words a request names much that every point has.
const ASKED_WORDS_MAX: usize = 24;

/// Lines that have no room, with the points of their first list that are about what was `asked` before its others.
pub(super) fn about_first<'l>(
    lines: &'l [String],
    asked: &str,
    bytes_max: usize,
) -> Cow<'l, [String]> {
    const SHARED_MIN: usize = 2;
    let bytes: usize = lines.iter().map(String::len).sum();
    let start = lines.iter().position(|line| is_point(line));
    let Some(start) = start.filter(|_| bytes > bytes_max && !asked.is_empty()) else {
        return Cow::Borrowed(lines);
    };
    let list = lines[start..]
        .iter()
        .take_while(|line| is_point(line))
        .count();
    let (list, rest) = lines[start..].split_at(list);
    let mut asked = content_words(asked);
    asked.retain(|word| !is_idle(word));
    let shared = |points: &[String]| {
        let told = content_words(&points.join(" "));
        let is_told = |word: &&String| told.iter().any(|told| is_same(told, word));
        asked.iter().filter(is_told).count()
    };
    let points = list.chunk_by(|_, next| next.starts_with(' '));
    let mut points: Vec<(usize, &[String])> =
        points.map(|points| (shared(points), points)).collect();
    let most = points
        .iter()
        .map(|(shared, _)| *shared)
        .max()
        .unwrap_or_default();
    if points
        .first()
        .is_none_or(|(first, _)| most < first + SHARED_MIN || most * 4 < asked.len())
        || asked.len() > ASKED_WORDS_MAX
    {
        return Cow::Borrowed(lines);
    }
    points.sort_by_key(|(shared, _)| Reverse(*shared));
    let points = points.iter().flat_map(|(_, points)| points.iter());
    Cow::Owned(
        lines[..start]
            .iter()
            .chain(points)
            .chain(rest)
            .cloned()
            .collect(),
    )
}

/// Of words in several sections with headings the one that is about what was `asked`, where that isn't the first: an answer may
/// begin with what earlier ones told. A section must share many more words with it than the first.
pub(super) fn section_about<'t>(words: &'t str, asked: &str) -> Option<&'t str> {
    const SHARED_MIN: usize = 3;
    let (mut inside_code, mut at) = (false, 0);
    let mut headings: Vec<(usize, usize)> = Vec::new();
    for line in words.split_inclusive('\n') {
        inside_code ^= line.starts_with("```");
        let level = line.len() - line.trim_start_matches('#').len();
        if level > 1 && !inside_code {
            headings.push((level, at));
        }
        at += line.len();
    }
    let level = headings.iter().map(|(level, _)| *level).max()?;
    let sections = headings
        .iter()
        .enumerate()
        .filter(|(_, (own, _))| *own == level);
    let sections = sections.map(|(nth, (_, from))| {
        let end = headings.get(nth + 1).map_or(words.len(), |(_, end)| *end);
        &words[*from..end]
    });
    sections.clone().nth(1)?;
    let mut asked = content_words(asked);
    asked.retain(|word| !is_idle(word));
    let each = sections.map(|section| {
        let told = content_words(section);
        let is_told = |word: &&String| told.iter().any(|told| is_same(told, word));
        (asked.iter().filter(is_told).count(), section)
    });
    let each: Vec<(usize, &str)> = each.collect();
    let (first, _) = *each.first()?;
    let (most, section) = *each.iter().rev().max_by_key(|(shared, _)| *shared)?;
    let is_most = most >= 2 * first + SHARED_MIN && most * 4 >= asked.len();
    // what repeats the request most may be why, how it was, or what is left
    let heading = section.lines().next().unwrap_or_default();
    (is_most && !is_beside(heading)).then_some(section)
}

/// Without a cause that stands before what was done about it: `Problem: …`, `Solution: …`. A short line has no room for both.
pub(super) fn without_cause(lines: &[String]) -> Cow<'_, [String]> {
    let head = |line: &String| -> String {
        let head = without_mark(line).split(':').next();
        head.unwrap_or_default().to_owned()
    };
    let is_told = |line: &String, is_it: fn(&str) -> bool| line.contains(':') && is_it(&head(line));
    let from = lines.iter().position(|line| is_told(line, is_fault));
    let until = lines.iter().position(|line| is_told(line, is_remedy));
    match (from, until) {
        (Some(from), Some(until)) if from < until => {
            Cow::Owned([&lines[..from], &lines[until..]].concat())
        }
        _ => Cow::Borrowed(lines),
    }
}

/// `one` of `- one`, `2. one`.
pub(super) fn without_mark(point: &str) -> &str {
    let bare = point.trim_start().trim_start_matches(['-', '*', '•', ' ']);
    let digits = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = digits
        .strip_prefix(['.', ')'])
        .filter(|_| digits.len() < bare.len());
    numbered.unwrap_or(bare).trim_start()
}

/// As many sentences as fit; behind one that is hardly more than a name, the beginning of the next.
pub(super) fn cut_late(text: &str, bytes_max: usize) -> String {
    let mut out = cut(text, bytes_max);
    let room = bytes_max.saturating_sub(out.len() + " …".len());
    let rest = text.strip_prefix(out.as_str()).map(str::trim_start);
    if let Some(rest) = rest.filter(|rest| !rest.is_empty())
        && out.len() * 2 < bytes_max
        && room >= BEGINNING_BYTES_MIN
    {
        out.push_str(&format!(" {}…", clipped(rest, room)));
    }
    out
}

/// As many sentences as fit. A problem is told with its cure, or neither is.
pub(super) fn cut(text: &str, bytes_max: usize) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut bytes = 0;
    for sentence in sentences(text) {
        if bytes + sentence.len() > bytes_max + usize::from(!kept.is_empty()) {
            let is_cure = !kept.is_empty() && is_cure(sentence);
            match (is_cure, kept.len()) {
                (true, 1) => kept.push(clipped(sentence, CURE_CHARS_MAX)),
                (true, _) => drop(kept.pop()),
                (false, _) => kept.truncate(closed(&kept)),
            }
            break;
        }
        bytes += sentence.len() + 1;
        kept.push(sentence);
    }
    match kept.is_empty() {
        true => format!("{}…", clipped(text, bytes_max.saturating_sub(3))),
        false => kept.join(" "),
    }
}

/// Behind the only sentence that has room.
const CURE_CHARS_MAX: usize = 120;

/// How many of these sentences stand without what was cut behind them; the first one does in any case.
fn closed(sentences: &[&str]) -> usize {
    let open = sentences.iter().rev();
    let open = open.take_while(|last| only_counts(last)).count();
    (sentences.len() - open).max(sentences.len().min(1))
}

/// Two points of the first rank that are in lists of two kinds, one numbered: the second begins a list.
pub(super) fn is_other_list(before: &str, line: &str) -> bool {
    let is_nested = |line: &str| line.starts_with(' ');
    !is_nested(before) && !is_nested(line) && is_numbered(before) != is_numbered(line)
}

/// A shorter beginning of a sentence says nothing.
const BEGINNING_BYTES_MIN: usize = 48;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_told_with_what_it_names() {
        let point = "Two locks. The cart takes the lock of the shop while the shop waits for the lock of the cart.";
        let wants = "Two locks. The cart takes the lock of the shop while the shop waits…";
        assert_eq!(cut_late(point, 75), wants);
        let point = "The cart takes the lock twice. The shop waits for the lock of the cart.";
        assert_eq!(cut_late(point, 60), "The cart takes the lock twice.");
    }

    #[test]
    fn points_about_what_was_asked_come_first() {
        let lines = [
            "Both are done:",
            "- The second rounding of carts is gone",
            "  - one line",
            "- The shop has tests of edge cases",
        ];
        let lines = lines.map(str::to_owned);
        let asked = "add tests of the edge cases of shops";
        let told = about_first(&lines, asked, 60);
        assert_eq!(told[1], lines[3]);
        assert_eq!(told[2..], lines[1..3]);
        assert_eq!(
            *about_first(&lines, asked, 900),
            lines,
            "all of it has room"
        );
        assert_eq!(*about_first(&lines, "round the carts once", 60), lines);
    }

    #[test]
    fn the_section_about_what_was_asked_is_found() {
        let words = "Two are done.\n\n### 1. Logs of carts\n\nEach error is logged.\n\n### 2. Rounding\n\n**Cause:** \
                     totals were rounded for each row.\n- Totals are rounded once, at their end\n\n## Tests\n\nAll pass.";
        let about = |asked| section_about(words, asked);
        let second = about("totals are rounded in each row instead of at the end");
        assert!(second.is_some_and(|told| told.starts_with("### 2.") && told.ends_with("end\n\n")));
        assert_eq!(about("log each error of carts"), None);
        assert_eq!(about("is it done?"), None);
        let beside = words.replace("2. Rounding", "Alternatives");
        let asked = "totals are rounded in each row instead of at the end";
        assert_eq!(section_about(&beside, asked), None);
        assert_eq!(
            section_about("Totals are rounded once.", "round totals once"),
            None
        );
    }

    #[test]
    fn what_was_done_is_told_before_why() {
        let lines = [
            "Rounding of carts",
            "The Bug: totals were rounded for each row.",
            "- twice",
            "The Fix:",
            "- they are rounded once",
        ];
        let lines = lines.map(str::to_owned);
        let wants = [&lines[..1], &lines[3..]].concat();
        assert_eq!(*without_cause(&lines), wants);
        assert_eq!(*without_cause(&lines[..3]), lines[..3], "nothing was done");
        assert_eq!(*without_cause(&lines[3..]), lines[3..]);
    }

    #[test]
    fn a_problem_is_told_with_its_cure() {
        let text = "Rows are wrapped. The tool dropped the blanks of all cells. Restored all of them. Pages build.";
        let told = |most| first_sentences(text, most);
        assert_eq!(told(2), "Rows are wrapped.");
        let wants =
            "Rows are wrapped. The tool dropped the blanks of all cells. Restored all of them.";
        assert_eq!((told(3), cut(text, 80)), (wants.into(), wants.into()));
        assert_eq!(cut(text, 60), "Rows are wrapped.");
        let wants = "The tool dropped the blanks of all cells. Restored all of them.";
        assert_eq!(cut(&text[18..], 50), wants);
    }

    #[test]
    fn what_only_counts_the_rest_goes_with_it() {
        let text = "Rows are wrapped. Two things to know. Tabs stay. Blanks don't.";
        assert_eq!(first_sentences(text, 2), "Rows are wrapped.");
        assert_eq!(cut(text, 40), "Rows are wrapped.");
        assert_eq!(
            cut(text, 60),
            "Rows are wrapped. Two things to know. Tabs stay."
        );
    }
}
