//! How a session ended, by what stands last in its main log. What words say is a table
//! (`rules/outcome.yaml`).

use crate::model::exchange::{INTERRUPTED, ItemKind, is_bare_command, words_of};
use crate::model::finding::{Finding, Task, TaskState};
use crate::model::summary::SessionOutcome;
use crate::rules::denials::awaits_permission;
use crate::rules::outcome::{Ending, ending};
use crate::rules::test_words::{blames_others, fails, passes};

/// One item of a session.
#[derive(Clone, Copy, Debug)]
pub struct SessionItem<'t> {
    /// What it is.
    pub kind: ItemKind,
    /// As it stands in the episode.
    pub text: &'t str,
    /// What its call came to.
    pub findings: &'t [Finding],
}

/// What stands behind the last item of a log that ends in a call without a result.
pub const PENDING_CALL: SessionItem<'static> = SessionItem {
    kind: ItemKind::Digest,
    text: "",
    findings: &[],
};

/// The outcome by the items of the main log, the **last one first**; `None` where they say nothing.
/// Reads back to the last words or call, and in what they answer to the last run of tests.
pub fn outcome<'t>(backwards: impl IntoIterator<Item = SessionItem<'t>>) -> Option<SessionOutcome> {
    let mut items = backwards.into_iter().peekable();
    let is_pending = items.next_if(is_pending_call).is_some();
    let mut said = "";
    let judged = items.by_ref().find_map(|item| {
        said = words_of(item.text);
        last(item)
    });
    let verdict = match judged {
        Some(Verdict::Done | Verdict::Proved | Verdict::Unanswered) | None if is_pending => {
            Verdict::Open
        }
        verdict => verdict?,
    };
    match verdict {
        Verdict::Done => {}
        // whoever asks again after something was done is still at it
        Verdict::Unanswered if items.any(|item| is_work(&item)) => {
            return Some(SessionOutcome::InProgress);
        }
        verdict => return Some(verdict.outcome()),
    }
    let is_within = |item: &SessionItem<'_>| item.kind != ItemKind::Prompt || is_aside(item.text);
    let exchange = items.by_ref().take_while(is_within);
    let mut since = Since {
        excuses_tests: passes(said).is_some() || blames_others(said),
        ..Since::default()
    };
    let says_red = fails(said).is_some();
    let mut found =
        exchange.flat_map(|item| item.findings.iter().rev().map(move |found| (item, found)));
    let is_open = found.find_map(|(item, finding)| match finding {
        Finding::Unchanged { .. } if awaits_permission(item.text) && !since.has_changed => {
            Some(true)
        }
        // whoever only reviews is done when the failure is told
        Finding::Changed { .. } if says_red => Some(true),
        _ if says_red => None,
        finding => since.speaks_against(finding),
    });
    let is_open = is_open.unwrap_or_else(|| leaves_begun(items.take_while(is_within)));
    Some(match is_open {
        true => SessionOutcome::InProgress,
        false => SessionOutcome::Completed,
    })
}

/// A task of the last list was begun, and nothing was done since but to talk; of the items of the exchange before the
/// last one, the last one first: a list that is older is left behind.
fn leaves_begun<'t>(backwards: impl Iterator<Item = SessionItem<'t>>) -> bool {
    let mut found = backwards.flat_map(|item| item.findings.iter().rev());
    let is_begun = found.find_map(|finding| match finding {
        Finding::Plan(tasks) => Some(tasks.iter().any(|task| task.state == TaskState::Active)),
        Finding::Changed { .. } => Some(false),
        finding => is_end(finding).then_some(false),
    });
    is_begun == Some(true)
}

fn is_pending_call(item: &SessionItem<'_>) -> bool {
    item.kind == ItemKind::Digest && item.text.is_empty()
}

fn is_work(item: &SessionItem<'_>) -> bool {
    matches!(item.kind, ItemKind::Agent | ItemKind::Digest)
}

/// What was seen of the last exchange, going backwards.
#[derive(Default)]
struct Since<'t> {
    /// The last words say that tests pass, or that others' don't.
    excuses_tests: bool,
    /// The last list of tasks is known.
    has_plan: bool,
    /// Tasks by number, of which the last state is known.
    tasks: Vec<&'t str>,
    /// A file was changed.
    has_changed: bool,
}

impl<'t> Since<'t> {
    /// Whether a finding shows that the agent isn't done, or that it is; `None`: the one before it says
    /// more. Tests that failed and tasks that are open, unless a commit or tests that passed came later.
    fn speaks_against(&mut self, finding: &'t Finding) -> Option<bool> {
        let is_open = |task: &Task| matches!(task.state, TaskState::Open | TaskState::Active);
        match finding {
            Finding::Changed { .. } => {
                self.has_changed = true;
                None
            }
            Finding::Plan(tasks) => {
                let is_last = !std::mem::replace(&mut self.has_plan, true);
                (is_last && tasks.iter().any(is_open)).then_some(true)
            }
            Finding::Task(task) => {
                let id = task.id.as_deref()?;
                let is_last = !self.tasks.contains(&id);
                self.tasks.push(id);
                (is_last && is_open(task)).then_some(true)
            }
            finding if is_end(finding) => Some(false),
            finding => red(finding).map(|is_red| is_red && !self.excuses_tests),
        }
    }
}

/// What one item says about the end; `None`: the one before it says more.
#[derive(Clone, Copy, PartialEq)]
enum Verdict {
    /// The agent says, or a result shows, that it is done.
    Done,
    /// The same, and no test speaks against it.
    Proved,
    Open,
    Stopped,
    /// By a person.
    Interrupted,
    Unanswered,
}

impl Verdict {
    fn outcome(self) -> SessionOutcome {
        match self {
            Verdict::Done | Verdict::Proved => SessionOutcome::Completed,
            Verdict::Open => SessionOutcome::InProgress,
            Verdict::Stopped => SessionOutcome::Blocked,
            Verdict::Interrupted => SessionOutcome::Interrupted,
            Verdict::Unanswered => SessionOutcome::Abandoned,
        }
    }
}

fn last(item: SessionItem<'_>) -> Option<Verdict> {
    let words = words_of(item.text);
    match item.kind {
        ItemKind::Prompt | ItemKind::Aside if is_aside(item.text) => None,
        ItemKind::Prompt | ItemKind::Aside => Some(Verdict::Unanswered),
        ItemKind::Note => (words == INTERRUPTED).then_some(Verdict::Interrupted),
        ItemKind::Error => Some(Verdict::Stopped),
        ItemKind::Agent => Some(match ending(words) {
            Ending::Done => Verdict::Done,
            Ending::GoesOn | Ending::Waits => Verdict::Open,
            Ending::Blocked => Verdict::Stopped,
        }),
        ItemKind::Digest => Some(match item.findings {
            [Finding::Refused { .. }, ..] => Verdict::Interrupted,
            findings if findings.iter().any(is_end) => Verdict::Proved,
            _ => Verdict::Open,
        }),
    }
}

/// What nobody waits for an answer to: `/exit`, and what programs put in between.
pub(super) fn is_aside(text: &str) -> bool {
    let words = words_of(text);
    is_bare_command(words) || words.starts_with(['{', '<'])
}

/// A call after which nothing has to be said.
fn is_end(finding: &Finding) -> bool {
    match finding {
        Finding::Commit { .. } | Finding::PullRequest(_) => true,
        tests => red(tests) == Some(false),
    }
}

/// Whether tests failed; `None` for anything but tests.
fn red(finding: &Finding) -> Option<bool> {
    match finding {
        Finding::Tests(run) => Some(run.failed > 0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::finding::TestCounts;

    fn tests(failed: u64) -> Vec<Finding> {
        vec![Finding::Tests(TestCounts {
            passed: 3,
            failed,
            ..TestCounts::default()
        })]
    }

    fn item(kind: ItemKind, text: &str) -> SessionItem<'_> {
        SessionItem {
            kind,
            text,
            findings: &[],
        }
    }

    /// The last item first, behind a prompt.
    fn of(items: &[SessionItem<'_>]) -> Option<SessionOutcome> {
        let prompt = item(ItemKind::Prompt, "User: fix the tests");
        outcome(items.iter().copied().chain([prompt]))
    }

    #[test]
    fn the_last_thing_decides() {
        let agent = |text| item(ItemKind::Agent, text);
        let exit = item(ItemKind::Prompt, "User: /exit");
        let noise = item(ItemKind::Aside, "User (while working): {\"task_id\":\"b\"}");
        let note = item(ItemKind::Note, "Note: interrupted by the user");
        let edit = item(ItemKind::Digest, "Action: Edit(a.rs) → +1 −0");
        let error = item(ItemKind::Error, "Error: API Error: 529");
        let prompt = item(ItemKind::Prompt, "User: use the other one");
        let refused = [Finding::Refused { key: 0 }];
        let no = SessionItem {
            findings: &refused,
            ..item(ItemKind::Digest, "Action: Bash(rm x) → refused by the user")
        };
        for (items, wants) in [
            (vec![agent("Agent: All done.")], SessionOutcome::Completed),
            (
                vec![exit, noise, agent("Agent: All done.")],
                SessionOutcome::Completed,
            ),
            (
                vec![agent("Agent: Now let me run the tests:")],
                SessionOutcome::InProgress,
            ),
            (
                vec![agent("Agent: I've hit the usage limit.")],
                SessionOutcome::Blocked,
            ),
            (vec![note], SessionOutcome::Interrupted),
            (vec![exit, note, edit], SessionOutcome::Interrupted),
            (vec![prompt, note, edit], SessionOutcome::InProgress),
            (
                vec![agent("Agent: All done."), prompt, note],
                SessionOutcome::Completed,
            ),
            (vec![PENDING_CALL, edit], SessionOutcome::InProgress),
            (
                vec![PENDING_CALL, agent("Agent: Everything is green.")],
                SessionOutcome::InProgress,
            ),
            (vec![PENDING_CALL, note, edit], SessionOutcome::Interrupted),
            (vec![PENDING_CALL, error], SessionOutcome::Blocked),
            (vec![PENDING_CALL], SessionOutcome::InProgress),
            (vec![no], SessionOutcome::Interrupted),
            (
                vec![agent("Agent: Then I leave it as it is."), no],
                SessionOutcome::Completed,
            ),
            (
                vec![agent("Agent: All done."), note],
                SessionOutcome::Completed,
            ),
            (
                vec![edit, agent("Agent: Let me edit.")],
                SessionOutcome::InProgress,
            ),
            (vec![error, edit], SessionOutcome::Blocked),
            (vec![], SessionOutcome::Abandoned),
        ] {
            assert_eq!(of(&items), Some(wants), "{items:?}");
        }
        assert_eq!(outcome([exit, noise]), None);
    }

    #[test]
    fn what_waits_for_permission_is_not_done() {
        let (refused, changed) = (
            [Finding::Unchanged { key: 1 }],
            [Finding::Changed {
                path: "/p/a.rs".into(),
                added: 1,
                removed: 0,
            }],
        );
        let call = |text, findings| SessionItem {
            findings,
            ..item(ItemKind::Digest, text)
        };
        let words = item(ItemKind::Agent, "Agent: I've written the page.");
        let waits = call(
            "Action: Write(a.md) → failed: you haven't granted it yet",
            &refused[..],
        );
        let failed = call("Action: Edit(a.md) → failed: no such text", &refused[..]);
        let done = call("Action: Edit(a.rs) → +1 −0", &changed[..]);
        assert_eq!(of(&[words, waits]), Some(SessionOutcome::InProgress));
        assert_eq!(of(&[words, done, waits]), Some(SessionOutcome::Completed));
        assert_eq!(of(&[words, failed]), Some(SessionOutcome::Completed));
    }

    #[test]
    fn tests_that_fail_last_speak_against_words() {
        let (red, green) = (tests(1), tests(0));
        let run = |findings| SessionItem {
            findings,
            ..item(ItemKind::Digest, "Action: Bash(cargo test) → …")
        };
        let words = item(ItemKind::Agent, "Agent: All done.");
        assert_eq!(of(&[words, run(&red)]), Some(SessionOutcome::InProgress));
        for said in ["All tests pass.", "The one failure is pre-existing."] {
            let said = format!("Agent: {said}");
            let said = item(ItemKind::Agent, &said);
            assert_eq!(of(&[said, run(&red)]), Some(SessionOutcome::Completed));
        }
        assert_eq!(
            of(&[words, run(&green), run(&red)]),
            Some(SessionOutcome::Completed)
        );
        assert_eq!(of(&[run(&green)]), Some(SessionOutcome::Completed));
        assert_eq!(of(&[run(&red)]), Some(SessionOutcome::InProgress));
        let before = item(ItemKind::Prompt, "User: something else");
        assert_eq!(
            of(&[words, before, run(&red)]),
            Some(SessionOutcome::Completed)
        );
    }

    #[test]
    fn open_tasks_speak_against_words_until_a_commit_or_green_tests() {
        let task = |id: Option<&str>, state| Task {
            id: id.map(str::to_owned),
            text: "t".into(),
            state,
        };
        let plan = |state| vec![Finding::Plan(vec![task(None, state)])];
        let (open, done) = (plan(TaskState::Open), plan(TaskState::Done));
        let commit = vec![Finding::Commit {
            hash: String::new(),
            subject: "s".into(),
            again: false,
            size: None,
        }];
        let (begun, ended) = (
            vec![Finding::Task(task(Some("1"), TaskState::Active))],
            vec![Finding::Task(task(Some("1"), TaskState::Done))],
        );
        let green = tests(0);
        let words = item(ItemKind::Agent, "Agent: All done.");
        for (findings, wants) in [
            (vec![&open], SessionOutcome::InProgress),
            (vec![&done, &open], SessionOutcome::Completed),
            (vec![&commit, &open], SessionOutcome::Completed),
            (vec![&green, &open], SessionOutcome::Completed),
            (vec![&open, &commit], SessionOutcome::InProgress),
            (vec![&begun], SessionOutcome::InProgress),
            (vec![&ended, &begun], SessionOutcome::Completed),
        ] {
            let calls = findings.into_iter().map(|findings| SessionItem {
                findings,
                ..item(ItemKind::Digest, "Action: x")
            });
            let items: Vec<SessionItem<'_>> = [words].into_iter().chain(calls).collect();
            assert_eq!(of(&items), Some(wants), "{items:?}");
        }
    }

    #[test]
    fn a_list_with_a_task_that_was_begun_is_open_until_something_is_done() {
        let agent = |text| item(ItemKind::Agent, text);
        let asked = item(ItemKind::Prompt, "User: how do I download it");
        let task = |state| Task {
            id: None,
            text: "Install it".into(),
            state,
        };
        let begun = [Finding::Plan(vec![task(TaskState::Active)])];
        let open = [Finding::Plan(vec![task(TaskState::Open)])];
        let edit = [Finding::Changed {
            path: "/p/a.rs".into(),
            added: 1,
            removed: 0,
        }];
        let call = |findings| SessionItem {
            findings,
            ..item(ItemKind::Digest, "Action: x")
        };
        let answer = agent("Agent: It is in the folder.");
        let told = |plan| of(&[answer, asked, answer, call(plan)]);
        assert_eq!(told(&begun), Some(SessionOutcome::InProgress));
        assert_eq!(told(&open), Some(SessionOutcome::Completed));
        let later = [answer, asked, answer, call(&edit), call(&begun)];
        assert_eq!(of(&later), Some(SessionOutcome::Completed));
        let old = [answer, asked, answer, asked, answer, call(&begun)];
        assert_eq!(of(&old), Some(SessionOutcome::Completed));
    }
}
