//! Words that go with taking work back, language by language, as tables of cues (`rollbacks/*.yaml`): requests
//! to undo, thanks, questions, requests for new work, and what objects. Knows languages; knows nothing of who
//! speaks, when, and about what.

use super::phrases::WritingSystem;
use super::table;
use regex::Regex;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{LazyLock, OnceLock};

/// What a piece of a sentence may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cue {
    /// Asks for the work to be taken back, or says that it is.
    Undo,
    /// Whoever speaks does it, or did it, themselves.
    Own,
    /// Says what stays.
    Keep,
    /// Thanks, praises, says goodbye.
    Thanks,
    /// Asks for other work; at the beginning of a clause.
    Request,
    /// A verb that makes a statement of what begins like a request: `test suite fails`.
    Finite,
    /// Makes a question of what has no question mark; at the beginning of a clause.
    Question,
    /// Says nothing, although its words are those of a cue.
    Neutral,
    /// What happens around the work, not to it.
    Aside,
    /// Leaves what was spoken of before.
    Break,
    /// Begins a clause that has its own say.
    Joins,
    /// It can't be, may not be, is not.
    Denies,
    /// It fails, or does harm.
    Fails,
    /// It would do harm: what is said to happen is no request.
    Warns,
    /// Too much, too slow, too ugly.
    Excess,
    /// It was there before, or nobody needs it.
    Needless,
    /// Plans are others now.
    Plan,
    /// Somebody who has a say.
    Authority,
    /// A condition.
    Must,
    /// Gives a cause, or regrets.
    Cause,
    /// Says no to what was done; at the beginning of a clause.
    Rejects,
    /// Points to what was done.
    This,
    /// Of an agent: answers, offers, agrees, and reports no work.
    Offer,
    /// Of an agent: takes its own work back.
    TakesBack,
    /// Of an agent: would do it, and does not.
    Would,
    /// Of an agent: wants to know why.
    AsksWhy,
}

/// Cues that object, each with its weight.
const OBJECTIONS: [(Cue, u32); 9] = [
    (Cue::Warns, 2),
    (Cue::Denies, 2),
    (Cue::Fails, 2),
    (Cue::Excess, 2),
    (Cue::Needless, 2),
    (Cue::Plan, 2),
    (Cue::Authority, 1),
    (Cue::Must, 1),
    (Cue::Cause, 1),
];

/// Cues that say something even where nothing ties them to the work.
const SOLID: [Cue; 7] = [
    Cue::Warns,
    Cue::Denies,
    Cue::Fails,
    Cue::Excess,
    Cue::Needless,
    Cue::Plan,
    Cue::Authority,
];

/// Cues that stand at the beginning of a clause.
const OPENERS: [Cue; 3] = [Cue::Request, Cue::Question, Cue::Rejects];

/// Thanks are short; in more words something else is said.
const THANKS_WORDS_MAX: usize = 7;

/// The weight of a number with its unit.
const MEASURE: u32 = 1;

/// A language that is understood.
pub struct Language {
    written: Written,
    script: WritingSystem,
    common: BTreeSet<String>,
    compiled: BTreeMap<Cue, OnceLock<Regex>>,
    fillers: OnceLock<Regex>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    language: String,
    /// See [`WritingSystem`].
    spaced: bool,
    /// See [`WritingSystem`].
    joins: bool,
    /// Words by which it is known; they say nothing of what a text is about.
    common: String,
    /// Words that may stand before an opener.
    fillers: Vec<String>,
    cues: BTreeMap<Cue, Vec<String>>,
    #[cfg(test)]
    samples: BTreeMap<String, String>,
}

/// What a sentence says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sentence<'t> {
    /// As it was said.
    pub text: &'t str,
    /// Asks for the work to be taken back.
    pub undoes: bool,
    /// Asks for other work.
    pub requests: bool,
    /// Thanks or praises.
    pub thanks: bool,
    /// Asks.
    pub is_question: bool,
    /// Speaks of what happens around.
    pub is_aside: bool,
    /// Leaves what was spoken of before.
    pub breaks: bool,
    /// Begins with saying no to what was done.
    pub rejects: bool,
    /// Says that it was there before, or that nobody needs it.
    pub is_needless: bool,
    /// Points to what was done.
    pub points: bool,
    /// And begins with that.
    pub begins_with_it: bool,
    /// Some of what it objects to is more than a cause or a condition.
    pub is_solid: bool,
    /// Gives numbers with their units.
    pub is_measured: bool,
    /// How much it objects, without what is asked for, thanked for, or stays.
    pub weight: u32,
    /// Words that are left when all that is taken away.
    pub left: usize,
}

impl Sentence<'_> {
    /// Says something, and does not only ask, thank or agree.
    pub fn is_statement(&self) -> bool {
        self.left > 0 && !self.is_question
    }
}

macro_rules! languages {
    ($($name:literal),*) => { [$(table::embedded!(in "rules/rollbacks", $name)),*] };
}

static LANGUAGES: LazyLock<Vec<Language>> = LazyLock::new(|| {
    let tables = languages!("de", "es", "fr", "ja", "zh", "en");
    tables.into_iter().map(Language::new).collect()
});

/// Words of languages that are not understood, and are taken for others easily.
static STRANGERS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let words: Vec<String> = table::rows(table::embedded!(in "rules/rollbacks", "strangers"));
    let words = words.iter().flat_map(|line| line.split_whitespace());
    words.map(str::to_owned).collect()
});

/// The language of a text, English where it could be several; `None`: it is not understood, or nothing is.
pub fn language(text: &str) -> Option<&'static Language> {
    let kana = |c: char| matches!(c, '\u{3040}'..='\u{30ff}');
    let han = |c: char| matches!(c, '\u{4e00}'..='\u{9fff}');
    let letters = text.chars().filter(|c| c.is_alphabetic());
    let (mut all, mut east, mut japanese, mut latin) = (0, 0, 0, 0);
    for letter in letters {
        all += 1;
        east += u32::from(kana(letter) || han(letter));
        japanese += u32::from(kana(letter));
        latin += u32::from((letter as u32) < 0x250);
    }
    let named = |name: &str| {
        LANGUAGES
            .iter()
            .find(|known| known.written.language == name)
    };
    // names of things are Latin everywhere
    if east > 0 && (east + latin == all) && east * 5 >= latin {
        return named(if japanese * 8 > east { "ja" } else { "zh" });
    }
    if latin < all {
        return None;
    }
    let words: BTreeSet<String> = super::words::tokens(text)
        .filter(|word| word.len() > 1)
        .collect();
    let hits = |known: &&Language| {
        words
            .iter()
            .filter(|word| known.common.contains(*word))
            .count()
    };
    let spaced = LANGUAGES.iter().filter(|known| known.script.spaced);
    let best = spaced.max_by_key(hits)?;
    let strange = words
        .iter()
        .filter(|word| STRANGERS.contains(*word) && !best.common.contains(*word));
    (hits(&best) > strange.count()).then_some(best)
}

impl Language {
    fn new(table: &'static str) -> Language {
        let written: Written = table::rows(table);
        let script = WritingSystem {
            spaced: written.spaced,
            joins: written.joins,
        };
        Language {
            script,
            common: written
                .common
                .split_whitespace()
                .map(str::to_owned)
                .collect(),
            compiled: written
                .cues
                .keys()
                .map(|cue| (*cue, OnceLock::new()))
                .collect(),
            fillers: OnceLock::new(),
            written,
        }
    }

    /// Whether a cue stands in a text.
    pub fn has(&self, cue: Cue, text: &str) -> bool {
        self.clauses(&self.script.normal(text))
            .iter()
            .any(|clause| self.is_in(cue, clause))
    }

    /// What a sentence says.
    pub fn sentence<'t>(&self, text: &'t str) -> Sentence<'t> {
        let mut read = Sentence {
            text,
            ..Sentence::default()
        };
        let normal = self.script.normal(text);
        let normal = self.without(Cue::Neutral, &normal);
        let asks = text
            .trim_end_matches(['!', ')', '"', ' '])
            .ends_with(['?', '？']);
        read.is_aside = self.is_in(Cue::Aside, &normal);
        read.breaks = self.is_in(Cue::Break, &normal);
        read.points = self.is_in(Cue::This, &normal);
        let begin = self.after_fillers(&normal);
        read.begins_with_it = self
            .regex(Cue::This)
            .find(begin)
            .is_some_and(|it| it.start() == 0);
        let mut rest = Vec::new();
        for clause in self.clauses(&normal) {
            rest.extend(self.left_of(&clause, &mut read));
        }
        read.is_question = match asks {
            // what asks to undo may give its reason all the same
            true => !read.undoes || rest.is_empty(),
            false => read.is_question && rest.is_empty(),
        };
        read.weigh(self, &rest);
        read
    }

    /// What a clause says besides all that gives no reason.
    fn left_of(&self, clause: &str, read: &mut Sentence<'_>) -> Option<String> {
        let undo = self.regex(Cue::Undo).find(clause);
        if let Some(undo) = undo.filter(|_| !self.is_in(Cue::Warns, clause)) {
            read.undoes = true;
            let before = &clause[..undo.start()];
            let before = format!("{before}{}", self.script.blank());
            let before = self.after_fillers(&before).to_owned();
            let says = !self.is_in(Cue::Own, clause) && !self.requests(&before);
            return (says && !before.trim().is_empty()).then_some(before);
        }
        read.rejects |= self.opens(Cue::Rejects, clause);
        if self.opens(Cue::Question, clause) {
            read.is_question = true;
            return None;
        }
        if self.is_in(Cue::Own, clause) {
            return None;
        }
        if self.requests(clause) {
            read.requests = true;
            return None;
        }
        if self.is_in(Cue::Keep, clause) {
            return None;
        }
        let is_short = self.script.length(clause) <= THANKS_WORDS_MAX;
        let objects = [Cue::Denies, Cue::Plan, Cue::Fails]
            .into_iter()
            .any(|cue| self.is_in(cue, clause));
        if is_short && self.is_in(Cue::Thanks, clause) && !objects {
            read.thanks = true;
            return None;
        }
        Some(clause.to_owned())
    }

    fn requests(&self, clause: &str) -> bool {
        if !self.opens(Cue::Request, clause) {
            return false;
        }
        let words: Vec<&str> = self
            .after_fillers(clause)
            .split_whitespace()
            .take(3)
            .collect();
        let is_finite = |nth: usize| {
            words
                .get(nth)
                .is_some_and(|word| self.regex(Cue::Finite).is_match(&format!(" {word} ")))
        };
        let names = words
            .get(1)
            .is_some_and(|word| !self.common.contains(*word));
        !(is_finite(1) || names && is_finite(2))
    }

    fn opens(&self, cue: Cue, clause: &str) -> bool {
        let mut rest = clause;
        loop {
            if self
                .regex(cue)
                .find(rest)
                .is_some_and(|found| found.start() == 0)
            {
                return true;
            }
            match self.after_filler(rest) {
                Some(after) => rest = after,
                None => return false,
            }
        }
    }

    /// A clause without the words that say nothing at its beginning.
    fn after_fillers<'c>(&self, clause: &'c str) -> &'c str {
        let mut rest = clause;
        while let Some(after) = self.after_filler(rest) {
            rest = after;
        }
        rest
    }

    fn after_filler<'c>(&self, clause: &'c str) -> Option<&'c str> {
        let fillers = self
            .fillers
            .get_or_init(|| self.script.compile(&self.written.fillers, true));
        let filler = fillers
            .find(clause)
            .filter(|filler| filler.start() == 0 && filler.end() > 0)?;
        // the blank behind it opens what follows
        let end = filler.end() - usize::from(self.script.spaced);
        (end > 0).then(|| &clause[end..])
    }

    fn is_in(&self, cue: Cue, clause: &str) -> bool {
        match OPENERS.contains(&cue) {
            true => self.opens(cue, clause),
            false => self.regex(cue).is_match(clause),
        }
    }

    fn without(&self, cue: Cue, text: &str) -> String {
        let once = self.regex(cue).replace_all(text, " ");
        self.regex(cue).replace_all(&once, " ").into_owned()
    }

    fn regex(&self, cue: Cue) -> &Regex {
        static NONE: LazyLock<Regex> = LazyLock::new(|| table::regex("$.^"));
        let Some(compiled) = self.compiled.get(&cue) else {
            return &NONE;
        };
        let opens = OPENERS.contains(&cue);
        compiled.get_or_init(|| self.script.compile(&self.written.cues[&cue], opens))
    }

    /// Pieces between marks and joining words.
    fn clauses(&self, normal: &str) -> Vec<String> {
        let mut all = Vec::new();
        for piece in normal.split(',') {
            let mut from = 0;
            let mut at = 0;
            while let Some(join) = self.regex(Cue::Joins).find_at(piece, at) {
                let start = join.start();
                if start > from {
                    all.push(format!("{}{}", &piece[from..start], self.script.blank()));
                    from = start;
                }
                at = join.end() - usize::from(self.script.spaced);
            }
            all.push(piece[from..].to_owned());
        }
        all.retain(|clause| !clause.trim().is_empty());
        all
    }

    /// What a text is about.
    pub fn topics(&self, text: &str) -> BTreeSet<String> {
        let normal = self.script.normal(text);
        match self.script.spaced {
            true => {
                let words = normal.split([' ', ',']).flat_map(|word| word.split('_'));
                let is_topic = |word: &&str| {
                    word.chars().count() > 2
                        && !self.common.contains(*word)
                        && !COMMON.contains(word)
                };
                words.filter(is_topic).map(str::to_owned).collect()
            }
            false => {
                let mut topics: BTreeSet<String> = normal
                    .split(|c: char| !c.is_ascii_alphanumeric())
                    .filter(|word| word.len() > 1)
                    .map(str::to_owned)
                    .collect();
                let solid: Vec<char> = normal.chars().collect();
                let is_solid =
                    |c: &char| matches!(c, '\u{30a0}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}');
                for pair in solid.windows(2).filter(|pair| pair.iter().all(is_solid)) {
                    let pair: String = pair.iter().collect();
                    if !self.common.contains(&pair) {
                        topics.insert(pair);
                    }
                }
                topics
            }
        }
    }
}

impl Sentence<'_> {
    fn weigh(&mut self, language: &Language, rest: &[String]) {
        for clause in rest {
            self.left += language.script.length(language.after_fillers(clause));
        }
        if self.left == 0 {
            return;
        }
        let found = |cue: Cue| rest.iter().any(|clause| language.is_in(cue, clause));
        let cues = OBJECTIONS.iter().filter(|(cue, _)| found(*cue));
        self.weight = cues.map(|(_, weight)| weight).sum();
        self.is_needless = found(Cue::Needless);
        self.is_measured = MEASURED.is_match(self.text);
        if self.is_measured {
            self.weight += MEASURE;
        }
        self.is_solid = self.is_measured || SOLID.into_iter().any(found);
        if self.text.ends_with(['!', '！']) && self.left > 3 {
            self.weight += 1;
        }
    }
}

/// `900ms`, `1.31 MB`, `100 %`, `37 tests`.
static MEASURED: LazyLock<Regex> = LazyLock::new(|| {
    const UNITS: &str = "%|€|\\$|£|x|g|m|ms|µs|us|ns|s|sec|secs|seconds?|min|mins|minutes?|minuten?|minutos?|h|hours?|heures?|horas?|stunden?|days?|sekunden?|secondes?|segundos?|kb|mb|gb|tb|kib|mib|gib|k|mhz|bytes?|euros?|eur|usd|dollars?|lines|files|tests|requests|errors|warnings|times|cores|秒|分|ミリ秒|時間|円|件|倍|毫秒|分钟|小时|元|个|台|行";
    const COUNTS: &str = "[0-9][0-9.,]*|two|three|four|five|ten|several|zwei|drei|vier|fünf|zehn|deux|trois|dos|tres";
    table::regex(&format!(
        "(?i)(?:{COUNTS})[ \u{a0}]?(?:{UNITS})(?:[^a-zA-Z0-9]|$)"
    ))
});

/// Words of every work with git.
const COMMON: [&str; 44] = [
    "commit", "commits", "step", "wip", "update", "add", "added", "adds", "fix", "fixed", "use",
    "used", "test", "tests", "file", "files", "src", "main", "app", "lib", "change", "changes",
    "changed", "work", "works", "done", "now", "new", "try", "make", "made", "part", "git",
    "reset", "head", "hard", "revert", "line", "code", "index", "all", "txt", "get", "set",
];

/// Two words are about the same.
pub fn is_same_topic(one: &str, other: &str) -> bool {
    super::words::is_same(one, other) || {
        let shared = one
            .chars()
            .zip(other.chars())
            .take_while(|(a, b)| a == b)
            .count();
        let longer = one.chars().count().max(other.chars().count());
        shared >= 5 && shared * 3 >= longer * 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a sample says of a sentence: `undo 3`.
    fn told(read: &Sentence<'_>) -> String {
        let flags = [
            (read.undoes, "undo"),
            (read.requests, "request"),
            (read.thanks, "thanks"),
            (read.is_question, "question"),
            (read.is_aside, "aside"),
            (read.breaks, "break"),
            (read.rejects, "rejects"),
        ];
        let flags = flags.into_iter().filter(|(is, _)| *is);
        let mut told: Vec<String> = flags.map(|(_, name)| name.to_owned()).collect();
        if read.weight > 0 {
            told.push(read.weight.to_string());
        }
        told.join(" ")
    }

    #[test]
    fn samples_say_what_the_tables_tell() {
        for known in LANGUAGES.iter() {
            for (sentence, wants) in &known.written.samples {
                assert_eq!(told(&known.sentence(sentence)), *wants, "{sentence}");
            }
            assert!(
                known.written.samples.len() > 9,
                "{}",
                known.written.language
            );
        }
    }

    #[test]
    fn a_language_is_known_by_its_common_words_and_others_are_not_guessed() {
        for (text, wants) in [
            ("take it out please, it breaks the login", Some("en")),
            ("nimm das bitte wieder raus", Some("de")),
            ("tu peux annuler le dernier ?", Some("fr")),
            ("vuelve a lo de antes porfa", Some("es")),
            ("一つ前のコミットに戻して", Some("ja")),
            ("回退到上一个提交", Some("zh")),
            (
                "Per favore torna al commit di prima, perché non funziona più",
                None,
            ),
            ("Volta para o commit anterior, isso não está bom", None),
            ("Откати последний коммит", None),
            ("마지막 커밋을 되돌려줘", None),
            ("", None),
        ] {
            let known = language(text).map(|known| &*known.written.language);
            assert_eq!(known, wants, "{text}");
        }
    }

    #[test]
    fn what_a_text_is_about_is_in_its_own_words() {
        let english = language("that is the text").expect("English");
        let topics: Vec<String> = english
            .topics("Add retry to the http_client")
            .into_iter()
            .collect();
        assert_eq!(topics, ["client", "http", "retry"]);
        assert!(is_same_topic("translations", "translation") && !is_same_topic("cache", "client"));
    }
}
