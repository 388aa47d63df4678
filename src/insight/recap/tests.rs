//! Recaps as they are read.

use super::work::result_of;
use super::*;
use crate::model::summary::{ChangedFile, SessionOutcome, Summary, sourced};

pub(super) fn session(
    id: &str,
    project: &str,
    objective: &str,
    outcome: SessionOutcome,
) -> RecapSession {
    RecapSession {
        id: id.into(),
        title: None,
        parent: None,
        namespace: project.into(),
        project_path: Some(format!("/src/{project}")),
        ended: None,
        began: BTreeMap::new(),
        summary: Summary {
            objective: Some(sourced(1, objective.into())),
            outcome: Some(outcome),
            ..Summary::default()
        },
    }
}

fn changes(mut session: RecapSession, path: &str) -> RecapSession {
    session.summary.files_modified = vec![sourced(
        3,
        ChangedFile {
            path: path.into(),
            added: 4,
            removed: 1,
            edits: 2,
            ..ChangedFile::default()
        },
    )];
    session
}

fn leaves(mut session: RecapSession, step: &str) -> RecapSession {
    session.summary.next_steps = vec![sourced(9, step.into())];
    session
}

fn comes_to(mut session: RecapSession, result: &str) -> RecapSession {
    session.summary.result = Some(sourced(8, result.into()));
    session
}

fn told(sessions: Vec<RecapSession>) -> String {
    markdown(&recap(sessions, &[], Time(0)), "this week", |id| {
        id[..2].to_owned()
    })
}

#[test]
fn projects_tell_what_is_open_first_and_what_their_sessions_came_to() {
    use SessionOutcome::{Completed, InProgress};
    let fixed = session("aaaa", "shop", "Fix the cart.", Completed);
    let fixed = changes(fixed, "a.rs");
    let fixed = comes_to(
        fixed,
        "All done!\n\nThe **discount** counts once now. I ran it.",
    );
    let open = session("bbbb", "shop", "Ship the release.", InProgress);
    let open = leaves(comes_to(open, "Let me look at the tags now."), "Tag it");
    let silent = RecapSession {
        summary: Summary::default(),
        ..session("dddd", "shop", "", Completed)
    };
    let text = told(vec![
        session("cccc", "notes", "Write them down.", InProgress),
        fixed,
        open,
        silent,
    ]);
    let wants = "# Recap: this week\n\n4 sessions: 1 completed, 2 in progress, 1 without a known outcome.\n\n\
        ## shop\n\n### Left open\n- Tag it [bb:9]\n\n\
        ### Worked on\n- Ship the release. (in progress) [bb]\n\
        - Fix the cart. → The discount counts once now. (completed, 1 file) [aa]\n\n\
        ## notes\n\n### Worked on\n- Write them down. (in progress) [cc]\n";
    assert_eq!(text, wants);
}

#[test]
fn nothing_is_in_progress_in_a_log_that_is_quiet_for_a_day() {
    use SessionOutcome::{Completed, InProgress};
    const DAY: i64 = 86_400_000;
    let ended = |id: &str, outcome, at| RecapSession {
        ended: Some(Time(at)),
        ..session(id, "shop", "Fix the cart", outcome)
    };
    let all = vec![
        ended("aaaa", InProgress, 9 * DAY),
        ended("bbbb", InProgress, 3 * DAY),
        ended("cccc", Completed, 2 * DAY),
    ];
    let shown = |id: &str| id[..2].to_owned();
    let text = markdown(&recap(all, &[], Time(9 * DAY + 7)), "this week", shown);
    let ends = "1 completed, 1 in progress, 1 unfinished";
    assert!(text.contains(&format!("3 sessions: {ends}.\n")), "{text}");
    let line = format!("- Fix the cart (3 sessions, {ends}) [aa, bb, cc]\n");
    assert!(text.contains(&line), "{text}");
    let old = vec![ended("bbbb", InProgress, 3 * DAY)];
    let recap = recap(old, &[], Time(9 * DAY));
    assert_eq!(recap.outcomes["in_progress"], 1, "the stored word stays");
    let text = markdown(&recap, "this week", shown);
    assert!(
        text.contains("- Fix the cart (unfinished) [bb]\n"),
        "{text}"
    );
}

#[test]
fn what_repeats_is_one_line() {
    use SessionOutcome::{Completed, InProgress};
    let mut all = vec![
        changes(session("aaaa", "shop", "Fix the cart", Completed), "a.rs"),
        changes(
            session("bbbb", "shop", "fix the  cart.", InProgress),
            "a.rs",
        ),
        session("cccc", "shop", "Review change 4 of ada/shop", Completed),
        session("dddd", "shop", "Review change 7 of ada/shop", Completed),
    ];
    let text = told(all.clone());
    let fix = "- Fix the cart (2 sessions, 1 completed, 1 in progress, 1 file) [aa, bb]\n";
    assert!(text.contains(fix), "{text}");
    assert!(text.contains("Review change 4") && text.contains("Review change 7"));

    all.push(session(
        "eeee",
        "shop",
        "Review change 9 of bob/shop",
        InProgress,
    ));
    all.push(session(
        "ffff",
        "shop",
        "Review change 10 of bob/shop",
        Completed,
    ));
    for (id, pr) in [("gggg", 1), ("hhhh", 2), ("iiii", 3)] {
        let run = session(id, "shop", &format!("/check --pr {pr}"), Completed);
        all.push(comes_to(run, "The change is fine as it is."));
    }
    let text = told(all);
    let check = "- /check (3 sessions, 3 completed) [gg, hh, ii]\n";
    assert!(text.contains(check), "{text}");
    let review = "- Review change 4 of ada/shop (4 sessions, 3 completed, 1 in progress) \
        [cc, dd, ee and 1 more]\n";
    assert!(text.contains(review), "{text}");
}

#[test]
fn sessions_that_a_session_started_are_its_own() {
    use SessionOutcome::Completed;
    let started = |id: &str, parent: &str| {
        let work = session(id, "shop", &format!("Task of {id}"), Completed);
        let work = leaves(changes(work, id), "Report to the parent");
        RecapSession {
            parent: Some(parent.into()),
            ..work
        }
    };
    let text = told(vec![
        started("cccc", "bbbb"),
        started("bbbb", "aaaa"),
        session("aaaa", "shop", "Fix the cart", Completed),
    ]);
    let wants = "- Fix the cart (3 sessions, completed, 2 files) [aa, bb, cc]\n";
    assert!(text.contains(wants), "{text}");
    assert!(
        !text.contains("Task of") && !text.contains("Report"),
        "{text}"
    );
}

#[test]
fn idle_lines_are_left_out() {
    use SessionOutcome::Completed;
    let bare = |id: &str, words: &str| session(id, "shop", words, Completed);
    let titled = RecapSession {
        title: Some("Discounts of the cart".into()),
        ..bare("dddd", "yes please")
    };
    let text = told(vec![
        bare("aaaa", "/clear"),
        bare("bbbb", "yes"),
        changes(bare("cccc", "ok, go ahead"), "src/a.rs"),
        titled,
    ]);
    let wants = "### Worked on\n- (changed src/a.rs) (completed, 1 file) [cc]\n\
        - Discounts of the cart (completed) [dd]\n";
    assert!(text.ends_with(wants), "{text}");
}

#[test]
fn results_that_ask_or_say_nothing_are_left_out() {
    for (result, wants) in [
        ("Done.", None),
        ("Shall I push the two commits now?", None),
        ("Fix the empty cart", None),
        (
            "All good. The cart counted twice. More.",
            Some("The cart counted twice."),
        ),
        (
            "What changed:\n- Carts [count](src/a.rs#L7) once [sic].\n- More",
            Some("Carts count once [sic]."),
        ),
    ] {
        let found = result_of(result, "fix the empty cart");
        assert_eq!(found.as_deref(), wants, "{result}");
    }
}

#[test]
fn a_long_section_ends_with_a_count() {
    let sessions = (0..20).map(|n| {
        let words = format!("x{} the cart", "y".repeat(n));
        session(&format!("{n:04}"), "p", &words, SessionOutcome::Blocked)
    });
    let text = told(sessions.collect());
    assert_eq!(text.matches("(blocked)").count(), 15);
    assert!(text.contains("- … and 5 more\n"), "{text}");
}
