//! How a group is called in a graph database: letters, digits and `_`, and no word that full-text
//! indices skip (graphiti § 1, 5: such a name ends the server).

use crate::model::delivery::DeliveryError;
use std::collections::BTreeMap;

/// Graphiti's stopwords.
pub(super) const STOPWORDS: [&str; 33] = [
    "a", "is", "the", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into",
    "it", "no", "not", "of", "on", "or", "such", "that", "their", "then", "there", "these", "they",
    "this", "to", "was", "will", "with",
];
/// Longer names are cut. Graph names are keys and stand in every node.
const NAME_BYTES_MAX: usize = 120;

/// The group's name for graphs; itself where it is one already.
pub fn graph_name(group: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let mut name: String = group.chars().map(plain).take(NAME_BYTES_MAX).collect();
    let is_stopword = STOPWORDS.contains(&name.to_ascii_lowercase().as_str());
    if name.is_empty() || is_stopword {
        name.insert_str(0, "group_");
    }
    name
}

/// Refuses groups that a graph couldn't tell apart.
///
/// # Errors
/// `DeliveryError::Misconfigured` with both names.
pub fn check_distinct<'a>(
    groups: impl IntoIterator<Item = &'a String>,
) -> Result<(), DeliveryError> {
    let mut known: BTreeMap<String, &str> = BTreeMap::new();
    for group in groups {
        let name = graph_name(group);
        if let Some(other) = known.insert(name.clone(), group)
            && other != group
        {
            return Err(DeliveryError::Misconfigured(format!(
                "the groups {other} and {group} would both be called {name} there"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_of_letters_digits_and_underscores() {
        for (group, name) in [
            ("desk__global", "desk__global"),
            ("my-host.local__global", "my_host_local__global"),
            ("bücher", "b_cher"),
            ("or", "group_or"),
            ("The", "group_The"),
            ("", "group_"),
        ] {
            assert_eq!(graph_name(group), name);
        }
        assert_eq!(graph_name(&"x".repeat(500)).len(), NAME_BYTES_MAX);
    }

    #[test]
    fn names_that_would_be_one_are_refused() {
        let groups = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        assert!(check_distinct(&groups(&["a-b", "c"])).is_ok());
        assert!(check_distinct(&groups(&["a-b", "a-b"])).is_ok());
        let fault = check_distinct(&groups(&["a-b", "a_b"])).unwrap_err();
        assert_eq!(
            fault.reason(),
            "the groups a-b and a_b would both be called a_b there"
        );
    }
}
