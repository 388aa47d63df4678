//! Lists of a report, and which of their points are told where not all of them have room.

use super::points::{is_numbered, is_other_list, is_point, more, short_point, without_mark};
use crate::rules::reports::tells_gap;

/// A list by where its lines stand.
pub(super) struct List {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Its points; the other lines are points of these.
    own: Vec<usize>,
}

impl List {
    /// In order.
    pub(super) fn all(lines: &[String]) -> Vec<List> {
        let indent = |line: &String| line.len() - line.trim_start().len();
        let mut all: Vec<List> = Vec::new();
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| is_point(line)) {
            let goes_on = |list: &&mut List| list.end == at && !is_other_list(&lines[at - 1], line);
            match all.last_mut().filter(goes_on) {
                Some(list) => {
                    list.end += 1;
                    // a list may be indented as a whole
                    if indent(line) <= indent(&lines[list.start]) {
                        list.own.push(at);
                    }
                }
                None => all.push(List {
                    start: at,
                    end: at + 1,
                    own: vec![at],
                }),
            }
        }
        all
    }

    /// So many points aren't told where there is room for `most`; a single one is told instead of counted.
    pub(super) fn left(&self, most: usize) -> usize {
        match self.own.len().saturating_sub(most) {
            1 => 0,
            left => left,
        }
    }

    /// With all of its lines, each in so many bytes as `bytes_of` says.
    pub(super) fn tell_whole(
        &self,
        lines: &[String],
        bytes_of: impl Fn(&str) -> usize,
        all: &mut Vec<String>,
    ) {
        let own = &lines[self.start..self.end];
        all.extend(own.iter().map(|line| short_point(line, bytes_of(line))));
    }

    /// With so many points, and none of what stands below these.
    pub(super) fn tell(
        &self,
        lines: &[String],
        most: usize,
        bytes_of: impl Fn(&str) -> usize,
        all: &mut Vec<String>,
    ) {
        let left = self.left(most);
        for at in self.chosen(lines, self.own.len() - left) {
            let line = lines[at].as_str();
            let leads = at + 1 < self.end && !self.own.contains(&(at + 1));
            let words = || without_mark(line).split_whitespace().count();
            let is_heading = || line.ends_with(':') && words() < HEADING_WORDS;
            if leads && !is_numbered(line) && is_heading() {
                // without the points below it says nothing; of what is numbered each is one of the things told
                continue;
            }
            let line = if leads {
                line.trim_end_matches(':')
            } else {
                line
            };
            all.push(short_point(line, bytes_of(line)));
        }
        let first = lines[self.start].as_str();
        let indent = &first[..first.len() - first.trim_start().len()];
        all.extend((left > 0).then(|| format!("{indent}{}", more(left))));
    }

    /// Its first points; what says that something isn't so stands before others than the first.
    fn chosen(&self, lines: &[String], most: usize) -> Vec<usize> {
        let (first, rest) = self.own.split_at(most);
        let mut chosen = first.to_vec();
        for at in rest
            .iter()
            .filter(|at| tells_gap(without_mark(&lines[**at])))
        {
            let idle = |told: &usize| !tells_gap(without_mark(&lines[*told]));
            let Some(place) = chosen.iter().rposition(idle).filter(|place| *place > 0) else {
                break;
            };
            chosen.remove(place);
            chosen.push(*at);
        }
        chosen
    }
}

/// A point that only leads to others has fewer.
const HEADING_WORDS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, most: usize) -> String {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut all = Vec::new();
        for list in List::all(&lines) {
            list.tell(&lines, most, |_| 200, &mut all);
        }
        all.join("\n")
    }

    #[test]
    fn what_is_not_so_is_told_before_what_is() {
        let list = "- the cart adds up\n- shops open\n- pages load\n- totals are not rounded\n- all is set";
        assert_eq!(
            told(list, 2),
            "- the cart adds up\n- totals are not rounded\n- and 3 more"
        );
        assert_eq!(
            told(list, 1),
            "- the cart adds up\n- and 4 more",
            "the first says what it is about"
        );
        assert_eq!(
            told(list, 4),
            list,
            "a single point is told instead of counted"
        );
    }

    #[test]
    fn a_list_that_is_indented_has_points() {
        let list = "  - the cart adds up\n    - once\n  - shops open\n  - pages load";
        assert_eq!(told(list, 1), "  - the cart adds up\n  - and 2 more");
    }
}
