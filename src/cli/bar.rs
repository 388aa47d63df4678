//! The progress bar: bytes, files, rate and time left, on a terminal only. The interface to
//! `indicatif` is localised here.

use crate::pipeline::progress::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Redraws per second: more flickers over ssh, fewer looks stuck.
const REDRAWS_HZ: u8 = 8;

/// Draws on the process's stderr. Appears with the first total, so that a run without news draws
/// nothing, and is gone when it is finished.
#[derive(Default)]
pub struct Bar {
    is_shown: bool,
    bar: OnceLock<ProgressBar>,
    files: AtomicU64,
    files_total: AtomicU64,
}

impl Progress for Bar {
    fn total(&self, bytes: u64, files: u64) {
        if bytes == 0 || !self.is_shown {
            return;
        }
        self.files_total.store(files, Ordering::Relaxed);
        let bar = self.bar.get_or_init(|| {
            let target = ProgressDrawTarget::stderr_with_hz(REDRAWS_HZ);
            let bar = ProgressBar::with_draw_target(Some(bytes), target);
            bar.set_style(style());
            bar
        });
        // a repair reads the damaged file first, then the logs
        bar.reset();
        bar.set_length(bytes);
        self.files.store(0, Ordering::Relaxed);
        self.label();
    }

    fn advance(&self, bytes: u64) {
        if let Some(bar) = self.bar.get() {
            bar.inc(bytes);
        }
    }

    fn file_done(&self) {
        self.files.fetch_add(1, Ordering::Relaxed);
        self.label();
    }

    fn finish(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

impl Bar {
    /// One that is drawn only where `is_shown`.
    pub fn new(is_shown: bool) -> Bar {
        Bar {
            is_shown,
            ..Bar::default()
        }
    }

    fn label(&self) {
        if let Some(bar) = self.bar.get() {
            let done = self.files.load(Ordering::Relaxed);
            let total = self.files_total.load(Ordering::Relaxed);
            bar.set_message(format!("{done}/{total} files"));
        }
    }
}

/// The template is a constant: one that indicatif refuses would fail the test below.
fn style() -> ProgressStyle {
    ProgressStyle::with_template(TEMPLATE)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

const TEMPLATE: &str = "{msg} [{wide_bar}] {decimal_bytes}/{decimal_total_bytes} \
                        {decimal_bytes_per_sec}, {eta} left";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_understood() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }

    #[test]
    fn nothing_is_drawn_before_there_is_a_total() {
        let bar = Bar::new(true);
        bar.advance(10);
        bar.file_done();
        bar.finish();
        assert!(bar.bar.get().is_none());
    }
}
