//! Files in, lines out: the stages from discover to chunk, without a store.
//!
//! Memory is that of a run's workers. Nothing is written but what goes to `out`, nothing read but the files.

use super::heads::{print_heads, print_ids};
use super::line::{self, HeaderLine, LineStep, MovedLine, ProblemLine, TallyLine, kind};
use super::request::Requests;
use super::surroundings::Surroundings;
use crate::memory::classifiers;
use crate::model::checkpoint::FileCommit;
use crate::model::time::Time;
use crate::pipeline::ingest_options::{IngestOptions, Rules};
use crate::pipeline::options;
use crate::pipeline::progress::Silent;
use crate::pipeline::steps::ingest::file::FoldContext;
use crate::pipeline::steps::ingest::gather::{Gathered, gather_found};
use crate::pipeline::steps::ingest::report::IngestReport;
use crate::pipeline::steps::ingest::workers::{WorkerMessage, ingest};
use crate::stages::discover::{DiscoverOptions, KnownLog};
use anyhow::{Context, Result};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::Arc;

/// What a transformation is told.
pub struct TransformOptions<'a> {
    /// The settings.
    pub surroundings: &'a Surroundings,
    /// Paths and the projects that they belong to, where no checkout says so.
    pub places: PlaceMap,
    /// The machine's name, of files of which nothing else is said.
    pub host: &'a str,
    /// What is printed.
    pub wants: TransformWants,
    /// The engine's number of the run: later commits have greater ones.
    pub run: u64,
    /// Worker threads.
    pub jobs: usize,
    /// The run's one point in time.
    pub now: Time,
}

/// What is printed of the files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TransformWants {
    /// All that the stages make of them.
    #[default]
    Episodes,
    /// What their heads say: to plan by.
    Heads,
    /// Their records' short ids.
    Ids,
}

/// How it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transformed {
    /// Files that were read.
    pub files: u64,
    /// Files that could not be read; each has a line.
    pub problems: u64,
}

/// Folders and the roots of their projects. The longest folder decides.
#[derive(Clone, Debug, Default)]
pub struct PlaceMap(BTreeMap<String, String>);

impl PlaceMap {
    /// From a JSON object: `{"/home/ada/shop-worktree": "/home/ada/shop"}`.
    ///
    /// # Errors
    /// When the text is none.
    pub fn parse(text: &str) -> Result<PlaceMap> {
        Ok(PlaceMap(serde_json::from_str(text)?))
    }

    /// The root of the project that a folder belongs to, where somebody said so.
    pub fn root_of(&self, cwd: &str) -> Option<String> {
        let around = Path::new(cwd).ancestors().filter_map(Path::to_str);
        let mut known = around.filter_map(|folder| self.0.get(folder));
        known.next().cloned()
    }
}

/// Reads the files that `input` names and prints what comes of them.
///
/// # Errors
/// When a line of `input` can't be understood, the settings are wrong, or `out` takes nothing. A file that can't
/// be read is a line.
pub fn transform(
    input: &mut dyn BufRead,
    out: &mut dyn Write,
    told: &TransformOptions<'_>,
) -> Result<Transformed> {
    let mut requests = Requests::default();
    let mut text = String::new();
    while input
        .read_line(&mut text)
        .context("reading standard input")?
        > 0
    {
        requests.add(&text)?;
        text.clear();
    }
    let mut requests = requests.sorted();
    let surroundings = told.surroundings;
    // there are no projects on this machine to ask, and whoever hands files over agrees to their being read
    let excluded = &surroundings.loaded.config.excluded;
    let admit = |project: Option<&str>, cwd: Option<&str>, path: &str| {
        let mut places = [project, cwd, Some(path)].into_iter().flatten();
        match places.any(|place| excluded.covers(place)) {
            true => Err("excluded".to_owned()),
            false => Ok(None),
        }
    };
    let classifier = classifiers::counter(&surroundings.home)?;
    let config = &surroundings.loaded.config;
    let rules = options::rules(config, told.host, surroundings.redaction()?, classifier);
    let setup = IngestOptions {
        roots: Vec::new(),
        rules,
        discover: DiscoverOptions::default(),
        jobs: told.jobs,
        now: told.now,
        group: None,
        admit: &admit,
    };
    let mut printer = Printer {
        out,
        run: told.run,
        done: Transformed::default(),
    };
    printer.print(kind::HEADER, &HeaderLine::own())?;
    let orders = std::mem::take(&mut requests.orders);
    let gathered = gathered(requests, told, &setup, &mut printer)?;
    match told.wants {
        TransformWants::Episodes => fold(gathered, &orders, told, &setup, &mut printer)?,
        TransformWants::Heads => print_heads(&gathered, printer.out)?,
        TransformWants::Ids => print_ids(gathered, told.jobs, printer.out)?,
    }
    printer.out.flush()?;
    Ok(printer.done)
}

/// The same as an Arrow IPC stream: a row for each line but the header.
///
/// # Errors
/// As [`transform`].
#[cfg(feature = "parquet")]
pub fn transform_to_arrow(
    input: &mut dyn BufRead,
    out: &mut dyn Write,
    told: &TransformOptions<'_>,
) -> Result<Transformed> {
    let mut lines = super::arrow::ArrowLines::begin(out)?;
    let done = transform(input, &mut lines, told)?;
    lines.finish()?;
    Ok(done)
}

/// This build can't do it.
///
/// # Errors
/// Always.
#[cfg(not(feature = "parquet"))]
pub fn transform_to_arrow(
    _: &mut dyn BufRead,
    _: &mut dyn Write,
    _: &TransformOptions<'_>,
) -> Result<Transformed> {
    let message =
        "this build of sessionmill can't write Arrow: it was built without the feature `parquet`";
    let hint = "make install (or: cargo install --path . --features parquet)";
    Err(crate::model::error::Error::usage(message)
        .hinted(hint)
        .into())
}

/// The families of the files, with what was said of each; what can't be read is printed.
fn gathered(
    requests: Requests,
    told: &TransformOptions<'_>,
    setup: &IngestOptions<'_>,
    printer: &mut Printer<'_>,
) -> Result<Gathered> {
    let Requests {
        mut found,
        others,
        memory,
        hosts,
        taken,
        ..
    } = requests;
    // as a walk finds them
    found.files.sort_by(|a, b| a.key.cmp(&b.key));
    let known = KnownLog::new(memory.last_seen());
    let root_of = |cwd: &str| told.places.root_of(cwd);
    let mut report = IngestReport::default();
    let mut gathered = gather_found(found, &known, Some(&memory), &root_of, setup, &mut report)?;
    for problem in report.problems {
        printer.problem(problem.path, problem.reason, false)?;
    }
    for (key, reason) in others.into_iter().chain(report.refused) {
        printer.problem(key, reason, true)?;
    }
    for (was, file) in &gathered.moved {
        let file_key = file.key.to_string();
        let step = LineStep {
            run: told.run,
            file: file_key,
            ..LineStep::default()
        };
        let line = MovedLine {
            step,
            was: was.clone(),
            stat: file.stat,
            path: shown(&file.key, file.compressed),
        };
        printer.print(kind::MOVED, &line)?;
    }
    name_hosts(&mut gathered, &hosts, setup);
    for family in gathered.families.iter_mut().filter(|_| !taken.is_empty()) {
        let keys = family.works.iter().map(|work| &*work.slice.file.key);
        let ids: Vec<u64> = keys
            .filter_map(|key| taken.get(key))
            .flatten()
            .copied()
            .collect();
        if !ids.is_empty() {
            family.others.get_or_insert_default().ids.extend(ids);
        }
    }
    Ok(gathered)
}

/// Files are of the hosts that were said for them.
fn name_hosts(
    gathered: &mut Gathered,
    hosts: &FxHashMap<String, String>,
    setup: &IngestOptions<'_>,
) {
    let mut of_host: FxHashMap<String, Arc<Rules>> = FxHashMap::default();
    let families = gathered.families.iter_mut();
    for work in families.flat_map(|family| family.works.iter_mut()) {
        if let Some(host) = hosts.get(&*work.slice.file.key) {
            let rules = work.rules.as_deref().unwrap_or(&setup.rules);
            let named = || {
                Arc::new(Rules {
                    host: host.clone(),
                    ..rules.clone()
                })
            };
            // rules of a project's own are few files'
            work.rules = Some(match work.rules {
                Some(_) => named(),
                None => of_host.entry(host.clone()).or_insert_with(named).clone(),
            });
        }
    }
}

fn fold(
    gathered: Gathered,
    said: &FxHashMap<String, u64>,
    told: &TransformOptions<'_>,
    setup: &IngestOptions<'_>,
    printer: &mut Printer<'_>,
) -> Result<()> {
    let works = gathered.families.iter().flat_map(|family| &family.works);
    let orders = works.map(|work| work.slice.file.key.to_string()).zip(0..);
    let orders: FxHashMap<String, u64> = orders
        .map(|(key, order)| {
            let order = said.get(&key).copied().unwrap_or(order);
            (key, order)
        })
        .collect();
    let context = FoldContext {
        rules: &setup.rules,
        tombstones: &gathered.tombstones,
        progress: &Silent,
    };
    let prepare = |mut commit: FileCommit| {
        let order = orders
            .get(&commit.checkpoint.key)
            .copied()
            .unwrap_or_default();
        let packed = commit.checkpoint.path.ends_with(".zst");
        commit.checkpoint.path = shown(&commit.checkpoint.key, packed);
        let mut lines = Vec::new();
        let written = line::write_commit(&mut lines, commit, told.run, order);
        let bytes = lines.len();
        (written.map(|()| lines), bytes)
    };
    ingest(
        gathered.families,
        context,
        told.jobs,
        &prepare,
        &mut |message| match message {
            WorkerMessage::Commit(lines, _) => Ok(printer.out.write_all(&(*lines)?)?),
            WorkerMessage::Done { key, outcome } => printer.done(key, outcome),
        },
    )
}

/// Where a file is said to be, not where its copy lies.
fn shown(key: &str, packed: bool) -> String {
    match packed {
        true => format!("{key}.zst"),
        false => key.to_owned(),
    }
}

/// Prints lines and counts.
struct Printer<'a> {
    out: &'a mut dyn Write,
    run: u64,
    done: Transformed,
}

impl Printer<'_> {
    fn print(&mut self, kind: &str, line: &impl serde::Serialize) -> Result<()> {
        let mut bytes = Vec::new();
        line::write(&mut bytes, kind, line)?;
        Ok(self.out.write_all(&bytes)?)
    }

    fn problem(&mut self, file: String, reason: String, left_out: bool) -> Result<()> {
        self.done.problems += u64::from(!left_out);
        let run = self.run;
        let line = ProblemLine {
            run,
            file,
            reason,
            left_out,
        };
        self.print(kind::PROBLEM, &line)
    }

    fn done(
        &mut self,
        file: String,
        outcome: Result<crate::pipeline::steps::ingest::file::FileTally>,
    ) -> Result<()> {
        match outcome {
            Err(error) => self.problem(file, format!("{:#}", error.root_cause()), false),
            Ok(read) => {
                self.done.files += 1;
                let line = TallyLine {
                    run: self.run,
                    file,
                    read_bytes: read.read_bytes,
                    tally: read.tally,
                };
                self.print(kind::TALLY, &line)
            }
        }
    }
}
