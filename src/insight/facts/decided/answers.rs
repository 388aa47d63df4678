//! Answers to what an agent asked: in its forms, or numbered as it numbered its questions (`1. full`, `2. yes, add it`).

use super::super::line::LocatedItem;
use super::super::options::{beside, option_of};
use super::super::words;
use crate::model::finding::Finding;
use crate::model::summary::Decision;
use crate::rules::replies::{is_chore, picks_by_letter};

/// An answer to the agent's question, or a plan that somebody approved.
pub(super) fn answered(finding: &Finding, line: &LocatedItem<'_>) -> Option<Decision> {
    match finding {
        Finding::Answered { question, answer } => Some(Decision {
            decision: answer.trim_end_matches(RECOMMENDED).trim_end().to_owned(),
            about: Some(question.clone()),
            ..Decision::default()
        }),
        Finding::Approved => Some(Decision {
            decision: words::inside_parentheses(line.words())?.to_owned(),
            about: Some("plan approved".to_owned()),
            ..Decision::default()
        }),
        _ => None,
    }
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
    if answers.len() < 2 || !is_in_order.all(|follows| follows) {
        return Vec::new();
    }
    let decision = |(number, answer): &(&str, &str)| {
        let asked = option_of(agent, number)?;
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
}
