//! What an agent's words state, line by line, without what only leads to it: prose, points of lists, rows of
//! tables.

use super::tasks::is_about_next;
use super::words::{clipped, folded};
use crate::rules::outcome::announces;
use crate::rules::requests::{is_chatter, is_stale, offered};
use crate::rules::words::sentences;

/// In one line only so much is told.
pub const STEP_BYTES_MAX: usize = 220;

/// How an agent's words begin, in so many bytes at most; `None` where nothing is stated.
#[cfg(test)]
fn beginning(words: &str, bytes_max: usize) -> Option<String> {
    let text = fitted(&stated(words), bytes_max);
    (!text.is_empty()).then_some(text)
}

/// What an agent's words state, line by line: sentences as they are, rows of tables as points, without chatter,
/// announcements, headings, code, questions and offers.
pub fn stated(words: &str) -> Vec<String> {
    let mut inside_code = false;
    let mut all: Vec<String> = Vec::new();
    let mut bytes = 0;
    let mut lines = words.lines().map(str::trim_end).peekable();
    while let Some(line) = lines.next() {
        let bare = line.trim_start();
        let fence = bare.starts_with("```");
        inside_code ^= fence;
        if !all.is_empty() && is_about_next(bare) || all.len() == LINES_READ_MAX {
            break;
        }
        if fence || inside_code || is_drawn(bare) {
            continue;
        }
        let mut is_header = || lines.peek().is_some_and(|next| is_rule(next.trim_start()));
        let said = match bare.starts_with('|') {
            true if is_header() => continue,
            true => row(bare),
            // only counted
            false if bytes > BEGINNING_BYTES_MAX && is_point(line) => line.to_owned(),
            false if bytes > BEGINNING_BYTES_MAX => break,
            false => said(line, all.is_empty()),
        };
        bytes += said.len();
        if !said.is_empty() {
            all.push(said);
        }
    }
    without_lead_ins(all)
}

/// What stands further behind is no result any more.
const LINES_READ_MAX: usize = 60;

/// `| 2 | Retries | cart.rs |` as `- Retries: cart.rs`.
fn row(line: &str) -> String {
    let cells = line.trim_matches('|').split('|').map(str::trim);
    let says = |cell: &&str| cell.chars().any(char::is_alphabetic);
    let mut cells = cells.filter(says);
    let first = cells.next().unwrap_or_default();
    let rest: Vec<&str> = cells.collect();
    match (first, rest.is_empty()) {
        ("", _) => String::new(),
        (first, true) => folded(&format!("- {first}")),
        (first, false) => folded(&format!("- {first}: {}", rest.join("; "))),
    }
}

/// Between a table's header and its rows.
fn is_rule(line: &str) -> bool {
    line.starts_with('|') && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

/// Without lines that announce what was left out: code, pictures.
fn without_lead_ins(lines: Vec<String>) -> Vec<String> {
    let stays = |nth: usize| {
        let line = &lines[nth];
        let leads = line.ends_with(':');
        let words = line.split_whitespace().count();
        !leads
            || lines.get(nth + 1).is_some_and(|next| is_point(next))
            || lines.len() == 1 && words > LEAD_IN_WORDS
    };
    let kept: Vec<usize> = (0..lines.len()).filter(|nth| stays(*nth)).collect();
    let kept = kept.into_iter().map(|nth| lines[nth].clone());
    kept.collect()
}

/// As many lines as fit; how many points of a list that is cut are left is said.
pub fn fitted(lines: &[String], bytes_max: usize) -> String {
    let mut text = String::new();
    for (nth, line) in lines.iter().enumerate() {
        let line = match is_point(line) && line.len() > POINT_CHARS_MAX {
            true => format!("{}…", clipped(line, POINT_CHARS_MAX)),
            false => line.clone(),
        };
        let is_full = text.len() + line.len() > bytes_max || nth >= BEGINNING_LINES_MAX;
        if !is_full {
            text.push_str(if text.is_empty() { "" } else { "\n" });
            text.push_str(&line);
            continue;
        }
        if text.is_empty() || text.ends_with(':') && !text.contains('\n') {
            text.push_str(if text.is_empty() { "" } else { "\n" });
            text.push_str(&cut(&line, bytes_max));
        } else if let left @ 1.. = points_left(&lines[nth..]) {
            text.push_str(&format!("\n- and {left} more"));
        }
        break;
    }
    text
}

/// Points of the list that these lines begin in.
fn points_left(lines: &[String]) -> usize {
    let list = lines.iter().take_while(|line| is_point(line));
    list.filter(|line| !line.starts_with(' ')).count()
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
    for (nth, line) in lines.iter().enumerate().skip(leads) {
        let point = is_point(line);
        let piece = match point {
            true => without_mark(line).trim_end_matches('.'),
            false => line.as_str(),
        };
        let ended = text.ends_with([':', '.', '!', '?', '…']);
        let joint = match () {
            () if text.is_empty() => "",
            () if in_list && point => "; ",
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
        let whole = sentences(piece)
            .next()
            .is_some_and(|first| first.len() <= room);
        if text.is_empty() || text.ends_with(':') || whole && !point {
            let room = if text.ends_with(':') {
                room.max(STEP_BYTES_MAX / 2)
            } else {
                room
            };
            text.push_str(joint);
            text.push_str(&cut(piece, room));
        } else if in_list && let left @ 1.. = points_left(&lines[nth..]) {
            text.push_str(&format!("; and {left} more"));
        }
        break;
    }
    text
}

/// A point of a list.
pub fn is_point(line: &str) -> bool {
    let bare = line.trim_start();
    bare.starts_with(['-', '*', '•']) || bare.starts_with(|c: char| c.is_ascii_digit())
}

/// `one` of `- one`, `2. one`.
pub fn without_mark(point: &str) -> &str {
    let bare = point.trim_start().trim_start_matches(['-', '*', '•', ' ']);
    let digits = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = digits
        .strip_prefix(['.', ')'])
        .filter(|_| digits.len() < bare.len());
    numbered.unwrap_or(bare).trim_start()
}

/// A line that stands alone and says no more announces only.
const LEAD_IN_WORDS: usize = 3;

/// More: the summary is a log again; fewer: the result stands behind.
const BEGINNING_LINES_MAX: usize = 14;
pub const BEGINNING_BYTES_MAX: usize = 1_000;

/// A point of a list says what it is about in its beginning; so all points of a long list have room.
const POINT_CHARS_MAX: usize = 200;

/// Rules, headings, and what is for an agent's own window.
fn is_drawn(line: &str) -> bool {
    let is_rule = is_rule(line) || line.chars().all(|c| matches!(c, '-' | '=' | '*' | '_'));
    // `::git-push{…}` is for Codex' own window
    let is_directive = line.starts_with("::") && line.ends_with('}');
    let is_bold = line.starts_with("**") && line.trim_end_matches(':').ends_with("**");
    let words = line.split_whitespace().count();
    let is_heading = is_bold && words <= HEADING_WORDS_MAX;
    is_rule || is_directive || is_heading || line.starts_with('#')
}

/// Longer ones state something.
const HEADING_WORDS_MAX: usize = 6;

/// What a line states; `first`: nothing was stated yet.
fn said(line: &str, first: bool) -> String {
    let indent = &line[..line.len() - line.trim_start().len()];
    let bare = line.trim_start();
    let mut out = String::new();
    let text = without_targets(&folded(bare));
    for sentence in sentences(&text) {
        let opens = first && out.is_empty();
        let asks = sentence
            .trim_end_matches(['*', '_', '"', ')'])
            .ends_with('?');
        let is_idle = || announces(sentence) || is_stale(sentence) || opens && is_chatter(sentence);
        if asks || offered(sentence).is_some() || is_idle() {
            continue;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(sentence);
    }
    match out.is_empty() {
        true => out,
        false => format!("{indent}{out}"),
    }
}

/// `[cart.rs](/home/ada/shop/cart.rs:7)` as `cart.rs`: where a link leads is for who can follow it.
fn without_targets(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("](") {
        let (before, after) = rest.split_at(at);
        let target = after[2..].split_once(')');
        let Some((start, (_, behind))) = before.rfind('[').zip(target) else {
            break;
        };
        let is_code = out.matches('`').count() + before[..start].matches('`').count();
        if is_code % 2 == 1 {
            out.push_str(&rest[..at + 2]);
            rest = &after[2..];
            continue;
        }
        out.push_str(&before[..start]);
        out.push_str(&before[start + 1..]);
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// As many sentences as fit.
fn cut(text: &str, bytes_max: usize) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_is_what_states_something() {
        for (words, wants) in [
            (
                "## Done\n\nAll pass.\n::git-push{cwd=\"/p\"}\n```\ncode\n```\n---\n| # | what |\n|---|---|\n| 1 | a | b |\n- one",
                Some("All pass.\n- a: b\n- one"),
            ),
            (
                "Done!\n\nThe cart adds up again.",
                Some("The cart adds up again."),
            ),
            (
                "Great question! The cache is read twice. Shall I mend it?",
                Some("The cache is read twice."),
            ),
            (
                "It works now.\n\nIf you want, I can push it.",
                Some("It works now."),
            ),
            ("It works.\n\n**Next steps:**\n- push", Some("It works.")),
            ("Findings:\n\n```\nx\n```", None),
            (
                "All of it runs.\nYou can start it so:\n```\nx\n```\nIt takes a second.",
                Some("All of it runs.\nIt takes a second."),
            ),
            (
                "Two remarks stay.\n\nThe rest:\n```\na\n```",
                Some("Two remarks stay."),
            ),
            (
                "Mended in [cart.rs](/home/ada/shop/cart.rs:7) and `a[0](x)`.",
                Some("Mended in cart.rs and `a[0](x)`."),
            ),
            ("```\nx\n```", None),
        ] {
            assert_eq!(
                beginning(words, BEGINNING_BYTES_MAX).as_deref(),
                wants,
                "{words}"
            );
        }
        let long = beginning(&"Many words here. ".repeat(90), BEGINNING_BYTES_MAX).unwrap();
        assert!(long.len() <= BEGINNING_BYTES_MAX, "{long}");
        let many = beginning(&"line\n".repeat(20), BEGINNING_BYTES_MAX).unwrap();
        assert_eq!(many.lines().count(), BEGINNING_LINES_MAX);
    }
}
