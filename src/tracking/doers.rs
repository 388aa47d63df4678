//! Who did what git and files tell: the agent whose log has the very call, a person where no log has one
//! though it would, else nobody knows. Judged after each ingest for what the new words may change, and
//! stored, so that filters know it.

use super::commit_links::SessionsAtWork;
use super::timed_calls::TimedCall;
use crate::host::git;
use crate::model::error::Error;
use crate::model::file::FileFacts;
use crate::model::finding::Finding;
use crate::model::git::{AFTER_MS, FileOperation};
use crate::model::source::Agent;
use crate::model::time::Time;
use crate::store::{Found, SessionSpan, Store, UnjudgedFile};
use std::path::Path;

/// What is judged in one transaction.
const BATCH: u32 = 500;
/// Chunks of one session in some minutes.
const CHUNKS_MAX: u32 = 16;

/// Judges what waits for it. Without news, two lookups in an index.
///
/// # Errors
/// When the store fails.
pub(super) fn judge(store: &mut Store) -> Result<(), Error> {
    let mut sessions = None;
    loop {
        let operations = store.unjudged_operations(BATCH)?;
        if operations.is_empty() {
            break;
        }
        let sessions = Sessions::once(&mut sessions, store)?;
        let mut judged = Vec::new();
        for (n, id) in operations {
            let Some(row) = store.operation(id)? else {
                judged.push((n, Agent::UNKNOWN));
                continue;
            };
            let at = row.git.operation.at;
            let root = Path::new(&row.project.path);
            let chunks = sessions.chunks(store, around(at), |path| is_there(root, path))?;
            judged.push((n, SessionsAtWork::of(chunks).agent(&row.git, root)));
        }
        store.put_operation_agents(&judged)?;
    }
    loop {
        let files = store.unjudged_files(BATCH)?;
        if files.is_empty() {
            return Ok(());
        }
        let sessions = Sessions::once(&mut sessions, store)?;
        let mut judged = Vec::new();
        for file in files {
            let when = file.facts.modified_time.unwrap_or(file.at);
            let chunks = sessions.chunks(store, around(when), |_| true)?;
            judged.push((file.n, file_agent(&file, chunks)));
        }
        store.put_file_agents(&judged)?;
    }
}

fn around(at: Time) -> (Time, Time) {
    (Time(at.0 - AFTER_MS), Time(at.0 + AFTER_MS))
}

/// A session of this project may do something to the repository at this root.
fn is_there(root: &Path, project: &str) -> bool {
    let project = Path::new(project);
    project.starts_with(root) && git::is_of(root, project)
}

/// All sessions with their times, so that most operations need no look into the store.
struct Sessions(Vec<SessionSpan>);

impl Sessions {
    fn once<'s>(known: &'s mut Option<Sessions>, store: &Store) -> Result<&'s Sessions, Error> {
        Ok(match known {
            Some(known) => known,
            None => known.insert(Sessions(store.session_spans()?)),
        })
    }

    /// What was under way in that time, where it is wanted by its project.
    fn chunks(
        &self,
        store: &Store,
        (since, until): (Time, Time),
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<Found>, Error> {
        let begun = self.0.partition_point(|span| span.started <= until);
        let under_way = self.0[..begun].iter().filter(|span| span.ended >= since);
        let mut chunks = Vec::new();
        for span in under_way.filter(|span| is_wanted(&span.project_path)) {
            chunks.extend(store.session_chunks(span.n, (since, until), CHUNKS_MAX)?);
        }
        Ok(chunks)
    }
}

/// A file is the agent's whose edit was answered when it was written. What a command wrote, nobody can tell.
fn file_agent(file: &UnjudgedFile, chunks: Vec<Found>) -> Agent {
    let FileFacts {
        origin_path,
        operation,
        modified_time,
        ..
    } = &file.facts;
    let path = Path::new(&file.root).join(origin_path);
    let changes = |call: &TimedCall| {
        call.findings.iter().any(|finding| match finding {
            Finding::Changed { path: changed, .. } => {
                Path::new(changed) == path || path.ends_with(changed)
            }
            _ => false,
        })
    };
    let at_work = SessionsAtWork::of(chunks);
    let is_gone = matches!(
        operation,
        Some(FileOperation::Delete | FileOperation::Move | FileOperation::Rename)
    );
    match modified_time.filter(|_| !is_gone) {
        Some(at) => at_work.doer(at, |call| call.is_answered_at(at) && changes(call)),
        // it is known when it was seen, and not when it was done
        None => Agent::UNKNOWN,
    }
}
