//! What could be known: repositories whose operations are stored, and sessions, with since when.

use crate::model::error::Error;
use crate::model::namespace::namespace;
use crate::model::time::Time;
use crate::store::{OperationExtent, Store};

/// What is looked through for an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Repositories whose operations are stored, those with the latest first operation first.
    pub repositories: Vec<OperationExtent>,
    /// Sessions that have logs.
    pub sessions: u64,
    /// When the first of them began.
    pub sessions_since: Option<Time>,
}

/// What is stored of these namespaces (`None`: all).
///
/// # Errors
/// When the store can't be read.
pub fn coverage(store: &Store, namespaces: Option<&[String]>) -> Result<Coverage, Error> {
    let is_meant =
        |name: &str| namespaces.is_none_or(|all| all.iter().any(|one| name.starts_with(one)));
    let mut repositories = store.operation_extents()?;
    repositories.retain(|one| is_meant(&one.namespace));
    repositories.sort_by_key(|one| std::cmp::Reverse(one.since));
    let spans = store.session_spans()?.into_iter();
    let spans: Vec<_> = spans
        .filter(|span| is_meant(&namespace(&span.project_path)))
        .collect();
    Ok(Coverage {
        repositories,
        sessions: spans.len() as u64,
        sessions_since: spans.iter().map(|span| span.started).min(),
    })
}
