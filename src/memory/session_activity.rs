//! What kind of work stored sessions and episodes were, by today's tables, and asking for it.
//!
//! The store keeps counts: whatever is judged here follows a new table or a new classification at once, and
//! no log is read for it.

use crate::model::activity::{Activity, ActivityTally, ActivityVector, DOMINANT_FROM, Dimension};
use crate::model::choice::{expected, listed, nearest};
use crate::model::episode::Episode;
use crate::model::time::Time;
use crate::rules::classify::Classifier;
use crate::stages::score::explain::{WorkExplanation, explained};
use crate::stages::score::signals;
use crate::store::SessionRow;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Makes activities of counts.
#[derive(Clone, Debug)]
pub struct Judge {
    /// What tools and commands say.
    pub classifier: Classifier,
    /// `score.min_strength`.
    pub min_strength: f64,
    /// Every session's, where the settings give it (D46).
    pub manual: Option<ActivityVector>,
}

impl Judge {
    /// What kind of work these counts tell of. A few microseconds.
    pub fn activity(&self, tally: &ActivityTally) -> Activity {
        match self.manual {
            Some(vector) => Activity::given(vector),
            None => Activity::of(signals(tally, &self.classifier), self.min_strength),
        }
    }

    /// What makes it that kind of work; nothing where the settings say what it is.
    pub fn explained(&self, tally: &ActivityTally) -> Vec<WorkExplanation> {
        match self.manual {
            Some(_) => Vec::new(),
            None => explained(tally, &self.activity(tally), &self.classifier),
        }
    }
}

/// A stretch of a session without a gap as long as `session_tracking.inactivity_timeout`, in all of
/// its streams together.
#[derive(Clone, Debug, Default)]
pub struct Segment<'a> {
    /// The time of its first record; absent where the log has none.
    pub from: Option<Time>,
    /// The latest time in it.
    pub to: Option<Time>,
    /// In order of time.
    pub episodes: Vec<&'a Episode>,
}

impl Segment<'_> {
    /// What its work is told by.
    pub fn tally(&self) -> ActivityTally {
        let mut sum = ActivityTally::default();
        for episode in &self.episodes {
            sum.merge(&episode.activity());
        }
        sum
    }
}

/// A session's segments, of all of its episodes. One without a time goes with the one before it.
pub fn segments<'a>(
    episodes: impl IntoIterator<Item = &'a Episode>,
    gap_ms: i64,
) -> Vec<Segment<'a>> {
    let mut episodes: Vec<&Episode> = episodes.into_iter().collect();
    episodes.sort_by_key(|episode| episode.valid_at);
    let mut all: Vec<Segment<'_>> = Vec::new();
    for episode in episodes {
        let quiet_since = all.last().and_then(|segment| segment.to);
        let gap = quiet_since
            .zip(episode.valid_at)
            .map(|(to, at)| at.0 - to.0);
        if all.is_empty() || gap.is_some_and(|gap| gap >= gap_ms) {
            all.push(Segment {
                from: episode.valid_at,
                ..Segment::default()
            });
        }
        if let Some(segment) = all.last_mut() {
            segment.from = segment.from.or(episode.valid_at);
            segment.to = segment.to.max(episode.ended_at);
            segment.episodes.push(episode);
        }
    }
    all
}

/// Conditions that all have to hold, as people type them: `fixing>0.6,configuring>0.4`.
#[derive(Clone, Debug, PartialEq)]
pub struct ActivityConditions(Vec<Condition>);

#[derive(Clone, Copy, Debug, PartialEq)]
struct Condition {
    dimension: Dimension,
    sign: Sign,
    amount: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Sign {
    More,
    AtLeast,
    Less,
    AtMost,
    Equal,
}

/// What stands between a dimension and its amount; those that begin alike, the longer first.
const SIGNS: [(&str, Sign); 5] = [
    (">=", Sign::AtLeast),
    ("<=", Sign::AtMost),
    (">", Sign::More),
    ("<", Sign::Less),
    ("=", Sign::Equal),
];

/// `=` compares as a profile shows it: to one decimal.
const EQUAL_WITHIN: f64 = 0.05;

impl ActivityConditions {
    /// Reads conditions; a dimension alone asks for it to be dominant. The error says what to write.
    pub fn parse(typed: &str) -> Result<ActivityConditions, String> {
        typed
            .split(',')
            .map(condition)
            .collect::<Result<_, _>>()
            .map(ActivityConditions)
    }

    /// Whether all conditions hold. Work too weak to tell is nothing in every dimension.
    pub fn fits(&self, activity: &Activity) -> bool {
        self.0.iter().all(|condition| {
            let (is, amount) = (activity.intensity(condition.dimension), condition.amount);
            match condition.sign {
                Sign::More => is > amount,
                Sign::AtLeast => is >= amount,
                Sign::Less => is < amount,
                Sign::AtMost => is <= amount,
                Sign::Equal => (is - amount).abs() <= EQUAL_WITHIN,
            }
        })
    }
}

fn condition(typed: &str) -> Result<Condition, String> {
    let typed = typed.trim();
    let end = typed.find(['<', '>', '=']).unwrap_or(typed.len());
    let (name, rest) = typed.split_at(end);
    let dimension = dimension(name.trim())?;
    if rest.is_empty() {
        return Ok(Condition {
            dimension,
            sign: Sign::AtLeast,
            amount: DOMINANT_FROM,
        });
    }
    let read = SIGNS.iter().find_map(|(sign, meant)| {
        let amount: f64 = rest.strip_prefix(sign)?.trim().parse().ok()?;
        (0.0..=1.0).contains(&amount).then_some((*meant, amount))
    });
    let (sign, amount) =
        read.ok_or_else(|| format!("`{typed}`: write a number from 0 to 1, as in {name}>0.6"))?;
    Ok(Condition {
        dimension,
        sign,
        amount,
    })
}

/// A dimension's name; the error names the nearest one.
pub fn dimension(word: &str) -> Result<Dimension, String> {
    Dimension::parse(&word.to_ascii_lowercase()).ok_or_else(|| {
        let names = Dimension::ALL.map(Dimension::as_str);
        match nearest(word, names) {
            Some(near) => format!("unknown dimension `{word}`; did you mean `{near}`?"),
            None => format!("unknown dimension `{word}`; write {}", listed(names)),
        }
    })
}

/// What a list of sessions is sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Order {
    /// The latest first.
    #[default]
    Newest,
    /// The latest last.
    Oldest,
    /// The one with most text first.
    Longest,
    /// By project, in each the latest first.
    Project,
    /// The one with most to go by first.
    Strength,
    /// The one with most of it first.
    By(Dimension),
}

impl Order {
    /// The words that aren't dimensions.
    const WORDS: [(&'static str, Order); 5] = [
        ("newest", Order::Newest),
        ("oldest", Order::Oldest),
        ("longest", Order::Longest),
        ("project", Order::Project),
        ("strength", Order::Strength),
    ];

    /// Reads an order; the error lists them.
    pub fn parse(word: &str) -> Result<Order, String> {
        if let Some((_, order)) = Order::WORDS.iter().find(|(known, _)| *known == word) {
            return Ok(*order);
        }
        if let Some(dimension) = Dimension::parse(word) {
            return Ok(Order::By(dimension));
        }
        let words = Order::WORDS.into_iter().map(|(word, _)| word);
        Err(expected(
            word,
            words.chain(Dimension::ALL.map(Dimension::as_str)),
        ))
    }

    /// Sorts what came newest first; equal ones stay in that order.
    pub fn sort(self, rows: &mut [(SessionRow, Activity)]) {
        match self {
            Order::Newest => {}
            Order::Oldest => rows.reverse(),
            Order::Longest => rows.sort_by_key(|(row, _)| std::cmp::Reverse(row.body_bytes)),
            Order::Project => rows.sort_by(|(a, _), (b, _)| {
                let path = |row: &SessionRow| row.session.project_path.clone();
                path(a).cmp(&path(b))
            }),
            Order::Strength => rows.sort_by(|(_, a), (_, b)| most(a.strength, b.strength)),
            Order::By(dimension) => rows.sort_by(|(_, a), (_, b)| {
                most(a.intensity(dimension), b.intensity(dimension))
                    .then(most(a.strength, b.strength))
            }),
        }
    }
}

fn most(a: f64, b: f64) -> Ordering {
    b.total_cmp(&a)
}

/// The mean of several sessions' activities. Those too weak to tell count with nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mean {
    /// Sessions in it.
    pub sessions: u64,
    /// Of these, by primary dimension; `None`: mixed.
    pub primaries: BTreeMap<Option<Dimension>, u64>,
    /// When the first of them began.
    pub since: Option<Time>,
    sums: [f64; 8],
}

impl Mean {
    /// Adds one more session.
    pub fn add(&mut self, activity: &Activity, began: Option<Time>) {
        self.sessions += 1;
        *self.primaries.entry(activity.primary).or_default() += 1;
        self.since = [self.since, began].into_iter().flatten().min();
        for (sum, dimension) in self.sums.iter_mut().zip(Dimension::ALL) {
            *sum += activity.intensity(dimension);
        }
    }

    /// The mean intensities; nothing of no sessions.
    pub fn vector(&self) -> ActivityVector {
        let sessions = self.sessions.max(1) as f64;
        let mean = |d: Dimension| (self.sums[d as usize] / sessions).min(1.0);
        ActivityVector::from_values(mean).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::activity::{MIN_STRENGTH, Signals};

    fn activity(signals: &[(Dimension, f64)]) -> Activity {
        let mut sum = Signals::default();
        for (dimension, amount) in signals {
            sum.add(*dimension, *amount);
        }
        Activity::of(sum, MIN_STRENGTH)
    }

    fn episode(part: u32, from: i64, to: i64) -> Episode {
        Episode {
            part,
            valid_at: Some(Time(from)),
            ended_at: Some(Time(to)),
            ..Episode::default()
        }
    }

    #[test]
    fn a_gap_begins_a_segment_and_streams_run_beside_one_another() {
        let timeless = Episode {
            part: 9,
            ..Episode::default()
        };
        let episodes = [
            episode(1, 0, 50),
            episode(2, 300, 310),
            episode(3, 60, 205), // a sub-agent's, told later
            episode(4, 304, 305),
            episode(5, 409, 420),
            episode(6, 520, 530),
            timeless,
        ];
        let cut: Vec<Vec<u32>> = segments(&episodes, 100)
            .iter()
            .map(|segment| segment.episodes.iter().map(|e| e.part).collect())
            .collect();
        assert_eq!(cut, [vec![9, 1, 3, 2, 4, 5], vec![6]]);
        assert!(segments(&[], 100).is_empty());
    }

    #[test]
    fn conditions_are_read_and_hold_together() {
        let work = activity(&[(Dimension::Fixing, 1.0), (Dimension::Configuring, 0.5)]);
        for (typed, wants) in [
            ("fixing>0.6", true),
            ("fixing>0.6,configuring>0.4", true),
            (" Fixing >= 1 , configuring < 0.5 ", false),
            ("configuring<=0.5,configuring>=0.5", true),
            ("configuring=0.5", true),
            ("configuring=0.4", false),
            ("building<0.1", true),
            ("configuring", true),
            ("building", false),
        ] {
            assert_eq!(
                ActivityConditions::parse(typed).unwrap().fits(&work),
                wants,
                "{typed}"
            );
        }
    }

    #[test]
    fn what_is_too_weak_to_tell_is_nothing() {
        let weak = activity(&[(Dimension::Fixing, 0.1)]);
        assert_eq!(weak.vector.get(Dimension::Fixing), 1.0);
        assert!(!ActivityConditions::parse("fixing>0").unwrap().fits(&weak));
        assert!(ActivityConditions::parse("fixing<0.1").unwrap().fits(&weak));
    }

    #[test]
    fn slips_are_answered_with_the_nearest_word() {
        for (typed, wants) in [
            (
                "fixng>0.6",
                "unknown dimension `fixng`; did you mean `fixing`?",
            ),
            (
                "x>0.6",
                "unknown dimension `x`; write building, fixing, configuring, exploring, \
                 refactoring, reviewing, testing or documenting",
            ),
            (
                "fixing>6",
                "`fixing>6`: write a number from 0 to 1, as in fixing>0.6",
            ),
            (
                "fixing=>1",
                "`fixing=>1`: write a number from 0 to 1, as in fixing>0.6",
            ),
            (
                "",
                "unknown dimension ``; write building, fixing, configuring, exploring, refactoring, reviewing, testing or documenting",
            ),
        ] {
            assert_eq!(ActivityConditions::parse(typed).unwrap_err(), wants);
        }
        let orders = "newest, oldest, longest, project, strength, building, fixing, configuring, \
             exploring, refactoring, reviewing, testing or documenting";
        for (typed, wants) in [
            ("newst", format!("did you mean `newest`? write {orders}")),
            ("purple", format!("write {orders}")),
        ] {
            assert_eq!(Order::parse(typed).unwrap_err(), wants);
        }
        assert_eq!(Order::parse("testing"), Ok(Order::By(Dimension::Testing)));
    }

    #[test]
    fn a_mean_is_over_all_sessions() {
        let mut mean = Mean::default();
        assert_eq!(mean.vector(), ActivityVector::default());
        mean.add(&activity(&[(Dimension::Fixing, 1.0)]), Some(Time(5)));
        mean.add(&activity(&[(Dimension::Fixing, 0.1)]), Some(Time(3)));
        assert_eq!(mean.vector().get(Dimension::Fixing), 0.5);
        assert_eq!(
            mean.primaries,
            [(None, 1), (Some(Dimension::Fixing), 1)].into()
        );
        assert_eq!(mean.since, Some(Time(3)));
    }
}
