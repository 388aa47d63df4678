//! `schedule` against a machine whose `systemctl` and `crontab` are scripts, and the units against
//! the real `systemd-analyze` where there is one.

use super::world::Desk;
use crate::cli::Exit;
use crate::host::process;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A `crontab` that keeps its table in a file, says what the real one says, and notes nothing else.
const CRONTAB: &str = r#"table="$HOME/table"
PATH=/usr/bin:/bin
case "$1" in
    -l) if [ -f "$table" ]; then cat "$table"; else echo "no crontab for you" >&2; exit 1; fi ;;
    -) cat > "$table" ;;
esac"#;

/// A `systemctl` that notes what it was asked.
const SYSTEMCTL: &str = r#"echo "$*" >> "$HOME/asked"
case "$2" in show) echo "ActiveState=active"; echo "NextElapseUSecRealtime=Mon 2026-06-01 12:15:00 UTC" ;; esac"#;

/// One without a user manager.
const NO_MANAGER: &str = "echo 'Failed to connect to bus' >&2; exit 1";

const UNITS: &str = ".config/systemd/user";

fn read(desk: &Desk, below: &str) -> String {
    fs::read_to_string(desk.path(below)).unwrap_or_default()
}

#[test]
fn systemd_gets_two_units_and_an_enabled_timer() {
    let desk = Desk::new();
    desk.program("systemctl", SYSTEMCTL);
    let ran = desk.run("sessionmill schedule install --every 30m");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    let timer = read(&desk, &format!("{UNITS}/sessionmill.timer"));
    assert!(timer.contains("\nOnCalendar=*:0/30\n"), "{timer}");
    let service = read(&desk, &format!("{UNITS}/sessionmill.service"));
    assert!(service.contains("\nExecStart=/usr/local/bin/sessionmill run nightly --quiet\n"));
    assert!(service.contains("\nReadWritePaths=%h/.graphiti\n"));
    assert!(service.contains("\nSuccessExitStatus=75\n"));
    let asked = "--user show-environment\n--user daemon-reload\n--user enable sessionmill.timer\n\
                 --user restart sessionmill.timer\n";
    assert_eq!(read(&desk, "asked"), asked);
    assert!(
        desk.path(".graphiti").is_dir(),
        "the only writable folder has to exist"
    );
}

#[test]
fn what_was_installed_is_shown_and_removed_and_nothing_else() {
    let desk = Desk::new();
    desk.program("systemctl", SYSTEMCTL);
    desk.write(&format!("{UNITS}/backup.timer"), "mine\n");
    desk.run("sessionmill schedule install");
    let shown = desk.run("sessionmill schedule show").stdout;
    assert!(
        shown.starts_with("timer: active, next run Mon 2026-06-01 12:15:00 UTC\n"),
        "{shown}"
    );
    assert!(shown.contains("--- ~/.config/systemd/user/sessionmill.service\n"));
    let removed = desk.run("sessionmill schedule remove");
    assert_eq!(
        removed.stdout,
        "removed ~/.config/systemd/user/sessionmill.service\n\
         removed ~/.config/systemd/user/sessionmill.timer\n"
    );
    let left: Vec<_> = fs::read_dir(desk.path(UNITS))
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(left, ["backup.timer"]);
    assert!(
        read(&desk, "asked")
            .ends_with("--user disable --now sessionmill.timer\n--user daemon-reload\n")
    );
    assert_eq!(
        desk.run("sessionmill schedule show").stdout,
        "no timer is installed\n"
    );
}

#[test]
fn a_unit_that_somebody_else_wrote_is_left_alone() {
    let desk = Desk::new();
    desk.program("systemctl", SYSTEMCTL);
    desk.write(
        &format!("{UNITS}/sessionmill.service"),
        "[Service]\nExecStart=/mine\n",
    );
    let ran = desk.run("sessionmill schedule install");
    assert_eq!(ran.exit, Exit::Usage, "{}", ran.shown());
    desk.run("sessionmill schedule remove");
    assert!(read(&desk, &format!("{UNITS}/sessionmill.service")).contains("/mine"));
}

#[test]
fn without_a_user_manager_cron_gets_one_block_among_the_others_lines() {
    let desk = Desk::new();
    desk.program("systemctl", NO_MANAGER);
    desk.program("crontab", CRONTAB);
    desk.write("table", "0 1 * * * backup");
    for every in ["15m", "1h"] {
        let ran = desk.run(&format!("sessionmill schedule install --every {every}"));
        assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    }
    assert_eq!(
        read(&desk, "table"),
        "0 1 * * * backup\n# sessionmill: begin\n\
         0 * * * * nice -n 19 /usr/local/bin/sessionmill run nightly --quiet\n# sessionmill: end\n"
    );
    assert!(!desk.path(UNITS).exists());
    assert!(
        desk.run("sessionmill schedule show")
            .stdout
            .contains("--- crontab\n")
    );
    desk.run("sessionmill schedule remove");
    assert_eq!(read(&desk, "table"), "0 1 * * * backup\n");
}

#[test]
fn a_crontab_that_cannot_be_read_is_not_overwritten() {
    let desk = Desk::new();
    desk.program(
        "crontab",
        "echo \"$*\" >> \"$HOME/asked\"; echo 'permission denied' >&2; exit 1",
    );
    let ran = desk.run("sessionmill schedule install --cron");
    assert_eq!(ran.exit, Exit::Failed);
    assert!(
        ran.stderr
            .starts_with("error: `crontab -l` failed: permission denied\n"),
        "{}",
        ran.stderr
    );
    assert_eq!(read(&desk, "asked"), "-l\n");
}

#[test]
fn changing_the_mind_leaves_one_timer() {
    let desk = Desk::new();
    desk.program("systemctl", SYSTEMCTL);
    desk.program("crontab", CRONTAB);
    desk.run("sessionmill schedule install --cron");
    desk.run("sessionmill schedule install --systemd");
    assert_eq!(read(&desk, "table"), "");
    desk.run("sessionmill schedule install --cron");
    assert!(!desk.path(&format!("{UNITS}/sessionmill.timer")).exists());
}

#[test]
fn times_of_the_week_are_said_to_each_timer() {
    let desk = Desk::new();
    desk.program("systemctl", SYSTEMCTL);
    desk.program("crontab", CRONTAB);
    let line = "sessionmill schedule install --calendar 'monday..fri 09:00,17:30'";
    let ran = desk.run(line);
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    assert!(
        ran.stdout.starts_with("Mon..Fri 09:00,17:30: "),
        "{}",
        ran.stdout
    );
    let timer = read(&desk, &format!("{UNITS}/sessionmill.timer"));
    assert!(
        timer.contains(
            "\nOnCalendar=Mon,Tue,Wed,Thu,Fri *-*-* 09:00\n\
             OnCalendar=Mon,Tue,Wed,Thu,Fri *-*-* 17:30\n"
        ) && timer.contains("\nPersistent=true\n"),
        "{timer}"
    );
    desk.run(&format!("{line} --cron"));
    assert_eq!(
        read(&desk, "table"),
        "# sessionmill: begin\n# when: Mon..Fri 09:00,17:30\n\
         0 9 * * 1,2,3,4,5 nice -n 19 /usr/local/bin/sessionmill run nightly --quiet\n\
         30 17 * * 1,2,3,4,5 nice -n 19 /usr/local/bin/sessionmill run nightly --quiet\n\
         # sessionmill: end\n"
    );
    let refused = desk.run("sessionmill schedule install --calendar 'Mon 25:00'");
    assert_eq!(refused.exit, Exit::Usage);
    assert!(
        refused.stderr.contains("'Mon..Fri 09:00'"),
        "{}",
        refused.stderr
    );
}

/// A `launchctl` that notes what it was asked.
const LAUNCHCTL: &str = r#"echo "$*" >> "$HOME/asked""#;
const AGENT: &str = "Library/LaunchAgents/sessionmill.plist";

#[test]
fn launchd_gets_an_agent_that_another_program_can_read() {
    let mut desk = Desk::new();
    desk.program("launchctl", LAUNCHCTL);
    desk.vars
        .insert("SESSIONMILL_HOME".into(), "/srv/my <mill> & co".into());
    let ran = desk.run("sessionmill schedule install --dry-run --calendar 'Sat,Sun 10:00'");
    assert!(
        ran.stdout.contains("<key>StartCalendarInterval</key>"),
        "{}",
        ran.shown()
    );
    assert!(!desk.path(AGENT).exists());
    desk.vars.remove("SESSIONMILL_HOME");
    let ran = desk.run("sessionmill schedule install --every 30m");
    assert_eq!(ran.exit, Exit::Done, "{}", ran.shown());
    let asked = read(&desk, "asked");
    assert!(
        asked.contains("bootout gui/") && asked.contains("bootstrap gui/"),
        "{asked}"
    );
    let shown = desk.run("sessionmill schedule status").stdout;
    assert!(
        shown.starts_with("timer: launchd, every 30m, run nightly\n"),
        "{shown}"
    );
    let removed = desk.run("sessionmill schedule remove").stdout;
    assert_eq!(removed, format!("removed ~/{AGENT}\n"));
    assert!(!desk.path(AGENT).exists());
}

#[test]
fn pythons_plistlib_reads_the_agent() {
    let real = "/usr/bin:/bin:/usr/local/bin";
    let Some(python) = process::find("python3", real) else {
        eprintln!("there is no python3 here: the launchd agent was not parsed");
        return;
    };
    let mut desk = Desk::new();
    desk.program("launchctl", LAUNCHCTL);
    desk.vars
        .insert("CODEX_HOME".into(), "/srv/my <codex> & co".into());
    desk.run("sessionmill schedule install --calendar 'Sat,Sun 10:00'");
    let program = "import json, plistlib, sys\n\
                   print(json.dumps(plistlib.load(open(sys.argv[1], 'rb')), sort_keys=True))";
    let agent = desk.path(AGENT);
    let args = ["-c", program, path(&agent)];
    let vars = BTreeMap::from([("PATH".to_owned(), real.to_owned())]);
    let ended = process::run(path(&python), &args, "", &vars).unwrap();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let parsed: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(
        parsed["ProgramArguments"],
        serde_json::json!(["/usr/local/bin/sessionmill", "run", "nightly", "--quiet"])
    );
    assert_eq!(
        parsed["EnvironmentVariables"]["CODEX_HOME"],
        "/srv/my <codex> & co"
    );
    assert_eq!(
        parsed["StartCalendarInterval"],
        serde_json::json!([
            {"Hour": 10, "Minute": 0, "Weekday": 6},
            {"Hour": 10, "Minute": 0, "Weekday": 0}
        ])
    );
    assert_eq!(parsed["Umask"], 0o077);
}

#[test]
fn an_agent_that_somebody_else_wrote_is_left_alone() {
    let desk = Desk::new();
    desk.program("launchctl", LAUNCHCTL);
    desk.write(AGENT, "<plist/>");
    assert_eq!(desk.run("sessionmill schedule install").exit, Exit::Usage);
    desk.run("sessionmill schedule remove");
    assert_eq!(read(&desk, AGENT), "<plist/>");
}

#[test]
fn status_tells_the_last_the_next_and_the_failed_runs() {
    let desk = Desk::enabled();
    desk.program("crontab", CRONTAB);
    desk.program("systemctl", NO_MANAGER);
    let before = desk.run("sessionmill schedule status");
    assert_eq!(
        before.stdout,
        "timer: none is installed\nlast run: never\nfailed runs: none\n"
    );
    desk.run("sessionmill schedule install --calendar '07:30'");
    desk.run("sessionmill run --quiet");
    desk.write(
        ".graphiti/logs/sessionmill-2000-01-01.log",
        "2000-01-01T07:30:00+00:00 run nightly: failed: the disk is full\n\
         2000-01-01T07:31:00+00:00 run other: failed: not ours\n",
    );
    let after = desk.run("sessionmill schedule status").stdout;
    let lines: Vec<&str> = after.lines().collect();
    assert_eq!(lines[0], "timer: cron, 07:30, run nightly");
    assert!(lines[1].starts_with("last run: "), "{after}");
    assert!(
        lines[2].starts_with("next run: ") && lines[2].ends_with("07:30"),
        "{after}"
    );
    assert_eq!(lines[3], "failed runs: 1 (none since the last run)");
    assert!(lines[4].ends_with("the disk is full"), "{after}");
    let json = desk.run("sessionmill schedule status --json").json();
    assert_eq!(json["failed"].as_array().map(Vec::len), Some(1));
    assert_eq!(json["when"], "07:30");
}

#[test]
fn a_dry_run_writes_nothing() {
    let desk = Desk::new();
    desk.program("systemctl", SYSTEMCTL);
    let ran = desk.run("sessionmill schedule install --dry-run --systemd");
    assert!(
        ran.stdout.contains("\nOnCalendar=*:0/15\n"),
        "{}",
        ran.shown()
    );
    for below in [UNITS, ".graphiti", "asked"] {
        assert!(!desk.path(below).exists(), "{below}");
    }
}

#[test]
fn places_that_the_shell_knows_are_written_down_for_the_timer() {
    let mut desk = Desk::new();
    desk.vars.insert("CODEX_HOME".into(), "/srv/codex".into());
    desk.vars
        .insert("SESSIONMILL_HOME".into(), "/srv/my mill".into());
    let ran = desk.run("sessionmill schedule install --dry-run --systemd");
    assert!(ran.stdout.contains(
        "\nEnvironment=\"SESSIONMILL_HOME=/srv/my mill\"\nEnvironment=CODEX_HOME=/srv/codex\n"
    ));
    assert!(
        ran.stdout.contains("\nReadWritePaths=\"/srv/my mill\"\n"),
        "{}",
        ran.stdout
    );
}

#[test]
fn systemd_itself_finds_nothing_wrong() {
    let real = "/usr/bin:/bin:/usr/local/bin";
    if process::find("systemd-analyze", real).is_none() {
        eprintln!("there is no systemd-analyze here: the units were not verified");
        return;
    }
    let desk = Desk::new();
    desk.program("systemctl", SYSTEMCTL);
    desk.run("sessionmill schedule install");
    let units = desk.path(UNITS);
    // The program has to exist for systemd to be content.
    let service = units.join("sessionmill.service");
    let text = fs::read_to_string(&service).unwrap();
    fs::write(
        &service,
        text.replace("/usr/local/bin/sessionmill", "/bin/true"),
    )
    .unwrap();
    fs::create_dir(desk.path("run")).unwrap();
    let vars = BTreeMap::from([
        ("PATH".to_owned(), real.to_owned()),
        (
            "HOME".to_owned(),
            desk.path("").to_string_lossy().into_owned(),
        ),
        (
            "XDG_RUNTIME_DIR".to_owned(),
            desk.path("run").to_string_lossy().into_owned(),
        ),
    ]);
    for unit in ["sessionmill.service", "sessionmill.timer"] {
        let file = units.join(unit);
        let args = ["--user", "verify", path(&file)];
        let ended = process::run("systemd-analyze", &args, "", &vars).unwrap();
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{unit}");
    }
}

fn path(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}
