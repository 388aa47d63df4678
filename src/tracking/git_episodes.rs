//! An operation in three kinds of episodes (004-011..019): what was done and why, the conversation
//! before it, and the files that it changed. Their texts are searched and quoted: their wording stays.

use super::fates::fate;
use super::reasons::Utterance;
use crate::model::episode::{Episode, EpisodeSource};
use crate::model::exchange::ItemKind;
use crate::model::git::{CommitLine, FileChange, FileOperation, GitOperation, part_id, short_hash};
use crate::model::time::Time;
use std::collections::BTreeSet;
use uuid::Uuid;

/// Exchanges that are kept before an operation (004-016).
pub const EXCHANGES: usize = 5;
/// Files that the summary names.
const NAMED_MAX: usize = 20;
/// Commits that it names: all that an operation keeps, so that each finds it.
const COMMITS_MAX: usize = 50;
/// Characters of the agent's words, and of a person's, that are kept of each item.
const AGENT_CHARS: usize = 500;
const USER_CHARS: usize = 2_000;

/// The summary of an operation (004-012..014). Its id is the operation's.
pub fn metadata(id: Uuid, git: &GitOperation) -> Episode {
    let operation = &git.operation;
    let files = git.effect.files.iter();
    let title = format!("{}{}", git.name(), operation.branches());
    Episode {
        id,
        source: EpisodeSource::GitMetadata,
        title,
        text: summary(id, git),
        files: files.map(|file| file.path.clone()).collect(),
        ..of(operation.at)
    }
}

/// What was said before it (004-015..017); `None`: nothing was. `spoken`: in order, without what came
/// later.
pub fn context(id: Uuid, git: &GitOperation, spoken: &[Utterance]) -> Option<Episode> {
    let last = last_exchanges(spoken);
    let quotes: Vec<String> = last.iter().filter_map(shortened).collect();
    let exchanges = last
        .iter()
        .filter(|said| said.kind == ItemKind::Prompt)
        .count();
    let name = git.name();
    let text = format!(
        "Conversation leading to {name} (git_batch_id {id}, {exchanges} exchanges):\n\n{}",
        quotes.join("\n")
    );
    (!quotes.is_empty()).then(|| Episode {
        id: part_id(id, "context"),
        source: EpisodeSource::GitContext,
        title: format!("before {name}"),
        text,
        message_count: quotes.len() as u64,
        ..of(git.operation.at)
    })
}

/// A file that it changed (004-018); `content`: as it is now, where that is kept.
pub fn bulk_update(
    id: Uuid,
    git: &GitOperation,
    file: &FileChange,
    content: Option<&str>,
) -> Episode {
    let path = &file.path;
    let what = match (file.operation, &file.previous_path) {
        (FileOperation::Delete, _) => format!("File deleted: {path}"),
        (operation, Some(before)) => format!("{}: {before} → {path}", operation.as_str()),
        (operation, None) => format!("{}: {path}", operation.as_str()),
    };
    let lines = file
        .lines
        .map(|(added, removed)| format!(", +{added} −{removed} lines"));
    let name = git.name();
    let mut text = format!(
        "{what} ({name}, git_batch_id {id}{})",
        lines.unwrap_or_default()
    );
    if let Some(content) = content {
        text = format!("{text}\n\n{content}");
    }
    Episode {
        id: part_id(id, path),
        source: EpisodeSource::GitBulkUpdate,
        title: path.clone(),
        text,
        files: BTreeSet::from([path.clone()]),
        ..of(git.operation.at)
    }
}

fn of(at: Time) -> Episode {
    Episode {
        part: 1,
        sealed: true,
        valid_at: Some(at),
        ended_at: Some(at),
        ..Episode::default()
    }
}

fn summary(id: Uuid, git: &GitOperation) -> String {
    let (operation, effect) = (&git.operation, &git.effect);
    let hash = |hash: &str| match hash {
        "" => "(none)".to_owned(),
        hash => short_hash(hash).to_owned(),
    };
    let (added, removed) = effect.lines;
    let files = match (effect.files.len() as u64, effect.files_count) {
        (seen, all) if seen < all => format!("{all} ({seen} looked at)"),
        (_, all) => all.to_string(),
    };
    let mut lines = vec![
        "Git Operation Summary:".to_owned(),
        format!("- Type: {}", git.name()),
        format!("- From: {}", hash(&operation.old)),
        format!("- To: {}", hash(&operation.new)),
        format!("- Files affected: {files} (+{added} −{removed} lines)"),
        format!(
            "- Branch: {}",
            operation.branch.as_deref().unwrap_or("(detached)")
        ),
        format!("- Timestamp: {}", operation.at.rfc3339()),
        format!("- git_batch_id: {id}"),
    ];
    lines.push(format!("- Log: {}", operation.message));
    if operation.at_is_guessed {
        lines.push("- Note: no log tells of it; its time is that of a file".to_owned());
    }
    if let Some(missing) = &effect.missing {
        lines.push(format!("- Note: {missing}"));
    }
    if let Some(reason) = &git.reason {
        lines.push(format!("\nWhy: {}", reason.sentence));
        let session = reason.session.get(..8).unwrap_or(&reason.session);
        lines.push(format!(
            "  said by the {}, session {session} line {}",
            reason.who(),
            reason.line
        ));
    }
    let reverted = effect.reverts.iter().map(|revert| &*revert.commit.hash);
    let reverted: Vec<&str> = reverted.map(short_hash).collect();
    if !reverted.is_empty() {
        lines.push(format!("\nUndone: {}", reverted.join(", ")));
    }
    if operation.kind.leaves() && effect.left_count > 0 {
        lines.push(format!("\n{}", left(git)));
        lines.extend(commits(&effect.left));
    }
    lines.extend(verdict(git));
    if !effect.made.is_empty() {
        lines.push(format!("\nNew here ({}):", effect.made.len()));
        lines.extend(commits(&effect.made));
    }
    if !effect.files.is_empty() {
        lines.push("\nFiles:".to_owned());
        lines.extend(effect.files.iter().take(NAMED_MAX).map(file_line));
        lines.extend(and_more(effect.files_count, NAMED_MAX));
    }
    lines.join("\n")
}

/// What became of what was left, and which of it is lost; `None`: nobody judged it, or all of it is lost, which
/// other lines tell.
fn verdict(git: &GitOperation) -> Option<String> {
    let effect = &git.effect;
    let fate = fate(git)?;
    match (effect.lost_count, effect.left_count) {
        (0, _) => Some(format!("\nVerdict: {fate}")),
        (lost, left) if lost >= left => None,
        _ => {
            let subjects = commits(&effect.lost).collect::<Vec<_>>().join("\n");
            Some(format!("\nVerdict: {fate}\n{subjects}"))
        }
    }
}

fn left(git: &GitOperation) -> String {
    let count = git.effect.left_count;
    let (operation, are) = (
        &git.operation,
        if count == 1 { "commit" } else { "commits" },
    );
    match (&operation.to, &operation.branch) {
        (Some(_), Some(branch)) => format!("Left on {branch} ({count} {are}):"),
        _ => format!("Left behind ({count} {are}):"),
    }
}

fn commits(all: &[CommitLine]) -> impl Iterator<Item = String> {
    let shown = all.iter().take(COMMITS_MAX);
    shown
        .map(|commit| format!("- {} {}", short_hash(&commit.hash), commit.subject))
        .chain(and_more(all.len() as u64, COMMITS_MAX))
}

fn and_more(count: u64, shown: usize) -> Option<String> {
    let more = count.saturating_sub(shown as u64);
    (more > 0).then(|| format!("- and {more} more"))
}

fn file_line(file: &FileChange) -> String {
    format!("- {} ({})", file.path, file.operation.as_str())
}

/// From the fifth last prompt on, words only.
fn last_exchanges(spoken: &[Utterance]) -> Vec<&Utterance> {
    let prompts = spoken.iter().enumerate();
    let prompts = prompts.filter(|(_, said)| said.kind == ItemKind::Prompt);
    let first = prompts.map(|(nth, _)| nth).rev().take(EXCHANGES).last();
    let words = |said: &&Utterance| {
        matches!(
            said.kind,
            ItemKind::Prompt | ItemKind::Aside | ItemKind::Agent
        )
    };
    spoken[first.unwrap_or(0)..].iter().filter(words).collect()
}

/// The sessions whose words the episode of [`context`] has.
pub fn quoted(spoken: &[Utterance]) -> BTreeSet<String> {
    let last = last_exchanges(spoken).into_iter();
    last.map(|said| said.session.clone()).collect()
}

fn shortened(said: &&Utterance) -> Option<String> {
    let most = match said.kind {
        ItemKind::Agent => AGENT_CHARS,
        _ => USER_CHARS,
    };
    let text = said.text.trim();
    let end = text.char_indices().nth(most).map(|(end, _)| end);
    let text = end.map_or(text.to_owned(), |end| format!("{} …", &text[..end]));
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::git::{Confidence, Effect, Reason, RefOperation};

    fn git() -> GitOperation {
        GitOperation {
            operation: RefOperation::sample(),
            effect: Effect {
                left: vec![CommitLine {
                    hash: "a".repeat(40),
                    subject: "Add the Redis cache".into(),
                    at: Time(0),
                }],
                left_count: 1,
                files: vec![FileChange::sample("src/cache.py")],
                files_count: 1,
                lines: (0, 40),
                ..Effect::default()
            },
            reason: Some(Reason {
                sentence: "This won't work serverless".into(),
                by_user: true,
                session: "0123456789".into(),
                episode: Uuid::nil(),
                line: 12,
                confidence: Confidence::High,
            }),
        }
    }

    fn said(kind: ItemKind, text: &str) -> Utterance {
        Utterance {
            kind,
            text: text.into(),
            session: "s".into(),
            episode: Uuid::nil(),
            line: 1,
            at: None,
        }
    }

    #[test]
    fn the_summary_says_what_was_left_and_why() {
        let episode = metadata(Uuid::nil(), &git());
        let wants = "\
Git Operation Summary:
- Type: reset --hard
- From: aaaaaaaaaaaa
- To: bbbbbbbbbbbb
- Files affected: 1 (+0 −40 lines)
- Branch: feature/cache
- Timestamp: 2025-11-12T15:30:00Z
- git_batch_id: 00000000-0000-0000-0000-000000000000
- Log: reset: moving to HEAD~5

Why: This won't work serverless
  said by the user, session 01234567 line 12

Left behind (1 commit):
- aaaaaaaaaaaa Add the Redis cache

Files:
- src/cache.py (delete)";
        assert_eq!(episode.text, wants);
        assert_eq!(episode.title, "reset --hard on feature/cache");
    }

    #[test]
    fn five_exchanges_are_kept_without_calls() {
        let mut spoken = Vec::new();
        for n in 0..8 {
            spoken.push(said(ItemKind::Prompt, &format!("User: question {n}")));
            spoken.push(said(ItemKind::Digest, "Action: Read(a)"));
            spoken.push(said(
                ItemKind::Agent,
                &format!("Agent: {}", "x".repeat(900)),
            ));
        }
        let episode = context(Uuid::nil(), &git(), &spoken).unwrap();
        assert!(!episode.text.contains("question 2") && episode.text.contains("question 3"));
        assert!(!episode.text.contains("Action") && episode.text.len() < 4_000);
        assert_eq!(context(Uuid::nil(), &git(), &[]), None);
    }
}
