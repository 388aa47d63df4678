//! What a history answers as JSON, with all paths: who shows it leaves out those that may not be told.

use super::commit_links::{CommitMention, LinkStrength};
use super::file_history::FileEdits;
use super::git_history::OperationMatch;
use crate::model::git::{CommitLine, FileChange};
use crate::store::GitRow;
use serde_json::{Value, json};

/// What a session did to a file.
pub fn edits(edits: &FileEdits) -> Value {
    json!({
        "session": edits.session,
        "agent": edits.agent.as_str(),
        "file": edits.path,
        "edits": edits.edits,
        "lines": [edits.added, edits.removed],
        "at": edits.at.map(|at| at.rfc3339_millis()),
        "episode": edits.episode.to_string(),
        "line": edits.line,
        "namespace": edits.namespace,
        "project_path": edits.project_path,
    })
}

/// An operation that may have changed a file.
pub fn unseen(row: &GitRow) -> Value {
    let (operation, effect) = (&row.git.operation, &row.git.effect);
    json!({
        "git_batch_id": row.id.to_string(),
        "operation": operation.name(),
        "commit_to": operation.new,
        "at": operation.at.rfc3339_millis(),
        "files_count": effect.files_count,
        "files_looked_at": effect.files.len(),
        "namespace": row.project.namespace,
        "project_path": row.project.path,
    })
}

/// A session that names a commit.
pub fn mention(mention: &CommitMention) -> Value {
    json!({
        "session": mention.session,
        "hash": mention.hash,
        "subject": mention.subject,
        "at": mention.at.map(|at| at.rfc3339_millis()),
        "namespace": mention.namespace,
        "project_path": mention.project_path,
    })
}

/// A git operation, and what became of the work before it.
pub fn operation(answer: &OperationMatch) -> Value {
    let (git, effect) = (&answer.git.operation, &answer.git.effect);
    let commit = |commit: &CommitLine| json!({"hash": commit.hash, "subject": commit.subject, "at": commit.at.rfc3339_millis()});
    let file = |file: &FileChange| {
        json!({"path": file.path, "operation": file.operation.as_str(), "previous_path": file.previous_path,
            "lines": file.lines.map(|(added, removed)| [added, removed])})
    };
    json!({
        "git_batch_id": answer.id.to_string(),
        "role": answer.role.as_str(),
        "operation": answer.git.name(),
        "commit_from": git.old,
        "commit_to": git.new,
        "branch": git.branch,
        "to": git.to,
        "at": git.at.rfc3339_millis(),
        "agent": answer.agent.as_str(),
        "session": answer.session.as_ref().map(|by| &by.session),
        "session_is_named": answer.session.as_ref().map(|by| by.link == LinkStrength::Hash),
        "session_by": answer.session.as_ref().map(|by| by.link.as_str()),
        "session_is_sure": answer.session.as_ref().map(|by| !by.link.is_weak()),
        "reason": answer.git.reason.as_ref().map(|reason| json!({
            "sentence": reason.sentence,
            "by": reason.who(),
            "session": reason.session,
            "episode": reason.episode.to_string(),
            "line": reason.line,
            "confidence": reason.confidence.as_str(),
        })),
        "undone": effect.undone,
        "left": effect.left.iter().map(commit).collect::<Vec<_>>(),
        "left_count": effect.left_count,
        "made": effect.made.iter().map(commit).collect::<Vec<_>>(),
        "files": effect.files.iter().map(file).collect::<Vec<_>>(),
        "files_count": effect.files_count,
        "lines": [effect.lines.0, effect.lines.1],
        "files_looked_at": effect.files.len(),
        "given_up": answer.git.is_given_up(),
        "lost": effect.lost.iter().map(commit).collect::<Vec<_>>(),
        "lost_count": effect.lost_count,
        "kept_in": effect.kept_in,
        "missing": effect.missing,
        "namespace": answer.namespace,
        "project_path": answer.project_path,
    })
}
