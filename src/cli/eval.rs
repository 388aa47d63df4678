//! `eval`: the rules and the ranking against labelled truth.

use super::ctx::Ctx;
use super::exit::Exit;
use crate::model::error::Error;
use crate::model::human::table;
use crate::pipeline::check::defaults_at;
use crate::pipeline::eval::{Figure, PARTS, WITHOUT_LOGS, figures, recall};
use crate::pipeline::progress::Silent;
use crate::rules::classify::Classifier;
use anyhow::Result;
use clap::builder::PossibleValuesParser;
use serde_json::json;
use std::path::PathBuf;

/// Measure rules and ranking against labeled examples
///
/// Prints every figure whose file is there: commands.jsonl, tools.jsonl, secrets.jsonl,
/// sessions.jsonl, sessions_short.jsonl, recall.jsonl. Exits 1 if a figure is below its bar. For
/// recall, reads the logs into a temporary store.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// A folder with labeled examples; may be repeated
    #[arg(long, value_name = "DIR", required = true)]
    truth: Vec<PathBuf>,
    /// A folder that contains the sessions' logs; may be repeated [default: ../corpus/home
    /// beside the examples]
    #[arg(long, value_name = "DIR")]
    corpus: Vec<PathBuf>,
    /// Measure only these: commands, tools, secrets, sessions, sessions_short, recall
    #[arg(long, value_name = "PARTS", value_delimiter = ',', hide_possible_values = true,
        value_parser = PossibleValuesParser::new(PARTS))]
    only: Vec<String>,
    /// List the examples that were missed
    #[arg(long)]
    misses: bool,
}

impl Args {
    /// The folders that are there.
    fn corpora(&self) -> Vec<PathBuf> {
        let beside = self.truth.iter().map(|truth| truth.join("../corpus/home"));
        let mut all: Vec<PathBuf> = self.corpus.clone().into_iter().chain(beside).collect();
        all.retain(|corpus| corpus.is_dir());
        all
    }

    fn parts(&self) -> Vec<String> {
        match self.only.is_empty() {
            true => PARTS.map(String::from).to_vec(),
            false => self.only.clone(),
        }
    }
}

/// Prints the table.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    if let Some(gone) = args.truth.iter().find(|truth| !truth.is_dir()) {
        let error = Error::usage(format!("there is no folder {}", gone.display()));
        return Err(error.hinted("sessionmill eval --truth DIR").into());
    }
    let figures = measured(args, ctx)?;
    if figures.is_empty() {
        let error = Error::usage("there is no file with examples in these folders");
        return Err(error
            .hinted(
                "commands.jsonl, tools.jsonl, secrets.jsonl, sessions.jsonl, sessions_short.jsonl, recall.jsonl",
            )
            .into());
    }
    let exit = match figures.iter().all(|figure| figure.holds() != Some(false)) {
        true => Exit::Done,
        false => Exit::Failed,
    };
    if ctx.out.json {
        ctx.out.document("eval", json!({"figures": figures}))?;
        return Ok(exit);
    }
    let head = ["figure", "examples", "strict", "lenient", "bar"];
    let mut rows = vec![head.map(String::from).to_vec()];
    rows.extend(figures.iter().map(row));
    ctx.out.text(table(&rows, &[1, 2, 3, 4]))?;
    if args.misses {
        for figure in &figures {
            ctx.out.line(format!("\n{}", figure.name))?;
            for miss in &figure.misses {
                ctx.out.line(format!("  {}", miss.replace('\n', " ")))?;
            }
        }
    }
    Ok(exit)
}

fn measured(args: &Args, ctx: &mut Ctx) -> Result<Vec<Figure>> {
    let mut parts = args.parts();
    let corpora = args.corpora();
    if corpora.is_empty() {
        let missed = |part: &&String| !WITHOUT_LOGS.contains(&part.as_str());
        let missed: Vec<&str> = parts.iter().filter(missed).map(String::as_str).collect();
        if !missed.is_empty() {
            let missed = missed.join(", ");
            ctx.out.warn(format!(
                "there are no logs for {missed}: name them with --corpus"
            ))?;
        }
        parts.retain(|part| WITHOUT_LOGS.contains(&part.as_str()));
    }
    let mut all = Vec::new();
    for truth in &args.truth {
        all.extend(figures(truth, &corpora, &parts, &Classifier::default())?);
        if let (Some(asked), Some(corpus)) = (recall::asked(truth, &parts)?, corpora.first()) {
            let pipeline = ctx.pipeline("backfill")?;
            let loaded = defaults_at(corpus)?;
            let cx = ctx.pipeline_context(&loaded, &Silent);
            all.extend(recall::measured(&asked, &pipeline, &cx)?);
        }
    }
    Ok(all)
}

fn row(figure: &Figure) -> Vec<String> {
    let percent = |n: f64| format!("{:.1}%", n * 100.0);
    let share = |n: u64| match figure.mean {
        Some(mean) => format!("{mean:.3}"),
        None => percent(n as f64 / figure.of.max(1) as f64),
    };
    let sign = if figure.at_most { "≤" } else { "≥" };
    // as many digits as it has: `≥ 95%`, `≤ 0.5%`
    let percent = |bar: f64| (bar * 1_000.0).round() / 10.0;
    let bar = figure.bar.map(|bar| format!("{sign} {}%", percent(bar)));
    vec![
        figure.name.clone(),
        figure.of.to_string(),
        share(figure.strict),
        share(figure.lenient),
        bar.unwrap_or_default(),
    ]
}
