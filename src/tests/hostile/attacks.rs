//! Whole attacks on a run: lines and files that nobody writes by accident. Each ends with a ledger
//! that adds up and a second run that does nothing; nothing is timed, limits are counted.

use crate::agents::codex::dialect::state::{self, RolloutState};
use crate::model::ledger::{Fate, Ledger, OTHER, REASONS_MAX, REJECTS_MAX};
use crate::store::{Access, FileAccount, Query, SessionFilter};
use crate::tests::home::Home;
use std::fmt::Write as _;
use std::io::Write as _;

const LOG: &str = ".claude/projects/p/11111111-1111-4111-8111-111111111111.jsonl";
const ROLLOUT: &str = ".codex/sessions/2026/05/01/rollout-x.jsonl";
const OTHER_ROLLOUT: &str = ".codex/sessions/2026/05/01/rollout-y.jsonl";

/// A line of a person's in the session of [`LOG`].
fn said(n: usize, words: &str) -> String {
    line(n, "user", &format!("\"{words}\""), "")
}

fn line(n: usize, kind: &str, content: &str, more: &str) -> String {
    format!(
        "{{\"type\":\"{kind}\",\"uuid\":\"00000000-0000-4000-8000-{n:012}\",\
         \"timestamp\":\"2026-05-01T10:00:00Z\",\"cwd\":\"/p\"{more},\
         \"message\":{{\"id\":\"m{n}\",\"content\":{content}}}}}\n"
    )
}

/// The account of one hostile log.
fn attack(below: &str, log: &[u8]) -> (Home, FileAccount) {
    let home = Home::new(None).unwrap();
    home.put(below, log).unwrap();
    let report = home.run().unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    assert_eq!(home.run().unwrap().files_read, 0, "news without news");
    let store = home.store(Access::ReadOnly).unwrap();
    let checkpoint = store.checkpoints().unwrap().remove(0);
    let account = store.account(&checkpoint.key).unwrap().unwrap();
    let lines = memchr::memchr_iter(b'\n', log).count() as u64;
    let torn = u64::from(log.last().is_some_and(|b| *b != b'\n'));
    assert_eq!(account.ledger.total(), lines + torn, "lines of {below}");
    (home, account)
}

fn texts(home: &Home) -> Vec<String> {
    let store = home.store(Access::ReadOnly).unwrap();
    let query = Query {
        limit: 1_000,
        ..Query::default()
    };
    let hits = store.search(&query).unwrap();
    hits.iter().map(|hit| hit.snippet.text.clone()).collect()
}

fn of(ledger: &Ledger, fate: Fate) -> u64 {
    ledger.of(fate)
}

#[test]
fn depth_is_passed_over_and_the_line_is_kept() {
    let deep = format!("{}1{}", "{\"a\":[".repeat(50_000), "]}".repeat(50_000));
    let mut log = said(1, "hello");
    log += &line(2, "user", "\"deep\"", &format!(",\"x\":{deep}"));
    let call = format!("[{{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"X\",\"input\":{deep}}}]");
    log += &line(3, "assistant", &call, "");
    let (_, account) = attack(LOG, log.as_bytes());
    assert_eq!(of(&account.ledger, Fate::Kept), 3);
}

#[test]
fn a_long_line_of_any_kind_is_one_line() {
    let big = 9 << 20;
    let members: String = (0..600_000).fold(String::new(), |mut all, n| {
        let _ = write!(all, "\"key number {n}\":{n},");
        all
    });
    for text in [
        said(2, &"w ".repeat(big / 2)),
        format!("{{\"{}\":1}}\n", "k".repeat(big)),
        format!("{{\"type\":{}}}\n", "9".repeat(big)),
        format!("{{{members}\"type\":\"user\"}}\n"),
        format!(
            "{{{}\"type\":\"mode\"}}\n",
            "\"type\":\"user\",".repeat(big / 14)
        ),
        format!("{}\n", "\0".repeat(big)),
        "\0".repeat(big),
        format!("{}\n", "[".repeat(big)),
    ] {
        let log = said(1, "hello") + &text;
        let (_, account) = attack(LOG, log.as_bytes());
        assert_eq!(account.ledger.total(), 2, "{:.20}", text);
    }
}

#[test]
fn values_without_number_on_one_line_end_at_the_limit() {
    let many: String = (2..20_000)
        .map(|n| said(n, "again").replace('\n', ""))
        .collect();
    let log = said(1, "hello") + &many + "\n" + &said(20_000, "after");
    let (_, account) = attack(LOG, log.as_bytes());
    assert_eq!(of(&account.ledger, Fate::Kept), 3);
    assert_eq!(account.ledger.glued, 8_191);
    assert_eq!(account.rejects.len(), 1);
    let blocks = "0,".repeat(100_000) + "0";
    let log = said(1, "hello") + &line(2, "user", &format!("[{blocks}]"), "");
    let (_, account) = attack(LOG, log.as_bytes());
    assert_eq!(of(&account.ledger, Fate::Unknown), 1);
}

#[test]
fn kinds_and_refused_lines_without_number_are_counted_and_some_are_named() {
    let mut log = said(1, "hello");
    for n in 0..REASONS_MAX + 500 {
        let _ = writeln!(log, "{{\"type\":\"kind{n}\"}}\nx");
    }
    let (home, account) = attack(LOG, log.as_bytes());
    let many = REASONS_MAX as u64 + 500;
    assert_eq!(of(&account.ledger, Fate::Rejected), many);
    assert_eq!(of(&account.ledger, Fate::Unknown), many);
    assert_eq!(account.ledger.lines[&Fate::Unknown][OTHER], 500);
    assert_eq!(account.rejects.len(), REJECTS_MAX);
    assert!(
        account
            .rejects
            .iter()
            .all(|r| r.place.line <= 2 * REJECTS_MAX as u64 + 1)
    );
    // The same when the log grows.
    let grown = Home::new(None).unwrap();
    for end in [log.len() / 3, log.len()] {
        grown.put(LOG, &log.as_bytes()[..end]).unwrap();
        grown.run().unwrap();
    }
    let key = |home: &Home| home.path().canonicalize().unwrap().join(LOG);
    let key = |home: &Home| key(home).to_string_lossy().into_owned();
    let store = grown.store(Access::ReadOnly).unwrap();
    let other = store.account(&key(&grown)).unwrap().unwrap();
    assert_eq!(other.rejects, account.rejects);
    assert!(home.path() != grown.path());
}

#[test]
fn a_file_of_empty_objects_takes_no_room_for_each() {
    let log = "{}\n".repeat(50_000) + &"{\"type\":\"x\"}\n".repeat(50_000);
    for below in [LOG, ROLLOUT] {
        let (home, account) = attack(below, log.as_bytes());
        assert_eq!(of(&account.ledger, Fate::Unknown), 100_000, "{below}");
        let store = home.store(Access::ReadOnly).unwrap();
        let key = store.checkpoints().unwrap().remove(0).key;
        let ids = store.record_ids(&key).unwrap();
        assert_eq!(ids.all().count(), 0, "records of {below}");
    }
}

#[test]
fn a_decompression_bomb_ends_its_file_and_no_other() {
    let home = Home::new(None).unwrap();
    let line = [vec![b' '; (1 << 20) - 1], vec![b'\n']].concat();
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    for _ in 0..100 {
        encoder.write_all(&line).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    assert!(bomb.len() < 100_000, "{} bytes", bomb.len());
    home.put(&format!("{ROLLOUT}.zst"), &bomb).unwrap();
    home.put(LOG, said(1, "hello").as_bytes()).unwrap();
    let report = home.run().unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    assert!(report.bytes_read < 200 << 20, "{} bytes", report.bytes_read);
    let rejected = &report.ledger.lines[&Fate::Rejected];
    assert_eq!(rejected["decompression bomb"], 1);
    assert_eq!(texts(&home).len(), 1);
    let again = home.run().unwrap();
    assert_eq!((again.files_read, again.bytes_read), (0, 0), "read again");
    assert!(again.due.is_empty(), "{:?}", again.due);
    // with other content it is read again
    let mended = zstd::encode_all(said(2, "mended").as_bytes(), 3).unwrap();
    home.put(&format!("{ROLLOUT}.zst"), &mended).unwrap();
    assert_eq!(home.run().unwrap().files_read, 1);
}

#[test]
fn a_bomb_of_lines_and_a_window_that_takes_all_memory_end_their_files_only() {
    let home = Home::new(None).unwrap();
    let lines = zstd::encode_all(&b"{}\n".repeat(3_000_000)[..], 3).unwrap();
    home.put(&format!("{ROLLOUT}.zst"), &lines).unwrap();
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.window_log(27).unwrap();
    encoder.write_all(said(1, "far apart").as_bytes()).unwrap();
    let wide = encoder.finish().unwrap();
    home.put(&format!("{OTHER_ROLLOUT}.zst"), &wide).unwrap();
    home.put(LOG, said(1, "hello").as_bytes()).unwrap();
    let report = home.run().unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    assert!(report.bytes_read < 1 << 20, "{} bytes", report.bytes_read);
    let rejected = &report.ledger.lines[&Fate::Rejected];
    assert_eq!(rejected["decompression bomb"], 1);
    let wide: Vec<_> = rejected.keys().filter(|r| r.contains("32 MiB")).collect();
    assert_eq!(wide.len(), 1, "{rejected:?}");
    assert_eq!(texts(&home).len(), 1);
}

#[test]
fn calls_and_sub_agents_without_number_are_given_up() {
    let mut log = said(1, "hello");
    for n in 2..2_000 {
        let call =
            format!("[{{\"type\":\"tool_use\",\"id\":\"c{n}\",\"name\":\"X\",\"input\":{{}}}}]");
        log += &line(n, "assistant", &call, "");
        let side = format!(",\"isSidechain\":true,\"agentId\":\"a{n}\"");
        let text = "[{\"type\":\"text\",\"text\":\"words\"}]";
        log += &line(n + 10_000, "assistant", text, &side);
    }
    let (home, account) = attack(LOG, log.as_bytes());
    assert_eq!(of(&account.ledger, Fate::Kept), account.ledger.total());
    let store = home.store(Access::ReadOnly).unwrap();
    let checkpoint = store.checkpoints().unwrap().remove(0);
    let resume_state = store.resume_state(&checkpoint.key).unwrap().unwrap();
    assert!(
        resume_state.streams.len() <= 514,
        "{} streams",
        resume_state.streams.len()
    );
    let calls = resume_state
        .streams
        .iter()
        .map(|s| s.filter.calls.len())
        .max();
    assert!(calls <= Some(280), "{calls:?} calls are carried");
}

#[test]
fn names_that_are_none_and_numbers_out_of_range_do_no_harm() {
    let long = "/a".repeat(100_000);
    let mut log = said(1, "hello");
    for (n, (key, value)) in [
        ("cwd", long.as_str()),
        ("sessionId", "one\\ntwo"),
        ("sessionId", "\\u001b[31m"),
        ("gitBranch", &long),
        ("timestamp", "+262143-01-01T00:00:00Z"),
        ("timestamp", "9999-12-31T23:59:59.999Z"),
        ("timestamp", "0000-00-00T00:00:00Z"),
        ("uuid", "00000001000040008000000000000007x"),
        ("uuid", "../../../etc/passwd"),
    ]
    .into_iter()
    .enumerate()
    {
        log += &line(
            n + 2,
            "user",
            "\"words\"",
            &format!(",\"{key}\":\"{value}\""),
        );
    }
    for (n, tokens) in [
        "-5",
        "18446744073709551615",
        "1e400",
        "\"x\"",
        "99999999999999999999",
    ]
    .iter()
    .enumerate()
    {
        let usage =
            format!("\"words\",\"usage\":{{\"input_tokens\":{tokens},\"output_tokens\":{tokens}}}");
        log += &line(n + 20, "assistant", &usage, "");
    }
    let (home, account) = attack(LOG, log.as_bytes());
    assert_eq!(of(&account.ledger, Fate::Kept), 15);
    let store = home.store(Access::ReadOnly).unwrap();
    for row in store.sessions(&SessionFilter::default()).unwrap() {
        assert!(row.session.project_path.len() <= 4_096);
        assert!(
            !row.session.id.contains(char::is_control),
            "{:?}",
            row.session.id
        );
    }
}

#[test]
fn codex_scripts_patches_and_forks_without_number_end_at_the_limit() {
    let record = |kind: &str, payload: serde_json::Value| {
        let time = "2026-05-01T10:00:00Z";
        serde_json::json!({"timestamp": time, "type": kind, "payload": payload}).to_string() + "\n"
    };
    let meta = |n: usize| {
        let id = format!("019c0000-0000-7000-8000-{n:012}");
        record("session_meta", serde_json::json!({"id": id, "cwd": "/p"}))
    };
    let call = |name: &str, input: String| {
        let item = serde_json::json!({"type": "custom_tool_call", "call_id": "c", "name": name, "input": input});
        record("response_item", item)
    };
    let doubled: String = (0..64)
        .map(|n| format!("const a{}=a{n}+a{n};", n + 1))
        .collect();
    let files: String = (0..5_000)
        .map(|n| format!("*** Add File: f{n}\n+x\n"))
        .collect();
    let mut log: String = (0..500).map(meta).collect();
    log += &call("exec", format!("const a0='0123456789';{doubled}"));
    log += &call(
        "apply_patch",
        format!("*** Begin Patch\n{files}*** End Patch"),
    );
    let (home, _) = attack(ROLLOUT, log.as_bytes());
    let store = home.store(Access::ReadOnly).unwrap();
    let checkpoint = store.checkpoints().unwrap().remove(0);
    let mut resume_state = store.resume_state(&checkpoint.key).unwrap().unwrap();
    resume_state.context.dialect.restore::<RolloutState>();
    let codex = state::links(&resume_state.context)
        .cloned()
        .unwrap_or_default();
    assert!(codex.chain.len() <= 64, "{} threads", codex.chain.len());
    assert!(codex.open.iter().all(|open| open.patched.len() <= 500));
    let calls = resume_state.streams.iter().flat_map(|s| &s.filter.calls);
    let changes = calls.filter_map(|call| call.input.get("~changes")?.as_array());
    assert!(
        changes.map(Vec::len).eq([500]),
        "a patch tells its first files"
    );
}

#[test]
fn files_that_are_no_logs_are_not_opened_and_odd_names_are_read() {
    use std::os::unix::ffi::OsStrExt;
    let home = Home::new(None).unwrap();
    let folder = home.path().join(".claude/projects/p");
    home.put(LOG, said(1, "hello").as_bytes()).unwrap();
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, folder.join(name)).unwrap();
    link(".", "loop");
    link("../../..", "up.jsonl");
    link("/dev/zero", "zero.jsonl");
    link("fifo.jsonl", "pipe.jsonl");
    let _socket = std::os::unix::net::UnixListener::bind(folder.join("s.jsonl")).unwrap();
    let fifo = std::process::Command::new("mkfifo")
        .arg(folder.join("fifo.jsonl"))
        .status();
    assert!(fifo.is_ok_and(|status| status.success()), "no fifo");
    let odd: [&[u8]; 3] = [b"new\nline.jsonl", b"bad\xff\xfe.jsonl", &[b'n'; 240]];
    for (n, name) in odd.into_iter().enumerate() {
        let mut name = name.to_vec();
        name.extend_from_slice(b".jsonl");
        let path = folder.join(std::ffi::OsStr::from_bytes(&name));
        std::fs::write(path, said(n + 2, "odd")).unwrap();
    }
    let mut deep = folder.clone();
    (0..14).for_each(|_| deep.push("d".repeat(200)));
    std::fs::create_dir_all(&deep).unwrap();
    std::fs::write(deep.join("deep.jsonl"), said(9, "deep")).unwrap();
    let sparse = std::fs::File::create(folder.join("sparse.jsonl")).unwrap();
    sparse.set_len(64 << 20).unwrap();
    let report = home.run().unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    assert_eq!(
        report.files_read, 6,
        "the log, three odd names, a deep and a sparse one"
    );
    assert_eq!(home.run().unwrap().bytes_read, 0);
    assert_eq!(texts(&home).len(), 5);
}

#[test]
fn a_store_that_is_a_folder_is_refused_in_words() {
    let home = Home::new(None).unwrap();
    home.put(LOG, said(1, "hello").as_bytes()).unwrap();
    home.put(".graphiti/sessionmill.db/x", b"").unwrap();
    let error = home.run().unwrap_err().to_string();
    assert!(
        error.contains("sessionmill.db") || error.contains("store"),
        "{error}"
    );
}
