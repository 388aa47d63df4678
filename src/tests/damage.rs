//! Random damage to the store's file: bits, pages, cuts, headers, the schema, the write-ahead log. Whatever
//! it is, every command ends and says in words what is wrong, a repair ends well, and after it the store is
//! the one that a cold run over the logs makes.
//!
//! `cargo test` breaks the store in fifty ways, the same ones every time; `make damage` in 2,000
//! (`DAMAGE_CASES`, from seed `DAMAGE_FIRST` on), and holds each against the time that a sound store takes.

use super::faults::Dice;
use super::world::{Desk, Ran};
use crate::cli::Exit;
use crate::store::{Access, Store};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Cases that every test run tries.
const CASES: u64 = 50;

/// Seeds of pages in another's place that once weren't mended: names of sessions for a group, an index of some
/// rows over an empty table, states of logs for texts.
const KNOWN: [u64; 3] = [1_599, 1_902, 1_978];

/// Commands that look at the store. `{session}` is one of it.
const COMMANDS: [&str; 9] = [
    "search token expiry",
    "sessions",
    "recap",
    "insights",
    "status",
    "stats",
    "show session-042",
    "store dump",
    "doctor",
];

/// One of so many.
fn of(dice: &mut Dice, many: usize) -> usize {
    dice.roll(many.max(1) as u64) as usize
}

/// The file and its write-ahead log as bytes.
#[derive(Clone)]
struct Files {
    store: Vec<u8>,
    log: Vec<u8>,
}

impl Files {
    fn page(&self) -> usize {
        usize::from(u16::from_be_bytes([self.store[16], self.store[17]]))
    }

    fn pages(&self) -> usize {
        self.store.len() / self.page()
    }

    fn flip(bytes: &mut [u8], dice: &mut Dice) {
        let at = of(dice, bytes.len());
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 1 << of(dice, 8);
        }
    }

    /// Breaks it; gives what was done, for people.
    fn break_it(&mut self, dice: &mut Dice) -> String {
        let times = 1 + of(dice, 8);
        match of(dice, 9) {
            0 => {
                (0..times).for_each(|_| Files::flip(&mut self.store, dice));
                format!("{times} {BITS}")
            }
            1 => self.fill_pages(dice),
            2 => self.misplace_pages(times, dice),
            3 => {
                let bytes = of(dice, self.store.len());
                self.store.truncate(bytes);
                format!("cut to {bytes} bytes")
            }
            4 => {
                // the last byte of the schema's version makes it a newer program's
                self.scribble(times, dice, |_, dice| {
                    [16 + of(dice, 44), 64 + of(dice, 36)][of(dice, 2)]
                });
                format!("{times} bytes of the header")
            }
            5 => {
                self.scribble(times, dice, |page, dice| 100 + of(dice, page - 100));
                format!("{times} bytes of the schema's page")
            }
            6 => {
                // where pages say what they are and where their rows begin
                let pages = self.pages();
                self.scribble(times, dice, |page, dice| {
                    (1 + of(dice, pages - 1)) * page + of(dice, 40)
                });
                format!("{times} bytes of pages' heads")
            }
            7 => {
                let many = 1 + of(dice, 40);
                for _ in 0..many {
                    let at = of(dice, self.store.len() / 512) * 512;
                    self.store[at..at + 512].fill(0);
                }
                format!("{many} sectors of zeros")
            }
            _ => {
                let cut = of(dice, 4) == 0;
                match cut {
                    true => self.log.truncate(of(dice, self.log.len())),
                    false => (0..times).for_each(|_| Files::flip(&mut self.log, dice)),
                }
                format!("{times} bits of the log, cut: {cut}")
            }
        }
    }

    /// Bytes where `place` says, given the size of a page.
    fn scribble(
        &mut self,
        times: usize,
        dice: &mut Dice,
        place: impl Fn(usize, &mut Dice) -> usize,
    ) {
        let page = self.page();
        for _ in 0..times {
            let at = place(page, dice);
            self.store[at] = of(dice, 256) as u8;
        }
    }

    fn fill_pages(&mut self, dice: &mut Dice) -> String {
        let (page, pages) = (self.page(), self.pages());
        let fill = [0x00, 0xff, 0xa5][of(dice, 3)];
        let many = 1 + of(dice, pages / 5);
        for _ in 0..many {
            let at = of(dice, pages) * page;
            self.store[at..at + page].fill(fill);
        }
        format!("{many} of {pages} pages filled with {fill:02x}")
    }

    /// Not the first: what is swapped with it is another program's file.
    fn misplace_pages(&mut self, times: usize, dice: &mut Dice) -> String {
        let (page, pages) = (self.page(), self.pages());
        for _ in 0..times {
            let (a, b) = (1 + of(dice, pages - 1), 1 + of(dice, pages - 1));
            let held = self.store[a * page..(a + 1) * page].to_vec();
            self.store.copy_within(b * page..(b + 1) * page, a * page);
            if of(dice, 2) == 0 {
                self.store[b * page..(b + 1) * page].copy_from_slice(&held);
            }
        }
        format!("{times} pages in another's place")
    }
}

/// How flipped bits are called: of all damage the only one that may be in a plain number or a name, where
/// nothing contradicts it.
const BITS: &str = "bits";

/// A home with logs, and the store that runs made of them.
struct Sound {
    desk: Desk,
    /// All in one file, and with a log beside it that was not folded in.
    files: [Files; 2],
    dump: String,
    /// What all commands take together.
    time: Duration,
}

impl Sound {
    fn new() -> Sound {
        let desk = Desk::enabled();
        let place = desk.path(".graphiti/sessionmill.db");
        let read = |end: &str| {
            let name = format!("{}{end}", place.display());
            fs::read(name).unwrap_or_default()
        };
        assert_eq!(desk.run("sessionmill backfill").exit, Exit::Done);
        let folded = Files {
            store: read(""),
            log: Vec::new(),
        };
        let mut sound = Sound {
            dump: told_by_logs(&desk.run("sessionmill store dump")),
            files: [folded.clone(), folded],
            time: Duration::ZERO,
            desk,
        };
        // somebody who reads keeps the log from being folded in
        let reader = Store::open(&place, Access::ReadOnly).unwrap();
        reader.status().unwrap();
        let again = sound.desk.run("sessionmill run --rebuild --all");
        assert_eq!(again.exit, Exit::Done, "{}", again.shown());
        sound.files[1] = Files {
            store: read(""),
            log: read("-wal"),
        };
        drop(reader);
        assert!(!sound.files[1].log.is_empty());
        let before = Instant::now();
        sound.look(Exit::Done);
        sound.time = before.elapsed();
        sound
    }

    fn store(&self) -> PathBuf {
        self.desk.path(".graphiti/sessionmill.db")
    }

    /// The store with these bytes, and nothing of an earlier case beside it.
    fn put(&self, files: &Files) {
        for entry in fs::read_dir(self.desk.path(".graphiti")).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.starts_with("sessionmill.db") {
                fs::remove_file(path).unwrap();
            }
        }
        let log = self.desk.path(".graphiti/sessionmill.db-wal");
        let places = [(self.store(), &files.store), (log, &files.log)];
        for (place, bytes) in places {
            fs::write(&place, bytes).unwrap();
            fs::set_permissions(&place, fs::Permissions::from_mode(0o600)).unwrap();
        }
    }

    /// Every command ends, in words; `wants`: with at most this.
    fn look(&self, wants: Exit) {
        for line in COMMANDS.iter().chain(&["run", "run --json"]) {
            let ran = self.desk.run(&format!("sessionmill {line}"));
            in_words(line, &ran);
            let is_well = ran.exit == Exit::Done || wants != Exit::Done;
            assert!(is_well, "{line}: {}", ran.shown());
        }
    }

    /// A bit that no check of the file sees: `doctor --deep` does where a log tells it, and its command mends it.
    fn is_mended_by_logs(&self, dump: &dyn Fn() -> String) {
        let is_seen = without_notes(&dump()) != without_notes(&self.dump);
        let deep = self.desk.run("sessionmill doctor --deep");
        let says = deep.stdout.contains("warning store-differs");
        let difference = difference(&self.dump, &dump());
        // it sees more than a dump shows: members of states that say nothing
        assert!(says || !is_seen, "{}\n{difference}", deep.shown());
        let mended = self.desk.run("sessionmill doctor --deep --repair");
        in_words("doctor --deep --repair", &mended);
        assert_eq!(mended.exit, Exit::Done, "{}", mended.shown());
        let run = self.desk.run("sessionmill run");
        assert_eq!(run.exit, Exit::Done, "{}", run.shown());
    }

    /// One case: broken, looked at, mended, looked at.
    fn holds(&self, seed: u64) {
        let mut dice = Dice(seed);
        let mut files = self.files[of(&mut dice, 2)].clone();
        let how = files.break_it(&mut dice);
        println!("{seed}: {how}");
        self.put(&files);
        self.look(Exit::Failed);
        let mended = self.desk.run("sessionmill doctor --repair");
        in_words("doctor --repair", &mended);
        assert_eq!(mended.exit, Exit::Done, "{}", mended.shown());
        self.look(Exit::Done);
        let run = self.desk.run("sessionmill run --json");
        assert_eq!(run.json()["files_read"], 0, "{}", run.shown());
        let dump = || told_by_logs(&self.desk.run("sessionmill store dump"));
        // where nothing contradicts a bit but the log, reading all logs again tells and mends it
        let is_bit = how.ends_with(BITS) && mended.stdout.starts_with("the store is intact");
        if is_bit {
            self.is_mended_by_logs(&dump);
        }
        let dump = dump();
        let is_same = match is_bit {
            true => without_notes(&dump) == without_notes(&self.dump),
            false => dump == self.dump,
        };
        assert!(
            is_same,
            "{}\n{}",
            mended.shown(),
            difference(&self.dump, &dump)
        );
    }
}

/// Of two texts the lines that only one has, the first ones.
pub(super) fn difference(a: &str, b: &str) -> String {
    let only = |a: &str, b: &str, mark: &str| -> Vec<String> {
        let has: BTreeSet<&str> = b.lines().collect();
        let lines = a.lines().filter(|line| !has.contains(line));
        lines.take(5).map(|line| format!("{mark} {line}")).collect()
    };
    [only(a, b, "-"), only(b, a, "+")].concat().join("\n")
}

/// The tables that hold what nobody but the store knows.
const OF_THE_STORE: [&str; 3] = ["# consent", "# redaction", "# switch"];

/// A dump without what no log tells.
fn told_by_logs(dump: &Ran) -> String {
    let mut is_told = true;
    let lines = dump.stdout.lines().filter(|line| {
        if line.starts_with("# ") {
            is_told = !OF_THE_STORE.contains(line);
        }
        is_told
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A dump without what the first run noted of a session besides its log: folders, the host, the log's name. No
/// log contradicts a bit there.
fn without_notes(dump: &str) -> String {
    let lines = dump.lines().map(|line| {
        let noted = line.find(" namespace=").zip(line.find(" standing="));
        match noted.filter(|(from, to)| from < to) {
            Some((from, to)) => format!("{}{}\n", &line[..from], &line[to..]),
            None => format!("{line}\n"),
        }
    });
    lines.collect()
}

/// What people read is ours: no value of a log, no word of a program, and the next command where it failed.
fn in_words(line: &str, ran: &Ran) {
    for word in [
        "panicked",
        "SqliteFailure",
        "FromSql",
        "Error {",
        "unwrap()",
    ] {
        assert!(!ran.stderr.contains(word), "{line}: {}", ran.shown());
    }
    if ran.exit == Exit::Failed && !line.starts_with("search") {
        let says = ran.stderr.contains("hint: ");
        assert!(says, "{line}: {}", ran.shown());
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn whatever_breaks_the_store_is_named_and_mended() {
    let sound = Sound::new();
    let asked = number("DAMAGE_CASES");
    let first = number("DAMAGE_FIRST").unwrap_or(0);
    let mut failed = Vec::new();
    let known = KNOWN.into_iter().filter(|_| asked.is_none());
    for seed in known.chain(first..first + asked.unwrap_or(CASES)) {
        let before = Instant::now();
        if catch_unwind(AssertUnwindSafe(|| sound.holds(seed))).is_err() {
            failed.push(seed);
        }
        let took = before.elapsed();
        // by the clock only where somebody waits for it: two looks and a repair
        if asked.is_some() && took > 20 * 3 * sound.time + Duration::from_secs(1) {
            failed.push(seed);
        }
    }
    assert!(failed.is_empty(), "DAMAGE_FIRST of {failed:?}");
}

/// What breaks one value of a packed column, and the table that `doctor` names.
const BAD_ROWS: [(&str, &str); 8] = [
    ("UPDATE body SET text = x'' WHERE episode = 2", "body"),
    (
        "UPDATE body SET text = CAST(substr(text, 1, 30) || x'ff' || substr(text, 32) AS BLOB)
      WHERE episode = (SELECT min(n) FROM episode WHERE source = 'session')",
        "body",
    ),
    (
        "UPDATE session SET facts = 'x' || facts WHERE n = 2",
        "session",
    ),
    (
        "UPDATE activity SET exchanges = replace(exchanges, 'line', 'lime') WHERE episode = 1",
        "activity",
    ),
    (
        "UPDATE fold SET carry = '{' || carry WHERE file = 1",
        "fold",
    ),
    (
        "UPDATE fold SET sealed = x'28b52ffd00' WHERE file = 2",
        "fold",
    ),
    (
        "UPDATE outline SET findings = substr(findings, 2) WHERE findings IS NOT NULL",
        "outline",
    ),
    (
        "UPDATE fold SET tail = CAST(x'ff' || tail AS TEXT) WHERE file = 3",
        "fold",
    ),
];

#[test]
fn one_bad_row_is_one_bad_row() {
    let sound = Sound::new();
    for (sql, table) in BAD_ROWS {
        let tamper = || {
            sound.put(&sound.files[0]);
            let store = Store::open(&sound.store(), Access::ReadWrite).unwrap();
            store.tamper(sql);
        };
        tamper();
        let mut warned = 0;
        for line in COMMANDS.iter().filter(|line| **line != "doctor") {
            let ran = sound.desk.run(&format!("sessionmill {line}"));
            assert_eq!(ran.exit, Exit::Done, "{sql}, {line}: {}", ran.shown());
            let left_out = "of the store were left out: sessionmill doctor --repair\n";
            let left_out = [left_out, &left_out.replace("were", "was")];
            warned += usize::from(left_out.iter().any(|told| ran.stderr.ends_with(told)));
        }
        assert!(warned > 0, "{sql}: nobody said it");
        let doctor = sound.desk.run("sessionmill doctor");
        assert_eq!(doctor.exit, Exit::Partial, "{sql}: {}", doctor.shown());
        let named = format!(
            "can't be read: {}",
            if table == "outline" { "" } else { "1 in " }
        );
        let is_named = doctor.stdout.contains(&named) && doctor.stdout.contains(table);
        assert!(is_named, "{}", doctor.shown());
        let mended = sound.desk.run("sessionmill doctor --repair");
        assert_eq!(mended.exit, Exit::Done, "{sql}: {}", mended.shown());
        let lost = mended.stdout.contains("lost: 0 episodes");
        assert!(lost, "{}", mended.shown());
        sound.look(Exit::Done);
        let dump = told_by_logs(&sound.desk.run("sessionmill store dump"));
        assert!(
            dump == sound.dump,
            "{sql}:\n{}",
            difference(&sound.dump, &dump)
        );
        tamper();
        let again = sound.desk.run("sessionmill run --rebuild --all");
        assert_eq!(again.exit, Exit::Done, "{sql}: {}", again.shown());
    }
}

#[test]
fn a_page_of_another_table_in_the_place_of_texts_is_no_text() {
    let sound = Sound::new();
    sound.put(&sound.files[0]);
    let store = Store::open(&sound.store(), Access::ReadWrite).unwrap();
    store.tamper("UPDATE body SET text = (SELECT key FROM file WHERE n = 1) WHERE episode = 1");
    store.tamper("UPDATE body SET text = '' WHERE episode = 2");
    drop(store);
    let doctor = sound.desk.run("sessionmill doctor");
    let said = "rows that can't be read: 1 in body";
    assert!(doctor.stdout.contains(said), "{}", doctor.shown());
    let mended = sound.desk.run("sessionmill doctor --repair");
    assert_eq!(mended.exit, Exit::Done, "{}", mended.shown());
    sound.look(Exit::Done);
    let dump = told_by_logs(&sound.desk.run("sessionmill store dump"));
    assert!(dump == sound.dump, "{}", difference(&sound.dump, &dump));
}
