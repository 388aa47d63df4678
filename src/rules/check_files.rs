//! Which files a check or a run of tests may read, as a table (`check_files.yaml`). Knows words of commands and ends of paths.

use super::table;
use serde::Deserialize;
#[cfg(test)]
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A change of the file may change how the command ends; in doubt it does.
pub fn may_read(command: &str, path: &str) -> bool {
    let names = |words: &[String]| {
        let mut said = command.split(|c: char| !c.is_alphanumeric());
        said.any(|word| words.iter().any(|known| known == word))
    };
    let ends = |ends: &[String]| ends.iter().any(|end| path.ends_with(end.as_str()));
    if ends(&TABLE.texts) {
        return names(&TABLE.text_words);
    }
    let path_of_any = path.replace('\\', "/");
    let mut elsewhere = TABLE.elsewhere.iter();
    if elsewhere.any(|part| path_of_any.contains(part.as_str())) {
        return names(&TABLE.elsewhere_words);
    }
    let reads = |language: &&Language| {
        let mut said = command.split_whitespace().map(base);
        said.any(|word| language.programs.iter().any(|program| program == word))
    };
    let mut read = TABLE.languages.iter().filter(reads).peekable();
    let is_code = TABLE.languages.iter().any(|other| ends(&other.files));
    read.peek().is_none() || !is_code || read.any(|language| ends(&language.files))
}

/// The files of code and texts that a command names.
pub fn named_files(command: &str) -> impl Iterator<Item = &str> {
    let known = |word: &&str| {
        let mut ends = TABLE.languages.iter().flat_map(|language| &language.files);
        !word.starts_with('-')
            && ends.any(|end| word.len() > end.len() && word.ends_with(end.as_str()))
    };
    command.split_whitespace().filter(known)
}

/// A program without its folder.
fn base(word: &str) -> &str {
    word.rsplit(['/', '\\']).next().unwrap_or(word)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    texts: Vec<String>,
    text_words: Vec<String>,
    elsewhere: Vec<String>,
    elsewhere_words: Vec<String>,
    languages: Vec<Language>,
    #[cfg(test)]
    samples: BTreeMap<String, Sample>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Language {
    programs: Vec<String>,
    files: Vec<String>,
}

#[cfg(test)]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    yes: Vec<String>,
    no: Vec<String>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| table::rows(table::embedded!("check_files")));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_what_the_table_says() {
        for (command, sample) in &TABLE.samples {
            for path in &sample.yes {
                assert!(may_read(command, path), "{command}: {path}");
            }
            for path in &sample.no {
                assert!(!may_read(command, path), "{command}: {path}");
            }
        }
        let named = named_files("npx eslint --config eslint.json --ext .ts web/cart.ts src");
        assert_eq!(named.collect::<Vec<_>>(), ["web/cart.ts"]);
    }
}
