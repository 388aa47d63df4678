//! What it costs that `watch` is there while nothing happens.

use crate::homes::Home;
use crate::table::{Figure, judged};
use crate::{MB, Scale};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// For its first run, which has no news; and then for nothing.
const SETTLES: Duration = Duration::from_secs(2);
const IDLES: Duration = Duration::from_secs(5);

/// A watch over many files, of which none changes.
pub fn measure(scale: &Scale, home: &Home, figures: &mut Vec<Figure>) -> io::Result<()> {
    let mut watch = Command::new(env!("CARGO_BIN_EXE_sessionmill"))
        .args(["watch", "--quiet"])
        .env_clear()
        .env("HOME", &home.root)
        .stdin(Stdio::null())
        .spawn()?;
    sleep(SETTLES);
    let before = ticks(watch.id())?;
    sleep(IDLES);
    let worked = ticks(watch.id())? - before;
    let resident = resident(watch.id())?;
    kill(Pid::from_raw(watch.id() as i32), Signal::SIGTERM)?;
    assert!(watch.wait()?.success(), "the watch failed");
    figures.push(judged(
        &format!("watch over {} files, idle", scale.files),
        format!("{:.1} MB", resident as f64 / MB as f64),
        "≤ 30 MB",
        resident <= 30 * MB,
    ));
    figures.push(judged(
        &format!("its CPU time in {} s", IDLES.as_secs()),
        format!("{} ms", worked * 10),
        "≤ 10 ms",
        worked <= 1,
    ));
    Ok(())
}

/// CPU time in hundredths of a second.
fn ticks(pid: u32) -> io::Result<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // the name, in parentheses, may hold anything
    let rest = stat.rsplit(") ").next().unwrap_or_default();
    let numbers: Vec<u64> = rest.split(' ').map(|n| n.parse().unwrap_or(0)).collect();
    Ok(numbers[11] + numbers[12])
}

fn resident(pid: u32) -> io::Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.map(|kib| kib * 1024)
        .ok_or_else(|| io::Error::other("no VmRSS"))
}
