//! The crontab block: our lines between two marks, put in and taken out without touching a byte of
//! what else is there.

use super::job::{Job, refused};
use super::recurrence::Recurrence;
use crate::host::process;
use crate::model::error::{Error, ErrorKind};
use crate::model::shell;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::io;

type Vars = BTreeMap<String, String>;

const TEMPLATE: &str = include_str!("../../../scripts/sessionmill.cron");
const BEGIN: &str = "# sessionmill: begin\n";
const END: &str = "# sessionmill: end\n";
const FIELDS: &str = "*/15 * * * *";
const PROGRAM: &str = "$HOME/.cargo/bin/sessionmill run nightly";

/// Our block as it would stand in the crontab.
pub fn block(job: &Job) -> String {
    let vars: String = job
        .vars
        .iter()
        .map(|(name, value)| format!("{name}={} ", shell::word(value)))
        .collect();
    let program = shell::word(&job.program.to_string_lossy());
    // Cron takes a bare % for a newline, wherever it stands.
    let command = format!("{program} run {}", shell::word(&job.pipeline)).replace('%', "\\%");
    let nice = format!("{}nice", vars.replace('%', "\\%"));
    let (_, ours) = split(TEMPLATE);
    let ours = ours.unwrap_or_default().replace(PROGRAM, &command);
    let mut block = String::new();
    for line in ours.lines() {
        let Some(line) = line.strip_prefix(FIELDS) else {
            block += &format!("{line}\n");
            continue;
        };
        if matches!(job.recurrence, Recurrence::At(_)) {
            block += &format!("# {}\n", job.recurrence.mark());
        }
        for fields in job.recurrence.cron() {
            block += &format!("{fields}{}\n", line.replacen("nice", &nice, 1));
        }
    }
    block
}

/// What is said where nothing can start us.
pub const NO_TIMER: &str = "there is neither a systemd user manager nor a crontab here";

/// Whether this machine has a crontab.
pub fn is_there(vars: &Vars) -> Result<bool> {
    Ok(read(vars)?.is_some())
}

/// Puts our block at the end of the crontab, in place of one that is there.
pub fn install(job: &Job, vars: &Vars) -> Result<()> {
    let Some(table) = read(vars)? else {
        let hint = "run this from your own scheduler: sessionmill run nightly --quiet";
        return Err(Error::new(ErrorKind::Failed, NO_TIMER).hinted(hint).into());
    };
    let (mut rest, _) = split(&table);
    if !rest.is_empty() && !rest.ends_with('\n') {
        rest.push('\n');
    }
    write(&format!("{rest}{}", block(job)), vars)
}

/// Our block as it stands in the crontab now; `None` where there is none, or no cron.
pub fn installed(vars: &Vars) -> Result<Option<String>> {
    Ok(read(vars)?.and_then(|table| split(&table).1))
}

/// Takes our block out. Whether there was one.
pub fn remove(vars: &Vars) -> Result<bool> {
    let Some(table) = read(vars)? else {
        return Ok(false);
    };
    match split(&table) {
        (_, None) => Ok(false),
        (rest, Some(_)) => write(&rest, vars).map(|()| true),
    }
}

/// A crontab without our block, and the block. A begin without an end is not ours to judge: it
/// stays.
fn split(table: &str) -> (String, Option<String>) {
    let begin = match table.starts_with(BEGIN) {
        true => Some(0),
        false => table.find(&format!("\n{BEGIN}")).map(|at| at + 1),
    };
    let span = begin.and_then(|from| {
        let to = table[from..].find(END)? + from + END.len();
        Some(from..to)
    });
    match span {
        None => (table.to_owned(), None),
        Some(span) => {
            let rest = format!("{}{}", &table[..span.start], &table[span.end..]);
            (rest, Some(table[span].to_owned()))
        }
    }
}

/// The person's crontab; `None` when there is no cron. Any failure but "there is none yet" is an
/// error: taking it for an empty table would overwrite a full one.
fn read(vars: &Vars) -> Result<Option<String>> {
    let ended = match crontab(&["-l"], "", vars) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.context("start crontab")?,
    };
    match ended.succeeded() {
        true => Ok(Some(ended.stdout)),
        false if ended.stderr.contains("no crontab for") => Ok(Some(String::new())),
        false => Err(refused("crontab -l", &ended.stderr, "crontab -e").into()),
    }
}

fn write(table: &str, vars: &Vars) -> Result<()> {
    let ended = crontab(&["-"], table, vars).context("start crontab")?;
    match ended.succeeded() {
        true => Ok(()),
        false => Err(refused("crontab -", &ended.stderr, "crontab -e").into()),
    }
}

/// In English, because [`read`] has to understand it.
fn crontab(args: &[&str], stdin: &str, vars: &Vars) -> io::Result<process::Finished> {
    let mut vars = vars.clone();
    vars.insert("LC_ALL".into(), "C".into());
    process::run("crontab", args, stdin, &vars)
}

#[cfg(test)]
mod tests {
    use super::super::every::Every;
    use super::*;

    #[test]
    fn the_line_survives_odd_paths() {
        let job = Job {
            program: "/opt/it's/100%/sessionmill".into(),
            pipeline: "nightly".into(),
            recurrence: Recurrence::Every(Every::Hours(1)),
            folders: Vec::new(),
            network: false,
            home: "/h/.graphiti".into(),
            user_home: "/h".into(),
            vars: vec![("CODEX_HOME".into(), "/c d".into())],
        };
        assert_eq!(
            block(&job),
            "# sessionmill: begin\n0 * * * * CODEX_HOME='/c d' nice -n 19 \
             '/opt/it'\\''s/100\\%/sessionmill' run nightly --quiet\n# sessionmill: end\n"
        );
    }

    #[test]
    fn taking_the_block_out_leaves_every_other_byte() {
        let ours = format!("{BEGIN}x\n{END}");
        for (before, after) in [
            ("", ""),
            ("a\n", ""),
            ("a\n", "b\n"),
            ("", "b"),
            ("a\n\n", "\n"),
        ] {
            let table = format!("{before}{ours}{after}");
            assert_eq!(
                split(&table),
                (format!("{before}{after}"), Some(ours.clone()))
            );
        }
        let torn = format!("a\n{BEGIN}x\n");
        assert_eq!(split(&torn), (torn.clone(), None));
    }
}
