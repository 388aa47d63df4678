//! From settings, a pipeline and the command line to what a run is told. Knows whose word counts:
//! the command line's before the pipeline's before the settings'.

use super::ctx::Ctx;
use crate::config::Config;
use crate::memory::screen::Screen;
use crate::model::time::Time;
use crate::pipeline::file::Rules;
use crate::pipeline::run::{Admit, Setup};
use crate::pipeline::spec::{Pipeline, Window};
use crate::rules::classify::Classifier;
use crate::stages::discover::DiscoverOptions;
use std::sync::Arc;

/// What a run is told besides the settings.
#[derive(Clone, Debug)]
pub struct Orders {
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
}

impl Orders {
    /// The pipeline's, where the command line says nothing else.
    pub fn new(pipeline: &Pipeline, ctx: &Ctx) -> Orders {
        Orders {
            window: pipeline.window,
            rebuild: pipeline.rebuild,
            jobs: ctx.jobs.or(pipeline.jobs).unwrap_or(ctx.cores),
            now: ctx.now,
            host: ctx.host.clone(),
        }
    }
}

/// Everything that a run is told; `admit` asks an [`Admission`](crate::pipeline::admission::Admission).
pub fn setup<'a>(
    config: &Config,
    orders: &Orders,
    screen: Screen,
    classifier: Classifier,
    admit: &'a Admit<'a>,
) -> Setup<'a> {
    Setup {
        roots: config.roots.clone(),
        rules: rules(config, &orders.host, screen, classifier),
        discover: DiscoverOptions {
            since: since(config, orders),
            again: orders.rebuild,
        },
        jobs: orders.jobs,
        now: orders.now,
        group: config.group_id.clone(),
        admit,
    }
}

/// How every log is treated.
pub fn rules(config: &Config, host: &str, screen: Screen, classifier: Classifier) -> Rules {
    Rules {
        policy: config.policy.clone(),
        chunk: config.chunk,
        host: host.to_owned(),
        subagents: config.subagents,
        hides_paths: !config.include_project_path,
        redactor: screen.redactor,
        markers: Arc::new(screen.markers),
        directives: config
            .memory
            .auto_promotes
            .then(|| config.memory.more_words.clone()),
        classifier,
    }
}

/// The first moment of the window; `None`: it has none.
pub fn since(config: &Config, orders: &Orders) -> Option<Time> {
    orders.window.first(config.keep_length_days, orders.now)
}
