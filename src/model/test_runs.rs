//! The tests and checks of a session, as its summary has them. Knows what they came to, but not how that is found and
//! told (`insight`).

use super::finding::TestCounts;
use serde::{Deserialize, Serialize};

/// Test runs of a session (003-106).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestRuns {
    /// How many of the last one's runner were seen: others may have hidden what they printed.
    pub runs: u64,
    /// No other run can have hidden what it printed: there were no more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all_seen: bool,
    /// How many of them failed, those that were meant to left out.
    #[serde(default)]
    pub failed: u64,
    /// Of these, some were of some tests: those are often written to fail, so that their number says little.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed_in_part: bool,
    /// The last one.
    pub last: TestCounts,
    /// Files that it may read were changed after it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changed_after: bool,
    /// The last one was of some of the tests, chosen by name, file or package.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub part: bool,
    /// The command of such a run, as it was typed, without what stands around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_command: Option<String>,
    /// The last one of all tests, where the last one of all was of some; or one of far more tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full: Option<TestCounts>,
    /// Nobody knows that `full` is of all tests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub full_is_part: bool,
    /// Files were changed after `full`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub full_changed_after: bool,
    /// Where the last one failed: the last run that failed while the session's changes were put aside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aside: Option<TestCounts>,
    /// The last ones of other runners, and of the same one in other parts of the project.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<OtherRun>,
    /// A run of all tests of which the log shows no numbers, where it says more than `last`: it came later, or
    /// `last` is of some tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<UnseenRun>,
    /// The agent's sentence that all tests pass, where no run after a failed one shows it; `last` is then
    /// the last run that passed, without numbers where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// The agent's last words say that tests fail, where the last run doesn't show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<String>,
    /// The command of the last run, where that ran all tests and the log shows only some of its numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The agent's sentence that what still fails or complains isn't of this work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excuse: Option<String>,
    /// How much of the code tests reached, in hundredths of a per cent, as it was printed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<u32>,
}

impl TestRuns {
    /// The numbers of the last run; `None` where a later one showed none.
    pub fn numbers(&self) -> Option<&TestCounts> {
        let is_old = self.unseen.as_ref().is_some_and(|unseen| unseen.is_later);
        (!is_old).then_some(&self.last)
    }

    /// The last run failed, as far as the log shows it.
    pub fn is_failed(&self) -> bool {
        let unseen = self.unseen.as_ref().filter(|unseen| unseen.is_later);
        match unseen.map(|unseen| unseen.end) {
            Some(UnseenEnd::Failed) => self.said.is_none(),
            _ => self.last.failed > 0,
        }
    }
}

/// The last run of another runner than that of the last run, or in another part of the project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherRun {
    /// Its numbers.
    pub counts: TestCounts,
    /// The part of the project that its command named, where another run of the runner named another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Its command chose some of the tests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub part: bool,
    /// How many runs of its runner were seen, where that is another one.
    #[serde(default)]
    pub runs: u64,
}

/// A run of all tests whose numbers the log doesn't show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnseenRun {
    /// As it was typed, without what stands around it.
    pub command: String,
    /// How it ended.
    pub end: UnseenEnd,
    /// It came after the last run with numbers.
    pub is_later: bool,
}

/// How a run ended whose numbers the log doesn't show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnseenEnd {
    /// With exit code 0.
    Worked,
    /// With another one.
    Failed,
    /// Only what failed was shown, and nothing was.
    Silent,
    /// Nobody knows.
    Unknown,
}

/// A command that checked or built what was written, as it ran last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckRun {
    /// As it was typed, without what stands around it; empty where only the agent's words (`said`) tell of checks.
    pub command: String,
    /// The last folder of where it ran, or the part of the project that it named, where it ran in several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// A commit's hook ran it, maybe on what was staged only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub by_hook: bool,
    /// It found nothing wrong.
    pub passed: bool,
    /// What it said, where that is short.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// An earlier run failed.
    pub failed_before: bool,
    /// What the last run that failed said first, where its exit code told that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// The command that mends what it finds, where that ran between its last failure and this; behind it, where it failed and
    /// the command is its own: `cargo fmt` of `cargo fmt --check`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixed_by: Option<String>,
    /// Of one that failed: the agent's sentence, next to it, that this isn't of its work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excuse: Option<String>,
    /// Files were changed after it.
    pub changed_after: bool,
    /// Only the agent's words say how it ended.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub by_agent: bool,
}
