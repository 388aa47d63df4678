//! `run --check`: runs a pipeline's examples and compares its result with the recorded one.

use super::bar::Bar;
use super::ctx::Ctx;
use super::exit::Exit;
use crate::config::Loaded;
use crate::model::human::plural;
use crate::pipeline::check::{Compared, compare, defaults_at, goes_by_settings, run_example};
use crate::pipeline::context::RunContext;
use crate::pipeline::progress::{Progress, Silent};
use crate::pipeline::spec::Pipeline;
use anyhow::Result;
use serde_json::json;

/// Checks a pipeline, or records its result. A difference and a failed example are exit 1.
pub fn check(pipeline: &Pipeline, record: bool, ctx: &mut Ctx) -> Result<Exit> {
    let mut failed = 0;
    if !pipeline.tests.is_empty() {
        // examples go by the default settings, whatever the user's are
        let defaults = defaults_at(&ctx.home.dir)?;
        let cx = checked_as(pipeline, &defaults, &Silent, ctx);
        for test in &pipeline.tests {
            for what in run_example(test, pipeline, &cx)? {
                failed += 1;
                cx.notices
                    .warn(&format!("test \"{}\": {what}", test.name))?;
            }
        }
    }
    let bar = Bar::new(ctx.out.shows_progress());
    let loaded = match goes_by_settings(pipeline, record, &ctx.home) {
        true => ctx.settings()?,
        false => defaults_at(&ctx.home.dir)?,
    };
    let compared = compare(pipeline, record, &checked_as(pipeline, &loaded, &bar, ctx))?;
    let same = compared.as_ref().is_none_or(|c| c.difference.is_none());
    if ctx.out.json {
        let body = json!({
            "pipeline": pipeline.name,
            "tests": pipeline.tests.len(),
            "failures": failed,
            "recorded": compared.as_ref().map(|c| &c.recorded),
            "difference": compared.as_ref().and_then(|c| c.difference.as_ref()),
        });
        ctx.out.document("run", body)?;
    } else {
        tell(pipeline, failed, compared.as_ref(), record, ctx)?;
    }
    Ok(if failed == 0 && same {
        Exit::Done
    } else {
        Exit::Failed
    })
}

/// The command line's clock and host count before the pipeline's.
fn checked_as<'c>(
    pipeline: &'c Pipeline,
    loaded: &'c Loaded,
    progress: &'c dyn Progress,
    ctx: &'c mut Ctx,
) -> RunContext<'c> {
    let (now_is_fixed, host_is_fixed) = (ctx.now_is_fixed, ctx.host_is_fixed);
    let mut cx = ctx.pipeline_context(loaded, progress);
    if let (Some(now), false) = (pipeline.check.now, now_is_fixed) {
        cx.now = now;
    }
    if let (Some(host), false) = (&pipeline.check.host, host_is_fixed) {
        cx.host = host;
    }
    cx
}

fn tell(
    pipeline: &Pipeline,
    failed: usize,
    compared: Option<&Compared>,
    record: bool,
    ctx: &mut Ctx,
) -> Result<()> {
    let tests = plural(pipeline.tests.len() as u64, "test");
    if !pipeline.tests.is_empty() {
        ctx.out
            .line(format!("{tests}, {}", plural(failed as u64, "failure")))?;
    }
    let Some(compared) = compared else {
        return Ok(());
    };
    let file = compared.recorded.display();
    match &compared.difference {
        _ if record => ctx.out.line(format!("recorded {file}")),
        None => ctx.out.line(format!("the result matches {file}")),
        Some(difference) => {
            ctx.out.line(format!("the result differs from {file}"))?;
            ctx.out.text(difference)?;
            let hint = format!("hint: sessionmill run {} --check --record", pipeline.name);
            ctx.out.note(hint)
        }
    }
}
