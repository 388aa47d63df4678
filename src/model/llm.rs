//! A conversation with a language model as values: what is said, what comes back, what it costs,
//! and why nothing came back.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign};

/// One side's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Ours.
    Asks(String),
    /// The model's.
    Answers(String),
}

/// What a model said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelReply {
    /// Its words; may be empty.
    pub text: String,
    /// Tokens that the server counted; `None` where it doesn't say.
    pub tokens: Option<Tokens>,
    /// It was stopped by the bound on its tokens.
    pub is_cut: bool,
}

/// Tokens of one call or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// That the model read.
    pub input: u64,
    /// That it wrote.
    pub output: u64,
}

impl Tokens {
    /// In US dollars, by the prices of a million tokens that are read, and written.
    pub fn usd(&self, (reads, writes): (f64, f64)) -> f64 {
        (self.input as f64 * reads + self.output as f64 * writes) / 1e6
    }

    /// Both together.
    pub fn total(&self) -> u64 {
        self.input + self.output
    }
}

impl Add for Tokens {
    type Output = Tokens;

    fn add(mut self, other: Tokens) -> Tokens {
        self += other;
        self
    }
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Tokens) {
        self.input += other.input;
        self.output += other.output;
    }
}

/// Why there is no answer. Texts say what the server or the model did; they never quote what was sent
/// or said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// The server can't now: the same question may be asked again, after so many milliseconds where
    /// the server says.
    Unavailable {
        /// What it did.
        why: String,
        /// The wait that it asks for.
        after_ms: Option<u64>,
        /// It had all the time that it may take.
        is_late: bool,
    },
    /// Address, key or model are wrong: no question is answered before a person mends that.
    Misconfigured {
        /// What it did.
        why: String,
    },
    /// This question gets no answer of use, however often it is asked.
    Refused {
        /// What came instead.
        why: String,
    },
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unanswered::Unavailable { why, .. }
            | Unanswered::Misconfigured { why }
            | Unanswered::Refused { why } => f.write_str(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_add_up_to_money() {
        let mut tokens = Tokens {
            input: 500_000,
            output: 250_000,
        };
        tokens += tokens;
        assert_eq!(tokens.total(), 1_500_000);
        assert!((tokens.usd((0.4, 1.6)) - 1.2).abs() < 1e-9);
    }
}
