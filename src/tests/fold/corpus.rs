//! Invariant 3 over real logs: each file read at once, and in runs that end anywhere.

use super::*;
use crate::agents::registry;
use crate::host::read::{LogBlock, Shape};
use crate::model::source::Agent;
use crate::stages::parse::{ParseState, parse};
use std::path::{Path, PathBuf};

/// Files larger than this are left to the benches.
const FILE_BYTES_MAX: usize = 2 << 20;

fn logs() -> Vec<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    let corpus = std::env::var_os("CORPUS_DIR").map_or(beside, PathBuf::from);
    let files = walkdir::WalkDir::new(corpus.join("home/.claude")).sort_by_file_name();
    let files = files.into_iter().filter_map(Result::ok);
    let logs = files.map(walkdir::DirEntry::into_path);
    logs.filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
        .collect()
}

/// The file's whole lines from an offset on, up to about `to`.
fn entries(
    path: &Path,
    bytes: &[u8],
    resume_state: &ResumeState,
    from: (u64, u64),
    to: usize,
) -> Vec<Entry> {
    let start = from.0 as usize;
    let to = to.clamp(start, bytes.len());
    let end = memchr::memrchr(b'\n', &bytes[start..to]).map_or(start, |at| start + at + 1);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let dialect = registry::dialect(Agent::new("claude"));
    let mut state = ParseState::resume(dialect, resume_state.context.clone(), &name);
    let block = LogBlock {
        offset: from.0,
        line: from.1,
        bytes: &mut bytes[start..end].to_vec(),
        shape: Shape::Lines,
    };
    parse(dialect, &mut state, block).items
}

/// Runs that end after each of these bytes, and one over everything.
fn in_runs(path: &Path, bytes: &[u8], ends: &[usize], carry_bytes: &mut usize) -> Vec<Episode> {
    let mut folds = Folds::new(ChunkOptions::default());
    let (mut resume_state, mut from) = (ResumeState::default(), (0, 0));
    for end in ends {
        let read = entries(path, bytes, &resume_state, from, *end);
        folds.feed(&read);
        if let Some(last) = read.last() {
            folds.end = (last.place.end(), last.place.line);
        }
        let tail = folds.tail();
        *carry_bytes = value_bytes(&tail.resume_state).max(*carry_bytes);
        folds.resume();
        (resume_state, from) = (tail.resume_state, (tail.from, tail.line));
    }
    folds.feed(&entries(path, bytes, &resume_state, from, bytes.len()));
    folds.episodes()
}

#[test]
fn real_logs_give_the_same_episodes_whenever_runs_end() {
    let logs = logs();
    if logs.is_empty() {
        #[allow(clippy::print_stdout)]
        {
            println!("passed over: no corpus");
        }
        return;
    }
    let (mut carry_bytes, mut count) = (0, 0);
    for path in logs {
        let bytes = std::fs::read(&path).unwrap();
        if bytes.len() > FILE_BYTES_MAX {
            continue;
        }
        let wants = in_runs(&path, &bytes, &[], &mut carry_bytes);
        let step = bytes.len() / 7 + 1;
        let ends: Vec<usize> = (1..7).map(|i| i * step).collect();
        let found = in_runs(&path, &bytes, &ends, &mut carry_bytes);
        assert!(found == wants, "{} differs", path.display());
        assert!(wants.iter().all(|e| e.text.len() <= 12_000));
        count += wants.len();
    }
    assert!(count > 100, "{count} episodes");
    assert!(carry_bytes < 64 << 10, "{carry_bytes} bytes of carry");
}
