//! Asking for kinds of work: filters, orders, means, and a user's own tables.

use super::world::Desk;
use crate::cli::Exit;
use serde_json::Value;

/// A desk with everything stored.
fn stored() -> Desk {
    let desk = Desk::enabled();
    let ran = desk.run("sessionmill backfill");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    desk
}

fn sessions(desk: &Desk, options: &str) -> Vec<Value> {
    let line = format!("sessionmill sessions --limit 0 {options} --json");
    let json = desk.run(&line).json();
    json["sessions"].as_array().expect("sessions").clone()
}

fn amount(of: &Value, dimension: &str) -> f64 {
    match of["activity"]["primary"].as_str() {
        Some("mixed") => 0.0,
        _ => of["activity"]["vector"][dimension]
            .as_f64()
            .expect("a number"),
    }
}

#[test]
fn sessions_are_asked_for_by_kind_of_work() {
    let desk = stored();
    let all = sessions(&desk, "");
    let fits = |row: &&Value| amount(row, "fixing") > 0.6 && amount(row, "configuring") < 0.5;
    let wants: Vec<&Value> = all.iter().filter(fits).collect();
    assert!(!wants.is_empty() && wants.len() < all.len());
    let found = sessions(&desk, "--activity fixing>0.6,configuring<0.5");
    assert_eq!(found.iter().collect::<Vec<_>>(), wants);
}

#[test]
fn sessions_are_sorted_by_kind_of_work_and_the_other_way_round() {
    let desk = stored();
    let of = |rows: &[Value], what: &dyn Fn(&Value) -> f64| rows.iter().map(what).collect();
    let fixing: Vec<f64> = of(&sessions(&desk, "--sort fixing"), &|s| amount(s, "fixing"));
    assert!(fixing.is_sorted_by(|a, b| a >= b), "{fixing:?}");
    let text = |s: &Value| s["body_bytes"].as_f64().expect("a number");
    let longest: Vec<f64> = of(&sessions(&desk, "--sort longest --reverse"), &text);
    assert!(longest.is_sorted(), "{longest:?}");
    let strength = |s: &Value| s["activity"]["strength"].as_f64().expect("a number");
    let strongest: Vec<f64> = of(&sessions(&desk, "--sort strength"), &strength);
    assert!(strongest.is_sorted_by(|a, b| a >= b), "{strongest:?}");
    // sessions without times stand last either way
    let (mut oldest, timeless): (Vec<Value>, Vec<Value>) = sessions(&desk, "")
        .into_iter()
        .partition(|session| !session["started"].is_null());
    oldest.reverse();
    oldest.extend(timeless);
    assert_eq!(sessions(&desk, "--sort oldest"), oldest);
}

#[test]
fn search_filters_by_kind_of_work_before_the_limit() {
    let desk = stored();
    let hits = |options: &str| {
        let line = format!("sessionmill search {options} --json");
        let json = desk.run(&line).json();
        json["hits"].as_array().expect("hits").clone()
    };
    let all = hits("--limit 99");
    let last = all
        .iter()
        .rposition(|hit| amount(hit, "configuring") > 0.9)
        .expect("such an episode");
    assert!(last > 0, "the limit would not matter");
    let wants = all.iter().find(|hit| amount(hit, "configuring") > 0.9);
    let found = hits("--activity configuring>0.9 --limit 1");
    assert_eq!(found.first(), wants);
    assert_eq!(found.len(), 1);
}

#[test]
fn an_unknown_dimension_is_refused_with_the_nearest_word() {
    let desk = Desk::new();
    for command in ["search", "sessions"] {
        let ran = desk.run(&format!("sessionmill {command} --activity fixng>0.6"));
        assert_eq!(ran.exit, Exit::Usage);
        let wants = "unknown dimension `fixng`; did you mean `fixing`?";
        assert!(ran.stderr.contains(wants), "{}", ran.shown());
    }
}

#[test]
fn weeks_and_projects_account_for_every_session() {
    let desk = stored();
    let json = desk.run("sessionmill stats --activity --json").json();
    let sessions = sessions(&desk, "").len() as u64;
    for group in ["weeks", "projects"] {
        let rows = json[group].as_array().expect("rows").iter();
        let counts = rows.map(|row| row["sessions"].as_u64().expect("a number"));
        assert_eq!(counts.sum::<u64>(), sessions, "{group}");
    }
}

#[test]
fn the_settings_decide_what_is_too_weak_and_what_is_said_by_hand() {
    let desk = stored();
    desk.write(
        ".graphiti/graphiti.config.json",
        r#"{"session_tracking": {"enabled": true}, "score": {"min_strength": 9}}"#,
    );
    let primary = |row: &Value| row["activity"]["primary"].as_str().map(str::to_owned);
    let all: Vec<_> = sessions(&desk, "").iter().map(primary).collect();
    assert!(all.iter().all(|p| p.as_deref() == Some("mixed")), "{all:?}");
    desk.write(
        ".graphiti/graphiti.config.json",
        r#"{"session_tracking": {"enabled": true, "summarization":
            {"type_detection": "manual", "activity_vector": {"reviewing": 0.7}}}}"#,
    );
    for row in sessions(&desk, "") {
        assert_eq!(row["activity"]["vector"]["reviewing"], 0.7);
        assert_eq!(row["activity"]["profile"], "reviewing (0.7)");
    }
}

#[test]
fn a_users_tables_say_what_the_embedded_ones_do_not() {
    let desk = Desk::enabled();
    desk.write(".graphiti/rules/keywords.yaml", "documenting: [users]\n");
    let ran = desk.run("sessionmill backfill --json").json();
    assert_ne!(ran["bytes_read"], 0);
    let documenting = |desk: &Desk| {
        let rows = sessions(desk, "--sort documenting");
        amount(&rows[0], "documenting")
    };
    assert!(documenting(&desk) > 0.0);
    // keywords decide what is counted: those made otherwise are told, and made again on demand
    desk.write(".graphiti/rules/keywords.yaml", "# none\n");
    let status = desk.run("sessionmill status").stdout;
    assert!(status.contains("--rebuild"), "{status}");
    desk.run("sessionmill backfill --rebuild");
    assert_eq!(documenting(&desk), 0.0);
    // tools decide what the counts say: at once
    let tools = "- {names: [Read], intent: read, domain: documentation, signals: {documenting: 1}}";
    desk.write(".graphiti/rules/tools.yaml", tools);
    assert!(documenting(&desk) > 0.0);
}

#[test]
fn a_mistake_in_a_users_table_is_named_with_its_line() {
    let desk = Desk::enabled();
    desk.write(
        ".graphiti/rules/commands.yaml",
        "test: [acme try]\ndeply: [acme ship]\n",
    );
    for command in ["run", "sessions", "plan"] {
        let ran = desk.run(&format!("sessionmill {command}"));
        assert_eq!(ran.exit, Exit::Usage, "{}", ran.shown());
        let wants = "rules/commands.yaml:2: there is no class `deply`";
        assert!(ran.stderr.contains(wants), "{}", ran.shown());
    }
}

#[test]
fn a_session_is_told_by_segment_and_by_exchange() {
    let desk = stored();
    let (mut several_segments, mut several_exchanges) = (0, 0);
    for session in sessions(&desk, "") {
        let id = session["id"].as_str().expect("an id");
        let shown = desk.run(&format!("sessionmill show {id} --json")).json();
        let list = |of: &Value, name: &str| of[name].as_array().expect("a list").clone();
        let (episodes, segments) = (list(&shown, "episodes"), list(&shown, "segments"));
        let mut ids: Vec<Value> = episodes.iter().map(|e| e["id"].clone()).collect();
        let mut in_segments: Vec<Value> =
            segments.iter().flat_map(|s| list(s, "episodes")).collect();
        ids.sort_by_key(Value::to_string);
        in_segments.sort_by_key(Value::to_string);
        assert_eq!(ids, in_segments, "each episode is in one segment");
        several_segments += usize::from(segments.len() > 1);
        for episode in episodes {
            let exchanges = list(&episode, "exchanges");
            let lines: Vec<u64> = exchanges
                .iter()
                .filter_map(|e| e["line"].as_u64())
                .collect();
            let within = episode["lines"][0].as_u64()..=episode["lines"][1].as_u64();
            assert_eq!(lines.first().copied(), episode["lines"][0].as_u64());
            assert!(lines.iter().all(|line| within.contains(&Some(*line))));
            assert!(lines.is_sorted(), "{lines:?}");
            let strength = |of: &Value| of["activity"]["strength"].as_f64().expect("a number");
            let alone = exchanges.iter().map(strength).fold(0.0, f64::max);
            assert!(alone > 0.0 || strength(&episode) == 0.0, "{episode}");
            several_exchanges += usize::from(exchanges.len() > 1);
        }
    }
    assert!(several_segments > 0 && several_exchanges > 0);
}
