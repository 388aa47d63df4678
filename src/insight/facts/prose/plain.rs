//! A line of a prompt without its marks.

use super::super::words::folded;
use super::links::links_shortened;

/// A line without marks of headings and lists, emphasis, dropped files and addresses.
pub(super) fn plain(line: &str) -> String {
    let line = without_files(point(line));
    let text = match line.contains("://") {
        true => folded(&links_shortened(line)),
        false => folded(line),
    };
    with_short_ids(text)
}

/// `0bdbfa06-acf1-473a-b3e4-6a03313d1d0e` as `0bdbfa06…`.
fn with_short_ids(text: String) -> String {
    const ID_BYTES_MIN: usize = 24;
    const SHOWN_BYTES: usize = 8;
    let is_id = |c: char| c.is_ascii_hexdigit() || c == '-';
    if !text
        .split(|c| !is_id(c))
        .any(|part| part.len() >= ID_BYTES_MIN)
    {
        return text;
    }
    let mut out = String::new();
    for part in text.split_inclusive(|c| !is_id(c)) {
        let id = part.trim_end_matches(|c| !is_id(c));
        let is_one = id.len() >= ID_BYTES_MIN && id.contains(|c: char| c.is_ascii_digit());
        match is_one {
            true => out.extend([&id[..SHOWN_BYTES], "…", &part[id.len()..]]),
            false => out.push_str(part),
        }
    }
    out
}

/// Without the mark of a heading, a quotation or a point of a list.
pub(super) fn point(line: &str) -> &str {
    let rest = line.trim_start_matches(['#', '>', '-', '*', '•', ' ']);
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
    let numbered = rest[digits..]
        .strip_prefix(['.', ')'])
        .filter(|_| (1..=2).contains(&digits));
    numbered
        .filter(|rest| rest.starts_with(' '))
        .map_or(rest, str::trim_start)
}

/// A point of a list.
pub(super) fn is_listed(line: &str) -> bool {
    !line.starts_with('>') && point(line) != line
}

/// Files that were dropped on the prompt stand before it, in quotes.
fn without_files(line: &str) -> &str {
    let mut rest = line;
    while let Some((_, after)) = rest
        .strip_prefix("'/")
        .and_then(|file| file.split_once("' "))
    {
        rest = after.trim_start();
    }
    rest
}
