//! One table: figure, measured, what it must reach. Knows how to print; refuses to judge.

use std::io::{self, Write};

/// One row.
pub struct Figure {
    /// What was measured.
    pub name: String,
    /// With its unit.
    pub measured: String,
    /// The bar, empty for figures that are only told.
    pub bar: String,
    /// `None`: there is no bar, or the run was too small to be judged by it.
    pub passed: Option<bool>,
}

/// A figure without a bar.
pub fn told(name: &str, measured: String) -> Figure {
    Figure {
        name: name.into(),
        measured,
        bar: String::new(),
        passed: None,
    }
}

/// A figure with a bar.
pub fn judged(name: &str, measured: String, bar: &str, passed: bool) -> Figure {
    Figure {
        name: name.into(),
        measured,
        bar: bar.into(),
        passed: Some(passed),
    }
}

/// Prints the table in Markdown, so that it can be pasted into `docs/performance.md`.
pub fn print(out: &mut dyn Write, figures: &[Figure]) -> io::Result<()> {
    let head = ["figure", "measured", "must reach", ""];
    let rows: Vec<[&str; 4]> = figures.iter().map(Figure::cells).collect();
    let widths: Vec<usize> = (0..4)
        .map(|column| {
            let cells = rows.iter().map(|row| row[column]);
            cells
                .chain([head[column]])
                .map(|c| c.chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    line(out, &widths, &head)?;
    let dashes: Vec<String> = widths.iter().map(|w| "-".repeat(*w)).collect();
    line(
        out,
        &widths,
        &std::array::from_fn(|column| dashes[column].as_str()),
    )?;
    for row in &rows {
        line(out, &widths, row)?;
    }
    Ok(())
}

impl Figure {
    fn cells(&self) -> [&str; 4] {
        let mark = match self.passed {
            Some(true) => "ok",
            Some(false) => "MISSED",
            None => "",
        };
        [&self.name, &self.measured, &self.bar, mark]
    }
}

fn line(out: &mut dyn Write, widths: &[usize], cells: &[&str; 4]) -> io::Result<()> {
    for (cell, width) in cells.iter().zip(widths) {
        write!(out, "| {cell:<width$} ")?;
    }
    writeln!(out, "|")
}
