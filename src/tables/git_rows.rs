//! Rows of git operations.

use super::row::{Rows, TableRow};
use super::schema::Name;
use super::source::ProjectNames;
use crate::model::git::GitOperation;
use crate::model::source::Agent;
use uuid::Uuid;

/// An operation with who did it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitSource {
    /// `git_batch_id`.
    pub id: Uuid,
    /// What was done.
    pub git: GitOperation,
    /// Who did it; `None`: nobody judged it yet.
    pub done_by: Option<Agent>,
}

/// Adds the row of an operation in a repository of this project.
pub fn add(source: &GitSource, project: &ProjectNames, rows: &mut Rows) {
    let (operation, effect) = (&source.git.operation, &source.git.effect);
    let commit = |hash: &String| Some(hash.clone()).filter(|hash| !hash.is_empty());
    let reason = source.git.reason.as_ref();
    let row: TableRow = vec![
        source.id.to_string().into(),
        project.namespace.as_str().into(),
        project.name().into(),
        operation.at.into(),
        operation.kind.as_str().into(),
        operation.mode.clone().into(),
        operation.branch.clone().into(),
        operation.to.clone().into(),
        commit(&operation.old).into(),
        commit(&operation.new).into(),
        operation.message.as_str().into(),
        source.done_by.map(|agent| agent.as_str()).into(),
        effect.made.len().into(),
        effect.left_count.into(),
        effect.lost_count.into(),
        effect.files_count.into(),
        effect.lines.0.into(),
        effect.lines.1.into(),
        source.git.undoes().into(),
        source.git.is_given_up().into(),
        effect.kept_in.clone().into(),
        reason.map(|reason| reason.sentence.as_str()).into(),
        reason.map(|reason| reason.who()).into(),
        reason.map(|reason| reason.confidence.as_str()).into(),
        reason.map(|reason| reason.session.as_str()).into(),
        reason.map(|reason| reason.episode.to_string()).into(),
    ];
    rows.push(Name::GitOperations, row);
}
