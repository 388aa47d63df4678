//! What a shell command is for, as a table (`commands.yaml`): every command of a line is looked up,
//! and the strongest stands for the line (D06).
//!
//! Knows programs, their subcommands and what runs other programs, but not how a script is read
//! (`rules::shell`) and where commands come from.

mod checks;
pub mod history;
mod hooks;
mod judge;
mod looks;
mod refine;
mod said;
mod standing;
mod table;
mod test_scope;
#[cfg(test)]
mod tests;

pub use checks::{
    CheckEnd, CommandCheck, checks, checks_or_tests, fixers, is_absent, is_ci_open, is_clean,
    is_fixer, is_missing, is_only_built, is_written, leaves_running, may_be_one_place, names_ci,
    names_tests, only_lists, passes_end, printed_failure, printed_success, prints_only_faults,
    test_commands, watches_ci, whole_test_runs,
};
pub use hooks::hook_checks;
pub use looks::is_trunk;
pub use said::{CheckWord, OwnChecks};
pub use standing::{bare, is_setting, standing};
pub use table::{Class, class};
pub use test_scope::{TestScope, test_scope};

use crate::model::classification::{Classification, Domain, Intent, UNKNOWN_CONFIDENCE};
use judge::{Judged, Verdict};
use std::borrow::Cow;
use xxhash_rust::xxh3::Xxh3;

/// How sure the table is.
const TABLE_CONFIDENCE: f64 = 0.95;

/// What a command line is for, and of what it is made (003-052).
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// The program that stands for the line; empty where none runs.
    pub base: String,
    /// Its subcommand, where the table knows one.
    pub subcommand: Option<String>,
    /// Its options as written.
    pub flags: Vec<String>,
    /// Its other arguments.
    pub targets: Vec<String>,
    /// What it is for.
    pub classification: Classification,
}

/// Reads and judges a command line. A few microseconds.
pub fn classify(line: &str) -> Command {
    let Some(judged) = judge::strongest(line) else {
        return Command {
            base: String::new(),
            subcommand: None,
            flags: Vec::new(),
            targets: Vec::new(),
            classification: by_class(table::TABLE.class("nothing")),
        };
    };
    let Judged {
        verdict,
        base,
        subcommand,
        arguments,
        ..
    } = judged;
    let words = arguments.into_iter().map(Cow::into_owned);
    let (flags, mut targets): (Vec<String>, Vec<String>) =
        words.partition(|word| table::is_flag(word));
    if let Some(at) = targets.iter().position(|t| Some(t) == subcommand.as_ref()) {
        targets.remove(at);
    }
    let classification = verdict.classification();
    Command {
        base,
        subcommand,
        flags,
        targets,
        classification,
    }
}

/// What is remembered of a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// The class that stands for it, and after `?` the first unknown program in it with its
    /// subcommands, which may be known tomorrow. Never an argument. `nothing` where nothing runs.
    pub name: String,
    /// The same where the same is tried again, with other options or other commands around it; 0
    /// where nothing runs.
    pub key: u32,
}

/// What to remember of a command line. A few microseconds.
pub fn counted(line: &str) -> Counted {
    let Some(judged) = judge::strongest(line) else {
        return Counted {
            name: "nothing".to_owned(),
            key: 0,
        };
    };
    let mut hash = Xxh3::new();
    let targets = judged.arguments.iter().filter(|word| !table::is_flag(word));
    for word in std::iter::once(&*judged.base).chain(targets.map(|word| &**word)) {
        hash.update(word.as_bytes());
        hash.update(&[0]);
    }
    Counted {
        key: hash.digest() as u32,
        name: match (judged.verdict, judged.unknown) {
            (Verdict::Class(class), None) => class.name.clone(),
            (Verdict::Class(class), Some(name)) => format!("{}?{name}", class.name),
            (Verdict::Name(name), _) => format!("?{name}"),
        },
    }
}

/// [`Counted::name`] alone.
pub fn counted_as(line: &str) -> String {
    counted(line).name
}

/// What a name given by [`counted_as`] stands for by the table.
pub fn of_count(name: &str) -> Classification {
    match name.split_once('?') {
        Some(("", unknown)) => judge::by_name(unknown),
        Some((known, _)) => of_count(known),
        None => class(name).map_or_else(Classification::unknown, by_class),
    }
}

/// What a class of the table stands for.
pub fn by_class(class: &Class) -> Classification {
    Classification {
        intent: class.intent,
        domain: class.domain,
        confidence: TABLE_CONFIDENCE,
        reasoning: format!("command table: {}", class.name),
        signals: class.signals,
    }
}

impl Verdict {
    fn classification(&self) -> Classification {
        match self {
            Verdict::Class(class) => by_class(class),
            Verdict::Name(name) => judge::by_name(name),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Verdict::Class(class) => class.rank,
            Verdict::Name(name) => match judge::by_name(name) {
                found if found.confidence <= UNKNOWN_CONFIDENCE => 8,
                found => rank_of(found.intent, found.domain),
            },
        }
    }
}

/// Where a guess stands among what the table knows.
pub fn rank_of(intent: Intent, domain: Domain) -> u8 {
    match (intent, domain) {
        (Intent::Read, _) => 14,
        (Intent::Search, _) => 20,
        (Intent::Transform, _) => 30,
        (Intent::Delete, _) => 38,
        (Intent::Modify | Intent::Configure, _) => 51,
        (Intent::Execute, _) => 60,
        (Intent::Create, _) => 62,
        (Intent::Communicate, _) => 70,
        (Intent::Validate, _) => 79,
    }
}
