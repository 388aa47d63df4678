//! Points in time as people type them: `14d`, `3 months`, `yesterday`, `last week`, `2026-04-01`,
//! `2026-04-01T10:00`, RFC 3339.

use crate::model::time::Time;
use crate::model::zone::Zone;
use chrono::{Datelike, Days, Months, NaiveDate, NaiveDateTime, NaiveTime};
use std::str::FromStr;

/// A point in time before the clock and the zone are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// So many milliseconds before now.
    Ago(i64),
    /// So many months of the calendar before now.
    MonthsAgo(u32),
    /// A day, week, month or year, so many before the present one.
    Calendar(Period, u32),
    /// A day of the wall's calendar.
    Day(NaiveDate),
    /// A time of the wall's clock.
    Wall(NaiveDateTime),
    /// A time anywhere.
    At(Time),
}

/// A stretch of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// From midnight to midnight.
    Day,
    /// From Monday on.
    Week,
    /// From its first day on.
    Month,
    /// From January on.
    Year,
}

impl Period {
    /// The first day of the one in which `day` is, `back` of them earlier.
    fn first(self, day: NaiveDate, back: u32) -> Option<NaiveDate> {
        match self {
            Period::Day => day.checked_sub_days(Days::new(back.into())),
            Period::Week => {
                let monday = u64::from(day.weekday().num_days_from_monday());
                day.checked_sub_days(Days::new(monday + 7 * u64::from(back)))
            }
            Period::Month => day.with_day(1)?.checked_sub_months(Months::new(back)),
            Period::Year => {
                let january = day.with_day(1)?.with_month(1)?;
                january.checked_sub_months(Months::new(12 * back))
            }
        }
    }

    /// The first day behind it.
    fn next(self, first: NaiveDate) -> Option<NaiveDate> {
        match self {
            Period::Day => first.checked_add_days(Days::new(1)),
            Period::Week => first.checked_add_days(Days::new(7)),
            Period::Month => first.checked_add_months(Months::new(1)),
            Period::Year => first.checked_add_months(Months::new(12)),
        }
    }
}

/// What an error names as ways to say it.
const EXAMPLES: &str = "14d, 3 weeks, yesterday, last month, 2026-04-01 or 2026-04-01T10:00";

/// Stretches of the calendar that have a name: which, and how many before the present one.
const PERIODS: [(&str, Period, u32); 8] = [
    ("today", Period::Day, 0),
    ("yesterday", Period::Day, 1),
    ("this week", Period::Week, 0),
    ("last week", Period::Week, 1),
    ("this month", Period::Month, 0),
    ("last month", Period::Month, 1),
    ("this year", Period::Year, 0),
    ("last year", Period::Year, 1),
];

/// Units as people write them, their short forms first; months and years by the calendar.
const UNITS: [(&[&str], Unit); 7] = [
    (&["s", "sec", "secs", "second", "seconds"], Unit::Ms(1_000)),
    (&["min", "mins", "minute", "minutes"], Unit::Ms(60_000)),
    (&["h", "hr", "hrs", "hour", "hours"], Unit::Ms(3_600_000)),
    (&["d", "day", "days"], Unit::Ms(DAY_MS)),
    (&["w", "wk", "wks", "week", "weeks"], Unit::Ms(7 * DAY_MS)),
    (&["mo", "mos", "month", "months"], Unit::Months(1)),
    (&["y", "yr", "yrs", "year", "years"], Unit::Months(12)),
];

const DAY_MS: i64 = 86_400_000;
const CENTURY_MS: i64 = 36_525 * DAY_MS;

#[derive(Clone, Copy)]
enum Unit {
    Ms(i64),
    Months(u32),
}

impl FromStr for When {
    type Err = String;

    fn from_str(text: &str) -> Result<When, String> {
        let text = text.trim();
        if let Some([minutes, months]) = ambiguous(text) {
            return Err(format!(
                "`{text}` is ambiguous: write {minutes} or {months}"
            ));
        }
        if let Some(when) = in_words(&text.to_lowercase()) {
            return Ok(when);
        }
        if let Ok(day) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
            return Ok(When::Day(day));
        }
        for shape in [
            "%Y-%m-%dT%H:%M",
            "%Y-%m-%d %H:%M",
            "%Y-%m-%dT%H:%M:%S",
            "%Y-%m-%d %H:%M:%S",
        ] {
            if let Ok(wall) = NaiveDateTime::parse_from_str(text, shape) {
                return Ok(When::Wall(wall));
            }
        }
        Time::parse(text)
            .map(When::At)
            .ok_or_else(|| format!("`{text}` is not a time: write {EXAMPLES}"))
    }
}

/// `3m` may be minutes or months: both, as they are typed without doubt.
pub fn ambiguous(text: &str) -> Option<[String; 2]> {
    let number = text.trim().strip_suffix(['m', 'M'])?.trim_end();
    let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    let months = if number == "1" { "month" } else { "months" };
    is_number.then(|| [format!("{number}min"), format!("{number} {months}")])
}

/// Options and fields of a search that take a time.
const TIMES: [&str; 5] = ["--since", "--until", "--as-of", "since", "until"];

/// A word of a command line without doubt, as somebody answers who is asked: `3m` behind `--since` and the
/// like, `--since=3m`, `since:3m`. `None`: there is no doubt, or no answer.
pub fn without_doubt(
    before: &str,
    word: &str,
    answer: impl FnOnce(&str) -> Option<String>,
) -> Option<String> {
    let (head, time) = match word.split_once(['=', ':']) {
        _ if TIMES[..3].contains(&before) => ("", word),
        Some((name, time)) if TIMES.contains(&name) => (&word[..=name.len()], time),
        _ => return None,
    };
    let [minutes, months] = ambiguous(time)?;
    let answer = answer(&format!("{time}: 1 = {minutes}, 2 = {months}?"))?;
    let chosen = match answer.trim() {
        "1" => minutes,
        "2" => months,
        typed => [minutes, months].into_iter().find(|one| one == typed)?,
    };
    let is_field = !head.is_empty() && !head.starts_with('-') && chosen.contains(' ');
    Some(match is_field {
        true => format!("{head}\"{chosen}\""),
        false => format!("{head}{chosen}"),
    })
}

/// `yesterday`, `3 months`, `2h ago`, `an hour ago`.
fn in_words(text: &str) -> Option<When> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    if let Some((_, period, back)) = PERIODS.iter().find(|(name, ..)| *name == text) {
        return Some(When::Calendar(*period, *back));
    }
    let span = text.strip_suffix(" ago").unwrap_or(&text);
    let digits = span.len() - span.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit): (i64, &str) = match span.split_once(' ') {
        Some(("a" | "an" | "one", unit)) => (1, unit),
        _ => (span[..digits].parse().ok()?, span[digits..].trim_start()),
    };
    let (_, unit) = UNITS.iter().find(|(names, _)| names.contains(&unit))?;
    match unit {
        Unit::Ms(ms) => {
            let span = number.checked_mul(*ms).filter(|ms| *ms <= CENTURY_MS)?;
            Some(When::Ago(span))
        }
        Unit::Months(each) => {
            let months = u32::try_from(number).ok()?.checked_mul(*each)?;
            (months <= 1_200).then_some(When::MonthsAgo(months))
        }
    }
}

impl When {
    /// What a field of a search line means: `until` is the end of what is typed, anything else its
    /// beginning.
    pub fn of_field(field: &str, value: &str, now: Time, zone: Zone) -> Result<Time, String> {
        let when: When = value.parse()?;
        Ok(match field {
            "until" => when.end(now, zone),
            _ => when.start(now, zone),
        })
    }

    /// The first moment meant: a day begins at its midnight.
    pub fn start(self, now: Time, zone: Zone) -> Time {
        match self {
            When::Ago(span) => Time(now.0.saturating_sub(span)),
            When::MonthsAgo(months) => {
                let wall = zone.show(now).naive_local();
                let then = wall.checked_sub_months(Months::new(months));
                at_wall(then.unwrap_or(wall), zone)
            }
            When::Calendar(period, back) => midnight(first_of(period, back, now, zone), zone),
            When::Day(day) => midnight(day, zone),
            When::Wall(wall) => at_wall(wall, zone),
            When::At(time) => time,
        }
    }

    /// The first moment after what is meant: a day lasts until the next one's midnight.
    pub fn end(self, now: Time, zone: Zone) -> Time {
        match self {
            When::Calendar(period, back) => {
                let first = first_of(period, back, now, zone);
                midnight(period.next(first).unwrap_or(first), zone)
            }
            When::Day(day) => midnight(day.checked_add_days(Days::new(1)).unwrap_or(day), zone),
            other => other.start(now, zone),
        }
    }
}

fn first_of(period: Period, back: u32, now: Time, zone: Zone) -> NaiveDate {
    let today = zone.show(now).date_naive();
    period.first(today, back).unwrap_or(today)
}

fn midnight(day: NaiveDate, zone: Zone) -> Time {
    at_wall(day.and_time(NaiveTime::MIN), zone)
}

/// Where the clock skips `wall` (summer time begins), the same reading in UTC is near enough.
fn at_wall(wall: NaiveDateTime, zone: Zone) -> Time {
    zone.read(wall)
        .unwrap_or(Time(wall.and_utc().timestamp_millis()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::FixedOffset;

    fn start(text: &str) -> Option<String> {
        let now = Time::parse("2026-04-15T12:00:00Z")?;
        let berlin = Zone::Fixed(FixedOffset::east_opt(7_200)?);
        let when: When = text.parse().ok()?;
        Some(when.start(now, berlin).rfc3339())
    }

    #[test]
    fn people_mean_their_own_clock() {
        for (given, wants) in [
            ("14d", "2026-04-01T12:00:00Z"),
            ("2h", "2026-04-15T10:00:00Z"),
            ("90min", "2026-04-15T10:30:00Z"),
            ("2 hours ago", "2026-04-15T10:00:00Z"),
            ("an hour ago", "2026-04-15T11:00:00Z"),
            ("3 weeks", "2026-03-25T12:00:00Z"),
            ("3 months", "2026-01-15T12:00:00Z"),
            ("1mo", "2026-03-15T12:00:00Z"),
            ("1y", "2025-04-15T12:00:00Z"),
            ("today", "2026-04-14T22:00:00Z"),
            ("Yesterday", "2026-04-13T22:00:00Z"),
            ("last week", "2026-04-05T22:00:00Z"),
            ("this month", "2026-03-31T22:00:00Z"),
            ("last month", "2026-02-28T22:00:00Z"),
            ("last year", "2024-12-31T22:00:00Z"),
            ("2026-04-01", "2026-03-31T22:00:00Z"),
            ("2026-04-01T10:00", "2026-04-01T08:00:00Z"),
            ("2026-04-01 10:00:30", "2026-04-01T08:00:30Z"),
            ("2026-04-01T10:00:00Z", "2026-04-01T10:00:00Z"),
        ] {
            assert_eq!(start(given).as_deref(), Some(wants), "{given}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_examples() {
        for given in [
            "",
            "d",
            "-3d",
            "14",
            "tomorrow",
            "3 fortnights",
            "1 000 d",
            "2026-13-01",
            "99999999999999w",
            "é",
        ] {
            let refused = given.parse::<When>().unwrap_err();
            assert!(refused.contains("2026-04-01"), "{given}: {refused}");
        }
    }

    #[test]
    fn three_m_is_asked_about() {
        let refused = "3m".parse::<When>().unwrap_err();
        assert_eq!(refused, "`3m` is ambiguous: write 3min or 3 months");
        assert_eq!(ambiguous("1m"), Some(["1min".into(), "1 month".into()]));
        for sure in ["3min", "3mo", "m", "3 months", "xm"] {
            assert_eq!(ambiguous(sure), None, "{sure}");
        }
    }

    #[test]
    fn who_is_asked_answers_with_a_number_or_in_full() {
        let of = |before: &str, word: &str, said: &str| {
            without_doubt(before, word, |_| Some(format!("{said}\n")))
        };
        for (before, word, said, wants) in [
            ("--since", "3m", "1", Some("3min")),
            ("--since", "3m", "2", Some("3 months")),
            ("x", "--until=3m", "3 months", Some("--until=3 months")),
            ("x", "since:3m", "2", Some("since:\"3 months\"")),
            ("--since", "3m", "", None),
            ("--since", "3d", "1", None),
            ("--file", "3m", "1", None),
        ] {
            assert_eq!(of(before, word, said).as_deref(), wants, "{before} {word}");
        }
    }

    #[test]
    fn a_week_ends_on_sunday() {
        let now = Time::parse("2026-04-15T12:00:00Z").unwrap();
        let utc = Zone::Fixed(FixedOffset::east_opt(0).unwrap());
        let end = |text: &str| text.parse::<When>().map(|w| w.end(now, utc).rfc3339());
        assert_eq!(end("last week").as_deref(), Ok("2026-04-13T00:00:00Z"));
        assert_eq!(end("yesterday").as_deref(), Ok("2026-04-15T00:00:00Z"));
        assert_eq!(end("last month").as_deref(), Ok("2026-04-01T00:00:00Z"));
    }

    #[test]
    fn a_day_lasts_until_the_next() {
        let utc = Zone::Fixed(FixedOffset::east_opt(0).unwrap());
        let day: When = "2026-04-01".parse().unwrap();
        assert_eq!(day.end(Time(0), utc).rfc3339(), "2026-04-02T00:00:00Z");
        assert_eq!(When::Ago(5).end(Time(9), utc), Time(4));
    }
}
