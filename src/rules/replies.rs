//! How people answer what an agent offers or asks, as a table (`replies.yaml`).

use super::cue_pattern::{CuePattern, CueText};
use super::table;
use super::words::{content_words, is_same};
use rustc_hash::FxHashSet;
use serde::Deserialize;
#[cfg(test)]
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What a whole answer does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It names one of several options: `2`, `b`, `second`.
    Picks(String),
    /// It agrees, and says no more.
    Agrees,
    /// It agrees with what was talked about, offered or not.
    Proceeds,
    /// It agrees and says more.
    Begins,
}

/// What an answer does; `None`: it is no answer of these. More than a line neither picks nor only agrees.
pub fn reply(words: &str) -> Option<Reply> {
    let words = words.trim();
    let is_short = !words.contains('\n');
    let read = CueText::of(words);
    let mut patterns = TABLE.picks.iter().filter(|_| is_short);
    let picks = patterns.find_map(|pattern| {
        let found = pattern.captures(&read, 0)?;
        Some(found.name("option")?.to_lowercase())
    });
    if let Some(option) = picks {
        return Some(Reply::Picks(option));
    }
    match () {
        () if is_short && TABLE.agrees.is_match(&read) => Some(Reply::Agrees),
        () if TABLE.proceeds.is_match(&read) => Some(Reply::Proceeds),
        () if TABLE.begins.is_match(&read) => Some(Reply::Begins),
        () => None,
    }
}

/// The numbers of several options that a whole answer picks: `Implement 1, 2 and 4`.
pub fn picks_several(words: &str) -> Option<Vec<String>> {
    let read = CueText::of(words.trim());
    let found = TABLE.picks_several.captures(&read, 0)?;
    let numbers = found.name("options")?.split(|c: char| !c.is_ascii_digit());
    let numbers = numbers.filter(|number| !number.is_empty());
    Some(numbers.map(str::to_owned).collect())
}

/// The option that an answer picks before it says more: `3 and I'd even drop the old one`.
pub fn picks_first(words: &str) -> Option<String> {
    const BYTES_MAX: usize = 600;
    let words = words.trim();
    let read = CueText::of(words);
    let found = TABLE.picks_first.captures(&read, 0);
    let found = found.filter(|_| words.len() <= BYTES_MAX)?;
    let name = found.name("option")?;
    // `a but` is no pick
    let is_named = name.starts_with(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase());
    is_named.then(|| name.to_lowercase())
}

/// A form's question asks nothing that its answer would decide: which part comes next, whether there is more to ask.
pub fn is_idle_question(question: &str) -> bool {
    TABLE.forms.steps.is_match(&CueText::of(question))
}

/// A form's answer chooses nothing: it leaves the choice to the agent, moves on, or asks something.
pub fn is_idle_answer(answer: &str) -> bool {
    let answer = answer.trim();
    answer.ends_with('?') || TABLE.forms.leaves.is_match(&CueText::of(answer))
}

/// `A for carts`, `do B instead`: one of the letters A to F stands where a pick does.
pub fn picks_by_letter(words: &str) -> bool {
    let lower = words.to_lowercase();
    let mut all = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
    let letters = &TABLE.letters;
    if all.any(|word| letters.never.contains(word)) {
        return false;
    }
    let is_letter = |word: &str| matches!(word.as_bytes(), [b'A'..=b'F']);
    let plain: Vec<&str> = words.split_whitespace().collect();
    let mut named = (0..plain.len())
        .filter(|nth| is_letter(plain[*nth].trim_matches(|c: char| !c.is_alphanumeric())));
    named.any(|nth| {
        match nth
            .checked_sub(1)
            .map(|before| plain[before].to_lowercase())
        {
            None => true,
            Some(before) => before.ends_with('.') || letters.before.contains(&before),
        }
    })
}

/// The name that a whole line of an answer chooses: `I want show_carts`.
pub fn named(line: &str) -> Option<String> {
    let read = CueText::of(line.trim());
    let found = TABLE.names.captures(&read, 0)?;
    found.name("name").map(str::to_owned)
}

/// The answer agrees with what was talked about, whether the agent offered it or not.
pub fn takes_up(words: &str) -> bool {
    TABLE.proceeds.is_match(&CueText::of(words))
}

/// The answer agrees to have made what was recommended: not to have it described.
pub fn takes_on(words: &str) -> bool {
    TABLE.takes_on.is_match(&CueText::of(words))
}

/// The answer says no, or leaves things as they are.
pub fn declines(words: &str) -> bool {
    TABLE.declines.is_match(&CueText::of(words.trim()))
}

/// Words about a plan say what it shall have otherwise: what isn't needed, or something instead.
pub fn says_otherwise(words: &str) -> bool {
    let words = words.to_lowercase().replace('’', "'");
    let mut cues = TABLE.otherwise.iter();
    !words.contains('?') && cues.any(|cue| words.contains(cue.as_str()))
}

/// The sentence offers to do something, whatever that is.
pub fn is_offer(sentence: &str) -> bool {
    offered(sentence).is_some()
}

/// The sentence offers to do something besides moving finished work on.
pub fn offers(sentence: &str) -> bool {
    offered_act(sentence).is_some()
}

/// The sentence offers to do something besides moving finished work on, and says what.
pub fn offers_work(sentence: &str) -> bool {
    const WORDS_MIN: usize = 2;
    let says = |act: &str| content_words(act).len() >= WORDS_MIN;
    offered(sentence).is_some_and(|act| says(&act) && !is_chore(&act))
}

/// What the sentence offers to do besides moving finished work on: `apply the two fixes`.
pub fn offered_act(sentence: &str) -> Option<String> {
    offered(sentence).filter(|act| !is_chore(act))
}

/// The sentence offers to change something, and says what.
pub fn offers_change(sentence: &str) -> bool {
    offered(sentence).is_some_and(|act| {
        let act = CueText::of(&act);
        TABLE.changes.is_match(&act) && !TABLE.vague.is_match(&act)
    })
}

/// The sentence recommends something that is to be done, not only how to move finished work on.
pub fn recommends(sentence: &str) -> bool {
    let read = CueText::of(sentence);
    let found = TABLE.recommends.captures(&read, 0);
    let found = found.filter(|_| !read.text.starts_with("If "));
    found.is_some_and(|found| !found.name("act").is_some_and(is_chore))
}

/// The sentence offers one thing or another, so that who only agrees chooses none.
pub fn offers_several(sentence: &str) -> bool {
    offered(sentence)
        .is_some_and(|act| act.contains(" or ") && !TABLE.refusable.is_match(&CueText::of(&act)))
}

fn offered(sentence: &str) -> Option<String> {
    let read = CueText::of(sentence);
    TABLE.offers.iter().find_map(|pattern| {
        let found = pattern.captures(&read, 0)?;
        found.name("act").map(str::to_owned)
    })
}

/// An agent's words list what could be done, for somebody to choose from.
pub fn lists_options(words: &str) -> bool {
    TABLE
        .options
        .iter()
        .any(|option| words.contains(option.as_str()))
}

/// The sentence asks which of several.
pub fn asks_which(sentence: &str) -> bool {
    TABLE.chooses.is_match(&CueText::of(sentence))
}

/// The answer names one of the two things that the question is between: not only which step comes next.
pub fn chooses_in(question: &str, words: &str) -> bool {
    if !TABLE.alternatives.is_match(&CueText::of(question)) {
        return false;
    }
    let asked = content_words(question);
    let is_step = |word: &str| TABLE.steps.iter().any(|step| is_same(step, word));
    let answer = content_words(words);
    let mut named = answer.iter().filter(|word| !is_step(word));
    named.any(|word| asked.iter().any(|asked| is_same(asked, word)))
}

/// The line leads to the points of a plan.
pub fn leads_to_plan(line: &str) -> bool {
    line.ends_with(':') && TABLE.plans.is_match(&CueText::of(line))
}

/// The question asks whether to do what was planned.
pub fn asks_to_go_on(question: &str) -> bool {
    question.ends_with('?') && TABLE.goes_on.is_match(&CueText::of(question))
}

/// The question proposes something.
pub fn suggests(question: &str) -> bool {
    TABLE.suggests.is_match(&CueText::of(question))
}

/// The sentence of a person proposes another way to do something.
pub fn proposes(sentence: &str) -> bool {
    let read = CueText::of(sentence);
    let is_other = TABLE.chores.is_match(&read) || TABLE.wonders.is_match(&read);
    TABLE.proposes.is_match(&read) && (!is_other || TABLE.insists.is_match(&read))
}

/// The sentence of a person leans to one way of several.
pub fn leans(sentence: &str) -> bool {
    !sentence.ends_with('?') && TABLE.leans.is_match(&CueText::of(sentence))
}

/// The proposal asks why it isn't done so.
pub fn insists(sentence: &str) -> bool {
    TABLE.insists.is_match(&CueText::of(sentence))
}

/// An agent's answer begins with that a proposal is a good one.
pub fn accepts(words: &str) -> bool {
    TABLE.accepts.is_match(&CueText::of(words.trim()))
}

/// The answer only says what to do next.
pub fn is_chore(words: &str) -> bool {
    TABLE.chores.is_match(&CueText::of(words.trim()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    agrees: CuePattern,
    begins: CuePattern,
    proceeds: CuePattern,
    declines: CuePattern,
    takes_on: CuePattern,
    offers: Vec<CuePattern>,
    recommends: CuePattern,
    changes: CuePattern,
    vague: CuePattern,
    refusable: CuePattern,
    chooses: CuePattern,
    alternatives: CuePattern,
    steps: Vec<String>,
    otherwise: Vec<String>,
    plans: CuePattern,
    goes_on: CuePattern,
    suggests: CuePattern,
    proposes: CuePattern,
    wonders: CuePattern,
    insists: CuePattern,
    accepts: CuePattern,
    leans: CuePattern,
    picks: Vec<CuePattern>,
    picks_several: CuePattern,
    picks_first: CuePattern,
    forms: Forms,
    names: CuePattern,
    letters: Letters,
    chores: CuePattern,
    options: Vec<String>,
    #[cfg(test)]
    samples: Samples,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Forms {
    steps: CuePattern,
    leaves: CuePattern,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Letters {
    before: FxHashSet<String>,
    never: FxHashSet<String>,
}

#[cfg(test)]
#[derive(Deserialize)]
struct Samples {
    replies: BTreeMap<String, String>,
    declines: BTreeMap<String, bool>,
    offers: BTreeMap<String, bool>,
    recommends: BTreeMap<String, bool>,
    several: BTreeMap<String, Vec<String>>,
    first: BTreeMap<String, String>,
    idle_questions: BTreeMap<String, bool>,
    idle_answers: BTreeMap<String, bool>,
    proposes: BTreeMap<String, bool>,
    accepts: BTreeMap<String, bool>,
    plans: BTreeMap<String, bool>,
    goes_on: BTreeMap<String, bool>,
    leans: BTreeMap<String, bool>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| table::rows(table::embedded!("replies")));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_what_the_table_says() {
        let written: Table = table::rows(table::embedded!("replies"));
        for (words, wants) in written.samples.replies {
            let found = match reply(&words) {
                None => String::new(),
                Some(Reply::Picks(option)) => option,
                Some(other) => format!("{other:?}").to_lowercase(),
            };
            assert_eq!(found, wants, "{words}");
        }
        for (words, wants) in written.samples.declines {
            assert_eq!(declines(&words), wants, "{words}");
        }
        for (sentence, wants) in written.samples.offers {
            assert_eq!(offers_change(&sentence), wants, "{sentence}");
        }
        for (sentence, wants) in written.samples.recommends {
            assert_eq!(recommends(&sentence), wants, "{sentence}");
        }
        for (sentence, wants) in written.samples.proposes {
            assert_eq!(proposes(&sentence), wants, "{sentence}");
        }
        for (words, wants) in written.samples.accepts {
            assert_eq!(accepts(&words), wants, "{words}");
        }
        for (line, wants) in written.samples.plans {
            assert_eq!(leads_to_plan(&line), wants, "{line}");
        }
        for (question, wants) in written.samples.goes_on {
            assert_eq!(asks_to_go_on(&question), wants, "{question}");
        }
        for (sentence, wants) in written.samples.leans {
            assert_eq!(leans(&sentence), wants, "{sentence}");
        }
        for (words, wants) in written.samples.first {
            assert_eq!(picks_first(&words).unwrap_or_default(), wants, "{words}");
        }
        for (question, wants) in written.samples.idle_questions {
            assert_eq!(is_idle_question(&question), wants, "{question}");
        }
        for (answer, wants) in written.samples.idle_answers {
            assert_eq!(is_idle_answer(&answer), wants, "{answer}");
        }
        for (words, wants) in written.samples.several {
            assert_eq!(picks_several(&words).unwrap_or_default(), wants, "{words}");
        }
    }

    #[test]
    fn a_line_that_chooses_a_name_says_which() {
        for (line, wants) in [
            ("I want  show_carts", Some("show_carts")),
            ("ok, let's call it `cart-list`.", Some("cart-list")),
            ("use the till of the shop", None),
            ("I want it", None),
        ] {
            assert_eq!(named(line).as_deref(), wants, "{line}");
        }
    }

    #[test]
    fn questions_between_things_are_told_from_other_questions() {
        assert!(asks_which("Which one do you want?"));
        assert!(asks_which("Should I use Redis or a file?"));
        assert!(asks_which(
            "Want to do that as a follow-up or in this change?"
        ));
        let question = "Bundle the names of carts into this fix, or file them apart?";
        assert!(!asks_which(question) && chooses_in(question, "go ahead, bundle the names too"));
        assert!(!chooses_in(
            "Want a plan, or is the analysis enough?",
            "create a plan"
        ));
        assert!(!chooses_in(
            "Should I read the small carts alone, or also those of others?",
            "also, the till is wrong"
        ));
        assert!(!asks_which("What should I look at?") && !asks_which("Is it red?"));
        assert!(offers_several("Should I use Redis or a file?"));
        assert!(!offers_several("Want me to use Redis, or leave it?"));
        assert!(suggests("couldn't we keep both?") && !suggests("is it red?"));
        assert!(is_chore("ok, run the tests") && !is_chore("split it"));
        assert!(is_chore("also, you took the wrong cart") && !is_chore("also old carts"));
        assert!(offers_work("Should we fix this by adding a queue?"));
        assert!(!offers_work("Shall I push it?") && !offers_work("Want me to fix this?"));
        assert!(takes_on("yes, implement it for carts") && !takes_on("yes, sketch it first"));
    }
}
