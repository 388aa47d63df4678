//! What stands between fences in an agent's words: code, but for a document that was written and for the one line that
//! a sentence leads to.

use super::points::is_point;
use super::words::folded;
use crate::rules::words::sentences;
use std::borrow::Cow;
use std::ops::Range;

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

/// Code of few short lines is told with the sentence that leads to it; without it, a sentence that only points at it
/// goes. What one case of several leads to is not of what leads to all: then this is not to be called.
pub(super) fn tell_short<'t>(all: &mut Vec<String>, behind: impl Iterator<Item = &'t str>) {
    const CODE_CHARS_MAX: usize = 80;
    const LINES_MAX: usize = 3;
    let Some(lead) = all.last_mut().filter(|last| !is_point(last)) else {
        return;
    };
    let inside = behind
        .map(str::trim)
        .take_while(|line| !line.starts_with("```"));
    let inside = inside.filter(|line| !line.is_empty());
    let lines: Vec<&str> = inside.take(LINES_MAX + 1).collect();
    let chars: usize = lines.iter().map(|line| line.chars().count() + 1).sum();
    let is_alone = lines.len() == 1;
    let is_plain = |line: &&str| !line.contains('`') && (is_alone || !is_open(line));
    let is_short = (1..=LINES_MAX).contains(&lines.len())
        && chars <= CODE_CHARS_MAX + 1
        && lines.iter().all(is_plain)
        && (is_alone || !is_for_reader(lead));
    if lead.ends_with(':') {
        if is_short {
            let code: Vec<String> = lines.iter().map(|line| folded(line)).collect();
            lead.push_str(&format!(" `{}`", code.join("`; `")));
        }
    } else if let Some(last) = sentences(lead).last()
        && points_below(last)
    {
        let before = lead.len() - last.len();
        lead.truncate(before);
        lead.truncate(lead.trim_end().len());
        all.pop_if(|lead| lead.is_empty());
    }
}

/// What follows is for the person to run, or the lead says too little: that says nothing of the work.
fn is_for_reader(lead: &str) -> bool {
    const WORDS_MIN: usize = 4;
    let last = sentences(lead).last().unwrap_or_default().to_lowercase();
    let mut words = last.split(|c: char| !c.is_alphanumeric());
    last.split_whitespace().count() < WORDS_MIN
        || last.starts_with("to ")
        || last.starts_with("run ")
        || words.any(|word| matches!(word, "you" | "your"))
}

/// A line that goes on in the next one.
fn is_open(line: &str) -> bool {
    line.contains("<<") || line.ends_with(['{', '[', '(', ',', '\\'])
}

/// A sentence that says only that something is shown below it: `The file looks like this.`
fn points_below(sentence: &str) -> bool {
    const ENDS: [&str; 7] = [
        " like this",
        " as follows",
        " shown below",
        " see below",
        " like so",
        " is below",
        " the following",
    ];
    let text = sentence.trim_end_matches(['.', ' ', '*']).to_lowercase();
    ENDS.iter().any(|end| text.ends_with(end))
}

/// Words without verse: what an agent wrote as a poem says nothing of its work.
pub(super) fn without_verse(words: &str) -> Cow<'_, str> {
    const STANZA_LINES: usize = 4;
    /// Of a poem other stanzas are shorter.
    const REST_LINES: usize = 2;
    let stanzas = stanzas(words);
    if !stanzas.iter().any(|(lines, _)| *lines >= STANZA_LINES) {
        return Cow::Borrowed(words);
    }
    let mut out = String::with_capacity(words.len());
    let mut told = 0;
    for (_, bytes) in stanzas.iter().filter(|(lines, _)| *lines >= REST_LINES) {
        out.push_str(&words[told..bytes.start]);
        told = bytes.end;
    }
    out.push_str(&words[told..]);
    Cow::Owned(out)
}

/// Lines of verse behind each other, of which hardly more than half end a sentence: how many, and where they stand.
fn stanzas(words: &str) -> Vec<(usize, Range<usize>)> {
    let mut all = Vec::new();
    let (mut lines, mut closed, mut start, mut at) = (0, 0, 0, 0);
    for line in words.split_inclusive('\n').chain([""]) {
        let text = line.trim();
        if is_verse(text) {
            start = if lines == 0 { at } else { start };
            lines += 1;
            closed += usize::from(text.ends_with(['.', '!', '?']));
        } else {
            if lines > 0 && closed * 2 <= lines {
                all.push((lines, start..at));
            }
            (lines, closed) = (0, 0);
        }
        at += line.len();
    }
    all
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

    #[test]
    fn code_of_few_lines_is_told_and_what_points_at_more_is_not() {
        let told = |lead: &str, code: &str| {
            let mut all = vec![lead.to_owned()];
            tell_short(&mut all, format!("{code}\n```").lines());
            all.join("\n")
        };
        let wants = "The page is made by: `make page`; `make index`";
        assert_eq!(
            told("The page is made by:", "make page\n\nmake index"),
            wants
        );
        let lead = "You can make it by:";
        assert_eq!(told(lead, "make page\nmake index"), lead);
        let lead = "The file is safe now:";
        assert_eq!(told(lead, "{\n  \"a\": 1\n}"), lead);
        assert_eq!(
            told("It is safe. The file looks like this.", "{\n}"),
            "It is safe."
        );
    }
}
