//! Ctrl-C, with a last word.

use signal_hook::consts::SIGINT;
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
