//! What a document sets out to do, where it says so itself: `Scope: …`, or what stands first under `## Approach`.

use super::plain::plain;
use crate::rules::headings::{is_aim, without_step};
use crate::rules::words::sentences;

/// With fewer headings a text is no document.
const HEADINGS_MIN: usize = 3;

/// A sentence that says it says more than that.
const CHARS_MIN: usize = 20;

/// The first sentence of a document that says so, behind the word that it stands under. A point is one of several, and what
/// stands within a section, or under a smaller heading, may be said of a part.
pub(super) fn aim(document: &str) -> Option<String> {
    let lines = document.lines().map(str::trim);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let is_heading = |line: &&&str| line.starts_with('#');
    if lines.iter().filter(is_heading).count() < HEADINGS_MIN {
        return None;
    }
    let says = |text: &str| {
        let first = sentences(text).next()?;
        // `File: cart.rs`
        let is_label = first.ends_with(':') || first.split(' ').next()?.ends_with(':');
        let is_said = first.chars().count() >= CHARS_MIN && !is_label;
        is_said.then(|| first.to_owned())
    };
    let preface = lines.iter().take_while(|line| !line.starts_with("##"));
    let own = preface.filter(|line| !is_heading(line) && !is_point(line));
    let labelled = own.into_iter().find_map(|line| {
        // most lines have none
        let line = plain(line);
        let (label, text) = line.split_once(": ").filter(|(label, _)| is_aim(label))?;
        Some(format!("{label}: {}", says(text)?))
    });
    let headed = || {
        lines.windows(2).find_map(|pair| {
            let heading = plain(
                pair[0]
                    .strip_prefix("##")
                    .filter(|rest| !rest.starts_with('#'))?,
            );
            let name = unnumbered(&heading);
            let is_own =
                is_aim(name) && !pair[1].starts_with(['#', '`', '|']) && !is_point(pair[1]);
            is_own.then(|| Some(format!("{name}: {}", says(&plain(pair[1]))?)))?
        })
    };
    labelled.or_else(headed)
}

/// `- one`, `2. two`; what begins with a word in bold is none.
fn is_point(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = rest.len() < line.len() && rest.starts_with(['.', ')']);
    is_numbered || line.starts_with("- ") || line.starts_with("* ") || line.starts_with("+ ")
}

/// `Approach` of `2. Approach:`.
fn unnumbered(heading: &str) -> &str {
    let name = without_step(heading).trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    name.trim().trim_end_matches(':')
}

#[cfg(test)]
mod tests {
    use super::super::prose;

    #[test]
    fn a_document_says_what_it_is_for() {
        let aim = |text: &str| prose(text, &[]).aim;
        let scope = "# Two carts — a prompt\n\n> Needs `SHOP_CARTS=2`.\n> **Scope**: Let customers keep two carts, stored on their phones.\n\n\
            ## 1. Summary\n\n**Problem**: There is one cart.\n\n## 2. Stories\n\nOne.";
        let wants = Some("Scope: Let customers keep two carts, stored on their phones.".to_owned());
        assert_eq!(aim(scope), wants);
        let plan = "Implement the following plan:\n\n# Two carts\n\n## Context\n\nThere is one cart, which customers share.\n\n\
            ## 2. Approach\n\nAdd a key of the customer to each cart. Then migrate.\n\n## Verification\n\n1. Run it";
        let wants = Some("Approach: Add a key of the customer to each cart.".to_owned());
        assert_eq!(aim(plan), wants);
        let parts = "# Two carts\n\n## 1. Keys\n\n**Goal**: Give each cart a key of its own.\n\n### Approach\n\n\
            Add a column to the table of carts.\n\n## Fix\n\nFile: src/cart.rs (lines 3-9)";
        assert_eq!(aim(parts), None);
        assert_eq!(aim("Scope: what does the word mean in this shop?"), None);
    }
}
