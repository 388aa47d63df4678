//! How many secrets are masked, and how much that only looks like one.

use super::figure::{Figure, Half};
use crate::rules::secrets::{Redactor, samples};
use serde::Deserialize;

/// A row of `secrets.jsonl`.
#[derive(Deserialize)]
pub(super) struct Labelled {
    id: String,
    half: Half,
    kind: String,
    /// There is one in it, between « and ».
    secret: bool,
    /// With made-up values as the samples of the table have them; those between ‹ and › are no secrets.
    text: String,
}

/// Of each half: secrets that are gone, and look-alikes that are not as they were.
pub(super) fn figures(rows: &[Labelled]) -> Vec<Figure> {
    let redactor = Redactor::default();
    let mut all = Vec::new();
    for half in [Half::Learned, Half::HeldBack] {
        let name = Half::of_set(Some(half), "secrets");
        let mut found = Figure::new(&format!("{name}: found"), Some(0.95));
        let mut wrong = Figure::at_most(&format!("{name}: masked without being one"), 0.005);
        for (seed, row) in (0..).zip(rows).filter(|(_, row)| row.half == half) {
            let (text, pieces) = samples::written_out(&row.text, seed);
            let masked = redactor.redact(&text);
            let id = format!("{} ({})", row.id, row.kind);
            match row.secret {
                true => found.hit(
                    &format!("{id}: {masked}"),
                    !pieces.iter().any(|piece| masked.contains(piece)),
                ),
                false => wrong.note(&format!("{id}: {masked}"), masked != text.as_str()),
            }
        }
        all.extend([found, wrong]);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_learned_half_is_masked_without_being_a_secret() {
        let text = include_str!("../../../fixtures/truth/secrets.jsonl");
        let rows = text.lines().map(serde_json::from_str);
        let rows: Vec<Labelled> = rows.collect::<Result<_, _>>().expect("rows");
        let all = figures(&rows);
        assert_eq!(all[1].lenient, 0, "{:?}", all[1].misses);
        // what was reached when the rules stood
        assert!(all[0].share() >= 0.96, "{:?}", all[0].misses);
        assert!(all.iter().all(|figure| figure.of >= 49));
    }
}
