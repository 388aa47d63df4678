//! What tables cost: `export --parquet` over a home that a run has read, and again when nothing changed. How fast
//! DuckDB answers the questions of docs/sql.md over them, where `make test-tables` has installed it.

use crate::MB;
use crate::child;
use crate::homes::Home;
use crate::table::{Figure, judged, told};
use std::io;
use std::path::Path;
use std::process::Command;

/// Time, size and memory; the time for each gigabyte of logs.
pub fn measure(home: &Home, figures: &mut Vec<Figure>) -> io::Result<()> {
    let folder = home.root.join("tables");
    let name = folder.to_string_lossy().into_owned();
    let export = ["export", "--parquet", &name, "--json"];
    let first = child::run(&home.root, &export)?;
    let (written, bytes) = (
        number(&first.stdout, "files"),
        number(&first.stdout, "bytes"),
    );
    let gigabytes = home.bytes as f64 / 1e9;
    figures.push(told(
        "export --parquet, for each GB of logs",
        format!(
            "{:.2} s, {:.1} MB in {written} files",
            first.wall.as_secs_f64() / gigabytes,
            bytes as f64 / 1e6 / gigabytes
        ),
    ));
    figures.push(judged(
        "its peak memory",
        format!("{:.0} MB", first.peak as f64 / 1e6),
        "≤ 150 MB",
        first.peak <= 150 * MB,
    ));
    let again = child::run(&home.root, &export)?;
    let wall_ms = again.wall.as_secs_f64() * 1e3;
    let touched = number(&again.stdout, "files_written");
    figures.push(judged(
        "again, nothing changed, for each GB of logs",
        format!("{:.0} ms, {touched} files written", wall_ms / gigabytes),
        "≤ 200 ms, 0 files",
        wall_ms <= 200.0 * gigabytes.max(1.0) && touched == 0,
    ));
    let slowest = questions(&folder)?;
    figures.extend(slowest.map(|slowest_ms| {
        judged(
            "the slowest of 15 questions to DuckDB",
            format!("{slowest_ms:.0} ms"),
            "≤ 100 ms",
            slowest_ms <= 100.0,
        )
    }));
    std::fs::remove_dir_all(&folder)
}

/// A number of an export's report.
fn number(report: &str, field: &str) -> u64 {
    let report: serde_json::Value = serde_json::from_str(report).unwrap_or_default();
    report[field].as_u64().unwrap_or(0)
}

/// Milliseconds of the slowest; `None`: there is no DuckDB.
fn questions(tables: &Path) -> io::Result<Option<f64>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = root.join("target/tables/bin/python");
    if !python.exists() {
        return Ok(None);
    }
    let asked = Command::new(python)
        .arg(root.join("scripts/read-tables.py"))
        .arg(tables)
        .arg(root.join("docs/sql.md"))
        .args(["--time", "100000"])
        .output()?;
    let said = String::from_utf8_lossy(&asked.stdout).into_owned();
    let times = said.lines().filter_map(|line| {
        let (ms, _) = line.trim().split_once(" ms")?;
        ms.parse().ok()
    });
    Ok(times.reduce(f64::max))
}
