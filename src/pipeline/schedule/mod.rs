//! Timers that run a pipeline: systemd's units, launchd's agent or a block in the crontab. Each of them
//! knows its own files.

pub mod calendar;
pub mod cron;
pub mod every;
pub mod job;
pub mod launchd;
pub mod recurrence;
pub mod runs;
pub mod systemd;

use anyhow::Result;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The units and the crontab block of ours that are there.
///
/// # Errors
/// When cron can't be asked.
pub fn installed(vars: &BTreeMap<String, String>) -> Result<Vec<(PathBuf, String)>> {
    let mut files = systemd::installed(vars);
    files.extend(launchd::installed(vars));
    if let Some(block) = cron::installed(vars)? {
        files.push(("crontab".into(), block));
    }
    Ok(files)
}
