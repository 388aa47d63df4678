//! Points of lists and sentences of paragraphs, and how these are cut. Knows no report.

use super::words::clipped;
use crate::rules::words::sentences;

/// So many sentences of a paragraph; what leads to a list leads on.
pub(super) fn first_sentences(line: &str, most: usize) -> String {
    if most > line.len() || line.ends_with(':') && sentences(line).nth(1).is_none() {
        return line.to_owned();
    }
    let mut all = sentences(line);
    let kept: Vec<&str> = all.by_ref().take(most).collect();
    let mut text = kept.join(" ");
    if let Some(lead) = all.last().filter(|last| last.ends_with(':')) {
        text.push(' ');
        text.push_str(lead);
    }
    text
}

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
        && out.len() * 4 < bytes_max
        && room >= BEGINNING_BYTES_MIN
    {
        out.push_str(&format!(" {}…", clipped(rest, room)));
    }
    out
}

/// As many sentences as fit.
pub(super) fn cut(text: &str, bytes_max: usize) -> String {
    let mut out = String::new();
    for sentence in sentences(text) {
        if out.len() + sentence.len() > bytes_max {
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(sentence);
    }
    match out.is_empty() {
        true => format!("{}…", clipped(text, bytes_max.saturating_sub(3))),
        false => out,
    }
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
}
