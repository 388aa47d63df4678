//! What a reply decides: the option that it picks, what it agrees with, and which of two things it names.

use super::super::options::{option_of, others};
use super::super::words;
use super::made::{AGREED, ANSWERED, Choice};
use super::points;
use super::prose::bare;
use super::topics::is_same_topic;
use crate::model::summary::Decision;
use crate::rules::replies::{
    Reply, asks_to_go_on, asks_which, chooses_in, insists, is_chore, offers, offers_change,
    offers_several, picks_first, picks_several, recommends, reply, suggests, takes_on, takes_up,
};
use crate::rules::words::{content_words, is_same, sentences as all_sentences};

/// What was said before an answer.
#[derive(Default)]
pub(super) struct Before<'t> {
    /// By the agent, last.
    pub agent: &'t str,
    /// By a person, last.
    pub person: &'t str,
    /// What a form asked that a person refused, and said nothing since.
    pub refused: Option<&'t str>,
}

/// An option that is picked may be given reasons.
pub(super) const PICK_BYTES_MAX: usize = 320;

/// Longer ones are requests of their own.
const REPLY_BYTES_MAX: usize = 160;

/// A choice among what somebody listed takes no more.
const CHOICE_WORDS_MAX: usize = 16;

/// What an agent lists before it asks stands in the end of its words.
const ASKED_BYTES_MAX: usize = 1500;

/// Sentences at the end of an agent's words that an answer may answer.
const ASKED_SENTENCES_MAX: usize = 6;

/// Of what somebody agreed with so much says what it is.
const ADVICE_CHARS_MAX: usize = 200;

impl Before<'_> {
    /// The agent's own words, quoted.
    pub fn said(&self, sentence: &str) -> bool {
        const QUOTE_BYTES: usize = 32;
        let quote = &sentence[..sentence.floor_char_boundary(QUOTE_BYTES)];
        sentence.len() >= QUOTE_BYTES && self.agent.contains(quote)
    }

    /// What an answer decides: the option that it picks, or what it agrees with.
    pub fn replied(&self, words: &str) -> Option<Choice> {
        let words = words.trim();
        let kind = reply(answer_of(words));
        let end = last_sentences(self.agent);
        if let Some(choice) = self.picked(words, kind.as_ref(), &end) {
            return Some(choice);
        }
        let words = answer_of(words);
        if words.contains('?') {
            return None;
        }
        let decision = self.answered(words, kind.as_ref(), &end)?;
        Some(Choice::of(AGREED, decision))
    }

    /// The agent's plan that an answer approves, whatever else it says: its points.
    pub fn approved(&self, words: &str) -> Option<Decision> {
        let words = words.trim();
        let is_yes = matches!(reply(words), Some(Reply::Agrees | Reply::Begins));
        if !is_yes || words.len() > PICK_BYTES_MAX {
            return None;
        }
        let first = points::first_of_long(words);
        let asks = || {
            last_sentences(self.agent)
                .first()
                .is_some_and(|last| asks_to_go_on(last))
        };
        let plan = || points::planned(self.agent);
        let is_plain = !first.contains('?') && !is_chore(first);
        let plan = (is_plain && asks()).then(plan).flatten()?;
        Some(Decision {
            decision: first.to_owned(),
            about: Some(plan),
            ..Decision::default()
        })
    }

    /// The option that an answer names, or the several ones.
    fn picked(&self, words: &str, kind: Option<&Reply>, end: &[String]) -> Option<Choice> {
        let of = |decision: String, about: Option<&String>, others| Choice {
            decision: Decision {
                decision,
                about: about.cloned(),
                ..Decision::default()
            },
            others,
            ..Choice::of(ANSWERED, Decision::default())
        };
        let answer = answer_of(words);
        let is_plain = answer.len() <= PICK_BYTES_MAX && !answer.contains('?');
        if let Some(picked) = self.several(answer).filter(|_| is_plain) {
            return Some(of(picked, question(end), Vec::new()));
        }
        let name = match kind {
            Some(Reply::Picks(name)) if is_plain => name.clone(),
            // who picks first may ask something else then
            _ => picks_first(words)?,
        };
        let option = option_of(self.agent, &name)?;
        let others = others(self.agent, &name);
        let about = end.iter().find(|sentence| asks_which(sentence));
        let about = about.or_else(|| picked_for(end));
        let answer = if is_plain { answer } else { words };
        let is_named = is_same_topic(&content_words(answer), &content_words(&option));
        let decision = match answer.eq_ignore_ascii_case(&name) {
            true => option,
            false if is_named => answer.to_owned(),
            // the option says more than the reasons for it
            false => format!("{} ({option})", points::first_of_long(answer)),
        };
        Some(of(decision, about, others))
    }

    /// What a short answer agrees with, declines, or names.
    fn answered(&self, words: &str, kind: Option<&Reply>, end: &[String]) -> Option<Decision> {
        if words.len() > REPLY_BYTES_MAX {
            return None;
        }
        let other = || points::named_in(words, self.agent, end);
        if let Some(decision) = points::declined(words, end).or_else(other) {
            return Some(decision);
        }
        let agreed = kind.and_then(|kind| self.agreed(kind, words, end));
        let asked = end.iter().find(|sentence| asks_which(sentence));
        let chosen = asked.filter(|_| self.names_what_was_said(words));
        let among = || {
            let mut questions = end.iter().filter(|sentence| sentence.ends_with('?'));
            let is_short = words.split_whitespace().count() <= CHOICE_WORDS_MAX && !is_chore(words);
            let one = questions.find(|question| chooses_in(question, words));
            one.filter(|_| is_short && end.iter().filter(|said| said.ends_with('?')).count() <= 2)
        };
        let chosen = chosen
            .or_else(among)
            .filter(|_| kind != Some(&Reply::Agrees));
        Some(Decision {
            decision: words.to_owned(),
            about: Some(agreed.or_else(|| chosen.cloned())?),
            ..Decision::default()
        })
    }

    /// The options that an answer picks by their numbers, each in short: `Implement 1, 2 and 4`.
    fn several(&self, words: &str) -> Option<String> {
        let names = picks_several(words)?;
        let options: Option<Vec<String>> = names
            .iter()
            .map(|name| option_of(self.agent, name))
            .collect();
        let short = options?
            .iter()
            .map(|option| words::shortened(option.trim_end_matches(':'), OPTION_CHARS_MAX))
            .collect::<Vec<String>>();
        Some(format!(
            "{} ({})",
            words.trim_end_matches('.'),
            short.join("; ")
        ))
    }

    /// It chooses among what the agent spoke of, in few words; not what else could be done.
    fn names_what_was_said(&self, words: &str) -> bool {
        let start = self.agent.len().saturating_sub(ASKED_BYTES_MAX);
        let end = content_words(&self.agent[self.agent.ceil_char_boundary(start)..]);
        let own = content_words(words);
        let is_named = own
            .iter()
            .any(|word| end.iter().any(|said| is_same(said, word)));
        let is_short = words.split_whitespace().count() <= CHOICE_WORDS_MAX;
        is_named && is_short && !is_chore(words)
    }

    /// What somebody agreed with: the agent's offer, or their own proposal that the agent spoke of.
    fn agreed(&self, kind: &Reply, words: &str, end: &[String]) -> Option<String> {
        let offer = end.iter().find(|sentence| offers_change(sentence));
        let offer = offer.filter(|offer| match kind {
            Reply::Agrees => !offers_several(offer),
            _ => !is_chore(words),
        });
        let own = || {
            let all = all_sentences(self.person).filter(|own| own.ends_with('?') && suggests(own));
            let last = all.last().filter(|own| own.len() <= OWN_BYTES_MAX);
            // the agent asks whether to do it
            let asks = || end.iter().any(|sentence| offers(sentence));
            let is_taken_up = |own: &&str| takes_up(words) || insists(own) && asks();
            last.filter(is_taken_up).map(str::to_owned)
        };
        let is_go_ahead = match kind {
            Reply::Begins => takes_on(words) && !is_chore(words),
            _ => true,
        };
        let advised = || recommended(self.agent).filter(|_| is_go_ahead);
        let offer = offer.and_then(|offer| match offer.ends_with(':') {
            true => led(self.agent, |said| bare(said) == offer),
            false => Some(offer.clone()),
        });
        offer.or_else(advised).or_else(own)
    }
}

/// Of each of several options so much says which it is.
const OPTION_CHARS_MAX: usize = 70;

/// The answer before a question of another paragraph: `as a follow-up`, and then what else could be done.
fn answer_of(words: &str) -> &str {
    let first = words.split("\n\n").next().unwrap_or_default().trim_end();
    match words.contains('?') && !first.contains('?') {
        true => first,
        false => words,
    }
}

/// A longer proposal has more in it than one answer agrees with.
const OWN_BYTES_MAX: usize = 300;

/// What an agent recommended last, with the points that it leads to.
fn recommended(agent: &str) -> Option<String> {
    led(agent, recommends)
}

/// The last sentence of an agent that `is_it`; where it leads to points, with these.
fn led(agent: &str, is_it: impl Fn(&str) -> bool) -> Option<String> {
    let lines = agent.lines().map(words::folded);
    let text: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
    let (at, said) = text.iter().enumerate().rev().find_map(|(at, line)| {
        let said = all_sentences(line).find(|sentence| is_it(sentence))?;
        Some((at, said))
    })?;
    let points = text[at + 1..]
        .iter()
        .take_while(|line| line.starts_with("- ") || line.starts_with(char::is_numeric));
    let points: Vec<&str> = points.map(|point| bare(point)).collect();
    let said = match said.strip_suffix(':') {
        Some(said) if points.is_empty() && says_whole(said) => said.to_owned(),
        Some(_) => format!("{said} {}", points.join("; ")),
        None => said.to_owned(),
    };
    Some(words::shortened(said.trim_end(), ADVICE_CHARS_MAX)).filter(|said| !said.ends_with(':'))
}

/// Without what it leads to it says what it is: `I'd suggest option 1 - say so in the help:`, and then the text.
fn says_whole(lead: &str) -> bool {
    const WORDS_MIN: usize = 5;
    content_words(lead).len() >= WORDS_MIN
}

/// The last ones first; questions too.
fn last_sentences(agent: &str) -> Vec<String> {
    let text = agent.trim_end();
    let prose = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("```"));
    let all: Vec<&str> = prose.flat_map(all_sentences).collect();
    let last = all.iter().rev().take(ASKED_SENTENCES_MAX);
    last.map(|sentence| words::folded(bare(sentence))).collect()
}

fn question(sentences: &[String]) -> Option<&String> {
    sentences.iter().find(|sentence| sentence.ends_with('?'))
}

/// The question that a picked option answers: not whether to do what the agent would choose, `Shall I do this?`
fn picked_for(sentences: &[String]) -> Option<&String> {
    question(sentences).filter(|asked| !words::points_back(asked))
}
