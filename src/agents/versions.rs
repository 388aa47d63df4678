//! Which versions of the agents' logs this program was tested with. Logs of newer ones are read all the
//! same; `run` and `status --drift` name them.

use super::registry;
use crate::model::source::Agent;

/// `claude 2.1.332`, when that is newer than any version that this program was tested with; `None`
/// when it is not, or says nothing.
pub fn newer(agent: Agent, version: &str) -> Option<String> {
    let newest = registry::find(agent)?.newest_version();
    let newer = numbers(version) > numbers(newest);
    let shown: String = version.chars().take(40).collect();
    newer.then(|| format!("{} {shown}", agent.as_str()))
}

/// The numbers between the dots, without what follows the last one.
fn numbers(version: &str) -> Vec<u64> {
    let plain = version.split(['-', '+', ' ']).next().unwrap_or_default();
    let numbers = plain.split('.').map_while(|part| part.parse().ok());
    numbers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_newer_by_its_numbers() {
        for agent in registry::words() {
            let newest = registry::find(agent).unwrap().newest_version();
            for known in [newest, "0.2.9", "0.0.0", "", "next"] {
                assert_eq!(newer(agent, known), None, "{known}");
            }
            for later in ["99.0", "99.1.0-alpha.1", &format!("{newest}.1")] {
                assert!(newer(agent, later).is_some(), "{later}");
            }
        }
        let claude = registry::first();
        for known in ["2.1.331", "2.1.220", "1.0.53", "2.0.76"] {
            assert_eq!(newer(claude, known), None, "{known}");
        }
        for later in ["2.1.332", "2.2.0", "3.0", "2.1.1000", "2.1.332-beta.1"] {
            assert!(newer(claude, later).is_some(), "{later}");
        }
        let codex = crate::agents::codex::CODEX;
        for known in ["0.169.0", "0.34.0", "0.145.0-alpha.3"] {
            assert_eq!(newer(codex, known), None, "{known}");
        }
        for later in ["0.170.0", "1.0.0", "0.170.0-alpha.1"] {
            assert!(newer(codex, later).is_some(), "{later}");
        }
    }
}
