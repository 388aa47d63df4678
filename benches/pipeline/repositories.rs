//! What git's history costs: asking why among very many operations, and looking at many repositories in
//! which nothing happened.

use crate::Scale;
use crate::child::{self, Run};
use crate::measure::{median, milliseconds};
use crate::table::{Figure, judged, told};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

/// Every so many operations one is a reset that leaves a commit which no ref has.
const RESET_EVERY: usize = 20;

/// Files that commits write in turn.
const FILES: usize = 200;

/// Homes below `root`, one after the other.
pub fn measure(scale: &Scale, root: &Path, figures: &mut Vec<Figure>) -> io::Result<()> {
    why(scale, &root.join("one"), figures)?;
    look(scale, &root.join("many"), figures)?;
    fs::remove_dir_all(root)
}

/// One repository of very many operations: the first look, one with news, and why.
fn why(scale: &Scale, home: &Path, figures: &mut Vec<Figure>) -> io::Result<()> {
    let repository = home.join("app");
    let commits = history(&repository, scale.operations)?;
    settings(home, true)?;
    let log = home.join(".claude/projects/-app/5e550000-0000-4000-8000-000000000001.jsonl");
    session(&log, &repository)?;
    let run = || {
        child::run(
            home,
            &["run", "--steps", "ingest,track,report", "--all", "--json"],
        )
    };
    // a run reads so much of a log, the next one goes on
    let (mut stored, mut looks, mut seconds) = (0, 0, 0.0);
    loop {
        let look = run()?;
        match number(&look, "git_operations")? {
            0 => break,
            more => stored += more,
        }
        (looks, seconds) = (looks + 1, seconds + look.wall.as_secs_f64());
    }
    let wanted = scale.operations as u64;
    assert!(stored >= wanted, "{stored} operations are stored");
    figures.push(told(
        &format!("first looks at {wanted} git operations"),
        format!("{seconds:.1} s in {looks} runs"),
    ));
    git(
        &repository,
        &["commit", "-q", "--allow-empty", "-m", "news"],
    )?;
    figures.push(told("a look with one more", milliseconds(&run()?)));

    let mut runs = Vec::new();
    for nth in 0..scale.idle {
        let commit = &commits[commits.len() / (nth + 2)];
        let run = child::run(home, &["why", "--commit", commit, "--json"])?;
        let answer: Value = serde_json::from_str(&run.stdout)?;
        let operations = answer["operations"].as_array().map_or(0, Vec::len);
        assert!((1..=4).contains(&operations), "{commit}: {operations}");
        runs.push(run);
    }
    let median = median(&mut runs);
    figures.push(judged(
        &format!("why --commit among {wanted} operations"),
        milliseconds(median),
        "≤ 20 ms",
        median.wall.as_millis() <= 20,
    ));
    fs::remove_dir_all(home)
}

/// Many repositories, each with a session and a commit that was given up: a run without news, with
/// tracking and without.
fn look(scale: &Scale, home: &Path, figures: &mut Vec<Figure>) -> io::Result<()> {
    for nth in 0..scale.repositories {
        let repository = home.join(format!("app{nth}"));
        history(&repository, RESET_EVERY + 5)?;
        let id = format!("5e55{nth:04x}-0000-4000-8000-000000000001");
        session(
            &home.join(format!(".claude/projects/-app{nth}/{id}.jsonl")),
            &repository,
        )?;
    }
    settings(home, true)?;
    let run = || {
        child::run(
            home,
            &["run", "--steps", "ingest,track,report", "--all", "--json"],
        )
    };
    let opened = number(&run()?, "git_trees_opened")?;
    assert_eq!(
        opened, scale.repositories as u64,
        "repositories that are tracked"
    );
    run()?;
    let (mut on, mut off) = (Vec::new(), Vec::new());
    for _ in 0..scale.idle {
        settings(home, true)?;
        on.push(run()?);
        settings(home, false)?;
        off.push(run()?);
    }
    let opened: Vec<u64> = on
        .iter()
        .map(|run| number(run, "git_trees_opened"))
        .collect::<io::Result<_>>()?;
    let (on, off) = (median(&mut on), median(&mut off));
    let more = on.wall.saturating_sub(off.wall);
    let measured = format!(
        "{:.1} ms more than {}",
        more.as_secs_f64() * 1e3,
        milliseconds(off)
    );
    figures.push(judged(
        &format!("no news in {} repositories", scale.repositories),
        measured,
        "≤ 30 ms more",
        more.as_millis() <= 30,
    ));
    let opened = opened.iter().sum::<u64>();
    figures.push(judged(
        "repositories opened by it",
        opened.to_string(),
        "0",
        opened == 0,
    ));
    fs::remove_dir_all(home)
}

/// Sessions are read; git operations are recorded, or not.
fn settings(home: &Path, tracks: bool) -> io::Result<()> {
    fs::create_dir_all(home.join(".graphiti"))?;
    let tracking = json!({"version": "1.0", "defaults": {"enabled": tracks}});
    fs::write(
        home.join(".graphiti/tracking-config.json"),
        tracking.to_string(),
    )?;
    let settings = r#"{"version": "2.0.0", "session_tracking": {"enabled": true}}"#;
    fs::write(home.join(".graphiti/graphiti.config.json"), settings)
}

/// The log of a session in a repository.
fn session(log: &Path, repository: &Path) -> io::Result<()> {
    let parent = log.parent().unwrap_or(log);
    fs::create_dir_all(parent)?;
    let id = log.file_stem().unwrap_or_default().to_string_lossy();
    let mut text = String::new();
    for (nth, (kind, content)) in [
        ("user", json!("Go on with the app")),
        ("assistant", json!([{"type": "text", "text": "It is done"}])),
    ]
    .iter()
    .enumerate()
    {
        let message = json!({"role": kind, "id": "msg_1", "model": "m", "content": content});
        let line = json!({"type": kind, "uuid": format!("{}-{nth:012}", &id[..23]), "sessionId": id,
            "cwd": repository, "timestamp": format!("2026-03-02T10:00:0{nth}.000Z"), "message": message});
        let _ = writeln!(text, "{line}");
    }
    fs::write(log, text)
}

/// A repository whose HEAD has so many lines in its log, a second each, up to now. Gives commits.
fn history(repository: &Path, operations: usize) -> io::Result<Vec<String>> {
    fs::create_dir_all(repository)?;
    git(repository, &["init", "-q", "-b", "main"])?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |since| since.as_secs() as usize);
    let first = now - operations - 60;
    let is_reset = |nth: usize| nth % RESET_EVERY == RESET_EVERY - 1;
    let mut stream = String::new();
    let mut kept = 0;
    for nth in (1..=operations).filter(|nth| !is_reset(*nth)) {
        let at = first + nth;
        let text = format!("x = {nth}\ny = {}\n", nth * 7);
        let (file, message) = (nth % FILES, format!("Change {nth}"));
        let branch = if is_reset(nth + 1) { "lost" } else { "main" };
        let _ = write!(
            stream,
            "commit refs/heads/{branch}\nmark :{nth}\ncommitter A <a@example.org> {at} +0000\n\
             data {}\n{message}\n{}M 100644 inline src/file{file}.py\ndata {}\n{text}\n",
            message.len(),
            if kept == 0 {
                String::new()
            } else {
                format!("from :{kept}\n")
            },
            text.len(),
        );
        if branch == "main" {
            kept = nth;
        }
    }
    let import = [
        "fast-import",
        "--quiet",
        "--force",
        "--export-marks=.git/marks",
    ];
    fed(repository, &import, &stream)?;
    let marks = fs::read_to_string(repository.join(".git/marks"))?;
    let mut hashes = vec![String::new(); operations + 1];
    for line in marks.lines() {
        if let Some((mark, hash)) = line.trim_start_matches(':').split_once(' ') {
            hashes[mark.parse::<usize>().unwrap_or(0)] = hash.to_owned();
        }
    }
    log(repository, &hashes, first)?;
    git(repository, &["branch", "-q", "-D", "lost"])?;
    git(repository, &["reset", "-q", "--hard"])?;
    Ok(hashes.into_iter().filter(|hash| !hash.is_empty()).collect())
}

/// HEAD's log: commits, and where there is none a reset to the commit before the last one.
fn log(repository: &Path, hashes: &[String], first: usize) -> io::Result<()> {
    let nothing = "0".repeat(40);
    let (mut before, mut last) = (nothing.clone(), nothing);
    let mut text = String::new();
    for (nth, hash) in hashes.iter().enumerate().skip(1) {
        let (to, message) = match hash.is_empty() {
            true => (before.clone(), "reset: moving to HEAD~1".to_owned()),
            false => (hash.clone(), format!("commit: Change {nth}")),
        };
        let at = first + nth;
        let _ = writeln!(text, "{last} {to} A <a@example.org> {at} +0000\t{message}");
        (before, last) = (last, to);
    }
    fs::create_dir_all(repository.join(".git/logs"))?;
    fs::write(repository.join(".git/logs/HEAD"), text)
}

fn git(repository: &Path, args: &[&str]) -> io::Result<()> {
    fed(repository, args, "")
}

/// Git, with something on its standard input and nobody's settings.
fn fed(repository: &Path, args: &[&str], input: &str) -> io::Result<()> {
    let mut child = Command::new("git")
        .args(args)
        .current_dir(repository)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_AUTHOR_NAME", "A")
        .env("GIT_AUTHOR_EMAIL", "a@example.org")
        .env("GIT_COMMITTER_NAME", "A")
        .env("GIT_COMMITTER_EMAIL", "a@example.org")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()?;
    if let Some(mut pipe) = child.stdin.take() {
        pipe.write_all(input.as_bytes())?;
    }
    match child.wait()? {
        status if status.success() => Ok(()),
        status => Err(io::Error::other(format!("git {args:?}: {status}"))),
    }
}

fn number(run: &Run, key: &str) -> io::Result<u64> {
    let report: Value = serde_json::from_str(&run.stdout)?;
    let number = report[key].as_u64();
    number.ok_or_else(|| io::Error::other(format!("`run --json` doesn't say `{key}`")))
}
