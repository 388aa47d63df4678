//! One order out of two: what has a question's words, and what means the same. It uses places in the
//! rankings, never scores, which don't compare. Pure.

use super::rank::{Group, Near, join, rank, ranking, sort};
use crate::store::{Candidates, Hit, SearchCandidate};

/// Reciprocal rank fusion's only number, as its authors set it (Cormack, Clarke, Büttcher 2009:
/// "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods"). Less: the first
/// of either ranking wins alone; more: only being in both counts.
const K: f64 = 60.0;

/// The best hits of both rankings. `nearest` are the nearest first; where they are none, the order and
/// the scores are those of the words. Who is in both comes first; confidence is that of the words.
pub fn fuse(
    found: Candidates,
    nearest: Vec<SearchCandidate>,
    near: &Near,
    limit: u32,
    folds: bool,
) -> Vec<Hit> {
    if nearest.is_empty() {
        return rank(&found, near, limit, folds).hits;
    }
    let mut groups = ranking(&found, near, folds);
    for (place, group) in (1..).zip(&mut groups) {
        group.score = share(place);
    }
    let mut all = found.all;
    let mut place = 0;
    for candidate in nearest {
        let similarity = candidate.hit.similarity;
        let at = add(candidate, &mut all, &mut groups, folds);
        let group = &mut groups[at];
        if group.similarity.is_none() {
            place += 1;
            group.score += share(place);
            group.similarity = similarity;
        }
    }
    sort(&mut groups, &all);
    groups.truncate(limit as usize);
    groups.iter().map(|group| group.hit(&all)).collect()
}

fn share(place: u32) -> f64 {
    1.0 / (K + f64::from(place))
}

/// Which group has this episode now.
fn add(
    candidate: SearchCandidate,
    all: &mut Vec<SearchCandidate>,
    groups: &mut Vec<Group>,
    folds: bool,
) -> usize {
    let episode = candidate.hit.episode;
    let known = all.iter().position(|other| other.hit.episode == episode);
    let held = known.and_then(|n| groups.iter().position(|g| g.members.contains(&n)));
    held.unwrap_or_else(|| {
        all.push(candidate);
        join(groups, all.len() - 1, all, folds)
    })
}

#[cfg(test)]
mod tests {
    use super::super::rank::tests::{chunk, found};
    use super::*;

    fn near(session: &str, part: u32, similarity: f32) -> SearchCandidate {
        let mut near = chunk(session, part, 0.0, &[]);
        near.hit.similarity = Some(similarity);
        near
    }

    /// Sessions with parts, the best first.
    fn order(
        worded: Vec<SearchCandidate>,
        nearest: Vec<SearchCandidate>,
    ) -> Vec<(String, u32, u32)> {
        let near = Near::default();
        let hits = fuse(found(worded), nearest, &near, 9, true).into_iter();
        hits.map(|hit| (hit.session, hit.part, hit.folded))
            .collect()
    }

    fn names(worded: Vec<SearchCandidate>, nearest: Vec<SearchCandidate>) -> String {
        let all = order(worded, nearest).into_iter().map(|(name, _, _)| name);
        all.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_is_in_both_rankings_comes_first_and_the_rest_takes_turns() {
        let worded = || {
            vec![
                chunk("a", 1, 9.0, &[0, 1]),
                chunk("bb", 1, 5.0, &[0]),
                chunk("ccc", 1, 1.0, &[2]),
            ]
        };
        assert_eq!(names(worded(), Vec::new()), "a bb ccc");
        let nearest = vec![near("dddd", 1, 0.9), near("ccc", 1, 0.8)];
        assert_eq!(names(worded(), nearest), "ccc a dddd bb");
        assert_eq!(names(Vec::new(), vec![near("dddd", 1, 0.9)]), "dddd");
    }

    #[test]
    fn what_tells_the_same_is_folded_however_it_was_found() {
        let worded = vec![chunk("a", 4, 6.0, &[0, 1]), chunk("a", 5, 5.0, &[0])];
        let nearest = vec![
            near("a", 5, 0.9),
            near("a", 6, 0.8),
            near("a", 9, 0.7),
            near("bb", 1, 0.6),
        ];
        let told = [("a", 4, 2), ("a", 9, 0), ("bb", 1, 0)];
        let told = told.map(|(name, part, folded)| (name.to_owned(), part, folded));
        assert_eq!(order(worded, nearest), told);
    }
}
