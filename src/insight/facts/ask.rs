//! The first request in the person's own words, for where an objective of one or two sentences doesn't hold it:
//! whole sentences, paragraphs and points as they were written, without what was pasted.

use super::plan_steps::{is_lead, plan_steps};
use super::prompts::Prompt;
use super::words::shortened;
use crate::rules::outcome::announces;
use crate::rules::requests::{RequestKind, is_formula, is_role, request};
use crate::rules::words::{content_words, is_same, tokens};

/// More is a document, and buries what came of it.
const ASK_CHARS_MAX: usize = 1_000;

/// Of what a pasted document says first.
const DOCUMENT_CHARS_MAX: usize = 900;

/// Of an error that was pasted.
const ERROR_CHARS_MAX: usize = 200;

/// With fewer words that the objective hasn't, it says the same.
const NEW_WORDS_MIN: usize = 3;

/// A prompt as it was written; `None` where the objective says as much.
pub(super) fn ask(prompt: &Prompt<'_, '_>, objective: &str) -> Option<String> {
    let text = written(prompt, objective);
    if text.len() <= objective.len() {
        return None;
    }
    let told: Vec<String> = tokens(objective).collect();
    let words = content_words(&text);
    let is_new = |word: &&String| !told.iter().any(|own| is_same(own, word));
    (words.iter().filter(is_new).count() >= NEW_WORDS_MIN).then_some(text)
}

/// A sentence with how it stands there.
struct Part<'p> {
    sentence: &'p str,
    begins: bool,
    is_point: bool,
    is_heading: bool,
    /// Of a prompt that is too long those with the smallest are told.
    rank: usize,
}

/// Sentences of a line behind each other, points and headings in lines of their own; of a long prompt what the objective
/// names and what else is asked for before the rest, with a sign where something is left out.
fn written(prompt: &Prompt<'_, '_>, objective: &str) -> String {
    let parts = parts(prompt, objective);
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|nth| (parts[*nth].rank, *nth));
    let mut left = ASK_CHARS_MAX;
    let mut told = vec![false; parts.len()];
    for nth in order {
        let chars = parts[nth].sentence.chars().count() + 2;
        if chars > left && told.contains(&true) {
            break;
        }
        told[nth] = true;
        left = left.saturating_sub(chars);
    }
    drop_leads(&parts, &mut told, prompt);
    // the first heading is a title; others stand only above what is told
    let headings = (0..parts.len()).filter(|nth| parts[*nth].is_heading);
    for nth in headings.skip(1) {
        let next = parts.get(nth + 1).zip(told.get(nth + 1));
        told[nth] &= next.is_some_and(|(next, told)| *told && !next.is_heading);
    }
    let mut text = String::new();
    let (mut is_list, mut is_gap) = (false, false);
    for (part, told) in parts.iter().zip(told) {
        if !told {
            is_gap = true;
            continue;
        }
        // `Implement this plan: Carts add up`
        let is_title = part.is_heading && text.ends_with(':') && !text.contains('\n');
        let apart = part.is_point
            || part.is_heading && !is_title
            || part.begins && (is_list || text.ends_with(':')) && !is_title;
        let gap = match std::mem::take(&mut is_gap) && !text.is_empty() {
            true => " …",
            false => "",
        };
        let joint = match () {
            () if text.is_empty() => "",
            () if apart || part.begins && !is_title => "\n",
            () if text.ends_with(['.', '?', '!', ':', ';', ',']) || !gap.is_empty() => " ",
            () => ". ",
        };
        let mark = if part.is_point { "- " } else { "" };
        text.extend([gap, joint, mark]);
        let sentence = match is_title || part.is_heading && text.is_empty() {
            true => part
                .sentence
                .strip_prefix("Plan: ")
                .unwrap_or(part.sentence),
            false => part.sentence,
        };
        text.push_str(&shortened(sentence, ASK_CHARS_MAX));
        is_list = part.is_point || is_list && !part.begins;
    }
    if is_gap {
        text.push_str(" …");
    }
    add_pasted(&mut text, prompt);
    text
}

/// Behind what was written: the error that was pasted, what a document says first and what it is for, and its parts.
fn add_pasted(text: &mut String, prompt: &Prompt<'_, '_>) {
    if let Some(error) = prompt.prose.error.filter(|error| !text.contains(error)) {
        text.extend(["\n", &shortened(error, ERROR_CHARS_MAX)]);
    }
    let document = document(&prompt.prose.document);
    if !document.is_empty() && !text.contains(&document) {
        text.extend(["\n“", &document, "”"]);
    }
    let aim = prompt.prose.aim.as_deref();
    let is_told = |aim: &&str| {
        aim.split_once(": ")
            .is_none_or(|(_, said)| !text.contains(said))
    };
    if let Some(aim) = aim.filter(is_told) {
        text.extend(["\n", &shortened(aim, DOCUMENT_CHARS_MAX)]);
    }
    let is_plan = !prompt.prose.document.is_empty();
    if let Some(steps) = plan_steps(prompt.line.words()).filter(|_| is_plan) {
        text.extend(["\nParts: ", &steps]);
    }
}

/// What leads to something goes with that; the first sentence stays.
fn drop_leads(parts: &[Part<'_>], told: &mut [bool], prompt: &Prompt<'_, '_>) {
    for nth in (1..parts.len()).rev() {
        let sentence = parts[nth].sentence;
        let is_led = match told.get(nth + 1) {
            Some(next) => *next && !leads_to_code(prompt.line.words(), sentence),
            None => !prompt.prose.document.is_empty(),
        };
        told[nth] &= is_led || !sentence.ends_with(':');
    }
}

/// Code stands behind the line that ends with this sentence.
fn leads_to_code(words: &str, sentence: &str) -> bool {
    const END_BYTES: usize = 16;
    let end = &sentence[sentence.ceil_char_boundary(sentence.len().saturating_sub(END_BYTES))..];
    let lines = words.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut pairs = lines.clone().zip(lines.skip(1));
    pairs.any(|(line, next)| line.ends_with(end) && next.starts_with("```"))
}

/// How a document begins; where not all of that has room, with the sentence that says what is wrong.
fn document(sentences: &[String]) -> String {
    let all = sentences.join(" ");
    if all.chars().count() <= DOCUMENT_CHARS_MAX {
        return all;
    }
    let is_fault = |sentence: &&String| {
        let begins = FAULTS.iter().any(|cue| sentence.starts_with(cue));
        begins || sentence.contains(" is wrong") || sentence.contains(" are wrong")
    };
    let text = match sentences.split_first() {
        Some((first, rest)) if !is_fault(&first) => match rest.iter().find(is_fault) {
            Some(fault) if Some(fault) == rest.first() => format!("{first} {fault}"),
            Some(fault) => format!("{first} … {fault}"),
            None => all,
        },
        _ => all,
    };
    let fault = sentences.iter().find(is_fault);
    match fault.filter(|_| text.chars().count() > DOCUMENT_CHARS_MAX) {
        Some(fault) => shortened(fault, DOCUMENT_CHARS_MAX),
        None => shortened(&text, DOCUMENT_CHARS_MAX),
    }
}

/// Words by which a description comes to what is wrong.
const FAULTS: [&str; 7] = [
    "Currently",
    "However",
    "But ",
    "Right now",
    "Unfortunately",
    "The problem",
    "The issue",
];

/// What is no greeting, each once. In a document what announces work (`I'll look at the parser first`) is an agent's, pasted.
fn parts<'p>(prompt: &'p Prompt<'_, '_>, objective: &str) -> Vec<Part<'p>> {
    let prose = &prompt.prose;
    let mut parts: Vec<Part<'p>> = Vec::new();
    // who the agent shall be says nothing of what it shall do; where it is all that is said, it stays
    let asks =
        |sentence: &String| request(sentence).is_some_and(|said| said.kind == RequestKind::Ask);
    let role = prose.sentences.iter().position(asks);
    let role = role.unwrap_or_default();
    let first_list = first_list(prompt);
    for (nth, sentence) in prose.sentences.iter().enumerate() {
        let Some(said) = request(sentence) else {
            continue;
        };
        let is_pasted = nth > 0 && prose.headings.len() > 1 && announces(sentence);
        // the title of a plan says what its lead says
        let is_lead = prose.headings.contains(&(nth + 1)) && is_lead(sentence);
        let is_pasted = is_pasted || is_lead || nth > 0 && is_formula(sentence);
        let is_role = nth < role && is_role(sentence);
        if is_pasted || is_role || parts.iter().any(|part| part.sentence == sentence) {
            continue;
        }
        // `go test` passes: what begins with code says what that does
        let is_ask = said.kind == RequestKind::Ask && !sentence.starts_with('`');
        parts.push(Part {
            sentence,
            begins: prose.lines.contains(&nth),
            is_point: prose.points.contains(&nth),
            is_heading: prose.headings.contains(&nth),
            rank: match () {
                () if objective.contains(said.text) => 0,
                () if is_ask || parts.is_empty() || first_list.contains(&nth) => 1,
                () => 2,
            },
        });
    }
    parts
}

/// `Mend these pages:`, `There are 13 of them in 4 files:`; not `What exists already:`.
fn leads_to_work(lead: &str) -> bool {
    let counts = lead
        .split_whitespace()
        .any(|word| word.bytes().all(|b| b.is_ascii_digit()));
    let asks = || request(lead).is_some_and(|said| said.kind == RequestKind::Ask);
    lead.ends_with(':') && (counts || asks())
}

/// The sentences of the first list: the things that are to be done, or what they are to be done to.
fn first_list(prompt: &Prompt<'_, '_>) -> std::ops::Range<usize> {
    let points = &prompt.prose.points;
    let first = (0..prompt.prose.sentences.len()).find(|nth| points.contains(nth));
    let Some(first) = first else { return 0..0 };
    let is_led = first > 0 && leads_to_work(&prompt.prose.sentences[first - 1]);
    let list = (first..).take_while(|nth| points.contains(nth)).count();
    first..first + if is_led { list } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::facts::line::LocatedItem;
    use crate::insight::facts::prompts::prompts;
    use crate::model::exchange::ItemKind;

    fn told(prompt: &str, objective: &str) -> Option<String> {
        let lines = [LocatedItem::sample(ItemKind::Prompt, 1, prompt, &[])];
        let prompts = prompts(&lines);
        ask(prompts.first()?, objective)
    }

    #[test]
    fn an_ask_is_told_as_it_was_written() {
        let prompt = "User: Please word the section better:\n- it is a preview\n- it works beside \
            the other one. Say so.\n\nDon't touch the docs. Thanks!";
        let wants = "Please word the section better:\n- it is a preview\n- it works beside the other one. \
            Say so.\nDon't touch the docs.";
        assert_eq!(
            told(prompt, "word the section better").as_deref(),
            Some(wants)
        );
        assert_eq!(
            told("User: fix the login test please", "fix the login test"),
            None
        );
        let plan = "User: Implement this plan:\n\n# Two parsers\n\n## Context\n\nThe parser grew over the years and \
            nobody can read it any more.\n\n## Steps\n\n- one";
        let wants = "Two parsers\n“The parser grew over the years and nobody can read it \
            any more.”";
        assert_eq!(told(plan, "Two parsers").as_deref(), Some(wants));
        let plan = "User: Implement this plan:\n\n# Two parsers\n\n## Context\n\nThe parser of the shop reads all carts well. Three gaps have to be \
            closed:\n\n1. **Rows** — they are cut. Nobody sees it.\n2. **Sums** — none of them is shown\n3. No page\n\n## Steps\n\n- one";
        let wants = "Two parsers\n“The parser of the shop reads all carts well. Three gaps have to be closed: Rows; Sums; No page.”";
        assert_eq!(told(plan, "Two parsers").as_deref(), Some(wants));
        let review = "User: Fix only these findings.\n\n## Findings\n\n## Review\n\nI'll look at the parser first, then at \
            the tests. The parser drops the last row of a long table.\n`go test` passes. Keep the last row.";
        let led = "User: You tune the pages of the shop.\nChange all of this:\n```\na\n```\nKeep the carts of each customer. Never drop \
            one.";
        let wants =
            "You tune the pages of the shop. …\nKeep the carts of each customer. Never drop one.";
        assert_eq!(told(led, "tune the pages").as_deref(), Some(wants));
        let told = told(review, "Fix only these findings").expect("an ask");
        assert!(
            !told.contains("look at the parser") && told.contains("Keep the last row"),
            "{told}"
        );
    }

    #[test]
    fn an_ask_has_its_list_and_no_role() {
        let prompt = "User: You are an expert of shops. Mend the totals of these pages:\n- cart.html (two sums)\n- shop.html (one)\n\n\
            For each page:\n1. Read it first\n2. Read the list of prices, too";
        let told = told(prompt, "").expect("an ask");
        assert!(
            told.starts_with(
                "Mend the totals of these pages:\n- cart.html (two sums)\n- shop.html (one)"
            ),
            "{told}"
        );
    }

    #[test]
    fn an_error_that_was_pasted_is_told_with_the_ask() {
        let prompt = "User: I got this when running the shop, and the page of carts stays empty all day\n\
            [shop] error: no such column: price";
        let told = told(prompt, "I got this when running the shop").expect("it says more");
        assert!(told.ends_with("\nerror: no such column: price"), "{told}");
    }

    #[test]
    fn of_a_document_what_is_wrong_is_told() {
        let long = "The shop prints a page for each cart that somebody left in it, and one for each day of the week besides. \
            All of these pages have the same head and the same foot, which nobody has looked at since the last year began, and all of them lie in two folders, one for the day and one for its night, each with a list of its pages, which is made \
            anew whenever one of them is printed, and with a page that says when that was.";
        let fault = "Currently, totals of both pages are rounded for each row, so that the day's total differs from its carts.";
        let plan = format!(
            "User: Implement this plan:\n\n# Two pages\n\n{long} {fault}\n\n## Steps\n\n- one"
        );
        let told = told(&plan, "Two pages").expect("it says more");
        assert!(told.ends_with(&format!("{fault}”")), "{told}");
    }

    #[test]
    fn a_long_ask_is_cut_between_sentences() {
        let long = format!("User: {}", "Write the docs of carts anew. ".repeat(60));
        let told = told(&long, "").expect("it says more");
        assert_eq!(told, "Write the docs of carts anew.", "the same once");
    }
}
