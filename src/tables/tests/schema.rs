//! The schema as docs/tables.md tells it: a change is seen in review.

use crate::tables::schema::{ColumnKind, Name, TABLES_VERSION, table};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;

const MARK: &str = "<!-- From here on written by the test the_tables_are_documented, from src/tables/columns.rs. -->\n";

#[test]
fn the_tables_are_documented() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/tables.md");
    let found = fs::read_to_string(&file).unwrap();
    let (head, _) = found.split_once(MARK).expect("the mark");
    let wants = format!("{head}{MARK}{}", documented());
    if std::env::var("INSTA_UPDATE").is_ok_and(|v| v == "always") {
        fs::write(&file, &wants).unwrap();
    }
    let found = fs::read_to_string(&file).unwrap();
    assert!(
        found == wants,
        "docs/tables.md is not the schema: INSTA_UPDATE=always cargo test --lib tables"
    );
    assert!(head.contains(&format!("are version {TABLES_VERSION}.")));
}

fn documented() -> String {
    let mut text = String::new();
    for name in Name::ALL {
        let table = table(name);
        let key: Vec<String> = table.key.iter().map(|k| format!("`{k}`")).collect();
        let _ = write!(
            text,
            "\n## {}\n\n{} Key: {}.\n\n| column | type | |\n| --- | --- | --- |\n",
            table.name,
            table.meaning,
            key.join(", ")
        );
        for column in &table.columns {
            let null = if column.nullable { ", may be null" } else { "" };
            let (kind, meaning) = (column.kind.as_str(), column.meaning);
            let _ = writeln!(text, "| `{}` | {kind}{null} | {meaning} |", column.name);
        }
    }
    text
}

#[test]
fn names_tell_columns_apart_and_keys_are_columns() {
    for name in Name::ALL {
        let table = table(name);
        let names: BTreeSet<&str> = table.columns.iter().map(|c| c.name).collect();
        assert_eq!(names.len(), table.columns.len(), "{}", table.name);
        for key in table.key {
            assert!(names.contains(key), "{}: {key}", table.name);
        }
        let is_list = |c: &&crate::tables::schema::Column| c.kind == ColumnKind::Texts;
        assert!(table.columns.iter().filter(is_list).all(|c| !c.nullable));
    }
}
