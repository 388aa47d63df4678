//! Scripts of what happens to logs between runs: one step a line, so that a failure can be read,
//! saved and told again.

use super::disk::{VERBS, Verb};
use anyhow::{Context, Result};
use proptest::prelude::*;
use std::fmt;

/// What a step may do to the laws that hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Histories only grow, files move whole: the store equals a cold run's.
    Grows,
    /// Records are copied to other files: each is stored once.
    Copies,
    /// Anything else: what a run saw stays.
    Rewrites,
}

/// `verb log n`: what happens to which log; what `n` means is the verb's to say.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub verb: &'static Verb,
    pub log: u8,
    pub n: u8,
}

/// Steps in order; a run follows the last one.
#[derive(Clone)]
pub struct Script(pub Vec<Step>);

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut steps = self.0.iter();
        steps.try_for_each(|step| writeln!(f, "{} {} {}", step.verb.name, step.log, step.n))
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}")
    }
}

impl Script {
    /// The inverse of `Display`; lines that begin with `#` say why.
    pub fn parse(text: &str) -> Result<Script> {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let steps = lines.map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let [name, log, n] = words[..] else {
                anyhow::bail!("not a step: {line}");
            };
            let verb = VERBS.iter().find(|verb| verb.name == name);
            Ok(Step {
                verb: verb.with_context(|| format!("no verb {name}"))?,
                log: log.parse()?,
                n: n.parse()?,
            })
        });
        Ok(Script(steps.collect::<Result<_>>()?))
    }

    /// Scripts of steps up to this class.
    pub fn any(class: Class) -> impl Strategy<Value = Script> {
        let verbs = VERBS.iter().filter(|verb| verb.class <= class);
        let weighted = verbs.flat_map(|verb| std::iter::repeat_n(verb, verb.weight));
        let verb = prop::sample::select(weighted.collect::<Vec<_>>());
        let step = (verb, 0..4u8, 0..16u8).prop_map(|(verb, log, n)| Step { verb, log, n });
        let first = prop::sample::select(vec!["claude 0 0", "codex 0 0", "gemini 0 0", "qwen 0 0"]);
        (first, prop::collection::vec(step, 2..24)).prop_map(|(first, steps)| {
            let mut script = Script::parse(first).expect("a step");
            script.0.extend(steps);
            script
        })
    }
}
