//! `make bench`: the figures that the pipeline must reach, in one table (`docs/performance.md`).
//!
//! `BENCH_MB` sets the size of the corpus (512), `BENCH_SMOKE=1` makes everything tiny and judges
//! nothing but the answers; so does running it without `--bench`, as `cargo test --benches` does.

#![allow(clippy::disallowed_methods)] // a bench measures time and starts the program: it is its own door

mod browse;
mod child;
mod deliver;
#[path = "../../src/tests/falkor.rs"]
#[expect(dead_code, reason = "tests ask more of it")]
mod falkor;
mod files;
mod homes;
mod kinds;
mod limit;
mod meaning;
mod measure;
mod recall;
mod renumber;
mod report;
mod repositories;
#[path = "../../src/tests/server.rs"]
#[expect(dead_code, reason = "tests ask more of it")]
mod server;
mod table;
mod tables;
#[path = "../../tests/terminal/mod.rs"]
mod terminal;
mod watch;

use sessionmill::model; // as `falkor` knows it
use std::io::{self, Write};
use std::process::ExitCode;

/// How much is measured, and how often.
pub struct Scale {
    /// Of the repeated corpus.
    pub corpus_bytes: u64,
    /// Of the one long session.
    pub session_bytes: u64,
    /// Of the one long line.
    pub line_bytes: u64,
    /// Files for the runs without news.
    pub files: usize,
    /// None of which is larger.
    pub file_bytes: u64,
    /// Of a tracked project.
    pub tracked: usize,
    /// That a graph is given, and that memory is asked for among.
    pub episodes: usize,
    /// Of the large store that a hook asks.
    pub many_episodes: usize,
    /// Of one repository, that git did and that are stored.
    pub operations: usize,
    /// That a look without news passes by.
    pub repositories: usize,
    /// Rounds of the limit and a cold run; the median counts.
    pub cold: usize,
    /// Runs without news; the median counts.
    pub idle: usize,
    /// Large enough for the bars to mean something.
    pub judged: bool,
}

const MB: u64 = 1_000_000;

impl Scale {
    fn chosen() -> Scale {
        let is_bench = std::env::args().any(|arg| arg == "--bench");
        let megabytes = std::env::var("BENCH_MB").ok().and_then(|n| n.parse().ok());
        if !is_bench || std::env::var_os("BENCH_SMOKE").is_some() {
            return Scale {
                corpus_bytes: 2 * MB,
                session_bytes: 3 * MB,
                line_bytes: 9 * MB,
                files: 30,
                file_bytes: 100_000,
                tracked: 300,
                episodes: 500,
                many_episodes: 1_000,
                operations: 500,
                repositories: 5,
                cold: 1,
                idle: 3,
                judged: false,
            };
        }
        Scale {
            corpus_bytes: megabytes.unwrap_or(512) * MB,
            session_bytes: 1_000 * MB,
            line_bytes: 256 * MB,
            files: 1_500,
            file_bytes: 300_000,
            tracked: 100_000,
            episodes: 20_000,
            many_episodes: 200_000,
            operations: 100_000,
            repositories: 50,
            cold: 7,
            idle: 20,
            judged: megabytes.is_none_or(|n| n >= 500),
        }
    }
}

fn main() -> io::Result<ExitCode> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some((_, rest)) = args
        .split_first()
        .filter(|(word, _)| *word == child::HELPER)
    {
        return child::helper(rest);
    }
    let figures = measure::all(&Scale::chosen())?;
    let mut out = io::stdout().lock();
    table::print(&mut out, &figures)?;
    out.flush()?;
    let missed = figures.iter().any(|figure| figure.passed == Some(false));
    Ok(ExitCode::from(u8::from(missed)))
}
