//! What a call came to, for summaries: files changed, tests run, tasks, answers.

use super::call::{DigestCall, SETTINGS};
use super::ended::Ended;
use super::files;
use super::history;
use super::line::{self, TEXT_CHARS_MAX};
use super::people;
use super::plans;
use super::shell::printed_failure;
use super::tasks;
use super::todos;
use crate::model::entry::CallStatus;
use crate::model::finding::{FileFate, Finding, TestCounts, file_key};
use crate::model::policy::{FilterPolicy, Keep};
use crate::rules::commands::history::{Act, HistoryAction};
use crate::rules::commands::hook_checks;
use crate::rules::secrets::Redactor;
use crate::rules::settings;
use crate::rules::test_runners::TestRun;
use crate::rules::tools::AnswerKind;
use serde_json::Value;

/// Edits of one call whose settings are told. Real calls have fewer; a hostile one would fill the
/// checkpoint.
const EDITS_MAX: usize = 50;

/// Names of failed tests that are kept; the number is kept in any case.
const FAILURES_MAX: usize = 10;

impl Ended<'_> {
    /// What it came to. Where the policy leaves results out: what the call itself says, and people's
    /// answers.
    pub fn findings(&self, policy: &FilterPolicy) -> Vec<Finding> {
        let mut found = Vec::new();
        let run = self.tests.run.as_ref();
        let red = run.is_some_and(|run| run.failed > 0);
        match self.status {
            CallStatus::Refused => found.push(Finding::Refused {
                key: self.file().unwrap_or(self.key),
            }),
            CallStatus::Denied | CallStatus::Interrupted => {}
            CallStatus::Failed | CallStatus::Running => {
                found.extend(self.failed());
                if policy.tool_content != Keep::Out {
                    found.extend(history::found(self));
                }
            }
            CallStatus::Ok => {
                self.changes(&mut found);
                if policy.tool_content != Keep::Out {
                    self.todos(&mut found);
                }
                if self.is_command() && found.is_empty() {
                    // `pytest | tail` ends well whatever the tests do, and so does `npm run lint | tail`
                    found.push(match red || printed_failure(self.call, self.output) {
                        true => Finding::Failed { key: self.key },
                        false => Finding::Worked { key: self.key },
                    });
                }
                self.answered(&mut found);
                if policy.tool_content != Keep::Out {
                    self.tasks(&mut found);
                    found.extend(plans::read(self));
                    found.extend(plans::written(self));
                    found.extend(history::found(self));
                }
            }
        }
        let is_polled = self.call.row.answer == AnswerKind::Poll;
        // what failed may have been told before
        let is_hidden = |run: &&TestRun| {
            is_polled && run.packages && run.failed == 0 && self.status == CallStatus::Failed
        };
        let run = run.filter(|run| !is_hidden(run));
        found.extend(run.and_then(|run| tested(run, is_polled)));
        found.extend(self.tests.coverage.map(Finding::Coverage));
        if policy.tool_content != Keep::Out {
            self.checked(&mut found);
        }
        found
    }

    /// What tools that check said of themselves.
    fn checked(&self, found: &mut Vec<Finding>) {
        let has_ended = matches!(self.status, CallStatus::Ok | CallStatus::Failed);
        let checks = (has_ended && self.is_command()).then(|| self.call.own_checks());
        let words = checks.map(|checks| checks.words(self.output.parts()));
        found.extend(words.into_iter().flatten().map(|word| Finding::Checked {
            tool: word.tool,
            passed: word.passed,
            said: line::folded(&self.output.masked(&word.said), TEXT_CHARS_MAX).into_owned(),
        }));
        let commits = |act: &Act| act.does == HistoryAction::Commit && !act.away;
        let acts = match has_ended {
            true => self.call.acts(),
            false => Default::default(),
        };
        if acts.iter().any(commits) {
            let is_commit = |found: &Finding| matches!(found, Finding::Commit { .. });
            let made = found.iter().any(is_commit) && acts.iter().any(|act| act.hooked);
            let ran = hook_checks(self.output.parts(), made).into_iter();
            found.extend(ran.map(|check| Finding::HookChecked {
                check:
                    line::folded(&self.output.masked(&check.command), TEXT_CHARS_MAX).into_owned(),
                passed: check.passed,
            }));
        }
    }

    fn failed(&self) -> Option<Finding> {
        match self.is_command() {
            _ if self.status == CallStatus::Running => None,
            true => Some(Finding::Failed { key: self.key }),
            false => self.file().map(|key| Finding::Unchanged { key }),
        }
    }

    /// A command that is recognised when it runs again.
    fn is_command(&self) -> bool {
        matches!(self.call.row.answer, AnswerKind::Shell | AnswerKind::Poll) && self.key != 0
    }

    /// The file that an edit or a patch is about.
    fn file(&self) -> Option<u32> {
        let edits = [AnswerKind::Edit, AnswerKind::Write, AnswerKind::Patch];
        let patched = self.call.changes.iter().map(|change| change.path.as_str());
        let mut files = self.call.named_files().chain(patched);
        let file = files
            .next()
            .filter(|_| edits.contains(&self.call.row.answer))?;
        Some(file_key(&line::absolute(file, self.call.cwd)))
    }

    /// What comments of an edit's text, or of a new file's, say is to be done; of files of the project only.
    fn todos(&self, found: &mut Vec<Finding>) {
        // what stands in a text that replaces another one may have stood there before
        let is_own = match self.call.row.answer {
            AnswerKind::Write => files::created(self.result) == Some(true),
            answer => answer == AnswerKind::Edit,
        };
        let Some(path) = self.call.named_files().next().filter(|_| is_own) else {
            return;
        };
        let path = line::absolute(path, self.call.cwd);
        let rooted = ['/', '\\', '~'];
        let is_outside = |cwd: &str| {
            let within = line::relative(&path, Some(cwd));
            within.starts_with(rooted) || within.as_bytes().get(1) == Some(&b':')
        };
        let is_foreign = self.call.cwd.is_some_and(is_outside);
        let todos = todos::todos(self.call, self.output.redactor).into_iter();
        let todos = todos.filter(|(_, gone)| *gone || !is_foreign);
        found.extend(todos.map(|(text, gone)| Finding::Todo {
            path: path.clone(),
            text,
            gone,
        }));
    }

    fn changes(&self, found: &mut Vec<Finding>) {
        // a patch may delete a file and write it anew
        found.extend(self.fates().filter(|(_, _, again)| *again).map(file));
        for (path, added, removed) in files::changed(self.call, self.result) {
            found.push(Finding::Changed {
                path: line::absolute(&path, self.call.cwd),
                added,
                removed,
            });
        }
        found.extend(self.fates().filter(|(_, _, again)| !again).map(file));
        if self.call.row.answer != AnswerKind::Edit {
            return;
        }
        for change in settings(self.call, self.output.redactor) {
            let path = self.call.named_files().next().unwrap_or_default();
            found.push(Finding::Set {
                path: line::absolute(path, self.call.cwd),
                setting: change.setting,
                old: change.old,
                new: change.new,
                renamed: change.renamed,
            });
        }
    }

    /// Files that were not there before, or are not there any more; and whether it goes on with one that is deleted.
    fn fates(&self) -> impl Iterator<Item = (String, FileFate, bool)> {
        let path = |path: &str| line::absolute(path, self.call.cwd);
        let changes = &self.call.changes;
        let patched = changes.iter().enumerate().filter_map(move |(nth, change)| {
            let fate = change.fate?;
            let mut after = changes[nth + 1..].iter();
            let again = fate == FileFate::Deleted && after.any(|other| other.path == change.path);
            Some((path(&change.path), fate, again))
        });
        let is_new =
            self.call.row.answer == AnswerKind::Write && files::created(self.result) == Some(true);
        let written = self.call.named_files().filter(move |_| is_new);
        patched.chain(written.map(move |named| (path(named), FileFate::Created, false)))
    }

    fn tasks(&self, found: &mut Vec<Finding>) {
        match self.call.row.answer {
            AnswerKind::Plan => found.push(Finding::Plan(tasks::all(self.call))),
            AnswerKind::Task => {
                found.extend(tasks::one(self.call, self.result, self.output).map(Finding::Task));
            }
            _ => {}
        }
    }

    fn answer(&self, question: &str, answer: &str) -> Finding {
        let (header, options) = self.call.form(question);
        let mut options = options.into_iter();
        let chosen = options.find(|(label, _)| *label == answer.trim());
        Finding::Answered {
            question: line::folded(question, usize::MAX).into_owned(),
            answer: line::folded(answer, usize::MAX).into_owned(),
            header: line::folded(header, TEXT_CHARS_MAX).into_owned(),
            means: chosen.map(|(_, means)| line::folded(means, TEXT_CHARS_MAX).into_owned()),
        }
    }

    /// What a person answered: theirs, whatever is kept of results.
    fn answered(&self, found: &mut Vec<Finding>) {
        match self.call.row.answer {
            AnswerKind::Ask if self.output.quotes_people => {
                let answers = people::answers(self.call, self.result, self.output);
                let each = answers.into_iter();
                found.extend(each.map(|(question, answer)| self.answer(&question, &answer)));
            }
            AnswerKind::Approve => found.push(Finding::Approved),
            _ => {}
        }
    }
}

fn file((path, became, _): (String, FileFate, bool)) -> Finding {
    Finding::File { path, became }
}

fn tested(run: &TestRun, is_polled: bool) -> Option<Finding> {
    let names = run.failures.iter().take(FAILURES_MAX);
    let names = names.map(|name| line::folded(name, TEXT_CHARS_MAX).into_owned());
    (run.total > 0).then(|| {
        Finding::Tests(TestCounts {
            runner: run.runner.to_owned(),
            passed: run.passed,
            failed: run.failed,
            skipped: run.skipped,
            failures: names.collect(),
            cause: run.cause.map(str::to_owned),
            // packages that were done before it was asked were told then
            partial: !run.whole || is_polled && run.packages,
            packages: run.packages,
        })
    })
}

/// Which settings an edit changes, masked; nothing for other files.
pub fn settings(call: &DigestCall<'_>, redactor: &Redactor) -> Vec<settings::ChangedSetting> {
    if let Some(kept) = call.input.get(SETTINGS) {
        return serde_json::from_value(kept.clone()).unwrap_or_default();
    }
    let known = call
        .files()
        .into_iter()
        .find(|path| settings::is_known(path));
    let Some(path) = known else {
        return Vec::new();
    };
    let list = call.input.get("edits").and_then(Value::as_array);
    let edits = list.map_or(std::slice::from_ref(call.input), Vec::as_slice);
    let text = |edit: &Value, key: &str| {
        let text = edit.get(key).and_then(Value::as_str).unwrap_or("");
        redactor.redact(text).into_owned()
    };
    let changes = edits.iter().take(EDITS_MAX).flat_map(|edit| {
        settings::changes(&path, &text(edit, "old_string"), &text(edit, "new_string"))
    });
    changes.collect()
}
