//! Which rollbacks a session that begins is told: those that matter most, each undoing once.

use super::git::{Site, take_the_cache_back};
use super::git_told::{begins, given_up};

const LARGE: &str = "on feature/new-architecture left 5 commits behind";

/// Something small that is thrown away, on a branch of its own.
fn throw_away(site: &mut Site, name: &str) {
    site.git("checkout -q main");
    site.git(&format!("checkout -q -b {name}"));
    site.commit(&format!("{name}.txt"), "x\n", name);
    site.git("reset -q --hard HEAD~1");
}

#[test]
fn what_matters_most_is_told_though_small_ones_came_later() {
    let mut site = Site::new();
    take_the_cache_back(&mut site);
    site.run();
    site.now += 7 * 86_400;
    for name in ["one", "two", "three", "four", "five"] {
        throw_away(&mut site, name);
    }
    site.run();
    let block = begins(&mut site);
    let told = given_up(&block);
    assert!(told[0].contains(LARGE), "{block}");
    assert!(told.len() <= 3, "{block}");
    // what happened where the session works goes before its like
    assert!(told[1].contains("on five"), "{block}");
}

#[test]
fn repeats_of_one_undoing_are_one_line_that_says_so() {
    let mut site = Site::new();
    take_the_cache_back(&mut site);
    site.run();
    site.now += 2 * 86_400;
    site.git("checkout -q main");
    site.git("checkout -q -b loop");
    for n in 0..6 {
        site.commit("n.txt", &format!("{n}\n"), &format!("try {n}"));
        site.git("reset -q --hard HEAD~1");
    }
    site.run();
    let block = begins(&mut site);
    let told = given_up(&block);
    assert_eq!(told.len(), 2, "{block}");
    assert!(told[0].contains(LARGE), "{block}");
    assert!(
        told[1].contains(" on loop left 1 commit behind")
            && told[1].contains("loop was reset 6 times since 2026-06-03 09:"),
        "{block}"
    );
}

#[test]
fn what_was_taken_up_again_and_given_up_again_is_one_line() {
    let mut site = Site::new();
    site.commit("README.md", "app\n", "first");
    site.user("hello");
    let lost = site.commit("again.txt", "x\n", "again and again");
    for _ in 0..3 {
        site.git("reset -q --hard HEAD~1");
        site.git(&format!("merge -q --ff-only {lost}"));
        site.now += 3_600;
    }
    site.git("reset -q --hard HEAD~1");
    site.run();
    let block = begins(&mut site);
    let told = given_up(&block);
    assert_eq!(told.len(), 1, "{block}");
    assert!(
        told[0].contains(&lost[..12])
            && told[0].contains("It was left 4 times since 2026-06-01 09:"),
        "{block}"
    );
}

#[test]
fn a_commit_that_was_reset_is_neither_told_as_made_nor_as_a_next_step() {
    for quiet in ["", "-q "] {
        let mut site = Site::new();
        site.commit("README.md", "app\n", "first");
        site.user("Add a parser, then a printer");
        for name in ["parser", "printer"] {
            site.write(&format!("src/{name}.rs"), "1\n");
            site.git("add -A");
            site.agent_git(&format!("commit {quiet}-m \"Write the {name}\""));
        }
        site.agent("Both are there.");
        site.run();
        let block = begins(&mut site);
        assert!(!block.contains("Left open"), "{block}");
        site.now += 3 * 3_600;
        site.git("reset -q --hard HEAD~1");
        site.run();
        let block = begins(&mut site);
        assert!(!block.contains("Write the printer"), "{block}");
        assert_eq!(given_up(&block).len(), 1, "{block}");
    }
}
