//! One term of a query as words in a row, for the index and for texts. Knows what a term may look
//! like.

use crate::store::search::words::scan;

/// One thing to look for: a word, a name, or words that stand together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Term {
    /// As typed. Split as the texts are (`store::words`): several words are a phrase.
    pub text: String,
    /// Its last word may go on.
    pub prefix: bool,
    /// Other forms of the word. They count where a text is read, and in the index where the word
    /// itself stands nowhere.
    pub forms: Vec<String>,
    /// Other words of the same matter. They count where a text is read; the index isn't asked for them.
    pub kin: Vec<String>,
    /// Terms that will do as well; their own ones are not looked at.
    pub or: Vec<Term>,
}

/// A term of a query: any of its choices will do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// Never empty.
    pub(crate) choices: Vec<Choice>,
    /// Other forms of the word, which count in a text that is read.
    pub(crate) forms: Vec<String>,
    /// Other words that do.
    pub(crate) kin: Vec<String>,
    /// The index is asked for the forms too.
    pub(crate) asks_forms: bool,
}

/// Words that stand together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    /// In a row; never empty.
    pub(crate) words: Vec<String>,
    /// The last one may go on.
    pub(crate) prefix: bool,
    /// The term in one piece, where it is a compound name; it may go on too: `ebcbd000` has parts, and
    /// `ebcbd000a1f2`, which it begins, has none.
    pub(crate) glued: Option<String>,
}

impl Pattern {
    /// `None` when there is no word in the term.
    pub(crate) fn new(term: &Term) -> Option<Pattern> {
        let all = std::iter::once(term).chain(&term.or);
        let choices: Vec<Choice> = all
            .clone()
            .filter_map(|term| Choice::new(&term.text, term.prefix))
            .collect();
        (!choices.is_empty()).then(|| Pattern {
            choices,
            forms: all.clone().flat_map(|term| term.forms.clone()).collect(),
            kin: all.flat_map(|term| term.kin.clone()).collect(),
            asks_forms: false,
        })
    }

    /// As FTS5 takes it. Words hold letters and digits only, so quotes are safe.
    pub(crate) fn expression(&self) -> String {
        let forms = self.forms.iter().filter(|_| self.asks_forms);
        let all: Vec<String> = self
            .choices
            .iter()
            .map(Choice::expression)
            .chain(forms.map(|form| format!("\"{form}\"")))
            .collect();
        match all.as_slice() {
            [one] => one.clone(),
            all => format!("({})", all.join(" OR ")),
        }
    }
}

impl Choice {
    fn new(text: &str, prefix: bool) -> Option<Choice> {
        let mut words = Vec::new();
        let mut glued = Vec::new();
        let mut lone = false;
        scan(text, |word| {
            if word.glued {
                glued.push(word.text());
            } else {
                lone = word.lone;
                words.push(word.text());
            }
        });
        // In a text the run may go on after the query's last character.
        let paired = lone && words.len() > 1 && ends_with_pair(&words);
        if paired {
            words.pop();
        }
        let whole = !text.trim().contains(char::is_whitespace);
        (!words.is_empty()).then_some(Choice {
            prefix: !paired && (prefix || lone),
            glued: glued.pop().filter(|_| whole && glued.is_empty()),
            words,
        })
    }

    fn expression(&self) -> String {
        let star = if self.prefix { "*" } else { "" };
        let phrase = format!("\"{}\"{star}", self.words.join(" "));
        match &self.glued {
            Some(glued) => format!("({phrase} OR \"{glued}\"{star})"),
            None => phrase,
        }
    }

    /// `words` begin with this.
    pub(crate) fn matches<'w>(&self, mut words: impl Iterator<Item = &'w str>) -> bool {
        let Some((last, rest)) = self.words.split_last() else {
            return false;
        };
        let last_fits = |word: &str| word == last || self.prefix && word.starts_with(last.as_str());
        rest.iter().all(|word| words.next() == Some(word)) && words.next().is_some_and(last_fits)
    }
}

/// The last word repeats the end of the one before: `日本 本`.
fn ends_with_pair(words: &[String]) -> bool {
    match words {
        [.., pair, last] => pair.chars().count() == 2 && pair.ends_with(last.as_str()),
        _ => false,
    }
}
