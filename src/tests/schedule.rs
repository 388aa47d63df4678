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
            .starts_with("sessionmill: `crontab -l` failed: permission denied\n"),
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
