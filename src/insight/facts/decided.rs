//! What was decided in a session, by people and by agents. Sentences come from the tables of rules; this
//! knows who said them, what they answer, and that a decision is told once.

mod answers;
mod headed;
mod points;
mod proposed;
mod prose;

use super::line::{LocatedItem, edits};
use super::options::option_of;
use super::prose::pasted_behind;
use super::sections::without_targets;
use super::words;
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::model::summary::{Decision, Sourced};
use crate::rules::decisions::{Stated, choices, decisions, is_against};
use crate::rules::prose::sentences;
use crate::rules::replies::{
    Reply, asks_which, chooses_in, insists, is_chore, offers, offers_change, offers_several,
    picks_several, recommends, reply, says_otherwise, suggests, takes_on, takes_up,
};
use crate::rules::requests::{RequestKind, request};
use crate::rules::tools::{AnswerKind, tool};
use crate::rules::words::{content_words, is_same, sentences as all_sentences};
use prose::{before_terminal, is_graded, is_prose, speaks_of_self};

/// Decisions of people in one session that are listed; more of them are seldom decisions.
const DECISIONS_MAX: usize = 10;

/// Those of an agent, which speaks more.
const AGENT_DECISIONS_MAX: usize = 6;

/// What a summary lists, people's decisions and the agent's: the surest ones, in order.
pub fn listed(lines: &[LocatedItem<'_>]) -> [Vec<Sourced<Decision>>; 2] {
    let people = ranked(lines);
    let all: Vec<Sourced<Decision>> = people.iter().map(|r| r.decision.clone()).collect();
    let agent = stated_by_agent(lines, &all);
    [surest(people, DECISIONS_MAX), agent]
}

/// What people chose, approved or said, all of it, each once.
pub fn decided(lines: &[LocatedItem<'_>]) -> Vec<Sourced<Decision>> {
    let all = ranked(lines).into_iter();
    all.map(|ranked| ranked.decision).collect()
}

/// Choices that the agent stated itself: the surest ones, in order, without what `people` decided.
pub fn stated_by_agent(
    lines: &[LocatedItem<'_>],
    people: &[Sourced<Decision>],
) -> Vec<Sourced<Decision>> {
    let mut known: Vec<Vec<String>> = people.iter().map(|told| topic(&told.what)).collect();
    let mut all = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if !line.main || line.item.kind != ItemKind::Agent {
            continue;
        }
        let after = &lines[at + 1..];
        let sure = choices(line.words()).into_iter();
        let mut sure = sure
            .filter(|stated| !stated.is_advice || is_carried_out(after))
            .peekable();
        if sure.peek().is_some() && (is_refused(after) || is_thought_over(after)) {
            continue;
        }
        for stated in sure {
            add(&mut all, &mut known, line, stated.rank, of(stated));
        }
        for point in headed::headed(line, &lines[..at]) {
            add(&mut all, &mut known, line, HEADED, point);
        }
    }
    let mut all = surest(all, AGENT_DECISIONS_MAX);
    for stated in &mut all {
        let is_taken_back = stated.what.decision.contains(LATER);
        if let Some(later) = decided_later(stated, people).filter(|_| !is_taken_back) {
            stated.what.decision.push_str(&later);
        }
    }
    all
}

/// A person decided about the same later, perhaps otherwise: ` (later: it should be removed)`.
fn decided_later(stated: &Sourced<Decision>, people: &[Sourced<Decision>]) -> Option<String> {
    const SHARED_MIN: usize = 2;
    let own = content_words(&stated.what.decision);
    let mut later = people.iter().filter(|told| told.line > stated.line);
    let later = later.find(|told| {
        let words = content_words(&told.what.decision);
        let in_own = |word: &&String| own.iter().any(|own| is_same(own, word));
        let shared = words.iter().filter(in_own).count();
        shared >= SHARED_MIN && shared * 2 >= words.len()
    })?;
    Some(format!("{LATER}{})", later.what.decision))
}

/// A person refused the call that words of an agent announce.
fn is_refused(after: &[LocatedItem<'_>]) -> bool {
    let mut calls = after.iter().filter(|line| line.main);
    let refused = |finding: &Finding| matches!(finding, Finding::Refused { .. });
    calls
        .next()
        .is_some_and(|call| call.item.findings.iter().any(refused))
}

/// The agent's next words, before anything was changed, begin with another thought: `Actually, a parameter is simpler`.
fn is_thought_over(after: &[LocatedItem<'_>]) -> bool {
    let is_edit = |line: &&LocatedItem<'_>| edits(std::slice::from_ref(*line)) > 0;
    let main = after.iter().filter(|line| line.main);
    let mut main = main.take_while(|line| !is_edit(line));
    let next = main.find(|line| line.item.kind != ItemKind::Digest);
    next.is_some_and(|next| {
        let words = next.words();
        next.item.kind == ItemKind::Agent
            && ["Actually", "Wait", "Hmm"]
                .iter()
                .any(|cue| words.starts_with(cue))
    })
}

/// A decision with how sure it is one: the lower, the surer.
struct Ranked {
    rank: u8,
    decision: Sourced<Decision>,
}

/// Somebody was asked, and answered.
const ANSWERED: u8 = 0;
/// Somebody agreed with an offer, or chose with more words than a name.
const AGREED: u8 = 1;

/// It stands below a heading that calls it a decision.
const HEADED: u8 = 0;

fn ranked(lines: &[LocatedItem<'_>]) -> Vec<Ranked> {
    let mut all = Vec::new();
    let mut known = Vec::new();
    let mut before = Before::default();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.main) {
        let after = &lines[at + 1..];
        for finding in line.item.findings {
            let refused = || said_when_refused(finding, line, after);
            if let Some(decision) = answers::answered(finding, line).or_else(refused) {
                add(&mut all, &mut known, line, ANSWERED, decision);
            }
        }
        if line.item.kind == ItemKind::Agent {
            before.agent = line.words();
        }
        if is_said(line) {
            let numbered = answers::numbered(line.words(), before.agent);
            let reply = before.replied(line.words()).into_iter();
            let lettered = answers::lettered(line.words(), before.agent);
            let chosen = numbered.into_iter().chain(lettered);
            let reply = reply.chain(chosen.map(|one| (ANSWERED, one)));
            let reply: Vec<(u8, Decision)> = reply.collect();
            let is_reply = !reply.is_empty();
            for (rank, decision) in reply {
                add(&mut all, &mut known, line, rank, decision);
            }
            for point in headed::planned(line, || edits(after) > 0) {
                add(&mut all, &mut known, line, AGREED, point);
            }
            let own = said(line.words()).into_iter();
            for stated in own.filter(|stated| !is_reply && !before.said(&stated.sentence)) {
                let rank = stated.rank;
                let mut decision = of(stated);
                points::add_points(&mut decision.decision, line.words());
                add(&mut all, &mut known, line, rank, decision);
            }
            let own = own_words(line.words());
            let own = own.filter(|own| !is_reply && own.len() <= PROMPT_BYTES_MAX);
            let proposed = own.and_then(|own| proposed::proposed(own, answer(after)));
            if let Some(decision) = proposed {
                add(&mut all, &mut known, line, AGREED, decision);
            }
            before.person = line.words();
        }
    }
    all
}

/// What a person asked for when refusing a call, where a later call of the same answer changed something: `let's
/// call it "Transcript" in both`.
fn said_when_refused(
    finding: &Finding,
    line: &LocatedItem<'_>,
    after: &[LocatedItem<'_>],
) -> Option<Decision> {
    if !matches!(finding, Finding::Refused { .. }) {
        return None;
    }
    let (call, words) = line.words().split_once(REFUSED)?;
    let words = words.trim();
    let asks = |sentence: &str| {
        let asked = request(sentence);
        suggests(sentence) || asked.is_some_and(|asked| asked.kind == RequestKind::Ask)
    };
    let name = call.split('(').next().unwrap_or_default();
    let name = name.trim_start_matches("Action: ");
    let is_plan = tool(name).answer == AnswerKind::Approve && says_otherwise(words);
    let is_one = words.len() <= PICK_BYTES_MAX
        && !is_chore(words)
        && (is_plan || all_sentences(words).any(asks))
        && is_carried_out(after);
    is_one.then(|| Decision {
        decision: words.to_owned(),
        about: Some(format!("said when refusing {name}")),
        ..Decision::default()
    })
}

/// Stands between a call and what a person said when refusing it.
const REFUSED: &str = " → refused by the user: ";

/// A call changed a file before somebody spoke again.
fn is_carried_out(after: &[LocatedItem<'_>]) -> bool {
    let exchange = after
        .iter()
        .take_while(|line| !(line.main && is_said(line)));
    exchange.into_iter().any(LocatedItem::is_edit)
}

fn of(stated: Stated) -> Decision {
    Decision {
        decision: without_targets(bare(&stated.sentence).trim_end_matches(':')),
        instead_of: stated.instead_of,
        ..Decision::default()
    }
}

/// A line of a list without its mark.
fn bare(sentence: &str) -> &str {
    let marks = ["- ", "* ", "• "];
    let mut rest = marks.iter().filter_map(|mark| sentence.strip_prefix(mark));
    rest.next().unwrap_or(sentence).trim_start()
}

/// Adds what nobody has decided yet.
fn add(
    all: &mut Vec<Ranked>,
    known: &mut Vec<Vec<String>>,
    line: &LocatedItem<'_>,
    rank: u8,
    decision: Decision,
) {
    let words = topic(&decision);
    if let Some(nth) = known.iter().position(|known| is_same_topic(known, &words)) {
        // the last ones of what is known are `all`
        let nth = (nth + all.len()).checked_sub(known.len());
        let before = nth.map(|nth| &mut all[nth].decision);
        if let Some(before) = before.filter(|before| before.line < line.line) {
            take_back(&mut before.what, &decision);
        }
        return;
    }
    known.push(words);
    let decision = line.source(decision);
    all.push(Ranked { rank, decision });
}

/// Tells a decision with the later one that is against it: ` (later: don't use Redis for carts)`.
fn take_back(told: &mut Decision, later: &Decision) {
    let is_taken_back = told.decision.contains(LATER);
    let is_other = is_against(&told.decision) != is_against(&later.decision);
    if !is_taken_back && (is_other || is_replaced(told, later)) {
        let later = words::shortened(&later.decision, LATER_CHARS_MAX);
        told.decision.push_str(&format!("{LATER}{later})"));
    }
}

/// The later one chooses something instead of what was chosen before.
fn is_replaced(told: &Decision, later: &Decision) -> bool {
    let chosen = content_words(&told.decision);
    let left = content_words(told.instead_of.as_deref().unwrap_or_default());
    let has = |words: &[String], word: &String| words.iter().any(|own| is_same(own, word));
    let instead = content_words(later.instead_of.as_deref().unwrap_or_default());
    let mut instead = instead.iter();
    instead.any(|word| has(&chosen, word) && !has(&left, word))
}

/// Stands between a decision and the later one.
const LATER: &str = " (later: ";

/// So much says what became of it.
const LATER_CHARS_MAX: usize = 120;

fn topic(decision: &Decision) -> Vec<String> {
    let about = decision.about.as_deref().unwrap_or_default();
    content_words(&format!("{} {about}", decision.decision))
}

/// Words that two decisions have to share.
const SHARED_WORDS_MIN: usize = 3;

/// Most words of one stand in the other; of few words all.
fn is_same_topic(one: &[String], other: &[String]) -> bool {
    let (few, many) = match one.len() <= other.len() {
        true => (one, other),
        false => (other, one),
    };
    let in_many = |word: &&String| many.iter().any(|own| is_same(own, word));
    let shared = few.iter().filter(in_many).count();
    one == other || shared >= SHARED_WORDS_MIN && shared * 3 >= few.len() * 2
}

/// The surest ones, in the order in which they were made.
fn surest(mut all: Vec<Ranked>, most: usize) -> Vec<Sourced<Decision>> {
    while all.len() > most {
        let last = (0..all.len()).max_by_key(|nth| (all[*nth].rank, *nth));
        last.map(|nth| all.remove(nth));
    }
    all.into_iter().map(|ranked| ranked.decision).collect()
}

/// A longer prompt is a brief, a plan or something pasted: of these only what somebody says of themselves.
const PROMPT_BYTES_MAX: usize = 1500;

/// With so many headings it is a document.
const HEADINGS_MIN: usize = 2;

/// What somebody typed; `None` of a document.
fn own_words(words: &str) -> Option<&str> {
    // what stands behind a command is its task
    if words.starts_with('/') {
        return None;
    }
    let words = pasted_behind(words).map_or(words, |(own, _)| own);
    let words = before_terminal(words);
    let headings = words.lines().filter(|line| line.starts_with('#')).count();
    (headings < HEADINGS_MIN).then_some(words)
}

/// The agent's first words to a prompt.
fn answer<'t>(after: &[LocatedItem<'t>]) -> Option<&'t str> {
    let mut main = after.iter().filter(|line| line.main);
    let first = main.find(|line| is_said(line) || line.item.kind == ItemKind::Agent);
    let first = first.filter(|line| line.item.kind == ItemKind::Agent);
    first.map(|line| line.words())
}

fn said(words: &str) -> Vec<Stated> {
    let Some(words) = own_words(words) else {
        return Vec::new();
    };
    let is_short = words.len() <= PROMPT_BYTES_MAX;
    decisions(words, |sentence| {
        (is_short || speaks_of_self(sentence)) && !is_graded(sentence)
    })
}

/// What was said before an answer.
#[derive(Default)]
struct Before<'t> {
    /// By the agent, last.
    agent: &'t str,
    /// By a person, last.
    person: &'t str,
}

/// An option that is picked may be given reasons.
const PICK_BYTES_MAX: usize = 320;

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
    fn said(&self, sentence: &str) -> bool {
        const QUOTE_BYTES: usize = 32;
        let quote = &sentence[..sentence.floor_char_boundary(QUOTE_BYTES)];
        sentence.len() >= QUOTE_BYTES && self.agent.contains(quote)
    }

    /// What an answer decides: the option that it picks, or what it agrees with.
    fn replied(&self, words: &str) -> Option<(u8, Decision)> {
        let words = answer_of(words.trim());
        if words.len() > PICK_BYTES_MAX || words.contains('?') {
            return None;
        }
        let end = last_sentences(self.agent);
        if let Some(picked) = self.several(words) {
            let about = question(&end).cloned();
            let decision = Decision {
                decision: picked,
                about,
                ..Decision::default()
            };
            return Some((ANSWERED, decision));
        }
        let asked = end.iter().find(|sentence| asks_which(sentence));
        let kind = reply(words);
        if let Some(Reply::Picks(name)) = &kind
            && let Some(option) = option_of(self.agent, name)
        {
            let is_named = is_same_topic(&content_words(words), &content_words(&option));
            let decision = Decision {
                decision: match words.eq_ignore_ascii_case(name) {
                    true => option,
                    false if is_named => words.to_owned(),
                    // the option says more than the reasons for it
                    false => format!("{} ({option})", points::first_of_long(words)),
                },
                about: asked.or_else(|| picked_for(&end)).cloned(),
                ..Decision::default()
            };
            return Some((ANSWERED, decision));
        }
        if words.len() > REPLY_BYTES_MAX {
            return None;
        }
        let other = || points::named_in(words, self.agent, &end);
        if let Some(decision) = points::declined(words, &end).or_else(other) {
            return Some((AGREED, decision));
        }
        let agreed = kind
            .as_ref()
            .and_then(|kind| self.agreed(kind, words, &end));
        let chosen = asked.filter(|_| self.names_what_was_said(words));
        let among = || {
            let mut questions = end.iter().filter(|sentence| sentence.ends_with('?'));
            let is_short = words.split_whitespace().count() <= CHOICE_WORDS_MAX && !is_chore(words);
            let one = questions.find(|question| chooses_in(question, words));
            one.filter(|_| is_short && end.iter().filter(|said| said.ends_with('?')).count() <= 2)
        };
        let chosen = chosen
            .or_else(among)
            .filter(|_| kind != Some(Reply::Agrees));
        let decision = Decision {
            decision: words.to_owned(),
            about: Some(agreed.or_else(|| chosen.cloned())?),
            ..Decision::default()
        };
        Some((AGREED, decision))
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
        offer.cloned().or_else(advised).or_else(own)
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
    let lines = agent.lines().map(words::folded);
    let text: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
    let (at, advice) = text.iter().enumerate().rev().find_map(|(at, line)| {
        let advice = all_sentences(line).find(|sentence| recommends(sentence))?;
        Some((at, advice))
    })?;
    let points = text[at + 1..]
        .iter()
        .take_while(|line| line.starts_with("- ") || line.starts_with(char::is_numeric));
    let points: Vec<&str> = points.map(|point| bare(point)).collect();
    let advice = match advice.ends_with(':') {
        true => format!("{advice} {}", points.join("; ")),
        false => advice.to_owned(),
    };
    Some(words::shortened(&advice, ADVICE_CHARS_MAX)).filter(|advice| !advice.ends_with(':'))
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

/// Most of a longer prompt was pasted: a report, a plan, a log.
const TYPED_BYTES_MAX: usize = 1_500;

/// What people stated, each sentence; questions and code are none.
pub fn stated(lines: &[LocatedItem<'_>]) -> Vec<Sourced<Decision>> {
    let is_typed = |line: &&LocatedItem<'_>| line.words().len() <= TYPED_BYTES_MAX;
    let said = lines.iter().filter(|line| is_said(line)).filter(is_typed);
    let each = said.flat_map(|line| {
        let sentences = sentences(line.words()).filter(|sentence| is_prose(sentence));
        sentences.map(|sentence| {
            line.source(Decision {
                decision: bare(&sentence).to_owned(),
                ..Decision::default()
            })
        })
    });
    each.collect()
}

/// A person's words, not an agent's to another one.
fn is_said(line: &LocatedItem<'_>) -> bool {
    let by_people = matches!(line.item.kind, ItemKind::Prompt | ItemKind::Aside);
    line.main && by_people && !line.item.text.starts_with(TASK)
}

/// What stands before the task of a sub-agent.
const TASK: &str = "Task: ";

#[cfg(test)]
mod tests;
