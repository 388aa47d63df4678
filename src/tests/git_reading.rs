//! What git operations say to somebody who reads them for the first time: questions by words and by hash, what
//! was done to another branch, and what nobody knows yet.

use super::git::Site;
use crate::cli::Exit;

/// A person makes two commits on a branch, and throws the second away.
fn thrown_away() -> (Site, String) {
    let mut site = Site::new();
    site.user("hello");
    site.commit("a.py", "1\n", "first");
    site.git("switch -c side");
    site.commit("b.py", "2\n", "Keep coupons in memcached");
    let lost = site.git("rev-parse HEAD").trim().to_owned();
    site.git("reset --hard HEAD~1");
    site.git("switch main");
    site.run();
    (site, lost)
}

#[test]
fn commits_that_were_given_up_are_found_by_their_subject() {
    let (site, lost) = thrown_away();
    let ran = site.desk.run("sessionmill why coupons memcached");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    for part in [
        "given up:",
        "undid: reset on side",
        "Keep coupons in memcached",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.shown());
    }
    let asked = site.ask("why coupons memcached");
    assert_eq!(asked["given_up"][0]["lost"][0]["hash"], lost.as_str());
    let ran = site.desk.run("sessionmill why tapestry");
    assert_eq!(ran.exit, Exit::Failed, "{}", ran.shown());
}

#[test]
fn a_search_for_a_hash_leads_to_the_commit() {
    let (site, lost) = thrown_away();
    let ran = site.desk.run(&format!("sessionmill search {}", &lost[..7]));
    let wants = format!("hint: sessionmill why --commit {}", &lost[..7]);
    // a hash of letters alone is taken for a word
    let is_hash = lost[..7].bytes().any(|b| b.is_ascii_digit());
    assert_eq!(ran.stderr.contains(&wants), is_hash, "{}", ran.shown());
    let ran = site.desk.run("sessionmill search 1234567");
    assert!(!ran.stderr.contains("why --commit"), "{}", ran.shown());
}

#[test]
fn a_checkout_is_from_a_branch_to_another_and_an_operation_has_no_log() {
    let (site, _) = thrown_away();
    let ran = site.desk.run("sessionmill why --branch side");
    assert!(
        ran.stdout.contains("checkout from side to main"),
        "{}",
        ran.shown()
    );
    let found = site.ask("why --branch side");
    let id = found["operations"][0]["git_batch_id"].as_str().unwrap();
    let shown = site.desk.run(&format!("sessionmill show {id}")).stdout;
    assert_eq!(shown.lines().nth(1), Some("app"), "{shown}");
    assert!(
        !shown.contains(":0-0") && !shown.contains("mixed activity"),
        "{shown}"
    );
}

#[test]
fn the_repository_that_one_stands_in_goes_first() {
    let (mut site, _) = thrown_away();
    let other = site.desk.path("zoo");
    std::fs::create_dir_all(&other).unwrap();
    site.git_in(&other, "init -q -b main");
    for n in 0..3 {
        std::fs::write(other.join("x"), n.to_string()).unwrap();
        site.git_in(&other, "add -A");
        site.git_in(&other, &format!("commit -qm later{n}"));
    }
    let config = site.desk.path(".graphiti/tracking-config.json");
    let root = other.display();
    let settings = format!(
        r#"{{"version":"1.0","defaults":{{"enabled":true}},"projects":{{"z":{{"project_root":"{root}","enabled":true}}}}}}"#
    );
    std::fs::write(config, settings).unwrap();
    site.run();
    let first = |site: &Site| {
        let found = site.ask("why --branch main");
        found["operations"][0]["project_path"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(
        first(&site).ends_with("/zoo"),
        "the latest: {}",
        first(&site)
    );
    site.desk.cwd = Some(site.repo.clone());
    assert!(first(&site).ends_with("/app"), "{}", first(&site));
}
