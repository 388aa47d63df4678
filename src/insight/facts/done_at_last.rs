//! What was asked first and left undone then, where the session's last report says that it was done in the end.

use super::points::{cut, without_mark};
use crate::rules::words::{content_words, is_same, sentences};

/// Words that a request and what came of it share.
const SHARED_MIN: usize = 2;

/// Of the report.
const SENTENCE_BYTES_MAX: usize = 240;

/// The sentence of the last report that says so; `first` is the answer to what was asked in `asked`.
pub(super) fn done_at_last(asked: &[&str], first: &str, last: &[String]) -> Option<String> {
    let left = undone(first);
    if left.is_empty() {
        return None;
    }
    let asked: Vec<String> = asked.iter().flat_map(|said| content_words(said)).collect();
    let left: Vec<&String> = left
        .iter()
        .filter(|verb| asked.iter().any(|word| is_same(word, verb)))
        .collect();
    let said = last.iter().flat_map(|line| sentences(without_mark(line)));
    let shared = |sentence: &str| {
        let words = content_words(sentence);
        let is_in = |word: &&String| words.iter().any(|own| is_same(own, word));
        let does = left.iter().any(is_in) && undone(sentence).is_empty();
        let shared = asked.iter().filter(is_in).count();
        (does && shared >= SHARED_MIN).then_some(shared)
    };
    let said = said.filter_map(|sentence| Some((shared(sentence)?, sentence)));
    let (_, sentence) = said.max_by_key(|(shared, _)| *shared)?;
    Some(cut(sentence, SENTENCE_BYTES_MAX))
}

/// What an agent says that it did not do: `delete` of `so I did not delete it`.
fn undone(words: &str) -> Vec<String> {
    let words: Vec<String> = words
        .split(|c: char| c.is_whitespace())
        .map(|word| {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric());
            word.replace('’', "'").to_lowercase()
        })
        .collect();
    let negated = words.windows(4).filter_map(|all| {
        let [who, verb, not, what] = all else {
            return None;
        };
        let (is_not, what) = match verb.as_str() {
            "did" | "have" | "will" => (not == "not", what),
            "didn't" | "haven't" | "won't" => (true, not),
            _ => return None,
        };
        (who == "i" && is_not && what.len() > 2).then(|| what.clone())
    });
    negated.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_at_first_is_told_as_it_was_done() {
        let asked =
            ["is anything left on the branch of carts, if not delete it and check out next"];
        let last = [
            "Merged the branch of carts by squash.".to_owned(),
            "I also checked out `next`, and deleted the local branch `carts`.".to_owned(),
        ];
        let first = "There is work, so I did not delete the branch.";
        let wants = "I also checked out `next`, and deleted the local branch `carts`.";
        assert_eq!(done_at_last(&asked, first, &last).as_deref(), Some(wants));
        let of_carts = "The branch of carts is not deleted by the job.";
        assert_eq!(done_at_last(&asked, of_carts, &last), None, "it is no deed");
        let done = "The branch of carts has no work, and is deleted.";
        assert_eq!(done_at_last(&asked, done, &last), None, "it was done then");
        let other = ["I did not delete the branch of carts.".to_owned()];
        assert_eq!(done_at_last(&asked, first, &other), None);
    }
}
