//! Which sentences of people may state something, by how they are written.

use crate::rules::prose::sentences;
use crate::rules::words::content_words;

/// `(Medium) The cart rounds twice`: a finding of a review.
pub(super) fn is_graded(sentence: &str) -> bool {
    const GRADES: [&str; 9] = [
        "low", "medium", "high", "critical", "minor", "major", "nit", "p1", "p2",
    ];
    let inside = sentence
        .strip_prefix(['(', '['])
        .and_then(|rest| rest.split([')', ']']).next());
    inside.is_some_and(|inside| GRADES.contains(&inside.to_lowercase().as_str()))
}

/// It is said of oneself.
pub(super) fn speaks_of_self(sentence: &str) -> bool {
    const SELF: [&str; 8] = ["i", "i'd", "i’d", "i'm", "i’m", "let's", "let’s", "lets"];
    let mut words = sentence.split_whitespace();
    words.any(|word| SELF.contains(&word.to_lowercase().trim_matches(',')))
}

/// Words of a sentence; fewer, or with signs of code between them, are settings, paths and commands.
pub(super) fn is_prose(sentence: &str) -> bool {
    const WORDS_MIN: usize = 4;
    const CODE: [&str; 7] = ["\": ", "{{", "}}", "=\"", " | ", "::", "();"];
    let begins = sentence.starts_with(char::is_alphabetic);
    let words = sentence.split_whitespace();
    let is_word = |word: &&str| {
        word.chars()
            .all(|c| c.is_alphabetic() || ",.;:!'’()-".contains(c))
    };
    let (words, plain) = (words.clone().count(), words.filter(is_word).count());
    // languages without blanks have few words
    let is_long = words >= WORDS_MIN || !sentence.is_ascii();
    let is_code = CODE.iter().any(|sign| sentence.contains(sign));
    begins && is_long && !is_code && plain * 3 >= words * 2
}

/// Up to the first line that a shell's prompt begins: what follows is what was typed there, and what came of it.
pub(super) fn before_terminal(words: &str) -> &str {
    const MARKS: [&str; 3] = ["❯ ", "➜ ", "$ "];
    let mut at = 0;
    for line in words.split_inclusive('\n') {
        if MARKS.iter().any(|mark| line.starts_with(mark)) {
            return &words[..at];
        }
        at += line.len();
    }
    words
}

/// A line of a list without its mark.
pub(super) fn bare(sentence: &str) -> &str {
    let marks = ["- ", "* ", "• "];
    let mut rest = marks.iter().filter_map(|mark| sentence.strip_prefix(mark));
    let number = sentence.split_once(". ").filter(|(number, _)| {
        number.len() == 1 && number.starts_with(|c: char| c.is_ascii_digit())
    });
    let rest = rest.next().or(number.map(|(_, rest)| rest));
    rest.unwrap_or(sentence).trim_start()
}

/// A choice that says what it is about; one that ends in a word that points back with the sentence before it, or not at
/// all: `The clean fix is to not track them.`
pub(super) fn whole(sentence: &str, words: &str) -> Option<String> {
    const POINTS: [&str; 6] = ["them", "it", "this", "that", "these", "those"];
    const OWN_WORDS_MAX: usize = 3;
    const BEFORE_CHARS_MAX: usize = 160;
    let last = sentence.trim_end_matches(['.', '!']).rsplit(' ').next();
    let is_bare = content_words(sentence).len() <= OWN_WORDS_MAX && !sentence.contains(',');
    if !is_bare || !last.is_some_and(|last| POINTS.contains(&last)) {
        return Some(sentence.to_owned());
    }
    let all: Vec<String> = sentences(words).collect();
    let at = all.iter().position(|other| other == sentence)?;
    let before = all.get(at.checked_sub(1)?)?;
    (before.chars().count() <= BEFORE_CHARS_MAX && !before.ends_with(':'))
        .then(|| format!("{before} {sentence}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_behind_a_shells_prompt_was_not_said() {
        let words = "both work\n\n❯ shop sync\nSKIP carts: use the older one\n";
        assert_eq!(before_terminal(words), "both work\n\n");
        assert_eq!(before_terminal("$ shop\nkeep it"), "");
        assert_eq!(
            before_terminal("it costs\n7 $ a day"),
            "it costs\n7 $ a day"
        );
    }

    #[test]
    fn a_choice_that_points_back_is_told_with_what_it_points_at() {
        let words =
            "Both lists of carts are made anew by each run. The clean fix is to not track them.";
        let choice = "The clean fix is to not track them.";
        assert_eq!(whole(choice, words).as_deref(), Some(words));
        assert_eq!(whole(choice, choice), None);
        let own = "I'll keep the old list, as readers of carts still want it.";
        assert_eq!(whole(own, own).as_deref(), Some(own));
    }

    #[test]
    fn a_finding_of_a_review_is_told_by_its_grade() {
        for graded in [
            "(Medium) The cart rounds twice",
            "[P2] round once, not twice",
        ] {
            assert!(is_graded(graded), "{graded}");
        }
        for plain in [
            "(see above) Round once",
            "Medium carts are enough",
            "(a) Redis",
        ] {
            assert!(!is_graded(plain), "{plain}");
        }
    }
}
