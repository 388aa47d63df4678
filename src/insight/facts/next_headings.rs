//! Headings of an agent's words that say that what follows comes next, or isn't done.

use super::sections::{is_heading, rank};
use aho_corasick::AhoCorasick;
use std::sync::LazyLock;

/// What headings about what comes next say, in lower case.
const NEXT: [&str; 37] = [
    "next step",
    "next up",
    "what's next",
    "remaining",
    "follow-up",
    "follow up",
    "still to do",
    "left to do",
    "still open",
    "needs review",
    "needs your",
    "watching",
    "awaiting",
    "open items",
    "outstanding",
    "deferred",
    "todo",
    "not done",
    "not covered",
    "not included",
    "not yet",
    "what's left",
    "left open",
    "open question",
    "open decision",
    "decisions needed",
    "known gap",
    "on your plate",
    "left for you",
    "you'll need to",
    "you’ll need to",
    "you still need to",
    "before you merge",
    "before the release",
    "manual steps",
    "limitation",
    "caveat",
];

/// Where words are about what comes next: below such a heading, up to the next one of its rank.
#[derive(Default)]
pub(super) struct NextSection {
    /// The rank of that heading.
    rank: Option<usize>,
}

impl NextSection {
    /// The next line stands there; `may_begin`: something was said before it.
    pub(super) fn has(&mut self, line: &str, may_begin: bool) -> bool {
        if may_begin && is_about_next(line) {
            self.rank = self.rank.or(Some(rank(line)));
            return true;
        }
        let ends = |below: &mut usize| is_heading(line) && rank(line) <= *below;
        self.rank.take_if(ends).is_none() && self.rank.is_some()
    }
}

/// What may stand before a single word of these.
const BEFORE_NEXT: [&str; 24] = [
    "a",
    "all",
    "also",
    "any",
    "current",
    "few",
    "key",
    "known",
    "main",
    "minor",
    "my",
    "no",
    "one",
    "only",
    "open",
    "possible",
    "some",
    "still",
    "suggested",
    "recommended",
    "the",
    "two",
    "what",
    "your",
];

/// A heading about what comes next, or a line that ends with a colon.
pub fn is_about_next(line: &str) -> bool {
    const HEADING_BYTES_MAX: usize = 90;
    let heading = line.starts_with('#') || line.ends_with([':', '*']);
    if !heading || line.len() > HEADING_BYTES_MAX {
        return false;
    }
    static FINDS: LazyLock<AhoCorasick> = LazyLock::new(|| AhoCorasick::new(NEXT).expect("words"));
    let plain = without_asides(line).to_lowercase();
    let mut found = FINDS.find_overlapping_iter(&plain);
    found.any(|found| {
        let before = plain[..found.start()].split(|c: char| !c.is_alphanumeric() && c != '\'');
        let mut before = before.filter(|word| !word.is_empty());
        // `Remaining work`, `Known limitations`; not `Pages of the todo list`
        let is_sure = NEXT[found.pattern()].contains([' ', '-']);
        is_sure || before.all(|word| BEFORE_NEXT.contains(&word))
    })
}

/// Without what stands in parentheses or quotation marks: a page may be called "What's next".
fn without_asides(line: &str) -> String {
    const MARKS: [(char, char); 4] = [('(', ')'), ('"', '"'), ('“', '”'), ('`', '`')];
    let mut inside = None;
    let mut plain = String::with_capacity(line.len());
    for c in line.chars() {
        match inside {
            Some(end) => inside = Some(end).filter(|end| *end != c),
            None => {
                let mark = MARKS.iter().find(|(start, _)| *start == c);
                inside = mark.map(|(_, end)| *end);
                plain.extend(inside.is_none().then_some(c));
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_names_what_comes_next_in_its_own_words() {
        for (line, wants) in [
            ("## Next steps", true),
            ("**Remaining:**", true),
            ("**Known limitations**", true),
            ("**Needs Review:**", true),
            ("**Watching**:", true),
            ("Files that the page is watching:", false),
            ("### Suggested follow-ups", true),
            ("**Cart.tsx** (persistent \"What's next\" section):", false),
            ("**Pages of the todo list:**", false),
            ("Tests of the remaining carts:", false),
            ("Next steps", false),
        ] {
            assert_eq!(is_about_next(line), wants, "{line}");
        }
    }
}
