//! When `watch` runs: after a change, when it is quiet again; and now and then without one. Pure; times
//! are milliseconds on anybody's clock.

/// When the next run is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pace {
    /// How long it has to be quiet after a change.
    quiet_ms: u64,
    /// From one run to the next, whatever was heard: at most so long.
    interval_ms: u64,
    /// The last run.
    ran: u64,
    /// The last change since then.
    changed: Option<u64>,
}

impl Pace {
    /// A run ended just now.
    pub fn new(quiet_ms: u64, interval_ms: u64, now: u64) -> Pace {
        Pace {
            quiet_ms,
            interval_ms: interval_ms.max(quiet_ms),
            ran: now,
            changed: None,
        }
    }

    /// From now on at another pace; what was heard stays heard.
    pub fn adjust(&mut self, other: Pace) {
        (self.quiet_ms, self.interval_ms) = (other.quiet_ms, other.interval_ms);
    }

    /// Something changed.
    pub fn heard(&mut self, now: u64) {
        self.changed = Some(now);
    }

    /// A run ended.
    pub fn ran(&mut self, now: u64) {
        (self.ran, self.changed) = (now, None);
    }

    /// Milliseconds until a run is due; 0: now.
    pub fn wait(&self, now: u64) -> u64 {
        let regular = self.ran + self.interval_ms;
        let due = match self.changed {
            Some(at) => regular.min(at + self.quiet_ms),
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
        let mut pace = Pace::new(2_000, 60_000, 0);
        assert_eq!(pace.wait(0), 60_000);
        pace.heard(1_000);
        assert_eq!(pace.wait(1_000), 2_000);
        pace.heard(2_500);
        assert_eq!(pace.wait(2_500), 2_000, "not quiet yet");
        assert_eq!(pace.wait(4_500), 0);
        pace.ran(5_000);
        assert_eq!(pace.wait(5_000), 60_000);
        pace.heard(6_000);
        pace.adjust(Pace::new(500, 60_000, 0));
        assert_eq!(pace.wait(6_000), 500);
    }

    #[test]
    fn who_never_is_quiet_is_not_waited_for() {
        let mut pace = Pace::new(2_000, 60_000, 0);
        for at in (0..60_000).step_by(1_000) {
            pace.heard(at);
        }
        assert_eq!(pace.wait(59_500), 500);
        assert_eq!(pace.wait(60_000), 0);
    }

    #[test]
    fn an_interval_that_is_shorter_than_the_quiet_time_is_none() {
        let pace = Pace::new(2_000, 1_000, 0);
        assert_eq!(pace.wait(0), 2_000);
    }
}
