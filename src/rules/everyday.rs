//! Questions that people ask of a memory every day, as a table (`everyday.yaml`).

use super::table;
use super::words::content_words;
use regex::Regex;
use serde::Deserialize;
use std::sync::LazyLock;

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
    if prompt.len() > BYTES_MAX || !STARTS.is_match(prompt) {
        return None;
    }
    let prompt = prompt.replace('’', "'");
    let prompt = prompt.trim_end_matches(|c: char| !c.is_alphanumeric());
    let what = |patterns: &Regex| {
        let found = patterns.captures(prompt)?;
        let what = found.iter().skip(1).flatten().next();
        Some(what.map_or(String::new(), |what| what.as_str().to_owned()))
    };
    None.or_else(|| what(&TABLE.last_time).map(|_| EverydayQuestion::LastTime))
        .or_else(|| what(&TABLE.usual_way).map(EverydayQuestion::UsualWay))
        .or_else(|| what(&TABLE.where_set).map(EverydayQuestion::WhereSet))
}

/// The words that say what a question is about, in lower case; none where it names nothing.
pub fn subject(what: &str) -> Vec<String> {
    let mut words = content_words(what);
    words.retain(|word| !TABLE.says_nothing.contains(word));
    words
}

/// What all of them have: other prompts don't cost the table.
static STARTS: LazyLock<Regex> = LazyLock::new(|| {
    table::regex(r"(?i)\b(?:where|what|how|which|catch|bring|summari[sz]e|recap)\b")
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    lead: String,
    says_nothing: Vec<String>,
    last_time: WrittenKind,
    usual_way: WrittenKind,
    where_set: WrittenKind,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenKind {
    patterns: Vec<String>,
    #[cfg(test)]
    samples: std::collections::BTreeMap<String, Option<String>>,
}

struct Table {
    says_nothing: Vec<String>,
    last_time: Regex,
    usual_way: Regex,
    where_set: Regex,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let written = written();
    let kind = |kind: WrittenKind| {
        // a group has one name in a pattern
        let named = kind.patterns.join("|").replace("(?P<what>", "(");
        table::regex(&format!("(?i)^{}(?:{named})$", written.lead))
    };
    Table {
        says_nothing: written.says_nothing,
        last_time: kind(written.last_time),
        usual_way: kind(written.usual_way),
        where_set: kind(written.where_set),
    }
});

fn written() -> Written {
    table::rows(table::embedded!("everyday"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_what_the_table_says() {
        let written = written();
        let last = |what: String| {
            assert_eq!(what, "");
            EverydayQuestion::LastTime
        };
        let kinds: [(WrittenKind, &dyn Fn(String) -> EverydayQuestion); 3] = [
            (written.last_time, &last),
            (written.usual_way, &EverydayQuestion::UsualWay),
            (written.where_set, &EverydayQuestion::WhereSet),
        ];
        for (kind, means) in kinds {
            for (prompt, wants) in kind.samples {
                assert_eq!(everyday(&prompt), wants.map(means), "{prompt}");
            }
        }
    }
}
