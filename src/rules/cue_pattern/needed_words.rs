//! Of which words a text needs one before a pattern can match, and with which a match begins. Part of the build script,
//! and of tests: to work it out costs as much as to compile the pattern.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Hir, HirKind};

/// Of a pattern that is written in bytes, with the flags of cues.
#[derive(Default)]
pub struct NeededWords {
    /// Every match holds one of these; none where there are no such words, or too many.
    pub held: Vec<String>,
    /// Every match begins with one of these; none where there are too many.
    pub first: Vec<String>,
    /// Every match begins where a line does.
    pub begins_lines: bool,
}

impl NeededWords {
    /// None of what is no pattern.
    pub fn of(pattern: &str) -> NeededWords {
        let mut parser = ParserBuilder::new();
        let parser = parser.unicode(false).utf8(false);
        let parsed = parser.multi_line(true).crlf(true).build().parse(pattern);
        let Ok(parsed) = parsed else {
            return NeededWords::default();
        };
        let mut held = needed(&parsed).unwrap_or_default();
        held.sort();
        held.dedup();
        let before = parsed.properties().look_set_prefix();
        NeededWords {
            held,
            first: first(&parsed).unwrap_or_default(),
            begins_lines: before.contains_anchor_line(),
        }
    }
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

fn first(pattern: &Hir) -> Option<Vec<String>> {
    let mut words = Extractor::new().extract(pattern);
    words.optimize_for_prefix_by_preference();
    let words = words.literals()?.iter().map(|one| word(one.as_bytes()));
    let words: Option<Vec<Vec<String>>> = words.collect();
    Some(words?.concat())
}

/// A part of a letter is no word, and words are listed one a line.
fn word(bytes: &[u8]) -> Option<Vec<String>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let is_word = text.len() >= BYTES_MIN && !text.contains('\n');
    is_word.then(|| vec![text.to_owned()])
}
