//! Rows of what stands in an episode's text, item by item: messages, tool calls, commands, tests, files.

use super::call::{Call, FAILED};
use super::row::{Cell, Rows, TableRow};
use super::schema::Name;
use super::source::{ProjectNames, StoredEpisode, whose};
use crate::model::exchange::{ItemKind, words_of};
use crate::model::finding::{FileFate, Finding, TestCounts};
use crate::model::item::{Mark, apart};
use crate::model::summary::short_path;
use crate::rules::commands;
use crate::rules::tools::AnswerKind;

/// What the rows of one episode have in common.
pub(super) struct EpisodeRows<'a> {
    pub session: &'a str,
    pub stored: &'a StoredEpisode,
    pub project: &'a ProjectNames,
    /// The project's folder, as logs name it.
    pub root: &'a str,
}

impl EpisodeRows<'_> {
    /// Adds the rows of all items; none where an older program stored the episode, or its text is elsewhere.
    pub(super) fn add(&self, rows: &mut Rows) {
        let episode = &self.stored.episode;
        let texts = apart(&episode.text, &episode.outline).unwrap_or_default();
        for (nth, (text, mark)) in texts.into_iter().zip(&episode.outline).enumerate() {
            match mark.kind {
                ItemKind::Digest => self.add_call(nth, text, mark, rows),
                kind => self.add_message(nth, text, kind, mark, rows),
            }
        }
    }

    /// The first columns of an item's row, with its own behind them.
    fn row(&self, nth: usize, mark: &Mark, own: impl IntoIterator<Item = Cell>) -> TableRow {
        let episode = &self.stored.episode;
        let mut row = TableRow::from(whose(self.session, self.stored.agent, self.project));
        row.extend([
            episode.id.to_string().into(),
            nth.into(),
            episode.stream.clone().into(),
            mark.line.into(),
            episode.valid_at.into(),
        ]);
        row.extend(own);
        row
    }

    fn add_message(&self, nth: usize, text: &str, kind: ItemKind, mark: &Mark, rows: &mut Rows) {
        let words = words_of(text);
        let is_task = text.len() > words.len() && text.starts_with("Task: ");
        let kind = match kind {
            ItemKind::Prompt if is_task => "task",
            ItemKind::Prompt => "prompt",
            ItemKind::Aside => "aside",
            ItemKind::Agent => "answer",
            ItemKind::Error => "error",
            ItemKind::Note | ItemKind::Digest => "note",
        };
        let own = [kind.into(), words.into(), words.len().into()];
        rows.push(Name::Messages, self.row(nth, mark, own));
    }

    fn add_call(&self, nth: usize, text: &str, mark: &Mark, rows: &mut Rows) {
        let call = Call::of(text, &mark.findings);
        let own = [
            call.tool.into(),
            call.kind.as_str().into(),
            call.input.into(),
            call.result.into(),
            call.status.into(),
        ];
        rows.push(Name::ToolCalls, self.row(nth, mark, own));
        let command = call.input.filter(|_| call.kind == AnswerKind::Shell);
        if let Some(line) = command {
            let own = command_cells(line, &call);
            rows.push(Name::Commands, self.row(nth, mark, own));
        }
        for own in test_cells(command, &mark.findings) {
            rows.push(Name::Tests, self.row(nth, mark, own));
        }
        let hides = self.project.path.is_none();
        for (file, own) in changed(&mark.findings).into_iter().enumerate() {
            let path = short_path(own.path, self.root, hides).unwrap_or(own.path);
            let own = [
                file.into(),
                path.into(),
                own.change.into(),
                own.added.into(),
                own.removed.into(),
            ];
            rows.push(Name::FilesChanged, self.row(nth, mark, own));
        }
    }
}

fn command_cells(line: &str, call: &Call<'_>) -> [Cell; 8] {
    let command = commands::classify(line);
    let name = match &command.subcommand {
        Some(subcommand) => format!("{} {subcommand}", command.base),
        None => command.base.clone(),
    };
    [
        line.into(),
        command.base.into(),
        name.into(),
        command.classification.intent.as_str().into(),
        call.status.into(),
        (call.status == FAILED).into(),
        call.exit_code
            .filter(|_| call.status == FAILED)
            .map(Cell::Int)
            .into(),
        call.result.into(),
    ]
}

/// A run and the coverage behind it are one row.
fn test_cells(command: Option<&str>, findings: &[Finding]) -> Vec<[Cell; 10]> {
    let mut runs: Vec<(Option<&TestCounts>, Option<u32>)> = Vec::new();
    for finding in findings {
        match (finding, runs.last_mut()) {
            (Finding::Tests(counts), _) => runs.push((Some(counts), None)),
            (Finding::Coverage(coverage), Some(last)) if last.1.is_none() => {
                last.1 = Some(*coverage);
            }
            (Finding::Coverage(coverage), _) => runs.push((None, Some(*coverage))),
            _ => {}
        }
    }
    let cells = |(nth, (counts, coverage)): (usize, (Option<&TestCounts>, Option<u32>))| {
        [
            nth.into(),
            command.into(),
            counts.map(|counts| counts.runner.as_str()).into(),
            counts.map(|counts| counts.passed).into(),
            counts.map(|counts| counts.failed).into(),
            counts.map(|counts| counts.skipped).into(),
            counts
                .into_iter()
                .flat_map(|counts| counts.failures.clone())
                .collect(),
            counts.is_some_and(|counts| counts.partial).into(),
            counts.is_some_and(|counts| counts.packages).into(),
            coverage
                .map(|hundredths| f64::from(hundredths) / 100.0)
                .into(),
        ]
    };
    runs.into_iter().enumerate().map(cells).collect()
}

/// What one call did to one file.
struct Changed<'f> {
    path: &'f str,
    change: &'static str,
    added: u64,
    removed: u64,
}

/// In the order in which they were found; lines and fate of a file are one.
fn changed(findings: &[Finding]) -> Vec<Changed<'_>> {
    let mut all: Vec<Changed<'_>> = Vec::new();
    for finding in findings {
        let (path, change, added, removed) = match finding {
            Finding::Changed {
                path,
                added,
                removed,
            } => (path, EDITED, *added, *removed),
            Finding::File { path, became } => (path, fate(*became), 0, 0),
            _ => continue,
        };
        match all.iter_mut().find(|known| known.path == path.as_str()) {
            Some(known) => {
                if change != EDITED {
                    known.change = change;
                }
                known.added += added;
                known.removed += removed;
            }
            None => all.push(Changed {
                path,
                change,
                added,
                removed,
            }),
        }
    }
    all
}

const EDITED: &str = "edited";

fn fate(became: FileFate) -> &'static str {
    match became {
        FileFate::Created => "created",
        FileFate::Deleted => "deleted",
        FileFate::Dropped => "dropped",
        FileFate::Restored => "restored",
    }
}
