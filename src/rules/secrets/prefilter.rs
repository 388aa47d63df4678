//! Keywords in texts. Nearly all of a text is passed over by looking up three bytes at a time in a
//! bitmap of how keywords begin: built in microseconds, for runs that read a line or two, and
//! faster than an automaton, whose every step waits for the one before.

use rustc_hash::FxHashMap;

/// Finds literals, whatever their case.
pub(super) struct Prefilter {
    literals: Vec<String>,
    /// Each [`place`] where a literal begins.
    begins: Bits,
    /// The same one byte further, of literals that have as much: `use ` is rarer than `use`.
    next: Bits,
    /// Each place whose literals end before that.
    ends_at_once: Bits,
    /// Where one goes on, three bytes further: what most texts that begin alike don't do.
    goes_on: Bits,
    /// Each place whose literals end before that.
    ends_early: Bits,
    /// Literals by the place of their first bytes.
    at_place: FxHashMap<u16, Vec<Begun>>,
    /// Literals that have no place.
    short: Vec<usize>,
}

/// A literal that begins somewhere, and how it goes on.
struct Begun {
    literal: usize,
    /// Its first bytes, and which of them count.
    head: u64,
    counts: u64,
}

/// A literal in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// Which one.
    pub literal: usize,
    /// Its first byte.
    pub start: usize,
}

/// Bytes that have a place.
const BEGIN: usize = 3;

impl Prefilter {
    pub fn new(literals: Vec<String>) -> Prefilter {
        let mut prefilter = Prefilter {
            begins: Bits::none(),
            next: Bits::none(),
            ends_at_once: Bits::none(),
            goes_on: Bits::none(),
            ends_early: Bits::none(),
            at_place: FxHashMap::default(),
            short: Vec::new(),
            literals,
        };
        for (i, literal) in prefilter.literals.iter().enumerate() {
            match literal.as_bytes().first_chunk() {
                Some(begin) => {
                    let place = place(*begin);
                    prefilter.begins.set(place);
                    prefilter
                        .at_place
                        .entry(place)
                        .or_default()
                        .push(Begun::new(i, literal.as_bytes()));
                    match place_at(literal.as_bytes(), 1) {
                        Some(next) => prefilter.next.set(next),
                        None => prefilter.ends_at_once.set(place),
                    }
                    match place_at(literal.as_bytes(), BEGIN) {
                        Some(next) => prefilter.goes_on.set(next),
                        None => prefilter.ends_early.set(place),
                    }
                }
                None => prefilter.short.push(i),
            }
        }
        prefilter
    }

    /// Tells all places, also those that overlap, in no order. Some hundred MB/s.
    pub fn find(&self, text: &[u8], mut tell: impl FnMut(Hit)) {
        for (start, bytes) in text.windows(BEGIN).enumerate() {
            let place = place([bytes[0], bytes[1], bytes[2]]);
            if self.begins.has(place) && self.may_go_on(place, text, start) {
                let there = head(&text[start..]);
                let begun = self.at_place.get(&place).into_iter().flatten();
                begun
                    .filter(|begun| there.is_none_or(|there| begun.may_be(there)))
                    .filter(|begun| self.is_at(begun.literal, text, start))
                    .for_each(|begun| {
                        let literal = begun.literal;
                        tell(Hit { literal, start });
                    });
            }
        }
        for &literal in &self.short {
            let first = self.literals[literal].bytes().next().unwrap_or(0);
            memchr::memchr2_iter(first, first.to_ascii_uppercase(), text)
                .filter(|start| self.is_at(literal, text, *start))
                .for_each(|start| tell(Hit { literal, start }));
        }
    }

    fn may_go_on(&self, place: u16, text: &[u8], start: usize) -> bool {
        let goes = |on: &Bits, at| place_at(text, start + at).is_some_and(|next| on.has(next));
        self.ends_at_once.has(place)
            || goes(&self.next, 1) && (self.ends_early.has(place) || goes(&self.goes_on, BEGIN))
    }

    fn is_at(&self, literal: usize, text: &[u8], start: usize) -> bool {
        let literal = self.literals[literal].as_bytes();
        let there = text.get(start..start + literal.len());
        there.is_some_and(|there| there.eq_ignore_ascii_case(literal))
    }
}

impl Begun {
    fn new(literal: usize, bytes: &[u8]) -> Begun {
        let mut first = [0; HEAD];
        let length = bytes.len().min(HEAD);
        first[..length].copy_from_slice(&bytes[..length]);
        let mut counts = [0; HEAD];
        counts[..length].fill(0xff);
        let counts = u64::from_le_bytes(counts);
        Begun {
            literal,
            head: head(&first).unwrap_or(0) & counts,
            counts,
        }
    }

    fn may_be(&self, there: u64) -> bool {
        there & self.counts == self.head
    }
}

/// Bytes that are compared at once.
const HEAD: usize = 8;

/// The first bytes of a text, the same for upper and lower case; `None` where there are fewer.
#[inline(always)]
fn head(text: &[u8]) -> Option<u64> {
    let first = text.first_chunk::<HEAD>()?;
    Some(u64::from_le_bytes(*first) | 0x2020_2020_2020_2020)
}

/// One for each place. An array, so that no look at it has to ask whether it is long enough.
struct Bits(Box<[u64; 1 << 10]>);

impl Bits {
    fn none() -> Bits {
        Bits(Box::new([0; 1 << 10]))
    }

    fn set(&mut self, place: u16) {
        self.0[usize::from(place >> 6)] |= 1 << (place & 63);
    }

    // asked of every byte of every text
    #[inline(always)]
    fn has(&self, place: u16) -> bool {
        self.0[usize::from(place >> 6)] & (1 << (place & 63)) != 0
    }
}

fn place_at(text: &[u8], at: usize) -> Option<u16> {
    let begin = text.get(at..)?.first_chunk()?;
    Some(place(*begin))
}

/// The same for upper and lower case, and for nearly nothing else.
#[inline(always)]
fn place([a, b, c]: [u8; BEGIN]) -> u16 {
    let key = u32::from_le_bytes([a, b, c, 0]) | 0x20_2020;
    (key.wrapping_mul(0x9e37_79b1) >> 16) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn it_finds_what_an_automaton_finds(
            literals in proptest::collection::hash_set("[ab~é]{1,5}", 1..9),
            text in "[abAB~É é]{0,40}",
        ) {
            let literals: Vec<String> = literals.into_iter().collect();
            let automaton = aho_corasick::AhoCorasick::builder()
                .ascii_case_insensitive(true)
                .build(&literals)
                .unwrap();
            let mut wants: Vec<_> = automaton
                .find_overlapping_iter(&text)
                .map(|hit| (hit.start(), hit.pattern().as_usize()))
                .collect();
            let mut got = Vec::new();
            Prefilter::new(literals).find(text.as_bytes(), |hit| got.push((hit.start, hit.literal)));
            wants.sort_unstable();
            got.sort_unstable();
            proptest::prop_assert_eq!(got, wants);
        }
    }
}
