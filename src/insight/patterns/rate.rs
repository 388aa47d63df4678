//! How often something was, and how sure that is.

use crate::model::human::count;
use serde::Serialize;

/// How often something was, of how often it could have been, and between what its rate lies with
/// 95% confidence (Wilson's interval).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Rate {
    /// Times that it was.
    pub hits: u64,
    /// Times that it could have been.
    pub of: u64,
    /// Share; 0 where it never could have been.
    pub rate: f64,
    /// Least likely value.
    pub low: f64,
    /// Most likely value.
    pub high: f64,
}

/// Standard deviations of 95%.
const Z: f64 = 1.96;
/// Of 99%.
const Z_STRICT: f64 = 2.576;

impl Rate {
    /// `hits` of `of`.
    pub fn new(hits: u64, of: u64) -> Rate {
        let (low, high) = interval(hits, of, Z);
        Rate {
            hits,
            of,
            rate: share(hits, of),
            low,
            high,
        }
    }

    /// Its interval with 99% confidence lies wholly above the value: of many rates fewer do by chance.
    pub fn is_surely_above(self, value: f64) -> bool {
        interval(self.hits, self.of, Z_STRICT).0 > value
    }

    /// The same, below.
    pub fn is_surely_below(self, value: f64) -> bool {
        interval(self.hits, self.of, Z_STRICT).1 < value && self.of > 0
    }

    /// `7 of 9, 78% (45–94)`.
    pub fn shown(self) -> String {
        let percent = |share: f64| (share * 100.0).round();
        format!(
            "{} of {}, {}% ({}–{})",
            count(self.hits),
            count(self.of),
            percent(self.rate),
            percent(self.low),
            percent(self.high)
        )
    }
}

fn share(hits: u64, of: u64) -> f64 {
    match of {
        0 => 0.0,
        of => hits as f64 / of as f64,
    }
}

/// 0 to 0 of nothing.
fn interval(hits: u64, of: u64, z: f64) -> (f64, f64) {
    if of == 0 {
        return (0.0, 0.0);
    }
    let (n, rate) = (of as f64, share(hits, of));
    let spread = z * (rate * (1.0 - rate) / n + z * z / (4.0 * n * n)).sqrt();
    let (middle, scale) = (rate + z * z / (2.0 * n), 1.0 + z * z / n);
    (
        ((middle - spread) / scale).max(0.0),
        ((middle + spread) / scale).min(1.0),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_lies_in_its_interval() {
        let rate = Rate::new(8, 10);
        assert!((rate.low - 0.490).abs() < 0.001 && (rate.high - 0.943).abs() < 0.001);
        assert_eq!(Rate::new(0, 0), Rate::default());
        let (all, none) = (Rate::new(5, 5), Rate::new(0, 5));
        assert!(all.low < 1.0 && all.high == 1.0 && none.low == 0.0 && none.high > 0.0);
        assert_eq!(rate.shown(), "8 of 10, 80% (49–94)");
    }

    #[test]
    fn what_is_sure_is_surer_than_the_interval() {
        assert!(Rate::new(12, 12).is_surely_above(0.6) && Rate::new(0, 12).is_surely_below(0.4));
        assert!(Rate::new(5, 5).low > 0.5 && !Rate::new(5, 5).is_surely_above(0.5));
        assert!(!Rate::new(0, 0).is_surely_below(1.0));
    }
}
