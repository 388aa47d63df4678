//! `eval`: the rules against labelled truth.

use super::ctx::Ctx;
use super::exit::Exit;
use super::human::table;
use crate::pipeline::eval::{Figure, figures};
use crate::rules::classify::Classifier;
use anyhow::Result;
use serde_json::json;
use std::path::PathBuf;

/// Measure the rules against examples labelled by hand
///
/// Prints every figure whose file is there: commands.jsonl, tools.jsonl, sessions.jsonl,
/// sessions_short.jsonl. A figure below its bar is exit 1.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The folder with the labelled examples
    #[arg(long, value_name = "DIR")]
    truth: PathBuf,
    /// The folder below which the sessions' logs are [default: ../corpus/home beside the examples]
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Print the examples that miss
    #[arg(long)]
    misses: bool,
}

/// Prints the table.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let beside = || args.truth.join("../corpus/home");
    let corpus = args.corpus.clone().unwrap_or_else(beside);
    let figures = figures(&args.truth, &corpus, &Classifier::default())?;
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

fn row(figure: &Figure) -> Vec<String> {
    let percent = |n: f64| format!("{:.1} %", n * 100.0);
    let share = |n: u64| percent(n as f64 / figure.of.max(1) as f64);
    let sign = if figure.at_most { "≤" } else { "≥" };
    let bar = figure.bar.map(|bar| format!("{sign} {:.0} %", bar * 100.0));
    vec![
        figure.name.clone(),
        figure.of.to_string(),
        share(figure.strict),
        share(figure.lenient),
        bar.unwrap_or_default(),
    ]
}
