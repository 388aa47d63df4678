//! What an agent waits for: a cold process over a store of many episodes, from its start to its
//! answer. Makes the sessions; words are as rare and as common as in people's texts.

use crate::child::{self, Run};
use crate::homes::{self, Home};
use crate::table::{Figure, judged};
use crate::{MB, Scale, browse, meaning, measure};
use std::io::{self, Write};
use std::path::Path;

/// Episodes of one session: prompts that are hours apart.
const SESSION_EPISODES: usize = 20;

/// Words of an episode, about 2 kB.
const WORDS: usize = 300;

/// Different words; of these each is as common as its rank says.
const VOCABULARY: u64 = 30_000;

/// What one of the episodes says, and who asks for it.
const SAID: &str = "the barn owl nests under the gable of the payment module";
const ASKED: &str = "where does the barn owl nest in the payment module";

/// Nobody said anything of it, but all of its words stand everywhere.
const COMMON: &str = "w1 w2 w3 w4 w5 w6 w7 w8 w9 w10 w11 w12";

/// What agents' hooks wait for: a prompt that one episode answers, one of words that stand everywhere,
/// and a session that begins.
pub fn measure(scale: &Scale, root: &Path, figures: &mut Vec<Figure>) -> io::Result<()> {
    let home = talks(&root.join("talks"), scale.episodes)?;
    hooks(scale, &home.root, scale.episodes, 15, figures)?;
    browse::measure(scale, &home.root, figures)?;
    meaning::measure(scale, &home.root, figures)?;
    let many = talks(&root.join("many-talks"), scale.many_episodes)?;
    hooks(scale, &many.root, scale.many_episodes, 30, figures)
}

/// Reads the talks, so many episodes, and asks; each answer within so many milliseconds.
fn hooks(
    scale: &Scale,
    home: &Path,
    wanted: usize,
    within_ms: u64,
    figures: &mut Vec<Figure>,
) -> io::Result<()> {
    let run = child::run(home, &["run", "--all", "--json"])?;
    let report: serde_json::Value = serde_json::from_str(&run.stdout)?;
    let episodes = report["episodes_new"].as_u64().unwrap_or(0) as usize;
    assert!(episodes >= wanted, "only {episodes} episodes were made");
    let mut peak = 0;
    for (name, input, wants) in [
        ("a prompt", prompt(ASKED), Some("under the gable")),
        ("a prompt of common words", prompt(COMMON), None),
        ("a session that begins", begins(), Some("The last session")),
    ] {
        let ask = |_| child::ask(home, &["recall", "--hook", "claude"], &input);
        let mut runs = (0..scale.idle).map(ask).collect::<io::Result<Vec<Run>>>()?;
        for run in &runs {
            let answers = wants.is_none_or(|wants| run.stdout.contains(wants));
            assert!(answers, "{name}: {}", run.stdout);
            peak = peak.max(run.peak);
        }
        let median = measure::median(&mut runs);
        figures.push(judged(
            &format!("hook, {episodes} episodes: {name}"),
            measure::milliseconds(median),
            &format!("≤ {within_ms} ms"),
            median.wall.as_millis() < u128::from(within_ms),
        ));
    }
    let text = format!("{:.1} MB", peak as f64 / MB as f64);
    figures.push(judged("its peak memory", text, "≤ 20 MB", peak <= 20 * MB));
    Ok(())
}

/// What Claude Code hands to its hook when somebody types this.
fn prompt(words: &str) -> String {
    format!(
        "{{\"session_id\":\"now\",\"cwd\":\"{PROJECT}\",\"hook_event_name\":\"UserPromptSubmit\",\
         \"prompt\":\"{words}\"}}"
    )
}

fn begins() -> String {
    format!(
        "{{\"session_id\":\"now\",\"cwd\":\"{PROJECT}\",\"hook_event_name\":\"SessionStart\",\
         \"source\":\"startup\"}}"
    )
}

const PROJECT: &str = "/home/ada/shop";

/// Sessions of one project with so many episodes in all.
fn talks(root: &Path, episodes: usize) -> io::Result<Home> {
    let mut home = homes::empty(root)?;
    let mut dice = Dice(7);
    for session in 0..episodes.div_ceil(SESSION_EPISODES) {
        let id = format!("5e55{session:04x}-0000-4000-8000-000000000001");
        let mut out = home.session_file(&id)?;
        for nth in 0..SESSION_EPISODES {
            let line = |side: u32, kind: &str, message: String| {
                let (day, hour) = (1 + session % 28, nth);
                format!(
                    "{{\"type\":\"{kind}\",\"uuid\":\"{session:08x}-{nth:04x}-4000-8000-{side:012}\",\
                     \"timestamp\":\"2026-03-{day:02}T{hour:02}:00:{side:02}.000Z\",\
                     \"sessionId\":\"{id}\",\"cwd\":\"{PROJECT}\",\"message\":{message}}}"
                )
            };
            let says = match (session, nth) {
                (3, 7) => format!("{} {SAID} {}", dice.words(40), dice.words(40)),
                _ => dice.words(WORDS),
            };
            let asks = dice.words(12);
            let prompt = format!("{{\"role\":\"user\",\"content\":\"{asks}\"}}");
            let answer = format!(
                "{{\"id\":\"msg_{session}_{nth}\",\"model\":\"m\",\"role\":\"assistant\",\"content\":\
                 [{{\"type\":\"text\",\"text\":\"{says}\"}}]}}"
            );
            writeln!(out, "{}", line(1, "user", prompt))?;
            writeln!(out, "{}", line(2, "assistant", answer))?;
        }
        out.flush()?;
    }
    Ok(home)
}

/// The same throws every time.
struct Dice(u64);

impl Dice {
    /// Words by their rank: the n-th is thrown about 1/n times as often as the first.
    fn words(&mut self, count: usize) -> String {
        let words = (0..count).map(|_| {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let share = (self.0 >> 33) as f64 / (1u64 << 31) as f64;
            format!("w{}", (VOCABULARY as f64).powf(share) as u64)
        });
        words.collect::<Vec<_>>().join(" ")
    }
}
