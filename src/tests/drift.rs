//! What logs say that this version doesn't know is visible by name and count, and never by content.

use super::home::Home;
use super::world::Desk;
use crate::model::ledger::Fate;
use crate::store::Access;

const LOG: &str = ".claude/projects/-home-ada-p/0d2640ea-5c0e-4b57-9d3e-2f9a51c7aaaa.jsonl";

/// A line of this kind with more fields.
fn line(n: usize, kind: &str, more: &str) -> String {
    format!(
        r#"{{"type":"{kind}","uuid":"6b1f0a34-5c0e-4b57-9d3e-2f9a51c7{n:04}","sessionId":"0d2640ea-5c0e-4b57-9d3e-2f9a51c7aaaa","cwd":"/home/ada/p","version":"2.1.999","timestamp":"2026-05-01T10:00:0{}.000Z",{more}}}"#,
        n % 10
    ) + "\n"
}

fn lines() -> Vec<String> {
    vec![
        line(1, "user", r#""message":{"content":"hello"}"#),
        line(2, "brand-new", r#""secret":"do not show""#),
        line(3, "user", r#""message":{"content":12345}"#),
        line(4, "brand-new", r#""secret":"do not show""#),
        line(
            5,
            "assistant",
            r#""message":{"id":"m","content":[{"type":"text","text":"fine"}]}"#,
        )
        .replace(r#""version":"2.1.999""#, r#""version":3"#),
    ]
}

#[test]
fn a_run_says_nothing_of_it_and_status_shows_a_table() {
    let desk = Desk::enabled();
    desk.write(LOG, &lines().concat());
    let ran = desk.run("sessionmill run --all").stdout;
    assert!(
        !ran.contains("drift") && !ran.contains("brand-new"),
        "{ran}"
    );
    let status = desk.run("sessionmill status").stdout;
    let wants = [
        "unknown: 1 kind of records with 6 words that are not stored (sessionmill doctor --report-drift)\n",
        "unknown: 2 kinds of records without words (sessionmill status --drift)\n",
    ];
    assert!(status.contains(&wants.concat()), "{status}");
    let shown = desk.run("sessionmill status --drift").stdout;
    let rows: Vec<Vec<&str>> = shown
        .lines()
        .map(|line| {
            line.split("  ")
                .map(str::trim)
                .filter(|c| !c.is_empty())
                .collect()
        })
        .collect();
    let log = format!("~/{LOG}");
    let at = |line: u32| format!("{log}:{line}");
    assert_eq!(rows[0], ["name", "count", "words", "first seen", "example"]);
    assert_eq!(
        rows[1],
        [
            "assistant.version: number",
            "1",
            "0",
            "2026-05-01 10:00",
            &at(5)
        ]
    );
    assert_eq!(rows[2], ["brand-new", "2", "6", "2026-05-01 10:00", &at(2)]);
    assert_eq!(
        rows[3],
        [
            "user.message.content: number",
            "1",
            "0",
            "2026-05-01 10:00",
            &at(3)
        ]
    );
    assert_eq!(
        rows[4],
        ["claude 2.1.999", "1", "0", "2026-05-01 10:00", &log]
    );
    assert_eq!(rows.len(), 5);
    let json = desk.run("sessionmill status --drift --json").json();
    assert_eq!(json["drift"][1]["count"], 2);
    assert_eq!(json["drift"][1]["first_seen"], "2026-05-01T10:00:02.000Z");
}

#[test]
fn no_command_shows_what_such_a_record_holds() {
    let desk = Desk::enabled();
    desk.write(LOG, &lines().concat());
    desk.run("sessionmill run --all");
    for line in [
        "run --rebuild --all",
        "status",
        "status --drift --json",
        "doctor",
        "doctor --report-drift",
        "run --json",
    ] {
        let shown = desk.run(&format!("sessionmill {line}")).shown();
        assert!(
            !shown.contains("do not show") && !shown.contains("12345"),
            "{shown}"
        );
    }
}

#[test]
fn only_words_that_nobody_reads_ring_an_alarm() {
    let desk = Desk::enabled();
    desk.write(LOG, &line(1, "brand-new", r#""state":"two words","n":7"#));
    let quiet = desk.run("sessionmill run --all").shown();
    assert!(!quiet.contains("warning"), "{quiet}");
    let grown = line(1, "brand-new", r#""state":"two words","n":7"#)
        + &line(2, "spoken", r#""text":"do not show this""#);
    desk.write(LOG, &grown);
    let loud = desk.run("sessionmill run --all").shown();
    let wants =
        "1 kind of records that this version doesn't know hold 4 words: none of them is stored";
    assert!(loud.contains(wants), "{loud}");
    let report = desk.run("sessionmill doctor --report-drift").stdout;
    assert!(report.contains("spoken: once, 4 words"), "{report}");
    assert!(report.contains(r#""text": "text of 4 words""#), "{report}");
    assert!(!report.contains("do not show"), "{report}");
}

#[test]
fn without_drift_nothing_is_said() {
    let desk = Desk::enabled();
    let ran = desk.run("sessionmill run --all").stdout;
    assert!(!ran.contains("drift"), "{ran}");
    let shown = desk.run("sessionmill status --drift").stdout;
    assert!(shown.starts_with("no drift"), "{shown}");
}

#[test]
fn drift_is_counted_once_however_often_runs_happen_and_every_line_once() {
    let cold = Home::new(None).unwrap();
    cold.put(LOG, lines().concat().as_bytes()).unwrap();
    cold.run().unwrap();
    let warm = Home::new(None).unwrap();
    for n in 1..=lines().len() {
        warm.put(LOG, lines()[..n].concat().as_bytes()).unwrap();
        warm.run().unwrap();
    }
    let (cold_sum, warm_sum) = (cold.ledger().unwrap(), warm.ledger().unwrap());
    assert_eq!(cold_sum, warm_sum);
    assert_eq!(cold_sum.total(), 5);
    assert_eq!(
        (cold_sum.of(Fate::Unknown), cold_sum.of(Fate::Kept)),
        (3, 2)
    );
    assert_eq!(cold_sum.drift["brand-new"], 2);
    let unknown = |home: &Home| {
        home.store(Access::ReadOnly)
            .unwrap()
            .status()
            .unwrap()
            .unknown
    };
    let places = |home: &Home| {
        let rows = unknown(home).into_iter();
        rows.map(|row| (row.kind, row.count, row.first, row.place))
            .collect::<Vec<_>>()
    };
    assert_eq!(places(&cold), places(&warm));
}
