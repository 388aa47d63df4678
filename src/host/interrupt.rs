//! Ctrl-C with a last word, and signals around which a terminal has to be put in order.

use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::io;

/// From now on, Ctrl-C says this and then ends the process as it would have without.
///
/// # Errors
/// When the machine has no thread or no handler left.
pub fn before_it_ends(say: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT])?;
    let wait = move || {
        if signals.forever().next().is_some() {
            say();
            // where even this fails, the handler is left and a second signal does nothing: go
            if emulate_default_handler(SIGINT).is_err() {
                std::process::abort();
            }
        }
    };
    std::thread::Builder::new()
        .name("interrupt".into())
        .spawn(wait)
        .map(drop)
}

/// What a signal does to the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalEffect {
    /// Ends it: SIGTERM, SIGHUP, SIGQUIT.
    Ends,
    /// Ctrl-C, which may be meant for a program that it started.
    Interrupts,
    /// Stops it, until it goes on.
    Stops,
    /// It goes on.
    GoesOn,
}

/// From now on, `hears` is told of each such signal before it has its effect, and says whether it may have it.
///
/// # Errors
/// When the machine has no thread or no handler left.
pub fn before_signals(hears: impl Fn(SignalEffect) -> bool + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGHUP, SIGQUIT, SIGINT, SIGTSTP, SIGCONT])?;
    let wait = move || {
        for signal in signals.forever() {
            let effect = match signal {
                SIGINT => SignalEffect::Interrupts,
                SIGTSTP => SignalEffect::Stops,
                SIGCONT => SignalEffect::GoesOn,
                _ => SignalEffect::Ends,
            };
            let has_effect = hears(effect) && effect != SignalEffect::GoesOn;
            if has_effect && emulate_default_handler(signal).is_err() {
                std::process::abort();
            }
        }
    };
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(wait)
        .map(drop)
}

/// Stops this process, as Ctrl-Z does.
///
/// # Errors
/// When the machine refuses.
pub fn stop() -> io::Result<()> {
    signal_hook::low_level::raise(SIGTSTP)
}
