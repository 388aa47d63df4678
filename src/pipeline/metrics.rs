//! The last run as metrics for node_exporter's textfile collector: numbers and names of sinks, never
//! content. The file is the only memory of the last success: a run that fails takes it over.

use super::context::RunContext;
use super::run::RunOutcome;
use super::steps::report::RunReport;
use crate::model::error::{Error, ErrorKind};
use crate::model::ledger::Fate;
use std::fmt::Write as _;
use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const LAST_SUCCESS: &str = "sessionmill_last_success_timestamp_seconds";

/// Writes how a run of the pipeline `name` ended into `file`, in one step, readable by everybody: the
/// collector runs as another user. A run that failed leaves the time of the last success, and numbers
/// that it doesn't know are left out. Where tracking is off, or another run holds the lock, nothing
/// ran, and the file stays as it is.
///
/// # Errors
/// When the file can't be written, named.
pub fn write(
    file: &Path,
    name: &str,
    ended: &anyhow::Result<RunOutcome>,
    cx: &RunContext<'_>,
) -> io::Result<()> {
    let done = match ended {
        Ok(RunOutcome::Off(_)) => return Ok(()),
        Err(error) if is_busy(error) => return Ok(()),
        Ok(RunOutcome::Done(done)) => Some(done.as_ref()),
        Err(_) => None,
    };
    let before = fs::read_to_string(file).unwrap_or_default();
    let mut text = Metrics::new(name);
    let started = cx.now.utc().timestamp() as f64;
    let is_success = done.is_some_and(|done| done.is_whole() && done.uploaded.iter().all(is_well));
    let last_success = match is_success {
        true => Some(started),
        false => success_in(&before, name),
    };
    text.gauge(
        "sessionmill_last_run_timestamp_seconds",
        "When the last run started.",
        [started],
    );
    text.gauge(
        "sessionmill_last_run_success",
        "Whether the last run did everything it should.",
        [f64::from(u8::from(is_success))],
    );
    text.gauge(
        LAST_SUCCESS,
        "When the last run started that did everything.",
        last_success,
    );
    text.gauge(
        "sessionmill_last_run_duration_seconds",
        "How long the last run took.",
        [(cx.elapsed_ms)() as f64 / 1000.0],
    );
    if let Some(done) = done {
        text.report(done);
    }
    text.gauge(
        "sessionmill_store_size_bytes",
        "Size of the store's file.",
        fs::metadata(cx.home.store()).map(|meta| meta.len() as f64),
    );
    replace(file, &text.text)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", file.display())))
}

/// Another run is at work.
fn is_busy(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<Error>();
    error.is_some_and(|error| error.kind == ErrorKind::Busy)
}

/// Nothing went wrong with a sink that a later run has to do again.
fn is_well(sink: &super::steps::upload::report::SinkReport) -> bool {
    sink.fault.is_none() && sink.failed == 0 && sink.dead == 0
}

/// The time of the last success that an earlier run of this pipeline left.
fn success_in(text: &str, pipeline: &str) -> Option<f64> {
    let line = format!("{LAST_SUCCESS}{{pipeline=\"{}\"}} ", label(pipeline));
    let value = text.lines().find_map(|l| l.strip_prefix(&line))?;
    value.parse().ok()
}

/// The text of a metrics file, one group of lines for each name.
struct Metrics {
    pipeline: String,
    text: String,
}

impl Metrics {
    fn new(pipeline: &str) -> Metrics {
        Metrics {
            pipeline: label(pipeline),
            text: String::new(),
        }
    }

    /// What only a run that went through knows.
    fn report(&mut self, done: &RunReport) {
        let read = &done.ingested;
        let lines = Fate::ALL.map(|fate| (fate.as_str(), read.ledger.of(fate)));
        for (name, help, value) in [
            (
                "sessionmill_last_run_read_bytes",
                "Bytes of logs that the last run read.",
                read.bytes_read,
            ),
            (
                "sessionmill_last_run_new_episodes",
                "Episodes that the last run stored.",
                read.episodes_new,
            ),
            (
                "sessionmill_last_run_problems",
                "Logs that the last run could not read.",
                read.problems.len() as u64,
            ),
        ] {
            self.gauge(name, help, [value as f64]);
        }
        self.by(
            "sessionmill_last_run_lines",
            "Lines of logs that the last run read, by what became of them.",
            "fate",
            lines,
        );
        let sinks = || done.uploaded.iter();
        self.by(
            "sessionmill_delivery_waiting",
            "Episodes that a sink has yet to get.",
            "sink",
            sinks().map(|sink| (sink.sink.as_str(), sink.waiting)),
        );
        self.by(
            "sessionmill_delivery_dead_letters",
            "Episodes whose delivery failed permanently.",
            "sink",
            sinks().map(|sink| (sink.sink.as_str(), sink.dead_letters)),
        );
    }

    /// One value; none: nothing, since an absent number is better than a guessed one.
    fn gauge(&mut self, name: &str, help: &str, value: impl IntoIterator<Item = f64>) {
        let pipeline = self.pipeline.clone();
        let values = value.into_iter();
        let lines = values.map(|v| format!("{name}{{pipeline=\"{pipeline}\"}} {v}\n"));
        self.group(name, help, lines.collect());
    }

    /// One value for each value of a label.
    fn by<'a>(
        &mut self,
        name: &str,
        help: &str,
        key: &str,
        values: impl IntoIterator<Item = (&'a str, u64)>,
    ) {
        let pipeline = self.pipeline.clone();
        let line = |(of, value): (&str, u64)| {
            let of = label(of);
            format!("{name}{{pipeline=\"{pipeline}\",{key}=\"{of}\"}} {value}\n")
        };
        let lines = values.into_iter().map(line);
        self.group(name, help, lines.collect());
    }

    fn group(&mut self, name: &str, help: &str, lines: String) {
        if !lines.is_empty() {
            let _ = write!(
                self.text,
                "# HELP {name} {help}\n# TYPE {name} gauge\n{lines}"
            );
        }
    }
}

/// A label's value, as the exposition format escapes it.
fn label(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

/// Puts a new file in the place of the old one: the collector sees either. Its name ends otherwise than
/// `.prom` until then, so that it is not collected half written.
fn replace(file: &Path, text: &str) -> io::Result<()> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let new = file.with_file_name(format!(".{name}.{}", std::process::id()));
    let written = File::create(&new)
        .and_then(|mut to| {
            to.set_permissions(Permissions::from_mode(0o644))?;
            to.write_all(text.as_bytes())
        })
        .and_then(|()| fs::rename(&new, file));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}
