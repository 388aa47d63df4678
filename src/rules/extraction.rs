//! What a language model is asked to extract from a session, as a table (`extraction.yaml`). Knows
//! which kind of work speaks for which field, and how a field is asked for.

use super::table;
use crate::model::activity::{ActivityVector, Dimension};
use serde::Deserialize;
#[cfg(test)]
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A field of the answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SummaryField {
    /// Its name there.
    pub name: String,
    affinities: Vec<(Dimension, f64)>,
    /// What the prompt says of it.
    pub asks: String,
    #[cfg(test)]
    samples: BTreeMap<Dimension, f64>,
}

impl SummaryField {
    /// How much a session's work speaks for it (003-131), 0.0 to 1.0.
    pub fn priority(&self, vector: &ActivityVector) -> f64 {
        let (mut sum, mut most) = (0.0, 0.0);
        for (dimension, weight) in &self.affinities {
            sum += vector.get(*dimension) * weight;
            most += weight;
        }
        sum / most
    }
}

/// All of them, in the table's order.
pub fn fields() -> &'static [SummaryField] {
    &TABLE
}

static TABLE: LazyLock<Vec<SummaryField>> =
    LazyLock::new(|| table::rows(table::embedded!("extraction")));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_what_the_table_says() {
        for field in fields() {
            assert!(!field.samples.is_empty(), "{}", field.name);
            for (alone, wants) in &field.samples {
                let vector = ActivityVector::from_values(|d| f64::from(u8::from(d == *alone)));
                let found = field.priority(&vector.expect("0 and 1 are in range"));
                let name = &field.name;
                assert!((found - wants).abs() < 5e-4, "{name} {alone:?}: {found}");
            }
        }
    }

    #[test]
    fn weights_are_in_range() {
        for field in fields() {
            let within = |(_, weight): &(Dimension, f64)| *weight > 0.0 && *weight <= 1.0;
            assert!(field.affinities.iter().all(within), "{}", field.name);
        }
    }
}
