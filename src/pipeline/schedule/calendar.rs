//! Times of the day on some days of the week: what systemd, cron and launchd can all say.

use std::fmt;
use std::str::FromStr;

const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
/// More than one an hour is what `--every` is for.
const TIMES_MAX: usize = 24;
const VALID: &str =
    "write days and times, as in 'Mon..Fri 09:00', 'Sat,Sun 10:00,18:00' or '07:30'";

/// `Mon..Fri 09:00,17:30`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calendar {
    /// From 0, Monday; at least one, in order.
    days: Vec<usize>,
    /// Hours and minutes; at least one, in order.
    times: Vec<(u32, u32)>,
}

impl FromStr for Calendar {
    type Err = String;

    fn from_str(text: &str) -> Result<Calendar, String> {
        let words: Vec<&str> = text.split_whitespace().filter(|w| *w != "*-*-*").collect();
        let (days, times) = match words[..] {
            [times] => (Some((0..7).collect()), times),
            [days, times] => (days_of(days), times),
            _ => return Err(VALID.into()),
        };
        let times: Option<Vec<_>> = times.split(',').map(time_of).collect();
        let (Some(mut days), Some(mut times)) = (days, times) else {
            return Err(VALID.into());
        };
        days.sort_unstable();
        days.dedup();
        times.sort_unstable();
        times.dedup();
        match times.len() <= TIMES_MAX {
            true => Ok(Calendar { days, times }),
            false => Err(format!(
                "at most {TIMES_MAX} times a day; for more, use --every"
            )),
        }
    }
}

fn days_of(text: &str) -> Option<Vec<usize>> {
    let mut days = Vec::new();
    for part in text.split(',') {
        match part.split_once("..") {
            Some((from, to)) => {
                let (from, to) = (day(from)?, day(to)?);
                // over the end of the week where it is meant so: Sat..Mon
                let length = (to + 7 - from) % 7;
                days.extend((0..=length).map(|n| (from + n) % 7));
            }
            None => days.push(day(part)?),
        }
    }
    Some(days)
}

/// A day by its first three letters or its whole name.
fn day(word: &str) -> Option<usize> {
    const ENDS: [&str; 7] = ["day", "sday", "nesday", "rsday", "day", "urday", "day"];
    let word = word.to_ascii_lowercase();
    DAYS.iter().zip(ENDS).position(|(short, end)| {
        let rest = word.strip_prefix(&short.to_ascii_lowercase());
        rest.is_some_and(|rest| rest.is_empty() || rest == end)
    })
}

fn time_of(word: &str) -> Option<(u32, u32)> {
    let (hour, minute) = word.split_once(':')?;
    let minute = minute.strip_suffix(":00").unwrap_or(minute);
    let digits =
        |text: &str| (1..=2).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(hour) || minute.len() != 2 || !digits(minute) {
        return None;
    }
    let (hour, minute) = (hour.parse().ok()?, minute.parse().ok()?);
    (hour < 24 && minute < 60).then_some((hour, minute))
}

impl fmt::Display for Calendar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times: Vec<String> = self
            .times
            .iter()
            .map(|(hour, minute)| format!("{hour:02}:{minute:02}"))
            .collect();
        if self.days.len() < 7 {
            let (first, last) = (self.days[0], self.days[self.days.len() - 1]);
            let is_row = self.days.len() > 2 && last - first + 1 == self.days.len();
            match is_row {
                true => write!(f, "{}..{} ", DAYS[first], DAYS[last])?,
                false => write!(f, "{} ", self.names())?,
            }
        }
        f.write_str(&times.join(","))
    }
}

impl Calendar {
    fn names(&self) -> String {
        let names: Vec<&str> = self.days.iter().map(|day| DAYS[*day]).collect();
        names.join(",")
    }

    /// Values of `OnCalendar=`, one for each time.
    pub fn systemd(&self) -> Vec<String> {
        let days = match self.days.len() {
            7 => String::new(),
            _ => format!("{} ", self.names()),
        };
        let one = |(hour, minute): &(u32, u32)| format!("{days}*-*-* {hour:02}:{minute:02}");
        self.times.iter().map(one).collect()
    }

    /// A crontab's five fields, once for each time.
    pub fn cron(&self) -> Vec<String> {
        let days = match self.days.len() {
            7 => "*".to_owned(),
            _ => {
                let days: Vec<String> = self.days.iter().map(|day| weekday(*day)).collect();
                days.join(",")
            }
        };
        let one = |(hour, minute): &(u32, u32)| format!("{minute} {hour} * * {days}");
        self.times.iter().map(one).collect()
    }

    /// Weekday (`None`: every day), hour and minute of each firing, as launchd wants them.
    pub fn launchd(&self) -> Vec<(Option<String>, u32, u32)> {
        let days: Vec<Option<String>> = match self.days.len() {
            7 => vec![None],
            _ => self.days.iter().map(|day| Some(weekday(*day))).collect(),
        };
        let at = |(hour, minute): &(u32, u32)| {
            let (hour, minute) = (*hour, *minute);
            days.iter()
                .cloned()
                .map(move |day| (day, hour, minute))
                .collect::<Vec<_>>()
        };
        self.times.iter().flat_map(at).collect()
    }

    /// Whether it fires in this minute of the week; days from 0, Monday.
    pub fn fires(&self, day: u32, hour: u32, minute: u32) -> bool {
        let is_day = self.days.contains(&(day as usize));
        is_day && self.times.contains(&(hour, minute))
    }

    /// The longest time between two firings, in seconds.
    pub fn longest_gap(&self) -> u64 {
        const WEEK: u64 = 7 * 24 * 60;
        let minutes = |day: &usize| {
            let day = *day as u64 * 24 * 60;
            let times = self.times.iter();
            times.map(move |(hour, minute)| day + u64::from(hour * 60 + minute))
        };
        let all: Vec<u64> = self.days.iter().flat_map(minutes).collect();
        let next = all.iter().skip(1).copied().chain([all[0] + WEEK]);
        let gaps = all.iter().zip(next).map(|(one, next)| next - one);
        gaps.max().unwrap_or(WEEK) * 60
    }
}

/// Cron and launchd count from Sunday, 0.
fn weekday(day: usize) -> String {
    ((day + 1) % 7).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_is_said_in_three_tongues() {
        let week: Calendar = "Mon..Fri 09:00".parse().unwrap();
        assert_eq!(week.systemd(), ["Mon,Tue,Wed,Thu,Fri *-*-* 09:00"]);
        assert_eq!(week.cron(), ["0 9 * * 1,2,3,4,5"]);
        assert_eq!(week.launchd()[4], (Some("5".into()), 9, 0));
        assert_eq!(week.longest_gap(), 72 * 3_600);
        let daily: Calendar = "*-*-* 7:30,19:05:00".parse().unwrap();
        assert_eq!(daily.systemd(), ["*-*-* 07:30", "*-*-* 19:05"]);
        assert_eq!(daily.cron(), ["30 7 * * *", "5 19 * * *"]);
        assert_eq!(daily.launchd(), [(None, 7, 30), (None, 19, 5)]);
    }

    #[test]
    fn it_is_written_so_that_it_can_be_read_again() {
        for (given, written) in [
            ("monday..wed,Thursday 9:00", "Mon..Thu 09:00"),
            ("Sun,Sat 10:00,09:00", "Sat,Sun 09:00,10:00"),
            ("Sat..Mon 23:59", "Mon,Sat,Sun 23:59"),
            ("Sun..Sat 00:00", "00:00"),
        ] {
            let read: Calendar = given.parse().unwrap();
            assert_eq!(read.to_string(), written);
            assert_eq!(written.parse(), Ok(read));
        }
    }

    #[test]
    fn what_no_timer_can_do_is_refused() {
        for given in [
            "",
            "Mon",
            "9",
            "24:00",
            "12:60",
            "12:5",
            "Mon 9:00 10:00",
            "Montag 9:00",
            "Mon...Fri 9:00",
            "9:00,",
            "2026-01-01 09:00",
            "-1:00",
            "+1:00",
            "*:0/15",
        ] {
            assert!(given.parse::<Calendar>().is_err(), "{given}");
        }
    }
}
