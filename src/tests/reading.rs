//! How much a run reads, counted in bytes: touched logs, damaged ones, lines without end.

use super::home::Home;
use crate::host::read::LINE_MAX;
use crate::model::ledger::Fate;
use crate::pipeline::steps::ingest::report::IngestReport;
use crate::store::Access;
use anyhow::Result;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

const LOG: &str = ".claude/projects/-home-ada-shop/11111111-1111-4111-8111-111111111111.jsonl";
const ARCHIVE: &str = ".codex/archived_sessions/rollout-2026-03-02T10-00-00-00000000-0000-7000-8000-000000000001.jsonl.zst";

/// What a fingerprint, a checkpoint and a look at the head may take.
const SMALL: u64 = 64 << 10;

fn record(nth: u32, kind: &str, rest: &str) -> String {
    format!(
        "{{\"cwd\":\"/home/ada/shop\",\"sessionId\":\"11111111-1111-4111-8111-111111111111\",\
         \"type\":\"{kind}\",{rest},\"uuid\":\"00000000-0000-4000-8000-{nth:012}\",\
         \"timestamp\":\"2026-03-02T10:00:00.000Z\"}}\n"
    )
}

fn prompt(nth: u32, words: &str) -> String {
    let rest = format!("\"message\":{{\"role\":\"user\",\"content\":\"{words}\"}}");
    record(nth, "user", &rest)
}

/// A prompt and so many progress lines after it: all of it is the open tail.
fn long_tail(lines: u32) -> String {
    let progress = |nth| record(nth, "progress", "\"data\":{\"type\":\"hook_progress\"}");
    prompt(0, "do it") + &(1..=lines).map(progress).collect::<String>()
}

/// A run without news, and nothing has changed since `before`.
fn is_at_rest(home: &Home, before: &str) -> Result<()> {
    let report = home.run()?;
    assert_eq!((report.bytes_read, report.files_read), (0, 0));
    assert_eq!(home.store(Access::ReadOnly)?.dump()?, before);
    Ok(())
}

fn touch(path: &Path, seconds: u64) -> Result<()> {
    let file = std::fs::File::options().append(true).open(path)?;
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))?;
    Ok(())
}

#[test]
fn an_open_tail_is_read_once_when_it_grows_and_not_at_all_when_its_log_was_only_touched()
-> Result<()> {
    let (home, text) = (Home::new(None)?, long_tail(5_000));
    let path = home.put(LOG, text.as_bytes())?;
    home.run()?;
    let text = text + &prompt(9_999, "and now this");
    home.put(LOG, text.as_bytes())?;
    let size = text.len() as u64;
    let read = home.run()?.bytes_read;
    assert!((size..size + SMALL).contains(&read), "{read} of {size}");

    let before = home.store(Access::ReadOnly)?.dump()?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640))?;
    let compared =
        |report: IngestReport| assert_eq!((report.bytes_read, report.files_read), (size, 0));
    compared(home.run()?);
    is_at_rest(&home, &before)?;
    touch(&path, 1_772_000_000)?;
    compared(home.run()?);
    is_at_rest(&home, &before)
}

#[test]
fn a_touched_log_with_other_content_is_read_again() -> Result<()> {
    let home = Home::new(None)?;
    let path = home.put(LOG, prompt(1, "red").as_bytes())?;
    home.run()?;
    home.put(LOG, prompt(2, "tan").as_bytes())?;
    touch(&path, 1_772_000_000)?;
    home.run()?;
    let dump = home.store(Access::ReadOnly)?.dump()?;
    assert!(
        dump.contains("User: red") && dump.contains("User: tan"),
        "{dump}"
    );
    Ok(())
}

fn codex_log(turns: usize) -> String {
    let mut text = "{\"timestamp\":\"2026-03-02T10:00:00.000Z\",\"type\":\"session_meta\",\"payload\":\
        {\"id\":\"00000000-0000-7000-8000-000000000001\",\"timestamp\":\"2026-03-02T10:00:00.000Z\",\
        \"cwd\":\"/home/ada/shop\",\"originator\":\"codex_cli_rs\",\"cli_version\":\"0.50.0\"}}\n"
        .to_owned();
    for turn in 0..turns {
        // words that don't compress, so that half of the file is half of the turns
        let words = (0..40u64).map(|n| {
            format!(
                "{:x} ",
                (turn as u64 * 40 + n).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            )
        });
        text += &format!(
            "{{\"timestamp\":\"2026-03-02T10:00:01.000Z\",\"type\":\"event_msg\",\"payload\":\
             {{\"type\":\"user_message\",\"message\":\"turn {turn}: {}\"}}}}\n",
            words.collect::<String>()
        );
    }
    text
}

#[test]
fn of_a_damaged_archive_what_can_be_had_is_stored_and_the_rest_is_refused_once() -> Result<()> {
    let whole = zstd::encode_all(codex_log(2_000).as_bytes(), 3)?;
    let cut = whole.len() / 2;
    for (name, bytes, turns) in [
        ("cut", &whole[..cut], true),
        ("empty", &whole[..0], false),
        ("no archive", &b"this is not zstd"[..], false),
    ] {
        let home = Home::new(None)?;
        home.put(ARCHIVE, bytes)?;
        let report = home.run()?;
        assert!(report.problems.is_empty(), "{name}: {:?}", report.problems);
        let ledger = home.ledger()?;
        assert_eq!(
            (ledger.of(Fate::Rejected), ledger.pending),
            (1, 0),
            "{name}"
        );
        let before = home.store(Access::ReadOnly)?.dump()?;
        assert!(before.contains("damaged compression"), "{name}");
        assert_eq!(before.contains("turn 1: "), turns, "{name}");
        is_at_rest(&home, &before)?;

        let cold = Home::new(None)?;
        for home in [&home, &cold] {
            home.put(ARCHIVE, &whole)?;
            home.run()?;
        }
        let dump = |home: &Home| -> Result<String> {
            let dump = home.store(Access::ReadOnly)?.dump()?;
            Ok(dump.replace(&*home.path().canonicalize()?.to_string_lossy(), "~"))
        };
        assert!(
            dump(&home)? == dump(&cold)?,
            "{name}: mended, but not like new"
        );
    }
    Ok(())
}

#[test]
fn a_look_at_the_head_gives_up_on_a_line_without_end() -> Result<()> {
    let home = Home::new(None)?;
    let text = prompt(1, &"wide words ".repeat(3 << 20)) + &prompt(2, "after");
    home.put(LOG, text.as_bytes())?;
    let report = home.run()?;
    let most = (text.len() + LINE_MAX) as u64 + SMALL;
    assert!(report.bytes_read <= most, "{} > {most}", report.bytes_read);
    let store = home.store(Access::ReadOnly)?;
    let sessions = store.sessions(&Default::default())?;
    let cwd = sessions[0].session.cwd.as_deref();
    assert_eq!(
        cwd,
        Some("/home/ada/shop"),
        "what stands before the long words counts"
    );
    Ok(())
}
