//! `export --parquet`: the tables of a home, read back row by row.

use super::world::Desk;
use crate::cli::Exit;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Every file of ours below a folder, from there, with its time.
pub(super) fn files(folder: &Path) -> BTreeMap<PathBuf, SystemTime> {
    let entries = walkdir::WalkDir::new(folder).into_iter();
    let files = entries
        .map(Result::unwrap)
        .filter(|e| e.file_type().is_file());
    files
        .map(|file| {
            let changed = file.metadata().unwrap().modified().unwrap();
            (
                file.path().strip_prefix(folder).unwrap().to_owned(),
                changed,
            )
        })
        .collect()
}

type Row = BTreeMap<String, Field>;

/// The rows of each table with their month, sorted: how they are divided over files is left out.
pub(super) fn rows(folder: &Path) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (table, row) in read(folder) {
        let cells = row.iter().map(|(name, field)| format!("{name}={field}"));
        all.entry(table)
            .or_default()
            .push(cells.collect::<Vec<_>>().join(" "));
    }
    all.values_mut().for_each(|rows| rows.sort());
    all
}

fn read(folder: &Path) -> Vec<(String, Row)> {
    let mut all = Vec::new();
    for path in files(folder).into_keys() {
        if path
            .extension()
            .is_none_or(|extension| extension != "parquet")
        {
            continue;
        }
        let parts: Vec<String> = path
            .iter()
            .map(|part| part.to_string_lossy().into_owned())
            .collect();
        let reader = SerializedFileReader::new(File::open(folder.join(&path)).unwrap()).unwrap();
        for row in reader.get_row_iter(None).unwrap() {
            let mut row: Row = row.unwrap().into_columns().into_iter().collect();
            row.insert("month".into(), Field::Str(parts[1].clone()));
            all.push((parts[0].clone(), row));
        }
    }
    all
}

fn int(row: &Row, column: &str) -> i64 {
    match &row[column] {
        Field::Long(n) => *n,
        Field::Null => 0,
        other => panic!("{column}: {other}"),
    }
}

fn real(row: &Row, column: &str) -> f64 {
    match &row[column] {
        Field::Double(n) => *n,
        Field::Null => 0.0,
        other => panic!("{column}: {other}"),
    }
}

fn text(row: &Row, column: &str) -> String {
    match &row[column] {
        Field::Str(text) => text.clone(),
        Field::Null => String::new(),
        other => panic!("{column}: {other}"),
    }
}

fn of<'r>(rows: &'r [(String, Row)], table: &str) -> Vec<&'r Row> {
    let own = rows.iter().filter(|(of, _)| of == table);
    own.map(|(_, row)| row).collect()
}

fn export(desk: &Desk, folder: &str) -> Value {
    let ran = desk.run(&format!("sessionmill export --parquet {folder} --json"));
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    ran.json()
}

fn filled() -> Desk {
    let desk = Desk::enabled();
    let ran = desk.run("sessionmill backfill");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    desk
}

#[test]
fn tables_add_up_to_what_the_store_says() {
    let desk = filled();
    export(&desk, "tables");
    let all = read(&desk.path("tables"));
    let stats = desk.run("sessionmill stats --json").json();
    let sum = |table: &str, column: &str| -> i64 {
        of(&all, table).iter().map(|row| int(row, column)).sum()
    };
    let sessions = of(&all, "sessions");
    assert_eq!(sessions.len() as u64, stats["sessions"].as_u64().unwrap());
    for column in ["prompts", "messages", "calls", "failures", "refusals"] {
        let wants = stats[column].as_i64().unwrap();
        assert_eq!(sum("sessions", column), wants, "{column}");
        assert_eq!(sum("episodes", column), wants, "{column}");
    }
    let calls = of(&all, "tool_calls");
    assert_eq!(calls.len() as i64, sum("episodes", "calls"));
    let is = |status: &str| {
        calls
            .iter()
            .filter(|row| text(row, "status") == status)
            .count()
    };
    // and commands whose tests failed, though they ended well
    let red = of(&all, "tests")
        .iter()
        .filter(|row| int(row, "failed") > 0)
        .count() as i64;
    let failed = is("failed") as i64;
    let wants = sum("episodes", "failures");
    assert!(
        (wants..=wants + red).contains(&failed),
        "{wants} {red} {failed}"
    );
    assert_eq!(is("refused") as i64, sum("episodes", "refusals"));
    let commands = of(&all, "commands");
    assert!(commands.len() > 5 && commands.len() < calls.len());
    // what is said is all of the episodes' texts that no digest stands for
    let said = sum("messages", "text_bytes");
    assert!(said > 0 && said < sum("sessions", "text_bytes"));
    let status = desk.run("sessionmill status --json").json();
    let lines: i64 = of(&all, "ledger")
        .iter()
        .filter(|row| text(row, "fate") != "glued")
        .map(|row| int(row, "lines"))
        .sum();
    let fates = status["ledger"]["lines"].as_object().unwrap().values();
    let reasons = fates.flat_map(|fate| fate.as_object().unwrap().values());
    let read: i64 = reasons.map(|lines| lines.as_i64().unwrap()).sum();
    let pending = status["ledger"]["pending"].as_i64().unwrap();
    assert_eq!(lines, read + pending, "{status:#}");
    for (table, least) in [
        ("tests", 1),
        ("files_changed", 2),
        ("activity", 5),
        ("decisions", 1),
    ] {
        assert!(of(&all, table).len() >= least, "{table}");
    }
}

#[test]
fn tokens_and_cost_are_those_of_stats() {
    let desk = filled();
    export(&desk, "tables");
    let all = read(&desk.path("tables"));
    let sessions = of(&all, "sessions");
    let sum = |table: &str, column: &str| -> i64 {
        of(&all, table).iter().map(|row| int(row, column)).sum()
    };
    for column in [
        "input_tokens",
        "output_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
    ] {
        assert_eq!(sum("usage", column), sum("sessions", column), "{column}");
    }
    let cost = desk.run("sessionmill stats --cost --json").json();
    let usd: f64 = sessions.iter().map(|row| real(row, "usd")).sum();
    let wants = cost["total"]["usd"].as_f64();
    let wants = wants.unwrap_or_else(|| panic!("{cost:#}"));
    assert!((usd - wants).abs() < 1e-9, "{usd} {wants}");
}

#[test]
fn again_touches_no_file_and_full_gives_the_same() {
    let desk = filled();
    let first = export(&desk, "tables");
    assert!(first["files_written"].as_u64().unwrap() >= 12, "{first:#}");
    let before = files(&desk.path("tables"));
    let again = export(&desk, "tables");
    assert_eq!(files(&desk.path("tables")), before);
    for field in ["changed", "removed", "files_written", "files_removed"] {
        assert_eq!(again[field], 0, "{field}");
    }
    assert_eq!(again["rows"], first["rows"]);
    let bytes = |path: &PathBuf| fs::read(desk.path("tables").join(path)).unwrap();
    let then: Vec<Vec<u8>> = before.keys().map(bytes).collect();
    desk.run("sessionmill export --parquet tables --full");
    assert_ne!(files(&desk.path("tables")), before);
    let now: Vec<Vec<u8>> = before.keys().map(bytes).collect();
    assert!(now == then, "the same rows give the same bytes");
}

#[test]
fn growth_in_steps_gives_the_rows_of_one_export() {
    let desk = Desk::enabled();
    let logs: Vec<PathBuf> = files(desk.path("").as_path())
        .into_keys()
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
        .collect();
    let whole: Vec<(PathBuf, String)> = logs
        .iter()
        .map(|log| {
            (
                desk.path("").join(log),
                fs::read_to_string(desk.path("").join(log)).unwrap(),
            )
        })
        .collect();
    for third in 1..=3 {
        for (path, text) in &whole {
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            let part = lines[..(lines.len() * third).div_ceil(3)].concat();
            fs::write(path, part).unwrap();
        }
        let ran = desk.run("sessionmill run --all");
        assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
        export(&desk, "steps");
        export(&desk, &format!("one-{third}"));
        let (steps, one) = (
            rows(&desk.path("steps")),
            rows(&desk.path(&format!("one-{third}"))),
        );
        for (table, rows) in &one {
            assert_eq!(steps.get(table), Some(rows), "{table}, step {third}");
        }
        assert_eq!(steps.len(), one.len());
    }
}

#[test]
fn what_is_forgotten_leaves_the_files_too() {
    let desk = filled();
    export(&desk, "tables");
    let folder = desk.path("tables");
    let session = "6b1f0a34-5c0e-4b57-9d3e-2f9a51c7e001";
    let holds = |session: &str| {
        let all = rows(&folder);
        all.values()
            .flatten()
            .filter(|row| row.contains(&format!("session_id=\"{session}\"")))
            .count()
    };
    assert!(holds(session) > 10);
    let others = rows(&folder)["sessions"].len();
    let ran = desk.run(&format!("sessionmill forget {session} --yes"));
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    let report = export(&desk, "tables");
    assert_eq!(holds(session), 0);
    assert!(report["removed"].as_u64().unwrap() >= 1, "{report:#}");
    assert_eq!(rows(&folder)["sessions"].len(), others - 1);
    let list = fs::read_to_string(folder.join("_sessionmill.json")).unwrap();
    assert!(!list.contains(session));
    // nobody has them to export any more: a month that is empty has no files
    for other in rows(&folder)["sessions"].clone() {
        let id = other.split("session_id=").nth(1).unwrap();
        let id = id.split(['"', ' ']).find(|part| !part.is_empty()).unwrap();
        desk.run(&format!("sessionmill forget {id} --yes"));
    }
    export(&desk, "tables");
    let left = rows(&folder);
    assert_eq!(left.get("sessions"), None);
    assert_eq!(left.get("messages"), None);
    // and still every table can be asked for
    let tables = files(&folder);
    let empty = tables
        .keys()
        .filter(|path| path.to_string_lossy().contains("month=none"));
    assert_eq!(empty.count(), 12);
}

#[test]
fn whatever_ended_an_export_the_next_one_puts_it_right() {
    let desk = filled();
    export(&desk, "whole");
    let wants = rows(&desk.path("whole"));
    let tables = desk.path("tables");
    type Harm<'h> = &'h dyn Fn(&Path);
    let damage: [(&str, Harm<'_>); 6] = [
        ("a file is gone", &|folder| {
            let file = files(folder)
                .into_keys()
                .find(|path| path.starts_with("messages"));
            fs::remove_file(folder.join(file.unwrap())).unwrap();
        }),
        ("a file is short", &|folder| {
            let file = files(folder)
                .into_keys()
                .find(|path| path.starts_with("usage"));
            File::options()
                .write(true)
                .open(folder.join(file.unwrap()))
                .and_then(|file| file.set_len(10))
                .unwrap();
        }),
        ("it died before the list was written", &|folder| {
            fs::remove_file(folder.join("_sessionmill.json")).unwrap();
        }),
        ("it died over the list", &|folder| {
            fs::write(folder.join("_sessionmill.json"), "{\"schema_ver").unwrap();
        }),
        ("it died over a file", &|folder| {
            let file = folder.join("usage/month=2026-03/part-009.parquet.part");
            fs::write(file, "PAR1").unwrap();
        }),
        ("a part was written that no list has", &|folder| {
            let from = files(folder)
                .into_keys()
                .find(|path| path.starts_with("sessions"));
            let from = folder.join(from.unwrap());
            fs::copy(&from, from.with_file_name("part-077.parquet")).unwrap();
        }),
    ];
    for (what, harm) in damage {
        export(&desk, "tables");
        harm(&tables);
        let report = export(&desk, "tables");
        assert_eq!(rows(&tables), wants, "{what}");
        let did =
            report["files_written"].as_u64().unwrap() + report["files_removed"].as_u64().unwrap();
        assert!(did > 0, "{what}: {report:#}");
        let left = files(&tables)
            .into_keys()
            .filter(|path| path.to_string_lossy().ends_with(".part"));
        assert_eq!(left.count(), 0, "{what}");
    }
}

#[test]
fn hidden_paths_are_in_no_column() {
    let desk = filled();
    export(&desk, "tables");
    change_settings(&desk, |settings| {
        settings["session_tracking"]["include_project_path"] = false.into();
    });
    let ran = desk.run("sessionmill export --parquet tables --json");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    assert!(ran.json()["files_written"].as_u64().unwrap() > 0);
    for (table, row) in read(&desk.path("tables")) {
        for (column, field) in &row {
            // words are what the store holds; it was filled when paths were told
            let said = [
                "text",
                "title",
                "objective",
                "input",
                "result",
                "command",
                "decision",
                "about",
                "pull_requests",
            ];
            if !said.contains(&column.as_str()) {
                let shown = field.to_string();
                assert!(!shown.contains("/home/ada"), "{table}.{column}: {shown}");
                assert!(!shown.contains("shop-api"), "{table}.{column}: {shown}");
            }
        }
    }
}

#[test]
fn an_export_says_what_it_did() {
    let desk = filled();
    let say = |line: &str| {
        let shown = desk.run(line).shown();
        let numbers = regex::Regex::new(r"[\d,.]+ (rows|kB|KB|MB|bytes)").unwrap();
        numbers.replace_all(&shown, "N $1").into_owned()
    };
    let first = say("sessionmill export --parquet tables");
    let again = say("sessionmill export --parquet tables");
    insta::assert_snapshot!("export", format!("{first}\n{again}"));
    let none = Desk::new().run("sessionmill export --parquet tables");
    assert_eq!(none.exit, Exit::Failed, "{}", none.shown());
    assert!(none.stderr.contains("sessionmill init"), "{}", none.shown());
}

/// A desk whose runs keep a folder of tables.
fn with_sink() -> Desk {
    let desk = Desk::enabled();
    let folder = desk.path("warehouse");
    change_settings(&desk, |settings| {
        settings["sinks"] = json!({"warehouse": {"kind": "parquet", "path": folder}});
    });
    desk
}

fn change_settings(desk: &Desk, change: impl FnOnce(&mut Value)) {
    let config = desk.run("sessionmill config path").stdout;
    let file = config.trim().replace('~', &desk.path("").to_string_lossy());
    let written = fs::read_to_string(&file).unwrap();
    let mut settings: Value = serde_json::from_str(&written).unwrap();
    change(&mut settings);
    fs::write(file, settings.to_string()).unwrap();
}

#[test]
fn a_sink_is_brought_up_to_date_by_each_run() {
    let desk = with_sink();
    let ran = desk.run("sessionmill run --all");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    assert!(ran.shown().contains("sink warehouse: "), "{}", ran.shown());
    export(&desk, "tables");
    let (sink, wants) = (desk.path("warehouse"), rows(&desk.path("tables")));
    assert_eq!(rows(&sink), wants);
    let before = files(&sink);
    let again = desk.run("sessionmill run --json").json();
    assert_eq!(files(&sink), before, "{again:#}");
    let status = desk.run("sessionmill deliver status");
    assert!(
        status.stdout.contains("brought up to date by each run"),
        "{}",
        status.shown()
    );
    let check = desk.run("sessionmill deliver check --smoke");
    assert!(check.stdout.contains("warehouse: ok"), "{}", check.shown());
    let verify = desk.run("sessionmill deliver verify");
    assert_eq!(verify.exit, Exit::Done, "{}", verify.shown());
    assert!(verify.stdout.contains("0 missing"), "{}", verify.shown());
    let plan = desk.run("sessionmill plan");
    assert_eq!(plan.exit, Exit::Done, "{}", plan.shown());
    // what was forgotten is gone after the next run
    desk.run("sessionmill forget 6b1f0a34-5c0e-4b57-9d3e-2f9a51c7e001 --yes");
    let ran = desk.run("sessionmill run --json");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    assert_eq!(rows(&sink)["sessions"].len(), wants["sessions"].len() - 1);
    // a file that somebody removed is missed, and comes back
    let file = files(&sink)
        .into_keys()
        .find(|path| path.starts_with("commands"));
    fs::remove_file(sink.join(file.unwrap())).unwrap();
    assert_eq!(desk.run("sessionmill deliver verify").exit, Exit::Partial);
    let ran = desk.run("sessionmill deliver run warehouse");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    assert_eq!(desk.run("sessionmill deliver verify").exit, Exit::Done);
}

#[test]
fn a_folder_that_can_not_be_written_to_stops_nothing_else() {
    let desk = with_sink();
    desk.write("warehouse", "a file stands here");
    let ran = desk.run("sessionmill run --all --json");
    let document = ran.json();
    let sinks = document.to_string();
    assert!(sinks.contains("warehouse"), "{document:#}");
    assert!(document.to_string().contains("fault"), "{document:#}");
    let stats = desk.run("sessionmill stats --json").json();
    assert!(stats["sessions"].as_u64().unwrap() > 5);
    fs::remove_file(desk.path("warehouse")).unwrap();
    let ran = desk.run("sessionmill run");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    assert!(files(&desk.path("warehouse")).len() > 12);
}
