//! When `watch` runs: after a change, when it is quiet again; and now and then without one. Pure; times
//! are milliseconds on anybody's clock.

/// When the next run is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pace {
    /// How long it has to be quiet after a change.
    quiet_ms: u64,
    /// From the first change on: at most so long, where it is never quiet.
    longest_ms: u64,
    /// From one run to the next, whatever was heard: at most so long.
    interval_ms: u64,
    /// The last run.
    ran: u64,
    /// The first and the last change since then.
    changed: Option<(u64, u64)>,
}

impl Pace {
    /// A run ended just now.
    pub fn new(quiet_ms: u64, longest_ms: u64, interval_ms: u64, now: u64) -> Pace {
        Pace {
            quiet_ms,
            longest_ms: longest_ms.max(quiet_ms),
            interval_ms: interval_ms.max(quiet_ms),
            ran: now,
            changed: None,
        }
    }

    /// From now on at another pace; what was heard stays heard.
    pub fn adjust(&mut self, other: Pace) {
        (self.quiet_ms, self.longest_ms) = (other.quiet_ms, other.longest_ms);
        self.interval_ms = other.interval_ms;
    }

    /// Something changed.
    pub fn heard(&mut self, now: u64) {
        let first = self.changed.map_or(now, |(first, _)| first);
        self.changed = Some((first, now));
    }

    /// A run ended.
    pub fn ran(&mut self, now: u64) {
        (self.ran, self.changed) = (now, None);
    }

    /// Milliseconds until a run is due; 0: now.
    pub fn wait(&self, now: u64) -> u64 {
        let regular = self.ran + self.interval_ms;
        let due = match self.changed {
            Some((first, last)) => {
                let due = (last + self.quiet_ms).min(first + self.longest_ms);
                regular.min(due)
            }
            None => regular,
        };
        due.saturating_sub(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_follows_when_it_is_quiet() {
        let mut pace = Pace::new(2_000, 90_000, 60_000, 0);
        assert_eq!(pace.wait(0), 60_000);
        pace.heard(1_000);
        assert_eq!(pace.wait(1_000), 2_000);
        pace.heard(2_500);
        assert_eq!(pace.wait(2_500), 2_000, "not quiet yet");
        assert_eq!(pace.wait(4_500), 0);
        pace.ran(5_000);
        assert_eq!(pace.wait(5_000), 60_000);
        pace.heard(6_000);
        pace.adjust(Pace::new(500, 90_000, 60_000, 0));
        assert_eq!(pace.wait(6_000), 500);
    }

    #[test]
    fn who_never_is_quiet_is_not_waited_for() {
        let mut pace = Pace::new(2_000, 90_000, 60_000, 0);
        for at in (0..60_000).step_by(1_000) {
            pace.heard(at);
        }
        assert_eq!(pace.wait(59_500), 500);
        assert_eq!(pace.wait(60_000), 0);
    }

    #[test]
    fn a_busy_agents_words_are_read_after_the_longest_wait() {
        let mut pace = Pace::new(2_000, 10_000, 60_000, 0);
        for at in (3_000..13_000).step_by(500) {
            pace.heard(at);
            assert!(pace.wait(at) > 0, "{at}");
        }
        assert_eq!(pace.wait(13_000), 0);
        pace.ran(13_200);
        pace.heard(13_500);
        assert_eq!(pace.wait(13_500), 2_000, "counted anew");
    }

    #[test]
    fn an_interval_that_is_shorter_than_the_quiet_time_is_none() {
        let pace = Pace::new(2_000, 10_000, 1_000, 0);
        assert_eq!(pace.wait(0), 2_000);
    }
}
