//! What a graph takes for true, as its server tells it.

use super::time::Time;
use serde::Deserialize;

/// Something that a graph's server took from episodes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct GraphFact {
    /// Its id there.
    pub uuid: String,
    /// What relation it is: `USES`.
    pub name: String,
    /// In words.
    pub fact: String,
    /// From when on it was true, as the server writes times.
    pub valid_at: Option<String>,
    /// From when on it wasn't.
    pub invalid_at: Option<String>,
    /// When the server stopped to believe it.
    pub expired_at: Option<String>,
    /// Ids of the episodes that tell it.
    pub episodes: Vec<String>,
}

impl GraphFact {
    /// From when on something else was true; `None`: it still is at `now`. A time that can't be read
    /// counts as past: what may be superseded is marked.
    pub fn superseded(&self, now: Time) -> Option<&str> {
        let ends = [&self.invalid_at, &self.expired_at];
        let mut ends = ends.into_iter().flatten();
        let is_past = |end: &&String| Time::parse(end).is_none_or(|end| end <= now);
        ends.find(is_past).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ended_is_superseded_and_what_will_end_is_not() {
        let now = Time::parse("2026-06-01T00:00:00Z").unwrap();
        let at = |invalid: Option<&str>, expired: Option<&str>| {
            let fact = GraphFact {
                invalid_at: invalid.map(str::to_owned),
                expired_at: expired.map(str::to_owned),
                ..GraphFact::default()
            };
            fact.superseded(now).map(str::to_owned)
        };
        assert_eq!(at(None, None), None);
        assert_eq!(at(Some("2026-07-01T00:00:00Z"), None), None);
        let past = "2026-05-01T00:00:00Z";
        assert_eq!(at(Some(past), None).as_deref(), Some(past));
        assert_eq!(at(None, Some(past)).as_deref(), Some(past));
        assert_eq!(at(Some("soon"), None).as_deref(), Some("soon"));
    }
}
