//! `report`: one page that shows what all sessions came to, and pages of the sessions.

mod data;

use super::ctx::Ctx;
use super::exit::Exit;
use super::pages::{self, Page};
use super::session_filters::{self, Filters};
use super::show;
use crate::model::error::{Error, ErrorKind};
use crate::model::file_name;
use crate::model::human::{bytes, plural};
use anyhow::Result;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Write web pages: an overview, and each session to read
///
/// A page is one file: it opens from disk, loads nothing from the network, and contains what its charts
/// show. It holds words of your sessions (titles, decisions, what is open), with secrets masked and
/// paths shortened; look at it before you send it on.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Write the report to this file
    #[arg(long, value_name = "FILE", required_unless_present = "sessions")]
    html: Option<PathBuf>,
    /// Write a page for each session into this folder
    #[arg(long, value_name = "DIR")]
    sessions: Option<PathBuf>,
    #[command(flatten)]
    filters: Filters,
}

/// The chart library; see `scripts/refresh-charts`.
const CHARTS: &str = include_str!("../pages/uplot/uPlot.iife.min.js");
const CHARTS_STYLE: &str = include_str!("../pages/uplot/uPlot.min.css");
const SCRIPT: &str = include_str!("report.js");
const STYLE: &str = include_str!("report.css");
const BODY: &str = include_str!("report.html");

/// Writes the pages.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let reach = session_filters::scope(&args.filters, ctx)?;
    let filter = session_filters::sessions(&reach, &args.filters, ctx)?;
    let mut body = json!({});
    if let Some(dir) = &args.sessions {
        let dir = ctx.env.cwd.join(dir);
        let written = write_sessions(&dir, &filter, ctx)?;
        body["sessions"] = json!({"dir": dir, "written": written});
        if !ctx.out.json {
            let pages = plural(written, "session page");
            ctx.out.did(format!("wrote {pages} to {}", dir.display()))?;
        }
    }
    if let Some(file) = &args.html {
        let file = ctx.env.cwd.join(file);
        let mut data = data::collect(&filter, ctx)?;
        data["pages"] = match &args.sessions {
            Some(dir) => link_base(&file, &ctx.env.cwd.join(dir)).into(),
            None => Value::Null,
        };
        let page = Page {
            title: "Agent sessions",
            styles: &[CHARTS_STYLE, STYLE],
            body: BODY,
            data: Some(&data),
            scripts: &[CHARTS, SCRIPT],
        };
        let text = page.text();
        pages::write(&file, &text)?;
        body["html"] = json!({"file": file, "bytes": text.len()});
        if !ctx.out.json {
            let size = bytes(text.len() as u64);
            ctx.out.did(format!("wrote {} ({size})", file.display()))?;
        }
    }
    if ctx.out.json {
        ctx.out.document("report", body)?;
    }
    Ok(Exit::Done)
}

/// How a page names the folder of the others: from its own folder where that is above, else whole.
fn link_base(file: &Path, dir: &Path) -> String {
    let own = file.parent().unwrap_or(Path::new("/"));
    let base = match dir.strip_prefix(own) {
        Ok(below) => below.display().to_string(),
        Err(_) => format!("file://{}", dir.display()),
    };
    match base.is_empty() {
        true => String::new(),
        false => format!("{}/", percent_encoded(&base)),
    }
}

/// A path as an address has it.
fn percent_encoded(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' | b':' => {
                out.push(char::from(byte));
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

fn write_sessions(dir: &Path, filter: &crate::store::SessionFilter, ctx: &mut Ctx) -> Result<u64> {
    fs::create_dir_all(dir)
        .map_err(|error| Error::new(ErrorKind::Failed, format!("{}: {error}", dir.display())))?;
    let rows = ctx.reader()?.sessions(filter)?;
    let mut written = 0;
    for row in rows {
        let file = dir.join(format!("{}.html", file_name::own(&row.session.id)));
        show::write_page(&row.session.id, &file, ctx)?;
        written += 1;
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_named_from_where_the_report_is() {
        let base = |file: &str, dir: &str| link_base(Path::new(file), Path::new(dir));
        assert_eq!(base("/a/r.html", "/a/b c"), "b%20c/");
        assert_eq!(base("/a/r.html", "/a"), "");
        assert_eq!(base("/a/r.html", "/b"), "file:///b/");
    }
}
