//! How long an agent worked, counted step by step and added up.

use super::time::Time;
use serde::{Deserialize, Serialize};

/// How long an agent worked. Adding is associative and commutative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkTime {
    /// By the times of its log; negative where a part takes back what one before it counted.
    pub ms: i64,
    /// Of these, in which it may as well have waited for somebody.
    #[serde(skip_serializing_if = "is_zero")]
    pub unsure_ms: i64,
}

/// Of the time at work, the part that may be unsure where it is told all the same.
const UNSURE_SHARE_MAX: i64 = 10;

impl WorkTime {
    /// With another one.
    pub fn plus(self, other: WorkTime) -> WorkTime {
        WorkTime {
            ms: self.ms.saturating_add(other.ms),
            unsure_ms: self.unsure_ms.saturating_add(other.unsure_ms),
        }
    }

    /// Without another one.
    pub fn minus(self, other: WorkTime) -> WorkTime {
        WorkTime {
            ms: self.ms.saturating_sub(other.ms),
            unsure_ms: self.unsure_ms.saturating_sub(other.unsure_ms),
        }
    }

    /// Milliseconds, where at most a tenth of them is unsure.
    pub fn told(self) -> Option<u64> {
        let unsure = self.unsure_ms.saturating_mul(UNSURE_SHARE_MAX);
        (unsure <= self.ms).then(|| self.ms.max(0) as u64)
    }
}

/// Where the time of a stream's current turn stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TurnClock {
    /// At work since the prompt.
    pub worked: WorkTime,
    /// The latest time in it so far.
    pub until: Option<Time>,
    /// The agent is at it: it was asked, or called something, and has said nothing since.
    #[serde(skip_serializing_if = "is_no")]
    pub is_busy: bool,
}

impl TurnClock {
    /// Nothing was told yet.
    pub fn is_new(&self) -> bool {
        *self == TurnClock::default()
    }
}

fn is_no(flag: &bool) -> bool {
    !flag
}

fn is_zero(n: &i64) -> bool {
    *n == 0
}
