//! May anything be read, may anything be sent to graphs? Knows the settings that decide, and the words
//! of consent.

use super::resolved::{Config, Memory};
use crate::model::error::Error;

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

/// Whether something may be sent to graphs, from a place that an agent was told not to trust where
/// `untrusted` names it: enabled, then trust, then consent. Consent to the endpoint comes after.
///
/// # Errors
/// Of usage: the first setting that stands in the way.
pub fn graphs(memory: &Memory, untrusted: Option<&str>) -> Result<(), Error> {
    if !memory.enabled {
        return Err(Error::usage("graphs are off: graphiti.enabled is false").hinted(SWITCH_ON));
    }
    if let Some(project) = untrusted {
        let message = format!("{project} is not trusted: you told an agent not to trust it");
        return Err(Error::usage(message).hinted("add --allow-untrusted to the command"));
    }
    if !memory.consent {
        let message = "session text is not sent to graphs: graphiti.consent is false";
        return Err(Error::usage(message).hinted(SWITCH_ON));
    }
    Ok(())
}

const SWITCH_ON: &str =
    "sessionmill config set graphiti.enabled true && sessionmill config set graphiti.consent true";
