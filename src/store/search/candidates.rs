//! Episodes that may answer, with what it takes to rank them: how rare each term is, and where each
//! text has it. Knows what the index costs; refuses to rank.

use crate::store::error::failed;
use crate::store::search::evidence::Evidence;
use crate::store::search::pattern::{Pattern, Term};
use crate::store::search::query::{Hit, Keeps, Query};
use crate::store::{Result, Store};
use rusqlite::params_from_iter;

/// An episode that may answer.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchCandidate {
    /// Its score is what the index gives it (BM25).
    pub hit: Hit,
    /// What its text says about the query.
    pub evidence: Evidence,
    /// One of the files that the question is about is named in it.
    pub names_file: bool,
}

/// What was found for a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Candidates {
    /// The best by the index first.
    pub all: Vec<SearchCandidate>,
    /// The terms of the query that have a word in them; [`super::Place::term`] counts these.
    pub terms: Vec<Term>,
    /// Episodes that have each term; estimated where that are very many.
    pub documents: Vec<u64>,
    /// Episodes in the store.
    pub episodes: u64,
    /// Rows of the index that were counted or ranked: what it cost.
    pub rows: u64,
}

/// Episodes that have a term are counted up to here from both ends of the store, and are taken to lie
/// as close between. More: a dozen common words cost milliseconds; fewer: what was spoken of at times
/// is judged by chance.
const COUNTED_MAX: u64 = 500;

/// Rows of the index that are ranked before common words are left out. More: slower, in a large store each row
/// lies on a page of its own; fewer: words in a tenth of all episodes don't help to find any.
const ROWS_MAX: u64 = 3_000;

/// Where a project or a session has fewer with the rare words, the common ones are asked for too.
const FEW: usize = 5;

impl Store {
    /// At most `query.limit` episodes that have all terms, or any of them where `query.any` is set,
    /// among those that the filters and `keeps` let through. With `any`, the rarest terms find
    /// them, and common ones only where these find next to nothing; in the texts all terms are looked
    /// for.
    /// `files` are paths, or ends of paths. Without terms: nothing.
    pub fn candidates(
        &self,
        query: &Query,
        keeps: Option<&Keeps<'_>>,
        files: &[String],
    ) -> Result<Candidates> {
        let read = || -> rusqlite::Result<Candidates> {
            let worded = |term: &Term| Some((term.clone(), Pattern::new(term)?));
            let (terms, mut patterns): (Vec<Term>, Vec<Pattern>) =
                query.terms.iter().filter_map(worded).unzip();
            if patterns.is_empty() {
                return Ok(Candidates::default());
            }
            let episodes = self.episodes_counted()?;
            let (documents, counted): (Vec<u64>, Vec<u64>) =
                self.weigh(&mut patterns)?.into_iter().unzip();
            let (best, rows) = match query.any {
                true => {
                    // rare words first: often they find enough, and common ones cost most
                    let mut order = rarest_first(&documents);
                    order.retain(|n| !query.skips_common || is_rare(documents[*n], episodes));
                    self.best_of_any(query, &patterns, &documents, &order, keeps)?
                }
                false => (self.best(query, &patterns, keeps)?, 0),
            };
            let read = self.read_all(&best, &patterns)?;
            let mut all = Vec::with_capacity(read.len());
            for ((n, _), (hit, evidence)) in best.into_iter().zip(read) {
                all.push(SearchCandidate {
                    names_file: self.names_one(n, files)?,
                    hit,
                    evidence,
                });
            }
            Ok(Candidates {
                all,
                terms,
                rows: rows + counted.iter().sum::<u64>(),
                episodes,
                documents,
            })
        };
        read().map_err(failed("searching"))
    }

    /// How many episodes have each pattern, and rows counted for it; a pattern that none has is asked for
    /// in its other forms from now on.
    fn weigh(&self, patterns: &mut [Pattern]) -> rusqlite::Result<Vec<(u64, u64)>> {
        let mut all = Vec::with_capacity(patterns.len());
        for pattern in patterns {
            let mut documents = self.documents(pattern)?;
            if documents.0 == 0 && !pattern.forms.is_empty() {
                pattern.asks_forms = true;
                documents = self.documents(pattern)?;
            }
            all.push(documents);
        }
        Ok(all)
    }

    fn documents(&self, pattern: &Pattern) -> rusqlite::Result<(u64, u64)> {
        let expression = pattern.expression();
        let count = |order: &str| -> rusqlite::Result<(u64, Option<i64>, Option<i64>)> {
            let mut select = self.db.prepare_cached(&format!(
                "SELECT count(*), min(n), max(n) FROM (SELECT rowid AS n FROM words
                     WHERE words MATCH ?1 ORDER BY rowid {order} LIMIT {COUNTED_MAX})"
            ))?;
            select.query_row([&expression], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
        };
        let (first, _, first_to) = count("ASC")?;
        if first < COUNTED_MAX {
            return Ok((first, first));
        }
        let (last, last_from, _) = count("DESC")?;
        let mut ends = self
            .db
            .prepare_cached("SELECT (SELECT min(n) FROM episode), (SELECT max(n) FROM episode)")?;
        let (from, to): (i64, i64) = ends.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let looked_at = first_to.unwrap_or(to) - from + 1 + to - last_from.unwrap_or(from) + 1;
        let share = (first + last) as f64 / looked_at.max(1) as f64;
        Ok((((to - from + 1) as f64 * share) as u64, first + last))
    }

    /// `order` are the patterns that may find something, the rarest first.
    fn best_of_any(
        &self,
        query: &Query,
        patterns: &[Pattern],
        documents: &[u64],
        order: &[usize],
        keeps: Option<&Keeps<'_>>,
    ) -> rusqlite::Result<(Vec<(i64, f64)>, u64)> {
        let (mut taken, mut rows) = (0, 0);
        while taken < order.len() && (taken == 0 || rows + documents[order[taken]] <= ROWS_MAX) {
            rows += documents[order[taken]];
            taken += 1;
        }
        let ask = |taken: usize| {
            let some: Vec<Pattern> = order[..taken]
                .iter()
                .map(|n| patterns[*n].clone())
                .collect();
            match some.is_empty() {
                true => Ok(Vec::new()),
                false => self.best(query, &some, keeps),
            }
        };
        let best = ask(taken)?;
        let is_narrow = query.namespaces.is_some() || query.session.is_some();
        let enough = if is_narrow { FEW } else { 1 };
        if best.len() >= enough || taken == order.len() {
            return Ok((best, rows));
        }
        let rest: u64 = order[taken..].iter().map(|n| documents[*n]).sum();
        Ok((ask(order.len())?, 2 * rows + rest))
    }

    fn names_one(&self, n: i64, files: &[String]) -> rusqlite::Result<bool> {
        if files.is_empty() {
            return Ok(false);
        }
        let any = files
            .iter()
            .map(|_| "name.text = ? OR name.text LIKE '%/' || ?");
        let sql = format!(
            "SELECT EXISTS (SELECT 1 FROM episode_path p JOIN name ON name.n = p.path
                 WHERE p.episode = {n} AND ({}))",
            any.collect::<Vec<_>>().join(" OR ")
        );
        let values = files.iter().flat_map(|file| [file, file]);
        self.db
            .query_row(&sql, params_from_iter(values), |row| row.get(0))
    }

    fn episodes_counted(&self) -> rusqlite::Result<u64> {
        let mut count = self.db.prepare_cached("SELECT count(*) FROM episode")?;
        count.query_row([], |row| row.get(0))
    }
}

/// Terms that any episode has.
fn rarest_first(documents: &[u64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..documents.len()).filter(|n| documents[*n] > 0).collect();
    order.sort_by_key(|n| documents[*n]);
    order
}

/// A word of which there are few enough, or that fewer than half of the episodes have.
fn is_rare(documents: u64, episodes: u64) -> bool {
    documents < 2 * COUNTED_MAX || 2 * documents < episodes
}
