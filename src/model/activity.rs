//! What kind of work it was: eight dimensions, what speaks for each, and what was counted of it.
//!
//! Knows the documents' vector (003 § 2.1, D01), but not words, tools and files (`rules`), and how
//! counts become signals (`stages::score`).

use super::work_time::WorkTime;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::iter::Sum;

/// One kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dimension {
    /// Creating new functionality, features, files.
    Building,
    /// Resolving errors, bugs, issues.
    Fixing,
    /// Setup, environment, settings, dependencies.
    Configuring,
    /// Research, learning, discovery, investigation.
    Exploring,
    /// Restructuring without new features.
    Refactoring,
    /// Analysis, code review, audit.
    Reviewing,
    /// Writing and running tests, verification.
    Testing,
    /// Docs, comments, READMEs.
    Documenting,
}

impl Dimension {
    /// All of them, in the documents' order, which decides ties.
    pub const ALL: [Dimension; 8] = [
        Dimension::Building,
        Dimension::Fixing,
        Dimension::Configuring,
        Dimension::Exploring,
        Dimension::Refactoring,
        Dimension::Reviewing,
        Dimension::Testing,
        Dimension::Documenting,
    ];

    /// The word used in tables, options and output.
    pub fn as_str(self) -> &'static str {
        match self {
            Dimension::Building => "building",
            Dimension::Fixing => "fixing",
            Dimension::Configuring => "configuring",
            Dimension::Exploring => "exploring",
            Dimension::Refactoring => "refactoring",
            Dimension::Reviewing => "reviewing",
            Dimension::Testing => "testing",
            Dimension::Documenting => "documenting",
        }
    }

    /// `None` for any other word.
    pub fn parse(word: &str) -> Option<Dimension> {
        Dimension::ALL.into_iter().find(|d| d.as_str() == word)
    }
}

/// How much speaks for each dimension; never negative, never infinite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "BTreeMap<String, f64>", into = "BTreeMap<String, f64>")]
pub struct Signals([f64; 8]);

impl Signals {
    /// What speaks for one dimension.
    pub fn get(&self, dimension: Dimension) -> f64 {
        self.0[dimension as usize]
    }

    /// Adds to one dimension; what is negative or no number adds nothing.
    pub fn add(&mut self, dimension: Dimension, amount: f64) {
        if amount.is_finite() && amount > 0.0 {
            self.0[dimension as usize] += amount;
        }
    }

    /// Adds `factor` times the others.
    pub fn add_all(&mut self, other: &Signals, factor: f64) {
        for dimension in Dimension::ALL {
            self.add(dimension, other.get(dimension) * factor);
        }
    }

    /// Nothing speaks for anything.
    pub fn is_empty(&self) -> bool {
        self.strength() == 0.0
    }

    /// All of them together.
    pub fn total(&self) -> f64 {
        self.0.iter().sum()
    }

    /// The largest of them: how much there is to go by (D01).
    pub fn strength(&self) -> f64 {
        self.0.iter().copied().fold(0.0, f64::max)
    }
}

/// Names that are no dimension and numbers that are no amount are ignored.
impl From<BTreeMap<String, f64>> for Signals {
    fn from(named: BTreeMap<String, f64>) -> Signals {
        let mut signals = Signals::default();
        for (name, amount) in named {
            if let Some(dimension) = Dimension::parse(&name) {
                signals.add(dimension, amount);
            }
        }
        signals
    }
}

/// Only what is above zero.
impl From<Signals> for BTreeMap<String, f64> {
    fn from(signals: Signals) -> BTreeMap<String, f64> {
        let all = Dimension::ALL.into_iter();
        all.map(|d| (d.as_str().to_owned(), signals.get(d)))
            .filter(|(_, amount)| *amount > 0.0)
            .collect()
    }
}

/// From here on a dimension is dominant.
pub const DOMINANT_FROM: f64 = 0.3;

/// Names in a profile.
const PROFILE_NAMES: usize = 4;

/// What stands for a primary dimension where nothing is dominant.
pub const MIXED: &str = "mixed";

/// The intensity of each dimension, 0.0 to 1.0; they don't exclude one another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ActivityVector {
    building: f64,
    fixing: f64,
    configuring: f64,
    exploring: f64,
    refactoring: f64,
    reviewing: f64,
    testing: f64,
    documenting: f64,
}

impl ActivityVector {
    /// Signals divided by the strongest; all zero where there are none.
    pub fn from_signals(signals: &Signals) -> ActivityVector {
        let max = match signals.strength() {
            0.0 => 1.0,
            max => max,
        };
        ActivityVector::of(|d| (signals.get(d) / max).min(1.0))
    }

    /// From values as they are; `None` where one is outside 0.0..=1.0 (003-018).
    pub fn from_values(value: impl Fn(Dimension) -> f64) -> Option<ActivityVector> {
        let vector = ActivityVector::of(value);
        let within = |d: Dimension| (0.0..=1.0).contains(&vector.get(d));
        Dimension::ALL.into_iter().all(within).then_some(vector)
    }

    fn of(value: impl Fn(Dimension) -> f64) -> ActivityVector {
        ActivityVector {
            building: value(Dimension::Building),
            fixing: value(Dimension::Fixing),
            configuring: value(Dimension::Configuring),
            exploring: value(Dimension::Exploring),
            refactoring: value(Dimension::Refactoring),
            reviewing: value(Dimension::Reviewing),
            testing: value(Dimension::Testing),
            documenting: value(Dimension::Documenting),
        }
    }

    /// One dimension's intensity.
    pub fn get(&self, dimension: Dimension) -> f64 {
        match dimension {
            Dimension::Building => self.building,
            Dimension::Fixing => self.fixing,
            Dimension::Configuring => self.configuring,
            Dimension::Exploring => self.exploring,
            Dimension::Refactoring => self.refactoring,
            Dimension::Reviewing => self.reviewing,
            Dimension::Testing => self.testing,
            Dimension::Documenting => self.documenting,
        }
    }

    /// Dimensions from [`DOMINANT_FROM`] on, the strongest first, ties in the documents' order.
    pub fn dominant(&self) -> Vec<Dimension> {
        let mut dominant: Vec<Dimension> = Dimension::ALL
            .into_iter()
            .filter(|d| self.get(*d) >= DOMINANT_FROM)
            .collect();
        dominant.sort_by(|a, b| self.get(*b).total_cmp(&self.get(*a)));
        dominant
    }

    /// The strongest dominant dimension; `None` is told as [`MIXED`].
    pub fn primary(&self) -> Option<Dimension> {
        self.dominant().first().copied()
    }

    /// `fixing (1.0), configuring (0.9)`: the four strongest; `mixed activity` where there is none.
    pub fn profile(&self) -> String {
        let mut text = String::new();
        for dimension in self.dominant().into_iter().take(PROFILE_NAMES) {
            let gap = if text.is_empty() { "" } else { ", " };
            let _ = write!(
                text,
                "{gap}{} ({:.1})",
                dimension.as_str(),
                self.get(dimension)
            );
        }
        match text.is_empty() {
            true => "mixed activity".to_owned(),
            false => text,
        }
    }
}

/// Where `score.min_strength` isn't set: weaker signals have no primary dimension (D01).
pub const MIN_STRENGTH: f64 = 0.3;

/// The vector of a stretch of work, with what it was made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Activity {
    /// 0.0 to 1.0 each.
    pub vector: ActivityVector,
    /// Before the division by the strongest.
    pub signals: Signals,
    /// The strongest signal.
    pub strength: f64,
    /// Absent where it is told as [`MIXED`].
    pub primary: Option<Dimension>,
    /// The primary dimension where no other one comes near, so that it is safe to say it in a word.
    pub sure: Option<Dimension>,
}

/// So far the strongest signal of a sure dimension is ahead of the next one. Larger: fewer sessions have one;
/// smaller: more of them are wrong (docs/activity.md has the figures).
const SURE_MARGIN: f64 = 0.6;

impl Activity {
    /// Signals weaker than `min_strength` have no primary dimension.
    pub fn of(signals: Signals, min_strength: f64) -> Activity {
        let vector = ActivityVector::from_signals(&signals);
        let strength = signals.strength();
        let primary = vector.primary().filter(|_| strength >= min_strength);
        let near = Dimension::ALL.into_iter();
        let near = near.filter(|d| signals.get(*d) > strength - SURE_MARGIN);
        Activity {
            vector,
            signals,
            strength,
            primary,
            sure: primary.filter(|_| near.count() == 1),
        }
    }

    /// As somebody says it is: told as it stands.
    pub fn given(vector: ActivityVector) -> Activity {
        let mut signals = Signals::default();
        for dimension in Dimension::ALL {
            signals.add(dimension, vector.get(dimension));
        }
        Activity {
            vector,
            signals,
            strength: signals.strength(),
            primary: vector.primary(),
            sure: vector.primary(),
        }
    }

    /// The vector's, 0.0 where the signals are too weak to say anything.
    pub fn intensity(&self, dimension: Dimension) -> f64 {
        match self.primary {
            Some(_) => self.vector.get(dimension),
            None => 0.0,
        }
    }

    /// The sure dimension's name; empty where there is none.
    pub fn word(&self) -> &'static str {
        self.sure.map_or("", Dimension::as_str)
    }

    /// The vector's, unless it is too weak to say anything.
    pub fn profile(&self) -> String {
        match self.primary {
            Some(_) => self.vector.profile(),
            None => ActivityVector::default().profile(),
        }
    }
}

/// What was counted of a stretch of work. Merging is associative and commutative, so that any
/// stretch is the sum of its parts, and a new table or classification scores it again without its
/// log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ActivityTally {
    /// People's prompts in which a keyword stands, by keyword (`rules::keywords`).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub keywords: BTreeMap<String, u64>,
    /// Calls by tool (its name) or command (`$ ` and its class, `rules::commands`).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, u64>,
    /// Failed calls.
    #[serde(skip_serializing_if = "is_zero")]
    pub errors: u64,
    /// Hashes of the paths that tool calls name, by category (`rules::paths`).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<Dimension, BTreeSet<u64>>,
    /// What was said of the kind of work, by who said it where (`rules::work_words`).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub said: BTreeMap<Said, BTreeMap<Dimension, u64>>,
    /// Lines that edits changed in files of a category.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub lines: BTreeMap<Dimension, u64>,
    /// Lines that edits added to other files, and removed from them.
    #[serde(skip_serializing_if = "is_none_of_both")]
    pub code: (u64, u64),
}

/// Where it is said what kind of work it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Said {
    /// A person's request asks for it first.
    Asked,
    /// An agent announces it.
    Announced,
    /// A task on a list, one for a sub-agent, or a skill that is used.
    Planned,
    /// An agent reports it as done.
    Reported,
    /// A commit's subject.
    Committed,
}

impl ActivityTally {
    /// Adds another stretch to this one.
    pub fn merge(&mut self, other: &ActivityTally) {
        for (keyword, prompts) in &other.keywords {
            *self.keywords.entry(keyword.clone()).or_default() += prompts;
        }
        for (class, calls) in &other.tools {
            *self.tools.entry(class.clone()).or_default() += calls;
        }
        self.errors += other.errors;
        for (category, files) in &other.files {
            self.files.entry(*category).or_default().extend(files);
        }
        for (said, kinds) in &other.said {
            let own = self.said.entry(*said).or_default();
            for (kind, times) in kinds {
                *own.entry(*kind).or_default() += times;
            }
        }
        for (category, lines) in &other.lines {
            *self.lines.entry(*category).or_default() += lines;
        }
        self.code.0 += other.code.0;
        self.code.1 += other.code.1;
    }

    /// Nothing was counted.
    pub fn is_empty(&self) -> bool {
        *self == ActivityTally::default()
    }
}

/// What was counted of one exchange, or of the part of it that an episode has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExchangeTally {
    /// The line of its first item; of a log that opens without a prompt, of that.
    pub line: u64,
    /// Its counts.
    pub tally: ActivityTally,
    /// How long the agent worked at it; absent where an older program stored it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<WorkTime>,
}

impl ExchangeTally {
    /// At all of these together; `None` where of some nobody counted it.
    pub fn work_of(all: &[ExchangeTally]) -> Option<WorkTime> {
        let works = all.iter().map(|exchange| exchange.work);
        works.reduce(|a, b| Some(a?.plus(b?))).flatten()
    }

    /// The agent worked at it for longer.
    pub fn add_work(&mut self, work: WorkTime) {
        self.work = Some(self.work.unwrap_or_default().plus(work));
    }
}

impl<'a> Sum<&'a ActivityTally> for ActivityTally {
    fn sum<I: Iterator<Item = &'a ActivityTally>>(parts: I) -> ActivityTally {
        let mut sum = ActivityTally::default();
        parts.for_each(|part| sum.merge(part));
        sum
    }
}

fn is_none_of_both(lines: &(u64, u64)) -> bool {
    *lines == (0, 0)
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}
