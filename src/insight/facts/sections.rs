//! Headings of an agent's words, and how they stand with what is below them: before a list, in the line of a sentence, and
//! with the heading above them where several lists have the same name.

use super::points::{is_point, without_mark};
use super::words::folded;
use crate::rules::headings::{is_case, states_done};
use crate::rules::reports::is_conclusion;
use crate::rules::requests::is_heading_of_all;
use crate::rules::words::sentences;

/// Headings of some words, with what stands behind them.
#[derive(Default)]
pub(super) struct Sections {
    /// The last heading, until something stands behind it.
    heading: Option<String>,
    /// Its rank: that of a document's title is the lowest.
    rank: usize,
    /// Several headings stand right above others: what is below them is told with theirs.
    has_owners: bool,
    /// How many headings there are of each rank, of those with marks.
    counts: [usize; BOLD],
    /// A heading of such a rank right above others, until something stands behind one of these.
    above: Option<(usize, String)>,
    /// Lines that have their heading before them.
    joined: Vec<usize>,
}

impl Sections {
    /// Of an agent's words.
    pub(super) fn of(words: &str) -> Sections {
        if !words.contains("##") {
            return Sections::default();
        }
        let (owners, counts) = counted(words);
        Sections {
            has_owners: owners[2..].iter().any(|count| *count > 1),
            counts,
            ..Sections::default()
        }
    }

    /// A heading, or the end. The one before has nothing behind it: it stays where it states something itself.
    pub(super) fn begin(&mut self, line: &str, all: &mut Vec<String>) {
        let states = |heading: &String| {
            heading.contains(" — ") || heading.contains(" → ") || states_done(heading)
        };
        let mut upper = self.heading.take();
        if let Some(mut stated) = upper.take_if(|heading| states(heading)) {
            stated.pop();
            self.joined.push(all.len());
            all.push(stated);
        }
        let rank = rank(line);
        let is_below = is_heading(line) && (2..rank).contains(&self.rank);
        let upper = upper.filter(|_| is_below);
        let owner = upper.as_deref().filter(|_| self.has_owners);
        let owner = owner.and_then(owner_of).map(str::to_owned);
        self.above.take_if(|(above, _)| *above >= rank);
        // one of several, that says what all below it is about
        let is_one = self.counts.get(self.rank).is_some_and(|count| *count > 1);
        let says = |upper: &String| {
            let words = upper.split_whitespace().count();
            words >= ABOVE_WORDS_MIN && !is_of_all(upper) && !is_conclusion(upper)
        };
        let upper = upper.filter(says);
        if let Some(mut upper) = upper.filter(|_| is_one && owner.is_none()) {
            upper.pop();
            self.above = Some((self.rank, upper));
        }
        self.rank = rank;
        let is_first = !all.iter().any(|line| line.ends_with(':'));
        // what stands above all of it says what was asked
        let is_title = |text: &String| {
            let names = TITLES
                .iter()
                .any(|title| text.to_lowercase().starts_with(title));
            all.is_empty() && names && text.split_whitespace().count() > TITLE_WORDS
        };
        self.heading =
            heading(line).filter(|text| !(is_first && is_of_all(text) || is_title(text)));
        if let (Some(heading), Some(owner)) = (&mut self.heading, owner) {
            heading.insert_str(0, &format!("{owner}: "));
        }
    }

    /// What follows is what all of it comes to.
    pub(super) fn concludes(&self) -> bool {
        self.heading.as_deref().is_some_and(is_conclusion)
    }

    /// A heading waits for what stands behind it.
    pub(super) fn has_begun(&self) -> bool {
        self.heading.is_some()
    }

    /// What follows is of one case of several.
    pub(super) fn is_case(&self) -> bool {
        self.heading.as_deref().is_some_and(is_case)
    }

    /// A line that states something.
    pub(super) fn add(&mut self, said: String, all: &mut Vec<String>) {
        all.extend(self.above.take().map(|(_, above)| above));
        match self.heading.take() {
            None => all.push(said),
            // what leads to code only is left out, and its heading with it
            Some(heading) if is_point(&said) || only_leads(&said) => all.extend([heading, said]),
            Some(heading) if is_of_all(&heading) => all.push(said),
            Some(heading) => {
                self.joined.push(all.len());
                all.push(format!("{heading} {said}"));
            }
        }
    }

    /// As points, but for what leads to a list.
    pub(super) fn listed(&self, mut all: Vec<String>) -> Vec<String> {
        for nth in self.joined.iter().copied() {
            let next = all
                .get(nth + 1)
                .filter(|_| !self.joined.contains(&(nth + 1)));
            let comes_to = all[nth].split(':').next().is_some_and(is_conclusion);
            let is_list = next.is_some_and(|next| is_point(next));
            // it would be one more point of the list before its heading
            let is_behind = nth > 0 && is_point(&all[nth - 1]) && !self.joined.contains(&(nth - 1));
            if !is_list && !is_behind && !comes_to && self.joined.len() > 1 {
                all[nth].insert_str(0, "- ");
            }
        }
        all
    }
}

/// A shorter heading says nothing of its own: `Changes implemented`.
const ABOVE_WORDS_MIN: usize = 3;

/// The rank of a bold line.
const BOLD: usize = 7;

/// How many marks a heading has; a bold line stands below all of these, and a line that only leads on below that.
pub(super) fn rank(line: &str) -> usize {
    match line.len() - line.trim_start_matches('#').len() {
        0 if line.starts_with("**") => BOLD,
        0 => BOLD + 1,
        marks => marks,
    }
}

/// A line that is drawn as a heading, and no rule.
pub(super) fn is_heading(line: &str) -> bool {
    is_drawn(line) && line.starts_with(['#', '*']) && line.contains(char::is_alphabetic)
}

/// Of each rank how many headings have another right below them, and how many there are.
fn counted(words: &str) -> ([usize; BOLD], [usize; BOLD]) {
    let (mut owners, mut counts) = ([0; BOLD], [0; BOLD]);
    let (mut above, mut is_code) = (0, false);
    for line in words.lines().map(str::trim).filter(|line| !line.is_empty()) {
        is_code ^= line.starts_with("```");
        let rank = if is_code || !is_drawn(line) {
            0
        } else {
            rank(line)
        };
        if rank > above {
            owners[above.min(BOLD - 1)] += 1;
        }
        if line.starts_with('#') && rank < BOLD {
            counts[rank] += 1;
        }
        above = rank;
    }
    (owners, counts)
}

/// Whose the list below a heading is, where that says it in a few words: `Cart` of `Cart (shop/cart.rs):`.
fn owner_of(heading: &str) -> Option<&str> {
    const WORDS_MAX: usize = 4;
    let name = heading.trim_end_matches(':');
    let name = name.split(" (").next().unwrap_or(name).trim();
    let is_name = name.split_whitespace().count() <= WORDS_MAX && !is_of_all(name);
    (is_name && !name.is_empty() && !is_conclusion(name)).then_some(name)
}

/// What a heading says of the list behind it: `Before:`.
fn heading(line: &str) -> Option<String> {
    if line.starts_with("::") {
        return None;
    }
    let text = without_targets(&folded(line.trim_matches(['#', ' '])));
    let text =
        text.trim_matches(|c: char| matches!(c, '*' | ':' | ' ' | '—' | '–') || is_picture(c));
    let text = without_mark(text);
    let says = text.contains(char::is_alphabetic);
    // `Fixed!` says no more than what follows
    let is_cry = text.ends_with('!') && text.split_whitespace().count() <= CRY_WORDS_MAX;
    (says && !is_cry && !text.ends_with('?')).then(|| format!("{text}:"))
}

/// Longer cries state something.
const CRY_WORDS_MAX: usize = 3;

/// Such a heading above everything, in more words than these, is a title.
const TITLES: [&str; 6] = [
    "analysis",
    "review",
    "investigation",
    "report",
    "plan",
    "phase",
];
const TITLE_WORDS: usize = 4;

/// A line that says no more than that something follows.
fn only_leads(line: &str) -> bool {
    const BYTES_MAX: usize = 120;
    line.ends_with(':') && line.len() <= BYTES_MAX && sentences(line).nth(1).is_none()
}

fn is_of_all(heading: &str) -> bool {
    is_heading_of_all(heading.trim_end_matches(':'))
}

/// Between a table's header and its rows.
pub(super) fn is_rule(line: &str) -> bool {
    line.starts_with('|') && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

/// Rules, headings, and what is for an agent's own window.
pub(super) fn is_drawn(line: &str) -> bool {
    let is_rule = is_rule(line) || line.chars().all(|c| matches!(c, '-' | '=' | '*' | '_'));
    // `::git-push{…}` is for Codex' own window
    let is_directive = line.starts_with("::") && line.ends_with('}');
    let is_bold = line.starts_with("**") && line.trim_end_matches(':').ends_with("**");
    // what leads on is a heading in more words, too
    let leads = line.ends_with(":**") || line.ends_with("**:");
    let words_max = HEADING_WORDS_MAX * if leads { 2 } else { 1 };
    let is_heading = is_bold && line.split_whitespace().count() <= words_max;
    is_rule || is_directive || is_heading || line.starts_with('#')
}

/// Longer ones state something.
const HEADING_WORDS_MAX: usize = 6;

/// A picture among words, or what says how a character is drawn.
pub(super) fn is_picture(c: char) -> bool {
    // how much a finding matters
    const GRADES: [char; 4] = ['🔴', '🟠', '🟡', '🟢'];
    c >= '\u{1f000}' && !GRADES.contains(&c)
        || matches!(
            c,
            '\u{2600}'..='\u{27bf}' | '\u{2b50}' | '\u{200d}' | '\u{fe0f}'
        )
}

/// `[cart.rs](/home/ada/shop/cart.rs:7)` as `cart.rs`: where a link leads is for who can follow it.
pub(super) fn without_targets(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("](") {
        let (before, after) = rest.split_at(at);
        let target = after[2..].split_once(')');
        let Some((start, (_, behind))) = before.rfind('[').zip(target) else {
            break;
        };
        let is_code = out.matches('`').count() + before[..start].matches('`').count();
        if is_code % 2 == 1 {
            out.push_str(&rest[..at + 2]);
            rest = &after[2..];
            continue;
        }
        out.push_str(&before[..start]);
        out.push_str(&before[start + 1..]);
        rest = behind;
    }
    out.push_str(rest);
    out
}
