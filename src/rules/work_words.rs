//! What kind of work a sentence asks for, announces or reports, as a table (`work_words.yaml`).
//!
//! Knows how people ask and agents tell in English, but not who speaks and what follows from it
//! (`stages::score`).

use super::literals::LiteralFinder;
use super::table;
use crate::model::activity::Dimension;
use memchr::memmem::Finder;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Longer texts are pasted: what follows says little of what its sender wants.
const REQUEST_BYTES_MAX: usize = 8 * 1024;
/// Sentences of a request that are read.
const REQUEST_SENTENCES_MAX: usize = 60;
/// Of an agent's words only the beginning is read.
const REPORT_BYTES_MAX: usize = 3 * 1024;
/// Sentences of a report that are read.
const REPORT_SENTENCES_MAX: usize = 25;
/// Sentences with which an agent may announce what it does.
const ANNOUNCEMENTS_MAX: usize = 4;
/// A verb stands among the first words of its sentence.
const VERB_WORDS_MAX: usize = 9;
/// So many unknown words may stand before it.
const UNKNOWN_WORDS_MAX: usize = 4;
/// A thing that makes a chore of its verb stands near it.
const NEAR_WORDS: usize = 4;
/// How people ask for a second look stands early in a sentence.
const EARLY_BYTES: usize = 60;
/// The words of one sentence that are read.
const WORDS_MAX: usize = 60;

/// The kinds of work that a person's words ask for, sentence by sentence.
pub fn requested(text: &str) -> impl Iterator<Item = Dimension> {
    let sentences = sentences(head(text, REQUEST_BYTES_MAX)).take(REQUEST_SENTENCES_MAX);
    sentences.filter_map(kind)
}

/// The kinds of work that an agent says it goes about.
pub fn announced(text: &str) -> impl Iterator<Item = Dimension> {
    let sentences = sentences(head(text, REPORT_BYTES_MAX)).take(ANNOUNCEMENTS_MAX);
    sentences.filter_map(|sentence| {
        let lower = lowered(sentence);
        let mut rest: &str = &lower;
        while let Some((word, behind)) = rest.split_once(' ') {
            match TABLE.begun.iter().any(|start| rest.starts_with(&**start)) {
                true => break,
                false if is_before(word.trim_end_matches(',')) => rest = behind,
                false => return None,
            }
        }
        let start = TABLE
            .begun
            .iter()
            .find(|start| rest.starts_with(&***start))?;
        let rest = rest[start.len()..].trim_start();
        let glances = |word: &str| TABLE.glances.contains(word);
        kind(rest).filter(|_| {
            !words(rest)
                .find(|word| !is_before(word))
                .is_some_and(glances)
        })
    })
}

/// The kinds of work that an agent says it has done; findings of a review say reviewing.
pub fn reported(text: &str) -> impl Iterator<Item = Dimension> {
    let text = head(text, REPORT_BYTES_MAX);
    let done = sentences(text).take(REPORT_SENTENCES_MAX).filter_map(done);
    let judges = text.lines().any(is_finding);
    let judged = judges.then_some([Dimension::Reviewing; 2]);
    done.chain(judged.into_iter().flatten())
}

/// What a commit's subject, or a task's name, says was or is to be done.
pub fn titled(subject: &str) -> Option<Dimension> {
    let (head, rest) = subject.split_once(':').unwrap_or(("", subject));
    let bare = head.split('(').next().unwrap_or_default();
    let word = bare.trim_end_matches('!').to_ascii_lowercase();
    match TABLE.types.get(&word) {
        Some(said) => *said,
        None if head.contains(' ') || head.is_empty() => kind(subject),
        None => kind(rest.trim_start()),
    }
}

/// What the name of a command or skill says: `/review`, `code-simplifier`.
pub fn named(name: &str) -> Option<Dimension> {
    let name = name.trim_start_matches('/');
    if let Some(known) = TABLE.names.get(name) {
        return Some(*known);
    }
    let mut words = name.split(['-', '_', ':']);
    words.find_map(|word| {
        let verb = TABLE.verb(word)?;
        verb.dimension.filter(|kind| *kind != Dimension::Exploring)
    })
}

/// What one sentence asks for.
fn kind(sentence: &str) -> Option<Dimension> {
    if let Some(command) = sentence.strip_prefix('/') {
        let end = command.find(|c: char| !(c.is_ascii_alphanumeric() || "-_:".contains(c)));
        return match end.map(|end| &command[end..]) {
            Some(path) if path.starts_with(['/', '.']) => None,
            _ => named(&command[..end.unwrap_or(command.len())]),
        };
    }
    let lower = lowered(sentence);
    let early = head(&lower, EARLY_BYTES);
    if TABLE.judging.is_match(early) {
        return Some(Dimension::Reviewing);
    }
    let words: Vec<&str> = words(&lower).take(WORDS_MAX).collect();
    let is_question = sentence.trim_end().ends_with('?');
    match by_verb(&words, &lower, is_question) {
        Said::Kind(kind) => Some(kind),
        Said::Nothing => None,
        Said::NoVerb if is_trouble(&words) => Some(Dimension::Fixing),
        Said::NoVerb => is_question.then_some(Dimension::Exploring),
    }
}

/// What the verb of a sentence says.
enum Said {
    Kind(Dimension),
    /// A chore, or what a plan says.
    Nothing,
    NoVerb,
}

fn by_verb(words: &[&str], sentence: &str, is_question: bool) -> Said {
    for (at, word) in words.iter().enumerate().take(VERB_WORDS_MAX) {
        if is_before(word) {
            continue;
        }
        let Some(verb) = TABLE.verb(word) else {
            match at < UNKNOWN_WORDS_MAX {
                true => continue,
                false => break,
            }
        };
        let rest = &words[at + 1..];
        let near = &rest[..rest.len().min(NEAR_WORDS)];
        if verb.plans && near.contains(&"plan") {
            return Said::Nothing;
        }
        if verb.mends && works(near) {
            return Said::Kind(Dimension::Fixing);
        }
        if verb.tells && !matches!(rest.first(), Some(&("me" | "us"))) {
            continue;
        }
        if verb.versions && has_version(sentence) {
            return Said::Kind(Dimension::Configuring);
        }
        let makes = matches!(
            verb.dimension,
            Some(Dimension::Building | Dimension::Refactoring)
        );
        if verb.takes || makes {
            if near.iter().any(|word| TABLE.chores.contains(*word)) {
                continue;
            }
            let thing = thing_of(rest, verb.dimension);
            return thing.or(verb.dimension).map_or(Said::Nothing, Said::Kind);
        }
        match verb.dimension {
            Some(Dimension::Testing) if at > 2 => continue,
            Some(Dimension::Exploring) if is_trouble(words) && !verb.explains => {
                return Said::Kind(Dimension::Fixing);
            }
            None if is_trouble(words) => return Said::Kind(Dimension::Fixing),
            None if !is_question => continue,
            said => return Said::Kind(said.unwrap_or(Dimension::Exploring)),
        }
    }
    Said::NoVerb
}

/// `it work`, `the tests pass`; `a build script` doesn't.
fn works(words: &[&str]) -> bool {
    words
        .windows(2)
        .any(|pair| TABLE.fails.contains(pair[1]) && !matches!(pair[0], "a" | "an" | "the" | "and"))
}

/// What a sentence about something done reports.
fn done(sentence: &str) -> Option<Dimension> {
    if !may_be_done(sentence) {
        return None;
    }
    let lower = lowered(sentence);
    let mut words = words(&lower).skip_while(|word| TABLE.done.contains(*word));
    let word = words.next()?;
    let verb = match TABLE.past.get(word) {
        Some(verb) => TABLE.verb(verb)?,
        None => TABLE.verb(word).filter(|_| word.ends_with("ed"))?,
    };
    let said = verb.dimension?;
    let rest: Vec<&str> = words.take(WORDS_MAX).collect();
    match said {
        Dimension::Building | Dimension::Refactoring => thing_of(&rest, Some(said)).or(Some(said)),
        said => Some(said),
    }
}

/// Whether the first word that [`done`] looks at may be a verb: of most sentences it is none, and nothing has to be
/// copied to see that. `true` where that takes more than looking at words of ASCII.
fn may_be_done(sentence: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_.'/-".contains(&byte);
    let mut rest = sentence;
    loop {
        let start = rest
            .bytes()
            .position(|byte| is_part(byte) || is_special(byte));
        let Some(start) = start else { return false };
        let end = rest[start..].bytes().position(|byte| !is_part(byte));
        let end = end.map_or(rest.len(), |end| start + end);
        let word = rest[start..end].to_ascii_lowercase();
        rest = &rest[end..];
        let is_plain = !word.is_empty() && !rest.bytes().next().is_some_and(is_special);
        if !is_plain || word.starts_with('.') || word.contains("http") {
            return true;
        }
        let bare = word.trim_matches(['.', '\'', '/', '-']);
        let is_word = bare.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !is_word || TABLE.done.contains(bare) {
            continue;
        }
        let joins = || TABLE.joined.iter().any(|(two, _)| two.starts_with(bare));
        let is_verb = || bare.ends_with("ed") && TABLE.verb(bare).is_some();
        return TABLE.past.contains_key(bare) || is_verb() || joins();
    }
}

/// What [`lowered`] does more with than to make it small.
#[inline]
fn is_special(byte: u8) -> bool {
    !byte.is_ascii() || matches!(byte, b'"' | b'`')
}

/// The first kind of thing among these words; tests that are moved or renamed stay what they are.
fn thing_of(words: &[&str], verb: Option<Dimension>) -> Option<Dimension> {
    let thing = |word: &str| {
        let name = word.rsplit('/').next().unwrap_or(word);
        let known = TABLE.things.get(name).copied();
        known.or(name.ends_with(".md").then_some(Dimension::Documenting))
    };
    let among = |kind: Dimension| words.iter().any(|word| thing(word) == Some(kind));
    if among(Dimension::Documenting) {
        return Some(Dimension::Documenting);
    }
    if verb != Some(Dimension::Refactoring) && among(Dimension::Testing) {
        return Some(Dimension::Testing);
    }
    among(Dimension::Configuring).then_some(Dimension::Configuring)
}

fn is_before(word: &str) -> bool {
    TABLE.before.contains(word)
}

/// Something doesn't work.
fn is_trouble(words: &[&str]) -> bool {
    let negated = |at: usize| {
        let no = words[at] == "not" || words[at].ends_with("n't") || words[at] == "never";
        let behind = &words[at + 1..words.len().min(at + 4)];
        no && behind.iter().any(|word| TABLE.fails.contains(*word))
    };
    words.iter().any(|word| TABLE.trouble.contains(*word)) || (0..words.len()).any(negated)
}

/// `to 1.25`, `from v2`.
fn has_version(sentence: &str) -> bool {
    ["to ", "from "].iter().any(|word| {
        let mut behind = sentence
            .match_indices(word)
            .map(|(at, _)| &sentence[at + word.len()..]);
        behind.any(|number| {
            let number = number.strip_prefix('v').unwrap_or(number);
            number.starts_with(|c: char| c.is_ascii_digit())
        })
    })
}

/// A line with which a review tells what it found.
fn is_finding(line: &str) -> bool {
    const LONGEST: usize = 24;
    let start = line.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    let lower = head(start, LONGEST).to_ascii_lowercase();
    let severity = |word: &&String| {
        let behind = lower.strip_prefix(&***word);
        behind.is_some_and(|behind| behind.starts_with([':', ']', ')', '*', ' ', '.', ',']))
    };
    TABLE.findings.iter().any(|word| lower.starts_with(&**word))
        || TABLE.severities.iter().any(|word| severity(&word)) && line.len() > start.len()
}

/// The sentences of a text with what numbers and marks them taken off; fences, quotes, commands and
/// code are left out.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    let lines = text.lines().filter(move |line| {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            fenced = !fenced;
            return false;
        }
        !fenced
            && !trimmed.starts_with(['>', '❯'])
            && !trimmed.starts_with("$ ")
            && !line.starts_with("    ")
    });
    let marks = |c: char| " -*•#\t.)".contains(c) || c.is_ascii_digit();
    // a number at the end is a version
    let ends = [' ', '-', '*', '\t', '.', ')'];
    lines
        .flat_map(parts)
        .map(move |part| part.trim_start_matches(marks).trim_end_matches(ends))
        .filter(|part| !part.is_empty())
}

/// A line in parts: at the marks that end a sentence, and before `, then`.
fn parts(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let bytes = rest.as_bytes();
        let ends = |at: usize| {
            let after = &rest[at + 1..];
            match bytes[at] {
                b'.' if after.starts_with('.') => true,
                b'.' | b'?' | b'!' | b';' | b':' => after.starts_with([' ', '\t']),
                b',' => [" then", " and", " but"]
                    .iter()
                    .any(|word| after.starts_with(word)),
                b' ' => after.starts_with("- "),
                _ => false,
            }
        };
        let is_mark = |byte: &u8| matches!(byte, b'.' | b'?' | b'!' | b';' | b':' | b',' | b' ');
        let mut marks = (0..bytes.len()).filter(|at| is_mark(&bytes[*at]));
        let end = marks.find(|at| ends(*at));
        let (part, behind) = rest.split_at(end.map_or(rest.len(), |at| at + 1));
        rest = behind;
        Some(part)
    })
}

/// In lower case, with plain apostrophes; addresses, and quotes of more than one word, left out.
fn lowered(sentence: &str) -> String {
    let mut lower = String::with_capacity(sentence.len());
    let mut rest = sentence;
    loop {
        let mut bytes = rest.bytes();
        let sign = bytes.position(is_special);
        let plain = &rest[..sign.unwrap_or(rest.len())];
        let address = TABLE.address.find(plain.as_bytes());
        let (plain, special) = rest.split_at(address.unwrap_or(plain.len()));
        push_lower(&mut lower, plain);
        let Some(c) = special.chars().next() else {
            break;
        };
        let behind = &special[c.len_utf8()..];
        rest = behind;
        if let Some(closing) = closing(c) {
            let (quoted, after) = behind.split_once(closing).unwrap_or((behind, ""));
            if !quoted.contains(' ') {
                lower.push_str(&quoted.to_lowercase());
            }
            lower.push(' ');
            rest = after;
        } else if special.starts_with("http://") || special.starts_with("https://") {
            rest = &special[special.find(char::is_whitespace).unwrap_or(special.len())..];
        } else {
            match c {
                '’' => lower.push('\''),
                c => lower.extend(c.to_lowercase()),
            }
        }
    }
    let may_join = |second: &Finder<'_>| second.find(lower.as_bytes()).is_some();
    if TABLE.seconds.iter().any(may_join) {
        for (two, one) in &TABLE.joined {
            lower = lower.replace(&**two, one);
        }
    }
    lower
}

fn push_lower(to: &mut String, ascii: &str) {
    let from = to.len();
    to.push_str(ascii);
    to[from..].make_ascii_lowercase();
}

fn closing(c: char) -> Option<char> {
    match c {
        '"' | '`' => Some(c),
        '“' => Some('”'),
        _ => None,
    }
}

/// Words, and names of files.
fn words(lower: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || "_.'/-".contains(c);
    let words = lower.split(move |c: char| !is_part(c));
    words
        .map(|word| match word.trim_matches(['.', '\'', '/', '-']) {
            bare if word.starts_with('.') && TABLE.things.contains_key(word) => {
                &word[..bare.len() + 1]
            }
            bare => bare,
        })
        .filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '.' || c == '_'))
}

/// A word with its endings: `fix`, `fixes`, `fixed`, `stopping`, `tries`, `making`.
fn forms(word: &str) -> impl Iterator<Item = String> {
    let last = word.chars().next_back().unwrap_or_default();
    let (bare, stem) = match last {
        'e' => (word, &word[..word.len() - 1]),
        _ => (word, word),
    };
    let plain = ["", "s", "es", "d"].map(|ending| format!("{bare}{ending}"));
    let verbal = ["ed", "ing"].map(|ending| format!("{stem}{ending}"));
    let doubled = ["ed", "ing"].map(|ending| format!("{stem}{last}{ending}"));
    let y = word
        .strip_suffix('y')
        .map(|stem| ["ies", "ied"].map(|ending| format!("{stem}{ending}")));
    plain
        .into_iter()
        .chain(verbal)
        .chain(doubled)
        .chain(y.into_iter().flatten())
}

fn head(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::of(written()));

struct Table {
    verbs: FxHashMap<String, Verb>,
    before: FxHashSet<String>,
    joined: Vec<(String, String)>,
    /// Find the second words of those, each once, with the blank before.
    seconds: Vec<Finder<'static>>,
    /// Finds how an address begins.
    address: Finder<'static>,
    things: FxHashMap<String, Dimension>,
    chores: FxHashSet<String>,
    trouble: FxHashSet<String>,
    fails: FxHashSet<String>,
    judging: LiteralFinder,
    findings: Vec<String>,
    severities: Vec<String>,
    past: FxHashMap<String, String>,
    begun: Vec<String>,
    done: FxHashSet<String>,
    glances: FxHashSet<String>,
    types: FxHashMap<String, Option<Dimension>>,
    names: FxHashMap<String, Dimension>,
}

/// What is known of a verb.
#[derive(Clone, Copy, Default)]
struct Verb {
    /// `None`: the thing alone says what kind of work it is, or it asks only where it is a question.
    dimension: Option<Dimension>,
    /// What it is done to says what kind of work it is.
    takes: bool,
    versions: bool,
    plans: bool,
    tells: bool,
    mends: bool,
    /// Trouble that is explained isn't mended.
    explains: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    verbs: BTreeMap<Dimension, Vec<String>>,
    asks: Vec<String>,
    before: FxHashSet<String>,
    takes: Vec<String>,
    versions: Vec<String>,
    plans: Vec<String>,
    tells: Vec<String>,
    mends: Vec<String>,
    joined: BTreeMap<String, String>,
    things: BTreeMap<Dimension, Vec<String>>,
    chores: FxHashSet<String>,
    trouble: FxHashSet<String>,
    fails: FxHashSet<String>,
    judging: Vec<String>,
    findings: Vec<String>,
    severities: Vec<String>,
    past: FxHashMap<String, String>,
    begun: Vec<String>,
    done: FxHashSet<String>,
    glances: FxHashSet<String>,
    types: FxHashMap<String, Option<Dimension>>,
    names: FxHashMap<String, Dimension>,
    #[cfg(test)]
    samples: BTreeMap<String, Vec<Dimension>>,
}

fn written() -> Written {
    table::rows(table::embedded!("work_words"))
}

impl Table {
    fn of(written: Written) -> Table {
        let mut verbs: BTreeMap<String, Verb> = BTreeMap::new();
        for (dimension, words) in written.verbs {
            for word in words {
                let explains = matches!(&*word, "explain" | "describe" | "read" | "list");
                let verb = verbs.entry(word).or_default();
                verb.dimension = Some(dimension);
                verb.explains = explains;
            }
        }
        for word in written.asks {
            verbs.entry(word).or_default();
        }
        for word in written.takes {
            verbs.entry(word).or_default().takes = true;
        }
        for word in written.versions {
            verbs.entry(word).or_default().versions = true;
        }
        for word in written.plans {
            verbs.entry(word).or_default().plans = true;
        }
        for word in written.tells {
            verbs.entry(word).or_default().tells = true;
        }
        for word in written.mends {
            verbs.entry(word).or_default().mends = true;
        }
        let things = written.things.into_iter();
        let things =
            things.flat_map(|(kind, words)| words.into_iter().map(move |word| (word, kind)));
        let forms_of = |words: FxHashSet<String>| words.iter().flat_map(|w| forms(w)).collect();
        // what is a word of its own stays one: `building` builds, `ended` doesn't end in an `e`
        let inflected = verbs
            .iter()
            .flat_map(|(word, verb)| forms(word).map(|form| (form, *verb)));
        let mut all: FxHashMap<String, Verb> = inflected.collect();
        all.extend(verbs.clone());
        let seconds = written
            .joined
            .keys()
            .filter_map(|two| two.rfind(' ').map(|at| &two[at..]));
        let seconds: BTreeSet<&str> = seconds.collect();
        Table {
            verbs: all,
            seconds: seconds
                .iter()
                .map(|second| Finder::new(second).into_owned())
                .collect(),
            address: Finder::new("http"),
            joined: written.joined.into_iter().collect(),
            things: things.collect(),
            before: written.before,
            chores: written.chores,
            trouble: forms_of(written.trouble),
            fails: forms_of(written.fails),
            judging: LiteralFinder::of(written.judging),
            findings: written.findings,
            severities: written.severities,
            past: written.past,
            begun: written.begun,
            done: written.done,
            glances: forms_of(written.glances),
            types: written.types,
            names: written.names,
        }
    }

    /// A verb in any of its forms.
    fn verb(&self, word: &str) -> Option<Verb> {
        self.verbs.get(word).copied()
    }
}

#[cfg(test)]
mod tests;
