//! Runs the program as a process of its own and measures it from outside.
//!
//! Each run is started by a small helper process (this same executable), because the kernel
//! keeps the peak memory and the bytes read of *all* children that a process ever waited for.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// What one run cost, and what it printed.
pub struct Run {
    /// From start to exit.
    pub wall: Duration,
    /// User and system time of all its threads.
    pub cpu: Duration,
    /// Peak resident memory, bytes.
    pub peak: u64,
    /// Bytes that went through `read` and its like: logs, configuration, libraries, the store.
    pub read: u64,
    /// Standard output.
    pub stdout: String,
}

/// The word that makes this executable the helper.
pub const HELPER: &str = "--measure-a-child";

/// Runs `sessionmill args…` with `HOME` as its home and nothing else of our environment.
pub fn run(home: &Path, args: &[&str]) -> io::Result<Run> {
    ask(home, args, "")
}

/// The same, with something on its standard input.
pub fn ask(home: &Path, args: &[&str], input: &str) -> io::Result<Run> {
    let mut helper = Command::new(std::env::current_exe()?)
        .arg(HELPER)
        .args(args)
        .env_clear()
        .env("HOME", home)
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut pipe) = helper.stdin.take() {
        pipe.write_all(input.as_bytes())?;
    }
    let output = helper.wait_with_output()?;
    let problem = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(io::Error::other(format!(
            "sessionmill {args:?}: {}: {problem}",
            output.status
        )));
    }
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let (stdout, figures) = printed.rsplit_once('\u{1e}').unwrap_or((&printed, ""));
    let mut figures = figures.split_whitespace().map(|n| n.parse().unwrap_or(0));
    let mut next = || figures.next().unwrap_or(0);
    Ok(Run {
        wall: Duration::from_nanos(next()),
        cpu: Duration::from_micros(next()),
        peak: next(),
        read: next(),
        stdout: stdout.to_owned(),
    })
}

/// The helper: runs the program once, passes on what it prints, and adds the figures.
pub fn helper(args: &[String]) -> io::Result<ExitCode> {
    let before = bytes_read()?;
    let start = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_sessionmill"))
        .args(args)
        .stdin(Stdio::inherit())
        .stderr(Stdio::inherit())
        .output()?;
    let wall = start.elapsed();
    let read = bytes_read()?.saturating_sub(before + output.stdout.len() as u64);
    let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_CHILDREN)?;
    let cpu = [usage.user_time(), usage.system_time()];
    let cpu: i64 = cpu
        .iter()
        .map(|t| t.tv_sec() * 1_000_000 + t.tv_usec())
        .sum();
    let mut out = io::stdout().lock();
    out.write_all(&output.stdout)?;
    let peak = usage.max_rss() * 1_024;
    write!(out, "\u{1e}{} {cpu} {peak} {read}", wall.as_nanos())?;
    Ok(ExitCode::from(u8::from(!output.status.success())))
}

/// Bytes read by this process and by every child that it has waited for; 0 where the system
/// doesn't count them.
fn bytes_read() -> io::Result<u64> {
    let Ok(text) = std::fs::read_to_string("/proc/self/io") else {
        return Ok(0);
    };
    let line = text.lines().find_map(|line| line.strip_prefix("rchar: "));
    Ok(line.and_then(|n| n.trim().parse().ok()).unwrap_or(0))
}
