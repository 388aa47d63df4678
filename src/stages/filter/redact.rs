//! Where secrets are masked on their way out of a log: the words of entries, and whatever else a
//! commit holds. Knows where texts are, but not what a secret looks like (`rules::secrets`).
//!
//! Calls' inputs and results' outputs are masked where digests are made of them, because most of
//! their bytes are only counted.

use crate::model::checkpoint::FileCommit;
use crate::model::entry::{EntryKind, Queue, ResultFacts};
use crate::model::ledger::Ledger;
use crate::model::resume_state::ResumeState;
use crate::model::session::{Session, SessionFacts};
use crate::rules::secrets::Redactor;
use std::borrow::Cow;

/// Masks what people and agents said, before it is compared, cut or carried.
pub(super) fn words(what: &mut EntryKind, redactor: &Redactor) {
    match what {
        EntryKind::Prompt { text, .. } | EntryKind::Said(text) | EntryKind::Failure(text) => {
            redactor.mask(text)
        }
        EntryKind::Queue(Queue::Enqueue(text) | Queue::RemoveText(text)) => redactor.mask(text),
        EntryKind::Result(result) => results(&mut result.facts, redactor),
        EntryKind::Queue(_)
        | EntryKind::Call(_)
        | EntryKind::Fact(_)
        | EntryKind::Noise(_)
        | EntryKind::Unknown(_) => {}
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
        .for_each(|unknown| redactor.mask(&mut unknown.name));
    resume_state(&mut commit.resume_state, redactor);
}

fn session(session: &mut Session, redactor: &Redactor) {
    let places = redactor.secrets_only();
    places.mask(&mut session.project_path);
    session.cwd.iter_mut().for_each(|cwd| places.mask(cwd));
    session
        .branch
        .iter_mut()
        .for_each(|branch| redactor.mask(branch));
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
        .for_each(|text| redactor.mask(text));
    facts
        .summaries
        .iter_mut()
        .for_each(|(_, text)| redactor.mask(text));
    for set in [&mut facts.pull_requests, &mut facts.models] {
        let masked = |text: &String| matches!(redactor.redact(text), Cow::Owned(_));
        if set.iter().any(masked) {
            *set = set
                .iter()
                .map(|text| redactor.redact(text).into_owned())
                .collect();
        }
    }
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
            let masked = Cow::Owned(redactor.redact(&reason).into_owned());
            *reasons.entry(masked).or_default() += lines;
        }
    }
}

/// Prompts and calls in it were masked as they came.
fn resume_state(state: &mut ResumeState, redactor: &Redactor) {
    let context = &mut state.context;
    let places = redactor.secrets_only();
    context.cwd.iter_mut().for_each(|cwd| places.mask(cwd));
    let said = [&mut context.branch, &mut context.version];
    said.into_iter()
        .flatten()
        .for_each(|text| redactor.mask(text));
    context.dialect.mask(&|text| redactor.mask(text));
}
