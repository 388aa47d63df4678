//! What a slash command is for, by the text that an agent puts in its place. Knows prose; not who wrote it.

use super::prose;
use super::words::content_words;

/// What stands behind so much says how, not what for.
const HEAD_BYTES: usize = 2 * 1024;

/// With fewer words that say something, a sentence leads to another: `Follow these steps`.
const WORDS_MIN: usize = 3;

/// As much of a command's text as [`purpose`] reads.
pub fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(HEAD_BYTES)]
}

/// The first sentence of a command's text that says what it is for, before any list; else one that leads to
/// such a list, else the part that it gives the agent. `None`: it opens with nothing but headings.
pub fn purpose(text: &str) -> Option<String> {
    let all = prose::sentences(head(text)).take_while(|sentence| !is_point(sentence));
    let all: Vec<String> = all
        .filter(|sentence| content_words(sentence).len() >= WORDS_MIN)
        .collect();
    let leads = |sentence: &&String| sentence.ends_with(':');
    let is_role = |sentence: &&String| sentence.starts_with("You are ");
    let says = all.iter().find(|all| !leads(all) && !is_role(all));
    let said = says.or_else(|| all.iter().find(leads));
    let said = said.or_else(|| all.first())?;
    Some(said.trim_end_matches([':', '.']).to_owned())
}

/// `1. Run the tests`.
fn is_point(sentence: &str) -> bool {
    let number = sentence.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = number.len() < sentence.len() && number.starts_with(['.', ')']);
    is_numbered || sentence.starts_with("- ") || sentence.starts_with("* ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_for_what_its_text_says_first() {
        for (text, wants) in [
            (
                "# /ship\n\nShip the cart: tag it, build it and upload it. Stop on errors.\n\n1. Tag it",
                Some("Ship the cart: tag it, build it and upload it"),
            ),
            (
                "You are a careful reviewer of shops. Your task is to run `make fast` and mend what fails.",
                Some("Your task is to run `make fast` and mend what fails"),
            ),
            (
                "<objective>\nList the open orders and pick one of them.\n</objective>",
                Some("List the open orders and pick one of them"),
            ),
            (
                "Publish the price list of today by running:\n\n```sh\nmake publish\n```",
                Some("Publish the price list of today by running"),
            ),
            (
                "You are an expert reviewer of carts. Follow these steps:\n\n1. If no number is given, list all open ones",
                Some("You are an expert reviewer of carts"),
            ),
            ("# Ship\n\n- Tag the commit of the release", None),
            ("", None),
        ] {
            assert_eq!(purpose(text).as_deref(), wants, "{text}");
        }
    }
}
