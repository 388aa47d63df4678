//! Where secrets are masked on their way out of a log: the words of entries, and whatever else a
//! commit holds. Knows where texts are, but not what a secret looks like (`rules::secrets`).
//!
//! Calls' inputs and results' outputs are masked where digests are made of them, because most of
//! their bytes are only counted. A redactor that hides paths moves them in the same place, and what
//! is stored is told from there ([`hide`]).

use crate::model::activity::ActivityTally;
use crate::model::batch::Batch;
use crate::model::checkpoint::FileCommit;
use crate::model::entry::{EntryKind, Fact, Queue, ResultFacts};
use crate::model::exchange::{Exchange, Item, ToolUse};
use crate::model::finding::Finding;
use crate::model::ledger::Ledger;
use crate::model::policy::{FilterPolicy, Keep};
use crate::model::resume_state::ResumeState;
use crate::model::session::{Session, SessionFacts};
use crate::rules::hidden_paths::PathHider;
use crate::rules::secrets::Redactor;
use std::borrow::Cow;

/// Masks what people and agents said, before it is compared, cut or carried.
pub(super) fn words(what: &mut EntryKind, redactor: &Redactor) {
    match what {
        EntryKind::Prompt { text, .. } | EntryKind::Said(text) | EntryKind::Failure(text) => {
            redactor.mask(text)
        }
        EntryKind::Queue(Queue::Enqueue(text) | Queue::RemoveText(text))
        | EntryKind::Fact(Fact::Expanded(text)) => redactor.mask(text),
        EntryKind::Result(result) => results(&mut result.facts, redactor),
        EntryKind::Queue(_)
        | EntryKind::Call(_)
        | EntryKind::Fact(_)
        | EntryKind::Noise(_)
        | EntryKind::Unknown(_)
        | EntryKind::Copied(_) => {}
    }
}

fn results(facts: &mut ResultFacts, redactor: &Redactor) {
    for (question, answer) in &mut facts.answers {
        redactor.mask(question);
        redactor.mask(answer);
    }
    facts
        .patched
        .iter_mut()
        .for_each(|(path, ..)| redactor.mask(path));
    facts
        .completed
        .iter_mut()
        .for_each(|task| redactor.mask(task));
    facts.kind.iter_mut().for_each(|kind| redactor.mask(kind));
}

/// Tells items as they are stored where their paths are hidden: each by itself and before any text is
/// composed of them, so that whatever is measured of a text is measured of what is stored.
pub fn hide(batch: Batch<Exchange>, redactor: &Redactor) -> Batch<Exchange> {
    let Some(paths) = redactor.hides() else {
        return batch;
    };
    batch.map(|mut exchanges| {
        let items = exchanges
            .iter_mut()
            .flat_map(|exchange| &mut exchange.items);
        items.for_each(|item| hide_item(item, paths));
        exchanges
    })
}

fn hide_item(item: &mut Item, paths: &PathHider) {
    let Item {
        text,
        tool,
        activity,
        ..
    } = item;
    show(text, paths);
    let ActivityTally { tools, .. } = activity;
    *tools = std::mem::take(tools)
        .into_iter()
        .map(|(name, calls)| (paths.shown(&name).into_owned(), calls))
        .collect();
    let Some(tool) = tool else { return };
    let ToolUse {
        name,
        command,
        files,
        modified,
        completed,
        findings,
        ..
    } = tool;
    let named = [name, command].into_iter();
    let listed = [files, modified, completed].into_iter().flatten();
    named.chain(listed).for_each(|text| show(text, paths));
    findings.iter_mut().for_each(|found| show_all(found, paths));
}

fn show(text: &mut String, paths: &PathHider) {
    if let Cow::Owned(shown) = paths.shown(text) {
        *text = shown;
    }
}

/// Whatever strings there are.
fn show_all(found: &mut Finding, paths: &PathHider) {
    let Ok(mut value) = serde_json::to_value(&*found) else {
        return;
    };
    if paths.show_value(&mut value)
        && let Ok(shown) = serde_json::from_value(value)
    {
        *found = shown;
    }
}

/// Takes out of a commit what people typed besides their prompts, where their words are left out: titles,
/// which are a person's or made of a person's words. The agent's own go with its words.
pub fn leave_out(commit: &mut FileCommit, policy: &FilterPolicy) {
    let people = policy.user_messages == Keep::Out;
    if !people && policy.agent_messages != Keep::Out {
        return;
    }
    for facts in [&mut commit.facts, &mut commit.tail_facts] {
        facts.ai_title = None;
        facts.summaries.clear();
        if people {
            (facts.custom_title, facts.first_prompt) = (None, None);
        }
    }
}

/// Masks what a commit tells besides its episodes: the session, its titles and links, names of
/// unknown kinds, and what the checkpoint carries. What stays: ids, and personal data in the log's
/// path and in where the session ran, by which logs, settings and repositories are found again.
pub fn commit(commit: &mut FileCommit, redactor: &Redactor) {
    session(&mut commit.session, redactor);
    facts(&mut commit.facts, redactor);
    facts(&mut commit.tail_facts, redactor);
    ledger(&mut commit.ledger, redactor);
    ledger(&mut commit.tail_ledger, redactor);
    commit
        .unknown
        .iter_mut()
        .for_each(|unknown| redactor.mask_to_store(&mut unknown.name));
    resume_state(&mut commit.resume_state, redactor);
}

fn session(session: &mut Session, redactor: &Redactor) {
    let places = redactor.secrets_only();
    places.mask(&mut session.project_path);
    session.cwd.iter_mut().for_each(|cwd| places.mask(cwd));
    session
        .branch
        .iter_mut()
        .for_each(|branch| redactor.mask_to_store(branch));
    facts(&mut session.facts, redactor);
}

fn facts(facts: &mut SessionFacts, redactor: &Redactor) {
    let SessionFacts {
        custom_title,
        ai_title,
        first_prompt,
        version,
        branch,
        forked_from,
        parent,
        ..
    } = facts;
    let said = [
        custom_title,
        ai_title,
        first_prompt,
        version,
        branch,
        forked_from,
        parent,
    ];
    said.into_iter()
        .flatten()
        .for_each(|text| redactor.mask_to_store(text));
    facts
        .summaries
        .iter_mut()
        .for_each(|(_, text)| redactor.mask_to_store(text));
    for set in [&mut facts.pull_requests, &mut facts.models] {
        let masked = |text: &String| matches!(redactor.redact(text), Cow::Owned(_));
        if set.iter().any(masked) {
            *set = set.iter().map(|text| stored(text, redactor)).collect();
        }
    }
}

fn stored(text: &str, redactor: &Redactor) -> String {
    let mut stored = text.to_owned();
    redactor.mask_to_store(&mut stored);
    stored
}

/// The reasons that a log's own words may give: kinds that nobody knew.
fn ledger(ledger: &mut Ledger, redactor: &Redactor) {
    for reasons in ledger.lines.values_mut() {
        let written = |reason: &Cow<'static, str>| match reason {
            Cow::Owned(text) => matches!(redactor.redact(text), Cow::Owned(_)),
            Cow::Borrowed(_) => false,
        };
        if !reasons.keys().any(written) {
            continue;
        }
        for (reason, lines) in std::mem::take(reasons) {
            let masked = Cow::Owned(stored(&reason, redactor));
            *reasons.entry(masked).or_default() += lines;
        }
    }
}

/// Prompts and calls in it were masked as they came. A hidden working directory stays moved: the paths
/// that are read on are, too.
fn resume_state(state: &mut ResumeState, redactor: &Redactor) {
    let context = &mut state.context;
    let places = redactor.secrets_only();
    context
        .cwd
        .iter_mut()
        .for_each(|cwd| match redactor.hides() {
            Some(_) => redactor.mask(cwd),
            None => places.mask(cwd),
        });
    let said = [&mut context.branch, &mut context.version];
    said.into_iter()
        .flatten()
        .for_each(|text| redactor.mask(text));
    context.dialect.mask(&|text| redactor.mask(text));
}
