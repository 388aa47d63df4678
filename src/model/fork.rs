//! Which of the sessions that share a history was forked from which. Depends on what their logs say
//! alone, never on when or in which order they were read.
//!
//! A log states its origin (`forkedFrom`), or its head was written when it was forked, later than
//! what it copies. Where neither tells, the one whose own history goes on first is the origin.

use super::time::Time;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Turns of one log that are known. Real sessions have some dozens; larger: each commit of a log
/// writes all of them again.
const TURNS_MAX: usize = 1_000;

/// Sessions with one beginning that are compared with one another. Real ones are a handful, and a few
/// dozen where each resume made a new log; larger: a hostile folder of copies takes the square of
/// its time.
pub const KIN_MAX: usize = 256;

/// How a log goes on: when it began, and its turns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Course {
    /// The first time that it states.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begun: Option<Time>,
    /// In the order of the log; of each only what comes first counts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<ToldTurn>,
}

/// A prompt and what was said until the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToldTurn {
    /// Short id of the prompt; 0: it stands before the part of the log that this was read from.
    pub id: u64,
    /// When it was written.
    pub at: Time,
    /// The last time of the turn.
    pub end: Time,
}

impl Course {
    /// Nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Course::default()
    }

    /// The next turn, or what the last one says besides.
    pub fn go_on(&mut self, next: ToldTurn) {
        let is_full = self.turns.len() >= TURNS_MAX;
        match self.turns.last_mut() {
            Some(last) if next.id == 0 || is_full => last.end = last.end.max(next.end),
            _ => self.turns.push(next),
        }
    }

    /// Takes over what a later part of the log says.
    pub fn merge(&mut self, later: &Course) {
        self.begun = self.begun.or(later.begun);
        later.turns.iter().for_each(|turn| self.go_on(*turn));
    }

    /// It was begun when what it begins with had been said: its head is a fork's.
    fn begins_with_a_copy(&self) -> bool {
        let first = self.turns.first();
        self.begun
            .zip(first)
            .is_some_and(|(begun, first)| begun > first.end)
    }
}

/// A session among those that it shares records with.
#[derive(Clone, Debug, Default)]
pub struct Kin {
    /// Its id.
    pub session: String,
    /// The session that it says it was forked from.
    pub stated: Option<String>,
    course: Course,
    turns: FxHashMap<u64, ToldTurn>,
}

impl Kin {
    /// A session whose main log goes on like this.
    pub fn new(session: String, stated: Option<String>, course: Course) -> Kin {
        let turns = course.turns.iter().map(|turn| (turn.id, *turn));
        Kin {
            turns: turns.collect(),
            session,
            stated,
            course,
        }
    }

    /// Whether it has what both have from the other's author: what both have is its own. Of two
    /// sessions exactly one is before the other.
    pub fn is_before(&self, other: &Kin) -> bool {
        match self.is_unmarked(other) {
            true => (self.own(other), &self.session) < (other.own(self), &other.session),
            false if self.says(other) => false,
            false => other.says(self) || self.head() < other.head(),
        }
    }

    /// Only how both go on tells which is the origin.
    pub fn is_unmarked(&self, other: &Kin) -> bool {
        self.head() == other.head() && !self.says(other) && !other.says(self)
    }

    fn says(&self, other: &Kin) -> bool {
        self.stated.as_ref() == Some(&other.session)
    }

    fn head(&self) -> (Option<Time>, bool) {
        (self.course.begun, self.stated.is_some())
    }

    /// The last turn that both have, and where it is.
    fn last_shared(&self, other: &Kin) -> Option<(usize, ToldTurn, ToldTurn)> {
        let turns = self.course.turns.iter().enumerate().rev();
        let mut shared =
            turns.filter_map(|(n, turn)| Some((n, *turn, *other.turns.get(&turn.id)?)));
        shared.next()
    }

    /// When it goes on without the other; `None`: it doesn't.
    fn own(&self, other: &Kin) -> Option<Time> {
        match self.last_shared(other) {
            // in the middle of the turn: nobody can say when, but not before the copy ends
            Some((_, mine, its)) if mine.end > its.end => Some(its.end),
            last => {
                let next = last.map_or(0, |(n, ..)| n + 1);
                self.course.turns.get(next).map(|turn| turn.at)
            }
        }
    }

    /// The other may have copied what is this one's: it is no fork, or what both have was said
    /// after it was forked, or where it was forked from is known too.
    fn gave(&self, other: &Kin, all: &[Kin]) -> bool {
        match &self.stated {
            Some(from) => all.iter().any(|kin| kin.session == *from),
            None if !self.course.begins_with_a_copy() => true,
            None => {
                let since = |turn: &&ToldTurn| Some(turn.at) >= self.course.begun;
                let mut own = self.course.turns.iter().filter(since);
                own.any(|turn| other.turns.contains_key(&turn.id))
            }
        }
    }

    /// How much of its history this one can have from the other: turns, and how far the last goes.
    fn shares(&self, other: &Kin) -> Option<(usize, Time)> {
        let (_, mine, its) = self.last_shared(other)?;
        let turns = self.turns.keys().filter(|id| other.turns.contains_key(id));
        Some((turns.count(), mine.end.min(its.end)))
    }
}

/// The session that the `nth` of these was forked from: what it states, else of those before it
/// the one that it has most turns of, else the first of them.
pub fn origin(all: &[Kin], nth: usize) -> Option<String> {
    let kin = all.get(nth)?;
    if kin.stated.is_some() {
        return kin.stated.clone();
    }
    let is_other = |other: &&Kin| other.session != kin.session;
    let origins = all.iter().filter(is_other);
    let origins = origins.filter(|other| other.is_before(kin) && other.gave(kin, all));
    let mut found: Option<(_, &Kin)> = None;
    for other in origins {
        let shared = kin.shares(other);
        if shared.is_none() && kin.turns.len() + other.turns.len() > 0 {
            continue;
        }
        let better =
            |(most, best): (_, &Kin)| shared > most || shared == most && other.is_before(best);
        if found.is_none_or(better) {
            found = Some((shared, other));
        }
    }
    found.map(|(_, other)| other.session.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kin(session: &str, begun: i64, turns: &[(u64, i64, i64)]) -> Kin {
        let turn = |&(id, at, end): &(u64, i64, i64)| ToldTurn {
            id,
            at: Time(at),
            end: Time(end),
        };
        let course = Course {
            begun: Some(Time(begun)),
            turns: turns.iter().map(turn).collect(),
        };
        Kin::new(session.into(), None, course)
    }

    fn origins(mut all: Vec<Kin>) -> Vec<(String, Option<String>)> {
        let mut told = Vec::new();
        for _ in 0..all.len() {
            all.rotate_left(1);
            let each = (0..all.len()).map(|n| (all[n].session.clone(), origin(&all, n)));
            let mut each: Vec<_> = each.collect();
            each.sort();
            told.push(each);
        }
        assert!(told.windows(2).all(|w| w[0] == w[1]), "order: {told:?}");
        told.remove(0)
    }

    fn from(told: &[(String, Option<String>)], session: &str) -> Option<String> {
        let found = told.iter().find(|(of, _)| of == session);
        found.and_then(|(_, from)| from.clone())
    }

    #[test]
    fn a_head_that_is_later_than_what_follows_is_a_forks() {
        // the origin goes on after the fork, and the fork's name sorts before its
        let origin = kin("z", 9, &[(1, 10, 20), (3, 200, 210)]);
        let fork = kin("a", 100, &[(1, 10, 20), (2, 101, 110)]);
        let told = origins(vec![origin, fork]);
        assert_eq!(from(&told, "a").as_deref(), Some("z"));
        assert_eq!(from(&told, "z"), None);
    }

    #[test]
    fn a_fork_of_a_fork_is_of_the_nearest_and_a_stranger_of_none() {
        let root = kin("a", 9, &[(1, 10, 20)]);
        let fork = kin("b", 100, &[(1, 10, 20), (2, 101, 110)]);
        let again = kin("c", 300, &[(1, 10, 20), (2, 101, 110), (3, 301, 302)]);
        let beside = kin("d", 400, &[(1, 10, 20), (4, 401, 402)]);
        let told = origins(vec![root, fork.clone(), again, beside.clone()]);
        assert_eq!(from(&told, "b").as_deref(), Some("a"));
        assert_eq!(from(&told, "c").as_deref(), Some("b"));
        assert_eq!(from(&told, "d").as_deref(), Some("a"));
        // two forks of a session that nobody saw are not one another's
        let told = origins(vec![fork, beside]);
        assert!(told.iter().all(|(_, from)| from.is_none()), "{told:?}");
    }

    #[test]
    fn without_heads_the_one_that_goes_on_first_is_the_origin() {
        let goes_on = kin("b", 10, &[(1, 10, 20), (2, 30, 40)]);
        let later = kin("a", 10, &[(1, 10, 20), (3, 50, 60)]);
        let prefix = kin("c", 10, &[(1, 10, 20)]);
        assert_eq!(
            from(&origins(vec![goes_on.clone(), later.clone()]), "a").as_deref(),
            Some("b")
        );
        assert_eq!(
            from(&origins(vec![goes_on, prefix]), "b").as_deref(),
            Some("c")
        );
        // a copy that was made in the middle of a turn
        let middle = kin("b", 10, &[(1, 10, 90)]);
        assert_eq!(
            from(&origins(vec![middle, later]), "a").as_deref(),
            Some("b")
        );
    }

    #[test]
    fn what_is_stated_decides() {
        let mut stated = kin("a", 10, &[(1, 10, 20), (2, 30, 40)]);
        stated.stated = Some("b".into());
        let origin = kin("b", 10, &[(1, 10, 20), (3, 50, 60)]);
        assert!(origin.is_before(&stated) && !stated.is_before(&origin));
        let told = origins(vec![stated, origin]);
        assert_eq!(from(&told, "a").as_deref(), Some("b"));
        assert_eq!(from(&told, "b"), None);
    }

    #[test]
    fn a_course_is_the_same_however_it_was_cut() {
        let parts = [(1, 10, 10), (0, 12, 12), (2, 20, 25), (0, 5, 30)];
        let turn = |(id, at, end)| ToldTurn {
            id,
            at: Time(at),
            end: Time(end),
        };
        for cut in 0..=parts.len() {
            let (mut whole, mut rest) = (Course::default(), Course::default());
            parts[..cut].iter().for_each(|p| whole.go_on(turn(*p)));
            parts[cut..].iter().for_each(|p| rest.go_on(turn(*p)));
            whole.merge(&rest);
            let ends: Vec<_> = whole.turns.iter().map(|t| (t.id, t.end.0)).collect();
            assert_eq!(ends, [(1, 12), (2, 30)], "cut at {cut}");
        }
    }
}
