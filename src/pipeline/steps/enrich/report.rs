//! What the step `enrich` did: of each of its parts, and which models go on failing.

use super::condense::CondenseReport;
use super::embeddings::EmbedReport;
use super::llm_summary::LlmSummaryReport;
use super::tools::ToolsReport;
use crate::model::human::plural;
use crate::pipeline::alarms::Alarm;
use crate::store::Stored;

/// What the step did.
#[derive(Clone, Debug, Default)]
pub struct EnrichReport {
    /// About tools.
    pub tools: ToolsReport,
    /// Long messages.
    pub condensed: CondenseReport,
    /// Summaries of sessions that were written from what is stored.
    pub summaries: Stored,
    /// What a language model added.
    pub llm_summaries: LlmSummaryReport,
    /// Vectors.
    pub embedded: EmbedReport,
    /// Models that go on failing, and have to be told of.
    pub alarms: Vec<Alarm>,
}

impl EnrichReport {
    /// For people.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let written = self.summaries_written();
        let written =
            (written > 0).then(|| format!("{} written", plural(written, "session summary")));
        let tools = self.tools.line().into_iter();
        tools
            .chain(self.condensed.line())
            .chain(written)
            .chain(self.llm_summaries.line())
            .chain(self.embedded.line())
    }

    /// Summaries that are new or changed.
    pub fn summaries_written(&self) -> u64 {
        self.summaries.new + self.summaries.changed
    }
}
