//! Tasks: what lists say, and what the agent's last words propose. They come from to-do tools, check boxes
//! and headings.

mod overtaken;

use super::asks::asks_behind;
use super::borne_out::{Proof, Ticked, named_words, proof};
use super::history::says_unpushed;
use super::line::LocatedItem;
use super::words::folded;
use super::{closing, left};
use crate::insight::outcome::is_aside;
use crate::model::exchange::ItemKind;
use crate::model::finding::{Finding, Task, TaskState};
use crate::model::summary::Sourced;
use crate::rules::headings::is_about_next;
use crate::rules::left::is_past;
use crate::rules::paths::is_source;
use crate::rules::test_words::is_only_a_check;
use crate::rules::words::{content_words, tokens};
use overtaken::{before_commit, is_overtaken};

/// Next steps of one session.
const NEXT_STEPS_MAX: usize = 8;

/// Tasks of a session.
#[derive(Default)]
pub struct Tasks {
    pub done: Vec<Sourced<String>>,
    pub open: Vec<Sourced<String>>,
    /// Ticked off, though the command for it failed.
    pub failed: Vec<Sourced<String>>,
}

/// One task with its last state.
struct Known {
    task: Task,
    text: Sourced<String>,
    /// A list said once that it was in progress.
    was_active: bool,
    /// It was open before.
    was_open: bool,
    /// A list of tasks names it, not a check box of the agent's words.
    from_list: bool,
    /// Where it was begun, or else listed first: an index of the session's lines.
    from: usize,
    /// Where it was done.
    at: usize,
}

/// Stands before a task that was ticked off though its command failed.
const TICKED_OFF: &str = "Ticked off, but its command failed: ";

impl Known {
    fn proof(&self, lines: &[LocatedItem<'_>]) -> Proof {
        let ticked = Ticked {
            text: &self.text.what,
            from: self.from,
            at: self.at,
            was_active: self.was_active,
        };
        match self.from_list {
            true => proof(&ticked, lines),
            false => Proof::Open,
        }
    }

    fn failed(self) -> Sourced<String> {
        Sourced {
            what: format!("{TICKED_OFF}{}", self.text.what),
            ..self.text
        }
    }
}

/// Tasks that are open on a list which nobody looked at after the last prompt: a session that is over
/// left them behind.
pub fn drop_left_behind(open: &mut Vec<Sourced<String>>, lines: &[LocatedItem<'_>]) {
    let main: Vec<&LocatedItem<'_>> = lines.iter().filter(|line| line.main).collect();
    let is_plan = |line: &LocatedItem<'_>| {
        let mut findings = line.item.findings.iter();
        findings.any(|finding| matches!(finding, Finding::Plan(_)))
    };
    let is_asked =
        |line: &LocatedItem<'_>| line.item.kind == ItemKind::Prompt && !is_aside(line.item.text);
    let asked = main.iter().rposition(|line| is_asked(line));
    let seen = main.iter().rposition(|line| is_plan(line));
    if seen < asked {
        let lists = main.iter().filter(|line| is_plan(line));
        let lists: Vec<_> = lists.map(|line| (line.episode, line.line)).collect();
        open.retain(|task| !lists.contains(&(task.episode, task.line)));
    }
}

/// What lists of tasks and check boxes say, each task once, in its last state.
/// Boxes that wait count in the agent's last words alone: those before them belong to plans.
pub fn tasks(lines: &[LocatedItem<'_>]) -> Tasks {
    let mut known: Vec<Known> = Vec::new();
    let last = lines
        .iter()
        .rposition(|line| line.main && line.item.kind == ItemKind::Agent);
    for (nth, line) in lines.iter().enumerate().filter(|(_, line)| line.main) {
        for finding in line.item.findings {
            match finding {
                Finding::Plan(list) => {
                    forget_open(&mut known, list);
                    forget_reopened(&mut known, list);
                    let is_new = |task: &&Task| !is_retold(&known, task, list);
                    let new: Vec<&Task> = list.iter().filter(is_new).collect();
                    new.into_iter()
                        .for_each(|task| note(&mut known, task, (nth, line)));
                }
                Finding::Task(task) => note(&mut known, task, (nth, line)),
                _ => {}
            }
        }
        if line.item.kind == ItemKind::Digest && line.item.text.ends_with(NO_TASKS) {
            known.retain(|known| known.task.state == TaskState::Done);
        }
        if line.item.kind == ItemKind::Agent {
            let counts = |task: &Task| Some(nth) == last || task.state == TaskState::Done;
            let boxes = boxes(line.words()).filter(counts);
            boxes.for_each(|task| note(&mut known, &task, (nth, line)));
        }
    }
    let mut tasks = Tasks::default();
    let is_work = closing::is_work(lines);
    // where nothing was changed, a list that is ticked off says what turned out to be needless too
    let is_needless = |known: &Known| {
        let is_done = known.task.state == TaskState::Done && known.task.id.is_none();
        let is_skipped = known.was_open && !known.was_active;
        !is_work && is_done && (is_skipped || known.from_list && names_file(&known.text.what))
    };
    let done = before_commit(numbered_and_done(&known), lines);
    for known in known
        .into_iter()
        .filter(|known| !known.text.what.is_empty() && !is_needless(known))
    {
        match known.task.state {
            TaskState::Done => match known.proof(lines) {
                Proof::Open => tasks.done.push(known.text),
                Proof::Failed => tasks.failed.push(known.failed()),
                Proof::Missing => {}
            },
            TaskState::Active if is_overtaken(known.from, &done, lines) => {}
            TaskState::Open | TaskState::Active => tasks.open.push(known.text),
            TaskState::Dropped => {}
        }
    }
    let open: Vec<Vec<String>> = tasks.open.iter().map(|task| topic(&task.what)).collect();
    tasks.done.retain(|done| {
        // tests and checks say themselves how they ended
        if is_only_a_check(&done.what) {
            return false;
        }
        let done = topic(&done.what);
        let is_within = |open: &Vec<String>| done.iter().all(|word| open.contains(word));
        done.len() < TOPIC_WORDS_MIN || !open.iter().any(is_within)
    });
    tasks
}

/// Where tasks with numbers were begun that were done.
fn numbered_and_done(known: &[Known]) -> impl Iterator<Item = usize> {
    let is_done = |known: &&Known| {
        known.task.state == TaskState::Done && known.was_active && known.task.id.is_some()
    };
    known.iter().filter(is_done).map(|known| known.from)
}

/// A task with fewer words may be part of another by chance.
const TOPIC_WORDS_MIN: usize = 3;

/// What a task is about, without what stands in parentheses behind it: a task that is open in more words is not done.
fn topic(task: &str) -> Vec<String> {
    let task = task.split(" (").next().unwrap_or(task);
    content_words(task)
}

/// A new list says which tasks are open; what it doesn't name was given up. Where all of its tasks are done,
/// nothing is left.
fn forget_open(known: &mut Vec<Known>, list: &[Task]) {
    let is_over = |task: &Task| matches!(task.state, TaskState::Done | TaskState::Dropped);
    if !list.is_empty() && list.iter().all(is_over) {
        let is_named = |known: &Known| list.iter().any(|task| task.text == known.task.text);
        known.retain(|known| known.task.state == TaskState::Done || is_named(known));
    }
    known.retain(|known| {
        let other = known.task.id.is_some() || known.task.state == TaskState::Done;
        other || list.iter().any(|task| task.text == known.task.text)
    });
}

/// A new list may have tasks that an older one had: they are open again, and stand where the new list has them.
fn forget_reopened(known: &mut Vec<Known>, list: &[Task]) {
    let is_open = |task: &Task| matches!(task.state, TaskState::Open | TaskState::Active);
    let goes_on = list.iter().any(|task| {
        let mut known = known.iter();
        let same = known.find(|known| known.task.text == task.text);
        same.is_some_and(|known| {
            known.task.state != TaskState::Done || task.state == TaskState::Done
        })
    });
    if !goes_on {
        let is_again = |known: &Known| list.iter().any(|t| is_open(t) && t.text == known.task.text);
        known.retain(|known| known.task.id.is_some() || !is_again(known));
    }
}

/// A task that nobody saw before it was done is a done one of an older list in fewer words.
fn is_retold(known: &[Known], task: &Task, list: &[Task]) -> bool {
    let is_done = task.state == TaskState::Done;
    if !is_done || known.iter().any(|known| known.task.text == task.text) {
        return false;
    }
    let words: Vec<String> = tokens(&task.text).collect();
    let mut older = known.iter().filter(|known| {
        known.task.state == TaskState::Done && list.iter().all(|task| task.text != known.task.text)
    });
    older.any(|known| {
        let told: Vec<String> = tokens(&known.task.text).collect();
        words.iter().all(|word| told.contains(word))
    })
}

/// Ends the call that asks for a list which is gone.
const NO_TASKS: &str = "TaskList → No tasks found";

/// `Drop the assert in cart.py:7`.
fn names_file(task: &str) -> bool {
    named_words(task).any(|word| is_source(word) || word.ends_with(".md"))
}

fn note(known: &mut Vec<Known>, task: &Task, (nth, line): (usize, &LocatedItem<'_>)) {
    let same = |known: &&mut Known| match (&known.task.id, &task.id) {
        (Some(a), Some(b)) => a == b,
        _ => known.task.text == task.text && !task.text.is_empty(),
    };
    match known.iter_mut().find(same) {
        Some(known) => {
            match task.state {
                state if state == known.task.state => {}
                TaskState::Done => known.at = nth,
                _ => known.from = nth,
            }
            known.task.state = task.state;
            known.was_active |= task.state == TaskState::Active;
            if task.state == TaskState::Done {
                (known.text.episode, known.text.line) = (line.episode, line.line);
            }
        }
        None => known.push(Known {
            task: task.clone(),
            text: line.source(task.text.clone()),
            was_active: task.state == TaskState::Active,
            was_open: task.state == TaskState::Open,
            from_list: line.item.kind == ItemKind::Digest,
            from: nth,
            at: nth,
        }),
    }
}

/// `- [x] …` and `- [ ] …`.
fn boxes(words: &str) -> impl Iterator<Item = Task> {
    words.lines().filter_map(|line| {
        let line = line.trim_start();
        let rest = line
            .strip_prefix("- [")
            .or_else(|| line.strip_prefix("* ["))?;
        let (mark, text) = rest.split_once("] ")?;
        let state = match mark {
            "x" | "X" => TaskState::Done,
            " " => TaskState::Open,
            _ => return None,
        };
        Some(Task {
            id: None,
            text: folded(text),
            state,
        })
    })
}

/// Open tasks first, then what the agent's closing words list under a heading about what comes next, and what they say
/// is left.
pub fn next_steps(
    open: Vec<Sourced<String>>,
    closing: &[&LocatedItem<'_>],
    is_work: bool,
) -> Vec<Sourced<String>> {
    let mut all = open;
    for line in closing {
        let said = left::said(line.words(), is_work);
        let is_unpushed = all.iter().any(|step| says_unpushed(&step.what).is_some());
        for step in proposed(line.words()).into_iter().chain(said) {
            let is_new = |known: &Sourced<String>| {
                !known.what.contains(&step) && !step.contains(&known.what)
            };
            let is_asked = |known: &Sourced<String>| asks_behind(&known.what, &step, line.words());
            if all.iter().all(is_new)
                && !(is_unpushed && only_pushes(&step))
                && !all.iter().any(is_asked)
            {
                all.push(line.source(step));
            }
        }
    }
    all.truncate(NEXT_STEPS_MAX);
    all
}

/// `Push changes`: commits say themselves that they are not pushed.
fn only_pushes(step: &str) -> bool {
    const WORDS_MAX: usize = 4;
    let mut words = step.split_whitespace();
    let first = words.next().unwrap_or_default();
    first.eq_ignore_ascii_case("push") && words.count() < WORDS_MAX
}

/// Points of the list under such a heading.
fn proposed(words: &str) -> Vec<String> {
    let mut steps = Vec::new();
    let (mut inside, mut heading) = (false, String::new());
    for line in words.lines().filter(|line| !line.trim().is_empty()) {
        // what is indented explains the point above it
        let nested = line.starts_with("  ") || line.starts_with('\t');
        match point(line.trim()) {
            Some(text) if inside && !nested => steps.extend(step(text)),
            Some(_) => {}
            None if nested => {}
            None => match command(line.trim()).filter(|_| inside) {
                Some(command) => {
                    let heading = heading.trim_end_matches(':');
                    steps.push(format!("{heading}: {command}"));
                }
                None => {
                    inside = is_about_next(line.trim());
                    if inside {
                        heading = folded(line.trim().trim_start_matches('#'));
                    }
                }
            },
        }
    }
    steps
}

/// A line that is nothing but code is a command.
fn command(line: &str) -> Option<&str> {
    let code = line.strip_prefix('`')?.strip_suffix('`')?;
    (!code.is_empty() && !code.contains('`')).then_some(code)
}

/// A point that asks for something: not what is not needed, a case that may come, what was done, or a heading.
fn step(point: &str) -> Option<String> {
    let text = folded(point);
    let is_none = ["No ", "None", "If ", "Nothing"];
    let says = !is_none.iter().any(|start| text.starts_with(start));
    // what leads to its own list says what is to be done where it is more than a heading
    let is_heading = text.ends_with(':') && !text.contains(' ');
    (says && !is_heading && !is_past(&text)).then(|| text.trim_end_matches(':').to_owned())
}

/// The text of `- …`, `* …` or `1. …`.
pub(super) fn point(line: &str) -> Option<&str> {
    let plain = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
    plain.or_else(|| {
        let digits = line
            .find(|c: char| !c.is_ascii_digit())
            .filter(|at| *at > 0)?;
        line[digits..].strip_prefix(". ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: Option<&str>, text: &str, state: TaskState) -> Task {
        Task {
            id: id.map(str::to_owned),
            text: text.into(),
            state,
        }
    }

    fn line<'t>(kind: ItemKind, text: &'t str, findings: &'t [Finding]) -> LocatedItem<'t> {
        LocatedItem::sample(kind, 1, text, findings)
    }

    fn texts(list: &[Sourced<String>]) -> Vec<&str> {
        list.iter().map(|sourced| sourced.what.as_str()).collect()
    }

    #[test]
    fn each_task_counts_once_in_its_last_state() {
        use TaskState::{Active, Done, Dropped, Open};
        let first = [Finding::Plan(vec![
            task(None, "a", Active),
            task(None, "b", Open),
        ])];
        let second = [Finding::Plan(vec![
            task(None, "a", Done),
            task(None, "c", Open),
        ])];
        let made = [Finding::Task(task(Some("1"), "numbered", Open))];
        let done = [Finding::Task(task(Some("1"), "", Done))];
        let gone = [Finding::Task(task(Some("2"), "dropped", Dropped))];
        let digest = |findings| line(ItemKind::Digest, "Action: x", findings);
        let found = tasks(&[
            digest(&first),
            digest(&made),
            digest(&gone),
            digest(&second),
            digest(&done),
            line(
                ItemKind::Agent,
                "Agent: So far:\n- [x] boxed\n- [ ] unboxed",
                &[],
            ),
        ]);
        assert_eq!(texts(&found.done), ["a", "numbered", "boxed"]);
        assert_eq!(texts(&found.open), ["c", "unboxed"]);
    }

    #[test]
    fn of_a_task_that_others_overtook_nobody_knows() {
        use TaskState::{Active, Done, Open};
        let of = |id, state| [Finding::Task(task(Some(id), "round the cart", state))];
        let (first, second) = (of("1", Active), of("2", Active));
        let (done, new) = (of("2", Done), of("3", Open));
        let commit = [Finding::Commit {
            hash: "0abc123".into(),
            subject: "Round totals".into(),
            again: false,
            size: None,
        }];
        let call = |findings| line(ItemKind::Digest, "Action: x", findings);
        let edit = [Finding::Changed {
            path: "/p/cart.rs".into(),
            added: 1,
            removed: 0,
        }];
        let all = [&first[..], &edit, &second, &done, &new, &commit].map(call);
        assert_eq!(tasks(&all).open.len(), 1, "the last one");
        assert_eq!(tasks(&all[..5]).open.len(), 2, "nothing was committed");
        let idle = [all[0], all[2], all[3], all[5]];
        assert_eq!(tasks(&idle).open.len(), 1, "nothing was done for it");
    }

    #[test]
    fn a_list_that_is_ticked_off_is_no_proof_of_a_change() {
        use TaskState::{Active, Done, Open};
        let first = [Finding::Plan(vec![
            task(None, "Look at the cart", Active),
            task(None, "Drop the assert in cart.py:7", Open),
            task(None, "Change the title", Open),
        ])];
        let last = [
            "Look at the cart",
            "Drop the assert in cart.py:7",
            "Change the title",
        ];
        let last = [Finding::Plan(
            last.iter().map(|text| task(None, text, Done)).collect(),
        )];
        let edit = [Finding::Changed {
            path: "/p/cart.py".into(),
            added: 0,
            removed: 1,
        }];
        let digest = |findings| line(ItemKind::Digest, "Action: x", findings);
        let lists = [digest(&first), digest(&last)];
        assert_eq!(texts(&tasks(&lists).done), ["Look at the cart"]);
        let edited = [digest(&first), digest(&edit), digest(&last)];
        assert_eq!(tasks(&edited).done.len(), 3);
        let gone = [
            digest(&first),
            line(ItemKind::Digest, "Action: TaskList → No tasks found", &[]),
        ];
        assert!(tasks(&gone).open.is_empty());
    }

    #[test]
    fn a_list_that_is_done_leaves_nothing() {
        let first = [Finding::Plan(vec![task(None, "a", TaskState::Open)])];
        let numbered = [Finding::Task(task(Some("1"), "numbered", TaskState::Open))];
        let last = [Finding::Plan(vec![task(None, "b", TaskState::Done)])];
        let plan = line(
            ItemKind::Agent,
            "Agent: The plan:\n- [ ] one\n- [x] two",
            &[],
        );
        let found = tasks(&[
            line(ItemKind::Digest, "Action: x", &first),
            line(ItemKind::Digest, "Action: x", &numbered),
            plan,
            line(ItemKind::Digest, "Action: x", &last),
            line(ItemKind::Agent, "Agent: All done.", &[]),
        ]);
        assert_eq!(texts(&found.open), Vec::<&str>::new());
        assert_eq!(texts(&found.done), ["two", "b"]);
    }

    #[test]
    fn a_run_of_checks_that_was_ticked_off_is_told_by_its_end() {
        let list = [Finding::Plan(vec![
            task(None, "Rename the cart", TaskState::Done),
            task(None, "Run CI checks", TaskState::Done),
        ])];
        let found = tasks(&[line(ItemKind::Digest, "Action: x", &list)]);
        assert_eq!(texts(&found.done), ["Rename the cart"]);
        assert!(found.open.is_empty());
    }

    #[test]
    fn a_list_that_is_told_again_in_fewer_words_says_nothing_new() {
        use TaskState::{Active, Done};
        let first = [Finding::Plan(vec![
            task(None, "Spawn a wiki worker for findings", Done),
            task(None, "Monitor", Active),
        ])];
        let second = [Finding::Plan(vec![
            task(None, "Spawn a wiki worker", Done),
            task(None, "Write it down", Done),
            task(None, "Monitor", Active),
        ])];
        let found = tasks(&[
            line(ItemKind::Digest, "Action: x", &first),
            line(ItemKind::Digest, "Action: x", &second),
        ]);
        assert_eq!(
            texts(&found.done),
            ["Spawn a wiki worker for findings", "Write it down"]
        );
        assert_eq!(texts(&found.open), ["Monitor"]);
    }

    #[test]
    fn a_list_from_before_the_last_prompt_is_left_behind() {
        let plan = [Finding::Plan(vec![task(None, "a", TaskState::Active)])];
        let plan = LocatedItem::sample(ItemKind::Digest, 1, "Action: x", &plan);
        let prompt = LocatedItem::sample(ItemKind::Prompt, 2, "User: and now?", &[]);
        for (lines, wants) in [(&[plan][..], 1), (&[plan, prompt], 0), (&[prompt, plan], 1)] {
            let mut open = tasks(lines).open;
            drop_left_behind(&mut open, lines);
            assert_eq!(open.len(), wants);
        }
    }

    #[test]
    fn last_words_propose_what_comes_next() {
        let words =
            "Agent: Done:\n- one\n\n**Next steps:**\n1. Push it\n2. Open a PR\n\nBye:\n- no";
        let last = line(ItemKind::Agent, words, &[]);
        assert_eq!(
            texts(&next_steps(Vec::new(), &[&last], false)),
            ["Push it", "Open a PR"]
        );
        let words = "Agent: Done.\n\n**Next up** after the audit:\n\n`/plan 7`\n\n`/clear` first";
        let last = line(ItemKind::Agent, words, &[]);
        let steps = next_steps(Vec::new(), &[&last], false);
        assert_eq!(texts(&steps), ["Next up after the audit: /plan 7"]);
    }

    #[test]
    fn what_is_not_pushed_is_told_once() {
        let words = "Agent: Done.\n\n**Next steps:**\n1. Push changes\n2. Open a PR";
        let last = line(ItemKind::Agent, words, &[]);
        let unpushed = last.source("No push seen of 1a2b3c4".to_owned());
        let steps = next_steps(vec![unpushed], &[&last], false);
        assert_eq!(texts(&steps), ["No push seen of 1a2b3c4", "Open a PR"]);
    }

    #[test]
    fn a_task_of_an_older_list_stands_where_the_new_one_has_it() {
        use TaskState::{Active, Done, Open};
        let first = [Finding::Plan(vec![
            task(None, "Add the cart", Done),
            task(None, "Run the tests", Done),
        ])];
        let second = [Finding::Plan(vec![
            task(None, "Wire the cart", Active),
            task(None, "Run the tests", Open),
        ])];
        let digest = |findings| line(ItemKind::Digest, "Action: x", findings);
        let found = tasks(&[digest(&first), digest(&second)]);
        assert_eq!(texts(&found.open), ["Wire the cart", "Run the tests"]);
        assert_eq!(texts(&found.done), ["Add the cart"]);
    }
}
