//! What a plan that was pasted sets out to do: the headings of its numbered steps.

use super::words::{folded, shortened};
use crate::rules::headings::{is_no_part, without_step};
use crate::rules::paths::is_plan_word;
use crate::rules::words::tokens;

/// More of them are only counted.
const STEPS_MAX: usize = 8;

/// Of one step.
const STEP_CHARS_MAX: usize = 70;

/// The names of the numbered headings of the rank that has most of them, in a line; `None` where there are not several.
pub(super) fn plan_steps(plan: &str) -> Option<String> {
    const RANKS: usize = 6;
    let mut by_rank: [Vec<&str>; RANKS] = Default::default();
    let mut is_code = false;
    for line in plan.lines().map(str::trim_start) {
        is_code ^= line.starts_with("```");
        let rank = line.len() - line.trim_start_matches('#').len();
        let step = (!is_code && (2..RANKS).contains(&rank)).then(|| step(&line[rank..]));
        by_rank[rank.min(RANKS - 1)].extend(step.flatten());
    }
    // of two ranks with as many, the one above
    let steps = by_rank.iter().rev().max_by_key(|steps| steps.len())?;
    let told = steps.iter().take(STEPS_MAX);
    let told: Vec<String> = told
        .map(|step| shortened(&folded(step), STEP_CHARS_MAX))
        .collect();
    let more = match steps.len().saturating_sub(STEPS_MAX) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    (steps.len() > 1).then(|| format!("{}{more}", told.join("; ")))
}

/// `Implement the following plan:`: what follows says all of it. Of a plan that is to be reviewed or dropped it doesn't.
pub(super) fn is_lead(sentence: &str) -> bool {
    const WORDS_MAX: usize = 7;
    const VERBS: [&str; 5] = ["implement", "execute", "follow", "build", "carry"];
    let words = sentence.to_lowercase();
    let is_short = words.split_whitespace().count() <= WORDS_MAX;
    let mut said = tokens(&words).filter(|word| word != "please");
    let is_order = said.next().is_some_and(|first| VERBS.contains(&&*first));
    is_order && is_short && words.ends_with(':') && said.any(|word| is_plan_word(&word))
}

/// `Round once` of `Step 2: Round once (cart.rs)`.
fn step(heading: &str) -> Option<&str> {
    let text = heading.trim().trim_matches('*');
    let rest = without_step(text);
    let name = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let name = match name.as_bytes() {
        // `4A. Round once`
        [b'A'..=b'Z', b'.', b' ', ..] => &name[2..],
        _ => name,
    };
    let is_numbered = rest.len() - name.len() > 0 && rest.starts_with(|c: char| c.is_ascii_digit());
    let bare = name.trim_start_matches([')', ':', '—', '–', '-', ' ']);
    // `404 page` is no number of a step
    let marks = &name[..name.len() - bare.len()];
    let is_apart = rest.len() < text.len()
        || rest[..rest.len() - name.len()].ends_with('.')
        || marks.trim() != "";
    let name = bare.split(" (").next().unwrap_or(bare).trim();
    let is_step = is_numbered && is_apart && name.contains(char::is_alphabetic);
    (is_step && !is_no_part(bare)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lead_has_a_plan_carried_out() {
        for (sentence, wants) in [
            ("Implement the following plan:", true),
            ("Please carry out this plan:", true),
            ("Review this plan:", false),
            ("Do not implement this plan yet:", false),
            ("Implement the cart:", false),
        ] {
            assert_eq!(is_lead(sentence), wants, "{sentence}");
        }
    }

    #[test]
    fn a_plan_has_the_steps_that_it_numbers() {
        let plan = "# Two parsers\n\n## Context\n\nOne is slow.\n\n## Changes\n\n### 1. Split the parser (`cart.rs`)\n\ntext\n\n\
            ```\n## 9. code\n```\n### Step 2: Read each row **once**\n\n### 3A. Drop the old one\n\n## Verification\n\n## 4. Run it";
        let wants = "Split the parser; Read each row once; Drop the old one";
        assert_eq!(plan_steps(plan).as_deref(), Some(wants));
        assert_eq!(
            plan_steps("# Carts\n\n## 1. One\n\n## Files\n\n## Tests"),
            None
        );
        let long: String = (1..=10)
            .map(|nth| format!("## Phase {nth}: Carts of day {nth}\n"))
            .collect();
        let told = plan_steps(&long).expect("steps");
        assert!(told.ends_with("Carts of day 8; and 2 more"), "{told}");
    }
}
