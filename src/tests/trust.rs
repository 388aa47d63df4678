//! What an agent was told not to trust is told to nobody, whenever it was told so (D63, D14); what was
//! only switched off stays searchable.

use super::delivery::{configure, done};
use super::forget::desk;
use super::memory_rows::{promote, repository, talk};
use super::world::{Desk, Ran};
use crate::cli::Exit;
use serde_json::json;

const HIDDEN: &str = "aaaa1111";
const SHOWN: &str = "aaaa2222";

/// Two projects' sessions that speak of zebras, and from now on one of them isn't trusted.
fn world() -> Desk {
    let desk = desk();
    talk(&desk, "/w/bad", HIDDEN, &["feed the zebra secretly"]);
    talk(&desk, "/w/good", SHOWN, &["feed the zebra openly"]);
    done(desk.run("sessionmill run"));
    let lesson = "--kind lesson --project /w/bad --text \"zebra secretly bites\"";
    done(promote(&desk, lesson));
    assert!(everything(&desk, "").contains("secretly"));
    distrust(&desk, "/w/bad");
    desk
}

fn distrust(desk: &Desk, root: &str) {
    let told = format!("[projects.\"{root}\"]\ntrust_level = \"untrusted\"\n");
    desk.write(".codex/config.toml", &told);
}

/// What every command that reads says of zebras.
fn everything(desk: &Desk, more: &str) -> String {
    let lines = [
        "search zebra -n 50",
        "search -n 50",
        "search zebra --json",
        "sessions --since 60d",
        "sessions --json",
        "recap --since 60d",
        "insights --since 60d",
        "why zebra",
        "stats --json",
    ];
    let told = lines.map(|line| desk.run(&format!("sessionmill {line} {more}")).stdout);
    told.concat()
}

fn absent(ran: &Ran) {
    assert_ne!(ran.exit, Exit::Done, "{}", ran.shown());
    assert!(
        !ran.shown().contains("secretly") && !ran.shown().contains(HIDDEN),
        "{}",
        ran.shown()
    );
}

#[test]
fn what_was_ingested_before_is_told_no_more() {
    let desk = world();
    let told = everything(&desk, "");
    assert!(told.contains("openly"), "{told}");
    assert!(
        !told.contains("secretly") && !told.contains("/w/bad"),
        "{told}"
    );
    let sessions = done(desk.run("sessionmill sessions --json")).json();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 1);
    // nor by its name, and where nothing is left it says why
    for by_name in ["--project /w/bad", "--namespace /w/bad"] {
        let ran = desk.run(&format!("sessionmill search zebra {by_name}"));
        absent(&ran);
        assert!(ran.stderr.contains("not to trust"), "{}", ran.shown());
    }
    // a person may all the same
    let told = everything(&desk, "--allow-untrusted");
    assert!(told.contains("secretly"), "{told}");
}

#[test]
fn ids_of_what_is_hidden_are_as_absent_as_what_never_was() {
    let desk = world();
    let found = done(desk.run(&format!(
        "sessionmill search secretly --json --allow-untrusted --session {HIDDEN}"
    )));
    let episode = found.json()["hits"][0]["episode"].to_string();
    let episode = episode.trim_matches('"');
    for id in [HIDDEN, "aaaa1", episode] {
        let ran = desk.run(&format!("sessionmill show {id}"));
        assert_eq!(ran.exit, Exit::Failed, "{}", ran.shown());
        assert!(
            ran.stderr.contains("no session or episode begins"),
            "{}",
            ran.shown()
        );
        assert!(!ran.stdout.contains("secretly"));
        let shown = done(desk.run(&format!("sessionmill show {id} --allow-untrusted")));
        assert!(shown.stdout.contains("secretly"));
    }
    // what begins like a hidden one is not ambiguous for it
    let ran = done(desk.run("sessionmill show aaaa"));
    assert!(ran.stdout.contains("openly"), "{}", ran.shown());
}

#[test]
fn who_cannot_be_told_apart_is_told_nothing() {
    let desk = world();
    desk.write(".codex/config.toml", "[[[");
    for line in ["search zebra", &format!("show {SHOWN}"), "sessions"] {
        let ran = desk.run(&format!("sessionmill {line}"));
        assert_eq!(ran.exit, Exit::Usage, "{}", ran.shown());
        assert!(ran.stderr.contains("config.toml"), "{}", ran.shown());
        assert_eq!(ran.stdout, "");
    }
    done(desk.run("sessionmill search zebra --allow-untrusted"));
}

#[test]
fn recall_in_a_repository_tells_nothing_of_a_part_that_is_not_trusted() {
    let mut desk = desk();
    let whole = repository(&desk, "whole", "git@h:o/whole");
    let part = format!("{whole}/part");
    talk(
        &desk,
        &part,
        HIDDEN,
        &["the barn owl secretly nests under the gable"],
    );
    talk(&desk, &whole, SHOWN, &["mend the fence"]);
    done(desk.run("sessionmill run"));
    desk.cwd = Some(whole.into());
    let ask = "sessionmill recall where does the barn owl nest under the gable";
    assert!(desk.run(ask).stdout.contains("secretly"));
    distrust(&desk, &part);
    assert_eq!(desk.run(ask).stdout, "");
}

#[test]
fn global_memories_of_a_project_are_distrusted_with_it() {
    let desk = desk();
    let key = json!({"graphiti": {"user_scope_key": "me"}});
    configure(&desk, key);
    for project in ["bad", "good"] {
        let more = format!("--kind lesson --scope global --project /w/{project} --text {project}");
        done(promote(&desk, &more));
    }
    let listed = |more: &str| done(desk.run(&format!("sessionmill memories list{more}"))).stdout;
    assert!(listed("").contains("bad"));
    distrust(&desk, "/w/bad");
    assert!(!listed("").contains("bad") && listed("").contains("good"));
    assert!(listed(" --allow-untrusted").contains("bad"));
}

#[test]
fn nothing_is_promoted_in_a_project_that_is_not_trusted() {
    let desk = world();
    let ran = promote(&desk, "--kind lesson --project /w/bad --text zebras");
    assert_eq!(ran.exit, Exit::Usage, "{}", ran.shown());
    assert!(ran.stderr.contains("not trusted"), "{}", ran.shown());
    done(promote(
        &desk,
        "--kind lesson --project /w/good --text zebras",
    ));
}

/// `disable` says so: what is stored stays searchable, `forget` removes it.
#[test]
fn what_is_excluded_or_switched_off_stays_searchable() {
    let desk = desk();
    let shop = repository(&desk, "shop", "git@h:o/shop");
    talk(&desk, &shop, HIDDEN, &["feed the zebra secretly"]);
    done(desk.run("sessionmill run"));
    configure(
        &desk,
        json!({"session_tracking": {"enabled": true, "excluded_paths": [shop]}}),
    );
    assert!(everything(&desk, "").contains("secretly"));
    configure(&desk, json!({"session_tracking": {"enabled": true}}));
    desk.write(
        "shop/graphiti.config.json",
        &json!({"session_tracking": {"enabled": false}}).to_string(),
    );
    assert!(everything(&desk, "").contains("secretly"));
    done(desk.run(&format!("sessionmill forget --project {shop} --yes")));
    assert!(!everything(&desk, "").contains("secretly"));
}
