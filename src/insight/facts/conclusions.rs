//! What an agent's words come to, where they say so: a recommendation, a verdict, a bottom line.

use super::points::{cut, is_point, without_mark};
use super::sections::is_drawn;
use super::stated::{said, stated};
use crate::rules::reports::is_conclusion;

/// More lines below a heading lead there.
const LINES_MAX: usize = 4;

/// Longer ones are no headings.
const HEADING_BYTES_MAX: usize = 40;

/// `Recommendation: keep it`, from a line that begins so or from what stands below such a heading; the last one, or none
/// where several parts come to something of the same name each.
pub(super) fn conclusion(words: &str) -> Option<String> {
    let all = conclusions(words.lines());
    if let Some(listed) = listed(&all) {
        return Some(listed);
    }
    let heads = all.iter().filter_map(|line| Some(line.split_once(':')?.0));
    let last = all
        .iter()
        .rfind(|line| !is_point(line) && !line.ends_with(':'))?;
    let head = last.split_once(':').map(|(head, _)| head);
    let is_of_all = head.is_none_or(|head| heads.filter(|other| *other == head).count() == 1);
    is_of_all.then(|| last.clone())
}

/// `TL;DR: Two are left: round once; drop the flag`: what stands below the last heading, where that is a list.
fn listed(all: &[String]) -> Option<String> {
    let is_head = |line: &String| {
        let head = line.split(':').next().unwrap_or_default();
        !is_point(line) && is_conclusion(head)
    };
    let at = all.iter().rposition(is_head)?;
    let points = all[at + 1..].iter().take_while(|line| is_point(line));
    let points: Vec<String> = points
        .map(|point| cut(without_mark(point), POINT_BYTES_MAX))
        .map(|point| point.trim_end_matches('.').to_owned())
        .collect();
    let behind = all.get(at + 1 + points.len());
    let is_one = all[at].ends_with(':') && points.len() > 1;
    // another list may say the contrary
    let is_end = behind.is_none_or(|line| !line.ends_with(':') && !is_point(line));
    let behind = behind.map_or(String::new(), |line| {
        format!(". {}", cut(line, POINT_BYTES_MAX))
    });
    (is_one && is_end).then(|| format!("{} {}{behind}", all[at], points.join("; ")))
}

/// Of a point in a conclusion.
const POINT_BYTES_MAX: usize = 120;

/// What words state, with what they come to at the end of a long report.
pub(super) fn stated_with_conclusion(words: &str) -> Vec<String> {
    let mut all = stated(words);
    let comes_to = conclusion(words).filter(|said| {
        let (_, text) = said.split_once(": ").unwrap_or_default();
        !all.iter().any(|line| line.contains(text))
    });
    all.extend(comes_to);
    all
}

/// The same of all such lines and headings, with the points below them.
pub(super) fn conclusions<'t>(lines: impl Iterator<Item = &'t str>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut lines = lines
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .peekable();
    let mut is_code = false;
    while let Some(line) = lines.next() {
        is_code ^= line.starts_with("```");
        let Some((head, rest)) = head(line).filter(|_| !is_code) else {
            continue;
        };
        if !rest.is_empty() {
            let text = said(rest, false);
            all.extend((!text.is_empty()).then(|| format!("{head}: {text}")));
            continue;
        }
        let is_below = |line: &&str| !is_drawn(line) && !line.starts_with("```");
        let mut below: Vec<String> = Vec::new();
        while below.len() < LINES_MAX
            && let Some(line) = lines.next_if(is_below)
        {
            below.extend(Some(said(line, false)).filter(|text| !text.is_empty()));
        }
        match below.first() {
            Some(first) if is_point(first) => all.push(format!("{head}:")),
            Some(_) => {
                let first = below.remove(0);
                all.push(format!("{head}: {first}"));
            }
            None => {}
        }
        all.extend(below);
    }
    all
}

/// A heading of what it comes to, and what stands behind it in its line.
fn head(line: &str) -> Option<(&str, &str)> {
    const MARKS: [char; 3] = ['#', '*', ' '];
    if !line.starts_with(|c: char| c.is_ascii_alphanumeric() || MARKS.contains(&c)) {
        return None;
    }
    let (head, rest) = match line.split_once(':') {
        Some((head, rest)) => (head, rest.trim_matches(['*', ' '])),
        None if is_drawn(line) => (line, ""),
        None => return None,
    };
    let head = without_mark(head.trim_matches(MARKS)).trim_matches(MARKS);
    (head.len() <= HEADING_BYTES_MAX && is_conclusion(head)).then_some((head, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_words_come_to_is_found_behind_all_else() {
        let words = "Carts round twice.\n\n## Faults\n\n- the cart\n- the sum\n\n## Recommendation\n\nRound once, at the \
            end of the cart.\n\n## Notes\n\nNone.";
        let wants = "Recommendation: Round once, at the end of the cart.";
        assert_eq!(conclusion(words).as_deref(), Some(wants));
        let bold =
            "Either works.\n\n**Recommendation:** the page first, since nothing else waits for it.";
        let wants = "Recommendation: the page first, since nothing else waits for it.";
        assert_eq!(conclusion(bold).as_deref(), Some(wants));
        let listed = "# Verdict\n\n- round once\n- add it up\n\nAll of it is in.";
        assert_eq!(
            conclusions(listed.lines()),
            [
                "Verdict:",
                "- round once",
                "- add it up",
                "All of it is in."
            ]
        );
        let wants = "Verdict: round once; add it up. All of it is in.";
        assert_eq!(conclusion(listed).as_deref(), Some(wants));
        let led = "# Faults\n\n- many\n\n## TL;DR\n\nTwo would stop a release:\n\n1. **Round once**, at the end.\n2. Add it \
                   up.\n\nThe rest is polish.";
        let wants = "TL;DR: Two would stop a release: Round once, at the end; Add it up. The rest is polish.";
        assert_eq!(conclusion(led).as_deref(), Some(wants));
        let both = "## Verdict\n\nFor it:\n- fast\n- small\n\nAgainst it:\n- new\n\nStay with what is there.";
        let told = conclusion(both).unwrap_or_default();
        assert!(!told.contains("fast"), "{told}");
        assert_eq!(conclusion("The recommendation of carts: none."), None);
        let each = "## Carts\n\n**Recommendation**: keep them.\n\n## Shops\n\n**Recommendation**: drop them.";
        assert_eq!(conclusion(each), None);
    }
}
