//! Reads every log again and compares its content with what was read of it. Finds what sizes, times
//! and fingerprints can't: a change in the middle of a log that grew as well (architecture § 6).

use super::diagnosis::{Diagnosis, Severity, counted, first_of};
use crate::host::read::content;
use crate::model::checkpoint::Checkpoint;
use crate::model::source::SourceFile;
use crate::pipeline::steps::ingest::workers::each;
use anyhow::Result;
use std::collections::BTreeMap;

/// Compares all logs with their checkpoints, `jobs` at a time. Reads all of them once.
///
/// # Errors
/// When the workers can't be started. A log that can't be read is another check's diagnosis.
pub fn deep(
    files: &[SourceFile],
    known: &BTreeMap<String, Checkpoint>,
    jobs: usize,
) -> Result<Vec<Diagnosis>> {
    let read: Vec<(&SourceFile, &Checkpoint)> = files
        .iter()
        .filter_map(|file| Some((file, known.get(&*file.key)?)))
        .collect();
    let differing = each(read, jobs, |(file, checkpoint)| {
        let known = checkpoint.fingerprints;
        let (now, _) = content(file, known.content_to).ok()?;
        let same = (now.crc, now.to) == (known.content, known.content_to);
        (!same).then(|| file.path().to_string_lossy().into_owned())
    })?;
    let differing: Vec<String> = differing.into_iter().flatten().collect();
    if differing.is_empty() {
        return Ok(Vec::new());
    }
    let reason = format!(
        "{} changed in a part that was already read: {}",
        counted(differing.len() as u64, "log"),
        first_of(&differing)
    );
    let command = "sessionmill run --rebuild";
    Ok(vec![Diagnosis::new(
        Severity::Warning,
        "log-changed",
        reason,
        command,
    )])
}
