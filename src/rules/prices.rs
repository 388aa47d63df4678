//! What tokens of models cost. Knows a dated table and a person's own rows above it; refuses to guess
//! the price of a model that neither names.

use super::table;
use crate::model::error::Error;
use crate::model::spending::LONG;
use crate::model::usage::Usage;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// Of fresh input.
    pub input: f64,
    /// Of output.
    pub output: f64,
    /// Of input read from the cache.
    pub cache_read: f64,
    /// Of input written to the cache for five minutes; `None`: as fresh input.
    pub cache_write: Option<f64>,
    /// Of input written to the cache for an hour; `None`: as for five minutes.
    pub cache_write_1h: Option<f64>,
}

impl Price {
    /// US dollars.
    pub fn of(&self, usage: &Usage) -> f64 {
        let short = usage.cache_write.saturating_sub(usage.cache_write_1h);
        let write = self.cache_write.unwrap_or(self.input);
        let parts = [
            (usage.input, self.input),
            (usage.output, self.output),
            (usage.cache_read, self.cache_read),
            (short, write),
            (usage.cache_write_1h, self.cache_write_1h.unwrap_or(write)),
        ];
        let millionths = parts.map(|(tokens, price)| tokens as f64 * price);
        millionths.iter().sum::<f64>() / 1e6
    }

    /// None of them is below nothing or without end.
    fn is_sound(&self) -> bool {
        let optional = [self.cache_write, self.cache_write_1h];
        let all = [self.input, self.output, self.cache_read];
        let mut all = all.into_iter().chain(optional.into_iter().flatten());
        all.all(|price| price.is_finite() && price >= 0.0)
    }
}

/// Prices by the name of the model.
#[derive(Clone, Debug)]
pub struct Prices {
    as_of: String,
    rows: BTreeMap<String, Price>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    as_of: String,
    models: Vec<Row>,
    #[cfg(test)]
    samples: Vec<Sample>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    names: Vec<String>,
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: Option<f64>,
    cache_write_1h: Option<f64>,
}

impl Row {
    fn price(&self) -> Price {
        Price {
            input: self.input,
            output: self.output,
            cache_read: self.cache_read,
            cache_write: self.cache_write,
            cache_write_1h: self.cache_write_1h,
        }
    }
}

#[cfg(test)]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    model: String,
    tokens: [u64; 5],
    usd: Option<f64>,
}

impl Prices {
    /// The embedded ones.
    pub fn embedded() -> Prices {
        let table: Table = table::rows(table::embedded!("prices"));
        let mut prices = Prices {
            as_of: table.as_of,
            rows: BTreeMap::new(),
        };
        table.models.into_iter().for_each(|row| prices.set(row));
        prices
    }

    /// Adds a person's own rows, which replace those of the same names.
    ///
    /// # Errors
    /// Name file and line of what is wrong.
    pub fn add(&mut self, file: &Path, text: &str) -> Result<(), Error> {
        let wrong = |line: usize, what: &str| {
            Error::usage(format!("{}:{line}: {what}", file.display()))
                .hinted("docs/cost.md says how prices are written")
        };
        let rows: Option<Vec<Row>> = serde_yaml::from_str(text).map_err(|error| {
            let line = error.location().map_or(1, |at| at.line());
            wrong(line, &error.to_string())
        })?;
        for row in rows.into_iter().flatten() {
            if !row.price().is_sound() {
                let name = row.names.first().map_or("", String::as_str);
                let line = text.lines().position(|line| line.contains(name));
                return Err(wrong(line.unwrap_or(0) + 1, "a price is 0 or more"));
            }
            self.set(row);
        }
        Ok(())
    }

    /// Of the model that a log names so, also with a date behind its name; of long requests, marked by
    /// [`LONG`], their own where they have one. `None`: nobody said.
    pub fn of(&self, model: &str) -> Option<&Price> {
        let plain = model.strip_suffix(LONG);
        let long = plain.and_then(|plain| {
            let row = self.rows.get(model);
            row.or_else(|| self.rows.get(&format!("{}{LONG}", undated(plain)?)))
        });
        let model = plain.unwrap_or(model);
        let known = long.or_else(|| self.rows.get(model));
        known.or_else(|| self.rows.get(undated(model)?))
    }

    /// The name to show: without the mark of long requests where they cost what others do.
    pub fn shown<'m>(&self, model: &'m str) -> &'m str {
        match model.strip_suffix(LONG) {
            Some(plain) if self.of(plain) == self.of(model) => plain,
            _ => model,
        }
    }

    /// The day of the embedded prices, `2026-11-25`.
    pub fn as_of(&self) -> &str {
        &self.as_of
    }

    fn set(&mut self, row: Row) {
        let price = row.price();
        let names = row.names.into_iter();
        self.rows.extend(names.map(|name| (name, price)));
    }
}

/// A name without the date at its end.
fn undated(model: &str) -> Option<&str> {
    let digits =
        |text: &str, count: usize| text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
    let (name, last) = model.rsplit_once('-')?;
    if digits(last, 8) {
        return Some(name);
    }
    let (name, month) = name.rsplit_once('-')?;
    let (name, year) = name.rsplit_once('-')?;
    (digits(last, 2) && digits(month, 2) && digits(year, 4)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage([input, output, cache_read, short, hour]: [u64; 5]) -> Usage {
        Usage {
            input,
            output,
            cache_read,
            cache_write: short + hour,
            cache_write_1h: hour,
        }
    }

    #[test]
    fn each_sample_costs_what_it_says() {
        let table: Table = table::rows(table::embedded!("prices"));
        let prices = Prices::embedded();
        for sample in table.samples {
            let cost = prices
                .of(&sample.model)
                .map(|p| p.of(&usage(sample.tokens)));
            let apart = cost.zip(sample.usd).map_or(0.0, |(a, b)| (a - b).abs());
            assert_eq!(cost.is_some(), sample.usd.is_some(), "{}", sample.model);
            assert!(apart < 1e-9, "{}: {cost:?}", sample.model);
        }
        assert!(prices.rows.values().all(Price::is_sound));
    }

    #[test]
    fn no_model_has_two_prices() {
        let table: Table = table::rows(table::embedded!("prices"));
        let names: Vec<&String> = table.models.iter().flat_map(|row| &row.names).collect();
        let once: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(once.len(), names.len());
    }

    #[test]
    fn a_person_s_own_rows_win_and_mistakes_have_a_line() {
        let file = Path::new("prices.yaml");
        let mut prices = Prices::embedded();
        let own = "- names: [house-model, gpt-5]\n  input: 1\n  output: 2\n  cache_read: 0\n";
        prices.add(file, own).unwrap();
        prices.add(file, "# nothing yet\n").unwrap();
        let million = usage([1_000_000, 1_000_000, 5, 0, 0]);
        assert_eq!(prices.of("house-model").unwrap().of(&million), 3.0);
        assert_eq!(prices.of("gpt-5").unwrap().of(&million), 3.0);
        for (text, line) in [
            ("- names: [x]\n  input: cheap\n", 2),
            ("\n- {names: [x], input: -1, output: 1, cache_read: 1}", 2),
            (
                "- {names: [x], input: 1, output: 1, cache_read: 1, reads: 1}",
                1,
            ),
        ] {
            let error = prices.add(file, text).unwrap_err();
            let begin = format!("prices.yaml:{line}: ");
            assert!(error.message.starts_with(&begin), "{}", error.message);
        }
    }
}
