//! How people ask for something, as a table (`requests.yaml`): what of a sentence is the ask, and which words
//! say nothing of it. Knows English; sentences of other languages stay as they are.

use super::table;
use super::words::content_words;
use rustc_hash::FxHashSet;
use serde::Deserialize;
#[cfg(test)]
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What a sentence of a prompt is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// It asks for work.
    Ask,
    /// It asks for an answer.
    Question,
    /// It says something.
    Statement,
    /// It says how, not what.
    Limit,
}

/// A sentence of a prompt without what is said around an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'t> {
    /// What it is.
    pub kind: RequestKind,
    /// What it asks or says; a question with its mark.
    pub text: &'t str,
}

/// Reads a sentence; `None` where it only agrees, thanks or greets. About a microsecond.
pub fn request(sentence: &str) -> Option<Request<'_>> {
    let table = &*TABLE;
    let whole = unnumbered(sentence.trim_matches(is_around));
    let mut text = whole;
    let (mut asks, mut hedged) = (false, None);
    for _ in 0..OPENERS_MAX {
        let hedge = without_any(text, &table.openers.hedges);
        hedged = hedged.or(hedge.map(|_| text));
        let shorter = hedge.unwrap_or_else(|| opened(text));
        let framed = without_any(shorter, &table.frames).filter(|rest| !denies(rest));
        asks |= framed.is_some();
        let next = framed.unwrap_or(shorter);
        if next.len() == text.len() {
            break;
        }
        text = next;
    }
    if let Some(thing) = without_any(text, &table.wants).filter(|_| !asks) {
        (text, asks) = (thing, true);
    }
    let is_question = whole.ends_with('?');
    let text = closed(text);
    let first = first_word(text)?;
    let kind = match () {
        () if asks => RequestKind::Ask,
        () if table
            .limits
            .iter()
            .any(|limit| without(text, limit).is_some())
            && !is_question =>
        {
            RequestKind::Limit
        }
        () if asks_at_its_end(text) => RequestKind::Ask,
        () if table.questions.contains(&first)
            && (is_question || !table.verbs.contains(&first)) =>
        {
            RequestKind::Question
        }
        () if table.verbs.contains(&first) => RequestKind::Ask,
        () if is_question => RequestKind::Question,
        () => RequestKind::Statement,
    };
    // who thinks that something is so doesn't say that it is
    let text = hedged
        .filter(|_| kind != RequestKind::Ask)
        .map_or(text, closed);
    let text = match kind {
        RequestKind::Question if is_question => {
            &whole[text.as_ptr() as usize - whole.as_ptr() as usize..]
        }
        _ => text,
    };
    Some(Request { kind, text })
}

/// `2- mend it` as `mend it`.
fn unnumbered(text: &str) -> &str {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_number = (1..=2).contains(&(text.len() - rest.len()));
    let behind = rest.strip_prefix(['-', ')', '.']).filter(|_| is_number);
    behind
        .and_then(|rest| rest.strip_prefix(' '))
        .map_or(text, str::trim_start)
}

/// More openers than that stand before no ask.
const OPENERS_MAX: usize = 6;

/// What stands around a sentence and is none of its words.
fn is_around(c: char) -> bool {
    c.is_whitespace() || matches!(c, '-' | '*' | '"' | '>' | '•' | ',' | ';')
}

/// A question that begins like one.
pub fn asks_something(text: &str) -> bool {
    let first = first_word(text);
    text.ends_with('?') && first.is_some_and(|word| TABLE.questions.contains(&word))
}

/// The first word is one that an ask begins with.
pub fn begins_with_verb(text: &str) -> bool {
    first_word(text).is_some_and(|word| TABLE.verbs.contains(&word))
}

/// Without the words before an ask.
fn opened(text: &str) -> &str {
    opened_by(text, &TABLE.openers).unwrap_or(text)
}

fn opened_by<'t>(text: &'t str, openers: &Openers) -> Option<&'t str> {
    without_any(text, &openers.unmarked).or_else(|| {
        let rest = without_any(text, &openers.marked)?;
        let between = &text[..text.len() - rest.len()];
        between.contains([',', '.', ':', '!', ';']).then_some(rest)
    })
}

/// `could you not …` asks for the contrary.
fn denies(rest: &str) -> bool {
    first_word(rest).is_some_and(|word| word == "not")
}

/// `…, can you check`.
fn asks_at_its_end(text: &str) -> bool {
    let after = text.rsplit_once(", ").map(|(_, after)| opened(after));
    after.is_some_and(|after| without_any(after, &TABLE.frames).is_some()) || asks_behind(text)
}

/// `Based on what we know, can you …`: an ask behind what it hangs on.
fn asks_behind(text: &str) -> bool {
    const BEFORE_BYTES_MAX: usize = 80;
    const ASKS: [&str; 6] = [
        "can you ",
        "can we ",
        "could you ",
        "could we ",
        "would you ",
        "please ",
    ];
    let head = &text[..text.floor_char_boundary(BEFORE_BYTES_MAX)];
    let mut commas = head.match_indices(", ").map(|(at, _)| &text[at + 2..]);
    commas.any(|after| {
        let mut asks = ASKS.iter();
        asks.any(|ask| {
            after
                .get(..ask.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(ask))
        })
    })
}

/// Without the words and marks behind an ask.
fn closed(text: &str) -> &str {
    let is_mark = |c: char| {
        is_around(c)
            || matches!(c, '?' | '.' | '!' | ':')
            || c >= '\u{1f000}'
            || ('\u{2600}'..='\u{27bf}').contains(&c)
    };
    let mut text = text.trim_end_matches(is_mark);
    loop {
        let shorter = TABLE.closers.iter().find_map(|closer| {
            let at = text.len().checked_sub(closer.len())?;
            let same = text.get(at..)?.eq_ignore_ascii_case(closer);
            let apart = text[..at].ends_with(|c: char| c.is_whitespace() || c == ',');
            (same && (apart || at == 0)).then(|| text[..at].trim_end_matches(is_mark))
        });
        match shorter {
            Some(shorter) => text = shorter,
            None => return text,
        }
    }
}

/// What follows a phrase at the beginning of a text, without the marks between.
#[inline]
fn without<'t>(text: &'t str, phrase: &str) -> Option<&'t str> {
    // most phrases begin otherwise
    let (first, wanted) = (text.bytes().next()?, phrase.bytes().next());
    if first.is_ascii() && wanted.is_some_and(|wanted| first.to_ascii_lowercase() != wanted) {
        return None;
    }
    behind(text, phrase)
}

fn behind<'t>(text: &'t str, phrase: &str) -> Option<&'t str> {
    let mut letters = text.char_indices();
    for wanted in phrase.chars() {
        let (_, found) = letters.next()?;
        let found = if found == '’' { '\'' } else { found };
        if found.to_ascii_lowercase() != wanted {
            return None;
        }
    }
    let rest = letters.as_str();
    let ends = !rest
        .starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '\'' | '’' | '-' | '/'));
    ends.then(|| {
        rest.trim_start_matches(|c: char| {
            is_around(c) && c != '-' || matches!(c, '.' | '!' | ':' | '…')
        })
    })
}

fn without_any<'t>(text: &'t str, phrases: &[String]) -> Option<&'t str> {
    let rest = phrases.iter().filter_map(|phrase| without(text, phrase));
    rest.min_by_key(|rest| rest.len())
}

/// In lower case, `what’s` as `what's`.
fn first_word(text: &str) -> Option<String> {
    let start = text.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '/');
    let end =
        start.find(|c: char| c.is_whitespace() || matches!(c, ',' | ':' | ';' | '.' | '?' | '!'));
    let word = &start[..end.unwrap_or(start.len())];
    (!word.is_empty()).then(|| word.to_lowercase().replace('’', "'"))
}

/// A word that says nothing of what an ask is about; in lower case.
pub fn is_idle(word: &str) -> bool {
    TABLE.idle.contains(word)
}

/// A word of an ask that only moves finished work on.
pub fn is_move(word: &str) -> bool {
    TABLE.moves.contains(word)
}

/// A word of an ask that says where to look, not what for.
pub fn points(word: &str) -> bool {
    TABLE.points.contains(word)
}

/// A word that an ask begins with which only puts things in their place: `switch`, `pull`.
pub fn is_errand(word: &str) -> bool {
    TABLE.errands.contains(word)
}

/// A word of an ask that has done what was said before: `fix`, `findings`.
pub fn acts_on(word: &str) -> bool {
    TABLE.acts.contains(word)
}

/// The text points at the work at hand: `this branch`, `the latest changes`, `the conflicts`.
pub fn is_of_work_at_hand(words: &[String]) -> bool {
    const BETWEEN_MAX: usize = 3;
    if words.iter().any(|word| TABLE.merges.contains(word)) {
        return true;
    }
    let works = words
        .iter()
        .enumerate()
        .filter(|(_, word)| TABLE.work.contains(*word));
    works.into_iter().any(|(at, _)| {
        let before = &words[at.saturating_sub(BETWEEN_MAX)..at];
        before.iter().any(|word| TABLE.deictic.contains(word))
    })
}

/// The text speaks of a pull request, or of what is done to one.
pub fn is_of_pull_request(words: &[String]) -> bool {
    words.iter().any(|word| TABLE.reviews.contains(word))
}

/// A directory's name that names no project.
pub fn is_place(name: &str) -> bool {
    TABLE.places.contains(name.to_lowercase().as_str())
}

/// A slash command that drives the program; `prompt` may have arguments.
pub fn drives(prompt: &str) -> bool {
    let name = prompt.split_whitespace().next().unwrap_or_default();
    TABLE.drives.contains(name)
}

/// A line that a terminal or an interface printed.
pub fn is_printed(line: &str) -> bool {
    TABLE
        .pasted
        .iter()
        .any(|start| line.starts_with(start.as_str()))
}

/// A line of a prompt that announces something pasted behind it.
pub fn announces_paste(line: &str) -> bool {
    let Some(text) = line.strip_suffix(':') else {
        return false;
    };
    let words = text.to_lowercase();
    let words = words.split(|c: char| !c.is_alphanumeric() && c != '\'');
    let last: Vec<&str> = words
        .rev()
        .filter(|word| !word.is_empty())
        .take(PASTE_WORDS)
        .collect();
    last.iter().any(|word| TABLE.pastes.contains(*word)) || gathers(line)
}

/// A line of a prompt behind which stands what others wrote, gathered for the agent.
pub fn gathers(line: &str) -> bool {
    let Some(text) = line.strip_suffix(':') else {
        return false;
    };
    let text = text.to_lowercase();
    TABLE
        .digests
        .iter()
        .any(|words| text.contains(words.as_str()))
}

/// A line that is the name of a section of a report: `Steps to reproduce`.
pub fn is_report_label(line: &str) -> bool {
    const BYTES_MAX: usize = 40;
    let label = line.trim_matches(['*', ':', ' ']);
    !label.is_empty()
        && label.len() <= BYTES_MAX
        && TABLE.reports.contains(label.to_lowercase().as_str())
}

/// A line of a prompt that hands something over: what follows is pasted where it is long.
pub fn hands_over(line: &str) -> bool {
    let handed = without_any(line, &TABLE.hands).filter(|rest| rest.ends_with(':'));
    handed.is_some_and(|rest| first_word(rest).is_none_or(|word| word != "what" && word != "how"))
}

/// Words at the end of a line that may announce something pasted.
const PASTE_WORDS: usize = 8;

/// Somebody speaks to the agent there.
pub fn speaks(text: &str) -> bool {
    let words = text.to_lowercase();
    let mut words = words.split(|c: char| !c.is_alphanumeric() && c != '\'');
    text.trim_end().ends_with('?') || words.any(|word| TABLE.speaks.contains(word))
}

/// What an agent's sentence offers: what stands behind the cue.
pub fn offered(sentence: &str) -> Option<&str> {
    let offer = without_any(sentence, &TABLE.offers)?;
    Some(offer.trim_end_matches(['.', '!', '?', ':'])).filter(|offer| !offer.is_empty())
}

/// `You are an expert of carts`: who the agent shall be, not what it shall do.
pub fn is_role(sentence: &str) -> bool {
    without_any(sentence, &TABLE.roles).is_some()
}

/// A program put the sentence around a request.
pub fn is_formula(sentence: &str) -> bool {
    let sentence = sentence.to_lowercase();
    let mut formulas = TABLE.formulas.iter();
    formulas.any(|words| sentence.contains(words.as_str()))
}

/// A prompt that only adds a picture to the one before, or says that the agent may go on.
pub fn goes_on(prompt: &str) -> bool {
    const WORDS_MAX: usize = 5;
    let prompt = prompt.trim();
    let is_short = prompt.split_whitespace().count() <= WORDS_MAX && !prompt.ends_with('?');
    is_short && without_any(prompt, &TABLE.adds).is_some()
}

/// An agent's question asks for leave to do something: `Want me to commit it?`
pub fn asks_leave(sentence: &str) -> bool {
    without_any(sentence.trim_start_matches(['*', '_']), &TABLE.leave).is_some()
}

/// A sentence at the beginning of an agent's words that says nothing of a result.
pub fn is_chatter(sentence: &str) -> bool {
    const WORDS_MAX: usize = 6;
    let says = |rest: &str| rest.split_whitespace().count() > WORDS_MAX;
    let sentence = sentence.trim_start_matches('*');
    let rest = without_any(sentence, &TABLE.chatter);
    let curt = without_any(sentence, &TABLE.curt);
    let praises = |end: &String| {
        sentence
            .trim_end_matches(['.', '!'])
            .ends_with(end.as_str())
    };
    if TABLE.praise.iter().any(praises) && !says(sentence) {
        return true;
    }
    if behind_answer(sentence).is_some_and(states) {
        return false;
    }
    rest.is_some_and(|rest| !says(rest)) || curt.is_some_and(|rest| !rest.contains(' '))
}

/// What follows a yes, a no, or who is right at the beginning of an agent's answer: `totals are rounded once` of `Yes,
/// totals are rounded once`.
pub fn behind_answer(sentence: &str) -> Option<&str> {
    without_any(sentence.trim_start_matches('*'), &TABLE.answers)
}

/// It says more than `that was it`, and is no chatter of its own: `I see the problem`.
fn states(rest: &str) -> bool {
    const WORDS_MIN: usize = 2;
    let says = content_words(rest);
    let says = says.iter().filter(|word| !is_idle(word)).count();
    says >= WORDS_MIN && without_any(rest, &TABLE.chatter).is_none()
}

/// A heading that says no more than that what follows is what was done.
pub fn is_heading_of_all(heading: &str) -> bool {
    TABLE.headings.contains(heading.to_lowercase().as_str())
}

/// A sentence that says what can be done next.
pub fn is_stale(sentence: &str) -> bool {
    without_any(sentence.trim_start_matches(['*', '-', ' ']), &TABLE.stale).is_some()
}

/// The prompt begins by refusing what was done or said before.
pub fn is_objection(prompt: &str) -> bool {
    let mut prompt = prompt.trim_start();
    while let Some(rest) = without_any(prompt, &TABLE.hesitates) {
        prompt = rest;
    }
    opened_by(prompt, &TABLE.objects).is_some()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    openers: Openers,
    frames: Vec<String>,
    wants: Vec<String>,
    closers: Vec<String>,
    limits: Vec<String>,
    questions: FxHashSet<String>,
    verbs: FxHashSet<String>,
    moves: FxHashSet<String>,
    points: FxHashSet<String>,
    acts: FxHashSet<String>,
    errands: FxHashSet<String>,
    idle: FxHashSet<String>,
    deictic: FxHashSet<String>,
    work: FxHashSet<String>,
    merges: FxHashSet<String>,
    reviews: FxHashSet<String>,
    places: FxHashSet<String>,
    drives: FxHashSet<String>,
    pasted: Vec<String>,
    pastes: FxHashSet<String>,
    digests: Vec<String>,
    reports: FxHashSet<String>,
    hands: Vec<String>,
    speaks: FxHashSet<String>,
    offers: Vec<String>,
    leave: Vec<String>,
    adds: Vec<String>,
    roles: Vec<String>,
    answers: Vec<String>,
    formulas: Vec<String>,
    chatter: Vec<String>,
    praise: Vec<String>,
    curt: Vec<String>,
    stale: Vec<String>,
    headings: FxHashSet<String>,
    objects: Openers,
    hesitates: Vec<String>,
    #[cfg(test)]
    samples: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Openers {
    unmarked: Vec<String>,
    marked: Vec<String>,
    #[serde(default)]
    hedges: Vec<String>,
}

static TABLE: LazyLock<Written> = LazyLock::new(|| table::rows(table::embedded!("requests")));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_what_the_table_says() {
        let written: Written = table::rows(table::embedded!("requests"));
        for (sentence, wants) in written.samples {
            let found = request(&sentence);
            let found = found.map(|found| {
                let kind = match found.kind {
                    RequestKind::Ask => "ask",
                    RequestKind::Question => "question",
                    RequestKind::Statement => "statement",
                    RequestKind::Limit => "limit",
                };
                vec![kind.to_owned(), found.text.to_owned()]
            });
            let found = found.unwrap_or_else(|| vec!["nothing".into()]);
            assert_eq!(found, wants, "{sentence}");
        }
    }

    #[test]
    fn an_objection_refuses_what_came_before() {
        for prompt in [
            "No, leave the reset alone.",
            "that's wrong",
            "Please undo this",
            "hmm, but it still doesn't work",
        ] {
            assert!(is_objection(prompt), "{prompt}");
        }
        for prompt in [
            "not sure, what do you think?",
            "nothing else",
            "now push it",
        ] {
            assert!(!is_objection(prompt), "{prompt}");
        }
    }

    #[test]
    fn an_answer_that_says_something_is_no_chatter() {
        for sentence in ["Yes.", "Yes, that's it.", "Right, I see the problem."] {
            assert!(is_chatter(sentence), "{sentence}");
        }
        let yes = "Yes, carts are grouped by shop.";
        assert!(!is_chatter(yes));
        assert_eq!(behind_answer(yes), Some("carts are grouped by shop."));
        assert_eq!(behind_answer("Yesterday it was slow."), None);
    }

    #[test]
    fn words_point_at_the_work_at_hand() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(is_of_work_at_hand(&words("review the latest changes")));
        assert!(!is_of_work_at_hand(&words("make a new branch")));
        assert!(
            is_of_pull_request(&words("read the pr")) && !is_of_pull_request(&words("read it"))
        );
    }

    #[test]
    fn what_was_pasted_is_announced() {
        for line in [
            "I got this error:",
            "Implement the following plan:",
            "see the review comments here:",
            "Context from the commits of this branch:",
        ] {
            assert!(announces_paste(line), "{line}");
        }
        assert!(hands_over("here's the fourth:") && !hands_over("here's what I want:"));
        for line in ["Do the following:", "fix this error", "three things:"] {
            assert!(!announces_paste(line), "{line}");
        }
        assert!(speaks("I think we should stop") && speaks("why?") && !speaks("exit status 1"));
    }

    #[test]
    fn an_offer_is_what_comes_behind_its_cue() {
        for offer in ["If you’d like, I can add a test.", "I can also add a test"] {
            assert_eq!(offered(offer), Some("add a test"));
        }
        assert_eq!(offered("I can see a test."), None);
        assert!(
            is_chatter("Done!")
                && is_chatter("Analysis complete; here's the report.")
                && is_chatter("The page of carts looks good.")
                && !is_chatter(
                    "The page shows all carts of the shop, and each of them looks good."
                )
                && !is_chatter("Done: the parser reads both forms of the header now.")
        );
    }
}
