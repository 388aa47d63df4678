//! What a person waits for who browses: the first screen, and the sessions after each key, as a terminal gets
//! them.

use crate::Scale;
use crate::table::{Figure, judged};
use crate::terminal::Terminal;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Letter by letter; the words stand in one of the episodes.
const TYPED: &str = "barn owl gable";

/// No answer takes so long: what comes later is of the next key.
const SETTLES: Duration = Duration::from_millis(400);

/// The screens of a person who types and looks at the second session.
pub fn measure(scale: &Scale, home: &Path, figures: &mut Vec<Figure>) -> io::Result<()> {
    let mut paints = Vec::new();
    let mut keys = Vec::new();
    for _ in 0..scale.cold.max(1) {
        let began = Instant::now();
        let mut terminal = Terminal::start(&browse(home), 120, 40)?;
        let painted = terminal.until("the newest", |text| {
            text.contains("newest first") && text.contains("\n> ")
        });
        paints.push(painted - began);
        terminal.quiet(SETTLES);
        for (nth, c) in TYPED.char_indices() {
            let at = terminal.types(&TYPED[nth..nth + c.len_utf8()]);
            terminal.until("the letter", |text| {
                text.starts_with(&format!("Search: {}", TYPED[..nth + 1].trim_end()))
            });
            keys.push(terminal.quiet(SETTLES).saturating_duration_since(at));
        }
        terminal.until("the session", |text| text.contains("under the gable"));
        terminal.types("\u{3}");
        terminal.child.wait()?;
    }
    let (paint, key) = (median(&mut paints), median(&mut keys));
    let last = keys.last().copied().unwrap_or_default();
    let episodes = scale.episodes;
    figures.push(judged(
        &format!("browse, {episodes} episodes: from its start to the first screen"),
        milliseconds(paint),
        "≤ 50 ms",
        paint <= Duration::from_millis(50),
    ));
    figures.push(judged(
        "from a key to its sessions and the preview",
        format!("{}, at most {}", milliseconds(key), milliseconds(last)),
        "≤ 30 ms",
        key <= Duration::from_millis(30),
    ));
    Ok(())
}

fn browse(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sessionmill"));
    command
        .arg("browse")
        .env("HOME", home)
        .env("TERM", "xterm-256color")
        .env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
}

/// The times are in order afterwards.
fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1_000.0)
}
