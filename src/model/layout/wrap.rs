//! Lines that end between words. Writing without blanks ends between its characters; styles go on where
//! the text does.

use super::style::{Cluster, PLAIN, begins, clusters, width};

/// What doesn't begin a line.
const CLOSING: &str = "、。，．！？：；）」』】〉》〕・ー";

/// A stretch that is not broken.
#[derive(Default)]
struct Piece<'t> {
    clusters: Vec<Cluster<'t>>,
    width: usize,
    /// A blank stands before it.
    is_apart: bool,
}

/// A text in lines of at most so many columns. Only a word that is wider than a line is broken.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    wrapped(text, columns, columns)
}

/// The same with another width of the first line.
fn wrapped(text: &str, first: usize, others: usize) -> Vec<String> {
    let mut columns = first.max(2);
    let mut lines = Lines {
        done: Vec::new(),
        line: String::new(),
        used: 0,
        style: None,
    };
    for piece in pieces(text) {
        let gap = usize::from(piece.is_apart && lines.used > 0);
        if lines.used > 0 && lines.used + gap + piece.width > columns {
            lines.end();
            columns = others.max(2);
        } else if gap > 0 {
            lines.line.push(' ');
            lines.used += 1;
        }
        for cluster in &piece.clusters {
            if lines.used > 0 && lines.used + cluster.width > columns {
                lines.end();
                columns = others.max(2);
            }
            lines.add(cluster);
        }
    }
    if lines.used > 0 || lines.done.is_empty() {
        lines.done.push(lines.line);
    } else if let Some(last) = lines.done.last_mut() {
        // marks alone
        last.push_str(&lines.line);
    }
    lines.done
}

/// The same under each other, the first line behind `first` and the others behind `next`; each with an end.
pub fn hanging(text: &str, first: &str, next: &str, columns: Option<usize>) -> String {
    let Some(columns) = columns else {
        return format!("{first}{text}\n");
    };
    let inside = |before: &str| columns.saturating_sub(width(before));
    let mut out = String::new();
    for (nth, line) in wrapped(text, inside(first), inside(next))
        .iter()
        .enumerate()
    {
        let before = if nth == 0 { first } else { next };
        out.push_str(format!("{before}{line}").trim_end());
        out.push('\n');
    }
    out
}

/// What is said beside data: a line that is wider than `columns` goes on under `next`. A command at its end
/// stays in one piece, for whoever copies it, on a line of its own where words stand before it.
pub fn said(text: &str, next: &str, columns: Option<usize>) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let (words, command) = command_apart(line);
        match columns.filter(|columns| width(line) > *columns) {
            Some(_) if command.is_some() && words == HINT => out.push_str(line),
            Some(columns) => {
                out.push_str(hanging(words, "", next, Some(columns)).trim_end());
                if let Some(command) = command {
                    out.push_str(&format!("\n{next}{command}"));
                }
            }
            None => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

/// What a turn of a conversation begins with.
const TURNS: [&str; 3] = ["User: ", "Agent: ", "Action: "];

/// What people and agents said, its lines ending between words where the terminal does; what stands in fences of
/// code stays as it is.
pub fn spoken(text: &str, columns: Option<usize>) -> String {
    let mut out = String::with_capacity(text.len() + 1);
    let mut is_code = false;
    for line in text.lines() {
        let bare = line.trim_start();
        // a fence that was cut off ends with what said it
        is_code &= !TURNS.iter().any(|turn| line.starts_with(turn));
        is_code ^= bare.starts_with("```");
        let indent = &line[..line.len() - bare.len()];
        match columns.filter(|columns| !is_code && width(line) > *columns) {
            Some(columns) => out.push_str(&hanging(bare, indent, indent, Some(columns))),
            None => out.push_str(&format!("{line}\n")),
        }
    }
    out
}

/// What a line begins with that is nothing but a command.
const HINT: &str = "hint:";

/// `to save one:` and the command behind it, if one ends the line.
fn command_apart(line: &str) -> (&str, Option<&str>) {
    match line.rfind(": sessionmill ") {
        Some(at) => (&line[..=at], Some(&line[at + 2..])),
        None => (line, None),
    }
}

struct Lines {
    done: Vec<String>,
    line: String,
    used: usize,
    /// The mark of the style that the text is in.
    style: Option<char>,
}

impl Lines {
    fn end(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        if let Some(style) = self.style {
            line.push(PLAIN);
            self.line.push(style);
        }
        self.used = 0;
        self.done.push(line);
    }

    fn add(&mut self, cluster: &Cluster<'_>) {
        if let Some(mark) = cluster.text.chars().next().filter(|_| cluster.is_mark) {
            match begins(mark) {
                true => self.style = Some(mark),
                false if mark == PLAIN => self.style = None,
                false => {}
            }
        }
        self.line.push_str(cluster.text);
        self.used += cluster.width;
    }
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut all: Vec<Piece<'_>> = Vec::new();
    let (mut is_apart, mut is_wide_before) = (false, false);
    for cluster in clusters(text) {
        if cluster.text.chars().all(char::is_whitespace) {
            is_apart = true;
            continue;
        }
        let is_wide = cluster.width > 1;
        let closes = CLOSING.contains(cluster.text);
        let breaks = !cluster.is_mark && (is_wide || is_wide_before) && !closes;
        match all.last_mut().filter(|_| !is_apart && !breaks) {
            Some(last) => {
                last.width += cluster.width;
                last.clusters.push(cluster);
            }
            None => all.push(Piece {
                width: cluster.width,
                clusters: vec![cluster],
                is_apart,
            }),
        }
        if !cluster.is_mark {
            is_wide_before = is_wide;
        }
        is_apart = false;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_between_words() {
        for (text, wants) in [
            ("one two three", vec!["one two", "three"]),
            ("one  two", vec!["one two"]),
            ("abcdefghijkl m", vec!["abcdefgh", "ijkl m"]),
            ("検索のテスト", vec!["検索のテ", "スト"]),
            ("検索のテ。a", vec!["検索の", "テ。a"]),
            ("", vec![""]),
            (
                "\u{fdd1}one two three\u{fdd0} x",
                vec!["\u{fdd1}one two\u{fdd0}", "\u{fdd1}three\u{fdd0} x"],
            ),
        ] {
            assert_eq!(wrap(text, 8), wants, "{text}");
        }
    }

    #[test]
    fn what_goes_on_stands_under_its_beginning() {
        let text = hanging("one two three", "- ", "  ", Some(9));
        assert_eq!(text, "- one two\n  three\n");
        assert_eq!(hanging("one two", "- ", "  ", None), "- one two\n");
    }

    #[test]
    fn code_that_was_said_is_not_broken() {
        let text = "one two three\n  one two three\n```\none two three\n```\n";
        let wants = "one two\nthree\n  one two\n  three\n```\none two three\n```\n";
        assert_eq!(spoken(text, Some(9)), wants);
        assert_eq!(spoken(text, None), text);
        let cut = "```\none two three\nUser: x\none two three\n";
        let wants = "```\none two three\nUser: x\none two\nthree\n";
        assert_eq!(spoken(cut, Some(9)), wants);
    }

    #[test]
    fn a_command_to_copy_is_not_broken() {
        let of = |text: &str| said(text, "  ", Some(20));
        for (text, wants) in [
            ("none yet\n", "none yet\n"),
            ("nothing here to be found", "nothing here to be\n  found\n"),
            (
                "hint: sessionmill search token expiry",
                "hint: sessionmill search token expiry\n",
            ),
            (
                "no memories; to save one: sessionmill promote --text TEXT",
                "no memories; to save\n  one:\n  sessionmill promote --text TEXT\n",
            ),
            ("a: sessionmill run", "a: sessionmill run\n"),
        ] {
            assert_eq!(of(text), wants, "{text}");
        }
        let long = "nothing here to be found";
        assert_eq!(said(long, "  ", None), format!("{long}\n"));
    }
}
