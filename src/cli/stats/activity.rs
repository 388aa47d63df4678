//! `stats --activity`: the kinds of work by week and by project.

use crate::cli::activity::word;
use crate::cli::ctx::Ctx;
use crate::memory::places::Places;
use crate::memory::session_activity::Mean;
use crate::memory::stats::more;
use crate::model::activity::Dimension;
use crate::model::human::{count, table};
use crate::model::layout::style::width;
use crate::model::layout::table::{TextList, WORDS_MIN};
use crate::store::SessionFilter;
use anyhow::Result;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Means of the sessions that began in one week (ISO, in the reader's zone; `None`: at no known
/// time), and of those of one project.
struct Means {
    weeks: BTreeMap<Option<String>, Mean>,
    projects: BTreeMap<(String, String), Mean>,
}

/// Prints both; at most `limit` rows of each.
pub fn run(filter: &SessionFilter, limit: usize, ctx: &mut Ctx) -> Result<()> {
    let means = means(filter, ctx)?;
    if ctx.out.json {
        let body = json!({
            "weeks": means.weeks.iter().map(week).collect::<Vec<Value>>(),
            "projects": means.projects.iter().map(project).collect::<Vec<Value>>(),
        });
        return ctx.out.document("stats", body);
    }
    let weeks = means.weeks.iter().rev();
    let weeks = weeks.map(|(name, mean)| (name.clone().unwrap_or("–".to_owned()), mean));
    let weeks: Vec<(String, &Mean)> = weeks.collect();
    ctx.out
        .text(rows("week", &weeks, limit, ctx.out.columns()))?;
    ctx.out.line("")?;
    let mut projects: Vec<(String, &Mean)> = Vec::with_capacity(means.projects.len());
    for ((namespace, path), mean) in &means.projects {
        projects.push((ctx.project_name(namespace, path)?, mean));
    }
    projects.sort_by_key(|(_, mean)| std::cmp::Reverse(mean.sessions));
    ctx.out
        .text(rows("project", &projects, limit, ctx.out.columns()))
}

fn means(filter: &SessionFilter, ctx: &mut Ctx) -> Result<Means> {
    let judge = ctx.judge()?;
    let store = ctx.reader()?;
    let mut means = Means {
        weeks: BTreeMap::new(),
        projects: BTreeMap::new(),
    };
    let places = Places::of(&store)?;
    for row in store.sessions(filter)? {
        let session = &row.session;
        let activity = judge.activity(&store.activity(&session.id)?);
        let began = session.facts.started.or(session.facts.ended);
        let week = began.map(|time| ctx.zone.show(time).format("%G-W%V").to_string());
        means.weeks.entry(week).or_default().add(&activity, began);
        let project = places.project_of(&session.namespace, &session.project_path);
        means
            .projects
            .entry(project)
            .or_default()
            .add(&activity, began);
    }
    Ok(means)
}

/// A column for each kind of work; where they don't fit, those that it was.
fn rows(
    what: &'static str,
    means: &[(String, &Mean)],
    limit: usize,
    columns: Option<usize>,
) -> String {
    let names = Dimension::ALL.map(Dimension::as_str);
    let head = [what, "sessions"].into_iter().chain(names);
    let mut cells = vec![head.map(String::from).collect::<Vec<_>>()];
    cells.extend(means.iter().take(limit).map(|(name, mean)| {
        let vector = mean.vector();
        let amounts = Dimension::ALL.map(|d| format!("{:.2}", vector.get(d)));
        let mut row = vec![name.clone(), count(mean.sessions)];
        row.extend(amounts);
        row
    }));
    let right: Vec<usize> = (1..names.len() + 2).collect();
    let whole = table(&cells, &right);
    let fits = columns.is_none_or(|columns| whole.lines().all(|line| width(line) <= columns));
    let shown = match fits {
        true => whole,
        false => {
            let means = means.iter().take(limit);
            let profile = |(name, mean): &(String, &Mean)| {
                vec![name.clone(), count(mean.sessions), mean.vector().profile()]
            };
            let list = TextList {
                words_min: WORDS_MIN,
                heads: vec![what, "sessions", "kind of work"],
                rows: means.map(profile).collect(),
            };
            list.text(columns)
        }
    };
    more(shown, means.len(), limit)
}

fn week((name, mean): (&Option<String>, &Mean)) -> Value {
    let mut row = document(mean);
    row["week"] = name.as_deref().into();
    row
}

fn project(((namespace, path), mean): (&(String, String), &Mean)) -> Value {
    let mut row = document(mean);
    row["namespace"] = namespace.as_str().into();
    row["project_path"] = path.as_str().into();
    row
}

fn document(mean: &Mean) -> Value {
    let primaries = mean.primaries.iter();
    let primaries = primaries.map(|(primary, n)| (word(*primary).to_owned(), json!(n)));
    json!({
        "sessions": mean.sessions,
        "since": mean.since.map(|t| t.rfc3339_millis()),
        "vector": mean.vector(),
        "primaries": primaries.collect::<Map<String, Value>>(),
    })
}
