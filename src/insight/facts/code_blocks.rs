//! What stands between fences in an agent's words: code, but for a document that was written and for the one line that
//! a sentence leads to.

use super::fitted::is_point;
use super::words::folded;
use std::borrow::Cow;

/// What stands between two fences.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Block {
    None,
    Code,
    /// A document that was written.
    Text,
}

impl Block {
    /// What begins or ends with a fence.
    pub(super) fn behind(self, fence: &str) -> Block {
        let language = fence.trim_matches('`').trim();
        match self {
            Block::None if matches!(language, "markdown" | "md") => Block::Text,
            Block::None => Block::Code,
            _ => Block::None,
        }
    }
}

/// Code of one short line is told with the sentence that leads to it.
pub(super) fn tell_only_line<'t>(all: &mut [String], behind: impl Iterator<Item = &'t str>) {
    const CODE_CHARS_MAX: usize = 80;
    let Some(lead) = all
        .last_mut()
        .filter(|last| last.ends_with(':') && !is_point(last))
    else {
        return;
    };
    let inside = behind
        .map(str::trim)
        .take_while(|line| !line.starts_with("```"));
    let mut inside = inside.filter(|line| !line.is_empty());
    if let (Some(code), None) = (inside.next(), inside.next())
        && code.chars().count() <= CODE_CHARS_MAX
        && !code.contains('`')
    {
        lead.push_str(&format!(" `{}`", folded(code)));
    }
}

/// Words without verse: what an agent wrote as a poem says nothing of its work.
pub(super) fn without_verse(words: &str) -> Cow<'_, str> {
    const STANZA_LINES: usize = 4;
    let mut out: Option<String> = None;
    let (mut stanza, mut told) = (Vec::new(), 0);
    let mut at = 0;
    let ends = |stanza: &[&str]| {
        let ends = |line: &&&str| line.trim_end().ends_with(['.', '!', '?', ':']);
        let closed = stanza.iter().filter(ends).count();
        stanza.len() >= STANZA_LINES && closed * 2 <= stanza.len()
    };
    let mut close = |stanza: &mut Vec<&str>, at: usize| {
        if ends(stanza) {
            let bytes: usize = stanza.iter().map(|line| line.len()).sum();
            let out = out.get_or_insert_default();
            out.push_str(&words[told..at - bytes]);
            told = at;
        }
        stanza.clear();
    };
    for line in words.split_inclusive('\n') {
        match is_verse(line.trim()) {
            true => stanza.push(line),
            false => close(&mut stanza, at),
        }
        at += line.len();
    }
    close(&mut stanza, at);
    match out {
        Some(mut out) => {
            out.push_str(&words[told..]);
            Cow::Owned(out)
        }
        None => Cow::Borrowed(words),
    }
}

/// A short line of nothing but words.
fn is_verse(line: &str) -> bool {
    const BYTES: std::ops::RangeInclusive<usize> = 12..=64;
    const WORDS_MIN: usize = 3;
    const MARKS: [char; 14] = [
        ',', '.', ';', '!', '?', '\'', '’', '-', '–', '—', '*', '_', '“', '”',
    ];
    BYTES.contains(&line.len())
        && line.starts_with(|c: char| c.is_alphabetic() || matches!(c, '*' | '_' | '“'))
        && !line.starts_with("* ")
        && line
            .chars()
            .all(|c| c.is_alphabetic() || c == ' ' || MARKS.contains(&c))
        && !line.contains("**")
        && line.split(' ').count() >= WORDS_MIN
}

/// The title of a document in a block, and what stands between it and the first section.
pub(super) fn is_preamble<'t>(behind: impl Iterator<Item = &'t str>) -> bool {
    let mut inside = behind.map(str::trim);
    let is_title = inside
        .find(|line| !line.is_empty())
        .is_some_and(|line| line.starts_with("# "));
    let mut inside = inside.take_while(|line| !line.starts_with("```"));
    is_title && inside.any(|line| line.starts_with("## "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verse_is_no_report() {
        let words = "Here it is:\n\nA cart rolls down the lane at night,\nits wheels are round, its load is light,\n\
            it stops before the baker's door\nand carries home one loaf, or four.\n\nThe poem is in cart.txt.\n";
        let wants = "Here it is:\n\n\nThe poem is in cart.txt.\n";
        assert_eq!(without_verse(words), wants);
        let report = "The cart rounds once.\nThe shop adds it up.\nNothing else changed.\nIt is tested now.\n";
        assert_eq!(without_verse(report), report);
        assert!(is_preamble(
            "# Changes\n\nAll of them.\n\n## Fixed\n```".lines()
        ));
        assert!(!is_preamble("# Changes\n\nAll of them.\n```".lines()));
    }
}
