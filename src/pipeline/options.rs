//! What a run is told besides the settings, and what follows from both: whose word counts, where logs
//! lie, how each is treated.

use super::context::RunContext;
use super::ingest_options::Rules;
use super::ingest_options::{Admit, IngestOptions};
use super::last_run::LastRun;
use super::spec::{Pipeline, Window};
use crate::config::{Config, DeliveryLimits};
use crate::memory::redaction_setup::Redaction;
use crate::model::time::Time;
use crate::rules::classify::Classifier;
use crate::stages::discover::DiscoverOptions;
use crate::stages::upload::RetryOptions;
use std::sync::Arc;

/// An episode whose calls wait for their results settles after a day (architecture § 6).
pub const PENDING_MS: i64 = 86_400_000;

/// What a run is told besides the settings.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Which logs.
    pub window: Window,
    /// Everything again.
    pub rebuild: bool,
    /// Worker threads.
    pub jobs: usize,
    /// The run's point in time.
    pub now: Time,
    /// The machine's name.
    pub host: String,
    /// Logs of projects too that an agent was told not to trust.
    pub allow_untrusted: bool,
    /// Models are asked again about what was given up, and at once about what waits.
    pub ask_again: bool,
    /// What the pipeline's last complete run left.
    pub last_run: LastRun,
}

impl RunOptions {
    /// The pipeline's, where nobody asked for anything else.
    pub fn new(pipeline: &Pipeline, cx: &RunContext<'_>) -> RunOptions {
        RunOptions {
            window: pipeline.window,
            rebuild: pipeline.rebuild,
            jobs: cx.jobs.or(pipeline.jobs).unwrap_or(cx.cores),
            now: cx.now,
            host: cx.host.to_owned(),
            allow_untrusted: false,
            ask_again: false,
            last_run: LastRun::of(&pipeline.name, cx.home),
        }
    }

    /// The first moment of the window; `None`: it has none.
    pub fn since(&self, config: &Config) -> Option<Time> {
        let days = config.keep_length_days;
        self.last_run.first(self.window, days, self.now)
    }
}

/// Everything that the step `ingest` is told; `admit` asks an
/// [`Admission`](super::admission::Admission).
pub fn ingest<'a>(
    config: &Config,
    options: &RunOptions,
    rules: Rules,
    admit: &'a Admit<'a>,
) -> IngestOptions<'a> {
    IngestOptions {
        roots: config.roots.clone(),
        rules,
        discover: DiscoverOptions {
            since: options.since(config),
            again: options.rebuild,
            due: options.last_run.left.due.clone(),
        },
        jobs: options.jobs,
        now: options.now,
        group: config.group_id.clone(),
        admit,
    }
}

/// How every log is treated.
pub fn rules(config: &Config, host: &str, redaction: Redaction, classifier: Classifier) -> Rules {
    Rules {
        policy: config.policy.clone(),
        chunk: config.chunk,
        host: host.to_owned(),
        subagents: config.subagents,
        hides_paths: !config.include_project_path,
        redactor: redaction.redactor,
        markers: Arc::new(redaction.markers),
        directives: config
            .memory
            .auto_promotes
            .then(|| config.memory.more_words.clone()),
        classifier,
    }
}

/// When something that failed is tried again.
pub fn retry(limits: &DeliveryLimits) -> RetryOptions {
    RetryOptions {
        max_retries: limits.max_retries,
        delays_ms: limits
            .retry_delays_s
            .iter()
            .map(|s| ms(u64::from(*s)))
            .collect(),
    }
}

/// Seconds of the settings as milliseconds.
pub fn ms(seconds: u64) -> i64 {
    i64::try_from(seconds.saturating_mul(1_000)).unwrap_or(i64::MAX)
}
