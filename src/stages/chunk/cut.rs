//! Where a text that is too long is cut. Knows paragraphs, lines, words and characters.

use super::piece::Piece;
use crate::model::exchange::{Item, LEFT_OUT};
use crate::rules::requests::announces_paste;

/// Characters of a title.
const TITLE_CHARS: usize = 80;

/// First line without the address in front, or the heading of what that announces, at most 80 characters; empty where the words are left out.
pub(super) fn title(words: &str) -> String {
    let mut lines = words.lines();
    let line = match lines.next() {
        Some(line) if line != LEFT_OUT => line,
        _ => "",
    };
    // `Implement the following plan:`
    let pasted =
        announces_paste(line.trim_end()).then(|| lines.find(|line| !line.trim().is_empty()));
    let heading = pasted.flatten().and_then(heading);
    let line = heading.unwrap_or_else(|| without_address(line));
    let end = line.char_indices().nth(TITLE_CHARS).map(|(at, _)| at);
    line[..end.unwrap_or(line.len())].trim_end().to_owned()
}

/// `https://example.com/issues/7 round the carts once`: the address alone would fill a title.
fn without_address(line: &str) -> &str {
    const WORDS_MIN: usize = 3;
    let Some((address, behind)) = line.split_once(' ') else {
        return line;
    };
    let is_address = address.starts_with("https://") || address.starts_with("http://");
    match is_address && behind.split_whitespace().count() >= WORDS_MIN {
        true => behind.trim_start(),
        false => line,
    }
}

/// What a heading of Markdown says.
fn heading(line: &str) -> Option<&str> {
    let says = line
        .strip_prefix('#')?
        .trim_start_matches('#')
        .strip_prefix(' ')?
        .trim();
    let says = says.strip_prefix("Plan: ").unwrap_or(says);
    Some(says).filter(|says| !says.is_empty())
}

/// Bytes that an item takes in the body once `skip` bytes of it are in earlier pieces.
pub(super) fn rendered_bytes(item: &Item, skip: usize) -> usize {
    prefix_bytes(item, skip) + item.text.len() - skip
}

/// The last piece of an item: all that is left of it.
pub(super) fn whole(mut rest: Piece) -> Piece {
    if rest.skip > 0 {
        let text = prefix(&rest.item) + &rest.item.text[rest.skip..];
        rest.item.text = text;
        uncounted(&mut rest.item);
    }
    rest
}

/// Cuts off a piece of at most `room` bytes (and at least one character), and the white space after
/// it. The rest's `skip` moves on; it reaches the text's end where nothing else is left.
pub(super) fn split(rest: &mut Piece, room: usize) -> Piece {
    let left = &rest.item.text[rest.skip..];
    let at = cut_at(
        left,
        room.saturating_sub(prefix_bytes(&rest.item, rest.skip)),
    );
    let next = left.len() - left[at..].trim_start().len();
    let mut text = match rest.skip {
        0 => String::new(),
        _ => prefix(&rest.item),
    };
    text.push_str(left[..at].trim_end());
    let mut head = Piece {
        item: Item {
            text,
            tool: rest.item.tool.take(),
            activity: std::mem::take(&mut rest.item.activity),
            spending: std::mem::take(&mut rest.item.spending),
            resume: rest.item.resume.clone(),
            ..rest.item
        },
        skip: rest.skip,
        title: rest.title.take(),
    };
    if rest.skip > 0 {
        uncounted(&mut head.item);
    }
    rest.skip += next;
    head
}

/// An item counts where its first piece stands.
fn uncounted(item: &mut Item) {
    item.messages = 0;
    item.usage = Default::default();
    item.spending = Default::default();
    item.work = Default::default();
    item.tool = None;
    item.activity = Default::default();
}

/// What later pieces of an item begin with.
fn prefix(item: &Item) -> String {
    match item.label() {
        "" => CONTINUED.to_owned(),
        label => format!("{label} {CONTINUED}"),
    }
}

fn prefix_bytes(item: &Item, skip: usize) -> usize {
    match (skip, item.label().len()) {
        (0, _) => 0,
        (_, 0) => CONTINUED.len(),
        (_, label) => label + 1 + CONTINUED.len(),
    }
}

const CONTINUED: &str = "(continued): ";

/// The last paragraph's end in the first `room` bytes, else line's, else word's, else character's;
/// the first quarter of the room doesn't count, so that no crumbs are cut off.
fn cut_at(text: &str, room: usize) -> usize {
    let end = text.floor_char_boundary(room);
    let window = &text[..end];
    let good = ["\n\n", "\n", " "]
        .into_iter()
        .find_map(|mark| window.rfind(mark).filter(|at| *at > end / 4));
    match good.unwrap_or(end) {
        0 => text.chars().next().map_or(0, char::len_utf8),
        at => at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_a_paragraph_else_a_line_else_a_word_else_a_character() {
        for (text, room, head) in [
            ("one two\n\nthree\nfour five", 20, "one two"),
            ("one two three\nfour five", 20, "one two three"),
            ("one two three four", 10, "one two"),
            ("onetwothreefour", 10, "onetwothre"),
            ("ééééé", 3, "é"),
            ("日本語", 1, "日"),
            ("a\n\nbcdefghijklmnop", 16, "a\n\nbcdefghijklmn"),
        ] {
            assert_eq!(&text[..cut_at(text, room)], head, "{text:?} in {room}");
        }
    }

    #[test]
    fn a_title_is_the_first_line_up_to_80_characters() {
        assert_eq!(title("fix it\nplease"), "fix it");
        assert_eq!(title(&"é".repeat(90)), "é".repeat(80));
        assert_eq!(title(LEFT_OUT), "");
        let plan = "Implement the following plan:\n\n# Plan: Round totals half up\n\n## Context";
        assert_eq!(title(plan), "Round totals half up");
        let error = "I got this error:\n\nTypeError: x is undefined";
        assert_eq!(title(error), "I got this error:");
        assert_eq!(title("# A heading\nand more"), "# A heading");
        let address = "https://example.com/issues/7";
        assert_eq!(
            title(&format!("{address} round each cart once")),
            "round each cart once"
        );
        assert_eq!(title(address), address, "nothing else names it");
    }
}
