//! What episodes mean, as vectors: which still have none, and which are nearest to a question. All
//! vectors are compared, as they lie in `vector_packs`: no index, and no extension of SQLite. Knows rows and
//! filters, but not models and what a vector is made of (`model::embedding`).

use crate::model::embedding::{Meaning, PassageVectors};
use crate::model::time::Time;
use crate::store::compression::Unpacked;
use crate::store::damaged_rows::sound;
use crate::store::error::failed;
use crate::store::search::candidates::SearchCandidate;
use crate::store::search::evidence::Evidence;
use crate::store::search::query::{Hit, Keeps, Query, patterns, restrict};
use crate::store::search::sessions::Conditions;
use crate::store::search::vector_packs::each_vector;
use crate::store::{Result, Store};
use rusqlite::{OptionalExtension, ToSql, params};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use uuid::Uuid;

/// An episode without a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unembedded {
    /// Its row.
    n: i64,
    /// Its session's project.
    pub project_path: String,
    /// Where its session worked.
    pub cwd: Option<String>,
    /// Its log; empty where it has none.
    pub path: String,
}

/// A text that is to get its vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToEmbed {
    n: i64,
    revision: i64,
    /// Attempts that failed.
    pub attempts: u32,
    /// Which it is, for people: the beginning of its episode's id, and its session.
    pub name: String,
    /// The episode's title, an empty line, and its text, as they are stored.
    pub text: String,
}

/// How far a model is with the texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Embedded {
    /// Episodes with a vector.
    pub made: u64,
    /// Episodes that have none yet; of projects too whose texts are sent nowhere.
    pub waiting: u64,
    /// Given up.
    pub refused: u64,
}

/// What is nearest to a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Nearest {
    /// The nearest first; their scores are 0.
    pub all: Vec<SearchCandidate>,
    /// How near each candidate is that was found by words; `None`: it has no vector.
    pub found: Vec<Option<f32>>,
    /// The mean of the episodes' cosines, all that the filters let through, and their standard deviation: what a
    /// difference is worth.
    pub mean: f64,
    /// See `mean`.
    pub spread: f64,
    /// Vectors that were compared: what it cost.
    pub compared: u64,
}

/// Less has nothing in common with a question, whatever the model.
const SIMILARITY_MIN: f32 = 0.2;

/// Of an episode whose text may be sent.
const HAS_A_TEXT: &str = "e.source NOT IN ('message', 'git_bulk_update')
    AND EXISTS (SELECT 1 FROM body b WHERE b.episode = e.n AND b.text <> '')";

impl Store {
    /// Episodes that this model is to be asked about now, the latest first. Looks at every episode.
    pub fn unembedded(&self, made_by: &str, now: Time) -> Result<Vec<Unembedded>> {
        let sql = format!(
            "SELECT e.n, s.project_path, s.cwd, coalesce(f.path, f.key, '')
             FROM episode e JOIN session s ON s.n = e.session LEFT JOIN file f ON f.n = e.file
             LEFT JOIN embedding v ON v.episode = e.n AND v.model = ?1
             WHERE (v.state IS NULL OR v.state = 'waiting' AND coalesce(v.next_at, 0) <= ?2)
                 AND {HAS_A_TEXT}
                 AND e.n NOT IN (SELECT episode FROM condensing WHERE state = 'waiting')
             ORDER BY coalesce(e.ended_at, e.valid_at, e.indexed_at) DESC, e.id"
        );
        let read = || -> rusqlite::Result<Vec<Unembedded>> {
            let mut select = self.db.prepare_cached(&sql)?;
            let rows = select.query_map(params![made_by, now.0], |row| {
                Ok(Unembedded {
                    n: row.get(0)?,
                    project_path: row.get(1)?,
                    cwd: row.get(2)?,
                    path: row.get(3)?,
                })
            })?;
            rows.collect()
        };
        read().map_err(failed("reading which texts have no vector"))
    }

    /// The texts of some of them.
    pub fn to_embed(&self, made_by: &str, some: &[Unembedded]) -> Result<Vec<ToEmbed>> {
        let read = || -> rusqlite::Result<Vec<ToEmbed>> {
            let mut select = self.db.prepare_cached(
                "SELECT e.revision, e.title, b.text, coalesce(v.attempts, 0), e.id, s.id
                 FROM episode e JOIN session s ON s.n = e.session JOIN body b ON b.episode = e.n
                 LEFT JOIN embedding v ON v.episode = e.n AND v.model = ?2 WHERE e.n = ?1",
            )?;
            let one = |waiting: &Unembedded| {
                select.query_row(params![waiting.n, made_by], |row| {
                    let (title, Unpacked(body)): (String, Unpacked) = (row.get(1)?, row.get(2)?);
                    Ok(ToEmbed {
                        n: waiting.n,
                        revision: row.get(0)?,
                        attempts: row.get(3)?,
                        name: format!(
                            "episode {} of session {}",
                            Uuid::from_bytes(row.get(4)?),
                            row.get::<_, String>(5)?
                        ),
                        text: format!("{title}\n\n{body}"),
                    })
                })
            };
            some.iter().map(one).filter_map(sound).collect()
        };
        read().map_err(failed("reading texts"))
    }

    /// Stores the vectors of some texts; one that changed since it was read keeps none.
    pub fn put_vectors(
        &mut self,
        made_by: &str,
        made: &[(&ToEmbed, PassageVectors)],
    ) -> Result<()> {
        self.write_transaction("storing vectors", |tx| {
            let mut put = tx.prepare_cached(PUT)?;
            for (text, vector) in made {
                let key = (text.n, text.revision, made_by);
                let (next_at, error) = (None::<i64>, None::<&str>);
                let vector = vector.as_bytes();
                put.execute(params![
                    key.0, key.1, key.2, "made", 0, next_at, error, vector
                ])?;
            }
            Ok(())
        })
    }

    /// Notes that a model gave no vector for a text, and why; `next_at`: when it is asked again, `None`:
    /// never.
    pub fn put_refusal(
        &mut self,
        made_by: &str,
        text: &ToEmbed,
        next_at: Option<Time>,
        why: &str,
    ) -> Result<()> {
        let state = if next_at.is_some() {
            "waiting"
        } else {
            "refused"
        };
        self.write_transaction("noting that a text has no vector", |tx| {
            tx.prepare_cached(PUT)?.execute(params![
                text.n,
                text.revision,
                made_by,
                state,
                text.attempts + 1,
                next_at.map(|at| at.0),
                why,
                None::<&[u8]>
            ])?;
            Ok(())
        })
    }

    /// How far it is with the vectors that are made so.
    pub fn embedded(&self, made_by: &str) -> Result<Embedded> {
        let sql = format!(
            "SELECT count(*) FILTER (WHERE v.state = 'made'),
                 count(*) FILTER (WHERE v.state = 'refused'),
                 count(*) FILTER (WHERE coalesce(v.state, 'waiting') = 'waiting' AND {HAS_A_TEXT})
             FROM episode e LEFT JOIN embedding v ON v.episode = e.n AND v.model = ?1"
        );
        self.db
            .query_row(&sql, [made_by], |row| {
                Ok(Embedded {
                    made: row.get(0)?,
                    refused: row.get(1)?,
                    waiting: row.get(2)?,
                })
            })
            .map_err(failed("counting vectors"))
    }

    /// Bytes of a vector that is made so; `None`: there is none. They all have one length.
    pub fn vector_length(&self, made_by: &str) -> Result<Option<usize>> {
        let stored: Option<Vec<u8>> = self
            .db
            .query_row(
                "SELECT vector FROM embedding WHERE model = ?1 AND state = 'made' LIMIT 1",
                [made_by],
                |row| row.get(0),
            )
            .optional()
            .map_err(failed("reading a vector"))?;
        Ok(stored.and_then(|stored| PassageVectors::length(&stored)))
    }

    /// At most `query.limit` episodes that mean what a question means, among those that the filters
    /// and `keeps` let through; the query's terms only make snippets. `found` are those that its words find.
    /// Some 30 ms over a hundred thousand vectors.
    pub fn nearest(
        &self,
        query: &Query,
        meaning: &Meaning,
        keeps: Option<&Keeps<'_>>,
        found: &[SearchCandidate],
    ) -> Result<Nearest> {
        let read = || -> rusqlite::Result<Nearest> {
            let (mut near, compared) = self.near(query, meaning)?;
            let (mean, spread) = mean_and_spread(&near);
            let found = self.near_of(found, &near)?;
            let mut best: Vec<(i64, f64)> = Vec::new();
            let mut similar = Vec::new();
            for at in 0..near.len() {
                if at % SORTED_AT_ONCE == 0 {
                    sort_next(&mut near[at..]);
                }
                let (n, similarity) = near[at];
                if similarity < SIMILARITY_MIN || best.len() >= query.limit as usize {
                    break;
                }
                let kept = match keeps {
                    Some(keeps) => keeps(&self.counted(n)?),
                    None => true,
                };
                if kept {
                    best.push((n, 0.0));
                    similar.push(similarity);
                }
            }
            let read = self.read_all(&best, &patterns(&query.terms))?;
            let candidate = |((mut hit, evidence), similarity): ((Hit, Evidence), f32)| {
                hit.similarity = Some(similarity);
                SearchCandidate {
                    hit,
                    evidence,
                    names_file: false,
                }
            };
            let all = read.into_iter().zip(similar).map(candidate);
            let mut all: Vec<SearchCandidate> = all.collect();
            all.sort_by(|one, other| nearer(&one.hit, &other.hit));
            Ok(Nearest {
                all,
                found,
                mean,
                spread,
                compared,
            })
        };
        read().map_err(failed("searching"))
    }

    /// How near some candidates are.
    fn near_of(
        &self,
        found: &[SearchCandidate],
        near: &[(i64, f32)],
    ) -> rusqlite::Result<Vec<Option<f32>>> {
        let mut row = self
            .db
            .prepare_cached("SELECT n FROM episode WHERE id = ?1")?;
        let mut at: FxHashMap<i64, usize> = FxHashMap::default();
        for (nth, candidate) in found.iter().enumerate() {
            let id = candidate.hit.episode.into_bytes();
            at.insert(row.query_row([id], |row| row.get(0))?, nth);
        }
        let mut all = vec![None; found.len()];
        for (n, similarity) in near {
            if let Some(nth) = at.get(n) {
                all[*nth] = Some(*similarity);
            }
        }
        Ok(all)
    }

    /// Row numbers and cosines of whatever the filters let through; and how many vectors were compared.
    fn near(&self, query: &Query, meaning: &Meaning) -> rusqlite::Result<(Vec<(i64, f32)>, u64)> {
        let mut all = Conditions::default();
        restrict(query, &mut all);
        let wanted = match all.is_empty() {
            true => None,
            false => Some(self.episodes_of(&all)?),
        };
        let (mut near, mut compared) = (Vec::new(), 0);
        let probe = meaning.vector.probe();
        let see = |episode, vectors: &[u8]| {
            if let Some((similarity, passages)) = PassageVectors::nearest(vectors, &probe) {
                near.push((episode, similarity));
                compared += passages;
            }
        };
        each_vector(&self.db, &meaning.made_by, wanted.as_deref(), see)?;
        Ok((near, compared))
    }

    /// The rows of these episodes, in order.
    fn episodes_of(&self, conditions: &Conditions) -> rusqlite::Result<Vec<i64>> {
        let sql = format!(
            "SELECT e.n FROM episode e JOIN session s ON s.n = e.session WHERE {} ORDER BY e.n",
            conditions.sql()
        );
        let values: Vec<&dyn ToSql> = conditions.values.iter().map(AsRef::as_ref).collect();
        let mut select = self.db.prepare_cached(&sql)?;
        let rows = select.query_map(values.as_slice(), |row| row.get(0))?;
        rows.collect()
    }
}

/// Of what is near, so many are sorted at once: nobody looks at more than a few of a hundred thousand.
const SORTED_AT_ONCE: usize = 1_000;

/// Puts the nearest ones first, [`SORTED_AT_ONCE`] of them in order.
fn sort_next(near: &mut [(i64, f32)]) {
    let order =
        |(n, one): &(i64, f32), (m, other): &(i64, f32)| other.total_cmp(one).then(n.cmp(m));
    let count = near.len().min(SORTED_AT_ONCE);
    if count < near.len() {
        near.select_nth_unstable_by(count, order);
    }
    near[..count].sort_unstable_by(order);
}

/// The mean of cosines and their standard deviation.
fn mean_and_spread(near: &[(i64, f32)]) -> (f64, f64) {
    let count = near.len().max(1) as f64;
    let mean = near.iter().map(|(_, one)| f64::from(*one)).sum::<f64>() / count;
    let squares = near.iter().map(|(_, one)| (f64::from(*one) - mean).powi(2));
    (mean, (squares.sum::<f64>() / count).sqrt())
}

/// The nearest first, then the latest, then by id.
fn nearer(one: &Hit, other: &Hit) -> Ordering {
    let similarity = |hit: &Hit| hit.similarity.unwrap_or_default();
    similarity(other)
        .total_cmp(&similarity(one))
        .then_with(|| other.valid_at.cmp(&one.valid_at))
        .then_with(|| one.episode.cmp(&other.episode))
}

const PUT: &str = "INSERT OR REPLACE INTO embedding
    (episode, model, state, attempts, next_at, error, vector)
    SELECT n, ?3, ?4, ?5, ?6, ?7, ?8 FROM episode WHERE n = ?1 AND revision = ?2";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_many_there_are_the_nearest_come_first() {
        let count = 2 * SORTED_AT_ONCE + 7;
        let mixed = |n: usize| (n as i64, (n * 7_919 % count) as f32);
        let mut near: Vec<(i64, f32)> = (0..count).map(mixed).collect();
        for at in (0..count).step_by(SORTED_AT_ONCE) {
            sort_next(&mut near[at..]);
        }
        let cosines: Vec<f32> = near.iter().map(|(_, one)| *one).collect();
        let wants: Vec<f32> = (0..count).rev().map(|n| n as f32).collect();
        assert_eq!(cosines, wants);
    }
}
