//! The real files in place, what a stop at any line must not change, and mutated lines.

use super::tests::{billed, inputs, parse, prompts, results, said};
use super::*;
use crate::model::entry::CallStatus;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Rollouts below a folder of the corpus, in order; none, said so, where it is absent.
fn rollouts(folder: &str) -> Vec<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    let root = std::env::var_os("CORPUS_DIR").map_or(beside, PathBuf::from);
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(root.join(folder)).sort_by_file_name() {
        let Ok(entry) = entry else { continue };
        let name = entry.file_name().to_string_lossy();
        if entry.file_type().is_file() && name.ends_with(".jsonl") {
            found.push(entry.into_path());
        }
    }
    if found.is_empty() {
        passed_over(folder);
    }
    found
}

fn passed_over(what: &str) {
    let _ = writeln!(std::io::stderr(), "passed over: no corpus/{what}");
}

fn read(path: &Path) -> (Vec<Entry>, Vec<String>) {
    let bytes = std::fs::read(path).expect("a corpus file");
    let (out, rejects, _) = parse(&bytes);
    (out, rejects)
}

fn odd(name: &str) -> Option<Vec<Entry>> {
    let path = rollouts("odd")
        .into_iter()
        .find(|path| path.ends_with(name))?;
    let (out, rejects) = read(&path);
    assert_eq!(rejects, Vec::<String>::new());
    Some(out)
}

/// The last cumulative total of a file, found by text alone.
fn stated_total(path: &Path) -> u64 {
    let text = std::fs::read_to_string(path).expect("a corpus file");
    let last = text.rmatch_indices("\"total_token_usage\":{").next();
    let Some((at, _)) = last else { return 0 };
    let object = text[at..].split_once('}').expect("an object").0;
    let total = object.rsplit_once("\"total_tokens\":").expect("a total").1;
    total.parse().expect("a number")
}

#[test]
fn real_files_are_understood_without_a_rest() {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for path in rollouts("home/.codex") {
        let (all, rejects) = read(&path);
        let name = path.display();
        assert_eq!(rejects, Vec::<String>::new(), "{name}");
        assert!(
            !prompts(&all).is_empty() && !said(&all).is_empty(),
            "{name}"
        );
        for entry in &all {
            let kind = match &entry.what {
                EntryKind::Noise(reason) => format!("noise: {reason}"),
                EntryKind::Unknown(unknown) => format!("unknown: {}", unknown.name),
                what => format!("{what:?}")
                    .chars()
                    .take_while(|c| c.is_alphabetic())
                    .collect(),
            };
            *kinds.entry(kind).or_default() += 1;
            assert!(
                entry.context.cwd.is_some() && entry.context.session.is_some(),
                "{name}"
            );
            assert!(
                matches!(entry.id, Identity::Nth(_)) && entry.time.is_some(),
                "{name}"
            );
        }
        let calls: BTreeSet<&str> = all
            .iter()
            .filter_map(|entry| match &entry.what {
                EntryKind::Call(call) => Some(call.id.as_str()),
                _ => None,
            })
            .collect();
        let answered: BTreeSet<&str> = results(&all).iter().map(|r| r.call.as_str()).collect();
        assert_eq!(
            calls.len(),
            inputs(&all).len(),
            "{name}: a call is told once"
        );
        assert_eq!(
            answered.len(),
            results(&all).len(),
            "{name}: a result is told once"
        );
        assert!(
            answered.is_subset(&calls),
            "{name}: a result without a call"
        );
        let open = calls.len() - answered.len();
        assert!(open <= 3, "{name}: {open} calls without a result");
        assert_eq!(billed(&all).total(), stated_total(&path), "{name}");
    }
    assert!(
        kinds.keys().all(|kind| !kind.starts_with("unknown")),
        "{kinds:#?}"
    );
}

#[test]
fn commands_of_code_mode_are_dug_out_of_real_scripts() {
    let (mut scripts, mut opaque) = (0, 0);
    for path in rollouts("home/.codex") {
        let (all, _) = read(&path);
        for (tool, input) in inputs(&all) {
            scripts += usize::from(tool == "exec");
            let asked = input
                .get("input")
                .and_then(|i| i.as_str())
                .unwrap_or_default();
            let unread = input.get("cmd").is_none() && asked.contains("tools.exec_command");
            opaque += usize::from(tool == "exec" && unread);
        }
    }
    assert!(
        opaque * 50 <= scripts,
        "{opaque} of {scripts} scripts hide their commands"
    );
}

#[test]
fn growing_files_give_the_same_entries() {
    let mut versions: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for path in rollouts("growth/codex") {
        let folder = path.parent().expect("a folder").to_path_buf();
        versions.entry(folder).or_default().push(path);
    }
    for files in versions.into_values() {
        for pair in files.windows(2) {
            let (a, b) = (
                std::fs::read(&pair[0]).unwrap(),
                std::fs::read(&pair[1]).unwrap(),
            );
            if b.starts_with(&a) {
                let ((short, _, _), (long, _, _)) = (parse(&a), parse(&b));
                assert_eq!(short[..], long[..short.len()], "{}", pair[1].display());
            }
        }
    }
}

/// Reading again from a record with the context that its entry holds gives the same entries.
#[test]
fn reading_may_start_again_at_any_record() {
    let files = rollouts("home/.codex");
    let odd = rollouts("odd");
    let forks = odd
        .iter()
        .filter(|path| path.ends_with("codex_legacy_fork_embedded.jsonl"));
    for path in files.iter().take(4).chain(files.last()).chain(forks) {
        let bytes = std::fs::read(path).expect("a corpus file");
        let (all, _, _) = parse(&bytes);
        let step = (all.len() / 40).max(1);
        for start in (0..all.len()).step_by(step) {
            let first = &all[start];
            let start = start - usize::from(first.nth);
            let mut state = ParseState::default();
            state.context.clone_from(&first.context);
            let mut again = Vec::new();
            let mut at = first.place.offset;
            let rest = bytes[at as usize..].split(|b| *b == b'\n').take(60);
            for (number, line) in (first.place.line..).zip(rest) {
                let place = Span {
                    offset: at,
                    bytes: line.len() as u64,
                    line: number,
                };
                if !line.is_empty() {
                    super::value(&mut state, place, line, &mut again).unwrap();
                }
                at = place.end();
            }
            let name = path.display();
            for (again, once) in again.iter().zip(&all[start..]) {
                assert_eq!(again, once, "{name} from line {}", first.place.line);
            }
        }
    }
}

#[test]
fn the_odd_files_behave() {
    let Some(fork) = odd("codex_legacy_fork_embedded.jsonl") else {
        return;
    };
    assert_eq!(prompts(&fork), ["parent prompt (copied)", "child prompt"]);
    let origins: Vec<Option<&str>> = fork.iter().map(|e| e.context.origin.as_deref()).collect();
    let parent = Some("01a0714e-cbc4-7d23-9f9d-02d710c07ed7");
    assert_eq!(origins, [None, None, parent, parent, None]);
    let paginated = "rollout-2026-09-05T11-24-00-01a0714e-cbc4-7d23-9f9d-02d710c07ed7.jsonl";
    let all = odd(paginated).unwrap();
    assert_eq!(prompts(&all), ["Run the tests"]);
    let result = results(&all)[0];
    assert_eq!(
        (result.exit_code, result.status),
        (Some(101), CallStatus::Failed)
    );
    assert_eq!(&*result.output.head, "test result: FAILED\n");
    let base = "rollout-2026-09-05T12-00-00-01a0714f-0000-7d23-9f9d-02d710c07ed8.jsonl";
    assert_eq!(prompts(&odd(base).unwrap()), ["Now fix it"]);
}

#[test]
fn a_compressed_file_reads_as_its_content() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    let root = std::env::var_os("CORPUS_DIR").map_or(beside, PathBuf::from);
    let name = "odd/rollout-2026-02-22T22-03-39-019c8572-cc91-7d53-9cca-0b08f867cbb3.jsonl.zst";
    let Ok(packed) = std::fs::read(root.join(name)) else {
        passed_over(name);
        return;
    };
    let (all, rejects, _) = parse(&zstd::decode_all(&packed[..]).expect("a zstd frame"));
    assert_eq!(rejects, Vec::<String>::new());
    let unknown = all
        .iter()
        .filter(|e| matches!(e.what, EntryKind::Unknown(_)));
    assert_eq!(unknown.count(), 0);
    assert_eq!(prompts(&all).len(), 5);
    assert!(prompts(&all)[0].starts_with("codex primary"));
}

/// Real-looking lines to cut and stir.
const SEEDS: [&str; 6] = [
    r#"{"timestamp":"2026-09-05T11:24:00.000Z","type":"session_meta","payload":{"id":"01a0714e-cbc4-7d23-9f9d-02d710c07ed7","source":{"subagent":{"thread_spawn":{"parent_thread_id":"p"}}},"git":{"branch":"main"}}}"#,
    r#"{"timestamp":"2026-09-05T11:24:01.000Z","type":"response_item","payload":{"type":"custom_tool_call","name":"exec","call_id":"c","input":"await tools.apply_patch(`*** Begin Patch\n*** Add File: é\n+x\n*** End Patch`)"}}"#,
    r#"{"timestamp":"2026-09-05T11:24:02.000Z","type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"c","output":[{"type":"input_text","text":"Script completed\nWall time 1.0 seconds\nOutput:\n"},{"text":"{\"exit_code\":1,\"output\":\"é\"}"}]}}"#,
    r#"{"timestamp":"2026-09-05T11:24:03.000Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":5},"last_token_usage":{"input_tokens":5}}}}"#,
    r#"{"timestamp":"2026-09-05T11:24:04.000Z","type":"event_msg","payload":{"type":"patch_apply_end","call_id":"c","success":true,"changes":{"a":{"type":"update","unified_diff":"@@\n+é\n"}}}}"#,
    r#"{"timestamp":"2026-09-05T11:24:05.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<user_shell_command>é</user_shell_command>"}]}}"#,
];

proptest! {
    #[test]
    fn mutated_lines_never_panic(edits in prop::collection::vec((0usize..6, 0usize..300, any::<u8>(), 0u8..3), 1..8)) {
        let mut state = ParseState::default();
        let mut out = Vec::new();
        for (seed, at, byte, how) in edits {
            let mut bytes = SEEDS[seed].as_bytes().to_vec();
            let at = at.min(bytes.len() - 1);
            match how {
                0 => bytes[at] = byte,
                1 => bytes.truncate(at),
                _ => { bytes.remove(at); }
            }
            let _ = value(&mut state, Span::default(), &bytes, &mut out);
        }
    }
}
