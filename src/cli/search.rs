//! `search`: words in, ranked episodes with their provenance out.

use super::activity::{self, ActivityFilter};
use super::ctx::Ctx;
use super::exit::Exit;
use super::graph;
use super::out::Style;
use super::session_filters::{self, Filters};
use crate::agents::registry;
use crate::insight::summary::{TITLES, commits};
use crate::memory::named_days::named_days;
use crate::memory::query_parser::{self, Meant};
use crate::memory::rank::Near;
use crate::memory::reach::Reach;
use crate::memory::recall::{RecallQuestion, recall};
use crate::memory::respelled::{other_forms, respelled};
use crate::memory::scopes::Scope;
use crate::memory::session_activity::Judge;
use crate::memory::session_hits::{SessionAnswer, is_of_a_talk, recall_sessions, ungrouped};
use crate::memory::session_outcome::outcome_of;
use crate::memory::session_summary::title_of;
use crate::memory::when::When;
use crate::model::activity::ActivityTally;
use crate::model::embedding::Meaning;
use crate::model::episode::{EpisodeSource, Operation};
use crate::model::error::Error;
use crate::model::human::{self, plural};
use crate::model::layout::markdown::{excerpt, plain};
use crate::model::layout::table::{INDENT, entry};
use crate::model::shell;
use crate::model::summary::is_quiet;
use crate::pipeline::last_run::unread;
use crate::pipeline::meaning::{MeaningRequest, excuse};
use crate::store::{Hit, Keeps, Query, Snippet, Store, TYPED};
use crate::tracking::git_history::commit_hint;
use anyhow::Result;
use serde_json::{Value, json};

/// Search sessions and memories, best match first
///
/// Finds what contains all of the words, as typed. Other forms of a word count only if the word itself
/// occurs nowhere. If nothing contains all of the words, finds what contains some of them. Each session
/// is listed once, with its best match (--all-parts lists all matches).
///
/// Quotes make a phrase, `pars*` matches a prefix, `this OR that` matches either, `-- -word` excludes a
/// word. Names match whole and in parts: `config` finds parse_config and parseConfig. Fields filter, as in
/// `retry since:14d tool:Bash`: project, agent, tool, file, source, operation, activity, session, since,
/// until (docs/memory.md).
#[derive(clap::Args, Debug)]
pub struct Args {
    /// What to search for; without words, lists the newest sessions that pass the filters
    #[arg(value_name = "WORDS")]
    words: Vec<String>,
    #[command(flatten)]
    filters: Filters,
    #[command(flatten)]
    asked: ActivityFilter,
    /// Only episodes of this kind: session, session_summary, filesystem_watch, git_metadata, git_context,
    /// git_bulk_update, text, json, message
    #[arg(long, value_name = "KIND", value_parser = query_parser::source)]
    source: Vec<EpisodeSource>,
    /// No episodes of this kind
    #[arg(long, value_name = "KIND", value_parser = query_parser::source)]
    exclude_source: Vec<EpisodeSource>,
    /// Only these operations: create, update, delete, move, rename, git_metadata, git_context
    #[arg(long, value_name = "OPERATION", value_parser = query_parser::operation)]
    operation: Vec<Operation>,
    /// None of these operations
    #[arg(long, value_name = "OPERATION", value_parser = query_parser::operation)]
    exclude_operation: Vec<Operation>,
    /// Only what was known at that time; a named day is included
    #[arg(long, value_name = "WHEN")]
    as_of: Option<When>,
    /// Only episodes that used this tool; `*` matches anything
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,
    /// Only episodes that mention this path: part of it, or a glob
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// Only this session: its id, or a prefix of it
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Show every matching part of a session, not only the best
    #[arg(long)]
    all_parts: bool,
    /// Maximum results (0 = no limit)
    #[arg(
        long,
        short = 'n',
        value_name = "N",
        default_value_t = 10,
        allow_negative_numbers = true
    )]
    limit: u32,
    /// Query a Graphiti server for facts and show the sessions they come from
    #[arg(long)]
    graph: bool,
    /// With --graph: the sink to query [default: the first Graphiti server with REST]
    #[arg(long, value_name = "SINK", requires = "graph")]
    sink: Option<String>,
}

impl Args {
    fn limit(&self) -> u32 {
        match self.limit {
            0 => u32::MAX,
            limit => limit,
        }
    }
}

/// Searches; a search without a hit is exit 1.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let typed = typed(args, ctx)?;
    let mut filters = args.filters.clone();
    // whose memory may be seen depends on the project, however it was given
    filters.project = typed.project.clone().or(filters.project);
    let reach = session_filters::scope(&filters, ctx)?;
    if args.graph {
        let asked = graph::GraphRequest {
            words: args.words.join(" "),
            sink: args.sink.as_deref(),
            allow_untrusted: filters.allow_untrusted,
            limit: args.limit(),
        };
        return graph::run(&asked, &reach, ctx);
    }
    let judge = ctx.judge()?;
    let wanted = typed.activity.as_ref().or(args.asked.activity.as_ref());
    let store = ctx.reader()?;
    let meaning = meaning(&typed, &reach, &store, ctx)?;
    let fits = wanted.map(|wanted| |tally: &ActivityTally| wanted.fits(&judge.activity(tally)));
    let question = RecallQuestion {
        keeps: fits.as_ref().map(|fits| fits as &Keeps<'_>),
        near: Near {
            project: reach.present.clone(),
            files: Vec::new(),
            days: named_days(&args.words.join(" "), ctx.now),
        },
        as_of: args.as_of.map(|when| when.end(ctx.now, ctx.zone)),
        meaning,
        ..RecallQuestion::new(meant(args, typed.query, ctx), &reach.scope)
    };
    let found = match ctx.out.json || args.all_parts {
        true => ungrouped(recall(&store, &question)?),
        false => recall_sessions(&store, &question)?,
    };
    let answer = &found.answer;
    if ctx.out.json {
        let document = |hit: &Hit, ctx: &mut Ctx| document(hit, &store, &judge, ctx);
        let list = session_filters::documents(&answer.hits, document, ctx)?;
        let body = json!({
            "loosened": answer.loosened,
            "reason": answer.reason,
            "confidence": answer.confidence,
            "folded": answer.folded,
            "hits": list,
        });
        ctx.out.document("search", body)?;
    } else {
        let printer = Printer {
            store: &store,
            judge: &judge,
            all_parts: args.all_parts,
            has_words: !question.query.terms.is_empty(),
        };
        printer.print_all(&found, ctx)?;
        let is_found = !answer.loosened && !answer.hits.is_empty();
        other_words(args, is_found, (&store, &question), ctx)?;
        if answer.hits.is_empty() {
            name_commits(args, &store, &reach, ctx)?;
        }
    }
    Ok(match answer.hits.is_empty() {
        true => Exit::Failed,
        false => Exit::Done,
    })
}

/// What the words mean.
fn typed(args: &Args, ctx: &Ctx) -> Result<Meant, Error> {
    let dates = |field: &str, value: &str| When::of_field(field, value, ctx.now, ctx.zone);
    let meant = query_parser::read(
        &joined(&args.words),
        args.limit(),
        &dates,
        registry::doer_named,
    )?;
    if !args.words.is_empty() && meant.is_empty() {
        let error = Error::usage("there is no word to look for");
        return Err(error.hinted("sessionmill search redis; without words it lists the latest"));
    }
    Ok(meant)
}

/// What the words mean, where a model is configured; trouble with it is a warning.
fn meaning(typed: &Meant, reach: &Reach, store: &Store, ctx: &mut Ctx) -> Result<Option<Meaning>> {
    if typed.query.terms.is_empty() || matches!(reach.scope, Scope::Nothing(_)) {
        return Ok(None);
    }
    let loaded = ctx.settings()?;
    let asked = MeaningRequest {
        words: &typed.words,
        loaded: &loaded,
        env: &ctx.env,
        now: ctx.now,
    };
    match crate::pipeline::meaning::meaning(&asked, store) {
        Ok(meaning) => Ok(meaning),
        Err(error) => {
            ctx.out.warn(excuse(&error))?;
            Ok(None)
        }
    }
}

/// How hits are printed.
struct Printer<'a> {
    store: &'a Store,
    judge: &'a Judge,
    all_parts: bool,
    /// Something was looked for; else these are the latest.
    has_words: bool,
}

impl Printer<'_> {
    fn print_all(&self, found: &SessionAnswer, ctx: &mut Ctx) -> Result<()> {
        let answer = &found.answer;
        if answer.loosened {
            ctx.out
                .note("no episode contains all of the words; these contain some")?;
        }
        for (hit, more) in answer.hits.iter().zip(&found.more) {
            let is_session = !self.all_parts && is_of_a_talk(hit);
            let id = match is_session {
                true => self.store.session_shown(&hit.session, TYPED)?,
                false => ctx.episode_shown(hit.episode)?,
            };
            let part = if is_session { None } else { Some(part(hit)) };
            self.print(hit, (&id, part), ctx)?;
            let more = (*more > 0 && self.has_words).then(|| {
                let parts = plural(u64::from(*more), "more part");
                let verb = if *more == 1 { "matches" } else { "match" };
                format!("{parts} of this session {verb} (--all-parts)")
            });
            let folded = (hit.folded > 0).then(|| {
                let alike = plural(u64::from(hit.folded), "similar episode");
                format!("{alike} not shown")
            });
            for more in more.iter().chain(&folded) {
                ctx.out
                    .words(INDENT, INDENT, &ctx.out.paint(Style::Dim, more))?;
            }
            ctx.out.line("")?;
        }
        match answer.reason {
            Some(reason) => ctx.out.warn(reason),
            None if answer.hits.is_empty() => nothing(ctx),
            None => Ok(()),
        }
    }

    fn print(&self, hit: &Hit, (id, part): (&str, Option<String>), ctx: &mut Ctx) -> Result<()> {
        let row = self.store.session(&hit.session)?;
        let is_whole = hit.title.is_empty() || part.is_none();
        let named = row.as_ref().filter(|_| is_whole);
        let named = named.map(|row| title_of(row, self.store)).transpose()?;
        let title = named.flatten().unwrap_or_else(|| hit.title.clone());
        let title = ctx.out.paint(Style::Bold, &human::title(&plain(&title)));
        let has_doer = hit.is_of_a_log() || hit.source.has_doer() || part.is_none();
        let agent = if has_doer { hit.agent.as_str() } else { "" };
        let by_meaning = hit.similarity.is_some() && hit.snippet.marks.is_empty();
        let mut cells = vec![
            session_filters::origin_of(&hit.namespace, &hit.project_path, ctx)?,
            session_filters::age(hit.valid_at, ctx),
            agent.to_owned(),
            part.unwrap_or_default(),
        ];
        if is_of_a_talk(hit) {
            let work = self.judge.activity(&self.store.activity(&hit.session)?);
            let ended = row.and_then(|row| row.session.facts.ended);
            cells.push(session_filters::outcome(
                outcome_of(self.store, &hit.session)?,
                is_quiet(ended.or(hit.valid_at), ctx.now),
            ));
            cells.push(work.word().to_owned());
        }
        cells.extend(by_meaning.then(|| "by meaning".to_owned()));
        ctx.out.text(entry(id, &title, &cells, ctx.out.columns()))?;
        // a talk's beginning says nothing where nothing was looked for
        if !self.has_words && is_of_a_talk(hit) {
            return Ok(());
        }
        let Snippet {
            text,
            marks,
            cut_before,
            cut_after,
        } = &hit.snippet;
        let paint = |hit: &str| ctx.out.paint(Style::Match, hit);
        let words = excerpt(text, marks, (*cut_before, *cut_after), &TITLES, paint);
        let before = if *cut_before { "… " } else { "" };
        let after = if *cut_after { " …" } else { "" };
        ctx.out
            .words(INDENT, INDENT, &format!("{before}{words}{after}"))
    }
}

/// What looks for commits that were typed.
fn name_commits(args: &Args, store: &Store, reach: &Reach, ctx: &mut Ctx) -> Result<()> {
    let namespaces = reach.scope.namespaces();
    for word in &args.words {
        if let Some(hint) = commit_hint(store, word, namespaces.as_deref())? {
            ctx.out.note(format!("hint: {hint}"))?;
        }
    }
    Ok(())
}

/// The same search with words that are spelled as the store knows them.
fn did_you_mean(
    args: &Args,
    store: &Store,
    question: &RecallQuestion<'_>,
    ctx: &mut Ctx,
) -> Result<()> {
    if question.query.terms.is_empty() {
        return Ok(());
    }
    let Some(pairs) = respelled(store, question)? else {
        return Ok(());
    };
    let mut words = args.words.clone();
    for (typed, meant) in &pairs {
        for word in &mut words {
            *word = word.replace(typed, meant);
        }
    }
    let words = shell::words(words.iter().map(String::as_str));
    ctx.out
        .note(format!("did you mean: sessionmill search {words}"))?;
    Ok(())
}

/// Words to try next.
fn other_words(
    args: &Args,
    is_found: bool,
    (store, question): (&Store, &RecallQuestion<'_>),
    ctx: &mut Ctx,
) -> Result<()> {
    match is_found {
        true => more_forms(args, store, question, ctx),
        false => did_you_mean(args, store, question, ctx),
    }
}

/// Below a short list, other forms of the word that find more.
fn more_forms(
    args: &Args,
    store: &Store,
    question: &RecallQuestion<'_>,
    ctx: &mut Ctx,
) -> Result<()> {
    let forms = match args.words.as_slice() {
        [_] => other_forms(store, question)?,
        _ => Vec::new(),
    };
    if forms.is_empty() {
        return Ok(());
    }
    let all = format!("{} OR {}", args.words[0], forms.join(" OR "));
    ctx.out.note(format!(
        "other forms of the word find more: sessionmill search {}",
        shell::words([all.as_str()])
    ))?;
    Ok(())
}

/// What no run ever read may have it.
fn nothing(ctx: &mut Ctx) -> Result<()> {
    ctx.out.note("nothing found")?;
    let days = ctx.settings()?.config.keep_length_days;
    let unread = unread(days, &ctx.home);
    unread.map_or(Ok(()), |unread| ctx.out.note(unread))
}

/// The words' fields count before the options; lists are joined.
fn meant(args: &Args, typed: Query, ctx: &Ctx) -> Query {
    let joined = |words: &[EpisodeSource], options: &[EpisodeSource]| [words, options].concat();
    let mut query = Query {
        agent: typed.agent.or(args.filters.agent),
        since: typed.since.or(args.filters.since(ctx)),
        until: typed.until.or(args.filters.until(ctx)),
        sources: joined(&typed.sources, &args.source),
        not_sources: joined(&typed.not_sources, &args.exclude_source),
        operations: [typed.operations, args.operation.clone()].concat(),
        not_operations: [typed.not_operations, args.exclude_operation.clone()].concat(),
        tool: typed.tool.or_else(|| args.tool.clone()),
        file: typed.file.or_else(|| args.file.clone()),
        session: typed.session.or_else(|| args.session.clone()),
        ..typed
    };
    // what git wrote into files is found by words, and is no news by itself (004-018)
    if query.terms.is_empty() && query.sources.is_empty() && query.operations.is_empty() {
        query.not_sources.push(EpisodeSource::GitBulkUpdate);
    }
    query
}

/// Arguments that the shell kept in one piece are phrases.
fn joined(words: &[String]) -> String {
    let quoted = words.iter().map(|word| {
        if let (true, Some(field)) = (words.len() > 1, query_parser::requoted(word)) {
            return field;
        }
        let phrase = words.len() > 1 && word.contains(char::is_whitespace) && !word.contains('"');
        match (phrase, word.strip_prefix('-')) {
            (true, Some(unwanted)) => format!("-\"{unwanted}\""),
            (true, None) => format!("\"{word}\""),
            (false, _) => word.clone(),
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// Which of its session's episodes it is, or what else.
fn part(hit: &Hit) -> String {
    match &hit.stream {
        Some(stream) => format!("sub-agent {stream}, part {}", hit.part),
        None if hit.source == EpisodeSource::SessionSummary => "summary".to_owned(),
        None if hit.source == EpisodeSource::Text => "memory".to_owned(),
        None if !hit.is_of_a_log() => hit.source.as_str().to_owned(),
        None => format!("part {}", hit.part),
    }
}

fn document(hit: &Hit, store: &Store, judge: &Judge, ctx: &mut Ctx) -> Result<Value> {
    let summary = store.summary(&hit.session)?;
    let commits = summary
        .iter()
        .flat_map(|summary| commits(&summary.episode.text));
    let commits = commits.map(|(hash, subject)| json!({"hash": hash, "subject": subject}));
    let document = json!({
        "episode": hit.episode.to_string(),
        "session": hit.session,
        "title": hit.title,
        "session_title": hit.session_title,
        "namespace": hit.namespace,
        "project_path": hit.project_path,
        "agent": (hit.is_of_a_log() || hit.source.has_doer()).then(|| hit.agent.as_str()),
        "source": hit.source.as_str(),
        "stream": hit.stream,
        "part": hit.part,
        "sealed": hit.sealed,
        "valid_at": hit.valid_at.map(|t| t.rfc3339_millis()),
        "path": hit.is_of_a_log().then_some(&hit.path),
        "bytes": [hit.bytes.from, hit.bytes.to],
        "lines": [hit.lines.0, hit.lines.1],
        "score": hit.score,
        "confidence": hit.confidence,
        "similarity": hit.similarity,
        "folded": hit.folded,
        "commits": commits.collect::<Vec<_>>(),
        "snippet": hit.snippet,
        "activity": activity::document(&judge.activity(&hit.activity)),
    });
    session_filters::veiled(document, &hit.project_path, ctx)
}
