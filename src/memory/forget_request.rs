//! What somebody who wants something forgotten means: names, times and words become rows of the store.
//! Deletes nothing.

use super::places::{Places, prefix};
use super::{memory_groups, query_terms};
use crate::model::error::{Error, ErrorKind};
use crate::model::time::Time;
use crate::model::tombstone::Selection;
use crate::store::{Hit, Query, SessionFilter, Store};
use std::path::Path;

/// What is named. One of `session`, `group`, `before` and `matching`, or a project alone.
#[derive(Clone, Debug, Default)]
pub struct ForgetRequest<'a> {
    /// A session's id, or a prefix of it.
    pub session: Option<&'a str>,
    /// A group, by name.
    pub group: Option<&'a str>,
    /// A project: a path in it, or its name. Limits `before` and `matching`.
    pub project: Option<&'a Path>,
    /// A project's namespace or a prefix of it. Limits as `project` does.
    pub namespace: Option<&'a str>,
    /// Whatever began before.
    pub before: Option<Time>,
    /// Whatever `search` finds by all of these words.
    pub matching: Option<&'a str>,
}

impl ForgetRequest<'_> {
    /// The rows that are meant; relative paths start at `cwd`.
    ///
    /// # Errors
    /// Where there is no such session or project, a time lies ahead, there are no words to find, or the
    /// store can't be read.
    pub fn selection(
        &self,
        store: &Store,
        places: &Places,
        cwd: &Path,
        now: Time,
    ) -> Result<Selection, Error> {
        if let Some(typed) = self.session {
            let row = store.session(typed)?.ok_or_else(|| no_session(typed))?;
            return Ok(Selection {
                sessions: vec![row.session.id],
                ..Selection::default()
            });
        }
        if let Some(group) = self.group {
            let (sessions, memories) = memory_groups::members(store, group)?;
            return Ok(Selection {
                sessions,
                memories,
                group: Some(group.to_owned()),
                ..Selection::default()
            });
        }
        let namespaces = self.namespaces(places, cwd)?;
        let until = |time: Time| {
            let spaces = namespaces.iter().flatten();
            spaces.map(move |space| (space.clone(), time))
        };
        if let Some(before) = self.before {
            if before > now {
                return Err(Error::usage(
                    "the time is in the future: nothing was said then yet",
                ));
            }
            let all = namespaces.is_none().then(|| (String::new(), before));
            return Ok(Selection {
                before: until(before).chain(all).collect(),
                ..Selection::default()
            });
        }
        if let Some(words) = self.matching {
            return found(words, namespaces, store);
        }
        let filter = SessionFilter {
            namespaces: namespaces.clone(),
            ..SessionFilter::default()
        };
        let rows = store.sessions(&filter)?.into_iter();
        Ok(Selection {
            sessions: rows.map(|row| row.session.id).collect(),
            // Logs of the project that no run has read yet stay out too.
            before: until(now).collect(),
            ..Selection::default()
        })
    }

    /// Of the project that is named, all that it is stored with.
    fn namespaces(&self, places: &Places, cwd: &Path) -> Result<Option<Vec<String>>, Error> {
        let root = match (self.project, self.namespace) {
            (None, None) => return Ok(None),
            (None, Some(typed)) => match prefix(typed) {
                Some(hex) => return Ok(Some(places.widened(vec![hex]))),
                None => places.meant(typed, cwd)?,
            },
            (Some(path), _) => places.any(path, cwd)?,
        };
        Ok(Some(places.namespaces(&root).into_iter().collect()))
    }
}

/// Sessions with an episode that has all the words, and memories that have them.
fn found(words: &str, namespaces: Option<Vec<String>>, store: &Store) -> Result<Selection, Error> {
    let query = Query {
        namespaces,
        ..query_terms::parse(words, u32::MAX)
    };
    if query.terms.is_empty() {
        return Err(Error::usage("--match needs words to search for"));
    }
    let (logs, others): (Vec<Hit>, Vec<Hit>) = store
        .search(&query)?
        .into_iter()
        .partition(Hit::is_of_a_log);
    let mut sessions: Vec<String> = logs.into_iter().map(|hit| hit.session).collect();
    sessions.sort_unstable();
    sessions.dedup();
    Ok(Selection {
        sessions,
        memories: others.into_iter().map(|hit| hit.episode).collect(),
        ..Selection::default()
    })
}

fn no_session(typed: &str) -> Error {
    let message = format!("there is no session {typed}");
    Error::new(ErrorKind::Failed, message).hinted("sessionmill sessions")
}

/// Of forgotten sessions, those that a run can restore, and those whose logs are gone.
///
/// # Errors
/// When the store can't be read.
pub fn restorable(
    forgotten: Vec<String>,
    store: &Store,
) -> Result<(Vec<String>, Vec<String>), Error> {
    let (mut back, mut lost) = (Vec::new(), Vec::new());
    for id in forgotten {
        let logs = store.logs_of(&id)?;
        match logs.iter().any(|log| Path::new(log).exists()) {
            true => back.push(id),
            false => lost.push(id),
        }
    }
    Ok((back, lost))
}
