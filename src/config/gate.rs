//! May anything be read? Knows the one setting that decides, and the words of consent.

use super::meant::Config;

/// What a person confirms when tracking is switched on (001-009, D22).
pub const CONSENT_TEXT: &str = "I understand this tracks conversation logs";

/// Whether logs may be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// They may.
    pub enabled: bool,
    /// The setting that says so, and where it stands.
    pub reason: String,
}

/// Whether logs may be read, and why. Pure.
pub fn gate(config: &Config) -> Gate {
    Gate {
        enabled: config.enabled,
        reason: format!(
            "session_tracking.enabled is {} ({})",
            config.enabled, config.enabled_by
        ),
    }
}
