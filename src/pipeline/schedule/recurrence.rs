//! When a timer fires: at an interval, or at times of the week.

use super::calendar::Calendar;
use super::every::Every;
use crate::model::time::Time;
use crate::model::zone::Zone;
use chrono::{Datelike, Timelike};
use std::fmt;

/// Where a timer's text says it in our words.
const MARK: &str = "when: ";
const MINUTE_MS: i64 = 60_000;
/// Eight days: no timer waits longer.
const MINUTES_MAX: i64 = 8 * 24 * 60;

/// When a timer fires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recurrence {
    /// At an interval.
    Every(Every),
    /// At times of the week.
    At(Calendar),
}

impl fmt::Display for Recurrence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Recurrence::Every(every) => write!(f, "every {every}"),
            Recurrence::At(calendar) => write!(f, "{calendar}"),
        }
    }
}

impl Recurrence {
    /// Of an installed timer or crontab block.
    pub fn installed_in(text: &str) -> Option<Recurrence> {
        let told = text.lines().find_map(|line| line.split_once(MARK));
        if let Some((_, told)) = told {
            let told = told.trim_end_matches("-->").trim();
            return Some(match told.strip_prefix("every ") {
                Some(every) => Recurrence::Every(every.parse().ok()?),
                None => Recurrence::At(told.parse().ok()?),
            });
        }
        Every::installed_in(text).map(Recurrence::Every)
    }

    /// What a timer's text says so that [`Recurrence::installed_in`] reads it.
    pub fn mark(&self) -> String {
        format!("{MARK}{self}")
    }

    /// Values of `OnCalendar=`.
    pub fn systemd(&self) -> Vec<String> {
        match self {
            Recurrence::Every(every) => vec![every.calendar()],
            Recurrence::At(calendar) => calendar.systemd(),
        }
    }

    /// A crontab's five fields, once for each line.
    pub fn cron(&self) -> Vec<String> {
        match self {
            Recurrence::Every(every) => vec![every.cron()],
            Recurrence::At(calendar) => calendar.cron(),
        }
    }

    /// The longest time between two firings, in seconds.
    pub fn seconds(&self) -> u64 {
        match self {
            Recurrence::Every(every) => every.seconds(),
            Recurrence::At(calendar) => calendar.longest_gap(),
        }
    }

    /// When it fires next after `now`, by the clock on the wall.
    pub fn next(&self, now: Time, zone: Zone) -> Option<Time> {
        let minute = now.0.div_euclid(MINUTE_MS);
        let later = (1..=MINUTES_MAX).map(|n| Time((minute + n) * MINUTE_MS));
        later.into_iter().find(|time| {
            let wall = zone.show(*time);
            let (hour, minute) = (wall.hour(), wall.minute());
            match self {
                Recurrence::Every(every) => every.fires(hour, minute),
                Recurrence::At(calendar) => {
                    calendar.fires(wall.weekday().num_days_from_monday(), hour, minute)
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::FixedOffset;

    #[test]
    fn the_next_firing_is_later_and_by_the_wall() {
        let zone = Zone::Fixed(FixedOffset::east_opt(2 * 3_600).unwrap());
        // Friday, 2026-04-03, 10:00:30 in that zone
        let now = Time(1_775_203_230_000);
        for (recurrence, next) in [
            (
                Recurrence::Every("15m".parse().unwrap()),
                "2026-04-03T10:15",
            ),
            (Recurrence::Every("6h".parse().unwrap()), "2026-04-03T12:00"),
            (Recurrence::Every("1d".parse().unwrap()), "2026-04-04T03:00"),
            (
                Recurrence::At("Mon..Fri 09:00".parse().unwrap()),
                "2026-04-06T09:00",
            ),
            (
                Recurrence::At("Fri 10:01".parse().unwrap()),
                "2026-04-03T10:01",
            ),
            (
                Recurrence::At("Fri 10:00".parse().unwrap()),
                "2026-04-10T10:00",
            ),
        ] {
            let at = recurrence.next(now, zone).unwrap();
            assert_eq!(zone.show(at).format("%Y-%m-%dT%H:%M").to_string(), next);
        }
    }

    #[test]
    fn what_is_installed_is_recognised() {
        for recurrence in [
            Recurrence::At("Sat 10:00".parse().unwrap()),
            Recurrence::Every("6h".parse().unwrap()),
        ] {
            let unit = format!("# {}\nOnCalendar=…\n", recurrence.mark());
            assert_eq!(Recurrence::installed_in(&unit), Some(recurrence.clone()));
            let plist = format!("<!-- {} -->\n", recurrence.mark());
            assert_eq!(Recurrence::installed_in(&plist), Some(recurrence));
        }
    }
}
