//! What is wrong with an installation, and which command mends it.
//!
//! [`Observed`] is what was looked at, once; each check is a function over it in [`CHECKS`], and
//! says what it finds. Checks read nothing themselves but what `Observed` opens for them, and write
//! nothing: mending is [`repair`]'s.

pub mod canary;
pub mod canary_run;
pub mod deep;
mod diagnosis;
pub mod examination;
mod logs;
mod observed;
pub mod repair;
pub mod set_aside;
mod store;
mod workplace;

pub use diagnosis::{Diagnosis, Severity};
pub use observed::{Inside, Observed, Schedule};

/// One check. A new one is one more function in [`CHECKS`].
type Check = fn(&Observed<'_>) -> Vec<Diagnosis>;

/// In the order in which a person would mend things.
const CHECKS: [Check; 22] = [
    workplace::settings,
    workplace::consent,
    workplace::refusals,
    workplace::sinks,
    workplace::templates,
    workplace::alarms,
    workplace::trust,
    store::database_state,
    store::pages,
    store::index,
    workplace::room,
    workplace::modes,
    workplace::temporary_files,
    set_aside::check,
    workplace::schedule,
    logs::roots,
    logs::unreadable,
    logs::deleted_before_the_next_run,
    logs::never_stored,
    workplace::repositories,
    store::rejects,
    store::drift,
];

/// All diagnoses, the gravest first.
pub fn examine(observed: &Observed<'_>) -> Vec<Diagnosis> {
    let mut diagnoses: Vec<Diagnosis> = CHECKS.iter().flat_map(|check| check(observed)).collect();
    diagnoses.sort_by_key(|diagnosis| std::cmp::Reverse(diagnosis.severity));
    diagnoses
}
