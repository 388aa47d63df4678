//! What a run may use of a language model.

use crate::config::LlmSettings;
use crate::model::llm::Tokens;
use crate::store::Spent;

/// What one run may use of a language model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    /// Tokens, read and written; `None`: no bound.
    pub tokens: Option<u64>,
    /// US dollars; `None`: no bound.
    pub usd: Option<f64>,
    /// US dollars for a million tokens that the model reads, and that it writes.
    pub usd_per_million: (f64, f64),
}

impl Budget {
    /// Whether a call with so many tokens fits.
    pub fn allows(&self, input: u64, output: u64) -> bool {
        let (reads, writes) = self.usd_per_million;
        let usd = (input as f64 * reads + output as f64 * writes) / 1e6;
        self.tokens.is_none_or(|most| input + output <= most)
            && self.usd.is_none_or(|most| usd <= most)
    }
}

impl Budget {
    /// What a whole run and a whole day may use.
    pub fn bounds(llm: &LlmSettings) -> Vec<Budget> {
        Budget::left(llm, Spent::default(), Spent::default())
    }

    /// What is left for this run, which used so much already, and for the day.
    pub fn left(llm: &LlmSettings, used: Spent, spent: Spent) -> Vec<Budget> {
        let run = Budget {
            tokens: llm
                .tokens_max
                .map(|most| most.saturating_sub(used.tokens.total())),
            usd: llm.usd_max.map(|most| most - used.usd),
            usd_per_million: llm.usd_per_million,
        };
        let day = Budget {
            tokens: llm
                .tokens_max_a_day
                .map(|most| most.saturating_sub(spent.tokens.total())),
            usd: llm.usd_max_a_day.map(|most| most - spent.usd),
            ..run
        };
        vec![run, day]
    }
}

/// Whether all of them allow a call with so many tokens.
pub fn allow(budgets: &[Budget], tokens: Tokens) -> bool {
    let mut budgets = budgets.iter();
    budgets.all(|budget| budget.allows(tokens.input, tokens.output))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_bounds_tokens_and_money() {
        let any = Budget::default();
        assert!(any.allows(u64::MAX / 2, 1));
        let tokens = Budget {
            tokens: Some(100),
            ..any
        };
        assert!(tokens.allows(60, 40) && !tokens.allows(60, 41));
        let usd = Budget {
            usd: Some(1.0),
            usd_per_million: (0.5, 2.0),
            ..any
        };
        assert!(usd.allows(2_000_000, 0) && usd.allows(0, 500_000));
        assert!(!usd.allows(1_000_000, 250_001));
    }
}
