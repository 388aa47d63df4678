//! What episodes mean, as vectors: which still have none, and which are nearest to a question. All
//! vectors are looked at, in one scan: no index, and no extension of SQLite. Knows rows and
//! filters, but not models and what a vector is made of (`model::embedding`).

use crate::model::embedding::{Meaning, Vector};
use crate::model::time::Time;
use crate::store::compression::Unpacked;
use crate::store::damaged_rows::sound;
use crate::store::error::failed;
use crate::store::search::candidates::SearchCandidate;
use crate::store::search::evidence::Evidence;
use crate::store::search::query::{Hit, Keeps, Query, patterns, restrict};
use crate::store::search::sessions::Conditions;
use crate::store::{Result, Store};
use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension, ToSql, params};
use std::cmp::Ordering;

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
    pub fn unembedded(&self, model: &str, now: Time) -> Result<Vec<Unembedded>> {
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
            let rows = select.query_map(params![model, now.0], |row| {
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
    pub fn to_embed(&self, model: &str, some: &[Unembedded]) -> Result<Vec<ToEmbed>> {
        let read = || -> rusqlite::Result<Vec<ToEmbed>> {
            let mut select = self.db.prepare_cached(
                "SELECT e.revision, e.title, b.text, coalesce(v.attempts, 0)
                 FROM episode e JOIN body b ON b.episode = e.n
                 LEFT JOIN embedding v ON v.episode = e.n AND v.model = ?2 WHERE e.n = ?1",
            )?;
            let one = |waiting: &Unembedded| {
                select.query_row(params![waiting.n, model], |row| {
                    let (title, Unpacked(body)): (String, Unpacked) = (row.get(1)?, row.get(2)?);
                    Ok(ToEmbed {
                        n: waiting.n,
                        revision: row.get(0)?,
                        attempts: row.get(3)?,
                        text: format!("{title}\n\n{body}"),
                    })
                })
            };
            some.iter().map(one).filter_map(sound).collect()
        };
        read().map_err(failed("reading texts"))
    }

    /// Stores vectors by a model; a text that changed since it was read keeps none.
    pub fn put_vectors(&mut self, model: &str, made: &[(&ToEmbed, Vector)]) -> Result<()> {
        self.write_transaction("storing vectors", |tx| {
            let mut put = tx.prepare_cached(PUT)?;
            for (text, vector) in made {
                let key = (text.n, text.revision, model);
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
        model: &str,
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
                model,
                state,
                text.attempts + 1,
                next_at.map(|at| at.0),
                why,
                None::<&[u8]>
            ])?;
            Ok(())
        })
    }

    /// How far a model is.
    pub fn embedded(&self, model: &str) -> Result<Embedded> {
        let sql = format!(
            "SELECT count(*) FILTER (WHERE v.state = 'made'),
                 count(*) FILTER (WHERE v.state = 'refused'),
                 count(*) FILTER (WHERE coalesce(v.state, 'waiting') = 'waiting' AND {HAS_A_TEXT})
             FROM episode e LEFT JOIN embedding v ON v.episode = e.n AND v.model = ?1"
        );
        self.db
            .query_row(&sql, [model], |row| {
                Ok(Embedded {
                    made: row.get(0)?,
                    refused: row.get(1)?,
                    waiting: row.get(2)?,
                })
            })
            .map_err(failed("counting vectors"))
    }

    /// A vector by this model; `None`: there is none. They all have one length.
    pub fn vector_length(&self, model: &str) -> Result<Option<usize>> {
        self.db
            .query_row(
                "SELECT length(vector) FROM embedding WHERE model = ?1 AND state = 'made' LIMIT 1",
                [model],
                |row| row.get(0),
            )
            .optional()
            .map_err(failed("reading a vector"))
    }

    /// At most `query.limit` episodes that mean what a question means, among those that the filters
    /// and `keeps` let through; the query's terms only make snippets. A few ms over twenty thousand.
    pub fn nearest(
        &self,
        query: &Query,
        meaning: &Meaning,
        keeps: Option<&Keeps<'_>>,
    ) -> Result<Nearest> {
        let read = || -> rusqlite::Result<Nearest> {
            let (near, compared) = self.near(query, meaning)?;
            let mut best: Vec<(i64, f64)> = Vec::new();
            let mut similar = Vec::new();
            for (n, similarity) in near {
                if best.len() >= query.limit as usize {
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
            Ok(Nearest { all, compared })
        };
        read().map_err(failed("searching"))
    }

    /// Row numbers and cosines of whatever the filters let through and is near enough, the nearest
    /// first; and how many were compared.
    fn near(&self, query: &Query, meaning: &Meaning) -> rusqlite::Result<(Vec<(i64, f32)>, u64)> {
        let mut all = Conditions::default();
        restrict(query, &mut all);
        // reading the episodes beside them takes as long as comparing
        let joined = match all.is_empty() {
            true => "",
            false => {
                "CROSS JOIN episode e ON e.n = v.episode CROSS JOIN session s ON s.n = e.session"
            }
        };
        all.add("v.model = {}", meaning.model.clone());
        all.add_plain("v.state = 'made'".into());
        let conditions = all.sql();
        let sql =
            format!("SELECT v.episode, v.vector FROM embedding v {joined} WHERE {conditions}");
        let values: Vec<&dyn ToSql> = all.values.iter().map(AsRef::as_ref).collect();
        let mut select = self.db.prepare_cached(&sql)?;
        let mut rows = select.query(values.as_slice())?;
        let (mut near, mut compared) = (Vec::new(), 0);
        while let Some(row) = rows.next()? {
            let ValueRef::Blob(vector) = row.get_ref(1)? else {
                continue;
            };
            compared += 1;
            let similarity = meaning.vector.cosine(vector);
            if let Some(similarity) = similarity.filter(|cosine| *cosine >= SIMILARITY_MIN) {
                near.push((row.get(0)?, similarity));
            }
        }
        near.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        Ok((near, compared))
    }
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
