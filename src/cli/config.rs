//! `config`: the settings in force, where each comes from, and their schema.

use super::ctx::Ctx;
use super::exit::Exit;
use super::out::Style;
use crate::config;
use crate::model::human;
use crate::pipeline::steps::enrich::llm_summary::template;
use anyhow::Result;
use serde_json::{Value, json};

/// The settings in force, where each comes from, and their schema
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand, Debug)]
enum Verb {
    /// Print every setting with its value and where that comes from
    Show,
    /// Read the settings files and say what is wrong with them
    Validate,
    /// Print where the settings file is
    Path,
    /// Print the JSON Schema of the settings file
    Schema {
        /// Of tracking-config.json instead of graphiti.config.json
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
    let rows: Vec<Vec<String>> = loaded
        .settings
        .iter()
        .map(|setting| {
            let note = setting
                .note
                .as_ref()
                .map(|n| format!(" ({n})"))
                .unwrap_or_default();
            vec![
                setting.key.clone(),
                setting.value.to_string(),
                format!("{}{note}", setting.origin),
            ]
        })
        .collect();
    ctx.out.text(human::table(&rows, &[]))?;
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
        ctx.out.did("no settings file; the defaults hold")?;
    }
    for note in &loaded.notes {
        ctx.out.note(note)?;
    }
    Ok(())
}
