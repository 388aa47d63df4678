//! One order out of two: what has a question's words, and what means the same. A cosine is measured by how much
//! all of them differ, so that a model to which all is alike moves nothing. Pure.

use super::rank::{Group, Near, join, rank, ranking, sort};
use crate::store::{Candidates, Hit, Nearest, SearchCandidate, Whole};
use rustc_hash::FxHashMap;

/// What a standard deviation of the cosines is worth, where the best score of the words is 1. Chosen on half of
/// LoCoMo's talks (docs/memory.md): from 0.12 to 0.25 it makes little difference.
const MEANING: f64 = 0.175;

/// The standard deviation of cosines is at least this. Less: a few texts that mean much the same would be torn
/// apart by noise.
const SPREAD_MIN: f64 = 0.01;

/// The best hits of both. `nearest` are the nearest first; where they are none, the order and the scores are
/// those of the words. A session has its best score of the words and that of its nearest text; what has no vector
/// counts as middling. Confidence is that of the words.
pub fn fuse(found: Candidates, nearest: Nearest, near: &Near, limit: u32, folds: bool) -> Vec<Hit> {
    if nearest.all.is_empty() {
        return rank(&found, near, limit, folds).hits;
    }
    let mut groups = ranking(&found, near, folds);
    let most = groups.iter().map(|group| group.score).fold(0.0, f64::max);
    for group in &mut groups {
        group.score /= most.max(f64::MIN_POSITIVE);
        let known = group.members.iter().filter_map(|n| nearest.found[*n]);
        group.similarity = known.reduce(f32::max);
    }
    let mut all = found.all;
    for candidate in nearest.all {
        let similarity = candidate.hit.similarity;
        let at = add(candidate, &mut all, &mut groups, folds);
        let known = [groups[at].similarity, similarity];
        groups[at].similarity = known.into_iter().flatten().reduce(f32::max);
    }
    let mut by_session: FxHashMap<Whole<'_>, f32> = FxHashMap::default();
    for group in &groups {
        if let Some(similarity) = group.similarity {
            let best = by_session.entry(group.whole(&all)).or_insert(similarity);
            *best = best.max(similarity);
        }
    }
    let worth = |similarity: f32| {
        let above = f64::from(similarity) - nearest.mean;
        MEANING * above / nearest.spread.max(SPREAD_MIN)
    };
    for group in &mut groups {
        // the first of a session has the best that is known of it, the others their own
        let best = by_session.remove(&group.whole(&all)).or(group.similarity);
        group.score += best.map_or(0.0, worth);
    }
    sort(&mut groups, &all);
    groups.truncate(limit as usize);
    groups.iter().map(|group| group.hit(&all)).collect()
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

    /// Found by words, with the cosines of some of these, and found by meaning.
    fn fused(
        worded: Vec<(SearchCandidate, Option<f32>)>,
        nearest: Vec<SearchCandidate>,
    ) -> Vec<(String, u32, u32)> {
        let (worded, found_by_words): (Vec<_>, Vec<_>) = worded.into_iter().unzip();
        let nearest = Nearest {
            all: nearest,
            found: found_by_words,
            mean: 0.5,
            spread: 0.1,
            compared: 9,
        };
        let hits = fuse(found(worded), nearest, &Near::default(), 9, true).into_iter();
        hits.map(|hit| (hit.session, hit.part, hit.folded))
            .collect()
    }

    fn names(worded: Vec<(SearchCandidate, Option<f32>)>, nearest: Vec<SearchCandidate>) -> String {
        let all = fused(worded, nearest).into_iter().map(|(name, _, _)| name);
        all.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn meaning_decides_between_what_words_say_much_the_same_of() {
        let worded = |similar: [Option<f32>; 3]| {
            let all = [
                chunk("a", 1, 9.0, &[0, 1]),
                chunk("bb", 1, 8.5, &[0, 1]),
                chunk("ccc", 1, 1.0, &[2]),
            ];
            all.into_iter().zip(similar).collect::<Vec<_>>()
        };
        let far = || vec![near("dddd", 1, 0.3)];
        assert_eq!(names(worded([None; 3]), Vec::new()), "a bb ccc");
        assert_eq!(names(worded([None; 3]), far()), "a bb ccc dddd");
        let similar = [Some(0.5), Some(0.9), Some(0.5)];
        assert_eq!(names(worded(similar), far()), "bb a ccc dddd");
        let nearest = vec![near("dddd", 1, 1.0)];
        let order = names(worded([Some(0.5), Some(0.4), Some(0.1)]), nearest);
        assert!(
            order.ends_with("bb ccc") && order.contains("dddd"),
            "{order}"
        );
        assert_eq!(names(Vec::new(), vec![near("dddd", 1, 0.9)]), "dddd");
    }

    #[test]
    fn a_model_to_which_all_is_alike_moves_nothing() {
        let worded = vec![
            (chunk("a", 1, 9.0, &[0, 1]), Some(0.5)),
            (chunk("bb", 1, 5.0, &[0]), Some(0.501)),
        ];
        let same = Nearest {
            all: vec![near("ccc", 1, 0.501)],
            found: vec![Some(0.5), Some(0.501)],
            mean: 0.5,
            spread: 0.0005,
            compared: 3,
        };
        let (worded, _): (Vec<_>, Vec<_>) = worded.into_iter().unzip();
        let hits = fuse(found(worded), same, &Near::default(), 9, true);
        let order: Vec<&str> = hits.iter().map(|hit| hit.session.as_str()).collect();
        assert_eq!(order, ["a", "bb", "ccc"]);
    }

    #[test]
    fn what_tells_the_same_is_folded_however_it_was_found() {
        let worded = vec![
            (chunk("a", 4, 6.0, &[0, 1]), Some(0.5)),
            (chunk("a", 5, 5.0, &[0]), Some(0.9)),
        ];
        let nearest = vec![
            near("a", 5, 0.9),
            near("a", 6, 0.8),
            near("a", 9, 0.7),
            near("bb", 1, 0.6),
        ];
        let wants = [("a", 4, 2), ("a", 9, 0), ("bb", 1, 0)];
        let wants = wants.map(|(name, part, folded)| (name.to_owned(), part, folded));
        assert_eq!(fused(worded, nearest), wants);
    }
}
