//! What is measured, and by which bar.

use crate::child::{self, Run};
use crate::homes::{self, Home, logs_below};
use crate::kinds::{self, Kinds};
use crate::table::{Figure, judged, told};
use crate::{MB, Scale, deliver, files, limit, recall, report, repositories, tables, watch};
use sessionmill::store::{Access, Store};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

/// All figures, in the order of the table.
pub fn all(scale: &Scale) -> io::Result<Vec<Figure>> {
    let corpus = homes::corpus();
    let folder = tempfile::Builder::new()
        .prefix("sessionmill-bench-")
        .tempdir()?;
    let below = |name: &str| folder.path().join(name);
    let mut figures = vec![told("corpus", short(&corpus)), program()?];

    let home = homes::repeated(&corpus, &below("repeated"), scale.corpus_bytes)?;
    let peak = cold(scale, &home, &mut figures)?;
    std::fs::remove_dir_all(&home.root)?;

    let home = homes::one_long_session(&corpus, &below("session"), scale.session_bytes)?;
    memory("one long session file", &home, peak, &mut figures)?;
    std::fs::remove_dir_all(&home.root)?;

    let home = homes::one_long_line(&below("line"), scale.line_bytes)?;
    memory("one long line", &home, peak, &mut figures)?;
    std::fs::remove_dir_all(&home.root)?;

    let home = homes::many(&corpus, &below("many"), scale.files, scale.file_bytes)?;
    idle(scale, &home, &mut figures)?;
    watch::measure(scale, &home, &mut figures)?;
    std::fs::remove_dir_all(&home.root)?;

    files::measure(scale, &below("files"), &mut figures)?;
    repositories::measure(scale, &below("repositories"), &mut figures)?;
    recall::measure(scale, &below("talks"), &mut figures)?;
    for figure in figures.iter_mut().filter(|_| !scale.judged) {
        figure.passed = None;
    }
    Ok(figures)
}

/// How large what people install is.
fn program() -> io::Result<Figure> {
    let size = std::fs::metadata(env!("CARGO_BIN_EXE_sessionmill"))?.len();
    let text = format!("{:.1} MB", megabytes(size));
    Ok(judged("the program", text, "≤ 15 MB", size <= 15 * MB))
}

/// One round: the limit, a cold run, and what telling the kind of work takes, one right after the
/// other, so that a host that gets slower slows all of them.
struct Round {
    /// Bytes per second.
    limit: f64,
    run: Run,
    kinds: Kinds,
}

/// Cold runs into a fresh store, against the limit. Gives the peak memory.
fn cold(scale: &Scale, home: &Home, figures: &mut Vec<Figure>) -> io::Result<u64> {
    let mut rounds = Vec::new();
    for _ in 0..scale.cold {
        let limit = limit::measure(&home.root)?;
        home.forget()?;
        let run = child::run(&home.root, &["run", "--json"])?;
        answers(home, &run)?;
        let kinds = kinds::measure(&homes::corpus())?;
        rounds.push(Round { limit, run, kinds });
    }
    let store = home.store_bytes()? as f64 / home.bytes as f64;
    let bytes = home.bytes as f64;
    let peak = rounds.iter().map(|round| round.run.peak).max().unwrap_or(0);
    let mid = |of: &dyn Fn(&Round) -> f64| middle(rounds.iter().map(of).collect());
    let speed = |round: &Round| bytes / round.run.wall.as_secs_f64();
    let ratio = mid(&|round| speed(round) / round.limit);
    let kinds = mid(&|round| round.kinds.per_byte() * bytes / round.run.cpu.as_secs_f64());
    let threads = std::thread::available_parallelism()?;
    let files = home.files;
    let logs = format!(
        "{:.0} MB in {files} files, {threads} cores",
        megabytes(home.bytes)
    );
    figures.push(told("logs", logs));
    figures.push(told(
        "limit: simd-json tapes, one thread",
        rate(mid(&|round| round.limit)),
    ));
    let wall = mid(&|round| round.run.wall.as_secs_f64());
    let cpu = mid(&|round| round.run.cpu.as_secs_f64());
    let run = format!("{}, {wall:.2} s, CPU {cpu:.2} s", rate(mid(&speed)));
    figures.push(told("cold run", run));
    let text = format!("{ratio:.2}");
    figures.push(judged("cold run ÷ limit", text, "≥ 0.30", ratio >= 0.30));
    let each = format!("{:.1} s", cpu / (bytes / 1e9));
    figures.push(told("its CPU time, for each GB of logs", each));
    let text = format!("{:.0} MB", megabytes(peak));
    figures.push(judged("its peak memory", text, "≤ 80 MB", peak <= 80 * MB));
    let text = format!("{:.1}%", store * 100.0);
    figures.push(judged("store ÷ logs", text, "≤ 8%", store <= 0.08));
    let text = format!("{:.1}%", kinds * 100.0);
    figures.push(judged(
        "kinds of work: share of a cold run",
        text,
        "≤ 8%",
        kinds <= 0.08,
    ));
    let command = mid(&|round| round.kinds.per_command().as_secs_f64() * 1e6);
    figures.push(told("one shell command judged", format!("{command:.2} µs")));
    report::measure(home, figures)?;
    tables::measure(home, figures)?;
    deliver::measure(scale, home, wall, figures)?;
    Ok(peak)
}

/// The middle one.
fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Peak memory of one run over one extreme file; it must be that of the cold run, or less.
fn memory(name: &str, home: &Home, peak: u64, figures: &mut Vec<Figure>) -> io::Result<()> {
    let run = child::run(&home.root, &["run", "--json"])?;
    answers(home, &run)?;
    let bar = format!("≤ {:.0} MB", megabytes(peak) * 1.1);
    let measured = format!(
        "{:.0} MB ({:.0} MB in {:.2} s)",
        megabytes(run.peak),
        megabytes(home.bytes),
        run.wall.as_secs_f64()
    );
    figures.push(judged(
        &format!("peak memory, {name}"),
        measured,
        &bar,
        run.peak * 10 <= peak * 11,
    ));
    let again = child::run(&home.root, &["run", "--json"])?;
    assert_eq!(log_bytes(&again)?, 0, "a second run reads nothing");
    Ok(())
}

/// Runs without news, and with one line of news.
fn idle(scale: &Scale, home: &Home, figures: &mut Vec<Figure>) -> io::Result<()> {
    answers(home, &child::run(&home.root, &["run", "--json"])?)?;
    let before = std::fs::read(database(home))?;
    let mut runs = (0..scale.idle)
        .map(|_| child::run(&home.root, &["run", "--json"]))
        .collect::<io::Result<Vec<Run>>>()?;
    assert!(
        before == std::fs::read(database(home))?,
        "a run without news changed the store"
    );
    let read = log_bytes(&runs[0])?;
    let all = runs.iter().map(|run| run.read).max().unwrap_or(0);
    let median = median(&mut runs);
    let name = format!("no news in {} files", home.files);
    figures.push(judged(
        &name,
        milliseconds(median),
        "≤ 8 ms",
        median.wall.as_micros() <= 8_000,
    ));
    let measured = format!("{read} B of logs, {:.0} kB in all", all as f64 / 1e3);
    figures.push(judged(
        "bytes read by it",
        measured,
        "0 B of logs",
        read == 0,
    ));
    news(scale, home, figures)
}

/// A line appended to one file after another, a run after each.
fn news(scale: &Scale, home: &Home, figures: &mut Vec<Figure>) -> io::Result<()> {
    let logs = logs_below(&home.root.join(".claude"))?;
    let (mut runs, mut over) = (Vec::new(), i64::MIN);
    let step = (logs.len() / scale.idle).max(1);
    for (nth, log) in logs.iter().step_by(step).take(scale.idle).enumerate() {
        let tail = open_tail(home, log)?;
        // just now: an agent is at work
        let now = chrono::Utc::now().format("%Y-%m-%dT%H:%M:%S%.3fZ");
        let line = format!(
            "{{\"type\":\"user\",\"uuid\":\"00000000-0000-4000-8000-{nth:012}\",\"timestamp\":\
             \"{now}\",\"sessionId\":\"x\",\"cwd\":\"/home/ada/shop\",\
             \"message\":{{\"role\":\"user\",\"content\":\"One more line\"}}}}\n"
        );
        OpenOptions::new()
            .append(true)
            .open(log)?
            .write_all(line.as_bytes())?;
        let run = child::run(&home.root, &["run", "--json"])?;
        over = over.max(log_bytes(&run)? as i64 - tail as i64);
        runs.push(run);
    }
    let median = median(&mut runs);
    figures.push(judged(
        "one line appended",
        milliseconds(median),
        "≤ 15 ms",
        median.wall.as_micros() <= 15_000,
    ));
    let measured = format!("open tail {:+.1} kB at most", over as f64 / 1e3);
    figures.push(judged(
        "bytes read by it",
        measured,
        "≤ open tail + 64 kB",
        over <= 64 * 1024,
    ));
    Ok(())
}

/// What a run must have found, whatever its speed: every file read, every line with a fate,
/// something kept.
fn answers(home: &Home, run: &Run) -> io::Result<()> {
    let report = report(run)?;
    let number = |key: &str| report[key].as_u64().unwrap_or(0);
    let fates = report["ledger"]["lines"].as_object().into_iter().flatten();
    let reasons = fates.flat_map(|(_, reasons)| reasons.as_object().into_iter().flatten());
    let lines: u64 = reasons.filter_map(|(_, lines)| lines.as_u64()).sum();
    let pending = report["ledger"]["pending"].as_u64().unwrap_or(0);
    assert_eq!(lines + pending, home.lines()?, "lines with a fate");
    assert_eq!(number("files_read"), home.files as u64, "files read");
    assert!(
        number("episodes_new") > 0 && number("text_bytes") > 0,
        "nothing was kept"
    );
    Ok(())
}

/// Bytes from the checkpoint to the end of what was read of a file.
fn open_tail(home: &Home, log: &Path) -> io::Result<u64> {
    let checkpoints = open(home)?.checkpoints().map_err(io::Error::other)?;
    let here = checkpoints.iter().find(|c| Path::new(&c.path) == log);
    Ok(here.map_or(0, |c| c.read_to.saturating_sub(c.offset)))
}

/// The bytes of logs that a run says it read.
fn log_bytes(run: &Run) -> io::Result<u64> {
    let bytes = report(run)?["bytes_read"].as_u64();
    bytes.ok_or_else(|| io::Error::other("`run --json` doesn't say how much it read"))
}

fn report(run: &Run) -> io::Result<serde_json::Value> {
    Ok(serde_json::from_str(&run.stdout)?)
}

fn open(home: &Home) -> io::Result<Store> {
    Store::open(&database(home), Access::ReadOnly).map_err(io::Error::other)
}

fn database(home: &Home) -> std::path::PathBuf {
    home.root.join(".graphiti/sessionmill.db")
}

/// The last two parts of a path.
fn short(path: &Path) -> String {
    let parts: Vec<_> = path.iter().rev().take(2).collect();
    let parts = parts.iter().rev().map(|part| part.to_string_lossy());
    parts.collect::<Vec<_>>().join("/")
}

/// The one in the middle.
pub fn median(runs: &mut [Run]) -> &Run {
    runs.sort_by_key(|run| run.wall);
    &runs[runs.len() / 2]
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / MB as f64
}

fn rate(bytes_per_second: f64) -> String {
    format!("{:.0} MB/s", bytes_per_second / MB as f64)
}

/// `12.3 ms, CPU 10.1 ms`.
pub fn milliseconds(run: &Run) -> String {
    let [wall, cpu] = [run.wall, run.cpu].map(|time| time.as_secs_f64() * 1e3);
    format!("{wall:.1} ms, CPU {cpu:.1} ms")
}
