//! Which versions of the agents' logs this program was tested with. Knows how versions are ordered;
//! refuses to treat a newer one differently.

use super::table;
use crate::model::source::Agent;
use serde::Deserialize;
use std::sync::LazyLock;

/// `claude 2.1.221`, when that is newer than any version that this program was tested with; `None`
/// when it is not, or says nothing.
pub fn newer(agent: Agent, version: &str) -> Option<String> {
    let row = TABLE.iter().find(|row| row.agent == agent)?;
    let newer = numbers(version) > numbers(&row.newest);
    let shown: String = version.chars().take(40).collect();
    newer.then(|| format!("{} {shown}", agent.as_str()))
}

/// The numbers between the dots, without what follows the last one.
fn numbers(version: &str) -> Vec<u64> {
    let plain = version.split(['-', '+', ' ']).next().unwrap_or_default();
    let numbers = plain.split('.').map_while(|part| part.parse().ok());
    numbers.collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    agent: Agent,
    newest: String,
    #[cfg(test)]
    samples: Samples,
}

#[cfg(test)]
#[derive(Deserialize)]
struct Samples {
    known: Vec<String>,
    newer: Vec<String>,
}

static TABLE: LazyLock<Vec<Row>> = LazyLock::new(|| table::rows(table::embedded!("versions")));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_knows_its_samples() {
        for row in TABLE.iter() {
            for version in &row.samples.known {
                assert_eq!(newer(row.agent, version), None, "{version}");
            }
            for version in &row.samples.newer {
                assert!(newer(row.agent, version).is_some(), "{version}");
            }
        }
    }
}
