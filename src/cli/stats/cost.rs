//! `stats --cost`: tokens and what they cost, by day, project and model.

use crate::cli::ctx::Ctx;
use crate::memory::cost::{CostSum, Costs, prices};
use crate::memory::provenance::shown_digits;
use crate::memory::stats::more;
use crate::model::human::{count, table};
use crate::model::layout::table::narrowed;
use crate::model::usage::Usage;
use crate::store::SessionFilter;
use anyhow::Result;
use serde_json::{Value, json};

/// Prints the sums; at most `limit` rows of each table.
pub fn run(filter: &SessionFilter, limit: usize, ctx: &mut Ctx) -> Result<()> {
    let prices = prices(&ctx.home)?;
    let rows = ctx.reader()?.usage(filter)?;
    let costs = Costs::of(&rows, filter, &prices, ctx.zone);
    if ctx.out.json {
        let body = document(&costs, ctx)?;
        return ctx.out.document("stats", body);
    }
    if costs.total == CostSum::default() && costs.unrecorded == Usage::default() {
        ctx.out
            .words("", "", "no log of these sessions states tokens")?;
        return Ok(());
    }
    let columns = ctx.out.columns();
    let days = costs.by_day();
    let days = days.iter().rev().map(|(day, sum)| ((*day).to_owned(), sum));
    let mut models: Vec<(String, &CostSum)> = Vec::new();
    for (model, sum) in &costs.models {
        let name = match model.as_str() {
            "" => "(not named)",
            name => name,
        };
        models.push((name.to_owned(), sum));
    }
    let mut projects: Vec<(String, &CostSum)> = Vec::new();
    for ((namespace, path), sum) in &costs.projects {
        projects.push((ctx.project_name(namespace, path)?, sum));
    }
    for rows in [&mut models, &mut projects] {
        rows.sort_by(|(a, x), (b, y)| y.usd.total_cmp(&x.usd).then_with(|| a.cmp(b)));
    }
    for (head, rows) in [
        ("day", days.collect()),
        ("model", models),
        ("project", projects),
    ] {
        ctx.out.text(sums(head, &rows, limit, columns))?;
        ctx.out.line("")?;
    }
    footer(&costs, ctx)
}

/// The total, what it is made of, and what it leaves out.
fn footer(costs: &Costs, ctx: &mut Ctx) -> Result<()> {
    let total = format!(
        "total: {}, at the API prices of {} (subscriptions are billed differently)",
        dollars(&costs.total),
        costs.as_of,
    );
    ctx.out.words("", "", &total)?;
    let unpriced = costs.unpriced();
    if !unpriced.is_empty() {
        let names = unpriced.iter().map(|(model, tokens)| match *model {
            "" => format!("a model that is not named ({} tokens)", count(*tokens)),
            model => format!("{model} ({} tokens)", count(*tokens)),
        });
        let file = ctx.home.tables().join("prices.yaml");
        let line = format!(
            "no price known: {}. Add yours to {}",
            names.collect::<Vec<_>>().join(", "),
            file.display(),
        );
        ctx.out.warn(&line)?;
    }
    let unrecorded = costs.unrecorded.total();
    if unrecorded > 0 {
        let line = format!(
            "{} tokens are in no sum: an older version stored them without their models; read their logs again: sessionmill run --rebuild",
            count(unrecorded),
        );
        ctx.out.warn(&line)?;
    }
    Ok(())
}

fn sums(head: &str, rows: &[(String, &CostSum)], limit: usize, columns: Option<usize>) -> String {
    let heads = [head, "input", "output", "cache read", "cache write", "cost"];
    let mut cells = vec![heads.map(String::from).to_vec()];
    cells.extend(rows.iter().take(limit).map(|(name, sum)| {
        let usage = &sum.usage;
        vec![
            name.clone(),
            count(usage.input),
            count(usage.output),
            count(usage.cache_read),
            count(usage.cache_write),
            dollars(sum),
        ]
    }));
    narrowed(&mut cells, columns);
    more(table(&cells, &[1, 2, 3, 4, 5]), rows.len(), limit)
}

/// `$1.20`; `≥ $1.20` where some of the tokens have no price; `–` where none has.
fn dollars(sum: &CostSum) -> String {
    let cents = (sum.usd * 100.0).round() as u64;
    let amount = format!("${}.{:02}", count(cents / 100), cents % 100);
    match sum.unpriced {
        0 => amount,
        all if all == sum.usage.total() => "–".to_owned(),
        _ => format!("≥ {amount}"),
    }
}

fn document(costs: &Costs, ctx: &mut Ctx) -> Result<Value> {
    let days = costs.days.iter().flat_map(|(day, models)| {
        models.iter().map(move |(model, sum)| {
            let mut row = sum_document(sum);
            row["day"] = day.as_str().into();
            row["model"] = model.as_str().into();
            row
        })
    });
    let days: Vec<Value> = days.collect();
    let mut projects = Vec::with_capacity(costs.projects.len());
    for ((namespace, path), sum) in &costs.projects {
        let mut row = sum_document(sum);
        row["namespace"] = namespace.as_str().into();
        row["project_path"] = match ctx.hides_paths_of(path)? {
            true => shown_digits(namespace).into(),
            false => path.as_str().into(),
        };
        projects.push(row);
    }
    let models = costs.models.iter().map(|(model, sum)| {
        let mut row = sum_document(sum);
        row["model"] = model.as_str().into();
        row
    });
    let unpriced = costs.unpriced().into_iter();
    let unpriced = unpriced.map(|(model, tokens)| json!({"model": model, "tokens": tokens}));
    Ok(json!({
        "prices_as_of": costs.as_of,
        "total": sum_document(&costs.total),
        "days": days,
        "models": models.collect::<Vec<Value>>(),
        "projects": projects,
        "unpriced": unpriced.collect::<Vec<Value>>(),
        "unrecorded": costs.unrecorded,
    }))
}

fn sum_document(sum: &CostSum) -> Value {
    json!({
        "usage": sum.usage,
        "usd": (sum.usd * 1e6).round() / 1e6,
        "unpriced_tokens": sum.unpriced,
    })
}
