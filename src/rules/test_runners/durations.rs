//! How runners spell how long something took.

use crate::rules::table;
use regex::Regex;
use std::sync::LazyLock;

/// `1.2s`, `955.00ms`, `1m 3s`, `2 min`, `0.34 seconds`, `00:01.250`, a bare number of seconds.
pub(super) fn seconds(text: &str) -> Option<f64> {
    static PIECE: LazyLock<Regex> = LazyLock::new(|| {
        table::regex(r"(\d+(?:\.\d+)?)\s*(milliseconds?|ms|µs|minutes?|min|m|h|seconds?|secs?|s)?")
    });
    if text.contains(':') {
        return text.split(':').try_fold(0.0, |sum, piece| {
            piece.trim().parse::<f64>().ok().map(|n| sum * 60.0 + n)
        });
    }
    let mut sum = None;
    for piece in PIECE.captures_iter(text) {
        let unit = match piece.get(2).map_or("s", |m| m.as_str()) {
            "µs" => 1e-6,
            "h" => 3600.0,
            unit if unit.starts_with("mi") && !unit.starts_with("mil") => 60.0,
            "m" => 60.0,
            unit if unit.starts_with('m') => 1e-3,
            _ => 1.0,
        };
        let number: f64 = piece[1].parse().ok()?;
        *sum.get_or_insert(0.0) += number * unit;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_in_every_spelling() {
        for (text, wants) in [
            ("1.2s", 1.2),
            ("955.00ms", 0.955),
            ("1m 3s", 63.0),
            ("1m3.5s", 63.5),
            ("2 min 3 s", 123.0),
            ("0.34 seconds", 0.34),
            ("2 minutes 1.5 seconds", 121.5),
            ("00:01.250", 1.25),
            ("7", 7.0),
            ("12 milliseconds", 0.012),
        ] {
            let got = seconds(text).unwrap_or(f64::NAN);
            assert!((got - wants).abs() < 1e-9, "{text}: {got}");
        }
        assert_eq!(seconds("soon"), None);
    }
}
