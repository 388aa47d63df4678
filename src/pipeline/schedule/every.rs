//! How often a timer fires, in the two spellings that machines want. Only spans that divide the
//! hour or the day: cron can't say anything else, and systemd would drift.

use crate::model::error::Error;
use std::fmt;
use std::str::FromStr;

/// A span that divides the hour or the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// A divisor of 60, below it.
    Minutes(u32),
    /// A divisor of 24, below it.
    Hours(u32),
    /// Once, in the small hours.
    Day,
}

impl FromStr for Every {
    type Err = String;

    fn from_str(text: &str) -> Result<Every, String> {
        let minutes = text.strip_suffix("min").or_else(|| text.strip_suffix('m'));
        let span = minutes.map(|n| (n, 60));
        let span = span.or_else(|| text.strip_suffix('h').map(|n| (n, 24)));
        let parsed = span.and_then(|(n, whole)| Some((n.parse::<u32>().ok()?, whole)));
        match (text, parsed) {
            ("1d" | "24h", _) => Ok(Every::Day),
            ("60m", _) => Ok(Every::Hours(1)),
            (_, Some((n, 60))) if n > 0 && n < 60 && 60 % n == 0 => Ok(Every::Minutes(n)),
            (_, Some((n, 24))) if n > 0 && n < 24 && 24 % n == 0 => Ok(Every::Hours(n)),
            _ => Err(VALID.into()),
        }
    }
}

impl fmt::Display for Every {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Every::Minutes(n) => write!(f, "{n}m"),
            Every::Hours(n) => write!(f, "{n}h"),
            Every::Day => f.write_str("1d"),
        }
    }
}

const VALID: &str = "write a divisor of the hour or of the day: 5m, 15m, 30m, 1h, 6h, 1d";

impl Every {
    /// The settings' `schedule.interval`. An interval that no timer can keep is an error.
    pub fn of_seconds(seconds: u64) -> Result<Every, Error> {
        let text = match (seconds % 60, seconds % 3_600) {
            (_, 0) => format!("{}h", seconds / 3_600),
            (0, _) => format!("{}m", seconds / 60),
            _ => format!("{seconds}s"),
        };
        let refused = |_| Error::usage(format!("`schedule.interval` is {text}")).hinted(VALID);
        text.parse().map_err(refused)
    }

    /// Every span that there is.
    fn all() -> impl Iterator<Item = Every> {
        let minutes = (1..60).filter(|n| 60 % n == 0).map(Every::Minutes);
        let hours = (1..24).filter(|n| 24 % n == 0).map(Every::Hours);
        minutes.chain(hours).chain([Every::Day])
    }

    /// The span that an installed timer or crontab block has.
    pub fn installed_in(text: &str) -> Option<Every> {
        let has = |every: &Every| {
            let (calendar, cron) = (format!("OnCalendar={}", every.calendar()), every.cron());
            text.lines()
                .any(|line| line == calendar || line.starts_with(&format!("{cron} ")))
        };
        Every::all().find(has)
    }

    /// Its length.
    pub fn seconds(self) -> u64 {
        match self {
            Every::Minutes(n) => u64::from(n) * 60,
            Every::Hours(n) => u64::from(n) * 3_600,
            Every::Day => 86_400,
        }
    }

    /// Whether it fires in this minute of a day.
    pub fn fires(self, hour: u32, minute: u32) -> bool {
        match self {
            Every::Minutes(n) => minute.is_multiple_of(n),
            Every::Hours(n) => minute == 0 && hour.is_multiple_of(n),
            Every::Day => (hour, minute) == (3, 0),
        }
    }

    /// As `OnCalendar=` wants it.
    pub fn calendar(self) -> String {
        match self {
            Every::Minutes(n) => format!("*:0/{n}"),
            Every::Hours(n) => format!("*-*-* 0/{n}:00"),
            Every::Day => "*-*-* 03:00".into(),
        }
    }

    /// As a crontab's five fields.
    pub fn cron(self) -> String {
        match self {
            Every::Minutes(1) => "* * * * *".into(),
            Every::Minutes(n) => format!("*/{n} * * * *"),
            Every::Hours(1) => "0 * * * *".into(),
            Every::Hours(n) => format!("0 */{n} * * *"),
            Every::Day => "0 3 * * *".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_installed_is_recognised() {
        for every in Every::all() {
            let timer = format!(
                "[Timer]\nOnCalendar={}\nPersistent=true\n",
                every.calendar()
            );
            assert_eq!(Every::installed_in(&timer), Some(every));
            let block = format!("# sessionmill: begin\n{} nice run\n", every.cron());
            assert_eq!(Every::installed_in(&block), Some(every));
        }
        assert_eq!(Every::installed_in("* * * 1 1 other"), None);
    }

    #[test]
    fn what_divides_is_said_in_both_tongues() {
        for (given, calendar, cron) in [
            ("1m", "*:0/1", "* * * * *"),
            ("15m", "*:0/15", "*/15 * * * *"),
            ("15min", "*:0/15", "*/15 * * * *"),
            ("60m", "*-*-* 0/1:00", "0 * * * *"),
            ("6h", "*-*-* 0/6:00", "0 */6 * * *"),
            ("24h", "*-*-* 03:00", "0 3 * * *"),
        ] {
            let every: Every = given.parse().unwrap();
            assert_eq!(
                (every.calendar().as_str(), every.cron().as_str()),
                (calendar, cron)
            );
        }
    }

    #[test]
    fn what_does_not_divide_is_refused() {
        for given in ["7m", "0m", "5h", "90m", "2d", "15", "m", "-15m", ""] {
            assert!(given.parse::<Every>().is_err(), "{given}");
        }
        assert!(Every::of_seconds(7 * 60).is_err());
        assert_eq!(Every::of_seconds(900), Ok(Every::Minutes(15)));
        assert_eq!(Every::of_seconds(86_400), Ok(Every::Day));
    }
}
