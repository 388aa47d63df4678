//! Which answer comes first, how sure it is, and which ones tell the same. Pure. docs/memory.md says where
//! the weights are from.

use super::named_days::NamedDays;
use super::rank_weights::{
    FEW_EPISODES, TermWeights, WordCounts, grown, passage, sentence, stretches,
};
use crate::model::episode::EpisodeSource;
use crate::model::time::Time;
use crate::rules::products::is_product;
use crate::rules::words::tokens;
use crate::store::{Candidates, Hit, SearchCandidate, Whole};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Ordering;
use std::path::Path;

/// Where a question is asked, and what it is near to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Near {
    /// The project's path.
    pub project: Option<String>,
    /// Files that it is about: paths, or ends of paths.
    pub files: Vec<String>,
    /// Days that it names: what was said then comes first.
    pub days: Vec<NamedDays>,
}

impl Near {
    /// Something is of the project where it is asked.
    pub fn is_here(&self, project_path: &str) -> bool {
        let path = Path::new(project_path);
        self.project
            .as_ref()
            .is_some_and(|root| path.starts_with(root))
    }
}

/// What was ranked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranked {
    /// The best first, each with its score, its confidence, and how many were folded into it.
    pub hits: Vec<Hit>,
}

/// An answer of at least this confidence may be shown to somebody who didn't ask.
pub const CONFIDENT: f64 = 0.5;

/// What a title adds for each unit of rarity of the terms in it.
const TITLE: f64 = 0.1;

/// The same for how sure it is.
const TITLE_SAYS: f64 = 0.5;

/// What the rank of a session's summary in the index adds to how sure it is of the session.
const SUMMARY: f64 = 0.3;

/// Factors of what is near.
const SAME_PROJECT: f64 = 1.3;
const SAME_FILE: f64 = 1.2;

/// What a candidate of a day that the question names gets more than others, and after how many days a third of
/// that is left: later, since people speak of what has happened, and earlier, since they speak of plans.
const NAMED_DAY: f64 = 1.0;
const NAMED_DAY_LATER: f64 = 8.0;
const NAMED_DAY_EARLIER: f64 = 3.0;

/// What the latest candidate gets more than one that is infinitely old, and after how many days half
/// of that is left.
const RECENCY: f64 = 0.05;
const RECENCY_HALF_DAYS: f64 = 90.0;

/// Each further hit of the same session counts so much of the one before.
const FURTHER: f64 = 0.6;

/// Texts that are alike as much as this are copies.
const COPIES_FROM: f64 = 0.8;

/// In an empty store, being the only session that has any of the words is worth so much of being the
/// only one of many.
const ALONE: f64 = 0.5;

/// A word that is a part of the project's path says little of the project's sessions.
const PROJECT_NAME: f64 = 0.3;

/// A product is named rarely where so many times its episodes are fewer than all. More: a session about the
/// language that all of a project is written in seldom says which.
const RARE_NAME: u64 = 10;

/// What is left of being sure where the question names a product that the session never names: it speaks of
/// something else, whatever other words it has.
const LACKS_A_NAME: f64 = 0.1;

/// Ranks what was found; gives the best `limit`. What tells the same is folded where `folds` is set.
pub fn rank(found: &Candidates, near: &Near, limit: u32, folds: bool) -> Ranked {
    let mut groups = ranking(found, near, folds);
    groups.truncate(limit as usize);
    let hits = groups.iter().map(|group| group.hit(&found.all));
    Ranked {
        hits: hits.collect(),
    }
}

/// The same as groups of what tells the same, all of them.
pub(super) fn ranking(found: &Candidates, near: &Near, folds: bool) -> Vec<Group> {
    let terms = TermWeights::new(&found.documents, found.episodes);
    let sessions = Sessions::of(found, &terms);
    let newest = found.all.iter().filter_map(|c| c.hit.valid_at).max();
    let mut all: Vec<Judged> = Vec::with_capacity(found.all.len());
    for (n, candidate) in found.all.iter().enumerate() {
        let judged = &sessions.judged[n];
        let session = &sessions.by_id[&candidate.hit.whole()];
        let age_ms = newest
            .zip(candidate.hit.valid_at)
            .map(|(new, at)| new.0 - at.0);
        all.push(Judged {
            score: (judged.score + session.certainty())
                * nearness(candidate, near)
                * recency(age_ms),
            certainty: judged.certainty,
            terms: judged.terms.clone(),
        });
    }
    summaries_first(&found.all, &mut all);
    let confidence: FxHashMap<Whole<'_>, f64> = sessions.confidence(found, &terms.rarity);
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|a, b| {
        let (one, other) = (&found.all[*a].hit, &found.all[*b].hit);
        better((all[*a].score, one), (all[*b].score, other))
    });
    let mut groups: Vec<Group> = Vec::new();
    for n in order {
        join(&mut groups, n, &found.all, folds);
    }
    let mut seen: FxHashMap<Whole<'_>, i32> = FxHashMap::default();
    for group in &mut groups {
        let whole = found.all[group.best].hit.whole();
        let before = seen.entry(whole).or_default();
        group.score = all[group.best].score * FURTHER.powi(*before);
        group.confidence = confidence[&whole];
        *before += 1;
    }
    sort(&mut groups, &found.all);
    groups
}

/// A candidate's worth.
struct Judged {
    /// What it is ordered by.
    score: f64,
    /// What it is sure by: no common word adds to it, however often it is said.
    certainty: f64,
    /// That its text or its title has.
    terms: FxHashSet<usize>,
}

impl Judged {
    /// `session` is what its session is worth as a whole.
    fn of(candidate: &SearchCandidate, session: f64, terms: &TermWeights) -> Judged {
        let evidence = &candidate.evidence;
        let titled: FxHashSet<usize> = evidence.title.iter().copied().collect();
        let title = |weights: &[f64]| titled.iter().map(|term| weights[*term]).sum::<f64>();
        let in_text = evidence.positions.iter().map(|place| place.term);
        let stretches = stretches(&evidence.positions, &terms.weights);
        let close = passage(&evidence.positions, &terms.rarity).weight;
        Judged {
            score: session + stretches + TITLE * title(&terms.weights),
            certainty: candidate.hit.score + close + TITLE_SAYS * title(&terms.rarity),
            terms: in_text.chain(titled).collect(),
        }
    }
}

/// Candidates by session, those of git by operation.
struct Sessions<'c> {
    judged: Vec<Judged>,
    by_id: FxHashMap<Whole<'c>, Together>,
}

/// A session's candidates.
#[derive(Default)]
struct Together {
    /// What its log says, which its summary says again; without candidates of the log, what the summary does.
    counts: WordCounts,
    /// What the index gives its summary.
    summary: f64,
    /// The best certainty of its candidates.
    best: f64,
    candidates: Vec<usize>,
}

impl Together {
    /// What the session is sure by.
    fn certainty(&self) -> f64 {
        self.best + SUMMARY * self.summary
    }
}

impl<'c> Sessions<'c> {
    fn of(found: &'c Candidates, terms: &TermWeights) -> Sessions<'c> {
        let mut by_id: FxHashMap<Whole<'_>, Together> = FxHashMap::default();
        let is_summary = |n: &usize| found.all[*n].hit.source == EpisodeSource::SessionSummary;
        let (summaries, logs): (Vec<usize>, Vec<usize>) =
            (0..found.all.len()).partition(is_summary);
        for n in logs.into_iter().chain(summaries) {
            let SearchCandidate { hit, evidence, .. } = &found.all[n];
            let session = by_id.entry(hit.whole()).or_default();
            session.candidates.push(n);
            if is_summary(&n) {
                session.summary = hit.score;
            }
            if !is_summary(&n) || session.counts.words == 0 {
                session.counts.add(&evidence.positions, evidence.words);
            }
        }
        let words: usize = by_id.values().map(|session| session.counts.words).sum();
        let average = words as f64 / by_id.len().max(1) as f64;
        let judge = |candidate: &SearchCandidate| {
            let session = &by_id[&candidate.hit.whole()].counts;
            Judged::of(candidate, session.bm25(&terms.weights, average), terms)
        };
        let judged: Vec<Judged> = found.all.iter().map(judge).collect();
        for session in by_id.values_mut() {
            let certainties = session.candidates.iter().map(|n| judged[*n].certainty);
            session.best = certainties.fold(0.0, f64::max);
        }
        Sessions { judged, by_id }
    }

    /// How sure it is of each session that it answers.
    fn confidence(&self, found: &'c Candidates, rarity: &[f64]) -> FxHashMap<Whole<'c>, f64> {
        let one = |(id, session): (&Whole<'c>, &Together)| {
            let grounds = self.grounds(found, session, rarity);
            (*id, grounds.confidence())
        };
        self.by_id.iter().map(one).collect()
    }

    /// How far a session's best certainty is ahead of every other one's.
    fn ahead(&self, session: &Together, episodes: u64) -> f64 {
        let own = |n: &usize| session.candidates.contains(n);
        let others = (0..self.judged.len()).filter(|n| !own(n));
        match others.map(|n| self.judged[n].certainty).reduce(f64::max) {
            Some(other) => 1.0 - other / session.best.max(1e-6),
            None => ALONE + (1.0 - ALONE) * (episodes as f64 / FEW_EPISODES as f64).min(1.0),
        }
    }

    fn grounds(&self, found: &Candidates, session: &Together, rarity: &[f64]) -> Grounds {
        let own: FxHashSet<String> = session
            .candidates
            .first()
            .map(|n| tokens(&found.all[*n].hit.project_path).collect())
            .unwrap_or_default();
        let is_own: Vec<bool> = found
            .terms
            .iter()
            .map(|term| tokens(&term.text).all(|word| own.contains(&word)))
            .collect();
        let weights: Vec<f64> = rarity
            .iter()
            .zip(&is_own)
            .map(|(rarity, own)| if *own { PROJECT_NAME * rarity } else { *rarity })
            .collect();
        let judged = session.candidates.iter().map(|n| &self.judged[*n]);
        let seen: FxHashSet<usize> = judged.flat_map(|j| j.terms.iter().copied()).collect();
        let positions = session
            .candidates
            .iter()
            .map(|n| found.all[*n].evidence.positions.as_slice());
        let passages: Vec<Vec<usize>> = positions
            .clone()
            .map(|positions| passage(positions, &weights).terms)
            .collect();
        let sentences = positions.map(|positions| sentence(positions, &weights).terms);
        let own = |terms: &[usize]| terms.iter().filter(|term| !is_own[**term]).count();
        let close = passages.iter().map(|terms| own(terms)).max();
        let lacks = |n: &usize| {
            let is_rare = RARE_NAME * found.documents[*n] < found.episodes.max(1);
            is_rare && !is_own[*n] && !seen.contains(n) && is_product(&found.terms[*n].text)
        };
        let count = found.terms.len();
        let share = seen.iter().map(|term| weights[*term]).sum::<f64>();
        Grounds {
            score: session.certainty() / ((found.episodes.max(FEW_EPISODES) + 1) as f64).ln(),
            covered: share / weights.iter().sum::<f64>().max(1e-6),
            close: close.unwrap_or(0),
            together: sentences.map(|terms| own(&terms)).max().unwrap_or(0),
            lacks_a_name: (0..count).any(|n| lacks(&n)),
            grown: grown(found.episodes),
            is_whole: count > 1 && passages.iter().any(|terms| terms.len() == count),
            ahead: self.ahead(session, found.episodes),
        }
    }
}

/// Why a session should answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grounds {
    /// Its best score, in units of the rarest word that a store of this size can have.
    pub score: f64,
    /// The share of the question's words that it has, by their rarity.
    pub covered: f64,
    /// Words of the question that stand close together in it.
    pub close: usize,
    /// Words of the question that stand in one stretch of a sentence's length.
    pub together: usize,
    /// All stand close together, and they are several.
    pub is_whole: bool,
    /// The question names a product that the session never names.
    pub lacks_a_name: bool,
    /// From 0 to 1: how far the store has grown, so that it is known how common a word is.
    pub grown: f64,
    /// How far its best score is ahead of the next session's, as a share of it: 1 where no other one
    /// has any of the words (less in a store of few episodes), below 0 where another one is better.
    pub ahead: f64,
}

impl Grounds {
    /// How sure it is that the session answers, from 0 to 1. The weights are logistic regressions over one half
    /// of `fixtures/truth/recall.jsonl`. In a store that has grown: its questions in their own project, over all
    /// projects with the sessions that answer and without, in other projects, and prompts of every day. In a small
    /// one: the same in stores of one log alone; there, a short question whose words all stand together is judged
    /// by one over its own project's alone. The constants put [`CONFIDENT`] where it is.
    pub fn confidence(&self) -> f64 {
        let (close, together) = (self.close as f64, self.together as f64);
        let usual = 1.23 * self.score + 1.5 * self.covered + 1.31 * close + 1.6 * self.ahead - 7.55;
        let whole =
            0.75 * self.score + 3.54 * self.covered + 0.53 * close + 1.82 * self.ahead - 5.66;
        let small = match self.is_whole {
            true => usual.max(whole),
            false => usual,
        };
        let large =
            0.97 * self.score + 0.71 * self.covered + 0.92 * together + 1.38 * self.ahead - 5.08;
        let log_odds = small + self.grown * (large - small);
        let named = if self.lacks_a_name { LACKS_A_NAME } else { 1.0 };
        named / (1.0 + (-log_odds).exp())
    }
}

fn nearness(candidate: &SearchCandidate, near: &Near) -> f64 {
    let project = match near.is_here(&candidate.hit.project_path) {
        true => SAME_PROJECT,
        false => 1.0,
    };
    let file = if candidate.names_file { SAME_FILE } else { 1.0 };
    project * file * on_days(candidate.hit.valid_at, &near.days)
}

fn on_days(at: Option<Time>, days: &[NamedDays]) -> f64 {
    let nearest = |at: Time| {
        let each = days.iter().map(|days| match days.distance(at) {
            later @ 0.0.. => (-later / NAMED_DAY_LATER).exp(),
            earlier => (earlier / NAMED_DAY_EARLIER).exp(),
        });
        each.fold(0.0, f64::max)
    };
    1.0 + NAMED_DAY * at.map_or(0.0, nearest)
}

fn recency(age_ms: Option<i64>) -> f64 {
    const DAY_MS: f64 = 86_400_000.0;
    let age = age_ms.map_or(f64::INFINITY, |ms| ms as f64 / DAY_MS);
    1.0 + RECENCY * (-age / RECENCY_HALF_DAYS).exp2()
}

/// A session's summary goes before those of its chunks that have nothing that it doesn't have.
fn summaries_first(candidates: &[SearchCandidate], all: &mut [Judged]) {
    let is_summary = |n: &usize| candidates[*n].hit.source == EpisodeSource::SessionSummary;
    for summary in (0..all.len()).filter(is_summary) {
        let chunks = (0..all.len()).filter(|n| {
            candidates[*n].hit.session == candidates[summary].hit.session
                && all[*n].terms.is_subset(&all[summary].terms)
        });
        let best = chunks.map(|n| all[n].score).fold(0.0, f64::max);
        all[summary].score = all[summary].score.max(best);
    }
}

/// By score, then the latest, then by id.
fn better((score, hit): (f64, &Hit), (other_score, other): (f64, &Hit)) -> Ordering {
    other_score
        .total_cmp(&score)
        .then_with(|| other.valid_at.cmp(&hit.valid_at))
        .then_with(|| hit.episode.cmp(&other.episode))
}

/// The best group first.
pub(super) fn sort(groups: &mut [Group], candidates: &[SearchCandidate]) {
    groups.sort_by(|a, b| {
        let (one, other) = (&candidates[a.best].hit, &candidates[b.best].hit);
        better((a.score, one), (b.score, other))
    });
}

/// Candidates that tell the same.
#[derive(Debug, Default)]
pub(super) struct Group {
    best: usize,
    /// Parts of the best one's stream that are neighbours.
    parts: (u32, u32),
    /// All of them; the best one too.
    pub(super) members: Vec<usize>,
    pub(super) score: f64,
    confidence: f64,
    pub(super) similarity: Option<f32>,
}

impl Group {
    /// What its best one is a part of.
    pub(super) fn whole<'c>(&self, candidates: &'c [SearchCandidate]) -> Whole<'c> {
        candidates[self.best].hit.whole()
    }

    /// The best one, for all of them.
    pub(super) fn hit(&self, candidates: &[SearchCandidate]) -> Hit {
        let best = &candidates[self.best].hit;
        let others = self.members.iter().map(|n| &candidates[*n].hit);
        let others =
            others.filter(|hit| hit.session == best.session && hit.episode != best.episode);
        Hit {
            score: self.score,
            confidence: self.confidence,
            folded: u32::try_from(self.members.len() - 1).unwrap_or(u32::MAX),
            similarity: self.similarity,
            others: others.map(|hit| hit.episode).collect(),
            ..best.clone()
        }
    }
}

/// Puts a candidate to the first group that tells the same: neighbouring chunks of a stream, and copies
/// of a text; else, or where nothing `folds`, to one of its own. Gives which it is.
pub(super) fn join(
    groups: &mut Vec<Group>,
    n: usize,
    candidates: &[SearchCandidate],
    folds: bool,
) -> usize {
    let SearchCandidate { hit, evidence, .. } = &candidates[n];
    let tells_the_same = |group: &Group| {
        let best = &candidates[group.best];
        is_neighbour(group, &best.hit, hit)
            || best.evidence.sketch.likeness(&evidence.sketch) >= COPIES_FROM
    };
    let same = groups
        .iter()
        .position(|group| folds && tells_the_same(group));
    let Some(at) = same else {
        groups.push(Group {
            best: n,
            parts: (hit.part, hit.part),
            members: vec![n],
            ..Group::default()
        });
        return groups.len() - 1;
    };
    let group = &mut groups[at];
    group.members.push(n);
    if is_neighbour(group, &candidates[group.best].hit, hit) {
        group.parts.0 = group.parts.0.min(hit.part);
        group.parts.1 = group.parts.1.max(hit.part);
    }
    at
}

/// The chunk stands directly before or after those of the group.
fn is_neighbour(group: &Group, best: &Hit, hit: &Hit) -> bool {
    let chunks = [best.source, hit.source] == [EpisodeSource::Session; 2];
    let (first, last) = group.parts;
    chunks
        && best.session == hit.session
        && best.stream == hit.stream
        && (hit.part + 1 == first || hit.part == last + 1)
}

#[cfg(test)]
pub(super) mod tests;
