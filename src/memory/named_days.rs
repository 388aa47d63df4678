//! Days that a question names: `on 3 June 2023`, `in May`, `last week`, `two weeks ago`, `2026-04-01`. They are
//! days of UTC: what was said a day earlier or later counts nearly as much, so nobody's zone is asked.

use super::when::When;
use crate::model::time::Time;
use crate::model::zone::Zone;
use chrono::{Datelike, Days, Months, NaiveDate, NaiveTime, Offset, Utc};

/// A day, or a stretch of days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedDays {
    /// Its first moment.
    pub from: Time,
    /// The first moment after it.
    pub until: Time,
}

impl NamedDays {
    /// How far a time is from these days, in days: 0 within them, negative before them.
    pub fn distance(&self, at: Time) -> f64 {
        const DAY_MS: f64 = 86_400_000.0;
        let ms = (at.0 - self.from.0).min(0) + (at.0 - self.until.0).max(0);
        ms as f64 / DAY_MS
    }

    fn of(first: NaiveDate, next: NaiveDate) -> NamedDays {
        let midnight = |day: NaiveDate| {
            let wall = day.and_time(NaiveTime::MIN);
            Time(wall.and_utc().timestamp_millis())
        };
        NamedDays {
            from: midnight(first),
            until: midnight(next),
        }
    }
}

/// A longer text is pasted: its dates aren't what is asked about.
const TEXT_BYTES_MAX: usize = 400;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Letters of a month's name that people write for all of it.
const SHORT_MONTH: usize = 3;

/// Words before a month that has neither day nor year: `may` and `march` are verbs too.
const BEFORE_A_MONTH: [&str; 13] = [
    "in", "since", "during", "of", "from", "early", "late", "mid", "by", "until", "before",
    "after", "last",
];

/// Numbers that people write as words, from two on.
const NUMBERS: [&str; 9] = [
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
];

/// The days that `text` names, asked at `now`; a month without a year is the latest that has begun. Empty for a
/// text that names none, and for a long one.
pub fn named_days(text: &str, now: Time) -> Vec<NamedDays> {
    if text.len() > TEXT_BYTES_MAX {
        return Vec::new();
    }
    let text = text.to_lowercase();
    let words: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric() && c != '-')
        .filter(|word| !word.is_empty())
        .collect();
    let at = |n: usize| {
        by_month(&words, n, now)
            .or_else(|| by_date(words[n]))
            .or_else(|| by_phrase(&words, n, now))
    };
    (0..words.len()).filter_map(at).collect()
}

/// `3 june 2023`, `june 3rd`, `in june`, where word `n` is the month.
fn by_month(words: &[&str], n: usize, now: Time) -> Option<NamedDays> {
    let (month, is_whole) = month(words[n])?;
    let word = |n: usize| words.get(n).copied();
    let before = |back: usize| n.checked_sub(back).and_then(word);
    let day_before = match before(1) {
        Some("of") => before(2).and_then(day),
        earlier => earlier.and_then(day),
    };
    let day_after = word(n + 1).and_then(day);
    let year = match day_after {
        Some(_) => word(n + 2).and_then(year),
        None => word(n + 1).and_then(year),
    };
    let day = day_before.or(day_after);
    let is_introduced = before(1).is_some_and(|word| BEFORE_A_MONTH.contains(&word));
    if day.is_none() && year.is_none() && !(is_whole && is_introduced) {
        return None;
    }
    let in_year = |year: i32| NaiveDate::from_ymd_opt(year, month, day.unwrap_or(1));
    let today = now.utc().date_naive();
    let first = match year {
        Some(year) => in_year(year)?,
        None => in_year(today.year())
            .filter(|first| *first <= today)
            .or_else(|| in_year(today.year() - 1))?,
    };
    let next = match day {
        Some(_) => first.checked_add_days(Days::new(1)),
        None => first.checked_add_months(Months::new(1)),
    };
    Some(NamedDays::of(first, next?))
}

/// Which month a word names, and whether it does so in full.
fn month(word: &str) -> Option<(u32, bool)> {
    let is_it = |name: &str| {
        name.starts_with(word) && (word.len() == SHORT_MONTH || word == name || word == "sept")
    };
    let n = MONTHS.iter().position(|name| is_it(name))?;
    Some((n as u32 + 1, word == MONTHS[n]))
}

/// `3`, `3rd`.
fn day(word: &str) -> Option<u32> {
    let number = word.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let is_day = ["", "st", "nd", "rd", "th"].contains(&&word[number.len()..]);
    number
        .parse()
        .ok()
        .filter(|day| is_day && (1..=31).contains(day))
}

fn year(word: &str) -> Option<i32> {
    word.parse()
        .ok()
        .filter(|year| (1990..=2100).contains(year))
}

fn by_date(word: &str) -> Option<NamedDays> {
    let first = NaiveDate::parse_from_str(word, "%Y-%m-%d").ok()?;
    Some(NamedDays::of(first, first.checked_add_days(Days::new(1))?))
}

/// `yesterday`, `last week`, `two weeks ago`, where word `n` is the last one.
fn by_phrase(words: &[&str], n: usize, now: Time) -> Option<NamedDays> {
    let utc = Zone::Fixed(Utc.fix());
    let words = &words[..=n];
    if words[n] == "ago" {
        let [.., number, unit, _] = words else {
            return None;
        };
        let number = match NUMBERS.iter().position(|word| word == number) {
            Some(n) => (n + 2).to_string(),
            None => (*number).to_owned(),
        };
        let when: When = format!("{number} {unit} ago").parse().ok()?;
        let first = when.start(now, utc).utc().date_naive();
        return Some(NamedDays::of(first, first.checked_add_days(Days::new(1))?));
    }
    let phrase = words[n.saturating_sub(1)..].join(" ");
    let calendar = |text: &str| match text.parse() {
        Ok(when @ When::Calendar(..)) => Some(when),
        _ => None,
    };
    let when = calendar(words[n]).or_else(|| calendar(&phrase))?;
    Some(NamedDays {
        from: when.start(now, utc),
        until: when.end(now, utc),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_named_as_people_name_them() {
        let now = Time::parse("2026-04-15T12:00:00Z").unwrap();
        for (text, wants) in [
            (
                "what did Gina find on 1 February, 2023?",
                "2023-02-01/2023-02-02",
            ),
            ("the fix of the 3rd of June 2025", "2025-06-03/2025-06-04"),
            ("what broke on June 3rd, 2025", "2025-06-03/2025-06-04"),
            ("what broke on june 3", "2025-06-03/2025-06-04"),
            ("what did we decide in March?", "2026-03-01/2026-04-01"),
            ("what did we decide in May?", "2025-05-01/2025-06-01"),
            ("the outage of August 2024", "2024-08-01/2024-09-01"),
            ("releases since Sept 2024", "2024-09-01/2024-10-01"),
            ("why did 2026-04-01 fail", "2026-04-01/2026-04-02"),
            ("what did we try last week?", "2026-04-06/2026-04-13"),
            ("what did I say yesterday about it", "2026-04-14/2026-04-15"),
            ("the bug of two weeks ago", "2026-04-01/2026-04-02"),
            ("fixed 3 days ago", "2026-04-12/2026-04-13"),
            (
                "between 1 May 2025 and 3 May 2025",
                "2025-05-01/2025-05-02 2025-05-03/2025-05-04",
            ),
            ("may I march on?", ""),
            ("it may 404", ""),
            ("does dec decode?", ""),
            ("31 april 2025", ""),
            ("long ago", ""),
            ("what did we decide?", ""),
        ] {
            let found = named_days(text, now);
            let shown = |time: Time| time.utc().date_naive().to_string();
            let shown: Vec<String> = found
                .iter()
                .map(|days| format!("{}/{}", shown(days.from), shown(days.until)))
                .collect();
            assert_eq!(shown.join(" "), wants, "{text}");
        }
        assert!(named_days(&"in march ".repeat(100), now).is_empty());
    }

    #[test]
    fn a_time_is_within_days_or_so_far_from_them() {
        let day = named_days("2026-04-01", Time(0))[0];
        for (at, wants) in [
            ("2026-03-30T00:00:00Z", -2.0),
            ("2026-04-01T00:00:00Z", 0.0),
            ("2026-04-01T23:00:00Z", 0.0),
            ("2026-04-03T12:00:00Z", 1.5),
        ] {
            assert_eq!(day.distance(Time::parse(at).unwrap()), wants, "{at}");
        }
    }
}
