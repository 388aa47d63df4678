//! Which kind of work a file belongs to, by its path, as a table (`paths.yaml`).

use super::table;
use crate::model::activity::Dimension;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The categories of a path; most have none. About 200 ns.
pub fn categories(path: &str) -> impl Iterator<Item = Dimension> {
    let lower = path.to_lowercase();
    let categories = TABLE.iter();
    categories.filter_map(move |(category, row)| row.fits(&lower).then_some(*category))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct Row {
    name: Vec<String>,
    begins: Vec<String>,
    ends: Vec<String>,
    folder: Vec<String>,
}

static TABLE: LazyLock<BTreeMap<Dimension, Row>> =
    LazyLock::new(|| table::rows(table::embedded!("paths")));

impl Row {
    fn fits(&self, path: &str) -> bool {
        let mut parts = path.rsplit(['/', '\\']);
        let name = parts.next().unwrap_or_default();
        self.name.iter().any(|part| name.contains(part.as_str()))
            || self
                .begins
                .iter()
                .any(|start| name.starts_with(start.as_str()))
            || self.ends.iter().any(|end| name.ends_with(end.as_str()))
            || parts.any(|dir| self.folder.iter().any(|known| known == dir))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_say_what_they_are_for() {
        let told = |path: &str| categories(path).map(Dimension::as_str).collect::<Vec<_>>();
        assert_eq!(told("/p/.env.local"), ["configuring"]);
        assert_eq!(told("src/auth_test.go"), ["testing"]);
        assert_eq!(told("docs/a.md"), ["documenting"]);
        assert_eq!(told("src/latest.rs"), Vec::<&str>::new());
    }
}
