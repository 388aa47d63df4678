//! Points in time as people type them: `14d`, `2h`, `2026-04-01`, `2026-04-01T10:00`, RFC 3339.

use crate::model::time::Time;
use crate::model::zone::Zone;
use chrono::{Days, NaiveDate, NaiveDateTime, NaiveTime};
use std::str::FromStr;

/// A point in time before the clock and the zone are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// So many milliseconds before now.
    Ago(i64),
    /// A day of the wall's calendar.
    Day(NaiveDate),
    /// A time of the wall's clock.
    Wall(NaiveDateTime),
    /// A time anywhere.
    At(Time),
}

impl FromStr for When {
    type Err = String;

    fn from_str(text: &str) -> Result<When, String> {
        let text = text.trim();
        if let Some(span) = span_ms(text) {
            return Ok(When::Ago(span));
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
        Time::parse(text).map(When::At).ok_or_else(|| {
            format!("`{text}` is no time: write 14d, 2h, 2026-04-01 or 2026-04-01T10:00")
        })
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
            When::Day(day) => midnight(day, zone),
            When::Wall(wall) => at_wall(wall, zone),
            When::At(time) => time,
        }
    }

    /// The first moment after what is meant: a day lasts until the next one's midnight.
    pub fn end(self, now: Time, zone: Zone) -> Time {
        match self {
            When::Day(day) => midnight(day.checked_add_days(Days::new(1)).unwrap_or(day), zone),
            other => other.start(now, zone),
        }
    }
}

fn midnight(day: NaiveDate, zone: Zone) -> Time {
    at_wall(day.and_time(NaiveTime::MIN), zone)
}

/// Where the clock skips `wall` (summer time begins), the same reading in UTC is near enough.
fn at_wall(wall: NaiveDateTime, zone: Zone) -> Time {
    zone.read(wall)
        .unwrap_or(Time(wall.and_utc().timestamp_millis()))
}

/// `30s`, `15m`, `2h`, `14d`, `3w` in milliseconds. `m` is minutes: nobody asks for months in
/// numbers of them. `None`: not a span, or beyond 100 years.
pub fn span_ms(text: &str) -> Option<i64> {
    let unit = text.chars().last().filter(char::is_ascii_alphabetic)?;
    let number: i64 = text[..text.len() - 1].parse().ok().filter(|n| *n >= 0)?;
    let unit_ms: i64 = match unit {
        's' => 1_000,
        'm' => 60_000,
        'h' => 3_600_000,
        'd' => 86_400_000,
        'w' => 7 * 86_400_000,
        _ => return None,
    };
    let century_ms = 36_525 * 86_400_000;
    number.checked_mul(unit_ms).filter(|ms| *ms <= century_ms)
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
            ("90m", "2026-04-15T10:30:00Z"),
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
            "14y",
            "yesterday",
            "2026-13-01",
            "99999999999999w",
            "é",
        ] {
            let refused = given.parse::<When>().unwrap_err();
            assert!(refused.contains("2026-04-01"), "{given}: {refused}");
        }
    }

    #[test]
    fn a_day_lasts_until_the_next() {
        let utc = Zone::Fixed(FixedOffset::east_opt(0).unwrap());
        let day: When = "2026-04-01".parse().unwrap();
        assert_eq!(day.end(Time(0), utc).rfc3339(), "2026-04-02T00:00:00Z");
        assert_eq!(When::Ago(5).end(Time(9), utc), Time(4));
    }
}
