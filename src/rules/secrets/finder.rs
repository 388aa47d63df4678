//! Keywords in texts. A run that reads a line or two pays for building, a first run for scanning:
//! so the automaton that is quick to build comes first, and the one that is quick to scan when
//! there is much to scan. Both find the same.

use aho_corasick::{AhoCorasick, AhoCorasickKind, Match};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes after which the faster automaton has paid for itself.
const SMALL_BYTES_MAX: usize = 256 << 10;

/// Finds literals, whatever their case.
pub(super) struct Finder {
    literals: Vec<String>,
    small: AhoCorasick,
    large: OnceLock<AhoCorasick>,
    scanned: AtomicUsize,
}

impl Finder {
    pub fn new(literals: Vec<String>) -> Finder {
        Finder {
            small: build(&literals, AhoCorasickKind::ContiguousNFA),
            literals,
            large: OnceLock::new(),
            scanned: AtomicUsize::new(0),
        }
    }

    /// All places, also those that overlap. About 500 MB/s once much was scanned.
    pub fn find<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = Match> + 'a {
        let before = self.scanned.fetch_add(text.len(), Ordering::Relaxed);
        let large = || build(&self.literals, AhoCorasickKind::DFA);
        let automaton = match before < SMALL_BYTES_MAX {
            true => &self.small,
            false => self.large.get_or_init(large),
        };
        automaton.find_overlapping_iter(text)
    }
}

fn build(literals: &[String], kind: AhoCorasickKind) -> AhoCorasick {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(kind))
        .build(literals)
        .expect("keywords of the table of secrets")
}
