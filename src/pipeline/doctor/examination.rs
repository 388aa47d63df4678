//! Looks at an installation once, for the checks to judge; and mends its store as a rebuilding run would.

use super::deep::{self, Comparison};
use super::repair::{Repaired, repair};
use super::{Diagnosis, Inside, Observed, Schedule, Severity, examine};
use crate::agents::registry;
use crate::config::Loaded;
use crate::config::trust::Trusts;
use crate::host::files::unreadable;
use crate::host::writable::not_writable;
use crate::memory::session_activity::Judge;
use crate::memory::{classifiers, redaction_setup};
use crate::model::error::Error;
use crate::model::source::SourceFile;
use crate::pipeline::admission::Admission;
use crate::pipeline::alarms;
use crate::pipeline::context::{HiddenPaths, RunContext};
use crate::pipeline::disk_logs::logs_on_disk;
use crate::pipeline::ingest_options::IngestOptions;
use crate::pipeline::last_run::LastRun;
use crate::pipeline::lock::{self, Lock};
use crate::pipeline::options::{self, RunOptions};
use crate::pipeline::preconditions::{self, Refusal};
use crate::pipeline::sink_setup;
use crate::pipeline::spec::{self, Pipeline, Window};
use crate::pipeline::steps::enrich::session_summary::{SummarizeOptions, summarize};
use crate::store::{Access, DatabaseState, Store};
use anyhow::Result;

/// What is examined besides what the context knows.
pub struct Examination<'e> {
    /// Why the settings can't be read. Those of the context are the defaults then, and nothing is said
    /// about logs and models.
    pub unreadable: Option<&'e Error>,
    /// Seconds from run to run of the timer that is installed; `None`: none is.
    pub interval_s: Option<u64>,
    /// Every log is read again and compared with what was read of it.
    pub is_deep: bool,
}

/// Looks at everything once, and lets the checks judge it.
///
/// # Errors
/// When the workers of a deep examination can't be started.
pub fn examined(examination: &Examination<'_>, cx: &mut RunContext<'_>) -> Result<Vec<Diagnosis>> {
    let judge = examination.is_deep.then(|| cx.judge());
    let cx = &*cx;
    // settings that can't be read are one diagnosis: what needs none is examined even so
    let settings = match examination.unreadable {
        Some(error) => Err(error),
        None => Ok(cx.loaded),
    };
    let store = cx.home.store();
    let database_state = DatabaseState::of(&store);
    let opened = match database_state {
        Ok(DatabaseState::Current) => Store::open(&store, Access::ReadOnly).ok(),
        _ => None,
    };
    let inside = opened.as_ref().map(Inside::of);
    let refusals = refusals(settings.ok(), opened.as_ref(), cx);
    let refused_sinks = refused_sinks(settings.ok(), opened.as_ref(), cx);
    let roots = settings.map(|loaded| loaded.config.roots.clone());
    let found = logs_on_disk(&roots.unwrap_or_default());
    let admission = settings
        .ok()
        .map(|loaded| Admission::new(loaded, cx.env, Window::Configured, cx.now));
    let admit = |project: Option<&str>, cwd: Option<&str>, path: &str| match &admission {
        Some(admission) => admission.admit(project, cwd, path),
        None => Ok(None),
    };
    let observed = Observed {
        now: cx.now,
        home: cx.home.dir.clone(),
        not_writable: not_writable(&cx.home.dir),
        store,
        database_state,
        inside,
        settings,
        refusals,
        refused_sinks,
        trust: Trusts::load(cx.env).err(),
        schedule: Schedule {
            installed: examination.interval_s.is_some(),
            interval_s: examination.interval_s.unwrap_or_default(),
        },
        alarms: alarms::all(cx.home),
        zone: cx.zone,
        before: LastRun::latest(cx.home),
        last_run: lock::last_run(&cx.home.lock()),
        unreadable: unreadable(&found.files),
        found,
        admit: &admit,
        keeps_days: registry::keeps_days(cx.env),
    };
    let mut diagnoses = examine(&observed);
    if let (Some(judge), Some(inside)) = (judge, &observed.inside) {
        let jobs = cx.jobs.unwrap_or(cx.cores);
        let files = &observed.found.files;
        let changed = deep::changed_logs(files, &inside.checkpoints, jobs)?;
        diagnoses.extend(deep::log_changed(&changed));
        if observed.enabled() && !inside.health.rows_are_damaged() {
            diagnoses.extend(compared(files, &changed, judge, cx));
        }
    }
    Ok(diagnoses)
}

/// What a comparison of the store with the logs says, or why there is none.
fn compared(
    files: &[SourceFile],
    changed: &[&SourceFile],
    judge: Result<Judge>,
    cx: &RunContext<'_>,
) -> Vec<Diagnosis> {
    let compare = || -> Result<Comparison> {
        let judge = judge?;
        let _lock = Lock::take_for("doctor --deep", &cx.home.lock())?;
        let pipeline = spec::load("nightly", &cx.home.pipelines())?;
        with_logs(&pipeline, cx, |setup| {
            let summarize = &mut |store: &mut Store| summarized(store, &judge, cx);
            deep::compare(
                &cx.home.store(),
                setup,
                files,
                changed,
                summarize,
                cx.progress,
            )
        })
    };
    let compared = compare();
    cx.progress.finish();
    match compared {
        Ok(comparison) => comparison.diagnoses(),
        Err(error) => {
            let error = preconditions::typed(error);
            let reason = format!(
                "the store was not compared with the logs: {}",
                error.message
            );
            let command = error.hint.unwrap_or_else(|| DEEP.to_owned());
            vec![Diagnosis::new(
                Severity::Note,
                "not-compared",
                reason,
                command,
            )]
        }
    }
}

/// Writes the summaries that a run would.
fn summarized(store: &mut Store, judge: &Judge, cx: &RunContext<'_>) -> Result<()> {
    let mut hidden = HiddenPaths::default();
    let options = &mut SummarizeOptions {
        now: cx.now,
        settled_ms: cx.loaded.config.chunk.gap_ms,
        jobs: cx.jobs.unwrap_or(cx.cores),
        judge,
        hides: &mut |project| Ok(hidden.of(project, cx.loaded)),
    };
    summarize(store, options).map(drop)
}

const DEEP: &str = "sessionmill doctor --deep";

/// Why runs would not begin. Pipelines are asked for even where tracking is off, as they are by a run.
fn refusals(settings: Option<&Loaded>, store: Option<&Store>, cx: &RunContext<'_>) -> Vec<Refusal> {
    let (sound, mut refused) = preconditions::pipelines(cx.home);
    if settings.is_some_and(|loaded| loaded.config.enabled) {
        let consents = store.and_then(|store| store.consents().ok());
        let consents = consents.unwrap_or_default();
        refused.extend(preconditions::refusals(&sound, &consents, cx));
    }
    refused
}

/// Sinks that get nothing.
fn refused_sinks(
    settings: Option<&Loaded>,
    store: Option<&Store>,
    cx: &RunContext<'_>,
) -> Vec<(String, Error)> {
    let enabled = settings.filter(|loaded| loaded.config.enabled);
    let refused = enabled
        .and(store)
        .map(|store| sink_setup::refusals(store, cx));
    let refused = refused.into_iter().flatten();
    refused
        .map(|(sink, error)| (sink, preconditions::typed(error)))
        .collect()
}

/// Calls `act` with how a rebuilding run of the pipeline reads logs.
fn with_logs<T>(
    pipeline: &Pipeline,
    cx: &RunContext<'_>,
    act: impl FnOnce(IngestOptions<'_>) -> Result<T>,
) -> Result<T> {
    let config = &cx.loaded.config;
    let options = RunOptions {
        rebuild: true,
        ..RunOptions::new(pipeline, cx)
    };
    let admission = Admission::new(cx.loaded, cx.env, options.window, options.now);
    let admit =
        |project: Option<&str>, cwd: Option<&str>, path: &str| admission.admit(project, cwd, path);
    let redaction = redaction_setup::load(config, cx.home)?;
    let classifier = classifiers::counter(cx.home)?;
    let rules = options::rules(config, &options.host, redaction, classifier);
    act(options::ingest(config, &options, rules, &admit))
}

/// Mends the store, under the lock, with the logs read as a rebuilding run of the pipeline would. `is_deep`: also
/// where nothing but the logs tells that something is wrong.
///
/// # Errors
/// Kind `Busy` when a run holds the lock; else as [`repair`].
pub fn mended(pipeline: &Pipeline, is_deep: bool, cx: &mut RunContext<'_>) -> Result<Repaired> {
    let judge = cx.judge()?;
    let cx = &*cx;
    let config = &cx.loaded.config;
    let (store, files) = (cx.home.store(), logs_on_disk(&config.roots).files);
    let _locks = [
        Lock::take_for("doctor --repair", &cx.home.lock())?,
        Lock::take_for("doctor --repair", &cx.home.deliver_lock())?,
    ];
    let differs = || {
        let compared = with_logs(pipeline, cx, |setup| {
            let summarize = &mut |store: &mut Store| summarized(store, &judge, cx);
            deep::compare(&store, setup, &files, &[], summarize, cx.progress)
        });
        Ok(compared?.differs())
    };
    let repaired = with_logs(pipeline, cx, |setup| {
        let doubt = || if is_deep { differs() } else { Ok(false) };
        repair(&store, setup, config.enabled, &doubt, cx.now, cx.progress)
    });
    cx.progress.finish();
    repaired
}
