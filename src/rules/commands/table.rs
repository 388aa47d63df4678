//! The table of commands as it is looked up (`commands.yaml`).

use super::super::table;
use crate::model::activity::Signals;
use crate::model::classification::{Domain, Intent};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What commands of one kind are for.
#[derive(Clone, Debug)]
pub struct Class {
    /// Its name in the table; stored with what was counted.
    pub name: String,
    /// What they try to accomplish.
    pub intent: Intent,
    /// What they operate on.
    pub domain: Domain,
    /// The highest of a line stands for it.
    pub rank: u8,
    /// What they say about the work.
    pub signals: Signals,
}

/// The class of that name.
pub fn class(name: &str) -> Option<&'static Class> {
    TABLE.classes.get(name)
}

pub(super) static TABLE: LazyLock<Table> = LazyLock::new(|| Table::of(written()));

/// The table, by first word.
pub(super) struct Table {
    classes: FxHashMap<String, Class>,
    commands: FxHashMap<String, Vec<Row>>,
    values: FxHashMap<String, Vec<String>>,
    wrappers: FxHashMap<String, Vec<Wrapper>>,
    runners: FxHashMap<String, Vec<Vec<String>>>,
    shells: Vec<String>,
    targets: FxHashMap<String, String>,
    pub(super) verbs: FxHashMap<String, Intent>,
}

struct Row {
    words: Vec<String>,
    flags: Vec<Flag>,
    class: String,
}

/// An option that a row asks for.
struct Flag {
    name: String,
    value: Option<String>,
}

/// What runs another command.
pub(super) struct Wrapper {
    words: Vec<String>,
    pub takes: Vec<String>,
    pub args: usize,
    pub joins: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    classes: BTreeMap<String, WrittenClass>,
    commands: BTreeMap<String, Vec<String>>,
    values: FxHashMap<String, Vec<String>>,
    wrappers: Vec<WrittenWrapper>,
    shells: Vec<String>,
    runners: Vec<String>,
    targets: BTreeMap<String, Vec<String>>,
    verbs: BTreeMap<Intent, Vec<String>>,
    #[cfg(test)]
    pub(super) samples: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenClass {
    intent: Intent,
    domain: Domain,
    rank: u8,
    signals: Option<Signals>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenWrapper {
    names: Vec<String>,
    takes: Vec<String>,
    #[serde(default)]
    args: usize,
    #[serde(default)]
    joins: bool,
}

pub(super) fn written() -> Written {
    table::rows(table::embedded!("commands/", "commands"))
}

impl Table {
    fn of(written: Written) -> Table {
        let mut table = Table {
            classes: FxHashMap::default(),
            commands: FxHashMap::default(),
            values: written.values,
            wrappers: FxHashMap::default(),
            runners: FxHashMap::default(),
            shells: written.shells,
            targets: inverted(written.targets),
            verbs: inverted(written.verbs),
        };
        for (name, class) in written.classes {
            table.classes.insert(name.clone(), class.named(name));
        }
        for (class, commands) in &written.commands {
            for command in commands {
                table.add(command, class);
            }
        }
        let classes = &table.classes;
        for rows in table.commands.values_mut() {
            rows.sort_by_key(|row| {
                let rank = classes.get(&row.class).map(|class| class.rank);
                let values = row.flags.iter().filter(|flag| flag.value.is_some()).count();
                std::cmp::Reverse((row.words.len(), row.flags.len() + values, rank))
            });
        }
        for wrapper in written.wrappers {
            table.wrap(&wrapper);
        }
        for name in &written.runners {
            let (base, rest) = split(name);
            table.runners.entry(base).or_default().push(rest);
        }
        table
    }

    fn add(&mut self, command: &str, class: &str) {
        let (base, rest) = split(command);
        let (flags, words): (Vec<_>, Vec<_>) = rest.into_iter().partition(|w| is_flag(w));
        let flags = flags.into_iter().map(|flag| match flag.split_once(':') {
            Some((name, value)) => Flag {
                name: name.to_owned(),
                value: Some(value.to_owned()),
            },
            None => Flag {
                name: flag,
                value: None,
            },
        });
        let row = Row {
            words,
            flags: flags.collect(),
            class: class.to_owned(),
        };
        self.commands.entry(base).or_default().push(row);
    }

    fn wrap(&mut self, wrapper: &WrittenWrapper) {
        for name in &wrapper.names {
            let (base, words) = split(name);
            let rows = self.wrappers.entry(base).or_default();
            rows.push(Wrapper {
                words,
                takes: wrapper.takes.clone(),
                args: wrapper.args,
                joins: wrapper.joins,
            });
            rows.sort_by_key(|row| std::cmp::Reverse(row.words.len()));
        }
    }

    /// Whether a first word is known.
    pub(super) fn knows(&self, base: &str) -> bool {
        self.commands.contains_key(base)
            || self.wrappers.contains_key(base)
            || self.shells.iter().any(|shell| shell == base)
            || self.runners.contains_key(base)
    }

    pub(super) fn is_shell(&self, base: &str) -> bool {
        self.shells.iter().any(|shell| shell == base)
    }

    /// The class of the row that has most in common with the command, and how many subcommands
    /// that row names.
    pub(super) fn find(&self, base: &str, args: &[Cow<'_, str>]) -> Option<(&Class, usize)> {
        let rows = self.commands.get(base)?;
        let subs = self.positional(base, args);
        let fits = |row: &&Row| {
            let named = row.words.len() <= subs.len();
            named
                && row.words.iter().zip(&subs).all(|(a, b)| a == b)
                && row.flags.iter().all(|flag| flag.is_in(args))
        };
        let row = rows.iter().find(fits)?;
        Some((self.classes.get(&row.class)?, row.words.len()))
    }

    /// What most commands of a program operate on.
    pub(super) fn domain(&self, base: &str) -> Option<Domain> {
        let row = self.commands.get(base)?.last()?;
        Some(self.classes.get(&row.class)?.domain)
    }

    /// Arguments that are no options and no options' values.
    pub(super) fn positional<'w>(&self, base: &str, args: &'w [Cow<'_, str>]) -> Vec<&'w str> {
        const MOST: usize = 4;
        let none = Vec::new();
        let values = self.values.get(base).unwrap_or(&none);
        let mut found = Vec::new();
        let mut skip = false;
        for arg in args {
            if std::mem::take(&mut skip) {
                continue;
            }
            match is_flag(arg) {
                true => skip = values.iter().any(|v| v == arg),
                false => found.push(&**arg),
            }
            if found.len() == MOST {
                break;
            }
        }
        found
    }

    /// The wrapper that this is, and how many of the arguments are its name.
    pub(super) fn wrapper(&self, base: &str, args: &[Cow<'_, str>]) -> Option<(&Wrapper, usize)> {
        let rows = self.wrappers.get(base)?.iter();
        let row = rows.into_iter().find(|row| starts(&row.words, args))?;
        Some((row, row.words.len()))
    }

    /// The task that a runner was asked for, and how many subcommands that took.
    pub(super) fn task<'w>(
        &self,
        base: &str,
        args: &'w [Cow<'_, str>],
    ) -> Option<(&'w str, usize)> {
        let subs = self.positional(base, args);
        let rows = self.runners.get(base)?.iter();
        let fits = rows.filter(|row| {
            row.iter()
                .filter(|w| !is_flag(w))
                .zip(subs.iter())
                .all(|(a, b)| a == b)
                && row
                    .iter()
                    .filter(|w| is_flag(w))
                    .all(|w| args.iter().any(|a| a == w))
        });
        let words = fits.map(|row| row.iter().filter(|w| !is_flag(w)).count());
        let words = words.max()?;
        Some((subs.get(words)?, words))
    }

    /// What a name of a task or script says: the first of its words that the table knows.
    pub(super) fn target(&self, name: &str) -> Option<&Class> {
        let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
        let class = words.find_map(|word| self.targets.get(word))?;
        self.classes.get(class)
    }

    pub(super) fn class(&self, name: &str) -> &Class {
        self.classes
            .get(name)
            .expect("a class of the embedded table")
    }
}

fn starts(words: &[String], args: &[Cow<'_, str>]) -> bool {
    words.len() <= args.len() && words.iter().zip(args).all(|(a, b)| a == b)
}

impl WrittenClass {
    fn named(self, name: String) -> Class {
        let sources = || super::super::names::signals(self.intent, self.domain);
        Class {
            name,
            intent: self.intent,
            domain: self.domain,
            rank: self.rank,
            signals: self.signals.unwrap_or_else(sources),
        }
    }
}

impl Flag {
    fn is_in(&self, args: &[Cow<'_, str>]) -> bool {
        let Some(value) = &self.value else {
            return args.iter().any(|arg| self.is(arg));
        };
        let mut pairs = args.iter().zip(args.iter().skip(1));
        let apart = pairs.any(|(a, b)| *a == self.name && b.eq_ignore_ascii_case(value));
        apart
            || args.iter().any(|arg| {
                let rest = arg.strip_prefix(self.name.as_str());
                rest.is_some_and(|rest| rest.trim_start_matches('=') == value)
            })
    }

    /// `-i` also in a cluster and with what follows it; `--long` also with `=value`.
    fn is(&self, arg: &str) -> bool {
        const CLUSTER_MAX: usize = 5;
        if arg == self.name {
            return true;
        }
        let single = self.name.strip_prefix('-').filter(|name| name.len() == 1);
        match single {
            Some(letter) => {
                let cluster = arg.strip_prefix('-').unwrap_or_default();
                let letters = cluster.split('.').next().unwrap_or_default();
                letters.len() < CLUSTER_MAX
                    && letters.bytes().all(|b| b.is_ascii_alphanumeric())
                    && letters.contains(letter)
            }
            None => {
                let rest = arg.strip_prefix(self.name.as_str());
                rest.is_some_and(|rest| rest.starts_with('='))
            }
        }
    }
}

/// `-x`, `--long`; a lone dash is an argument.
pub(super) fn is_flag(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

fn split(command: &str) -> (String, Vec<String>) {
    let mut words = command.split(' ').map(str::to_owned);
    (words.next().unwrap_or_default(), words.collect())
}

fn inverted<K: Clone>(lists: BTreeMap<K, Vec<String>>) -> FxHashMap<String, K> {
    let pairs = lists.into_iter();
    pairs
        .flat_map(|(key, words)| words.into_iter().map(move |word| (word, key.clone())))
        .collect()
}
