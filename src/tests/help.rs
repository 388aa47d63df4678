//! What `--help` promises: every command is found on the first page, and every example can be typed.

use super::world::Desk;
use crate::cli::Exit;
use crate::model::activity::Dimension;
use crate::model::episode::EpisodeSource;
use crate::rules::help::{examples, groups, is_unlisted};
use std::collections::BTreeSet;

/// A screen that people have.
const LINES: usize = 48;
const COLUMNS: usize = 80;
/// Each command shows so many.
const EXAMPLES_MIN: usize = 3;

fn commands() -> Vec<String> {
    let tree = crate::cli::tree();
    let names = tree.get_subcommands().map(|sub| sub.get_name().to_owned());
    names.filter(|name| name != "help").collect()
}

#[test]
fn every_command_is_on_the_first_page_once_or_left_off_it_on_purpose() {
    let rows = groups().iter().flat_map(|group| &group.rows);
    let listed: Vec<&String> = rows.flat_map(|row| &row.commands).collect();
    let once: BTreeSet<&String> = listed.iter().copied().collect();
    assert_eq!(once.len(), listed.len(), "{listed:?}");
    for name in commands() {
        assert_ne!(once.contains(&name), is_unlisted(&name), "{name}");
    }
    assert!(
        once.iter().all(|name| commands().contains(name)),
        "{once:?}"
    );
}

#[test]
fn the_first_page_fits_a_screen() {
    let desk = Desk::new();
    for line in ["sessionmill --help", "sessionmill -h", "sessionmill help"] {
        let page = desk.run(line);
        assert_eq!(page.exit, Exit::Done);
        let long: Vec<&str> = page
            .stdout
            .lines()
            .filter(|line| line.chars().count() > COLUMNS)
            .collect();
        assert!(long.is_empty(), "{line}: {long:?}");
        assert!(page.stdout.lines().count() <= LINES, "{}", page.stdout);
        assert!(!page.stdout.contains('\u{1b}'), "a pipe has no colours");
    }
}

#[test]
fn values_that_help_lists_by_name_are_all_that_there_are() {
    let sources = EpisodeSource::ALL.map(EpisodeSource::as_str);
    let kinds = Dimension::ALL.map(Dimension::as_str);
    for (line, values) in [
        ("search --help", &sources[..]),
        ("sessions --help", &kinds[..]),
    ] {
        let page = Desk::new().run(&format!("sessionmill {line}")).stdout;
        for value in values {
            assert!(page.contains(value), "{line}: {value}");
        }
    }
}

#[test]
fn every_command_has_three_examples_that_can_be_typed() {
    for name in commands() {
        let examples: Vec<_> = examples(&name).collect();
        assert!(examples.len() >= EXAMPLES_MIN, "{name}: {examples:?}");
        for (what, line) in examples {
            let typed = line.split(['<', '>']).next().unwrap_or_default();
            let words = super::world::words(typed);
            let read = crate::cli::tree().try_get_matches_from(&words);
            assert!(read.is_ok(), "{line}: {}", read.unwrap_err());
            assert!(!what.ends_with('.'), "{what}");
        }
    }
}

#[test]
fn help_of_a_subcommand_has_the_examples_that_type_it() {
    let desk = Desk::new();
    let install = desk.run("sessionmill schedule install --help").stdout;
    assert!(
        install.contains("$ sessionmill schedule install --cron"),
        "{install}"
    );
    assert!(!install.contains("schedule remove"), "{install}");
    let all = desk.run("sessionmill schedule --help").stdout;
    assert!(all.contains("$ sessionmill schedule remove"), "{all}");
    let short = desk.run("sessionmill schedule -h").stdout;
    assert!(!short.contains("Examples:"), "{short}");
}
