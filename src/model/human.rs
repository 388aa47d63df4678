//! How sizes, counts, shares and times are written for people. Machines get the plain numbers.

use super::layout::style::width;
use super::time::Time;
use super::zone::Zone;
use std::borrow::Cow;

/// `in_progress` as people write it.
pub fn words(name: &str) -> String {
    name.replace('_', " ")
}

/// `0 B`, `999 B`, `1.0 kB`, `48 kB`, `1.2 GB`: powers of ten, two digits at least.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if count < 1_000 {
        return format!("{count} B");
    }
    let mut value = count as f64;
    let mut unit = "B";
    for next in UNITS {
        if value < 999.5 {
            break;
        }
        value /= 1_000.0;
        unit = next;
    }
    match value < 9.95 {
        true => format!("{value:.1} {unit}"),
        false => format!("{value:.0} {unit}"),
    }
}

/// `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// What is only estimated, to two digits: `1,200,000`.
pub fn roughly(number: u64) -> String {
    let step = 10u64.pow(number.checked_ilog10().unwrap_or(0).saturating_sub(1));
    count(number.saturating_add(step / 2) / step * step)
}

/// `1 session`, `2 sessions`, `1 entry`, `2 entries`.
pub fn plural(number: u64, noun: &str) -> String {
    let noun = match (number, noun.strip_suffix('y')) {
        (1, _) => noun.to_owned(),
        (_, Some(stem)) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ => format!("{noun}s"),
    };
    format!("{} {noun}", count(number))
}

/// `part` of `whole` in percent with one decimal; `–` of nothing.
pub fn share(part: u64, whole: u64) -> String {
    match whole {
        0 => "–".to_owned(),
        _ => format!("{:.1}%", part as f64 * 100.0 / whole as f64),
    }
}

/// `2026-05-31 21:14`, in the reader's zone; `–` where no time is known.
pub fn time(time: Option<Time>, zone: Zone) -> String {
    match time {
        Some(time) => zone.show(time).format("%Y-%m-%d %H:%M").to_string(),
        None => "–".to_owned(),
    }
}

/// `2026-05-30 to 2026-05-31` where it is of whole days, else with the times; `to` is the first moment that is
/// out.
pub fn span(from: Time, to: Time, zone: Zone) -> String {
    let days = [from, to].map(|at| zone.show(at).format("%H:%M:%S%.3f").to_string());
    if days.iter().any(|clock| clock != "00:00:00.000") || from >= to {
        return format!("{} to {}", time(Some(from), zone), time(Some(to), zone));
    }
    let day = |at: Time| zone.show(at).format("%Y-%m-%d").to_string();
    let (first, last) = (day(from), day(Time(to.0 - 1)));
    match first == last {
        true => first,
        false => format!("{first} to {last}"),
    }
}

/// `just now`, `5 minutes ago`, `3 hours ago`, `12 days ago`, `7 weeks ago`, `5 months ago`, `2 years ago`;
/// times to come are `just now`.
pub fn ago(time: Time, now: Time) -> String {
    let minutes = u64::try_from(now.0.saturating_sub(time.0) / 60_000).unwrap_or(0);
    let days = minutes / 1_440;
    let (many, unit) = match (minutes, days) {
        (0, _) => return "just now".to_owned(),
        (1..=119, _) => (minutes, "minute"),
        (_, 0 | 1) => (minutes / 60, "hour"),
        (_, 2..=20) => (days, "day"),
        (_, 21..=89) => (days / 7, "week"),
        (_, 90..=729) => ((days * 12 + 182) / 365, "month"),
        _ => (days / 365, "year"),
    };
    format!("{} ago", plural(many, unit))
}

/// `0.4 s`, `12 s`, `3 min`, `2.1 h`, `9.0 days`.
pub fn duration_ms(millis: u64) -> String {
    let seconds = millis as f64 / 1_000.0;
    match seconds {
        s if s < 9.95 => format!("{s:.1} s"),
        s if s < 119.5 => format!("{s:.0} s"),
        s if s < 7_200.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} h", s / 3_600.0),
        s => format!("{:.1} days", s / 86_400.0),
    }
}

/// Characters that a title keeps when it is stored.
pub const TITLE_CHARS: usize = 80;

/// A title in a list: where it is longer than titles are, or was cut when it was stored, it ends at a
/// word, and in `…`.
pub fn title(text: &str) -> Cow<'_, str> {
    let end = text.char_indices().nth(TITLE_CHARS - 1);
    let Some((end, _)) = end else {
        return Cow::Borrowed(text);
    };
    let head = &text[..end];
    let at_word = head.rfind(char::is_whitespace).filter(|at| *at > end / 2);
    let head = &head[..at_word.unwrap_or(end)];
    let head = head.trim_end_matches(|c: char| c.is_whitespace() || ",;:".contains(c));
    Cow::Owned(format!("{head}…"))
}

/// A title where it stands alone: one that was cut when it was stored ends at a word, and in `…`.
pub fn whole_title(text: &str) -> Cow<'_, str> {
    match text.chars().nth(TITLE_CHARS - 1).is_some() && text.chars().nth(TITLE_CHARS).is_none() {
        true => title(text),
        false => Cow::Borrowed(text),
    }
}

/// Words in rows of at most so many characters, each word whole.
pub fn rows_of(words: &[String], separator: &str, chars_max: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for (nth, word) in words.iter().enumerate() {
        let is_last = nth + 1 == words.len();
        let end = if is_last { "" } else { separator.trim_end() };
        let fits = |row: &String| {
            let long = row.chars().count() + 1 + word.chars().count() + end.chars().count();
            long <= chars_max
        };
        match rows.last_mut().filter(|row| fits(row)) {
            Some(row) => *row += &format!(" {word}{end}"),
            None => rows.push(format!("{word}{end}")),
        }
    }
    rows
}

/// Rows under each other: every column as wide as its widest cell, numbers to the right where
/// `right` says so, no blanks at a line's end.
pub fn table(rows: &[Vec<String>], right: &[usize]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| width(cell)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(widest).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let blank = " ".repeat(widths[column] - width(cell));
            let gap = if column == 0 { "" } else { "  " };
            match right.contains(&column) {
                true => line.extend([gap, &blank, cell]),
                false => line.extend([gap, cell, &blank]),
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_never_show_a_thousand_of_a_unit() {
        for (given, wants) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.0 kB"),
            (9_949, "9.9 kB"),
            (9_999, "10 kB"),
            (999_499, "999 kB"),
            (999_999, "1.0 MB"),
            (1_234_567_890, "1.2 GB"),
            (u64::MAX, "18 EB"),
        ] {
            assert_eq!(bytes(given), wants, "{given}");
        }
    }

    #[test]
    fn an_estimate_has_two_digits() {
        for (given, wants) in [
            (0, "0"),
            (7, "7"),
            (288, "290"),
            (999, "1,000"),
            (2_045, "2,000"),
            (15_034_003, "15,000,000"),
            (u64::MAX, "18,000,000,000,000,000,000"),
        ] {
            assert_eq!(roughly(given), wants, "{given}");
        }
    }

    #[test]
    fn a_span_of_whole_days_has_no_times() {
        let zone = Zone::Fixed(chrono::FixedOffset::east_opt(0).expect("UTC"));
        let at = |text: &str| Time::parse(text).expect("a time");
        let told = |from: &str, to: &str| span(at(from), at(to), zone);
        let (first, third) = ("2026-05-30T00:00:00Z", "2026-06-01T00:00:00Z");
        assert_eq!(told(first, third), "2026-05-30 to 2026-05-31");
        assert_eq!(told("2026-05-31T00:00:00Z", third), "2026-05-31");
        let noon = "2026-06-01T12:00:00Z";
        assert_eq!(told(first, noon), "2026-05-30 00:00 to 2026-06-01 12:00");
    }

    #[test]
    fn counts_are_grouped_and_nouns_agree() {
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(123), "123");
        assert_eq!(plural(1, "session"), "1 session");
        assert_eq!(plural(2, "entry"), "2 entries");
        assert_eq!(plural(2, "day"), "2 days");
        assert_eq!(share(1, 8), "12.5%");
        assert_eq!(share(0, 0), "–");
    }

    #[test]
    fn spans_change_their_unit() {
        assert_eq!(ago(Time(0), Time(59_999)), "just now");
        assert_eq!(ago(Time(0), Time(7_199_999)), "119 minutes ago");
        assert_eq!(ago(Time(0), Time(7_200_000)), "2 hours ago");
        assert_eq!(ago(Time(10), Time(0)), "just now");
        let days = |days: i64| ago(Time(0), Time(days * 86_400_000));
        assert_eq!(days(20), "20 days ago");
        assert_eq!(days(21), "3 weeks ago");
        assert_eq!(days(90), "3 months ago");
        assert_eq!(days(800), "2 years ago");
        assert_eq!(duration_ms(423), "0.4 s");
        assert_eq!(duration_ms(7_560_000), "2.1 h");
        assert_eq!(duration_ms(777_600_000), "9.0 days");
    }

    #[test]
    fn titles_end_at_a_word() {
        let words = "rename ".repeat(20);
        assert_eq!(title("short"), "short");
        assert_eq!(title(&words[..79]), &words[..79]);
        let cut = format!("{}…", "rename ".repeat(11).trim_end());
        assert_eq!(title(&words[..80]), cut);
        assert_eq!(title(&"é".repeat(90)), format!("{}…", "é".repeat(79)));
        assert_eq!(whole_title(&words[..80]), cut);
        assert_eq!(whole_title(&"é".repeat(90)), "é".repeat(90));
    }

    #[test]
    fn lists_are_broken_between_words() {
        let words = ["note 1", "meta 22", "tool result 7"].map(str::to_owned);
        assert_eq!(
            rows_of(&words, ", ", 16),
            ["note 1, meta 22,", "tool result 7"]
        );
        assert_eq!(rows_of(&[], ", ", 16), Vec::<String>::new());
    }

    #[test]
    fn columns_line_up() {
        let rows = [
            vec!["a".into(), "10".into()],
            vec!["bcd".into(), "9".into()],
        ];
        assert_eq!(table(&rows, &[1]), "a    10\nbcd   9\n");
    }
}
