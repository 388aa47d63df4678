//! What Graphiti spends on an episode: it has a language model read it, with some of those before it. How
//! much that is goes by what is found in it: each fact is asked about twice.
//!
//! The figures are those of the real graphiti-core 0.31 with a stub model that counts what it is sent, at 3,
//! 12 and 25 entities and 1 to 25 facts an episode. What a model writes was not measured.

use serde::{Deserialize, Serialize};
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
    /// What is found in an episode.
    pub finds: Finds,
}

/// What is found in an episode, on average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finds {
    /// Entities.
    pub entities: f64,
    /// Facts: what connects two entities.
    pub facts: f64,
    /// Seconds that an episode takes; `None`: nobody looked.
    pub seconds: Option<f64>,
    /// Episodes that were counted; 0: it is assumed.
    pub counted: u64,
}

/// What a graph holds of what was made of its episodes, as it was counted there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GraphCounts {
    /// Episodes of which something was made.
    pub episodes: u64,
    /// Entities that they mention, again in each.
    pub mentions: u64,
    /// Facts that they state, again in each.
    pub facts: u64,
    /// Episodes that were worked through while somebody waited.
    pub worked: u64,
    /// How long that was.
    pub worked_ms: u64,
}

/// Episodes that have to be there before they say something of others.
const COUNTED_MIN: u64 = 5;

impl Finds {
    /// Before anything was counted: what real models find in sessions of coding agents, about.
    pub const ASSUMED: Finds = Finds {
        entities: 12.0,
        facts: 8.0,
        seconds: None,
        counted: 0,
    };

    /// What was counted, where that is enough.
    pub fn of(counts: &GraphCounts) -> Finds {
        let per = |sum: u64, of: u64| sum as f64 / of as f64;
        let seconds =
            (counts.worked >= COUNTED_MIN).then(|| per(counts.worked_ms, counts.worked) / 1_000.0);
        match counts.episodes >= COUNTED_MIN {
            true => Finds {
                entities: per(counts.mentions, counts.episodes),
                facts: per(counts.facts, counts.episodes),
                seconds,
                counted: counts.episodes,
            },
            false => Finds {
                seconds,
                ..Finds::ASSUMED
            },
        }
    }

    /// Seconds of an episode: its calls that wait for one another, and what Graphiti itself does.
    pub fn seconds(&self) -> f64 {
        let own = SECONDS_PER_ENTITY * self.entities;
        self.seconds
            .unwrap_or(CALLS_IN_A_ROW * SECONDS_PER_CALL + own)
    }
}

/// Calls for an episode: entities, facts, and, most of the time, summaries or which entities are known.
const CALLS: f64 = 3.0;
/// Calls for a fact: when it holds, and whether it is known.
const CALLS_PER_FACT: f64 = 1.85;
/// Bytes of the instructions for an episode, for an entity in it, and for a fact in it with what is compared.
const INSTRUCTIONS_BYTES: f64 = 13_400.0;
const BYTES_PER_ENTITY: f64 = 100.0;
const BYTES_PER_FACT: f64 = 5_600.0;
/// How often an episode's own text is read, and that of one before it.
const READS: f64 = 3.0;
const CONTEXT_READS: f64 = 2.0;
/// Tokens that the model writes for an episode, an entity and a fact.
const OUTPUT_TOKENS: f64 = 50.0;
const OUTPUT_TOKENS_PER_ENTITY: f64 = 85.0;
const OUTPUT_TOKENS_PER_FACT: f64 = 110.0;
/// Bytes of a token.
const TOKEN_BYTES: f64 = 4.0;
/// Calls that wait for one another; those about single facts go side by side.
const CALLS_IN_A_ROW: f64 = 6.0;
/// What a model takes to answer, about.
pub const SECONDS_PER_CALL: f64 = 3.0;
/// Graphiti's own time: 2.6 s an episode of 12 entities.
const SECONDS_PER_ENTITY: f64 = 0.2;

/// What working through some episodes comes to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estimate {
    /// How many.
    pub episodes: u64,
    /// UTF-8 bytes of them.
    pub bytes: u64,
    /// Calls of a language model.
    pub calls: f64,
    /// Tokens that it reads.
    pub input_tokens: f64,
    /// Tokens that it writes.
    pub output_tokens: f64,
    /// US dollars.
    pub usd: f64,
    /// How long one worker is at it.
    pub seconds: f64,
    /// Bytes of the episodes that the next one is read with.
    recent: VecDeque<u64>,
}

impl Estimate {
    /// These and those.
    pub fn join(&mut self, other: &Estimate) {
        self.episodes += other.episodes;
        self.bytes += other.bytes;
        self.calls += other.calls;
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.usd += other.usd;
        self.seconds += other.seconds;
    }

    /// One more episode, which happened after those before; without `extraction` no model reads it.
    pub fn add(&mut self, extraction: Option<&Extraction>, bytes: u64) {
        self.episodes += 1;
        self.bytes += bytes;
        let Some(extraction) = extraction else {
            return;
        };
        let finds = extraction.finds;
        let before: u64 = self.recent.iter().sum();
        let instructions =
            INSTRUCTIONS_BYTES + BYTES_PER_ENTITY * finds.entities + BYTES_PER_FACT * finds.facts;
        let read = instructions + READS * bytes as f64 + CONTEXT_READS * before as f64;
        let input = read / TOKEN_BYTES;
        let output = OUTPUT_TOKENS
            + OUTPUT_TOKENS_PER_ENTITY * finds.entities
            + OUTPUT_TOKENS_PER_FACT * finds.facts;
        self.calls += CALLS + CALLS_PER_FACT * finds.facts;
        self.input_tokens += input;
        self.output_tokens += output;
        self.usd += (input * extraction.usd_per_million_input
            + output * extraction.usd_per_million_output)
            / 1e6;
        self.seconds += finds.seconds();
        self.recent.push_back(bytes);
        while self.recent.len() > extraction.context {
            self.recent.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(context: usize, finds: Finds, sizes: &[u64]) -> Estimate {
        let extraction = Extraction {
            context,
            usd_per_million_input: 1.0,
            usd_per_million_output: 10.0,
            finds,
        };
        let mut estimate = Estimate::default();
        let sizes = sizes.iter();
        sizes.for_each(|bytes| estimate.add(Some(&extraction), *bytes));
        estimate
    }

    fn finds(entities: u64, facts: u64) -> Finds {
        Finds::of(&GraphCounts {
            episodes: 10,
            mentions: 10 * entities,
            facts: 10 * facts,
            ..GraphCounts::default()
        })
    }

    /// Entities, facts, bytes of an episode; calls and tokens that the stub counted for one, in a graph
    /// that has some already.
    const MEASURED: [(u64, u64, u64, f64, f64); 6] = [
        (3, 1, 5_200, 5.2, 8_819.0),
        (12, 6, 5_200, 15.75, 17_309.0),
        (12, 12, 5_200, 26.75, 23_968.0),
        (25, 12, 5_200, 27.67, 26_070.0),
        (25, 25, 5_200, 52.67, 42_737.0),
        (12, 6, 1_200, 15.33, 13_149.0),
    ];

    #[test]
    fn an_estimate_is_what_a_metered_model_counted_within_a_quarter() {
        for (entities, facts, bytes, calls, tokens) in MEASURED {
            let one = estimate(0, finds(entities, facts), &[bytes]);
            let near = |is: f64, wants: f64| (is / wants - 1.0).abs() < 0.25;
            assert!(near(one.calls, calls), "{entities}, {facts}: {}", one.calls);
            let told = one.input_tokens;
            assert!(near(told, tokens), "{entities}, {facts}, {bytes}: {told}");
        }
    }

    #[test]
    fn an_episode_costs_its_reading_and_the_reading_of_those_before() {
        let alone = estimate(0, Finds::ASSUMED, &[4_000; 20]);
        assert_eq!((alone.episodes, alone.bytes), (20, 80_000));
        let usd = (alone.input_tokens + alone.output_tokens * 10.0) / 1e6;
        assert!((alone.usd - usd).abs() < 1e-9);
        let in_context = estimate(10, Finds::ASSUMED, &[4_000; 20]);
        // the first ten have fewer before them
        let reads = f64::from(2 * (45 + 10 * 10) * 4_000 / 4);
        assert!((in_context.input_tokens - alone.input_tokens - reads).abs() < 1e-6);
    }

    #[test]
    fn a_few_episodes_say_nothing_of_others() {
        let few = GraphCounts {
            episodes: COUNTED_MIN - 1,
            mentions: 1_000,
            ..GraphCounts::default()
        };
        assert_eq!(Finds::of(&few), Finds::ASSUMED);
        assert_eq!(finds(3, 1).entities, 3.0);
    }
}
