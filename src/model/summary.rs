//! What a session came to (003 § 4.2).

use super::finding::{CommitSize, PullRequestState, TestCounts};
use super::namespace::is_of_windows;
pub use super::test_runs::{CheckRun, OtherRun, TestRuns, UnseenEnd, UnseenRun};
use super::time::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use uuid::Uuid;

/// What a session amounts to. What is absent or empty was not in its logs; nothing is guessed but what a
/// language model says: [`Summary::llm`], and of an item its reasons.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// What was asked for: one or two sentences.
    pub objective: Option<Sourced<String>>,
    /// The same as somebody wrote it, in at most 1,000 characters and with where; absent where the objective says as
    /// much.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// How it ended.
    pub outcome: Option<SessionOutcome>,
    /// What the agent said last to the request that most was done for: its first lines.
    pub result: Option<Sourced<String>>,
    /// The same, in a line each and in order, for others that `requests` doesn't tell.
    pub steps: Vec<Sourced<String>>,
    /// What people asked for after that, each in a line with what the agent said to it; of many the first, the
    /// longest, the last.
    pub requests: Vec<Sourced<String>>,
    /// What the agent said the work came to, at more length: of several requests each with its answer, in the order of
    /// time. Empty where it answered none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub account: Vec<Sourced<RequestAnswer>>,
    /// Tasks that were finished, in that order.
    pub completed: Vec<Sourced<String>>,
    /// What people chose, approved or said: the surest ones.
    pub decisions: Vec<Sourced<Decision>>,
    /// So many more of them.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_decisions: usize,
    /// What the agent says that it chose itself, without what people decided. Nobody else may have
    /// agreed to it.
    pub agent_decisions: Vec<Sourced<Decision>>,
    /// What failed and then worked.
    pub errors_resolved: Vec<Sourced<Resolution>>,
    /// Settings that got another value; of each the first and the last.
    pub config_changes: Vec<Sourced<SettingChange>>,
    /// Test runs; absent where none ran.
    pub tests: Option<Sourced<TestRuns>>,
    /// Builds, linters, type checkers and the like: of each the last run of which the log says how it ended.
    pub checks: Vec<Sourced<CheckRun>>,
    /// Code was changed and no call ran tests.
    pub untested: bool,
    /// Files that edit tools and patches changed, and those that only git's output names, by path.
    pub files_modified: Vec<Sourced<ChangedFile>>,
    /// Commits, in order.
    pub commits: Vec<Sourced<SessionCommit>>,
    /// Pull requests that were opened, merged or closed.
    pub pull_requests: Vec<Sourced<PullRequest>>,
    /// Tools of MCP servers with their calls, the most used first.
    pub mcp_tools_used: Vec<(String, u64)>,
    /// Tasks that are open, commits that are there and that nobody saw pushed, and what the agent's last words ask and
    /// propose.
    pub next_steps: Vec<Sourced<String>>,
    /// What a language model says besides; absent where none was asked.
    #[serde(rename = "told", skip_serializing_if = "Option::is_none")]
    pub llm: Option<LlmAdditions>,
}

impl Summary {
    /// Leaves out what was told by other episodes: tasks, decisions, errors, settings, commits, pull
    /// requests. What is known of the session as a whole stays.
    pub fn retain_episodes(&mut self, episodes: &BTreeSet<Uuid>) {
        fn retain<T>(list: &mut Vec<Sourced<T>>, episodes: &BTreeSet<Uuid>) {
            list.retain(|item| episodes.contains(&item.episode));
        }
        self.result
            .take_if(|result| !episodes.contains(&result.episode));
        retain(&mut self.steps, episodes);
        retain(&mut self.requests, episodes);
        retain(&mut self.account, episodes);
        retain(&mut self.completed, episodes);
        retain(&mut self.decisions, episodes);
        self.more_decisions = 0;
        retain(&mut self.agent_decisions, episodes);
        retain(&mut self.errors_resolved, episodes);
        retain(&mut self.config_changes, episodes);
        retain(&mut self.commits, episodes);
        retain(&mut self.pull_requests, episodes);
    }

    /// Paths as [`short_path`] tells them.
    pub fn shorten_paths(&mut self, root: &str, hides: bool) {
        let shorten = |path: &mut String| {
            if let Some(short) = short_path(path, root, hides) {
                // git names files of all systems so
                *path = match is_of_windows(root) {
                    true => short.replace('\\', "/"),
                    false => short.to_owned(),
                };
            }
        };
        let errors = self.errors_resolved.iter_mut();
        errors
            .flat_map(|error| &mut error.what.changed)
            .for_each(shorten);
        let settings = self.config_changes.iter_mut();
        settings.for_each(|change| shorten(&mut change.what.file));
        let files = self.files_modified.iter_mut();
        files.for_each(|file| {
            shorten(&mut file.what.path);
            file.what
                .renamed_from
                .as_mut()
                .into_iter()
                .for_each(shorten);
        });
        self.join_files();
        let Some(llm) = &mut self.llm else { return };
        llm.files_modified.iter_mut().for_each(shorten);
        let settings = llm.config_changes.iter_mut();
        settings.for_each(|change| shorten(&mut change.file));
    }

    /// A file of two worktrees is told once where nothing tells the lines of one of them.
    fn join_files(&mut self) {
        let all = &self.files_modified;
        let is_told = |nth: usize| {
            let one = &all[nth].what;
            let mut others = all.iter().enumerate();
            one.by_git
                && !one.counted
                && others.any(|(other, file)| other < nth && file.what.path == one.path)
        };
        let told: Vec<bool> = (0..all.len()).map(is_told).collect();
        let mut told = told.into_iter();
        self.files_modified
            .retain(|_| !told.next().unwrap_or_default());
    }
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A path below `root` as seen from there, one of a worktree in it or beside it as seen from the worktree;
/// of another whole one its name alone where `hides`. `None`: it stays as it is.
pub fn short_path<'p>(path: &'p str, root: &str, hides: bool) -> Option<&'p str> {
    const SEPARATORS: [char; 2] = ['/', '\\'];
    // `D:\shop\a.rs` is below `d:/shop`: what differs has the same length
    let same = |a: u8, b: u8| {
        let plain = |c: u8| {
            if c == b'\\' {
                b'/'
            } else {
                c.to_ascii_lowercase()
            }
        };
        plain(a) == plain(b)
    };
    let is_below = path.len() > root.len()
        && path.is_char_boundary(root.len())
        && path
            .bytes()
            .zip(root.bytes())
            .all(|(a, b)| match root.as_bytes() {
                [_, b':', ..] => same(a, b),
                _ => a == b,
            });
    let rest = is_below.then(|| &path[root.len()..]);
    let rest = rest.or_else(|| below_masked_home(path, root));
    let below = rest.and_then(|rest| rest.strip_prefix(SEPARATORS));
    // hidden ones are stored as seen from the root
    let whole = path.starts_with(['/', '\\', '~']) || is_of_windows(path);
    let below = below.or((hides && !whole).then_some(path));
    let beside = rest.and_then(|rest| rest.strip_prefix("__worktrees/"));
    let beside = beside.and_then(|rest| Some(rest.split_once('/')?.1));
    let within = below.map(|below| {
        let mut parts = below.splitn(4, SEPARATORS);
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(".claude"), Some("worktrees"), Some(_), Some(rest)) => rest,
            _ => below,
        }
    });
    let name = || path.rsplit(SEPARATORS).next().filter(|_| hides && whole);
    within.or(beside).or_else(name)
}

/// How the name of somebody's home directory is masked.
pub const MASKED_USER: &str = "[redacted:user:";

/// What follows the root in a path whose home directory's name is masked, where the root's is not.
pub fn below_masked_home<'p>(path: &'p str, root: &str) -> Option<&'p str> {
    let (homes, rest) = path.split_once(MASKED_USER)?;
    let (_, rest) = rest.split_once(']')?;
    let (_, root) = root.strip_prefix(homes)?.split_once('/')?;
    rest.strip_prefix('/')?.strip_prefix(root)
}

/// A request and what came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestAnswer {
    /// What was asked for, in at most 280 characters; empty where the words of the prompt say nothing of it.
    pub request: String,
    /// What the agent said last to it, in lines; empty where it said nothing.
    pub answer: String,
    /// Names of the files that were changed for it and again for a later request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_later: Vec<String>,
}

/// Something with where it was told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sourced<T> {
    /// What was told.
    pub what: T,
    /// The episode that tells it.
    pub episode: Uuid,
    /// The line of the record, in the episode's file.
    pub line: u64,
}

/// For tests that ask for no episode.
#[cfg(test)]
pub fn sourced<T>(line: u64, what: T) -> Sourced<T> {
    Sourced {
        what,
        episode: Uuid::nil(),
        line,
    }
}

/// What a language model says of a session beside the facts. It names no lines: nothing here was
/// found in the log but what says so.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmAdditions {
    /// The model's name.
    pub by: String,
    /// What the session was for, in one or two sentences.
    pub objective: String,
    /// How it ended; absent where the facts say it.
    pub outcome: Option<SessionOutcome>,
    /// Tasks that were accomplished, without those that the log lists.
    pub completed: Vec<String>,
    /// What was behind the errors.
    pub root_cause: Option<String>,
    /// Errors that the facts don't have.
    pub errors_resolved: Vec<LlmResolution>,
    /// Settings that the facts don't have, in files that the log names.
    pub config_changes: Vec<SettingChange>,
    /// What was learned.
    pub discoveries: Vec<String>,
    /// Decisions that the facts don't have.
    pub decisions: Vec<LlmDecision>,
    /// Tests; absent where the facts have some.
    pub tests: Option<TestCounts>,
    /// Per cent of the code that tests reached; a number that the log has.
    pub coverage: Option<f64>,
    /// Files that the log names; none where the facts have some.
    pub files_modified: Vec<String>,
    /// What should happen next, without what the log lists.
    pub next_steps: Vec<String>,
}

/// A decision as a model states it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LlmDecision {
    /// What was chosen.
    pub decision: String,
    /// And why.
    #[serde(flatten)]
    pub why: DecisionReasons,
}

/// A model's reasons for a decision.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DecisionReasons {
    /// Why this.
    pub rationale: String,
    /// What else was considered.
    pub alternatives: Vec<String>,
}

/// An error as a model explains it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LlmResolution {
    /// What went wrong.
    pub error: String,
    /// And what became of it.
    #[serde(flatten)]
    pub explained: Explanation,
}

/// A model's explanation of an error.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Explanation {
    /// What was behind it.
    pub root_cause: String,
    /// What helped.
    pub fix: String,
    /// How it was seen that it helped.
    pub verification: String,
}

/// What somebody chose (003-103).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// What was chosen, or said.
    pub decision: String,
    /// What it answers: the agent's question, or the plan.
    pub about: Option<String>,
    /// What it was chosen instead of.
    pub instead_of: Option<String>,
    /// A language model's reasons for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<DecisionReasons>,
    /// The commits that did it were given up later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone: Option<UndoneBy>,
}

/// What stopped a commit where its hook did: a hook prints much before it says why.
pub const HOOK: &str = "a hook of the commit failed";

/// Something that failed and worked later, or that the work went another way round (003-104).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolution {
    /// The call that failed, as its digest tells it.
    pub call: String,
    /// What it said.
    pub error: String,
    /// What the agent said was behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// What the agent said helped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cure: Option<String>,
    /// Files that were changed between; none where something else helped.
    pub changed: Vec<String>,
    /// The line of the record that worked.
    pub worked_at: u64,
    /// A language model's explanation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explained: Option<Explanation>,
}

impl Resolution {
    /// It says what was behind it or what was changed, and not only which other way the work went.
    pub fn is_mended(&self) -> bool {
        let is_said = self.cure.as_ref().is_some_and(|cure| cure.starts_with('“'));
        !is_said && (self.cause.is_some() || !self.changed.is_empty())
    }
}

/// A setting's way over a session (003-105).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingChange {
    /// The file.
    pub file: String,
    /// The setting with its sections, or a section that got another name.
    pub setting: String,
    /// What it was; absent where it was new.
    pub old: Option<String>,
    /// What it is; absent where it is gone.
    pub new: Option<String>,
    /// What it is called now, where it got another name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renamed: Option<String>,
    /// Why, as a language model says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What became of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    /// As the calls name it, absolute where they do or the working directory was known.
    pub path: String,
    /// Lines that came; of a new file those that are left. Exact where `counted`, else a sum over the edits.
    pub added: u64,
    /// As `added`.
    pub removed: u64,
    /// How often it was changed; 0 where only git tells it.
    pub edits: u64,
    /// No call that changed it was seen: git's output tells it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_git: bool,
    /// It is new.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub created: bool,
    /// It is gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// `added` and `removed` are exact: git counted them, or they add up to what git counted of their commits, or nothing
    /// can have changed a new file since it was written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counted: bool,
    /// What it was called before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
}

/// A commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionCommit {
    /// Abbreviated; empty where nothing printed it.
    pub hash: String,
    /// First line of its message.
    pub subject: String,
    /// The folder of another repository than the session's, by name, where it was made there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// It was pushed, or became part of a pull request, later in the session.
    #[serde(default)]
    pub pushed: bool,
    /// The log doesn't name it: git tells it, and the session was at work on its files then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_git: bool,
    /// A rebase made it of an older one, of which nobody saw that the session made it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rebased: bool,
    /// As git printed it when the commit was made; absent where it was rewritten since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<CommitSize>,
    /// What became of it later: its work is nowhere any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_up: Option<UndoneBy>,
}

/// The git operation that work was given up with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoneBy {
    /// `reset --hard`.
    pub operation: String,
    /// When.
    pub at: Time,
    /// `git_batch_id`.
    pub git_batch_id: Uuid,
}

impl UndoneBy {
    /// `on 2026-06-01: reset --hard`.
    pub fn shown(&self) -> String {
        let day = self.at.utc().format("%Y-%m-%d");
        format!("on {day}: {}", self.operation)
    }
}

/// A pull request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "WrittenPullRequest")]
pub struct PullRequest {
    /// Its address; `#7` where the log has only the number.
    pub address: String,
    /// As it was seen last; absent where nothing says more than that it was opened.
    pub state: Option<PullRequestState>,
}

/// As it is stored: older programs kept only the address.
#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenPullRequest {
    Address(String),
    Whole {
        address: String,
        state: Option<PullRequestState>,
    },
}

impl From<WrittenPullRequest> for PullRequest {
    fn from(written: WrittenPullRequest) -> PullRequest {
        match written {
            WrittenPullRequest::Address(address) => PullRequest {
                address,
                state: None,
            },
            WrittenPullRequest::Whole { address, state } => PullRequest { address, state },
        }
    }
}

/// A log to which nothing was added for so long is taken for ended.
const QUIET_MS: i64 = 86_400_000;

/// The last record is a day old: whoever wrote the log has gone.
pub fn is_quiet(last: Option<Time>, now: Time) -> bool {
    last.is_some_and(|last| now.0 - last.0 > QUIET_MS)
}

/// How a session ended (003-108).
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum SessionOutcome {
    /// The last request is done.
    Completed,
    /// Something outside stopped it.
    Blocked,
    /// It was cut off, still runs, or waits for somebody.
    InProgress,
    /// A person stopped the agent and didn't go on.
    Interrupted,
    /// A person asked and nothing was done.
    Abandoned,
}

impl SessionOutcome {
    /// All of them.
    pub const ALL: [SessionOutcome; 5] = [
        SessionOutcome::Completed,
        SessionOutcome::Blocked,
        SessionOutcome::InProgress,
        SessionOutcome::Interrupted,
        SessionOutcome::Abandoned,
    ];

    /// The word used in tables, options and output.
    pub fn as_str(self) -> &'static str {
        match self {
            SessionOutcome::Completed => "completed",
            SessionOutcome::Blocked => "blocked",
            SessionOutcome::InProgress => "in_progress",
            SessionOutcome::Interrupted => "interrupted",
            SessionOutcome::Abandoned => "abandoned",
        }
    }

    /// As people read it: of a log that grows no more (see [`is_quiet`]), nothing is in progress.
    pub fn words(self, is_quiet: bool) -> &'static str {
        match self {
            SessionOutcome::InProgress if is_quiet => "unfinished",
            SessionOutcome::InProgress => "in progress",
            other => other.as_str(),
        }
    }

    /// The inverse of [`SessionOutcome::as_str`].
    pub fn parse(word: &str) -> Option<SessionOutcome> {
        SessionOutcome::ALL.into_iter().find(|o| o.as_str() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_two_worktrees_is_told_once() {
        let file = |path: &str, edits: u64| Sourced {
            what: ChangedFile {
                path: path.into(),
                edits,
                by_git: edits == 0,
                ..ChangedFile::default()
            },
            episode: Uuid::nil(),
            line: 1,
        };
        let mut summary = Summary {
            files_modified: vec![
                file("/p/shop/cart.rs", 2),
                file("cart.rs", 0),
                file("totals.rs", 0),
            ],
            ..Summary::default()
        };
        summary.shorten_paths("/p/shop", false);
        let files = summary.files_modified.iter();
        let told: Vec<(&str, u64)> = files
            .map(|file| (file.what.path.as_str(), file.what.edits))
            .collect();
        assert_eq!(told, [("cart.rs", 2), ("totals.rs", 0)]);
    }
}
