//! Points in time as the logs give them. Knows UTC milliseconds, but not what time it is now.

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch, UTC. Everything stored is in this unit.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Time(pub i64);

impl Time {
    /// Reads RFC 3339 (`2026-05-31T19:14:19.157Z`, any offset). `None` when it is not one.
    ///
    /// The common shape is read by hand (about 10 ns); everything else goes through chrono.
    pub fn parse(text: &str) -> Option<Time> {
        parse_common(text.as_bytes()).or_else(|| {
            DateTime::parse_from_rfc3339(text)
                .ok()
                .map(|t| Time(t.timestamp_millis()))
        })
    }

    /// `2026-05-31T19:14:19Z`: RFC 3339 in UTC, whole seconds, as the frontmatter wants it (D16).
    pub fn rfc3339(self) -> String {
        self.utc().to_rfc3339_opts(SecondsFormat::Secs, true)
    }

    /// The same with milliseconds, as machine output and the store dump want it.
    pub fn rfc3339_millis(self) -> String {
        self.utc().to_rfc3339_opts(SecondsFormat::Millis, true)
    }

    /// As chrono's type; times out of its range become the epoch.
    pub fn utc(self) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(self.0).unwrap_or(DateTime::UNIX_EPOCH)
    }
}

/// `YYYY-MM-DDTHH:MM:SS[.mmm]Z` and nothing else.
fn parse_common(b: &[u8]) -> Option<Time> {
    let millis = match b.len() {
        20 => 0,
        24 if b[19] == b'.' => number(&b[20..23])?,
        _ => return None,
    };
    let shape = b[4] == b'-' && b[7] == b'-' && b[10] == b'T' && b[13] == b':' && b[16] == b':';
    if !shape || b[b.len() - 1] != b'Z' {
        return None;
    }
    let (year, month, day) = (number(&b[0..4])?, number(&b[5..7])?, number(&b[8..10])?);
    let (hour, minute, second) = (
        number(&b[11..13])?,
        number(&b[14..16])?,
        number(&b[17..19])?,
    );
    let plausible = (1..=12).contains(&month) && (1..=31).contains(&day);
    if !plausible || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let seconds = days_from_civil(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    Some(Time(seconds * 1_000 + millis))
}

fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0i64, |n, d| {
        d.is_ascii_digit().then(|| n * 10 + i64::from(d - b'0'))
    })
}

/// Days since 1970-01-01 of a proleptic Gregorian date (Howard Hinnant's `days_from_civil`).
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let yoe = y - era * 400;
    let doy = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    era * 146_097 + doe - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fast_path_agrees_with_chrono() {
        for text in [
            "2026-05-31T19:14:19.157Z",
            "2024-02-29T23:59:59.999Z",
            "1970-01-01T00:00:00Z",
            "2000-12-31T00:00:00.001Z",
        ] {
            let slow = DateTime::parse_from_rfc3339(text)
                .unwrap()
                .timestamp_millis();
            assert_eq!(parse_common(text.as_bytes()), Some(Time(slow)), "{text}");
        }
    }

    #[test]
    fn offsets_and_nonsense() {
        assert_eq!(Time::parse("1970-01-01T01:00:00+01:00"), Some(Time(0)));
        assert_eq!(Time::parse("yesterday"), None);
        assert_eq!(Time::parse("2026-13-01T00:00:00Z"), None);
    }
}
