//! What a provider billed for a request, or for many.

use serde::{Deserialize, Serialize};

/// Tokens as the provider billed them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Fresh input.
    pub input: u64,
    /// Output; a lower bound in logs of old versions (formats § 3).
    pub output: u64,
    /// Input read from the cache.
    pub cache_read: u64,
    /// Input written to the cache.
    pub cache_write: u64,
    /// Of [`Usage::cache_write`], what stays there for an hour instead of five minutes.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_write_1h: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Usage {
    /// Field by field.
    #[must_use]
    pub fn max(self, other: Usage) -> Usage {
        self.zip(other, u64::max)
    }

    /// Field by field.
    #[must_use]
    pub fn plus(self, other: Usage) -> Usage {
        self.zip(other, u64::saturating_add)
    }

    /// Field by field, not below 0.
    #[must_use]
    pub fn minus(self, other: Usage) -> Usage {
        self.zip(other, u64::saturating_sub)
    }

    /// All of them together.
    #[must_use]
    pub fn total(self) -> u64 {
        let parts = [self.input, self.output, self.cache_read, self.cache_write];
        parts.into_iter().fold(0, u64::saturating_add)
    }

    fn zip(self, other: Usage, f: impl Fn(u64, u64) -> u64) -> Usage {
        Usage {
            input: f(self.input, other.input),
            output: f(self.output, other.output),
            cache_read: f(self.cache_read, other.cache_read),
            cache_write: f(self.cache_write, other.cache_write),
            cache_write_1h: f(self.cache_write_1h, other.cache_write_1h),
        }
    }
}
