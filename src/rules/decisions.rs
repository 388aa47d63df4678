//! Decisions in the words of those who made them, as tables of patterns: people's (`decisions.yaml`) and
//! agents' (`agent_decisions.yaml`).

use super::cue_pattern::{CuePattern, CueText};
use super::literals::LiteralFinder;
use super::prose::{asks, pairs_of, sentences_of};
use super::table;
use serde::Deserialize;
#[cfg(test)]
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// What a sentence decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stated {
    /// The whole sentence, with its reasons.
    pub sentence: String,
    /// What was chosen; absent where something was only excluded.
    pub chosen: Option<String>,
    /// What it was chosen instead of.
    pub instead_of: Option<String>,
    /// How surely it is a decision: the lower the surer.
    pub rank: u8,
    /// It is only what would be good, until somebody does it.
    pub is_advice: bool,
}

/// Decisions that stand in the beginning of a person's words, in order, of those sentences that are `wanted`. About
/// a microsecond a sentence.
pub fn decisions(words: &str, wanted: impl Fn(&str) -> bool) -> Vec<Stated> {
    PEOPLE.stated(words, wanted)
}

/// Choices that an agent states in the beginning of its words, in order; as cheap.
pub fn choices(words: &str) -> Vec<Stated> {
    AGENTS.stated(words, |_| true)
}

/// Choices that an agent states in two sentences, each told with both: what it found or was asked, and what it does.
pub fn choices_in_two(words: &str) -> Vec<Stated> {
    AGENTS.stated_in_two(words)
}

/// The sentence decides against something: two about the same contradict each other where only one does.
pub fn is_against(sentence: &str) -> bool {
    let read = CueText::of(sentence);
    let has = |words: &Option<CuePattern>| words.iter().any(|words| words.is_match(&read));
    has(&PEOPLE.against) && !has(&PEOPLE.affirms)
}

/// The sentence chooses among ways, and doesn't only ask for work: who lists it as a request may list it here too.
pub fn is_choice(sentence: &str) -> bool {
    let mut chooses = PEOPLE.chooses.iter();
    !asks(sentence) && chooses.any(|chooses| chooses.is_match(&CueText::of(sentence)))
}

/// The line is a heading of decisions that its writer made.
pub fn is_heading(line: &str) -> bool {
    const BYTES_MAX: usize = 60;
    // each line of an agent's words is asked
    const HINTS: [&str; 6] = [
        "ecisions",
        "ECISIONS",
        "hoices",
        "calls",
        "rejected",
        "решения",
    ];
    let may_be = line.len() <= BYTES_MAX && HINTS.iter().any(|hint| line.contains(hint));
    let headings = AGENTS.headings.as_ref().filter(|_| may_be);
    headings.is_some_and(|headings| headings.is_match(&CueText::of(line)))
}

struct Table {
    hints: LiteralFinder,
    /// For each of `hints`, which of `rows` it is a hint of.
    hint_of: Vec<usize>,
    unless: Option<CuePattern>,
    asked: Option<CuePattern>,
    against: Option<CuePattern>,
    affirms: Option<CuePattern>,
    chooses: Option<CuePattern>,
    headings: Option<CuePattern>,
    rows: Vec<Row>,
    pair_hints: Option<LiteralFinder>,
    pairs: Vec<Pair>,
}

/// Two sentences behind each other.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pair {
    hints: Vec<String>,
    first: CuePattern,
    then: Option<CuePattern>,
    #[cfg(test)]
    samples: BTreeMap<String, bool>,
}

struct Row {
    pattern: CuePattern,
    unless: Option<CuePattern>,
    rank: u8,
    is_advice: bool,
}

impl Table {
    fn stated(&self, words: &str, wanted: impl Fn(&str) -> bool) -> Vec<Stated> {
        if !self.hints.is_match(words) {
            return Vec::new();
        }
        let all = sentences_of(words, |paragraph| self.hints.is_match(paragraph));
        all.filter(|sentence| wanted(sentence))
            .filter_map(|sentence| self.stated_in(&sentence))
            .collect()
    }

    fn stated_in_two(&self, words: &str) -> Vec<Stated> {
        let hints = self.pair_hints.as_ref();
        let Some(hints) = hints.filter(|hints| hints.is_match(words)) else {
            return Vec::new();
        };
        let is_one = |pair: &[String; 2]| {
            let [first, then] = pair.each_ref().map(|sentence| CueText::of(sentence));
            let mut pairs = self.pairs.iter();
            let is_asked = pair.iter().any(|sentence| asks(sentence));
            !is_asked
                && pairs.any(|pair| {
                    let mut next = pair.then.iter();
                    pair.first.is_match(&first) && next.all(|next| next.is_match(&then))
                })
        };
        let pairs = pairs_of(words, |paragraph| hints.is_match(paragraph));
        let found = pairs.into_iter().filter(is_one);
        found
            .map(|pair| Stated {
                sentence: pair.join(" "),
                chosen: None,
                instead_of: None,
                rank: 1,
                is_advice: false,
            })
            .collect()
    }

    fn stated_in(&self, sentence: &str) -> Option<Stated> {
        let mut hinted = BTreeSet::new();
        self.hints.any(sentence, |hint| {
            hinted.insert(self.hint_of[hint.literal]);
            false
        });
        if hinted.is_empty() {
            return None;
        }
        let read = CueText::of(sentence);
        if asks(sentence) && !self.asked.iter().any(|asked| asked.is_match(&read)) {
            return None;
        }
        let mut rows = hinted.iter().map(|row| &self.rows[*row]);
        let (row, found) = rows.find_map(|row| {
            let found = row.pattern.captures(&read, 0)?;
            let except = row.unless.as_ref();
            let is_one = except.is_none_or(|except| !except.is_match(&read));
            is_one.then_some((row, found))
        })?;
        // what may be done besides takes nothing back
        let (before, behind) = read.text.split_at(found.start());
        let besides = HEDGES.iter().filter_map(|hedge| behind.find(hedge));
        let end = besides.min().unwrap_or(behind.len());
        let told = CueText::of(&read.text[..before.len() + end]);
        if self.unless.iter().any(|pattern| pattern.is_match(&told)) {
            return None;
        }
        let part = |name: &str| {
            let part = found.name(name)?.trim();
            (!part.is_empty()).then(|| part.to_owned())
        };
        Some(Stated {
            chosen: part("what"),
            instead_of: part("not"),
            rank: row.rank,
            is_advice: row.is_advice,
            sentence: sentence.to_owned(),
        })
    }
}

/// Behind a decision, these lead to something else that may be done.
const HEDGES: [&str; 4] = [" but maybe ", " and maybe ", " and then maybe ", ", maybe "];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    unless: Vec<String>,
    asked: Option<CuePattern>,
    against: Option<CuePattern>,
    affirms: Option<CuePattern>,
    chooses: Option<CuePattern>,
    headings: Option<CuePattern>,
    patterns: Vec<WrittenRow>,
    #[serde(default)]
    pairs: Vec<Pair>,
    #[cfg(test)]
    samples: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRow {
    hints: Vec<String>,
    pattern: String,
    unless: Option<String>,
    #[serde(default)]
    rank: u8,
    #[serde(default, rename = "advice")]
    is_advice: bool,
}

static PEOPLE: LazyLock<Table> =
    LazyLock::new(|| Table::of(table::rows(table::embedded!("decisions"))));

static AGENTS: LazyLock<Table> =
    LazyLock::new(|| Table::of(table::rows(table::embedded!("agent_decisions"))));

impl Table {
    fn of(written: Written) -> Table {
        let hints = written.patterns.iter().enumerate();
        let hints = hints.flat_map(|(of, row)| row.hints.iter().map(move |hint| (of, hint)));
        // an apostrophe is typed in two ways
        let hints = hints.flat_map(|(of, hint)| {
            let curly = hint.contains('\'').then(|| hint.replace('\'', "’"));
            [Some(hint.clone()), curly]
                .into_iter()
                .flatten()
                .map(move |hint| (of, hint))
        });
        let (hint_of, hints): (Vec<usize>, Vec<String>) = hints.unzip();
        let rows = written.patterns.iter().map(|row| Row {
            pattern: row.pattern.clone().into(),
            unless: row.unless.clone().map(CuePattern::from),
            rank: row.rank,
            is_advice: row.is_advice,
        });
        Table {
            hints: LiteralFinder::of_any_case(hints),
            hint_of,
            unless: CuePattern::any(&written.unless),
            asked: written.asked,
            against: written.against,
            affirms: written.affirms,
            chooses: written.chooses,
            headings: written.headings,
            rows: rows.collect(),
            pair_hints: (!written.pairs.is_empty()).then(|| {
                let hints = written
                    .pairs
                    .iter()
                    .flat_map(|pair| pair.hints.iter().cloned());
                LiteralFinder::of_any_case(hints.collect::<Vec<String>>())
            }),
            pairs: written.pairs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(table: &Table, written: Written) {
        let told = |sentence: &str| {
            let found = table.stated(sentence, |_| true);
            let told = found.first().map(|stated| {
                let parts = [&stated.chosen, &stated.instead_of];
                parts.map(|part| part.clone().unwrap_or_default()).to_vec()
            });
            told.unwrap_or_default()
        };
        let samples = written.samples.into_iter();
        let wrong: Vec<_> = samples
            .filter(|(said, wants)| told(said) != *wants)
            .map(|(said, wants)| (told(&said), said, wants))
            .collect();
        assert_eq!(wrong, []);
    }

    #[test]
    fn samples_are_what_the_tables_say() {
        check(&PEOPLE, table::rows(table::embedded!("decisions")));
        check(&AGENTS, table::rows(table::embedded!("agent_decisions")));
    }

    #[test]
    fn samples_of_pairs_are_what_the_table_says() {
        for pair in &AGENTS.pairs {
            for (said, wants) in &pair.samples {
                assert_eq!(choices_in_two(said).len(), usize::from(*wants), "{said}");
            }
        }
    }

    #[test]
    fn every_row_has_a_sample() {
        for (table, written) in [
            (&*PEOPLE, table::embedded!("decisions")),
            (&*AGENTS, table::embedded!("agent_decisions")),
        ] {
            let written: Written = table::rows(written);
            for (row, source) in table.rows.iter().zip(&written.patterns) {
                let mut samples = written
                    .samples
                    .iter()
                    .filter(|(_, wants)| !wants.is_empty());
                let is_tried = samples.any(|(said, _)| row.pattern.is_match(&CueText::of(said)));
                assert!(is_tried, "{}", source.pattern);
            }
        }
    }

    #[test]
    fn who_forbids_to_drop_something_decides_for_it() {
        assert!(is_against("don't use Redis") && is_against("remove the old list"));
        assert!(!is_against("don't remove the old list") && !is_against("keep the old list"));
    }

    #[test]
    fn what_is_only_asked_for_chooses_nothing() {
        for choice in [
            "let's name it cart",
            "I want to use option B",
            "never round up",
        ] {
            assert!(is_choice(choice), "{choice}");
        }
        for plain in [
            "the totals should be blue",
            "we need to use other colors",
            "can you use a table instead of a list?",
            "then let's fix it",
        ] {
            assert!(!is_choice(plain), "{plain}");
        }
    }

    #[test]
    fn code_decides_nothing() {
        let words = "Look:\n```\nuse a instead of b\n```\nand fix it";
        assert_eq!(decisions(words, |_| true), []);
    }

    #[test]
    fn a_reason_is_never_cut() {
        for words in [
            "Let's use Postgres instead of SQLite, because two programs write into it and\n\
             one of them must not wait for the other.",
            "Let's use Postgres instead of SQLite. Because two programs write.",
        ] {
            let found = decisions(words, |_| true);
            assert_eq!(found.len(), 1, "{words}");
            assert_eq!(found[0].sentence, words.replace('\n', " "));
        }
    }
}
