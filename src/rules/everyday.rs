//! Questions that people ask of a memory every day, as a table (`everyday.yaml`).

use super::table;
use super::words::content_words;
use regex::Regex;
use serde::Deserialize;
use std::iter::successors;
use std::sync::{LazyLock, OnceLock};

/// What such a question asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EverydayQuestion {
    /// What went on when somebody last worked here.
    LastTime,
    /// How this is done here, as a rule.
    UsualWay(String),
    /// Which file got a value of this, and which one.
    WhereSet(String),
}

/// What a prompt asks for where all of it is such a question. Some microseconds; nothing is looked at in a longer
/// prompt.
pub fn everyday(prompt: &str) -> Option<EverydayQuestion> {
    const BYTES_MAX: usize = 160;
    let prompt = prompt.trim();
    if prompt.len() > BYTES_MAX {
        return None;
    }
    let prompt = prompt.replace('’', "'");
    let prompt = prompt.trim_end_matches(|c: char| !c.is_alphanumeric());
    let prompt = without_leads(prompt);
    let what = |kind: &Kind| kind.patterns.iter().find_map(|row| row.what(prompt));
    None.or_else(|| what(&TABLE.last_time).map(|_| EverydayQuestion::LastTime))
        .or_else(|| what(&TABLE.usual_way).map(EverydayQuestion::UsualWay))
        .or_else(|| what(&TABLE.where_set).map(EverydayQuestion::WhereSet))
}

fn without_leads(prompt: &str) -> &str {
    const LEADS_MAX: usize = 3;
    let all = successors(Some(prompt), |prompt| without_lead(prompt));
    all.take(1 + LEADS_MAX).last().unwrap_or(prompt)
}

fn without_lead(prompt: &str) -> Option<&str> {
    let rests = TABLE.leads.iter().filter_map(|lead| {
        let rest = after(prompt, lead)?;
        let rest = rest.strip_prefix([',', ':']).unwrap_or(rest);
        rest.starts_with(' ').then(|| rest.trim_start_matches(' '))
    });
    rests.min_by_key(|rest| rest.len())
}

/// What follows these words at the beginning, in capital letters or not.
fn after<'p>(prompt: &'p str, words: &str) -> Option<&'p str> {
    let (start, rest) = prompt.split_at_checked(words.len())?;
    let is_it = start.eq_ignore_ascii_case(words) && !rest.starts_with(char::is_alphanumeric);
    is_it.then_some(rest)
}

/// The words that say what a question is about, in lower case; none where it names nothing.
pub fn subject(what: &str) -> Vec<String> {
    let mut words = content_words(what);
    words.retain(|word| !TABLE.says_nothing.contains(word));
    words
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    leads: Vec<String>,
    says_nothing: Vec<String>,
    last_time: Kind,
    usual_way: Kind,
    where_set: Kind,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kind {
    patterns: Vec<Row>,
    #[cfg(test)]
    samples: std::collections::BTreeMap<String, Option<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    starts: Vec<String>,
    then: String,
    #[serde(skip)]
    regex: OnceLock<Regex>,
}

impl Row {
    /// What such a prompt asks about.
    fn what(&self, prompt: &str) -> Option<String> {
        let mut rests = self.starts.iter().filter_map(|start| after(prompt, start));
        rests.find_map(|rest| self.what_then(rest))
    }

    fn what_then(&self, rest: &str) -> Option<String> {
        let whole = || table::regex(&format!("^(?:{})$", self.then));
        let small = rest.to_ascii_lowercase();
        let found = self.regex.get_or_init(whole).captures(&small)?;
        let what = found.name("what").map(|what| &rest[what.range()]);
        Some(what.unwrap_or_default().to_owned())
    }
}

static TABLE: LazyLock<Table> = LazyLock::new(table);

fn table() -> Table {
    table::rows(table::embedded!("everyday"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_prompts_compile_no_pattern() {
        let rows = table().where_set.patterns;
        let prompt = "where does the barn owl nest in the payment module";
        assert!(rows.iter().all(|row| row.what(prompt).is_none()));
        assert!(rows.iter().all(|row| row.regex.get().is_none()));
    }

    #[test]
    fn samples_are_what_the_table_says() {
        let table = table();
        let last = |what: String| {
            assert_eq!(what, "");
            EverydayQuestion::LastTime
        };
        let kinds: [(Kind, &dyn Fn(String) -> EverydayQuestion); 3] = [
            (table.last_time, &last),
            (table.usual_way, &EverydayQuestion::UsualWay),
            (table.where_set, &EverydayQuestion::WhereSet),
        ];
        for (kind, means) in kinds {
            for (prompt, wants) in kind.samples {
                assert_eq!(everyday(&prompt), wants.map(means), "{prompt}");
            }
        }
    }
}
