//! What the web page of all sessions costs: `report --html` over a home that a run has read.

use crate::MB;
use crate::child;
use crate::homes::Home;
use crate::table::{Figure, judged};
use std::io;

/// Time, size and memory, the first two for each gigabyte of logs.
pub fn measure(home: &Home, figures: &mut Vec<Figure>) -> io::Result<()> {
    let page = home.root.join("report.html");
    let name = page.to_string_lossy().into_owned();
    let run = child::run(&home.root, &["report", "--html", &name])?;
    let size = std::fs::metadata(&page)?.len();
    std::fs::remove_file(&page)?;
    let gigabytes = home.bytes as f64 / 1e9;
    let seconds = run.wall.as_secs_f64();
    let megabytes = size as f64 / 1e6;
    figures.push(judged(
        "report --html, for each GB of logs",
        format!(
            "{:.2} s, {:.1} MB",
            seconds / gigabytes,
            megabytes / gigabytes
        ),
        "≤ 1 s, ≤ 3 MB",
        seconds <= gigabytes && megabytes <= 3.0 * gigabytes,
    ));
    figures.push(judged(
        "peak memory of report --html",
        format!("{:.0} MB", run.peak as f64 / 1e6),
        "≤ 100 MB",
        run.peak <= 100 * MB,
    ));
    Ok(())
}
