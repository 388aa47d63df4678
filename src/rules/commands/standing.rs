//! The command that stands for a line, as it was typed: with what runs it and its options, without what
//! stands around it.

use super::judge::{DEPTH_MAX, Ran, judge, ran};
use crate::rules::shell;

/// Its words, in order, with the settings before them (`FORCE=1`); empty where nothing runs. A few
/// microseconds.
pub fn standing(line: &str) -> Vec<String> {
    standing_at(line, 0)
}

fn standing_at(line: &str, depth: u8) -> Vec<String> {
    let mut best: Option<(u8, usize)> = None;
    let commands = shell::read(line);
    for (nth, simple) in commands.iter().enumerate() {
        let known = best.map(|(rank, _)| rank);
        let judged = judge(simple, depth, known).filter(|judged| judged.stands_above(known));
        best = judged.map(|judged| (judged.rank(), nth)).or(best);
    }
    let Some(simple) = best.and_then(|(_, nth)| commands.get(nth)) else {
        return Vec::new();
    };
    if let Some(Ran::Script(script)) = ran(simple, depth)
        && depth < DEPTH_MAX
    {
        return standing_at(&script, depth + 1);
    }
    let words = simple.words.iter().map(|word| word.to_string());
    let words: Vec<String> = words.collect();
    let set = words.first().map(|first| set_before(line, first));
    set.into_iter().flatten().chain(words).collect()
}

/// `NAME=value` before the first place where a program is named, also as commands of their own.
fn set_before(line: &str, program: &str) -> Vec<String> {
    let begins = |at: usize| at == 0 || line[..at].ends_with([' ', '\t', '\n', ';', '&', '|', '(']);
    let mut places = line.match_indices(program).map(|(at, _)| at);
    let before = places.find(|at| begins(*at)).map_or("", |at| &line[..at]);
    let (whole, last) = before.rsplit_once(['&', ';', '\n']).unwrap_or(("", before));
    let own = whole.split(['&', ';', '\n']).map(|part| {
        let part = part.trim();
        part.strip_prefix("export ").unwrap_or(part)
    });
    let own = own.filter(|part| !part.is_empty() && part.split_whitespace().all(is_setting));
    let mut set: Vec<&str> = last
        .rsplit(char::is_whitespace)
        .skip_while(|word| word.is_empty())
        .take_while(|word| is_setting(word))
        .collect();
    set.reverse();
    let own = own.flat_map(str::split_whitespace);
    own.chain(set).map(str::to_owned).collect()
}

/// A command's words without what only sets where it runs: `env`, settings before it, a manager of tools' versions.
pub fn bare(words: &[String]) -> &[String] {
    let mut rest = words;
    loop {
        let until = |name: &str| rest.iter().position(|word| word == name).map(|at| at + 1);
        let skipped = match rest {
            [setting, _, ..] if is_setting(setting) => 1,
            [env, _, ..] if env == "env" => 1,
            [manager, exec, _, ..]
                if matches!(manager.as_str(), "mise" | "asdf" | "nix" | "direnv")
                    && matches!(exec.as_str(), "exec" | "x") =>
            {
                until("--").unwrap_or(2)
            }
            _ => return rest,
        };
        match rest.get(skipped..) {
            Some(inner) if !inner.is_empty() => rest = inner,
            _ => return rest,
        }
    }
}

/// `FORCE=1`: an environment's variable, or one of `make`.
pub fn is_setting(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else {
        return false;
    };
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sets_where_a_command_runs_is_no_part_of_it() {
        for (line, wants) in [
            ("env GOCACHE=/t/c mise run vet", "mise run vet"),
            ("mise exec -- env A=b go vet ./...", "go vet ./..."),
            ("CI=1 npm test", "npm test"),
            ("mise run vet", "mise run vet"),
            ("env", "env"),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(bare(&words).join(" "), wants, "{line}");
        }
    }

    #[test]
    fn what_stands_around_a_command_is_left_out() {
        for (line, wants) in [
            ("make deploy", "make deploy"),
            (
                "cd /srv && make deploy FORCE=1 2>&1 | tail -5",
                "make deploy FORCE=1",
            ),
            (
                "cd x && CI=1 FORCE=1 make deploy",
                "CI=1 FORCE=1 make deploy",
            ),
            (
                "PATH=$PATH:/usr/go/bin && cd /p/go && go build ./shop 2>&1",
                "PATH=$PATH:/usr/go/bin go build ./shop",
            ),
            ("cd go; go vet ./...", "go vet ./..."),
            ("bash -lc 'cd x; npx tsc --noEmit'", "npx tsc --noEmit"),
            (
                "git status && git push -u origin main",
                "git push -u origin main",
            ),
            ("", ""),
        ] {
            assert_eq!(standing(line).join(" "), wants, "{line}");
        }
    }
}
