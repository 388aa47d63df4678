//! An episode's text with its items, and where it has a question's words. Refuses to know what a place is
//! worth.

use crate::model::episode::EpisodeSource;
use crate::model::item::Mark;
use crate::store::columns::source;
use crate::store::compression::Unpacked;
use crate::store::damaged_rows::sound_or_none;
use crate::store::error::failed;
use crate::store::search::echo::echoes;
use crate::store::search::evidence::Finder;
use crate::store::search::pattern::{Pattern, Term};
use crate::store::search::query::patterns;
use crate::store::{Result, Store};
use rusqlite::OptionalExtension;
use std::ops::Range;
use uuid::Uuid;

/// What an episode says, ready to be quoted.
#[derive(Clone, Debug, PartialEq)]
pub struct EpisodeText {
    /// Which episode.
    pub episode: Uuid,
    /// What it is.
    pub source: EpisodeSource,
    /// `None`: the session's main log.
    pub stream: Option<String>,
    /// Counts from 1 within the stream.
    pub part: u32,
    /// All of it.
    pub text: String,
    /// Its items; empty where it has none, or an older program stored it.
    pub outline: Vec<Mark>,
    /// Where it has which term, by place.
    pub terms: Vec<(usize, Range<usize>)>,
}

impl Store {
    /// The texts of these episodes, in this order; those that aren't there are left out. Terms are counted
    /// as they are given, those without a word too. Some 50 MB/s.
    pub fn episode_texts(&self, episodes: &[Uuid], terms: &[Term]) -> Result<Vec<EpisodeText>> {
        let numbers: Vec<usize> = (0..terms.len())
            .filter(|n| Pattern::new(&terms[*n]).is_some())
            .collect();
        let patterns = patterns(terms);
        let finder = Finder::new(&patterns);
        let mut all = Vec::with_capacity(episodes.len());
        for episode in episodes {
            let read = self.one_text(*episode).map_err(failed("reading a text"))?;
            let Some(mut read) = read else { continue };
            read.outline = self.outline(*episode)?;
            let found = finder.read(&read.text).without(&echoes(&read.text));
            let found = found
                .matches
                .into_iter()
                .map(|found| (numbers[found.pattern], found.start..found.end));
            read.terms = found.collect();
            all.push(read);
        }
        Ok(all)
    }

    /// The episode behind this one in its stream; `None`: it is the last one.
    pub fn episode_after(&self, episode: Uuid) -> Result<Option<Uuid>> {
        let read = || {
            let mut select = self.db.prepare_cached(
                "SELECT next.id FROM episode e JOIN episode next ON next.session = e.session
                     AND next.stream IS e.stream AND next.part = e.part + 1
                     AND next.source = e.source
                 WHERE e.id = ?1 AND e.source = 'session'",
            )?;
            let id = select.query_row([episode.as_bytes()], |row| row.get(0));
            id.optional().map(|id| id.map(Uuid::from_bytes))
        };
        read().map_err(failed("reading what came next"))
    }

    fn one_text(&self, episode: Uuid) -> rusqlite::Result<Option<EpisodeText>> {
        let mut select = self.db.prepare_cached(
            "SELECT e.source, e.stream, e.part, b.text
             FROM episode e JOIN body b ON b.episode = e.n WHERE e.id = ?1",
        )?;
        let row = select.query_row([episode.as_bytes()], |row| {
            let Unpacked(text) = row.get(3)?;
            Ok(EpisodeText {
                episode,
                source: source(row, 0)?,
                stream: row.get(1)?,
                part: row.get(2)?,
                text,
                outline: Vec::new(),
                terms: Vec::new(),
            })
        });
        Ok(sound_or_none(row.optional())?.flatten())
    }
}
