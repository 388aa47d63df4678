//! What stops a run before it reads anything, of every part that can say so: a run meets the first of it,
//! `doctor` asks for all at once. Nothing is written, and nobody is asked over a network.

use super::context::RunContext;
use super::spec::{self, Pipeline, Step};
use super::steps::enrich::{condense, llm_summary, models};
use crate::config::Home;
use crate::memory::{classifiers, redaction_setup};
use crate::model::consent::Consent;
use crate::model::error::Error;

/// Why runs would not begin.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// Which ones: `every run`, `run mine`.
    pub runs: String,
    /// Why.
    pub error: Error,
}

/// A pipeline reads logs, whatever else it does.
///
/// # Errors
/// Of usage, where it doesn't.
pub fn reads(pipeline: &Pipeline) -> Result<(), Error> {
    if pipeline.steps.contains(&Step::Ingest) {
        return Ok(());
    }
    let message = format!(
        "pipeline `{}` has nothing to report without `ingest`",
        pipeline.name
    );
    Err(Error::usage(message).hinted("sessionmill status"))
}

/// The pipelines that can be run by name, and why the others can't: whether tracking is on or off.
pub fn pipelines(home: &Home) -> (Vec<Pipeline>, Vec<Refusal>) {
    let (mut sound, mut refused) = (Vec::new(), Vec::new());
    for name in spec::known(&home.pipelines()) {
        let loaded = spec::load(&name, &home.pipelines());
        match loaded.and_then(|pipeline| reads(&pipeline).map(|()| pipeline)) {
            Ok(pipeline) => sound.push(pipeline),
            Err(error) => refused.push(Refusal {
                runs: format!("run {name}"),
                error,
            }),
        }
    }
    (sound, refused)
}

/// Why runs of these pipelines would not begin, with these consents, where tracking is on.
pub fn refusals(all: &[Pipeline], consents: &[Consent], cx: &RunContext<'_>) -> Vec<Refusal> {
    let config = &cx.loaded.config;
    let always: [anyhow::Result<()>; 2] = [
        redaction_setup::check(cx.home),
        classifiers::counter(cx.home).map(drop).map_err(Into::into),
    ];
    let by_models = [
        models::check_language_model(consents, cx),
        models::check_embedder(consents, cx),
        llm_summary::template(config).map(drop),
        condense::templates(config).map(drop),
    ];
    let enriching = all.iter().filter(|p| p.steps.contains(&Step::Enrich));
    let enriching: Vec<&str> = enriching.map(|p| p.name.as_str()).collect();
    let runs = match enriching.len() == all.len() {
        true => EVERY.to_owned(),
        false => format!("run {}", enriching.join(", ")),
    };
    let by_models = by_models.into_iter().filter(|_| !enriching.is_empty());
    let always = always.into_iter().map(|asked| (EVERY.to_owned(), asked));
    let asked = always.chain(by_models.map(|asked| (runs.clone(), asked)));
    asked
        .filter_map(|(runs, asked)| {
            let error = typed(asked.err()?);
            Some(Refusal { runs, error })
        })
        .collect()
}

const EVERY: &str = "every run";

/// As somebody can branch on it.
pub fn typed(error: anyhow::Error) -> Error {
    match error.downcast::<Error>() {
        Ok(error) => error,
        Err(other) => Error::usage(format!("{other:#}")),
    }
}
