//! What Graphiti spends on an episode: it has a language model read it, with some of those before it.
//! Figures of the real graphiti-core 0.31, measured with a stub model that finds three entities and a
//! fact: 4 to 5 calls, 18 kB of instructions, each text read three times. Real models find more.

use std::collections::VecDeque;

/// How a server works through episodes, and what its model costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extraction {
    /// Episodes before an episode that are read with it.
    pub context: usize,
    /// US dollars for a million tokens that the model reads.
    pub usd_per_million_input: f64,
    /// US dollars for a million tokens that it writes.
    pub usd_per_million_output: f64,
}

/// Calls of the model for one episode: entities, facts, when they hold, which are known, summaries.
const CALLS: u64 = 6;
/// Bytes of its instructions in all these calls together.
const INSTRUCTIONS_BYTES: u64 = 24_000;
/// How often an episode's own text is read.
const READS: u64 = 3;
/// How often the text of an episode before it is read.
const CONTEXT_READS: u64 = 3;
/// Tokens that the model writes.
const OUTPUT_TOKENS: u64 = 600;
/// Bytes of a token.
const TOKEN_BYTES: u64 = 4;

/// What working through some episodes comes to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estimate {
    /// How many.
    pub episodes: u64,
    /// UTF-8 bytes of them.
    pub bytes: u64,
    /// Calls of a language model.
    pub calls: u64,
    /// Tokens that it reads.
    pub input_tokens: u64,
    /// Tokens that it writes.
    pub output_tokens: u64,
    /// US dollars.
    pub usd: f64,
    /// Bytes of the episodes that the next one is read with.
    recent: VecDeque<u64>,
}

impl Estimate {
    /// One more episode, which happened after those before; without `extraction` no model reads it.
    pub fn add(&mut self, extraction: Option<&Extraction>, bytes: u64) {
        self.episodes += 1;
        self.bytes += bytes;
        let Some(extraction) = extraction else {
            return;
        };
        let before: u64 = self.recent.iter().sum();
        let read = INSTRUCTIONS_BYTES + READS * bytes + CONTEXT_READS * before;
        let input_tokens = read.div_ceil(TOKEN_BYTES);
        self.calls += CALLS;
        self.input_tokens += input_tokens;
        self.output_tokens += OUTPUT_TOKENS;
        self.usd += (input_tokens as f64 * extraction.usd_per_million_input
            + OUTPUT_TOKENS as f64 * extraction.usd_per_million_output)
            / 1e6;
        self.recent.push_back(bytes);
        while self.recent.len() > extraction.context {
            self.recent.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(context: usize, sizes: &[u64]) -> Estimate {
        let extraction = Extraction {
            context,
            usd_per_million_input: 1.0,
            usd_per_million_output: 10.0,
        };
        let mut estimate = Estimate::default();
        sizes
            .iter()
            .for_each(|bytes| estimate.add(Some(&extraction), *bytes));
        estimate
    }

    #[test]
    fn an_episode_costs_its_reading_and_the_reading_of_those_before() {
        let alone = estimate(0, &[4_000; 20]);
        assert_eq!((alone.episodes, alone.bytes), (20, 80_000));
        assert_eq!(alone.input_tokens, 20 * (24_000 + 12_000) / 4);
        let usd = (alone.input_tokens as f64 + 20.0 * 600.0 * 10.0) / 1e6;
        assert!((alone.usd - usd).abs() < 1e-9);
        let in_context = estimate(10, &[4_000; 20]);
        // the first ten have fewer before them
        let reads = 3 * (45 + 10 * 10) * 4_000 / 4;
        assert_eq!(in_context.input_tokens, alone.input_tokens + reads);
    }
}
