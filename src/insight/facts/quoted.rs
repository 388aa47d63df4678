//! An agent's words as it wrote them. What is cut out of a report stands without what it hangs on, so all of it is told
//! where that has room.

use super::code_blocks::Block;
use super::fitted::{BEGINNING_CHARS_MAX, LINES_MAX, fitted};
use super::points::is_point;
use super::sections::{is_rule, without_targets};
use super::stated::{cells, row, said, undecorated};
use super::words::folded;

/// An agent's words in at most so many characters: rows of tables as points, headings as lines of their own. Left out are
/// blank lines, rules and a last paragraph that asks something: that is a next step, or was answered. Of what has no room
/// code is left out first, then of each part the end. Empty where they say nothing else.
pub(super) fn quoted(words: &str, chars_max: usize) -> String {
    let words = without_question(&words[..words.floor_char_boundary(READ_BYTES_MAX)]);
    let fits = |all: &[String]| {
        let chars: usize = all.iter().map(|line| line.chars().count() + 1).sum();
        chars <= chars_max && all.len() <= LINES_MAX
    };
    let whole = lines(words, true);
    if fits(&whole) {
        return whole.join("\n");
    }
    let prose = lines(words, false);
    match fits(&prose) {
        true => prose.join("\n"),
        false => without_empty_headings(&fitted(&prose, chars_max)),
    }
}

/// Without headings whose text had no room.
fn without_empty_headings(text: &str) -> String {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut kept: Vec<&str> = Vec::new();
    for line in text.lines().rev() {
        let is_filled = kept
            .last()
            .is_some_and(|next| !next.ends_with(':') || indent(next) > indent(line));
        if !line.ends_with(':') || is_filled {
            kept.push(line);
        }
    }
    kept.reverse();
    kept.join("\n")
}

/// What stands further behind is no result any more.
const READ_BYTES_MAX: usize = 4 * BEGINNING_CHARS_MAX;

/// Each line that says something; behind what leads to code that is left out stands `…`.
fn lines(words: &str, with_code: bool) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut columns: Vec<&str> = Vec::new();
    let mut block = Block::None;
    let mut lines = words.lines().map(str::trim_end).peekable();
    while let Some(line) = lines.next() {
        let bare = line.trim_start();
        if bare.starts_with("```") {
            block = block.behind(bare);
            let lead = all
                .last_mut()
                .filter(|_| block == Block::Code && !with_code);
            if let Some(lead) = lead.filter(|lead| lead.ends_with(':')) {
                lead.pop();
                lead.push('…');
            }
            continue;
        }
        let is_code = block == Block::Code;
        let is_header = lines.peek().is_some_and(|next| is_rule(next.trim_start()));
        let told = match bare {
            _ if is_code => line.to_owned(),
            _ if !bare.contains(char::is_alphanumeric) => continue,
            _ if bare.starts_with('|') && is_header => {
                columns = cells(bare).collect();
                continue;
            }
            _ if bare.starts_with('|') => row(bare, &columns),
            // `All done! Here's a summary of the changes:`
            _ if all.is_empty() && !is_point(line) && !bare.starts_with('#') => said(line, true),
            _ => text(line),
        };
        if !told.trim().is_empty() && (with_code || !is_code) {
            all.push(told);
        }
    }
    all
}

/// Without a last paragraph that ends in a question, where something stands before it.
fn without_question(words: &str) -> &str {
    let words = words.trim_end();
    match words.rsplit_once("\n\n") {
        Some((before, last)) if last.ends_with(['?', '？']) && !before.trim().is_empty() => before,
        _ => words,
    }
}

/// Prose without marks: `## Done` and `**Done**` are `Done:`.
fn text(line: &str) -> String {
    let bare = line.trim_start();
    let indent = &line[..line.len() - bare.len()];
    let title = bare.trim_start_matches('#');
    let is_bold = bare.len() > 4 && bare.starts_with("**") && bare.ends_with("**");
    let is_heading = title.len() < bare.len() && title.starts_with(' ') || is_bold;
    let told = without_targets(&folded(&undecorated(title.trim_start())));
    match is_heading && told.ends_with(char::is_alphanumeric) {
        true => format!("{indent}{told}:"),
        false => format!("{indent}{told}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_have_room_are_told_as_they_are() {
        let words = "Perfect! Let me sum up:\n\nThe totals are **right** now.\n\n## Changes\n\n- `cart.rs`: rounds once\n  - half up\n\n\
            | Part | State |\n|---|---|\n| shop | done |\n\nIt is made so:\n\n```\nmake page\n```\n\n---\n\nShall I commit it?";
        let wants = "The totals are right now.\nChanges:\n- `cart.rs`: rounds once\n  - half up\n- shop: done\nIt is made so:\nmake page";
        assert_eq!(quoted(words, 200), wants);
        let wants = wants.replace(":\nmake page", "…");
        assert_eq!(quoted(words, wants.len() + 1), wants);
        assert!(quoted(words, 60).len() < wants.len());
        assert_eq!(
            without_empty_headings("One:\nTwo:\n- a\nThree:"),
            "Two:\n- a"
        );
        assert_eq!(quoted("Shall I?", 60), "");
        assert_eq!(quoted("---\n\n", 60), "");
    }
}
