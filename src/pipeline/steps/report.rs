//! The step `report`: what the steps did, as values and in one line each; and a line in the log of runs.

use super::enrich::EnrichReport;
use super::ingest::report::IngestReport;
use super::promote::PromoteReport;
use super::upload::report::SinkReport;
use super::{track, upload};
use crate::model::human::{bytes, count, duration_ms, plural};
use crate::model::ledger::Fate;
use crate::model::zone::Zone;
use crate::pipeline::active_run::Run;
use crate::pipeline::alarms::Alarm;
use crate::pipeline::run_log;
use crate::pipeline::sweep::Sweep;
use crate::tracking::TrackReport;
use anyhow::Result;

/// What the steps of a run did.
#[derive(Default)]
pub struct RunReport {
    /// Logs that were read.
    pub ingested: IngestReport,
    /// Logs that the last complete run left out for their age: it said so.
    pub outside_before: u64,
    /// When reading was done, after the program's start.
    pub read_ms: u64,
    /// Words that people wanted remembered.
    pub promoted: PromoteReport,
    /// Files and repositories.
    pub tracked: TrackReport,
    /// What models were asked.
    pub enriched: EnrichReport,
    /// What agents delete that no run has read.
    pub sweeps: Vec<Sweep>,
    /// Deliveries, by sink.
    pub uploaded: Vec<SinkReport>,
}

impl RunReport {
    /// Everything that was to be read was, and models answer, or may again.
    pub fn is_whole(&self) -> bool {
        let is_read = self.ingested.problems.is_empty() && self.tracked.unread() == 0;
        is_read && self.enriched.alarms.is_empty()
    }

    /// What goes on failing; where nobody looks on, once a day.
    pub fn alarms(&self, is_quiet: bool) -> impl Iterator<Item = &Alarm> {
        let sinks = self.uploaded.iter().filter_map(|sink| sink.alarm.as_ref());
        let all = self.enriched.alarms.iter().chain(sinks);
        all.filter(move |alarm| !is_quiet || alarm.is_due)
    }

    /// An alarm says why a sink gets nothing, in a warning of its own.
    fn without_told_faults(&self) -> Vec<SinkReport> {
        let mut all = self.uploaded.clone();
        let told = |sink: &&mut SinkReport| sink.alarm.is_some() && sink.paused_until.is_none();
        for sink in all.iter_mut().filter(told) {
            sink.fault = None;
        }
        all
    }

    /// What the steps after `ingest` did that is worth a line, in their order.
    pub fn lines(&self, zone: Zone) -> Vec<String> {
        let promoted = self.promoted.line().into_iter();
        promoted
            .chain(track::line(&self.tracked))
            .chain(self.enriched.lines())
            .chain(upload::lines(&self.without_told_faults(), zone))
            .collect()
    }
}

/// Adds a line to the log of runs, where there is news.
///
/// # Errors
/// Where nobody can be told that the log can't be written.
pub fn run(run: &mut Run<'_, '_>, done: &RunReport) -> Result<()> {
    let mut lines = done.lines(run.cx.zone);
    if !done.ingested.has_news() && lines.is_empty() {
        return Ok(());
    }
    let refused = done.promoted.refused.iter();
    lines.extend(refused.map(|(id, why)| format!("directive {id} refused: {why}")));
    let also: String = lines.iter().map(|line| format!(", {line}")).collect();
    let took = duration_ms((run.cx.elapsed_ms)());
    let (name, summary) = (&run.pipeline.name, summary(&done.ingested));
    let text = format!("run {name}: {summary}{also}, took {took}");
    match run_log::append(&run.cx.home.logs(), run.cx.now, run.cx.zone, &text) {
        Ok(()) => Ok(()),
        Err(error) => {
            let warning = format!("the run is not in the log: {error}");
            run.cx.notices.warn(&warning)
        }
    }
}

/// One line without content.
fn summary(report: &IngestReport) -> String {
    format!(
        "{} read, {}, {} kept, {} rejected, {}, {} changed, {}",
        plural(report.files_read, "file"),
        bytes(report.bytes_read),
        plural(report.ledger.of(Fate::Kept), "line"),
        count(report.ledger.of(Fate::Rejected)),
        plural(report.episodes_new, "new episode"),
        count(report.episodes_changed),
        plural(report.problems.len() as u64, "problem"),
    )
}
