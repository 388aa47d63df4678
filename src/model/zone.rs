//! The time zone in which people read times.

use super::time::Time;
use chrono::{DateTime, FixedOffset, Local, NaiveDateTime, TimeZone};

/// In which zone people read times.
#[derive(Clone, Copy, Debug)]
pub enum Zone {
    /// The machine's, with its changes over the year.
    Local,
    /// Always the same; tests use it.
    Fixed(FixedOffset),
}

impl Zone {
    /// `time` as a clock on the wall shows it.
    pub fn show(self, time: Time) -> DateTime<FixedOffset> {
        match self {
            Zone::Local => time.utc().with_timezone(&Local).fixed_offset(),
            Zone::Fixed(offset) => time.utc().with_timezone(&offset),
        }
    }

    /// The time at which a clock on the wall shows `wall`; the earlier one where it is shown twice,
    /// `None` where the clock skips it.
    pub fn read(self, wall: NaiveDateTime) -> Option<Time> {
        let millis = match self {
            Zone::Local => Local
                .from_local_datetime(&wall)
                .earliest()?
                .timestamp_millis(),
            Zone::Fixed(offset) => offset
                .from_local_datetime(&wall)
                .earliest()?
                .timestamp_millis(),
        };
        Some(Time(millis))
    }
}
