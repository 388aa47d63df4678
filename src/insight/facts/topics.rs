//! Which words a session is about: those that many of the agent's messages have. Reads each byte once and
//! makes no strings.

use super::line::LocatedItem;
use crate::model::exchange::ItemKind;
use rustc_hash::FxHashMap;

/// In how many messages of the agent each of some words stands.
pub struct Topics(FxHashMap<u64, Count>);

#[derive(Clone, Copy, Default)]
struct Count {
    messages: u32,
    last: u32,
}

impl Topics {
    /// Counts these words, and no others.
    pub fn of<'w>(words: impl Iterator<Item = &'w u64>, lines: &[LocatedItem<'_>]) -> Topics {
        let mut counts: FxHashMap<u64, Count> =
            words.map(|word| (*word, Count::default())).collect();
        let messages = lines
            .iter()
            .filter(|line| line.main && line.item.kind == ItemKind::Agent);
        for (line, nth) in messages.zip(1..) {
            for word in word_keys(line.words()) {
                if let Some(count) = counts.get_mut(&word).filter(|count| count.last != nth) {
                    count.messages += 1;
                    count.last = nth;
                }
            }
        }
        Topics(counts)
    }

    /// More where more messages have it; grows with the logarithm.
    pub fn weight(&self, word: u64) -> u64 {
        let messages = self.0.get(&word).map_or(0, |count| count.messages);
        10 + 5 * u64::from((messages + 1).ilog2())
    }
}

/// A number for each word of a text, the same in upper and lower case and with a plural's `s`.
pub fn word_keys(text: &str) -> impl Iterator<Item = u64> + '_ {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
    let words = text.as_bytes().split(move |byte| !is_word(byte));
    words.filter(|word| !word.is_empty()).map(|word| {
        let stem = match word {
            [stem @ .., b's' | b'S'] if stem.len() > 3 && !stem.ends_with(b"s") => stem,
            whole => whole,
        };
        // FNV-1a
        stem.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0000_01b3)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_counts_once_a_message_in_any_case() {
        let said = [
            "Agent: Tokens and a token.",
            "Agent: the TOKEN",
            "Agent: nothing",
        ];
        let lines = said.map(|text| LocatedItem::sample(ItemKind::Agent, 1, text, &[]));
        let keys: Vec<u64> = word_keys("token other").collect();
        let topics = Topics::of(keys.iter(), &lines);
        assert_eq!((topics.weight(keys[0]), topics.weight(keys[1])), (15, 10));
    }
}
