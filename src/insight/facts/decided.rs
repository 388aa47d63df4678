//! What was decided in a session, by people and by agents. Sentences come from the tables of rules; this
//! knows who said them, what they answer, and that a decision is told once.

mod answers;
mod headed;
mod made;
mod points;
mod proposed;
mod prose;
mod replied;
mod topics;

use super::changed_files::was_reverted;
use super::line::{LocatedItem, edits};
use super::prose::pasted_behind;
use super::sections::without_targets;
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::model::summary::{Decision, Sourced};
use crate::rules::decisions::{Stated, choices, choices_in_two, decisions};
use crate::rules::prose::sentences;
use crate::rules::replies::{is_chore, says_otherwise, suggests};
use crate::rules::requests::{RequestKind, request};
use crate::rules::tools::{AnswerKind, tool};
use crate::rules::words::{content_words, is_same, sentences as all_sentences};
use made::{AGREED, ANSWERED, Choice, HEADED, LATER, Made};
use prose::{bare, before_terminal, is_graded, is_prose, speaks_of_self};
use replied::{Before, PICK_BYTES_MAX};

/// Decisions of people in one session that are listed; more of them are seldom decisions.
const DECISIONS_MAX: usize = 12;

/// Those of an agent, which speaks more.
const AGENT_DECISIONS_MAX: usize = 6;

/// What a summary lists.
pub struct ListedDecisions {
    /// People's, the surest ones in order.
    pub people: Vec<Sourced<Decision>>,
    /// So many more of them.
    pub more: usize,
    /// The agent's.
    pub agent: Vec<Sourced<Decision>>,
}

/// People's decisions and the agent's.
pub fn listed(lines: &[LocatedItem<'_>]) -> ListedDecisions {
    let made = of_people(lines);
    let all = made.all();
    let people = made.surest(DECISIONS_MAX);
    ListedDecisions {
        more: all.len() - people.len(),
        people,
        agent: stated_by_agent(lines, &all),
    }
}

/// What people chose, approved or said, all of it, each once.
pub fn decided(lines: &[LocatedItem<'_>]) -> Vec<Sourced<Decision>> {
    of_people(lines).all()
}

/// Choices that the agent stated itself: the surest ones, in order, without what `people` decided.
pub fn stated_by_agent(
    lines: &[LocatedItem<'_>],
    people: &[Sourced<Decision>],
) -> Vec<Sourced<Decision>> {
    let mut made = Made::beside(people);
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
        let in_two = choices_in_two(line.words());
        for stated in sure.chain(in_two) {
            let rank = stated.rank;
            if let Some(decision) = prose::whole(&stated.sentence, line.words()) {
                made.add(
                    line,
                    Choice::of(
                        rank,
                        of(Stated {
                            sentence: decision,
                            ..stated
                        }),
                    ),
                );
            }
        }
        for point in headed::headed(line, &lines[..at], after) {
            made.add(line, Choice::of(HEADED, point));
        }
    }
    let mut all = made.surest(AGENT_DECISIONS_MAX);
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

fn of_people(lines: &[LocatedItem<'_>]) -> Made {
    let mut made = Made::default();
    let mut before = Before::default();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.main) {
        let after = &lines[at + 1..];
        for finding in line.item.findings {
            let refused = || said_when_refused(finding, line, after);
            let refused = || Some(Choice::of(ANSWERED, refused()?));
            if let Some(choice) = answers::answered(finding, line).or_else(refused) {
                made.add(line, choice);
            }
            match finding {
                Finding::Commit { .. } => made.done(),
                Finding::Answered { .. } => before.refused = None,
                Finding::Refused { .. } => before.refused = answers::refused(line),
                _ => {}
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
            let reply = reply.chain(chosen.map(|one| Choice::of(ANSWERED, one)));
            let reply: Vec<Choice> = reply.collect();
            let is_reply = !reply.is_empty();
            for choice in reply {
                made.add(line, choice);
            }
            let approved = (!is_reply).then(|| before.approved(line.words()));
            if let Some(decision) = approved.flatten() {
                made.add(line, Choice::of(AGREED, decision));
            }
            // what was undone may have been of any of its parts
            let is_carried_out = || edits(after) > 0 && !after.iter().any(was_reverted);
            for point in headed::planned(line, is_carried_out) {
                made.add(line, Choice::of(AGREED, point));
            }
            let own = said(line.words()).into_iter();
            for stated in own.filter(|stated| !is_reply && !before.said(&stated.sentence)) {
                let rank = stated.rank;
                let mut decision = of(stated);
                points::add_points(&mut decision.decision, line.words());
                made.add(line, Choice::of(rank, decision));
            }
            let own = own_words(line.words());
            let own = own.filter(|own| !is_reply && own.len() <= PROMPT_BYTES_MAX);
            let proposed = own.and_then(|own| {
                let answer = answer(after);
                let leant = |question| proposed::leant(own, question, answer);
                let leant = before.refused.take().and_then(leant);
                leant.or_else(|| proposed::proposed(own, answer))
            });
            if let Some(decision) = proposed {
                made.add(line, Choice::of(AGREED, decision));
            }
            before.person = line.words();
        }
    }
    made
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
