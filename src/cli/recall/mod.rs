//! `recall`: what earlier sessions say about a question, or about what an agent's hook hands over.
//!
//! Whatever goes wrong, whoever waits for the answer goes on without it (002-018): no block, exit 0,
//! and why in the day's log. The whole answer is found by a thread that is not waited for longer than
//! `graphiti.recall.timeout_ms` after the program's start.

mod hook;

use super::ctx::Ctx;
use super::exit::{self, Exit};
use super::out::Out;
use super::promote::scope;
use super::session_filters;
use crate::agents::registry;
use crate::config;
use crate::memory::block::RecalledFact;
use crate::model::error::Error;
use crate::model::layout::wrap::spoken;
use crate::model::namespace::is_of_windows;
use crate::model::scope::MemoryScope;
use crate::model::source::Agent;
use crate::pipeline::progress::Silent;
use crate::pipeline::recall::{Event, RecallRequest, give};
use crate::pipeline::run_log;
use crate::rules::injected::Spoken;
use anyhow::Result;
use hook::HookCall;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Print what earlier sessions say about a question
///
/// The question is an argument or is read from standard input. Prints nothing if there is no
/// confident match; if something goes wrong, see the log in ~/.graphiti/logs.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The question
    #[arg(value_name = "QUESTION")]
    question: Vec<String>,
    /// Answer an agent's hook; reads its JSON from standard input
    #[arg(long, value_name = "AGENT", value_parser = agent, conflicts_with_all = ["question", "json"])]
    hook: Option<Agent>,
    /// Search only this scope: session, workspace, global [default: the setting
    /// graphiti.recall.scopes]
    #[arg(long, value_name = "SCOPE", value_parser = scope)]
    scope: Vec<MemoryScope>,
    /// The project to answer for: its name, or a path in it [default: the current one]
    #[arg(long, value_name = "PROJECT")]
    project: Option<PathBuf>,
    /// Id of the session to answer for
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

fn agent(word: &str) -> Result<Agent, String> {
    registry::named(word)
}

/// Whether a command line comes from an agent's hook: an agent takes exit 2 for a veto, so that even
/// a line that isn't understood has to end well.
pub fn is_hook(argv: &[OsString]) -> bool {
    let word = |nth: usize| argv.get(nth).and_then(|word| word.to_str());
    let hook = |word: &OsString| word.to_str().is_some_and(|word| word.starts_with("--hook"));
    word(1) == Some("recall") && argv.iter().any(hook)
}

/// Prints a block, or says nothing.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let answer = match args.hook {
        Some(_) => answer_hook(args, ctx),
        None => answer_person(args, ctx),
    };
    match answer {
        Ok(()) => {}
        Err(error) if exit::is_broken_pipe(&error) => {}
        Err(error) if args.hook.is_none() && wrong_question(&error) => return Err(error),
        Err(error) => go_on_without(&error, args, ctx)?,
    }
    Ok(Exit::Done)
}

/// Where no home is known, whoever waits goes on without memory too.
pub fn without_home(error: &Error, out: &mut Out) -> Exit {
    // Where telling fails, nobody is left to tell that.
    let _ = match out.json {
        true => out.document("recall", answer(&[], None, Some(&error.message), 0)),
        false => out.note(format!("no memory: {error}")),
    }
    .and_then(|()| out.flush());
    Exit::Done
}

/// The one thing that a person, who can type again, is told with an exit code.
const NO_QUESTION: &str = "no question was given";

fn wrong_question(error: &anyhow::Error) -> bool {
    exit::typed(error).is_some_and(|error| error.message == NO_QUESTION)
}

/// Notes why there is no block; where a person waits, they are told too.
fn go_on_without(error: &anyhow::Error, args: &Args, ctx: &mut Ctx) -> Result<()> {
    let why = format!("{error:#}");
    if ctx.home.dir.is_dir() {
        // Where even this fails, nobody is left to tell it to.
        let _ = run_log::append(
            &ctx.home.logs(),
            ctx.now,
            ctx.zone,
            &format!("recall: {why}"),
        );
    }
    if args.hook.is_some() {
        return Ok(());
    }
    let hint = exit::typed(error).and_then(|error| error.hint.clone());
    if ctx.out.json {
        return document(&[], None, Some(&why), ctx);
    }
    ctx.out.note(format!("no memory: {why}"))?;
    hint.map_or(Ok(()), |hint| ctx.out.note(format!("hint: {hint}")))
}

fn answer_person(args: &Args, ctx: &mut Ctx) -> Result<()> {
    let question = question(args, ctx)?;
    let cwd = match &args.project {
        Some(_) => session_filters::project(args.project.as_deref(), ctx)?.into(),
        None => ctx.env.cwd.clone(),
    };
    let request = RecallRequest {
        cwd,
        session: args.session.clone(),
        by_hook: false,
        scopes: args.scope.clone(),
        event: Event::Prompt(question),
    };
    let loaded = ctx.settings()?;
    let given = give(&request, &ctx.pipeline_context(&loaded, &Silent))?;
    let facts = given.as_ref().map_or(&[][..], |block| &block.facts);
    let text = given.as_ref().map(|block| block.text.as_str());
    if ctx.out.json {
        return document(facts, text, None, ctx);
    }
    match text {
        // agents read a pipe, where it stays as it is
        Some(text) => ctx.out.text(spoken(text, ctx.out.columns())),
        None if session_filters::places(ctx)?
            .present(&request.cwd)
            .is_none() =>
        {
            ctx.out.note(
                "no confident match: no sessions of this folder are stored\n\
             hint: name the project: --project NAME",
            )
        }
        None => ctx.out.note("no confident match"),
    }
}

fn question(args: &Args, ctx: &mut Ctx) -> Result<String> {
    let mut question = args.question.join(" ");
    if question.is_empty() && !ctx.stdin.terminal {
        ctx.stdin.from.read_to_string(&mut question)?;
    }
    if question.trim().is_empty() {
        let error = Error::usage(NO_QUESTION);
        return Err(error.hinted("sessionmill recall why redis").into());
    }
    Ok(question)
}

fn answer_hook(args: &Args, ctx: &mut Ctx) -> Result<()> {
    let call = HookCall::read(&mut ctx.stdin.from).map_err(anyhow::Error::msg)?;
    let Some(event) = call.event() else {
        return Ok(());
    };
    let event = match event {
        Event::Prompt(text) => match typed(args.hook.unwrap_or_else(registry::first), &text) {
            Some(words) => Event::Prompt(words),
            None => return Ok(()),
        },
        other => other,
    };
    if let Some(cwd) = call
        .cwd
        .as_deref()
        .filter(|cwd| Path::new(cwd).is_absolute())
    {
        // The settings of the project that asks count, wherever the hook was started.
        ctx.env.cwd = cwd.into();
    }
    // a folder of Windows, told elsewhere, is a stored project's; no settings are there
    let elsewhere = call.cwd.as_deref().filter(|cwd| is_of_windows(cwd));
    let request = RecallRequest {
        cwd: elsewhere.map_or_else(|| ctx.env.cwd.clone(), Into::into),
        session: call.session_id.clone(),
        by_hook: true,
        scopes: args.scope.clone(),
        event,
    };
    // an agent can't do anything about warnings
    let loaded = config::load(&ctx.env, registry::log_folders)?;
    match give(&request, &ctx.pipeline_context(&loaded, &Silent))? {
        Some(block) => ctx.out.line(call.answer(&block.text)),
        None => Ok(()),
    }
}

/// What of a prompt is a person's; `None`: it is an order to the agent's program or a machine's text.
fn typed(agent: Agent, prompt: &str) -> Option<String> {
    let known = registry::find(agent)?;
    match known.injected().people_words(prompt) {
        Spoken::Words(words) if !words.starts_with('/') => Some(words.into_owned()),
        Spoken::Words(_) | Spoken::Machine(_) => None,
    }
}

fn document(
    facts: &[RecalledFact],
    text: Option<&str>,
    reason: Option<&str>,
    ctx: &mut Ctx,
) -> Result<()> {
    let body = answer(facts, text, reason, ctx.elapsed_ms());
    ctx.out.document("recall", body)
}

fn answer(facts: &[RecalledFact], text: Option<&str>, reason: Option<&str>, took_ms: u64) -> Value {
    let list: Vec<Value> = facts.iter().map(fact_document).collect();
    json!({
        "block": text,
        "facts": list,
        "reason": reason,
        "took_ms": took_ms,
    })
}

fn fact_document(fact: &RecalledFact) -> Value {
    let source = fact.source.as_ref();
    let session = source.and_then(|source| source.session.as_ref());
    json!({
        "text": fact.text,
        "scope": fact.scope.as_str(),
        "session": session.map(|(_, id)| id),
        "agent": session.map(|(agent, _)| agent.as_str()),
        "episode": source.map(|source| source.episode.to_string()),
        "at": source.and_then(|source| source.at).map(|at| at.rfc3339_millis()),
        "path": source.and_then(|source| source.path.as_ref()),
        "lines": source.map(|source| [source.lines.0, source.lines.1]),
    })
}
