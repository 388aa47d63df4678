//! Markdown as people read it: without its signs. What might be meant as it is written stays.

use super::style::{Style, paint};
use super::wrap::hanging;
use std::ops::Range;

/// A stretch of a text and what stands for it.
type Change = (Range<usize>, &'static str);

/// One line of Markdown as words: emphasis, code quotes and escapes gone.
pub fn plain(line: &str) -> String {
    applied(line, &inline_changes(line, (false, false)), &[], |hit| {
        hit.to_owned()
    })
}

/// A stretch of a text, its lines joined, with what is marked in it. `cut`: the text goes on before it, and
/// behind it. `headings`: titles of sections, which `:` follows.
pub fn excerpt(
    text: &str,
    marks: &[(usize, usize)],
    cut: (bool, bool),
    headings: &[&str],
    mark: impl Fn(&str) -> String,
) -> String {
    let mut changes = inline_changes(text, cut);
    changes.extend(line_changes(text, headings));
    changes.sort_by_key(|(range, _)| range.start);
    let mut until = 0;
    changes.retain(|(range, _)| {
        let is_free = range.start >= until;
        until = if is_free { range.end } else { until };
        is_free
    });
    let words = applied(text, &changes, marks, mark);
    let words: Vec<&str> = words.split_whitespace().collect();
    words.join(" ").trim_start_matches("· ").to_owned()
}

/// A document as a terminal of so many columns shows it; `None`: lines are as long as they are.
pub fn rendered(document: &str, columns: Option<usize>) -> String {
    let mut out = String::new();
    let mut is_code = false;
    for line in document.lines() {
        let bare = line.trim_start();
        if bare.starts_with("```") {
            is_code = !is_code;
            continue;
        }
        if is_code {
            out.push_str(&format!("    {line}\n"));
            continue;
        }
        let heading = bare.trim_start_matches('#');
        let level = bare.len() - heading.len();
        if (1..=6).contains(&level) && heading.starts_with(' ') {
            let title = paint(Style::Bold, &plain(heading.trim()));
            out.push_str(&hanging(&title, "", "", columns));
            continue;
        }
        let indent = &line[..line.len() - bare.len()];
        let item = bare.strip_prefix("- ").or_else(|| bare.strip_prefix("* "));
        match item {
            Some(item) => {
                let (first, next) = (format!("{indent}• "), format!("{indent}  "));
                out.push_str(&hanging(&plain(item), &first, &next, columns));
            }
            None if bare.starts_with('|') => out.push_str(&format!("{}\n", plain(line))),
            None => out.push_str(&hanging(&plain(bare), indent, indent, columns)),
        }
    }
    out
}

/// The text with its changes, and what is marked in it as `mark` shows it.
fn applied(
    text: &str,
    changes: &[Change],
    marks: &[(usize, usize)],
    mark: impl Fn(&str) -> String,
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut changes = changes.iter().peekable();
    let mut take = |range: Range<usize>| {
        let (mut piece, mut at) = (String::new(), range.start);
        while let Some((gone, instead)) = changes.next_if(|(gone, _)| gone.start < range.end) {
            if gone.start >= at {
                piece.push_str(text.get(at..gone.start).unwrap_or_default());
                piece.push_str(instead);
            }
            at = at.max(gone.end);
        }
        piece.push_str(text.get(at..range.end.max(at)).unwrap_or_default());
        (piece, at.max(range.end))
    };
    let mut at = 0;
    for (from, to) in marks {
        if *from < at || text.get(*from..*to).is_none() {
            continue;
        }
        let (before, _) = take(at..*from);
        out.push_str(&before);
        let (hit, end) = take(*from..*to);
        out.push_str(&mark(&hit));
        at = end;
    }
    out.push_str(&take(at..text.len()).0);
    out
}

/// Emphasis, code quotes and escapes. What stands in code quotes stays as it is.
fn inline_changes(text: &str, cut: (bool, bool)) -> Vec<Change> {
    let quotes: Vec<usize> = text.match_indices('`').map(|(at, _)| at).collect();
    let is_quoted = quotes.len().is_multiple_of(2);
    let in_code = |at: usize| is_quoted && quotes.partition_point(|quote| *quote < at) % 2 == 1;
    let mut changes: Vec<Change> = quotes.iter().map(|at| (*at..at + 1, "")).collect();
    for sign in ["**", "*"] {
        changes.extend(emphasis(text, sign, cut).filter(|(range, _)| !in_code(range.start)));
    }
    let escapes = text.match_indices('\\').filter(|(at, _)| {
        // a path of Windows has letters behind its strokes
        text[at + 1..].starts_with(['|', '#', '*', '_']) && !in_code(*at)
    });
    changes.extend(escapes.map(|(at, _)| (at..at + 1, "")));
    for (tag, sign) in [("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")] {
        let all = text.match_indices(tag).filter(|(at, _)| !in_code(*at));
        changes.extend(all.map(|(at, _)| (at..at + tag.len(), sign)));
    }
    changes.sort_by_key(|(range, _)| range.start);
    changes
}

/// Signs around a stretch, and the one that lacks its other where the text is cut.
fn emphasis(text: &str, sign: &'static str, cut: (bool, bool)) -> impl Iterator<Item = Change> {
    let mut changes: Vec<Change> = Vec::new();
    let mut open: Option<usize> = None;
    let long = sign.len();
    let is_whole = |at: &usize| {
        let beside = [at.checked_sub(1), Some(at + long)];
        let is_star = |at: usize| text.as_bytes().get(at) == Some(&b'*');
        !beside.into_iter().flatten().any(is_star)
    };
    let all = text.match_indices(sign).map(|(at, _)| at).filter(is_whole);
    for (nth, at) in all.enumerate() {
        let before = text[..at].chars().next_back();
        let after = text[at + long..].chars().next();
        let opens = before.is_none_or(|c| c.is_whitespace() || "([“\"'-:·".contains(c))
            && after.is_some_and(|c| c.is_alphanumeric() || "`\"“'([$@#<".contains(c));
        let closes = before.is_some_and(|c| c.is_alphanumeric() || "`.!?)\"”']:%…>".contains(c))
            && after.is_none_or(|c| !c.is_alphanumeric() && c != '/');
        match (open, opens, closes) {
            (Some(start), _, true) => {
                changes.extend([(start..start + long, ""), (at..at + long, "")]);
                open = None;
            }
            (None, false, true) if nth == 0 && cut.0 && long > 1 => {
                changes.push((at..at + long, ""));
            }
            (_, true, _) => open = Some(at),
            _ => {}
        }
    }
    let left = open.filter(|_| cut.1 && long > 1);
    changes.extend(left.map(|at| (at..at + long, "")));
    changes.into_iter()
}

/// What says of a joined text where its lines began: headings, and what names an agent's calls.
fn line_changes(text: &str, headings: &[&str]) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    let is_start = |at: usize| {
        text[..at]
            .chars()
            .next_back()
            .is_none_or(char::is_whitespace)
    };
    let calls = text
        .match_indices("Action: ")
        .filter(|(at, _)| is_start(*at));
    changes.extend(calls.map(|(at, label)| (at..at + label.len(), "· ")));
    // where a list may begin, and where the one before has ended
    let mut begins: Vec<(usize, usize)> = vec![(0, 0)];
    for (at, _) in text.match_indices('#').filter(|(at, _)| is_start(*at)) {
        let behind = text[at..].trim_start_matches('#');
        let level = text.len() - at - behind.len();
        let is_sure = level > 1 || at == 0 || text[..at].ends_with("  ");
        if !(1..=6).contains(&level) || !behind.starts_with(' ') || !is_sure {
            continue;
        }
        let title = behind.trim_start();
        let start = text.len() - title.len();
        changes.push((at..start, "· "));
        let known = headings.iter().filter(|known| title.starts_with(**known));
        if let Some(known) = known.max_by_key(|known| known.len()) {
            let end = start + known.len();
            if text[end..].starts_with(' ') {
                changes.push((end..end, ":"));
            }
            begins.push((at, end));
        }
    }
    let bullets = text.match_indices("  - ").map(|(at, _)| at);
    changes.extend(bullets.map(|at| (at..at + 4, " · ")));
    for (nth, (_, from)) in begins.iter().enumerate() {
        let to = begins.get(nth + 1).map_or(text.len(), |(at, _)| *at);
        changes.extend(list_changes(text, *from..to.max(*from)));
    }
    changes
}

/// The items of a list that a stretch begins with: its line ends are blanks here.
fn list_changes(text: &str, stretch: Range<usize>) -> impl Iterator<Item = Change> {
    let (start, within) = (stretch.start, &text[stretch]);
    let first = within.len() - within.trim_start().len();
    let is_list = within[first..].starts_with("- ");
    let others = within.match_indices(" - ").map(|(at, _)| at);
    let others = others.filter(move |at| *at > first);
    let others = others.map(move |at| (start + at..start + at + 3, " · "));
    let first = std::iter::once((start + first..start + first + 2, ""));
    first.chain(others).filter(move |_| is_list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_go_and_what_is_meant_stays() {
        for (text, wants) in [
            ("**Results**: 47/47 passed", "Results: 47/47 passed"),
            ("`src/a.rs` +2 −2", "src/a.rs +2 −2"),
            ("2**8 and a ** b", "2**8 and a ** b"),
            ("src/**/x.rs and **/y", "src/**/x.rs and **/y"),
            ("def f(`**kwargs`): **yes**", "def f(**kwargs): yes"),
            ("a \\| b &lt;tag>", "a | b <tag>"),
            ("C:\\notes and C# and #12", "C:\\notes and C# and #12"),
            ("is *open now*: 2 * 3 *.rs", "is open now: 2 * 3 *.rs"),
            ("**Use Redis.** It lasts", "Use Redis. It lasts"),
        ] {
            assert_eq!(plain(text), wants, "{text}");
        }
    }

    #[test]
    fn an_excerpt_has_no_scaffolding_and_keeps_its_marks() {
        let of = |text: &str, word: &str, cut| {
            let marks: Vec<(usize, usize)> = text
                .match_indices(word)
                .map(|(at, hit)| (at, at + hit.len()))
                .collect();
            excerpt(text, &marks, cut, &["Objective", "Result"], |hit| {
                format!("<{hit}>")
            })
        };
        let none = (false, false);
        for (text, word, cut, wants) in [
            (
                "completed  ## Objective Why so slow?  ## Result **It is** fast",
                "fast",
                none,
                "completed · Objective: Why so slow? · Result: It is <fast>",
            ),
            (
                "Agent: Look. Action: Read(a.py) → 15 lines Action: Edit(a.py) → +1",
                "Edit",
                none,
                "Agent: Look. · Read(a.py) → 15 lines · <Edit>(a.py) → +1",
            ),
            ("Action: Bash(ls) → ok", "ls", none, "Bash(<ls>) → ok"),
            (
                "- src/a.rs (from git) - src/b.rs  ## Result - done - and tested",
                "b.rs",
                (true, false),
                "src/a.rs (from git) · src/<b.rs> · Result: done · and tested",
            ),
            ("clap - a parser", "clap", none, "<clap> - a parser"),
            (
                "come**: done in `main`",
                "main",
                (true, false),
                "come: done in <main>",
            ),
            ("a **`Redis`** b", "`Redis`", none, "a <Redis> b"),
            ("use **Redis", "Redis", (false, true), "use <Redis>"),
        ] {
            assert_eq!(of(text, word, cut), wants, "{text}");
        }
    }

    #[test]
    fn a_document_is_read_without_its_signs() {
        let text = "# Title\n\n## Files\n- `a.rs` was changed twice\n- **b**: new\nplain\n```\n**x**\n```\n";
        let wants = "\u{fdd1}Title\u{fdd0}\n\n\u{fdd1}Files\u{fdd0}\n• a.rs was\n  changed\n  twice\n• b: new\nplain\n    **x**\n";
        assert_eq!(rendered(text, Some(12)), wants);
    }
}
