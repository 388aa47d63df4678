//! Tokens by model and time, so that days and prices can be told. Knows no price.

use super::time::Time;
use super::usage::Usage;
use serde::{Deserialize, Serialize};

/// What one model used in one half hour.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelUsage {
    /// As the log writes it, with [`LONG`] behind it on long requests; empty where it names none.
    pub model: String,
    /// Half hours since 1970, in UTC: with them a local day is exact in all zones but two, which lie
    /// a quarter of an hour beside.
    pub half_hour: i64,
    /// Tokens.
    pub usage: Usage,
}

/// Usage by model and half hour, in that order. Merging is associative and commutative. Usage
/// without a time is not in it, so its sum can be less than that of the tally beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Spending(Vec<ModelUsage>);

/// Stands behind the model of requests that are so long that their tokens may have other prices.
pub const LONG: &str = "[1m]";

/// Milliseconds of [`ModelUsage::half_hour`].
pub const HALF_HOUR_MS: i64 = 30 * 60 * 1000;

impl Spending {
    /// Of rows in any order.
    pub fn of(rows: impl IntoIterator<Item = ModelUsage>) -> Spending {
        let mut all = Spending::default();
        rows.into_iter().for_each(|row| all.add_row(row));
        all
    }

    /// Adds what a model used at this time; nothing where it used nothing.
    pub fn add(&mut self, model: Option<&str>, time: Time, usage: Usage) {
        if usage == Usage::default() {
            return;
        }
        let half_hour = time.0.div_euclid(HALF_HOUR_MS);
        let model = model.unwrap_or_default();
        match self.find(model, half_hour) {
            Ok(at) => self.0[at].usage = self.0[at].usage.plus(usage),
            Err(at) => self.0.insert(
                at,
                ModelUsage {
                    model: model.to_owned(),
                    half_hour,
                    usage,
                },
            ),
        }
    }

    /// Adds another's.
    pub fn merge(&mut self, other: &Spending) {
        other.0.iter().for_each(|row| self.add_row(row.clone()));
    }

    /// By model, then time.
    pub fn rows(&self) -> &[ModelUsage] {
        &self.0
    }

    /// Nothing was used, or nothing that has a time.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn add_row(&mut self, row: ModelUsage) {
        match self.find(&row.model, row.half_hour) {
            Ok(at) => self.0[at].usage = self.0[at].usage.plus(row.usage),
            Err(at) => self.0.insert(at, row),
        }
    }

    fn find(&self, model: &str, half_hour: i64) -> Result<usize, usize> {
        self.0
            .binary_search_by(|row| (row.model.as_str(), row.half_hour).cmp(&(model, half_hour)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(output: u64) -> Usage {
        Usage {
            output,
            ..Usage::default()
        }
    }

    #[test]
    fn a_half_hour_of_a_model_is_one_row_whatever_the_order() {
        let mut one = Spending::default();
        one.add(Some("b"), Time(HALF_HOUR_MS), used(1));
        one.add(None, Time(-1), used(2));
        one.add(Some("b"), Time(2 * HALF_HOUR_MS - 1), used(4));
        one.add(Some("b"), Time(0), Usage::default());
        let mut other = Spending::default();
        other.add(Some("a"), Time(0), used(8));
        let (mut left, mut right) = (one.clone(), other.clone());
        left.merge(&other);
        right.merge(&one);
        assert_eq!(left, right);
        let rows: Vec<(&str, i64, u64)> = left
            .rows()
            .iter()
            .map(|row| (row.model.as_str(), row.half_hour, row.usage.output))
            .collect();
        assert_eq!(rows, [("", -1, 2), ("a", 0, 8), ("b", 1, 5)]);
        assert_eq!(Spending::of(left.rows().iter().rev().cloned()), right);
    }
}
