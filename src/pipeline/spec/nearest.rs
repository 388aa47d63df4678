//! The word that was meant, for what can't be understood.

/// The most similar word; `None` when none is similar.
pub(super) fn nearest<'a>(word: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored = valid
        .into_iter()
        .map(|v| (strsim::jaro_winkler(word, v), v));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(score, _)| *score > 0.75).map(|(_, v)| v)
}
