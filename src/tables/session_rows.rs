//! Rows of a session: itself, its episodes with all that stands in them, decisions, tokens, accounts.

use super::items::EpisodeRows;
use super::row::{Cell, Rows, TableRow};
use super::schema::Name;
use super::source::{LogAccount, ProjectNames, RowContext, SessionSource, StoredEpisode, whose};
use crate::insight::facts::SessionContext;
use crate::insight::items::SessionItems;
use crate::model::activity::Dimension;
use crate::model::episode::{Episode, EpisodeSource};
use crate::model::ledger::Fate;
use crate::model::session::{SessionLength, Stretch};
use crate::model::spending::HALF_HOUR_MS;
use crate::model::summary::{Decision, Sourced, Summary};
use crate::model::tally::Tally;
use crate::model::time::Time;
use crate::model::usage::Usage;
use std::collections::BTreeMap;
use uuid::Uuid;

/// All rows of a session. The same for the same session, in whatever order its parts are given.
pub fn rows(source: &SessionSource, hides_paths: bool, context: &RowContext<'_>) -> Rows {
    let mut episodes: Vec<&StoredEpisode> = source.episodes.iter().collect();
    episodes.sort_by(|a, b| order(&a.episode).cmp(&order(&b.episode)));
    let mut logs: Vec<&LogAccount> = source.logs.iter().collect();
    logs.sort_by(|a, b| a.log.cmp(&b.log));
    let project = project(&source.session, hides_paths, context);
    let chunks = episodes.iter().copied();
    let chunks: Vec<&StoredEpisode> = chunks
        .filter(|stored| stored.episode.source == EpisodeSource::Session)
        .collect();
    let summary = summary(source, &chunks);
    let mut rows = Rows::default();
    let usage = add_usage(&source.session.id, &chunks, &project, context, &mut rows);
    rows.push(
        Name::Sessions,
        session_row(source, &chunks, &summary, &usage, &project, context),
    );
    for stored in episodes {
        rows.push(
            Name::Episodes,
            episode_row(&source.session.id, stored, &project),
        );
    }
    for stored in &chunks {
        let of = EpisodeRows {
            session: &source.session.id,
            stored,
            project: &project,
            root: &source.session.project_path,
        };
        of.add(&mut rows);
        let row = activity_row(&source.session.id, stored, &project, context);
        rows.push(Name::Activity, row);
    }
    add_decisions(source, &summary, &project, &mut rows);
    for log in logs {
        add_account(source, log, &project, context, &mut rows);
    }
    rows
}

/// Rows of episodes that were cut from no log: memories, what is told of git operations and files.
pub fn rows_without_log(session: &str, stored: &[StoredEpisode], project: &ProjectNames) -> Rows {
    let mut stored: Vec<&StoredEpisode> = stored.iter().collect();
    stored.sort_by(|a, b| order(&a.episode).cmp(&order(&b.episode)));
    let mut rows = Rows::default();
    for stored in stored {
        rows.push(Name::Episodes, episode_row(session, stored, project));
    }
    rows
}

/// The main log first, parts in order, the summary last.
fn order(episode: &Episode) -> impl Ord {
    (
        episode.source,
        episode.stream.clone(),
        episode.part,
        episode.valid_at,
        episode.bytes.from,
        episode.id,
    )
}

fn project(
    session: &crate::model::session::Session,
    hides_paths: bool,
    context: &RowContext<'_>,
) -> ProjectNames {
    ProjectNames {
        namespace: session.namespace.clone(),
        path: (!hides_paths).then(|| (context.shown_path)(&session.project_path)),
    }
}

/// The facts of its logs, without a model's words.
fn summary(source: &SessionSource, chunks: &[&StoredEpisode]) -> Summary {
    let session = &source.session;
    let (title, branch) = (source.title.as_deref(), session.branch.as_deref());
    let context = SessionContext::new(title, &session.project_path, branch, true);
    SessionItems::of(chunks.iter().map(|stored| &stored.episode)).summary(&context)
}

/// What the tokens of a session come to.
#[derive(Default)]
struct Spent {
    usage: Usage,
    usd: Option<f64>,
    unpriced: u64,
}

fn add_usage(
    session: &str,
    chunks: &[&StoredEpisode],
    project: &ProjectNames,
    context: &RowContext<'_>,
    rows: &mut Rows,
) -> Spent {
    let mut spent = Spent::default();
    for stored in chunks {
        let tally = &stored.episode.tally;
        let mut add = |at: Option<Time>, model: Option<&str>, usage: Usage, usd: Option<f64>| {
            spent.usage = spent.usage.plus(usage);
            match usd {
                Some(usd) => spent.usd = Some(spent.usd.unwrap_or(0.0) + usd),
                None => spent.unpriced += usage.total(),
            }
            let mut row = TableRow::from(whose(session, stored.agent, project));
            row.extend([
                stored.episode.id.to_string().into(),
                at.into(),
                model.into(),
            ]);
            row.extend(tokens(usage));
            row.extend([usage.cache_write_1h.into(), usd.into()]);
            rows.push(Name::Usage, row);
        };
        let mut told = Usage::default();
        for used in tally.spending.rows() {
            told = told.plus(used.usage);
            let at = Time(used.half_hour.saturating_mul(HALF_HOUR_MS));
            let model = Some(used.model.as_str()).filter(|model| !model.is_empty());
            let usd = context
                .prices
                .of(&used.model)
                .map(|price| price.of(&used.usage));
            add(Some(at), model, used.usage, usd);
        }
        let rest = tally.usage.minus(told);
        if rest != Usage::default() {
            add(None, None, rest, None);
        }
    }
    spent
}

fn tokens(usage: Usage) -> [Cell; 4] {
    [
        usage.input.into(),
        usage.output.into(),
        usage.cache_read.into(),
        usage.cache_write.into(),
    ]
}

fn session_row(
    source: &SessionSource,
    chunks: &[&StoredEpisode],
    summary: &Summary,
    spent: &Spent,
    project: &ProjectNames,
    context: &RowContext<'_>,
) -> TableRow {
    let (session, facts) = (&source.session, &source.session.facts);
    let mut tally = Tally::default();
    let mut counted = crate::model::activity::ActivityTally::default();
    for stored in chunks {
        tally.merge(&stored.episode.tally);
        counted.merge(&stored.episode.activity());
    }
    let stretches = chunks
        .iter()
        .filter_map(|stored| Stretch::of(&stored.episode));
    let length = SessionLength::of(&stretches.collect::<Vec<_>>());
    let minutes = |ms: u64| ms as f64 / 60_000.0;
    let main = (context.activity)(&counted).primary;
    let mut row = TableRow::from(whose(&session.id, session.agent, project));
    row.extend([
        project.path.clone().into(),
        session.host.as_str().into(),
        session.branch.clone().into(),
        source.title.clone().into(),
        summary
            .objective
            .as_ref()
            .map(|said| said.what.as_str())
            .into(),
        summary.outcome.map(|outcome| outcome.as_str()).into(),
        main.map(Dimension::as_str).into(),
        facts.started.into(),
        facts.ended.into(),
        length.and_then(|length| length.work_ms).map(minutes).into(),
        length.map(|length| minutes(length.wall_ms)).into(),
        facts.version.clone().into(),
        facts.models.iter().cloned().collect(),
        facts.pull_requests.iter().cloned().collect(),
        facts.forked_from.clone().into(),
        facts.parent.clone().into(),
        source.logs.len().into(),
        chunks.len().into(),
        tally.prompts.into(),
        tally.messages.into(),
        tally.calls.into(),
        tally.failures.into(),
        tally.refusals.into(),
        facts.interruptions.into(),
        facts.compactions.into(),
        summary
            .tests
            .as_ref()
            .map_or(0, |tests| tests.what.runs)
            .into(),
        summary.files_modified.len().into(),
        tally.read_bytes.into(),
        chunks
            .iter()
            .map(|stored| stored.text_bytes)
            .sum::<u64>()
            .into(),
    ]);
    row.extend(tokens(spent.usage));
    row.extend([spent.usd.into(), spent.unpriced.into()]);
    row
}

fn episode_row(session: &str, stored: &StoredEpisode, project: &ProjectNames) -> TableRow {
    let (e, t) = (&stored.episode, &stored.episode.tally);
    let is_elsewhere = e.text.is_empty() && stored.text_bytes > 0;
    let mut row = TableRow::from(whose(session, stored.agent, project));
    row.extend([
        e.id.to_string().into(),
        e.source.as_str().into(),
        e.stream.clone().into(),
        e.part.into(),
        e.sealed.into(),
        e.title.as_str().into(),
        e.valid_at.into(),
        e.ended_at.into(),
        e.lines.0.into(),
        e.lines.1.into(),
        e.bytes.from.into(),
        e.bytes.to.into(),
        format!("{:016x}", stored.revision).into(),
        (!is_elsewhere).then_some(e.text.as_str()).into(),
        stored.text_bytes.into(),
        t.read_bytes.into(),
        t.records.into(),
        t.prompts.into(),
        t.messages.into(),
        t.calls.into(),
        t.failures.into(),
        t.refusals.into(),
        t.user_bytes.into(),
        t.agent_bytes.into(),
        t.digest_bytes.into(),
        t.output_bytes.into(),
    ]);
    row.extend(tokens(t.usage));
    row
}

fn activity_row(
    session: &str,
    stored: &StoredEpisode,
    project: &ProjectNames,
    context: &RowContext<'_>,
) -> TableRow {
    let episode = &stored.episode;
    let activity = (context.activity)(&episode.activity());
    let mut row = TableRow::from(whose(session, stored.agent, project));
    row.extend([
        episode.id.to_string().into(),
        episode.stream.clone().into(),
        episode.valid_at.into(),
        episode.ended_at.into(),
        activity.primary.map(Dimension::as_str).into(),
        activity.strength.into(),
    ]);
    row.extend(Dimension::ALL.map(|dimension| activity.vector.get(dimension).into()));
    row
}

fn add_decisions(
    source: &SessionSource,
    summary: &Summary,
    project: &ProjectNames,
    rows: &mut Rows,
) {
    let began = source.episodes.iter();
    let began: BTreeMap<Uuid, Option<Time>> = began
        .map(|stored| (stored.episode.id, stored.episode.valid_at))
        .collect();
    let people = summary.decisions.iter().map(|one| ("person", one));
    let agents = summary.agent_decisions.iter().map(|one| ("agent", one));
    let all: Vec<(&str, &Sourced<Decision>)> = people.chain(agents).collect();
    for (nth, (by, decision)) in all.into_iter().enumerate() {
        let mut row = TableRow::from(whose(&source.session.id, source.session.agent, project));
        row.extend([
            nth.into(),
            decision.episode.to_string().into(),
            decision.line.into(),
            began.get(&decision.episode).copied().flatten().into(),
            by.into(),
            decision.what.decision.as_str().into(),
            decision.what.about.clone().into(),
            decision.what.instead_of.clone().into(),
        ]);
        rows.push(Name::Decisions, row);
    }
}

fn add_account(
    source: &SessionSource,
    account: &LogAccount,
    project: &ProjectNames,
    context: &RowContext<'_>,
    rows: &mut Rows,
) {
    let log = match project.path {
        Some(_) => (context.shown_path)(&account.log),
        None => {
            let name = account.log.rsplit(['/', '\\']).next();
            name.unwrap_or_default().to_owned()
        }
    };
    let ledger = &account.ledger;
    let lines = Fate::ALL.into_iter().flat_map(|fate| {
        let reasons = ledger.lines.get(&fate).into_iter().flatten();
        reasons.map(move |(reason, lines)| (fate.as_str(), &**reason, *lines))
    });
    let more = [("pending", "", ledger.pending), ("glued", "", ledger.glued)];
    for (fate, reason, lines) in lines.chain(more).filter(|(.., lines)| *lines > 0) {
        let mut row = TableRow::from(whose(&source.session.id, source.session.agent, project));
        row.extend([
            log.as_str().into(),
            account.stream.clone().into(),
            fate.into(),
            reason.into(),
            lines.into(),
        ]);
        rows.push(Name::Ledger, row);
    }
}
