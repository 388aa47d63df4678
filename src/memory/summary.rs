//! A stored session in one page. Knows how its items are read back; refuses to judge them
//! (`insight`).

use super::joined;
use crate::insight::facts::{Line, facts};
use crate::insight::outcome::Told;
use crate::model::error::Error;
use crate::model::finding::{Mark, apart};
use crate::model::session::Session;
use crate::model::summary::Summary;
use crate::store::{Found, Store, Telling};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What MCP servers' tools are called.
const MCP: &str = "mcp__";

/// A session's episodes in the order of time, with where their items stand.
pub struct Stored<'e> {
    episodes: Vec<&'e Found>,
    outlines: Vec<Cow<'e, [Mark]>>,
}

impl<'e> Stored<'e> {
    /// Of a session's episodes that have their outlines, as [`Store::chunks`] gives them.
    pub fn of(episodes: &'e [Found]) -> Stored<'e> {
        let episodes = ordered(episodes);
        let outlines = episodes.iter();
        let outlines = outlines.map(|found| Cow::Borrowed(found.episode.outline.as_slice()));
        Stored {
            outlines: outlines.collect(),
            episodes,
        }
    }

    /// Of a session's episodes as [`Store::episodes`] gives them. Those that an older program stored
    /// have no outline.
    ///
    /// # Errors
    /// When the store can't be read.
    pub fn read(store: &Store, episodes: &'e [Found]) -> Result<Stored<'e>, Error> {
        let episodes = ordered(episodes);
        let outlines = episodes.iter();
        let outlines = outlines.map(|found| Ok(Cow::Owned(store.outline(found.episode.id)?)));
        Ok(Stored {
            outlines: outlines.collect::<Result<_, Error>>()?,
            episodes,
        })
    }

    /// The stream of the main log; where only sub-agents' logs are, the one that says most.
    fn main(&self) -> Option<&str> {
        let mut items: BTreeMap<&str, usize> = BTreeMap::new();
        for (found, marks) in self.episodes.iter().zip(&self.outlines) {
            *items.entry(found.episode.stream.as_deref()?).or_default() += marks.len();
        }
        let most = items.into_iter().max_by_key(|(_, items)| *items);
        most.map(|(stream, _)| stream)
    }

    /// Its items.
    pub fn lines(&self) -> Vec<Line<'_>> {
        let main = self.main();
        let mut lines = Vec::new();
        for (found, marks) in self.episodes.iter().zip(&self.outlines) {
            let episode = &found.episode;
            let texts = apart(&episode.text, marks).unwrap_or_default();
            lines.extend(
                texts
                    .into_iter()
                    .zip(marks.iter())
                    .map(|(text, mark)| Line {
                        told: Told {
                            kind: mark.kind,
                            text,
                            findings: &mark.findings,
                        },
                        main: episode.stream.as_deref() == main,
                        episode: episode.id,
                        line: mark.line,
                    }),
            );
        }
        lines
    }

    /// Its facts.
    pub fn summary(&self) -> Summary {
        let mut summary = facts(&self.lines());
        summary.mcp_tools_used = self.mcp_tools();
        summary
    }

    fn mcp_tools(&self) -> Vec<(String, u64)> {
        let tally = self.episodes.iter().map(|found| found.episode.activity());
        let mut tools: Vec<(String, u64)> = Vec::new();
        for (name, calls) in tally.flat_map(|tally| tally.tools) {
            match tools.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += calls,
                None if name.starts_with(MCP) => tools.push((name, calls)),
                None => {}
            }
        }
        tools.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        tools
    }
}

fn ordered(episodes: &[Found]) -> Vec<&Found> {
    let mut ordered: Vec<&Found> = episodes.iter().collect();
    ordered.sort_by_key(|found| (found.episode.valid_at, found.episode.part));
    ordered
}

/// What a session amounts to, with the commits that git tells of it and with paths as they may be shown,
/// and what came of asking a model about it. `episodes`: all of the session's.
///
/// # Errors
/// When the store can't be read.
pub fn told_of(
    store: &Store,
    session: &Session,
    episodes: &[Found],
    hides_paths: bool,
) -> Result<(Summary, Option<Telling>), Error> {
    let telling = store.telling(&session.id)?;
    let mut summary = match &telling {
        Some(Telling::Told(told)) => Summary::clone(told),
        _ => summary_of(store, episodes)?,
    };
    joined::add(&mut summary, &joined::commits_of(store, episodes)?);
    summary.shorten_paths(&session.project_path, hides_paths);
    Ok((summary, telling))
}

/// The facts of a session's log, from all of its episodes.
///
/// # Errors
/// When the store can't be read.
pub fn summary_of(store: &Store, episodes: &[Found]) -> Result<Summary, Error> {
    Ok(Stored::read(store, episodes)?.summary())
}
