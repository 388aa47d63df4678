//! argv, environment and streams to `cli::run` to exit code.

use sessionmill::cli::{self, World};
use std::process::ExitCode;

fn main() -> ExitCode {
    let exit = cli::run(std::env::args_os(), World::of_process());
    ExitCode::from(exit.code())
}

/// A third of the time between a log and the store is spent on short-lived strings.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
