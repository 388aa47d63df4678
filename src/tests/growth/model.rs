//! What runs saw, naively, and the laws that a store has to keep (architecture § 6, "Change classes").
//!
//! Knows which records stand in whole lines of which log at which run.

use super::disk::Disk;
use super::lines::{called, markers, record};
use super::log::{Log, lines};
use super::script::{Class, Script};
use crate::store::{Access, Found, SessionRow};
use crate::tests::home::Home;
use anyhow::{Result, ensure};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Bytes that a fingerprint covers: what is changed between two of them in a log that also grows
/// is seen by `doctor --deep` only.
const PRINT: usize = 4_096;

/// Everything that runs saw so far.
#[derive(Default)]
pub struct Model {
    /// By record.
    records: BTreeMap<String, Record>,
    /// The record that a marker belongs to.
    owners: BTreeMap<String, String>,
    /// By place: the log there, as the last run left it.
    logs: BTreeMap<String, Left>,
    /// Where each of the disk's logs was, and in which file.
    places: BTreeMap<usize, (String, u64)>,
    sealed: BTreeMap<String, String>,
    /// A queue holds more than its log shows, so that one behind may stay in it instead: a prompt
    /// that was edited waits once more ("Edits of records without ids", docs/integrity.md), one that
    /// waited when its log was rewritten still does.
    queues_shifted: bool,
    /// What each line that removes a prompt from the queue took, in all logs that runs saw it in.
    taken: BTreeMap<String, BTreeSet<Option<String>>>,
    /// Ids of calls whose results a run saw without them.
    results_alone: BTreeSet<String>,
    /// Of all that happened.
    class: Option<Class>,
}

/// A log as a run left it.
#[derive(Default)]
struct Left {
    /// What was there.
    content: Vec<u8>,
    /// What of it runs could see: not what was changed between both fingerprints while the log grew.
    seen: Vec<u8>,
    /// Once, records were not only added or edited.
    reordered: bool,
}

/// Where a log is now.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moved {
    No,
    /// As the file that it was, or under the name that it had.
    Whole,
    /// To another name, and written anew: nobody can tell it from another log of its session.
    ToAnotherFile,
}

/// What a run sees of a log.
struct Sight {
    /// Which of the disk's.
    log: usize,
    lines: Vec<String>,
    /// The records that were there are, and nothing is hidden: the last words are to be stored.
    exact: bool,
    /// Nothing but lines at its end came since the last run.
    grown: bool,
}

/// One record.
#[derive(Debug, Default)]
struct Record {
    /// All words that it ever had.
    words: BTreeSet<String>,
    /// The last ones, where they have to be what is stored.
    latest: Option<String>,
    /// Has to be stored.
    seen: bool,
    /// Logs in which a run saw it while its words were not told yet.
    half: BTreeSet<usize>,
    /// And then told, but in another log or in one that had not merely grown: its words may never
    /// be stored (docs/integrity.md, "Words of calls without an end").
    known_alone: bool,
}

impl Model {
    /// A run comes by.
    pub fn see(&mut self, disk: &Disk<'_>, class: Class) {
        self.class = Some(class);
        let logs = disk.logs.iter().enumerate().filter(|(_, log)| log.exists);
        let sights: Vec<Sight> = logs
            .map(|(n, log)| self.look(n, log, disk.inode(n)))
            .collect();
        for lines in sights.iter().map(|sight| &sight.lines) {
            self.results_alone.extend(results_alone(lines));
            for (remove, nth) in removals(lines) {
                let taken = self.taken.entry(lines[remove].clone()).or_default();
                taken.insert(nth.and_then(|nth| record(&lines[nth])));
            }
        }
        for sight in sights.iter().filter(|_| class == Class::Rewrites) {
            self.note_what_is_not_told(sight);
        }
        for sight in &sights {
            self.see_log(sight);
        }
    }

    /// What a run sees of one of the logs.
    fn look(&mut self, n: usize, log: &Log, inode: u64) -> Sight {
        let moved = self.follow(n, log, inode);
        let before = self.logs.remove(&log.below).unwrap_or_default();
        let now = before.then(&log.content, moved);
        let sight = Sight {
            log: n,
            lines: lines(&now.seen),
            exact: !now.reordered && now.seen == now.content,
            grown: moved != Moved::ToAnotherFile && now.seen.starts_with(&before.seen),
        };
        self.queues_shifted |= !sight.grown && is_anyone_waiting(&lines(&before.seen));
        self.logs.insert(log.below.clone(), now);
        sight
    }

    /// A log that moved takes along what is known of it.
    fn follow(&mut self, n: usize, log: &Log, inode: u64) -> Moved {
        let Some((was, file)) = self.places.insert(n, (log.below.clone(), inode)) else {
            return Moved::No;
        };
        if was == log.below {
            return Moved::No;
        }
        if let Some(left) = self.logs.remove(&was) {
            self.logs.insert(log.below.clone(), left);
        }
        let name = |below: &str| below.rsplit('/').next().map(str::to_owned);
        match file == inode || name(&was) == name(&log.below) {
            true => Moved::Whole,
            false => Moved::ToAnotherFile,
        }
    }

    /// Before anything is seen: which of the logs that a run meets together is read first, and so
    /// has a record, is not the model's to say.
    fn note_what_is_not_told(&mut self, sight: &Sight) {
        for (nth, line) in sight.lines.iter().enumerate() {
            for marker in markers(line) {
                if !self.is_told(marker, nth, &sight.lines) {
                    let known = self.records.entry(self.key(line, marker)).or_default();
                    known.half.insert(sight.log);
                }
            }
        }
    }

    /// The words of a call are told with its result, those of a queued prompt where it is removed:
    /// by lines that no run saw without them.
    fn is_told(&self, marker: &str, nth: usize, lines: &[String]) -> bool {
        match &marker[..2] {
            "m-" => true,
            "q-" => {
                let mut removals = removals(lines).into_iter();
                let remove = removals.find(|(_, taken)| *taken == Some(nth));
                remove.is_some_and(|(remove, _)| self.taken[&lines[remove]].len() == 1)
            }
            _ => !self.results_alone.contains(marker) && is_answered(marker, nth, lines),
        }
    }

    /// The record that a line's marker belongs to.
    fn key(&self, line: &str, marker: &str) -> String {
        let key = record(line).or_else(|| self.owners.get(marker).cloned());
        key.unwrap_or_else(|| marker.to_owned())
    }

    fn see_log(&mut self, sight: &Sight) {
        let lines = &sight.lines;
        let mut met = BTreeSet::new(); // of a record told twice in one log, the first one counts
        for (nth, line) in lines.iter().enumerate() {
            for marker in markers(line) {
                let key = self.key(line, marker);
                let told = self.is_told(marker, nth, lines);
                let known = self.records.entry(key.clone()).or_default();
                self.owners.insert(marker.to_owned(), key.clone());
                known.words.insert(marker.to_owned());
                self.queues_shifted |= is_queued(&key) && known.words.len() > 1;
                let here = known.half.remove(&sight.log);
                let alone = here && !sight.grown || !known.half.is_empty();
                known.known_alone |= told && alone && !known.seen;
                if !told {
                    known.half.insert(sight.log);
                }
                let whole = record(line).is_some() && told && !known.known_alone;
                known.seen |= whole;
                if met.insert(key.clone()) && !marker.starts_with("q-") {
                    known.latest = (whole && sight.exact).then(|| marker.to_owned());
                }
            }
        }
    }

    /// **Once**: what a run saw is in exactly one place of the store, whatever happened since; what
    /// it saw in part, or could not see, is in at most one. A call whose result came late, behind a
    /// prompt that somebody put between them, is told twice.
    pub fn each_record_is_stored_once(&self, episodes: &[Found]) -> Result<()> {
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for marker in episodes.iter().flat_map(|e| markers(&e.episode.text)) {
            *places.entry(marker).or_default() += 1;
        }
        for (key, record) in &self.records {
            let words = record.words.iter();
            let times: usize = words.filter_map(|word| places.get(word.as_str())).sum();
            let call = record.words.iter().any(|word| word.starts_with("c-"));
            let late = call && self.class == Some(Class::Rewrites);
            let displaced = is_queued(key) && self.queues_shifted;
            let most = match displaced {
                true => record.words.len(),
                false => 1 + usize::from(late),
            };
            ensure!(times <= most, "{key} is stored {times} times: {record:?}");
            let wanted = record.seen && !displaced;
            ensure!(times > 0 || !wanted, "{key} is lost: {record:?}");
        }
        Ok(())
    }

    /// **Revised**: where records were only edited, the store has their last words.
    pub fn edited_words_are_the_last_ones(&self, episodes: &[Found]) -> Result<()> {
        let texts = episodes.iter().flat_map(|e| markers(&e.episode.text));
        let stored: BTreeSet<&str> = texts.collect();
        for (key, record) in &self.records {
            let missing = record
                .latest
                .as_ref()
                .filter(|w| !stored.contains(w.as_str()));
            ensure!(
                missing.is_none(),
                "{key} is not what it was edited to: {record:?}"
            );
        }
        Ok(())
    }

    /// **Sealed**: what was sealed stays, word for word, except where a record was edited.
    pub fn what_is_sealed_stays(&mut self, episodes: &[Found]) -> Result<()> {
        let shown = |found: &Found| {
            let Found {
                episode: e,
                session,
                ..
            } = found;
            let text = self.with_records_for_words(&e.text);
            let title = self.with_records_for_words(&e.title);
            format!(
                "{session} {:?} part {} “{title}” sealed {}\n{text}",
                e.stream, e.part, e.sealed
            )
        };
        let now: BTreeMap<String, String> = episodes
            .iter()
            .map(|e| (e.episode.id.to_string(), shown(e)))
            .collect();
        for (id, then) in &self.sealed {
            let now = now.get(id).map_or("gone", String::as_str);
            ensure!(now == then, "sealed {id} was\n{then}\nand is\n{now}");
        }
        let sealed = episodes.iter().filter(|e| e.episode.sealed);
        let sealed = sealed.map(|e| e.episode.id.to_string());
        self.sealed = sealed
            .filter_map(|id| now.get_key_value(&id))
            .map(owned)
            .collect();
        Ok(())
    }

    fn with_records_for_words(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for marker in markers(text) {
            if let Some(owner) = self.owners.get(marker) {
                out = out.replace(marker, owner);
            }
        }
        out
    }
}

fn owned((id, text): (&String, &String)) -> (String, String) {
    (id.clone(), text.clone())
}

/// **In order**: the parts of a stream of one log count from 1, each once, whatever happened to
/// the log.
pub fn parts_count_from_one(episodes: &[Found]) -> Result<()> {
    let mut streams: BTreeMap<_, Vec<u32>> = BTreeMap::new();
    for found in episodes {
        let e = &found.episode;
        streams
            .entry((&found.session, &e.stream, &found.path))
            .or_default()
            .push(e.part);
    }
    for (stream, mut parts) in streams {
        parts.sort_unstable();
        let wanted = (1..).zip(&parts).all(|(n, part)| n == *part);
        ensure!(wanted, "{stream:?} has the parts {parts:?}");
    }
    Ok(())
}

/// **Again is nothing**: a run right after a run reads nothing and changes nothing.
pub fn another_run_does_nothing(home: &Home) -> Result<()> {
    let before = dump(home)?;
    let report = home.run()?;
    let read = (report.files_read, report.bytes_read);
    ensure!(read == (0, 0), "another run read (files, bytes) {read:?}");
    let after = dump(home)?;
    ensure!(
        before == after,
        "another run changed the store\n{}",
        differences(&before, &after)
    );
    Ok(())
}

/// **When does not matter**: histories that only grew, and files that only moved, give the store of
/// one run at the end.
pub fn the_store_equals_a_cold_runs(home: &Home, disk: &Disk<'_>) -> Result<()> {
    let (grown, cold) = (dump(home)?, dump(&cold(disk)?)?);
    ensure!(
        grown == cold,
        "- the runs, + one cold run\n{}",
        differences(&grown, &cold)
    );
    Ok(())
}

/// **When does not matter**, where records are copied: which log has them depends on which was there
/// first; what was forked from what doesn't, nor what is told of a call that was answered.
pub fn copies_tell_what_a_cold_run_says(home: &Home, disk: &Disk<'_>) -> Result<()> {
    let cold = cold(disk)?;
    let (came, wanted) = (origins(home)?, origins(&cold)?);
    ensure!(came == wanted, "forked from {came:#?}, cold: {wanted:#?}");
    let (came, wanted) = (answered(home)?, answered(&cold)?);
    ensure!(came == wanted, "calls {came:#?}, cold: {wanted:#?}");
    Ok(())
}

/// The session that each session was forked from.
pub fn origins(home: &Home) -> Result<BTreeMap<String, Option<String>>> {
    let store = home.store(Access::ReadOnly)?;
    let sessions = store.sessions(&Default::default())?.into_iter();
    let told = |row: SessionRow| (row.session.id, row.session.facts.forked_from);
    Ok(sessions.map(told).collect())
}

/// Lines of calls that were answered, in no order.
pub fn answered(home: &Home) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for found in episodes(home)? {
        let digests = found.episode.text.lines();
        let digests = digests.filter(|line| line.starts_with("Action: "));
        let answered = digests.filter(|line| !line.ends_with("→ no result"));
        lines.extend(answered.map(str::to_owned));
    }
    lines.sort_unstable();
    Ok(lines)
}

fn cold(disk: &Disk<'_>) -> Result<Home> {
    let cold = Home::new(None)?;
    for log in disk.logs.iter().filter(|log| log.exists) {
        cold.put(&log.place(), &log.bytes())?;
    }
    cold.run()?;
    Ok(cold)
}

/// Stores hold absolute paths; each home is elsewhere.
pub fn dump(home: &Home) -> Result<String> {
    let dump = home.store(Access::ReadOnly)?.dump()?;
    Ok(dump.replace(&*home.path().canonicalize()?.to_string_lossy(), "~"))
}

/// The first lines that differ, from shortly before they do.
pub fn differences(left: &str, right: &str) -> String {
    let differing = left.lines().zip(right.lines()).filter(|(a, b)| a != b);
    let shown = differing.take(6).map(|(a, b)| {
        let same = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
        let part = |line: &str| {
            line.chars()
                .skip(same.saturating_sub(150))
                .take(400)
                .collect::<String>()
        };
        let start: String = a.chars().take(80).collect();
        format!("{start} …\n- {}\n+ {}\n", part(a), part(b))
    });
    let (l, r) = (left.lines().count(), right.lines().count());
    format!("{l} and {r} lines\n{}", shown.collect::<String>())
}

/// Lets a script happen to an empty home and checks every law at every run.
pub fn check(script: &Script) -> Result<()> {
    let home = Home::new(None)?;
    let (mut disk, mut model) = (Disk::new(&home), Model::default());
    let mut class = Class::Grows;
    let copies = script.0.iter().any(|step| step.verb.class == Class::Copies);
    let last = script.0.len();
    for (nth, step) in script.0.iter().enumerate() {
        class = class.max(step.verb.class);
        disk.step(step)?;
        if step.verb.name == "run" || nth + 1 == last {
            home.run()?;
            model.see(&disk, class);
            let episodes = episodes(&home)?;
            model.each_record_is_stored_once(&episodes)?;
            model.what_is_sealed_stays(&episodes)?;
            if !copies {
                parts_count_from_one(&episodes)?;
                model.edited_words_are_the_last_ones(&episodes)?;
            }
        }
    }
    another_run_does_nothing(&home)?;
    match class {
        Class::Grows => the_store_equals_a_cold_runs(&home, &disk)?,
        Class::Copies => copies_tell_what_a_cold_run_says(&home, &disk)?,
        Class::Rewrites => {}
    }
    // takes as long as all of the others
    match last % 4 {
        0 => a_sound_store_is_as_its_logs_say(&home),
        _ => Ok(()),
    }
}

/// `doctor --deep` finds no fault in a store that nothing damaged, whatever happened to the logs.
fn a_sound_store_is_as_its_logs_say(home: &Home) -> Result<()> {
    let said = home.looked_at_deeply()?;
    let differs = said.iter().any(|said| said.contains("stored otherwise"));
    ensure!(!differs, "{said:?}");
    Ok(())
}

fn episodes(home: &Home) -> Result<Vec<Found>> {
    let store = home.store(Access::ReadOnly)?;
    let mut all = Vec::new();
    for session in store.sessions(&Default::default())? {
        all.extend(store.episodes(&session.session.id)?);
    }
    Ok(all)
}

/// The call's result is the next line.
fn is_answered(marker: &str, nth: usize, lines: &[String]) -> bool {
    let next = lines.get(nth + 1).map_or("", String::as_str);
    let number = marker[2..].trim_start_matches('0');
    let ids = [format!("\"toolu_{number}\""), format!("\"call_{number}\"")];
    let of_this = |id: &String| lines[nth].contains(id) && next.contains(id);
    let is_over = lines[nth].contains("\"toolCalls\""); // written when the result was there
    is_over || record(next).is_some() && ids.iter().any(of_this)
}

/// The calls of results that don't stand behind them.
fn results_alone(lines: &[String]) -> impl Iterator<Item = String> {
    lines.iter().enumerate().filter_map(|(nth, line)| {
        let of = [
            "\"tool_use_id\":\"toolu_",
            "\"call_id\":\"call_",
            "\"callId\":\"call_",
        ];
        let at = of
            .iter()
            .find_map(|start| Some(line.find(start)? + start.len()))?;
        let number: u32 = line[at..].split('"').next()?.parse().ok()?;
        let marker = called(number);
        let before = nth.checked_sub(1).and_then(|nth| lines.get(nth));
        let alone = !line.contains(&marker) && !before.is_some_and(|line| line.contains(&marker));
        alone.then_some(marker)
    })
}

/// The record is a prompt that was queued.
fn is_queued(key: &str) -> bool {
    key.starts_with("queued ")
}

/// The lines that remove prompts from the queue, and the lines of the prompts that they take: the
/// one that waits longest.
fn removals(lines: &[String]) -> Vec<(usize, Option<usize>)> {
    let (mut waiting, mut removals) = (VecDeque::new(), Vec::new());
    for (nth, line) in lines.iter().enumerate() {
        if line.contains("\"enqueue\"") {
            waiting.push_back(nth);
        } else if line.contains("\"remove\"") {
            removals.push((nth, waiting.pop_front()));
        }
    }
    removals
}

/// There are more prompts in the queue than were taken from it.
fn is_anyone_waiting(lines: &[String]) -> bool {
    let queued = lines.iter().filter(|line| line.contains("\"enqueue\""));
    let taken = removals(lines)
        .into_iter()
        .filter(|(_, taken)| taken.is_some());
    queued.count() > taken.count()
}

impl Left {
    /// What the next run leaves, which finds this content.
    fn then(&self, content: &[u8], moved: Moved) -> Left {
        let read_to = memchr::memrchr(b'\n', &self.seen).map_or(0, |at| at + 1);
        // where it is and as long as it was, it is compared as a whole
        let compared = moved == Moved::No && content.len() == self.content.len();
        let seen = if content == self.content {
            self.seen.clone()
        } else if !compared && is_blind(&self.seen[..read_to], content) {
            [&self.seen[..read_to], &content[read_to..]].concat()
        } else {
            content.to_vec()
        };
        let kept = moved != Moved::ToAnotherFile && keeps_records(&self.seen, &seen);
        Left {
            content: content.to_vec(),
            seen,
            reordered: self.reordered || !kept,
        }
    }
}

/// Both fingerprints of what was read are as they were, and yet other bytes lie between them.
fn is_blind(read: &[u8], now: &[u8]) -> bool {
    let to = read.len();
    let prints = |text: &[u8]| [text[..PRINT].to_vec(), text[to - PRINT..to].to_vec()];
    to >= PRINT && now.len() >= to && prints(read) == prints(now) && *read != now[..to]
}

/// All records that were there are there, in the same order, before anything new.
fn keeps_records(before: &[u8], now: &[u8]) -> bool {
    let known = |text: &[u8]| -> Vec<String> {
        let lines = text.split_inclusive(|b| *b == b'\n');
        lines
            .filter_map(|line| known_as(&String::from_utf8_lossy(line)))
            .collect()
    };
    known(now).starts_with(&known(before))
}

/// What tells a line of a log from others when the log is read again: its record's id, and what it
/// says where the record has none ("Edits of records without ids", docs/integrity.md) or several
/// values are glued. `None`: no record, or not a whole line yet.
fn known_as(line: &str) -> Option<String> {
    let said = || Some(line.trim_end().to_owned());
    let Ok(value) = serde_json::from_str::<Value>(line) else {
        return said().filter(|_| line.ends_with('\n'));
    };
    let has_id = value["uuid"].is_string() || value["payload"]["call_id"].is_string();
    let is_record = value["payload"].is_object() || value["type"] == "queue-operation";
    match has_id {
        true => record(line),
        false => said().filter(|_| is_record),
    }
}
