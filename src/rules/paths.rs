//! Which kind of work a file belongs to, by its path, as a table (`paths.yaml`).

use super::table;
use crate::model::activity::Dimension;
use memchr::memmem;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The embedded table.
pub fn embedded() -> &'static Paths {
    static TABLE: LazyLock<Paths> = LazyLock::new(|| written().files);
    &TABLE
}

/// What names of files and folders say.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct Paths(BTreeMap<Dimension, Row>);

impl Paths {
    /// The categories of a path; most have none. About 200 ns.
    pub fn categories(&self, path: &str) -> Vec<Dimension> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let lower = match path.is_ascii() {
            true => path.to_ascii_lowercase(),
            false => path.to_lowercase(),
        };
        let fits = self.0.iter().filter(|(_, row)| row.fits(&lower));
        fits.map(|(category, _)| *category).collect()
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Row {
    name: Vec<String>,
    begins: Vec<String>,
    ends: Vec<String>,
    folder: Vec<String>,
}

impl Row {
    fn fits(&self, path: &str) -> bool {
        let mut parts = path.rsplit(['/', '\\']);
        let name = parts.next().unwrap_or_default();
        let within = |part: &String| memmem::find(name.as_bytes(), part.as_bytes()).is_some();
        self.name.iter().any(within)
            || self
                .begins
                .iter()
                .any(|start| name.starts_with(start.as_str()))
            || self.ends.iter().any(|end| name.ends_with(end.as_str()))
            || parts.any(|dir| self.folder.iter().any(|known| known == dir))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    files: Paths,
    #[cfg(test)]
    samples: BTreeMap<String, Vec<Dimension>>,
}

fn written() -> Written {
    table::rows(table::embedded!("paths"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_what_the_table_says() {
        for (path, wants) in written().samples {
            assert_eq!(embedded().categories(&path), wants, "{path}");
        }
    }
}
