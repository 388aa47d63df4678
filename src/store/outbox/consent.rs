//! What a person agreed to, word for word, and which projects are tracked. Knows what was said and
//! when.

use crate::model::consent::{Consent, Endpoint, Permit};
use crate::model::time::Time;
use crate::store::error::failed;
use crate::store::{Result, Store};
use rusqlite::params;

/// Tracking switched on or off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// The project's root; `None`: everywhere.
    pub project: Option<String>,
    /// On or off.
    pub tracked: bool,
    /// When.
    pub at: Time,
}

impl Store {
    /// Adds a consent, or that it is taken back. Earlier ones stay: they are a record. One row in a
    /// transaction of its own, so that it may be written while a run is going.
    pub fn record_consent(&mut self, consent: &Consent) -> Result<()> {
        self.writable()?;
        self.dirty = true;
        self.db
            .execute(
                "INSERT INTO consent (scope, given, text, version, at) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![
                    consent.scope,
                    consent.given,
                    consent.text,
                    consent.version,
                    consent.at.0
                ],
            )
            .map(|_| ())
            .map_err(failed("storing a consent"))
    }

    /// All consents in the order in which they were given.
    pub fn consents(&self) -> Result<Vec<Consent>> {
        let read = || -> rusqlite::Result<Vec<Consent>> {
            self.db
                .prepare("SELECT scope, given, text, version, at FROM consent ORDER BY n")?
                .query_map([], |row| {
                    Ok(Consent {
                        scope: row.get(0)?,
                        given: row.get(1)?,
                        text: row.get(2)?,
                        version: row.get(3)?,
                        at: Time(row.get(4)?),
                    })
                })?
                .collect()
        };
        read().map_err(failed("reading consents"))
    }

    /// The permit to connect to `endpoint`, as the consents are now.
    ///
    /// # Errors
    /// `Usage` with the command to type, where there is no consent to this very endpoint.
    pub fn permit(&self, endpoint: &Endpoint) -> Result<Permit> {
        Permit::of(endpoint, &self.consents()?)
    }

    /// Switches tracking; the last word for a project, or for everywhere, counts.
    pub fn set_switch(&mut self, switch: &Switch) -> Result<()> {
        self.writable()?;
        self.dirty = true;
        let project = switch.project.as_deref().unwrap_or_default();
        self.db
            .execute(
                "INSERT INTO switch (project, tracked, at) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO UPDATE SET (tracked, at) = (excluded.tracked, excluded.at)",
                params![project, switch.tracked, switch.at.0],
            )
            .map(|_| ())
            .map_err(failed("storing a switch"))
    }

    /// All switches: everywhere first, then by project.
    pub fn switches(&self) -> Result<Vec<Switch>> {
        let read = || -> rusqlite::Result<Vec<Switch>> {
            self.db
                .prepare("SELECT project, tracked, at FROM switch ORDER BY project")?
                .query_map([], |row| {
                    let project: String = row.get(0)?;
                    Ok(Switch {
                        project: Some(project).filter(|p| !p.is_empty()),
                        tracked: row.get(1)?,
                        at: Time(row.get(2)?),
                    })
                })?
                .collect()
        };
        read().map_err(failed("reading switches"))
    }
}
