//! What an agent answered while others worked for it: long words that end its turn, before a program reports.

use super::line::LocatedItem;
use super::prompts::{exchange, opens};
use super::remarks::states;
use super::stated::{STEP_BYTES_MAX, one_line, stated_first};
use crate::model::exchange::ItemKind;
use crate::rules::outcome::{Ending, announces, ending};
use crate::rules::words::sentences;

/// Shorter words only say that it waits.
const ANSWER_BYTES_MIN: usize = 600;

/// In a line, what was answered to the prompt at that place before the words that end the work. `None` where there was
/// nothing in between.
pub(super) fn meanwhile(lines: &[LocatedItem<'_>], at: usize) -> Option<String> {
    let main: Vec<&LocatedItem<'_>> = exchange(lines, at)
        .iter()
        .filter(|line| line.main)
        .collect();
    let ends = main.windows(2).filter(|two| {
        // a program's report stands there as a prompt does, or isn't kept; without one, a call stands between words
        let is_report = match two[1].item.kind {
            ItemKind::Prompt => !opens(two[1]),
            kind => kind == ItemKind::Agent,
        };
        let is_long =
            two[0].item.kind == ItemKind::Agent && two[0].item.text.len() >= ANSWER_BYTES_MIN;
        is_report && is_long && ending(two[0].words()) == Ending::Done && states(two[0].words())
    });
    let answer = ends
        .map(|two| two[0].words())
        .max_by_key(|words| words.len())?;
    // what stands above a heading leads to it
    let answer = answer.find("\n#").map_or(answer, |at| &answer[at..]);
    let said = stated_first(answer);
    let says = |line: &&String| !sentences(line).any(announces);
    let said: Vec<String> = said.iter().filter(says).cloned().collect();
    let text = one_line(&said, STEP_BYTES_MAX);
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_before_a_programs_report_is_one() {
        let long = format!(
            "Agent: While the page is made, here is the other answer.\n\n## Can carts be kept?\n\nNo: a cart that is kept has the prices of the day before.\n\n{}",
            "Each price would have to be read again, which is what takes the time. ".repeat(9)
        );
        let line = |kind, text| LocatedItem::sample(kind, 1, text, &[]);
        let lines = [
            line(
                ItemKind::Prompt,
                "User: add the page, and can carts be kept?",
            ),
            line(ItemKind::Agent, &long),
            line(
                ItemKind::Prompt,
                "User: <task-notification>the page is there</task-notification>",
            ),
            line(ItemKind::Agent, "Agent: The page is there, and tested."),
        ];
        let told = meanwhile(&lines, 0).expect("an answer");
        assert!(told.contains("prices of the day before"), "{told}");
        assert!(!told.contains("While the page"), "{told}");
        let waits = format!("{long}\n\nWaiting for the last two of them.");
        let waits = line(ItemKind::Agent, &waits);
        assert_eq!(
            meanwhile(&[lines[0], waits, lines[2], lines[3]], 0),
            None,
            "it goes on"
        );
        let short = line(
            ItemKind::Agent,
            "Agent: It works on the page; I wait for that.",
        );
        assert_eq!(meanwhile(&[lines[0], short, lines[2], lines[3]], 0), None);
        assert!(
            meanwhile(&[lines[0], lines[1], lines[3]], 0).is_some(),
            "reports may not be kept"
        );
        let call = line(ItemKind::Digest, "Action: Read(page.md) → 9 lines");
        assert_eq!(meanwhile(&[lines[0], lines[1], call, lines[3]], 0), None);
    }
}
