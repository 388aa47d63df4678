//! What the tokens of sessions cost, by day, project, model and session. Knows how sums are made of
//! priced and unpriced tokens; refuses to guess a price.

use crate::config::Home;
use crate::model::error::Error;
use crate::model::spending::HALF_HOUR_MS;
use crate::model::time::Time;
use crate::model::usage::Usage;
use crate::model::zone::Zone;
use crate::rules::prices::Prices;
use crate::store::{SessionFilter, SessionUsage};
use std::collections::BTreeMap;
use std::fs;
use std::io;

/// The embedded prices with the user's own, `rules/prices.yaml`, above them.
///
/// # Errors
/// When that file is wrong (file and line).
pub fn prices(home: &Home) -> Result<Prices, Error> {
    let mut prices = Prices::embedded();
    let file = home.tables().join("prices.yaml");
    match fs::read_to_string(&file) {
        Ok(text) => prices.add(&file, &text)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(Error::usage(format!("{}: {error}", file.display()))),
    }
    Ok(prices)
}

/// Tokens and what those with a price cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CostSum {
    /// All tokens.
    pub usage: Usage,
    /// US dollars of the tokens that have a price.
    pub usd: f64,
    /// Tokens of models without a price.
    pub unpriced: u64,
}

impl CostSum {
    fn add(&mut self, usage: &Usage, usd: Option<f64>) {
        self.usage = self.usage.plus(*usage);
        self.usd += usd.unwrap_or(0.0);
        if usd.is_none() {
            self.unpriced += usage.total();
        }
    }
}

/// Costs, summed every way in which they are shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Costs {
    /// The day of the embedded prices.
    pub as_of: String,
    /// Of everything that has a model and a time.
    pub total: CostSum,
    /// By local day, `2026-05-20`, and model.
    pub days: BTreeMap<String, BTreeMap<String, CostSum>>,
    /// By model, as logs name it; empty where they name none.
    pub models: BTreeMap<String, CostSum>,
    /// By namespace and path.
    pub projects: BTreeMap<(String, String), CostSum>,
    /// By session id.
    pub sessions: BTreeMap<String, CostSum>,
    /// Tokens whose model and time aren't stored: in none of the sums above.
    pub unrecorded: Usage,
}

impl Costs {
    /// Of what these sessions used in the filter's time.
    pub fn of(rows: &[SessionUsage], filter: &SessionFilter, prices: &Prices, zone: Zone) -> Costs {
        let mut costs = Costs {
            as_of: prices.as_of().to_owned(),
            ..Costs::default()
        };
        let mut names = DayNames::new(zone);
        for row in rows {
            costs.unrecorded = costs.unrecorded.plus(row.unrecorded);
            for used in row.spending.rows() {
                let time = Time(used.half_hour * HALF_HOUR_MS);
                // a half hour in which the filter's time begins is in
                let before = filter
                    .since
                    .is_some_and(|since| time.0 + HALF_HOUR_MS <= since.0);
                if before || filter.until.is_some_and(|until| time >= until) {
                    continue;
                }
                let usage = &used.usage;
                let model = prices.shown(&used.model);
                let usd = prices.of(&used.model).map(|price| price.of(usage));
                let day = costs.days.entry(names.of(time)).or_default();
                let project = (row.namespace.clone(), row.project_path.clone());
                for sum in [
                    &mut costs.total,
                    day.entry(model.to_owned()).or_default(),
                    costs.models.entry(model.to_owned()).or_default(),
                    costs.projects.entry(project).or_default(),
                    costs.sessions.entry(row.session.clone()).or_default(),
                ] {
                    sum.add(usage, usd);
                }
            }
        }
        costs
    }

    /// The sum of each local day.
    pub fn by_day(&self) -> BTreeMap<&str, CostSum> {
        let sum = |models: &BTreeMap<String, CostSum>| {
            models.values().fold(CostSum::default(), |mut sum, of| {
                sum.usage = sum.usage.plus(of.usage);
                sum.usd += of.usd;
                sum.unpriced += of.unpriced;
                sum
            })
        };
        let days = self.days.iter();
        days.map(|(day, models)| (day.as_str(), sum(models)))
            .collect()
    }

    /// Models without a price, with their tokens; the most used first.
    pub fn unpriced(&self) -> Vec<(&str, u64)> {
        let models = self.models.iter();
        let named = models.map(|(model, sum)| (model.as_str(), sum.unpriced));
        let mut named: Vec<(&str, u64)> = named.filter(|(_, tokens)| *tokens > 0).collect();
        named.sort_by_key(|(model, tokens)| (std::cmp::Reverse(*tokens), *model));
        named
    }
}

/// Names of local days; the last one is kept, because neighbours are of one day.
struct DayNames {
    zone: Zone,
    known: BTreeMap<i64, String>,
}

impl DayNames {
    fn new(zone: Zone) -> DayNames {
        DayNames {
            zone,
            known: BTreeMap::new(),
        }
    }

    fn of(&mut self, time: Time) -> String {
        let zone = self.zone;
        let name = || zone.show(time).format("%Y-%m-%d").to_string();
        self.known.entry(time.0).or_insert_with(name).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::source::Agent;
    use crate::model::spending::Spending;
    use chrono::Offset;

    fn session(id: &str, rows: &[(&str, i64, u64)]) -> SessionUsage {
        let mut spending = Spending::default();
        for (model, hours, input) in rows {
            let usage = Usage {
                input: *input,
                ..Usage::default()
            };
            spending.add(Some(model), Time(hours * 2 * HALF_HOUR_MS), usage);
        }
        SessionUsage {
            session: id.to_owned(),
            agent: Agent::new("claude"),
            namespace: "n".to_owned(),
            project_path: "/p".to_owned(),
            started: None,
            spending,
            unrecorded: Usage {
                output: 7,
                ..Usage::default()
            },
        }
    }

    #[test]
    fn sums_keep_tokens_without_a_price_apart() {
        let rows = [
            session("a", &[("claude-opus-4-6", 1, 1_000_000), ("odd", 1, 30)]),
            session("b", &[("claude-opus-4-6", 25, 2_000_000)]),
        ];
        let (all, zone) = (SessionFilter::default(), Zone::Fixed(chrono::Utc.fix()));
        let costs = Costs::of(&rows, &all, &Prices::embedded(), zone);
        assert_eq!(costs.total.usd, 15.0);
        assert_eq!((costs.total.unpriced, costs.unrecorded.output), (30, 14));
        assert_eq!(costs.unpriced(), [("odd", 30)]);
        let days: Vec<(&str, f64)> = costs
            .by_day()
            .into_iter()
            .map(|(d, s)| (d, s.usd))
            .collect();
        assert_eq!(days, [("1970-01-01", 5.0), ("1970-01-02", 10.0)]);
        let late = SessionFilter {
            since: Some(Time(24 * 2 * HALF_HOUR_MS)),
            ..SessionFilter::default()
        };
        let costs = Costs::of(&rows, &late, &Prices::embedded(), zone);
        assert_eq!((costs.total.usd, costs.sessions.len()), (10.0, 1));
    }
}
