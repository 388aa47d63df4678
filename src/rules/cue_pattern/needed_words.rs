//! Of which words a text needs one before a pattern can match. Part of the build script, and of tests: to work it out
//! costs as much as to compile the pattern.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};

/// Words of which every match holds one; `None` where there are no such words, or too many. The pattern is written in
/// bytes; its flags are those of cues.
pub fn of(pattern: &str) -> Option<Vec<String>> {
    let mut parser = ParserBuilder::new();
    let parser = parser.unicode(false).utf8(false);
    let parsed = parser.multi_line(true).crlf(true).build().parse(pattern);
    let mut words = needed(&parsed.ok()?)?;
    words.sort();
    words.dedup();
    Some(words)
}

/// More are found in any text.
const WORDS_MAX: usize = 64;

/// Shorter ones are found in any text.
const BYTES_MIN: usize = 2;

fn needed(part: &Hir) -> Option<Vec<String>> {
    match part.kind() {
        HirKind::Literal(literal) => word(&literal.0),
        HirKind::Capture(group) => needed(&group.sub),
        HirKind::Repetition(repeated) if repeated.min > 0 => needed(&repeated.sub),
        HirKind::Concat(parts) => parts.iter().filter_map(needed).max_by_key(|words| {
            let shortest = words.iter().map(String::len).min();
            (shortest, usize::MAX - words.len())
        }),
        HirKind::Alternation(parts) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(needed(part)?);
            }
            (all.len() <= WORDS_MAX).then_some(all)
        }
        _ => None,
    }
}

/// A part of a letter is no word, and words are listed one a line.
fn word(bytes: &[u8]) -> Option<Vec<String>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let is_word = text.len() >= BYTES_MIN && !text.contains('\n');
    is_word.then(|| vec![text.to_owned()])
}
