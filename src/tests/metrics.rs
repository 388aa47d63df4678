//! `run --metrics-file`: what a collector of metrics finds, also where a run fails.

use super::world::Desk;
use crate::cli::Exit;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// The samples of a file by the rules of the text format: each name is described once, before its
/// samples, and each sample is there once.
fn samples(text: &str) -> BTreeMap<String, f64> {
    let mut samples = BTreeMap::new();
    let mut described = String::new();
    let mut names = Vec::new();
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            described = help.split(' ').next().unwrap().to_owned();
            assert!(!names.contains(&described), "{described} twice");
            names.push(described.clone());
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            assert_eq!(kind, format!("{described} gauge"));
        } else {
            let (sample, value) = line.rsplit_once(' ').expect(line);
            let (name, labels) = sample.split_once('{').expect(line);
            assert_eq!(name, described, "{line}");
            assert!(labels.starts_with("pipeline=\"") && labels.ends_with("\"}"));
            let value = value.parse().expect(line);
            assert_eq!(samples.insert(sample.to_owned(), value), None, "{line}");
        }
    }
    assert!(text.ends_with('\n'));
    samples
}

const NIGHTLY: &str = "{pipeline=\"nightly\"}";

#[test]
fn a_run_leaves_its_numbers() {
    let desk = Desk::enabled();
    let file = desk.path("mill.prom");
    let line = format!("sessionmill run --all --metrics-file {}", file.display());
    let ran = desk.run(&line);
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    let found = samples(&fs::read_to_string(&file).unwrap());
    let of = |name: &str| found[&format!("sessionmill_{name}{NIGHTLY}")];
    assert_eq!(of("last_run_success"), 1.0);
    assert_eq!(of("last_run_timestamp_seconds"), 1_780_315_200.0);
    assert_eq!(of("last_success_timestamp_seconds"), 1_780_315_200.0);
    let store = fs::metadata(desk.path(".graphiti/sessionmill.db")).unwrap();
    assert_eq!(of("store_size_bytes"), store.len() as f64);
    let by = |fate| {
        found[&format!("sessionmill_last_run_lines{{pipeline=\"nightly\",fate=\"{fate}\"}}")]
    };
    assert_eq!((by("kept"), by("copied"), by("unknown")), (151.0, 9.0, 0.0));
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644, "the collector is another user");
    let beside = fs::read_dir(desk.path("")).unwrap().flatten();
    let names = beside.map(|entry| entry.file_name().into_string().unwrap());
    assert!(!names.into_iter().any(|name| name.starts_with(".mill.prom")));
    // without news: as new, and nothing was read
    assert_eq!(desk.run(&line).exit, Exit::Done);
    let again = samples(&fs::read_to_string(&file).unwrap());
    assert_eq!(
        again[&format!("sessionmill_last_run_read_bytes{NIGHTLY}")],
        0.0
    );
}

#[test]
fn a_run_that_fails_keeps_the_time_of_the_last_success() {
    let mut desk = Desk::enabled();
    let file = desk.path("mill.prom");
    let line = format!("sessionmill run --all --metrics-file {}", file.display());
    assert_eq!(desk.run(&line).exit, Exit::Done);
    desk.write(".graphiti/sessionmill.db", "no database");
    desk.now = crate::model::time::Time::parse("2026-06-02T12:00:00Z").unwrap();
    assert_eq!(desk.run(&line).exit, Exit::Failed);
    let found = samples(&fs::read_to_string(&file).unwrap());
    let of = |name: &str| found.get(&format!("sessionmill_{name}{NIGHTLY}")).copied();
    assert_eq!(of("last_run_success"), Some(0.0));
    assert_eq!(of("last_run_timestamp_seconds"), Some(1_780_401_600.0));
    assert_eq!(of("last_success_timestamp_seconds"), Some(1_780_315_200.0));
    assert_eq!(of("last_run_read_bytes"), None, "nobody knows");
}

#[test]
fn metrics_that_cannot_be_written_are_named_and_fail_no_run() {
    let desk = Desk::enabled();
    let ran = desk.run("sessionmill run --all --metrics-file nowhere/mill.prom");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    assert!(
        ran.stderr.contains("the metrics were not written: "),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("nowhere/mill.prom"), "{}", ran.stderr);
}

#[test]
fn where_tracking_is_off_nothing_ran() {
    let desk = Desk::with_fixtures();
    assert_eq!(
        desk.run("sessionmill run --metrics-file mill.prom").exit,
        Exit::Done
    );
    assert!(!desk.path("mill.prom").exists());
}
