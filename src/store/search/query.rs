//! Finding episodes by words and filters. Knows how a query becomes one SQL statement, with the
//! filters before the limit.

use crate::model::activity::ActivityTally;
use crate::model::batch::Delta;
use crate::model::episode::{EpisodeSource, Operation};
use crate::model::source::Agent;
use crate::model::time::Time;
use crate::store::columns::{AGENT, activity_sum, agent, source, time};
use crate::store::compression::Unpacked;
use crate::store::damaged_rows::sound;
use crate::store::error::failed;
use crate::store::search::echo::echoes;
use crate::store::search::evidence::{Evidence, Finder};
use crate::store::search::pattern::{Pattern, Term};
use crate::store::search::sessions::Conditions;
use crate::store::search::snippet::{Snippet, snippet};
use crate::store::{Result, Store};
use rusqlite::{Row, ToSql};
use std::fmt::Write;
use std::sync::LazyLock;
use uuid::Uuid;

/// What to look for and where. Without words: everything that the filters let through, the
/// latest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Wanted terms.
    pub terms: Vec<Term>,
    /// One term is enough; `false`: all of them.
    pub any: bool,
    /// With `any`, in a store of thousands: terms that half of the episodes have find nothing.
    pub skips_common: bool,
    /// Terms that must not be there.
    pub without: Vec<Term>,
    /// Beginnings of namespaces; `None`: all, empty: none.
    pub namespaces: Option<Vec<String>>,
    /// Whose logs, and what they did to repositories and files.
    pub agent: Option<Agent>,
    /// Went on at or after.
    pub since: Option<Time>,
    /// Began before.
    pub until: Option<Time>,
    /// Only these; empty: all.
    pub sources: Vec<EpisodeSource>,
    /// Not these.
    pub not_sources: Vec<EpisodeSource>,
    /// Only what tells of these; empty: all.
    pub operations: Vec<Operation>,
    /// Nothing that tells of these.
    pub not_operations: Vec<Operation>,
    /// Nothing that is not so any more: the content of a file that has another one, or is gone.
    pub only_valid: bool,
    /// Used this tool; any case, `*` stands for anything.
    pub tool: Option<String>,
    /// Names a path like this: a glob (`*`, `?`, `[…]`; `*` crosses `/`) for the path or an end of
    /// it, else a part of it.
    pub file: Option<String>,
    /// A session's id or its beginning.
    pub session: Option<String>,
    /// Only episodes of these groups; empty: all.
    pub groups: Vec<String>,
    /// At most so many.
    pub limit: u32,
}

/// A found episode.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Its id.
    pub episode: Uuid,
    /// The session's id.
    pub session: String,
    /// The git operation that the episode is of; `None`: it is of none.
    pub operation: Option<Uuid>,
    /// The episode's title.
    pub title: String,
    /// The session's title, where it has one.
    pub session_title: Option<String>,
    /// The session's, 16 hex digits.
    pub namespace: String,
    /// The session's project.
    pub project_path: String,
    /// Whose log; of a git operation or a file, who did it.
    pub agent: Agent,
    /// What it is.
    pub source: EpisodeSource,
    /// `None`: the session's main log.
    pub stream: Option<String>,
    /// Counts from 1 within the stream.
    pub part: u32,
    /// A boundary follows it.
    pub sealed: bool,
    /// Time of its first record.
    pub valid_at: Option<Time>,
    /// The log that it was cut from, where it was last seen; empty where it was cut from none.
    pub path: String,
    /// Its bytes there.
    pub bytes: Delta,
    /// Its lines there, 1-based, inclusive.
    pub lines: (u64, u64),
    /// Higher is better; 0 without words. Comparable within one answer only.
    pub score: f64,
    /// Where the words are.
    pub snippet: Snippet,
    /// From 0 to 1: how sure it is that its session answers; 0 where nobody judged it.
    pub confidence: f64,
    /// Episodes that tell the same and are left out for it.
    pub folded: u32,
    /// Those of them that are of its session.
    pub others: Vec<Uuid>,
    /// The cosine of what it means to what the question means, from -1 to 1; `None`: nobody compared
    /// them, or others were nearer.
    pub similarity: Option<f32>,
    /// What its work is told by.
    pub activity: ActivityTally,
}

impl Hit {
    /// It was cut from a log; otherwise nothing that it says of agent and place counts.
    pub fn is_of_a_log(&self) -> bool {
        !self.path.is_empty()
    }

    /// What it is a part of: all operations of a project stand in one session without a log.
    pub fn whole(&self) -> Whole<'_> {
        (&self.session, self.operation)
    }
}

/// A session, or one git operation: what answers together.
pub type Whole<'h> = (&'h str, Option<Uuid>);

/// Says of an episode's counts whether it is wanted.
pub type Keeps<'a> = dyn Fn(&ActivityTally) -> bool + 'a;

/// Weights of `words`' columns: the title, which all parts of a stream share, helps to combine
/// words (`auth` in the title, `redis` in part 7) and must not outweigh the text; a name typed
/// in one piece is more than its parts.
const RANK: &str = "bm25(words, 0.5, 1.0, 2.0)";

impl Store {
    /// The best `limit` episodes: best score first, then the latest, then by id. Filters apply
    /// before the limit. Terms without a letter or digit are ignored; when no other is left,
    /// nothing is found. A few ms over ten thousand episodes.
    pub fn search(&self, query: &Query) -> Result<Vec<Hit>> {
        self.search_kept(query, None)
    }

    /// The same among the episodes that `keeps` lets through, which is asked before the limit, the
    /// best episode first.
    pub fn search_kept(&self, query: &Query, keeps: Option<&Keeps<'_>>) -> Result<Vec<Hit>> {
        let patterns = patterns(&query.terms);
        if patterns.is_empty() && !query.terms.is_empty() {
            return Ok(Vec::new());
        }
        let read = || -> rusqlite::Result<Vec<Hit>> {
            let best = self.best(query, &patterns, keeps)?;
            let read = self.read_all(&best, &patterns)?;
            Ok(read.into_iter().map(|(hit, _)| hit).collect())
        };
        read().map_err(failed("searching"))
    }

    /// Row numbers and scores of the best `query.limit` episodes that have these patterns.
    pub(crate) fn best(
        &self,
        query: &Query,
        patterns: &[Pattern],
        keeps: Option<&Keeps<'_>>,
    ) -> rusqlite::Result<Vec<(i64, f64)>> {
        if query.limit == 0 {
            return Ok(Vec::new());
        }
        let (mut sql, values) = statement(query, patterns);
        if keeps.is_none() {
            let _ = write!(sql, " LIMIT {}", query.limit);
        }
        let values: Vec<&dyn ToSql> = values.iter().map(AsRef::as_ref).collect();
        let mut select = self.db.prepare_cached(&sql)?;
        let mut rows = select.query(values.as_slice())?;
        let mut best: Vec<(i64, f64)> = Vec::new();
        while best.len() < query.limit as usize
            && let Some(row) = rows.next()?
        {
            let (n, score) = (row.get(0)?, row.get(1)?);
            let kept = match keeps {
                Some(keeps) => keeps(&self.counted(n)?),
                None => true,
            };
            if kept {
                best.push((n, score));
            }
        }
        Ok(best)
    }

    /// These episodes as hits, with what their texts say about the patterns.
    pub(crate) fn read_all(
        &self,
        best: &[(i64, f64)],
        patterns: &[Pattern],
    ) -> rusqlite::Result<Vec<(Hit, Evidence)>> {
        let finder = Finder::new(patterns);
        let mut select = self.db.prepare_cached(&HIT)?;
        best.iter()
            .map(|(n, score)| {
                select.query_row([n], |row| hit(row, *score, &finder, patterns.len()))
            })
            .filter_map(sound)
            .collect()
    }
}

pub(crate) fn patterns(terms: &[Term]) -> Vec<Pattern> {
    terms.iter().filter_map(Pattern::new).collect()
}

/// The statement that gives (episode.n, score) of the best, and its values.
fn statement(query: &Query, patterns: &[Pattern]) -> (String, Vec<Box<dyn ToSql>>) {
    let mut all = Conditions::default();
    let (from, rank) = if patterns.is_empty() {
        ("episode e", "0.0")
    } else {
        let joint = if query.any { " OR " } else { " AND " };
        all.add("words MATCH {}", expression(patterns, joint));
        // CROSS: the index first, then the filters on what it gives.
        ("words CROSS JOIN episode e ON e.n = words.rowid", RANK)
    };
    restrict(query, &mut all);
    let sql = format!(
        "SELECT e.n, {rank} AS score FROM {from} CROSS JOIN session s ON s.n = e.session
         WHERE {} ORDER BY score, e.valid_at DESC, e.id",
        all.sql()
    );
    (sql, all.values)
}

/// Whatever a query lets through, but for its terms.
pub(crate) fn restrict(query: &Query, all: &mut Conditions) {
    let without = patterns(&query.without);
    if !without.is_empty() {
        all.add(
            "e.n NOT IN (SELECT rowid FROM words WHERE words MATCH {})",
            expression(&without, " OR "),
        );
    }
    filters(query, all);
}

fn expression(patterns: &[Pattern], joint: &str) -> String {
    let each: Vec<String> = patterns.iter().map(Pattern::expression).collect();
    each.join(joint)
}

fn filters(query: &Query, all: &mut Conditions) {
    all.projects(query.namespaces.as_deref());
    if let Some(agent) = query.agent {
        all.add(&format!("({AGENT}) = {{}}"), agent.as_str());
    }
    if let Some(session) = &query.session {
        all.add("substr(s.id, 1, length({})) = {}", session.clone());
    }
    if let Some(since) = query.since {
        // one that began before and went on counts
        all.add("coalesce(e.ended_at, e.valid_at) >= {}", since.0);
    }
    if let Some(until) = query.until {
        all.add("e.valid_at < {}", until.0);
    }
    if !query.sources.is_empty() {
        let any: Vec<String> = query.sources.iter().map(|s| all.hole(s.as_str())).collect();
        all.add_plain(format!("e.source IN ({})", any.join(", ")));
    }
    if !query.groups.is_empty() {
        let any: Vec<String> = query.groups.iter().map(|g| all.hole(g.clone())).collect();
        all.add_plain(format!(
            "e.graph IN (SELECT n FROM name WHERE text IN ({}))",
            any.join(", ")
        ));
    }
    for source in &query.not_sources {
        all.add("e.source <> {}", source.as_str());
    }
    operations(query, all);
    if query.only_valid {
        all.add_plain(
            "NOT EXISTS (SELECT 1 FROM tracked_episode t
                 WHERE t.episode = e.id AND t.invalid_at IS NOT NULL)"
                .to_owned(),
        );
    }
    if let Some(tool) = &query.tool {
        all.add(
            "EXISTS (SELECT 1 FROM episode_tool t JOIN name ON name.n = t.tool
                 WHERE t.episode = e.n AND lower(name.text) GLOB {})",
            // a bracket is meant as it stands: only `*` stands for anything
            tool.to_ascii_lowercase().replace('[', "[[]"),
        );
    }
    if let Some(file) = &query.file {
        let glob = file.contains(['*', '?', '[']);
        // Windows' paths are found by `/` too
        let path = r"replace(name.text, '\', '/')";
        let like = match glob {
            true => format!("({path} GLOB {{}} OR {path} GLOB '*/' || {{}})"),
            false => format!("instr({path}, {{}}) > 0"),
        };
        all.add(
            &format!(
                "EXISTS (SELECT 1 FROM episode_path p JOIN name ON name.n = p.path
                     WHERE p.episode = e.n AND {like})"
            ),
            file.replace('\\', "/"),
        );
    }
}

/// What an episode tells of: git's operations by its source, files' by what is noted of them.
fn operations(query: &Query, all: &mut Conditions) {
    if !query.operations.is_empty() {
        let any: Vec<String> = query
            .operations
            .iter()
            .map(|o| operation(*o, all))
            .collect();
        all.add_plain(format!("({})", any.join(" OR ")));
    }
    for not in &query.not_operations {
        let is_one = operation(*not, all);
        all.add_plain(format!("NOT {is_one}"));
    }
}

fn operation(operation: Operation, all: &mut Conditions) -> String {
    match operation.source() {
        Some(source) => format!("e.source = {}", all.hole(source.as_str())),
        None => format!(
            "EXISTS (SELECT 1 FROM tracked_episode t
                 WHERE t.episode = e.id AND t.operation = {})",
            all.hole(operation.as_str())
        ),
    }
}

static HIT: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT e.id, s.id, e.title, s.title, s.namespace, s.project_path, {AGENT},
    e.source, e.stream, e.part, e.sealed, e.valid_at, coalesce(f.path, f.key, ''), e.byte_from,
    e.byte_to, e.line_from, e.line_to, b.text, a.exchanges, g.operation
    FROM episode e JOIN session s ON s.n = e.session LEFT JOIN file f ON f.n = e.file
    JOIN body b ON b.episode = e.n LEFT JOIN activity a ON a.episode = e.n
    LEFT JOIN git_episode g ON g.episode = e.id WHERE e.n = ?1"
    )
});

fn hit(
    row: &Row<'_>,
    score: f64,
    finder: &Finder<'_>,
    patterns: usize,
) -> rusqlite::Result<(Hit, Evidence)> {
    let Unpacked(body) = row.get(17)?;
    let title: String = row.get(2)?;
    let read = finder.read(&body);
    let titled = finder.read(&title).matches.into_iter().map(|m| m.pattern);
    let hit = Hit {
        episode: Uuid::from_bytes(row.get(0)?),
        session: row.get(1)?,
        operation: row.get::<_, Option<_>>(19)?.map(Uuid::from_bytes),
        title,
        session_title: row.get(3)?,
        namespace: row.get(4)?,
        project_path: row.get(5)?,
        agent: agent(row, 6)?,
        source: source(row, 7)?,
        stream: row.get(8)?,
        part: row.get(9)?,
        sealed: row.get(10)?,
        valid_at: time(row, 11)?,
        path: row.get(12)?,
        bytes: Delta {
            from: row.get(13)?,
            to: row.get(14)?,
        },
        lines: (row.get(15)?, row.get(16)?),
        // FTS5 ranks the best lowest.
        score: 0.0 - score,
        snippet: snippet(&body, &read.matches, patterns),
        activity: activity_sum(row, 18)?,
        confidence: 0.0,
        folded: 0,
        others: Vec::new(),
        similarity: None,
    };
    Ok((hit, read.without(&echoes(&body)).evidence(titled.collect())))
}
