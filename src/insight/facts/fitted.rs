//! Lines of a report, so many as have room: of each part its beginning before any part is left out.

use super::lists::List;
use super::outline::Outline;
use super::points::{cut, first_sentences, is_point, more, points_left, without_mark};
use crate::rules::reports::{is_cause, is_conclusion, is_proof, restates};

/// More: the summary is a log again; fewer: the result stands behind.
pub const LINES_MAX: usize = 40;
pub const BEGINNING_CHARS_MAX: usize = 2_800;

/// A point of a list says what it is about in its beginning; so all points of a long list have room.
const POINT_CHARS_MAX: usize = 200;

/// How much of each part is told: points of a list, sentences of a paragraph, bytes of a point.
#[derive(Clone, Copy)]
struct Share {
    points: usize,
    sentences: usize,
    bytes: usize,
}

/// Bytes of a point where everything has room: the consequence and the advice stand at its end.
const WHOLE_POINTS: [usize; 3] = [700, 320, POINT_CHARS_MAX];

/// The first that fits is taken.
static SHARES: [Share; 8] = [
    share(usize::MAX, usize::MAX, POINT_CHARS_MAX),
    share(8, 4, POINT_CHARS_MAX),
    share(6, 3, POINT_CHARS_MAX),
    share(5, 2, POINT_CHARS_MAX),
    share(4, 2, POINT_CHARS_MAX),
    share(4, 1, 180),
    share(3, 1, 160),
    share(2, 1, 140),
];

const fn share(points: usize, sentences: usize, bytes: usize) -> Share {
    Share {
        points,
        sentences,
        bytes,
    }
}

/// As much as fits: of several lists the first points of each, of paragraphs the first sentences; what was checked
/// last. How many points are left out is said.
pub fn fitted(lines: &[String], chars_max: usize) -> String {
    let fits = |all: &Vec<String>| {
        let chars: usize = all.iter().map(|line| line.chars().count() + 1).sum();
        chars <= chars_max && all.len() <= LINES_MAX
    };
    let whole = WHOLE_POINTS.iter();
    let mut whole = whole.map(|bytes| shared(lines, share(usize::MAX, usize::MAX, *bytes)));
    // each has as many lines
    let found = (lines.len() <= LINES_MAX).then(|| whole.find(fits));
    if let Some(whole) = found.flatten() {
        return whole.join("\n");
    }
    let lines = &with_conclusion_first(&without(lines, restates));
    let rest = without(lines, is_proof);
    let with_proofs = SHARES[1..WITH_PROOFS].iter().map(|share| (lines, *share));
    let mut all = with_proofs.chain(SHARES.iter().map(|share| (&rest, *share)));
    if let Some((lines, share)) = all.find(|(lines, share)| fits(&shared(lines, *share))) {
        return filled(lines, share, fits).join("\n");
    }
    let outline = Outline::of(&rest);
    if let Some(all) = outline
        .as_ref()
        .and_then(|outline| outline.fitted(chars_max, fits))
    {
        return all.join("\n");
    }
    if let Some(outline) = outline {
        return beginning_of(&outline.least(chars_max), chars_max);
    }
    let least = shared(&rest, share(2, 1, 100));
    match fits(&least) {
        true => least.join("\n"),
        false => beginning_of(&shared(&rest, SHARES[SHARES.len() - 1]), chars_max),
    }
}

/// In smaller shares what was checked has no room.
const WITH_PROOFS: usize = 4;

/// The same, with lines behind them that are told in any case: what came after a report is the last state.
pub fn fitted_with(lines: &[String], behind: &[String], chars_max: usize) -> String {
    const BEHIND_CHARS_MAX: usize = 500;
    if behind.is_empty() {
        return fitted(lines, chars_max);
    }
    let last = fitted(behind, BEHIND_CHARS_MAX.min(chars_max / 2));
    let room = chars_max.saturating_sub(last.chars().count() + 1);
    [fitted(lines, room), last].join("\n")
}

/// What a report comes to stands before what leads there.
fn with_conclusion_first(lines: &[String]) -> Vec<String> {
    let mut all = lines.to_vec();
    let concludes = |line: &String| {
        let line = match is_point(line) {
            true => without_mark(line),
            false => line.as_str(),
        };
        line.split_once(": ")
            .is_some_and(|(head, said)| is_conclusion(head) && said.contains(' '))
    };
    // what is recommended below something that a list is about is about that
    let is_of_list = |at: &usize| {
        let before = all[..*at].iter().rfind(|line| !is_point(line));
        let is_led = before.is_some_and(|line| line.ends_with(':'));
        is_led && is_point(&all[*at]) && recommends(without_mark(&all[*at]))
    };
    let found = all.iter().position(concludes);
    let found = found.filter(|at| !is_of_list(at));
    if let Some(at) = found.filter(|at| *at > 0) {
        let said = all.remove(at);
        all.insert(0, without_mark_of_point(said));
        return all;
    }
    let heads = |line: &String| !is_point(line) && line.ends_with(':') && is_conclusion(line);
    let found = all.iter().position(heads).filter(|_| found.is_none());
    if let Some(at) = found.filter(|at| *at > 0) {
        let points = all[at + 1..].iter().take_while(|line| is_point(line));
        let end = at + 1 + points.count();
        all[..end].rotate_left(at);
    }
    all
}

/// `My recommendation: keep it`.
fn recommends(line: &str) -> bool {
    let head = line.split(':').next().unwrap_or_default().to_lowercase();
    head.trim_matches('*').ends_with("recommendation") || head.ends_with("recommendations")
}

fn without_mark_of_point(line: String) -> String {
    match is_point(&line) {
        true => without_mark(&line).to_owned(),
        false => line,
    }
}

/// Without what stands under such headings; all where nothing else is told.
fn without(lines: &[String], is_left_out: fn(&str) -> bool) -> Vec<String> {
    let mut inside = false;
    let mut rest = Vec::new();
    for line in lines {
        let heading = match is_point(line) {
            true => without_mark(line),
            false => line.as_str(),
        };
        let proves = heading
            .split_once(':')
            .is_some_and(|(head, _)| is_left_out(head));
        if proves {
            inside = heading.ends_with(':');
        } else if !(inside && is_point(line)) {
            inside = false;
            rest.push(line.clone());
        }
    }
    match rest.is_empty() {
        true => lines.to_vec(),
        false => rest,
    }
}

/// Lines whose lists have so many points at most, and paragraphs so many sentences; points of points only where all
/// of them stay.
fn shared(lines: &[String], share: Share) -> Vec<String> {
    let lists = List::all(lines);
    let most = vec![share.points; lists.len()];
    told(lines, share, &lists, &most)
}

/// The same, with more points of lists as long as these have room: those that lack the fewest first.
fn filled(lines: &[String], share: Share, fits: impl Fn(&Vec<String>) -> bool) -> Vec<String> {
    let lists = List::all(lines);
    let mut most = vec![share.points; lists.len()];
    let mut all = told(lines, share, &lists, &most);
    let mut order: Vec<usize> = (0..lists.len()).collect();
    order.sort_by_key(|nth| lists[*nth].left(share.points));
    for nth in order {
        while lists[nth].left(most[nth]) > 0 {
            most[nth] += 1;
            let more = told(lines, share, &lists, &most);
            if !fits(&more) {
                most[nth] -= 1;
                break;
            }
            all = more;
        }
    }
    all
}

/// With so many points of each list.
fn told(lines: &[String], share: Share, lists: &[List], most: &[usize]) -> Vec<String> {
    let has_causes = share.points >= CAUSE_POINTS;
    let bytes_of = |line: &str| match has_causes && names_cause(without_mark(line)) {
        true => share.bytes.max(CAUSE_BYTES),
        false => share.bytes,
    };
    let mut all: Vec<String> = Vec::new();
    let mut lists = lists.iter().zip(most).peekable();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        if let Some((list, most)) = lists.next_if(|(list, _)| list.start == at) {
            match share.points {
                usize::MAX => list.tell_whole(lines, bytes_of, &mut all),
                _ => list.tell(lines, *most, bytes_of, &mut all),
            }
            at = list.end;
            continue;
        }
        // the first paragraph is the news
        let sentences = share.sentences.saturating_add(usize::from(all.is_empty()));
        let sentences = match has_causes && names_cause(line) {
            true => sentences.max(CAUSE_SENTENCES),
            false => sentences,
        };
        all.push(first_sentences(line, sentences));
        at += 1;
    }
    all
}

/// Why something failed is seldom said in one sentence; where lists have fewer points than this, it gives way too.
const CAUSE_POINTS: usize = 4;
const CAUSE_SENTENCES: usize = 3;
const CAUSE_BYTES: usize = 420;

/// `Root cause: the list is only ever added to.`
fn names_cause(line: &str) -> bool {
    line.split_once(": ")
        .is_some_and(|(head, _)| is_cause(head))
}

fn beginning_of(lines: &[String], chars_max: usize) -> String {
    let mut text = String::new();
    for (nth, line) in lines.iter().enumerate() {
        let told = text.chars().count();
        let is_full = told + line.chars().count() > chars_max || nth >= LINES_MAX;
        if !is_full {
            text.push_str(if text.is_empty() { "" } else { "\n" });
            text.push_str(line);
            continue;
        }
        let leads = |text: &str| {
            text.lines()
                .next_back()
                .is_some_and(|last| last.ends_with(':'))
        };
        if text.is_empty() || leads(&text) && !text.contains('\n') {
            text.push_str(if text.is_empty() { "" } else { "\n" });
            text.push_str(&cut(line, chars_max));
            break;
        }
        let mut left = points_told(&lines[nth..]);
        if !text.lines().next_back().is_some_and(is_point) {
            // how many follow says nothing where none of them is told
            left = 0;
        }
        while leads(&text) {
            // what only leads to the points that have no room
            let start = text.rfind('\n').unwrap_or(0);
            text.truncate(start);
            left = 0;
        }
        if left > 0 {
            text.push('\n');
            text.push_str(&more(left));
        }
        break;
    }
    text
}

/// The same, with those that a line only counts: `- and 3 more`.
fn points_told(lines: &[String]) -> usize {
    let counted = |line: &String| {
        let count = without_mark(line)
            .strip_prefix("and ")?
            .strip_suffix(" more")?;
        count.parse::<usize>().ok()
    };
    let list = lines.iter().take_while(|line| is_point(line));
    let counted = list
        .filter_map(counted)
        .map(|count| count.saturating_sub(1));
    points_left(lines) + counted.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::super::points::short_point;
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn each_part_is_told_before_one_is_told_whole() {
        let report = lines(
            "The cart rounded twice. That began with the import. It was seen in May. Nobody noticed it.\n\
             Fix: the rounding stands in one place. It is half up. The sum is never rounded again.\n\
             Verification:\n- cargo test\n- cargo clippy",
        );
        let wants = "The cart rounded twice. That began with the import.\nFix: the rounding stands in one place.";
        assert_eq!(fitted(&report, 110), wants);
        assert_eq!(fitted(&report, 2_000), report.join("\n"));
        let proof = lines("Verification: all of it runs");
        assert_eq!(fitted(&proof, 20), "Verification…");
    }

    #[test]
    fn a_point_is_more_than_its_name() {
        let point = format!(
            "1. Two locks. The cart takes the lock of the shop, {}",
            "and waits for it ".repeat(12)
        );
        let wants = "1. Two locks. The cart takes the lock of the shop…";
        assert_eq!(short_point(&point, 70), wants);
    }

    #[test]
    fn points_that_have_no_room_are_all_counted() {
        let list = lines("- one row of a cart\n- two rows of a cart\n- and 31 more\nAll.");
        assert_eq!(
            beginning_of(&list, 30),
            "- one row of a cart\n- and 32 more"
        );
        let list = lines("The ranking of carts.\n- one row of a cart\n- and 31 more");
        assert_eq!(beginning_of(&list, 25), "The ranking of carts.");
    }

    #[test]
    fn of_what_is_numbered_none_is_left_out_in_the_middle() {
        let report = lines(
            "Done:\n1. Cart: it adds up\n2. Orders:\n   - they are kept\n   - they are told\n3. Shop: it opens",
        );
        let wants = "Done:\n1. Cart: it adds up\n2. Orders\n3. Shop: it opens";
        assert_eq!(fitted(&report, 60), wants);
    }

    #[test]
    fn of_a_long_list_the_first_points_are_told() {
        let list = lines(
            "Changed:\n- one row\n- two rows\n- three rows\n- four rows\n- five rows\n- six rows",
        );
        let wants = "Changed:\n- one row\n- two rows\n- three rows\n- and 3 more";
        assert_eq!(fitted(&list, 57), wants);
    }

    #[test]
    fn a_list_of_another_kind_is_counted_apart() {
        let report = lines(
            "Fix:\n1. round once\n2. add up once\n3. print once\n4. pay once\n- Group B — pages: each has a head\n\
             The end of it.",
        );
        let told = shared(&report, share(2, 1, 140));
        let wants = [
            "Fix:",
            "1. round once",
            "2. add up once",
            "- and 2 more",
            "- Group B — pages: each has a head",
            "The end of it.",
        ];
        assert_eq!(told, wants);
    }

    #[test]
    fn each_section_is_named_before_one_is_told_whole() {
        let section = |name: &str| {
            format!(
                "{name}:\n- {name} one of all rows of the cart\n- two of them\n- three of them\n"
            )
        };
        let report: String = ["Carts", "Shops", "Pages", "Prices"]
            .iter()
            .map(|name| section(name))
            .collect();
        let report = lines(&report);
        let told = fitted(&report, 260);
        for name in ["Carts", "Shops", "Pages", "Prices"] {
            assert!(told.contains(&format!("- {name}: {name} one")), "{told}");
        }
        assert!(told.contains("; and 2 more"), "{told}");
    }

    #[test]
    fn why_something_failed_is_told_in_more_than_a_sentence() {
        let cause = "Root cause: the cart is a list. It is only ever added to. So each page copies all of it.";
        let report = format!(
            "It is found.\n{cause}\n{}",
            "- one row of the cart\n".repeat(90)
        );
        let told = fitted(&lines(&report), 300);
        assert!(told.contains(cause), "{told}");
    }

    #[test]
    fn what_came_after_a_report_has_room() {
        let report = lines(&"- one row of a cart that somebody left in the shop\n".repeat(40));
        let told = fitted_with(&report, &lines("The second page is posted."), 300);
        assert!(told.ends_with("\nThe second page is posted."), "{told}");
        assert!(told.chars().count() <= 300, "{told}");
    }

    #[test]
    fn a_verdict_of_several_points_stands_first() {
        let report =
            lines("Carts round twice.\n- one row\nVerdict:\n- round once\n- add it up\nThe end.");
        let wants =
            lines("Verdict:\n- round once\n- add it up\nCarts round twice.\n- one row\nThe end.");
        assert_eq!(with_conclusion_first(&report), wants);
    }

    #[test]
    fn a_recommendation_stands_first_unless_it_is_about_a_point() {
        let first = |all: &[&str]| {
            let all: Vec<String> = all.iter().map(|line| (*line).to_owned()).collect();
            with_conclusion_first(&all)[0].clone()
        };
        let advice = "- Recommendation: keep it, and name an owner";
        assert_eq!(
            first(&["Carts round twice.", advice]),
            "Recommendation: keep it, and name an owner"
        );
        assert_eq!(first(&["Ticket 7:", "- it is open", advice]), "Ticket 7:");
        let end = "- Bottom line: the work is done already";
        assert_eq!(
            first(&["Either of:", "- a page", end]),
            "Bottom line: the work is done already"
        );
    }
}
