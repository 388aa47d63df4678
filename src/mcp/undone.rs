//! What became of a commit, a branch or a file, as agents read it ([`crate::tracking::git_history`] finds it).

use super::answer::{Window, counted};
use super::here::{Here, minute};
use super::search::{REASONS, Why};
use crate::model::error::Error;
use crate::model::git::short_hash;
use crate::tracking::commit_links::CommitMention;
use crate::tracking::git_history::{HistoryRequest, OperationMatch, history};
use std::fmt::Write;

/// Commits and files of one operation that are named.
const NAMED: usize = 5;

/// The operations that answer, the latest first, then sessions that tell the commit.
///
/// # Errors
/// When the store can't be read.
pub fn why(here: &Here, request: &HistoryRequest, args: &Why) -> Result<String, Error> {
    let scope = here.open_scope(&args.project_namespaces)?;
    let question = format!("{request:?}{scope:?}");
    let window = Window::new(&question, REASONS, args.max_bytes, args.cursor.as_deref())?;
    let (store, namespaces) = (here.store()?, scope.namespaces());
    let found = history(&store, request, namespaces.as_deref(), None, window.reach())?;
    let operations = found.operations.iter().map(|operation| of(operation, here));
    let mentions = found
        .other_mentions()
        .map(|mention| of_mention(mention, here));
    let items: Vec<String> = operations.chain(mentions).take(window.reach()).collect();
    let head = match items.is_empty() {
        true => "no session and no git operation that is known speaks of it\n",
        false => "",
    };
    Ok(window.fill(head, &items))
}

fn of(answer: &OperationMatch, here: &Here) -> String {
    let (operation, effect) = (&answer.git.operation, &answer.git.effect);
    let mut text = format!("{}: {}", answer.role.as_str(), operation.name());
    for (word, name) in [("on", &operation.branch), ("to", &operation.to)] {
        if let Some(name) = name {
            let _ = write!(text, " {word} {name}");
        }
    }
    let (old, new) = (short_hash(&operation.old), short_hash(&operation.new));
    let origin = here.origin(&answer.namespace, &answer.project_path);
    let when = minute(Some(operation.at));
    let _ = write!(text, " ({old}..{new})\n{origin} {when}");
    if let Some(by) = &answer.session {
        let _ = write!(text, " session {}, by {}", by.session, by.link.as_str());
    }
    text.push('\n');
    if let Some(reason) = &answer.git.reason {
        let _ = writeln!(
            text,
            "why: {} (the {}, session {} line {})",
            reason.sentence,
            reason.who(),
            reason.session,
            reason.line
        );
    }
    for commit in answer.commits().iter().take(NAMED) {
        let _ = writeln!(text, "{} {}", short_hash(&commit.hash), commit.subject);
    }
    let files = effect.files.iter().map(|file| &*file.path);
    let files: Vec<&str> = files.take(NAMED).collect();
    if !files.is_empty() {
        let _ = writeln!(
            text,
            "{}: {}",
            counted(effect.files_count, "file"),
            files.join(", ")
        );
    }
    text
}

fn of_mention(mention: &CommitMention, here: &Here) -> String {
    format!(
        "told: {} {}\n{} {} session {}\n",
        mention.hash,
        mention.subject,
        here.origin(&mention.namespace, &mention.project_path),
        minute(mention.at),
        mention.session
    )
}
