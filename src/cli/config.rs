//! `config`: the settings in force, where each comes from, and their schema.

use super::ctx::Ctx;
use super::exit::Exit;
use super::out::Style;
use crate::agents::registry;
use crate::config;
use crate::config::change::{KeyChange, SettingsFile, settings_at};
use crate::config::edit::Edited;
use crate::model::layout::table::{TextList, WORDS_MIN};
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
    /// Print one setting, or all below a key
    Get(KeyArgs),
    /// Change one setting; the rest of the file, comments included, stays as it is
    ///
    /// VALUE is JSON (true, 5, ["a", "b"]) or plain text.
    Set {
        #[command(flatten)]
        key: KeyArgs,
        /// The new value
        #[arg(value_name = "VALUE", allow_hyphen_values = true)]
        value: String,
    },
    /// Remove one setting, so that its default applies
    Unset(KeyArgs),
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

#[derive(clap::Args, Debug)]
struct KeyArgs {
    /// The setting, as `config show` prints it, for example schedule.interval
    #[arg(value_name = "KEY")]
    key: String,
    /// In tracking-config.json instead of graphiti.config.json
    #[arg(long)]
    tracking: bool,
}

/// Prints, changes or checks settings.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    match &args.verb {
        Verb::Show => show(ctx)?,
        Verb::Get(key) => get(key, ctx)?,
        Verb::Set { key, value } => change(key, Some(value), ctx)?,
        Verb::Unset(key) => change(key, None, ctx)?,
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
        let value = ctx.out.paint(Style::Bold, &shown(&setting.value));
        vec![key, format!("{value} · {}{note}", setting.origin)]
    });
    let list = TextList {
        words_min: WORDS_MIN,
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

/// A setting's value as JSON; a list has places where a line may end.
fn shown(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(Value::to_string).collect();
            format!("[{}]", items.join(", "))
        }
        value => value.to_string(),
    }
}

fn get(args: &KeyArgs, ctx: &mut Ctx) -> Result<()> {
    let found = settings_at(&args.key, args.file(), &ctx.env, registry::log_folders)?;
    if ctx.out.json {
        let settings = found.iter();
        let settings = settings.map(|(key, value)| json!({"key": key, "value": value}));
        let settings: Vec<Value> = settings.collect();
        return ctx
            .out
            .document("config get", json!({"settings": settings}));
    }
    for (key, value) in &found {
        let shown = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        match *key == args.key {
            true => ctx.out.line(shown)?,
            false => ctx.out.line(format!("{key} = {value}"))?,
        }
    }
    Ok(())
}

fn change(args: &KeyArgs, value: Option<&str>, ctx: &mut Ctx) -> Result<()> {
    let (key, file) = (args.key.as_str(), args.file());
    let change = KeyChange { file, key, value };
    let edited = change.apply(&ctx.env, registry::log_folders)?;
    let path = change.path(&ctx.env);
    if ctx.out.json {
        let body = json!({"key": key, "file": path, "changed": edited != Edited::Same});
        let verb = value.map_or("config unset", |_| "config set");
        return ctx.out.document(verb, body);
    }
    let now = settings_at(key, file, &ctx.env, registry::log_folders).unwrap_or_default();
    let now = now.first().filter(|(name, _)| name == key);
    let now = now.map_or("not set".to_owned(), |(_, value)| value.to_string());
    let path = path.display();
    match edited {
        Edited::Same if value.is_none() => ctx.out.did(format!("{key} is not set in {path}")),
        Edited::Same => ctx.out.did(format!("{key} is {now} already ({path})")),
        _ => ctx.out.did(format!("{key} is now {now} ({path})")),
    }
}

impl KeyArgs {
    fn file(&self) -> SettingsFile {
        match self.tracking {
            true => SettingsFile::Tracking,
            false => SettingsFile::Settings,
        }
    }
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
