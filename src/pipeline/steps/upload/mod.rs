//! The step `upload`: what waits in the store goes to the sinks.
//!
//! [`deliver`](delivery::deliver) brings one sink up to the store; here is with which sinks, with whose
//! consent, and what follows.

mod cost_budget;
pub mod delivery;
mod enrichment;
pub mod options;
mod outbound;
pub mod report;
mod settling;
pub mod smoke;

use crate::config::{Config, SinkSettings as Settings, SinkTo, graphs};
use crate::memory::provenance::shown_path;
use crate::memory::session_activity::Judge;
use crate::model::delivery::Traces;
use crate::model::error::{Error, ErrorKind};
use crate::model::human::{count, plural, time};
use crate::model::zone::Zone;
use crate::pipeline::active_run::Run;
use crate::pipeline::alarms::{self, Change};
use crate::pipeline::context::RunContext;
use crate::pipeline::graph_counts;
use crate::pipeline::graph_gate::{KeptHere, of_a_run};
use crate::pipeline::notify::{self, GivenUp};
use crate::pipeline::options::{PENDING_MS, ms, retry};
use crate::pipeline::sink_setup::{extraction, open};
use crate::pipeline::steps::promote::announce_owners;
use crate::pipeline::tables::{TablesOptions, TablesReport, export};
use crate::store::{Due, Store};
use anyhow::Result;
use options::DeliveryOptions;
use report::SinkReport;
use std::collections::BTreeSet;
use std::path::Path;

/// What somebody asks for besides the settings. A run asks for nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct UploadOptions {
    /// What was stored before the sink was known goes too, oldest first.
    pub history: bool,
    /// Not more than so many episodes per sink.
    pub max: Option<usize>,
    /// A sink is asked though it is paused.
    pub insist: bool,
    /// A sink that can't be read back is posted to all the same.
    pub unverified: bool,
    /// Projects too that an agent was told not to trust.
    pub allow_untrusted: bool,
}

/// Notes sinks that are new, so that they get what this run stores.
///
/// # Errors
/// When the store fails.
pub fn prepare(run: &mut Run<'_, '_>) -> Result<()> {
    let sinks = of_a_run(run.cx)?.into_iter();
    for sink in sinks.filter(|sink| !sink.is_tables()) {
        run.store.sink(&sink.name, &sink.to.address(), run.cx.now)?;
    }
    Ok(())
}

/// There is a sink that gets something.
pub fn is_wanted(run: &Run<'_, '_>) -> bool {
    let config = &run.cx.loaded.config;
    let off = |sink: &Settings| sink.is_graph() && !config.memory.enabled;
    config.store_in_graph && config.sinks.iter().any(|sink| !off(sink))
}

/// Nothing of what is stored waits for a sink while `store_in_graph` is off: switched on again, only what
/// comes then is delivered.
///
/// # Errors
/// When the store fails.
pub fn keep_here(run: &mut Run<'_, '_>) -> Result<()> {
    let config = &run.cx.loaded.config;
    let sinks = config.sinks.iter().filter(|sink| !sink.is_tables());
    for sink in sinks.filter(|_| !config.store_in_graph) {
        let row = run.store.sink(&sink.name, &sink.to.address(), run.cx.now)?;
        run.store.keep_here(row.n, None, run.cx.now)?;
        run.store.clean(row.n, sink.scope.is_some())?;
    }
    Ok(())
}

/// Does the step: every sink that is wanted.
///
/// # Errors
/// When the store fails. A sink that is away, or that nobody agrees to, is a fact of its report.
pub fn run(run: &mut Run<'_, '_>) -> Result<Vec<SinkReport>> {
    let config = &run.cx.loaded.config;
    let off = |sink: &&Settings| sink.is_graph() && !config.memory.enabled;
    let sinks: Vec<&Settings> = config.sinks.iter().filter(|s| !off(s)).collect();
    // a delivery that takes its time says so to whoever looks on
    if let Some(rate) = config.delivery.rate_per_minute
        && !sinks.is_empty()
        && run.cx.notices.is_watched()
    {
        run.cx.notices.note(&format!(
            "delivering at upload.rate_per_minute: {rate}; other runs read meanwhile"
        ))?;
    }
    deliver_to(&sinks, UploadOptions::default(), &mut run.store, run.cx)
}

/// Delivers what is due to these sinks.
///
/// # Errors
/// As [`run`]; where somebody insists, also that nobody agrees to one, or that it is set up wrong.
pub fn deliver_to(
    sinks: &[&Settings],
    options: UploadOptions,
    store: &mut Store,
    cx: &mut RunContext<'_>,
) -> Result<Vec<SinkReport>> {
    if sinks.is_empty() {
        return Ok(Vec::new());
    }
    let config = &cx.loaded.config;
    let upload = Upload {
        options,
        kept: KeptHere::new(store, options.allow_untrusted, cx)?,
        judge: cx.judge()?,
        hidden: cx.hidden.among(store, cx.loaded)?,
    };
    let mut all = Vec::new();
    // scopes first: what is delivered to their groups tells which groups are in use
    let (scoped, own): (Vec<&Settings>, Vec<&Settings>) =
        sinks.iter().partition(|sink| sink.scope.is_some());
    let last_scoped = scoped.len();
    for (nth, sink) in scoped.into_iter().chain(own).enumerate() {
        if nth == last_scoped && sinks.iter().any(|sink| sink.is_graph()) {
            // others may have changed what they are called
            store.forget_names();
            announce_owners(store, &config.memory, cx.now)?;
        }
        if !upload.kept.by_setting.is_empty() && !sink.is_tables() {
            let row = store.sink(&sink.name, &sink.to.address(), cx.now)?;
            store.keep_here(row.n, Some(&upload.kept.by_setting), cx.now)?;
        }
        let report = match upload.to(sink, store, cx) {
            // one that was named is insisted on; among several, none waits for what another lacks
            Err(error) if !options.insist || sinks.len() > 1 => {
                upload.refused(sink, error, store, cx)?
            }
            done => done?,
        };
        all.push(report);
    }
    sound(&mut all, store, cx)?;
    if !config.delivery.keeps_local {
        leave_to_sinks(config, store, cx)?;
    }
    if config.delivery.notifies_dead_letters {
        let dead = all.iter().filter(|sink| sink.dead > 0);
        let dead = dead.map(|report| GivenUp {
            sink: &report.sink,
            episodes: report.dead,
        });
        notify::of_deliveries(&dead.collect::<Vec<_>>(), store, cx)?;
    }
    Ok(all)
}

/// What all sinks of one delivery have in common.
struct Upload {
    options: UploadOptions,
    kept: KeptHere,
    judge: Judge,
    /// Projects whose paths are told to nobody.
    hidden: BTreeSet<String>,
}

impl Upload {
    /// A sink that nobody agrees to, or that is set up wrong, stops itself only.
    fn refused(
        &self,
        settings: &Settings,
        error: anyhow::Error,
        store: &mut Store,
        cx: &RunContext<'_>,
    ) -> Result<SinkReport> {
        let error = match error.downcast::<Error>() {
            Ok(error) if error.kind == ErrorKind::Usage => error,
            Ok(other) => return Err(other.into()),
            Err(other) => return Err(other),
        };
        let row = store.sink(&settings.name, &settings.to.address(), cx.now)?;
        let due = due(settings, self.kept.of(settings), cx);
        Ok(SinkReport {
            sink: settings.name.clone(),
            waiting: (store.due(row.n, &due)?.len() + store.unconfirmed(row.n)?.len()) as u64,
            dead_letters: store.dead(row.n)?,
            fault: Some(error.message),
            is_lasting: true,
            hint: error.hint.unwrap_or_default(),
            ..SinkReport::default()
        })
    }

    /// One sink's part.
    fn to(
        &self,
        settings: &Settings,
        store: &mut Store,
        cx: &mut RunContext<'_>,
    ) -> Result<SinkReport> {
        if let SinkTo::Parquet(folder) = &settings.to {
            return self.tables(settings, folder, store, cx);
        }
        let config = &cx.loaded.config;
        let (limits, options) = (&config.delivery, self.options);
        if settings.is_graph() && !options.insist {
            graphs(&config.memory, None)?;
        }
        let mut sink = open(settings, options.unverified, store, cx)?;
        // asked before each batch: consent may be taken back while a run goes on
        let permitted = |store: &Store| {
            let endpoints = settings.to.endpoints();
            let mut permits = endpoints.into_iter().map(|endpoint| store.permit(endpoint));
            permits.try_for_each(|permit| permit.map(|_| ()))
        };
        let elapsed_ms = cx.elapsed_ms;
        let begun_ms = elapsed_ms();
        let is_late = || match &settings.to {
            SinkTo::Graphiti(to) => elapsed_ms() - begun_ms >= to.time_per_run_s * 1_000,
            _ => false,
        };
        let address = settings.to.address();
        let orders = DeliveryOptions {
            address: &address,
            now: cx.now,
            settled_ms: ms(u64::from(config.inactivity_timeout_s)),
            settle_after_ms: ms(limits.settle_after_s),
            retry: retry(limits),
            on_their_way_max: limits.max_queue_size as usize,
            episodes_max: options
                .max
                .or(limits.max_episodes_per_run.map(|n| n as usize)),
            rate_per_minute: limits.rate_per_minute,
            extraction: extraction(settings, cx.home),
            usd_max: limits.max_usd_per_run,
            is_late: &is_late,
            wait: &*cx.timer.wait,
            history: options.history,
            insist: options.insist,
            kept_here: self.kept.of(settings),
            only_logs: settings.scope.is_some(),
            without: settings.without(),
            includes_git: config.memory.includes_git && settings.is_graph(),
            shown_path: &|project| {
                let shown = !self.hidden.contains(project);
                shown.then(|| shown_path(project, config).into_owned())
            },
            profile: &|tally| self.judge.activity(tally).profile(),
            permitted: &permitted,
        };
        let done = delivery::deliver(store, &settings.name, sink.as_mut(), &orders)?;
        if let Some(counted) = done.counted {
            let worked = (done.enriched, elapsed_ms() - begun_ms);
            graph_counts::keep(&settings.name, counted, worked, cx.home)?;
        }
        Ok(done)
    }
}

impl Upload {
    /// A folder of tables is brought up to the store. One that can't be written to is a fact of the report.
    fn tables(
        &self,
        settings: &Settings,
        folder: &Path,
        store: &Store,
        cx: &mut RunContext<'_>,
    ) -> Result<SinkReport> {
        let options = TablesOptions {
            full: false,
            without: self.kept.of(settings).iter().cloned().collect(),
            is_scratch: false,
        };
        let mut report = SinkReport {
            sink: settings.name.clone(),
            ..SinkReport::default()
        };
        match export(store, folder, &options, cx) {
            Ok(done) => report.tables = Some(done),
            Err(error) => match error.downcast::<Error>() {
                Ok(error) if error.kind != ErrorKind::Store => {
                    report.is_lasting = error.kind == ErrorKind::Usage;
                    report.fault = Some(error.message);
                    report.hint = error.hint.unwrap_or_default();
                }
                Ok(error) => return Err(error.into()),
                Err(error) => return Err(error),
            },
        }
        Ok(report)
    }
}

/// Keeps what goes on failing, and tells whoever is to be told when that begins and ends.
fn sound(all: &mut [SinkReport], store: &Store, cx: &mut RunContext<'_>) -> Result<()> {
    let after_ms = ms(cx.loaded.config.delivery.alarm_after_s);
    let mut changes = Vec::new();
    for report in all {
        let (who, trouble) = (format!("sink {}", report.sink), report.trouble());
        let (alarm, change) = alarms::note(&who, trouble.as_ref(), after_ms, cx.home, cx.now)?;
        report.alarm = alarm.filter(|alarm| alarm.rings);
        // of what was given up somebody was told just now
        let is_told = report.dead > 0;
        let is_news = |change: &Change| !is_told || matches!(change, Change::Ends(_));
        changes.extend(change.filter(is_news));
    }
    notify::of_alarms(&changes, store, cx)
}

/// Empties the texts that all sinks have.
fn leave_to_sinks(config: &Config, store: &mut Store, cx: &mut RunContext<'_>) -> Result<()> {
    let names: Vec<&str> = config.sinks.iter().map(|sink| &*sink.name).collect();
    let left = store.leave_to_sinks(&names)?;
    if left > 0 {
        let texts = plural(left, "episode");
        cx.notices.note(&format!(
            "the text of {texts} is now stored by the sinks only"
        ))?;
    }
    Ok(())
}

/// What counts as due, in a plan.
pub fn due<'a>(settings: &Settings, kept_here: &'a [String], cx: &RunContext<'_>) -> Due<'a> {
    Due {
        now: cx.now,
        settled_ms: i64::from(cx.loaded.config.inactivity_timeout_s) * 1_000,
        pending_ms: PENDING_MS,
        kept_here,
        only_logs: settings.scope.is_some(),
        history: false,
        without: settings.without(),
    }
}

/// One line per sink that has something to say.
pub fn lines(reports: &[SinkReport], zone: Zone) -> Vec<String> {
    let lines = reports.iter().filter_map(|report| {
        let parts = parts(report, zone);
        let parts = (!parts.is_empty()).then(|| parts.join(", "))?;
        Some(format!("sink {}: {parts}", report.sink))
    });
    lines.collect()
}

/// What a folder of tables got.
fn tables_parts(tables: &TablesReport) -> Vec<String> {
    let mut parts = Vec::new();
    if tables.files_written > 0 {
        parts.push(format!(
            "{} written for {}",
            plural(tables.files_written, "file"),
            plural(tables.changed, "new or changed session")
        ));
    }
    if tables.removed > 0 {
        parts.push(format!("{} removed", plural(tables.removed, "session")));
    }
    parts
}

fn parts(sink: &SinkReport, zone: Zone) -> Vec<String> {
    let mut parts = Vec::new();
    for (n, what) in [
        (sink.delivered + sink.found, "delivered"),
        (sink.enriched, "enriched"),
        (sink.to_enrich, "waiting to be processed by its model"),
        (sink.unverified, "posted, can't be verified"),
        (sink.beside, "beside an older revision that stays there"),
        (sink.failed, "to be tried again"),
        (sink.dead, report::DEAD_LETTERS),
        (sink.forgotten, "removed there"),
        (sink.kept, "can't be removed there"),
        (sink.waiting, "waiting"),
    ] {
        if n > 0 {
            parts.push(format!("{} {what}", count(n)));
        }
    }
    let Traces {
        facts,
        facts_shared,
        entities,
        summaries,
        emptied,
    } = sink.traces;
    for (n, what) in [
        (facts, "facts that nothing else states removed"),
        (entities, "entities that nothing else mentions removed"),
        (facts_shared, "facts left that other episodes state too"),
        (summaries, "summaries rewritten from the remaining facts"),
        (
            emptied,
            "summaries of communities and sagas emptied (build_communities, summarize_saga)",
        ),
    ] {
        if n > 0 {
            parts.push(format!("{} {what}", count(n)));
        }
    }
    parts.extend(sink.tables.iter().flat_map(tables_parts));
    for dear in &sink.too_dear {
        parts.push(format!(
            "episode {} left out: ≈ {:.2} USD alone, more than upload.max_usd_per_run",
            dear.episode, dear.usd
        ));
    }
    match sink.stopped.as_deref() {
        Some("budget") => parts.push(format!(
            "stopped at upload.max_usd_per_run (≈ {:.2} USD spent)",
            sink.usd
        )),
        Some(_) => parts.push("stopped at its time_per_run; the next run goes on".into()),
        None => {}
    }
    parts.extend(fault_words(sink, zone));
    parts
}

/// Why a sink was left, and what to type.
fn fault_words(sink: &SinkReport, zone: Zone) -> Option<String> {
    let fault = sink.fault.as_ref()?;
    Some(match sink.paused_until {
        Some(until) => {
            let until = time(Some(until), zone);
            let name = &sink.sink;
            format!("paused until {until}: {fault} (at once: sessionmill deliver run {name})")
        }
        None => format!("{fault} ({})", sink.hint),
    })
}
