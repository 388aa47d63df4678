//! `search`: words in, ranked episodes with their provenance out.

use super::activity::{self, Asked};
use super::ctx::Ctx;
use super::exit::Exit;
use super::human;
use super::out::{Out, Style};
use super::places::{self, Filters, Reach};
use crate::memory::activity::Judge;
use crate::memory::query;
use crate::memory::recall::{Answer, recall};
use crate::model::activity::ActivityTally;
use crate::model::episode::EpisodeSource;
use crate::store::{Hit, Keeps, Query, Snippet};
use anyhow::Result;
use serde_json::{Value, json};

/// Find episodes by words, the best first
///
/// All words have to be there; where no episode has them all, those with some are shown. Quotes
/// make a phrase, `pars*` finds what begins so, `-- -word` leaves out what has it. Names are found
/// whole and by their parts: `config` finds parse_config and parseConfig.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// What to look for; without words, the latest episodes that the filters let through
    #[arg(value_name = "WORDS")]
    words: Vec<String>,
    #[command(flatten)]
    filters: Filters,
    #[command(flatten)]
    asked: Asked,
    /// Only this kind of episode
    #[arg(long, value_name = "KIND", value_parser = source)]
    source: Vec<EpisodeSource>,
    /// Not this kind of episode
    #[arg(long, value_name = "KIND", value_parser = source)]
    exclude_source: Vec<EpisodeSource>,
    /// Only episodes that used this tool; `*` stands for anything
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,
    /// Only episodes that name a path like this: a part of it, or a glob
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// Only this session: its id, or its beginning
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// At most so many
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10)]
    limit: u32,
}

fn source(word: &str) -> Result<EpisodeSource, String> {
    let known = || EpisodeSource::ALL.map(EpisodeSource::as_str).join(", ");
    EpisodeSource::parse(word).ok_or_else(|| format!("write one of {}", known()))
}

/// Searches; a search without a hit is exit 1.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let reach = places::scope(&args.filters, ctx)?;
    let query = meant(args, &reach, ctx);
    let judge = activity::judge(ctx)?;
    let wanted = args.asked.activity.as_ref();
    let fits = wanted.map(|wanted| |tally: &ActivityTally| wanted.fits(&judge.activity(tally)));
    let keeps = fits.as_ref().map(|fits| fits as &Keeps<'_>);
    let answer = recall(&ctx.reader()?, &query, &reach.scope, keeps)?;
    if ctx.out.json {
        let list = answer.hits.iter().map(|hit| document(hit, &judge, ctx));
        let list: Vec<Value> = list.collect::<Result<_>>()?;
        let body = json!({"loosened": answer.loosened, "reason": answer.reason, "hits": list});
        ctx.out.document("search", body)?;
    } else {
        print_all(&answer, ctx)?;
    }
    Ok(match answer.hits.is_empty() {
        true => Exit::Failed,
        false => Exit::Done,
    })
}

fn print_all(answer: &Answer, ctx: &mut Ctx) -> Result<()> {
    if answer.loosened {
        ctx.out.note("no episode has all words; these have some")?;
    }
    for hit in &answer.hits {
        print(hit, ctx)?;
    }
    match answer.reason {
        Some(reason) => ctx.out.warn(reason),
        None if answer.hits.is_empty() => ctx.out.note("nothing found"),
        None => Ok(()),
    }
}

fn meant(args: &Args, reach: &Reach, ctx: &Ctx) -> Query {
    Query {
        project: reach.project.clone(),
        agent: args.filters.agent,
        since: args.filters.since(ctx),
        until: args.filters.until(ctx),
        sources: args.source.clone(),
        not_sources: args.exclude_source.clone(),
        tool: args.tool.clone(),
        file: args.file.clone(),
        session: args.session.clone(),
        ..query::parse(&line(&args.words), args.limit)
    }
}

/// Arguments that the shell kept in one piece are phrases.
fn line(words: &[String]) -> String {
    let quoted = words.iter().map(|word| {
        let phrase = words.len() > 1 && word.contains(char::is_whitespace) && !word.contains('"');
        match (phrase, word.strip_prefix('-')) {
            (true, Some(unwanted)) => format!("-\"{unwanted}\""),
            (true, None) => format!("\"{word}\""),
            (false, _) => word.clone(),
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

fn print(hit: &Hit, ctx: &mut Ctx) -> Result<()> {
    let id = hit.episode.to_string();
    let title = match (&hit.session_title, hit.title.is_empty()) {
        (Some(title), true) => title,
        _ => &hit.title,
    };
    let title = ctx.out.paint(Style::Bold, title);
    let time = human::time(hit.valid_at, ctx.zone);
    let part = match &hit.stream {
        Some(stream) => format!(
            "{}, sub-agent {stream}, part {}",
            hit.agent.as_str(),
            hit.part
        ),
        None if hit.source == EpisodeSource::SessionSummary => {
            format!("{}, summary", hit.agent.as_str())
        }
        None if hit.source == EpisodeSource::Text => "memory".to_owned(),
        None => format!("{}, part {}", hit.agent.as_str(), hit.part),
    };
    ctx.out
        .line(format!("{}  {time}  {title}", places::short(&id, 8)))?;
    let place = places::origin_of(&hit.namespace, &hit.project_path, ctx)?;
    let origin = format!("  {place} {part}");
    let origin = ctx.out.paint(Style::Dim, &origin);
    ctx.out.line(origin)?;
    let snippet = marked(&hit.snippet, &ctx.out);
    ctx.out.line(format!("  {snippet}"))?;
    ctx.out.line("")
}

/// The snippet with its matches painted; where nothing is painted, as it is.
fn marked(snippet: &Snippet, out: &Out) -> String {
    let mut text = String::new();
    let mut at = 0;
    for (from, to) in &snippet.marks {
        let (Some(before), Some(hit)) = (snippet.text.get(at..*from), snippet.text.get(*from..*to))
        else {
            continue;
        };
        text.push_str(before);
        text.push_str(&out.paint(Style::Match, hit));
        at = *to;
    }
    text.push_str(snippet.text.get(at..).unwrap_or_default());
    let before = if snippet.cut_before { "… " } else { "" };
    let after = if snippet.cut_after { " …" } else { "" };
    format!("{before}{}{after}", text.trim())
}

fn document(hit: &Hit, judge: &Judge, ctx: &mut Ctx) -> Result<Value> {
    let document = json!({
        "episode": hit.episode.to_string(),
        "session": hit.session,
        "title": hit.title,
        "session_title": hit.session_title,
        "namespace": hit.namespace,
        "project_path": hit.project_path,
        "agent": hit.is_of_a_log().then(|| hit.agent.as_str()),
        "source": hit.source.as_str(),
        "stream": hit.stream,
        "part": hit.part,
        "sealed": hit.sealed,
        "valid_at": hit.valid_at.map(|t| t.rfc3339_millis()),
        "path": hit.is_of_a_log().then_some(&hit.path),
        "bytes": [hit.bytes.from, hit.bytes.to],
        "lines": [hit.lines.0, hit.lines.1],
        "score": hit.score,
        "snippet": hit.snippet,
        "activity": activity::document(&judge.activity(&hit.activity)),
    });
    places::veiled(document, &hit.project_path, ctx)
}
