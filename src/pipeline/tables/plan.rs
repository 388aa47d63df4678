//! Which parts there are to be, and which of them have to be written. Pure.

use crate::sinks::tables::{Manifest, Part};
use crate::store::TableUnit;
use crate::tables::schema::NO_MONTH;
use crate::tables::source::month;
use std::collections::{BTreeMap, BTreeSet};

/// UTF-8 bytes of text in a part before another one is begun. More: a session that grows has more written
/// again; less: more files to open.
const PART_TEXT_BYTES: u64 = 4 << 20;

/// All parts, in the order of month and number.
#[derive(Debug, Default)]
pub(super) struct Plan<'u> {
    pub parts: Vec<PlannedPart<'u>>,
    /// Units that are new or changed.
    pub changed: u64,
    /// Units that are no more.
    pub removed: u64,
}

/// A part as it is to be.
#[derive(Debug)]
pub(super) struct PlannedPart<'u> {
    pub month: String,
    pub number: u32,
    /// In the order in which they began.
    pub units: Vec<&'u TableUnit>,
    /// It has to be written.
    pub dirty: bool,
}

/// What tells units apart.
pub(super) fn key(unit: &TableUnit) -> String {
    match &unit.month {
        Some(month) => format!("{}@{month}", unit.session),
        None => unit.session.clone(),
    }
}

fn month_of(unit: &TableUnit) -> String {
    unit.month.clone().unwrap_or_else(|| month(unit.began))
}

/// Units stay in the part that has them; new ones go to the last part of their month that has room. `units`: in
/// the order in which they began.
pub(super) fn plan<'u>(
    units: &'u [TableUnit],
    held: Option<&Manifest>,
    is_whole: impl Fn(&Part) -> bool,
) -> Plan<'u> {
    let mut plan = Plan::default();
    let mut places: BTreeMap<&str, (&str, u32, &str)> = BTreeMap::new();
    let mut parts: BTreeMap<(String, u32), PlannedPart<'u>> = BTreeMap::new();
    for part in held.iter().flat_map(|held| &held.parts) {
        for (unit, as_written) in &part.units {
            let place = (
                part.month.as_str(),
                part.number,
                as_written.fingerprint.as_str(),
            );
            places.insert(unit, place);
        }
        let is_dirty = !is_whole(part);
        part_of(&mut parts, &part.month, part.number).dirty |= is_dirty;
    }
    let mut new = Vec::new();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for unit in units {
        let (key, month) = (key(unit), month_of(unit));
        match places.get(key.as_str()) {
            Some((in_month, number, fingerprint)) if *in_month == month => {
                let part = part_of(&mut parts, &month, *number);
                part.units.push(unit);
                let is_same = *fingerprint == format!("{:016x}", unit.fingerprint);
                part.dirty |= !is_same;
                plan.changed += u64::from(!is_same);
                seen.insert(key);
            }
            Some(_) => {
                new.push((month, unit));
                seen.insert(key);
            }
            None => new.push((month, unit)),
        }
    }
    for part in held.iter().flat_map(|held| &held.parts) {
        let planned = part_of(&mut parts, &part.month, part.number);
        let gone = part.units.keys().filter(|unit| !seen.contains(*unit));
        plan.removed += gone.count() as u64;
        // one that moved to another month is no more here, either
        planned.dirty |= planned.units.len() < part.units.len();
    }
    plan.changed += new.len() as u64;
    for (month, unit) in new {
        add(&mut parts, month, unit);
    }
    if !parts.contains_key(&(NO_MONTH.to_owned(), 0)) {
        part_of(&mut parts, NO_MONTH, 0).dirty = true;
    }
    let mut parts: Vec<PlannedPart<'u>> = parts.into_values().collect();
    parts.retain(|part| {
        !part.units.is_empty() || (part.month.as_str(), part.number) == (NO_MONTH, 0)
    });
    for part in &mut parts {
        let order = |unit: &&TableUnit| (unit.began, unit.session.clone(), unit.month.clone());
        part.units.sort_by_cached_key(order);
    }
    plan.parts = parts;
    plan
}

fn part_of<'p, 'u>(
    parts: &'p mut BTreeMap<(String, u32), PlannedPart<'u>>,
    month: &str,
    number: u32,
) -> &'p mut PlannedPart<'u> {
    parts
        .entry((month.to_owned(), number))
        .or_insert_with(|| PlannedPart {
            month: month.to_owned(),
            number,
            units: Vec::new(),
            dirty: false,
        })
}

fn add<'u>(
    parts: &mut BTreeMap<(String, u32), PlannedPart<'u>>,
    month: String,
    unit: &'u TableUnit,
) {
    let of_month = (month.clone(), 0)..=(month.clone(), u32::MAX);
    let last = parts.range(of_month).next_back();
    let number = last.map_or(0, |((_, number), part)| {
        let bytes: u64 = part.units.iter().map(|unit| unit.text_bytes).sum();
        let has_room = part.units.is_empty() || bytes + unit.text_bytes <= PART_TEXT_BYTES;
        if has_room { *number } else { *number + 1 }
    });
    let part = part_of(parts, &month, number);
    part.units.push(unit);
    part.dirty = true;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::time::Time;
    use crate::sinks::tables::HeldUnit;

    const DAY_MS: i64 = 24 * 3_600_000;

    fn unit(session: &str, day: i64, text_bytes: u64, fingerprint: u64) -> TableUnit {
        TableUnit {
            session: session.to_owned(),
            month: None,
            namespace: String::new(),
            project_path: String::new(),
            began: Some(Time(day * DAY_MS)),
            text_bytes,
            fingerprint,
        }
    }

    /// As it would be written.
    fn manifest(plan: &Plan<'_>) -> Manifest {
        let mut manifest = Manifest::new("");
        for part in &plan.parts {
            let units = part.units.iter().map(|unit| {
                let held = HeldUnit {
                    fingerprint: format!("{:016x}", unit.fingerprint),
                    text_bytes: unit.text_bytes,
                };
                (key(unit), held)
            });
            manifest.parts.push(Part {
                month: part.month.clone(),
                number: part.number,
                units: units.collect(),
                files: BTreeMap::new(),
            });
        }
        manifest
    }

    fn shown(plan: &Plan<'_>) -> Vec<String> {
        let parts = plan.parts.iter().map(|part| {
            let units: Vec<&str> = part.units.iter().map(|unit| &*unit.session).collect();
            let mark = if part.dirty { "*" } else { "" };
            format!("{}/{}{mark} {}", part.month, part.number, units.join(" "))
        });
        parts.collect()
    }

    #[test]
    fn only_what_changed_is_written_again() {
        let mut units = vec![
            unit("a", 1, 10, 1),
            unit("b", 2, PART_TEXT_BYTES, 2),
            unit("c", 40, 10, 3),
        ];
        let first = plan(&units, None, |_| true);
        assert_eq!(
            shown(&first),
            ["1970-01/0* a", "1970-01/1* b", "1970-02/0* c", "none/0* "]
        );
        assert_eq!((first.changed, first.removed), (3, 0));
        let held = manifest(&first);
        let again = plan(&units, Some(&held), |_| true);
        assert_eq!(
            shown(&again),
            ["1970-01/0 a", "1970-01/1 b", "1970-02/0 c", "none/0 "]
        );
        assert_eq!((again.changed, again.removed), (0, 0));
        // one changes, one goes, one comes, and one began earlier than was known
        units[0].fingerprint = 9;
        units[2].began = Some(Time(3 * DAY_MS));
        units.remove(1);
        units.push(unit("d", 41, 10, 4));
        let then = plan(&units, Some(&held), |_| true);
        assert_eq!(
            shown(&then),
            ["1970-01/0* a", "1970-01/1* c", "1970-02/0* d", "none/0 "]
        );
        assert_eq!((then.changed, then.removed), (3, 1));
    }

    #[test]
    fn a_part_that_is_not_whole_is_written_again() {
        let units = [unit("a", 1, 10, 1), unit("b", 40, 10, 2)];
        let held = manifest(&plan(&units, None, |_| true));
        let then = plan(&units, Some(&held), |part| part.month != "1970-02");
        assert_eq!(shown(&then), ["1970-01/0 a", "1970-02/0* b", "none/0 "]);
        assert_eq!(then.changed, 0);
    }
}
