//! What a question may have meant whose words are spelled as nothing in the store is.

use super::recall::{RecallQuestion, recall};
use crate::store::{Result, Store};

/// So many neighbours of a word are tried.
const TRIED: usize = 5;

/// Words of a question that were mistyped, each with the one that was meant: asked with these instead, all words
/// are found together in an episode that the question may see. `None` where no word is mistyped, or nothing is
/// found then either.
///
/// # Errors
/// When the store can't be read.
pub fn respelled(
    store: &Store,
    question: &RecallQuestion<'_>,
) -> Result<Option<Vec<(String, String)>>> {
    let mut meant = question.clone();
    meant.query.limit = 1;
    let mut pairs = Vec::new();
    for nth in 0..meant.query.terms.len() {
        let typed = meant.query.terms[nth].text.clone();
        let alone = |word: &str| {
            let mut alone = meant.clone();
            alone.query.terms = vec![meant.query.terms[nth].clone()];
            alone.query.terms[0].text = word.to_owned();
            alone.query.terms[0].forms.clear();
            recall(store, &alone).map(|answer| !answer.hits.is_empty())
        };
        for near in store.spelled_like(&typed, TRIED)? {
            if alone(&near)? {
                meant.query.terms[nth].text.clone_from(&near);
                meant.query.terms[nth].forms.clear();
                pairs.push((typed, near));
                break;
            }
        }
    }
    if pairs.is_empty() {
        return Ok(None);
    }
    let answer = recall(store, &meant)?;
    let finds = !answer.loosened && !answer.hits.is_empty();
    Ok(finds.then_some(pairs))
}
