//! The table of commands as it is looked up (`commands.yaml`).

use super::super::{names, table};
use crate::model::activity::Signals;
use crate::model::classification::{Domain, Intent};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

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
    Some(&TABLE.classes[*TABLE.by_name.get(name)?])
}

pub(super) static TABLE: LazyLock<Table> = LazyLock::new(|| Table::of(written()));

/// The table as it is looked up. What is known of a program is worked out when it is first met: a run of one
/// line meets few.
pub(super) struct Table {
    classes: Vec<Class>,
    by_name: FxHashMap<&'static str, usize>,
    programs: FxHashMap<&'static str, KnownProgram>,
    /// As the table has them.
    commands: Vec<WrittenCommand>,
    values: FxHashMap<&'static str, Vec<String>>,
    wrappers: Vec<WrittenWrapper>,
    shells: Vec<&'static str>,
    runners: Vec<&'static str>,
    targets: FxHashMap<&'static str, &'static str>,
    verbs: FxHashMap<&'static str, Intent>,
}

struct WrittenCommand {
    base: &'static str,
    words: &'static str,
    /// In `Table::classes`.
    class: usize,
}

/// A first word that rows begin with.
#[derive(Default)]
struct KnownProgram {
    /// In `Table::commands`.
    rows: Vec<usize>,
    program: OnceLock<Box<Program>>,
}

/// What is known of a first word.
#[derive(Default)]
pub(super) struct Program {
    /// It runs scripts of shell.
    pub is_shell: bool,
    /// By their first subcommand, of each the one that asks for most first.
    named: FxHashMap<String, Vec<Row>>,
    /// Those without a subcommand, in the same order.
    plain: Vec<Row>,
    /// Options that take the next argument.
    values: Vec<String>,
    /// The one with the longest name first.
    wrappers: Vec<Wrapper>,
    /// It runs tasks: what stands before a task's name.
    runners: Vec<Runner>,
}

struct Row {
    words: Vec<String>,
    flags: Vec<Flag>,
    /// In `Table::classes`.
    class: usize,
}

struct Runner {
    words: Vec<String>,
    flags: Vec<String>,
}

/// An option that a row asks for.
#[derive(Deserialize)]
#[serde(from = "String")]
pub(super) struct Flag {
    name: String,
    value: Option<String>,
}

/// What runs another command.
pub(super) struct Wrapper {
    words: Vec<String>,
    pub takes: Vec<String>,
    pub args: usize,
    pub joins: bool,
    /// What its command line goes on with belongs to this program.
    pub goes_on: Option<String>,
    /// It only is one around a program that the table knows.
    pub known: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    #[serde(borrow)]
    classes: BTreeMap<&'static str, WrittenClass>,
    commands: BTreeMap<&'static str, Vec<&'static str>>,
    values: FxHashMap<&'static str, Vec<String>>,
    wrappers: Vec<WrittenWrapper>,
    shells: Vec<&'static str>,
    runners: Vec<&'static str>,
    targets: BTreeMap<&'static str, Vec<&'static str>>,
    verbs: BTreeMap<Intent, Vec<&'static str>>,
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
    #[serde(borrow)]
    names: Vec<&'static str>,
    takes: Vec<String>,
    #[serde(default)]
    args: usize,
    #[serde(default)]
    joins: bool,
    #[serde(default)]
    goes_on: Option<String>,
    #[serde(default)]
    known: bool,
}

pub(super) fn written() -> Written {
    table::rows(table::embedded!("commands/commands"))
}

impl Table {
    fn of(written: Written) -> Table {
        let names = written.classes.keys().copied().zip(0..);
        let by_name: FxHashMap<&str, usize> = names.collect();
        let classes = written.classes.into_iter();
        let commands = written.commands.into_iter().flat_map(|(class, all)| {
            let class = by_name[class];
            all.into_iter().map(move |words| WrittenCommand {
                base: base(words),
                words,
                class,
            })
        });
        let commands: Vec<WrittenCommand> = commands.collect();
        let mut programs: FxHashMap<&str, KnownProgram> = FxHashMap::default();
        for (nth, command) in commands.iter().enumerate() {
            programs.entry(command.base).or_default().rows.push(nth);
        }
        let wrapped = written.wrappers.iter().flat_map(|one| &one.names);
        let bases = written.values.keys().copied();
        let bases = bases
            .chain(written.shells.iter().copied())
            .chain(wrapped.chain(&written.runners).map(|name| base(name)));
        for base in bases {
            programs.entry(base).or_default();
        }
        Table {
            programs,
            classes: classes.map(|(name, class)| class.named(name)).collect(),
            by_name,
            commands,
            values: written.values,
            wrappers: written.wrappers,
            shells: written.shells,
            runners: written.runners,
            targets: inverted(written.targets),
            verbs: inverted(written.verbs),
        }
    }

    /// What is known of a first word.
    pub(super) fn program(&self, base: &str) -> Option<&Program> {
        let (base, known) = self.programs.get_key_value(base)?;
        let program = || Box::new(self.known_of(base, &known.rows));
        Some(known.program.get_or_init(program))
    }

    fn known_of(&self, base: &str, rows: &[usize]) -> Program {
        let mut program = Program {
            is_shell: self.shells.contains(&base),
            values: self.values.get(base).cloned().unwrap_or_default(),
            ..Program::default()
        };
        for row in rows {
            program.add(&self.commands[*row]);
        }
        for wrapper in &self.wrappers {
            let own = wrapper.names.iter().map(|name| split(name));
            for (_, words) in own.filter(|(first, _)| *first == base) {
                program.wrappers.push(wrapper.with(words));
            }
        }
        let runners = self.runners.iter().map(|name| split(name));
        for (_, rest) in runners.filter(|(first, _)| *first == base) {
            let (flags, words) = rest.into_iter().partition(|w| is_flag(w));
            program.runners.push(Runner { words, flags });
        }
        // the first row that fits is taken: what asks for more stands before what asks for less
        for rows in program.named.values_mut().chain([&mut program.plain]) {
            rows.sort_by_key(|row| {
                let values = row.flags.iter().filter(|flag| flag.value.is_some()).count();
                let asks = (row.words.len(), row.flags.len() + values);
                std::cmp::Reverse((asks, self.classes[row.class].rank))
            });
        }
        let wrappers = &mut program.wrappers;
        wrappers.sort_by_key(|row| std::cmp::Reverse(row.words.len()));
        program
    }

    /// What a name of a task or script says: the first of its words that the table knows.
    pub(super) fn target(&self, name: &str) -> Option<&Class> {
        let words = name.split(|c: char| !c.is_ascii_alphanumeric());
        let class = words.flat_map(cased).find_map(|word| {
            let known = self.targets.get(word);
            known.or_else(|| self.targets.get(&*word.to_ascii_lowercase()))
        })?;
        Some(self.class(class))
    }

    /// What a word of a subcommand says.
    pub(super) fn verb(&self, word: &str) -> Option<Intent> {
        let word = word.to_ascii_lowercase();
        let known = self.verbs.get(&*word).copied();
        known.or_else(|| names::intent(&word))
    }

    pub(super) fn class(&self, name: &str) -> &Class {
        &self.classes[self.by_name[name]]
    }
}

impl Program {
    fn add(&mut self, command: &WrittenCommand) {
        let (_, rest) = split(command.words);
        let (flags, words): (Vec<_>, Vec<_>) = rest.into_iter().partition(|w| is_flag(w));
        let row = Row {
            words,
            flags: flags.into_iter().map(Flag::from).collect(),
            class: command.class,
        };
        match row.words.first() {
            Some(first) => self.named.entry(first.clone()).or_default().push(row),
            None => self.plain.push(row),
        }
    }

    /// The class of the row that has most in common with the command, and how many subcommands
    /// that row names. `subs` are the command's [`positional`] arguments.
    pub(super) fn find(
        &self,
        subs: &[&str],
        args: &[Cow<'_, str>],
    ) -> Option<(&'static Class, usize)> {
        let fits =
            |row: &&Row| starts(&row.words, subs) && row.flags.iter().all(|flag| flag.is_in(args));
        let named = subs.first().and_then(|first| self.named.get(*first));
        let row = named
            .and_then(|rows| rows.iter().find(fits))
            .or_else(|| self.plain.iter().find(fits))?;
        Some((&TABLE.classes[row.class], row.words.len()))
    }

    /// The table has a row for the first of these.
    pub(super) fn names(&self, subs: &[&str]) -> bool {
        subs.first()
            .is_some_and(|first| self.named.contains_key(*first))
    }

    /// What it operates on where nothing more is asked.
    pub(super) fn domain(&self) -> Option<Domain> {
        let weakest = |row: &&Row| (TABLE.classes[row.class].rank, row.class);
        let named = || self.named.values().flatten().min_by_key(weakest);
        let row = self.plain.last().or_else(named)?;
        Some(TABLE.classes[row.class].domain)
    }

    /// The wrapper that this is, and how many of the arguments are its name, with the program's own
    /// options among them: `pnpm -r exec`.
    pub(super) fn wrapper(&self, args: &[Cow<'_, str>]) -> Option<(&Wrapper, usize)> {
        let mut rows = self.wrappers.iter();
        rows.find_map(|row| Some((row, self.named_until(&row.words, args)?)))
    }

    /// Where these words end among the arguments, options passed over.
    fn named_until(&self, words: &[String], args: &[Cow<'_, str>]) -> Option<usize> {
        let mut at = 0;
        for word in words {
            while is_flag(args.get(at)?) {
                at += 1 + usize::from(self.values.iter().any(|value| *value == args[at]));
            }
            if args.get(at)? != word {
                return None;
            }
            at += 1;
        }
        Some(at)
    }

    /// The task that a runner was asked for, and how many subcommands that took.
    pub(super) fn task<'w>(
        &self,
        subs: &[&'w str],
        args: &[Cow<'_, str>],
    ) -> Option<(&'w str, usize)> {
        let fits = self.runners.iter().filter(|row| {
            row.words.iter().zip(subs).all(|(a, b)| a == b)
                && row.flags.iter().all(|flag| args.iter().any(|a| a == flag))
        });
        let words = fits.map(|row| row.words.len()).max()?;
        Some((subs.get(words)?, words))
    }
}

/// Some of a command's arguments.
pub(super) type Subs<'w> = SmallVec<[&'w str; 4]>;

/// Arguments that are no options and no options' values; at most four.
pub(super) fn positional<'w>(program: Option<&Program>, args: &'w [Cow<'_, str>]) -> Subs<'w> {
    let takes = |arg: &str| program.is_some_and(|p| p.values.iter().any(|v| v == arg));
    let mut found = Subs::new();
    let mut skip = false;
    for arg in args {
        if std::mem::take(&mut skip) {
            continue;
        }
        match is_flag(arg) {
            true => skip = takes(arg),
            false => found.push(&**arg),
        }
        if found.len() == found.inline_size() {
            break;
        }
    }
    found
}

fn starts(words: &[String], given: &[impl PartialEq<String>]) -> bool {
    words.len() <= given.len() && given.iter().zip(words).all(|(a, b)| a == b)
}

impl WrittenWrapper {
    /// For the name that goes on with these words.
    fn with(&self, words: Vec<String>) -> Wrapper {
        Wrapper {
            words,
            takes: self.takes.clone(),
            args: self.args,
            joins: self.joins || self.goes_on.is_some(),
            goes_on: self.goes_on.clone(),
            known: self.known,
        }
    }
}

impl WrittenClass {
    fn named(self, name: &str) -> Class {
        let sources = || super::super::names::signals(self.intent, self.domain);
        Class {
            name: name.to_owned(),
            intent: self.intent,
            domain: self.domain,
            rank: self.rank,
            signals: self.signals.unwrap_or_else(sources),
        }
    }
}

impl From<String> for Flag {
    /// `-i`, or `-X:POST` with its value.
    fn from(written: String) -> Flag {
        match written.split_once(':') {
            Some((name, value)) => Flag {
                name: name.to_owned(),
                value: Some(value.to_owned()),
            },
            None => Flag {
                name: written,
                value: None,
            },
        }
    }
}

impl Flag {
    pub(super) fn is_in(&self, args: &[Cow<'_, str>]) -> bool {
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

/// A word in parts where its case changes: `testDebugUnit`.
fn cased(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let after = rest.get(1..)?;
        let end = after.find(|c: char| c.is_ascii_uppercase());
        let (part, behind) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
        rest = behind;
        Some(part)
    })
}

/// A command's first word.
fn base(command: &'static str) -> &'static str {
    command.split(' ').next().unwrap_or_default()
}

fn split(command: &str) -> (&str, Vec<String>) {
    let mut words = command.split(' ');
    (
        words.next().unwrap_or_default(),
        words.map(str::to_owned).collect(),
    )
}

fn inverted<K: Clone>(lists: BTreeMap<K, Vec<&'static str>>) -> FxHashMap<&'static str, K> {
    let pairs = lists.into_iter();
    pairs
        .flat_map(|(key, words)| words.into_iter().map(move |word| (word, key.clone())))
        .collect()
}
