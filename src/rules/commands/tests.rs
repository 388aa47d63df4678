//! The table against its own samples.

use super::table::written;
use super::*;

#[test]
fn samples_are_what_the_table_says() {
    let mut findings = Vec::new();
    for (class, lines) in written().samples {
        for line in lines {
            let found = counted_as(&line);
            if found != class {
                findings.push(format!("{line:?} is {found}, not {class}"));
            }
        }
    }
    assert!(findings.is_empty(), "\n{}", findings.join("\n"));
}

#[test]
fn the_documents_example() {
    let command = classify("pytest tests/ -v --cov=src");
    assert_eq!(command.base, "pytest");
    assert_eq!(command.subcommand, None);
    assert_eq!(command.flags, ["-v", "--cov=src"]);
    assert_eq!(command.targets, ["tests/"]);
    assert_eq!(command.classification.confidence, 0.95);
    assert_eq!(command.classification.intent, Intent::Validate);
    assert_eq!(command.classification.domain, Domain::Testing);
}

#[test]
fn what_is_counted_stands_for_the_same_today() {
    for line in ["git commit -m x", "erk pr check", "zzz", "npm test"] {
        assert_eq!(
            of_count(&counted_as(line)),
            classify(line).classification,
            "{line}"
        );
    }
}
