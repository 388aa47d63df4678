//! A run that is going: what was opened and made for it once, handed from step to step.

use super::admission::Admission;
use super::context::RunContext;
use super::ingest_options::Rules;
use super::last_run::Left;
use super::leftovers;
use super::lock::{self, Lock};
use super::options::{self, RunOptions};
use super::run_log;
use super::spec::{Pipeline, Window};
use crate::memory::{classifiers, redaction_setup};
use crate::model::consent::{Consent, TRACKING};
use crate::model::error::{Error, ErrorKind};
use crate::model::time::Time;
use crate::store::{Access, Store};
use anyhow::Result;

/// A run that is going. It holds the lock until it delivers, and then the one of deliveries.
pub struct Run<'r, 'a> {
    /// Which steps.
    pub pipeline: &'r Pipeline,
    /// What it is told besides the settings.
    pub options: &'r RunOptions,
    /// Its surroundings.
    pub cx: &'r mut RunContext<'a>,
    /// Which projects may be read.
    pub admission: Admission<'a>,
    /// How each log is treated; its redactor masks everything else too.
    pub rules: Rules,
    /// The store, open for writing.
    pub store: Store,
    lock: Option<Lock>,
}

impl<'r, 'a> Run<'r, 'a> {
    /// Opens everything. `reason` is why reading is allowed: it is recorded where nobody agreed in words.
    ///
    /// # Errors
    /// Kind `Busy` when another run holds the lock. When a rule or a table of the user's is wrong, or the
    /// store can't be opened.
    pub fn begin(
        pipeline: &'r Pipeline,
        options: &'r RunOptions,
        reason: &str,
        cx: &'r mut RunContext<'a>,
    ) -> Result<Run<'r, 'a>> {
        let (loaded, env) = (cx.loaded, cx.env);
        let admission = Admission::new(loaded, env, options.window, options.now)
            .since(&options.last_run)
            .allowing_untrusted(options.allow_untrusted);
        let lock = Lock::take_for(&format!("run {}", pipeline.name), &cx.home.lock())?;
        leftovers::discard(cx.home)?;
        let redaction = redaction_setup::load(&loaded.config, cx.home)?;
        let classifier = classifiers::counter(cx.home)?;
        let mut store = Store::open(&cx.home.store(), Access::ReadWrite)?;
        agree_by_configuration(reason, &mut store, cx.now)?;
        let rules = options::rules(&loaded.config, &options.host, redaction, classifier);
        Ok(Run {
            pipeline,
            options,
            cx,
            admission,
            rules,
            store,
            lock: Some(lock),
        })
    }

    /// Keeps what the step `ingest` left for the next run: it is complete by now, whatever becomes of the
    /// other steps. A run over a window that somebody named is complete for that window only.
    ///
    /// # Errors
    /// When our folder can't be written.
    pub fn keep(&self, left: &Left) -> Result<()> {
        if matches!(self.options.window, Window::Since(_)) {
            return Ok(());
        }
        let last = &self.options.last_run;
        Ok(last.keep(left, &self.pipeline.name, self.cx.home, self.cx.now)?)
    }

    /// From here on graphs are waited for, and what is stored is whole: others may read, and forget. Gives
    /// the lock of deliveries; `None`: somebody else delivers, who is named.
    ///
    /// # Errors
    /// When the store or a lock's file can't be written, or nobody can be told.
    pub fn begin_delivery(&mut self) -> Result<Option<Lock>> {
        self.end()?;
        self.lock = None;
        let what = format!("the delivery of run {}", self.pipeline.name);
        match Lock::take_for(&what, &self.cx.home.deliver_lock()) {
            Ok(lock) => Ok(Some(lock)),
            Err(error) if error.kind == ErrorKind::Busy => {
                let by = lock::holder(&self.cx.home.deliver_lock());
                let by = by.map_or_else(String::new, |(process, what)| {
                    format!(": {what} (process {process})")
                });
                let note = format!("another process is delivering{by}");
                self.cx.notices.note(&note)?;
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Notes that the run went through. Where somebody else holds the lock by now, it does the rest.
    ///
    /// # Errors
    /// When the store or the lock's file can't be written.
    pub fn end(&mut self) -> Result<()> {
        if self.lock.is_none() {
            let what = format!("run {}", self.pipeline.name);
            self.lock = match Lock::take_for(&what, &self.cx.home.lock()) {
                Err(error) if error.kind == ErrorKind::Busy => return Ok(()),
                taken => Some(taken?),
            };
        }
        self.store.finish()?;
        match &self.lock {
            Some(lock) => Ok(lock.stamp(self.cx.now)?),
            None => Ok(()),
        }
    }

    /// Says in the log of runs that a step failed. The error is reported anyway: a log that can't be
    /// written must not hide it.
    pub fn note_failure(&self, error: anyhow::Error) -> anyhow::Error {
        let text = format!("run {}: failed: {error:#}", self.pipeline.name);
        let _ = run_log::append(&self.cx.home.logs(), self.cx.now, self.cx.zone, &text);
        error
    }
}

/// `enabled: true`, written by the user, is consent; it is recorded as what it is (D20).
fn agree_by_configuration(reason: &str, store: &mut Store, now: Time) -> Result<(), Error> {
    let recorded = store.consents()?;
    if recorded.iter().any(|consent| consent.scope == TRACKING) {
        return Ok(());
    }
    store.record_consent(&Consent {
        scope: TRACKING.into(),
        given: true,
        text: format!("by configuration: {reason}"),
        version: env!("CARGO_PKG_VERSION").into(),
        at: now,
    })
}
