//! Summaries, `recap` and next steps agree with git: what was given up is not told as done, nor as a step that
//! is left.

use super::git::Site;
use crate::cli::Exit;
use crate::model::time::Time;
use serde_json::Value;

const SESSION: &str = "6f1c5b80-0000-4000-8000-0000000000aa";

fn run_all(site: &mut Site) {
    site.save();
    site.desk.now = Time((site.now + 7_200) * 1_000);
    let ran = site.desk.run("sessionmill run");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
}

/// A session that decides on a cache, commits it and goes.
fn cache(site: &mut Site) {
    site.commit("README.md", "app\n", "first");
    site.user("Let's use Redis for the page cache instead of Memcached");
    site.write("src/cache.py", "import redis\n");
    site.git("add -A");
    site.agent_git("commit -m \"Redis cache for pages\"");
    site.agent("The cache is there.");
}

/// What everything that tells of the session says.
struct Told {
    page: String,
    recap: String,
    shown: Value,
}

fn told(site: &Site) -> Told {
    let id = &site.ask("search --source session_summary")["hits"][0]["episode"];
    let page = site.ask(&format!("show {}", id.as_str().unwrap()));
    let recap = site.desk.run("sessionmill recap --since 2026-05-01");
    Told {
        page: page["episode"]["text"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        recap: recap.stdout,
        shown: site.ask(&format!("show {SESSION}"))["summary"].clone(),
    }
}

#[test]
fn a_commit_that_was_reset_is_given_up_everywhere() {
    for runs_between in [false, true] {
        let mut site = Site::new();
        cache(&mut site);
        if runs_between {
            run_all(&mut site);
            let before = told(&site);
            let only_log = "- No push seen of ";
            assert!(before.page.contains(only_log), "{}", before.page);
            assert!(!before.recap.contains("undone"), "{}", before.recap);
        }
        // hours later, in a terminal
        site.now += 3 * 3_600;
        site.git("reset -q --hard HEAD~1");
        run_all(&mut site);
        let after = told(&site);
        let day = "on 2026-06-01: reset";
        for text in [&after.page, &after.recap] {
            let commit = text
                .lines()
                .find(|line| line.contains("Redis cache for pages"));
            let given_up = format!("(given up {day}");
            assert!(
                commit.is_some_and(|line| line.contains(&given_up)),
                "{text}"
            );
            assert!(text.contains(&format!("(undone {day}")), "{text}");
            assert!(!text.contains("No push seen"), "{text}");
        }
        let commit = &after.shown["commits"][0]["what"];
        assert!(
            commit["given_up"]["operation"]
                .as_str()
                .unwrap()
                .starts_with("reset"),
            "{commit}"
        );
        assert_eq!(after.shown["next_steps"], serde_json::json!([]));
        assert!(after.shown["decisions"][0]["what"]["undone"].is_object());
        // the page is still found by its commits
        let hit = &site.ask("search redis --source session_summary")["hits"][0];
        assert_eq!(hit["commits"][0]["subject"], "Redis cache for pages");
    }
}
