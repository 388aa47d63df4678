//! `import`: another machine's store taken into this one.

use super::ctx::Ctx;
use super::exit::Exit;
use crate::model::human::plural;
use crate::pipeline::import::import;
use crate::pipeline::lock::Lock;
use crate::pipeline::progress::Silent;
use crate::store::{Access, Imported, Store};
use anyhow::Result;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Add what another machine's database holds
///
/// For example the one of your other laptop. What both have counts once, and what was deleted here stays
/// deleted. The other database is not changed; that of a newer version is refused. Repeat it at any time:
/// only what is new is added.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The other database (`sessionmill store path` prints it there), or a copy of it
    #[arg(long, value_name = "FILE")]
    from: PathBuf,
}

/// Takes it in.
pub fn run(args: &Args, ctx: &mut Ctx) -> Result<Exit> {
    let loaded = ctx.settings()?;
    let from = ctx.env.cwd.join(&args.from);
    // what is refused leaves no empty store behind
    Store::importable(&from)?;
    ctx.make_home()?;
    let _lock = Lock::take_for("import", &ctx.home.lock())?;
    let mut store = Store::open(&ctx.home.store(), Access::ReadWrite)?;
    let imported = import(&mut store, &from, &ctx.pipeline_context(&loaded, &Silent))?;
    if ctx.out.json {
        let body = json!({
            "from": from,
            "sessions": imported.sessions,
            "sessions_grown": imported.grown,
            "sessions_known": imported.known,
            "episodes": imported.episodes,
            "episodes_changed": imported.changed,
            "memories": imported.memories,
            "git_operations": imported.operations,
            "kept_out": imported.kept_out,
            "forgotten_there": imported.forgotten_there,
        });
        ctx.out.document("import", body)?;
        return Ok(Exit::Done);
    }
    for line in lines(&imported, &from) {
        ctx.out.did(line)?;
    }
    if let [first, ..] = imported.forgotten_there.as_slice() {
        let many = plural(imported.forgotten_there.len() as u64, "session");
        ctx.out.note(format!(
            "{many} that you deleted there are still here (sessionmill forget --session {first})"
        ))?;
    }
    Ok(Exit::Done)
}

fn lines(imported: &Imported, from: &Path) -> Vec<String> {
    let from = from.display();
    let known = plural(imported.known, "session");
    let mut lines = match imported.is_nothing() {
        true => vec![format!("{from}: nothing new; {known} already here")],
        false => vec![format!(
            "{from}: {} added, {} extended, {known} already here",
            plural(imported.sessions, "session"),
            plural(imported.grown, "session"),
        )],
    };
    if !imported.is_nothing() {
        lines.push(format!(
            "{}, {}, {}",
            plural(imported.episodes, "episode"),
            plural(imported.memories, "memory"),
            plural(imported.operations, "git operation")
        ));
    }
    if imported.kept_out > 0 {
        lines.push(format!(
            "{} stay out: deleted here",
            plural(imported.kept_out, "session")
        ));
    }
    lines
}
