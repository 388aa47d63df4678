//! How a command that checks ended, as far as the log tells: by the exit code of its line, or by what it printed.

use crate::insight::facts::line::LocatedItem;
use crate::insight::facts::ran::{RUNNING, RanCommand};
use crate::insight::facts::words::shortened;
use crate::model::finding::Finding;
use crate::rules::commands::{
    CheckEnd, CommandCheck, bare, checks as checks_of, is_absent, is_ci_open, is_clean,
    is_only_built, is_written, only_lists, passes_end, prints_only_faults, test_commands,
    watches_ci,
};
use std::borrow::Cow;

/// Of what a command said more is no word on how it ended.
const SAID_CHARS_MAX: usize = 60;

/// It says which fault, not all of it.
const FAULT_CHARS_MAX: usize = 110;

/// How a check ended.
pub(super) struct Ended {
    /// `None` where nobody knows.
    pub passed: Option<bool>,
    /// What it said, where that is short.
    pub said: Option<String>,
    /// What it complained of first.
    pub fault: Option<String>,
}

/// What the checks of a call's line came to, in their order.
pub(super) fn ended(
    line: &LocatedItem<'_>,
    call: &RanCommand<'_>,
    checks: &[CommandCheck],
) -> Vec<Ended> {
    let end = |(nth, check): (usize, &CommandCheck)| {
        let word = own_word(line, checks, nth).filter(|_| !call.tells(check));
        let passed = match word {
            Some((passed, _)) => Some(passed),
            None if watches_ci(bare(&check.words)) => match line.item.text.ends_with(RUNNING) {
                true => None,
                false => call.ci_state(check),
            },
            None if call.is_unclear() => None,
            None => call.state(check),
        };
        let (well, ill) = match word {
            Some((true, said)) => (Some(said), None),
            Some((false, said)) => (None, Some(said).filter(|said| !said.is_empty())),
            None => (None, None),
        };
        let well = well.and_then(told_word);
        let ill = ill.map(|said| shortened(said.trim_end_matches(':'), FAULT_CHARS_MAX));
        // of several, the last one said it
        let is_last = nth + 1 == checks.len();
        let own = || {
            call.said(check)
                .filter(|_| is_last && passed.is_some() && word.is_none())
        };
        let complained = || call.fault().filter(|_| word.is_none() || is_last);
        Ended {
            said: well.or_else(own),
            fault: (passed == Some(false))
                .then(|| complained().or(ill))
                .flatten(),
            passed,
        }
    };
    checks.iter().enumerate().map(end).collect()
}

/// What the tool itself said of this check of a line: of a tool's checks as many as it said something of.
fn own_word<'l>(
    line: &LocatedItem<'l>,
    checks: &[CommandCheck],
    nth: usize,
) -> Option<(bool, &'l str)> {
    let said = line
        .item
        .findings
        .iter()
        .filter_map(|finding| match finding {
            Finding::Checked { tool, passed, said } => {
                Some((tool.as_str(), *passed, said.as_str()))
            }
            _ => None,
        });
    let said: Vec<_> = said.collect();
    let (tool, ..) = said.iter().find(|(tool, ..)| is_of(&checks[nth], tool))?;
    let words: Vec<_> = said.iter().filter(|(other, ..)| other == tool).collect();
    let own = (0..checks.len()).filter(|at| is_of(&checks[*at], tool));
    let own: Vec<usize> = own.collect();
    let at = own.iter().position(|at| *at == nth)?;
    let (_, passed, said) = words.get(at).filter(|_| own.len() == words.len())?;
    Some((*passed, *said))
}

/// The check runs the tool.
fn is_of(check: &CommandCheck, tool: &str) -> bool {
    let base = |word: &String| {
        word.rsplit(['/', '\\'])
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let words: Vec<String> = check.words.iter().map(base).collect();
    let begins = |at: usize| {
        let mut words = words[at..].iter();
        tool.split(' ')
            .all(|part| words.next().is_some_and(|word| word == part))
    };
    check.program == tool || (0..words.len()).any(begins)
}

/// A tool's word that all is well, as it may be told.
fn told_word(said: &str) -> Option<String> {
    let said = said.trim_end_matches('.');
    let said = said.trim_start_matches(|c: char| !c.is_alphanumeric());
    let is_told = is_clean(said) == Some(true) && said.chars().count() <= SAID_CHARS_MAX;
    is_told.then(|| said.to_owned())
}

impl RanCommand<'_> {
    /// The line's exit code is that of the check, as far as the line is shown.
    fn tells(&self, check: &CommandCheck) -> bool {
        let is_own = matches!(check.end, CheckEnd::Own | CheckEnd::First);
        is_own && !self.command.ends_with('…') && !self.is_unclear()
    }

    /// Nothing was wrong; `None` where nobody knows.
    fn state(&self, check: &CommandCheck) -> Option<bool> {
        let is_cut = self.command.ends_with('…') || self.command.contains("<<");
        let is_absent = self.failed && is_absent(self.output);
        match check.end {
            _ if is_cut || is_absent => None,
            // a paper with an error in it is made, though its exit code is 1
            _ if self.failed && is_written(self.output) => Some(true),
            CheckEnd::Own if self.failed => Some(false),
            CheckEnd::Own if only_lists(&check.words) => self.lists_nothing(),
            CheckEnd::Own => Some(true),
            CheckEnd::First if self.failed || only_lists(&check.words) => None,
            CheckEnd::First => Some(true),
            // its output said so, not the exit code of what passed that on
            CheckEnd::Printed if self.failed && !self.ended_badly() => Some(false),
            CheckEnd::Output | CheckEnd::Printed if self.failed => None,
            CheckEnd::Printed if is_size(self.output) && prints_only_faults(&check.words) => {
                Some(false)
            }
            CheckEnd::Output | CheckEnd::Printed => self.printed(check),
        }
    }

    /// It listed nothing; of a line of several commands nobody knows whose the output is.
    fn lists_nothing(&self) -> Option<bool> {
        let rest = self
            .command
            .strip_prefix("cd ")
            .and_then(|rest| rest.split_once("&& "));
        let rest = rest.map_or(self.command, |(_, rest)| rest);
        let is_silent = self.is_silent();
        let is_alone = !rest.contains([';', '|']) && !rest.contains("&&");
        (is_silent || is_alone).then_some(is_silent)
    }

    /// Of a script nobody knows which of its commands ran, or which of them failed.
    fn is_unclear(&self) -> bool {
        const GUARDS: [&str; 4] = ["then", "else", "case", "exit"];
        let parts = || self.command.split(';').flat_map(|part| part.split("&&"));
        let first = |part: &str| part.split_whitespace().next().map(str::to_owned);
        let is_guard = |word: String| GUARDS.contains(&word.as_str());
        let is_guarded = || parts().filter_map(first).any(is_guard);
        let is_list = self.command.contains("; ");
        is_list && (is_guarded() || self.failed && several(self.command))
    }

    /// What was printed of a command says that nothing was wrong, or that something was.
    fn printed(&self, check: &CommandCheck) -> Option<bool> {
        let passed = passed_line(self.output);
        let own = self.without_echoes(self.output);
        let last = own.rsplit(" · ").next().unwrap_or_default();
        let is_piped = check.end == CheckEnd::Printed;
        let has_end = !is_piped || passes_end(self.command);
        if is_only_built(&check.words, passed.unwrap_or(last)) {
            return None;
        }
        match is_clean(&own) {
            _ if is_piped && passed.is_some() => has_end.then_some(true),
            // more of it came behind what was well
            Some(true) if is_piped && is_clean(last) != Some(true) => None,
            Some(true) if last == own => Some(true),
            Some(true) => has_end.then_some(true),
            Some(false) => Some(false),
            None => (has_end && self.is_shown()).then_some(true),
        }
    }

    /// The same of a command that waits for checks elsewhere.
    fn ci_state(&self, check: &CommandCheck) -> Option<bool> {
        let says = |flag: &str| check.words.iter().any(|word| word == flag);
        // without it `gh run watch` ends with 0 whatever it saw
        let is_told = says("checks") || says("--exit-status");
        let is_known = is_told && !is_ci_open(self.output) && !self.command.ends_with('…');
        match check.end {
            CheckEnd::Own if is_known => Some(!self.failed),
            CheckEnd::First if is_known && !self.failed => Some(true),
            _ => None,
        }
    }

    /// The line's exit code told of an error.
    fn ended_badly(&self) -> bool {
        self.output.starts_with("exit ") || self.output.starts_with("failed")
    }

    /// What it printed without what the line itself says between its commands: `echo done`.
    fn without_echoes<'o>(&self, output: &'o str) -> Cow<'o, str> {
        if !self.command.contains("echo ") {
            return Cow::Borrowed(output);
        }
        let echoes = self.command.split("echo ").skip(1);
        let echoes = echoes.filter_map(|said| said.split([';', '&', '|']).next());
        let echoes: Vec<&str> = echoes.map(|said| said.trim_matches(AROUND)).collect();
        let is_own = |part: &&str| !echoes.contains(&part.trim_matches(AROUND));
        Cow::Owned(
            output
                .split(" · ")
                .filter(is_own)
                .collect::<Vec<_>>()
                .join(" · "),
        )
    }

    /// The output stands there, and no word of trouble in it.
    fn is_shown(&self) -> bool {
        !is_size(self.output) && is_clean(self.output).is_none() && !is_absent(self.output)
    }

    /// What it complained of first; nothing where that only says that something failed.
    fn fault(&self) -> Option<String> {
        let (end, said) = self.output.split_once(": ")?;
        let tells = end.starts_with("exit ") || end == "complained";
        // how a runner of tasks ends says nothing of the fault
        let is_end = said.contains("exited with") || said.contains("ELIFECYCLE");
        // nor does a line of what a formatter would change
        let is_diff = said.starts_with(['-', '+']);
        let says = said.contains(' ') && !said.starts_with("no tests") && !is_end && !is_diff;
        (tells && says).then(|| shortened(said, FAULT_CHARS_MAX))
    }

    /// What the line printed, where that is of this command.
    fn said(&self, check: &CommandCheck) -> Option<String> {
        let said = self.output.trim().trim_end_matches('.');
        let said = said.strip_prefix("failed: ").unwrap_or(said);
        let said = passed_line(said).unwrap_or(said);
        let said = &*self.without_echoes(said);
        let is_short = !said.is_empty() && said.chars().count() <= SAID_CHARS_MAX;
        let is_own = check.end != CheckEnd::First && is_clean(said) == Some(true);
        (is_short && is_own && !self.is_silent()).then(|| said.to_owned())
    }
}

/// Stand around what is echoed; a digest escapes what begins like a list.
const AROUND: [char; 4] = [' ', '"', '\'', '\\'];

/// The line has more than one command that checks or tests.
fn several(line: &str) -> bool {
    checks_of(line).len() + test_commands(line).len() > 1
}

/// Of a longer output a digest tells only how long it is.
fn is_size(output: &str) -> bool {
    output.ends_with(" KB") || output.ends_with(" bytes")
}

/// Behind the size of a longer output a digest tells the line that says that a check passed.
fn passed_line(output: &str) -> Option<&str> {
    let (size, said) = output.split_once(": ")?;
    is_size(size).then_some(said)
}
