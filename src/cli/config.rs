//! `config`: the settings in force, where each comes from, and their schema.

use super::ctx::Ctx;
use super::exit::Exit;
use super::out::Style;
use crate::config;
use crate::model::layout::table::TextList;
use crate::pipeline::steps::enrich::llm_summary::template;
use anyhow::Result;
use serde_json::{Value, json};

/// Show, check and change settings
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand, Debug)]
enum Verb {
    /// Show every setting with its value and origin
    Show,
    /// Check the settings files for errors
    Validate,
    /// Print the path of the settings file
    Path,
    /// Print the JSON Schema of the settings file
    Schema {
        /// Print the schema of tracking-config.json instead
        #[arg(long)]
        tracking: bool,
    },
}

/// Prints or validates settings.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    match args.verb {
        Verb::Show => show(ctx)?,
        Verb::Validate => validate(ctx)?,
        Verb::Path => {
            let path = ctx.home.config();
            match ctx.out.json {
                true => ctx.out.document("config path", json!({"path": path}))?,
                false => ctx.out.line(path.to_string_lossy())?,
            }
        }
        Verb::Schema { tracking } => {
            let schema = match tracking {
                true => config::tracking_schema(),
                false => config::schema(),
            };
            ctx.out.line(serde_json::to_string_pretty(&schema)?)?;
        }
    }
    Ok(Exit::Done)
}

fn show(ctx: &mut Ctx) -> Result<()> {
    let loaded = ctx.settings()?;
    if ctx.out.json {
        let settings = loaded.settings.iter().map(|setting| {
            json!({
                "key": setting.key,
                "value": setting.value,
                "origin": setting.origin.to_string(),
                "note": setting.note,
            })
        });
        let body = json!({
            "files": loaded.files,
            "settings": settings.collect::<Vec<Value>>(),
            "warnings": loaded.warnings,
            "notes": loaded.notes,
        });
        return ctx.out.document("config show", body);
    }
    let rows = loaded.settings.iter().map(|setting| {
        let note = setting.note.as_ref();
        let note = note.map(|note| format!(" ({note})")).unwrap_or_default();
        let key = setting.key.clone();
        let value = ctx.out.paint(Style::Bold, &setting.value.to_string());
        vec![key, format!("{value}  {}{note}", setting.origin)]
    });
    let list = TextList {
        heads: vec!["SETTING", "VALUE AND WHERE IT COMES FROM"],
        rows: rows.collect(),
    };
    ctx.out.text(list.text(ctx.out.columns()))?;
    for note in &loaded.notes {
        let note = ctx.out.paint(Style::Dim, note);
        ctx.out.note(note)?;
    }
    Ok(())
}

/// Loading is validating: what is wrong is the error, with its file and line.
fn validate(ctx: &mut Ctx) -> Result<()> {
    let loaded = ctx.settings()?;
    template(&loaded.config)?;
    if ctx.out.json {
        let body = json!({"valid": true, "files": loaded.files, "warnings": loaded.warnings, "notes": loaded.notes});
        return ctx.out.document("config validate", body);
    }
    for file in &loaded.files {
        ctx.out.did(format!("{}: ok", file.display()))?;
    }
    if loaded.files.is_empty() {
        ctx.out.did("no settings file; the defaults apply")?;
    }
    for note in &loaded.notes {
        ctx.out.note(note)?;
    }
    Ok(())
}
