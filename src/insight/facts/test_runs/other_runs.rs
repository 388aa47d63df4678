//! The last runs of other runners than that of a session's last run, and of the same one in other parts of the project.

use super::runs::{Run, Standing, is_runner, says_passed, test_command, tested_by};
use crate::insight::facts::line::LocatedItem;
use crate::model::summary::OtherRun;
use crate::rules::commands::{TestScope, may_be_one_place};

/// More of them are a list of what ran, not of how the work ended.
const OTHERS_MAX: usize = 3;

/// In their order. One that failed is told only where nothing was changed after it and nobody says that tests pass; none that
/// passed where its runner's last run failed, for whatever sake.
pub(super) fn others(lines: &[LocatedItem<'_>], runs: &[Run<'_>], last: &Run<'_>) -> Vec<OtherRun> {
    let mut kept: Vec<(&Run<'_>, Option<String>)> = Vec::new();
    let of_work = |run: &Run<'_>| run.standing == Standing::Work && run.at <= last.at;
    let counts = |run: &&Run<'_>| of_work(run) || run.counts.failed > 0;
    for run in runs.iter().filter(counts) {
        let place = place(&lines[..=run.at]);
        let is_same = |(known, at): &(&Run<'_>, Option<String>)| {
            is_runner(known, run) && may_be_one_place(at.as_deref(), place.as_deref())
        };
        kept.retain(|known| !is_same(known));
        if of_work(run) {
            kept.push((run, place));
        }
    }
    let own = place(&lines[..=last.at]);
    let is_last = |run: &Run<'_>, at: Option<&str>| {
        is_runner(run, last) && may_be_one_place(at, own.as_deref())
    };
    kept.retain(|(run, at)| run.at != last.at && !is_last(run, at.as_deref()));
    kept.retain(|(run, _)| run.counts.failed == 0 || !is_over(&lines[run.at + 1..]));
    let first = kept.len().saturating_sub(OTHERS_MAX);
    let told = kept.into_iter().skip(first).map(|(run, place)| OtherRun {
        counts: (*run.counts).clone(),
        place: place.filter(|_| is_runner(run, last)),
        part: run.scope == Some(TestScope::Part),
        runs: match is_runner(run, last) {
            true => 0,
            false => runs.iter().filter(|other| is_runner(other, run)).count() as u64,
        },
    });
    told.collect()
}

/// What failed may not do so any more.
fn is_over(after: &[LocatedItem<'_>]) -> bool {
    after.iter().any(LocatedItem::is_edit) || says_passed(after).is_some()
}

/// The part of the project that the command of the run of the last of these lines names; a folder that it was run in
/// says little of what was tested.
fn place(until: &[LocatedItem<'_>]) -> Option<String> {
    let run = test_command(tested_by(until)?)?;
    run.place.filter(|place| run.words.contains(place))
}
