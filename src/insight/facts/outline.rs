//! A report of many sections that has no room in any share, a line for each section.

use super::points::{
    cut, cut_late, first_sentences, is_numbered, is_point, more, points_left, short_point,
    without_mark,
};
use super::words::folded;
use crate::rules::words::sentences;

/// A report of many sections, a line for each with its first points: each is named before one is told whole.
pub(super) struct Outline<'l> {
    lines: &'l [String],
    /// Where lines stand that lead to points, with how many follow, and whether these are headings.
    groups: Vec<(usize, usize, bool)>,
}

/// Of a point.
const BYTES: [usize; 2] = [120, 90];

impl<'l> Outline<'l> {
    /// `None` where there are not several sections.
    pub(super) fn of(lines: &'l [String]) -> Option<Outline<'l>> {
        const SECTIONS_MIN: usize = 3;
        let mut groups = Vec::new();
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            let points = points_below(&lines[at + 1..], line);
            let is_head = (line.ends_with(':') || is_numbered(line)) && is_heading(line);
            if points > 0 {
                groups.push((at, points, is_head));
            }
            at += 1 + points;
        }
        let sections = groups.iter().filter(|(.., is_head)| *is_head).count();
        (sections >= SECTIONS_MIN).then_some(Outline { lines, groups })
    }

    /// With as many points of each list as have room.
    pub(super) fn fitted(
        &self,
        chars_max: usize,
        fits: impl Fn(&Vec<String>) -> bool,
    ) -> Option<Vec<String>> {
        const POINTS_MAX: usize = 4;
        let mut most = vec![1; self.groups.len()];
        let told = |most: &[usize], bytes| self.told(most, bytes, chars_max / 2);
        let bytes = BYTES.into_iter().find(|bytes| fits(&told(&most, *bytes)))?;
        for points in 2..=POINTS_MAX {
            for nth in 0..most.len() {
                let before = std::mem::replace(&mut most[nth], points);
                if !fits(&told(&most, bytes)) {
                    most[nth] = before;
                }
            }
        }
        Some(told(&most, bytes))
    }

    /// With one point of each list.
    pub(super) fn least(&self, chars_max: usize) -> Vec<String> {
        self.told(&vec![1; self.groups.len()], BYTES[1], chars_max / 2)
    }

    fn told(&self, most: &[usize], bytes: usize, lead_bytes: usize) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        let mut groups = self.groups.iter().zip(most).peekable();
        let mut at = 0;
        while let Some(line) = self.lines.get(at) {
            let group = groups.next_if(|((own, ..), _)| *own == at);
            let points = group.map_or(0, |((_, points, _), _)| *points);
            let below = &self.lines[at + 1..at + 1 + points];
            at += 1 + points;
            if let Some(((_, _, true), most)) = group {
                all.push(in_a_line(line, below, *most, bytes));
                continue;
            }
            all.push(match all.is_empty() {
                true => cut(line, lead_bytes),
                false => short_point(&first_sentences(line, 1), 2 * bytes),
            });
            let most = group.map_or(0, |(_, most)| *most);
            let told = below.iter().filter(|line| !line.starts_with(' '));
            all.extend(told.take(most).map(|line| short_point(line, bytes)));
            let left = points_left(below);
            all.extend((left > most).then(|| more(left - most)));
        }
        all
    }
}

/// A heading with the first points of its list: `- Fixed: one; two; and 3 more`.
fn in_a_line(heading: &str, points: &[String], most: usize, bytes: usize) -> String {
    let head = without_mark(heading).trim_end_matches(':');
    // a list may be indented as a whole
    let indent = |line: &String| line.len() - line.trim_start().len();
    let first = points.first().map_or(0, indent);
    let own = points.iter().filter(|line| indent(line) <= first);
    let told: Vec<String> = own
        .clone()
        .take(most)
        .map(|line| {
            let point = cut_late(&folded(without_mark(line)), bytes);
            point.trim_end_matches(['.', ':', ';']).to_owned()
        })
        .collect();
    let more = match own.count().saturating_sub(told.len()) {
        0 => String::new(),
        left => format!("; and {left} more"),
    };
    match told.is_empty() {
        true => format!("- {head}"),
        false => format!("- {head}: {}{more}", told.join("; ")),
    }
}

/// One short line, no paragraph that ends with what leads to a list.
fn is_heading(line: &str) -> bool {
    const WORDS_MAX: usize = 14;
    line.split_whitespace().count() <= WORDS_MAX && sentences(without_mark(line)).nth(1).is_none()
}

/// Points of the list that a line leads to: bullets below a number, any below other lines up to such a number.
fn points_below(lines: &[String], lead: &str) -> usize {
    let is_own = is_point(lead);
    if is_own && !is_numbered(lead) {
        return 0;
    }
    let heads = |at: usize| {
        let next = lines
            .get(at + 1)
            .filter(|next| is_point(next) && !next.starts_with(' '));
        is_numbered(&lines[at]) && (is_own || next.is_some_and(|next| !is_numbered(next)))
    };
    let below = (0..lines.len()).take_while(|at| is_point(&lines[*at]) && !heads(*at));
    below.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_may_be_indented_as_a_whole() {
        let points = ["   - one row", "     - of it", "   - two rows"].map(str::to_owned);
        assert_eq!(
            in_a_line("Carts:", &points, 1, 120),
            "- Carts: one row; and 1 more"
        );
        assert_eq!(in_a_line("Carts:", &[], 1, 120), "- Carts");
    }

    #[test]
    fn numbers_above_bullets_are_headings() {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<String>>();
        let numbered = lines(
            "All of it.\n1. Carts\n- one row\n- two rows\n2. Shops\n- one shop\n3. Pages\n- one page",
        );
        let wants = [
            "All of it.",
            "- Carts: one row; and 1 more",
            "- Shops: one shop",
            "- Pages: one page",
        ];
        assert_eq!(
            Outline::of(&numbered)
                .map(|outline| outline.told(&[1; 3], 120, 120))
                .as_deref(),
            Some(&wants.map(str::to_owned)[..])
        );
    }
}
