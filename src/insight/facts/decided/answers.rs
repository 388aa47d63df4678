//! Answers to what an agent asked: in its forms, or numbered as it numbered its questions (`1. full`, `2. yes, add it`).

use super::super::line::LocatedItem;
use super::super::options::{beside, option_of};
use super::super::words;
use super::made::{ANSWERED, Choice};
use crate::model::finding::Finding;
use crate::model::summary::Decision;
use crate::rules::replies::{is_chore, is_idle_answer, is_idle_question, picks_by_letter};
use crate::rules::tools::{AnswerKind, tool};
use crate::rules::words::sentences;

/// An answer to the agent's question that chooses something, or a plan that somebody approved.
pub(super) fn answered(finding: &Finding, line: &LocatedItem<'_>) -> Option<Choice> {
    let (rank, header) = (ANSWERED, String::new());
    let (decision, about, header) = match finding {
        Finding::Answered {
            question,
            answer,
            header,
            means,
        } => {
            let answer = answer.trim_end_matches(RECOMMENDED).trim_end();
            let is_short = answer.split_whitespace().count() <= LABEL_WORDS_MAX;
            let is_label = means.is_some() || is_short;
            if is_idle_answer(answer) || is_label && is_idle_question(question) {
                return None;
            }
            let means = means.as_deref().unwrap_or_default();
            let decision = match says_little(answer) {
                true => with_meaning(answer, means),
                false => answer.to_owned(),
            };
            (decision, asked(question, header), header.clone())
        }
        Finding::Approved => {
            let plan = words::inside_parentheses(line.words())?;
            (plan.to_owned(), "plan approved".to_owned(), header)
        }
        _ => return None,
    };
    let decision = Decision {
        decision,
        about: Some(about),
        ..Decision::default()
    };
    Some(Choice {
        header,
        ..Choice::of(rank, decision)
    })
}

/// Names of options have few words.
const LABEL_WORDS_MAX: usize = 4;

/// `Hybrid`, `Both`: without what stands beside it nobody knows what that is.
fn says_little(label: &str) -> bool {
    const WORDS_MAX: usize = 2;
    label.split_whitespace().count() <= WORDS_MAX
}

/// `Hybrid (carts are shared at once, and may be hidden)`.
fn with_meaning(label: &str, means: &str) -> String {
    const CHARS_MAX: usize = 120;
    let first = sentences(means).next().unwrap_or_default();
    let first = words::shortened(first.trim_end_matches('.'), CHARS_MAX);
    match first.is_empty() {
        true => label.to_owned(),
        false => format!("{label} ({first})"),
    }
}

/// A long question in short: its last sentence, or the name that the form gives it.
fn asked(question: &str, header: &str) -> String {
    const CHARS_MAX: usize = 140;
    let is_short = |text: &str| text.chars().count() <= CHARS_MAX;
    let last = sentences(question).last().filter(|last| is_short(last));
    match last {
        _ if is_short(question) => question.to_owned(),
        Some(last) if last.ends_with('?') && !words::points_back(last) => last.to_owned(),
        _ if !header.is_empty() => format!("{}?", header.trim_end_matches('?')),
        _ => question.to_owned(),
    }
}

/// What a form asked that a person refused.
pub(super) fn refused<'t>(line: &LocatedItem<'t>) -> Option<&'t str> {
    let (name, _) = line.words().split_once('(')?;
    let is_form = tool(name).answer == AnswerKind::Ask;
    words::inside_parentheses(line.words()).filter(|_| is_form)
}

/// Stands behind the answer that an agent would choose.
const RECOMMENDED: &str = "(Recommended)";

/// Longer ones are requests of their own.
const ANSWER_BYTES_MAX: usize = 200;

/// Each answer that chooses something, with what the agent asked or listed under its number; none where people number what
/// the agent didn't.
pub(super) fn numbered(words: &str, agent: &str) -> Vec<Decision> {
    let answers: Vec<(&str, &str)> = words.lines().filter_map(numbered_line).collect();
    let is_in_order = answers.iter().zip(answers.iter().skip(1));
    let mut is_in_order = is_in_order.map(|((one, _), (next, _))| {
        let number = |name: &str| name.parse::<u32>().unwrap_or(0);
        number(one) < number(next)
    });
    // numbered points of a report ask nothing
    let asks = agent.contains('?');
    if answers.len() < 2 || !asks || !is_in_order.all(|follows| follows) {
        return Vec::new();
    }
    // a number that stands twice is of two lists
    let is_of_one = |number: &str| {
        let lines = agent
            .lines()
            .map(|line| line.trim_start_matches([' ', '#', '*', '-']));
        let own = lines
            .filter_map(numbered_line)
            .filter(|(own, _)| *own == number);
        own.count() <= 1
    };
    let decision = |(number, answer): &(&str, &str)| {
        let asked = option_of(agent, number).filter(|_| is_of_one(number))?;
        let decision = Decision {
            decision: (*answer).to_owned(),
            about: Some(format!("{}?", beside(&asked).trim_end_matches('?'))),
            ..Decision::default()
        };
        let chooses =
            !answer.contains('?') && !is_chore(answer) && answer.len() <= ANSWER_BYTES_MAX;
        Some(chooses.then_some(decision))
    };
    let all: Option<Vec<Option<Decision>>> = answers.iter().map(decision).collect();
    all.into_iter().flatten().flatten().collect()
}

/// An answer that names several of the agent's lettered options, with what these stand for: `A for carts, B for shops`. One
/// letter alone may be an article.
pub(super) fn lettered(words: &str, agent: &str) -> Option<Decision> {
    let is_own =
        words.len() <= ANSWER_BYTES_MAX && !words.contains(['\n', '?']) && picks_by_letter(words);
    let names = words.split(|c: char| !c.is_alphanumeric());
    let names = names.filter(|name| matches!(name.as_bytes(), [b'A'..=b'F']));
    let mut names: Vec<&str> = names.filter(|_| is_own).collect();
    names.sort_unstable();
    names.dedup();
    let option = |name: &&str| Some(format!("{name}: {}", beside(&option_of(agent, name)?)));
    let options: Option<Vec<String>> = names.iter().map(option).collect();
    let options = options.filter(|options| options.len() > 1)?;
    Some(Decision {
        decision: format!(
            "{} ({})",
            words.trim().trim_end_matches('.'),
            options.join("; ")
        ),
        ..Decision::default()
    })
}

/// `2. yes, add it`, `2) yes`: number and answer.
fn numbered_line(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let end = line.find(|c: char| !c.is_ascii_digit())?;
    let answer = line[end..].strip_prefix(['.', ')', ':'])?.trim();
    (end > 0 && end <= 2 && !answer.is_empty()).then_some((&line[..end], answer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::exchange::ItemKind;

    #[test]
    fn each_numbered_answer_is_told_with_what_was_asked_under_its_number() {
        let agent = "Some questions:\n\n1. **Rounding**: half up or half even?\n2. Keep the old page?\n3. Anything else?";
        let told = |words: &str| -> Vec<(String, String)> {
            let all = numbered(words, agent).into_iter();
            all.map(|one| (one.decision, one.about.unwrap_or_default()))
                .collect()
        };
        let pair = |answer: &str, asked: &str| (answer.to_owned(), asked.to_owned());
        assert_eq!(
            told("1. half up\n2. yes, for now\n3. can you check the names?"),
            [
                pair("half up", "Rounding?"),
                pair("yes, for now", "Keep the old page?")
            ]
        );
        assert_eq!(told("1. half up"), []);
        assert_eq!(
            told("1. carts\n2. shops\n4. pages"),
            [],
            "a list of their own"
        );
        assert_eq!(told("2. no\n1. yes"), []);
        let two = "1. Carts\n2. Shops\n\nQuestions:\n\n1. Half up?\n2. Keep the page?";
        assert_eq!(numbered("1. half even\n2. keep it", two), []);
        let report = "1. **Rounding**: half up\n2. The old page is gone.";
        assert_eq!(numbered("1. half even\n2. bring it back", report), []);
    }

    #[test]
    fn letters_are_told_with_what_they_stand_for() {
        let agent = "Which name?\n\n| Option | Name |\n|---|---|\n| A | `cart/1 shop/2` |\n| B | `cart/1` |\n\nA or B?";
        let told = |words: &str| lettered(words, agent).map(|one| one.decision);
        let wants = "A for all carts. Shops do B instead (A: `cart/1 shop/2`; B: `cart/1`)";
        assert_eq!(
            told("A for all carts. Shops do B instead.").as_deref(),
            Some(wants)
        );
        assert_eq!(told("A cart is blue"), None);
        assert_eq!(told("A and C"), None);
        assert_eq!(told("I have no idea what A and B mean"), None);
        assert_eq!(told("the shop of A and B"), None);
        assert_eq!(told("is A better than B?"), None);
    }

    /// What a person answered in forms: question, header, answer, what stands beside the option.
    fn forms(all: &[(&str, &str, &str, Option<&str>)]) -> Vec<(String, String)> {
        let findings = all.iter().map(|(question, header, answer, means)| {
            [Finding::Answered {
                question: (*question).into(),
                answer: (*answer).into(),
                header: (*header).into(),
                means: means.map(str::to_owned),
            }]
        });
        let findings: Vec<[Finding; 1]> = findings.collect();
        let lines = findings.iter().zip(1..);
        let lines = lines.map(|(found, n)| {
            LocatedItem::sample(ItemKind::Digest, n, "Action: AskUserQuestion", found)
        });
        let told = super::super::decided(&lines.collect::<Vec<_>>()).into_iter();
        told.map(|told| (told.what.decision, told.what.about.unwrap_or_default()))
            .collect()
    }

    #[test]
    fn a_forms_answer_is_told_where_it_chooses_with_what_it_means() {
        let store = "Where do totals live?";
        let hybrid = Some("A table first, and a file for old carts. Slower.");
        let wants = |answer: &str| vec![(answer.to_owned(), store.to_owned())];
        assert_eq!(
            forms(&[(store, "Store", "Hybrid", hybrid)]),
            wants("Hybrid (A table first, and a file for old carts)")
        );
        let label = "A file for each of the carts";
        assert_eq!(forms(&[(store, "Store", label, hybrid)]), wants(label));
        for (question, answer) in [
            (store, "You decide"),
            (store, "what does a file cost?"),
            (
                "More questions about carts, or the next area?",
                "More questions",
            ),
            (
                "What would you like to do with this todo?",
                "Work on it now",
            ),
        ] {
            assert_eq!(forms(&[(question, "Next", answer, Some("Go on."))]), []);
        }
        let own = "work on it, but keep it on this branch";
        let todo = "What would you like to do with this todo?";
        assert_eq!(
            forms(&[(todo, "Next", own, None)]),
            [(own.into(), todo.into())]
        );
        let long = format!("{} Which shop gets a row?", "Carts have rows. ".repeat(9));
        assert_eq!(
            forms(&[(&long, "Rows", "Two of the rows", None)])[0].1,
            "Which shop gets a row?"
        );
        let long = format!(
            "Shall we store {} rows of it?",
            "one, two, three, ".repeat(9)
        );
        assert_eq!(
            forms(&[(&long, "Rows", "All of the rows", None)])[0].1,
            "Rows?"
        );
    }

    #[test]
    fn what_a_form_asks_again_is_told_once() {
        let first = (
            "How are carts shared, at once or on demand?",
            "Sharing",
            "All carts at once",
            None,
        );
        let again = (
            "Given the cost, how are carts shared?",
            "Sharing",
            "Each cart on demand",
            None,
        );
        let other = (
            "Who may share them?",
            "Sharing",
            "Only the owner does",
            None,
        );
        assert_eq!(
            forms(&[first, again]),
            [("Each cart on demand".into(), again.0.into())]
        );
        assert_eq!(forms(&[first, other]).len(), 2, "another matter");
    }
}
