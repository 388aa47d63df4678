//! `why`: decisions that speak of something, with where they were made.

use super::ctx::Ctx;
use super::exit::Exit;
use super::out::Style;
use super::session_filters::{self, Filters, documents};
use super::undone;
use crate::memory::decisions::{DecisionMatch, reasons};
use crate::model::error::Error;
use crate::model::layout::markdown::plain;
use crate::model::layout::table::INDENT;
use crate::model::shell;
use crate::rules::words::content_words;
use crate::store::Query;
use crate::tracking::decision_links::UndoneDecision;
use crate::tracking::file_history::FileRequest;
use crate::tracking::git_history::HistoryRequest;
use anyhow::Result;
use serde_json::{Value, json};

/// Find why something was chosen, changed or undone
///
/// Finds answers to agents' questions, approved plans, and sentences like "let's use X instead of
/// Y". Decisions that match most words come first. Choices that agents report as their own and
/// other statements follow. Each matches at least half of the words that say what the question is
/// about.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Words, or a whole question
    #[arg(value_name = "WORDS", required_unless_present_any = ["commit", "branch", "file"])]
    words: Vec<String>,
    /// Show who made this commit, whether it was undone, and why; a prefix of the hash is
    /// enough
    #[arg(long, value_name = "HASH", conflicts_with_all = ["words", "branch", "file"])]
    commit: Option<String>,
    /// Show git operations on this branch
    #[arg(long, value_name = "NAME", conflicts_with_all = ["words", "file"])]
    branch: Option<String>,
    /// Show what sessions and git operations did to this file: its path, or the end of it
    #[arg(long, value_name = "PATH", conflicts_with = "words")]
    file: Option<String>,
    #[command(flatten)]
    filters: Filters,
    /// Maximum results in total (0 = no limit)
    #[arg(
        long,
        short = 'n',
        value_name = "N",
        default_value_t = 10,
        allow_negative_numbers = true
    )]
    limit: u32,
}

/// Prints decisions; exit 1 where there is none.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let limit = match args.limit {
        0 => usize::MAX,
        limit => limit as usize,
    };
    let git = [&args.commit, &args.branch, &args.file].map(Option::as_deref);
    let request = HistoryRequest::of(git[0], git[1], git[2])?;
    let request = match &args.file {
        Some(file) => {
            let (cwd, home) = (&ctx.env.cwd, &ctx.env.home);
            let file = FileRequest::new(file, Some(cwd), Some(home));
            Some(HistoryRequest::File(file))
        }
        None => request,
    };
    if let Some(request) = request {
        return undone::run(&request, &args.filters, limit, ctx);
    }
    let question = args.words.join(" ");
    let words = content_words(&question);
    if words.is_empty() {
        let error = Error::usage("the question has no specific words");
        return Err(error.hinted("sessionmill why redis").into());
    }
    let reach = session_filters::scope(&args.filters, ctx)?;
    if let Some(reason) = reach.refusal() {
        ctx.out.warn(reason)?;
    }
    let query = Query {
        agent: args.filters.agent,
        since: args.filters.since(ctx),
        until: args.filters.until(ctx),
        ..Query::default()
    };
    let mut found = reasons(&ctx.reader()?, &words, query, &reach.scope)?;
    match ctx.out.json {
        true => found.decided.truncate(limit),
        false => found.truncate(limit),
    }
    if ctx.out.json {
        let body = json!({
            "asked": words,
            "decisions": documents(&found.decided, document, ctx)?,
            "by_agents": documents(&found.by_agents, document, ctx)?,
            "said": documents(&found.said, document, ctx)?,
            "given_up": documents(&found.given_up, undone::document, ctx)?,
        });
        ctx.out.document("why", body)?;
    } else {
        for reason in &found.decided {
            print(reason, &words, ctx)?;
        }
        for (heading, list) in found.behind() {
            ctx.out.line(format!("{heading}\n"))?;
            for reason in list {
                print(reason, &words, ctx)?;
            }
        }
        undone::tell_given_up(&found.given_up, ctx)?;
    }
    if found.is_undecided() {
        ctx.out
            .note(format!("no decision mentions: {}", words.join(" ")))?;
        let words = shell::words(words.iter().map(String::as_str));
        ctx.out.note(format!("hint: sessionmill search {words}"))?;
        return Ok(Exit::Failed);
    }
    Ok(Exit::Done)
}

fn print(reason: &DecisionMatch, asked: &[String], ctx: &mut Ctx) -> Result<()> {
    let decision = &reason.decision.what;
    let head = ctx.out.paint(Style::Bold, &plain(&decision.decision));
    ctx.out.words("", INDENT, &head)?;
    let about = decision.about.as_ref();
    let other = decision.instead_of.as_ref();
    let has = (reason.words.len() < asked.len()).then(|| {
        let (some, all) = (reason.words.len(), asked.len());
        format!("has {some} of {all} words: {}", reason.words.join(", "))
    });
    let undone = reason.undone.as_ref();
    let lines = [
        about.map(|about| format!("asked: {}", plain(about))),
        other.map(|other| format!("instead of: {}", plain(other))),
        undone.map(|undone| undone.note(undone.by.git.reason.as_ref())),
        has,
    ];
    for line in lines.iter().flatten() {
        ctx.out.words(INDENT, INDENT, line)?;
    }
    let session = ctx.session_shown(&reason.session)?;
    let place = session_filters::origin_of(&reason.namespace, &reason.project_path, ctx)?;
    let age = session_filters::age(reason.at, ctx);
    let origin = format!(
        "{place} · {age} · session {session}, line {}",
        reason.decision.line
    );
    let origin = ctx.out.paint(Style::Dim, &origin);
    ctx.out.words(INDENT, INDENT, &origin)?;
    ctx.out.line("")
}

/// What became of the work that a decision led to.
fn undone_document(undone: &UndoneDecision) -> Value {
    let operation = &undone.by.git.operation;
    let reason = undone.by.git.reason.as_ref();
    json!({
        "git_batch_id": undone.by.id.to_string(),
        "operation": undone.by.git.name(),
        "at": operation.at.rfc3339(),
        "branch": operation.branch,
        "commits": undone.led_to,
        "commits_given_up": undone.given_up,
        "reason": reason.map(|reason| json!({
            "sentence": reason.sentence,
            "by": reason.who(),
            "session": reason.session,
            "line": reason.line,
            "confidence": reason.confidence.as_str(),
        })),
    })
}

fn document(reason: &DecisionMatch, ctx: &mut Ctx) -> Result<Value> {
    let decision = &reason.decision.what;
    let mut document = json!({
        "decision": decision.decision,
        "about": decision.about,
        "instead_of": decision.instead_of,
        "at": reason.at.map(|at| at.rfc3339_millis()),
        "session": reason.session,
        "episode": reason.decision.episode.to_string(),
        "path": reason.path,
        "line": reason.decision.line,
        "namespace": reason.namespace,
        "project_path": reason.project_path,
        "words": reason.words.len(),
    });
    if let Some(undone) = &reason.undone {
        document["undone"] = undone_document(undone);
    }
    session_filters::veiled(document, &reason.project_path, ctx)
}
