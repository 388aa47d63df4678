//! `export`: what is stored as tables, for SQL and dataframes.

use super::ctx::Ctx;
use super::exit::Exit;
use crate::config::trust::{Trust, Trusts};
use crate::model::human::{bytes, count, plural};
use crate::pipeline::progress::Silent;
use crate::pipeline::tables::{TablesOptions, TablesReport, export};
use crate::store::Store;
use anyhow::Result;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Write your sessions as tables for SQL (Parquet)
///
/// Sessions, messages, commands, tests, changed files, decisions, tokens, cost and more. Writes only what changed since the last export into the same folder; what was forgotten is removed there. If
/// nothing changed, no file is touched. docs/tables.md lists the tables, docs/sql.md has questions with their SQL.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Write Parquet files into this folder
    #[arg(long, value_name = "DIR")]
    parquet: PathBuf,
    /// Write every file again
    #[arg(long)]
    full: bool,
    /// Include untrusted projects
    #[arg(long)]
    allow_untrusted: bool,
}

/// Writes the tables.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let loaded = ctx.settings()?;
    let store = ctx.reader()?;
    let folder = ctx.env.cwd.join(&args.parquet);
    let options = TablesOptions {
        full: args.full,
        without: match args.allow_untrusted {
            true => BTreeSet::new(),
            false => untrusted(&store, ctx)?,
        },
        is_scratch: false,
    };
    let mut cx = ctx.pipeline_context(&loaded, &Silent);
    let report = export(&store, &folder, &options, &mut cx)?;
    if ctx.out.json {
        let mut body = serde_json::to_value(&report)?;
        body["dir"] = json!(folder);
        ctx.out.document("export", body)?;
        return Ok(Exit::Done);
    }
    for line in lines(&report, &folder) {
        ctx.out.did(line)?;
    }
    Ok(Exit::Done)
}

/// Projects that an agent was told not to trust.
fn untrusted(store: &Store, ctx: &Ctx) -> Result<BTreeSet<String>> {
    let trusts = Trusts::load(&ctx.env)?;
    let projects = store.projects("")?.into_iter().map(|(_, path)| path);
    Ok(projects
        .filter(|path| trusts.of(path) == Trust::Untrusted)
        .collect())
}

fn lines(report: &TablesReport, folder: &Path) -> Vec<String> {
    let whole = format!(
        "{}: {} rows in {}, {}",
        folder.display(),
        count(report.rows.values().sum()),
        plural(report.files, "file"),
        bytes(report.bytes)
    );
    if report.is_nothing() {
        return vec![format!("{whole}; nothing changed")];
    }
    let mut parts = vec![format!(
        "wrote {} ({}) for {}",
        plural(report.files_written, "file"),
        bytes(report.bytes_written),
        plural(report.changed, "new or changed session")
    )];
    if report.removed > 0 {
        parts.push(format!(
            "removed {} that are no longer in the store",
            plural(report.removed, "session")
        ));
    }
    vec![parts.join(", "), whole]
}
