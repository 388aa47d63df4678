//! What of a session a model is shown, fitted to a size.
//!
//! Left out first, from the middle of the session outwards: what was read and searched, then commands that
//! worked, edits, what failed; then sub-agents' words; then the agent's words, which are cut to a common
//! length before any of them goes. People's words stay, unless they alone don't fit: then the longest are
//! cut in their middle, and only when hundreds of them are left do some go. Each cut is marked with `…` and
//! a count.

use super::tokens::tokens;
use crate::insight::facts::LocatedItem;
use crate::model::exchange::ItemKind;
use crate::model::finding::Finding;
use crate::model::item::between;
use crate::rules::tools::{AnswerKind, tool};
use std::fmt::Write;

/// What an item is worth, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    /// Something was read, found or fetched.
    Reading,
    /// A command or another tool did its work.
    Worked,
    /// A file was changed.
    Edit,
    /// Something failed, was tested, committed, decided; a note, an error of the agent.
    Turning,
    /// What a sub-agent was told and says.
    SubAgent,
    /// The agent's words.
    Agent,
    /// A person's words.
    Person,
}

impl Worth {
    /// Items of these are left out whole.
    const DROPPED: [Worth; 5] = [
        Worth::Reading,
        Worth::Worked,
        Worth::Edit,
        Worth::Turning,
        Worth::SubAgent,
    ];
    /// These are cut first.
    const CUT: [Worth; 2] = [Worth::Agent, Worth::Person];

    fn of(line: &LocatedItem<'_>) -> Worth {
        match line.item.kind {
            ItemKind::Digest => Worth::of_digest(line),
            ItemKind::Note | ItemKind::Error => Worth::Turning,
            _ if !line.main => Worth::SubAgent,
            ItemKind::Agent => Worth::Agent,
            ItemKind::Prompt | ItemKind::Aside => Worth::Person,
        }
    }

    fn of_digest(line: &LocatedItem<'_>) -> Worth {
        let findings = line.item.findings;
        if findings.iter().any(is_turning) || failed(line.words()) {
            return Worth::Turning;
        }
        if findings
            .iter()
            .any(|f| matches!(f, Finding::Changed { .. } | Finding::Set { .. }))
        {
            return Worth::Edit;
        }
        let name = line.words().split(['(', ' ']).next().unwrap_or_default();
        match tool(name).answer {
            AnswerKind::Read
            | AnswerKind::Search
            | AnswerKind::List
            | AnswerKind::Fetch
            | AnswerKind::Poll
            | AnswerKind::Stop => Worth::Reading,
            AnswerKind::Edit
            | AnswerKind::Write
            | AnswerKind::Patch
            | AnswerKind::Plan
            | AnswerKind::Task => Worth::Edit,
            AnswerKind::Ask | AnswerKind::Approve => Worth::Turning,
            AnswerKind::Shell | AnswerKind::Agent | AnswerKind::Said | AnswerKind::Other => {
                Worth::Worked
            }
        }
    }
}

fn is_turning(finding: &Finding) -> bool {
    match finding {
        Finding::Failed { .. }
        | Finding::Unchanged { .. }
        | Finding::Refused { .. }
        | Finding::Tests(_)
        | Finding::Coverage(_)
        | Finding::Answered { .. }
        | Finding::Approved
        | Finding::Commit { .. }
        | Finding::Pushed
        | Finding::PullRequest(_)
        | Finding::PullRequestState { done: true, .. } => true,
        Finding::Changed { .. }
        | Finding::Set { .. }
        | Finding::Worked { .. }
        | Finding::Checked { .. }
        | Finding::HookChecked { .. }
        | Finding::Plan(_)
        | Finding::PlanRead { .. }
        | Finding::PlanWritten { .. }
        | Finding::Elsewhere(_)
        | Finding::Ahead(_)
        | Finding::Diverged { .. }
        | Finding::Titled { .. }
        | Finding::Compared(_)
        | Finding::Task(_)
        | Finding::File { .. }
        | Finding::Moved { .. }
        | Finding::Stat { .. }
        | Finding::Listed { .. }
        | Finding::PullRequestState { .. }
        | Finding::Todo { .. }
        | Finding::CheckElsewhere { .. }
        | Finding::Begun { .. }
        | Finding::Inherited => false,
    }
}

/// As digests tell it.
fn failed(digest: &str) -> bool {
    let Some((_, came_to)) = digest.split_once(" → ") else {
        return false;
    };
    let signs = ["failed", "error", "refused", "no result", "interrupted"];
    let exited = came_to.starts_with("exit ") && !came_to.starts_with("exit 0");
    exited || signs.iter().any(|sign| came_to.starts_with(sign))
}

/// What becomes of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Whole,
    /// To about so many bytes.
    Cut(usize),
    Out,
}

/// Words aren't cut to fewer bytes; they go.
const CUT_BYTES_MIN: usize = 400;

/// The text of a session's items, in their order, of at most `tokens_max` tokens; `None` where not
/// even a mark fits. The same items give the same text.
pub fn content(lines: &[LocatedItem<'_>], tokens_max: u64) -> Option<String> {
    let all = Fitting::new(lines);
    let whole = all.text();
    let mut counted = tokens(&whole);
    if counted <= tokens_max {
        return Some(whole);
    }
    // what is left may have more tokens to a byte than the whole
    let mut bytes_max = whole.len();
    let mut text = whole;
    while counted > tokens_max {
        if bytes_max == 0 {
            return None;
        }
        let share = tokens_max as f64 / counted as f64;
        bytes_max = (text.len().min(bytes_max) as f64 * share) as usize;
        let mut fitting = Fitting::new(lines);
        fitting.fit(bytes_max);
        text = fitting.text();
        counted = tokens(&text);
    }
    Some(text)
}

struct Fitting<'l, 't> {
    lines: &'l [LocatedItem<'t>],
    worth: Vec<Worth>,
    fate: Vec<Fate>,
}

impl<'l, 't> Fitting<'l, 't> {
    fn new(lines: &'l [LocatedItem<'t>]) -> Self {
        Fitting {
            lines,
            worth: lines.iter().map(Worth::of).collect(),
            fate: vec![Fate::Whole; lines.len()],
        }
    }

    /// Leaves out what is worth least, as much as has to be.
    fn fit(&mut self, bytes_max: usize) {
        let mut order = Vec::new();
        for worth in Worth::DROPPED {
            order.extend(self.middle_first(worth));
        }
        if self.drop_first(&order, bytes_max) {
            return;
        }
        for worth in Worth::CUT {
            let those = self.middle_first(worth);
            if self.cut(&those, bytes_max) || self.drop_first(&those, bytes_max) {
                return;
            }
        }
    }

    /// Places of items of a worth, the middle one first: a session's begin and end say most.
    fn middle_first(&self, worth: Worth) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.lines.len())
            .filter(|at| self.worth[*at] == worth)
            .collect();
        let many = self.lines.len();
        places.sort_by_key(|at| (2 * at).abs_diff(many));
        places
    }

    /// Drops as few of `places` as have to go, in their order; false where all are too few.
    fn drop_first(&mut self, places: &[usize], bytes_max: usize) -> bool {
        let before = self.fate.clone();
        let fits = |dropped: usize| {
            let mut fate = before.clone();
            places[..dropped]
                .iter()
                .for_each(|at| fate[*at] = Fate::Out);
            let fits = self.bytes(&fate) <= bytes_max;
            (fits, fate)
        };
        let (mut few, mut many) = (0, places.len());
        while few < many {
            let half = (few + many) / 2;
            match fits(half).0 {
                true => many = half,
                false => few = half + 1,
            }
        }
        let (fits, fate) = fits(many);
        self.fate = fate;
        fits
    }

    /// Cuts those of `places` that are longer than the rest to the largest common length that fits;
    /// false where even the shortest doesn't.
    fn cut(&mut self, places: &[usize], bytes_max: usize) -> bool {
        let before = self.fate.clone();
        let cut_to = |bytes: usize| {
            let mut fate = before.clone();
            for at in places {
                // the mark of a cut has a length of its own
                if self.lines[*at].item.text.len() > bytes + MARK_BYTES {
                    fate[*at] = Fate::Cut(bytes);
                }
            }
            fate
        };
        let (mut short, mut long) = (CUT_BYTES_MIN, CUT_BYTES_MIN.max(bytes_max));
        while short < long {
            let half = (short + long).div_ceil(2);
            match self.bytes(&cut_to(half)) <= bytes_max {
                true => short = half,
                false => long = half - 1,
            }
        }
        self.fate = cut_to(short);
        self.bytes(&self.fate) <= bytes_max
    }

    /// Bytes of the text; at most so many, where something is cut.
    fn bytes(&self, fate: &[Fate]) -> usize {
        let mut sum = 0;
        let mut out = false;
        for (line, fate) in self.lines.iter().zip(fate) {
            sum += match fate {
                Fate::Whole => line.item.text.len() + 2,
                Fate::Cut(bytes) => bytes + MARK_BYTES + 2,
                Fate::Out if out => 0,
                Fate::Out => MARK_BYTES,
            };
            out = *fate == Fate::Out;
        }
        sum
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let mut last: Option<ItemKind> = None;
        let mut out = 0;
        for (line, fate) in self.lines.iter().zip(&self.fate) {
            if *fate == Fate::Out {
                out += 1;
                continue;
            }
            mark(&mut text, &mut out);
            let kind = line.item.kind;
            if !text.is_empty() {
                text.push_str(last.map_or("\n", |last| between(last, kind)));
            }
            match fate {
                Fate::Cut(bytes) => text.push_str(&cut(line.item.text, *bytes)),
                _ => text.push_str(line.item.text),
            }
            last = Some(kind);
        }
        mark(&mut text, &mut out);
        text
    }
}

/// A mark is never longer.
const MARK_BYTES: usize = 48;

/// Says that items were left out here.
fn mark(text: &mut String, out: &mut u64) {
    if *out > 0 {
        let gap = if text.is_empty() { "" } else { "\n" };
        let items = if *out == 1 { "item" } else { "items" };
        let _ = write!(text, "{gap}… ({out} {items} left out)");
        *out = 0;
    }
}

/// Two thirds from the beginning, one from the end.
fn cut(text: &str, bytes: usize) -> String {
    let head = &text[..text.floor_char_boundary(bytes / 3 * 2)];
    let tail = &text[text.ceil_char_boundary(text.len() - bytes / 3)..];
    let left_out = text.len() - head.len() - tail.len();
    format!("{head} … ({left_out} bytes left out) … {tail}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::insight::summarise::tests::{found, said};

    /// A session with some of everything, each kind of item with a letter of its own.
    fn session() -> Vec<String> {
        let mut items = vec![format!("User: {}", "u".repeat(300))];
        for nth in 0..10 {
            items.push(format!("Action: Read({nth}.rs) → {}", "r".repeat(100)));
            items.push(format!("Action: Bash(make) → ok {}", "w".repeat(100)));
            items.push(format!("Action: Edit({nth}.rs) → {}", "e".repeat(100)));
            items.push(format!("Action: Bash(make) → exit 2: {}", "t".repeat(100)));
            items.push(format!("Agent: {} {}", nth, "a".repeat(2_000)));
        }
        items.push(format!("User: {}", "v".repeat(300)));
        items
    }

    fn fitted(items: &[String], bytes_max: usize) -> String {
        let lines: Vec<LocatedItem<'_>> = items.iter().map(|item| said(item)).collect();
        let mut fitting = Fitting::new(&lines);
        fitting.fit(bytes_max);
        fitting.text()
    }

    fn count(text: &str, letter: char) -> usize {
        text.matches(letter).count()
    }

    #[test]
    fn the_least_valuable_goes_first_and_every_cut_is_marked() {
        let items = session();
        let whole = fitted(&items, usize::MAX);
        assert!(!whole.contains('…'));
        let kinds = ["rrr", "www", "eee", "ttt"];
        let mut gone = 0;
        for bytes_max in (1_000..whole.len()).rev().step_by(500) {
            let text = fitted(&items, bytes_max);
            assert!(text.len() <= bytes_max, "{} > {bytes_max}", text.len());
            assert!(text.contains("left out"));
            assert!(text.contains(&"u".repeat(300)) && text.contains(&"v".repeat(300)));
            // a kind is touched only when all before it are gone
            let left = kinds.map(|kind| text.contains(kind));
            let first = left
                .iter()
                .position(|is_left| *is_left)
                .unwrap_or(kinds.len());
            assert!(first >= gone);
            gone = first;
            let later = left.iter().skip(first + 1);
            assert!(later.clone().all(|is_left| *is_left), "{left:?}");
            if count(&text, 'a') < 20_000 {
                assert_eq!(first, kinds.len(), "words were cut before digests went");
            }
        }
        assert_eq!(gone, kinds.len());
    }

    #[test]
    fn the_middle_goes_first() {
        let items = session();
        let whole = fitted(&items, usize::MAX);
        let text = fitted(&items, whole.len() - 300);
        assert!(
            text.contains("Read(0.rs)") && text.contains("Read(9.rs)"),
            "{text}"
        );
        assert!(!text.contains("Read(5.rs)"), "{text}");
    }

    #[test]
    fn long_words_are_cut_to_a_common_length_before_any_goes() {
        let items = vec![
            "User: do it".to_owned(),
            format!("Agent: begin{}end", "a".repeat(50_000)),
            "Agent: short".to_owned(),
        ];
        let text = fitted(&items, 5_000);
        assert!(
            text.contains("Agent: begin") && text.contains("end\nAgent: short"),
            "{text}"
        );
        assert!(text.contains("bytes left out) …") && text.len() > 4_000);
    }

    #[test]
    fn peoples_words_are_cut_only_when_nothing_else_is_left() {
        let mut items = session();
        items.push(format!("User: first{}last", "p".repeat(90_000)));
        let text = fitted(&items, 10_000);
        assert!(
            text.len() <= 10_000 && !text.contains("Agent"),
            "{}",
            text.len()
        );
        assert!(text.contains("first") && text.contains("last"));
        assert!(text.contains(&"u".repeat(300)), "short prompts stay whole");
        let many: Vec<String> = (0..900)
            .map(|n| format!("User: {n} {}", "q".repeat(60)))
            .collect();
        let text = fitted(&many, 10_000);
        assert!(
            text.contains("User: 0 ") && text.contains("User: 899 "),
            "{text}"
        );
        assert!(text.len() <= 10_000 && text.contains("items left out"));
    }

    #[test]
    fn what_turned_the_work_outlives_what_only_did_it() {
        let tests = [Finding::Approved];
        let items = [
            said("Action: Bash(ls) → ok"),
            found("Action: Bash(ls) → ok", &tests),
        ];
        assert!(Worth::of(&items[0]) < Worth::of(&items[1]));
        assert_eq!(
            Worth::of(&said("Action: Read(a) → failed: no such file")),
            Worth::Turning
        );
        assert_eq!(
            Worth::of(&said("Action: mcp__a__b() → 3 results")),
            Worth::Worked
        );
        let sub = LocatedItem {
            main: false,
            ..said("User: find it")
        };
        assert_eq!(Worth::of(&sub), Worth::SubAgent);
    }

    #[test]
    fn the_text_keeps_within_its_tokens_whatever_it_is_made_of() {
        let mut items = session();
        items.insert(5, format!("Agent: {}", "!?;".repeat(3_000)));
        items.insert(9, format!("Agent: {}", "用户请检查".repeat(500)));
        let lines: Vec<LocatedItem<'_>> = items.iter().map(|item| said(item)).collect();
        for tokens_max in [300, 1_000, 3_000, 100_000] {
            let text = content(&lines, tokens_max).expect("it fits");
            assert!(tokens(&text) <= tokens_max, "{tokens_max}");
            assert_eq!(content(&lines, tokens_max), Some(text));
        }
        assert_eq!(content(&lines, 1), None);
        assert_eq!(content(&[], 1).as_deref(), Some(""));
    }
}
