//! A run may die anywhere: a plain run after it gives the store that a run undisturbed gives
//! (architecture § 4, 1), and nothing but that store lies around.
//!
//! The real program, killed at random moments, and at every write, sync, truncation and removal
//! that it asks the kernel for; a full disk, a failing disk, logs that change while they are read.
//! No model: the undisturbed run is the judge.
#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests start processes and kill them"
)]

mod scene;

use scene::{Scene, env_number, same};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// System calls by which a run changes what is on the disk.
const CHANGES: &str = "pwrite64,write,fsync,fdatasync,ftruncate,fallocate,rename,unlink";

#[test]
fn killed_at_random_moments_it_goes_on_where_it_was() {
    let scene = Scene::new();
    let begun = Instant::now();
    scene.run();
    let whole = begun.elapsed();
    let kills = env_number("CRASH_KILLS", 50);
    let mut killed = 0;
    for nth in 0..kills {
        scene.restore();
        let mut child = scene.command(&["run"]).spawn().unwrap();
        // evenly over the run, in an order that jumps
        sleep(whole.mul_f64((nth * 29 % kills) as f64 / kills as f64));
        child.kill().unwrap();
        killed += u32::from(child.wait().unwrap().code().is_none());
        scene.comes_right(&format!("killed at {nth} of {kills}"));
    }
    assert!(killed > 0, "every run was done before it was killed");
}

#[test]
fn killed_again_and_again_it_gets_there() {
    let scene = Scene::new();
    for nth in 0..20 {
        let mut child = scene.command(&["run"]).spawn().unwrap();
        sleep(Duration::from_millis(5 * nth));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    scene.comes_right("killed twenty times in a row");
}

#[test]
fn a_file_that_may_not_grow_stops_a_run_and_costs_nothing() {
    let scene = Scene::new();
    let mut stopped = 0;
    for kilobytes in [8, 64, 128, 192, 256, 320, 384, 512] {
        scene.restore();
        // SIGXFSZ would kill: ignored, writes beyond the limit fail like those to a full disk
        let limited = format!(
            "trap '' XFSZ; ulimit -f {}; exec \"$0\" run \"$@\"",
            kilobytes * 2
        );
        let ran = scene.shell(&limited).output().unwrap();
        let told = String::from_utf8_lossy(&ran.stderr);
        match ran.status.code() {
            Some(0) => {}
            Some(1) => {
                assert!(told.contains("sessionmill.db"), "names the store: {told}");
                assert!(!told.contains("panicked"), "{told}");
                stopped += 1;
            }
            other => panic!("exit {other:?} at {kilobytes} KB: {told}"),
        }
        scene.comes_right(&format!("no file over {kilobytes} KB"));
    }
    assert!(stopped > 0, "no limit was met");
}

#[test]
fn logs_that_change_while_they_are_read_end_as_if_read_at_rest() {
    let scene = Scene::new();
    for nth in 0..env_number("CRASH_WRITERS", 8) {
        scene.restore();
        let mut run = scene.command(&["run"]).spawn().unwrap();
        let writer = scene.grow_slowly(nth);
        assert!(run.wait().unwrap().success());
        writer.join().unwrap();
        assert!(scene.command(&["run"]).status().unwrap().success());
        let grown = scene.dump();
        same(&scene.cold(), &grown, &format!("writer {nth}"));
    }
}

#[test]
fn logs_that_vanish_while_they_are_read_and_return_lose_nothing() {
    let scene = Scene::new();
    for _ in 0..env_number("CRASH_WRITERS", 8) {
        scene.restore();
        let mut run = scene.command(&["run"]).spawn().unwrap();
        let log = scene.new_log();
        let aside = log.with_extension("aside");
        while run.try_wait().unwrap().is_none() {
            std::fs::rename(&log, &aside).unwrap();
            sleep(Duration::from_micros(300));
            std::fs::rename(&aside, &log).unwrap();
            sleep(Duration::from_micros(100));
        }
        scene.comes_right("a log that came and went");
    }
}

/// Needs `strace`: see `make crash`.
#[test]
#[ignore = "needs strace; make crash runs it"]
fn killed_at_every_change_it_goes_on_where_it_was() {
    let scene = Scene::new();
    let mut points = 0;
    for call in CHANGES.split(',') {
        let total = scene.count_calls(call);
        for nth in sample(total, env_number("CRASH_POINTS", 12) as usize) {
            scene.restore();
            let fault = format!("inject={call}:signal=SIGKILL:when={nth}");
            let status = scene.traced(call, &fault).status().unwrap();
            assert!(!status.success(), "{fault} wasn't met");
            scene.comes_right(&fault);
            points += 1;
        }
    }
    assert!(points > 20, "{points} points");
}

/// Needs `strace`: see `make crash`.
#[test]
#[ignore = "needs strace; make crash runs it"]
fn a_disk_that_fails_is_an_error_that_names_the_store_and_costs_nothing() {
    let scene = Scene::new();
    for (call, error) in [
        ("pwrite64", "ENOSPC"),
        ("pwrite64", "EIO"),
        ("fdatasync", "EIO"),
        ("fsync", "EIO"),
        ("ftruncate", "EIO"),
        ("unlink", "EACCES"),
    ] {
        let total = scene.count_calls(call);
        for nth in sample(total, env_number("CRASH_POINTS", 12) as usize) {
            scene.restore();
            let fault = format!("inject={call}:error={error}:when={nth}+");
            let ran = scene.traced(call, &fault).output().unwrap();
            let told = String::from_utf8_lossy(&ran.stderr).into_owned();
            let code = ran.status.code();
            assert!(matches!(code, Some(0 | 1)), "{fault}: {code:?}: {told}");
            assert!(
                code == Some(0) || told.contains("error: "),
                "{fault}: {told}"
            );
            assert!(!told.contains("panicked"), "{fault}: {told}");
            scene.comes_right(&fault);
        }
    }
}

/// Needs `strace`: see `make crash`.
#[test]
#[ignore = "needs strace; make crash runs it"]
fn logs_that_cannot_be_read_this_time_are_read_the_next() {
    let scene = Scene::new();
    for (call, error) in [("read", "EIO"), ("openat", "EACCES"), ("openat", "EMFILE")] {
        let total = scene.count_calls(call);
        for nth in sample(total, env_number("CRASH_POINTS", 12) as usize) {
            scene.restore();
            let fault = format!("inject={call}:error={error}:when={nth}");
            let ran = scene.traced(call, &fault).output().unwrap();
            let told = String::from_utf8_lossy(&ran.stderr).into_owned();
            assert!(!told.contains("panicked"), "{fault}: {told}");
            scene.has_every_word(&fault);
        }
    }
}

/// At most `most` of 1 to `total`, evenly.
fn sample(total: usize, most: usize) -> Vec<usize> {
    let step = total.div_ceil(most.max(1)).max(1);
    (1..=total).step_by(step).collect()
}
