//! What a question may have meant besides its words: ones that it mistyped, and other forms of its word.

use super::recall::{RecallQuestion, recall};
use crate::store::{Result, Store, Term};
use std::collections::BTreeSet;

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
            alone.query.terms[0].kin.clear();
            recall(store, &alone).map(|answer| !answer.hits.is_empty())
        };
        for near in store.spelled_like(&typed, TRIED)? {
            if alone(&near)? {
                meant.query.terms[nth].text.clone_from(&near);
                meant.query.terms[nth].forms.clear();
                meant.query.terms[nth].kin.clear();
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

/// Sessions of which fewer are a short list.
const SHORT: usize = 3;
/// Results that are looked at to see whether there are more.
const LOOKED_AT: u32 = 20;

/// Other forms of a question's only word, which find sessions that the word itself doesn't find; empty where it
/// finds several, or has no such form. A word that is nowhere is asked in its other forms anyway.
///
/// # Errors
/// When the store can't be read.
pub fn other_forms(store: &Store, question: &RecallQuestion<'_>) -> Result<Vec<String>> {
    let [term] = question.query.terms.as_slice() else {
        return Ok(Vec::new());
    };
    if !term.or.is_empty() {
        return Ok(Vec::new());
    }
    let found = sessions(store, question, &term.text, LOOKED_AT)?;
    if found.is_empty() || found.len() >= SHORT {
        return Ok(Vec::new());
    }
    let mut more = Vec::new();
    for form in &term.forms {
        let theirs = sessions(store, question, form, LOOKED_AT)?;
        if !theirs.is_subset(&found) {
            more.push(form.clone());
        }
    }
    Ok(more)
}

/// The sessions that a word finds as it is.
fn sessions(
    store: &Store,
    question: &RecallQuestion<'_>,
    word: &str,
    limit: u32,
) -> Result<BTreeSet<String>> {
    let mut alone = question.clone();
    alone.query.limit = limit;
    alone.query.terms = vec![Term {
        text: word.to_owned(),
        ..Term::default()
    }];
    let hits = recall(store, &alone)?.hits.into_iter();
    Ok(hits.map(|hit| hit.session).collect())
}
