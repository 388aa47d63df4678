//! A figure of an evaluation: what was counted against what labels say.

use serde::{Deserialize, Serialize};

/// One figure.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// What is measured.
    pub name: String,
    /// Labelled examples.
    pub of: u64,
    /// Examples that equal their label.
    pub strict: u64,
    /// Examples that equal their label or a listed alternative.
    pub lenient: u64,
    /// What the lenient share must reach, or must not pass where `at_most` is set.
    pub bar: Option<f64>,
    /// The bar is an upper one.
    pub at_most: bool,
    /// Examples that miss, as `what: wanted, found`.
    pub misses: Vec<String>,
    /// A mean over the examples, where it is none of shares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
}

impl Figure {
    pub(super) fn new(name: &str, bar: Option<f64>) -> Figure {
        Figure {
            name: name.to_owned(),
            of: 0,
            strict: 0,
            lenient: 0,
            bar,
            at_most: false,
            misses: Vec::new(),
            mean: None,
        }
    }

    pub(super) fn at_most(name: &str, bar: f64) -> Figure {
        Figure {
            at_most: true,
            ..Figure::new(name, Some(bar))
        }
    }

    /// The share of examples that hold, lenient; 1 where there are none.
    pub fn share(&self) -> f64 {
        match self.of {
            0 => 1.0,
            of => self.lenient as f64 / of as f64,
        }
    }

    /// Whether the bar is reached; `None` where there is none.
    pub fn holds(&self) -> Option<bool> {
        let bar = self.bar?;
        Some(match self.at_most {
            true => self.share() <= bar,
            false => self.share() >= bar,
        })
    }

    pub(super) fn count(&mut self, id: &str, found: &str, label: &Label<'_>) {
        self.of += 1;
        self.strict += u64::from(found == label.best);
        let fine = found == label.best || label.also.iter().any(|also| also == found);
        self.lenient += u64::from(fine);
        if !fine {
            let wanted = std::iter::once(label.best).chain(label.also.iter().map(String::as_str));
            let wanted: Vec<&str> = wanted.collect();
            self.misses
                .push(format!("{id}: {} not {found}", wanted.join("|")));
        }
    }

    /// Counts what should happen.
    pub(super) fn hit(&mut self, id: &str, happened: bool) {
        self.of += 1;
        self.strict += u64::from(happened);
        self.lenient += u64::from(happened);
        if !happened {
            self.misses.push(id.to_owned());
        }
    }

    /// Counts what must not happen often.
    pub(super) fn note(&mut self, id: &str, happened: bool) {
        self.of += 1;
        self.strict += u64::from(happened);
        self.lenient += u64::from(happened);
        if happened {
            self.misses.push(id.to_owned());
        }
    }
}

/// What an example should be.
pub(super) struct Label<'a> {
    pub(super) best: &'a str,
    /// What is no error either.
    pub(super) also: &'a [String],
}

impl Label<'_> {
    pub(super) fn of(best: &str) -> Label<'_> {
        Label { best, also: &[] }
    }
}

/// The half of a set that an example is of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Half {
    /// Rules may be fitted to it.
    Learned,
    /// Only judges.
    HeldBack,
}

impl Half {
    /// The name of a figure's set: of one half, or of all where nobody halved it.
    pub(super) fn of_set(half: Option<Half>, what: &str) -> String {
        match half {
            None => what.to_owned(),
            Some(Half::Learned) => format!("{what}, learned half"),
            Some(Half::HeldBack) => format!("{what}, held-back half"),
        }
    }
}
