//! Words of which one is to be typed: how all of them are listed, and which of them a slip means. The
//! same words refuse a value everywhere.

/// Similar enough to be a slip.
const SIMILARITY_MIN: f64 = 0.75;

/// The word that a slip means; `None` where none is similar.
pub fn nearest<'a>(word: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored = valid
        .into_iter()
        .map(|valid| (strsim::jaro_winkler(word, valid), valid));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(score, _)| *score > SIMILARITY_MIN)
        .map(|(_, valid)| valid)
}

/// `a`, `a or b`, `a, b or c`.
pub fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let mut words: Vec<&str> = words.into_iter().collect();
    let last = words.pop().unwrap_or_default();
    match words.is_empty() {
        true => last.to_owned(),
        false => format!("{} or {last}", words.join(", ")),
    }
}

/// What a word that is none of these is answered: ``did you mean `newest`? write newest, oldest or longest``.
pub fn expected<'a>(word: &str, valid: impl IntoIterator<Item = &'a str>) -> String {
    let valid: Vec<&str> = valid.into_iter().collect();
    let all = format!("write {}", listed(valid.iter().copied()));
    match nearest(word, valid) {
        Some(near) => format!("did you mean `{near}`? {all}"),
        None => all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_lists_all_words_and_names_the_one_that_was_meant() {
        let orders = ["newest", "oldest", "longest"];
        for (typed, wants) in [
            (
                "newst",
                "did you mean `newest`? write newest, oldest or longest",
            ),
            ("purple", "write newest, oldest or longest"),
        ] {
            assert_eq!(expected(typed, orders), wants);
        }
        assert_eq!(listed(["a"]), "a");
        assert_eq!(listed(["a", "b"]), "a or b");
        assert_eq!(nearest("x", orders), None);
    }
}
